"""Tests of measures against published figures, counts by hand and long ties."""

import itertools
import math
import tracemalloc
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn import measures as m
from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.evaluation import precision_recall_curve, tie_distributions
from tieaware_sklearn.measures import (
    _err,
    _interpolated,
    _sampled_orders,
)

NAN = math.nan
INF = math.inf
BINARY = [1, 0, 1, 0, 1]
GRADED = [3, 2, 3, 0, 1]
TEN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
VALUES_AT_EVERY_RANK = [
    ("P", BINARY, [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5], 15),
    ("R", BINARY, [1 / 3, 1 / 3, 2 / 3, 2 / 3, 1], 15),
    ("F1", BINARY, [2 / 4, 2 / 5, 4 / 6, 4 / 7, 6 / 8], 15),
    ("CG", GRADED, [3, 5, 8, 8, 9], 15),
    ("DCG(gain=linear)", GRADED, [3, 4.262, 5.762, 5.762, 6.149], 3),
    ("NDCG(gain=linear)", GRADED, [1, 0.871, 0.978, 0.911, 0.972], 3),
    ("DCG", TEN, [7, 8.89, 12.39, 12.39, 12.39, 12.75, 13.75, 14.7, 16.8, 16.8], 2),
    ("NDCG", TEN, [1, 0.78, 0.83, 0.76, 0.71, 0.69, 0.73, 0.78, 0.9, 0.9], 2),
]


@pytest.mark.parametrize(("name", "labels", "figures", "digits"), VALUES_AT_EVERY_RANK)
def test_at_every_rank(name, labels, figures, digits):
    ranks = np.arange(1, len(labels) + 1)
    measures = [f"{name}@{k}" for k in ranks]
    report = evaluate(labels, -ranks, measures=measures)
    rounded = np.round(report.expected[0], digits)
    assert rounded == pytest.approx(figures, abs=1e-14)


#: Scores of the document with the small label and of one without, DCG and RBP.
RANKS = [
    ([2, 1], 1, 1 / 2),
    ([1, 1], (1 + 1 / math.log2(3)) / 2, 3 / 8),
]


@pytest.mark.parametrize("tiny", [1e-16, 3e-17, 1e-100])
@pytest.mark.parametrize(("scores", "dcg", "rbp"), RANKS)
def test_labels_far_below_1_are_kept(tiny, scores, dcg, rbp):
    names = ["cg", "ndcg(gain=linear)", "dcg(gain=linear)", "rbp(p=0.5,gain=linear)"]
    report = evaluate([tiny, 0], scores, measures=names)
    expected = [tiny, dcg, tiny * dcg, tiny * rbp]
    assert report.expected[0] == pytest.approx(expected, rel=1e-12, abs=5e-324)
    assert report.ideal[0, 0] == tiny


AVERAGES_OF_PRECISION = [
    ("10101", "ap", 0.7556),
    # The source prints 0.775 as 0.78.
    ("1011110001", "ap", 0.775),
    ("1011110001", "iap", 0.82),
    ("0100111011", "ap", 0.52),
    ("0100111011", "iap", 0.60),
]


@pytest.mark.parametrize(("ranking", "measure", "figure"), AVERAGES_OF_PRECISION)
def test_averages_of_precision(ranking, measure, figure):
    labels = [int(label) for label in ranking]
    scores = -np.arange(len(labels))
    value = ranking_score(labels, scores, measure=measure)
    assert value == pytest.approx(figure, abs=0.005)


def test_std_of_err_far_down_is_sampled():
    # The relevant document is at each rank from 1001 to 1130 with equal chances.
    labels = np.zeros(1130)
    labels[1000] = 4
    scores = np.ones(1130)
    scores[1000:] = 0
    ranks = np.arange(1001.0, 1131)
    values = 15 / 16 / ranks
    report = evaluate(labels, scores, measures="err")
    assert report.std_is_estimate[0, 0]
    std = values.std()
    assert report.std[0, 0] == pytest.approx(std, rel=0.1)


