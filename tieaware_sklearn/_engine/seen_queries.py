"""Queries that have come in earlier batches, 8 bytes each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .added_up import gather
from .digests import Digests, value_bits
from .known_queries import both, known


class SeenQueries:
    """The queries of all batches so far, known by digests of 64 bits.

    No query that comes again is missed, however many there are. Two ids with one digest
    would be refused as one query: among a million queries with a chance of 3e-8, among
    a hundred million of 3e-4.
    """

    def __init__(self) -> None:
        # each sorted
        self._sorted: list[Digests] = []

    def add(self, ids: NDArray[Any]) -> int | None:
        """Add the queries of a batch, each once.

        Returns the place in `ids` of the first that came before; nothing is added then.
        """
        digests = value_bits(ids)
        again = np.zeros(len(digests), dtype=bool)
        for before in self._sorted:
            again |= known(digests, before)
        if again.any():
            return int(np.argmax(again))
        if len(digests):
            gather(self._sorted, np.sort(digests), both, len)
        return None
