"""TREC and BEIR files of judgments and runs, read as columns."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .._typing import FloatArray
from . import _trec_lines, _wording
from ._source import TextSource
from ._trec_lines import Kind, TrecLines

#: Names of the columns of a file.
_Names = tuple[str, ...]
#: Number of bytes that are read before the lines are split. Larger blocks would not fit
#: in the cache of the processor.
_BLOCK = 1 << 17
_JUDGMENTS = ("topic", "iteration", "docno", "label")
#: Columns of BEIR judgments, after the line `_BEIR_HEADER`.
_BEIR_JUDGMENTS = ("topic", "docno", "label")
_BEIR_HEADER = b"query-id\tcorpus-id\tscore"
_RUN = ("topic", "Q0", "docno", "rank", "score", "tag")
_NUMBERS = ("label", "rank", "score")


def read_file(source: TextSource, kind: Kind) -> TrecLines:
    """Read judgments or a run. The first line determines the columns of all lines.

    Raises
    ------
    ValueError
        If a line is malformed. The message states the file and the line.
    """
    topics: list[str] = []
    docno: list[str] = []
    values = [np.empty(0)]
    ranks = [np.empty(0)]
    tags: set[bytes] = set()

    def place(row: int) -> str:
        number, _ = next(islice(_numbered_lines(source, names), row, None))
        return f"line {number}"

    with source.open_text() as file:
        block = next((line for line in file if line.strip()), b"")
        names: _Names = _JUDGMENTS
        if kind is _trec_lines.RUN:
            names = _RUN
        elif block.strip(b"\r\n").lower() == _BEIR_HEADER:
            names, block = _BEIR_JUDGMENTS, file.readline()
        while block:
            try:
                columns = _parse(block, names)
            except ValueError:
                raise _first_error(source, names) from None
            topics += _decoded(columns["topic"])
            docno += _decoded(columns["docno"])
            tags.update(columns.get("tag", ()))
            values.append(columns[kind.number])
            ranks.append(columns.get("rank", np.full(len(values[-1]), np.nan)))
            block = file.read(_BLOCK) + file.readline()
    lines = _trec_lines.group_by_topic(
        kind,
        topics,
        docno,
        np.concatenate(values),
        np.concatenate(ranks),
        source=str(source),
        place=place,
    )
    return lines._replace(tag=_decoded([*tags])[0]) if len(tags) == 1 else lines


def _parse(block: bytes, names: _Names) -> dict[str, Any]:
    """Return the columns of a block of lines, with labels, ranks and scores as arrays.

    Raises
    ------
    ValueError
        If a line is malformed. The message quotes the first cell of the column, which
        is the malformed cell only if the block is a single line: see `_first_error`.
    """
    cells = _split_block(block, names) or _split_lines(block, names)
    columns: dict[str, Any] = dict(zip(names, cells, strict=True))
    for name in names:
        if name in _NUMBERS:
            columns[name] = _numbers(columns[name], name)
    return columns


def _split_block(block: bytes, names: _Names) -> list[list[bytes]]:
    """Return the columns of a block of lines, in half the time of `_split_lines`.

    The result is empty if a line is blank or contains too many or too few columns.
    """
    if names is _BEIR_JUDGMENTS:
        return []
    lines = block.strip()
    # Text contains no NUL, so NUL can mark the end of each line.
    cells = [*lines.replace(b"\n", b" \0 ").split(), b"\0"]
    width = len(names) + 1
    n_cells = width * (lines.count(b"\n") + 1)
    if len(cells) != n_cells or {*cells[len(names) :: width]} != {b"\0"}:
        return []
    return [cells[column::width] for column in range(len(names))]


def _split_lines(block: bytes, names: _Names) -> list[tuple[bytes, ...]]:
    """Return the columns of lines, split one by one. Blank lines are left out.

    Only ASCII characters count as white space, as in trec_eval.

    Raises
    ------
    ValueError
        If a line contains too many or too few columns, or an empty cell.
    """
    rows = []
    for line in filter(bytes.strip, block.split(b"\n")):
        is_beir = names is _BEIR_JUDGMENTS
        cells = line.strip(b"\r").split(b"\t") if is_beir else line.split()
        if len(cells) != len(names):
            raise ValueError(
                f"must have {len(names)} columns ({' '.join(names)}), got {len(cells)} "
                f"separated by {'tabs' if is_beir else 'ASCII spaces or tabs'}"
            )
        if b"" in cells:
            raise ValueError(f"{names[cells.index(b'')]} must not be empty")
        rows.append(cells)
    return list(zip(*rows, strict=True)) or [()] * len(names)


def _numbers(cells: Sequence[bytes], name: str) -> FloatArray:
    """Return the cells as numbers. If a cell is not a finite number, raise an error."""
    try:
        numbers = np.array([*map(float, cells)])
    except ValueError:
        numbers = np.array([np.nan])
    # float() also accepts 1_0.
    if b"_" in b"".join(cells) or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be a finite number, got {_quoted(cells[0])}")
    return numbers


def _quoted(cell: bytes) -> str:
    return _wording.quoted(cell.decode(*_trec_lines.UTF8))


def _decoded(cells: Sequence[bytes]) -> list[str]:
    """Return ids as strings. No cell contains a line ending."""
    text = b"\n".join(cells).decode(*_trec_lines.UTF8)
    return text.split("\n") if text else []


def _numbered_lines(source: TextSource, names: _Names) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank nor the header, with their numbers."""
    with source.open_text() as file:
        lines = (item for item in enumerate(file, start=1) if item[1].strip())
        yield from islice(lines, int(names is _BEIR_JUDGMENTS), None)


def _first_error(source: TextSource, names: _Names) -> ValueError:
    """Return the error of the first malformed line."""
    for number, line in _numbered_lines(source, names):
        try:
            _parse(line, names)
        except ValueError as error:
            return ValueError(f"{source}, line {number}: {error}")
    return ValueError(f"{source}: the file changed while it was read")
