"""Whether the rows of every query stand together, in a file read once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.validation import find_runs


class QueryRuns:
    """Runs of rows of one query, 16 bytes each.

    Text ids are known by their hashes.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._last: Any = None
        self._ids: list[NDArray[np.int64]] = []
        self._starts: list[NDArray[np.int64]] = []

    def add(self, qid: NDArray[Any]) -> None:
        """The query ids of further rows."""
        starts = find_runs(qid, "qid")
        first, last = qid[[0, -1]].tolist()
        if self.n_rows and first == self._last:
            starts = starts[1:]
        ids = qid[starts]
        if ids.dtype.kind not in "iu":
            ids = np.fromiter(map(hash, ids.tolist()), np.int64, len(ids))
        self._ids.append(ids.astype(np.int64))
        self._starts.append(starts + self.n_rows)
        self._last = last
        self.n_rows += len(qid)

    def returns(self) -> int | None:
        """The first row at which a query comes back after another one."""
        ids = np.concatenate(self._ids)
        _, first = np.unique(ids, return_index=True)
        if len(first) == len(ids):
            return None
        again = np.ones(len(ids), dtype=bool)
        again[first] = False
        return int(np.concatenate(self._starts)[np.argmax(again)])


def scattered(place: str, query: Any) -> str:
    """What to do about a query whose rows do not stand together."""
    return (
        f"{place}: query {query} comes back after another one, but files are read in "
        "batches of whole queries: sort the rows by query, or read all of them at once"
        " (load_letor, load_table)"
    )
