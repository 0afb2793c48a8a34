"""Figures of the literature."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score

BINARY = [1, 0, 1, 0, 1]
GRADED = [3, 2, 3, 0, 1]
TEN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
NDCG_OF_TEN = [1, 0.78, 0.83, 0.76, 0.71, 0.69, 0.73, 0.78, 0.90, 0.90]


@pytest.mark.parametrize(
    ("name", "labels", "figures", "digits"),
    [
        ("P", BINARY, [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5], 15),
        ("R", BINARY, [1 / 3, 1 / 3, 2 / 3, 2 / 3, 1], 15),
        ("F1", BINARY, [2 / 4, 2 / 5, 4 / 6, 4 / 7, 6 / 8], 15),
        ("CG", GRADED, [3, 5, 8, 8, 9], 15),
        ("DCG(gain=linear)", GRADED, [3, 4.262, 5.762, 5.762, 6.149], 3),
        ("NDCG(gain=linear)", GRADED, [1, 0.871, 0.978, 0.911, 0.972], 3),
        ("DCG", TEN, [7, 8.89, 12.39, 12.39, 12.39, 12.75, 13.75, 14.7, 16.8, 16.8], 2),
        ("NDCG", TEN, NDCG_OF_TEN, 2),
    ],
)
def test_at_every_rank(name, labels, figures, digits):
    names = [f"{name}@{k}" for k in range(1, len(labels) + 1)]
    found = evaluate(labels, -np.arange(len(labels)), measures=names).expected[0]
    assert np.round(found, digits) == pytest.approx(figures, abs=1e-14)


@pytest.mark.parametrize(
    ("ranking", "at", "figures"),
    [
        ("10101", [1, 3, 5], {"ap": 0.7556}),
        # .775 is printed as .78
        ("1011110001", [1, 3, 4, 5, 6, 10], {"ap": 0.775, "iap": 0.82}),
        ("0100111011", [2, 5, 6, 7, 9, 10], {"ap": 0.52, "iap": 0.60}),
    ],
)
def test_averages_of_precision(ranking, at, figures):
    labels, scores = [int(c) for c in ranking], -np.arange(len(ranking))
    ap = sum(F(i, rank) for i, rank in enumerate(at, start=1)) / len(at)
    found = ranking_score(labels, scores, measure="ap")
    assert found == pytest.approx(float(ap), abs=1e-15)
    for name, figure in figures.items():
        found = ranking_score(labels, scores, measure=name)
        assert found == pytest.approx(figure, abs=0.005)


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
