"""What a command found: CSV, JSON, pictures and pages for others, text for people."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, TextIO

from .._atomic import check_writable, whole_file, write_whole
from .._display import (
    Table,
    definitions,
    figure_html,
    page,
    paragraph,
    printable,
)
from .._optional import import_optional
from ..io import Url, in_one_line, is_url, which_file

#: with what a spreadsheet takes a cell for a formula
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: outputs that are not for reading along
_FILES = ("--plot", "--report", "--save")
_STANDARD_OUTPUT = "standard output"
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def check_outputs(arguments: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Raise before anything is read if an output is an input, or cannot be written."""
    read = _places_read(inputs)
    printed = _place("-", sys.stdout)
    if printed in read:
        raise ValueError(f"standard output must not be an input, got {read[printed]}")
    seen: dict[object, str] = {}
    for option in ("--csv", "--json", *_FILES):
        path = getattr(arguments, option.removeprefix("--"), None)
        if path is None:
            continue
        if "\0" in path:
            check_writable(path, option)
        place = _place(path, sys.stdout)
        if place in read:
            raise ValueError(f"{option} must not replace an input, got {read[place]}")
        where = "standard output" if place == printed else path
        if place in seen:
            raise ValueError(
                f"only one of {seen[place]} and {option} can go to {where}"
            )
        seen[place] = option
        if option == "--save" and path.endswith(".gz"):
            raise ValueError(
                f"{option} must not end in .gz, since it is not compressed, got {path}"
            )
        if place != printed:
            check_writable(path, option)
        elif option not in _FILES:
            # such as /dev/stdout, which must not be replaced while it is printed to
            setattr(arguments, option.removeprefix("--"), "-")
        elif path != "-" or option != "--plot":
            raise ValueError(f"{option} must name a file, got standard output, {path}")
    if arguments.plot is not None:
        _check_plot(arguments.plot)


def _places_read(inputs: Iterable[str]) -> dict[object, str]:
    """The files to be read, each with its name."""
    read = {}
    for name in inputs:
        if is_url(name):
            # a file of this machine may have one, too
            read[which_file(Url(name))] = name
            continue
        state = _state(name, sys.stdin)
        # a device or a pipe may be written to as well, and loses nothing
        if state is not None and stat.S_ISREG(state.st_mode):
            read[_place(name, sys.stdin)] = "standard input" if name == "-" else name
    return read


def _state(path: str, standard: TextIO | None) -> os.stat_result | None:
    """Of a file, links followed; ``-`` is a standard stream, None what is not there."""
    try:
        if path != "-":
            return os.stat(path)
        return None if standard is None else os.fstat(standard.fileno())
    except (OSError, ValueError):
        return None


def _place(path: str, standard: TextIO | None) -> object:
    """What is the same for all names of a file."""
    state = _state(path, standard)
    if state is None:
        return path if path == "-" else os.path.realpath(path)
    return state.st_dev, state.st_ino


def _check_plot(path: str) -> None:
    """Only what matplotlib can draw, and without a screen."""
    matplotlib = import_optional("matplotlib", extra="plots", purpose="--plot")
    matplotlib.use("Agg")
    bases = import_optional("matplotlib.backend_bases", extra="plots", purpose="--plot")
    if _form(path) not in bases.FigureCanvasBase.get_supported_filetypes():
        raise ValueError(
            f"--plot must name a file that ends in .png, .svg, .pdf or another "
            f"format of matplotlib, got {path}"
        )


def _form(path: str) -> str:
    """The format that the name of a file asks for."""
    return Path(path).suffix.lower().lstrip(".")


