"""Expected reciprocal rank."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import ERR
from tieaware_sklearn.measures._err import mean_double_products


def test_err_takes_no_label_above_its_scale():
    with pytest.raises(ValueError, match="must be <= max_label=4 for ERR, got 5"):
        ranking_score([5, 0], [1, 2], measure="err")
    assert ranking_score([5, 0], [2, 1], measure="err(max_label=5)") == 31 / 32


def test_err_integrated_and_summed_agree():
    """Beyond 256 places whole groups are integrated, cut ones are summed."""
    rng = np.random.default_rng(0)
    few = rng.choice(5, 700, p=[0.96, 0.02, 0.01, 0.005, 0.005])
    every = np.round(rng.random(700) * 4, 6)
    for above, labels in ((0, few), (1, few), (50, few), (1, every)):
        y = np.concatenate([np.zeros(above), labels])
        scores = np.concatenate([np.ones(above), np.zeros(700)])
        cuts = [f"err@{700 + above}", f"err@{699 + above}"]
        whole, cut, almost = evaluate(y, scores, measures=["err", *cuts]).expected[0]
        assert whole == pytest.approx(cut, abs=1e-15)
        assert 0 <= whole - almost < 1e-4


def test_std_of_err_sampled_is_near_the_exact_one():
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 120, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    short = evaluate(labels, np.zeros(120), measures=["err@64", "err@65", "err"])
    assert short.std_is_estimate[0].tolist() == [False, True, True]
    assert short.std[0, 1:] == pytest.approx(short.std[0, 0], rel=0.01)
    assert "tie std of 1 query is estimated from sampled orders" in str(short)


def test_few_relevant_documents_of_many_are_sampled_by_where_they_stand():
    n, (a, b) = 1500, (15 / 16, 3 / 16)
    labels = np.zeros(n)
    labels[:2] = 4, 2
    # all pairs of places
    first, second = 1 / np.arange(1.0, n + 1)[:, None], 1 / np.arange(1.0, n + 1)
    values = np.where(
        first > second,
        a * first + (1 - a) * b * second,
        b * second + (1 - b) * a * first,
    )
    values = values[~np.eye(n, dtype=bool)]
    found = evaluate(labels, np.zeros(n), measures="err")
    assert found.expected[0, 0] == pytest.approx(values.mean(), rel=1e-9)
    assert found.std_is_estimate[0, 0]
    assert found.std[0, 0] == pytest.approx(values.std(), rel=0.05)


def test_rounding_spreads_nothing_beyond_its_range():
    labels = [1, 0, 0, 2, 3, 0, 1, 2, 3, 4] * 3
    report = evaluate(labels, [1] * 30, measures=[ERR(max_label=60)])
    assert report.std[0, 0] <= (report.best - report.worst)[0, 0] / 2


def test_second_moments_of_large_classes_neither_overflow_nor_vanish():
    counts = np.array([[900_000, 99_000, 1000], [3, 2, 1]])
    q = np.array([[1.0, 0.75, 0.25]] * 2)
    double = mean_double_products(counts, q, 64)
    assert np.isfinite(double).all()
    # nearly independent draws: E[P_x P_{x+z}] = E[q²]^x E[q]^z
    share = counts[0] / 1e6
    square, mean = share @ q[0] ** 2, share @ q[0]
    for x, z in ((0, 64), (64, 0), (20, 30)):
        assert double[0, x, z] == pytest.approx(square**x * mean**z, rel=1e-3)
