"""Files of judgments and runs, read as lines."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from ._source import TextSource
from ._trec_columns import TrecLines, gathered, spelled
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
    lines, _ = _read(source, _QRELS)
    lines.numbers[lines.numbers < 0] = math.nan
    return lines


def read_run(source: TextSource) -> TrecLines:
    """Ranks and scores of each topic and document."""
    lines, tags = _read(source, _RUN)
    return lines._replace(tag=spelled(*tags)) if len(tags) == 1 else lines


def _read(source: TextSource, usual: _Form) -> tuple[TrecLines, set[bytes]]:
    """All lines, and the tags."""
    with source.reading(), source.open_text() as file:
        lines = enumerate(file, start=1)
        for number, line in lines:
            if not line.strip():
                continue
            form, names = usual, _at_tabs(line.lower())
            if usual is _QRELS and names == _BEIR.columns.encode().split():
                form = _BEIR
            elif usual is _RUN and len(line.split()) == len(_WITHOUT_TAG.names):
                form = _WITHOUT_TAG
            rest = lines if form is _BEIR else chain([(number, line)], lines)
            return _parsed(rest, form, usual, str(source))
    nothing = np.empty((0, len(usual.numbers)))
    return TrecLines({}, [], nothing, str(source)), set()


def _parsed(
    lines: Iterable[tuple[int, bytes]], form: _Form, usual: _Form, source: str
) -> tuple[TrecLines, set[bytes]]:
    """Lines, with one look at each, and their words."""
    n_columns, cut = len(form.names), form.cells
    at_docno, at_numbers, at_word = form.docno, form.numbers, form.word
    places: dict[bytes, int] = {}
    # where the lines of another topic begin, and which
    starts: list[int] = []
    codes: list[int] = []
    docno: list[bytes] = []
    # less than half the memory of a list
    numbers, at_lines = array("d"), array("q")
    words: set[bytes] = set()
    topic = word = None
    at = 0
    for number, line in lines:
        cells = cut(line)
        if len(cells) != n_columns or (form is _BEIR and b"" in cells):
            if not cells:
                continue
            wrong = _wrong(cells, form, usual, is_first=not docno)
            raise ValueError(f"{source}, line {number}: {wrong}")
        if cells[0] != topic:
            topic = cells[0]
            starts.append(len(docno))
            codes.append(places.setdefault(topic, len(places)))
        docno.append(cells[at_docno])
        at_lines.append(number)
        try:
            for at in at_numbers:
                numbers.append(float(cells[at]))
                # float() also reads 1_0
                if b"_" in cells[at]:
                    raise ValueError
        except ValueError:
            wrong = f"{form.names[at]} must be a number, got "
            wrong += quoted(spelled(cells[at]))
            raise ValueError(f"{source}, line {number}: {wrong}") from None
        if at_word is not None and cells[at_word] != word:
            word = cells[at_word]
            words.add(word)
            if form is _WITHOUT_TAG and word not in _Q0:
                wrong = _wrong(cells, form, usual, is_first=not docno)
                raise ValueError(f"{source}, line {number}: {wrong}")
    values = np.frombuffer(numbers).reshape(-1, len(at_numbers))
    topic_of = np.repeat(codes, np.diff([*starts, len(docno)])).astype(np.int64)

    def place(row: int) -> str:
        return f"line {at_lines[row]}"

    bad = ~np.isfinite(values)
    if bad.any():
        row, at = np.argwhere(bad)[0].tolist()
        name, value = form.names[at_numbers[at]], values[row, at]
        wrong = f"{name} must be a finite number, got {value}"
        raise ValueError(f"{source}, {place(row)}: {wrong}")
    found = gathered(
        list(places), topic_of, docno, values, source, form.happened, place
    )
    return found, set() if form is _WITHOUT_TAG else words


def _wrong(cells: list[bytes], form: _Form, usual: _Form, *, is_first: bool) -> str:
    """What is wrong with the cells of a line: their number, or one of them."""
    needed, names = len(form.names), form.names
    if len(cells) != needed:
        others = ", as the first line says"
        if form is usual:
            others = usual.otherwise if is_first else ""
        return f"must have {needed} columns ({form.columns}){others}, got {len(cells)}"
    if b"" in cells:
        return f"{names[cells.index(b'')]} must not be empty"
    return (
        f"must have {len(usual.names)} columns ({usual.columns}), or 5 without the "
        f"tag, the second of which is Q0, got {quoted(spelled(cells[1]))} there"
    )
