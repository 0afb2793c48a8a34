"""Interpolated precision and its averages."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation import tie_distributions
from tieaware_sklearn.measures import InterpolatedPrecision, _interpolated


def test_recall_levels_are_decimal_fractions():
    # 0.1 of 30 is 3, though 0.1 * 30 > 3 in floats
    labels = np.zeros(60)
    labels[[0, 1, 10]] = 1
    labels[33:] = 1
    scores = -np.arange(60.0)
    assert labels.sum() == 30
    found = ranking_score(labels, scores, measure="iprec@0.1")
    assert found == 30 / 60  # from the third relevant document on
    assert str(InterpolatedPrecision(0.1)) == "IPrec@0.1"
    assert ranking_score(labels, scores, measure="iprec@0") == 1
    # 0.7 * 3 + 0.9 is 2.999... in floats: trec_eval looks from the second one on
    measure = InterpolatedPrecision(0.7, rounding="trec_eval9")
    assert str(measure) == "IPrec(rounding=trec_eval9)@0.7"
    labels, scores = [1, 0, 1, 0, 0, 1], -np.arange(6)
    assert ranking_score(labels, scores, measure=measure) == 2 / 3
    assert ranking_score(labels, scores, measure="iprec@0.7") == 3 / 6
    found = ranking_score(labels, scores, measure="iprec(rounding=nearest)@0.8")
    assert found == 2 / 3


def test_averages_of_the_textbooks():
    """The two rankings of ten documents of part A's figures."""
    first = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1]
    second = [0, 1, 0, 0, 1, 1, 1, 0, 1, 1]
    scores = -np.arange(10)
    for labels, value in ((first, 0.82), (second, 0.60)):
        got = ranking_score(labels, scores, measure="iap")
        assert round(got, 2) == value


def test_long_ties_are_sampled_and_say_so(monkeypatch):
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 2, 150), rng.integers(0, 2, 150)
    measures = ["iap", "iprec@0.2", "iap(points=all)"]
    exact = evaluate(labels, scores, measures=measures)
    assert (exact.sampling_error == 0).all()
    monkeypatch.setattr(_interpolated, "REACH", 10)
    sampled = evaluate(labels, scores, measures=measures)
    assert (sampled.sampling_error > 0).all()
    off = np.abs(sampled.expected - exact.expected) / sampled.sampling_error
    assert (off < 4).all()
    assert (sampled.worst <= sampled.expected).all()
    assert (sampled.expected <= sampled.best).all()
    assert "IAP: the mean is estimated from sampled orders" in str(sampled)
    assert str(sampled) == str(evaluate(labels, scores, measures=measures))
    with pytest.raises(
        ValueError, match=r"distribution of IPrec@0\.2 .* at most 10, got"
    ):
        tie_distributions(labels, scores, measure="iprec@0.2")
