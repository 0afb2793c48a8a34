"""Plans: what the kernel adds up for a measure, by the class of the measure."""

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

#: the kernel has room for so many places of one cascade
_DEEPEST_CASCADE = 1024


@lru_cache(maxsize=64)
def _weight_tables(measure: Measure, size: int) -> FloatArray:
    return _rank_tables.rank_tables(measure.rank_worth(np.arange(size)))


def _weighted_gains(
    measure: Any, levels: FloatArray, longest: int, *, over_ideal: bool = False
) -> Plan | None:
    gain = np.asarray(measure.gains(levels), dtype=np.float64)
    if gain[0] < 0 or np.count_nonzero(gain[1:] < gain[:-1]):
        # the best order is not that of the labels, or gains are negative
        return None
    tables = _weight_tables(measure, _rank_tables.n_ranks(measure.k, longest))
    least = int(gain.searchsorted(0.0, side="right"))
    return Plan(
        "weighted",
        measure.k,
        least,
        gain,
        tables,
        flat=measure.flat,
        over_ideal=over_ideal,
    )


def _cascade(measure: ERR, levels: FloatArray, longest: int) -> Plan | None:
    if min(measure.k or longest, longest) > _DEEPEST_CASCADE:
        return None
    gain = measure.gains(levels)
    least = int(gain.searchsorted(0.0, side="right"))
    return Plan("satisfied", measure.k, least, gain)


def _count(measure: Any, levels: FloatArray, longest: int) -> Plan:
    return Plan(
        "counted",
        measure.k,
        int(levels.searchsorted(measure.rel)),
        scale=measure.worth,
        at_relevant=measure.at_relevant,
        others=measure.counts_non_relevant,
    )


def _first_relevant(kind: str, measure: Any, levels: FloatArray, longest: int) -> Plan:
    return Plan(kind, measure.k, int(levels.searchsorted(measure.rel)))


def _precisions(measure: AveragePrecision, levels: FloatArray, longest: int) -> Plan:
    tables = _rank_tables.harmonic_tables(_rank_tables.n_ranks(measure.k, longest))
    least = int(levels.searchsorted(measure.rel))
    return Plan("precisions", measure.k, least, tables=tables)


#: functions of a measure, the distinct labels of a block, ascending, and the number of
#: documents of its longest query; None leaves the block to the measure's own methods. A
#: subclass is not in the table, unless it is put there.
PLANS: dict[type[Measure], Callable[[Any, FloatArray, int], Plan | None]] = {
    CG: _weighted_gains,
    DCG: _weighted_gains,
    NDCG: partial(_weighted_gains, over_ideal=True),
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
    """The plan of a measure for labels `levels` and queries of at most `longest`."""
    find_plan = PLANS.get(type(measure))
    return None if find_plan is None else find_plan(measure.filled(), levels, longest)
