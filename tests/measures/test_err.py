"""What single measures promise beyond the common tests."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, precision_recall_curve

from tests import naive
from tests.instances import INSTANCES, Instance
from tests.strategies import judged_ranking, ranking
from tieaware_sklearn import (
    CWL,
    DCG,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    RPrecision,
    SearchLength,
    Success,
    evaluate,
    ranking_score,
    tie_distributions,
)
from tieaware_sklearn.measures import _interpolated_precision
from tieaware_sklearn.measures._subset_means import mean_double_products

NAN = math.nan


# -- BPref and documents without a judgment


@settings(max_examples=300)
@given(case=judged_ranking())
def test_bpref_passes_over_unjudged_documents(case):
    labels, scores = case
    with_nan = [NAN if label < 0 else label for label in labels]
    exact = naive.over_ties(naive.bpref(), labels, scores)
    report = evaluate(with_nan, scores, measures="bpref", zero_relevance="skip")
    if exact is None:
        assert np.isnan(report.expected[0, 0])
        return
    assert report.expected[0, 0] == pytest.approx(float(exact.expected), abs=1e-12)
    assert report.best[0, 0] == pytest.approx(float(exact.best), abs=1e-12)
    assert report.worst[0, 0] == pytest.approx(float(exact.worst), abs=1e-12)
    assert report.std[0, 0] == pytest.approx(math.sqrt(exact.variance), abs=1e-12)


@settings(max_examples=50)
@given(case=judged_ranking())
def test_all_other_measures_take_unjudged_documents_as_not_relevant(case):
    labels, scores = case
    measures = [i.measure for i in INSTANCES if not i.measure.takes_unjudged]
    with_nan = [NAN if label < 0 else label for label in labels]
    found = evaluate(with_nan, scores, measures=measures, unjudged="nonrelevant")
    zeros = evaluate([max(label, 0) for label in labels], scores, measures=measures)
    for name in ("expected", "best", "worst", "std", "chance", "ideal"):
        a, b = getattr(found, name), getattr(zeros, name)
        exact = np.array([not i.sampled for i in INSTANCES if i.measure in measures])
        exact = exact if name == "std" else np.ones(len(measures), bool)
        np.testing.assert_allclose(a[:, exact], b[:, exact], rtol=0, atol=1e-13)


def test_only_measures_that_know_of_judgments_accept_nan_by_default():
    labels, scores = [NAN, 1, 0, 1], [4, 3, 2, 1]
    # R = 2, one judged not relevant: the last one has it above
    assert ranking_score(labels, scores, measure="bpref") == 1 / 2
    assert ranking_score([0, 1, 0, 1], scores, measure="bpref") == 1 / 4
    with pytest.raises(ValueError, match="y_true must be judged"):
        ranking_score(labels, scores, measure="ap")
    with pytest.raises(ValueError, match="y_true must be judged"):
        evaluate(labels, scores, measures=["bpref", "ap"])
    both = evaluate(labels, scores, measures=["bpref", "p"], unjudged="nonrelevant")
    assert both.expected.tolist() == [[1 / 2, 1 / 2]]


def test_bpref_without_judged_nonrelevant_documents_counts_what_is_retrieved():
    assert ranking_score([1, 1, NAN], [1, 1, 1], measure=BPref()) == 1
    assert ranking_score([1, 1, NAN], [1, -math.inf, 1], measure=BPref()) == 1 / 2


# -- ERR


def test_err_takes_no_label_above_its_scale():
    with pytest.raises(ValueError, match="must be <= max_label=4 for ERR, got 5"):
        ranking_score([5, 0], [1, 2], measure="err")
    assert ranking_score([5, 0], [2, 1], measure="err(max_label=5)") == 31 / 32


@pytest.mark.parametrize("k", [20, None])
def test_err_of_a_hundred_thousand_tied_documents(k):
    """One label above 0: the chance to pass x documents is a hypergeometric mean."""
    n, r, q = 100_000, 300, Fraction(9, 16)
    labels = np.zeros(n)
    labels[:r] = 3
    report = evaluate(labels, np.zeros(n), measures=[ERR(k)])
    # E[P_x] = Σ_j C(x, j) r^(j) (q - 1)^j / n^(j), falling powers: all places of
    # the same j together, Σ_x C(x - 1, j)/x done in floats of 40 digits
    if k is not None:
        passed = [Fraction(0)] * (k + 1)
        for x in range(k + 1):
            total, ways = Fraction(0), Fraction(1)
            for j in range(x + 1):
                total += ways * (q - 1) ** j
                ways = ways * (x - j) / (j + 1) * Fraction(r - j, n - j)
            passed[x] = total
        value = sum((passed[x - 1] - passed[x]) / x for x in range(1, k + 1))
        assert report.expected[0, 0] == pytest.approx(float(value), abs=1e-14)
        assert not report.std_is_estimate[0, 0]
    else:
        # P_x after x documents as the binomial limit cannot be: count places of
        # the i-th relevant one instead, Σ_i q^(i-1) (1-q) E[1/place_i]
        value = math.fsum(
            float(q) ** (i - 1) * float(1 - q) * mean_reciprocal_place(n, r, i)
            for i in range(1, 80)
        )
        assert report.expected[0, 0] == pytest.approx(value, rel=1e-9)
        assert report.std_is_estimate[0, 0]
        assert "tie std of 1 query from sampled orders" in str(report)


def mean_reciprocal_place(n: int, r: int, i: int) -> float:
    """E[1/place] of the i-th of r documents among n, by its distribution."""
    place = np.arange(i, n - r + i + 1, dtype=np.longdouble)
    # C(place-1, i-1) C(n-place, r-i) / C(n, r), from the mode outwards
    ratio = (place[:-1] / (place[:-1] - i + 1)) * (
        (n - place[:-1] - (r - i)) / (n - place[:-1])
    )
    logs = np.concatenate([[0], np.cumsum(np.log(ratio))])
    chance = np.exp(logs - logs.max())
    return float((chance / place).sum() / chance.sum())


def test_err_integrated_and_summed_agree():
    """Beyond 256 places whole groups are integrated, cut ones are summed."""
    rng = np.random.default_rng(0)
    labels = rng.choice(5, 700, p=[0.96, 0.02, 0.01, 0.005, 0.005])
    for above in (0, 1, 50):
        y = np.concatenate([np.zeros(above), labels])
        scores = np.concatenate([np.ones(above), np.zeros(700)])
        whole = ranking_score(y, scores, measure="err")
        cut = ranking_score(y, scores, measure=f"err@{700 + above}")
        almost = ranking_score(y, scores, measure=f"err@{699 + above}")
        assert whole == pytest.approx(cut, abs=1e-15)
        assert 0 <= whole - almost < 1e-4


def test_std_of_err_sampled_is_near_the_exact_one():
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 120, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    short = evaluate(labels, np.zeros(120), measures=["err@64", "err@65", "err"])
    assert short.std_is_estimate[0].tolist() == [False, True, True]
    assert short.std[0, 1:] == pytest.approx(short.std[0, 0], rel=0.01)
    # few relevant documents of many: sampled by where they stand
    labels = np.zeros(5000)
    labels[:3] = 4, 2, 1
    rare = evaluate(labels, np.zeros(5000), measures="err")
    # all places x < y < z of the three, in all orders of their labels
    n, ways = 5000, math.comb(5000, 3)
    x = np.arange(1.0, n + 1)
    inverse = 1 / x
    chances = [(n - x) * (n - x - 1) / 2, (x - 1) * (n - x), (x - 1) * (x - 2) / 2]
    later = np.cumsum((inverse * (n - x))[::-1])[::-1] - inverse * (n - x)
    pairs = [
        (inverse * later).sum(),  # x and y, z anywhere below
        sum(
            (inverse[i] * inverse[i + 1 :] * (x[: n - i - 1] - 1)).sum()
            for i in range(n)
        ),
        ((x - 1) * inverse * (np.cumsum(inverse[::-1])[::-1] - inverse)).sum(),
    ]
    mean = square = 0.0
    for a, b, c in itertools.permutations([15 / 16, 3 / 16, 1 / 16]):
        v = [a, (1 - a) * b, (1 - a) * (1 - b) * c]
        for worth, chance in zip(v, chances, strict=True):
            mean += worth * (chance * inverse).sum() / ways / 6
            square += worth**2 * (chance * inverse**2).sum() / ways / 6
        cross = v[0] * v[1] * pairs[0] + v[0] * v[2] * pairs[1] + v[1] * v[2] * pairs[2]
        square += 2 * cross / ways / 6
    exact = square - mean**2
    assert rare.expected[0, 0] == pytest.approx(mean, rel=1e-9)
    assert rare.std_is_estimate[0, 0]
    assert rare.std[0, 0] == pytest.approx(math.sqrt(exact), rel=0.05)


def test_err_of_many_labels_equals_that_of_an_enumeration_in_parts():
    """Distinct labels, one by one, against a few orders drawn."""
    rng = np.random.default_rng(0)
    labels = np.round(rng.random(300) * 4, 6)
    report = evaluate(labels, np.zeros(300), measures=["err@10", "err"])
    stop = (2**labels - 1) / 16
    drawn = np.stack([rng.permutation(stop) for _ in range(20_000)])
    reached = np.cumprod(1 - drawn, axis=1) / (1 - drawn)
    values = reached * drawn / np.arange(1, 301)
    for j, value in enumerate((values[:, :10].sum(axis=1), values.sum(axis=1))):
        error = value.std() / math.sqrt(len(value))
        assert report.expected[0, j] == pytest.approx(value.mean(), abs=4 * error)
        assert report.std[0, j] == pytest.approx(value.std(), rel=0.03)


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
    square = share @ np.array([1, 0.75, 0.25]) ** 2
    mean = share @ np.array([1, 0.75, 0.25])
    for x, z in ((0, 64), (64, 0), (20, 30)):
        assert double[0, x, z] == pytest.approx(square**x * mean**z, rel=1e-3)


# -- ESL


def test_esl_is_skipped_where_nothing_is_found():
    labels, scores, qid = [0, 1, 0, 0], [1, 1, 1, 1], [1, 1, 2, 2]
    for zero_relevance in (0.0, 5.0, "skip"):
        data = {"qid": qid, "measure": "esl", "zero_relevance": zero_relevance}
        assert ranking_score(labels, scores, **data) == 1 / 2
        found = ranking_score(labels, scores, average=None, **data)
        assert found[0] == 1 / 2
        assert np.isnan(found[1])
    with pytest.raises(ValueError, match="ESL is undefined for query 2"):
        ranking_score(labels, scores, qid=qid, measure="esl", zero_relevance="raise")
    report = evaluate(labels, scores, qid=qid, measures=["esl", "rr"])
    assert report.n_undefined.tolist() == [1, 0]
    assert report.summary().n_queries.tolist() == [1, 2]


def test_esl_is_compared_with_the_same_queries():
    # all documents retrieved in query 1, the relevant one missed in query 2
    labels, qid = [0, 1, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2]
    scores = [3, 2, 1, -math.inf, 2, 1]
    report = evaluate(labels, scores, qid=qid, measures="esl")
    assert np.isnan(report.chance[1, 0])
    assert np.isnan(report.ideal[1, 0])
    summary = report.summary()
    assert (summary.mean[0], summary.chance[0]) == (1, 1)
    assert summary.lift[0] == 0
    with pytest.raises(ValueError, match=r"ESL .* too few relevant documents are retr"):
        evaluate(labels, scores, qid=qid, measures="esl", zero_relevance="raise")


def test_lift_of_esl_is_coopers_reduction_factor():
    labels = [0, 1, 0, 1, 0, 0, 0]
    scores = [7, 6, 5, 4, 3, 2, 1]
    report = evaluate(labels, scores, measures="esl")
    # one other document above; 5/3 expected at random
    assert report.summary().lift[0] == pytest.approx(1 - 1 / (5 / 3))


def test_raghavan_follows_from_esl():
    labels, scores = [0, 1, 0, 1, 0, 1], [3, 2, 2, 2, 2, 1]
    for i in (1, 2, 3):
        esl = ranking_score(labels, scores, measure=f"esl(i={i})")
        assert ranking_score(labels, scores, measure=f"prr(i={i})") == i / (i + esl)


# -- interpolated precision


def test_recall_levels_are_decimal_fractions():
    # 0.1 of 30 is 3, though 0.1 * 30 > 3 in floats
    labels = np.zeros(60)
    labels[[0, 1, 10]] = 1
    labels[33:] = 1
    scores = -np.arange(60.0)
    assert labels.sum() == 30
    found = ranking_score(labels, scores, measure="iprec@0.1")
    assert found == 30 / 60  # from the third relevant document on
    assert str(InterpolatedPrecision(0.1)) == "IPrec@0.1"
    assert ranking_score(labels, scores, measure="iprec@0") == 1
    # 0.7 * 3 + 0.9 is 2.999... in floats: trec_eval looks from the second one on
    measure = InterpolatedPrecision(0.7, rounding="trec_eval9")
    assert str(measure) == "IPrec(rounding=trec_eval9)@0.7"
    labels, scores = [1, 0, 1, 0, 0, 1], -np.arange(6)
    assert ranking_score(labels, scores, measure=measure) == 2 / 3
    assert ranking_score(labels, scores, measure="iprec@0.7") == 3 / 6
    found = ranking_score(labels, scores, measure="iprec(rounding=nearest)@0.8")
    assert found == 2 / 3


def test_averages_of_the_textbooks():
    """The two rankings of ten documents of part A's figures."""
    first = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1]
    second = [0, 1, 0, 0, 1, 1, 1, 0, 1, 1]
    scores = -np.arange(10)
    for labels, value in ((first, 0.82), (second, 0.60)):
        got = ranking_score(labels, scores, measure="iap")
        assert round(got, 2) == value


