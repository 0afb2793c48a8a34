"""Orderings correlated."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests import naive
from tieaware_sklearn.comparison import _correlation, rank_correlation

PAIRS = st.tuples(st.integers(0, 3), st.integers(0, 3))
RANKS = st.lists(PAIRS, min_size=2, max_size=5)
LONGER_PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5))


def value(right, judged, coefficient):
    return rank_correlation(right, judged, coefficients=coefficient).values[0, 0]


@settings(max_examples=25)
@given(RANKS)
def test_tau_ap_is_the_mean_over_all_orders(pairs):
    right, judged = zip(*pairs, strict=True)
    correlation = rank_correlation(right, judged, coefficients="tau_ap")
    expected = naive.tau_ap(right, judged)
    assert correlation.values[0, 0] == pytest.approx(float(expected), abs=1e-12)
    orders = [*itertools.permutations(right)]
    exact = {permuted: naive.tau_ap(permuted, judged) for permuted in set(orders)}
    values = [exact[order] for order in orders]
    far = sum(abs(value) >= abs(expected) for value in values)
    assert correlation.pvalues[0, 0] == pytest.approx(far / len(values))
    if len(right) < 3:
        return
    # as for longer lists
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_correlation, "_FEW", 1)
        ((pvalue,),) = rank_correlation(right, judged, coefficients="tau_ap").pvalues
    variance = sum(value * value for value in values) / len(values)
    z = abs(expected) / math.sqrt(variance) if variance else 0.0
    assert pvalue == pytest.approx(2 * stats.norm.sf(float(z)))


@settings(max_examples=20)
@given(st.lists(LONGER_PAIRS, min_size=9, max_size=40))
def test_longer_lists(pairs):
    right, judged = map(np.array, zip(*pairs, strict=True))
    correlation = rank_correlation(right, judged)
    values = dict(zip(correlation.coefficients, correlation.values[0], strict=True))
    pvalues = dict(zip(correlation.coefficients, correlation.pvalues[0], strict=True))
    right_gaps = np.subtract.outer(right, right)
    judged_gaps = np.subtract.outer(judged, judged)
    n = len(right)
    tau_a = np.sign(right_gaps * judged_gaps).sum() / (n * (n - 1))
    assert values["tau_a"] == pytest.approx(tau_a, abs=1e-12)
    assert values["tau_ap"] == pytest.approx(naive.tau_ap_by_pairs(right, judged))
    varies = bool(np.ptp(right) and np.ptp(judged))
    assert (pvalues["tau_ap"] == 1) == (not varies or values["tau_ap"] == 0)
    assert pvalues["tau_a"] == pytest.approx(pvalues["tau_b"], nan_ok=True)
    for name, function in (
        ("tau_b", stats.kendalltau),
        ("spearman", stats.spearmanr),
        ("pearson", stats.pearsonr),
    ):
        value, pvalue = math.nan, pvalues[name]
        if varies:
            value, pvalue = function(right, judged)
        assert values[name] == pytest.approx(value, abs=1e-9, nan_ok=True)
        assert pvalues[name] == pytest.approx(pvalue, abs=1e-9, nan_ok=True)


@settings(max_examples=60)
@given(RANKS, st.randoms(use_true_random=False))
def test_tau_ap_b_by_its_definition(pairs, random):
    right, judged = zip(*pairs, strict=True)
    correlation = rank_correlation(right, judged, coefficients="tau_ap_b")
    assert math.isnan(correlation.pvalues[0, 0])
    assert correlation.summary().n_significant.tolist() == [0]
    tau = correlation.values[0, 0]
    expected = naive.tau_ap_b(right, judged)
    if expected is None:
        assert math.isnan(tau)
        return
    assert tau == pytest.approx(float(expected), abs=1e-12)
    assert tau == value(judged, right, "tau_ap_b")
    random.shuffle(pairs)
    right, judged = zip(*pairs, strict=True)
    assert tau == value(right, judged, "tau_ap_b")


OF_ANOTHER_PACKAGE = [
    # tauap_a and tauap_b of pyircor 0.2.0, from PyPI, which is the R package of
    # the authors, ircor, in Python
    ("tau_ap", [1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 2, 3], 0.726666666666667),
    ("tau_ap_b", [3, 1, 2, 2, 1, 0], [1, 3, 3, 2, 0, 0], -0.2025),
    ("tau_ap_b", [8, 7, 6, 5, 4, 3], [8, 6, 6, 6, 2, 3], 0.6866666666666665),
]


@pytest.mark.parametrize(
    ("coefficient", "right", "judged", "expected"), OF_ANOTHER_PACKAGE
)
def test_values_of_another_package(coefficient, right, judged, expected):
    assert value(right, judged, coefficient) == pytest.approx(expected, abs=1e-12)


def test_queries_and_documents_that_one_side_lacks():
    inf = math.inf
    reference, judged = [3, 2, 1, -inf, 1, 1], [3, 2, -inf, 1, 2, 1]
    correlation = rank_correlation(reference, judged, qid=list("aaaabb"))
    assert correlation.n_documents.tolist() == [4, 2]
    values = correlation.to_pandas().set_index(["qid", "coefficient"])["value"]
    assert values["a", "pearson"] == 1
    assert values["b", "tau_a"] == 0
    assert math.isnan(values["b", "tau_b"])
    summary = correlation.summary()
    assert summary.mean[1] == summary.lowest[1] == correlation.values[0, 1]
    assert summary.n_queries.tolist() == [2, 1, 2, 1, 1]
    assert summary.highest[0] == max(correlation.values[:, 0])
    assert summary.lowest[0] == min(correlation.values[:, 0])
    assert summary.to_pandas()["coefficient"].tolist() == list(correlation.coefficients)
    # undefined for one document, and tau_ap_b where all tie
    names = [*correlation.coefficients, "tau_ap_b"]
    alone = rank_correlation([1.0, 1.0], [2.0, 2.0], qid=[1, 2], coefficients=names)
    assert np.isnan([alone.values, alone.pvalues]).all()
    assert "tau_ap_b" in str(alone) == str(alone.summary())
    nothing = alone.summary()
    assert np.isnan([nothing.mean, nothing.lowest, nothing.highest]).all()
    rising, unclear = [*range(9)], [0, *[1, 0] * 4]
    clear = rank_correlation(rising * 2, rising + unclear, qid=[1] * 9 + [2] * 9)
    assert clear.summary().n_significant.tolist() == [1] * 5


def test_neither_rows_nor_magnitudes_matter():
    rng = np.random.default_rng(0)
    judged = rng.integers(0, 50, size=300)
    reference = judged + rng.normal(size=300).round(1)
    correlation = rank_correlation(reference * 1e300, judged)
    values = dict(zip(correlation.coefficients, correlation.values[0], strict=True))
    assert {*correlation.coefficients} <= {*str(correlation).split()}
    assert values["pearson"] == pytest.approx(np.corrcoef(reference, judged)[0, 1])
    rows = rng.permutation(300)
    again = rank_correlation(reference[rows] * 1e300, judged[rows])
    assert np.array_equal(correlation.values, again.values)
    assert np.array_equal(correlation.pvalues, again.pvalues)
    # without ties, C(i) is 0, ..., i - 1 with the same probability, independently
    for n in (8, 30):
        judged = rng.permutation(n)
        correlation = rank_correlation(np.arange(n), judged, coefficients="tau_ap")
        total = sum((i + 1) / (i - 1) for i in range(2, n + 1))
        far = abs(correlation.values[0, 0]) / math.sqrt(total / (3 * (n - 1) ** 2))
        assert correlation.pvalues[0, 0] == pytest.approx(2 * stats.norm.sf(far))


BAD_INPUT = [
    ({"y_true": [], "y_score": []}, "y_true must not be empty"),
    (
        {"y_true": [[1], [1, 2]]},
        "y_true must be an array that .* If rows differ in length",
    ),
    ({"coefficients": None}, "coefficients must be one or more .*None"),
    ({"coefficients": ["pearson"] * 2}, "coefficients .*once, got 'pearson'"),
    ({"coefficients": "tau"}, "coefficients must be one of .*'tau'"),
    ({"coefficients": []}, "coefficients must not be empty"),
]


@pytest.mark.parametrize(("change", "message"), BAD_INPUT)
def test_bad_input(change, message):
    arguments = {"y_true": [1], "y_score": [1], **change}
    with pytest.raises(ValueError, match=message):
        rank_correlation(**arguments)
