"""Tables as HTML: in notebooks, and on pages of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from .tables import Ranges, Table, number
from .terminal import printable, wrap

#: rows of a table in a notebook
_ROWS = 60
#: characters of a name that stay on one line
_WIDEST = 28
#: columns and lines of the drawing of a bar
_WIDE, _HIGH = 90, 12

#: how tables look: text and lines in the colours around them, on light and dark.
#: Jupyter says which colours its theme has, other pages what the reader prefers
STYLE = """
.tieaware {
  --tieaware-bar: #4f8fd0; --tieaware-faint: rgba(128, 128, 128, .28);
  color: var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit));
  overflow-x: auto; font-variant-numeric: tabular-nums;
}
@media (prefers-color-scheme: dark) {
  .tieaware { --tieaware-bar: #6aa9e9; --tieaware-faint: rgba(160, 160, 160, .35); }
}
.tieaware table { border-collapse: collapse; margin: .4em 0 .8em; font-size: .92em;
  border: 0; color: inherit; background: none; }
.tieaware th, .tieaware td { padding: .22em .6em; text-align: right; border: 0;
  color: inherit; background: none; white-space: nowrap; vertical-align: middle; }
.tieaware th { font-weight: 600; vertical-align: bottom;
  border-bottom: 1px solid currentColor; }
.tieaware tbody tr { background: none; }
.tieaware tbody td { border-bottom: 1px solid var(--tieaware-faint); }
.tieaware tbody tr:hover { background: var(--tieaware-faint); }
.tieaware .name { text-align: left; white-space: normal; }
.tieaware th[title] { text-decoration: underline dotted; text-underline-offset: .25em;
  cursor: help; }
.tieaware p { margin: .2em 0 .8em; font-size: .88em; }
.tieaware svg { vertical-align: middle; }
.tieaware .track { stroke: var(--tieaware-faint); stroke-width: 1; }
.tieaware .range { fill: var(--tieaware-bar); }
.tieaware .mean { stroke: currentColor; stroke-width: 2; }
"""


def fragment(tables: Sequence[Table]) -> str:
    """Tables for a notebook, with what they need to look like."""
    body = "".join(table_html(table, most=_ROWS) for table in tables)
    return f'<div class="tieaware"><style>{STYLE}</style>{body}</div>'


def table_html(table: Table, *, most: int | None = None) -> str:
    """A table with its notes; cells say by what they sort."""
    names = {*range(table.left), *table.wraps}
    heads, body = [], []
    for j, column in enumerate(table.columns):
        if j == table.left and table.ranges is not None:
            heads.append(_head_of_bars(table.ranges))
            body.append(_bars(table.ranges))
        kind, show = (' class="name"', _name) if j in names else ("", _text)
        said = table.meaning(column.head)
        title = f' title="{_text(said)}"' if said else ""
        heads.append(f"<th{kind}{title}>{_text(column.head)}</th>")
        body.append(
            [
                f"<td{kind}{_sort_key(value)}>{show(cell)}</td>"
                for value, cell in zip(column.values, column.cells, strict=True)
            ]
        )
    rows = list(zip(*body, strict=True))
    notes = list(table.notes)
    if most is not None and len(rows) > most:
        notes.insert(0, f"... and {len(rows) - most} more rows (to_pandas has all)")
        rows = rows[:most]
    lines = ["<table>", f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    lines += [f"<tr>{''.join(row)}</tr>" for row in rows]
    lines += ["</tbody>", "</table>"]
    lines += [f"<p>{_text(note)}</p>" for note in notes if note]
    if table.explains:
        terms = "; ".join(f"{term}: {said}" for term, said in table.terms.items())
        lines.append(f"<p>{_text(terms)}</p>")
    return "\n".join(lines)


def _head_of_bars(ranges: Ranges) -> str:
    said = "each row has its own scale, which starts at 0"
    scales = set(zip(*ranges.scales, strict=True))
    if len(scales) == 1:
        ((low, high),) = scales
        said = f"from {number(low)} to {number(high)}"
    title = f"{said}; the line is the mean"
    return f'<th title="{_text(title)}">{_text(ranges.head)}</th>'


def _name(text: str) -> str:
    """A name of any length, which may be broken here and there."""
    return "<wbr>".join(map(escape, wrap(printable(text), _WIDEST, keep=True)))


def _text(text: str) -> str:
    """A text that no browser takes for anything else."""
    return escape(printable(text))


def _sort_key(value: Any) -> str:
    """A cell that is no text goes by its number, an interval by its lower end."""
    if isinstance(value, str):
        return ""
    key = float(value[0] if isinstance(value, np.ndarray) else value)
    return "" if math.isnan(key) else f' data-key="{key!r}"'


def _bars(ranges: Ranges) -> list[str]:
    """A drawing for each row."""
    figures = zip(*(one.tolist() for one in ranges[:3]), strict=True)
    scales = zip(*ranges.scales, strict=True)
    cells = []
    for (worst, mean, best), (low, high) in zip(figures, scales, strict=True):
        if all(map(math.isfinite, (worst, mean, best))):
            bar = _bar(worst, mean, best, low, high, ranges.head)
            cells.append(f'<td data-key="{mean!r}">{bar}</td>')
        else:
            cells.append("<td></td>")
    return cells


def _bar(
    worst: float, mean: float, best: float, low: float, high: float, head: str
) -> str:
    def place(value: float) -> float:
        return round(1 + (_WIDE - 2) * (value - low) / ((high - low) or 1.0), 1)

    first, last = sorted((place(worst), place(best)))
    middle, there = _HIGH // 2, place(mean)
    said = f"{head}: {number(worst)} to {number(best)}, mean {number(mean)}"
    return (
        f'<svg role="img" width="{_WIDE}" height="{_HIGH}" '
        f'viewBox="0 0 {_WIDE} {_HIGH}"><title>{_text(said)}</title>'
        f'<line class="track" x1="0" x2="{_WIDE}" y1="{middle}" y2="{middle}"/>'
        f'<rect class="range" x="{first}" y="3" width="{max(last - first, 1):.1f}" '
        f'height="{_HIGH - 6}"/>'
        f'<line class="mean" x1="{there}" x2="{there}" y1="0" y2="{_HIGH}"/></svg>'
    )
