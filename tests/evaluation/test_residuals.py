"""What documents without a judgment could change."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests import naive
from tests.strategies import judged_ranking
from tieaware_sklearn.evaluation import residuals

NAN = math.nan
PLAIN = {
    "P@3": naive.precision(3),
    "P": naive.precision(),
    "RR": naive.reciprocal_rank(),
    "Success@2": naive.success(2),
    "ERR(max_label=1)": naive.err(max_label=1),
}


@pytest.mark.parametrize("measure", PLAIN)
@settings(max_examples=60)
@given(case=judged_ranking())
def test_residuals_bound_every_judgment_and_every_order(measure, case):
    labels, scores = case
    labels = [min(label, 1) for label in labels]
    given_labels = [NAN if label < 0 else label for label in labels]
    report = residuals(given_labels, scores, measures=measure)
    plain = PLAIN[measure]
    seen, means = [], []
    choices = [(label,) if label >= 0 else (0, 1) for label in labels]
    for judged in itertools.product(*choices):
        exact = naive.over_ties(plain, judged, scores)
        seen += [exact.worst, exact.best]
        means.append(exact.expected)
    assert report.worst[0, 0] == pytest.approx(float(min(seen)), abs=1e-12)
    assert report.best[0, 0] == pytest.approx(float(max(seen)), abs=1e-12)
    assert report.expected[0, 0] == pytest.approx(float(min(means)), abs=1e-12)
    most = report.expected[0, 0] + report.residual[0, 0]
    assert most == pytest.approx(float(max(means)), abs=1e-12)
    retrieved = [
        label < 0 and s != -math.inf for label, s in zip(labels, scores, strict=True)
    ]
    assert report.n_unjudged[0] == sum(retrieved)


def test_the_residual_of_rbp_includes_what_follows_the_list():
    p = 0.8
    report = residuals(
        [1, NAN, 0, 1],
        [4, 3, 2, -math.inf],
        measures=["rbp(p=0.8)", "rbp(p=0.8)@2", "cwl(chances=[0.5, 0.5, 0.5, 0.5])"],
    )
    assert report.expected[0, 0] == pytest.approx(1 - p)
    # the second rank, and all from the fourth on
    assert report.residual[0, 0] == pytest.approx((1 - p) * p + p**3)
    # below the cut-off nothing counts
    assert report.residual[0, 1] == pytest.approx((1 - p) * p)
    longer = residuals([1, NAN, 0], [4, 3, 2], measures="rbp(p=0.8)@5")
    assert longer.residual[0, 0] == pytest.approx((1 - p) * p + p**3 - p**5)
    assert report.to_pandas().shape == (3, 7)
    weights = np.array([1, 0.5, 0.25, 0.125, 0.0625])
    rest = weights[[1, 3, 4]].sum() / weights.sum()
    assert report.residual[0, 2] == pytest.approx(rest)
    everything = residuals([NAN] * 3, [1, 1, 1], measures="rbp(p=0.5)")
    assert everything.expected[0, 0] == 0
    assert everything.residual[0, 0] == pytest.approx(1)
    # graded gains: an unjudged document may be worth 1
    graded = residuals([1, NAN], [2, 1], measures="rbp(p=0.5,gain={0: 0, 1: 0.5})")
    assert graded.expected[0, 0] == 1 / 4
    assert graded.residual[0, 0] == pytest.approx(1 / 4 + 1 / 4)


def test_residuals_of_measures_with_denominators_are_refused():
    for measure in ("ap", "ndcg@10", "r@5"):
        with pytest.raises(ValueError, match="measures must be P, RBP, CWL, RR, Succe"):
            residuals([1, NAN], [2, 1], measures=measure)


def test_queries_stand_for_themselves():
    labels, scores, qid = [1, NAN, NAN, 0], [2, 1, 2, 1], ["a", "a", "b", "b"]
    found = residuals(labels, scores, qid=qid, measures=["p@2"])
    assert found.qid.tolist() == ["a", "b"]
    for i, rows in enumerate([slice(0, 2), slice(2, 4)]):
        alone = residuals(labels[rows], scores[rows], measures=["p@2"])
        for name in ("expected", "residual", "worst", "best", "n_unjudged"):
            assert getattr(found, name)[i] == getattr(alone, name)[0]
    weighed = residuals(
        labels, scores, qid=qid, measures="p@2", query_weight=[1, 1, 3, 3]
    )
    # 1/2 and 0 relevant for certain, 1/2 unjudged in both
    assert str(weighed).splitlines()[-1].split() == [
        *("P@2", "0.1250", "0.5000", "0.1250", "0.6250")
    ]
