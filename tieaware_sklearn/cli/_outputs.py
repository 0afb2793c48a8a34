"""Outputs of commands: text, CSV, JSON, plots and HTML pages."""

import csv
import io
import json
import os
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import _atomic, _optional
from .._display import html, text_tables, words
from ..io import _locate

#: Options that name an output file.
_OPTIONS = ("csv", "json", "plot", "report", "save")
#: Spreadsheets evaluate texts that begin with one of these characters as formulas.
_FORMULA = ("=", "+", "-", "@")
#: Numbers may also begin with one of these characters, but are not formulas.
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: Name of standard output in errors.
_STANDARD_OUTPUT = "standard output"

#: Rows of a table, with one dict for each row.
Rows = list[dict[str, Any]]


def check_files(arguments: Namespace, inputs: Iterable[str]) -> None:
    """Raise an error, before any work, if an output is an input or is not writable.

    Different names of the same file, such as links, are recognised.
    """
    read = {_locate.which_file(name): name for name in inputs}
    written: dict[object, str] = {}
    for option, path in _paths(arguments).items():
        if option == "save" and not path.endswith((".csv", ".parquet")):
            raise ValueError(f"--save must name a .csv or .parquet file, got {path}")
        # Standard output is not a file, so - is not an input.
        place: object = path
        if path != "-":
            _atomic.check_writable(path, f"--{option}")
            place = _locate.which_file(path)
        if place in read:
            raise ValueError(f"--{option} must not replace an input, got {read[place]}")
        if place in written:
            raise ValueError(
                f"only one of --{written[place]} and --{option} can go to {path}"
            )
        written[place] = option
    if arguments.plot is not None:
        _optional.import_optional("matplotlib", extra="plots", purpose="--plot")


def _paths(arguments: Namespace) -> dict[str, str]:
    """Return the paths of the outputs, by option. ``-`` is standard output."""
    paths = {}
    for option in _OPTIONS:
        path = vars(arguments).get(option)
        if path is not None:
            paths[option] = path
    return paths


@dataclass(frozen=True)
class Findings:
    """Results of a command, in the forms that the outputs need.

    Attributes
    ----------
    title : str
        Heading of a page.
    about : dict
        Content of the JSON output: the rows, and facts about the data.
    rows : list of dict
        Rows of the CSV output.
    read : list of str
        Descriptions of the input files, for a page.
    tables : list of Table
        Tables to print, each with a title.
    remarks : list of str
        Sentences below the tables.
    draw : callable
        Function that returns a display of `plots`.
    opening : list of str
        Lines above the printed tables.
    pages : callable, optional
        Function that returns longer tables for a page. By default, a page shows
        `tables`.
    conclusion : list of str
        Sentences at the top of a page.
    explanations : list of str
        Sentences below the tables and the remarks of a page.
    reports : dict of str to RankingReport
        Reports that --save writes, by system.
    """

    title: str
    about: dict[str, Any]
    rows: Rows
    read: Sequence[str]
    tables: list[text_tables.Table]
    remarks: Sequence[str]
    draw: Callable[[], Any]
    opening: Sequence[str] = ()
    pages: Callable[[], list[text_tables.Table]] | None = None
    conclusion: Sequence[str] = ()
    explanations: Sequence[str] = ()
    reports: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Format all results for a terminal, with a legend of the tables' headers."""
        opening = list(map(words.printable, self.opening))
        # The first line contains names of files, so it is not wrapped.
        opening[1:] = map(words.paragraph, opening[1:])
        parts = ["\n".join(opening)]
        terms = {}
        for table in self.tables:
            fitted = table.fitted()
            parts.append(fitted.text())
            terms.update(fitted.legend())
        remarks = map(words.paragraph, map(words.printable, self.remarks))
        parts.append("\n".join(remarks))
        parts.append(words.definitions(terms.items()))
        return "\n\n".join(filter(None, parts))


