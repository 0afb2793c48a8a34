"""Whether p-values and intervals mean what they say, by simulation.

``python -m benchmarks.inference`` draws data sets whose truth is known, and counts how
often tests at 5% reject a null that is true, and how often 95% intervals contain what
they estimate. It calls what users call. Queries have any values that are wanted by one
trick: where the largest label is 1, NDCG@1 with linear gains is the label of the
document that ranks first. Studies of rank intervals ("ranks") and of gates call the
functions of `statistics` and have tables of their own. The tables are those of
docs/inference.md. With ``--quick``, they have 20 queries and few data sets, which takes
seconds. With ``--weights``, the table is that of means in which few queries have most
of the weight. With ``--runs``, it is that of gates that run every night.
"""

from __future__ import annotations

import argparse
import math
import re
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.random import Generator
from scipy import stats
from scipy.special import ndtr

import tieaware_sklearn as tieaware
from benchmarks.tables import format_table
from tieaware_sklearn._typing import FloatArray
from tieaware_sklearn.statistics.gates import gaffke_pvalue
from tieaware_sklearn.statistics.multiple_testing import adjust
from tieaware_sklearn.statistics.paired_tests import paired_tests
from tieaware_sklearn.statistics.rank_intervals import rank_intervals

SIZE = 5.0
COVERAGE = 95.0
ALPHA = 0.05
#: Stands for the nominal value of a power, because a power has none.
POWER = 50.0
#: A cell is marked if it is farther than this from its nominal value, in points.
TOLERANCE = 1.5
QUERIES = (5, 10, 20, 30, 50, 200)
DATA_SETS = 1000
QUICK = {"queries": (20,), "n_data_sets": 24}
#: Numbers of queries of all studies.
ALL_QUERIES = (5, 10, 20, 30, 50, 100, 200, 500)
#: Studies whose titles begin with these words have tables of their own.
PARTS = ("ranks", "gates")
#: Data sets that a process simulates at a time.
_CHUNK = 20
#: Data sets of weighted means that a process simulates at a time.
_WEIGHTED_CHUNK = 100
RESAMPLES = 999
LABEL_OF_FIRST = "NDCG(gain=linear)@1"
#: Documents of a query.
LENGTH = 10
#: Features of a data set, none of which depends on the labels.
N_NOISE = 30
RECIPROCAL_RANKS = 1 / np.arange(1, LENGTH + 1)
#: Ends of the 95% interval of a standard normal variable.
NORMAL_ENDS = np.array([-1.96, 1.96])


class Claim(NamedTuple):
    """What the library says of one data set, in a row of the table.

    An interval should contain the target, and a p-value should not be below `ALPHA`. A
    target that is NaN is the mean of the estimates over data sets.
    """

    row: str
    nominal: float
    low: float
    high: float
    target: float
    estimate: float
    warned: bool


Claims = Iterator[Claim]


def rejection(
    row: str, pvalue: float, warned: bool = False, alpha: float = ALPHA
) -> Claim:
    """Return the claim of a test: the target is within [p-value, 1] if it rejects."""
    return Claim(row, 100 * alpha, pvalue, 1.0, alpha, 0.0, warned)


def interval(
    row: str, ends: Any, warned: bool, *, target: float = np.nan, estimate: float = 0.0
) -> Claim:
    """Return the claim of an interval with these two ends."""
    low, high = ends
    return Claim(row, COVERAGE, low, high, target, estimate, warned)


class Study(NamedTuple):
    """A simulation.

    Attributes
    ----------
    simulate : callable
        Yields the claims about one data set.
    queries : sequence of int
        Numbers of queries.
    share : float
        Share of the data sets that are drawn.
    seed : int
        First number of the seeds of its data sets. It is fixed, so that no study draws
        other data if another study is removed.
    """

    simulate: Callable[..., Claims]
    queries: Sequence[int]
    share: float
    seed: int


STUDIES: dict[str, Study] = {}


def study(
    title: str, queries: Sequence[int] = QUERIES, share: float = 1.0, *, seed: int
) -> Any:
    """Return a decorator that adds a simulation to `STUDIES`."""

    def register(simulate: Any) -> Any:
        STUDIES[title] = Study(simulate, queries, share, seed)
        return simulate

    return register


