"""Rows of rankings, from whatever source, put together to batches of whole queries."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .. import _optional
from .._display import words
from .._engine import exact_numbers, messages, seen_queries, segments
from . import _wording

#: numbers of a matrix that are written together
_CELLS = 1 << 17
_FLOATS = "numbers that a float64 holds"
_BESIDE = (
    "another column has fractions, so that an array of both rounds it: as_frame=True "
    "gives each column its own dtype; ignore, or --ignore, leaves it out"
)


class Rows(NamedTuple):
    """Some rows of a ranking.

    Features are columns, or a table or matrix. `place` names a row, by its file and
    line, of which `first` is the first.
    """

    data: Any
    target: NDArray[Any]
    qid: NDArray[Any]
    place: messages.Place
    first: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.qid)

    def rows(self, start: int, stop: int) -> Rows:
        part, data = slice(start, stop), self.data
        data = [one[part] for one in data] if isinstance(data, list) else data[part]
        first = self.first + start
        return Rows(data, self.target[part], self.qid[part], self.place, first)


@dataclass(frozen=True, eq=False)
class Rankings:
    """Rows that can be read, once or more often.

    Attributes
    ----------
    said : str
        What they are: names of files, or a kind of table.
    feature_names, left_out : list of str
        Columns that are features, and those that are not.
    read : callable
        Gives all rows in their order, some at a time; each call reads them anew.
    n_rows : int, optional
        Their number, if it is known, as that of sparse rows must be.
    sparse : bool, default=False
        Whether batches stay sparse if rows are.
    left_out_files : dict
        Files that are not read, with reasons.
    is_table : bool, default=True
        Whether columns have names.
    """

    said: str
    feature_names: list[Any]
    left_out: list[Any]
    read: Callable[[], Iterator[Rows]]
    n_rows: int | None = None
    sparse: bool = False
    left_out_files: dict[str, str] = field(default_factory=dict)
    is_table: bool = True
    _forms: dict[str, str] = field(default_factory=dict)

    def batches(
        self, batch_rows: int | None = None, *, as_frame: bool | None = False
    ) -> Iterator[Bunch]:
        """Whole queries, so many rows together; by default all rows, in any order.

        A batch ends with the query that fills it. Features are an array or, with
        `as_frame`, a data frame. None is for those who compare numbers only within a
        column: the array has the dtype object where another one would round.
        """
        start = 0
        if batch_rows is None:
            yield self._batch(self.read(), self.n_rows or 0, "{} rows", as_frame)
            return
        for parts in in_whole_queries(self.read(), batch_rows, finely=True):
            stop = start + sum(part.n_rows for part in parts)
            which = f"rows {start} to {stop - 1}"
            yield self._batch(parts, stop - start, which, as_frame)
            start = stop
        if not start:
            raise no_document(self.said)

    def whole(self, *, as_frame: bool = False) -> Bunch:
        """Everything, the only batch."""
        (batch,) = self.batches(as_frame=as_frame)
        return batch

    def _batch(
        self, rows: Iterable[Rows], n_rows: int, which: str, as_frame: bool | None
    ) -> Bunch:
        """Some rows, or all; it must be known how many if they are sparse."""
        parts, dense, row = [], None, 0
        for part in rows:
            stop = row + part.n_rows
            if sp.issparse(part.data) and not self.sparse:
                # at once, since all of it would take as much again
                if dense is None:
                    dense = np.empty((n_rows, len(self.feature_names)))
                part.data.toarray(out=dense[row:stop])
                part = part._replace(data=None)
            if part.n_rows:
                parts.append(part)
            row = stop
        if not parts:
            raise no_document(self.said)
        labels = f"{self.said}: the labels"
        target = _joined([part.target for part in parts], labels)
        if (at := exact_numbers.first_rounded(target)) is not None:
            raise ValueError(f"{labels} must be {_FLOATS}, got {target[at]}")
        names, data = self.feature_names, dense
        if dense is None:
            data = _matrix(parts, names, self.said, as_frame)
        qid = _joined([part.qid for part in parts], "qid")
        queries = qid[segments.run_starts(qid)].tolist()
        _warn_of_forms(queries, self._forms)
        ends = list(accumulate(part.n_rows for part in parts))
        others = _wording.with_reasons(self.left_out_files)
        batch = Bunch(
            data=data,
            target=np.asarray(target, dtype=np.float64),
            qid=qid,
            feature_names=list(names),
            left_out=list(self.left_out),
            left_out_files=dict(self.left_out_files),
            place=partial(_place, ends, [(one.place, one.first) for one in parts]),
            DESCR=f"{self.said}: {which.format(row)}, {len(set(queries))} queries, "
            f"{len(names)} features{others and f'; not read: {others}'}",
        )
        return framed(batch) if as_frame else batch


def in_whole_queries(
    parts: Iterable[Rows], least: int, *, finely: bool
) -> Iterator[list[Rows]]:
    """Rows that hold whole queries together, at least so many but for the last.

    With `finely`, rows are cut behind the query that makes them enough, and else
    before their last query alone, which may go on.

    Raises
    ------
    ValueError
        For a query that comes back after another one.
    """
    seen, last = seen_queries.SeenQueries(), None
    waiting: list[Rows] = []
    n_waiting = 0
    for part in parts:
        if not part.n_rows:
            continue
        starts = segments.run_starts(part.qid)
        ids = part.qid[starts]
        known = ids.tolist()
        goes_on = int(n_waiting > 0 and known[0] == last)
        if (again := seen.add(ids[goes_on:])) is not None:
            again += goes_on
            raise ValueError(
                f"{part.place(part.first + int(starts[again]))}: query {known[again]!r}"
                " comes back after another query, but batches hold whole queries: sort "
                "the rows by query first (and files as people count, part-2 before "
                "part-10), or read all of them at once, as load_table and load_letor "
                "(--batch-rows 0) do"
            )
        last, at, starts = known[-1], 0, starts[goes_on:]
        while len(starts := starts if finely else starts[-1:]):
            full = int(np.searchsorted(starts, at + least - n_waiting))
            if full == len(starts):
                break
            cut = int(starts[full])
            if cut > at:
                waiting.append(part.rows(at, cut))
            yield waiting
            waiting, n_waiting, at, starts = [], 0, cut, starts[full + 1 :]
        waiting.append(part.rows(at, part.n_rows) if at else part)
        n_waiting += part.n_rows - at
    if waiting:
        yield waiting


def _place(
    ends: Sequence[int], places: Sequence[tuple[messages.Place, int]], row: int
) -> str:
    """File and line of a row of a batch, as a function that can be pickled."""
    at = bisect_right(ends, row)
    place, first = places[at]
    return place(first + row - (ends[at - 1] if at else 0))


def _joined(arrays: list[NDArray[Any]], name: str) -> NDArray[Any]:
    """Arrays one after another, in which no two numbers become one."""
    if len(arrays) == 1:
        return arrays[0]
    numbers = all(one.dtype.kind in "biuf" for one in arrays)
    if numbers and not all(map(exact_numbers.fits_floats, arrays)):
        arrays = [_whole(one) for one in arrays]
        if np.result_type(*arrays).kind == "f":
            objects = [one.astype(object) for one in arrays]
            return exact_numbers.numbers_of(np.concatenate(objects), name)
    return np.concatenate(arrays)


def _whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Floats as integers if all of them are."""
    if numbers.dtype.kind != "f" or numbers.dtype.itemsize > 8:
        return numbers
    floats = numbers.astype(np.float64)
    whole = (np.floor(floats) == floats) & (np.abs(floats) < 2.0**63)
    return floats.astype(np.int64) if whole.all() else numbers


