"""The order of documents that α-nDCG and its kin take as ideal, found greedily."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import begins, sizes_of
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
    rows = np.flatnonzero(relevant.any(axis=1))
    # documents that are relevant to the same subtopics are alike
    bits, kind = np.unique(
        np.packbits(relevant[rows], axis=1), axis=0, return_inverse=True
    )
    kind = kind.reshape(-1)
    subtopics = [
        np.flatnonzero(own).tolist()
        for own in np.unpackbits(bits, axis=1, count=relevant.shape[1])
    ]
    query = queries.codes[rows]
    order = np.lexsort((kind, query))
    rows, kind, query = rows[order], kind[order], query[order]
    starts = np.flatnonzero(begins(query) | begins(kind))
    # the kinds of documents of each query
    ends = np.searchsorted(query[starts], np.arange(queries.n_queries + 1)).tolist()
    of_run, counts = kind[starts].tolist(), sizes_of(starts, len(rows)).tolist()
    following, left = starts.tolist(), weights.tolist()
    chosen: list[int] = []
    ranks: list[int] = []
    for number, (first, stop) in enumerate(pairwise(ends)):
        found = _greedy(
            [subtopics[own] for own in of_run[first:stop]],
            counts[first:stop],
            left[number],
            keep,
            depth,
        )
        for own in found:
            chosen.append(following[first + own])
            following[first + own] += 1
        ranks += range(len(found))
    scores[rows[chosen]] = -np.array(ranks, dtype=np.float64)
    return scores


def _greedy(
    subtopics: Sequence[Sequence[int]],
    counts: list[int],
    left: list[float],
    keep: float,
    limit: int | None,
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
    while heap and len(chosen) != limit:
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
