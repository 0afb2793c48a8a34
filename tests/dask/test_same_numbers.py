"""On a cluster, the numbers of one machine, to the last bit."""

from __future__ import annotations

import importlib
import sys
import warnings
from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

import tieaware_sklearn
from tests.dask.helpers import (
    ALL,
    LARGE,
    MARKS,
    MEASURES,
    SAME,
    SYSTEMS,
    assert_same_comparison,
    assert_same_report,
    assert_same_selector,
    assert_same_summary,
    assert_same_values,
    compared,
    computed,
    part,
    spread,
)
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.dask import (
    compare_systems,
    evaluate,
    evaluate_queries,
    fit_selector,
)

pytestmark = MARKS


def evaluated(rows, **options):
    """By one machine; options that name columns are given these."""
    given = {
        name: rows[options.pop(name)]
        for name in ("segment", "query_weight")
        if options.get(name) is not None
    }
    return tieaware_sklearn.evaluate(
        rows.label, rows.clicks, qid=rows.qid, **given, **options
    )


def assert_same_evaluation(found, wanted):
    assert_same_report(found, wanted)
    if wanted.segment is not None:
        for average in ("macro", "geometric", "median"):
            assert_same_summary(found.by_segment(average), wanted.by_segment(average))


@pytest.mark.parametrize("weighted", [False, True])
def test_evaluate(kind, weighted):
    options = {"measures": MEASURES, "query_weight": "weight" if weighted else None}
    found = evaluate(spread(kind), score="clicks", **options)
    wanted = evaluated(kind, **options)
    assert_same_report(found, wanted)
    assert found.qid.tolist() == sorted(wanted.qid.tolist())
    sampled = {"interval": "bootstrap", "n_resamples": 99}
    assert_same_summary(found.summary(**sampled), wanted.summary(**sampled))
    lazy = evaluate_queries(spread(kind), score="clicks", measures=MEASURES)
    assert isinstance(lazy, dd.DataFrame)
    values = lazy.compute()
    assert values["qid"].dtype == lazy["qid"].dtype
    assert list(lazy.columns) == list(values.columns)
    assert_same_values(values, wanted.to_pandas())


@pytest.mark.parametrize("name", ["evaluate", "evaluate_queries"])
@pytest.mark.parametrize(
    "options",
    [
        {"convention": "lightgbm"},
        {"convention": "trec_eval"},
        {"unjudged": "nonrelevant", "zero_relevance": "skip"},
        {"zero_relevance": 0.25},
    ],
    ids=str,
)
def test_conventions_and_unjudged_labels(rows, name, options):
    rows = rows.assign(label=np.minimum(rows.label, 1))
    if "unjudged" in options:
        rows["label"] = rows.label.where(rows.index % 7 > 0)
    options = {"measures": ["ndcg@10", "ap@10"], **options}
    renamed = rows.rename(columns={"label": "rating"})
    found = computed(name, spread(renamed), label="rating", **options)
    wanted = evaluated(rows, **options)
    if name == "evaluate":
        assert_same_report(found, wanted)
    else:
        assert_same_values(found, wanted.to_pandas())


SEGMENTS = {
    "text": lambda qid: "market " + (qid % 7 % 4).astype(str),
    "category": lambda qid: ("s" + (qid % 3).astype(str)).astype("category"),
    "int": lambda qid: 10 - qid % 5,
    "float": lambda qid: qid % 3 / 3,
    "flag": lambda qid: qid > 20,
    "date": lambda qid: pd.Timestamp("2026-03-01") + pd.to_timedelta(qid % 3, "D"),
    "a query each": lambda qid: "q" + qid.astype(str),
}


@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments(rows, segment):
    rows = rows.assign(segment=SEGMENTS[segment](rows.qid))
    rows["weight"] = rows.weight.where(rows.weight > 1, 0)  # of some queries
    options = {"segment": "segment", "measures": MEASURES, "query_weight": "weight"}
    found = evaluate(spread(rows), score="clicks", **options)
    assert_same_evaluation(found, evaluated(rows, **options))


@pytest.mark.parametrize("segment", ["qid", "weight"])
def test_segments_may_be_queries_or_weights(rows, segment):
    options = {"segment": segment, "query_weight": "weight"}
    found = evaluate(spread(rows, 2), score="clicks", **options)
    assert_same_evaluation(found, evaluated(rows, **options))


