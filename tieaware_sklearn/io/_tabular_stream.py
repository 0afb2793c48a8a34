"""CSV, TSV and Parquet files read in batches of whole queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from ._consecutive_queries import QueryRuns, scattered
from ._tabular import (
    as_bunch,
    candidates,
    check_query_ids,
    choose_features,
    query_ids,
    to_numbers,
)
from ._tabular_frames import (
    Head,
    Table,
    has_text_ids,
    import_pandas,
    read_heads,
    read_tables,
)

#: rows that are read together
_ROWS = 1 << 16


class TabularStream:
    """Tables of the same columns, looked through once; see `Stream`."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        label: str,
        qid: str,
        ignore: Sequence[str] = (),
    ) -> None:
        self._pandas = import_pandas()
        self._label, self._qid = label, qid
        self._heads = read_heads(
            self._pandas, paths, label=label, qid=qid, ignore=ignore
        )
        self._text = has_text_ids(self._heads)
        self._runs = QueryRuns()
        columns = candidates(self._heads, qid, ignore)
        self._undecided = list(columns)
        for head in self._heads:
            self._look_through(head)
        self.n_rows = self._runs.n_rows
        self.feature_names, self.left_out = choose_features(
            self._heads, set(columns) - set(self._undecided), label, qid, ignore
        )
        row = self._runs.returns()
        self.scattered = "" if row is None else self._scattered_at(row)

    def _look_through(self, head: Head) -> None:
        """Find the queries of a file, and which columns hold numbers."""
        if head.separator is not None:
            for table in self._tables(head):
                self._add_queries(table)
                self._decide(table, self._undecided)
            return
        for table in self._tables(head, [self._qid]):
            self._add_queries(table)
        # of Parquet no column is read further than it takes
        for name in list(self._undecided):
            for table in self._tables(head, [name]):
                if self._decide(table, [name]):
                    break

    def _tables(
        self, head: Head, columns: Sequence[str] | None = None, n_rows: int = _ROWS
    ) -> Iterator[Table]:
        return read_tables(self._pandas, head, self._qid, n_rows, columns)

    def _add_queries(self, table: Table) -> None:
        check_query_ids(table, self._qid)
        self._runs.add(query_ids(table, self._qid, self._text))

    def _decide(self, table: Table, names: list[str]) -> bool:
        """Whether any of the columns holds numbers here."""
        numeric = [
            name for name in names if to_numbers(self._pandas, table, name) is not None
        ]
        self._undecided = [name for name in self._undecided if name not in numeric]
        return bool(numeric)

    def _scattered_at(self, row: int) -> str:
        for head in self._heads:
            for table in self._tables(head, [self._qid]):
                if row < len(table.frame):
                    query = query_ids(table, self._qid, self._text)[row]
                    return scattered(table.place(row), query)
                row -= len(table.frame)
        raise IndexError(row)

    def batches(self, batch_rows: int) -> Iterator[Bunch]:
        """Whole queries, of at least so many rows together but for the last."""
        columns = [self._qid, self._label, *self.feature_names]
        held: list[Table] = []
        n_held = 0
        last = None
        for head in self._heads:
            for table in self._tables(head, columns, min(batch_rows, _ROWS)):
                ids = query_ids(table, self._qid, self._text)
                begins = 1 + np.flatnonzero(ids[1:] != ids[:-1])
                if held and ids[0] != last:
                    begins = np.append(0, begins)
                last = ids[-1]
                start = 0
                # where queries begin once the batch is full
                while len(full := begins[begins - start + n_held >= batch_rows]):
                    stop = int(full[0])
                    yield self._batch([*held, _rows(table, start, stop)])
                    held, n_held, start = [], 0, stop
                    begins = full[1:]
                held.append(_rows(table, start, len(ids)))
                n_held += len(ids) - start
        yield self._batch(held)

    def _batch(self, tables: Sequence[Table]) -> Bunch:
        return as_bunch(
            self._pandas,
            [table for table in tables if len(table.frame)],
            self.feature_names,
            label=self._label,
            qid=self._qid,
            text=self._text,
        )


def _rows(table: Table, start: int, stop: int) -> Table:
    return table._replace(frame=table.frame.iloc[start:stop], first=table.first + start)
