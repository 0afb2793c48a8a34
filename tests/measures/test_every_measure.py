"""Tests of all measures against enumeration, and of their common promises."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests import naive
from tests.instances import INSTANCES, MEASURES
from tests.strategies import judged_ranking, queries, ranking
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn.evaluation._prepared import Prepared
from tieaware_sklearn.measures._interpolated import _Interpolated
from tieaware_sklearn.measures._values import Detail

EXACT = np.array([not instance.sampled for instance in INSTANCES])
# Measures without the slow ones, which sample long ties.
LIGHT = [m for m in MEASURES if not isinstance(m, _Interpolated)]
STATISTICS = ("expected", "best", "worst", "std")
PER_QUERY = (*STATISTICS, "chance", "ideal")
SAMPLED = [i for i in INSTANCES if i.sampled]
OF_JUDGMENTS = [i for i in INSTANCES if i.measure.takes_unjudged]


def values_of(report, names=PER_QUERY):
    """Return these statistics of all queries and measures in one array."""
    return np.stack([getattr(report, name) for name in names])


# Both engines use the same cases.
@functools.cache
def enumerated(labels, scores, unjudged=False):
    """Return mean, best, worst and deviation of each instance over all orders."""
    moments = []
    for instance in OF_JUDGMENTS if unjudged else INSTANCES:
        lower = not instance.measure.greater_is_better
        options = {"lower": lower, "harmonic": instance.harmonic}
        exact = naive.over_ties(instance.plain, labels, scores, **options)
        if exact is None:
            moments.append([math.nan] * 4)
        else:
            *values, variance = map(float, exact)
            moments.append([*values, math.sqrt(variance)])
    return moments


@settings(max_examples=80)
@given(ranking() | ranking(7, scores=st.sampled_from([0.0, 0.0, 0.0, 1.0])))
def test_equals_enumeration(case):
    labels, scores = case
    report = evaluate(labels, scores, measures=MEASURES, zero_relevance="skip")
    expected = enumerated(tuple(labels), tuple(scores))
    for j, instance in enumerate(INSTANCES):
        for name, value in zip(STATISTICS, expected[j], strict=True):
            # The largest values are DCGs of about 50.
            tolerance = {"rel": 1e-13, "abs": 1e-12}
            if instance.sampled and name == "std":
                # The deviation comes from a thousand sampled orders.
                tolerance["rel"] = 0.25
            close = pytest.approx(value, nan_ok=True, **tolerance)
            result = getattr(report, name)[0, j]
            assert result == close, f"{name} of {instance.measure}"


@settings(max_examples=40)
@given(judged_ranking(max_documents=7))
def test_judgments_are_known_to_some_and_zeros_to_others(case):
    labels, scores = case
    with_nan = []
    with_zeros = []
    for label in labels:
        with_nan.append(math.nan if label < 0 else label)
        with_zeros.append(max(label, 0))
    measures = [instance.measure for instance in OF_JUDGMENTS]
    assert {measure.name for measure in measures} == {"BPref", "Judged"}
    report = evaluate(with_nan, scores, measures=measures, zero_relevance="skip")
    values = values_of(report, STATISTICS)[:, 0].T
    expected = enumerated(tuple(labels), tuple(scores), unjudged=True)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    assert not report.std_is_estimate.any()
    measures = [i.measure for i in INSTANCES if i not in OF_JUDGMENTS + SAMPLED]
    report = evaluate(with_nan, scores, measures=measures, unjudged="nonrelevant")
    zeros = evaluate(with_zeros, scores, measures=measures)
    expected = values_of(zeros)
    np.testing.assert_allclose(values_of(report), expected, rtol=0, atol=1e-13)


#: Measures without a largest value.
SUMS = ("CG", "DCG", "ESL", "Rank")


def assert_within_bounds(report, scores):
    up = np.array([m.greater_is_better for m in MEASURES])
    takes_zero_relevance = [m.takes_zero_relevance for m in MEASURES]
    defined = ~np.isnan(report.expected)
    is_number = ~np.isnan(values_of(report, STATISTICS))
    assert (is_number == defined).all()
    # ESL and Rank do not take zero_relevance, so they may be undefined.
    assert defined[:, takes_zero_relevance].all()
    low = np.where(up, report.worst, report.best)
    high = np.where(up, report.best, report.worst)
    assert (low <= report.expected)[defined].all()
    assert (report.expected <= high)[defined].all()
    if -math.inf not in scores:
        reach = np.where(up, report.ideal, -report.ideal)
        better = np.where(up, report.best, -report.best)
        assert (better <= reach + 1e-12)[defined].all()
    # Popoviciu's inequality: a deviation is at most half the range.
    largest_std = (high - low) / 2 + 1e-9
    assert (report.std <= largest_std)[defined & EXACT].all()
    most = np.array([measure.maximum for measure in MEASURES])
    assert (report.expected >= 0)[defined].all()
    assert (high <= most + 1e-12)[defined].all()
    is_bounded = [m.name not in SUMS for m in MEASURES]
    assert np.isfinite(most).tolist() == is_bounded


@settings(max_examples=20)
@given(queries(max_queries=4, max_documents=9), st.integers(0, 2**32 - 1))
def test_promises_hold_to_the_bit(case, seed):
    labels, scores, qid = map(np.array, case)
    report = evaluate(labels, scores, qid=qid, measures=MEASURES)
    assert_within_bounds(report, scores)

    # No bit depends on the order of rows.
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(labels))
    again = evaluate(labels[rows], scores[rows], qid=qid[rows], measures=MEASURES)
    queries_again = again.qid.tolist()
    order = [queries_again.index(query) for query in report.qid]
    assert_array_equal(values_of(report), values_of(again)[:, order])
    assert str(report) == str(again)

    # No bit depends on the size of blocks.
    queries = check_qid(qid, n_rows=len(qid))
    blocks = Prepared(labels.astype(float), queries, block_rows=1 + seed % 7)
    parts = blocks.raw_values(MEASURES, scores, Detail.DEVIATION)
    for name in STATISTICS:
        values = getattr(parts, name)
        whole = getattr(report, name)
        defined = ~np.isnan(values)
        assert_array_equal(values[defined], whole[defined])

    # If all documents tie, the value is chance. Reports leave chance out where the
    # ranking is undefined.
    constant = np.full(len(labels), 3)
    tied = evaluate(labels, constant, qid=qid, measures=MEASURES)
    assert_array_equal(tied.expected, tied.chance)
    assert_array_equal(tied.best, tied.ideal)
    defined = ~np.isnan(report.expected)
    assert_array_equal(tied.chance[defined], report.chance[defined])


def test_no_bit_depends_on_blocks_threads_or_neighbours_of_large_queries():
    rng = np.random.default_rng(0)
    small_sizes = rng.integers(1, 1000, 40)
    sizes = np.append(small_sizes, [40_000, 1])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    labels = rng.integers(0, 5, len(qid)).astype(float)
    scores = rng.integers(0, 40, len(qid))
    report = evaluate(labels, scores, qid=qid, measures=LIGHT)
    threads = evaluate(labels, scores, qid=qid, measures=LIGHT, n_jobs=2)
    values = values_of(report)
    assert_array_equal(values, values_of(threads))
    for query in (0, 17, 40):
        rows = qid == query
        alone = evaluate(labels[rows], scores[rows], measures=LIGHT)
        assert_array_equal(values[:, query], values_of(alone)[:, 0])


def test_rankings_by_gain_are_ideal_and_score_exactly_1():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 5, 500)
    for measure in MEASURES:
        gains_of_labels = measure.gains(np.arange(5.0))
        tied = evaluate(labels, gains_of_labels[labels], measures=measure)
        value = tied.expected[0, 0]
        assert tied.best[0, 0] == value, measure
        assert tied.worst[0, 0] == value, measure
        assert value == pytest.approx(tied.ideal[0, 0], rel=1e-13)
    names = ["ndcg", "ndcg@7", "ap", "rr", "rprec", "ndcg(gain=linear)@10"]
    for n in (2, 3, 10, 101, 1000):
        drawn = np.sort(rng.integers(0, 5, n - 1))
        labels = np.append(4, drawn[::-1])
        distinct = -np.arange(float(n))
        # Irrelevant documents in the lower half are not retrieved.
        is_dropped = (labels == 0) & (distinct < -n / 2)
        cut = np.where(is_dropped, -np.inf, distinct)
        for scores in (distinct, labels, cut):
            report = evaluate(labels, scores, measures=names)
            assert (report.expected == 1).all()


def all_tied(measures, n, relevant):
    labels = np.zeros(n)
    labels[7 :: n // relevant] = 2
    return evaluate(labels, np.ones(n), measures=measures)


def test_many_tied_documents_are_sampled_without_overflow():
    sampled = [measure for measure in MEASURES if measure not in LIGHT]
    report = all_tied(sampled, 50_000, 250)
    assert np.isfinite(values_of(report)).all()


# Both engines use the same values.
@functools.cache
def exact_values(n, r):
    """Return means and variances of measures if n documents tie and r are relevant."""
    s = n - r
    share = Fraction(r, n)
    slope = (r - 1) / (n - 1)
    esl = Fraction(s, r + 1)
    harmonic = math.fsum(1 / i for i in range(1, n + 1))
    upper = math.fsum(1 / i for i in range(r, n + 1))
    none = math.prod(Fraction(s - i, n - i) for i in range(10))
    ranks = np.arange(2.0, n + 1)
    precisions = 1 / ranks + 1 / (ranks - 1)
    parts = 0.5 / ranks + 0.5 * precisions * (ranks - 1) * slope
    area = 1 + math.fsum(parts.tolist())
    # The first relevant document is at rank x with chance p_x.
    x = np.arange(1, n + 1, dtype=np.longdouble)
    above = x[:-1]
    still_none = np.cumprod((s - above + 1) / (n - above + 1))
    p = np.append(1, still_none)
    p *= r / (n - x + 1)
    first = 1 / x
    rr_mean = (p * first).sum()
    w = 1 / np.log2(x + 1)
    ideal = w[:r].sum()
    w_squares = ((w - w.mean()) ** 2).sum()
    w_spread = n / (n - 1) * float(share * (1 - share)) * w_squares
    stop = []
    chance = np.ones(1)
    passed = 1.0
    for at in range(5000):
        j = np.arange(at + 1)
        hit = chance * (r - j) / (n - at)
        chance = np.append(chance - hit, 0.0) + np.append(0.0, hit)
        stays = (13 / 16) ** np.arange(at + 2)
        now = (chance * stays).sum()
        stop.append((passed - now) / (at + 1))
        passed = now
    shares = ("P@10", "Rprec", "RBP(p=0.9)", "CWL(chances=[0.5,0.5])")
    expected = dict.fromkeys(shares, share)
    expected["R@10"] = Fraction(10, n)
    expected["Success@10"] = 1 - none
    expected["AP"] = (harmonic + slope * (n - harmonic)) / n
    expected["RR"] = r * upper / (s + 1)
    expected["NDCG"] = float(share) * w.sum() / ideal
    expected["ESL"] = esl
    expected["ESL(i=7)"] = 7 * esl
    expected["PRR"] = 1 / (1 + esl)
    expected["BPref"] = Fraction(r + 1, 2 * (s + 1))
    expected["AUPRC"] = area / n
    expected["ERR@10"] = math.fsum(stop[:10])
    expected["ERR"] = math.fsum(stop)
    p_at_10 = share * (1 - share) * Fraction(n - 10, n - 1)
    variances = {"P@10": p_at_10 / 10}
    variances["Success@10"] = none * (1 - none)
    variances["ESL"] = Fraction(r * s * (n + 1), (r + 1) ** 2 * (r + 2))
    variances["NDCG"] = w_spread / ideal**2
    variances["RR"] = (p * (first - rr_mean) ** 2).sum()
    return expected, variances


@pytest.mark.slow
def test_a_million_tied_documents_are_exact():
    expected, variances = exact_values(1_000_000, 50_000)
    report = all_tied([*expected], 1_000_000, 50_000)
    for j, value in enumerate(expected.values()):
        close = pytest.approx(float(value), rel=1e-9, abs=1e-12)
        assert report.expected[0, j] == close
    names = list(expected)
    for name, variance in variances.items():
        std = report.std[0, names.index(name)]
        assert std == pytest.approx(math.sqrt(variance), rel=1e-9), name


@pytest.mark.parametrize("name", ["cg", "dcg(gain=linear)"])
@pytest.mark.parametrize("tied", [False, True])
def test_small_gains_are_not_lost_beside_a_huge_gain(name, tied):
    n = 4751
    y = 1.0 + np.arange(n) % 250
    y[0] = 2.0**53
    ranks = np.arange(1, n + 1)
    weight = np.ones(n) if name == "cg" else 1 / np.log2(ranks + 1)
    scores = -ranks
    gain = y
    if tied:
        scores = np.zeros(n)
        gain = math.fsum(y.tolist()) / n
    expected = math.fsum((gain * weight).tolist())
    value = ranking_score(y, scores, measure=name)
    assert value == pytest.approx(expected, rel=1e-15)


def test_a_mean_of_gains_is_not_rounded_beyond_them():
    # The rounded sum of six such gains, divided by 6, can exceed the larger gain.
    least = np.arange(1, 97) / 97
    most = np.nextafter(least, 2)
    for larger in range(1, 6):
        y = np.tile(least[:, None], 6)
        y[:, :larger] = most[:, None]
        scores = np.zeros(y.shape)
        values = ranking_score(y, scores, measure="cg@1", average=None)
        assert (least <= values).all()
        assert (values <= most).all()


@pytest.mark.parametrize("most", [253, 254, 255, 256, 300])
def test_labels_about_the_end_of_a_byte(most):
    y = np.arange(most - 3.0, most + 1)
    weight = 1 / np.log2([2, 3, 4, 5])
    tied = (y[1] + y[2]) / 2
    expected = y[0] + tied * (weight[1] + weight[2]) + y[3] * weight[3]
    for dtype in (float, np.float32, np.uint16):
        labels = y.astype(dtype)
        value = ranking_score(labels, [2, 1, 1, 0], measure="dcg(gain=linear)")
        assert value == pytest.approx(expected, rel=1e-15)
