"""Systems measured under coarser scores."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, dense_ranks
from .._engine.validation import Queries, check_choice, check_qid
from ..comparison._measured_systems import MeasuredSystems
from ._bands import EXISTING_TIES
from ._coarseness import Coarseness

SCALES = ("query", "all")


class CoarseValues(NamedTuple):
    """What a system is worth per query, and how finely its scores tell."""

    values: dict[str, FloatArray]
    bits: float
    tied_documents: float


class CoarseSystems:
    """Makes the scores of systems coarser and measures them."""

    def __init__(self, systems: MeasuredSystems, existing_ties: str, scale: str):
        check_choice(existing_ties, "existing_ties", EXISTING_TIES)
        check_choice(scale, "scale", SCALES)
        self._systems = systems
        self._existing_ties = existing_ties
        self._scale = scale
        self._together = check_qid(None, n_rows=systems.queries.n_rows)

    def measure(
        self, system: int, coarseness: Coarseness | None, *statistics: str
    ) -> CoarseValues:
        """`expected` and these statistics; no coarseness leaves scores exact."""
        systems = self._systems
        scores, queries = systems.scores[system], systems.queries
        if coarseness is not None:
            by_query = coarseness.by_query(self._scale)
            scores = coarseness.apply(
                scores,
                queries if by_query else self._together,
                existing_ties=self._existing_ties,
            )
        values = systems.values(scores, statistics)
        return CoarseValues(values, *score_detail(scores, queries))


def score_detail(scores: NDArray[Any], queries: Queries) -> tuple[float, float]:
    """log2 of the distinct scores of a query, on average, and the share that ties."""
    there = scores != -np.inf
    ranks, n_ranks = dense_ranks(scores[there])
    if not n_ranks:
        return 0.0, 0.0
    key = queries.row_codes()[there] * n_ranks + ranks
    groups, sizes = np.unique(key, return_counts=True)
    distinct = np.bincount(groups // n_ranks)
    bits = np.log2(distinct[distinct > 0])
    tied = int(sizes[sizes > 1].sum())
    return math.fsum(bits.tolist()) / len(bits), tied / len(ranks)
