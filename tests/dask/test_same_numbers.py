"""On a cluster, the numbers of one machine, to the last bit."""

from contextlib import nullcontext
from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from dask import config
from dask import dataframe as dd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.dask import helpers
from tests.dask.helpers import LARGE, assert_same, part, spread
from tieaware_sklearn import RankingFeatureSelector, dask

pytestmark = helpers.MARKS


@pytest.mark.parametrize("kind", ["int", str, "category"])
def test_ids_of_any_kind(rows, kind):
    if kind != "int":
        rows = rows.assign(qid=("q" + rows.qid.astype(str)).astype(kind))
    options = {"measures": helpers.MEASURES}
    found = dask.evaluate(spread(rows), score="clicks", **options)
    wanted = helpers.evaluated(rows, **options)
    assert_same(found, wanted)
    assert found.qid.tolist() == sorted(wanted.qid.tolist())
    sampled = {"interval": "bootstrap", "n_resamples": 99}
    assert_same(found.summary(**sampled), wanted.summary(**sampled))


@pytest.mark.parametrize("options", [
    {"convention": "lightgbm"},
    {"convention": "trec_eval"},
    {"unjudged": "nonrelevant", "zero_relevance": "skip"},
    {"zero_relevance": 0.25},
], ids=str)  # fmt: skip
def test_conventions_and_unjudged_labels(rows, options):
    rows = rows.assign(label=np.minimum(rows.label, 1))
    if "unjudged" in options:
        rows["label"] = rows.label.where(rows.index % 7 > 0)
    options = {"measures": ["ndcg@10", "ap@10"], **options}
    wanted = helpers.evaluated(rows, **options)
    df = spread(rows.rename(columns={"label": "rating"}), 3)
    assert_same(dask.evaluate(df, score="clicks", label="rating", **options), wanted)


SEGMENTS = {
    "text": lambda qid: "market " + (qid % 7 % 4).astype(str),
    "category": lambda qid: ("s" + (qid % 3).astype(str)).astype("category"),
    "int": lambda qid: 10 - qid % 5,
    "float": lambda qid: qid % 3 / 3,
    "flag": lambda qid: qid > 20,
    "date": lambda qid: pd.Timestamp("2026-03-01") + pd.to_timedelta(qid % 3, "D"),
    "a query each": lambda qid: "q" + qid.astype(str),
}


@pytest.mark.parametrize("segment", [*SEGMENTS, "qid", "weight"])
def test_segments(rows, segment):
    if segment in SEGMENTS:
        rows = rows.assign(**{segment: SEGMENTS[segment](rows.qid)})
    rows["weight"] = rows.weight.where(rows.weight > 1, 0)  # of some queries
    options = {"segment": segment, "measures": ["rr"], "query_weight": "weight"}
    helpers.check_evaluation(rows, 3, **options)


@settings(max_examples=15)
@given(st.data())
def test_small_data(data):
    n = data.draw(st.integers(1, 12), label="n")
    column = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    rows = pd.DataFrame({k: data.draw(column) for k in ("label", "qid", "clicks")})
    segments = data.draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.7, 3.0]), min_size=3))
    rows["segment"] = [segments[qid] for qid in rows.qid]
    rows["weight"] = [weights[qid] for qid in rows.qid]
    npartitions = data.draw(st.integers(1, 4), label="partitions")
    measure = data.draw(st.sampled_from(["rr", "ndcg", "p@1"]))
    options = {
        "zero_relevance": data.draw(st.sampled_from([0.0, 1.0])),
        "segment": "segment",
        "measures": [measure],
        "query_weight": data.draw(st.sampled_from([None, "weight"])),
    }
    helpers.check_evaluation(rows, npartitions, **options)


def test_a_partition_may_weigh_nothing(rows):
    own = [rows[rows.qid < 10].assign(weight=1.0), rows[rows.qid >= 10]]
    own[1] = own[1].assign(weight=0.0)
    df = dd.from_map(lambda i: own[i], range(2), meta=rows[:0])
    found = dask.evaluate(df, score="clicks", query_weight="weight", shuffle=False)
    assert_array_equal(found.summary().mean, helpers.evaluated(own[0]).summary().mean)


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("function", helpers.ALL)
def test_only_the_columns_that_are_wanted_are_read(
    rows, tmp_path, function, filesystem
):
    rows.to_parquet(tmp_path / "0.parquet")
    df = dd.read_parquet(tmp_path, filesystem=filesystem)
    # the others are gone, which does not matter
    rows[["label", "qid", "clicks"]].to_parquet(tmp_path / "0.parquet")
    options = {"features": ["clicks"]} if function is dask.fit_selector else {}
    helpers.computed(function, df, **options)


@pytest.fixture(scope="module")
def repeats(rows):
    """With exact copies, the same upside down, near repeats and a constant."""
    noise = np.random.default_rng(0).random(len(rows)) / 10
    return rows.assign(
        copy=2 * rows.clicks, fewer=-rows.clicks, nearly=rows.page_visits + noise,
        rounded=rows.text_score // 2, constant=1.0,
    )  # fmt: skip


