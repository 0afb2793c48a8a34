"""Lift over the chance level, and the test of labels placed at random."""

import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn.statistics.chance import lift, random_label_pvalues
from tieaware_sklearn.statistics.moments import QueryMoments


def test_lift_is_the_share_of_the_way_from_chance_to_ideal():
    score = np.array([0.6, 0.2, 0.4, 0.1])
    chance = np.array([0.2, 0.2, 0.5, 0.1])
    ideal = np.array([1.0, 1.0, 0.7, 0.1])
    # where ideal and chance are equal, nothing is to be gained
    assert lift(score, chance, ideal) == pytest.approx([0.5, 0.0, -0.5, 0.0])


def test_lift_of_an_undefined_score_is_undefined():
    level = np.array([0.2])
    ideal = np.array([1.0])
    assert np.isnan(lift(np.array([np.nan]), level, ideal)).all()


def test_pvalues_of_random_labels_are_normal_but_never_below_the_best_placement():
    gains = np.array([[0.1, 0.5], [0.2, 0.4], [-0.1, 0.6]])
    moments = QueryMoments.from_values(gains)
    variance = np.array([0.04, 0.01])
    pvalues = random_label_pvalues(moments, variance, np.array(math.log(1000)))
    expected = stats.norm.sf(gains.sum(axis=0) / np.sqrt(variance))
    assert pvalues[0] == pytest.approx(expected[0])
    assert expected[1] < 1 / 1000
    assert pvalues[1] == pytest.approx(1 / 1000)
