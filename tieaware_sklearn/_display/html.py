"""Results as tables in a terminal, in notebooks, and on HTML pages."""

from __future__ import annotations

import io
import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from platform import python_version
from typing import Any, overload

import numpy as np

from .. import _atomic, _optional
from .._typing import Array
from . import words
from .text_tables import Table

#: Maximum number of rows that a notebook shows of a table.
_ROWS = 60
#: Maximum number of rows that all open tables of a page contain together, and of open
#: notes. Further tables and notes are folded.
_OPEN_ROWS = 30
#: Libraries whose versions a page lists, because results may depend on them.
_LIBRARIES = ("tieaware-sklearn", "numpy", "scipy", "scikit-learn")

#: Content security policy. A page loads nothing, whatever names the page contains.
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)
#: Template of a page, without body and footer.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<time>{date}</time>
{body}
<footer>
{footer}
</footer>
<script>{script}</script>
</body>
</html>
"""


def _read(name: str) -> str:
    """Read a style sheet or a script from this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def fragment(tables: Sequence[Table]) -> str:
    """Format tables for a notebook, with their style sheet."""
    body = "".join(table_html(table, table.title, most=_ROWS) for table in tables)
    return f'<div class="tieaware"><style>{_read("tables.css")}</style>{body}</div>'


