"""Judged and SetAP, which count otherwise than the measures beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests import naive
from tests.strategies import judged_ranking
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import Judged, SetAP

NAN = math.nan


def unjudged(labels):
    """Labels with NaN for those below 0."""
    return [NAN if label < 0 else label for label in labels]


@settings(max_examples=200)
@given(case=judged_ranking())
def test_judged_equals_enumeration(case):
    labels, scores = case
    cutoffs = (None, 1, 3, 9)
    measures = [Judged(k) for k in cutoffs]
    report = evaluate(unjudged(labels), scores, measures=measures)
    for j, k in enumerate(cutoffs):
        *values, variance = naive.over_ties(naive.judged(k), labels, scores)
        found = [getattr(report, name)[0, j] for name in ("expected", "best", "worst")]
        assert found == pytest.approx(list(map(float, values)), abs=1e-14)
        assert report.std[0, j] == pytest.approx(math.sqrt(variance), abs=1e-14)


def test_judged_is_pooled_over_the_places_that_are_filled():
    labels, scores, qid = [1, NAN, 0, NAN], [1, 1, -math.inf, 2], [1, 1, 1, 2]
    options = {"qid": qid, "measure": "judged@5"}
    assert ranking_score(labels, scores, average=None, **options).tolist() == [0.5, 0]
    assert ranking_score(labels, scores, average="micro", **options) == 1 / 3


def by_topic(measures, qrels, run):
    """Values of ir-measures by measure, one for each topic in order."""
    ir_measures = pytest.importorskip("ir_measures")
    found = {measure: {} for measure in measures}
    wanted = {ir_measures.parse_measure(measure): measure for measure in measures}
    for metric in ir_measures.iter_calc(list(wanted), qrels, run):
        found[wanted[metric.measure]][metric.query_id] = metric.value
    return {measure: [values[t] for t in qrels] for measure, values in found.items()}


def test_judged_and_set_ap_of_ir_measures():
    rng = np.random.default_rng(0)
    qrels, run, labels, scores, qid = {}, {}, [], [], []
    for topic in map(str, range(30)):
        n = int(rng.integers(1, 15))
        own = rng.permutation(n) / 4
        judged = rng.random(n) < 0.6
        # topics without a judgment are left out there
        judged[0] = True
        label = rng.integers(0, 3, n)
        qrels[topic] = {f"d{i}": int(label[i]) for i in range(n) if judged[i]}
        run[topic] = {f"d{i}": float(own[i]) for i in range(n)}
        labels += np.where(judged, label, NAN).tolist()
        scores += own.tolist()
        qid += [topic] * n
    names = ["Judged", "Judged@1", "Judged@5", "Judged@20", "SetAP", "SetAP(rel=2)"]
    theirs = by_topic(names, qrels, run)
    ours = evaluate(labels, scores, qid=qid, measures=names, unjudged="nonrelevant")
    for j, name in enumerate(names):
        assert ours.expected[:, j] == pytest.approx(theirs[name], abs=1e-12), name


def test_no_order_of_ties_changes_set_ap():
    labels, scores = [1, 0, 2, 0, 1], [1, 1, 1, 0, -math.inf]
    report = evaluate(labels, scores, measures=["SetAP"])
    assert report.expected[0, 0] == report.best[0, 0] == report.worst[0, 0] == 4 / 12
    assert report.std[0, 0] == 0
    for ties in ("expected", "best", "worst", "input"):
        assert ranking_score(labels, scores, measure=SetAP(rel=2), ties=ties) == 1 / 4


def test_set_ap_of_a_list_without_documents_is_0_where_some_are_relevant():
    none = [-math.inf, -math.inf]
    options = {"measure": "SetAP", "average": None, "zero_relevance": "skip"}
    assert ranking_score([1, 0], none, **options).tolist() == [0]
    assert np.isnan(ranking_score([0, 0], none, **options)).all()
