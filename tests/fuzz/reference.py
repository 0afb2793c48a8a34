"""Values that the library should return for a query set, in exact fractions."""

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

#: least value in a geometric mean, as in trec_eval
FLOOR = Fraction(1, 100_000)


class Query(NamedTuple):
    """Labels in the order of the rows, and scores as small whole numbers."""

    labels: tuple[float, ...]
    scores: tuple[float, ...]

    @property
    def judged(self) -> Query:
        """The documents with a judgment, for any measure."""
        is_judged = [not math.isnan(label) for label in self.labels]
        labels = itertools.compress(self.labels, is_judged)
        scores = itertools.compress(self.scores, is_judged)
        return Query(tuple(labels), tuple(scores))

    def labelled_for(self, measure: Measure) -> Query:
        """Return the query with labels of unjudged documents; see `naive.bpref`."""
        unjudged = -1 if measure.takes_unjudged else 0
        labels = [unjudged if math.isnan(label) else label for label in self.labels]
        return self._replace(labels=tuple(labels))

    @property
    def tied(self) -> Query:
        return self._replace(scores=(0,) * len(self.scores))

    def input_order(self) -> tuple[list[float], list[float]]:
        """Return labels as ranked, ties by row, and labels that are not retrieved."""
        rows = sorted(range(len(self.scores)), key=lambda row: -self.scores[row])
        ranked = [self.labels[row] for row in rows if self.scores[row] != -math.inf]
        # the sort is stable: documents that are not retrieved come last, by row
        return ranked, [self.labels[row] for row in rows[len(ranked) :]]


def queries(case: Case) -> list[Query]:
    """Return the queries of a case, by first appearance."""
    arrays = case.arrays
    scores = places(arrays["y_score"])
    labels = [_number(label) for label in arrays["y_true"]]
    queries = []
    for rows in case.queries.values():
        query_labels = tuple(labels[row] for row in rows)
        query_scores = tuple(scores[row] for row in rows)
        queries.append(Query(query_labels, query_scores))
    return queries


def _number(label: Any) -> float:
    """Return a label, as an integer if it is whole, so that fractions stay exact."""
    value = float(label)
    return int(value) if value.is_integer() else value


@functools.lru_cache(maxsize=4096)
def expected_values(number: int, query: Query) -> naive.Exact | None:
    """Return the values of measure `number` of the instances; None if undefined."""
    instance = INSTANCES[number]
    lower = not instance.measure.greater_is_better
    return naive.over_ties(instance.plain, *query, lower, instance.harmonic)


def denominator(measure: Measure, query: Query) -> Fraction:
    """Return the number that a ratio of counts is divided by."""
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
    """Return the value of an undefined measure; None leaves the query out."""
    if isinstance(zero_relevance, str) or isinstance(measure, m.SearchLength):
        return None
    return Fraction(zero_relevance)


def as_float(value: Fraction | None) -> float:
    return math.nan if value is None else float(value)


def macro(values: list[Fraction], weight: list[Fraction]) -> float:
    total = sum(weight)
    if not total:
        return math.nan
    weighted = [v * w for v, w in zip(values, weight, strict=True)]
    return float(sum(weighted) / total)


def geometric(values: list[Fraction], weight: list[Fraction]) -> float:
    logs = [Fraction(math.log(max(value, FLOOR))) for value in values]
    return math.exp(macro(logs, weight))


def median(values: list[Fraction], weight: list[Fraction]) -> float:
    """Return the value that reaches half of the weight.

    If a value reaches exactly half of it, the middle of this and the next is returned.
    """
    pairs = sorted((v, w) for v, w in zip(values, weight, strict=True) if w > 0)
    half = sum(w for _, w in pairs) / Fraction(2)
    so_far = Fraction(0)
    for i, (value, w) in enumerate(pairs):
        so_far += w
        if so_far == half:
            next_value, _ = pairs[i + 1]
            return float((value + next_value) / 2)
        if so_far > half:
            return float(value)
    return math.nan


AVERAGES = {"macro": macro, "geometric": geometric, "median": median}


def average(name: str, values: list[Fraction | None], weight: list[Fraction]) -> float:
    """Return an average over the queries that have a value."""
    has_value = [value is not None for value in values]
    defined = list(itertools.compress(values, has_value))
    return AVERAGES[name](defined, list(itertools.compress(weight, has_value)))


def micro(
    values: list[Fraction | None],
    denominators: list[Fraction],
    weight: list[Fraction],
    undefined: Fraction | None,
) -> float:
    """Return the sum of numerators over the sum of denominators.

    If all denominators are 0, `undefined` is returned.
    """
    numerators = Fraction(0)
    total = Fraction(0)
    for value, denominator, w in zip(values, denominators, weight, strict=True):
        total += denominator * w
        if denominator:
            numerators += value * denominator * w
    if not total:
        return as_float(undefined)
    return float(numerators / total)


def tie_std(variances: list[Fraction | None], weight: list[Fraction]) -> float:
    """Return the standard deviation of a weighted mean of independent queries."""
    pairs = [(v, w) for v, w in zip(variances, weight, strict=True) if v is not None]
    total = sum(w for _, w in pairs)
    if not total:
        return math.nan
    return math.sqrt(sum(v * w * w for v, w in pairs) / total**2)


def sampled_tolerance(number: int, query: Query, orders: int = 1000) -> float:
    """Return the largest error of a variance of sampled orders.

    By Bernstein's inequality, larger errors have a probability of 1e-12.
    """
    moments = expected_values(number, query)
    outcomes = naive.outcomes(INSTANCES[number].plain, *query)
    fourth = Fraction(0)
    largest = Fraction(0)
    for value, probability in outcomes.items():
        square = (value - moments.expected) ** 2
        fourth += probability * square**2
        largest = max(largest, square)
    spread = max(float(fourth - moments.variance**2), 0.0)
    log = 30.0
    # the mean of the sample has an error, too
    return np.sqrt(2 * spread * log / orders) + float(largest) * log * 5 / orders