def test_judged_is_pooled_over_the_places_that_are_filled():
    labels = [1, NAN, 0, NAN]
    scores = [1, 1, -INF, 2]
    qid = [1, 1, 1, 2]
    options = {"qid": qid, "measure": "judged@5"}
    values = ranking_score(labels, scores, average=None, **options)
    assert values.tolist() == [0.5, 0]
    pooled = ranking_score(labels, scores, average="micro", **options)
    assert pooled == 1 / 3


@pytest.mark.parametrize("zero_relevance", [0.0, 5.0, "skip"])
def test_esl_is_averaged_where_it_is_defined(zero_relevance):
    # The relevant document is retrieved in query 1 and missed in query 2. Query 3
    # has none.
    labels = [0, 1, 0, 1, 0, 0, 0]
    qid = [1, 1, 1, 2, 2, 2, 3]
    scores = [3, 2, 1, -INF, 2, 1, 1]
    options = {"measures": "esl", "zero_relevance": zero_relevance}
    report = evaluate(labels, scores, qid=qid, **options)
    for values in (report.expected, report.chance, report.ideal):
        undefined = np.flatnonzero(np.isnan(values[:, 0]))
        assert undefined.tolist() == [1, 2]
    assert report.n_undefined[0] == 2
    summary = report.summary()
    assert summary.mean[0] == 1
    assert summary.chance[0] == 1
    assert summary.lift[0] == 0
    assert summary.n_queries[0] == 1


# -- expected reciprocal rank


def test_err_integrated_and_summed_agree():
    """NumPy integrates whole groups beyond 256 places, and sums groups that are cut."""
    rng = np.random.default_rng(0)
    few = rng.choice(5, 700, p=[0.96, 0.02, 0.01, 0.005, 0.005])
    distinct = np.round(rng.random(700) * 4, 6)
    cases = [(0, few), (1, few), (50, few), (1, distinct)]
    for above, labels in cases:
        n = 700 + above
        y = np.zeros(n)
        y[above:] = labels
        scores = np.zeros(n)
        scores[:above] = 1
        measures = ["err", f"err@{n}", f"err@{n - 1}"]
        report = evaluate(y, scores, measures=measures)
        whole, cut, almost = report.expected[0]
        assert whole == pytest.approx(cut, abs=1e-15)
        assert 0 <= whole - almost < 1e-4


def test_sampled_std_of_err_is_near_the_exact_std():
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 120, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    measures = ["err@64", "err@65", "err"]
    report = evaluate(labels, np.zeros(120), measures=measures)
    assert report.std_is_estimate[0].tolist() == [False, True, True]
    exact = report.std[0, 0]
    sampled = report.std[0, 1:]
    assert sampled == pytest.approx(exact, rel=0.01)


def test_few_relevant_documents_are_sampled_by_their_places():
    n = 1500
    a = 15 / 16
    b = 3 / 16
    labels = np.zeros(n)
    labels[:2] = 4, 2
    # The two documents may be at any pair of places.
    second = 1 / np.arange(1.0, n + 1)
    first = second[:, None]
    above = a * first + (1 - a) * b * second
    below = b * second + (1 - b) * a * first
    values = np.where(first > second, above, below)
    is_pair = ~np.eye(n, dtype=bool)
    values = values[is_pair]
    report = evaluate(labels, np.zeros(n), measures="err")
    mean = values.mean()
    std = values.std()
    assert report.expected[0, 0] == pytest.approx(mean, rel=1e-9)
    assert report.std_is_estimate[0, 0]
    assert report.std[0, 0] == pytest.approx(std, rel=0.05)


def test_rounding_spreads_nothing_beyond_its_range():
    labels = [1, 0, 0, 2, 3, 0, 1, 2, 3, 4] * 3
    measure = m.ERR(max_label=60)
    report = evaluate(labels, [1] * 30, measures=measure)
    width = report.best - report.worst
    assert report.std[0, 0] <= width[0, 0] / 2


