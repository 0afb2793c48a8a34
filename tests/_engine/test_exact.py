"""Numbers of any kind: none is rounded into another, none that is missing is taken."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from tieaware_sklearn import (
    PreparedRanking,
    RankingFeatureSelector,
    evaluate,
    ranking_score,
    tie_treatments,
)
from tieaware_sklearn._engine.exact import is_missing, numbers_of, show
from tieaware_sklearn.comparison import compare_systems, rank_correlation
from tieaware_sklearn.judgments import depth_pool
from tieaware_sklearn.score_precision import round_scores

#: a time in nanoseconds: 64-bit floats are 256 apart there
T = 1_700_000_000_000_000_000
THIRD = Fraction(1, 3)
#: the second beats the first, and floats do not tell them apart
CLOSE = {
    "beside a float": [T, T + 100, 0.5],
    "beside -inf": [T, T + 100, -np.inf],
    "64 bits with and without a sign": [2**63, 2**63 + 1, -1],
    "beyond 64 bits": [2**70, 2**70 + 1, 0],
    "objects": np.array([T, T + 100, 0.5], dtype=object),
    "NumPy's scalars": [np.int64(T), np.int64(T + 100), np.float64(0.5)],
    "Decimal": [Decimal(1), Decimal("1.0000000000000000001"), Decimal(0)],
    "Fraction": [THIRD, THIRD + Fraction(1, 10**30), 0],
    "underflow": [0, Decimal("1e-400"), -1],
    "polars": pl.Series([T, T + 100, 0], dtype=pl.Decimal(30, 0)),
}


@pytest.mark.parametrize("scores", CLOSE.values(), ids=CLOSE)
def test_scores_that_floats_make_one_of_two_are_refused(scores):
    rule = "must not hold numbers that differ but are equal as 64-bit floats, got "
    for call in (
        lambda: ranking_score([0, 1, 0], scores, measure="rr"),
        lambda: evaluate([0, 1, 0], scores),
        lambda: PreparedRanking([0, 1, 0]).score(scores),
        lambda: round_scores(scores, "decimals=2"),
        lambda: rank_correlation([0, 1, 0], scores),
        lambda: compare_systems([0, 1, 0], {"a": scores, "b": [1, 2, 3]}),
        lambda: depth_pool([{"qid": [1] * 3, "docno": [*"abc"], "score": scores}]),
    ):
        with pytest.raises(ValueError, match=rule):
            call()


def test_the_message_names_the_two_and_what_to_do():
    got = f"y_score must not hold .* got {T} and {T + 100} .pass .* one integer dtype"
    with pytest.raises(ValueError, match=got):
        ranking_score([0, 1, 0], [T, T + 100, 0.5])


@pytest.mark.parametrize(
    "scores",
    [
        [T, T + 100, 0],
        [2**63, 2**63 + 1, 0],
        np.array([T, T + 100, 0]),
        np.array([T, T + 100, 0], dtype=object),
        pd.Series([T, T + 100, 0]),
        pd.Series([T, T + 100, 0], dtype="Int64"),
        pl.Series([T, T + 100, 0]),
        pa.array([T, T + 100, 0]),
        [T, T + 1000, 0.5],  # floats tell these apart
        [Decimal("0.1"), Decimal("0.2"), Decimal(0)],
        [THIRD, Fraction(1, 2), 0],
        [2**70, 2**71, 0],
        np.array([1, np.nextafter(np.longdouble(1), 2), 0], dtype=np.longdouble),
    ],
    ids=lambda scores: f"{type(scores).__name__} {scores[1]!r:.30}",
)
def test_numbers_of_one_dtype_or_that_floats_tell_apart_are_taken(scores):
    if getattr(scores, "dtype", None) == np.longdouble and scores[1] == 1.0:
        pytest.skip("no longer than a double here")
    assert ranking_score([0, 1, 0], scores, measure="rr") == 1


def test_labels_and_weights_are_floats_and_none_is_rounded_into_another():
    for labels in ([T, T + 100], np.array([T, T + 100]), pd.Series([T, T + 100])):
        with pytest.raises(ValueError, match="y_true must not hold numbers that diff"):
            ranking_score(labels, [1, 2], measure="rr")
    assert ranking_score([0, T], [1, 2], measure="rr") == 1
    with pytest.raises(ValueError, match="query_weight must not hold numbers that d"):
        evaluate([1, 0], [1, 2], qid=[1, 2], query_weight=[2**60, 2**60 + 1])


@pytest.mark.parametrize(
    "values", [pl.Series, pa.array, lambda v: pd.array(v, "Int64")]
)
def test_integers_with_gaps_are_not_rounded(values):
    with pytest.raises(ValueError, match="y must not hold numbers that differ"):
        numbers_of(values([T, T + 100, None]), "y")
    assert np.isnan(numbers_of(values([T, T + 1000, None]), "y")).tolist() == [0, 0, 1]


def test_rounding_takes_floats_and_refuses_what_they_do_not_hold():
    for scores in (np.array([T, T + 100]), np.array([2**63, 2**63 + 1], np.uint64)):
        for coarseness in ("significant=3", "levels=4", "bits=float32"):
            with pytest.raises(ValueError, match="y_score must not hold numbers that"):
                round_scores(scores, coarseness)
        assert round_scores(scores, "rho=1.1").argmax() == 1  # bands are of ranks


def test_pearson_takes_differences_of_large_integers_exactly():
    small = np.array([0, 100, 50, 300])
    other = [1, 2, 4, 8]
    expected = rank_correlation(other, small).values[0]
    assert rank_correlation(other, small + T).values[0] == pytest.approx(expected)


def test_systems_and_keys_keep_their_integers():
    labels, rows = [0, 1, 0], [[T, 0.5], [T + 100, 0.25], [0, 0.75]]
    for systems in (
        rows,
        pd.DataFrame({"0": [T, T + 100, 0], "1": [0.5, 0.25, 0.75]}),
        pl.DataFrame({"0": [T, T + 100, 0], "1": [0.5, 0.25, 0.75]}),
        pa.table({"0": [T, T + 100, 0], "1": [0.5, 0.25, 0.75]}),
    ):
        found = compare_systems(labels, systems, qid=[7, 7, 7], measure="rr")
        assert found.expected.tolist() == [[1, 1 / 3]]
    by_key = tie_treatments(
        labels, [1, 1, 1], measures="rr", external={"k": [T + 100, T, T + 1000.5]}
    )
    assert by_key.mean[1, 0] == 1


FRAMES = {
    "pandas": pd.DataFrame,
    "nullable": lambda d: pd.DataFrame(d).convert_dtypes(),
    "objects": lambda d: pd.DataFrame(d).astype(object),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "array of objects": lambda d: pd.DataFrame(d).astype(object).to_numpy(),
    "list": lambda d: [list(row) for row in zip(*d.values(), strict=True)],
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_feature_keeps_the_order_of_its_integers_beside_floats(frame):
    X = frame({"time": [T, T + 100, 0, 5], "other": [0.5, 1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match="p-values need"):
        selector = RankingFeatureSelector("rr").fit(X, [0, 1, 0, 0], qid=[1] * 4)
    assert selector.mean_[0, 0] == 1


def test_a_feature_that_floats_do_not_hold_is_refused_with_its_name():
    X = pd.DataFrame({"fine": [1, 2], "close": [THIRD, THIRD + Fraction(1, 10**30)]})
    with pytest.raises(ValueError, match="column 'close' of X must not hold numbers"):
        RankingFeatureSelector("rr").fit(X, [0, 1])


def test_query_ids_in_a_list_of_rows_are_not_rounded():
    X = [[2**53, 0.5], [2**53 + 1, 0.25], [2**53, 0.75], [2**53 + 1, 1.0]]
    selector = RankingFeatureSelector("rr", qid=0).fit(X, [0, 1, 1, 0])
    assert selector.n_queries_ == 2


def masked(values, mask):
    return np.ma.array(values, mask=mask)


def test_what_is_masked_is_missing():
    X = masked([[1.0, 2], [3, 4], [5, 6], [0, 1]], [[1, 0], *[[0, 0]] * 3])
    data = {"y": [0, 1, 0, 1], "qid": [1, 1, 2, 2]}
    with pytest.raises(ValueError, match="X must not hold NaN, got 1 in column 0"):
        RankingFeatureSelector("rr").fit(X, **data)
    plain = {"max_correlation": None, "diversity": 0}
    found = RankingFeatureSelector(
        "rr", missing="last", n_features_to_select=2, **plain
    )
    found.fit(X, **data)
    filled = np.ma.filled(X, np.nan)
    assert np.array_equal(found.mean_, found.fit(filled, **data).mean_)
    assert np.array_equal(found.transform(X), filled, equal_nan=True)
    with pytest.raises(ValueError, match="y must be judged"):
        RankingFeatureSelector("rr").fit(filled[1:], masked([0, 1, 0], [0, 1, 0]))


def test_masked_scores_labels_weights_keys_and_systems_are_refused():
    one = masked([1, 2, 3], [0, 1, 0])
    for arguments, rule in (
        ({"y_true": one}, "y_true must be judged"),
        ({"y_score": one}, "y_score must not be NaN"),
        ({"query_weight": one}, "query_weight must be finite"),
        ({"qid": one}, "qid must not be missing"),
    ):
        with pytest.raises(ValueError, match=rule):
            ranking_score(**{"y_true": [0, 1, 0], "y_score": [1, 2, 3], **arguments})
    two = masked([[1, 2], [3, 4], [5, 6]], [[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match=r"y_score\['system 1'\] must not be NaN"):
        compare_systems([0, 1, 0], two)
    with pytest.raises(ValueError, match="must not be missing where a document"):
        tie_treatments([0, 1, 0], [1, 1, 1], external={"key": one})
    with pytest.raises(ValueError, match="must not hold numbers that differ"):
        ranking_score(masked([T, T + 100, 0], [0, 0, 1]), [1, 2, 3])


NAN = float("nan")
MISSING = {
    "NaT": np.array([pd.NaT, pd.NaT, 1], dtype=object),
    "NumPy's NaT": np.array([np.datetime64("NaT"), 1, 1], dtype=object),
    "in a tuple": [("a", NAN), ("a", NAN), ("b", 1)],
    "in a set": [frozenset([NAN]), frozenset([NAN]), frozenset([1])],
    "MultiIndex": pd.MultiIndex.from_tuples([("a", NAN), ("a", NAN), ("b", 1.0)]),
    "record": np.array([(1, NAN), (1, NAN), (2, 1)], dtype=[("a", int), ("b", float)]),
    "Decimal": [Decimal("nan"), Decimal("nan"), Decimal(1)],
    "complex": np.array([complex(NAN), complex(NAN), 1]),
    "half": np.array([NAN, NAN, 1], dtype=np.float16),
    "NA": pd.array([1, None, 2], dtype="Int64"),
    "category": pd.Series(["a", None, "b"], dtype="category"),
    "polars": pl.Series([1, None, 2]),
    "None": ["a", None, "b"],
}


@pytest.mark.parametrize("qid", MISSING.values(), ids=MISSING)
def test_query_ids_with_something_missing_are_refused(qid):
    for call in (
        lambda: evaluate([0, 1, 0], [1, 2, 3], qid=qid),
        lambda: RankingFeatureSelector().fit([[1], [2], [3]], [0, 1, 0], qid=qid),
        lambda: depth_pool([{"qid": qid, "docno": [*"abc"], "score": [1, 2, 3]}]),
    ):
        with pytest.raises(ValueError, match="qid must not be missing, got"):
            call()


def test_one_column_is_taken_with_a_warning():
    frame = pd.DataFrame({"rel": [0, 1, 0], "score": [1, 2, 3], "qid": [*"aab"]})
    plain = ranking_score(frame["rel"], frame["score"], qid=frame["qid"])
    with pytest.warns(DataConversionWarning, match="must be 1-dimensional") as caught:
        taken = ranking_score(frame[["rel"]], frame[["score"]], qid=frame[["qid"]])
    assert taken == plain
    assert [str(w.message).split()[0] for w in caught] == ["y_true", "qid", "y_score"]
    assert {w.filename for w in caught} == {__file__}
    with pytest.warns(DataConversionWarning, match="y must be 1-dimensional"):
        RankingFeatureSelector(n_features_to_select=1).fit(
            frame[["score"]], frame[["rel"]], qid=frame["qid"]
        )


def test_flags_with_gaps_are_labels_without_a_judgment():
    labels = pd.array([True, None, False], dtype="boolean")
    with pytest.raises(ValueError, match=r"y_true must be judged .* got nan in row 1"):
        ranking_score(labels, [1, 2, 3])
    options = {"measure": "rr", "unjudged": "nonrelevant"}
    assert ranking_score(labels, [1, 2, 3], **options) == 1 / 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.array([1]), r"array\(\[1\]\)"),
        ([1], r"\[1\]"),
        ("1", "'1'"),
        (1j, "1j"),
        (pd.Timestamp("2020"), "Timestamp"),
        (np.timedelta64(1, "s"), r"np\.timedelta64"),
    ],
)
def test_objects_that_are_no_numbers_are_named(value, shown):
    scores = np.empty(3, dtype=object)
    scores[:] = [1, 2, None]
    scores[2] = value
    got = f"y_score must be numeric, got dtype object with {shown}.* in row 2"
    with pytest.raises(ValueError, match=got):
        ranking_score([0, 1, 0], scores)


def test_options_of_odd_kinds_are_refused_in_words():
    labels, scores = [0, 1, 0], [1, 2, 3]
    for options in (
        {"unjudged": np.array([1, 2])},
        {"ties": np.array(["best", "worst"])},
        {"average": np.array([1, 2])},
        {"convention": np.array([1, 2])},
        {"zero_relevance": np.array([1, 2])},
        {"zero_relevance": 10**400},
        {"zero_relevance": 10**5000},
    ):
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
            ranking_score(labels, scores, **options)


def test_values_are_shown_in_a_line():
    assert show(10**5000) == "an integer of 16610 bits"
    assert show("x" * 200) == f"'{'x' * 59}... (202 characters)"
    assert not is_missing(("a", frozenset([1])))
    assert not is_missing(np.array([1, 2]))
