"""Whether p-values and intervals mean what they say, by simulation.

``python -m benchmarks.inference`` draws data sets whose truth is known, and counts how
often tests at 5 % reject a null that is true, and how often 95 % intervals contain what
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
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from scipy.special import ndtr

import tieaware_sklearn as tieaware
from benchmarks.tables import format_table
from tieaware_sklearn.judgments import estimate_recall
from tieaware_sklearn.statistics.gates import gaffke_pvalue
from tieaware_sklearn.statistics.multiple_testing import adjust
from tieaware_sklearn.statistics.paired_tests import paired_tests
from tieaware_sklearn.statistics.rank_intervals import rank_intervals

SIZE, COVERAGE, ALPHA = 5.0, 95.0, 0.05
#: in place of a nominal value, of which a power has none
POWER = 50.0
#: points beyond which a cell is marked
TOLERANCE = 1.5
QUERIES, DATA_SETS = (5, 10, 20, 30, 50, 200), 1000
QUICK = {"queries": (20,), "n_data_sets": 24}
#: numbers of queries of any study
ALL_QUERIES = (5, 10, 20, 30, 50, 100, 200, 500)
#: studies whose titles begin so have a table of their own
PARTS = ("ranks", "gates")
#: data sets that a process simulates at a time
_CHUNK = 20
RESAMPLES = 999
LABEL_OF_FIRST = "NDCG(gain=linear)@1"
#: documents of a query, and features that have nothing to do with their labels
LENGTH, N_NOISE = 10, 30
RECIPROCAL_RANKS = 1 / np.arange(1, LENGTH + 1)


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


def rejection(
    row: str, pvalue: Any, warned: bool = False, alpha: float = ALPHA
) -> Claim:
    return Claim(row, 100 * alpha, float(pvalue), 1.0, alpha, 0.0, warned)


def interval(
    row: str, ends: Any, warned: bool, *, target: float = np.nan, estimate: float = 0.0
) -> Claim:
    return Claim(row, COVERAGE, *map(float, ends), target, float(estimate), warned)


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

    simulate: Callable[..., Iterator[Claim]]
    queries: Sequence[int]
    share: float
    seed: int


STUDIES: dict[str, Study] = {}


def study(
    title: str, queries: Sequence[int] = QUERIES, share: float = 1.0, *, seed: int
) -> Any:
    def register(simulate: Any) -> Any:
        STUDIES[title] = Study(simulate, queries, share, seed)
        return simulate

    return register


def told(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, bool]:
    """A result, and whether a warning came with it that speaks of inference."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **options)
    messages = " ".join(str(warning.message) for warning in caught)
    return result, bool(re.search(r"interval|p-value|\btest|reject", messages))


def seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(size=n)


