"""CSV, TSV and Parquet files looked through, and read in pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._scan import Arrays, RunsFound, Scan
from ._tabular_cells import numbers_or_gaps, one_matrix, query_ids, to_numbers
from ._tabular_frames import Head, Table, read_heads, read_tables
from ._text_source import Location, no_documents

#: rows that are read together
_ROWS = 1 << 16
#: cells that are, however few a batch has: a piece costs as much as thousands of them
_LEAST_CELLS = 1 << 18


@dataclass(frozen=True, eq=False)
class _Files:
    """Tables of the same columns, read anew each time but for those that are kept."""

    heads: Sequence[Head]
    kept: Sequence[Table] | None

    def read(
        self,
        head: Head,
        columns: Sequence[str],
        n_rows: int = _ROWS,
        first_row: int = 0,
    ) -> Iterator[Table]:
        """The rows of a file, at least these columns of them."""
        if self.kept is None:
            return read_tables(head, columns, n_rows, first_row)
        return (table for table in self.kept if table.head is head)


@dataclass(frozen=True, eq=False)
class TableScan(Scan[Table]):
    """Tables, and which of their columns holds labels."""

    tables: _Files
    label: str
    #: rows up to the end of each file
    ends: Sequence[int]

    def _pieces(self, batch_rows: int | None) -> Iterator[Table]:
        for head in self.tables.heads:
            yield from self._pieces_of(head, batch_rows)

    def _pieces_from(self, batch_rows: int | None, start: int) -> Iterator[Table]:
        before = 0
        for head, end in zip(self.tables.heads, self.ends, strict=True):
            if start < end:
                yield from self._pieces_of(head, batch_rows, max(start - before, 0))
            before = end

    def _pieces_of(
        self, head: Head, batch_rows: int | None, first_row: int = 0
    ) -> Iterator[Table]:
        columns = [head.qid, self.label, *self.feature_names]
        least = _LEAST_CELLS // len(columns)
        n_rows = min(max(batch_rows or _ROWS, least), _ROWS)
        return self.tables.read(head, columns, n_rows, first_row)

    def _arrays(self, pieces: Iterator[Table], start: int, stop: int) -> Arrays:
        tables = list(pieces)

        def column(name: str) -> NDArray[Any]:
            return np.concatenate([numbers_or_gaps(table, name) for table in tables])

        data = one_matrix([column(name) for name in self.feature_names])
        qid = np.concatenate([query_ids(table) for table in tables])
        return Arrays(data, column(self.label), qid)

    def _query_at(self, row: int) -> Any:
        for head in self.tables.heads:
            for table in self.tables.read(head, [head.qid]):
                if row < table.n_rows:
                    return query_ids(table)[row]
                row -= table.n_rows
        raise IndexError(row)


def scan_tables(
    paths: Sequence[Location],
    *,
    label: str,
    qid: str,
    ignore: Sequence[str] = (),
    keep: bool = False,
) -> TableScan:
    """Look through files of the same columns for queries and columns with numbers.

    Columns of `ignore` are not looked at, and those without a single number or
    without a name are left out. `keep` what is read where everything is wanted at
    once: to read a table again costs as much.
    """
    heads = read_heads(paths, label=label, qid=qid, ignore=ignore)
    kept = [table for head in heads for table in read_tables(head)] if keep else None
    files = _Files(heads, kept)
    looked_at = [name for name in heads[0].names if name not in (qid, *ignore)]
    candidates = [name for name in looked_at if not is_nameless(name)]
    found, ends, without = RunsFound(), [], candidates
    for head in heads:
        without = _look_through(files, head, found, without)
        ends.append(found.n_rows)
    if not found.n_rows:
        raise ValueError(no_documents([head.source for head in heads]))
    numeric = [name for name in candidates if name not in without]
    if label not in numeric:
        raise ValueError(f"{heads[0].source}: {heads[0].column(label)} holds no number")
    features = [name for name in numeric if name != label]
    if not features:
        raise ValueError(f"{heads[0].source}: no column but {label!r} holds numbers")
    return TableScan(
        files=", ".join(map(str, paths)),
        feature_names=features,
        left_out=[name for name in looked_at if name not in numeric],
        runs=found.all(),
        place=partial(_place, heads, ends),
        tables=files,
        label=label,
        ends=ends,
    )


def is_nameless(name: str) -> bool:
    """Whether pandas made the name up, of a column whose head is empty."""
    return name.startswith("Unnamed:")


def _look_through(
    files: _Files, head: Head, found: RunsFound, without: list[str]
) -> list[str]:
    """Add the queries of a file; the columns that hold no number there either."""
    at_once = head.separator is not None
    for table in files.read(head, [head.qid]):
        found.add(query_ids(table))
        if at_once:
            without = [name for name in without if to_numbers(table, name) is None]
    if at_once:
        return without
    # of Parquet no column is read further than it takes
    return [
        name
        for name in without
        if all(to_numbers(table, name) is None for table in files.read(head, [name]))
    ]


def _place(heads: Sequence[Head], ends: Sequence[int], row: int) -> str:
    """File and line of a row of all files, for a message."""
    at = bisect_right(ends, row)
    return heads[at].place(row - (ends[at - 1] if at else 0))
