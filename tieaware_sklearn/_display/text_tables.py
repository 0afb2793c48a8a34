"""Tables of results, and their layout as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from . import words

#: Largest width of a name in text. The middle of longer names is cut out.
_LONGEST = 36


def shown(value: Any) -> str:
    """Format a count, a value or an interval as a cell."""
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, np.ndarray):
        return words.bracketed(value)
    return words.number(value)


class Column(NamedTuple):
    """A column of a table: its head, its values, and a function that formats them."""

    head: str
    values: Sequence[Any]
    show: Callable[[Any], str] = shown

    @property
    def cells(self) -> list[str]:
        return [v if isinstance(v, str) else self.show(v) for v in self.values]


@dataclass(frozen=True)
class Table:
    """Columns with heads, and notes. Columns of names come first.

    Attributes
    ----------
    columns : list of Column
    left : int
        Number of leading columns of names, which are aligned left and never omitted.
    names : tuple of int
        Indices of other columns whose cells are clipped like names but aligned right.
    drop : tuple of int
        Indices of columns that are omitted from text if they do not fit, in order of
        omission.
    notes : tuple of str
        Sentences below the table.
    terms : dict of str to str
        Meanings of heads, if different from the usual meanings, and of names of rows.
    explains : bool
        Whether the text explains the terms below the table.
    title : str
        Heading of the table on a page.
    frame : str
        Method of the result that returns all columns.
    is_detail : bool
        Whether a page folds the table even if it is short.
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
    def of(cls, *columns: Iterable[Any], **options: Any) -> Table:
        """Return a table from heads, their values, and functions that format them."""
        made = [Column(head, list(values), *show) for head, values, *show in columns]
        return cls(made, **options)

    def fitted(self) -> Table:
        """Omit columns of `drop`, in order, until the table fits.

        A table fits if its text is at most 80 characters wide. The terminal wraps a
        table that is still wider.
        """
        # Each width includes two spaces before the column. The first column is not
        # preceded by spaces.
        widths = [2 + max(map(len, texts)) for texts in self._texts()]
        fitting = list(range(len(widths)))
        for j in self.drop:
            if sum(widths[k] for k in fitting) - 2 <= words.COLUMNS:
                break
            fitting.remove(j)
        columns = [self.columns[k] for k in fitting]
        names = [i for i, k in enumerate(fitting) if k in self.names]
        notes = list(self.notes)
        if len(fitting) < len(widths):
            omitted = sorted(set(self.drop).difference(fitting))
            heads = ", ".join(map(self._full_head, omitted))
            notes.append(
                f"Hidden columns: {heads}. {self.frame} or --csv returns all columns."
            )
        return replace(self, columns=columns, names=names, drop=(), notes=notes)

    def _full_head(self, j: int) -> str:
        """Return the head of column j, after its measure if several columns share it.

        The measure is the nearest head to the left that occurs once, as NDCG@10 in
        ``NDCG@10 best worst AP best worst``. For a column to omit, there is always such
        a head.
        """
        heads = [column.head for column in self.columns]
        unique = [head for head in heads[: j + 1] if heads.count(head) == 1]
        if unique[-1] == heads[j]:
            return heads[j]
        return f"{unique[-1]} {heads[j]}"

    def _texts(self) -> list[list[str]]:
        """Return the head and the cells of each column as printable texts."""
        columns = []
        for j, column in enumerate(self.columns):
            texts = list(map(words.printable, [column.head, *column.cells]))
            if j < self.left or j in self.names:
                texts = [words.clip(text, _LONGEST) for text in texts]
            columns.append(texts)
        return columns

    def text(self) -> str:
        """Format the table with its notes."""
        fitted, columns = self.fitted(), []
        for j, texts in enumerate(fitted._texts()):
            width = max(map(len, texts))
            align = str.ljust if j < self.left else str.rjust
            columns.append([align(text, width) for text in texts])
        head, *rows = ("  ".join(row).rstrip() for row in zip(*columns, strict=True))
        line = "-" * max(map(len, [head, *rows]))
        notes = [words.paragraph(words.printable(note)) for note in fitted.notes]
        if self.explains:
            heads = " ".join(column.head for column in fitted.columns)
            terms = []
            for term, meaning in self.terms.items():
                # Terms of omitted columns are not explained. A head contains its term,
                # or an abbreviation with the same first three letters.
                if term[:3] in heads:
                    terms.append((term, meaning))
            notes.append(words.definitions(terms))
        return "\n".join([head, line, *rows, *notes])

    def meaning(self, head: str) -> str:
        """Return the meaning of the head of a column, or "" if none is needed."""
        return self.terms.get(head, words.meaning(head))

    def legend(self) -> dict[str, str]:
        """Return the meanings of names of rows, followed by the meanings of heads."""
        heads = [column.head for column in self.columns]
        legend = {}
        for term, meaning in self.terms.items():
            if term not in heads:
                legend[term] = meaning
        for head in heads:
            meaning = self.meaning(head)
            if meaning:
                legend[head] = meaning
        return legend
