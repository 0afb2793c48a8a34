"""Whole distributions over the orders of ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests import naive
from tests.instances import INSTANCES
from tests.strategies import ranking
from tieaware_sklearn import Measure, evaluate
from tieaware_sklearn.evaluation import tie_distributions

WITH_DISTRIBUTION = [
    instance
    for instance in INSTANCES
    if type(instance.measure)._outcomes is not Measure._outcomes
]


@settings(max_examples=100)
@given(case=ranking())
def test_distributions_equal_enumeration(case):
    labels, scores = case
    for measure, plain, *_ in WITH_DISTRIBUTION:
        exact = naive.outcomes(plain, labels, scores)
        (found,) = tie_distributions(labels, scores, measure=measure).values()
        assert len(found) == len(exact), measure
        values = pytest.approx(list(map(float, exact)), abs=1e-12)
        assert found.values == values, measure
        chances = pytest.approx(list(map(float, exact.values())), abs=1e-12)
        assert found.probability == chances, measure


def test_measures_have_distributions():
    names = {instance.measure.name for instance in WITH_DISTRIBUTION}
    counts = {"P", "R", "F", "Fallout", "Rprec", "Judged", "SetAP"}
    assert names == counts | {"Success", "RR", "ESL", "PRR", "IPrec", "BPref"}


def test_distributions_have_moments_and_quantiles():
    labels, scores = [1, 0, 0, 1], [1, 1, 1, 1]
    report = evaluate(labels, scores, measures=["rr"])
    (found,) = tie_distributions(labels, scores, measure="rr").values()
    assert found.mean() == pytest.approx(report.expected[0, 0])
    assert found.std() == pytest.approx(report.std[0, 0])
    # first place with 1/2, second with 1/3, third with 1/6
    assert found.cdf(0.4) == pytest.approx(1 / 6)
    assert found.cdf(1 / 2) == pytest.approx(1 / 2)
    (cut,) = tie_distributions([1, 0, 0], [1, 1, 1], measure="rr@2").values()
    assert cut.values.tolist() == [0, 1 / 2, 1]
    assert cut.probability == pytest.approx([1 / 3] * 3)
    assert found.quantile(0.5) == pytest.approx(1 / 2)
    assert found.quantile(1) == 1
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\], got 2"):
        found.quantile(2)
    found = tie_distributions([0, 1, 0], [1, 1, 1], qid=[7, 7, 3], measure="r@1")
    assert list(found) == [7, 3]
    assert found[7].values.tolist() == [0, 1]
    assert math.isnan(found[3].mean())
    assert math.isnan(found[3].std())
    assert math.isnan(found[3].quantile(0.5))
    with pytest.raises(
        ValueError, match="distribution of AP over the orders of ties has"
    ):
        tie_distributions(labels, scores, measure="ap")


def test_a_distribution_too_large_is_refused():
    labels = np.tile([0, 1], 2000)
    with pytest.raises(
        ValueError, match=r"distribution of BPref .* at most 2e\+08 steps"
    ):
        tie_distributions(labels, np.zeros(4000), measure="bpref")