@dataclass(frozen=True)
class Findings:
    """What a command found.

    Attributes
    ----------
    title : str
        What it is, in a few words.
    about : dict
        For JSON: the rows, and what they are about.
    rows : list of dict
        For CSV.
    read : list of str
        What was read, file by file, for a page.
    opening : list of str
        What to say first.
    tables : list of (str, Table)
        For people, each with what it shows.
    remarks : list of str
        What there is to say of them.
    draw : callable
        Gives a display of `plots`.
    pages : list of (str, Table), optional
        In place of `tables` on a page, which has room for more.
    conclusion : list of str
        What a page says first.
    saved : callable, optional
        Gives the bytes of a file that can be merged with others.
    """

    title: str
    about: dict[str, Any]
    rows: list[dict[str, Any]]
    read: list[str]
    opening: list[str]
    tables: list[tuple[str, Table]]
    remarks: list[str]
    draw: Callable[[], Any]
    pages: list[tuple[str, Table]] | None = None
    conclusion: Sequence[str] = ()
    saved: Callable[[], bytes] | None = None

    def text(self) -> str:
        """All of it for a terminal, with what the heads of the tables mean."""
        tables = [table.fitted() for _, table in self.tables]
        terms = {head: said for one in tables for head, said in one.legend().items()}
        parts = ["\n".join(map(printable, self.opening))]
        parts += [one.text() for one in tables]
        remarks = (paragraph(printable(remark)) for remark in self.remarks)
        parts += ["\n".join(remarks), definitions(terms.items())]
        whole = (table for _, table in self.tables)
        pairs = zip(tables, whole, strict=True)
        if any(len(some.columns) < len(every.columns) for some, every in pairs):
            parts.append("--report has more columns; --csv and --json have them all.")
        return "\n\n".join(part for part in parts if part)


#: writes findings to a place, as the command line asks for
_Writer = Callable[[str, Findings, argparse.Namespace], None]


class NotWrittenError(Exception):
    """Some outputs could not be written, but all others are.

    Attributes
    ----------
    errors : list of Exception
        What came between; their words name the output.
    """

    def __init__(self, errors: list[Exception]) -> None:
        super().__init__(*errors)
        self.errors = errors


def note(text: str) -> None:
    """Say something beside the results."""
    print(f"tieaware: {printable(text)}", file=sys.stderr)


def in_words(error: Exception) -> str:
    """What to say of an error."""
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return f"{name}{error.strerror or error}"
    return str(error) or "out of memory"


def write_findings(arguments: argparse.Namespace, found: Findings) -> None:
    """Write what was found in the forms that are asked for, or print it.

    Raises
    ------
    NotWrittenError
        If an output could not be written; all others are.
    BrokenPipeError
        If this is only because a reader such as ``head`` has seen enough.
    """
    asked: list[tuple[str, _Writer]] = [
        (path, write)
        for path, write in (
            (arguments.csv, _write_csv),
            (arguments.json, _write_json),
            (arguments.plot, _write_plot),
            (arguments.report, _write_report),
            (getattr(arguments, "save", None), _write_saved),
        )
        if path is not None
    ]
    # what is printed comes first: whatever happens to the files, it is seen
    asked.sort(key=lambda output: output[0] != "-")
    if not asked or asked[0][0] != "-":
        asked.insert(0, ("-", _print))
    errors: list[Exception] = []
    for path, write in asked:
        try:
            write(path, found, arguments)
        except Exception as error:  # a plot may fail in any way
            errors.append(_named(error, path))
    enough = [error for error in errors if _has_seen_enough(error)]
    if enough and len(enough) == len(errors):
        raise enough[0]
    if errors:
        raise NotWrittenError([error for error in errors if error not in enough])


def _named(error: Exception, path: str) -> Exception:
    """The error, if its words name the output, or another one that does."""
    where = _STANDARD_OUTPUT if path == "-" else path
    if isinstance(error, _NoFigureError):
        return error
    if isinstance(error, OSError) and error.filename == where:
        return error
    named = RuntimeError(f"{where}: not written: {_why(error)}")
    named.__cause__ = error
    return named


