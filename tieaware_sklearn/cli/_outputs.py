"""Outputs of commands: text, CSV, JSON, plots and HTML pages."""

import argparse
import csv
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import _atomic, _optional
from .._display import html, text_tables, words
from ..io import _locate

#: first characters of what spreadsheets take for a formula
_FORMULA = ("=", "+", "-", "@")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_STANDARD_OUTPUT = "standard output"


def check_files(arguments: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Raise, before any work, if an output is an input or cannot be written.

    Files are known by what they are, not by their names.
    """
    read = {_locate.which_file(name): name for name in inputs}
    written: dict[object, str] = {}
    for option in ("csv", "json", "plot", "report", "save"):
        path = vars(arguments).get(option)
        if path is None:
            continue
        if option == "save" and not path.endswith((".csv", ".parquet")):
            raise ValueError(f"--save must name a .csv or .parquet file, got {path}")
        place = path
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


@dataclass(frozen=True)
class Findings:
    """Results of a command, in the forms that its outputs need.

    Attributes
    ----------
    title : str
        A heading.
    about : dict
        For JSON: the rows, and facts on their data.
    rows : list of dict
        For CSV.
    read : list of str
        Descriptions of the files, for a page.
    tables : list of Table
        Each with a title.
    remarks : list of str
        Sentences below the tables.
    draw : callable
        Gives a display of `plots`.
    opening : list of str
        Lines above the tables.
    pages : list of Table, optional
        In place of `tables` on a page, which has room for more.
    conclusion : list of str
        Sentences at the top of a page.
    explanations : list of str
        Sentences below the tables and the remarks of a page.
    reports : dict of str to RankingReport
        For --save, by system.
    """

    title: str
    about: dict[str, Any]
    rows: list[dict[str, Any]]
    read: list[str]
    tables: list[text_tables.Table]
    remarks: list[str]
    draw: Callable[[], Any]
    opening: Sequence[str] = ()
    pages: list[text_tables.Table] | None = None
    conclusion: Sequence[str] = ()
    explanations: Sequence[str] = ()
    reports: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Format all results for a terminal, with a legend of the tables' headers."""
        tables = [table.fitted() for table in self.tables]
        terms = {name: text for one in tables for name, text in one.legend().items()}
        remarks = map(words.paragraph, map(words.printable, self.remarks))
        opening = list(map(words.printable, self.opening))
        # names of files stay in one line
        opening[1:] = map(words.paragraph, opening[1:])
        parts = ["\n".join(opening), *(one.text() for one in tables)]
        parts += ["\n".join(remarks), words.definitions(terms.items())]
        return "\n\n".join(part for part in parts if part)


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert columns to a dict of plain values for each row."""
    cells = [np.asarray(values).tolist() for values in columns.values()]
    rows = zip(*cells, strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def note(text: str) -> None:
    """Write a note to standard error."""
    print(f"tieaware: {words.printable(text)}", file=sys.stderr)


def fail(error: Exception, output: str = "") -> int:
    """Report an error, and return the exit code."""
    message, name = str(error), output
    if isinstance(error, OSError):
        message, name = error.strerror or message, output or error.filename or ""
        if isinstance(error, BrokenPipeError) and name == _STANDARD_OUTPUT:
            return 1  # the reader, such as head, has closed the pipe
    message = message or type(error).__name__
    if name:
        message = f"{name}: {message}"
    note(f"error: {message}")
    return 1


def show(text: str = "") -> None:
    """Print a text, if any, and flush, so that a failure of the output shows here.

    Raises
    ------
    OSError
        If nothing can be written, such as to a full disk; it names standard output.
    """
    try:
        print(text, end="\n" if text else "", flush=True)
    except OSError as error:
        # keeps Python from flushing once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        error.filename = _STANDARD_OUTPUT
        raise


def write(path: str, content: str) -> None:
    """Write a file as a whole or not at all; ``-`` is standard output."""
    if path == "-":
        show(content)
    else:
        _atomic.write_whole(Path(path), [content, "\n"])


def write_findings(arguments: argparse.Namespace, findings: Findings) -> int:
    """Print the results, or write them to the outputs that the arguments name.

    A failure of one output does not stop the others. Returns the exit code.
    """
    command = shlex.join(["tieaware", *arguments.words])
    # no window is opened
    os.environ.setdefault("MPLBACKEND", "Agg")
    writers: dict[str, Callable[[str], None]] = {
        "csv": lambda path: write(path, _as_csv(findings.rows)),
        "json": lambda path: write(path, _as_json(findings.about)),
        "plot": lambda path: _write_plot(path, findings),
        "report": lambda path: _write_report(path, findings, command),
        "save": lambda path: _write_values(path, findings),
    }
    # print first, so that errors of files hide no results
    by_path = {"-": lambda _: show(findings.text())}
    for option, writer in writers.items():
        if (path := vars(arguments).get(option)) is not None:
            by_path[path] = writer
    code = 0
    for path, writer in by_path.items():
        try:
            writer(path)
        except Exception as error:  # a plot may fail in any way
            code = fail(error, _STANDARD_OUTPUT if path == "-" else path)
    return code


def _write_report(path: str, findings: Findings, command: str) -> None:
    # the verdict comes before the names of files
    about, verdict = findings.opening[:1], findings.opening[1:]
    conclusion = [*findings.conclusion, *verdict, *about]
    figure = html.figure_html(findings.draw, conclusion, findings.title)
    tables = list(findings.pages or findings.tables)
    if findings.read:
        files = ("file", findings.read)
        read = text_tables.Table.of(files, title="Files read", is_detail=True)
        tables.append(read)
    remarks = [*findings.remarks, *findings.explanations]
    page = html.page(findings.title, conclusion, figure, tables, remarks, command)
    write(path, page.rstrip())


def _write_plot(path: str, findings: Findings) -> None:
    out = io.BytesIO()
    form = Path(path).suffix.lower().lstrip(".")
    findings.draw().figure_.savefig(out, format=form, dpi=150)
    _atomic.write_whole(Path(path), out.getvalue())


def _write_values(path: str, findings: Findings) -> None:
    """Write the values of each query, with a column of systems in front."""
    pandas = _optional.import_optional("pandas", extra="io", purpose="--save")
    frames = {
        name: report.to_pandas(settings=True)
        for name, report in findings.reports.items()
    }
    values = pandas.concat(frames, names=["system"]).reset_index("system")
    content = values.to_parquet(index=False)
    if path.endswith(".csv"):
        content = [values.to_csv(index=False)]
    _atomic.write_whole(Path(path), content)


def _as_json(about: dict[str, Any]) -> str:
    # JSON has neither NaN nor infinity: null stands for them
    finite = json.loads(json.dumps(about), parse_constant=lambda _: None)
    return json.dumps(finite, indent=2)


def _as_csv(rows: list[dict[str, Any]]) -> str:
    """Format rows as CSV: numbers in full precision, nothing for NaN."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _as_cell(row[name]) for name in row} for row in rows)
    return out.getvalue().removesuffix("\n")


def _as_cell(value: Any) -> Any:
    """Quote a name so that no spreadsheet takes it for a formula."""
    if not isinstance(value, str):
        return None if value != value else value
    value = _CONTROL.sub(lambda match: words.printable(match[0]), value)
    is_formula = value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