def test_long_ties_are_sampled_and_say_so(monkeypatch):
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 2, 150), rng.integers(0, 2, 150)
    measures = ["iap", "iprec@0.2", "iap(points=all)"]
    exact = evaluate(labels, scores, measures=measures)
    assert (exact.standard_error == 0).all()
    monkeypatch.setattr(_interpolated_precision, "_REACH", 10)
    sampled = evaluate(labels, scores, measures=measures)
    assert (sampled.standard_error > 0).all()
    off = np.abs(sampled.expected - exact.expected) / sampled.standard_error
    assert (off < 4).all()
    assert (sampled.worst <= sampled.expected).all()
    assert (sampled.expected <= sampled.best).all()
    assert "IAP: mean over sampled orders, standard error" in str(sampled)
    assert str(sampled) == str(evaluate(labels, scores, measures=measures))
    with pytest.raises(ValueError, match=r"distribution of IPrec@0\.2 is too large"):
        tie_distributions(labels, scores, measure="iprec@0.2")


@settings(max_examples=100)
@given(labels=st.lists(st.integers(0, 1), min_size=2, max_size=30))
def test_area_is_scikit_learns_without_ties(labels):
    if not any(labels):
        return
    scores = -np.arange(len(labels))
    precision, recall, _ = precision_recall_curve(labels, scores)
    ours = ranking_score(labels, scores, measure="auprc")
    assert ours == pytest.approx(auc(recall, precision), abs=1e-12)