def draw_reciprocal_ranks(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice(RECIPROCAL_RANKS, n)


def mostly_zeros(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(size=n) * rng.binomial(1, 0.1, n)


def mostly_successes(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.binomial(1, 0.9, n)


def reciprocal_ranks_or_zero(rng: np.random.Generator, n: int) -> np.ndarray:
    return draw_reciprocal_ranks(rng, n) * rng.binomial(1, 0.92, n)


_LOG_RR = 0.92 * np.log(RECIPROCAL_RANKS).mean() + 0.08 * np.log(1e-5)
#: values of queries, and their average
Values = Mapping[str, tuple[Any, float]]
UNWEIGHTED: Values = {
    "dense": (uniform, 0.5),
    "RR": (draw_reciprocal_ranks, RECIPROCAL_RANKS.mean()),
    "90 % zeros": (mostly_zeros, 0.05),
    "0 or 1, mean .9": (mostly_successes, 0.9),
}
#: weights of which a few queries have the most
CONCENTRATED = {
    "20 queries of weight 100, 180 of 1": np.repeat([100, 1], [20, 180]),
    "5 queries of weight 100, 195 of 1": np.repeat([100, 1], [5, 195]),
    "200 queries, Zipf": 1 / np.arange(1, 201),
    "1,000 queries, Zipf": 1 / np.arange(1, 1001),
    "1 query of weight 1,000, 50 of 1": np.repeat([1000, 1], [1, 50]),
}
WEIGHTED = "dense, weighted"
MEANS = {**UNWEIGHTED, WEIGHTED: (uniform, 0.5)}
MEDIANS: Values = {"dense": (uniform, 0.5)}
GEOMETRIC: Values = {
    "dense": (uniform, math.exp(-1)),
    "RR, 8 % zeros": (reciprocal_ranks_or_zero, math.exp(_LOG_RR)),
}


def evaluated(values: np.ndarray, weight: np.ndarray | None = None) -> Any:
    """The report of a system that has these values of queries."""
    n = len(values)
    # Each query has a document that ranks first, and the ideal document.
    labels = np.column_stack([values, np.ones(n)]).ravel()
    scores = np.tile([1, 0], n)
    qid = np.arange(n).repeat(2)
    if weight is not None:
        weight = weight.repeat(2)
    return tieaware.evaluate(
        labels, scores, qid=qid, measures=LABEL_OF_FIRST, query_weight=weight
    )


def averages(
    rng: np.random.Generator, n: int, *, values: Values, **options: Any
) -> Iterator[Claim]:
    for name, (draw, target) in values.items():
        drawn = draw(rng, n)
        weight = rng.exponential(size=n) if name == WEIGHTED else None
        report = evaluated(drawn, weight)
        found, warned = told(report.summary, random_state=seed(rng), **options)
        yield interval(name, found.interval[0], warned, target=target)


BCA = {"interval": "bootstrap", "n_resamples": RESAMPLES}
study("evaluate: t", seed=0)(partial(averages, values=MEANS))
study("evaluate: BCa", seed=1)(partial(averages, values=UNWEIGHTED, **BCA))
study("evaluate: geometric mean", seed=2)(
    partial(averages, values=GEOMETRIC, average="geometric")
)
study("evaluate: median", seed=3)(partial(averages, values=MEDIANS, average="median"))


def compared(values: np.ndarray, **options: Any) -> tuple[Any, bool]:
    """Systems compared that have these values, (n_queries, n_systems)."""
    n, m = values.shape
    labels = np.column_stack([values, np.ones(n)]).ravel()
    systems = {f"s{j}": np.tile(np.arange(m + 1) == j, n) for j in range(m)}
    options |= {"qid": np.arange(n).repeat(m + 1), "measure": LABEL_OF_FIRST}
    return told(tieaware.compare_systems, labels, systems, **options)


def dense_pairs(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(size=(n, 2))


def half_equal_pairs(rng: np.random.Generator, n: int) -> np.ndarray:
    values = dense_pairs(rng, n)
    # Both systems are 0 on the queries where they are equal.
    return values * rng.binomial(1, 0.5, (n, 1))


def reciprocal_rank_pairs(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice(RECIPROCAL_RANKS, size=(n, 2))


def skewed_pairs(rng: np.random.Generator, n: int) -> np.ndarray:
    skewed = rng.uniform(size=n) ** 4
    return np.column_stack([skewed, np.full(n, 0.2)])


#: Values of two systems with equal means. The medians of dense pairs are equal too.
PAIRS: dict[str, Any] = {
    "dense": dense_pairs,
    "half equal": half_equal_pairs,
    "RR": reciprocal_rank_pairs,
    "skewed": skewed_pairs,
}


def pairs(
    rng: np.random.Generator, n: int, *, n_kinds: int = len(PAIRS), **options: Any
) -> Iterator[Claim]:
    for name, draw in list(PAIRS.items())[:n_kinds]:
        found, warned = compared(draw(rng, n), random_state=seed(rng), **options)
        yield rejection(name, found.pvalues[0], warned)
        # other tests have the interval of the t test
        if options.get("test") != "wilcoxon":
            yield interval(name, found.difference_interval[0], warned, target=0.0)


study("compare: t", seed=4)(pairs)
study("compare: randomization, BCa", share=0.8, seed=5)(
    partial(pairs, test="randomization", **BCA)
)
study("compare: wilcoxon", share=0.3, seed=6)(partial(pairs, test="wilcoxon"))
study("compare: medians", seed=7)(
    partial(pairs, n_kinds=1, average="median", n_resamples=RESAMPLES)
)


@study("compare: clusters", (10, 20, 50, 200), seed=20)
def clusters(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    # n is the number of clusters; two systems whose values correlate within them
    cluster = np.repeat(np.arange(n), rng.integers(1, 9, n))
    for correlation in (0.0, 0.3, 0.7):
        shared = math.sqrt(correlation) * rng.normal(size=(n, 2))[cluster]
        own = math.sqrt(1 - correlation) * rng.normal(size=(len(cluster), 2))
        values, row = ndtr(shared + own), f"correlation {correlation}"
        found, warned = compared(values, cluster=cluster.repeat(3))
        yield rejection(row, found.pvalues[0], warned)
        yield interval(row, found.difference_interval[0], warned, target=0.0)
    # of the largest correlation
    found, warned = compared(values, cluster=cluster.repeat(3), test="randomization")
    yield rejection("randomization, 0.7", found.pvalues[0], warned)
    found, warned = compared(values)
    yield rejection("no cluster=, 0.7", found.pvalues[0], warned)


def heaviest(n: int) -> dict[str, np.ndarray]:
    """Weights of queries, few of which have most of the weight."""
    return {
        "5 heavy": np.where(np.arange(n) < 5, 100.0, 1.0),
        "Zipf": 1 / np.arange(1, n + 1),
    }


@study("compare: weights", (20, 50, 200), seed=16)
def weighted_pairs(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    for name, weight in heaviest(n).items():
        # with short tails, a few heavy differences are far from normal
        values = np.column_stack([rng.uniform(size=n), np.full(n, 0.5)])
        for test in ("t", "randomization"):
            found, warned = compared(
                values,
                query_weight=weight.repeat(3),
                test=test,
                n_resamples=RESAMPLES,
                random_state=seed(rng),
            )
            # the randomisation test is the remedy
            warned &= test == "t"
            yield rejection(f"{test}, {name}", found.pvalues[0], warned)
            if test == "t":
                ends = found.difference_interval[0]
                yield interval(f"{test}, {name}", ends, warned, target=0.0)


#: queries of each of the two other segments
_LARGE = 200


@study("by_segment: interaction", (5, 10, 20, 30, 50), seed=17)
def interactions(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    """A segment of n queries beside two large ones, where no system is better."""
    large = rng.uniform(size=(2 * _LARGE, 2))
    segment = np.repeat([0, 1, 2], [n, _LARGE, _LARGE])
    for name in ("dense", "skewed"):
        values = np.concatenate([PAIRS[name](rng, n), large])
        found, _ = compared(values, segment=segment.repeat(3))
        found, warned = told(found.by_segment)
        yield rejection(f"{name} segment", found.interaction[0], warned)


@study("compare: five measures", (20, 50, 200), seed=18)
def five_measures(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    labels = rng.integers(0, 2, n * LENGTH)
    systems = dict(zip("ab", rng.uniform(size=(2, n * LENGTH)), strict=True))
    measures = ["ndcg@10", "ap", "rr", "p@5", "rbp"]
    qid = np.arange(n).repeat(LENGTH)
    found, warned = told(
        tieaware.compare_systems, labels, systems, qid=qid, measure=measures
    )
    # a note below the pairs
    warned |= "not corrected for the 5 measures" in str(found)
    yield rejection("any", found.pvalues.min(), warned)


@study("compare: best of 8", (20, 50, 200), seed=19)
def best_of_eight(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    found, warned = compared(rng.uniform(size=(n, 9)), baseline="s0")
    # a sentence below the tables
    warned |= "is too large on average" in " ".join(str(found).split())
    best = found.difference.argmax()
    yield interval("lead", found.difference_interval[best], warned, target=0.0)


@study("compare: any of ten pairs", (5, 10, 20, 50), 0.3, seed=8)
def families(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    for name, least in (("equal spread", 1.0), ("one spreads more", 0.1)):
        values = 0.5 + [1.0, *[least] * 4] * (rng.uniform(size=(n, 5)) - 0.5)
        for correction in ("holm", "tukey"):
            found, warned = compared(values, correction=correction)
            smallest = np.nanmin(found.adjusted_pvalues)
            yield rejection(f"{correction}, {name}", smallest, warned)


@study("RankingFeatureSelector", (5, 10, 20, 50), 0.5, seed=9)
def selectors(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    qid, shape = np.repeat(np.arange(n), LENGTH), (n * LENGTH, N_NOISE)
    one, three = (np.tile(np.arange(LENGTH) < r, n) for r in (1, 3))
    for name, X in (
        ("rare flags", rng.uniform(size=shape) < 0.1),
        ("half flags", rng.uniform(size=shape) < 0.5),
        ("continuous", rng.normal(size=shape)),
    ):
        # with one relevant document, AP is RR
        for labels, measures in ((one, ["rr", "ndcg@10"]), (three, ["ap"])):
            own = tieaware.RankingFeatureSelector(measures, max_correlation=None)
            _, warned = told(own.fit, X.astype(float), labels, qid=qid)
            for measure, q in zip(own.measures_, own.qvalues_.T, strict=True):
                yield rejection(f"{name}, {measure}", q.min(), warned)


def of_8_bits(rng: np.random.Generator, n: int, keep: float) -> Any:
    """Queries with one relevant document among 50."""
    scores, labels = rng.normal(size=(n, 50)), np.tile(np.arange(50) < 1, n)
    scores[:, 0] += 2
    options: dict[str, Any] = {"measure": "rr", "coarseness": "bits=8", "keep": [keep]}
    qid = np.repeat(np.arange(n), 50)
    return tieaware.precision_study(labels, scores.ravel(), qid=qid, **options)


@lru_cache
def kept() -> float:
    """The share of the mean RR that scores of 8 bits keep."""
    # so many that its error hardly moves the size of a test of 200 queries
    rng = np.random.default_rng(0)
    parts = [of_8_bits(rng, 10_000, 0.99).expected[::-1] for _ in range(20)]
    return float(np.divide(*np.mean(parts, axis=(0, 2, 3))))


@study("precision_study", (20, 50, 200), seed=13)
def precision(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    found, warned = told(of_8_bits, rng, n, kept())
    # a table says so where too few queries change for a count
    warned |= bool(re.search(r"^bits=8 .* few *$", str(found), re.M))
    yield rejection("RR, 8 bits", found.inferiority[-1, 0, 0], warned)


@study("estimate_recall", (20, 50, 200), seed=14)
def recalls(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    found, warned = told(estimate_recall, rng.uniform(size=n) < 0.05, 100_000, 3000)
    yield interval("share relevant", found.share_interval, warned, target=0.05)
    yield interval("recall", found.recall_interval, warned, target=0.6)


def ndcg_at_10(labels: np.ndarray, scores: np.ndarray) -> float:
    """NDCG@10 of one order, in plain NumPy; 0 without a relevant document."""
    gains = 2.0**labels - 1
    ideal = np.sort(gains)[:-11:-1]
    discounts = 1 / np.log2(np.arange(2, 12))
    best = ideal @ discounts[: len(ideal)]
    return float(gains[:10] @ discounts[: len(ideal)] / best) if best else 0.0


@study("orders of ties", (5, 20, 50, 200), 0.5, seed=15)
def orders(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    labels, scores = rng.integers(0, [[3], [4]], size=(2, n * LENGTH))
    data: dict[str, Any] = {"qid": np.repeat(np.arange(n), LENGTH)}
    exact = tieaware.evaluate(labels, scores, measures="ndcg@10", **data).summary()
    options = {"n_orders": 100, "random_state": seed(rng)}
    drawn = tieaware.sampled(labels, scores, ndcg_at_10, **options, **data)
    both, (mean,), (std,) = np.array([-1.96, 1.96]), exact.mean, exact.tie_std
    ends = drawn.mean + both * drawn.sampling_error
    yield interval("sampled: sampling_error", ends, False, target=mean)
    # the rows of a query stand in random order
    options = {"measure": "ndcg@10", "ties": "input"}
    one_order = tieaware.ranking_score(labels, scores, **options, **data)
    yield interval("tie_std", mean + both * std, False, target=one_order)


def ndcg_values(easiness: np.ndarray) -> np.ndarray:
    """Values of queries with 15% zeros, from how easy queries are in [0, 1]."""
    return np.maximum((easiness - 0.15) / 0.85, 0.0)


MEAN_NDCG = 0.85 / 2


def reciprocal_ranks(easiness: np.ndarray) -> np.ndarray:
    return 1 / np.ceil(LENGTH * (1 - easiness))


def precisions(easiness: np.ndarray) -> np.ndarray:
    below = stats.binom.cdf(range(10), 10, 0.4)
    return np.searchsorted(below, easiness) / 10


def draw_easiness(
    rng: np.random.Generator, n: int, shift: np.ndarray, correlation: Any = 0.7
) -> np.ndarray:
    """How easy each query is for each system, (n, n_systems).

    Systems of equal shift are equally good, whatever their correlation.
    """
    own = rng.normal(size=(n, len(shift)))
    shared = rng.normal(size=(n, 1))
    normal = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    return ndtr(normal + shift)


def rare_loss(
    rng: np.random.Generator,
    n: int,
    share: float = 0.05,
    loss: float = 0.38,
    mean: float = 0.0,
) -> np.ndarray:
    """Differences with this mean: a share of the queries lose much."""
    rest = (mean + share * loss) / (1 - share)
    return np.where(rng.uniform(size=n) < share, -loss, rest)


def ranked(row: str, values: np.ndarray, shift: np.ndarray) -> Claim:
    """Whether all rank intervals contain the ranks of systems of this shift."""
    m = len(shift)
    first, second = np.triu_indices(m, 1)
    differences = values[:, first] - values[:, second]
    statistics, pvalues = paired_tests(differences.T, "t")
    is_significant = adjust(pvalues, "holm") < ALPHA
    better = np.zeros((m, m), dtype=bool)
    better[first, second] = is_significant & (statistics > 0)
    better[second, first] = is_significant & (statistics < 0)
    true_ranks = rank_intervals(shift[:, None] > shift)
    low, high = (rank_intervals(better) - true_ranks).T
    return interval(row, (low.max(), high.min()), False, target=0.0)


def rank_studies(rng: np.random.Generator, n: int, *, m: int) -> Iterator[Claim]:
    system = np.arange(m)
    # two of three systems, and seven of ten, are nearly the same
    near = np.where(system < math.ceil(0.3 * m), 0.7, 0.97)
    groups = np.where(system % 2, 0.0, 0.3)
    means = {
        "equal means": np.zeros(m),
        "two groups": groups,
        "unequal means": np.linspace(0, 1, m),
    }
    for name, shift in means.items():
        values = ndcg_values(draw_easiness(rng, n, shift))
        yield ranked(f"{name}, equal spreads", values, shift)
        values = ndcg_values(draw_easiness(rng, n, shift, near))
        yield ranked(f"{name}, unequal spreads", values, shift)


RANK_QUERIES = (20, 50, 200, 500)
study("ranks: 3 systems", RANK_QUERIES, seed=21)(partial(rank_studies, m=3))


@study("ranks: 10 systems", RANK_QUERIES, seed=22)
def ranks_of_ten(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    yield from rank_studies(rng, n, m=10)
    equal = np.zeros(10)
    values = reciprocal_ranks(draw_easiness(rng, n, equal))
    yield ranked("equal means, RR", values, equal)
    values = precisions(draw_easiness(rng, n, equal))
    yield ranked("equal means, P@10", values, equal)
    values = rng.normal(0, 0.01, (n, 10))
    values[:, 0] += rare_loss(rng, n)
    yield ranked("rare losses of one", values, equal)


study("ranks: 30 systems", RANK_QUERIES, seed=23)(partial(rank_studies, m=30))


def ndcg_difference(
    rng: np.random.Generator, n: int, loss: float = 0.0, correlation: float = 0.7
) -> np.ndarray:
    """Differences of NDCG with a mean of -`loss`."""
    both = draw_easiness(rng, n, np.zeros(2), correlation)
    system, baseline = ndcg_values(both).T
    return system * (1 - loss / MEAN_NDCG) - baseline


def paired(differences: np.ndarray) -> float:
    """The p-value of a loss."""
    _, (pvalue,) = paired_tests(differences[None], "t", "less")
    return float(pvalue)


def welch(system: np.ndarray, baseline: np.ndarray) -> float:
    """The p-value of a loss on other queries."""
    test = stats.ttest_ind(system, baseline, equal_var=False, alternative="less")
    return float(test.pvalue)


@study("gates: worse, no loss", (10, 20, 50, 200), 4, seed=24)
def no_loss(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    measures = {"NDCG": ndcg_values, "RR": reciprocal_ranks, "P@10": precisions}
    for measure, values_of in measures.items():
        system, baseline = values_of(draw_easiness(rng, n, np.zeros(2))).T
        yield rejection(f"paired, {measure}", paired(system - baseline))
        system, baseline = values_of(rng.uniform(size=(2, n)))
        yield rejection(f"Welch, {measure}", welch(system, baseline))
    differences = rare_loss(rng, n)
    yield rejection("paired, rare loss", paired(differences))
    differences = -rare_loss(rng, n)
    yield rejection("paired, rare gain", paired(differences))


def power(row: str, pvalue: float) -> Claim:
    """Whether a test rejects a null that is wrong."""
    claim = rejection(row, pvalue)
    return claim._replace(nominal=POWER)


@study("gates: worse, a loss of 0.05", (10, 20, 50, 100, 200, 500), 4, seed=25)
def a_loss(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    differences = ndcg_difference(rng, n, loss=0.05)
    yield power("paired", paired(differences))
    system, baseline = ndcg_values(rng.uniform(size=(2, n)))
    system *= 1 - 0.05 / MEAN_NDCG
    yield power("Welch", welch(system, baseline))


LOSS = 0.03
#: shares of queries that lose most of a mean loss of `LOSS`, and their losses
RARE_LOSSES = {
    "5% lose 0.41": (0.05, 0.41),
    "3% lose 1": (0.03, 1.0),
    "1% lose 1": (0.01, 1.0),
}
INFERIOR = f"gates: inferior, a loss of {LOSS}"


def not_inferior(rng: np.random.Generator, differences: np.ndarray) -> dict[str, float]:
    """The p-values of two tests that the loss is `LOSS` or more."""
    _, (pvalue,) = paired_tests(differences[None] + LOSS, "t", "greater")
    bound = gaffke_pvalue(differences, 1.0, LOSS, random_state=seed(rng))
    return {"t": pvalue, "Gaffke": bound}


@study(INFERIOR, (10, 20, 50, 100, 200), seed=26)
def at_tolerance(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    pvalues = {"NDCG": not_inferior(rng, ndcg_difference(rng, n, LOSS))}
    for name, (share, loss) in RARE_LOSSES.items():
        differences = rare_loss(rng, n, share, loss, -LOSS)
        pvalues[name] = not_inferior(rng, differences)
    for name, tests in pvalues.items():
        for test, pvalue in tests.items():
            yield rejection(f"{test}, {name}", pvalue)
            yield rejection(f"{test}, {name}", pvalue, alpha=0.01)


@study(f"gates: not inferior by {LOSS}", (20, 50, 100, 200, 500), seed=27)
def passes(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    """Systems without a loss."""
    differences = ndcg_difference(rng, n)
    for test, pvalue in not_inferior(rng, differences).items():
        yield power(f"{test}, NDCG", pvalue)
    near = ndcg_difference(rng, n, correlation=0.97)
    for test, pvalue in not_inferior(rng, near).items():
        yield power(f"{test}, NDCG, near-duplicates", pvalue)


class Cell(NamedTuple):
    """How often tests reject or intervals cover, and how often wrongly and unwarned."""

    percent: float
    unwarned: float
    nominal: float
    n_data_sets: int

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> Cell:
        nominal = claims[0].nominal
        low, high, target, estimate, warned = np.array([one[2:] for one in claims]).T
        target = np.where(np.isnan(target), np.nanmean(estimate), target)
        within = (low <= target) & (target <= high)
        unwarned = (within == (nominal < POWER)) & (warned == 0)
        # of the data sets that have an interval
        both = np.array([within, unwarned])[:, ~np.isnan(low)]
        percent = 100 * both.mean(axis=1) if both.size else [np.nan] * 2
        return cls(*percent, nominal, len(claims))

    @property
    def mark(self) -> str:
        off = self.percent - self.nominal
        if self.nominal == POWER or not abs(off) > TOLERANCE:
            return " "
        if (off < 0) == (self.nominal < POWER):
            return "~"
        wrong = min(self.nominal, 100 - self.nominal)
        return "!" if self.unwarned > wrong + TOLERANCE else "w"

    def __str__(self) -> str:
        if math.isnan(self.percent):
            return "none "
        return f"{self.percent:.1f}"[:4].rstrip(".") + self.mark


Cells = dict[tuple[str, float, str], dict[int, Cell]]
#: queries below which the page says that a test or interval does not hold
NEEDED = {
    "evaluate: t": 20,
    "evaluate: BCa": 200,
    "compare: t": 10,
    "compare: randomization, BCa": 200,
    "compare: medians": 10,
}
#: data that are not the null of a test, or not what it assumes, as the page says
NOT_ITS_NULL = {
    ("compare: wilcoxon", "skewed"),
    ("compare: clusters", "no cluster=, 0.7"),
    ("ranks: 10 systems", "rare losses of one"),
    ("gates: worse, no loss", "paired, rare gain"),
}
NOT_ITS_NULL |= {(INFERIOR, f"t, {name}") for name in RARE_LOSSES}


def mark(title: str, row: str, n: int, cell: Cell) -> str:
    """The mark of a cell of the table; "x" where the page says what is off."""
    known = n < NEEDED.get(title, 0) or (title, row) in NOT_ITS_NULL
    return "x" if known and cell.mark == "!" else cell.mark


def claims_of(title: str, n: int, data_sets: Sequence[int]) -> list[Claim]:
    """The claims of some data sets, each drawn from a seed of its own."""
    own = STUDIES[title]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        claims: list[Claim] = []
        for i in data_sets:
            rng = np.random.default_rng([own.seed, n, i])
            claims.extend(own.simulate(rng, n))
        return claims


def simulated(
    queries: Sequence[int], n_data_sets: int, n_jobs: int = 1, only: str = ""
) -> Cells:
    """The cells of each study and row, tests first, by number of queries."""
    tasks = []
    for title, simulation in STUDIES.items():
        if only not in title:
            continue
        data_sets = range(max(2, round(simulation.share * n_data_sets)))
        for n in simulation.queries:
            if n not in queries:
                continue
            for start in data_sets[::_CHUNK]:
                tasks.append((title, n, data_sets[start : start + _CHUNK]))
    claims_of_tasks = Parallel(n_jobs=n_jobs)(
        delayed(claims_of)(*task) for task in tasks
    )
    claims_of_studies: dict[str, Any] = {title: defaultdict(list) for title in STUDIES}
    for (title, n, _), claims in zip(tasks, claims_of_tasks, strict=True):
        for claim in claims:
            claims_of_studies[title][claim.nominal, claim.row, n].append(claim)
    cells: Cells = defaultdict(dict)
    for title, study_claims in claims_of_studies.items():
        for nominal, row, n in sorted(study_claims, key=lambda key: key[0]):
            cells[title, nominal, row][n] = Cell.of(study_claims[nominal, row, n])
    return cells


def table(cells: Cells, queries: Sequence[int]) -> str:
    """A row for each test or interval and kind of data, below the titles of studies."""
    rows, titles = [], [title for title, _, _ in cells]
    for i, ((title, nominal, row), own) in enumerate(cells.items()):
        alone = titles.count(title) == 1
        if not alone and title not in titles[:i]:
            rows.append([title, *[""] * (2 + len(queries))])
        name = f"{title}: {row}" if alone else f"  {row}"
        n_data_sets = next(iter(own.values())).n_data_sets
        error = math.sqrt(nominal * (100 - nominal) / n_data_sets)
        wanted = "" if nominal == POWER else f"{nominal:.0f}"
        line = [name, wanted, f"{error:.1f}"]
        for n in queries:
            text = ""
            if n in own:
                text = str(own[n])[:-1] + mark(title, row, n, own[n])
            line.append(text)
        rows.append(line)
    return format_table(["queries", "", "±", *(f"{n} " for n in queries)], rows)


def counts(cells: Cells) -> str:
    """How many cells have which mark."""
    marks = []
    for (title, _, row), cells_of_row in cells.items():
        for n, cell in cells_of_row.items():
            marks.append(mark(title, row, n, cell))
    shares = ", ".join(f"{marks.count(symbol)} {symbol}" for symbol in "!xw~")
    return f"{len(marks)} cells, {TOLERANCE} points off or more: {shares}"


def tables(cells: Cells) -> list[str]:
    """The table of each part, with the numbers of queries of its studies."""
    parts: dict[str, Cells] = defaultdict(dict)
    for key, own in cells.items():
        first = key[0].partition(":")[0]
        part = first if first in PARTS else ""
        parts[part][key] = own
    shown = []
    for part_cells in parts.values():
        queries = sorted({n for own in part_cells.values() for n in own})
        shown.append(f"{table(part_cells, queries)}\n\n{counts(part_cells)}")
    return shown


def weighted_means(row: str, data_sets: Sequence[int]) -> list[Claim]:
    """Intervals of a weighted mean, of some data sets."""
    weight, claims = CONCENTRATED[row], []
    for i in data_sets:
        rng = np.random.default_rng([len(weight), i])
        report = evaluated(uniform(rng, len(weight)), weight)
        summary, warned = told(report.summary)
        claims.append(interval(row, summary.interval[0], warned, target=0.5))
    return claims


def table_of_weights(n_data_sets: int, n_jobs: int = 1) -> str:
    """A row for each kind of weights: what they are worth, and how often covered."""
    data_sets = range(n_data_sets)
    tasks = []
    for row in CONCENTRATED:
        for start in data_sets[::100]:
            tasks.append((row, data_sets[start : start + 100]))
    parts = Parallel(n_jobs=n_jobs)(delayed(weighted_means)(*task) for task in tasks)
    claims: dict[str, list[Claim]] = defaultdict(list)
    for (row, _), part in zip(tasks, parts, strict=True):
        claims[row] += part
    rows = []
    for row, weight in CONCENTRATED.items():
        effective_size = weight.sum() ** 2 / (weight**2).sum()
        rows.append([row, f"{effective_size:.1f}", str(Cell.of(claims[row]))])
    return format_table(["weights", "worth", "covered "], rows)


#: in a year
NIGHTS = 250


def drift_alarms(rng: np.random.Generator, nights: np.ndarray, alpha: float) -> float:
    """Alarms a year at a loss of 0.001 a night, of runs so many nights apart.

    Each night changes the values of 200 queries at random, with a deviation of 0.07.
    """
    n = 200
    shape = (400, len(nights))
    error = 0.07 * np.sqrt(nights / n)
    means = rng.normal(-0.001 * nights, error, shape)
    errors = error * np.sqrt(rng.chisquare(n - 1, shape) / (n - 1))
    pvalues = stats.t.cdf(means / errors, n - 1)
    return float((pvalues < alpha).sum(axis=1).mean())


def retries(rng: np.random.Generator, n_systems: int) -> np.ndarray:
    """Which of 20 tries, each on 100 queries, pass systems that lose 1 on 3%."""
    n_lost = rng.binomial(100, LOSS, (n_systems, 20))
    query = np.arange(100)
    bounds = []
    for number in range(n_lost.max() + 1):
        differences = np.where(query < number, -1.0, 0.0)
        bounds.append(gaffke_pvalue(differences, 1.0, LOSS))
    return np.array(bounds)[n_lost] < ALPHA


def table_of_runs(n_years: int = 400) -> str:
    """Alarms of a year of nightly gates, and passes of one that is tried again."""
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(n_years * NIGHTS):
        pvalues.append(paired(ndcg_difference(rng, 200)))
    rows = []
    for alpha in (ALPHA, 0.01):
        alarms = NIGHTS * np.mean(np.array(pvalues) < alpha)
        rolling = drift_alarms(rng, np.ones(NIGHTS), alpha)
        fixed = drift_alarms(rng, np.arange(1.0, NIGHTS + 1), alpha)
        rows.append(["alarms: no loss", f"{alpha}", f"{alarms:.1f}"])
        rows.append(["alarms: 0.001 lost, rolling", f"{alpha}", f"{rolling:.1f}"])
        rows.append(["alarms: 0.001 lost, fixed", f"{alpha}", f"{fixed:.1f}"])
    is_pass = retries(rng, n_years * NIGHTS)
    for tries in (1, 5, 10, 20):
        passed = 100 * is_pass[:, :tries].any(axis=1).mean()
        rows.append([f"% passed, tries: {tries}", f"{ALPHA}", f"{passed:.1f}"])
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
    how: dict[str, Any] = {"queries": ALL_QUERIES, "n_data_sets": arguments.data_sets}
    how = QUICK if arguments.quick else how
    start = time.perf_counter()
    cells = simulated(**how, n_jobs=arguments.jobs, only=arguments.only)
    print(*tables(cells), sep="\n\n")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    # by its name, by which processes find its functions
    from benchmarks import inference

    inference.main()
