"""Rows in any order, sorted by query on disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._engine import find_runs
from .._optional import import_optional
from ._float_rows import FloatRows, float_rows
from ._scan import Arrays, Runs, Scan
from ._whole_file import endings_as_errors
from ._wording import in_one_line

#: rows that are written, and read, together; at most as many as hold so many numbers
_ROWS, _CELLS = 1 << 16, 1 << 22
#: what is sorted at a time, in so many parts at most
_PART_BYTES, _MOST_PARTS = 1 << 28, 200
#: columns beside the features
_BESIDE = ("query", "row", "id", "label")
#: the fewest that DuckDB writes together
_LEAST_ROWS = 1 << 11
#: a full disk, one's share of it, and the largest file that is allowed
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SAYS_FULL = ("no space left", "file too large", "quota exceeded", "max_temp_dir")


class Engine(NamedTuple):
    """What sorts."""

    name: str
    sort: SortsFiles


class SortsFiles(Protocol):
    """Sort a file into another one, in groups of `n_rows`; the folder is for more."""

    def __call__(self, rows: Path, into: Path, folder: Path, n_rows: int) -> None: ...


def find_engine() -> Engine:
    """DuckDB or, where it is not installed, Polars.

    Raises
    ------
    ImportError
        If neither is installed.
    """
    known: list[tuple[str, str, SortsFiles]] = [
        ("duckdb", "DuckDB", _sort_with_duckdb),
        ("polars", "Polars", _sort_with_polars),
    ]
    for module, name, sort in known:
        try:
            import_module(module)
        except ImportError:
            continue
        return Engine(name, sort)
    raise ImportError(
        "sorting rows by query on disk needs DuckDB or Polars: "
        'pip install "tieaware-sklearn[sort]" installs DuckDB'
    )


def sorted_by_query(scan: Scan[Any]) -> Scan[Any]:
    """The same rows with those of each query together.

    Queries come in the order of their first rows, and the rows of a query in that of
    the files. Nothing is sorted before the first batch is read.
    """
    if scan.runs.returns() is None:
        return scan
    ids, first, query = np.unique(scan.runs.ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    queries = rank[query]
    lengths = np.diff(scan.runs.starts, append=scan.runs.n_rows)
    n_rows = np.zeros(len(order), dtype=np.int64)
    np.add.at(n_rows, queries, lengths)
    engine = find_engine()
    return SortedScan(
        files=f"{scan.files}, sorted by query with {engine.name}",
        feature_names=scan.feature_names,
        left_out=scan.left_out,
        runs=Runs(ids[order], np.cumsum(n_rows) - n_rows, scan.n_rows),
        place=scan.place,
        unsorted=scan,
        queries=queries,
        engine=engine,
    )


class _SortedRows(NamedTuple):
    """Some rows of the sorted file."""

    table: Any

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    def rows(self, start: int, stop: int) -> _SortedRows:
        return _SortedRows(self.table.slice(start, stop - start))


@dataclass(frozen=True, eq=False)
class SortedScan(Scan[_SortedRows]):
    """Rows that are sorted on disk when they are read.

    Attributes
    ----------
    unsorted : Scan
        The files.
    queries : ndarray of int
        The number of the query of each run there.
    engine : Engine
    """

    unsorted: Scan[Any]
    queries: NDArray[np.int64]
    engine: Engine

    @property
    def _group(self) -> int:
        """How many rows are written and read together."""
        return max(_LEAST_ROWS, min(_ROWS, _CELLS // len(self.feature_names)))

    def _pieces(self, batch_rows: int | None) -> Iterator[_SortedRows]:
        with ExitStack() as stack:
            for file in [stack.enter_context(file) for file in self._sorted_files()]:
                parquet = _parquet().ParquetFile(file, pre_buffer=False)
                for batch in parquet.iter_batches(self._group):
                    yield _SortedRows(batch)

    def _sorted_files(self) -> list[IO[bytes]]:
        """The rows in order, in files without a name, so that nothing can be left."""
        with (
            endings_as_errors(),
            tempfile.TemporaryDirectory(prefix="tieaware-sort-") as folder,
            ExitStack() as opened,
        ):
            files = []
            for rows in self._write(Path(folder)):
                into = rows.with_name(f"sorted-{rows.name}")
                try:
                    self.engine.sort(rows, into, Path(folder), self._group)
                except Exception as error:
                    raise self._failed(error) from error
                rows.unlink()
                files.append(opened.enter_context(_without_name(into)))
            opened.pop_all()
            return files

    def _part_of_query(self) -> NDArray[np.int64]:
        """Which part each query is in: engines fail if wide rows exceed their memory.

        Parts are of consecutive queries.
        """
        row_bytes = 8 * (len(self.feature_names) + len(_BESIDE))
        most = max(1, _PART_BYTES // row_bytes, self.n_rows // _MOST_PARTS)
        return self.runs.starts // most

    def _write(self, folder: Path) -> list[Path]:
        """Write all rows, each with the number of its query and its own, in parts."""
        arrow, parts = _arrow(), self._part_of_query()
        paths = {part: folder / f"rows-{part}.parquet" for part in np.unique(parts)}
        first, kind = 0, None
        with ExitStack() as stack:
            writers: dict[int, Any] = {}
            for rows in float_rows(self.unsorted, self._group):
                ids = arrow.array(rows.qid, type=kind)
                table = self._table(rows, ids, first)
                first, kind = first + len(rows.target), ids.type
                part_of_row = parts[table.column("query").to_numpy()]
                for part in np.unique(part_of_row):
                    own = table.take(np.flatnonzero(part_of_row == part))
                    try:
                        if part not in writers:
                            writers[part] = _parquet().ParquetWriter(
                                paths[part], table.schema
                            )
                            stack.callback(self._close, writers[part])
                        writers[part].write_table(own)
                    except OSError as error:
                        raise self._failed(error) from error
        return list(paths.values())

    def _close(self, writer: Any) -> None:
        try:
            writer.close()
        except OSError as error:
            raise self._failed(error) from error

    def _table(self, rows: FloatRows, ids: Any, first: int) -> Any:
        places = np.arange(first, first + len(rows.target))
        run = np.searchsorted(self.unsorted.runs.starts, places, side="right") - 1
        # one cell for all features of a row: engines fail at thousands of columns
        data = np.ascontiguousarray(rows.data, dtype=np.float64)
        arrow, width = _arrow(), data.strides[0]
        cells = [None, arrow.py_buffer(data)]
        features = arrow.Array.from_buffers(arrow.binary(width), len(data), cells)
        columns = {"query": self.queries[run], "row": places, "id": ids}
        return arrow.table({**columns, "label": rows.target, "features": features})

    def _failed(self, error: Exception) -> OSError:
        """What a full disk or an engine says, in one sentence."""
        said, folder = in_one_line(error), tempfile.gettempdir()
        full = any(words in said.lower() for words in _SAYS_FULL)
        if getattr(error, "errno", None) in _FULL or full:
            return OSError(
                errno.ENOSPC,
                "no space left to sort the rows by query (TMPDIR names another folder)",
                folder,
            )
        why = f"{self.engine.name} could not sort the rows by query: {said}"
        return OSError(errno.EIO, why, folder)

    def _arrays(self, pieces: Iterator[_SortedRows], start: int, stop: int) -> Arrays:
        table = _arrow().Table.from_batches([piece.table for piece in pieces])
        qid = np.asarray(table.column("id").to_pandas().to_numpy())
        rows = table.column("row").to_numpy()
        begins = np.searchsorted(self.runs.starts, [start, stop])
        starts = self.runs.starts[slice(*begins)] - start
        found = find_runs(qid, "qid")
        if not np.array_equal(found, starts):
            other = int(np.setxor1d(found, starts)[0])
            raise ValueError(
                f"{self.place(int(rows[other]))}: query {qid[other]} has the 64-bit "
                f"hash of query {qid[other - 1]}, by which queries are told apart: "
                "start again, since each process hashes texts in its own way"
            )
        cells = b"".join(table.column("features").to_pylist())
        data = np.frombuffer(bytearray(cells)).reshape(len(rows), -1)
        place = partial(_place_of, self.place, rows)
        return Arrays(data, table.column("label").to_numpy(), qid, place)

    def _query_at(self, row: int) -> Any:
        raise IndexError(row)  # no query comes back


def _without_name(path: Path) -> IO[bytes]:
    """A file that is gone when it is closed, or when the process ends."""
    if os.name != "nt":
        file = path.open("rb")
        path.unlink()
        return file
    # where a file that is open keeps its name
    unnamed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
    with path.open("rb") as named:
        shutil.copyfileobj(named, unnamed)
    path.unlink()
    unnamed.seek(0)
    return unnamed


def _place_of(place: Any, rows: NDArray[np.int64], row: int) -> str:
    """File and line of a row of a batch, as a function that can be pickled."""
    return str(place(int(rows[row])))


def _sort_with_duckdb(rows: Path, into: Path, folder: Path, n_rows: int) -> None:
    duckdb = import_module("duckdb")
    settings = {
        "temp_directory": str(folder / "spill"),
        "memory_limit": "1GB",
        "threads": str(min(4, os.cpu_count() or 1)),
        "autoinstall_known_extensions": "false",
    }
    connection = duckdb.connect(":memory:", config=settings)
    statement = (
        f"copy (select * from read_parquet('{_sql(rows)}') order by query, row) "
        f"to '{_sql(into)}' (format parquet, row_group_size {n_rows})"
    )
    try:
        connection.execute("set enable_progress_bar = false")
        _in_thread(partial(connection.execute, statement), connection.interrupt)
    finally:
        connection.close()


def _in_thread(work: Callable[[], object], stop: Callable[[], object]) -> None:
    """Work beside the main thread, which stays free for signals and raises theirs.

    An engine that is told to stop by one makes an error of its own of it.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            future.result()
        except BaseException:
            stop()
            raise


def _sql(path: Path) -> str:
    return str(path).replace("'", "''")


def _sort_with_polars(rows: Path, into: Path, folder: Path, n_rows: int) -> None:
    polars = import_module("polars")
    ordered = polars.scan_parquet(rows).sort("query", "row")
    sort = partial(ordered.sink_parquet, into, row_group_size=n_rows)
    _in_thread(sort, lambda: None)


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="sorting rows by query")


def _parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="io", purpose="sorting rows")