def call(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, bool]:
    """Return a result, and whether the call warned about inference."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **options)
    messages = " ".join(str(warning.message) for warning in caught)
    is_about_inference = re.search(r"interval|p-value|\btest|reject", messages)
    return result, bool(is_about_inference)


def draw_seed(rng: Generator) -> int:
    return int(rng.integers(2**31))


def query_ids(n: int, length: int = LENGTH) -> Any:
    """Return the ids of n queries of this length."""
    return np.repeat(np.arange(n), length)


# ------------------------------------------------------------ averages of one system


def uniform(rng: Generator, n: int) -> FloatArray:
    return rng.uniform(size=n)


def draw_reciprocal_ranks(rng: Generator, n: int) -> FloatArray:
    return rng.choice(RECIPROCAL_RANKS, n)


def mostly_zeros(rng: Generator, n: int) -> FloatArray:
    return rng.uniform(size=n) * rng.binomial(1, 0.1, n)


def mostly_successes(rng: Generator, n: int) -> FloatArray:
    return rng.binomial(1, 0.9, n)


def reciprocal_ranks_or_zero(rng: Generator, n: int) -> FloatArray:
    return draw_reciprocal_ranks(rng, n) * rng.binomial(1, 0.92, n)


#: Functions that draw values of queries, with the averages of their distributions.
Values = Mapping[str, tuple[Any, float]]
UNWEIGHTED: Values = {
    "dense": (uniform, 0.5),
    "RR": (draw_reciprocal_ranks, RECIPROCAL_RANKS.mean()),
    "90% zeros": (mostly_zeros, 0.05),
    "0 or 1, mean 0.9": (mostly_successes, 0.9),
}
WEIGHTED = "dense, weighted"
MEANS = {**UNWEIGHTED, WEIGHTED: (uniform, 0.5)}
MEDIANS: Values = {"dense": (uniform, 0.5)}
_MEAN_LOG_RR = 0.92 * np.log(RECIPROCAL_RANKS).mean() + 0.08 * np.log(1e-5)
GEOMETRIC: Values = {
    "dense": (uniform, math.exp(-1)),
    "RR, 8% zeros": (reciprocal_ranks_or_zero, math.exp(_MEAN_LOG_RR)),
}


def labels_with_ideal(values: FloatArray) -> FloatArray:
    """Return labels such that systems have these values, (n_queries, n_systems).

    A query has a document for each system, which the system ranks first, and the ideal
    document.
    """
    ideal = np.ones(len(values))
    return np.column_stack([values, ideal]).ravel()


def evaluate_values(values: FloatArray, weight: FloatArray | None = None) -> Any:
    """Return the report of a system that has these values of queries."""
    n = len(values)
    labels = labels_with_ideal(values)
    scores = np.tile([1, 0], n)
    options = {"qid": query_ids(n, 2)}
    if weight is not None:
        options["query_weight"] = weight.repeat(2)
    return tieaware.evaluate(labels, scores, measures=LABEL_OF_FIRST, **options)


def averages(rng: Generator, n: int, *, values: Values, **options: Any) -> Claims:
    for name, (draw, target) in values.items():
        drawn = draw(rng, n)
        weight = None
        if name == WEIGHTED:
            weight = rng.exponential(size=n)
        report = evaluate_values(drawn, weight)
        seed = draw_seed(rng)
        summary, warned = call(report.summary, random_state=seed, **options)
        ends = summary.interval[0]
        yield interval(name, ends, warned, target=target)


BCA = {"interval": "bootstrap", "n_resamples": RESAMPLES}
study("evaluate: t", seed=0)(partial(averages, values=MEANS))
study("evaluate: BCa", seed=1)(partial(averages, values=UNWEIGHTED, **BCA))
geometric_means = partial(averages, values=GEOMETRIC, average="geometric")
study("evaluate: geometric mean", seed=2)(geometric_means)
medians = partial(averages, values=MEDIANS, average="median")
study("evaluate: median", seed=3)(medians)


# ---------------------------------------------------------- comparisons of systems


def compare(values: FloatArray, **options: Any) -> tuple[Any, bool]:
    """Compare systems with these values, (n_queries, n_systems), as `call` does."""
    n, m = values.shape
    labels = labels_with_ideal(values)
    systems = {}
    for j in range(m):
        is_first = np.arange(m + 1) == j
        systems[f"s{j}"] = np.tile(is_first, n)
    options["qid"] = query_ids(n, m + 1)
    options["measure"] = LABEL_OF_FIRST
    return call(tieaware.compare_systems, labels, systems, **options)


def pair_claims(row: str, result: Any, warned: bool) -> Claims:
    """Yield the claims of the test and of the interval of the first pair."""
    yield rejection(row, result.pvalues[0], warned)
    ends = result.difference_interval[0]
    yield interval(row, ends, warned, target=0.0)


def dense_pairs(rng: Generator, n: int) -> FloatArray:
    return rng.uniform(size=(n, 2))


def half_equal_pairs(rng: Generator, n: int) -> FloatArray:
    values = dense_pairs(rng, n)
    # Both systems are 0 on the queries where they are equal.
    return values * rng.binomial(1, 0.5, (n, 1))


def reciprocal_rank_pairs(rng: Generator, n: int) -> FloatArray:
    return rng.choice(RECIPROCAL_RANKS, size=(n, 2))


def skewed_pairs(rng: Generator, n: int) -> FloatArray:
    skewed = rng.uniform(size=n) ** 4
    constant = np.full(n, 0.2)
    return np.column_stack([skewed, constant])


#: Values of two systems with equal means. The medians of dense pairs are equal too.
PAIRS: dict[str, Any] = {
    "dense": dense_pairs,
    "half equal": half_equal_pairs,
    "RR": reciprocal_rank_pairs,
    "skewed": skewed_pairs,
}


def pairs(
    rng: Generator, n: int, *, names: Sequence[str] = tuple(PAIRS), **options: Any
) -> Claims:
    for name in names:
        values = PAIRS[name](rng, n)
        seed = draw_seed(rng)
        result, warned = compare(values, random_state=seed, **options)
        if options.get("test") == "wilcoxon":
            # The interval of the difference would be that of the t test.
            yield rejection(name, result.pvalues[0], warned)
        else:
            yield from pair_claims(name, result, warned)


study("compare: t", seed=4)(pairs)
randomized = partial(pairs, test="randomization", **BCA)
study("compare: randomization, BCa", share=0.8, seed=5)(randomized)
study("compare: wilcoxon", share=0.3, seed=6)(partial(pairs, test="wilcoxon"))
resampled = partial(pairs, names=["dense"], average="median", n_resamples=RESAMPLES)
study("compare: medians", seed=7)(resampled)


@study("compare: clusters", (10, 20, 50, 200), seed=20)
def clusters(rng: Generator, n: int) -> Claims:
    """Compare systems whose values correlate within n clusters of queries."""
    sizes = rng.integers(1, 9, n)
    cluster = np.repeat(np.arange(n), sizes)
    rows = cluster.repeat(3)
    for correlation in (0.0, 0.3, 0.7):
        of_clusters = rng.normal(size=(n, 2))
        of_queries = rng.normal(size=(len(cluster), 2))
        shared = math.sqrt(correlation) * of_clusters[cluster]
        normal = shared + math.sqrt(1 - correlation) * of_queries
        values = ndtr(normal)
        result, warned = compare(values, cluster=rows)
        yield from pair_claims(f"correlation {correlation}", result, warned)
    # The last values have the largest correlation.
    result, warned = compare(values, cluster=rows, test="randomization")
    yield rejection("randomization, 0.7", result.pvalues[0], warned)
    result, warned = compare(values)
    yield rejection("no cluster=, 0.7", result.pvalues[0], warned)


@study("compare: weights", (20, 50, 200), seed=16)
def weighted_pairs(rng: Generator, n: int) -> Claims:
    """Compare systems on queries, few of which have most of the weight."""
    query = np.arange(n)
    weights = {"5 heavy": np.where(query < 5, 100.0, 1.0), "Zipf": 1 / (query + 1)}
    constant = np.full(n, 0.5)
    for name, weight in weights.items():
        # Uniform values have short tails, so the sum of a few heavy differences is far
        # from normal.
        values = np.column_stack([uniform(rng, n), constant])
        options = {"query_weight": weight.repeat(3), "n_resamples": RESAMPLES}
        seed = draw_seed(rng)
        result, warned = compare(values, random_state=seed, **options)
        yield from pair_claims(f"t, {name}", result, warned)
        options["test"] = "randomization"
        seed = draw_seed(rng)
        result, _ = compare(values, random_state=seed, **options)
        # The warning of the t test recommends this test, so no warning excuses it.
        yield rejection(f"randomization, {name}", result.pvalues[0])


#: Queries of each of the two larger segments.
_LARGE = 200


@study("by_segment: interaction", (5, 10, 20, 30, 50), seed=17)
def interactions(rng: Generator, n: int) -> Claims:
    """Compare a segment of n queries with two large ones; no system is better."""
    large = rng.uniform(size=(2 * _LARGE, 2))
    segment = np.repeat([0, 1, 2], [n, _LARGE, _LARGE])
    for name in ("dense", "skewed"):
        small = PAIRS[name](rng, n)
        values = np.concatenate([small, large])
        result, _ = compare(values, segment=segment.repeat(3))
        by_segment, warned = call(result.by_segment)
        yield rejection(f"{name} segment", by_segment.interaction[0], warned)


@study("compare: five measures", (20, 50, 200), seed=18)
def five_measures(rng: Generator, n: int) -> Claims:
    n_rows = n * LENGTH
    labels = rng.integers(0, 2, n_rows)
    a, b = rng.uniform(size=(2, n_rows))
    systems = {"a": a, "b": b}
    measures = ["ndcg@10", "ap", "rr", "p@5", "rbp"]
    options = {"qid": query_ids(n), "measure": measures}
    result, warned = call(tieaware.compare_systems, labels, systems, **options)
    # A note below the pairs warns too.
    warned |= "not corrected for the 5 measures" in str(result)
    yield rejection("any", result.pvalues.min(), warned)


@study("compare: best of 8", (20, 50, 200), seed=19)
def best_of_eight(rng: Generator, n: int) -> Claims:
    values = rng.uniform(size=(n, 9))
    result, warned = compare(values, baseline="s0")
    # A sentence below the tables warns too.
    words = str(result).split()
    warned |= "is probably smaller on new queries" in " ".join(words)
    best = result.difference.argmax()
    ends = result.difference_interval[best]
    yield interval("lead", ends, warned, target=0.0)


@study("compare: any of ten pairs", (5, 10, 20, 50), 0.3, seed=8)
def families(rng: Generator, n: int) -> Claims:
    spreads = {
        "equal spread": [1.0, 1.0, 1.0, 1.0, 1.0],
        "one spreads more": [1.0, 0.1, 0.1, 0.1, 0.1],
    }
    for name, spread in spreads.items():
        deviations = rng.uniform(size=(n, 5)) - 0.5
        values = 0.5 + spread * deviations
        for correction in ("holm", "tukey"):
            result, warned = compare(values, correction=correction)
            smallest = np.nanmin(result.adjusted_pvalues)
            yield rejection(f"{correction}, {name}", smallest, warned)


# ------------------------------------------------ features, precision and judgments


@study("RankingFeatureSelector", (5, 10, 20, 50), 0.5, seed=9)
def selectors(rng: Generator, n: int) -> Claims:
    qid = query_ids(n)
    document = np.tile(np.arange(LENGTH), n)
    shape = (len(qid), N_NOISE)
    features = {}
    features["rare flags"] = rng.uniform(size=shape) < 0.1
    features["half flags"] = rng.uniform(size=shape) < 0.5
    features["continuous"] = rng.normal(size=shape)
    # By number of relevant documents. With one relevant document, AP equals RR.
    measures_of = {1: ["rr", "ndcg@10"], 3: ["ap"]}
    for name, X in features.items():
        X = X.astype(float)
        for n_relevant, measures in measures_of.items():
            selector = tieaware.RankingFeatureSelector(measures, max_correlation=None)
            labels = document < n_relevant
            _, warned = call(selector.fit, X, labels, qid=qid)
            smallest = selector.qvalues_.min(axis=0)
            for measure, qvalue in zip(selector.measures_, smallest, strict=True):
                yield rejection(f"{name}, {measure}", qvalue, warned)


def study_8_bits(rng: Generator, n: int, keep: float) -> Any:
    """Return the study of scores of 8 bits, with one relevant document among 50."""
    labels = np.tile(np.arange(50) < 1, n)
    scores = rng.normal(size=(n, 50))
    scores[:, 0] += 2
    options = {"measure": "rr", "coarseness": "bits=8", "keep": [keep]}
    qid = query_ids(n, 50)
    return tieaware.precision_study(labels, scores.ravel(), qid=qid, **options)


@lru_cache
def kept_share() -> float:
    """Return the share of the mean RR that scores of 8 bits keep."""
    # So many queries that the error hardly moves the size of a test of 200 queries.
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(20):
        result = study_8_bits(rng, 10_000, 0.99)
        parts.append(result.expected)
    exact, coarse = np.mean(parts, (0, 2, 3))
    return float(coarse / exact)


@study("precision_study", (20, 50, 200), seed=13)
def precision(rng: Generator, n: int) -> Claims:
    share = kept_share()
    result, warned = call(study_8_bits, rng, n, share)
    # The table shows "few" if too few queries change to test how many do.
    few_changes = re.search(r"^bits=8 .* few *$", str(result), re.M)
    warned |= few_changes is not None
    pvalue = result.inferiority[-1, 0, 0]
    yield rejection("RR, 8 bits", pvalue, warned)


# ------------------------------------------------------------------ orders of ties


def ndcg_at_10(labels: FloatArray, scores: FloatArray) -> float:
    """Return NDCG@10 of one order, in plain NumPy; 0 without a relevant document."""
    gains = 2.0**labels - 1
    ideal = np.sort(gains)[:-11:-1]
    ranks = np.arange(1, len(ideal) + 1)
    discounts = 1 / np.log2(ranks + 1)
    best = ideal @ discounts
    if best == 0:
        return 0.0
    return float(gains[:10] @ discounts / best)


@study("orders of ties", (5, 20, 50, 200), 0.5, seed=15)
def orders(rng: Generator, n: int) -> Claims:
    bounds = [[3], [4]]
    labels, scores = rng.integers(0, bounds, size=(2, n * LENGTH))
    rows = {"y_true": labels, "y_score": scores, "qid": query_ids(n)}
    report = tieaware.evaluate(**rows, measures="ndcg@10")
    exact = report.summary()
    (mean,) = exact.mean
    seed = draw_seed(rng)
    sampled = tieaware.sampled(
        **rows, score_func=ndcg_at_10, n_orders=100, random_state=seed
    )
    ends = sampled.mean + NORMAL_ENDS * sampled.sampling_error
    yield interval("sampled: sampling_error", ends, False, target=mean)
    # The rows of a query are in random order.
    one_order = tieaware.ranking_score(**rows, measure="ndcg@10", ties="input")
    ends = mean + NORMAL_ENDS * exact.tie_std
    yield interval("tie_std", ends, False, target=one_order)


# --------------------------------------------------- ranks of systems, and gates


def ndcg_values(easiness: FloatArray) -> FloatArray:
    """Return values of queries with 15% zeros, from how easy queries are in [0, 1]."""
    return np.maximum((easiness - 0.15) / 0.85, 0.0)


MEAN_NDCG = 0.85 / 2


def reciprocal_ranks(easiness: FloatArray) -> FloatArray:
    return 1 / np.ceil(LENGTH * (1 - easiness))


def precisions(easiness: FloatArray) -> FloatArray:
    below = stats.binom.cdf(range(10), 10, 0.4)
    return np.searchsorted(below, easiness) / 10


def draw_easiness(
    rng: Generator, n: int, shift: FloatArray, correlation: Any = 0.7
) -> FloatArray:
    """Return how easy each query is for each system, (n, n_systems).

    Systems of equal shift are equally good, whatever their correlation.
    """
    of_systems = rng.normal(size=(n, len(shift)))
    of_queries = rng.normal(size=(n, 1))
    shared = np.sqrt(correlation) * of_queries
    normal = shared + np.sqrt(1 - correlation) * of_systems
    return ndtr(normal + shift)


def rare_loss(
    rng: Generator,
    n: int,
    share: float = 0.05,
    loss: float = 0.38,
    mean: float = 0.0,
) -> FloatArray:
    """Return differences with this mean: a share of the queries lose much."""
    gain = (mean + share * loss) / (1 - share)
    is_lost = rng.uniform(size=n) < share
    return np.where(is_lost, -loss, gain)


def ranks_claim(row: str, values: FloatArray, shift: FloatArray) -> Claim:
    """Return the claim that all rank intervals contain the ranks of these shifts."""
    m = len(shift)
    first, second = np.triu_indices(m, 1)
    differences = values[:, first] - values[:, second]
    statistics, pvalues = paired_tests(differences.T, "t")
    is_significant = adjust(pvalues, "holm") < ALPHA
    is_better = np.zeros((m, m), dtype=bool)
    is_better[first, second] = is_significant & (statistics > 0)
    is_better[second, first] = is_significant & (statistics < 0)
    true_ranks = rank_intervals(shift[:, None] > shift)
    low, high = (rank_intervals(is_better) - true_ranks).T
    ends = (low.max(), high.min())
    return interval(row, ends, False, target=0.0)


def rank_claims(rng: Generator, n: int, *, m: int) -> Claims:
    system = np.arange(m)
    # Two of three systems, and seven of ten, are nearly the same.
    is_apart = system < math.ceil(0.3 * m)
    correlations = {
        "equal spreads": 0.7,
        "unequal spreads": np.where(is_apart, 0.7, 0.97),
    }
    groups = np.where(system % 2, 0.0, 0.3)
    shifts = {
        "equal means": np.zeros(m),
        "two groups": groups,
        "unequal means": np.linspace(0, 1, m),
    }
    for means, shift in shifts.items():
        for spreads, correlation in correlations.items():
            easiness = draw_easiness(rng, n, shift, correlation)
            values = ndcg_values(easiness)
            yield ranks_claim(f"{means}, {spreads}", values, shift)


RANK_QUERIES = (20, 50, 200, 500)
study("ranks: 3 systems", RANK_QUERIES, seed=21)(partial(rank_claims, m=3))


@study("ranks: 10 systems", RANK_QUERIES, seed=22)
def ranks_of_ten(rng: Generator, n: int) -> Claims:
    yield from rank_claims(rng, n, m=10)
    equal = np.zeros(10)
    easiness = draw_easiness(rng, n, equal)
    values = reciprocal_ranks(easiness)
    yield ranks_claim("equal means, RR", values, equal)
    easiness = draw_easiness(rng, n, equal)
    values = precisions(easiness)
    yield ranks_claim("equal means, P@10", values, equal)
    values = rng.normal(0, 0.01, (n, 10))
    values[:, 0] += rare_loss(rng, n)
    yield ranks_claim("rare losses of one", values, equal)


study("ranks: 30 systems", RANK_QUERIES, seed=23)(partial(rank_claims, m=30))


def ndcg_difference(
    rng: Generator, n: int, loss: float = 0.0, correlation: float = 0.7
) -> FloatArray:
    """Return differences of NDCG with a mean of -`loss`."""
    easiness = draw_easiness(rng, n, np.zeros(2), correlation)
    system, baseline = ndcg_values(easiness).T
    return system * (1 - loss / MEAN_NDCG) - baseline


def paired_pvalue(
    differences: FloatArray, alternative: str = "less", margin: float = 0.0
) -> float:
    """Return the p-value of a loss, or of a loss that is smaller than the margin."""
    rows = differences[None] + margin
    _, (pvalue,) = paired_tests(rows, "t", alternative)
    return float(pvalue)


def welch_pvalue(system: FloatArray, baseline: FloatArray) -> float:
    """Return the p-value of a loss on other queries."""
    test = stats.ttest_ind(system, baseline, equal_var=False, alternative="less")
    return float(test.pvalue)


@study("gates: worse, no loss", (10, 20, 50, 200), 4, seed=24)
def no_loss(rng: Generator, n: int) -> Claims:
    measures = {"NDCG": ndcg_values, "RR": reciprocal_ranks, "P@10": precisions}
    for measure, values_of in measures.items():
        easiness = draw_easiness(rng, n, np.zeros(2))
        system, baseline = values_of(easiness).T
        pvalue = paired_pvalue(system - baseline)
        yield rejection(f"paired, {measure}", pvalue)
        easiness = rng.uniform(size=(2, n))
        system, baseline = values_of(easiness)
        pvalue = welch_pvalue(system, baseline)
        yield rejection(f"Welch, {measure}", pvalue)
    differences = rare_loss(rng, n)
    pvalue = paired_pvalue(differences)
    yield rejection("paired, rare loss", pvalue)
    differences = -rare_loss(rng, n)
    pvalue = paired_pvalue(differences)
    yield rejection("paired, rare gain", pvalue)


def power(row: str, pvalue: float) -> Claim:
    """Return the claim of a test whose null hypothesis is wrong."""
    claim = rejection(row, pvalue)
    return claim._replace(nominal=POWER)


@study("gates: worse, a loss of 0.05", (10, 20, 50, 100, 200, 500), 4, seed=25)
def small_loss(rng: Generator, n: int) -> Claims:
    differences = ndcg_difference(rng, n, loss=0.05)
    pvalue = paired_pvalue(differences)
    yield power("paired", pvalue)
    easiness = rng.uniform(size=(2, n))
    system, baseline = ndcg_values(easiness)
    system *= 1 - 0.05 / MEAN_NDCG
    pvalue = welch_pvalue(system, baseline)
    yield power("Welch", pvalue)


LOSS = 0.03
#: Shares of queries that lose most of a mean loss of `LOSS`, and their losses.
RARE_LOSSES = {
    "5% lose 0.41": (0.05, 0.41),
    "3% lose 1": (0.03, 1.0),
    "1% lose 1": (0.01, 1.0),
}
INFERIOR = f"gates: inferior, a loss of {LOSS}"


def inferiority_pvalues(rng: Generator, differences: FloatArray) -> dict[str, float]:
    """Return the p-values of two tests that the loss is `LOSS` or more."""
    pvalue = paired_pvalue(differences, "greater", LOSS)
    seed = draw_seed(rng)
    bound = gaffke_pvalue(differences, 1.0, LOSS, random_state=seed)
    return {"t": pvalue, "Gaffke": bound}


@study(INFERIOR, (10, 20, 50, 100, 200), seed=26)
def loss_of_the_tolerance(rng: Generator, n: int) -> Claims:
    pvalues = {}
    differences = ndcg_difference(rng, n, LOSS)
    pvalues["NDCG"] = inferiority_pvalues(rng, differences)
    for name, (share, loss) in RARE_LOSSES.items():
        differences = rare_loss(rng, n, share, loss, -LOSS)
        pvalues[name] = inferiority_pvalues(rng, differences)
    for name, tests in pvalues.items():
        for test, pvalue in tests.items():
            row = f"{test}, {name}"
            yield rejection(row, pvalue)
            yield rejection(row, pvalue, alpha=0.01)


@study(f"gates: not inferior by {LOSS}", (20, 50, 100, 200, 500), seed=27)
def systems_without_loss(rng: Generator, n: int) -> Claims:
    differences = ndcg_difference(rng, n)
    for test, pvalue in inferiority_pvalues(rng, differences).items():
        yield power(f"{test}, NDCG", pvalue)
    differences = ndcg_difference(rng, n, correlation=0.97)
    for test, pvalue in inferiority_pvalues(rng, differences).items():
        yield power(f"{test}, NDCG, near-duplicates", pvalue)


# --------------------------------------------------------------- cells and tables


class Cell(NamedTuple):
    """How often tests reject or intervals cover, and how often wrongly and unwarned."""

    percent: float
    unwarned: float
    nominal: float
    n_data_sets: int

    @classmethod
    def from_claims(cls, claims: Sequence[Claim]) -> Cell:
        frame = pd.DataFrame(claims)
        nominal = claims[0].nominal
        target = frame.target.fillna(frame.estimate.mean())
        is_within = target.between(frame.low, frame.high)
        # A test is wrong if it rejects, and an interval if it does not cover.
        is_wrong = is_within if nominal < POWER else ~is_within
        is_unwarned = is_wrong & ~frame.warned
        has_interval = frame.low.notna()
        percent = 100 * is_within[has_interval].mean()
        unwarned = 100 * is_unwarned[has_interval].mean()
        return cls(percent, unwarned, nominal, len(claims))

    @property
    def mark(self) -> str:
        error = self.percent - self.nominal
        # Without intervals the error is NaN, which is not off.
        is_off = abs(error) > TOLERANCE
        if self.nominal == POWER or not is_off:
            return " "
        is_test = self.nominal < POWER
        is_cautious = error < 0 if is_test else error > 0
        if is_cautious:
            return "~"
        nominal_error = min(self.nominal, 100 - self.nominal)
        if self.unwarned > nominal_error + TOLERANCE:
            return "!"
        return "w"

    def __str__(self) -> str:
        if math.isnan(self.percent):
            return "none "
        digits = f"{self.percent:.1f}"[:4]
        return digits.rstrip(".") + self.mark


Cells = dict[tuple[str, float, str], dict[int, Cell]]
#: Queries below which the page says that a test or interval does not hold.
NEEDED = {
    "evaluate: t": 20,
    "evaluate: BCa": 200,
    "compare: t": 10,
    "compare: randomization, BCa": 200,
    "compare: medians": 10,
}
#: Data that are not the null of a test, or not what it assumes, as the page says.
NOT_ITS_NULL = {
    ("compare: wilcoxon", "skewed"),
    ("compare: clusters", "no cluster=, 0.7"),
    ("ranks: 10 systems", "rare losses of one"),
    ("gates: worse, no loss", "paired, rare gain"),
}
for _name in RARE_LOSSES:
    NOT_ITS_NULL.add((INFERIOR, f"t, {_name}"))


def mark(title: str, row: str, n: int, cell: Cell) -> str:
    """Return the mark of a cell; "x" if the page says why the cell is off."""
    is_small = n < NEEDED.get(title, 0)
    is_known = is_small or (title, row) in NOT_ITS_NULL
    if is_known and cell.mark == "!":
        return "x"
    return cell.mark


def draw_claims(title: str, n: int, data_sets: Sequence[int]) -> list[Claim]:
    """Return the claims about data sets, each of which has a seed of its own."""
    simulation = STUDIES[title]
    claims: list[Claim] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in data_sets:
            rng = np.random.default_rng([simulation.seed, n, i])
            claims.extend(simulation.simulate(rng, n))
    return claims


def simulated(
    queries: Sequence[int], n_data_sets: int, n_jobs: int = 1, only: str = ""
) -> Cells:
    """Return the cells of each study and row, tests first, by number of queries."""
    tasks = []
    for title, simulation in STUDIES.items():
        if only not in title:
            continue
        n_drawn = max(2, round(simulation.share * n_data_sets))
        for n in simulation.queries:
            if n not in queries:
                continue
            for data_sets in chunks(n_drawn, _CHUNK):
                tasks.append((title, n, data_sets))
    claims_of_cells = defaultdict(list)
    for (title, n, _), claims in in_parallel(draw_claims, tasks, n_jobs):
        for claim in claims:
            key = title, claim.nominal, claim.row, n
            claims_of_cells[key].append(claim)
    # Studies keep their order. In each study, tests come before intervals.
    titles = list(STUDIES)
    keys = sorted(claims_of_cells, key=lambda key: key[1])
    keys.sort(key=lambda key: titles.index(key[0]))
    cells: Cells = defaultdict(dict)
    for title, nominal, row, n in keys:
        claims = claims_of_cells[title, nominal, row, n]
        cells[title, nominal, row][n] = Cell.from_claims(claims)
    return cells


def chunks(n: int, size: int) -> list[range]:
    """Return ranges of at most this size that make up range(n)."""
    parts = []
    for start in range(0, n, size):
        end = min(start + size, n)
        parts.append(range(start, end))
    return parts


#: Arguments of a function that runs in another process.
Task = tuple[Any, ...]


def in_parallel(
    function: Callable[..., Any], tasks: Sequence[Task], n_jobs: int
) -> Iterator[tuple[Task, Any]]:
    """Return each task with the result of the function."""
    calls = [delayed(function)(*task) for task in tasks]
    results = Parallel(n_jobs=n_jobs)(calls)
    return zip(tasks, results, strict=True)


def table(cells: Cells, queries: Sequence[int]) -> str:
    """Return a row for each test or interval and kind of data, below titles."""
    n_rows = Counter(title for title, _, _ in cells)
    rows = []
    last_title = ""
    for (title, nominal, row), cells_of_row in cells.items():
        name = f"  {row}"
        if n_rows[title] == 1:
            name = f"{title}: {row}"
        elif title != last_title:
            empty = [""] * (2 + len(queries))
            rows.append([title, *empty])
        last_title = title
        first_cell = next(iter(cells_of_row.values()))
        error = math.sqrt(nominal * (100 - nominal) / first_cell.n_data_sets)
        shown_nominal = "" if nominal == POWER else f"{nominal:.0f}"
        line = [name, shown_nominal, f"{error:.1f}"]
        for n in queries:
            text = ""
            if n in cells_of_row:
                cell = cells_of_row[n]
                percent = str(cell)[:-1]
                text = percent + mark(title, row, n, cell)
            line.append(text)
        rows.append(line)
    header = ["queries", "", "±"]
    for n in queries:
        # The blank is above the marks.
        header.append(f"{n} ")
    return format_table(header, rows)


def counts(cells: Cells) -> str:
    """Return how many cells have which mark."""
    marks = []
    for (title, _, row), cells_of_row in cells.items():
        for n, cell in cells_of_row.items():
            marks.append(mark(title, row, n, cell))
    shares = ", ".join(f"{marks.count(symbol)} {symbol}" for symbol in "!xw~")
    return f"{len(marks)} cells, {TOLERANCE} points off or more: {shares}"


def tables(cells: Cells) -> list[str]:
    """Return the table of each part, with the numbers of queries of its studies."""
    parts: dict[str, Cells] = defaultdict(dict)
    for key, cells_of_row in cells.items():
        part = key[0].partition(":")[0]
        if part not in PARTS:
            part = ""
        parts[part][key] = cells_of_row
    texts = []
    for part_cells in parts.values():
        queries: set[int] = set()
        for cells_of_row in part_cells.values():
            queries.update(cells_of_row)
        text = table(part_cells, sorted(queries))
        texts.append(f"{text}\n\n{counts(part_cells)}")
    return texts


#: Weights of which a few queries have the most.
CONCENTRATED = {
    "20 queries of weight 100, 180 of 1": np.repeat([100, 1], [20, 180]),
    "5 queries of weight 100, 195 of 1": np.repeat([100, 1], [5, 195]),
    "200 queries, Zipf": 1 / np.arange(1, 201),
    "1,000 queries, Zipf": 1 / np.arange(1, 1001),
    "1 query of weight 1,000, 50 of 1": np.repeat([1000, 1], [1, 50]),
}


def weighted_means(row: str, data_sets: Sequence[int]) -> list[Claim]:
    """Return the claims of intervals of a weighted mean."""
    weight = CONCENTRATED[row]
    n = len(weight)
    claims = []
    for i in data_sets:
        rng = np.random.default_rng([n, i])
        report = evaluate_values(uniform(rng, n), weight)
        summary, warned = call(report.summary)
        ends = summary.interval[0]
        claims.append(interval(row, ends, warned, target=0.5))
    return claims


def table_of_weights(n_data_sets: int, n_jobs: int = 1) -> str:
    """Return a row for each kind of weights: effective size, and coverage."""
    tasks = []
    for row in CONCENTRATED:
        for data_sets in chunks(n_data_sets, _WEIGHTED_CHUNK):
            tasks.append((row, data_sets))
    claims: dict[str, list[Claim]] = defaultdict(list)
    for (row, _), part in in_parallel(weighted_means, tasks, n_jobs):
        claims[row] += part
    rows = []
    for row, weight in CONCENTRATED.items():
        effective_size = weight.sum() ** 2 / (weight**2).sum()
        cell = Cell.from_claims(claims[row])
        rows.append([row, f"{effective_size:.1f}", str(cell)])
    return format_table(["weights", "worth", "covered "], rows)


#: Gates that run in a year.
NIGHTS = 250


def drift_alarms(rng: Generator, nights: FloatArray, alpha: float) -> float:
    """Return alarms a year at a loss of 0.001 a night, of runs so many nights apart.

    Each night changes the values of 200 queries at random, with a deviation of 0.07.
    """
    n = 200
    shape = (400, len(nights))
    error = 0.07 * np.sqrt(nights / n)
    means = rng.normal(-0.001 * nights, error, shape)
    variances = rng.chisquare(n - 1, shape) / (n - 1)
    statistics = means / (error * np.sqrt(variances))
    pvalues = stats.t.cdf(statistics, n - 1)
    alarms = (pvalues < alpha).sum(axis=1)
    return float(alarms.mean())


def retries(rng: Generator, n_systems: int) -> FloatArray:
    """Return which of 20 tries, each on 100 queries, pass systems that lose 1 on 3%."""
    n_lost = rng.binomial(100, LOSS, (n_systems, 20))
    query = np.arange(100)
    pvalues = []
    for number in range(n_lost.max() + 1):
        differences = np.where(query < number, -1.0, 0.0)
        pvalues.append(gaffke_pvalue(differences, 1.0, LOSS))
    return np.array(pvalues)[n_lost] < ALPHA


def table_of_runs(n_years: int = 400) -> str:
    """Return alarms of a year of nightly gates, and passes of a gate tried again."""
    rng = np.random.default_rng(0)
    n_runs = n_years * NIGHTS
    pvalues = np.empty(n_runs)
    for i in range(n_runs):
        differences = ndcg_difference(rng, 200)
        pvalues[i] = paired_pvalue(differences)
    # Nights since the run of the baseline: the run of the night before, or a fixed run.
    rolling = np.ones(NIGHTS)
    fixed = np.arange(1.0, NIGHTS + 1)
    rows = []
    for alpha in (ALPHA, 0.01):
        alarms = {}
        alarms["no loss"] = NIGHTS * np.mean(pvalues < alpha)
        alarms["0.001 lost, rolling"] = drift_alarms(rng, rolling, alpha)
        alarms["0.001 lost, fixed"] = drift_alarms(rng, fixed, alpha)
        for name, number in alarms.items():
            rows.append([f"alarms: {name}", f"{alpha}", f"{number:.1f}"])
    is_pass = retries(rng, n_runs)
    for tries in (1, 5, 10, 20):
        passed = is_pass[:, :tries].any(axis=1)
        percent = 100 * passed.mean()
        rows.append([f"% passed, tries: {tries}", f"{ALPHA}", f"{percent:.1f}"])
    return format_table(["runs", "alpha", "number"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference", description=__doc__
    )
    parser.add_argument("--only", default="", help="studies whose titles hold this")
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--weights", action="store_true", help="only weighted means")
    parser.add_argument("--runs", action="store_true", help="only repeated gates")
    arguments = parser.parse_args()
    if arguments.weights:
        print(table_of_weights(2 * arguments.data_sets, arguments.jobs))
        return
    if arguments.runs:
        print(table_of_runs())
        return
    sizes: dict[str, Any] = QUICK
    if not arguments.quick:
        sizes = {"queries": ALL_QUERIES, "n_data_sets": arguments.data_sets}
    start = time.perf_counter()
    cells = simulated(**sizes, n_jobs=arguments.jobs, only=arguments.only)
    print("\n\n".join(tables(cells)))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    # Worker processes find the functions only in a module that is imported by its name.
    from benchmarks import inference

    inference.main()