def _matrix(
    parts: list[Rows], names: Sequence[Any], said: str, as_frame: bool | None
) -> Any:
    """The features of all parts, none of them rounded; columns for a data frame.

    Integers that a float64 does not hold, beside other numbers, are an error unless
    `as_frame` is None: then ranks stand for the integers.
    """
    data = [part.data for part in parts]
    n_rows = sum(part.n_rows for part in parts)
    if sp.issparse(data[0]):
        return data[0] if len(data) == 1 else sp.vstack(data, format="csr")
    what = [f"{said}: column {name!r}" for name in names]
    pieces = zip(zip(*data, strict=True), what, strict=True)
    joined = (_joined(list(piece), column) for piece, column in pieces)
    if as_frame:
        return dict(zip(names, joined, strict=True))
    arrays = [array for one in data for array in one]
    dtypes = {array.dtype for array in arrays}
    common = np.result_type(*dtypes)
    if len(dtypes) > 1 and not all(map(exact_numbers.fits_floats, arrays)):
        columns = list(map(_whole, joined))
        common = np.result_type(*columns)
        for j, (column, numbers) in enumerate(zip(what, columns, strict=True)):
            at = exact_numbers.first_rounded(numbers) if common.kind == "f" else None
            if at is not None and as_frame is False:
                rule = f"{column} must hold {_FLOATS}, got {numbers[at]}"
                raise ValueError(f"{rule} ({_BESIDE})")
            if at is not None:  # ranks keep the order
                columns[j] = np.unique(numbers, return_inverse=True)[1]
        data = [columns]
    matrix, row = np.empty((n_rows, len(names)), common), 0
    # some rows at a time, as many as a cache holds
    step = max(_CELLS // len(names), 1024)
    for one in data:
        for at in range(0, len(one[0]), step):
            for j, column in enumerate(one):
                part = column[at : at + step]
                matrix[row + at : row + at + len(part), j] = part
        row += len(one[0])
    return matrix


def _warn_of_forms(queries: list[Any], forms: dict[str, str]) -> None:
    """Warn once of ids that differ only in how Unicode composes their letters.

    `forms` has the ids seen so far that could be written otherwise.
    """
    for one in queries:
        if "" in forms or not isinstance(one, str) or one.isascii():
            continue
        form = unicodedata.normalize("NFC", one)
        is_alone = form == one == unicodedata.normalize("NFD", one)
        if not is_alone and forms.setdefault(form, one) != one:
            words.warn(
                f"query ids {forms[form]!a} and {one!a} differ only in their Unicode "
                "form and count as two queries: write all ids in one form, such as by "
                'unicodedata.normalize("NFC", ...)'
            )
            forms[""] = one


def framed(ranking: Bunch) -> Bunch:
    """Turn the features of a ranking into a data frame."""
    pandas = _optional.import_optional("pandas", extra="io", purpose="as_frame=True")
    make = pandas.DataFrame
    if sp.issparse(ranking.data):
        make = pandas.DataFrame.sparse.from_spmatrix
    ranking.data = make(ranking.data, columns=ranking.feature_names)
    return ranking


def as_chosen(ranking: Bunch, *, as_frame: bool, return_X_y_qid: bool) -> Any:
    """The ranking, or its features, labels and query ids alone."""
    if as_frame:
        framed(ranking)
    if return_X_y_qid:
        return ranking.data, ranking.target, ranking.qid
    return ranking


def no_document(said: str) -> ValueError:
    """An error that says that files, or a table, hold no document."""
    return ValueError(f"{said}: there is no document")


def check_ignored(ignore: Sequence[Any], features: Sequence[Any]) -> None:
    """Check that features to be ignored exist."""
    for name in ignore:
        if name not in features:
            got = f"got {name!r} (features: {_wording.listed(features)})"
            raise ValueError(f"ignore must name a feature, {got}")