@settings(max_examples=30)
@given(st.data())
def test_small_data(data):
    n = data.draw(st.integers(1, 12), label="n")
    column = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    rows = pd.DataFrame({k: data.draw(column) for k in ("label", "qid", "clicks")})
    rows["other"] = data.draw(st.sampled_from([rows.clicks, rows.label, -rows.clicks]))
    segments = data.draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.7, 3.0]), min_size=3))
    rows["segment"] = [segments[qid] for qid in rows.qid]
    rows["weight"] = [weights[qid] for qid in rows.qid]
    df = spread(rows, data.draw(st.integers(1, 4), label="partitions"))
    measure = data.draw(st.sampled_from(["rr", "ndcg", "p@1"]))
    zero = {"zero_relevance": data.draw(st.sampled_from([0.0, 1.0]))}
    options = {
        **zero,
        "segment": "segment",
        "measures": [measure],
        "query_weight": data.draw(st.sampled_from([None, "weight"])),
    }
    found = evaluate(df, score="clicks", **options)
    assert_same_evaluation(found, evaluated(rows, **options))
    correction = data.draw(st.sampled_from(["holm", "tukey"]))
    options = {**zero, "measure": measure, "correction": correction}
    found = compare_systems(df, scores=["clicks", "other"], **options)
    assert_same_comparison(found, compared(rows, ["clicks", "other"], **options))


@settings(max_examples=5)
@given(st.integers(1, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_no_bit_depends_on_partitions(rows, many, others, random):
    rows = rows[rows.qid <= 20].assign(segment=rows.qid % 3)
    shuffled = rows.sample(frac=1, random_state=random.randrange(2**31))
    for table in (
        lambda df: evaluate(df, score="clicks", query_weight="weight"),
        lambda df: evaluate(df, score="clicks", segment="segment"),
        lambda df: compare_systems(df, scores=SYSTEMS, correction="tukey"),
    ):
        one, two = table(spread(rows, many)), table(spread(shuffled, others))
        pd.testing.assert_frame_equal(
            one.to_pandas(), two.to_pandas(), check_exact=True
        )
        assert_same_summary(one.summary(), two.summary())


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_no_shape_of_partitions_changes_a_number(rows, name, shuffle):
    """Nearly all rows in one, single rows, empty ones, and half of all in one query."""
    few = rows[:120].copy()
    few.loc[:59, "qid"] = 7
    few = few.sort_values("qid", ignore_index=True)
    if shuffle:
        ends = [0, 0, 1, 2, 3, 117, 118, 118, 120]
    else:
        starts = np.flatnonzero(np.diff(few.qid)) + 1
        ends = [0, 0, *starts[:2], *starts[-3:], len(few), len(few)]
    cells = [few[i:j] for i, j in pairwise(ends)]
    df = dd.from_map(lambda i: cells[i], range(len(cells)), meta=few[:0])
    assert 0 in df.map_partitions(len).compute().tolist()
    found = computed(name, df, shuffle=shuffle)
    wanted = computed(name, dd.from_pandas(few, npartitions=1), shuffle=False)
    SAME[name](found, wanted)


def test_single_rows_are_queries_of_one_document(rows):
    few = rows[:9].assign(qid=np.arange(9))
    df = dd.from_pandas(few, npartitions=9)
    assert df.map_partitions(len).compute().tolist() == [1] * 9
    for shuffle in (False, True):
        found = evaluate(df, score="clicks", shuffle=shuffle)
        assert_same_report(found, evaluated(few))


def test_a_partition_may_be_empty_or_weigh_nothing(rows):
    rows = rows.assign(weight=(rows.qid < 10).astype(float))
    many = spread(rows, 3).repartition(npartitions=40)
    assert any(n == 0 for n in many.shuffle("qid").map_partitions(len).compute())
    found = evaluate(many, score="clicks", query_weight="weight").summary()
    assert_array_equal(found.mean, evaluated(rows[rows.qid < 10]).summary().mean)


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("name", ALL)
def test_only_the_columns_that_are_wanted_are_read(rows, tmp_path, name, filesystem):
    rows.to_parquet(tmp_path / "0.parquet")
    df = dd.read_parquet(tmp_path, filesystem=filesystem)
    # the others are gone, which does not matter
    rows[["label", "qid", "clicks"]].to_parquet(tmp_path / "0.parquet")
    options = {"features": ["clicks"]} if name == "fit_selector" else {}
    computed(name, df, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"baseline": "in_degree", "correction": "bh", "alternative": "greater"},
        {"correction": "tukey", "measure": "rr"},
        {"correction": None, "confidence": 0.8, "alternative": "less", "measure": "ap"},
        # undefined where a system retrieves too few relevant documents
        {"measure": "esl", "correction": "by"},
        {"measure": "esl", "correction": "tukey"},
        {"ties": "worst", "zero_relevance": "skip"},
        {"test": "wilcoxon", "interval": "bootstrap", "n_resamples": 199},
        {"test": "randomization", "n_resamples": 199, "random_state": 3},
    ],
    ids=str,
)
def test_comparisons(kind, options):
    number = pd.factorize(kind.qid)[0]
    holes = kind.assign(
        clicks=kind.clicks.where(number % 4 > 0, -np.inf),
        in_degree=kind.in_degree.where(number % 5 > 0, -np.inf),
    )
    found = compare_systems(spread(holes), scores=SYSTEMS, **options)
    wanted = compared(holes, **options)
    assert_same_comparison(found, wanted)
    assert (len(set(wanted.n_queries.tolist())) == 3) == ("esl" in options.values())