def rows_of(columns: Mapping[str, Any]) -> Rows:
    """Return a dict of plain Python values for each row of the columns."""
    cells = [np.asarray(values).tolist() for values in columns.values()]
    rows = zip(*cells, strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def note(text: str) -> None:
    """Write a note to standard error."""
    print(f"tieaware: {words.printable(text)}", file=sys.stderr)


def fail(error: Exception, output: str = "") -> int:
    """Report an error of an output or of the whole command, and return exit code 1."""
    message = str(error)
    if isinstance(error, OSError):
        message = error.strerror or message
        output = output or error.filename
        if isinstance(error, BrokenPipeError) and output == _STANDARD_OUTPUT:
            # The reader, such as head, has closed the pipe on purpose.
            return 1
    message = message or type(error).__name__
    if output:
        message = f"{output}: {message}"
    note(f"error: {message}")
    return 1


def show(text: str = "") -> None:
    """Print a text, if any, and flush standard output.

    Raises
    ------
    OSError
        If standard output cannot be written, for example because the disk is full. The
        error names standard output.
    """
    try:
        print(text, end="\n" if text else "", flush=True)
    except OSError as error:
        # Otherwise, Python would flush again at exit and print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        error.filename = _STANDARD_OUTPUT
        raise


def write(path: str, content: str) -> None:
    """Write a file as a whole or not at all. ``-`` is standard output.

    A line break is added after the content.
    """
    if path == "-":
        show(content)
    else:
        _atomic.write_whole(Path(path), [content, "\n"])


def write_findings(arguments: Namespace, findings: Findings) -> int:
    """Print the results, or write them to the outputs that the arguments name.

    A failure of one output does not stop the other outputs. The exit code is returned.
    """
    # Draw without opening a window.
    os.environ.setdefault("MPLBACKEND", "Agg")
    # The text comes first, so that a failure to write a file hides no results. The
    # output whose path is - replaces the text.
    options = {"-": "text"}
    for option, path in _paths(arguments).items():
        options[path] = option
    code = 0
    for path, option in options.items():
        try:
            if option == "text":
                show(findings.text())
            elif option == "csv":
                write(path, _as_csv(findings.rows))
            elif option == "json":
                text = json.dumps(findings.about)
                # JSON has neither NaN nor infinity, so null replaces them.
                finite = json.loads(text, parse_constant=lambda _: None)
                write(path, json.dumps(finite, indent=2))
            elif option == "plot":
                figure = findings.draw().figure_
                image = io.BytesIO()
                suffix = Path(path).suffix.lower()
                figure.savefig(image, format=suffix.removeprefix("."), dpi=150)
                _atomic.write_whole(Path(path), image.getvalue())
            elif option == "report":
                command = shlex.join(["tieaware", *arguments.words])
                write(path, _as_page(findings, command))
            else:
                _save_values(path, findings.reports)
        except Exception as error:
            # Drawing a plot can raise any exception.
            code = fail(error, _STANDARD_OUTPUT if path == "-" else path)
    return code


def _as_page(findings: Findings, command: str) -> str:
    """Format results as an HTML page."""
    # Verdicts follow the names of files in the text, and precede them on a page.
    files, verdicts = findings.opening[:1], findings.opening[1:]
    conclusion = [*findings.conclusion, *verdicts, *files]
    figure = html.figure_html(findings.draw, conclusion, findings.title)
    tables = findings.tables if findings.pages is None else findings.pages()
    if findings.read:
        column = ("file", findings.read)
        read = text_tables.Table.of(column, title="Files read", is_detail=True)
        tables = [*tables, read]
    remarks = [*findings.remarks, *findings.explanations]
    page = html.page(findings.title, conclusion, figure, tables, remarks, command)
    return page.rstrip()


def _save_values(path: str, reports: Mapping[str, Any]) -> None:
    """Write the values of each query, after a column that names the system."""
    pandas = _optional.import_optional("pandas", extra="io", purpose="--save")
    frames = {}
    for name, report in reports.items():
        frames[name] = report.to_pandas(settings=True)
    values = pandas.concat(frames, names=["system"]).reset_index("system")
    if path.endswith(".csv"):
        content = [values.to_csv(index=False)]
    else:
        content = values.to_parquet(index=False)
    _atomic.write_whole(Path(path), content)


def _as_csv(rows: Rows) -> str:
    """Format rows as CSV, with numbers in full precision and empty cells for NaN."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _as_cell(value) for name, value in row.items()})
    return text.getvalue().removesuffix("\n")


def _as_cell(value: Any) -> Any:
    """Return a value for CSV. NaN becomes None, and possible formulas are quoted."""
    if isinstance(value, str):
        value = _CONTROL.sub(lambda match: words.printable(match[0]), value)
        if value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
            return f"'{value}"
    elif value != value:
        return None
    return value
