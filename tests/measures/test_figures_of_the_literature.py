"""Figures of the literature, their expected values written as arithmetic."""

from __future__ import annotations

from fractions import Fraction as F
from math import log2

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score

RANKS = range(1, 6)


def descending(n):
    return -np.arange(n)


def at_every_rank(measure, labels):
    scores = descending(len(labels))
    return [
        ranking_score(labels, scores, measure=f"{measure}@{k}")
        for k in range(1, len(labels) + 1)
    ]


def test_precision_recall_f_and_average_precision():
    labels = [1, 0, 1, 0, 1]
    hits = [1, 1, 2, 2, 3]
    assert at_every_rank("P", labels) == [
        pytest.approx(h / k) for h, k in zip(hits, RANKS, strict=True)
    ]
    assert at_every_rank("R", labels) == [pytest.approx(h / 3) for h in hits]
    assert at_every_rank("F1", labels) == [
        pytest.approx(2 * h / (k + 3)) for h, k in zip(hits, RANKS, strict=True)
    ]
    ap = ranking_score(labels, descending(5), measure="ap")
    assert ap == pytest.approx(float((F(1) + F(2, 3) + F(3, 5)) / 3), abs=1e-15)
    assert round(ap, 4) == 0.7556


def test_cumulated_gains_with_linear_gain():
    labels = [3, 2, 3, 0, 1]
    assert at_every_rank("CG", labels) == [3, 5, 8, 8, 9]
    dcg = at_every_rank("DCG(gain=linear)", labels)
    assert dcg[4] == pytest.approx(3 + 2 / log2(3) + 3 / 2 + 1 / log2(6), abs=1e-15)
    assert np.round(dcg, 3).tolist() == [3, 4.262, 5.762, 5.762, 6.149]
    ndcg = at_every_rank("NDCG(gain=linear)", labels)
    assert np.round(ndcg, 3).tolist() == [1, 0.871, 0.978, 0.911, 0.972]


def test_discounted_gains_with_exponential_gain():
    labels = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    dcg = at_every_rank("DCG", labels)
    figures = [7, 8.89, 12.39, 12.39, 12.39, 12.75, 13.75, 14.70, 16.80, 16.80]
    assert np.round(dcg, 2).tolist() == figures
    ndcg = at_every_rank("NDCG", labels)
    figures = [1, 0.78, 0.83, 0.76, 0.71, 0.69, 0.73, 0.78, 0.90, 0.90]
    assert np.round(ndcg, 2).tolist() == figures


@pytest.mark.parametrize(
    ("ranking", "ap", "figure"),
    [
        (
            "1011110001",
            (F(1) + F(2, 3) + F(3, 4) + F(4, 5) + F(5, 6) + F(6, 10)) / 6,
            0.78,
        ),
        (
            "0100111011",
            (F(1, 2) + F(2, 5) + F(3, 6) + F(4, 7) + F(5, 9) + F(6, 10)) / 6,
            0.52,
        ),
    ],
)
def test_average_precision_of_two_rankings(ranking, ap, figure):
    got = ranking_score([int(c) for c in ranking], descending(10), measure="ap")
    assert got == pytest.approx(float(ap), abs=1e-15)
    # .775 is printed as .78
    assert round(got + 1e-9, 2) == figure


def test_run_with_ties_of_yang_moffat_and_turpin():
    scores = [9.8, 9.3, 9.3, 9.3, 8.4, 8.4, 8.2, 8.0, 8.0, 8.0]
    labels = [0, 0, 1, 1, 0, 1, 1, 0, 0, 1]
    report = evaluate(labels, scores, measures=["P@5", "RR", "RBP(p=0.5)"])
    assert report.worst[0, :2] == pytest.approx([2 / 5, 1 / 3])
    assert report.best[0, :2] == pytest.approx([3 / 5, 1 / 2])
    assert report.expected[0, 0] == pytest.approx(2 / 5 + 1 / 5 / 2)
    share = [F(0), *[F(2, 3)] * 3, *[F(1, 2)] * 2, F(1), *[F(1, 3)] * 3]
    rbp = sum(s * F(1, 2) ** i for i, s in enumerate(share, start=1))
    assert report.expected[0, 2] == pytest.approx(float(rbp), abs=1e-15)


def test_constant_predictions_score_the_truth_whatever_the_row_order():
    """Tools that go by the rows report the best or the worst of these."""
    labels = np.array([0, 1, 2, 0, 3])
    for order in ([0, 1, 2, 3, 4], [4, 2, 1, 0, 3], [0, 3, 1, 2, 4]):
        got = ranking_score(labels[order], np.zeros(5), measure="ndcg@10")
        mean_gain = F(0 + 1 + 3 + 0 + 7, 5)
        ideal = 7 + 3 / log2(3) + 1 / 2
        truth = float(mean_gain) * sum(1 / log2(i + 1) for i in RANKS) / ideal
        assert got == pytest.approx(truth, abs=1e-15)
