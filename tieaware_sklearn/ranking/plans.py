"""Plans: the sums that the kernel computes for a measure, by its class."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .._kernel.arranged import Plan
from .._typing import FloatArray
from ..measures import (
    CG,
    CWL,
    DCG,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    Fallout,
    FBeta,
    Judged,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    RPrecision,
    Success,
    _rank_tables,
)

#: Maximum number of ranks of a cascade for which the kernel has memory.
_DEEPEST_CASCADE = 1024
#: Maximum number of levels for which plans are cached.
_MOST_GRADES = 16


@lru_cache(maxsize=64)
def _weight_tables(measure: Measure, size: int) -> FloatArray:
    weights = measure.rank_worth(np.arange(size))
    return _rank_tables.rank_tables(weights)


def _weighted_gains(measure: Any, levels: FloatArray, longest: int) -> Plan | None:
    gain = np.asarray(measure.gains(levels), dtype=np.float64)
    if np.count_nonzero(gain[1:] < gain[:-1]):
        # The kernel reads the best order from the labels.
        return None
    n_ranks = _rank_tables.n_ranks(measure.k, longest)
    tables = _weight_tables(measure, n_ranks)
    least = int(gain.searchsorted(0.0, side="right"))
    return Plan("weighted", measure.k, least, gain, tables, flat=measure.flat)


def _normalised_gains(measure: NDCG, levels: FloatArray, longest: int) -> Plan | None:
    plan = _weighted_gains(measure, levels, longest)
    if plan is None:
        return None
    return plan._replace(over_ideal=True)


def _cascade(measure: ERR, levels: FloatArray, longest: int) -> Plan | None:
    depth = min(measure.k or longest, longest)
    if depth > _DEEPEST_CASCADE:
        return None
    gain = measure.gains(levels)
    least = int(gain.searchsorted(0.0, side="right"))
    return Plan("satisfied", measure.k, least, gain)


def _count(measure: Any, levels: FloatArray, longest: int) -> Plan:
    least = int(levels.searchsorted(measure.rel))
    return Plan(
        "counted",
        measure.k,
        least,
        scale=measure.worth,
        at_relevant=measure.at_relevant,
        others=measure.counts_non_relevant,
    )


def _first_relevant(kind: str, measure: Any, levels: FloatArray, longest: int) -> Plan:
    least = int(levels.searchsorted(measure.rel))
    return Plan(kind, measure.k, least)


def _precisions(measure: AveragePrecision, levels: FloatArray, longest: int) -> Plan:
    n_ranks = _rank_tables.n_ranks(measure.k, longest)
    tables = _rank_tables.harmonic_tables(n_ranks)
    least = int(levels.searchsorted(measure.rel))
    return Plan("precisions", measure.k, least, tables=tables)


PlanFunction = Callable[[Any, FloatArray, int], Plan | None]

#: The function that makes the plan of a measure, by the exact class of the measure. The
#: arguments of the function are the measure, the distinct labels of a block, ascending,
#: and the number of documents of the longest query. If the function returns None, or if
#: the class is not in the table, the measure's own methods compute the values. So a
#: subclass has no plan until the subclass is added to the table.
PLANS: dict[type[Measure], PlanFunction] = {
    CG: _weighted_gains,
    DCG: _weighted_gains,
    NDCG: _normalised_gains,
    RBP: _weighted_gains,
    CWL: _weighted_gains,
    ERR: _cascade,
    AveragePrecision: _precisions,
    ReciprocalRank: partial(_first_relevant, "first"),
    Success: partial(_first_relevant, "found"),
    Precision: _count,
    Recall: _count,
    FBeta: _count,
    Fallout: _count,
    RPrecision: _count,
    Judged: _count,
}


def plan_of(measure: Measure, levels: FloatArray, longest: int) -> Plan | None:
    """Return the plan of a measure, or None if the measure has no plan.

    The arguments are the same as for the functions in `PLANS`.
    """
    make_plan = PLANS.get(type(measure))
    if make_plan is None:
        return None
    measure = measure.filled()
    if len(levels) <= _MOST_GRADES:
        return _plan_of_grades(make_plan, measure, tuple(levels.tolist()), longest)
    return make_plan(measure, levels, longest)


@lru_cache(maxsize=64)
def _plan_of_grades(
    make_plan: PlanFunction, measure: Measure, grades: tuple[float, ...], longest: int
) -> Plan | None:
    """Return a plan. For few documents, making a plan takes longer than ranking."""
    return make_plan(measure, np.array(grades), longest)
