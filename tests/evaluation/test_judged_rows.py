"""Rankings without the documents that nobody judged."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from tests import naive
from tests.instances import INSTANCES, MEASURES
from tests.strategies import judged_ranking, queries
from tieaware_sklearn import (
    PreparedRanking,
    RankingFeatureSelector,
    compare_systems,
    evaluate,
    make_ranking_scorer,
    ranking_score,
    sampled,
    tie_report,
    tie_treatments,
)
from tieaware_sklearn.evaluation import (
    contingency_table,
    precision_recall_curve,
    sample_orderings,
    tie_distributions,
)

NAN, INF = math.nan, math.inf
STATISTICS = ("expected", "best", "worst", "std", "chance", "ideal")
EXACT = [instance for instance in INSTANCES if not instance.sampled]


@settings(max_examples=150)
@given(case=judged_ranking())
def test_dropped_documents_leave_enumeration(case):
    labels, scores = case
    judged = [i for i, label in enumerate(labels) if label >= 0]
    left = [[column[i] for i in judged] for column in (labels, scores)]
    report = evaluate(
        [NAN if label < 0 else label for label in labels],
        scores,
        measures=[instance.measure for instance in EXACT],
        unjudged="drop",
        zero_relevance="skip",
    )
    for j, instance in enumerate(EXACT):
        lower = not instance.measure.greater_is_better
        exact = naive.over_ties(instance.plain, *left, lower, instance.harmonic)
        wanted = [NAN] * 4
        if exact is not None:
            *values, variance = map(float, exact)
            wanted = [*values, math.sqrt(variance)]
        found = [getattr(report, name)[0, j] for name in STATISTICS[:4]]
        close = pytest.approx(wanted, rel=1e-13, abs=1e-12, nan_ok=True)
        assert found == close, instance.measure


@settings(max_examples=60)
@given(case=queries(), seed=queries())
def test_dropping_is_leaving_rows_out_to_the_bit(case, seed):
    labels, scores, qid = (np.array(column) for column in case)
    # labels of 4 are those that nobody gave; each query keeps a document
    judged = labels < 4
    judged[np.unique(qid, return_index=True)[1]] = True
    labels = np.where(judged, labels, NAN)
    found = evaluate(labels, scores, qid=qid, measures=MEASURES, unjudged="drop")
    left = [column[judged] for column in (labels, scores, qid)]
    wanted = evaluate(*left[:2], qid=left[2], measures=MEASURES)
    order = [wanted.qid.tolist().index(q) for q in found.qid]
    for name in STATISTICS:
        ours, theirs = getattr(found, name), getattr(wanted, name)[order]
        assert np.array_equal(ours, theirs, equal_nan=True), name


LABELS = [1, NAN, 0, 1, NAN, NAN, 0, 2, NAN]
SCORES = [3, 3, 3, 1, 9, 9, 2, 2, 2]
QID = ["a", "a", "a", "a", "b", "b", "c", "c", "c"]
LEFT = [0, 2, 3, 6, 7]


def of_left(column):
    return [column[i] for i in LEFT]


def test_a_query_whose_documents_are_all_dropped_has_nothing_retrieved():
    names = ["P@2", "P", "R", "Fallout", "NDCG", "CG(gain=[2,3,4])", "RBP", "BPref"]
    names += ["Judged", "ESL", "RR", "SetAP", "NDCG(gain=[2,3,4])"]
    report = evaluate(
        LABELS, SCORES, qid=QID, measures=names, unjudged="drop", zero_relevance="skip"
    )
    assert report.qid.tolist() == ["a", "b", "c"]
    undefined = {"R", "Fallout", "NDCG", "BPref", "ESL", "SetAP"}
    undefined.add("NDCG(gain={0:2,1:3,2:4})")
    for name, *values in zip(
        report.measures,
        *(getattr(report, statistic)[1] for statistic in STATISTICS),
        strict=True,
    ):
        wanted = [NAN if name in undefined else 0.0] * len(STATISTICS)
        assert np.array_equal(values, wanted, equal_nan=True), name
    score = ranking_score(LABELS, SCORES, qid=QID, measure="P@2", unjudged="drop")
    # queries a and c have 1/2 each, whatever the tie
    assert score == (1 / 2 + 0 + 1 / 2) / 3


@pytest.mark.parametrize(
    "scores",
    [
        np.array(SCORES, dtype=np.uint8),
        np.array(SCORES) + 2**62,
        np.array(SCORES, dtype=np.float32),
        np.array(SCORES, dtype=np.float16),
        np.array(SCORES, dtype=np.longdouble),
        np.array(SCORES) > 2,
    ],
    ids=lambda scores: str(scores.dtype),
)
def test_scores_of_any_dtype(scores):
    options = {"measure": "rr", "average": None}
    found = ranking_score(LABELS, scores, qid=QID, unjudged="drop", **options)
    left = ranking_score(of_left(LABELS), scores[LEFT], qid=of_left(QID), **options)
    assert found.tolist() == [left[0], 0, left[1]]
    columns = np.column_stack([scores, scores[::-1]])
    prepared = PreparedRanking(LABELS, QID, unjudged="drop")
    several = prepared.score_columns(columns, "rr", average=None)
    assert several[0].tolist() == found.tolist()
    assert several[1].tolist() == prepared.score(scores[::-1], **options).tolist()


def test_ties_in_input_order_are_those_of_the_rows_that_stay():
    found = ranking_score([NAN, 0, 1, 1], [1, 1, 1, 0], measure="rr", ties="input",
                          unjudged="drop")  # fmt: skip
    assert found == 1 / 2


def test_matrices():
    labels = [[1, NAN, 0], [NAN, NAN, NAN], [0, 2, NAN]]
    scores = [[2.0, 2.0, 2.0], [1.0, 1.0, NAN], [3.0, 3.0, NAN]]
    found = ranking_score(labels, scores, measure="P@1", average=None, unjudged="drop")
    assert found.tolist() == [0.5, 0, 0.5]


def test_the_sum_of_a_ratio_has_nothing_of_what_is_dropped():
    labels, scores, qid = [0, 1, NAN], [1, 1, 1], [1, 1, 2]
    options = {"qid": qid, "unjudged": "drop", "average": "micro"}
    assert ranking_score(labels, scores, measure="Fallout@1", **options) == 0.5


def test_all_functions_that_take_unjudged():
    """Beside the same functions of the rows that stay, of queries that have any."""
    rows = [0, 1, 2, 3, 6, 7, 8]
    labels, scores, qid = ([c[i] for i in rows] for c in (LABELS, SCORES, QID))
    left = of_left(LABELS), of_left(SCORES)
    with_drop = {"qid": qid, "unjudged": "drop"}
    without = {"qid": of_left(QID)}
    for function, options in [
        (evaluate, {"measures": "ap"}),
        (tie_report, {"measures": "ap", "k": 1}),
        (tie_treatments, {"measures": ["ap", "rr"]}),
        (contingency_table, {"k": 1}),
        (precision_recall_curve, {}),
        (sampled, {"score_func": "ap", "n_orders": 50}),
        (sampled, {"score_func": lambda labels, scores: labels[0], "n_orders": 50}),
    ]:
        found = function(labels, scores, **options, **with_drop)
        assert str(found) == str(function(*left, **options, **without)), function
    chances = tie_distributions(labels, scores, measure="rr", **with_drop)
    wanted = tie_distributions(*left, measure="rr", **without)
    assert list(chances) == list(wanted) == ["a", "c"]
    for query, found in chances.items():
        assert found.values.tolist() == wanted[query].values.tolist()
    systems = {"one": scores, "other": scores[::-1]}
    of_left_too = {"one": left[1], "other": [scores[::-1][i] for i in (0, 2, 3, 4, 5)]}
    found = compare_systems(labels, systems, measure="ap", **with_drop)
    assert str(found) == str(compare_systems(left[0], of_left_too, measure="ap",
                                             **without))  # fmt: skip


def test_contingency_tables_count_judged_documents():
    table = contingency_table(LABELS, SCORES, qid=QID, unjudged="drop")
    counts = table.to_pandas().set_index("qid")
    cells = ["true_positive", "false_positive", "false_negative", "true_negative"]
    assert counts.loc["b", cells].tolist() == [0, 0, 0, 0]
    assert counts.loc["a", cells].tolist() == [2, 1, 0, 0]


def test_orders_have_what_is_dropped_at_the_end_of_its_query():
    for rows in sample_orderings(LABELS, SCORES, qid=QID, unjudged="drop", n_orders=20):
        assert sorted(rows[:2]) == [0, 2]
        assert rows[2:4].tolist() == [3, 1]
        assert sorted(rows[4:6]) == [4, 5]
        assert rows[8] == 8


def test_functions_of_the_user_see_one_document_where_all_are_dropped():
    seen = {}

    def first(labels, scores):
        seen[len(labels), scores[0]] = labels.tolist()
        return labels[0]

    sampled(LABELS, SCORES, first, qid=QID, unjudged="drop", n_orders=5)
    assert seen[1, -INF] == [0]


def test_selectors_and_scorers():
    rng = np.random.default_rng(0)
    X, qid = rng.integers(0, 4, (120, 3)).astype(float), np.repeat(range(12), 10)
    y = rng.integers(0, 2, 120).astype(float)
    X[:, 0] += y
    y[::4] = NAN
    judged = ~np.isnan(y)
    selector = RankingFeatureSelector("ap", unjudged="drop").fit(X, y, qid=qid)
    wanted = RankingFeatureSelector("ap").fit(X[judged], y[judged], qid=qid[judged])
    # features are correlated over all documents, whoever judged them
    found, wanted = (
        one.screening_.to_pandas().drop(columns="correlation")
        for one in (selector, wanted)
    )
    pd.testing.assert_frame_equal(found, wanted)

    class First:
        def predict(self, X):
            return X[:, 0]

    scorer = make_ranking_scorer("ap", unjudged="drop")
    plain = make_ranking_scorer("ap")
    found = scorer(First(), X, y, qid=qid)
    assert found == plain(First(), X[judged], y[judged], qid=qid[judged])


@pytest.mark.parametrize("seed", range(3))
def test_trec_eval_with_j(seed):
    """The program itself, told to look at judged documents only."""
    import pytrec_eval

    names = {
        "map": "ap", "ndcg": "NDCG(gain=linear)", "P_5": "p@5", "Rprec": "rprec",
        "recip_rank": "rr", "bpref": "bpref", "recall_5": "r@5", "set_F": "SetF",
        "set_map": "SetAP", "map_cut_10": "ap@10", "success_1": "success@1",
        "11pt_avg": "11pt_avg",
    }  # fmt: skip
    rng = np.random.default_rng(seed)
    qrels, run, rows, empty = {}, {}, [], set()
    for topic in map(str, range(40)):
        n = int(rng.integers(2, 25))
        scores = rng.permutation(n)
        judged, retrieved = rng.random((2, n)) < [[0.5], [0.8]]
        if topic == "0":
            # judged documents there are, but none of them is retrieved
            judged, retrieved = np.arange(n) < n // 2, np.arange(n) >= n // 2
        judged[0] |= not judged.any()
        retrieved[-1] |= not retrieved.any()
        if not (judged & retrieved).any():
            empty.add(topic)
        labels = rng.integers(0, 3, n)
        qrels[topic] = {f"d{i:02}": int(labels[i]) for i in np.flatnonzero(judged)}
        run[topic] = {f"d{i:02}": float(scores[i]) for i in np.flatnonzero(retrieved)}
        rows += [
            (
                topic,
                labels[i] if judged[i] else NAN,
                scores[i] if retrieved[i] else -INF,
            )
            for i in range(n)
        ]
    qid, labels, scores = zip(*rows, strict=True)
    program = pytrec_eval.RelevanceEvaluator(
        qrels, set(names), judged_docs_only_flag=True
    )
    theirs = program.evaluate(run)
    assert "0" in empty
    ours = evaluate(
        labels, scores, qid=qid, measures=list(names.values()), unjudged="drop"
    )
    for topic, values in zip(ours.qid.tolist(), ours.expected, strict=True):
        for name, value in zip(names, values, strict=True):
            wanted = theirs[topic][name]
            if math.isnan(wanted):
                # trec_eval divides by the length of the list that is left
                assert topic in empty
                assert name == "11pt_avg"
                wanted = 0.0
            assert value == pytest.approx(wanted, abs=1e-12), (topic, name)


def test_errors_name_the_choices():
    with pytest.raises(ValueError, match=r"'nonrelevant', 'drop'\), got 'omit'"):
        ranking_score([1, NAN], [1, 2], unjudged="omit")
    with pytest.raises(ValueError, match=r"y_true must be judged .*drop.*got nan"):
        ranking_score([1, NAN], [1, 2])
