"""Tables: what is in them, and how they are shown as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .._typing import IndexArray
from . import words

#: names of more characters lose their middle in text
_LONGEST = 36


def shown(value: Any) -> str:
    """A count, a value or an interval as a cell."""
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, np.ndarray):
        return words.bracketed(value)
    return words.number(value)


class Column(NamedTuple):
    """A column of a table: its head, its values, and how they are shown."""

    head: str
    values: Sequence[Any]
    show: Callable[[Any], str] = shown

    @property
    def cells(self) -> list[str]:
        return [v if isinstance(v, str) else self.show(v) for v in self.values]

    def spelled(self, is_name: bool) -> list[str]:
        """Head and cells as printable texts, in which long names are clipped."""
        texts = list(map(words.printable, [self.head, *self.cells]))
        return [words.clip(text, _LONGEST) for text in texts] if is_name else texts


@dataclass(frozen=True)
class Table:
    """Columns below heads, names first, and what there is to say of them.

    Attributes
    ----------
    columns : list of Column
    left : int
        How many of them are names.
    names : tuple of int
        Other columns of names.
    drop : tuple of int
        Columns that text does without where there is no room, the first to go first.
    notes : tuple of str
    terms : dict of str to str
        What heads mean here, if not what they mean elsewhere; and what rows mean that
        have such a name.
    explains : bool
        Whether the text has these terms below the table.
    title : str
        What it shows, for a page of several.
    frame : str
        The method of the result that returns the columns.
    is_detail : bool
        Whether a page folds it, even if it is short.
    """

    columns: Sequence[Column]
    left: int = 1
    names: Sequence[int] = ()
    drop: Sequence[int] = ()
    notes: Sequence[str] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    explains: bool = False
    title: str = ""
    frame: str = "to_pandas()"
    is_detail: bool = False

    @classmethod
    def of(cls, *columns: Iterable[Any], **others: Any) -> Table:
        """Make a table of heads with their values, and functions that show a value."""
        made = [Column(head, list(values), *show) for head, values, *show in columns]
        return cls(made, **others)

    def of_rows(self, rows: Sequence[int] | IndexArray) -> Table:
        """Keep these rows, in this order."""
        columns = [
            column._replace(values=[column.values[i] for i in rows])
            for column in self.columns
        ]
        return replace(self, columns=columns)

    def fitted(self) -> Table:
        """Leave out columns of `drop`, the first ones first, until the table fits.

        Tables fit 80 columns of text; a table that is still wider wraps as the
        terminal does.
        """
        widths = [2 + max(map(len, cells)) for cells in self._spelled()]
        fitting = list(range(len(widths)))
        for j in self.drop:
            if sum(widths[k] for k in fitting) - 2 <= words.COLUMNS:
                break
            fitting.remove(j)
        columns = [self.columns[k] for k in fitting]
        names = [i for i, k in enumerate(fitting) if k in self.names]
        notes = list(self.notes)
        if len(fitting) < len(widths):
            lost = (self._called(j) for j in sorted(self.drop) if j not in fitting)
            notes.append(f"no room for {', '.join(lost)} (see {self.frame} or --csv)")
        return replace(self, columns=columns, names=names, drop=(), notes=notes)

    def _called(self, j: int) -> str:
        """The head of column j; a head of several columns follows the one before it."""
        heads = [column.head for column in self.columns]
        alone = [head for head in heads[: j + 1] if heads.count(head) == 1]
        return heads[j] if alone[-1] == heads[j] else f"{alone[-1]} {heads[j]}"

    def _spelled(self) -> list[list[str]]:
        names = {*range(self.left), *self.names}
        return [column.spelled(j in names) for j, column in enumerate(self.columns)]

    def text(self) -> str:
        """Format the table with its notes."""
        fitted, columns = self.fitted(), []
        for j, cells in enumerate(fitted._spelled()):
            longest = max(map(len, cells))
            align = str.ljust if j < self.left else str.rjust
            columns.append([align(cell, longest) for cell in cells])
        head, *rows = ("  ".join(row).rstrip() for row in zip(*columns, strict=True))
        rule = "-" * max(map(len, [head, *rows]))
        notes = [words.paragraph(words.printable(note)) for note in fitted.notes]
        if self.explains:
            heads = " ".join(column.head for column in fitted.columns)
            terms = {t: said for t, said in self.terms.items() if t[:3] in heads}
            notes.append(words.definitions(terms.items()))
        return "\n".join([head, rule, *rows, *notes])

    def meaning(self, head: str) -> str:
        """The meaning of the head of a column; empty if it needs none."""
        return self.terms.get(head, words.meaning(head))

    def legend(self) -> dict[str, str]:
        """The meanings of terms in rows and heads."""
        heads = [column.head for column in self.columns]
        rows = {term: said for term, said in self.terms.items() if term not in heads}
        return rows | {head: said for head in heads if (said := self.meaning(head))}
