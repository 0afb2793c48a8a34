"""Tests of `ranking_score`, `evaluate` and `PreparedRanking`."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

import tieaware_sklearn as ta
from tests.evaluation.helpers import LABELS, QID, SCORES, messages_of, score
from tests.instances import MEASURES
from tests.strategies import queries
from tieaware_sklearn import evaluation
from tieaware_sklearn.measures import NDCG, RBP
from tieaware_sklearn.measures._parse import parse_measures
from tieaware_sklearn.ranking._ranked import deepest

pytestmark = pytest.mark.usefixtures("engine")
NAN = math.nan
INF = math.inf
STATISTICS = ("expected", "best", "worst", "std", "chance", "ideal")


NEVER_UNDEFINED = ["p@2", "f@2", "rr", "success@1", "rbp", "cg", "dcg"]


@pytest.mark.parametrize("measure", NEVER_UNDEFINED)
def test_measures_that_are_0_without_a_relevant_document(measure):
    values = score(measure, zero_relevance="raise", average=None)
    assert values[1] == 0


UNDEFINED = [
    ("ap", r"AP is undefined for query 'b': the labels"),
    ("esl", r"ESL .* query 'b': too few relevant documents"),
]


@pytest.mark.parametrize(("measure", "message"), UNDEFINED)
def test_undefined_measures_raise_on_request(measure, message):
    with pytest.raises(ValueError, match=message):
        score(measure, zero_relevance="raise")


def test_queries_where_a_measure_is_undefined_are_skipped_on_request():
    options = {"measures": ["ap", "rr"], "zero_relevance": "skip"}
    report = ta.evaluate(LABELS, SCORES, qid=QID, **options)
    assert report.n_undefined.tolist() == [1, 0]
    summary = report.summary()
    assert summary.n_queries.tolist() == [2, 3]


@pytest.mark.parametrize("value", [0.0, 0.5, -2.0, 7.0])
def test_values_put_in_widen_the_bounds(value):
    measures = ["ap", "dcg"]
    report = ta.evaluate([0], [1], measures=measures, zero_relevance=value)
    low = min(value, 0)
    high = max(value, 1)
    bounds_of_ap, bounds_of_dcg = report.bounds.tolist()
    assert bounds_of_ap == [low, high]
    assert bounds_of_dcg == [low, INF]


@pytest.mark.parametrize("i", [1, 2])
def test_rank_intervals_are_search_length_intervals_plus_i(i):
    labels = [1, 1, 0, 0] * 3
    labels += [0, 0, 1, 1]
    scores = [4, 3, 2, 1] * 4
    qid = np.repeat(range(4), 4)
    rank = f"rank(i={i})"
    measures = [f"esl(i={i})", rank]
    report = ta.evaluate(labels, scores, qid=qid, measures=measures)
    bounds_of_length, bounds_of_rank = report.bounds.tolist()
    assert bounds_of_length == [0, INF]
    assert bounds_of_rank == [i, INF]
    lengths, ranks = report.summary().interval
    assert lengths[0] == 0
    assert ranks == pytest.approx(lengths + i, rel=1e-12)
    assert ranks[0] == i
    reverse = scores[::-1]
    systems = {"a": scores, "b": reverse}
    comparison = ta.compare_systems(labels, systems, qid=qid, measure=rank)
    interval = comparison.summary().interval
    assert (interval[:, 0] >= i).all()


PROBABLE = [0.5, 0.25, 0.0, 0.125]
SCORES_4 = [1.0, 2.0, 3.0, 4.0]
REVERSE_4 = SCORES_4[::-1]
QID_4 = [1, 1, 2, 2]
BY_ID = np.column_stack([QID_4, SCORES_4])


def evaluate_batches_of_probabilities():
    rows = pd.DataFrame({"qid": 1, "label": PROBABLE, "s": SCORES_4})
    batches = [rows, rows.assign(qid=2)]
    ta.evaluate_batches(batches, score="s", measures="ap")


def compare_systems_by_probabilities():
    systems = {"a": SCORES_4, "b": REVERSE_4}
    ta.compare_systems(PROBABLE, systems, qid=QID_4, measure="ap")


def select_by_probabilities():
    selector = ta.RankingFeatureSelector("ap", n_features_to_select=1)
    X = np.reshape(SCORES_4, (-1, 1))
    selector.fit(X, PROBABLE, QID_4)


def score_by_probabilities():
    ranker = ta.LinearRanker(qid=0)
    ranker.fit(BY_ID, PROBABLE)
    scorer = ta.make_ranking_scorer("ap", qid=0)
    scorer(ranker, BY_ID, PROBABLE)


CALLS_WITH_PROBABILITIES = [
    lambda: ta.ranking_score(PROBABLE, SCORES_4, measure="ap"),
    lambda: ta.evaluate(PROBABLE, SCORES_4, measures=["ndcg", "ap"]),
    lambda: ta.PreparedRanking(PROBABLE).score(SCORES_4, "ap"),
    lambda: ta.PreparedRanking(PROBABLE).evaluate(SCORES_4, "ap"),
    lambda: ta.PreparedRanking(PROBABLE).score_columns({"a": SCORES_4}, "ap"),
    evaluate_batches_of_probabilities,
    compare_systems_by_probabilities,
    select_by_probabilities,
    score_by_probabilities,
]


@pytest.mark.parametrize("call", CALLS_WITH_PROBABILITIES)
def test_labels_that_are_all_below_rel_are_warned_of(call):
    with pytest.warns(UndefinedMetricWarning, match="relevant for AP: .* rel=") as told:
        call()
    messages = [str(warning.message) for warning in told]
    [message] = [text for text in messages if "relevant" in text]
    assert "largest label is 0.5, below rel=1" in message


LABELS_THAT_REACH_REL = [
    ([0, 0], "ap"),
    ([0.5, 1], "ap"),
    ([0.5, 0.2], "ap(rel=0.5)"),
    ([0.5, 0.2], "ndcg"),
    ([0.5, 0.2], "rbp(p=0.5,gain=linear)"),
]


@pytest.mark.parametrize(("labels", "measure"), LABELS_THAT_REACH_REL)
def test_labels_that_reach_rel_are_not_warned_of(labels, measure):
    messages = messages_of(ta.ranking_score, labels, [2, 1], measure=measure)
    assert not messages


def test_a_batch_without_a_relevant_document_is_not_warned_of():
    batches = []
    for query in (0, 1):
        labels = [query, 0.5]
        batches.append(pd.DataFrame({"qid": query, "label": labels, "s": [2, 1]}))
    options = {"score": "s", "measures": "ap", "batch_rows": 1}
    assert not messages_of(ta.evaluate_batches, batches, **options)


LABELS_3 = [0, 1, 2]
SCORES_3 = [3, 2, 1]
BAD_LABELS = [
    ([0, -1, -2], r"y_true must be >= 0, got -1.0 in row 1 \(and 1 m"),
    ([0, 1, math.inf], "y_true must be finite, got inf in row 2"),
    ([[0, 1, 2]], r"y_score must have the same shape as y_true, \(1, 3\), got"),
    ([[[0]]], r"y_true must be 1-dimensional, got shape \(1, 1, 1\)"),
    (["a", "b", "c"], "y_true must be numeric, got dtype"),
    (["0", "1", "2"], r"y_true must be numeric, got .*'0' in row 0. .*astype\(float"),
    (
        np.array(["0", "1", "2"], dtype=object),
        r"y_true must be numeric, got .*'0' in row 0. .*astype\(float",
    ),
    (None, "y_true must be an array, got None"),
    ([[1], [1, 2], 3], "y_true must be an array .* If rows differ in length"),
    ([61, 0, 1], 'a label must be <= 60 with exponential gain.*"linear"'),
]


@pytest.mark.parametrize(("y_true", "message"), BAD_LABELS)
def test_bad_labels(y_true, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(y_true, [3, 2, 1])


BAD_SCORES = [
    ([1, 2], r"y_score must have one value per row \(3\), got 2"),
    ([1, NAN, 2], "NaN, got nan in row 1. Pass -inf"),
    ([1, math.inf, 2], "y_score must be finite or -inf, got inf in row 1"),
    (np.ones((3, 2)), r"y_score must be 1-dimensional, got .*\(3, 2\)"),
    (np.array([1, 2, 3j]), "y_score must be numeric, got dtype complex"),
    (
        [10**400, 1, 2],
        r"y_score must contain numbers that fit in 64-bit floats, got 10+\.\.\.",
    ),
]


@pytest.mark.parametrize(("y_score", "message"), BAD_SCORES)
def test_bad_scores(y_score, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score([0, 1, 2], y_score)


BAD_QUERY_IDS = [
    ([1, 2], r"qid must have one value per row \(3\), got 2"),
    ([1, NAN, 2], "qid must not be missing, got nan in row 1"),
    (
        np.ma.array([1, 1, 2], mask=[0, 1, 0]),
        r"qid must not be a masked array, got shape \(3,\)",
    ),
    ([[1], [1], [2]], "qid must contain hashable values"),
    (
        3,
        r"qid .* got 3: pass the values, such as X\[:, 3\]. Constructors",
    ),
    ((i for i in range(3)), r"qid must be 1-dimensional, got shape \(\)"),
]


@pytest.mark.parametrize(("qid", "message"), BAD_QUERY_IDS)
def test_bad_query_ids(qid, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(LABELS_3, SCORES_3, qid=qid)


BAD_QUERY_WEIGHTS = [
    ([1, 2], "query_weight must have one value per row"),
    ([1, 2, 1], "constant within a query, got 1.0 and 2.0 in query"),
    ([-1] * 3, "query_weight must be finite and >= 0, got -1.0"),
    ([0, 0, 0], "query_weight must not be 0 in every query"),
    ([1e200] * 3, "query_weight must be 0 or from 1e-100 to 1e100"),
]


@pytest.mark.parametrize(("query_weight", "message"), BAD_QUERY_WEIGHTS)
def test_bad_query_weights(query_weight, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(LABELS_3, SCORES_3, query_weight=query_weight)


BAD_MEASURES = [
    ("ndcg@0", r"measure 'ndcg@0': k must be an integer >= 1, got 0"),
    (7, "measure must be a name such as"),
    (
        RBP(0.5, gain={0: 0, 1: 1, 2: 1.5}),
        r"gain of RBP must be in \[0, 1\], got 1.5 for label 2",
    ),
    (
        NDCG(discount=lambda rank: rank),
        r"discount must .* not rise .* got \[1.0, 2.0, ",
    ),
    (
        NDCG(discount=lambda rank: -rank),
        r"discount must be .* at rank 1, .* got \[-1.0, ",
    ),
    (
        NDCG(discount=lambda rank: 1.0),
        r"discount must return one weight per rank, got shape \(\)",
    ),
    (NDCG(gain=lambda x: -x), r"gain must be 0 or from .* got -1.0"),
    (NDCG(gain=lambda x: 1.1e100 * x), r"gain must .*1e\+100, got 1.1e\+100 .*label 1"),
    (NDCG(gain={0: 0, 1: 1}), r"of the labels \['0', '1'\] .*got 2$"),
]


@pytest.mark.parametrize(("measure", "message"), BAD_MEASURES)
def test_bad_measures(measure, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(LABELS_3, SCORES_3, measure=measure)


LABELS_OUT_OF_RANGE = [
    ("err", [5, 0, 0], "must be <= max_label=4 for ERR, got 5"),
    ("cg", [1e200, 0, 0], r"gain must .*to 1e\+100, got 1e\+"),
    ("cg", [1e-162, 0, 0], "gain must .*from 1e-100 .* 1e-162"),
    ("ndcg", [1e-162, 0, 1], "gain must .* for label 1e-162"),
]


@pytest.mark.parametrize(("measure", "labels", "message"), LABELS_OUT_OF_RANGE)
def test_labels_out_of_the_range_of_a_measure(measure, labels, message):
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(labels, SCORES_3, measure=measure)


BAD_OPTIONS = [
    ("mask", [True] * 3, r"mask must be None unless y_true has shape \(n_queries"),
    ("ties", "mean", "ties must be one of .*'expected'.* got 'mean'"),
    ("average", "mode", "average must be one of .*'macro'.* got 'mode'"),
    ("zero_relevance", "ignore", "zero_relevance must be .*skip.*got 'ign"),
    ("zero_relevance", NAN, "zero_relevance must be a finite number.* got nan"),
    ("unjudged", "omit", r"unjudged must be one of .*'nonrelevant', 'drop'\), got"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_OPTIONS)
def test_bad_options(name, value, message):
    options = {name: value}
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(LABELS_3, SCORES_3, **options)


def test_labels_must_not_be_empty():
    with pytest.raises(ValueError, match="y_true must not be empty"):
        ta.ranking_score([], [])


def test_matrices_have_no_query_ids():
    with pytest.raises(ValueError, match="qid must be None if y"):
        ta.ranking_score([[0, 1]], [[0, 1]], qid=[1])


def test_a_measure_is_undefined_without_an_irrelevant_document():
    options = {"measure": "fallout@1", "zero_relevance": "raise"}
    with pytest.raises(ValueError, match="Fallout@1 is undefined for query 0"):
        ta.ranking_score([1, 1, 1], SCORES_3, **options)


def test_many_distinct_labels_and_a_query_far_longer_than_others():
    rng = np.random.default_rng(0)
    number = np.arange(70_000) // 10
    qid = np.minimum(number, 600)
    labels = rng.random(70_000)
    # The second column of scores uses the cached blocks of the first.
    prepared = ta.PreparedRanking(labels, qid)
    measures = ["NDCG@10", "AP(rel=0.9)"]
    columns = rng.integers(0, 9, (2, 70_000))
    for scores in columns:
        report = prepared.evaluate(scores, measures)
        for query in (0, 350, 600):
            rows = qid == query
            y_true = labels[rows]
            alone = ta.evaluate(y_true, scores[rows], measures=measures)
            assert_array_equal(alone.expected[0], report.expected[query])
            assert_array_equal(alone.ideal[0], report.ideal[query])


def test_the_deepest_of_measures():
    assert deepest(parse_measures(["ndcg@10", "rr@3", "p@5"])) == 10
    assert deepest(parse_measures(["ndcg@10", "ap"])) is None


# -- prepared rankings

AVERAGES = st.sampled_from(["macro", "geometric", "median", "micro", None])
TIES = st.sampled_from(["expected", "best", "worst", "input"])
VALUES_IF_UNDEFINED = st.sampled_from([0.5, "skip"])
SIZES_OF_BLOCKS = st.sampled_from([1, 50, 1 << 15])
NUMBERS_OF_THREADS = st.sampled_from([None, 2])
SEVERAL = ["ndcg@3", "ap", "rr", "esl", "fallout@2", "r@2"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(
    case=queries(),
    seed=st.integers(0, 99),
    average=AVERAGES,
    ties=TIES,
    zero_relevance=VALUES_IF_UNDEFINED,
    weighted=st.booleans(),
    cells=SIZES_OF_BLOCKS,
    n_jobs=NUMBERS_OF_THREADS,
)
def test_prepared_rankings_have_the_bits_of_ranking_score(
    case, seed, average, ties, zero_relevance, weighted, cells, n_jobs
):
    labels, scores, qid = case
    n = len(labels)
    rng = np.random.default_rng(seed)
    measures = ["p@2", "r@2"] if average == "micro" else SEVERAL
    measure = measures[seed % len(measures)]
    columns = {"drawn": scores}
    columns["small"] = rng.integers(0, 3, n).astype(np.int8)
    columns["large"] = 2**53 + rng.integers(0, 3, n)
    columns["tied"] = np.zeros(n)
    columns["float"] = rng.integers(0, 4, n) / 4
    data = {"qid": qid, "zero_relevance": zero_relevance}
    if weighted:
        data["query_weight"] = [1.0 + query % 3 for query in qid]
    options = {"measure": measure, "ties": ties, "average": average}
    prepared = ta.PreparedRanking(labels, **data)
    for name in ("drawn", "tied"):
        column = columns[name]
        report = prepared.evaluate(column, SEVERAL, n_jobs=n_jobs)
        expected = ta.evaluate(labels, column, measures=SEVERAL, **data)
        assert_same_statistics(report, expected)
        assert_array_equal(report.n_undefined, expected.n_undefined)
    expected = []
    alone = []
    for column in columns.values():
        value = ta.ranking_score(labels, column, **data, **options)
        expected.append(value)
        alone.append(prepared.score(column, **options))
    expected = np.array(expected)
    assert_array_equal(np.array(alone), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation._prepared, "_CELLS", cells)
        values = prepared.score_columns(columns, n_jobs=n_jobs, **options)
        frame = pd.DataFrame(columns)
        of_frame = prepared.score_columns(frame, **options)
    assert_array_equal(values, expected)
    assert_array_equal(of_frame, expected)
    matrix = np.column_stack([columns["tied"], columns["float"]])
    of_matrix = prepared.score_columns(matrix, **options)
    assert_array_equal(of_matrix, values[3:])


def test_columns_of_matrices():
    labels = [[1, 0, 2], [0, 1, 0]]
    mask = [[True, True, True], [True, True, False]]
    segment = ["b", "a"]
    options = {"query_weight": [1, 2], "segment": segment}
    prepared = ta.PreparedRanking(labels, mask=mask, **options)
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (2, 3, 4)).astype(float)
    columns = {name: scores[:, :, j] for j, name in enumerate("abcd")}
    expected = []
    for column in columns.values():
        values = prepared.score(column, "ap", average=None)
        expected.append(values)
    expected = np.array(expected)
    of_array = prepared.score_columns(scores, "ap", average=None)
    assert_array_equal(of_array, expected)
    of_dict = prepared.score_columns(columns, "ap", average=None)
    assert_array_equal(of_dict, expected)
    report = prepared.evaluate(columns["a"])
    assert report.segment.tolist() == segment


UNJUDGED = [[1, NAN, 0, 1], pd.array([1, None, 0, 1])]
TIED_SCORES = [3, 2, 1, 1]
ACCEPTED = [("raise", "bpref"), ("nonrelevant", "ap"), ("drop", "ap")]


@pytest.mark.parametrize(("unjudged", "measure"), ACCEPTED)
@pytest.mark.parametrize("labels", UNJUDGED)
def test_labels_without_a_judgment_are_accepted_on_request(labels, unjudged, measure):
    options = {"measure": measure, "unjudged": unjudged}
    expected = ta.ranking_score(labels, TIED_SCORES, **options)
    prepared = ta.PreparedRanking(labels, unjudged=unjudged)
    assert prepared.score(TIED_SCORES, measure) == expected


@pytest.mark.parametrize("labels", UNJUDGED)
def test_labels_without_a_judgment_are_refused_by_default(labels):
    prepared = ta.PreparedRanking(labels)
    with pytest.raises(ValueError, match=r"y_true must be judged, got nan in row 1"):
        prepared.score(TIED_SCORES, "ap")
    with pytest.raises(ValueError, match="y_true must be judged"):
        prepared.evaluate(TIED_SCORES, ["bpref", "ap"])


NOTHING = ta.PreparedRanking([0, 0], zero_relevance="skip")
CALLS_WITHOUT_A_VALUE = [
    lambda: NOTHING.score([1, 2], "ap"),
    # Several columns cause one warning.
    lambda: NOTHING.score_columns([[1, 2], [2, 1]], "ap", n_jobs=2),
]


@pytest.mark.parametrize("call", CALLS_WITHOUT_A_VALUE)
def test_an_average_over_no_query_is_nan_with_one_warning(call):
    with pytest.warns(UndefinedMetricWarning, match="AP is undefined") as caught:
        values = call()
    assert np.isnan(values).all()
    assert len(caught) == 1


BAD_OPTIONS_OF_PREPARED = [
    ({"zero_relevance": "no"}, "zero_relevance must"),
    ({"unjudged": "no"}, "unjudged .*got 'no'"),
    ({"qid": [1]}, "qid must have one value per row"),
    (
        {"qid": [1, 1], "query_weight": [1, 2]},
        "query_weight must be constant within a query",
    ),
    ({"segment": ["a"]}, "segment must have one value"),
    (
        {"zero_relevance": 0.5, "convention": "lightgbm"},
        "zero_relevance must be .* convention=.*got 0.5",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS_OF_PREPARED)
def test_bad_options_of_prepared_rankings(options, message):
    with pytest.raises(ValueError, match=message):
        ta.PreparedRanking([1, 0], **options)


TWO = ta.PreparedRanking([1, 0])
BAD_CALLS_OF_SCORE = [
    ([1], {}, r"y_score must have one value per row \(2\), got 1"),
    ([1, 2], {"ties": "no"}, "ties must be one of .*got 'no'"),
    ([1, 2], {"average": "no"}, "average must be .*got 'no'"),
    (
        [1, 2],
        {"measure": "rr", "average": "micro"},
        r"ratios of counts, which are F, Fallout, Judged, P, R and Rprec, got RR",
    ),
]


@pytest.mark.parametrize(("y_score", "options", "message"), BAD_CALLS_OF_SCORE)
def test_bad_calls_of_score(y_score, options, message):
    with pytest.raises(ValueError, match=message):
        TWO.score(y_score, **options)


def test_prepared_rankings_raise_where_a_measure_is_undefined():
    prepared = ta.PreparedRanking([0], zero_relevance="raise")
    with pytest.raises(ValueError, match="AP is undefined for query 0"):
        prepared.score([1], "ap")


def test_prepared_rankings_need_a_measure():
    with pytest.raises(ValueError, match="at least one measure"):
        TWO.evaluate([1, 2], [])


BAD_MEASURES_OF_EVALUATE = [
    ([], "measures must name at least one"),
    (["ap", "map"], "measures must differ, got AP twice$"),
    (7, "measure must be a name .* got 7."),
    ([len], r"got <.*len>\. If the measure is a function, use sampled\(\)$"),
]


@pytest.mark.parametrize(("measures", "message"), BAD_MEASURES_OF_EVALUATE)
def test_bad_measures_of_evaluate(measures, message):
    with pytest.raises(ValueError, match=message):
        ta.evaluate([0], [1], measures=measures)


def test_each_of_several_measures_must_accept_unjudged_documents():
    with pytest.raises(ValueError, match=r"y_true must be judged, got nan in row 1"):
        ta.evaluate([0, NAN], [1, 2], measures=["bpref", "rr"])


SAME_NAMES = pd.DataFrame({"a": [1, 1], "b": [2, 2]})
SAME_NAMES.columns = ["a", "a"]
BAD_COLUMNS = [
    (
        np.ones((2, 2, 2)),
        r"y_score must .* \(n_documents, n_systems\), .*got shape \(2, 2, 2\)",
    ),
    (
        np.ones((3, 2)),
        r"y_score\['system 0'\] must have one value per row \(2\), got 3",
    ),
    (np.ones((2, 0)), "at least one system, got none"),
    ({}, "y_score must contain at least one system"),
    (
        SAME_NAMES,
        r"y_score must have a different name for each system, got \('a', 'a'\)",
    ),
    ([[1, 2], [2, NAN]], r"y_score\['system 1'\] .*nan in row 1"),
    ({"a": [1, 2], "b": [NAN, 2]}, r"y_score\['b'\] must not be NaN, .* row 0"),
]


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS)
def test_bad_columns_of_scores(columns, message):
    with pytest.raises(ValueError, match=message):
        TWO.score_columns(columns)


def test_columns_of_scores_refuse_an_unknown_order_of_ties():
    with pytest.raises(ValueError, match="ties must be one of"):
        TWO.score_columns([[1, 2], [1, 2]], ties="no")


def test_arrays_that_are_returned_are_copies():
    labels = [1, 0, 1, 0]
    columns = {"query_weight": [1, 1, 3, 3], "segment": [5, 5, 6, 6]}
    prepared = ta.PreparedRanking(labels, QID_4, **columns)
    assert prepared.n_documents == 4
    scores = [1, 2, 4, 3]
    before = prepared.score(scores, "ap")
    report = prepared.evaluate(SCORES_4, ["ap"])
    for array in (report.query_weight, report.segment, report.qid, prepared.qid):
        array[:] = 0
    assert prepared.score(scores, "ap") == before
    assert prepared.qid.tolist() == [1, 2]
    report = prepared.evaluate(SCORES_4)
    assert report.segment.tolist() == [5, 6]


@pytest.mark.parametrize("named", [True, False], ids=["names", "measures"])
def test_memory_does_not_grow_with_the_number_of_measures(named):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 2000)
    qid = np.arange(2000) // 4
    prepared = ta.PreparedRanking(labels, qid)
    before = len(pickle.dumps(prepared))

    def size_after(n):
        """Return the size of the caches of all blocks after n more measures."""
        for i in range(n):
            # Names of different measures, or new objects of the same measure.
            measure = NDCG(k=4)
            if named:
                measure = f"rbp(p={(i + 1) / (n + 2)})"
            prepared.score(labels, measure)
        remembered = []
        for block in prepared._prepared._blocks.values():
            for part in (block, getattr(block, "ties", block)):
                if hasattr(part, "memo"):
                    remembered.append(list(part.memo.values()))
                    planned = getattr(part, "_planned", [])
                    remembered.append(list(planned))
        return len(pickle.dumps(remembered))

    after_200 = size_after(200)
    assert after_200 < 2 * size_after(60)
    # A pickle contains labels and queries, but no cache.
    prepared.score(labels, NDCG(gain=lambda label: label))
    after = pickle.dumps(prepared)
    assert len(after) == before
    assert before < 2.5 * 8 * 2000
    value = prepared.score(labels)
    assert pickle.loads(after).score(labels) == value


# -- unjudged documents dropped


def assert_same_statistics(report, expected, order=slice(None)):
    for name in STATISTICS:
        values = getattr(expected, name)[order]
        assert_array_equal(getattr(report, name), values, err_msg=name)


@pytest.mark.slow
@settings(max_examples=25)
@given(case=queries())
def test_dropping_is_leaving_rows_out_to_the_bit(case):
    labels, scores, qid = map(np.array, case)
    # Labels of 4 become unjudged. Each query keeps its first document.
    judged = labels < 4
    _, first_rows = np.unique(qid, return_index=True)
    judged[first_rows] = True
    labels = np.where(judged, labels, NAN)
    options = {"measures": MEASURES, "unjudged": "drop"}
    report = ta.evaluate(labels, scores, qid=qid, **options)
    labels = labels[judged]
    scores = scores[judged]
    qid = qid[judged]
    expected = ta.evaluate(labels, scores, qid=qid, measures=MEASURES)
    queries_left = expected.qid.tolist()
    order = [queries_left.index(query) for query in report.qid]
    assert_same_statistics(report, expected, order)


Y = [1, NAN, 0, 1, NAN, NAN, 0, 2, NAN]
S = [3, 3, 3, 1, 9, 9, 2, 2, 2]
IDS = list("aaaabbccc")
JUDGED = [0, 2, 3, 6, 7]


def judged_rows(column):
    return [column[i] for i in JUDGED]


def test_a_query_whose_documents_are_all_dropped_has_nothing_retrieved():
    zero = ["P@2", "P", "CG(gain=[2,3,4])", "RBP", "Judged", "RR"]
    undefined = ["R", "Fallout", "NDCG", "BPref", "ESL", "SetAP"]
    undefined.append("NDCG(gain=[2,3,4])")
    options = {"qid": IDS, "unjudged": "drop"}
    measures = zero + undefined
    report = ta.evaluate(Y, S, measures=measures, zero_relevance="skip", **options)
    assert report.qid.tolist() == ["a", "b", "c"]
    for statistic in STATISTICS:
        values = getattr(report, statistic)[1].tolist()
        values_of_zero = values[: len(zero)]
        assert values_of_zero == [0] * len(zero)
        assert np.isnan(values[len(zero) :]).all()
    # Queries a and c have 1/2 in every order of their ties.
    options["measure"] = "P@2"
    assert ta.ranking_score(Y, S, **options) == (1 / 2 + 0 + 1 / 2) / 3


DTYPES = {
    "uint8": np.array(S, "uint8"),
    "float16": np.array(S, "float16"),
    "longdouble": np.array(S, "longdouble"),
    "bool": np.array(S) > 2,
    "large": np.array(S) + 2**62,
}


@pytest.mark.parametrize("scores", DTYPES.values(), ids=DTYPES)
def test_scores_of_any_dtype(scores):
    options = {"measure": "rr", "average": None}
    values = ta.ranking_score(Y, scores, qid=IDS, unjudged="drop", **options)
    labels = judged_rows(Y)
    qid = judged_rows(IDS)
    of_a, of_c = ta.ranking_score(labels, scores[JUDGED], qid=qid, **options)
    assert values.tolist() == [of_a, 0, of_c]
    prepared = ta.PreparedRanking(Y, IDS, unjudged="drop")
    reverse = scores[::-1]
    columns = np.column_stack([scores, reverse])
    of_columns = prepared.score_columns(columns, **options)
    assert of_columns[0].tolist() == values.tolist()
    of_reverse = prepared.score(reverse, **options)
    assert of_columns[1].tolist() == of_reverse.tolist()


def test_ties_in_input_order_skip_dropped_rows():
    options = {"measure": "rr", "ties": "input", "unjudged": "drop"}
    labels = [NAN, 0, 1, 1]
    scores = [1, 1, 1, 0]
    assert ta.ranking_score(labels, scores, **options) == 1 / 2


class First:
    def predict(self, X):
        return X[:, 0]


def test_micro_averages_skip_dropped_rows():
    options = {"measure": "Fallout@1", "average": "micro", "unjudged": "drop"}
    labels = [0, 1, NAN]
    qid = [1, 1, 2]
    assert ta.ranking_score(labels, [1, 1, 1], qid=qid, **options) == 1 / 2


def test_unjudged_cells_of_matrices_are_dropped():
    labels = [[1, NAN, 0], [NAN, NAN, NAN], [0, 2, NAN]]
    scores = [[2, 2, 2], [1, 1, NAN], [3, 3, NAN]]
    value = ta.ranking_score(labels, scores, measure="P@1", unjudged="drop")
    assert value == 1 / 3


def screened(X, y, qid, **unjudged):
    selector = ta.RankingFeatureSelector("ap", **unjudged)
    selector.fit(X, y, qid=qid)
    # Features are correlated over all documents, judged or not.
    table = selector.screening_.to_pandas().drop(columns="correlation")
    return table.to_csv()


def scored_by_a_scorer(X, y, qid, **unjudged):
    scorer = ta.make_ranking_scorer("ap", **unjudged)
    return scorer(First(), X, y, qid=qid)


def compared(X, y, qid, **unjudged):
    return ta.compare_systems(y, X, qid=qid, measure="ap", **unjudged)


def first_label(labels, scores):
    return labels[0]


def of_scores(function, **options):
    def call(X, y, qid, **unjudged):
        scores = X[:, 0]
        return function(y, scores, qid=qid, **options, **unjudged)

    return call


FUNCTIONS_OF_UNJUDGED = [
    screened,
    scored_by_a_scorer,
    compared,
    of_scores(ta.evaluate, measures="ap"),
    of_scores(ta.tie_report, measures="ap", k=1),
    of_scores(ta.tie_treatments, measures=["ap", "rr"]),
    of_scores(evaluation.precision_recall_curve),
    of_scores(ta.sampled, score_func=ta.ranking_score, n_orders=50),
    of_scores(ta.sampled, score_func=first_label, n_orders=50),
    of_scores(evaluation.tie_distributions, measure="rr"),
]


@pytest.mark.parametrize("function", FUNCTIONS_OF_UNJUDGED)
def test_all_that_take_unjudged_see_the_rows_that_stay(function):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (120, 3)).astype(float)
    qid = np.repeat(range(12), 10)
    y = rng.integers(0, 2, 120).astype(float)
    X[:, 0] += y
    y[::4] = NAN
    judged = ~np.isnan(y)
    result = function(X, y, qid, unjudged="drop")
    expected = function(X[judged], y[judged], qid[judged])
    assert str(result) == str(expected)


DROPPING = {"y_true": Y, "y_score": S, "qid": IDS, "unjudged": "drop"}


def test_orders_have_dropped_documents_at_the_end_of_their_query():
    for rows in evaluation.sample_orderings(n_orders=20, **DROPPING):
        assert sorted(rows[:2]) == [0, 2]
        assert rows[2:4].tolist() == [3, 1]
        assert sorted(rows[4:6]) == [4, 5]
        assert rows[8] == 8


def test_user_functions_see_one_document_if_all_are_dropped():
    seen = {}

    def first(labels, scores):
        seen[len(labels), scores[0]] = labels.tolist()
        return labels[0]

    ta.sampled(score_func=first, n_orders=5, **DROPPING)
    assert seen[1, -INF] == [0]