def test_covariances_of_large_classes_neither_overflow_nor_vanish():
    counts = np.array([[900_000, 99_000, 1000], [3, 2, 1]])
    gain = np.tile([0.0, 0.25, 0.75], (2, 1))
    covariances = _err.covariances(counts, gain, 64)
    assert np.isfinite(covariances).all()
    # The draws are nearly independent: E[P_x P_{x+z}] = E[q²]^x E[q]^z.
    share = counts[0] / 1e6
    q = 1 - gain[0]
    square = share @ q**2
    mean = share @ q
    for x, z in ((1, 63), (64, 0), (20, 30)):
        spread = square**x - mean ** (2 * x)
        expected = spread * mean**z
        assert covariances[0, x, x + z] == pytest.approx(expected, rel=0.02)


def moments_of_a_tie(name, lo, n, r, above, inside) -> tuple[Fraction, Fraction]:
    """Return mean and variance of the part of AP or AUPRC that a tie adds."""
    values = []
    for places in itertools.combinations(range(n), r):
        value = Fraction(0)
        hits = above
        for place in places:
            hits += 1
            rank = lo + 1 + place
            if rank <= lo + inside:
                precision = Fraction(hits, rank)
                if name == "AUPRC":
                    # The area averages the precision at a rank and at the rank above.
                    precision += Fraction(hits - 1, rank - 1)
                    precision /= 2
                value += precision
        values.append(value)
    mean = sum(values) / len(values)
    squares = [value**2 for value in values]
    square = sum(squares) / len(values)
    return mean, square - mean**2


#: Documents above the tie, relevant ones among them, tied and relevant tied documents.
TIES = [(5, 2, 14, 6), (100, 3, 10, 5), (20_000, 3, 8, 3), (1_000_000, 0, 10, 5)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AP", "AP@{cut}", "AUPRC"])
@pytest.mark.parametrize(("lo", "above", "n", "r"), TIES)
def test_a_tie_anywhere_in_a_list_keeps_its_digits(name, lo, above, n, r):
    inside = n // 2 - 1 if "cut" in name else n
    labels = np.zeros(lo + n)
    labels[:above] = 1
    labels[lo : lo + r] = 1
    scores = -np.arange(lo + n)
    scores[lo:] = -lo
    measure = name.format(cut=lo + inside)
    report = evaluate(labels, scores, measures=measure)
    mean, variance = moments_of_a_tie(name, lo, n, r, above, inside)
    total = above + r
    expected = float((above + mean) / total)
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)
    std = math.sqrt(variance) / total
    assert report.std[0, 0] == pytest.approx(std, rel=1e-11, abs=0)


def test_a_cutoff_just_inside_a_large_deep_tie_keeps_the_digits_of_ap():
    lo, n, r = 100_000, 1000, 999
    labels = np.zeros(lo + n)
    labels[lo : lo + r] = 1
    scores = -np.arange(lo + n)
    scores[lo:] = -lo
    expected = Fraction(r, n) / (lo + 1) / r
    value = ranking_score(labels, scores, measure=f"ap@{lo + 1}")
    assert value == pytest.approx(float(expected), rel=1e-15, abs=0)


@pytest.mark.parametrize("k", [2**63, 10**20])
def test_a_cutoff_may_be_beyond_any_list(k):
    labels = [3, 1, 0, 0, 2, 0]
    scores = [1, 2, 3, 3, 3, 1]
    names = ["R", "AP", "AP(denominator=cutoff)", "RR", "DCG", "NDCG", "ERR"]
    whole = evaluate(labels, scores, measures=names)
    cut_names = [f"{name}@{k}" for name in names]
    deep = evaluate(labels, scores, measures=cut_names)
    for statistic in ("expected", "best", "worst", "std"):
        values = getattr(deep, statistic)
        expected = getattr(whole, statistic)
        np.testing.assert_allclose(values, expected, rtol=1e-15)
    # These measures divide by k.
    shares = evaluate(labels, scores, measures=[f"P@{k}", f"F@{k}"])
    assert (shares.expected < 1e-17).all()
    assert (shares.ideal < 1e-17).all()


