"""`ranking_score`, `evaluate`, `PreparedRanking`: queries, options, judged rows."""

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
NAN, INF = math.nan, math.inf
STATISTICS = ("expected", "best", "worst", "std", "chance", "ideal")


def test_zero_relevance():
    # defined without a relevant document: P, F, RR and Success are 0
    for measure in ("p@2", "f@2", "rr", "success@1", "rbp", "cg", "dcg"):
        assert score(measure, zero_relevance="raise", average=None)[1] == 0
    for measure, said in (
        ("ap", r"AP is undefined for query 'b': its denomi"),
        ("esl", r"ESL .* query 'b': too few relevant documents"),
    ):
        with pytest.raises(ValueError, match=said):
            score(measure, zero_relevance="raise")
    options = {"measures": ["ap", "rr"], "zero_relevance": "skip"}
    report = ta.evaluate(LABELS, SCORES, qid=QID, **options)
    assert report.n_undefined.tolist() == [1, 0]
    assert report.summary().n_queries.tolist() == [2, 3]


@pytest.mark.parametrize("value", [0.0, 0.5, -2.0, 7.0])
def test_values_put_in_widen_the_bounds(value):
    report = ta.evaluate([0], [1], measures=["ap", "dcg"], zero_relevance=value)
    low, high = min(value, 0), max(value, 1)
    assert report.bounds.tolist() == [[low, high], [low, math.inf]]


@pytest.mark.parametrize("i", [1, 2])
def test_intervals_of_ranks_are_those_of_search_lengths_and_begin_where_ranks_do(i):
    qid = np.repeat(range(4), 4)
    labels, scores = [1, 1, 0, 0] * 3 + [0, 0, 1, 1], [4, 3, 2, 1] * 4
    report = ta.evaluate(
        labels, scores, qid=qid, measures=[f"esl(i={i})", f"rank(i={i})"]
    )
    assert report.bounds.tolist() == [[0, math.inf], [i, math.inf]]
    lengths, ranks = report.summary().interval
    assert lengths[0] == 0
    assert ranks == pytest.approx(lengths + i, rel=1e-12)
    assert ranks[0] == i
    values = {"a": scores, "b": scores[::-1]}
    found = ta.compare_systems(labels, values, qid=qid, measure=f"rank(i={i})")
    assert (found.summary().interval[:, 0] >= i).all()


PROBABLE, SCORES_4 = [0.5, 0.25, 0.0, 0.125], [1.0, 2.0, 3.0, 4.0]
BY_ID = np.column_stack([[1, 1, 2, 2], SCORES_4])


@pytest.mark.parametrize("call", [
    lambda: ta.ranking_score(PROBABLE, SCORES_4, measure="ap"),
    lambda: ta.evaluate(PROBABLE, SCORES_4, measures=["ndcg", "ap"]),
    lambda: ta.PreparedRanking(PROBABLE).score(SCORES_4, "ap"),
    lambda: ta.PreparedRanking(PROBABLE).evaluate(SCORES_4, "ap"),
    lambda: ta.PreparedRanking(PROBABLE).score_columns({"a": SCORES_4}, "ap"),
    lambda: ta.evaluate_batches(
        [pd.DataFrame({"qid": q, "label": PROBABLE, "s": SCORES_4}) for q in (1, 2)],
        score="s", measures="ap",
    ),
    lambda: ta.compare_systems(
        PROBABLE, {"a": SCORES_4, "b": SCORES_4[::-1]}, qid=[1, 1, 2, 2], measure="ap"
    ),
    lambda: ta.RankingFeatureSelector("ap", n_features_to_select=1).fit(
        np.reshape(SCORES_4, (-1, 1)), PROBABLE, [1, 1, 2, 2]
    ),
    lambda: ta.make_ranking_scorer("ap", qid=0)(
        ta.LinearRanker(qid=0).fit(BY_ID, PROBABLE), BY_ID, PROBABLE
    ),
])  # fmt: skip
def test_labels_that_are_all_below_rel_are_warned_of(call):
    with pytest.warns(UndefinedMetricWarning, match="relevant for AP: .* rel=") as told:
        call()
    [said] = [str(one.message) for one in told if "relevant" in str(one.message)]
    assert "largest label is 0.5, below rel=1" in said


