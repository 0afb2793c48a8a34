"""TREC files, read as lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .._engine.ties import FloatArray
from ._text_source import TextSource, quoted
from ._trec_lines import TrecLines, gathered, spelled

#: bytes of text that are cut together
_CHUNK = 1 << 20
#: the bytes at which bytes.split() cuts
_IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))


class _Form(NamedTuple):
    """The columns of a kind of file, and those of them that are numbers."""

    columns: str
    numbers: dict[str, int]
    happened: str
    tag: int | None = None

    @property
    def n_columns(self) -> int:
        return len(self.columns.split())


_QRELS = _Form("topic iteration docno label", {"label": 3}, "judged")
_RUN = _Form("topic Q0 docno rank score tag", {"rank": 3, "score": 4}, "retrieved", 5)


def read_qrels(source: TextSource) -> TrecLines:
    """Labels of each topic and document; NaN for those below 0."""
    lines = _read(source, _QRELS)
    lines.numbers[lines.numbers < 0] = math.nan
    return lines


def read_run(source: TextSource) -> TrecLines:
    """Ranks and scores of each topic and document."""
    return _read(source, _RUN)


def _read(source: TextSource, form: _Form) -> TrecLines:
    """All lines, read in bulk; what is wrong with one is looked for line by line."""
    topic: list[bytes] = []
    docno: list[bytes] = []
    numbers: list[FloatArray] = [np.empty((0, len(form.numbers)))]
    tags: set[bytes] = set()
    try:
        with source.reading(), source.open_text() as file:
            while text := file.read(_CHUNK):
                columns = _columns(text + file.readline(), form.n_columns)
                topic += columns[0]
                docno += columns[2]
                cells = [columns[place] for place in form.numbers.values()]
                numbers.append(np.column_stack([*map(_numbers, cells)]))
                if form.tag is not None:
                    tags.update(columns[form.tag])
        lines = gathered(topic, docno, np.concatenate(numbers), str(source))
        if lines.repeated():
            raise _Malformed
        return lines._replace(tag=spelled(*tags)) if len(tags) == 1 else lines
    except _Malformed:
        raise ValueError(_complaint(source, form)) from None


class _Malformed(Exception):
    """Some line is not as it must be."""


def _columns(text: bytes, n_columns: int) -> list[list[bytes]]:
    """Cells of lines that are not empty, cut at ASCII white space as trec_eval does."""
    cells = text.split()
    # a list of each line would keep the garbage collector busy for longer
    codes = np.frombuffer(text, np.uint8)
    is_space = _IS_SPACE[codes]
    begins = ~is_space
    begins[1:] &= is_space[:-1]
    starts = np.flatnonzero(codes[:-1] == ord("\n")) + 1
    n_cells = np.add.reduceat(begins, np.insert(starts, 0, 0), dtype=np.int64)
    if not ((n_cells == n_columns) | (n_cells == 0)).all():
        raise _Malformed
    return [cells[place::n_columns] for place in range(n_columns)]


def _numbers(cells: Sequence[bytes]) -> FloatArray:
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        raise _Malformed from None
    # float() also reads 1_0
    if not np.isfinite(numbers).all() or b"_" in b"".join(cells):
        raise _Malformed
    return numbers


def _complaint(source: TextSource, form: _Form) -> str:
    """What is wrong with the first malformed line of a file."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for number, cells in _lines(source):
        if len(cells) != form.n_columns:
            return (
                f"{source}, line {number}: must have {form.n_columns} columns "
                f"({form.columns}), got {len(cells)}"
            )
        for name, place in form.numbers.items():
            try:
                _numbers([cells[place]])
            except _Malformed:
                got = quoted(spelled(cells[place]))
                return f"{source}, line {number}: {name} must be a number, got {got}"
        pair = cells[0], cells[2]
        first = seen.setdefault(pair, number)
        if first < number:
            topic, document = map(spelled, pair)
            return (
                f"{source}, line {number}: {document} is {form.happened} twice for "
                f"topic {topic} (line {first} has it too)"
            )
    return f"{source}: malformed"


def _lines(source: TextSource) -> Iterator[tuple[int, list[bytes]]]:
    """Numbered lines that are not empty."""
    with source.open_text() as file:
        for number, raw in enumerate(file, start=1):
            if cells := raw.split():
                yield number, cells
