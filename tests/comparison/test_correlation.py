"""Orderings correlated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests import naive
from tieaware_sklearn.comparison import rank_correlation
from tieaware_sklearn.comparison._correlation import _null_variance

RANKS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5
)


@settings(max_examples=40)
@given(RANKS)
def test_tau_ap_is_the_mean_over_all_orders(pairs):
    right, judged = zip(*pairs, strict=True)
    found = rank_correlation(right, judged, coefficients="tau_ap")
    expected = naive.tau_ap(right, judged)
    assert found.values[0, 0] == pytest.approx(float(expected), abs=1e-12)
    orders = itertools.permutations(right)
    exact = {order: naive.tau_ap(order, judged) for order in set(orders)}
    every = [exact[order] for order in itertools.permutations(right)]
    far = sum(abs(value) >= abs(expected) for value in every)
    assert found.pvalues[0, 0] == pytest.approx(far / len(every))
    codes = np.array(right)
    order = np.argsort(-np.array(judged), kind="stable")
    sizes = np.unique(-np.array(judged), return_counts=True)[1]
    starts = np.cumsum(sizes) - sizes
    weights = np.array(
        [
            sum(Fraction(1, i) for i in range(lo, lo + n)) / n if lo else 0
            for lo, n in zip(starts.tolist(), sizes.tolist(), strict=True)
        ],
        dtype=float,
    )
    variance = _null_variance(codes[order], starts, sizes, weights)
    spread = sum(value * value for value in every) / len(every)
    assert variance == pytest.approx(float(spread), abs=1e-12)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=9, max_size=40)
)
def test_longer_lists(pairs):
    right, judged = map(np.array, zip(*pairs, strict=True))
    found = rank_correlation(right, judged)
    values = dict(zip(found.coefficients, found.values[0], strict=True))
    pvalues = dict(zip(found.coefficients, found.pvalues[0], strict=True))
    sign = np.sign(np.subtract.outer(right, right) * np.subtract.outer(judged, judged))
    n = len(right)
    assert values["tau_a"] == pytest.approx(sign.sum() / (n * (n - 1)), abs=1e-12)
    assert values["tau_ap"] == pytest.approx(naive.tau_ap_by_pairs(right, judged))
    varies = len(set(right.tolist())) > 1 and len(set(judged.tolist())) > 1
    for name, function in (
        ("tau_b", stats.kendalltau),
        ("spearman", stats.spearmanr),
        ("pearson", stats.pearsonr),
    ):
        if varies:
            expected = function(right, judged)
            assert values[name] == pytest.approx(expected.statistic, abs=1e-9)
            assert pvalues[name] == pytest.approx(expected.pvalue, abs=1e-9)
        else:
            assert math.isnan(values[name])


@settings(max_examples=100)
@given(RANKS, st.randoms(use_true_random=False))
def test_tau_ap_b_by_its_definition(pairs, random):
    def value(first, second):
        found = rank_correlation(first, second, coefficients="tau_ap_b")
        assert math.isnan(found.pvalues[0, 0])
        return found.values[0, 0]

    right, judged = zip(*pairs, strict=True)
    found, expected = value(right, judged), naive.tau_ap_b(right, judged)
    if expected is None:
        assert math.isnan(found)
        assert len(set(right)) == 1 or len(set(judged)) == 1
        return
    assert found == pytest.approx(float(expected), abs=1e-12)
    assert found == value(judged, right)
    assert value(right, right) == value(judged, judged) == 1
    random.shuffle(pairs)
    assert found == value(*zip(*pairs, strict=True))


@given(st.permutations(range(6)))
def test_without_ties_tau_ap_b_is_the_mean_of_both_directions(judged):
    right, names = list(range(6)), ["tau_ap", "tau_ap_b"]
    one, other = (
        rank_correlation(*pair, coefficients=names).values[0]
        for pair in ((right, judged), (judged, right))
    )
    assert one[1] == pytest.approx((one[0] + other[0]) / 2, abs=1e-12)


def test_tau_ap_b_of_four_documents():
    # a (b c) d and (a b) c d. Down the first: a is above b and c, and the other
    # ordering agrees on c; all three are above d, and it agrees. Down the second: a
    # and b are above c, it agrees on a; three are above d
    first = 2 / 3 * (0 + 1 + 3 / 3) - 1
    second = 2 / 2 * (1 / 2 + 3 / 3) - 1
    found = rank_correlation([3, 2, 2, 1], [3, 3, 2, 1], coefficients=["tau_ap_b"])
    assert found.values[0, 0] == pytest.approx((first + second) / 2, abs=1e-15)
    assert "tau_ap_b" in str(found)
    assert found.summary().n_significant.tolist() == [0]
    # undefined for one document, as well as where all tie
    apart = rank_correlation(
        [1, 1, 1], [1, 2, 3], qid=[1, 1, 2], coefficients="tau_ap_b"
    )
    assert np.isnan(apart.values).all()


# tauap_a and tauap_b of pyircor 0.2.0, from PyPI, which is the R package of the
# authors, ircor, in Python
@pytest.mark.parametrize(
    ("coefficient", "right", "judged", "expected"),
    [
        ("tau_ap", [5, 4, 3, 2, 1], [2, 2, 3, 1, 1], 0.0625),
        ("tau_ap", [1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 2, 3], 0.726666666666667),
        ("tau_ap_b", [5, 4, 4, 2, 1], [5, 5, 3, 2, 2], 0.5208333333333333),
        ("tau_ap_b", [3, 1, 2, 2, 1, 0], [1, 3, 3, 2, 0, 0], -0.2025),
        ("tau_ap_b", [8, 7, 6, 5, 4, 3], [8, 6, 6, 6, 2, 3], 0.6866666666666665),
    ],
)
def test_tau_ap_under_ties_of_another_package(coefficient, right, judged, expected):
    found = rank_correlation(right, judged, coefficients=coefficient)
    assert found.values[0, 0] == pytest.approx(expected, abs=1e-12)


def test_four_documents():
    found = rank_correlation([4, 3, 2, 1], [4, 2, 3, 1])
    values = dict(zip(found.coefficients, found.values[0], strict=True))
    assert values["tau_a"] == values["tau_b"] == pytest.approx(4 / 6)
    assert values["spearman"] == pytest.approx(1 - 6 * 2 / (4 * 15))
    # above the documents at ranks 2, 3 and 4: 1 of 1, 1 of 2, 3 of 3
    assert values["tau_ap"] == pytest.approx(2 / 3 * (1 + 1 / 2 + 1) - 1)
    assert [round(values[name], 2) for name in ("tau_a", "spearman")] == [0.67, 0.8]


def test_p_values_of_tau_ap_are_uniform_under_random_orders():
    rng = np.random.default_rng(5)
    reference = np.concatenate([rng.integers(0, 4, size=30) for _ in range(400)])
    judged = np.concatenate([rng.integers(0, 6, size=30) for _ in range(400)])
    qid = np.repeat(np.arange(400), 30)
    found = rank_correlation(reference, judged, qid=qid, coefficients=["tau_ap"])
    assert stats.kstest(found.pvalues[:, 0], "uniform").pvalue > 0.001


def test_queries_and_documents_that_one_side_lacks():
    inf = math.inf
    reference, judged = [3, 2, 1, -inf, 1, 1], [3, 2, -inf, 1, 2, 1]
    found = rank_correlation(reference, judged, qid=list("aaaabb"))
    assert found.n_documents.tolist() == [4, 2]
    frame = found.to_pandas()
    assert frame.columns.tolist()[:2] == ["qid", "coefficient"]
    values = frame.set_index(["qid", "coefficient"])["value"]
    assert values["a", "pearson"] == 1
    assert values["b", "tau_a"] == 0
    assert math.isnan(values["b", "tau_b"])
    summary = found.summary()
    assert summary.mean[1] == summary.lowest[1] == found.values[0, 1]
    assert summary.n_queries.tolist() == [2, 1, 2, 1, 1]
    assert summary.highest[0] == max(found.values[:, 0])
    assert summary.to_pandas()["coefficient"].tolist() == list(found.coefficients)
    assert str(found) == str(summary)
    assert "queries" in str(found)
    alone = rank_correlation([1.0], [2.0])
    assert np.isnan(alone.values).all()
    nothing = rank_correlation([1.0, 1.0], [2.0, 2.0], qid=[1, 2]).summary()
    assert np.isnan([nothing.mean, nothing.lowest, nothing.highest]).all()


def test_row_order_of_documents_does_not_matter():
    rng = np.random.default_rng(2)
    reference, judged = rng.normal(size=(2, 300)).round(1)
    first = rank_correlation(reference, judged)
    rows = rng.permutation(300)
    again = rank_correlation(reference[rows], judged[rows])
    assert np.array_equal(first.values, again.values)
    assert np.array_equal(first.pvalues, again.pvalues)


def test_large_scores_and_long_lists():
    rng = np.random.default_rng(0)
    judged = rng.integers(0, 50, size=1000)
    reference = judged + rng.normal(size=1000)
    found = rank_correlation(reference * 1e300, judged)
    values = dict(zip(found.coefficients, found.values[0], strict=True))
    assert values["pearson"] == pytest.approx(np.corrcoef(reference, judged)[0, 1])
    expected = naive.tau_ap_by_pairs(reference, judged)
    assert values["tau_ap"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank_correlation([1, 2], [1, 2, 3]), "y_score must have one value"),
        (lambda: rank_correlation([], []), "y_true must not be empty"),
        (
            lambda: rank_correlation([1], [1], coefficients=None),
            "coefficients must be a list of .*, got None",
        ),
        (
            lambda: rank_correlation([1], [1], coefficients=["pearson", "pearson"]),
            "coefficients must hold each value once, got 'pearson' twice",
        ),
        (lambda: rank_correlation([[1], [1, 2]], [1]), "y_true must be a 1-D array"),
        (
            lambda: rank_correlation([1], [1], coefficients="tau"),
            "coefficients must be one of",
        ),
        (lambda: rank_correlation([1], [1], coefficients=[]), "must not be empty"),
        (lambda: rank_correlation([1, math.nan], [1, 2]), "y_true must not be NaN"),
    ],
)
def test_bad_orderings(call, message):
    with pytest.raises(ValueError, match=message):
        call()