def table_html(table: Table, caption: str = "", *, most: int | None = None) -> str:
    """Format a table with its notes, for a page or, with `most`, for a notebook.

    A notebook shows at most `most` rows, and explains terms below the table.
    """
    names = {*range(table.left), *table.names}
    heads, body = [], []
    for j, column in enumerate(table.columns):
        kind = ' class="name"' if j in names else ""
        meaning = table.meaning(column.head)
        title = f' title="{_text(meaning)}"' if meaning else ""
        heads.append(f'<th scope="col"{kind}{title}>{_text(column.head)}</th>')
        tag, attributes = ("th", ' scope="row"') if j < table.left else ("td", kind)
        body.append(
            [f"<{tag}{attributes}>{_text(cell)}</{tag}>" for cell in column.cells]
        )
    rows = list(zip(*body, strict=True))
    notes = list(table.notes)
    if most is not None and len(rows) > most:
        notes.insert(0, f"... and {len(rows) - most} more rows (to_pandas has all)")
        rows = rows[:most]
    lines = ["<table>"]
    if caption:
        lines.append(f"<caption>{_text(caption)}</caption>")
    lines += [f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    lines += [f"<tr>{''.join(row)}</tr>" for row in rows]
    lines += ["</tbody>", "</table>"]
    lines += [f"<p>{_text(note)}</p>" for note in notes if note]
    if table.explains and most is not None:  # A page contains a list of all terms.
        terms = "; ".join(f"{term}: {text}" for term, text in table.terms.items())
        lines.append(f"<p>{_text(terms)}</p>")
    return "\n".join(lines)


def _text(text: str) -> str:
    """Escape a text for HTML."""
    return escape(words.printable(text))


def figure_html(draw: Callable[[], Any], conclusion: Sequence[str], title: str) -> str:
    """Return the figure of a display as SVG for a page, or a reason for no figure."""
    try:
        from matplotlib import pyplot, rc_context
    except ImportError:
        return (
            "<p>there is no figure because matplotlib is not installed: run pip "
            "install matplotlib</p>"
        )
    drawn, file = draw().figure_, io.BytesIO()
    # With a fixed salt, equal results give equal pages.
    with rc_context({"svg.hashsalt": "tieaware"}):
        drawn.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(drawn)
    source = f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"
    alternative = " ".join(conclusion) or f"{title}, as a picture"
    return f'<figure><img alt="{_text(alternative)}" src="{source}"></figure>'


def page(
    title: str,
    conclusion: Sequence[str],
    figure: str,
    tables: Sequence[Table],
    remarks: Sequence[str] = (),
    command: str = "",
) -> str:
    """Return a self-contained HTML page.

    The conclusion comes first, then the figure, the main tables, remarks, and details.
    Details are folded: tables of details, tables and notes that are too long, and the
    meanings of columns.

    Parameters
    ----------
    title : str
    conclusion : list of str
        Sentences at the top, in order of importance.
    figure : str
        The figure as HTML.
    tables : list of Table
    remarks : list of str
        Sentences below the tables.
    command : str
        The command that created the page, if any.
    """
    parts = [f'<p class="lead">{_text(line)}</p>' for line in conclusion if line]
    parts.append(figure)
    details, n_open = [], 0
    for table in tables:
        heading, n_rows = table.title or title, len(table.columns[0].values)
        body = f'<div class="tieaware">{table_html(table, heading)}</div>'
        if table.is_detail or n_open + n_rows > _OPEN_ROWS:
            rows = words.counted(n_rows, "row", "rows")
            details.append(_folded(heading, body, f" ({rows})"))
            continue
        n_open += n_rows
        if table.title:
            parts.append(f"<h2>{_text(table.title)}</h2>")
        parts.append(body)
    lines = [f"<li>{_text(line)}</li>" for line in remarks if line]
    notes = "\n".join(["<ul>", *lines, "</ul>"])
    if len(lines) > _OPEN_ROWS:
        parts.append(_folded("Notes", notes, f" ({len(lines)})"))
    elif lines:
        parts += ["<h2>Notes</h2>", notes]
    parts += details
    terms: dict[str, str] = {}
    for table in tables:
        terms |= table.legend()
    if terms:
        items = [f"<dt>{_text(a)}</dt><dd>{_text(b)}</dd>" for a, b in terms.items()]
        meanings = "\n".join(["<dl>", *items, "</dl>"])
        parts.append(_folded("What the columns mean", meanings))
    versions = [f"Python {python_version()}"]
    versions += [f"{name} {version(name)}" for name in _LIBRARIES]
    # Without matplotlib, a sentence replaces the figure.
    if "<img" in figure:
        versions.append(f"matplotlib {version('matplotlib')}")
    footer = [f"<p>Made by {_text(', '.join(versions))}</p>"]
    if command:
        footer.append(f"<pre>{_text(command)}</pre>")
    return _PAGE.format(
        title=_text(title),
        policy=_POLICY,
        style=_read("tables.css") + _read("page.css"),
        date=date.today().isoformat(),
        body="\n".join(parts),
        footer="\n".join(footer),
        script=_read("page.js"),
    )


def _folded(heading: str, body: str, size: str = "") -> str:
    """Return a part of a page that is folded until its heading is clicked.

    The style sheet of the page unfolds the part in print.
    """
    summary = f"<summary><h2>{_text(heading)}</h2>{size}</summary>"
    return f"<details>{summary}\n{body}</details>"


class Result:
    """A result that is shown as tables by `print`, at a prompt and in a notebook.

    A subclass is a dataclass with the method `_tables`, or with a method `summary` that
    returns a `Summary` of `evaluation`. The file `_text.py` in the folder of the
    subclass writes its tables and sentences. In a data frame, the columns that identify
    a row come first: the query, the measure and the system. The index only numbers the
    rows.
    """

    def _tables(self) -> list[Table]:
        """Return the tables that `print` and notebooks show.

        By default, the tables of `summary()` are returned. With `Summary._framed`, the
        notes of the tables name `summary()`, because the data frame of the summary
        contains the columns that do not fit.
        """
        return self.summary()._framed("summary()")  # type: ignore[attr-defined]

    def _whole(self) -> list[Table]:
        """Return the tables of a page, with all rows."""
        return self._tables()

    def _conclusion(self) -> list[str]:
        """Return the sentences at the top of a page."""
        return []

    def _remarks(self) -> list[str]:
        """Return the notes below the tables of a page."""
        return []

    def __repr__(self) -> str:
        return "\n\n".join(table.text() for table in self._tables())

    def _repr_html_(self) -> str:
        return fragment(self._tables())

    def _columns(self) -> dict[str, Any]:
        """Return the columns of `to_pandas`, by name.

        By default, the columns are the fields with one value per row: tuples (with
        plural names), arrays, and intervals (as two columns each).
        """
        return as_columns(vars(self))

    def to_pandas(self) -> Any:
        """Return the result as a `pandas.DataFrame`.

        Returns
        -------
        pandas.DataFrame
            The columns that identify a row come first.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = _optional.import_optional("pandas", extra="io", purpose="to_pandas")
        return pandas.DataFrame(self._columns())

    @overload
    def to_html(self, path: None = None, *, title: str | None = None) -> str: ...
    @overload
    def to_html(
        self, path: str | os.PathLike[str], *, title: str | None = None
    ) -> None: ...
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, title: str | None = None
    ) -> str | None:
        """Write the result as a self-contained HTML page.

        The page begins with a conclusion, if the result supports a conclusion. A figure
        follows if the result can be drawn and matplotlib is installed. The tables come
        next. A click on the heading of a column sorts the table. Long tables and
        details are folded. A click on the heading of a folded table opens the table. In
        print, folded tables are shown in full. The page also contains the meanings of
        the columns, the date, and the versions of the packages.

        Parameters
        ----------
        path : str or path, optional
            File to write. An existing file is replaced once the page is complete. By
            default, the page is returned.
        title : str, optional
            Heading of the page. By default, the heading is the name of the result's
            class in words, such as "Ranking report".

        Returns
        -------
        str or None
            The page, or None if `path` is set.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([1, 0, 0], [2, 2, 1], measures=["rr", "p@1"])
        >>> report.to_html("report.html")  # doctest: +SKIP
        >>> report.to_html()[:15]
        '<!DOCTYPE html>'
        """
        if title is None:
            # The heading is a class name in words, such as "Ranking report".
            heading = re.sub("(?!^)[A-Z]", " \\g<0>", type(self).__name__).capitalize()
        else:
            heading = str(title)
        # `plots` imports this module, so `plots` is imported only when a page is made.
        # Until a figure is drawn, `plots` does not need matplotlib.
        plots = _optional.import_optional("tieaware_sklearn.plots._base")
        draw = plots.drawing_of(self)
        conclusion = self._conclusion()
        figure = "" if draw is None else figure_html(draw, conclusion, heading)
        text = page(heading, conclusion, figure, self._whole(), self._remarks())
        if path is None:
            return text
        _atomic.write_whole(Path(path), [text])
        return None


def as_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Select arrays and tuples with one value per row: see `Result._columns`."""
    columns: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            columns[name.removesuffix("s")] = value
        elif isinstance(value, np.ndarray) and value.ndim == 2:
            columns[f"{name}_low"], columns[f"{name}_high"] = value.T
        elif isinstance(value, np.ndarray):
            columns[name] = value
    return columns


def by_cell(keys: Mapping[str, Any], values: Mapping[str, Array]) -> dict[str, Any]:
    """Return columns with one row per cell of arrays whose axes have these keys."""
    axes = (
        np.array(key, dtype=object) if isinstance(key, tuple) else key
        for key in keys.values()
    )
    cells = [*np.meshgrid(*axes, indexing="ij"), *values.values()]
    return dict(zip([*keys, *values], map(np.ravel, cells), strict=True))