@pytest.mark.parametrize(("labels", "measure"), [
    ([0, 0], "ap"), ([0.5, 1], "ap"), ([0.5, 0.2], "ap(rel=0.5)"),
    ([0.5, 0.2], "ndcg"), ([0.5, 0.2], "rbp(p=0.5,gain=linear)"),
])  # fmt: skip
def test_labels_that_reach_rel_are_not_warned_of(labels, measure):
    assert not messages_of(ta.ranking_score, labels, [2, 1], measure=measure)


def test_a_batch_without_a_relevant_document_is_not_warned_of():
    batches = [pd.DataFrame({"qid": q, "label": [q, 0.5], "s": [2, 1]}) for q in (0, 1)]
    options = {"score": "s", "measures": "ap", "batch_rows": 1}
    assert not messages_of(ta.evaluate_batches, batches, **options)


BAD = [
    ({"y_score": [1, 2]}, r"y_score must have one value per row \(3\), got 2"),
    ({"y_score": [1, NAN, 2]}, "NaN .-inf: not retrieved., got nan in row 1"),
    ({"y_score": [1, math.inf, 2]}, "y_score must be finite, or -inf .*inf in row 1"),
    ({"y_score": np.ones((3, 2))}, r"y_score must be 1-dimensional, got .*\(3, 2\)"),
    ({"y_score": np.array([1, 2, 3j])}, "y_score must be numeric, got dtype complex"),
    ({"y_score": [10**400, 1, 2]}, r"y_score must fit 64-bit floats, got 10+\.\.\."),
    ({"y_true": [0, -1, -2]}, r"y_true must be >= 0 \(.*got -1.0 in row 1 \(and 1 m"),
    ({"y_true": [0, 1, math.inf]}, "y_true must be finite, got inf in row 2"),
    ({"y_true": [], "y_score": []}, "y_true must not be empty"),
    ({"y_true": [[0, 1, 2]]}, r"y_score must have the shape of y_true, \(1, 3\), got"),
    ({"y_true": [[[0]]]}, r"y_true must be 1-dimensional, got shape \(1, 1, 1\)"),
    ({"y_true": [[0, 1]], "y_score": [[0, 1]], "qid": [1]}, "qid must be None where y"),
    ({"mask": [True] * 3}, r"mask must be None unless y_true has shape \(n_queries"),
    ({"y_true": ["a", "b", "c"]}, "y_true must be numeric, got dtype"),
    *(
        ({"y_true": one}, r"y_true must be numeric, got .*'0' in row 0 .*astype\(float")
        for one in (["0", "1", "2"], np.array(["0", "1", "2"], dtype=object))
    ),
    ({"y_true": None}, "y_true must be an array, got None"),
    ({"y_true": [[1], [1, 2], 3]}, "y_true must be an array .* rows of equal length"),
    ({"y_true": [61, 0, 1]}, 'y_true must be <= 60 with exponential gain .*"linear"'),
    ({"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
    ({"qid": [1, NAN, 2]}, "qid must not be missing, got nan in row 1"),
    ({"qid": np.ma.array([1, 1, 2], mask=[0, 1, 0])},
     r"qid must not be a masked array, got one of shape \(3,\)"),
    ({"qid": [[1], [1], [2]]}, "qid must hold hashable values"),
    ({"qid": 3}, r"qid .* got 3 \(pass the values, such as X\[:, 3\]; estimators take"),
    ({"qid": (i for i in range(3))}, r"qid must be 1-dimensional, got shape \(\)"),
    ({"query_weight": [1, 2]}, "query_weight must have one value per row"),
    ({"query_weight": [1, 2, 1]}, "constant within a query, got 1.0 and 2.0 in query"),
    ({"query_weight": [-1] * 3}, "query_weight must be finite and >= 0, got -1.0"),
    ({"query_weight": [0, 0, 0]}, "query_weight must not be 0 in every query"),
    ({"query_weight": [1e200] * 3}, "query_weight must be 0 or from 1e-100 to 1e100"),
    ({"measure": "ndcg@0"}, r"measure 'ndcg@0': k must be an integer >= 1, got 0"),
    ({"measure": 7}, "measure must be a name such as"),
    ({"measure": RBP(0.5, gain={0: 0, 1: 1, 2: 1.5})},
     r"gain of RBP must be in \[0, 1\], got 1.5 for label 2"),
    ({"measure": NDCG(discount=lambda rank: rank)},
     r"discount must .* not rise .* got \[1.0, 2.0, "),
    ({"measure": NDCG(discount=lambda rank: -rank)},
     r"discount must be .* at rank 1, .* got \[-1.0, "),
    ({"measure": NDCG(discount=lambda rank: 1.0)},
     r"discount must give one weight per rank, got shape \(\)"),
    ({"measure": "err", "y_true": [5, 0, 0]}, "must be <= max_label=4 for ERR, got 5"),
    ({"measure": NDCG(gain=lambda x: -x)}, r"gain must be 0 or from .* got -1.0"),
    ({"measure": NDCG(gain=lambda x: 1.1e100 * x)},
     r"gain must .*1e\+100, got 1.1e\+100 .*label 1"),
    ({"measure": "cg", "y_true": [1e200, 0, 0]}, r"gain must .*to 1e\+100, got 1e\+"),
    ({"measure": "cg", "y_true": [1e-162, 0, 0]}, "gain must .*from 1e-100 .* 1e-162"),
    ({"measure": "ndcg", "y_true": [1e-162, 0, 1]}, "gain must .* for label 1e-162"),
    ({"measure": NDCG(gain={0: 0, 1: 1})}, r"of the labels \['0', '1'\] .*got 2$"),
    ({"ties": "mean"}, "ties must be one of .*'expected'.* got 'mean'"),
    ({"average": "mode"}, "average must be one of .*'macro'.* got 'mode'"),
    ({"zero_relevance": "ignore"}, "zero_relevance must be .*skip.*got 'ign"),
    ({"zero_relevance": NAN}, "zero_relevance must be a finite number.* got nan"),
    ({"unjudged": "omit"}, r"unjudged must be one of .*'nonrelevant', 'drop'\), got"),
    ({"y_true": [1] * 3, "measure": "fallout@1", "zero_relevance": "raise"},
     "Fallout@1 is undefined for query 0"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_input_names_the_argument_the_rule_and_the_value(changes, message):
    arguments = {"y_true": [0, 1, 2], "y_score": [3, 2, 1], **changes}
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(**arguments)


def test_many_distinct_labels_and_a_query_far_longer_than_others():
    rng = np.random.default_rng(0)
    qid = np.minimum(np.arange(70_000) // 10, 600)
    labels = rng.random(70_000)
    # its two blocks are there again for other scores
    prepared = ta.PreparedRanking(labels, qid)
    for scores in rng.integers(0, 9, (2, 70_000)):
        report = prepared.evaluate(scores, ["ndcg@10", "ap(rel=0.9)"])
        for query in (0, 350, 600):
            rows = qid == query
            alone = ta.evaluate(labels[rows], scores[rows], measures=report.measures)
            assert np.array_equal(alone.expected[0], report.expected[query])
            assert np.array_equal(alone.ideal[0], report.ideal[query])


def test_the_deepest_of_measures():
    assert deepest(parse_measures(["ndcg@10", "rr@3", "p@5"])) == 10
    assert deepest(parse_measures(["ndcg@10", "ap"])) is None


# -- rankings prepared

SEVERAL = ["ndcg@3", "ap", "rr", "esl", "fallout@2", "r@2"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(
    queries(), st.integers(0, 99),
    st.sampled_from(["macro", "geometric", "median", "micro", None]),
    st.sampled_from(["expected", "best", "worst", "input"]),
    st.sampled_from([0.5, "skip"]), st.booleans(),
    st.sampled_from([1, 50, 1 << 15]), st.sampled_from([None, 2]),
)  # fmt: skip
def test_the_same_as_one_column_at_a_time(
    case, seed, average, ties, zero, weighted, cells, n_jobs
):
    labels, scores, qid = case
    rng = np.random.default_rng(seed)
    names = ["p@2", "r@2"] if average == "micro" else SEVERAL
    measure = names[seed % len(names)]
    columns = {
        "given": scores,
        "small": rng.integers(0, 3, len(labels)).astype(np.int8),
        "large": 2**53 + rng.integers(0, 3, len(labels)),
        "tied": np.zeros(len(labels)),
        "float": rng.integers(0, 4, len(labels)) / 4,
    }
    weight = [1.0 + query % 3 for query in qid] if weighted else None
    data = {"query_weight": weight, "zero_relevance": zero}
    options = {"measure": measure, "ties": ties, "average": average}
    prepared = ta.PreparedRanking(labels, qid, **data)
    for name in ("given", "tied"):
        report = prepared.evaluate(columns[name], SEVERAL, n_jobs=n_jobs)
        wanted = ta.evaluate(labels, columns[name], qid=qid, measures=SEVERAL, **data)
        for array in (*STATISTICS, "n_undefined"):
            assert_array_equal(getattr(report, array), getattr(wanted, array), array)
    wanted = [
        ta.ranking_score(labels, column, qid=qid, **data, **options)
        for column in columns.values()
    ]
    one_by_one = [prepared.score(column, **options) for column in columns.values()]
    assert_array_equal(np.array(one_by_one), np.array(wanted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation._prepared, "_CELLS", cells)
        found = prepared.score_columns(columns, n_jobs=n_jobs, **options)
        frame = prepared.score_columns(pd.DataFrame(columns), **options)
    assert_array_equal([found, frame], np.array([wanted, wanted]))
    matrix = np.column_stack([columns["tied"], columns["float"]])
    assert_array_equal(prepared.score_columns(matrix, **options), found[3:])


def test_columns_of_matrices():
    labels, there = [[1, 0, 2], [0, 1, 0]], [[True] * 3, [True, True, False]]
    options = {"mask": there, "query_weight": [1, 2], "segment": ["b", "a"]}
    prepared = ta.PreparedRanking(labels, **options)
    scores = np.random.default_rng(0).integers(0, 3, (2, 3, 4)).astype(float)
    named = dict(zip("abcd", np.moveaxis(scores, -1, 0), strict=True))
    wanted = [prepared.score(one, "ap", average=None) for one in named.values()]
    for columns in (scores, named):
        found = prepared.score_columns(columns, "ap", average=None)
        assert_array_equal(found, np.array(wanted))
    assert prepared.evaluate(named["a"]).segment.tolist() == ["b", "a"]


@pytest.mark.parametrize("labels", [[1, NAN, 0, 1], pd.array([1, None, 0, 1])])
def test_labels_without_a_judgment_are_refused_by_those_who_cannot_take_them(labels):
    scores = [3, 2, 1, 1]
    prepared = ta.PreparedRanking(labels)
    takes = {"raise": "bpref", "nonrelevant": "ap", "drop": "ap"}
    for unjudged, measure in takes.items():
        options = {"measure": measure, "unjudged": unjudged}
        found = ta.PreparedRanking(labels, unjudged=unjudged).score(scores, measure)
        assert found == ta.ranking_score(labels, scores, **options)
    with pytest.raises(ValueError, match=r"y_true must be judged .*got nan in row 1$"):
        prepared.score(scores, "ap")
    with pytest.raises(ValueError, match="y_true must be judged"):
        prepared.evaluate(scores, ["bpref", "ap"])


def test_a_query_that_nothing_defines():
    nothing = ta.PreparedRanking([0, 0], zero_relevance="skip")
    # of several columns there is one warning
    for call in (
        lambda: nothing.score([1, 2], "ap"),
        lambda: nothing.score_columns([[1, 2], [2, 1]], "ap", n_jobs=2),
    ):
        with pytest.warns(UndefinedMetricWarning, match="AP is undefined") as caught:
            assert np.isnan(call()).all()
        assert len(caught) == 1


TWO = ta.PreparedRanking([1, 0])


@pytest.mark.parametrize(("call", "message"), [
    (lambda: ta.PreparedRanking([1], zero_relevance="no"), "zero_relevance must"),
    (lambda: ta.PreparedRanking([0], zero_relevance="raise").score([1], "ap"),
     "AP is undefined for query 0"),
    (lambda: ta.PreparedRanking([1], unjudged="no"), "unjudged .*got 'no'"),
    (lambda: ta.PreparedRanking([1, 0], [1]), "qid must have one value per row"),
    (lambda: ta.PreparedRanking([1, 0], [1, 1], query_weight=[1, 2]),
     "query_weight must be constant within a query"),
    (lambda: ta.PreparedRanking([1, 0], segment=["a"]), "segment must have one value"),
    (lambda: ta.PreparedRanking([1], zero_relevance=0.5, convention="lightgbm"),
     "zero_relevance must be .* convention=.*got 0.5"),
    (lambda: TWO.score([1]), r"y_score must have one value per row \(2\), got 1"),
    (lambda: TWO.score([1, 2], ties="no"), "ties must be one of .*got 'no'"),
    (lambda: TWO.score([1, 2], average="no"), "average must be .*got 'no'"),
    (lambda: TWO.score([1, 2], "rr", average="micro"),
     r"ratios of counts \(F, Fallout, Judged, P, R and Rprec\), got RR"),
    (lambda: TWO.evaluate([1, 2], []), "at least one measure"),
    (lambda: ta.evaluate([0], [1], measures=[]), "measures must name at least one"),
    (lambda: ta.evaluate([0], [1], measures=["ap", "map"]),
     "measures must differ, got AP twice$"),
    (lambda: ta.evaluate([0], [1], measures=7), "measure must be a name .* got 7$"),
    (lambda: ta.evaluate([0], [1], measures=[len]), r"sampled\(\) takes .*len>$"),
    (lambda: ta.evaluate([0, NAN], [1, 2], measures=["bpref", "rr"]),
     "y_true must be judged .* got nan in row 1"),
    (lambda: TWO.score_columns([[1, 2]] * 2, ties="no"), "ties must be one of"),
    (lambda: TWO.score_columns(np.ones((2, 2, 2))),
     r"y_score must .* of shape \(n_documents, n_systems\), got shape \(2, 2, 2\)"),
    (lambda: TWO.score_columns(np.ones((3, 2))),
     r"y_score\['system 0'\] must have one value per row \(2\), got 3"),
    (lambda: TWO.score_columns(np.ones((2, 0))), "at least one system, got none"),
    (lambda: TWO.score_columns({}), "y_score must hold at least one system"),
    (lambda: TWO.score_columns(pd.DataFrame([[1, 2]] * 2, columns=["a", "a"])),
     r"y_score must have a different name for each system, got \('a', 'a'\)"),
    (lambda: TWO.score_columns([[1, 2], [2, NAN]]),
     r"y_score\['system 1'\] .*nan in row 1"),
    (lambda: TWO.score_columns({"a": [1, 2], "b": [NAN, 2]}),
     r"y_score\['b'\] must not be NaN .* row 0"),
])  # fmt: skip
def test_bad_calls_of_evaluate_and_of_prepared_rankings(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_given_away_is_a_copy():
    columns = {"query_weight": [1, 1, 3, 3], "segment": [5, 5, 6, 6]}
    prepared = ta.PreparedRanking([1, 0, 1, 0], [1, 1, 2, 2], **columns)
    assert prepared.n_documents == 4
    before = prepared.score([1, 2, 4, 3], "ap")
    report = prepared.evaluate([1, 2, 3, 4], ["ap"])
    report.query_weight[:] = report.segment[:] = 1
    report.qid[:] = prepared.qid[:] = 0
    assert prepared.score([1, 2, 4, 3], "ap") == before
    assert prepared.qid.tolist() == [1, 2]
    assert prepared.evaluate([1, 2, 3, 4]).segment.tolist() == [5, 6]


@pytest.mark.parametrize("named", [True, False], ids=["names", "measures"])
def test_many_measures_leave_nothing_behind(named):
    labels = np.random.default_rng(0).integers(0, 2, 2000)
    prepared = ta.PreparedRanking(labels, np.arange(2000) // 4)
    before = len(pickle.dumps(prepared))

    def size(n):
        for i in range(n):
            # the same one is made anew, or others are named
            measure = f"rbp(p={(i + 1) / (n + 2)})" if named else NDCG(k=4)
            prepared.score(labels, measure)
        known = [
            (list(own.memo.values()), list(getattr(own, "_planned", [])))
            for block in prepared._prepared._blocks.values()
            for own in (block, getattr(block, "ties", block))
            if hasattr(own, "memo")
        ]
        return len(pickle.dumps(known))

    assert size(200) < 2 * size(60)
    # pickles hold no more than what was given
    prepared.score(labels, NDCG(gain=lambda label: label))
    after = pickle.dumps(prepared)
    assert len(after) == before < 2.5 * 8 * 2000
    assert pickle.loads(after).score(labels) == prepared.score(labels)


# -- without the documents that nobody judged


@pytest.mark.slow
@settings(max_examples=25)
@given(case=queries())
def test_dropping_is_leaving_rows_out_to_the_bit(case):
    labels, scores, qid = (np.array(column) for column in case)
    # labels of 4 are those that nobody gave; each query keeps a document
    judged = labels < 4
    judged[np.unique(qid, return_index=True)[1]] = True
    labels = np.where(judged, labels, NAN)
    found = ta.evaluate(labels, scores, qid=qid, measures=MEASURES, unjudged="drop")
    left = [column[judged] for column in (labels, scores, qid)]
    wanted = ta.evaluate(*left[:2], qid=left[2], measures=MEASURES)
    order = [wanted.qid.tolist().index(q) for q in found.qid]
    for name in STATISTICS:
        ours, theirs = getattr(found, name), getattr(wanted, name)[order]
        assert np.array_equal(ours, theirs, equal_nan=True), name


Y = [1, NAN, 0, 1, NAN, NAN, 0, 2, NAN]
S = [3, 3, 3, 1, 9, 9, 2, 2, 2]
IDS = ["a", "a", "a", "a", "b", "b", "c", "c", "c"]
KEPT = [0, 2, 3, 6, 7]


def of_left(column):
    return [column[i] for i in KEPT]


def test_a_query_whose_documents_are_all_dropped_has_nothing_retrieved():
    undefined = ["R", "Fallout", "NDCG", "BPref", "ESL", "SetAP", "NDCG(gain=[2,3,4])"]
    names = ["P@2", "P", "CG(gain=[2,3,4])", "RBP", "Judged", "RR", *undefined]
    options = {"qid": IDS, "unjudged": "drop"}
    report = ta.evaluate(Y, S, measures=names, zero_relevance="skip", **options)
    assert report.qid.tolist() == ["a", "b", "c"]
    wanted = [0.0] * 6 + [NAN] * 7
    for statistic in STATISTICS:
        assert np.array_equal(getattr(report, statistic)[1], wanted, equal_nan=True)
    # queries a and c have 1/2 each, whatever the tie
    score = ta.ranking_score(Y, S, measure="P@2", **options)
    assert score == (1 / 2 + 0 + 1 / 2) / 3


@pytest.mark.parametrize("dtype", ["uint8", "float16", "longdouble", "bool", "large"])
def test_scores_of_any_dtype(dtype):
    scores = np.array(S) + 2**62
    if dtype != "large":
        scores = np.array(S) > 2 if dtype == "bool" else np.array(S, dtype)
    options = {"measure": "rr", "average": None}
    found = ta.ranking_score(Y, scores, qid=IDS, unjudged="drop", **options)
    left = ta.ranking_score(of_left(Y), scores[KEPT], qid=of_left(IDS), **options)
    assert found.tolist() == [left[0], 0, left[1]]
    columns = np.column_stack([scores, scores[::-1]])
    prepared = ta.PreparedRanking(Y, IDS, unjudged="drop")
    several = prepared.score_columns(columns, "rr", average=None)
    assert several[0].tolist() == found.tolist()
    assert several[1].tolist() == prepared.score(scores[::-1], **options).tolist()


def test_values_by_hand():
    # ties in input order are those of the rows that stay
    options = {"measure": "rr", "ties": "input", "unjudged": "drop"}
    assert ta.ranking_score([NAN, 0, 1, 1], [1, 1, 1, 0], **options) == 1 / 2
    # the sum of a ratio has nothing of what is dropped
    options = {"measure": "Fallout@1", "average": "micro", "unjudged": "drop"}
    assert ta.ranking_score([0, 1, NAN], [1, 1, 1], qid=[1, 1, 2], **options) == 1 / 2
    labels = [[1, NAN, 0], [NAN, NAN, NAN], [0, 2, NAN]]
    scores = [[2.0, 2.0, 2.0], [1.0, 1.0, NAN], [3.0, 3.0, NAN]]
    found = ta.ranking_score(labels, scores, measure="P@1", unjudged="drop")
    assert found == 1 / 3


class First:
    def predict(self, X):
        return X[:, 0]


def screened(X, y, qid, **unjudged):
    found = ta.RankingFeatureSelector("ap", **unjudged).fit(X, y, qid=qid).screening_
    # features are correlated over all documents, whoever judged them
    return found.to_pandas().drop(columns="correlation").to_csv()


def of_scores(function, **options):
    return lambda X, y, qid, **unjudged: function(
        y, X[:, 0], qid=qid, **options, **unjudged
    )


@pytest.mark.parametrize("function", [
    screened,
    lambda X, y, qid, **un: ta.make_ranking_scorer("ap", **un)(First(), X, y, qid=qid),
    lambda X, y, qid, **un: ta.compare_systems(y, X, qid=qid, measure="ap", **un),
    of_scores(ta.evaluate, measures="ap"),
    of_scores(ta.tie_report, measures="ap", k=1),
    of_scores(ta.tie_treatments, measures=["ap", "rr"]),
    of_scores(evaluation.contingency_table, k=1),
    of_scores(evaluation.precision_recall_curve),
    of_scores(ta.sampled, score_func=ta.ranking_score, n_orders=50),
    of_scores(ta.sampled, score_func=lambda labels, scores: labels[0], n_orders=50),
    of_scores(evaluation.tie_distributions, measure="rr"),
])  # fmt: skip
def test_all_that_take_unjudged_see_the_rows_that_stay(function):
    rng = np.random.default_rng(0)
    X, qid = rng.integers(0, 4, (120, 3)).astype(float), np.repeat(range(12), 10)
    y = rng.integers(0, 2, 120).astype(float)
    X[:, 0] += y
    y[::4] = NAN
    judged = ~np.isnan(y)
    found = function(X, y, qid, unjudged="drop")
    assert str(found) == str(function(X[judged], y[judged], qid[judged]))


def test_what_is_left_of_a_query_without_judgments():
    data = {"y_true": Y, "y_score": S, "qid": IDS, "unjudged": "drop"}
    counts = evaluation.contingency_table(**data).to_pandas().set_index("qid")
    cells = ["true_positive", "false_positive", "false_negative", "true_negative"]
    assert counts.loc["b", cells].tolist() == [0, 0, 0, 0]
    assert counts.loc["a", cells].tolist() == [2, 1, 0, 0]
    # orders have what is dropped at the end of its query
    for rows in evaluation.sample_orderings(n_orders=20, **data):
        assert sorted(rows[:2]) == [0, 2]
        assert rows[2:4].tolist() == [3, 1]
        assert sorted(rows[4:6]) == [4, 5]
        assert rows[8] == 8
    # functions of the user see one document where all are dropped
    seen = {}

    def first(labels, scores):
        seen[len(labels), scores[0]] = labels.tolist()
        return labels[0]

    ta.sampled(score_func=first, n_orders=5, **data)
    assert seen[1, -INF] == [0]
