"""Every closed form against enumeration, and the promises that all measures share."""

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
# those sample long ties, which takes its time
LIGHT = [m for m in MEASURES if not isinstance(m, _Interpolated)]
STATISTICS = ("expected", "best", "worst", "std")
PER_QUERY = (*STATISTICS, "chance", "ideal")
SAMPLED = [i for i in INSTANCES if i.sampled]
OF_JUDGMENTS = [i for i in INSTANCES if i.measure.takes_unjudged]


def values_of(report, names=PER_QUERY):
    """These statistics of all queries and measures, one after another."""
    return np.stack([getattr(report, name) for name in names])


# either engine has the same cases
@functools.cache
def enumerated(labels, scores, unjudged=False):
    """Mean, best, worst and deviation of each instance over all orders."""
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
    wanted = enumerated(tuple(labels), tuple(scores))
    for j, (instance, exact) in enumerate(zip(INSTANCES, wanted, strict=True)):
        for name, value in zip(STATISTICS, exact, strict=True):
            of_a_thousand = instance.sampled and name == "std"
            # the largest values here are DCGs of about 50
            close = {"rel": 0.25 if of_a_thousand else 1e-13, "abs": 1e-12}
            result = getattr(report, name)[0, j]
            message = f"{name} of {instance.measure}"
            assert result == pytest.approx(value, nan_ok=True, **close), message


@settings(max_examples=40)
@given(judged_ranking(max_documents=7))
def test_judgments_are_known_to_some_and_zeros_to_others(case):
    labels, scores = case
    with_nan = [math.nan if label < 0 else label for label in labels]
    measures = [instance.measure for instance in OF_JUDGMENTS]
    assert {measure.name for measure in measures} == {"BPref", "Judged"}
    report = evaluate(with_nan, scores, measures=measures, zero_relevance="skip")
    values = values_of(report, STATISTICS)[:, 0].T
    wanted = enumerated(tuple(labels), tuple(scores), unjudged=True)
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12)
    assert not report.std_is_estimate.any()
    measures = [i.measure for i in INSTANCES if i not in OF_JUDGMENTS + SAMPLED]
    report = evaluate(with_nan, scores, measures=measures, unjudged="nonrelevant")
    zeros = evaluate([max(label, 0) for label in labels], scores, measures=measures)
    np.testing.assert_allclose(values_of(report), values_of(zeros), rtol=0, atol=1e-13)


#: measures without a largest value
SUMS = ("CG", "DCG", "ESL", "Rank")


def assert_within_bounds(report, scores):
    up = np.array([m.greater_is_better for m in MEASURES])
    defined = ~np.isnan(report.expected)
    assert (~np.isnan(values_of(report, STATISTICS)) == defined).all()
    # ESL and Rank have no value to put where they are undefined
    assert defined[:, [m.takes_zero_relevance for m in MEASURES]].all()
    low = np.where(up, report.worst, report.best)
    high = np.where(up, report.best, report.worst)
    assert (low <= report.expected)[defined].all()
    assert (report.expected <= high)[defined].all()
    if -math.inf not in scores:
        reach = np.where(up, report.ideal, -report.ideal)
        better = np.where(up, report.best, -report.best)
        assert (better <= reach + 1e-12)[defined].all()
    # Popoviciu: no variable spreads beyond half its range
    assert (report.std <= (high - low) / 2 + 1e-9)[defined & EXACT].all()
    most = np.array([measure.maximum for measure in MEASURES])
    assert (report.expected >= 0)[defined].all()
    assert (high <= most + 1e-12)[defined].all()
    assert (np.isfinite(most) == [m.name not in SUMS for m in MEASURES]).all()


