"""Rows of rankings from any source, combined into batches of whole queries."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from .. import _optional
from .._engine import exact_numbers, messages, seen_queries, segments
from .._typing import Array
from . import _wording

#: Number of matrix cells that are written together, which fit in the cache.
_CELLS = 1 << 17


class Rows(NamedTuple):
    """Consecutive rows of a ranking.

    Features are columns, a table or a matrix. `place` names a row of the source, and
    `first` is the index of the first of these rows in the source.
    """

    data: Any
    target: Array
    qid: Array
    place: messages.Place
    first: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.qid)

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows from index `start` up to, but not including, `stop`."""
        part = slice(start, stop)
        if isinstance(self.data, list):
            data = [column[part] for column in self.data]
        else:
            data = self.data[part]
        target = self.target[part]
        return Rows(data, target, self.qid[part], self.place, self.first + start)


@dataclass(frozen=True)
class Rankings:
    """Rows that can be read, once or several times.

    Attributes
    ----------
    source_name : str
        Names of files, or a kind of table.
    feature_names, left_out : list of str
        Columns that are features, and columns that are not features.
    read : callable
        Function that returns all rows in their order, in blocks. Each call reads files
        anew. Data frames can be read only once.
    n_rows : int, optional
        Number of rows, if it is known. The number of sparse rows must be known.
    sparse : bool, default=False
        Whether batches of sparse rows stay sparse.
    left_out_files : dict
        Files that are not read, with reasons.
    is_table : bool, default=True
        Whether columns have names.
    """

    source_name: str
    feature_names: list[Any]
    left_out: list[Any]
    read: Callable[[], Iterator[Rows]]
    n_rows: int | None = None
    sparse: bool = False
    left_out_files: dict[str, str] = field(default_factory=dict)
    is_table: bool = True

    def batches(
        self, batch_rows: int | None = None, *, as_frame: bool | None = False
    ) -> Iterator[Bunch]:
        """Yield batches of whole queries or, without `batch_rows`, all rows at once.

        A batch ends with the query that fills the batch. Without `batch_rows`, rows may
        be in any order. Features are an array or, with `as_frame`, a data frame. With
        ``as_frame=None``, features are an array in which ranks replace integers that
        floats would round. Callers that pass None compare numbers only within a column.
        """
        if batch_rows is None:
            yield self._batch(self.read(), self.n_rows or 0, as_frame)
            return
        start = 0
        for parts in in_whole_queries(self.read(), batch_rows, finely=True):
            n_rows = sum(part.n_rows for part in parts)
            yield self._batch(parts, n_rows, as_frame, start)
            start += n_rows
        if not start:
            raise no_document(self.source_name)

    def _batch(
        self,
        rows: Iterable[Rows],
        n_rows: int,
        as_frame: bool | None,
        start: int | None = None,
    ) -> Bunch:
        """Combine rows into a batch of all rows, or of the rows from `start`."""
        parts = []
        places = []
        dense = None
        row = 0
        for part in rows:
            stop = row + part.n_rows
            if sp.issparse(part.data) and not self.sparse:
                # Parts are converted one by one, because converting all parts together
                # would take the same memory again.
                if dense is None:
                    dense = np.empty((n_rows, len(self.feature_names)))
                part.data.toarray(out=dense[row:stop])
                part = part._replace(data=None)
            if part.n_rows:
                parts.append(part)
                places.append((row, part.place, part.first))
            row = stop
        if not parts:
            raise no_document(self.source_name)
        names = self.feature_names
        data = dense
        if dense is None:
            data = _features(parts, names, self.source_name, as_frame)
        target = np.concatenate([part.target for part in parts])
        row_rounded = exact_numbers.first_rounded(target)
        if row_rounded is not None:
            raise ValueError(
                f"{self.source_name}: the labels must be numbers that float64 can "
                f"represent, got {target[row_rounded]}"
            )
        qid = np.concatenate([part.qid for part in parts])
        n_queries = len(set(qid[segments.run_starts(qid)].tolist()))
        description = f"{self.source_name}: {row} rows"
        if start is not None:
            description = f"{self.source_name}: rows {start} to {start + row - 1}"
        description += f", {n_queries} queries, {len(names)} features"
        if self.left_out_files:
            reasons = _wording.with_reasons(self.left_out_files)
            description += f"; not read: {reasons}"
        batch = Bunch(
            data=data,
            target=np.asarray(target, dtype=np.float64),
            qid=qid,
            feature_names=list(names),
            left_out=list(self.left_out),
            left_out_files=dict(self.left_out_files),
            place=partial(_place, places),
            DESCR=description,
        )
        return framed(batch) if as_frame else batch


