"""`ranking_score` and `evaluate`: queries, options, dtypes of scores, bad input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tests.evaluation.helpers import AP_A, AP_C, LABELS, QID, SCORES, score
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation._statistics import deepest
from tieaware_sklearn.measures import NDCG, parse_measures

NAN = math.nan


def test_queries_in_order_of_first_appearance():
    report = evaluate(LABELS, SCORES, qid=QID, measures="ap")
    assert report.qid.tolist() == ["a", "b", "c"]
    assert report.expected[:, 0] == pytest.approx([AP_A, 0, AP_C])
    assert score(average=None) == pytest.approx([AP_A, 0, AP_C])


def test_no_qid_is_one_query():
    one = ranking_score(LABELS, SCORES, average=None)
    assert one.shape == (1,)
    assert ranking_score(LABELS, SCORES) == one[0]
    assert ranking_score(LABELS, SCORES, qid=[7] * 8) == one[0]


def test_zero_relevance():
    assert score(zero_relevance=1) == pytest.approx((AP_A + 1 + AP_C) / 3)
    assert score(zero_relevance="skip") == pytest.approx((AP_A + AP_C) / 2)
    skipped = score(zero_relevance="skip", average=None)
    assert np.isnan(skipped).tolist() == [False, True, False]
    with pytest.raises(ValueError, match=r"AP is undefined for query 'b': its denomi"):
        score(zero_relevance="raise")
    # defined without a relevant document: P, F, RR and Success are 0
    for measure in ("p@2", "f@2", "rr", "success@1", "rbp", "cg", "dcg"):
        assert score(measure, zero_relevance="raise", average=None)[1] == 0
    with pytest.raises(ValueError, match=r"ESL.* query 'b': too few relevant .*retri"):
        score("esl", zero_relevance="raise")
    report = evaluate(
        LABELS, SCORES, qid=QID, measures=["ap", "rr"], zero_relevance="skip"
    )
    assert report.n_undefined.tolist() == [1, 0]
    for name in ("expected", "best", "worst", "std", "chance", "ideal"):
        assert np.isnan(getattr(report, name)[1]).tolist() == [True, False]
    assert report.summary().n_queries.tolist() == [2, 3]
    with pytest.raises(ValueError, match=r"Fallout@1 is undefined for query 0"):
        ranking_score([1, 1], [2, 1], measure="fallout@1", zero_relevance="raise")


@pytest.mark.parametrize("value", [0.0, 0.5, -2.0, 7.0])
def test_values_put_in_do_not_vary_and_widen_the_bounds(value):
    report = evaluate(
        LABELS, SCORES, qid=QID, measures=["ap", "dcg"], zero_relevance=value
    )
    assert report.std[1, 0] == 0
    for name in ("expected", "best", "worst", "chance", "ideal"):
        assert getattr(report, name)[1, 0] == value
    low, high = min(value, 0), max(value, 1)
    assert report.bounds.tolist() == [[low, high], [low, math.inf]]


def test_unjudged_labels():
    labels = [1, NAN, 0]
    for given in (labels, pd.array([1, None, 0], dtype="Int64")):
        options = {"measure": "rr", "unjudged": "nonrelevant"}
        assert ranking_score(given, [1, 2, 3], **options) == 1 / 3
    # BPref and Judged know of them; beside another measure they do not suffice
    assert evaluate(labels, [1, 2, 3], measures=["bpref", "judged"]).expected[0, 0] == 0
    with pytest.raises(ValueError, match=r"y_true must be judged .* got nan in row 1"):
        evaluate(labels, [1, 2, 3], measures=["bpref", "rr"])


def masked(values):
    return np.ma.array(values, mask=[0, 0, 1])


BAD = [
    ({"y_score": [1, 2]}, r"y_score must have one value per row \(3\), got 2"),
    ({"y_score": [1, NAN, 2]}, "y_score must not be NaN, got nan in row 1"),
    ({"y_score": masked([1, 1, 2])}, "y_score must not be NaN, got nan in row 2"),
    ({"y_score": [1, math.inf, 2]}, "y_score must be finite, or -inf .*inf in row 1"),
    ({"y_score": np.ones((3, 2))}, r"y_score must be 1-dimensional, got .*\(3, 2\)"),
    ({"y_score": np.array([1, 2, 3j])}, "y_score must be numeric, got dtype complex"),
    ({"y_score": np.array(["1", "2", "3"], object)}, "y_score must be numeric"),
    ({"y_score": [10**400, 1, 2]}, r"y_score must fit 64-bit floats, got 10+\.\.\."),
    ({"y_true": [0, -1, -2]}, r"y_true must be >= 0 \(.*got -1.0 in row 1 \(and 1 m"),
    ({"y_true": [0, 1, math.inf]}, "y_true must be finite, got inf in row 2"),
    ({"y_true": masked([1, 1, 2])}, "y_true must be judged .* got nan in row 2"),
    ({"y_true": [], "y_score": []}, "y_true must not be empty"),
    ({"y_true": [[0, 1, 2]]}, r"y_score must have the shape of y_true, \(1, 3\), got"),
    ({"y_true": [[[0]]]}, r"y_true must be 1-dimensional, got shape \(1, 1, 1\)"),
    ({"y_true": [[0, 1]], "y_score": [[0, 1]], "qid": [1]}, "qid must be None where y"),
    ({"mask": [True] * 3}, r"mask must be None unless y_true has shape \(n_queries"),
    ({"y_true": ["a", "b", "c"]}, "y_true must be numeric, got dtype"),
    ({"y_true": None}, "y_true must be a 1-D array, got None"),
    ({"y_true": [[1], [1, 2], 3]}, "y_true must be a 1-D array"),
    ({"y_true": [61, 0, 1]}, 'y_true must be <= 60 with exponential gain .*"linear"'),
    ({"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
    ({"qid": [1, NAN, 2]}, "qid must not be missing, got nan in row 1"),
    ({"qid": ["a", None, "b"]}, "qid must not be missing, got None in row 1"),
    ({"qid": pd.array([1, None, 2], "Int64")}, "qid must not be missing"),
    ({"qid": np.array(["2020", "NaT", "2021"], "M8[D]")}, "qid must not be missing"),
    ({"qid": masked([1, 1, 2])}, "qid must not be missing, got a masked .* in row 2"),
    ({"qid": [[1], [1], [2]]}, "qid must hold hashable values"),
    ({"qid": [[1], [2, 3], 4]}, "qid must hold hashable values"),
    ({"qid": pd.Series([[1], [1], [2]])}, "qid must hold hashable values"),
    ({"qid": (i for i in range(3))}, r"qid must be 1-dimensional, got shape \(\)"),
    ({"query_weight": [1, 2]}, "query_weight must have one value per row"),
    ({"query_weight": [1, 2, 1]}, "constant within a query, got 1.0 and 2.0 in query"),
    ({"query_weight": [-1] * 3}, "query_weight must be finite and >= 0, got -1.0"),
    ({"query_weight": [NAN] * 3}, "query_weight must be finite and >= 0"),
    ({"query_weight": [0, 0, 0]}, "query_weight must not be 0 in every query"),
    ({"query_weight": [1e200] * 3}, "query_weight must be 0 or from 1e-100 to 1e100"),
    ({"query_weight": [1e-200] * 3}, "query_weight must be 0 or from 1e-100 to 1e100"),
    ({"measure": "ndcg@0"}, r"measure 'ndcg@0': k must be an integer >= 1, got 0"),
    ({"measure": "ndgc@10"}, r"unknown measure 'ndgc@10'; did you mean 'NDCG@10'\?"),
    ({"measure": 7}, "measure must be a name such as"),
    ({"measure": "rbp(gain=linear)"}, r"gain of RBP must be in \[0, 1\], got 2.0"),
    ({"measure": NDCG(gain=lambda x: None)}, "gain must be a number, got None"),
    ({"measure": NDCG(gain=lambda x: -x)}, r"gain must be >= 0 and .* got -1.0"),
    ({"measure": "cg", "y_true": [1e200, 0, 0]}, r"gain must .*most 1e\+100, got 1e\+"),
    (
        {"measure": NDCG(gain={0: 0, 1: 1})},
        r"one of the labels \['0', '1'\] .*got 2",
    ),
    ({"ties": "mean"}, "ties must be one of .*'expected'.* got 'mean'"),
    ({"average": "mode"}, "average must be one of .*'macro'.* got 'mode'"),
    (
        {"zero_relevance": "ignore"},
        "zero_relevance must be one of .*skip.*got 'ign",
    ),
    ({"zero_relevance": NAN}, "zero_relevance must be a finite number.* got nan"),
    ({"zero_relevance": None}, "zero_relevance must be a finite number.* got None"),
    ({"unjudged": "omit"}, r"unjudged must be one of .*'nonrelevant', 'drop'\), got"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[m for _, m in BAD])
def test_bad_input_names_the_argument_the_rule_and_the_value(changes, message):
    arguments = {"y_true": [0, 1, 2], "y_score": [3, 2, 1], **changes}
    with pytest.raises(ValueError, match=message):
        ranking_score(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([], "measures must name at least one measure"),
        (["ap", "map"], "measures must differ, got AP twice"),
        (7, "measures must be a name or a list of names"),
    ],
)
def test_bad_measures_of_evaluate(measures, message):
    with pytest.raises(ValueError, match=message):
        evaluate([0, 1], [1, 2], measures=measures)


def test_labels_above_60_are_fine_with_linear_gain():
    for measure in ("ndcg(gain=linear)", "ap"):
        assert ranking_score([61, 0], [2, 1], measure=measure) == 1


def test_cut_offs_may_be_as_large_as_one_likes():
    labels, scores = [0, 1, 1], [2, 1, 1]
    for measure in ("ndcg", "ap", "rr", "success", "r", "cg"):
        whole = ranking_score(labels, scores, measure=measure)
        assert ranking_score(labels, scores, measure=f"{measure}@{10**23}") == whole
    assert ranking_score(labels, scores, measure=f"p@{10**23}") == pytest.approx(2e-23)


def test_small_labels_keep_their_exponential_gain():
    for unit in (1e-6, 1e-15):
        labels = np.array([1, 3, 2]) * unit
        gains = np.expm1(labels * math.log(2))
        linear = ranking_score(gains, [3, 2, 1], measure="ndcg(gain=linear)")
        assert ranking_score(labels, [3, 2, 1], measure="ndcg") == pytest.approx(linear)


def test_many_distinct_labels(engine):
    rng = np.random.default_rng(0)
    labels, scores = rng.random(70_000), rng.integers(0, 9, 70_000)
    qid = np.arange(70_000) // 100
    report = evaluate(labels, scores, qid=qid, measures=["ndcg@10", "ap(rel=0.9)"])
    for query in (0, 350, 699):
        rows = qid == query
        alone = evaluate(labels[rows], scores[rows], measures=report.measures)
        assert np.array_equal(alone.expected[0], report.expected[query])
        assert np.array_equal(alone.ideal[0], report.ideal[query])


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32"],
)
def test_scores_of_any_dtype(engine, dtype):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 60, size=3000)
    labels, qid = rng.integers(0, 5, size=3000), rng.integers(0, 40, size=3000)
    strided = np.repeat(scores.astype(dtype), 2)[::2]
    for measures in (["ndcg@3", "rr"], ["ap", "p@5"]):
        options = {"qid": qid, "measures": measures}
        wanted = evaluate(labels, scores.astype(float), **options).expected
        for same in (scores.astype(dtype), strided):
            found = evaluate(labels, same, **options).expected
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        # integers that floats cannot hold
        (np.array([2**62, 2**62 + 2, 2**62 + 1]), 1),
        (np.array([2**63, 2**63 + 4, 2**63 + 2], np.uint64), 1),
        # apart by their last bit
        (np.array([1.0, np.nextafter(1.0, 2), 1.0]), 1),
        (np.array([1.0, 1.0, 0.0]), 3 / 4),
        # two zeros are one
        (np.array([0.0, -0.0, -1.0]), 3 / 4),
    ],
)
def test_scores_are_compared_exactly(engine, scores, expected):
    found = evaluate([0, 1, 0], scores, measures=["rr", "ap"]).expected
    assert found.tolist() == [[expected] * 2]


def test_the_deepest_of_measures():
    assert deepest(parse_measures(["ndcg@10", "rr@3", "p@5"])) == 10
    assert deepest(parse_measures(["ndcg@10", "ap"])) is None