def test_comparisons_by_several_measures_and_rules(rows):
    rows = rows.assign(docno=rows.index.astype(str), number=rows.index)
    options = {
        "measure": ["ndcg@10", "rr", "p@3"],
        "ties": ["best", "expected", "as trec_eval", "first", "label"],
    }
    names = {"as trec_eval": ("docno", "descending", "float32"), "first": "number"}
    names |= {"label": "label"}
    given = {
        name: (rows[key[0]], *key[1:]) if isinstance(key, tuple) else rows[key]
        for name, key in names.items()
    }
    found = compare_systems(spread(rows), scores=SYSTEMS, external=names, **options)
    wanted = compared(rows, external=given, **options)
    assert len(found) == len(wanted) == 15
    assert_same_comparison(found, wanted)
    by_number = compared(rows, measure="rr", ties="input")
    assert_array_equal(found["rr", "first"].difference, by_number.difference)


def test_systems_may_be_one_or_have_numbers_for_names(rows):
    found = compare_systems(spread(rows), scores=["clicks"])
    assert_same_comparison(found, compared(rows, ["clicks"]))
    numbers = {name: number for number, name in enumerate(SYSTEMS)}
    numbered = rows[["label", "qid", *SYSTEMS]].rename(columns=numbers)
    found = compare_systems(spread(numbered), scores=[0, 1, 2], baseline="1")
    assert found.systems == ("0", "1", "2")
    assert_same_comparison(found, compared(numbered, [0, 1, 2], baseline="1"))


def test_a_measure_that_is_undefined_everywhere_is_warned_of(rows):
    with pytest.warns(UndefinedMetricWarning, match="NDCG@10 is"):
        found = compare_systems(
            spread(rows.assign(label=0)), scores=SYSTEMS, zero_relevance="skip"
        )
    assert np.isnan(found.difference).all()
    assert_array_equal(found.n_queries, 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "ascending", "n_features_to_select": 2},
        {"redundancy": False, "max_correlation": None, "missing": "last"},
        {"sort_by": "rr", "zero_relevance": "skip", "measures": ["ap", "rr"]},
    ],
    ids=str,
)
def test_a_selector_is_fitted_as_to_all_rows(rows, options, weighted):
    if options.get("missing"):
        rows = rows.assign(clicks=rows.clicks.where(rows.index % 5 > 0))
    features = [c for c in rows if c not in ("label", "qid", "weight")]
    selector = RankingFeatureSelector(**options)
    weight = {"query_weight": "weight"} if weighted else {"features": features}
    found = fit_selector(selector, spread(rows), **weight)
    wanted = RankingFeatureSelector(**options).fit(
        rows[features], rows.label, rows.qid, rows.weight if weighted else None
    )
    assert not hasattr(selector, "mean_")
    assert_same_selector(found, wanted)
    assert found.screening_.label == "label"
    selected = wanted.get_feature_names_out()
    assert_array_equal(found.transform(rows[features]), rows[selected])
    further = rows[features], rows.label, rows.qid + 1000
    if weighted:
        with pytest.raises(ValueError, match="for none, got none after queries with w"):
            found.partial_fit(*further)
    else:
        assert found.partial_fit(*further).n_queries_ == 120


