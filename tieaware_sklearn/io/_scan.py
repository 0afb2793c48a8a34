"""Files looked through once, to be read in batches of whole queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine import bits_of, find_runs


class Rows(Protocol):
    """Rows that stand together in a file."""

    @property
    def n_rows(self) -> int: ...

    def rows(self, start: int, stop: int) -> Self: ...


Piece = TypeVar("Piece", bound=Rows)


class Runs(NamedTuple):
    """Runs of rows of one query through all files: their ids, where they begin.

    Text ids are known by their hashes of 64 bits, numbers by their values.
    """

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_rows: int

    def returns(self) -> tuple[int, int] | None:
        """Where a query begins that comes back after another one, and where it does."""
        ids, first, run = np.unique(self.ids, return_index=True, return_inverse=True)
        if len(ids) == len(self.ids):
            return None
        again = np.ones(len(self.ids), dtype=bool)
        again[first] = False
        at = int(np.argmax(again))
        return int(self.starts[first[run[at]]]), int(self.starts[at])

    def bounds(self, batch_rows: int | None) -> list[int]:
        """Where batches begin, at the query after the one that fills them; the end."""
        bounds = [0]
        while batch_rows is not None:
            full = np.searchsorted(self.starts, bounds[-1] + batch_rows)
            if full == len(self.starts):
                break
            bounds.append(int(self.starts[full]))
        return [*bounds, self.n_rows]

    def between(
        self, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ids and lengths of the runs from one bound to another."""
        first, last = np.searchsorted(self.starts, [start, stop])
        return self.ids[first:last], np.diff(self.starts[first:last], append=stop)


class Arrays(NamedTuple):
    """Features, labels and query ids of a batch; and its places, if not in order."""

    data: Any
    target: NDArray[Any]
    qid: NDArray[Any]
    place: Callable[[int], str] | None = None


class RunsFound:
    """Runs as they are found, 16 bytes each."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._last: Any = None
        self._ids: list[NDArray[np.int64]] = []
        self._starts: list[NDArray[np.int64]] = []

    def add(self, qid: NDArray[Any]) -> None:
        """The query ids of further rows."""
        if not len(qid):
            return
        starts = find_runs(qid, "qid")
        first, last = qid[[0, -1]].tolist()
        if self.n_rows and first == self._last:
            starts = starts[1:]
        ids = qid[starts]
        self._ids.append(_known_by(ids))
        self._starts.append(starts + self.n_rows)
        self._last = last
        self.n_rows += len(qid)

    def all(self) -> Runs:
        """Those of all rows."""
        ids, starts = np.concatenate(self._ids), np.concatenate(self._starts)
        return Runs(ids, starts, self.n_rows)


def _known_by(ids: NDArray[Any]) -> NDArray[np.int64]:
    """64 bits of each id; all files spell them alike."""
    if ids.dtype.kind in "iu":
        return ids.astype(np.int64)
    if ids.dtype.kind == "f":
        # different ones for different numbers: Python's hash takes -1.0 for -2.0
        return bits_of(ids).view(np.int64)
    return np.fromiter(map(hash, ids.tolist()), np.int64, len(ids))


@dataclass(frozen=True, eq=False)
class Scan(ABC, Generic[Piece]):
    """What was found in files that were looked through.

    Attributes
    ----------
    files : str
        Their names.
    feature_names : list of str
    left_out : list of str
        Columns without numbers.
    runs : Runs
        Where queries begin.
    place : callable
        The file and line of a row, for a message.
    """

    files: str
    feature_names: list[str]
    left_out: list[str]
    runs: Runs
    place: Callable[[int], str]

    @abstractmethod
    def _pieces(self, batch_rows: int | None) -> Iterator[Piece]:
        """All rows, some at a time."""

    def _pieces_from(self, batch_rows: int | None, start: int) -> Iterator[Piece]:
        """The rows from number `start` on; read faster where the format allows it."""
        for piece in self._pieces(batch_rows):
            if start < piece.n_rows:
                yield piece.rows(start, piece.n_rows) if start else piece
            start = max(start - piece.n_rows, 0)

    @abstractmethod
    def _arrays(self, pieces: Iterator[Piece], start: int, stop: int) -> Arrays:
        """Features, labels and query ids of the rows from `start` to `stop`."""

    @abstractmethod
    def _query_at(self, row: int) -> Any:
        """The query id of a row."""

    @property
    def n_rows(self) -> int:
        """Documents of all files."""
        return self.runs.n_rows

    @property
    def n_bytes(self) -> int:
        """What all features take in memory."""
        return 8 * self.n_rows * len(self.feature_names)

    @property
    def scattered(self) -> str:
        """Where a query comes back after another one; empty if none does."""
        rows = self.runs.returns()
        if rows is None:
            return ""
        first, again = map(self._query_at, rows)
        if first != again:
            return (
                f"{self.place(rows[1])}: query {again} has the 64-bit hash of query "
                f"{first} ({self.place(rows[0])}), by which batches tell queries "
                "apart: start again, since each process hashes texts in its own way"
            )
        return (
            f"{self.place(rows[1])}: query {again} comes back after another "
            "query, but files are read in batches of whole queries: sort=True (--sort) "
            "sorts the rows by query on disk, and load_letor and load_table read all "
            "rows at once"
        )

    def batches(
        self, batch_rows: int | None = None, first_row: int = 0
    ) -> Iterator[Bunch]:
        """Whole queries, of at least so many rows together but for the last.

        By default everything is one batch, in which rows may stand in any order.
        Batches before the one that begins at `first_row` are left out.

        Raises
        ------
        ValueError
            If no batch begins there, nor the last one ends.
        """
        bounds = self.runs.bounds(batch_rows)
        if first_row not in bounds:
            raise ValueError(f"first_row must be where a batch begins, got {first_row}")
        pieces = self._pieces(batch_rows)
        if first_row:
            pieces = self._pieces_from(batch_rows, first_row)
        rest: list[Piece] = []
        for start, stop in pairwise(bounds[bounds.index(first_row) :]):
            rows = _take(stop - start, pieces, rest)
            data, target, qid, place = self._arrays(rows, start, stop)
            ids, _ = self.runs.between(start, stop)
            which = f"{stop - start} rows"
            if batch_rows is not None:
                which = f"rows {start} to {stop - 1}"
            yield Bunch(
                data=data,
                target=np.asarray(target, dtype=np.float64),
                qid=qid,
                feature_names=list(self.feature_names),
                left_out=list(self.left_out),
                place=place or partial(_place_after, self.place, start),
                DESCR=f"{self.files}: {which}, {len(np.unique(ids))} queries, "
                f"{len(self.feature_names)} features",
            )

    def whole(self) -> Bunch:
        """Everything, the only batch."""
        (batch,) = self.batches()
        return batch


def _take(n_rows: int, pieces: Iterator[Piece], rest: list[Piece]) -> Iterator[Piece]:
    """Pieces of so many rows together; what is left of the last is put into `rest`."""
    while n_rows:
        piece = rest.pop() if rest else next(pieces, None)
        if piece is None:
            raise ValueError("files have become shorter since they were first read")
        if piece.n_rows > n_rows:
            rest.append(piece.rows(n_rows, piece.n_rows))
            piece = piece.rows(0, n_rows)
        n_rows -= piece.n_rows
        yield piece


def _place_after(place: Callable[[int], str], first: int, row: int) -> str:
    """File and line of a row of a batch, as a function that can be pickled."""
    return place(first + row)