def _why(error: Exception) -> str:
    """The words of any error, even of one without."""
    if isinstance(error, MemoryError):
        return "out of memory"
    return in_one_line(error) or type(error).__name__


def _has_seen_enough(error: Exception) -> bool:
    return isinstance(error, BrokenPipeError) and error.filename == _STANDARD_OUTPUT


def _print(_: str, found: Findings, __: argparse.Namespace) -> None:
    show(found.text())


def _write_csv(path: str, found: Findings, _: argparse.Namespace) -> None:
    _write(path, _as_csv(found.rows, path))


def _write_json(path: str, found: Findings, _: argparse.Namespace) -> None:
    about = _nulls(found.about, finite=True)
    document = json.dumps(about, indent=2, allow_nan=False)
    # the only control character that JSON has as it is
    _write(path, document.replace("\x7f", "\\u007f"))


def _write_plot(path: str, found: Findings, _: argparse.Namespace) -> None:
    figure = found.draw().figure_
    with whole_file(Path(path), binary=True) as file:
        figure.savefig(file, format=_form(path), dpi=150)


def _write_saved(path: str, found: Findings, _: argparse.Namespace) -> None:
    if found.saved is not None:
        write_bytes(path, found.saved())


def write_bytes(path: str, data: bytes) -> None:
    """Write a file, or leave what is there as it is."""
    with whole_file(Path(path), binary=True) as file:
        file.write(data)


class _NoFigureError(Exception):
    """A page is written without its figure."""


def _write_report(path: str, found: Findings, arguments: argparse.Namespace) -> None:
    failed: Exception | None = None
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        figure = figure_html(found.draw, f"{found.title}, as a picture")
    except Exception as error:  # a plot may fail in any way
        failed = error
        why = escape(printable(_why(error)))
        figure = f"<p>there is no figure: {why}</p>"
    tables = found.pages or found.tables
    text = page(
        found.title,
        [*found.conclusion, *found.opening],
        figure,
        [replace(table, title=heading) for heading, table in tables],
        found.remarks,
        [("read", one) for one in found.read],
        shlex.join(["tieaware", *arguments.words]),
    )
    write_whole(Path(path), [text])
    if failed is not None:
        what = f"written without its figure: {_why(failed)}"
        raise _NoFigureError(f"{path}: {what}") from failed


def show(text: str) -> None:
    """Print a text at once, so that what becomes of it is known: see `flush`."""
    with _naming_standard_output():
        print(text)
    flush()


def flush() -> None:
    """See that what was printed gets out.

    Raises
    ------
    OSError
        If it does not, such as to a full disk; it names standard output.
    """
    with _naming_standard_output():
        sys.stdout.flush()


@contextmanager
def _naming_standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = _STANDARD_OUTPUT
        raise


def _as_csv(rows: list[dict[str, Any]], path: str) -> str:
    """The rows as CSV, numbers in full precision."""
    seen = path == "-" and sys.stdout.isatty()
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: _as_text(value, seen) if isinstance(value, str) else value
                for name, value in _nulls(row).items()
            }
        )
    return out.getvalue().removesuffix("\n")


def _as_text(value: str, seen: bool) -> str:
    """A name that no spreadsheet takes for a formula, and no terminal obeys."""
    if value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        value = f"'{value}"
    # the writer of Python 3.11 leaves a carriage return bare, which ends a row
    return printable(value) if seen or "\r" in value else value


def _nulls(value: Any, *, finite: bool = False) -> Any:
    """The value with None, null in JSON and empty in CSV, for NaN.

    JSON has no infinity either, which the statistic of a test may be.
    """
    if isinstance(value, dict):
        return {key: _nulls(inner, finite=finite) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nulls(inner, finite=finite) for inner in value]
    if not isinstance(value, float):
        return value
    lost = not math.isfinite(value) if finite else math.isnan(value)
    return None if lost else value


def _write(path: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    if path == "-":
        show(text)
    else:
        write_whole(Path(path), [text, "\n"])