@settings(max_examples=20)
@given(queries(max_queries=4, max_documents=9), st.integers(0, 2**32 - 1))
def test_promises_hold_to_the_bit(case, seed):
    labels, scores, qid = (np.array(column) for column in case)
    report = evaluate(labels, scores, qid=qid, measures=MEASURES)
    assert_within_bounds(report, scores)

    # no bit depends on the order of rows
    rows = np.random.default_rng(seed).permutation(len(labels))
    again = evaluate(labels[rows], scores[rows], qid=qid[rows], measures=MEASURES)
    order = [again.qid.tolist().index(q) for q in report.qid]
    assert_array_equal(values_of(report), values_of(again)[:, order])
    assert str(report) == str(again)

    # or on blocks
    queries = check_qid(qid, n_rows=len(qid))
    blocks = Prepared(labels.astype(float), queries, block_rows=1 + seed % 7)
    parts = blocks.raw_values(MEASURES, scores, Detail.DEVIATION)
    for name in STATISTICS:
        defined = ~np.isnan(getattr(parts, name))
        assert np.array_equal(
            getattr(parts, name)[defined], getattr(report, name)[defined]
        )

    # all tied is chance, which is left out where the ranking has nothing to compare
    tied = evaluate(labels, np.full(len(labels), 3), qid=qid, measures=MEASURES)
    assert_array_equal(tied.expected, tied.chance)
    assert_array_equal(tied.best, tied.ideal)
    defined = ~np.isnan(report.expected)
    assert_array_equal(tied.chance[defined], report.chance[defined])


def test_no_bit_depends_on_blocks_threads_or_neighbours_of_large_queries():
    rng = np.random.default_rng(0)
    sizes = np.concatenate([rng.integers(1, 1000, 40), [40_000, 1]])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    labels = rng.integers(0, 5, len(qid)).astype(float)
    scores = rng.integers(0, 40, len(qid))
    report = evaluate(labels, scores, qid=qid, measures=LIGHT)
    threads = evaluate(labels, scores, qid=qid, measures=LIGHT, n_jobs=2)
    alone = {
        query: evaluate(labels[qid == query], scores[qid == query], measures=LIGHT)
        for query in (0, 17, 40)
    }
    assert_array_equal(values_of(report), values_of(threads))
    for query, single in alone.items():
        assert_array_equal(values_of(report)[:, query], values_of(single)[:, 0])


def test_ranking_by_gain_is_ideal_and_a_perfect_one_scores_exactly_one():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 5, 500)
    for measure in MEASURES:
        gains = measure.gains(np.arange(5.0))[labels]
        tied = evaluate(labels, gains, measures=measure)
        assert tied.expected[0, 0] == tied.best[0, 0] == tied.worst[0, 0], measure
        assert tied.expected[0, 0] == pytest.approx(tied.ideal[0, 0], rel=1e-13)
    names = ["ndcg", "ndcg@7", "ap", "rr", "rprec", "ndcg(gain=linear)@10"]
    for n in (2, 3, 10, 101, 1000):
        labels = np.append(4, np.sort(rng.integers(0, 5, n - 1))[::-1])
        distinct = -np.arange(float(n))
        # whatever else is not retrieved
        cut = np.where((labels == 0) & (distinct < -n / 2), -np.inf, distinct)
        for scores in (distinct, labels, cut):
            report = evaluate(labels, scores, measures=names)
            assert report.expected.tolist() == [[1.0] * len(names)]


