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
    actual = dask.evaluate(spread(rows), score="clicks", **options)
    expected = helpers.evaluated(rows, **options)
    assert_same(actual, expected)
    assert actual.qid.tolist() == sorted(expected.qid.tolist())
    sampled = {"interval": "bootstrap", "n_resamples": 99}
    assert_same(actual.summary(**sampled), expected.summary(**sampled))


CONVENTIONS = [
    {"convention": "lightgbm"},
    {"convention": "trec_eval"},
    {"unjudged": "nonrelevant", "zero_relevance": "skip"},
    {"zero_relevance": 0.25},
]


@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
def test_conventions_and_unjudged_labels(rows, options):
    rows = rows.assign(label=np.minimum(rows.label, 1))
    if "unjudged" in options:
        rows["label"] = rows.label.where(rows.index % 7 > 0)
    options = {"measures": ["ndcg@10", "ap@10"], **options}
    df = spread(rows.rename(columns={"label": "rating"}), 3)
    actual = dask.evaluate(df, score="clicks", label="rating", **options)
    assert_same(actual, helpers.evaluated(rows, **options))


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
    rows = pd.DataFrame()
    for name in ("label", "qid", "clicks"):
        rows[name] = data.draw(column)
    segments = data.draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.7, 3.0]), min_size=3))
    rows["segment"] = [segments[qid] for qid in rows.qid]
    rows["weight"] = [weights[qid] for qid in rows.qid]
    npartitions = data.draw(st.integers(1, 4), label="partitions")
    measure = data.draw(st.sampled_from(["rr", "ndcg", "p@1"]))
    options = {"segment": "segment", "measures": [measure]}
    options["zero_relevance"] = data.draw(st.sampled_from([0.0, 1.0]))
    options["query_weight"] = data.draw(st.sampled_from([None, "weight"]))
    helpers.check_evaluation(rows, npartitions, **options)


def test_a_partition_may_weigh_nothing(rows):
    weighted = rows[rows.qid < 10].assign(weight=1.0)
    parts = [weighted, rows[rows.qid >= 10].assign(weight=0.0)]
    df = dd.from_map(lambda i: parts[i], range(2), meta=rows[:0])
    actual = dask.evaluate(df, score="clicks", query_weight="weight", shuffle=False)
    expected = helpers.evaluated(weighted)
    assert_array_equal(actual.summary().mean, expected.summary().mean)


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("function", helpers.ALL)
def test_only_the_columns_that_are_wanted_are_read(
    rows, tmp_path, function, filesystem
):
    rows.to_parquet(tmp_path / "0.parquet")
    df = dd.read_parquet(tmp_path, filesystem=filesystem)
    # without the other columns, a read of them would fail
    rows[["label", "qid", "clicks"]].to_parquet(tmp_path / "0.parquet")
    options = {}
    if function is dask.fit_selector:
        options["features"] = ["clicks"]
    helpers.computed(function, df, **options)


@pytest.fixture(scope="module")
def repeats(rows):
    """Return rows with copies, a reversed copy, near repeats and a constant."""
    noise = np.random.default_rng(0).random(len(rows)) / 10
    rows = rows.assign(copy=2 * rows.clicks, fewer=-rows.clicks)
    rows["nearly"] = rows.page_visits + noise
    rows["rounded"] = rows.text_score // 2
    rows["constant"] = 1.0
    return rows


def feature_names(rows):
    return [name for name in rows if name not in ("label", "qid", "weight")]


SELECTOR_OPTIONS = [
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
]


@pytest.mark.parametrize("options", SELECTOR_OPTIONS, ids=str)
def test_a_selector_is_fitted_as_to_all_rows(repeats, options):
    if options.get("unjudged"):
        repeats = repeats.assign(label=repeats.label.where(repeats.index % 9 > 0))
    if options.get("missing"):
        repeats = repeats.assign(clicks=repeats.clicks.where(repeats.index % 5 > 0))
    features = feature_names(repeats)
    selector = RankingFeatureSelector(**options)
    warns = nullcontext
    if options.get("n_features_to_select") == 14:
        warns = partial(pytest.warns, UserWarning, match="=14, but only 12 features ")
    with warns():
        actual = dask.fit_selector(selector, spread(repeats), features=features)
    assert not hasattr(selector, "mean_")
    with warns():
        expected = selector.fit(repeats[features], repeats.label, repeats.qid)
    assert_same(actual, expected)
    pd.testing.assert_frame_equal(actual.to_pandas(), expected.to_pandas())
    assert actual.screening_.label == "label"
    selected = expected.get_feature_names_out()
    assert_array_equal(actual.transform(repeats[features]), repeats[selected])


def test_a_fitted_selector_knows_repeats_and_learns_further_queries(repeats):
    features = feature_names(repeats)
    selector = RankingFeatureSelector()
    fitted = dask.fit_selector(selector, spread(repeats), features=features)
    repeated = dict(zip(features, fitted.repeats_, strict=True))
    assert repeated["copy"] == repeated["fewer"] == features.index("clicks")
    fitted.partial_fit(repeats[features], repeats.label, repeats.qid + 1000)
    assert fitted.n_queries_ == 120


def test_a_selector_of_weighted_queries(rows):
    X = rows[feature_names(rows)]
    selector = RankingFeatureSelector()
    actual = dask.fit_selector(selector, spread(rows), query_weight="weight")
    expected = selector.fit(X, rows.label, rows.qid, rows.weight)
    assert_same(actual, expected)
    with pytest.raises(ValueError, match="for none, got none after queries with w"):
        actual.partial_fit(X, rows.label, rows.qid + 1000)


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
    parts = [
        part(0).astype({"label": int, "clicks": np.float32}),
        part(1).astype({"label": object}),
        part(2).astype({"label": "Int64", "qid": np.int32}),
        part(3).astype({"clicks": object}),
        part(4)[:0].astype({"label": object, "qid": object, "clicks": object}),
    ]
    rows = pd.concat(parts[:4]).astype(float)
    selector = RankingFeatureSelector("rr")
    options = {"features": ["weight"], "shuffle": False}
    with config.set({"dataframe.convert-string": False}):
        df = dd.from_map(lambda i: parts[i], range(5), meta=part(0)[:0])
        assert dask.evaluate(df, score="clicks", shuffle=False).qid.size == 32
        actual = dask.fit_selector(selector, df, **options)
        whole = dd.from_pandas(rows, npartitions=1)
        expected = dask.fit_selector(selector, whole, **options)
    assert actual.mean_.tolist() == expected.mean_.tolist()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ["clicks", 0])
def test_scores_that_floats_do_not_hold_are_no_floats(shuffle, name):
    first = part(0).assign(clicks=LARGE + np.arange(40) % 3)
    second = part(1).assign(clicks=np.arange(40.0) % 4)
    rows = pd.concat([first, second.astype({"clicks": int})])
    parts = [frame.rename(columns={"clicks": name}) for frame in (first, second)]
    df = dd.from_map(lambda i: parts[i], range(2), meta=parts[0][:0])
    actual = dask.evaluate(df, score=name, shuffle=shuffle)
    assert actual.expected.tolist() == helpers.evaluated(rows).expected.tolist()
