"""Queries seen before, recognised by digests of their ids."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array, BoolArray
from . import hashing, merging


def id_digests(qid: Array, name: str = "qid") -> hashing.Digests:
    """Digests of different query ids, in their order.

    Raises
    ------
    ValueError
        If two ids have the same digest. Of 64 bits, n ids have two alike with a
        chance of about n² / 2^65 (the birthday problem).
    """
    digests = hashing.value_bits(qid)
    order = np.argsort(digests, kind="stable")
    alike = np.flatnonzero(digests[order[1:]] == digests[order[:-1]])
    if len(alike):
        first, second = qid[np.sort(order[alike[0] : alike[0] + 2])].tolist()
        raise ValueError(same_digest(first, second, name))
    return digests


def same_digest(first: Any, second: Any, name: str = "qid") -> str:
    """An error message for two ids that cannot be told apart."""
    return (
        f"{name} must have ids that differ in their digests of 64 bits, by which "
        f"queries are recognised, got {first!r} and {second!r}, which have the same "
        "one: rename one of them"
    )


def both(first: hashing.Digests, second: hashing.Digests) -> hashing.Digests:
    """Return two sorted arrays merged into a sorted array."""
    # a stable sort merges runs that are sorted
    return np.sort(np.concatenate([first, second]), kind="stable")


def known(digests: hashing.Digests, before: hashing.Digests) -> BoolArray:
    """Which of these are among those retained before."""
    if not len(before):
        return np.zeros(len(digests), dtype=bool)
    at = np.minimum(np.searchsorted(before, digests), len(before) - 1)
    return before[at] == digests


def repeated(parts: Sequence[hashing.Digests]) -> tuple[np.uint64, list[int]] | None:
    """Return the least digest that several parts hold, and the numbers of these parts.

    None if there is none. No part holds a digest twice.
    """
    digests = np.sort(np.concatenate(parts))
    again = digests[1:][digests[1:] == digests[:-1]]
    if not len(again):
        return None
    return again[0], [number for number, part in enumerate(parts) if again[0] in part]


class SeenQueries:
    """The queries of all batches so far, known by digests of 64 bits.

    No query that comes again is missed, however many there are. Two ids with one digest
    would be refused as one query: among a million queries with a chance of 3e-8, among
    a hundred million of 3e-4.
    """

    def __init__(self) -> None:
        # each sorted
        self._sorted: list[hashing.Digests] = []

    def add(self, ids: Array) -> int | None:
        """Add the queries of a batch, each of which must be there once.

        Returns the place in `ids` of the first that came before; nothing is added then.
        """
        digests = hashing.value_bits(ids)
        again = np.ones(len(digests), dtype=bool)
        again[np.unique(digests, return_index=True)[1]] = False
        for before in self._sorted:
            again |= known(digests, before)
        if again.any():
            return int(np.argmax(again))
        if len(digests):
            merging.gather(self._sorted, np.sort(digests), both, len)
        return None