# -- whole distributions


WITH_DISTRIBUTION = [
    instance
    for instance in INSTANCES
    if type(instance.measure).distributions is not Measure.distributions
]


def outcomes(plain, labels, scores):
    """Every value and its chance, by enumeration."""
    missing = [lab for lab, s in zip(labels, scores, strict=True) if s == -math.inf]
    values = [plain(order, missing) for order in naive.orders(labels, scores)]
    if values[0] is None:
        return {}
    return {v: Fraction(values.count(v), len(values)) for v in sorted(set(values))}


@pytest.mark.parametrize(
    "instance", WITH_DISTRIBUTION, ids=[str(i.measure) for i in WITH_DISTRIBUTION]
)
@settings(max_examples=60)
@given(case=ranking())
def test_distributions_equal_enumeration(instance: Instance, case):
    labels, scores = case
    exact = outcomes(instance.plain, labels, scores)
    (found,) = tie_distributions(labels, scores, measure=instance.measure).values()
    assert len(found) == len(exact)
    assert found.values == pytest.approx(list(map(float, exact)), abs=1e-12)
    chances = list(map(float, exact.values()))
    assert found.probability == pytest.approx(chances, abs=1e-12)


def test_distributions_have_moments_and_quantiles():
    labels, scores = [1, 0, 0, 1], [1, 1, 1, 1]
    report = evaluate(labels, scores, measures=["rr"])
    (found,) = tie_distributions(labels, scores, measure="rr").values()
    assert found.mean() == pytest.approx(report.expected[0, 0])
    assert found.std() == pytest.approx(report.std[0, 0])
    # first place with 1/2, second with 1/3, third with 1/6
    assert found.cdf(0.4) == pytest.approx(1 / 6)
    assert found.cdf(1 / 2) == pytest.approx(1 / 2)
    (cut,) = tie_distributions([1, 0, 0], [1, 1, 1], measure="rr@2").values()
    assert cut.values.tolist() == [0, 1 / 2, 1]
    assert cut.probability == pytest.approx([1 / 3] * 3)
    assert found.quantile(0.5) == pytest.approx(1 / 2)
    assert found.quantile(1) == 1
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\], got 2"):
        found.quantile(2)
    found = tie_distributions([0, 1, 0], [1, 1, 1], qid=[7, 7, 3], measure="r@1")
    assert list(found) == [7, 3]
    assert found[7].values.tolist() == [0, 1]
    assert math.isnan(found[3].mean())
    assert math.isnan(found[3].std())
    assert math.isnan(found[3].quantile(0.5))
    with pytest.raises(ValueError, match="distribution of AP over tie orders has no"):
        tie_distributions(labels, scores, measure="ap")


