"""Agreement of assessors."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from tieaware_sklearn.judgments import (
    assessor_agreement,
    fleiss_kappa,
    joint_agreement,
    kappa_in_words,
    scott_pi,
)

# relevant for both, for the first alone, for the second alone, for neither
YES_NO = ([1, 1, 0, 0], [1, 0, 1, 0])


def test_the_tables_of_the_textbook_and_of_fleiss():
    weight = [300, 20, 10, 70]
    relevant = Fraction(320 + 310, 800)
    chance = relevant**2 + (1 - relevant) ** 2
    pi = (Fraction(370, 400) - chance) / (1 - chance)
    found = scott_pi(*YES_NO, sample_weight=weight)
    assert found == pytest.approx(float(pi), abs=1e-15)
    assert round(found, 5) == 0.77591
    assert joint_agreement(*YES_NO, sample_weight=weight) == 370 / 400
    rows = [np.repeat(column, weight) for column in YES_NO]
    # each assessor's own margins give Cohen's
    assert round(cohen_kappa_score(*rows), 5) == 0.77612
    counts = np.stack([2 - np.add(*rows), np.add(*rows)], axis=1)
    assert fleiss_kappa(counts) == pytest.approx(float(pi), abs=1e-14)
    # fourteen assessors, ten items, five categories: Fleiss (1971), as reprinted
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0]),
        *([2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2]),
        *([6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert round(fleiss_kappa(counts), 3) == 0.210


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_pi_by_fractions(pairs):
    first, second = zip(*pairs, strict=True)
    n = len(pairs)
    agreed = Fraction(sum(a == b for a, b in pairs), n)
    both = [*first, *second]
    chance = sum(Fraction(both.count(c), 2 * n) ** 2 for c in set(both))
    found = scott_pi(first, second)
    if chance == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(float((agreed - chance) / (1 - chance)))
    texts = [[f"grade {v}" for v in column] for column in (first, second)]
    assert scott_pi(*texts) == pytest.approx(found, nan_ok=True)


def test_kappa_in_words():
    scale = [-0.1, 0, 0.2, 0.21, 0.4, 0.41, 0.6, 0.61, 0.8, 0.81, 1]
    assert [kappa_in_words(kappa) for kappa in scale] == [
        *("poor", "slight", "slight", "fair", "fair", "moderate", "moderate"),
        *("substantial", "substantial", "almost perfect", "almost perfect"),
    ]
    for kappa in (1.1, -2, math.nan):
        with pytest.raises(ValueError, match=r"kappa must be in \[-1, 1\], got"):
            kappa_in_words(kappa)


@pytest.mark.parametrize("ratings", [[0, 1], [2, 0, 2, 5, 1, 1, 3], [0] * 9 + [1]])
def test_full_agreement_is_one_to_the_bit(ratings):
    assert joint_agreement(ratings, ratings) == scott_pi(ratings, ratings) == 1
    report = assessor_agreement(np.stack([ratings] * 3, axis=1))
    assert report.fleiss == 1
    assert "almost perfect" in str(report)


def test_agreement_of_several():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 80)
    guess = rng.integers(0, 3, (80, 3))
    noisy = np.where(rng.random((80, 3)) < 0.8, truth[:, None], guess)
    report = assessor_agreement(noisy, names=["ann", "bob", "cleo"])
    assert report.scott[0, 2] == scott_pi(noisy[:, 0], noisy[:, 2])
    assert report.joint[1, 2] == pytest.approx((noisy[:, 1] == noisy[:, 2]).mean())
    tau = stats.kendalltau(noisy[:, 0], noisy[:, 1]).statistic
    assert report.correlation[0, 1] == tau
    alike = (noisy == noisy[:, :1]).all(axis=1).mean()
    assert report.all_agree == pytest.approx(alike)
    assert report.n_items == 80
    counts = np.stack([(noisy == grade).sum(axis=1) for grade in range(3)], axis=1)
    assert report.fleiss == pytest.approx(fleiss_kappa(counts))
    table = report.to_pandas()
    assert table.columns.tolist()[:2] == ["assessor", "other"]
    pairs = [("ann", "bob"), ("ann", "cleo"), ("bob", "cleo")]
    assert list(zip(table["assessor"], table["other"], strict=True)) == pairs
    for name in ("joint", "scott", "correlation"):
        values = getattr(report, name)
        assert table[name].tolist() == [values[0, 1], values[0, 2], values[1, 2]]
        assert np.array_equal(values, values.T)
    assert "ann, cleo" in str(report)
    assert "all assessors agree on" in str(report)
    texts = assessor_agreement(np.array(["no", "fair", "good"])[noisy])
    assert texts.fleiss == pytest.approx(report.fleiss)
    assert np.isnan(texts.correlation[0, 1])
    # names of a frame; all alike: no ranking to correlate
    report = assessor_agreement(pd.DataFrame({"ann": [1, 0, 1], "bob": [1, 1, 1]}))
    assert report.names == ("ann", "bob")
    assert np.isnan(report.correlation[0, 1])
    assert np.isnan(assessor_agreement([[1, 2]]).correlation[0, 1])


weighted = partial(scott_pi, sample_weight=[-1])
named = partial(assessor_agreement, names=["a"])


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (scott_pi, ([1, 0], [1]), r"y2 must have one value per row \(2\), got 1"),
        (scott_pi, ([], []), "y1 must be a 1-D array of at least one value"),
        (scott_pi, ([1, math.nan], [1, 0]), "y1 must not be missing, got nan in"),
        (weighted, ([1], [1]), "sample_weight must be finite"),
        (scott_pi, ([1, 2], ["1", "2"]), "y1 and y2 must both hold numbers"),
        (scott_pi, (np.array([1, "a"], object), [1, 2]), "must hold numbers only or"),
        (fleiss_kappa, ([1, 2],), r"counts .* shape \(n_items, n_categories\), got"),
        (fleiss_kappa, ([[1, 1], [2, 1]],), "at least 2, in every row, got 3 in row"),
        (fleiss_kappa, ([[1, 0]],), "at least 2, in every row, got 1 in row 0"),
        (fleiss_kappa, ([[1.5, 0.5]],), "counts must be whole numbers >= 0"),
        (fleiss_kappa, ([["a", "b"]],), "counts must hold numbers"),
        (fleiss_kappa, ([[np.inf, 2]],), "whole numbers >= 0, got inf in row 0"),
        (assessor_agreement, ([[1], [2]],), "ratings must have a row for each item"),
        (named, ([[1, 2]],), "names must hold 2"),
    ],
)
def test_bad_ratings(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
