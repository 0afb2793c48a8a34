"""Files of judgments and runs, read as lines."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from ._source import TextSource
from ._trec_lines import TrecLines, gathered, spelled
from ._wording import quoted

#: what stands in the second column of runs, where it is looked at
_Q0 = (b"Q0", b"q0", b"0")


def _at_tabs(line: bytes) -> list[bytes]:
    """Cells of a line of TSV, none of one that is empty."""
    cells = line.strip(b"\r\n").split(b"\t")
    return cells if len(cells) > 1 or cells[0].strip() else []


class _Form(NamedTuple):
    """The columns of a kind of file, and what is read of them."""

    columns: str
    happened: str
    docno: int
    numbers: tuple[int, ...]
    #: the column of a word that is the same on all lines
    word: int | None = None
    #: cuts a line into cells; ASCII white space is where trec_eval cuts
    cells: Callable[[bytes], list[bytes]] = bytes.split
    #: what a file may be besides, for the message on its first line
    otherwise: str = ""

    @property
    def names(self) -> list[str]:
        return self.columns.split()


_BEIR = _Form("query-id corpus-id score", "judged", 1, (2,), None, _at_tabs)
_QRELS = _Form(
    "topic iteration docno label", "judged", 2, (3,),
    otherwise=f", or 3 below the line {_BEIR.columns}, cut at tabs",
)  # fmt: skip
_RUN = _Form(
    "topic Q0 docno rank score tag", "retrieved", 2, (3, 4), 5,
    otherwise=", or 5 without the tag",
)  # fmt: skip
_WITHOUT_TAG = _Form("topic Q0 docno rank score", "retrieved", 2, (3, 4), 1)


def read_qrels(source: TextSource) -> TrecLines:
    """Labels of each topic and document; NaN for those below 0."""
    lines = _read(source, _QRELS)[0]
    lines.numbers[lines.numbers < 0] = math.nan
    return lines


def read_run(source: TextSource) -> TrecLines:
    """Ranks and scores of each topic and document."""
    lines, words = _read(source, _RUN)
    return lines._replace(tag=spelled(*words)) if len(words) == 1 else lines


class _Malformed(Exception):
    """Some line is not as it must be."""


def _read(source: TextSource, usual: _Form) -> tuple[TrecLines, set[bytes]]:
    """All lines, and the tags; what is wrong with a line is looked for later."""
    try:
        with source.reading(), source.open_text() as file:
            form, rest = _form_of(file, usual)
            lines, words = _parsed(rest, form, str(source))
        if lines.repeated():
            raise _Malformed
        if form is _BEIR and (b"" in lines.topics or b"" in lines.docno):
            raise _Malformed
        if form is not _WITHOUT_TAG:
            return lines, words
        if not words.issubset(_Q0):
            raise _Malformed
        return lines, set()
    except _Malformed:
        raise ValueError(_complaint(source, usual)) from None


def _form_of(file: Iterable[bytes], usual: _Form) -> tuple[_Form, Iterator[bytes]]:
    """The form of a file, by its first line with any cells, and the lines to read."""
    lines = iter(file)
    for line in lines:
        if not line.strip():
            continue
        if usual is _QRELS and _at_tabs(line.lower()) == _BEIR.columns.encode().split():
            return _BEIR, lines
        if usual is _RUN and len(line.split()) == len(_WITHOUT_TAG.names):
            usual = _WITHOUT_TAG
        return usual, chain([line], lines)
    return usual, lines


def _parsed(
    lines: Iterable[bytes], form: _Form, source: str
) -> tuple[TrecLines, set[bytes]]:
    """Lines as they are read, with one look at each."""
    n_columns, cut = len(form.names), form.cells
    at_docno, at_numbers, at_word = form.docno, form.numbers, form.word
    places: dict[bytes, int] = {}
    # where the lines of another topic begin, and which
    starts: list[int] = []
    codes: list[int] = []
    docno: list[bytes] = []
    # less than half the memory of a list
    numbers = array("d")
    words: set[bytes] = set()
    topic = word = None
    for line in lines:
        cells = cut(line)
        if len(cells) != n_columns:
            if cells:
                raise _Malformed
            continue
        if cells[0] != topic:
            topic = cells[0]
            starts.append(len(docno))
            codes.append(places.setdefault(topic, len(places)))
        docno.append(cells[at_docno])
        try:
            for place in at_numbers:
                numbers.append(float(cells[place]))
        except ValueError:
            raise _Malformed from None
        # float() also reads 1_0
        if b"_" in line and any(b"_" in cells[place] for place in at_numbers):
            raise _Malformed
        if at_word is not None and cells[at_word] != word:
            word = cells[at_word]
            words.add(word)
    values = np.frombuffer(numbers).reshape(-1, len(at_numbers))
    if not np.isfinite(values).all():
        raise _Malformed
    topic_of = np.repeat(codes, np.diff([*starts, len(docno)])).astype(np.int64)
    return gathered(list(places), topic_of, docno, values, source), words


def _complaint(source: TextSource, usual: _Form) -> str:
    """What is wrong with the first malformed line of a file."""
    seen: dict[tuple[bytes, bytes], int] = {}
    with source.open_text() as file:
        form, _ = _form_of(file, usual)
    with source.open_text() as file:
        # a head has been read if the form says so
        skipped = form is _BEIR
        for number, line in enumerate(file, start=1):
            cells = form.cells(line)
            if not cells:
                continue
            if skipped:
                skipped = False
                continue
            if wrong := _wrong(cells, form, usual, is_first=not seen):
                return f"{source}, line {number}: {wrong}"
            pair = cells[0], cells[form.docno]
            first = seen.setdefault(pair, number)
            if first < number:
                topic, document = map(spelled, pair)
                return (
                    f"{source}, line {number}: {document} is {form.happened} twice for "
                    f"topic {topic} (line {first} has it too)"
                )
    return f"{source}: malformed"


def _wrong(cells: list[bytes], form: _Form, usual: _Form, *, is_first: bool) -> str:
    """What is wrong with the cells of a line by themselves, if anything is."""
    if len(cells) != len(form.names):
        others = ", as the first line says"
        if form is usual:
            others = usual.otherwise if is_first else ""
        return (
            f"must have {len(form.names)} columns ({form.columns}){others}, got "
            f"{len(cells)}"
        )
    for name, cell in zip(form.names, cells, strict=True):
        if not cell.strip():
            return f"{name} must not be empty"
    for place in form.numbers:
        name, cell = form.names[place], cells[place]
        try:
            is_number = math.isfinite(float(cell)) and b"_" not in cell
        except ValueError:
            is_number = False
        if not is_number:
            return f"{name} must be a number, got {quoted(spelled(cell))}"
    if form is _WITHOUT_TAG and cells[1] not in _Q0:
        return (
            f"must have {len(usual.names)} columns ({usual.columns}), or 5 without the "
            f"tag, the second of which is Q0, got {quoted(spelled(cells[1]))} there"
        )
    return ""
