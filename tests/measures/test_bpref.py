"""BPref, and documents that nobody judged."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests import naive
from tests.instances import INSTANCES
from tests.strategies import judged_ranking
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import BPref

NAN = math.nan


@settings(max_examples=300)
@given(case=judged_ranking())
def test_bpref_passes_over_unjudged_documents(case):
    labels, scores = case
    with_nan = [NAN if label < 0 else label for label in labels]
    exact = naive.over_ties(naive.bpref(), labels, scores)
    report = evaluate(with_nan, scores, measures="bpref", zero_relevance="skip")
    if exact is None:
        assert np.isnan(report.expected[0, 0])
        return
    assert report.expected[0, 0] == pytest.approx(float(exact.expected), abs=1e-12)
    assert report.best[0, 0] == pytest.approx(float(exact.best), abs=1e-12)
    assert report.worst[0, 0] == pytest.approx(float(exact.worst), abs=1e-12)
    assert report.std[0, 0] == pytest.approx(math.sqrt(exact.variance), abs=1e-12)


@settings(max_examples=50)
@given(case=judged_ranking())
def test_all_other_measures_take_unjudged_documents_as_not_relevant(case):
    labels, scores = case
    measures = [i.measure for i in INSTANCES if not i.measure.takes_unjudged]
    with_nan = [NAN if label < 0 else label for label in labels]
    found = evaluate(with_nan, scores, measures=measures, unjudged="nonrelevant")
    zeros = evaluate([max(label, 0) for label in labels], scores, measures=measures)
    for name in ("expected", "best", "worst", "std", "chance", "ideal"):
        a, b = getattr(found, name), getattr(zeros, name)
        exact = np.array([not i.sampled for i in INSTANCES if i.measure in measures])
        exact = exact if name == "std" else np.ones(len(measures), bool)
        np.testing.assert_allclose(a[:, exact], b[:, exact], rtol=0, atol=1e-13)


def test_only_measures_that_know_of_judgments_accept_nan_by_default():
    labels, scores = [NAN, 1, 0, 1], [4, 3, 2, 1]
    # R = 2, one judged not relevant: the last one has it above
    assert ranking_score(labels, scores, measure="bpref") == 1 / 2
    assert ranking_score([0, 1, 0, 1], scores, measure="bpref") == 1 / 4
    with pytest.raises(ValueError, match="y_true must be judged"):
        ranking_score(labels, scores, measure="ap")
    with pytest.raises(ValueError, match="y_true must be judged"):
        evaluate(labels, scores, measures=["bpref", "ap"])
    both = evaluate(labels, scores, measures=["bpref", "p"], unjudged="nonrelevant")
    assert both.expected.tolist() == [[1 / 2, 1 / 2]]


def test_bpref_without_judged_nonrelevant_documents_counts_what_is_retrieved():
    assert ranking_score([1, 1, NAN], [1, 1, 1], measure=BPref()) == 1
    assert ranking_score([1, 1, NAN], [1, -math.inf, 1], measure=BPref()) == 1 / 2
