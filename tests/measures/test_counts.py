"""Judged and SetAP, and the places of the first relevant documents."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import SetAP

NAN = math.nan


def test_judged_is_pooled_over_the_places_that_are_filled():
    labels, scores, qid = [1, NAN, 0, NAN], [1, 1, -math.inf, 2], [1, 1, 1, 2]
    options = {"qid": qid, "measure": "judged@5"}
    assert ranking_score(labels, scores, average=None, **options).tolist() == [0.5, 0]
    assert ranking_score(labels, scores, average="micro", **options) == 1 / 3


def test_no_order_of_ties_changes_set_ap():
    labels, scores = [1, 0, 2, 0, 1], [1, 1, 1, 0, -math.inf]
    for ties in ("expected", "best", "worst", "input"):
        assert ranking_score(labels, scores, measure=SetAP(rel=2), ties=ties) == 1 / 4
    # 0 where some are relevant and none is retrieved
    none = [-math.inf, -math.inf]
    options = {"measure": "SetAP", "average": None, "zero_relevance": "skip"}
    assert ranking_score([1, 0], none, **options).tolist() == [0]
    assert np.isnan(ranking_score([0, 0], none, **options)).all()


def test_esl_is_skipped_where_nothing_is_found():
    labels, scores, qid = [0, 1, 0, 0], [1, 1, 1, 1], [1, 1, 2, 2]
    for zero_relevance in (0.0, 5.0, "skip"):
        data = {"qid": qid, "measure": "esl", "zero_relevance": zero_relevance}
        assert ranking_score(labels, scores, **data) == 1 / 2
        found = ranking_score(labels, scores, average=None, **data)
        assert found[0] == 1 / 2
        assert np.isnan(found[1])
    with pytest.raises(ValueError, match="ESL is undefined for query 2"):
        ranking_score(labels, scores, qid=qid, measure="esl", zero_relevance="raise")
    report = evaluate(labels, scores, qid=qid, measures=["esl", "rr"])
    assert report.n_undefined.tolist() == [1, 0]
    assert report.summary().n_queries.tolist() == [1, 2]


def test_esl_is_compared_with_the_same_queries():
    # all documents retrieved in query 1, the relevant one missed in query 2
    labels, qid = [0, 1, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2]
    scores = [3, 2, 1, -math.inf, 2, 1]
    report = evaluate(labels, scores, qid=qid, measures="esl")
    assert np.isnan(report.chance[1, 0])
    assert np.isnan(report.ideal[1, 0])
    summary = report.summary()
    assert (summary.mean[0], summary.chance[0]) == (1, 1)
    assert summary.lift[0] == 0
    with pytest.raises(ValueError, match=r"ESL .* too few relevant documents are retr"):
        evaluate(labels, scores, qid=qid, measures="esl", zero_relevance="raise")


def test_lift_of_esl_is_coopers_reduction_factor():
    labels, scores = [0, 1, 0, 1, 0, 0, 0], [7, 6, 5, 4, 3, 2, 1]
    report = evaluate(labels, scores, measures="esl")
    # one other document above; 5/3 expected at random
    assert report.summary().lift[0] == pytest.approx(1 - 1 / (5 / 3))
