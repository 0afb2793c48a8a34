"""What the library should say of a query set, in exact fractions."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tests import naive
from tests.fuzz.cases import Case, places
from tests.instances import INSTANCES
from tieaware_sklearn import Measure
from tieaware_sklearn import measures as m

#: what is summed is more than this, as in trec_eval
FLOOR = Fraction(1, 100_000)


class Query(NamedTuple):
    """Labels in the order of the rows, and scores as small whole numbers."""

    labels: tuple[float, ...]
    scores: tuple[float, ...]

    @property
    def judged(self) -> Query:
        """The documents with a judgment, whatever the measure."""
        judged = [not math.isnan(label) for label in self.labels]
        return Query(*(tuple(itertools.compress(column, judged)) for column in self))

    def of(self, measure: Measure) -> Query:
        """Unjudged documents as the measure takes them; see `naive.bpref`."""
        unjudged = -1 if measure.takes_unjudged else 0
        labels = [unjudged if math.isnan(label) else label for label in self.labels]
        return self._replace(labels=tuple(labels))

    @property
    def tied(self) -> Query:
        return self._replace(scores=(0,) * len(self.scores))

    def input_order(self) -> tuple[list[float], list[float]]:
        """Labels as ranked, ties by row, and those that were not retrieved."""
        rows = sorted(range(len(self.scores)), key=lambda row: -self.scores[row])
        ranked = [self.labels[row] for row in rows if self.scores[row] != -math.inf]
        # the sort is stable: those come last, by row
        return ranked, [self.labels[row] for row in rows[len(ranked) :]]


def queries(case: Case) -> list[Query]:
    """The queries of a case, by first appearance."""
    arrays = case.arrays
    scores = places(arrays["y_score"])
    labels = [_number(label) for label in arrays["y_true"]]
    return [
        Query(tuple(labels[i] for i in rows), tuple(scores[i] for i in rows))
        for rows in case.queries.values()
    ]


def _number(label: Any) -> float:
    """Whole labels as whole numbers, which the definitions turn into fractions."""
    value = float(label)
    return int(value) if value.is_integer() else value


@functools.lru_cache(maxsize=4096)
def wanted(number: int, query: Query) -> naive.Exact | None:
    """The query under measure `number` of the instances; None where undefined."""
    instance = INSTANCES[number]
    lower = not instance.measure.greater_is_better
    return naive.over_ties(instance.plain, *query, lower, instance.harmonic)


def denominator(measure: Measure, query: Query) -> Fraction:
    """What a ratio of counts is divided by."""
    ranked, missing = query.input_order()
    measure = measure.filled()
    everything = naive.relevance([*ranked, *missing], measure.rel)
    total = sum(everything)
    if isinstance(measure, m.RPrecision):
        return Fraction(total)
    if isinstance(measure, m.Recall):
        capped = measure.denominator == "cutoff" and measure.k is not None
        return Fraction(min(total, measure.k) if capped else total)
    if isinstance(measure, m.Fallout):
        return Fraction(len(everything) - total)
    depth = len(ranked) if measure.k is None else measure.k
    if isinstance(measure, m.FBeta):
        return depth + Fraction(measure.beta) ** 2 * total
    assert isinstance(measure, (m.Precision, m.Judged))
    is_cut = getattr(measure, "denominator", "retrieved") == "retrieved"
    return Fraction(min(depth, len(ranked)) if is_cut else depth)


def fill(measure: Measure, zero_relevance: Any) -> Fraction | None:
    """What stands where the measure is undefined; None leaves the query out."""
    if isinstance(zero_relevance, str) or isinstance(measure, m.SearchLength):
        return None
    return Fraction(zero_relevance)


def as_float(value: Fraction | None) -> float:
    return math.nan if value is None else float(value)


def macro(values: list[Fraction], weight: list[Fraction]) -> float:
    total = sum(weight)
    pairs = zip(values, weight, strict=True)
    return float(sum(v * w for v, w in pairs) / total) if total else math.nan


def geometric(values: list[Fraction], weight: list[Fraction]) -> float:
    logs = [Fraction(math.log(max(value, FLOOR))) for value in values]
    return math.exp(macro(logs, weight))


def median(values: list[Fraction], weight: list[Fraction]) -> float:
    """Where half of the weight is reached; the middle of two where just that is."""
    pairs = sorted((v, w) for v, w in zip(values, weight, strict=True) if w > 0)
    reached = list(itertools.accumulate(w for _, w in pairs))
    for at, so_far in enumerate(reached):
        if 2 * so_far == reached[-1]:
            return float((pairs[at][0] + pairs[at + 1][0]) / 2)
        if 2 * so_far > reached[-1]:
            return float(pairs[at][0])
    return math.nan


AVERAGES = {"macro": macro, "geometric": geometric, "median": median}


def average(name: str, values: list[Fraction | None], weight: list[Fraction]) -> float:
    """An average over the queries that have a value."""
    pairs = [(v, w) for v, w in zip(values, weight, strict=True) if v is not None]
    return AVERAGES[name]([v for v, _ in pairs], [w for _, w in pairs])


def micro(
    values: list[Fraction | None],
    denominators: list[Fraction],
    weight: list[Fraction],
    instead: Fraction | None,
) -> float:
    """Sum of numerators over sum of denominators; `instead` where that is 0."""
    rows = list(zip(values, denominators, weight, strict=True))
    below = sum((d * w for _, d, w in rows), Fraction(0))
    if not below:
        return as_float(instead)
    return float(sum((v * d * w for v, d, w in rows if d), Fraction(0)) / below)


def tie_std(variances: list[Fraction | None], weight: list[Fraction]) -> float:
    """Of a weighted mean of independent queries."""
    pairs = [(v, w) for v, w in zip(variances, weight, strict=True) if v is not None]
    total = sum(w for _, w in pairs)
    if not total:
        return math.nan
    return math.sqrt(sum(v * w * w for v, w in pairs) / total**2)


def sampled_tolerance(number: int, query: Query, orders: int = 1000) -> float:
    """How far a variance of so many sampled orders may be off: Bernstein, 1e-12."""
    moments = wanted(number, query)
    chances = naive.outcomes(INSTANCES[number].plain, *query)
    squares = [((value - moments.expected) ** 2, p) for value, p in chances.items()]
    fourth = sum((p * square**2 for square, p in squares), Fraction(0))
    spread = max(float(fourth - moments.variance**2), 0.0)
    log = 30.0
    furthest = float(max(square for square, _ in squares))
    # the mean of the sample is off, too
    return np.sqrt(2 * spread * log / orders) + furthest * log * 5 / orders