THIRTY = [0, 1, 10, *range(33, 60)]
RECALL_LEVELS = [
    # 10% of 30 is 3, though 0.1 * 30 > 3 in floats.
    ("IPrec@0.1", THIRTY, 60, 30 / 60),
    (m.InterpolatedPrecision(np.float32(0.1)), THIRTY, 60, 30 / 60),
    ("IPrec@0", THIRTY, 60, 1),
    # 0.7 * 3 + 0.9 is 2.999... in floats, so trec_eval starts at the second hit.
    ("IPrec(rounding=trec_eval9)@0.7", [0, 2, 5], 6, 2 / 3),
    ("IPrec@0.7", [0, 2, 5], 6, 3 / 6),
    ("IPrec(rounding=nearest)@0.8", [0, 2, 5], 6, 2 / 3),
]


@pytest.mark.parametrize(("measure", "relevant", "n", "value"), RECALL_LEVELS)
def test_recall_levels_are_decimal_fractions(measure, relevant, n, value):
    documents = np.arange(n)
    labels = np.isin(documents, relevant)
    assert ranking_score(labels, -documents, measure=measure) == value


def test_long_ties_are_sampled_and_say_so(monkeypatch):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 150)
    scores = rng.integers(0, 2, 150)
    measures = ["iap", "iprec@0.2", "iap(points=all)"]
    exact = evaluate(labels, scores, measures=measures)
    assert (exact.sampling_error == 0).all()
    monkeypatch.setattr(_interpolated, "REACH", 10)
    sampled = evaluate(labels, scores, measures=measures)
    assert (sampled.sampling_error > 0).all()
    error = np.abs(sampled.expected - exact.expected)
    assert (error < 4 * sampled.sampling_error).all()
    assert (sampled.worst <= sampled.expected).all()
    assert (sampled.expected <= sampled.best).all()
    assert "IAP: the mean is estimated from sampled orders" in str(sampled)
    again = evaluate(labels, scores, measures=measures)
    assert str(again) == str(sampled)
    with pytest.raises(ValueError, match=r"distribution of IPrec .* at most 10,"):
        tie_distributions(labels, scores, measure="iprec@0.2")
    # The curve samples the same orders as its average.
    curve = precision_recall_curve(labels, scores)
    assert (curve.sampling_error > 0).any()
    average = sampled.expected[0, 0]
    assert curve.mean.mean() == pytest.approx(average, abs=1e-12)
    steps = np.diff(curve.mean)
    assert (steps <= 0).all()


def walk(groups: list[tuple[int, int]], depth: int, t: float) -> float:
    """Return P(precision interpolated from `depth` on <= t), place by place."""
    places = []
    for n, r in groups:
        for y in range(n):
            places.append((n - y, r, y))

    @cache
    def survival(place: int, hits: int, left: int) -> float:
        if place == len(places):
            return 1.0
        remaining, r, y = places[place]
        if y == 0:
            left = r
        chance = left / remaining
        total = 0.0
        precision = (hits + 1) / (place + 1)
        exceeds = hits + 1 >= depth and precision > t
        if chance > 0 and not exceeds:
            total += chance * survival(place + 1, hits + 1, left - 1)
        if chance < 1:
            total += (1 - chance) * survival(place + 1, hits, left)
        return total

    return survival(0, 0, 0)


TIES_IN_ROWS = [
    [(24, 7)],
    [(4, 4), (11, 5), (3, 0), (9, 8)],
    [(16, 1), (3, 3), (1, 1), (2, 0), (7, 3), (2, 2)],
    [(1, 0), (15, 14), (1, 1)],
]


