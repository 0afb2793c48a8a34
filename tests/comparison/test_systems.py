"""Systems compared, orderings correlated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tieaware_sklearn import evaluate
from tieaware_sklearn.comparison import compare_systems, rank_correlation
from tieaware_sklearn.comparison._orderings import _null_variance
from tieaware_sklearn.comparison._paired_tests import adjust, paired_effect, paired_test
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=3)
CHOSEN = dict(zip(WEB.feature_names, WEB.data.T, strict=True))
SYSTEMS = {name: CHOSEN[name] for name in list(CHOSEN)[:4]}


# -- systems


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
def test_pairs_by_hand(measure):
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure=measure)
    reports = [
        evaluate(WEB.target, scores, qid=WEB.qid, measures=measure)
        for scores in SYSTEMS.values()
    ]
    summaries = [report.summary() for report in reports]
    assert found.systems == tuple(SYSTEMS)
    assert found.pairs.tolist() == [
        list(p) for p in itertools.combinations(range(4), 2)
    ]
    assert found.means()["mean"].tolist() == [s.mean[0] for s in summaries]
    assert found.means()["tie_std"].tolist() == [s.tie_std[0] for s in summaries]
    for i, (a, b) in enumerate(found.pairs.tolist()):
        values = np.column_stack([reports[x].expected[:, 0] for x in (a, b)])
        there = ~np.isnan(values).any(axis=1)
        ends = np.stack(
            [
                np.column_stack([getattr(reports[x], n)[:, 0] for x in (a, b)])[there]
                for n in ("best", "worst")
            ]
        )
        low = ends.min(axis=0)[:, 0] - ends.max(axis=0)[:, 1]
        high = ends.max(axis=0)[:, 0] - ends.min(axis=0)[:, 1]
        t = stats.ttest_rel(*values[there].T)
        assert found.n_queries[i] == there.sum()
        assert found.difference[i] == pytest.approx(
            np.subtract(*values[there].T).mean()
        )
        assert found.low[i] == pytest.approx(low.mean())
        assert found.high[i] == pytest.approx(high.mean())
        assert found.low[i] <= found.difference[i] <= found.high[i]
        assert found.survives[i] == (low.mean() > 0 or high.mean() < 0)
        assert found.pvalues[i] == pytest.approx(t.pvalue)
        assert found.statistic[i] == pytest.approx(t.statistic)
        assert found.effect[i] == pytest.approx(t.statistic / math.sqrt(there.sum()))
        if measure != "esl":
            spread = math.hypot(*(summaries[x].tie_std[0] for x in (a, b)))
            assert found.tie_std[i] == pytest.approx(spread)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_row_order_does_not_matter(test):
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(WEB.qid))
    options = {"test": test, "n_resamples": 199, "n_jobs": 2}
    shuffled = {name: column[rows] for name, column in SYSTEMS.items()}
    a = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, **options)
    b = compare_systems(WEB.target[rows], shuffled, qid=WEB.qid[rows], **options)
    for name in ("difference", "tie_std", "low", "pvalues", "adjusted", "effect"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert set(b.qid.tolist()) == set(a.qid.tolist())


def test_kinds_of_input_agree():
    matrix = np.column_stack(list(SYSTEMS.values()))
    by_name = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid)
    frame = compare_systems(WEB.target, pd.DataFrame(SYSTEMS), qid=WEB.qid)
    array = compare_systems(WEB.target, matrix, qid=WEB.qid)
    assert np.array_equal(by_name.pvalues, frame.pvalues)
    assert np.array_equal(by_name.pvalues, array.pvalues)
    assert array.systems == ("0", "1", "2", "3")
    table = by_name.to_pandas()
    assert table.loc[0, "b"] == by_name.systems[1]
    assert len(str(by_name).splitlines()) == 4 + 2 + 1 + 6 + 2
    alone = compare_systems(WEB.target, matrix[:, :1], qid=WEB.qid)
    assert len(alone.pairs) == 0
    assert "A - B" not in str(alone)


def test_a_system_and_itself():
    first = next(iter(SYSTEMS.values()))
    twice = {"a": first, "b": first}
    for test in ("t", "wilcoxon", "randomization"):
        found = compare_systems(WEB.target, twice, qid=WEB.qid, test=test)
        assert found.difference[0] == 0
        assert found.pvalues[0] == 1
        assert not found.survives[0]
        assert found.effect[0] == 0


def test_randomisation_counts_all_signs_of_few_queries():
    difference = np.array([0.3, 0.1, 0.25, -0.05])
    signs = list(itertools.product([1, -1], repeat=4))
    mean = difference.mean()
    as_far = sum(abs((difference * s).mean()) >= mean - 1e-12 for s in signs)
    assert paired_test(difference, "randomization").pvalue == as_far / 16
    up = sum((difference * s).mean() >= mean - 1e-12 for s in signs)
    assert paired_test(difference, "randomization", "greater").pvalue == up / 16


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_scipys_numbers(test):
    rng = np.random.default_rng(1)
    difference = rng.normal(0.1, 0.3, size=50)
    found = paired_test(difference, test, "greater", n_resamples=4999)
    if test == "t":
        assert found == stats.ttest_1samp(difference, 0, alternative="greater")[:2]
    elif test == "wilcoxon":
        expected = stats.wilcoxon(difference, alternative="greater")
        assert found == (expected.statistic, expected.pvalue)
    else:
        t = stats.ttest_1samp(difference, 0, alternative="greater").pvalue
        assert found.pvalue == pytest.approx(t, abs=0.01)
        again = paired_test(difference, test, "greater", n_resamples=4999)
        assert again == found


def test_the_same_difference_everywhere():
    up = np.full(5, 0.1)
    assert paired_test(up, "t") == (math.inf, 0.0)
    assert paired_test(up, "t", "greater").pvalue == 0
    assert paired_test(up, "t", "less").pvalue == 1
    assert paired_test(-up, "t", "less") == (-math.inf, 0.0)
    assert paired_effect(up, 0.95) == (math.inf,) * 3
    assert all(map(math.isnan, paired_test(up[:1], "t")))
    assert all(map(math.isnan, paired_effect(up[:1], 0.95)))


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=30),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_the_interval_of_an_effect_has_its_quantiles(values, confidence):
    difference = np.array(values)
    d, low, high = paired_effect(difference, confidence)
    if not math.isfinite(d) or abs(d) > 50:
        return
    n, tail = len(values), (1 - confidence) / 2
    assert low <= d <= high
    for end, share in ((low, 1 - tail), (high, tail)):
        found = stats.nct.cdf(d * math.sqrt(n), n - 1, end * math.sqrt(n))
        assert found == pytest.approx(share, abs=1e-7)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("n", [2, 3, 30])
def test_the_interval_of_a_huge_effect(n, scale):
    difference = 1 + np.linspace(-1, 1, n) / scale
    d, low, high = paired_effect(difference, 0.95)
    assert 0 < low < d < high
    # the mean is next to sure: only the standard deviation is open
    chi = np.sqrt(stats.chi2.ppf([0.025, 0.975], n - 1) / (n - 1))
    assert [low / d, high / d] == pytest.approx(chi, rel=0.02)
    assert paired_effect(-difference, 0.95) == pytest.approx((-d, -high, -low))


def test_undefined_systems():
    labels, qid = [1, 0, 0] * 4, np.repeat(range(4), 3)
    systems = {
        "a": [1, 2, 3] * 2 + [3, 2, 1] * 2,
        "b": [2, 1, 3] * 2 + [-math.inf] * 6,
    }
    found = compare_systems(labels, systems, qid=qid, measure="esl")
    assert found.difference[0] == 1
    assert found.n_queries[0] == 2
    nothing = {"a": systems["a"], "b": [-math.inf] * 12}
    with pytest.warns(UndefinedMetricWarning, match="ESL is undefined for every"):
        found = compare_systems(labels, nothing, qid=qid, measure="esl")
    assert np.isnan(found.pvalues[0])
    assert math.isnan(found.means()["mean"][1])


def test_corrections_by_hand():
    p = np.array([0.01, np.nan, 0.04, 0.03])
    assert adjust(p, None).tolist()[0] == 0.01
    holm = adjust(p, "holm")
    assert holm[[0, 3, 2]].tolist() == [3 * 0.01, 2 * 0.03, 2 * 0.03]
    assert np.isnan(holm[1])
    bh = adjust(p, "bh")
    np.testing.assert_allclose(bh[[0, 3, 2]], [0.03, 0.04, 0.04])
    assert adjust(np.array([0.9, 0.8]), "holm").tolist() == [1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "z"}, "test must be one of"),
        ({"correction": "x"}, "correction must be one of"),
        ({"alternative": "x"}, "alternative must be one of"),
        ({"confidence": 1}, r"confidence must be a number in \(0, 1\), got 1"),
        ({"n_resamples": 0}, "n_resamples must be an integer >= 1"),
        ({"y_scores": {}}, "y_scores must hold at least one system"),
        ({"y_scores": [1, 2, 3]}, r"y_scores must map names .* got shape \(3,\)"),
        ({"y_scores": [[1], [1, 2]]}, "y_scores must be a 2-D array"),
        ({"y_scores": {"a": [1, 2]}}, r"y_scores\['a'\] must have one value per row"),
        ({"y_scores": {1: [1, 2, 3], "1": [1, 2, 3]}}, "each system once, got 1 twice"),
        ({"y_scores": {"a": [1, 2, math.nan]}}, r"y_scores\['a'\] must not be NaN"),
    ],
)
def test_bad_input(options, message):
    options = {"y_scores": {"a": [1, 2, 3]}} | options
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], **options)


# -- orderings

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
    values = found.to_pandas()
    assert values.loc["a", ("pearson", "value")] == 1
    assert values.loc["b", ("tau_a", "value")] == 0
    assert math.isnan(values.loc["b", ("tau_b", "value")])
    assert found.means()[1] == found.values[0, 1]
    assert "queries" in str(found)
    alone = rank_correlation([1.0], [2.0])
    assert np.isnan(alone.values).all()


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
        (lambda: rank_correlation([], []), "reference must not be empty"),
        (
            lambda: rank_correlation([1], [1], coefficients=None),
            "coefficients must be a list of .*, got None",
        ),
        (
            lambda: rank_correlation([1], [1], coefficients=["pearson", "pearson"]),
            "coefficients must hold each once, got 'pearson' twice",
        ),
        (lambda: rank_correlation([[1], [1, 2]], [1]), "reference must be a 1-D array"),
        (
            lambda: rank_correlation([1], [1], coefficients="tau"),
            "coefficients must be one of",
        ),
        (lambda: rank_correlation([1], [1], coefficients=[]), "must not be empty"),
        (lambda: rank_correlation([1, math.nan], [1, 2]), "reference must not be NaN"),
    ],
)
def test_bad_orderings(call, message):
    with pytest.raises(ValueError, match=message):
        call()