def test_a_distribution_too_large_is_refused():
    labels = np.tile([0, 1], 2000)
    with pytest.raises(ValueError, match="distribution of BPref is too large"):
        tie_distributions(labels, np.zeros(4000), measure="bpref")


# -- users


RANKED = [0, 1, 0, 2, 1, 0]


@pytest.mark.parametrize(
    "measure",
    [
        Precision(4),
        RBP(0.6),
        CWL([0.9, 0.5, 0.75]),
        ReciprocalRank(),
        ReciprocalRank(rel=2),
        AveragePrecision(),
        AveragePrecision(rel=2),
        RPrecision(),
        Precision(),
    ],
    ids=str,
)
def test_the_measure_is_the_attention_given_to_relevance(measure):
    ranks = np.arange(1, len(RANKED) + 1)
    weight = measure.weight(ranks, ranking=RANKED)
    relevant = np.array(RANKED) >= measure.rel
    value = ranking_score(RANKED, -ranks, measure=measure)
    assert (weight * relevant).sum() == pytest.approx(value)


@pytest.mark.parametrize(
    "measure",
    [Precision(4), CWL([0.9, 0.5, 0.75]), DCG(5), ReciprocalRank(), ERR(5)],
    ids=str,
)
def test_weights_and_last_documents_sum_to_one(measure):
    ranks = np.arange(1, 60)
    assert measure.weight(ranks, ranking=RANKED).sum() == pytest.approx(1)
    last = measure.last(ranks, ranking=RANKED)
    assert last.sum() == pytest.approx(1)
    # nobody leaves without having read on to there
    views = np.cumprod(measure.continuation(ranks, ranking=RANKED))
    stay = np.concatenate([[1], views])
    assert last == pytest.approx(stay[:-1] - stay[1:])


