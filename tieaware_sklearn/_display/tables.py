"""Tables: what is in them, and how they are shown as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .layout import LEAST, lay_out
from .terminal import columns as columns_of_terminal
from .terminal import printable
from .words import meaning

Floats = NDArray[np.floating[Any]]

#: decimals of values
DIGITS = 4
#: from here on a value is shown by its power of ten
_LARGE = 1e9


def number(value: float, digits: int = DIGITS) -> str:
    """A number for a table: fixed decimals, ``-`` for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}{'e' if abs(value) >= _LARGE else 'f'}}"


def bracketed(interval: ArrayLike, digits: int = DIGITS) -> str:
    """The two ends of an interval for a table."""
    low, high = np.asarray(interval, np.float64).tolist()
    return f"[{number(low, digits)}, {number(high, digits)}]"


def probability(value: float) -> str:
    """A p-value or q-value for a table."""
    if math.isnan(value):
        return "-"
    least = 10.0**-DIGITS
    return f"<{least:.{DIGITS}f}" if value < least else number(value)


def clip(text: str, longest: int) -> str:
    """The text, without its middle where it has more than so many characters."""
    if len(text) <= longest:
        return text
    tail = (longest - 3) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def shown(value: Any) -> str:
    """A text, a count, a value or an interval as a cell."""
    if isinstance(value, (str, int, np.integer)):
        return str(value)
    if isinstance(value, np.ndarray):
        return bracketed(value)
    return number(value)


class Column(NamedTuple):
    """What stands below a head, and how it is shown."""

    head: str
    values: Sequence[Any]
    show: Callable[[Any], str] = shown

    @property
    def cells(self) -> list[str]:
        return [self.show(value) for value in self.values]


class Ranges(NamedTuple):
    """From the worst to the best order of ties, for a small bar in each row.

    Attributes
    ----------
    worst, mean, best : ndarray of shape (n_rows,)
        NaN for a row without a bar.
    largest : ndarray of shape (n_rows,), optional
        Where the scale of each row ends, which begins at 0; by default all have one,
        from the lowest to the highest figure.
    head : str
    """

    worst: Floats
    mean: Floats
    best: Floats
    largest: Floats | None = None
    head: str = "worst to best"

    @property
    def scales(self) -> tuple[Floats, Floats]:
        """Where the scale of each row begins and ends."""
        if self.largest is not None:
            return np.zeros(len(self.mean)), self.largest
        ends = np.concatenate([self.worst, self.mean, self.best])
        ends = ends[np.isfinite(ends)] if np.isfinite(ends).any() else np.zeros(1)
        return np.full(len(self.mean), ends.min()), np.full(len(self.mean), ends.max())


class Shown(NamedTuple):
    """A table as text, what its heads mean, and whether it has all columns."""

    text: str
    legend: dict[str, str]
    is_whole: bool


@dataclass(frozen=True)
class Table:
    """Columns below heads, names first, and what there is to say of them.

    Attributes
    ----------
    columns : list of Column
    left : int
        How many of them are names.
    wraps : tuple of int
        Other columns that may be wrapped.
    drop : tuple of int
        Columns that a narrow terminal does without, the first to go first.
    least : int
        To how many columns names are wrapped before others are left out.
    notes : tuple of str
    terms : dict of str to str
        What heads mean here, if not what they mean elsewhere; and what rows mean that
        have such a name.
    explains : bool
        Whether the text has these terms below the table.
    ranges : Ranges, optional
    """

    columns: Sequence[Column]
    left: int = 1
    wraps: Sequence[int] = ()
    drop: Sequence[int] = ()
    least: int = LEAST
    notes: Sequence[str] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    explains: bool = False
    ranges: Ranges | None = None

    @classmethod
    def of(cls, *columns: Iterable[Any], **others: Any) -> Table:
        """Of heads with their values, and with what shows one, if it is its own way."""
        made = []
        for head, values, *show in columns:
            made.append(Column(printable(head), list(values), *show))
        return cls(made, **others)

    @classmethod
    def row(cls, heads: Iterable[str], cells: Iterable[Any]) -> Table:
        """Of one row."""
        pairs = zip(heads, cells, strict=True)
        return cls.of(*((head, [cell]) for head, cell in pairs))

    def shown(self) -> Shown:
        """As it fits the terminal."""
        # a row is a row, whatever its cells hold
        cells = [[printable(cell) for cell in one.cells] for one in self.columns]
        laid = lay_out(
            [column.head for column in self.columns],
            list(zip(*cells, strict=True)),
            columns_of_terminal(),
            left=self.left,
            wraps=self.wraps,
            drop=self.drop,
            least=self.least,
        )
        lines = [laid.text, *(paragraph(printable(note)) for note in self.notes)]
        if self.explains:
            lines.append(definitions(self.terms.items()))
        kept = {self.columns[j].head for j in laid.kept}
        heads = {column.head for column in self.columns}
        legend = {
            term: said
            for term, said in self.legend().items()
            if term in kept or term not in heads
        }
        return Shown("\n".join(lines), legend, len(laid.kept) == len(self.columns))

    def text(self) -> str:
        """The table as it fits the terminal, with its notes."""
        return self.shown().text

    def meaning(self, head: str) -> str:
        """What the head of a column means; nothing where it needs no word."""
        return self.terms.get(head, meaning(head))

    def legend(self) -> dict[str, str]:
        """What rows and heads mean that need a word."""
        heads = [column.head for column in self.columns]
        rows = {term: said for term, said in self.terms.items() if term not in heads}
        return rows | {head: said for head in heads if (said := self.meaning(head))}


def paragraph(text: str) -> str:
    """A text in lines that fit the terminal."""
    return "\n".join(textwrap.wrap(text, columns_of_terminal(), **_PLAIN))


def definitions(terms: Iterable[tuple[str, str]], *, margin: int = 0) -> str:
    """Terms and their meanings, the latter below each other."""
    terms = [(" " * margin + term, said) for term, said in terms]
    indent = max((len(term) for term, _ in terms), default=0) + 2
    return "\n".join(
        textwrap.fill(
            said,
            columns_of_terminal(),
            initial_indent=term.ljust(indent),
            subsequent_indent=" " * indent,
            **_PLAIN,
        )
        for term, said in terms
    )


_PLAIN: Any = {"break_on_hyphens": False}
