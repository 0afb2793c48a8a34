"""Whether p-values and intervals mean what they say, by simulation.

``python -m benchmarks.inference`` draws data sets whose truth is known, and counts how
often tests at 5 % reject a null that is true, and how often 95 % intervals contain what
they estimate. It calls what users call. Queries have any values that are wanted by one
trick: where the largest label is 1, NDCG@1 with linear gains is the label of the
document that ranks first. The table is that of docs/inference.md. With ``--quick``, it
has 20 queries and few data sets, which takes seconds. With ``--weights``, the table is
that of means in which few queries have most of the weight.
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
from scipy.special import ndtr

import tieaware_sklearn as tieaware
from benchmarks.tables import format_table
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.judgments import estimate_recall

SIZE, COVERAGE, ALPHA = 5.0, 95.0, 0.05
#: points beyond which a cell is marked
TOLERANCE = 1.5
QUERIES, DATA_SETS = (5, 10, 20, 30, 50, 200), 1000
QUICK = {"queries": (20,), "n_data_sets": 24}
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


def rejection(row: str, pvalue: Any, warned: bool) -> Claim:
    return Claim(row, SIZE, float(pvalue), 1.0, ALPHA, 0.0, warned)


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
        found = function(*args, **options)
    said = " ".join(str(one.message) for one in caught)
    return found, bool(re.search(r"interval|p-value|\btest|reject", said))


def seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(size=n)


_LOG_RR = 0.92 * np.log(RECIPROCAL_RANKS).mean() + 0.08 * np.log(1e-5)
#: values of queries, and their average
Values = Mapping[str, tuple[Any, float]]
UNWEIGHTED: Values = {
    "dense": (uniform, 0.5),
    "RR": (lambda rng, n: rng.choice(RECIPROCAL_RANKS, n), RECIPROCAL_RANKS.mean()),
    "90 % zeros": (lambda rng, n: rng.uniform(size=n) * rng.binomial(1, 0.1, n), 0.05),
    "0 or 1, mean .9": (lambda rng, n: rng.binomial(1, 0.9, n), 0.9),
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
    "RR, 8 % zeros": (
        lambda rng, n: rng.choice(RECIPROCAL_RANKS, n) * rng.binomial(1, 0.92, n),
        math.exp(_LOG_RR),
    ),
}


def evaluated(values: np.ndarray, weight: np.ndarray | None = None) -> Any:
    """The report of a system that has these values of queries."""
    # a document that ranks first, and the ideal one
    n, labels = len(values), np.column_stack([values, np.ones(len(values))])
    return tieaware.evaluate(
        labels.ravel(), np.tile([1, 0], n), qid=np.arange(n).repeat(2),
        measures=LABEL_OF_FIRST,
        query_weight=None if weight is None else weight.repeat(2),
    )  # fmt: skip


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


#: values of two systems with equal means; the first also has equal medians
PAIRS: dict[str, Any] = {
    "dense": lambda rng, n: rng.uniform(size=(n, 2)),
    # both are 0 on the others
    "half equal": lambda rng, n: (
        rng.uniform(size=(n, 2)) * rng.binomial(1, 0.5, (n, 1))
    ),
    "RR": lambda rng, n: rng.choice(RECIPROCAL_RANKS, size=(n, 2)),
    "skewed": lambda rng, n: np.column_stack([rng.uniform(size=n) ** 4, [0.2] * n]),
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


def web(rng: np.random.Generator, n: int) -> dict[str, Any]:
    data = make_web_search(n, n_documents=LENGTH, random_state=seed(rng))
    return {"X": data.data, "y": data.target, "qid": data.qid}


@study("query_permutation_importance", (10, 20, 50, 200), 0.4, seed=12)
def importances(rng: np.random.Generator, n: int) -> Iterator[Claim]:
    ranker = tieaware.LinearRanker(np.ones(2)).fit(np.eye(2), [0, 1], qid=[0, 0])
    data = web(rng, n) | {"measures": "ndcg@10", "random_state": seed(rng)}
    # logarithms of clicks, and noise
    data["X"] = np.column_stack([data["X"][:, 11], rng.normal(size=len(data["y"]))])
    found, warned = told(tieaware.query_permutation_importance, ranker, **data)
    for j, row in enumerate(("clicks", "noise")):
        estimate = found.importances_mean[j, 0]
        yield interval(row, found.interval[j, 0], warned, estimate=estimate)


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
        unwarned = (within == (nominal == SIZE)) & (warned == 0)
        # of the data sets that have an interval
        both = np.array([within, unwarned])[:, ~np.isnan(low)]
        percent = 100 * both.mean(axis=1) if both.size else [np.nan] * 2
        return cls(*percent, nominal, len(claims))

    @property
    def mark(self) -> str:
        off = self.percent - self.nominal
        if not abs(off) > TOLERANCE:
            return " "
        if (off < 0) == (self.nominal == SIZE):
            return "~"
        return "!" if self.unwarned > SIZE + TOLERANCE else "w"

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
    "query_permutation_importance": 20,
}
#: data that are not the null of a test, as the page says
NOT_ITS_NULL = {
    ("compare: wilcoxon", "skewed"),
    ("compare: clusters", "no cluster=, 0.7"),
}


def mark(title: str, row: str, n: int, cell: Cell) -> str:
    """The mark of a cell of the table; "x" where the page says what is off."""
    known = n < NEEDED.get(title, 0) or (title, row) in NOT_ITS_NULL
    return "x" if known and cell.mark == "!" else cell.mark


def claims_of(title: str, n: int, data_sets: Sequence[int]) -> list[Claim]:
    """The claims of some data sets, each drawn from a seed of its own."""
    own = STUDIES[title]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rngs = [np.random.default_rng([own.seed, n, i]) for i in data_sets]
        return [one for rng in rngs for one in own.simulate(rng, n)]


def simulated(
    queries: Sequence[int], n_data_sets: int, n_jobs: int = 1, only: str = ""
) -> Cells:
    """The cells of each study and row, tests first, by number of queries."""
    tasks = [
        (title, n, every[i : i + _CHUNK])
        for title, own in STUDIES.items()
        for n in own.queries
        for every in [range(max(2, round(own.share * n_data_sets)))]
        for i in every[::_CHUNK]
        if n in queries and only in title
    ]
    done = Parallel(n_jobs=n_jobs)(delayed(claims_of)(*task) for task in tasks)
    found: dict[str, Any] = {title: defaultdict(list) for title in STUDIES}
    for (title, n, _), claims in zip(tasks, done, strict=True):
        for one in claims:
            found[title][one.nominal, one.row, n].append(one)
    cells: Cells = defaultdict(dict)
    for title, own_claims in found.items():
        for nominal, row, n in sorted(own_claims, key=lambda key: key[0]):
            cells[title, nominal, row][n] = Cell.of(own_claims[nominal, row, n])
    return cells


def table(cells: Cells, queries: Sequence[int]) -> str:
    """A row for each test or interval and kind of data, below the titles of studies."""
    rows, titles = [], [title for title, _, _ in cells]
    for i, ((title, nominal, row), own) in enumerate(cells.items()):
        alone = titles.count(title) == 1
        if not alone and title not in titles[:i]:
            rows.append([title, *[""] * (2 + len(queries))])
        name = f"{title}: {row}" if alone else f"  {row}"
        error = math.sqrt(SIZE * COVERAGE / next(iter(own.values())).n_data_sets)
        shown = [
            str(own[n])[:-1] + mark(title, row, n, own[n]) if n in own else ""
            for n in queries
        ]
        rows.append([name, f"{nominal:.0f}", f"{error:.1f}", *shown])
    return format_table(["queries", "", "±", *(f"{n} " for n in queries)], rows)


def weighted_means(row: str, data_sets: Sequence[int]) -> list[Claim]:
    """Intervals of a weighted mean, of some data sets."""
    weight, claims = CONCENTRATED[row], []
    for i in data_sets:
        rng = np.random.default_rng([len(weight), i])
        found, warned = told(evaluated(uniform(rng, len(weight)), weight).summary)
        claims.append(interval(row, found.interval[0], warned, target=0.5))
    return claims


def table_of_weights(n_data_sets: int, n_jobs: int = 1) -> str:
    """A row for each kind of weights: what they are worth, and how often covered."""
    every, rows = range(n_data_sets), []
    tasks = [(row, every[i : i + 100]) for row in CONCENTRATED for i in every[::100]]
    parts = Parallel(n_jobs=n_jobs)(delayed(weighted_means)(*task) for task in tasks)
    for row, weight in CONCENTRATED.items():
        claims = [one for part in parts for one in part if one.row == row]
        worth = weight.sum() ** 2 / (weight**2).sum()
        rows.append([row, f"{worth:.1f}", str(Cell.of(claims))])
    return format_table(["weights", "worth", "covered "], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference", description=__doc__
    )
    parser.add_argument("--only", default="", help="studies whose titles hold this")
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--weights", action="store_true", help="only weighted means")
    arguments = parser.parse_args()
    if arguments.weights:
        print(table_of_weights(2 * arguments.data_sets, arguments.jobs))
        return
    how: dict[str, Any] = {"queries": QUERIES, "n_data_sets": arguments.data_sets}
    how = QUICK if arguments.quick else how
    start = time.perf_counter()
    cells = simulated(**how, n_jobs=arguments.jobs, only=arguments.only)
    print(table(cells, how["queries"]))
    marks = [
        mark(title, row, n, cell)
        for (title, _, row), own in cells.items()
        for n, cell in own.items()
    ]
    print(f"\n{len(marks)} cells, {TOLERANCE} points off or more: ", end="")
    print(", ".join(f"{marks.count(one)} {one}" for one in "!xw~"))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    # by its name, by which processes find its functions
    from benchmarks import inference

    inference.main()