def in_whole_queries(
    parts: Iterable[Rows], least: int, *, finely: bool
) -> Iterator[list[Rows]]:
    """Yield parts that together contain whole queries and at least `least` rows.

    Only the last parts may have fewer rows. With `finely`, rows are cut after the query
    that reaches `least` rows. Otherwise, rows are cut only before the last query of a
    part, which may continue in the next part.

    Raises
    ------
    ValueError
        If a query reappears after another query.
    """
    seen = seen_queries.SeenQueries()
    last_id = None
    waiting: list[Rows] = []
    n_waiting = 0
    for part in parts:
        if not part.n_rows:
            continue
        starts = segments.run_starts(part.qid)
        ids = part.qid[starts]
        known = ids.tolist()
        # The first query of a part may continue the last query of the part before.
        continues = int(bool(waiting) and known[0] == last_id)
        repeated = seen.add(ids[continues:])
        if repeated is not None:
            query = continues + repeated
            raise ValueError(
                f"{part.place(part.first + int(starts[query]))}: query "
                f"{known[query]!r} comes back after another query, but a batch must "
                "contain whole queries. Sort the rows by query, and pass the files in "
                "numeric order, such as part-2 before part-10. Or read all rows at "
                "once, with load_table, load_letor or --batch-rows 0"
            )
        last_id = known[-1]
        first = 0
        cuts = starts[continues:].tolist()
        if not finely:
            cuts = cuts[-1:]
        for cut in cuts:
            if n_waiting + cut - first >= least:
                if cut > first:
                    waiting.append(part.rows(first, cut))
                yield waiting
                waiting = []
                n_waiting = 0
                first = cut
        waiting.append(part.rows(first, part.n_rows) if first else part)
        n_waiting += part.n_rows - first
    if waiting:
        yield waiting


def _place(places: Sequence[tuple[int, messages.Place, int]], row: int) -> str:
    """Return the file and the line of a row. (Closures could not be pickled.)"""
    start, place, first = places[bisect_right(places, row, key=itemgetter(0)) - 1]
    return place(first + row - start)


def _features(
    parts: Sequence[Rows], names: Sequence[Any], source_name: str, as_frame: bool | None
) -> Any:
    """Return the features of all parts, as columns of a data frame or as a matrix.

    If float64 cannot represent some integers and other columns contain fractions, an
    error is raised. If `as_frame` is None, ranks replace the integers and no error is
    raised.
    """
    data = [part.data for part in parts]
    if sp.issparse(data[0]):
        return data[0] if len(data) == 1 else sp.vstack(data, format="csr")
    columns = dict(zip(names, zip(*data, strict=True), strict=True))
    dtype = np.result_type(*{array.dtype for part in data for array in part})
    ranked = {}
    for j, (name, arrays) in enumerate(columns.items()):
        if as_frame:
            # Only the parts of a column must share a dtype, not the columns of a frame.
            dtype = np.result_type(*arrays)
        for array in arrays if dtype.kind == "f" else ():
            row = exact_numbers.first_rounded(array)
            if row is None:
                continue
            is_whole = all(array.dtype.kind in "iu" for array in arrays)
            if as_frame is not None or not is_whole:
                raise ValueError(
                    f"{source_name}: column {name!r} must contain numbers that float64 "
                    f"can represent if any column has fractions, got {array[row]}. Set "
                    "as_frame=True to give each column its own dtype, or leave the "
                    "column out with ignore, or --ignore"
                )
            ranked[j] = arrays
    if as_frame:
        return {name: np.concatenate(columns[name]) for name in names}
    n_rows = sum(part.n_rows for part in parts)
    matrix = np.empty((n_rows, len(names)), dtype)
    start = 0
    step = max(_CELLS // len(names), 1024)
    for part in parts:
        for first in range(0, part.n_rows, step):
            rows = part.rows(first, first + step)
            np.stack(rows.data, axis=1, out=matrix[start : start + rows.n_rows])
            start += rows.n_rows
    for j, arrays in ranked.items():
        # Ranks keep the order of integers that floats would round.
        integers = np.concatenate([array.astype(object) for array in arrays])
        matrix[:, j] = np.unique(integers, return_inverse=True)[1]
    return matrix


def framed(ranking: Bunch) -> Bunch:
    """Turn the features of a ranking into a data frame."""
    pandas = _optional.import_optional("pandas", extra="io", purpose="as_frame=True")
    make = pandas.DataFrame
    if sp.issparse(ranking.data):
        make = pandas.DataFrame.sparse.from_spmatrix
    ranking.data = make(ranking.data, columns=ranking.feature_names)
    return ranking


def as_chosen(ranking: Bunch, *, as_frame: bool, return_X_y_qid: bool) -> Any:
    """Return the ranking as a Bunch, or only its features, labels and query ids."""
    if as_frame:
        framed(ranking)
    if return_X_y_qid:
        return ranking.data, ranking.target, ranking.qid
    return ranking


def no_document(source_name: str) -> ValueError:
    """Return the error for files or a table without any row."""
    return ValueError(f"{source_name}: there is no document")


def check_ignored(ignore: Sequence[Any], features: Sequence[Any]) -> None:
    """Check that the features to ignore exist."""
    for name in ignore:
        if name not in features:
            raise ValueError(
                f"ignore must name features, got {name!r}. The features are "
                f"{_wording.listed(features)}"
            )