@pytest.mark.parametrize("groups", TIES_IN_ROWS)
def test_distributions_equal_a_walk_over_places(groups):
    labels = []
    scores = []
    for number, (n, r) in enumerate(groups):
        labels += [1] * r + [0] * (n - r)
        scores += [-number] * n
    n_relevant = sum(labels)
    means = []
    for depth in range(1, n_relevant + 1):
        name = f"iprec(rounding=nearest)@{depth / n_relevant!r}"
        (distribution,) = tie_distributions(labels, scores, measure=name).values()
        for value in (*distribution.values, 0.2, 0.5, 0.9):
            # Attainable values are farther apart than 1e-9.
            t = value + 1e-9
            expected = walk(groups, depth, t)
            assert distribution.cdf(t) == pytest.approx(expected, abs=1e-12)
        mean = distribution.mean()
        report = evaluate(labels, scores, measures=name)
        std = distribution.std()
        assert report.expected[0, 0] == pytest.approx(mean, abs=1e-12)
        assert report.std[0, 0] == pytest.approx(std, abs=1e-9)
        means.append(mean)
    report = evaluate(labels, scores, measures="iap(points=all)")
    average = np.mean(means)
    assert report.expected[0, 0] == pytest.approx(average, abs=1e-12)


def test_all_levels_and_the_chance_level_are_worked_out_once(monkeypatch):
    walks = []
    parts = _interpolated.RelevantInTies._parts

    def count_and_walk(self):
        walks.append(self)
        return parts(self)

    monkeypatch.setattr(_interpolated.RelevantInTies, "_parts", count_and_walk)
    labels = np.tile([1.0, 0, 0, 1, 0, 0, 0, 0], 6)
    qid = np.repeat(np.arange(6), 8)
    _interpolated._one_tie.cache_clear()
    with use_engine("numpy"):
        precision_recall_curve(labels, np.zeros(48), qid=qid)
        # Six equal queries at eleven levels take three walks: ties, best and worst.
        assert len(walks) == 3
        evaluate(labels, np.arange(48), qid=qid, measures=["iap", "iprec@0.5"])
        # The ranking takes one walk. Its chance level and ideal are cached.
        assert len(walks) == 4


@pytest.mark.slow
def test_long_ties_are_sampled_in_little_memory():
    labels = np.arange(20_000) % 3 == 0
    tracemalloc.start()
    evaluate(labels, np.zeros(20_000), measures="iap")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


@pytest.mark.parametrize("n_places", [40, 12, 3])
def test_first_places_are_distinct_and_equally_likely(n_places):
    rng = np.random.default_rng(0)
    places = np.arange(40.0)
    drawn = _sampled_orders.first_places(rng, places, n_places, 300)
    assert drawn.shape == (300, n_places)
    for row in drawn.tolist():
        assert len(set(row)) == n_places
    counts = np.bincount(drawn.astype(int).ravel(), minlength=40)
    expected = 300 * n_places / 40
    assert counts == pytest.approx(np.full(40, expected), rel=0.9)


NUMBERS_OF_PLACES = [
    (9, 9),
    (9, 1),
    (9, 7),
    (40, 3),
    (500, 60),
    (30_000, 2),
    (100_000, 3),
]
FUNCTIONS = [_sampled_orders.places_of, _sampled_orders.fast_places_of]


@pytest.mark.parametrize("draw", FUNCTIONS)
@pytest.mark.parametrize(("n", "n_chosen"), NUMBERS_OF_PLACES)
def test_chosen_places_rise_within_their_range(draw, n, n_chosen):
    rng = np.random.default_rng(0)
    places = draw(rng, n, n_chosen, 200)
    assert places.shape == (200, n_chosen)
    steps = np.diff(places, axis=1)
    assert (steps > 0).all()
    assert places.min() >= 1
    assert places.max() <= n
    middle = (n + 1) / 2
    assert places.mean() == pytest.approx(middle, rel=0.1)


@pytest.mark.parametrize("draw", FUNCTIONS)
def test_all_pairs_of_places_are_equally_likely(draw):
    rng = np.random.default_rng(1)
    places = draw(rng, 5, 2, 20_000)
    _, counts = np.unique(places, axis=0, return_counts=True)
    assert counts == pytest.approx(np.full(10, 2000), rel=0.1)