@pytest.fixture(scope="module")
def repeats(rows):
    """With exact copies, the same upside down, near repeats and a constant."""
    noise = np.random.default_rng(0).random(len(rows)) / 10
    return rows.assign(
        copy=2 * rows.clicks, fewer=-rows.clicks, nearly=rows.page_visits + noise,
        rounded=rows.text_score // 2, constant=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_features_to_select": 0.5},
        {"n_features_to_select": 8, "max_correlation": None, "diversity": 0.2},
        {"n_features_to_select": 14},  # all that vary, copies last
        {"max_correlation": 1.0, "alpha": 0.5, "min_lift": 0.01},
        {"max_correlation": 0, "redundancy": True},
        {"sort_by": "ap", "measures": ["rr", "ap"], "unjudged": "drop"},
    ],
    ids=str,
)
def test_a_selection_among_repeats_is_that_of_a_fit(repeats, options):
    if options.get("unjudged"):
        repeats = repeats.assign(label=repeats.label.where(repeats.index % 9 > 0))
    features = [c for c in repeats if c not in ("label", "qid", "weight")]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        found = fit_selector(
            RankingFeatureSelector(**options), spread(repeats), features=features
        )
    with warnings.catch_warnings(record=True) as wanted_said:
        warnings.simplefilter("always", UserWarning)
        wanted = RankingFeatureSelector(**options).fit(
            repeats[features], repeats.label, repeats.qid
        )
    assert_same_selector(found, wanted)
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas())
    ours = [str(one.message) for one in said if "n_features_to" in str(one.message)]
    assert ours == [str(one.message) for one in wanted_said]
    assert bool(ours) == (options.get("n_features_to_select") == 14)
    if not options:
        names = dict(zip(features, found.repeats_, strict=True))
        assert names["copy"] == names["fewer"] == features.index("clicks")


def test_a_selector_is_sent_without_what_it_learned(rows, capsys, monkeypatch):
    selector = RankingFeatureSelector("rr", progress=True)
    fitted = fit_selector(selector, spread(rows))
    screened = []
    screen = RankingFeatureSelector.screen

    def spy(self, *arguments):
        screened.append((hasattr(self, "n_queries_"), self.progress))
        return screen(self, *arguments)

    monkeypatch.setattr(RankingFeatureSelector, "screen", spy)
    again = fit_selector(fitted, spread(rows))
    assert set(screened) == {(False, False)}
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
    with dask.config.set({"dataframe.convert-string": False}):
        df = dd.from_map(lambda i: own[i], range(5), meta=part(0)[:0])
        assert evaluate(df, score="clicks", shuffle=False).qid.size == 32
        selector = RankingFeatureSelector("rr")
        options = {"features": ["weight"], "shuffle": False}
        found = fit_selector(selector, df, **options)
        whole = dd.from_pandas(pd.concat(own[:4]).astype(float), npartitions=1)
        wanted = fit_selector(selector, whole, **options)
        assert found.mean_.tolist() == wanted.mean_.tolist()


@pytest.mark.parametrize("shuffle", [False, True])
def test_scores_that_floats_do_not_hold_are_no_floats(shuffle):
    own = [part(i).assign(clicks=LARGE + np.arange(40) % 3) for i in range(2)]
    own[1]["clicks"] = np.arange(40.0) % 4
    rows = pd.concat([own[0], own[1].astype({"clicks": int})])
    wanted = evaluated(rows).expected.tolist()
    for name in ("clicks", 0):
        named = [one.rename(columns={"clicks": name}) for one in own]
        df = dd.from_map(lambda i: named[i], range(2), meta=named[0][:0])  # noqa: B023
        found = evaluate(df, score=name, shuffle=shuffle)
        assert found.expected.tolist() == wanted


def test_a_missing_dask_is_named(monkeypatch):
    ours = "tieaware_sklearn.dask"
    monkeypatch.setitem(sys.modules, "dask", None)
    for module in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[dask\]"'):
        importlib.import_module(ours)
