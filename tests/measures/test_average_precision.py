"""Average precision, and the area under the curve."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, precision_recall_curve

from tieaware_sklearn import evaluate, ranking_score


@settings(max_examples=100)
@given(labels=st.lists(st.integers(0, 1), min_size=2, max_size=30))
def test_area_is_scikit_learns_without_ties(labels):
    assume(any(labels))
    scores = -np.arange(len(labels))
    precision, recall, _ = precision_recall_curve(labels, scores)
    ours = ranking_score(labels, scores, measure="auprc")
    assert ours == pytest.approx(auc(recall, precision), abs=1e-12)


def test_std_of_ap_of_large_groups_equals_the_sum_over_pairs():
    """Var Σ_i Σ_{j<=i} x_i x_j / i from the joint chances of up to four documents."""
    n, r, lo, above, k = 60, 17, 5, 2, 41

    def together(m: int) -> Fraction:
        out = Fraction(1)
        for i in range(m):
            out *= Fraction(r - i, n - i)
        return out

    inside = k - lo
    # whole numbers, to be divided by their scale
    scale = math.lcm(*range(lo + 1, k + 1))
    weights = [scale // (lo + j) for j in range(1, inside + 1)]
    # x_i (above + 1 + Σ_{j<i} x_j) w_i as a quadratic form in distinct x
    terms: dict[frozenset[int], int] = {}
    for i, w in enumerate(weights):
        terms[frozenset([i])] = (above + 1) * w
        for j in range(i):
            terms[frozenset([i, j])] = w
    mean = sum(c * together(len(s)) for s, c in terms.items()) / scale
    products = [0] * 5
    for s, c in terms.items():
        for t, d in terms.items():
            products[len(s | t)] += c * d
    square = sum(c * together(m) for m, c in enumerate(products)) / scale**2
    labels = [1] * above + [0] * (lo - above) + [1] * r + [0] * (n - r)
    scores = [100 - i for i in range(lo)] + [0] * n
    report = evaluate(labels, scores, measures=[f"AP@{k}"])
    total = above + r
    base = Fraction(0)  # the documents above the group: relevant at ranks 1, 2
    base += sum(Fraction(i, i) for i in range(1, above + 1))
    assert report.expected[0, 0] == pytest.approx(
        float((base + mean) / total), abs=1e-13
    )
    std = math.sqrt(square - mean**2) / total
    assert report.std[0, 0] == pytest.approx(std, rel=1e-10)