def test_continuation_by_hand():
    assert RBP(0.8).continuation(7) == pytest.approx(0.8)
    assert Precision(3).continuation([1, 2, 3, 4]).tolist() == [1, 1, 0, 0]
    assert CWL([0.9, 0.5]).continuation([1, 2, 3]) == pytest.approx([0.9, 0.5, 0])
    # RR goes on until it has found what it wants
    found = ReciprocalRank().continuation([1, 2, 3], ranking=[0, 1, 1])
    assert found.tolist() == [1, 0, 0]
    # AP: Σ_{j>i} r_j/j over Σ_{j>=i} r_j/j
    found = AveragePrecision().continuation([1, 2, 3], ranking=[1, 0, 1])
    assert found == pytest.approx([(1 / 3) / (4 / 3), 1, 0])
    stop = (2**2 - 1) / 16
    found = ERR().continuation([1, 2], ranking=[2, 0, 0])
    assert found == pytest.approx([1 - stop, 1])
    # ERR is Σ L(i)/i over those who stop because they are satisfied
    last = ERR().last([1, 2], ranking=[2, 0, 0])
    assert last == pytest.approx([stop, 0])


def test_cwl_is_the_measure_of_its_user():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 50), rng.integers(0, 9, 50)
    pairs = [("p@4", CWL([1, 1, 1])), (RBP(0.5), CWL([0.5] * 60))]
    for known, own in pairs:
        for ties in ("expected", "best", "worst"):
            a = ranking_score(labels, scores, measure=known, ties=ties)
            assert a == pytest.approx(
                ranking_score(labels, scores, measure=own, ties=ties)
            )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Success().weight(1), "Success has no user model"),
        (lambda: Recall(5).last(1), "R@5 has no user model"),
        (lambda: AveragePrecision().weight(1), "AP needs ranking, the labels in rank"),
        (lambda: Precision().weight(1), "P needs ranking"),
        (lambda: NDCG().weight(1), "NDCG needs a cut-off for its user model"),
        (lambda: RBP().weight(0), "i must be ranks: integers >= 1, got 0"),
        (lambda: RBP().weight(1.5), "i must be ranks: integers >= 1, got 1.5"),
        (lambda: RBP().weight(10**12), "i must be at most 10000000, got 1000000000000"),
        (lambda: ERR(max_label=1024), "max_label must be .* > 0 and <= 60, got 1024"),
        (lambda: SearchLength(10**30), r"i must be at most 2\*\*53, got 1000"),
        (lambda: FBeta(alpha=1e-300), "alpha must be a finite number .* got 1e-300"),
        (lambda: FBeta(alpha=0.5, beta=2), "F takes beta or alpha, got both"),
        (lambda: CWL([]), r"chances must be a sequence of numbers .* got \[\]"),
        (lambda: CWL(0.8), "chances must be a sequence of numbers .* got 0.8"),
        (lambda: CWL(["a"]), r"chances must be a sequence of numbers .* got \['a'\]"),
        (lambda: CWL([0.5, 1.2]), r"chances must be in \[0, 1\], got 1.2 in row 1"),
        (lambda: InterpolatedPrecision(1.1), "recall must be .* >= 0 and <= 1, got"),
        (lambda: InterpolatedAveragePrecision(1), "points must be an integer from 2"),
    ],
)
def test_bad_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()
