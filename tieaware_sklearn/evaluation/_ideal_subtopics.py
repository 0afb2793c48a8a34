"""The order of documents that α-nDCG and its kin take as ideal, found greedily."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from .._engine.validation import Queries


def ideal_scores(
    relevant: NDArray[np.bool_],
    queries: Queries,
    weights: FloatArray,
    keep: float,
    depth: int | None,
) -> FloatArray:
    """Scores that rank the documents of each query in the ideal order.

    Parameters
    ----------
    relevant : ndarray of shape (n_rows, n_subtopics)
        Which documents are relevant to which subtopics, query by query.
    queries : Queries
    weights : ndarray of shape (n_queries, n_subtopics)
    keep : float
        What a subtopic still gains with each document that is relevant to it.
    depth : int, optional
        Documents of each query that are ranked; others are not retrieved, and so are
        those without a gain.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    scores = np.full(len(relevant), -np.inf)
    for query in range(queries.n_queries):
        first, stop = queries.offsets[query : query + 2].tolist()
        rows = first + np.flatnonzero(relevant[first:stop].any(axis=1))
        if not len(rows):
            continue
        # documents that are relevant to the same subtopics are alike
        kinds, kind, counts = np.unique(
            relevant[rows], axis=0, return_inverse=True, return_counts=True
        )
        subtopics = [np.flatnonzero(own).tolist() for own in kinds]
        limit = len(rows) if depth is None else min(depth, len(rows))
        left = weights[query].tolist()
        chosen = _greedy(subtopics, counts.tolist(), left, keep, limit)
        of_kind = np.split(
            rows[np.argsort(kind.ravel(), kind="stable")], np.cumsum(counts)[:-1]
        )
        taken = [0] * len(kinds)
        for rank, own in enumerate(chosen):
            scores[of_kind[own][taken[own]]] = -rank
            taken[own] += 1
    return scores


def _greedy(
    subtopics: Sequence[Sequence[int]],
    counts: list[int],
    left: list[float],
    keep: float,
    limit: int,
) -> list[int]:
    """Kinds of documents, each with the largest gain after those before it.

    Of equal gains that of the last kind. Gains only fall, so that those known from
    earlier steps are bounds: a kind whose gain is still the largest is the one.
    """

    def gain(kind: int) -> float:
        # rounded once: equal gains are equal in any order of subtopics
        return math.fsum(left[subtopic] for subtopic in subtopics[kind])

    heap = [(-gain(kind), -kind) for kind in range(len(subtopics))]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < limit:
        known, kind = -heap[0][0], -heap[0][1]
        now = gain(kind)
        if now == 0 or counts[kind] == 0:
            heapq.heappop(heap)
        elif now < known:
            heapq.heapreplace(heap, (-now, -kind))
        else:
            chosen.append(kind)
            counts[kind] -= 1
            for subtopic in subtopics[kind]:
                left[subtopic] *= keep
    return chosen