@pytest.mark.parametrize("options", [
    {},
    {"n_features_to_select": 0.5},
    {"n_features_to_select": 8, "max_correlation": None, "diversity": 0.2},
    {"n_features_to_select": 14},  # all that vary, copies last
    {"max_correlation": 1.0, "alpha": 0.5, "min_lift": 0.01},
    {"max_correlation": 0, "redundancy": True},
    {"sort_by": "ap", "measures": ["rr", "ap"], "unjudged": "drop"},
    {"direction": "ascending", "n_features_to_select": 2},
    {"redundancy": False, "max_correlation": None, "missing": "last"},
    {"sort_by": "rr", "zero_relevance": "skip", "measures": ["ap", "rr"]},
], ids=str)  # fmt: skip
def test_a_selector_is_fitted_as_to_all_rows(repeats, options):
    if options.get("unjudged"):
        repeats = repeats.assign(label=repeats.label.where(repeats.index % 9 > 0))
    if options.get("missing"):
        repeats = repeats.assign(clicks=repeats.clicks.where(repeats.index % 5 > 0))
    features = [c for c in repeats if c not in ("label", "qid", "weight")]
    selector = RankingFeatureSelector(**options)
    said = nullcontext
    if options.get("n_features_to_select") == 14:
        said = partial(pytest.warns, UserWarning, match="=14, but only 12 features ")
    with said():
        found = dask.fit_selector(selector, spread(repeats), features=features)
    assert not hasattr(selector, "mean_")
    with said():
        wanted = selector.fit(repeats[features], repeats.label, repeats.qid)
    assert_same(found, wanted)
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas())
    assert found.screening_.label == "label"
    selected = wanted.get_feature_names_out()
    assert_array_equal(found.transform(repeats[features]), repeats[selected])
    if not options:
        names = dict(zip(features, found.repeats_, strict=True))
        assert names["copy"] == names["fewer"] == features.index("clicks")
        further = repeats[features], repeats.label, repeats.qid + 1000
        assert found.partial_fit(*further).n_queries_ == 120


def test_a_selector_of_weighted_queries(rows):
    features = [c for c in rows if c not in ("label", "qid", "weight")]
    selector = RankingFeatureSelector()
    found = dask.fit_selector(selector, spread(rows), query_weight="weight")
    wanted = selector.fit(rows[features], rows.label, rows.qid, rows.weight)
    assert_same(found, wanted)
    with pytest.raises(ValueError, match="for none, got none after queries with w"):
        found.partial_fit(rows[features], rows.label, rows.qid + 1000)


def test_a_selector_is_sent_without_what_it_learned(rows, capsys):
    selector = RankingFeatureSelector("rr", progress=True)
    fitted = dask.fit_selector(selector, spread(rows, 2))
    spy = {"autospec": True, "side_effect": RankingFeatureSelector.screen}
    with mock.patch.object(RankingFeatureSelector, "screen", **spy) as screened:
        again = dask.fit_selector(fitted, spread(rows, 2))
    assert screened.call_count == 2
    for call in screened.call_args_list:
        assert not hasattr(call.args[0], "n_queries_")
        assert not call.args[0].progress
    assert again.progress
    assert capsys.readouterr().err == ""


def test_kinds_of_numbers_may_differ_between_partitions():
    """As far as no query changes by it."""
    own = [
        part(0).astype({"label": int, "clicks": np.float32}),
        part(1).astype({"label": object}),
        part(2).astype({"label": "Int64", "qid": np.int32}),
        part(3).astype({"clicks": object}),
        part(4)[:0].astype({"label": object, "qid": object, "clicks": object}),
    ]
    with config.set({"dataframe.convert-string": False}):
        df = dd.from_map(lambda i: own[i], range(5), meta=part(0)[:0])
        assert dask.evaluate(df, score="clicks", shuffle=False).qid.size == 32
        selector = RankingFeatureSelector("rr")
        options = {"features": ["weight"], "shuffle": False}
        found = dask.fit_selector(selector, df, **options)
        whole = dd.from_pandas(pd.concat(own[:4]).astype(float), npartitions=1)
        wanted = dask.fit_selector(selector, whole, **options)
        assert found.mean_.tolist() == wanted.mean_.tolist()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ["clicks", 0])
def test_scores_that_floats_do_not_hold_are_no_floats(shuffle, name):
    own = [part(i).assign(clicks=LARGE + np.arange(40) % 3) for i in range(2)]
    own[1]["clicks"] = np.arange(40.0) % 4
    rows = pd.concat([own[0], own[1].astype({"clicks": int})])
    own = [one.rename(columns={"clicks": name}) for one in own]
    df = dd.from_map(lambda i: own[i], range(2), meta=own[0][:0])
    found = dask.evaluate(df, score=name, shuffle=shuffle)
    assert found.expected.tolist() == helpers.evaluated(rows).expected.tolist()
