"""Lines of TREC files: what they say of each topic and document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from ._text_source import TextSource, quoted

#: bytes of text that are cut together
_CHUNK = 1 << 20
#: the bytes at which bytes.split() cuts
_IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))


class TrecLines(NamedTuple):
    """Lines of a file, those of a topic together, in the order of the file.

    Topics and documents are bytes, whose order is that of trec_eval.
    """

    #: topics in the order of the file, and where their lines are
    topics: dict[bytes, slice]
    docno: list[bytes]
    #: of shape (n_lines, n_columns)
    numbers: FloatArray
    #: what all lines of a run are tagged with, if it is one
    tag: str | None = None

    def in_order(self, order: NDArray[np.int64]) -> TrecLines:
        """The same lines in another order, which keeps those of a topic together."""
        docno = [self.docno[line] for line in order.tolist()]
        return self._replace(docno=docno, numbers=self.numbers[order])

    def topic_numbers(self) -> NDArray[np.int64]:
        """The place of the topic of each line."""
        lengths = [lines.stop - lines.start for lines in self.topics.values()]
        return np.repeat(np.arange(len(lengths)), lengths)


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


def as_text(ids: Sequence[bytes]) -> NDArray[np.str_]:
    """Topics or documents as text, different ones for different bytes."""
    try:
        return np.array(ids).astype(np.str_)
    except UnicodeDecodeError:  # not ASCII
        text = b"\n".join(ids).decode("utf-8", "surrogateescape")
        return np.array(text.split("\n"))


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
        lines = _by_topic(topic, docno, np.concatenate(numbers))
        if len(tags) != 1:
            return lines
        return lines._replace(tag=as_text([*tags]).item())
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


def _by_topic(topic: list[bytes], docno: list[bytes], numbers: FloatArray) -> TrecLines:
    places = dict(zip(dict.fromkeys(topic), count(), strict=False))
    codes = np.fromiter(map(places.__getitem__, topic), np.int64, len(topic))
    bounds = np.cumsum(np.bincount(codes, minlength=len(places)), dtype=np.int64)
    slices = map(slice, chain([0], bounds[:-1].tolist()), bounds.tolist())
    lines = TrecLines(dict(zip(places, slices, strict=False)), docno, numbers)
    if (codes[1:] < codes[:-1]).any():
        lines = lines.in_order(np.argsort(codes, kind="stable"))
    for of_topic in lines.topics.values():
        documents = lines.docno[of_topic]
        if len(set(documents)) < len(documents):
            raise _Malformed
    return lines


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
                got = quoted(as_text([cells[place]]).item())
                return f"{source}, line {number}: {name} must be a number, got {got}"
        pair = cells[0], cells[2]
        first = seen.setdefault(pair, number)
        if first < number:
            topic, document = as_text(pair).tolist()
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