def all_tied(measures, n, relevant):
    labels = np.zeros(n)
    labels[7 :: n // relevant] = 2
    return evaluate(labels, np.ones(n), measures=measures)


def test_many_tied_documents_are_sampled_without_overflow():
    report = all_tied([m for m in MEASURES if m not in LIGHT], 50_000, 250)
    assert np.isfinite(values_of(report)).all()


# either engine has the same values
@functools.cache
def exact_values(n, r):
    """Means and variances of measures where n documents tie, r of them relevant."""
    s, share, slope = n - r, Fraction(r, n), (r - 1) / (n - 1)
    esl = Fraction(s, r + 1)
    harmonic = math.fsum(1 / i for i in range(1, n + 1))
    upper = math.fsum(1 / i for i in range(r, n + 1))
    none = math.prod(Fraction(s - i, n - i) for i in range(10))
    area = 1 + math.fsum(
        0.5 / j + 0.5 * (1 / j + 1 / (j - 1)) * (j - 1) * slope for j in range(2, n + 1)
    )
    # the first relevant document is at rank x with chance p_x
    x = np.arange(1, n + 1, dtype=np.longdouble)
    p = np.concatenate([[1], np.cumprod((s - x[:-1] + 1) / (n - x[:-1] + 1))])
    p *= r / (n - x + 1)
    w = 1 / np.log2(x + 1)
    w_spread = n / (n - 1) * float(share * (1 - share)) * ((w - w.mean()) ** 2).sum()
    # labels of 2 stop 3 users of 16: E[P_x] = Σ_j Hyp(j; x, r, s) (13/16)^j
    stop, chance, passed = [], np.ones(1), 1.0
    for at in range(5000):
        j = np.arange(at + 1)
        hit = chance * (r - j) / (n - at)
        chance = np.append(chance - hit, 0.0) + np.append(0.0, hit)
        now = (chance * (13 / 16) ** np.arange(at + 2)).sum()
        stop.append((passed - now) / (at + 1))
        passed = now
    shares = ("P@10", "Rprec", "RBP(p=0.9)", "CWL(chances=[0.5,0.5])")
    expected = dict.fromkeys(shares, share) | {
        "R@10": Fraction(10, n),
        "Success@10": 1 - none,
        "AP": (harmonic + slope * (n - harmonic)) / n,
        "RR": r * upper / (s + 1),
        "NDCG": float(share) * w.sum() / w[:r].sum(),
        "ESL": esl,
        "ESL(i=7)": 7 * esl,
        "PRR": 1 / (1 + esl),
        "BPref": Fraction(r + 1, 2 * (s + 1)),
        "AUPRC": area / n,
        "ERR@10": math.fsum(stop[:10]),
        "ERR": math.fsum(stop),
    }
    variances = {
        "P@10": share * (1 - share) * Fraction(n - 10, n - 1) / 10,
        "Success@10": none * (1 - none),
        "ESL": Fraction(r * s * (n + 1), (r + 1) ** 2 * (r + 2)),
        "NDCG": w_spread / w[:r].sum() ** 2,
        "RR": (p * (1 / x - (p / x).sum()) ** 2).sum(),
    }
    return expected, variances


@pytest.mark.slow
def test_a_million_tied_documents_are_exact():
    expected, variances = exact_values(1_000_000, 50_000)
    report = all_tied([*expected], 1_000_000, 50_000)
    wanted = pytest.approx(list(map(float, expected.values())), rel=1e-9, abs=1e-12)
    assert report.expected[0] == wanted
    std = dict(zip(expected, report.std[0], strict=True))
    for name, variance in variances.items():
        assert std[name] == pytest.approx(math.sqrt(variance), rel=1e-9), name


@pytest.mark.parametrize("name", ["cg", "dcg(gain=linear)"])
@pytest.mark.parametrize("tied", [False, True])
def test_a_huge_gain_leaves_the_small_ones_in_the_sum(name, tied):
    y = 1.0 + np.arange(4751) % 250
    y[0] = 2.0**53
    scores = np.zeros(len(y)) if tied else -np.arange(len(y))
    weight = 1 / np.log2(np.arange(len(y)) + 2) if name != "cg" else np.ones(len(y))
    gain = math.fsum(y.tolist()) / len(y) if tied else y
    expected = math.fsum((gain * weight).tolist())
    value = ranking_score(y, scores, measure=name)
    assert value == pytest.approx(expected, rel=1e-15)


def test_a_mean_of_gains_is_not_rounded_beyond_them():
    # the sum of six such gains, rounded and divided, can be above the larger gain
    least = np.arange(1, 97) / 97
    most = np.nextafter(least, 2)
    for larger in range(1, 6):
        y = np.repeat(least[:, None], 6, axis=1)
        y[:, :larger] = most[:, None]
        values = ranking_score(y, np.zeros(y.shape), measure="cg@1", average=None)
        assert ((least <= values) & (values <= most)).all()


@pytest.mark.parametrize("most", [253, 254, 255, 256, 300])
def test_labels_about_the_end_of_a_byte(most):
    y = np.arange(most - 3.0, most + 1)
    for dtype in (float, np.float32, np.uint16):
        value = ranking_score(y.astype(dtype), [2, 1, 1, 0], measure="dcg(gain=linear)")
        expected = y[0] + (y[1] + y[2]) / 2 * (1 / np.log2(3) + 0.5) + y[3] / np.log2(5)
        assert value == pytest.approx(expected, rel=1e-15)
