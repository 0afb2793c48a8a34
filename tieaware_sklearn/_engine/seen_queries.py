"""Recognition of queries that were seen before, by digests of their ids."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array, BoolArray
from . import hashing, merging


def id_digests(qid: Array, name: str = "qid") -> hashing.Digests:
    """Return the digests of different query ids, in the order of the ids.

    Raises
    ------
    ValueError
        If two ids have the same digest. For n ids, the chance is about n² / 2^65 (the
        birthday problem, with digests of 64 bits).
    """
    digests = hashing.value_bits(qid)
    order = np.argsort(digests, kind="stable")
    ascending = digests[order]
    repeats = np.flatnonzero(ascending[1:] == ascending[:-1])
    if len(repeats):
        place = repeats[0]
        rows = np.sort(order[place : place + 2])
        first, second = qid[rows].tolist()
        raise ValueError(same_digest(first, second, name))
    return digests


def same_digest(first: Any, second: Any, name: str = "qid") -> str:
    """Return the error message on two ids with the same digest."""
    return (
        f"{name} must have ids with different 64-bit digests, by which queries are "
        f"recognised, got {first!r} and {second!r} with the same digest: rename one "
        "query"
    )


def both(first: hashing.Digests, second: hashing.Digests) -> hashing.Digests:
    """Return two sorted arrays merged into a sorted array."""
    # A stable sort only merges arrays that are already sorted.
    return np.sort(np.concatenate([first, second]), kind="stable")


def known(digests: hashing.Digests, before: hashing.Digests) -> BoolArray:
    """Return which of the digests are in `before`, which is sorted."""
    if not len(before):
        return np.zeros(len(digests), dtype=bool)
    place = before.searchsorted(digests)
    place[place == len(before)] = 0
    return before[place] == digests


def repeated(parts: Sequence[hashing.Digests]) -> tuple[np.uint64, list[int]] | None:
    """Return the least digest that is in several parts, and the indices of these parts.

    The result is None if no two parts contain the same digest. A part contains a digest
    only once.
    """
    digests = np.sort(np.concatenate(parts))
    repeats = np.flatnonzero(digests[1:] == digests[:-1])
    if not len(repeats):
        return None
    digest = digests[repeats[0]]
    numbers = [number for number, part in enumerate(parts) if digest in part]
    return digest, numbers


class SeenQueries:
    """The queries of all batches so far, recognised by digests of 64 bits.

    A query that reappears is always recognised. Two different ids with the same digest
    would be refused as the same query. The chance is 3e-8 for a million queries and
    3e-4 for a hundred million queries.
    """

    def __init__(self) -> None:
        self._sorted: list[hashing.Digests] = []

    def add(self, ids: Array) -> int | None:
        """Add the queries of a batch, unless a query has come before.

        If a query has come before, in this batch or in an earlier batch, return the
        index of the first such query in `ids`, and add no query. If all queries are
        new, return None.
        """
        digests = hashing.value_bits(ids)
        is_repeated = np.ones(len(digests), dtype=bool)
        _, first = np.unique(digests, return_index=True)
        is_repeated[first] = False
        for before in self._sorted:
            is_repeated |= known(digests, before)
        if is_repeated.any():
            return int(is_repeated.argmax())
        if len(digests):
            merging.gather(self._sorted, np.sort(digests), both, len)
        return None
