"""Text in columns that fits: names wrapped, columns left out, or parts stacked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .terminal import width, wrap

#: what is between two columns
_GAP = "  "
#: columns that a name or a head may be wrapped to
LEAST = 12
_LEAST_HEAD = 10
#: a name that takes more lines loses its middle
_LINES = 4


class Laid(NamedTuple):
    """A table as text, and which of its columns it has."""

    text: str
    kept: list[int]


def lay_out(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    room: int,
    *,
    left: int = 1,
    wraps: Iterable[int] = (),
    drop: Sequence[int] = (),
    least: int = LEAST,
) -> Laid:
    """Lines of at most `room` columns, if that can be.

    The first `left` columns, names, stand to the left. As far as it takes, and in this
    order: names and heads are wrapped, names to `least` columns; columns are left out,
    as `drop` has them; names are wrapped further; the columns are stacked in parts,
    each with the names. Other columns that may be wrapped, as far as need be, are in
    `wraps`.
    """
    texts = set(range(left)) | set(wraps)
    columns = [
        _Column(head, [row[j] for row in rows], j < left, j in texts)
        for j, head in enumerate(header)
    ]
    kept = list(range(len(columns)))
    waiting = list(drop)

    def widths(least: int) -> list[int] | None:
        return _widths([columns[j] for j in kept], room, least)

    found = widths(least)
    while found is None and waiting:
        kept.remove(waiting.pop(0))
        found = widths(least)
    if found is None:
        found = widths(min(least, LEAST))
    if found is not None:
        return Laid(_lines([columns[j] for j in kept], found), kept)
    parts = _parts([columns[j] for j in kept], left, room)
    return Laid("\n\n".join(parts), kept)


class _Column(NamedTuple):
    """Cells below a head."""

    head: str
    cells: list[str]
    to_left: bool
    is_text: bool

    @property
    def natural(self) -> int:
        return max(map(width, [self.head, *self.cells]))

    def smallest(self, least: int) -> int:
        if self.is_text:
            return min(self.natural, least if self.to_left else LEAST)
        cells = max(map(width, self.cells), default=0)
        return max(cells, min(width(self.head), _LEAST_HEAD))


def _widths(columns: Sequence[_Column], room: int, least: int) -> list[int] | None:
    """What each column gets, the widest giving up first; None if it is not enough."""
    room -= len(_GAP) * (len(columns) - 1)
    smallest = [column.smallest(least) for column in columns]
    if sum(smallest) > room:
        return None
    found = [
        min(column.natural, max(room, fewest))
        for column, fewest in zip(columns, smallest, strict=True)
    ]
    while sum(found) > room:
        spare = [
            (have, j)
            for j, (have, fewest) in enumerate(zip(found, smallest, strict=True))
            if have > fewest
        ]
        found[max(spare)[1]] -= 1
    return found


def _parts(columns: Sequence[_Column], left: int, room: int) -> list[str]:
    """The names with as many of the others as there is room for, several times."""
    names, others = list(columns[:left]), list(columns[left:])
    parts = []
    while others:
        count = 1
        while count < len(others) and _widths(
            [*names, *others[: count + 1]], room, LEAST
        ):
            count += 1
        part = [*names, *others[:count]]
        found = _widths(part, room, LEAST)
        parts.append(_lines(part, found or [one.smallest(LEAST) for one in part]))
        others = others[count:]
    return parts


def _lines(columns: Sequence[_Column], widths: list[int]) -> str:
    """Head, rule and rows."""
    heads = [
        wrap(column.head, have) for column, have in zip(columns, widths, strict=True)
    ]
    height = max(map(len, heads))
    grid = [[""] * (height - len(head)) + head for head in heads]
    lines = _row(columns, widths, grid)
    body = []
    for cells in zip(*(column.cells for column in columns), strict=True):
        grid = [
            _shortened(wrap(cell, have)) if column.is_text else [cell]
            for column, cell, have in zip(columns, cells, widths, strict=True)
        ]
        body += _row(columns, widths, grid)
    rule = "-" * max(map(width, [*lines, *body]))
    return "\n".join([*lines, rule, *body])


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _LINES:
        return lines
    return [*lines[: _LINES - 2], "…", lines[-1]]


def _row(
    columns: Sequence[_Column], widths: list[int], grid: list[list[str]]
) -> list[str]:
    """The lines of a row, from those of its cells."""
    return [
        _GAP.join(
            _padded(cell[i] if i < len(cell) else "", have, to_left=column.to_left)
            for column, cell, have in zip(columns, grid, widths, strict=True)
        ).rstrip()
        for i in range(max(map(len, grid)))
    ]


def _padded(cell: str, room: int, *, to_left: bool) -> str:
    spaces = " " * (room - width(cell))
    return cell + spaces if to_left else spaces + cell
