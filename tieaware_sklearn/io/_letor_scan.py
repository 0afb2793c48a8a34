"""LETOR text looked through, and read in pieces."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from .._engine import check_choice
from .._kernel import engine, letor
from ._letor_format import (
    Counted,
    check_not_rounded,
    check_query_file,
    letor_place,
    look_at,
    query_runs,
    read_text,
)
from ._scan import Arrays, RunsFound, Scan
from ._text_source import PathLike, TextSource, no_documents
from ._wording import listed

#: float64 holds all whole numbers below
_EXACT = 2**53


class _Piece(NamedTuple):
    data: Any
    target: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        return len(self.target)

    def rows(self, start: int, stop: int) -> _Piece:
        return _Piece(self.data[start:stop], self.target[start:stop])


@dataclass(frozen=True, eq=False)
class LetorScan(Scan[_Piece]):
    """LETOR text, and the numbers of its features, which are below `width`."""

    sources: Sequence[TextSource]
    numbers: NDArray[np.int64]
    width: int
    sparse: bool

    def _pieces(self, batch_rows: int | None) -> Iterator[_Piece]:
        for source in self.sources:
            yield from read_text(source, self._parse)

    def _pieces_from(self, batch_rows: int | None, start: int) -> Iterator[_Piece]:
        left = start

        def rest(text: bytes) -> _Piece | None:
            nonlocal left
            before = left
            # to count lines takes a fraction of the time
            if before:
                left = max(before - look_at(text).n_rows, 0)
                if left:
                    return None
            piece = self._parse(text)
            return piece.rows(before, piece.n_rows) if before else piece

        for source in self.sources:
            for piece in read_text(source, rest):
                if piece is not None:
                    yield piece

    @cached_property
    def _column(self) -> NDArray[np.int32]:
        """The column of each feature number, -1 for those that are left out."""
        column = np.full(self.width, -1, dtype=np.int32)
        column[self.numbers] = np.arange(len(self.numbers))
        return column

    def _rows_of(self, text: bytes) -> _Piece:
        """The rows of some lines, by the kernel where they are plain."""
        if engine() == "compiled":
            found = letor.parse(text, self._column)
            if found is not None:
                *parts, target = found
                shape = len(target), len(self.numbers)
                return _Piece(sp.csr_array(tuple(parts), shape), target)
        data, target = load_svmlight_file(
            io.BytesIO(text), n_features=self.width, zero_based=True
        )
        kept = sp.csr_array(data)[:, self.numbers]
        # 64-bit indices, as scikit-learn reads them, are more than some estimators take
        ends = [part.astype(np.int32) for part in (kept.indices, kept.indptr)]
        return _Piece(sp.csr_array((kept.data, *ends), kept.shape), target)

    def _parse(self, text: bytes) -> _Piece:
        piece = self._rows_of(text)
        largest = np.abs(piece.data.data).max(initial=piece.target.max(initial=0))
        if largest >= _EXACT:
            check_not_rounded(text)
        return piece

    def _arrays(self, pieces: Iterator[_Piece], start: int, stop: int) -> Arrays:
        target = np.empty(stop - start)
        dense = None if self.sparse else np.empty((len(target), len(self.numbers)))
        parts = []
        row = 0
        for piece in pieces:
            rows = slice(row, row := row + piece.n_rows)
            target[rows] = piece.target
            if dense is None:
                parts.append(piece.data)
            else:
                piece.data.toarray(out=dense[rows])
        data = sp.vstack(parts, format="csr") if dense is None else dense
        return Arrays(data, target, np.repeat(*self.runs.between(start, stop)))

    def _query_at(self, row: int) -> int:
        run = np.searchsorted(self.runs.starts, row, side="right") - 1
        return int(self.runs.ids[run])


def scan_letor(
    sources: Sequence[TextSource],
    *,
    ignore: Sequence[str] = (),
    query_file: PathLike | Sequence[PathLike] | None = None,
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    sparse: bool = False,
) -> LetorScan:
    """Look through text for its queries and features; options as in `load_letor`."""
    check_choice(zero_based, "zero_based", (True, False, "auto"))
    given = check_query_file(query_file, len(sources))
    found, files = RunsFound(), []
    smallest, largest = 1, -1
    for source in sources:
        n_rows = n_with_qid = 0
        for lines in read_text(source, look_at):
            n_rows += lines.n_rows
            n_with_qid += len(lines.qid)
            found.add(lines.qid)
            smallest = min(smallest, lines.smallest)
            largest = max(largest, lines.largest)
        files.append(Counted(source, n_rows, n_with_qid))
    if not any(file.n_rows for file in files):
        raise ValueError(no_documents(sources))
    runs = query_runs(files, found, given)
    if zero_based is False and smallest == 0:
        raise ValueError(f"{sources[0]}: zero_based=False, but a feature has number 0")
    if largest < 0 and n_features is None:
        raise ValueError(f"{sources[0]}: no line holds a feature")
    first = 0 if zero_based is True or smallest == 0 else 1
    numbers = _columns(first, largest, n_features)
    kept = _not_ignored(numbers, ignore)
    return LetorScan(
        files=", ".join(map(str, sources)),
        feature_names=[str(number) for number in kept],
        left_out=[],
        runs=runs,
        place=partial(letor_place, sources),
        sources=sources,
        numbers=np.array(kept, dtype=np.int64),
        width=max(largest + 1, numbers.stop, 1),
        sparse=sparse,
    )


def _columns(first: int, largest: int, n_features: int | None) -> range:
    """Numbers of the features, from the first one to the largest seen or further."""
    seen = max(largest + 1 - first, 0)
    wanted = seen if n_features is None else n_features
    if wanted < seen:
        raise ValueError(
            f"n_features must be at least {seen}, the number in the file, got {wanted}"
        )
    return range(first, first + wanted)


def _not_ignored(numbers: range, ignore: Sequence[str]) -> list[int]:
    names = set(map(str, numbers))
    for name in ignore:
        if name not in names:
            raise ValueError(
                f"ignore must name a feature, got {name!r} (features: "
                f"{listed(numbers)})"
            )
    kept = [number for number in numbers if str(number) not in ignore]
    if ignore and not kept:
        raise ValueError("ignore must leave at least one feature, got all of them")
    return kept
