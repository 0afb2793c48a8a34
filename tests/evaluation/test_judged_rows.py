"""Rankings without the documents that nobody judged."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests.instances import MEASURES
from tests.strategies import queries
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

pytestmark = pytest.mark.usefixtures("engine")
NAN, INF = math.nan, math.inf
STATISTICS = ("expected", "best", "worst", "std", "chance", "ideal")


@settings(max_examples=25)
@given(case=queries())
def test_dropping_is_leaving_rows_out_to_the_bit(case):
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
    undefined = ["R", "Fallout", "NDCG", "BPref", "ESL", "SetAP", "NDCG(gain=[2,3,4])"]
    names = ["P@2", "P", "CG(gain=[2,3,4])", "RBP", "Judged", "RR", *undefined]
    options = {"qid": QID, "unjudged": "drop"}
    report = evaluate(LABELS, SCORES, measures=names, zero_relevance="skip", **options)
    assert report.qid.tolist() == ["a", "b", "c"]
    wanted = [0.0] * 6 + [NAN] * 7
    for statistic in STATISTICS:
        assert np.array_equal(getattr(report, statistic)[1], wanted, equal_nan=True)
    # queries a and c have 1/2 each, whatever the tie
    score = ranking_score(LABELS, SCORES, measure="P@2", **options)
    assert score == (1 / 2 + 0 + 1 / 2) / 3


@pytest.mark.parametrize("dtype", ["uint8", "float16", "longdouble", "bool", "large"])
def test_scores_of_any_dtype(dtype):
    scores = np.array(SCORES) + 2**62
    if dtype != "large":
        scores = np.array(SCORES) > 2 if dtype == "bool" else np.array(SCORES, dtype)
    options = {"measure": "rr", "average": None}
    found = ranking_score(LABELS, scores, qid=QID, unjudged="drop", **options)
    left = ranking_score(of_left(LABELS), scores[LEFT], qid=of_left(QID), **options)
    assert found.tolist() == [left[0], 0, left[1]]
    columns = np.column_stack([scores, scores[::-1]])
    prepared = PreparedRanking(LABELS, QID, unjudged="drop")
    several = prepared.score_columns(columns, "rr", average=None)
    assert several[0].tolist() == found.tolist()
    assert several[1].tolist() == prepared.score(scores[::-1], **options).tolist()


def test_values_by_hand():
    # ties in input order are those of the rows that stay
    options = {"measure": "rr", "ties": "input", "unjudged": "drop"}
    assert ranking_score([NAN, 0, 1, 1], [1, 1, 1, 0], **options) == 1 / 2
    # the sum of a ratio has nothing of what is dropped
    options = {"measure": "Fallout@1", "average": "micro", "unjudged": "drop"}
    assert ranking_score([0, 1, NAN], [1, 1, 1], qid=[1, 1, 2], **options) == 1 / 2
    labels = [[1, NAN, 0], [NAN, NAN, NAN], [0, 2, NAN]]
    scores = [[2.0, 2.0, 2.0], [1.0, 1.0, NAN], [3.0, 3.0, NAN]]
    found = ranking_score(labels, scores, measure="P@1", unjudged="drop")
    assert found == 1 / 3


class First:
    def predict(self, X):
        return X[:, 0]


def screened(X, y, qid, **unjudged):
    found = RankingFeatureSelector("ap", **unjudged).fit(X, y, qid=qid).screening_
    # features are correlated over all documents, whoever judged them
    return found.to_pandas().drop(columns="correlation").to_csv()


def of_scores(function, **options):
    return lambda X, y, qid, **unjudged: function(
        y, X[:, 0], qid=qid, **options, **unjudged
    )


@pytest.mark.parametrize("function", [
    screened,
    lambda X, y, qid, **un: make_ranking_scorer("ap", **un)(First(), X, y, qid=qid),
    lambda X, y, qid, **un: compare_systems(y, X, qid=qid, measure="ap", **un),
    of_scores(evaluate, measures="ap"),
    of_scores(tie_report, measures="ap", k=1),
    of_scores(tie_treatments, measures=["ap", "rr"]),
    of_scores(contingency_table, k=1),
    of_scores(precision_recall_curve),
    of_scores(sampled, score_func="ap", n_orders=50),
    of_scores(sampled, score_func=lambda labels, scores: labels[0], n_orders=50),
    of_scores(tie_distributions, measure="rr"),
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
    data = {"y_true": LABELS, "y_score": SCORES, "qid": QID, "unjudged": "drop"}
    counts = contingency_table(**data).to_pandas().set_index("qid")
    cells = ["true_positive", "false_positive", "false_negative", "true_negative"]
    assert counts.loc["b", cells].tolist() == [0, 0, 0, 0]
    assert counts.loc["a", cells].tolist() == [2, 1, 0, 0]
    # orders have what is dropped at the end of its query
    for rows in sample_orderings(n_orders=20, **data):
        assert sorted(rows[:2]) == [0, 2]
        assert rows[2:4].tolist() == [3, 1]
        assert sorted(rows[4:6]) == [4, 5]
        assert rows[8] == 8
    # functions of the user see one document where all are dropped
    seen = {}

    def first(labels, scores):
        seen[len(labels), scores[0]] = labels.tolist()
        return labels[0]

    sampled(score_func=first, n_orders=5, **data)
    assert seen[1, -INF] == [0]
