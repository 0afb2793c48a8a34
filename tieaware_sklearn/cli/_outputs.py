"""What a command found: CSV, JSON and pictures for others, text for people."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from .._display.terminal import printable
from .._optional import import_optional
from ..io._whole_file import check_writable, whole_file, write_whole

#: with what a spreadsheet takes a cell for a formula
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def check_outputs(arguments: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Raise before anything is read if an output is an input, or cannot be written."""
    read = _places_read(inputs)
    printed = _place("-", sys.stdout)
    if printed in read:
        raise ValueError(f"standard output must not be an input, got {read[printed]}")
    seen: dict[object, str] = {}
    for option in ("--csv", "--json", "--plot"):
        path = getattr(arguments, option.removeprefix("--"))
        if path is None:
            continue
        place = _place(path, sys.stdout)
        if place in read:
            raise ValueError(f"{option} must not replace an input, got {read[place]}")
        where = "standard output" if place == printed else path
        if place in seen:
            raise ValueError(
                f"only one of {seen[place]} and {option} can go to {where}"
            )
        seen[place] = option
        if place != printed:
            check_writable(path, option)
        elif option != "--plot":
            # such as /dev/stdout, which must not be replaced while it is printed to
            setattr(arguments, option.removeprefix("--"), "-")
        elif path != "-":
            raise ValueError(f"--plot must name a file, got standard output, {path}")
    if arguments.plot is not None:
        _check_plot(arguments.plot)


def _places_read(inputs: Iterable[str]) -> dict[object, str]:
    """The files to be read, each with its name."""
    read = {}
    for name in inputs:
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
            f"--plot must name a file that ends in .png, .svg, .pdf or the like, got "
            f"{path}"
        )


def _form(path: str) -> str:
    """The format that the name of a file asks for."""
    return Path(path).suffix.lower().lstrip(".")


def write_findings(
    arguments: argparse.Namespace,
    rows: list[dict[str, Any]],
    about: dict[str, Any],
    *,
    draw: Callable[[], Any],
    text: Callable[[], str],
) -> None:
    """Write `rows` in the forms that are asked for, and print `text` beside files.

    JSON has what `rows` are `about` as well; `draw` gives a display, `text` what is
    for people.
    """
    if arguments.csv is not None:
        _write(arguments.csv, _as_csv(rows, arguments.csv))
    if arguments.json is not None:
        document = json.dumps(_nulls(about), indent=2, allow_nan=False)
        # the only control character that JSON has as it is
        _write(arguments.json, document.replace("\x7f", "\\u007f"))
    if arguments.plot is not None:
        figure = draw().figure_
        with whole_file(Path(arguments.plot), binary=True) as file:
            figure.savefig(file, format=_form(arguments.plot), dpi=150)
    if "-" not in (arguments.csv, arguments.json):
        show(text())


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
        error.filename = "standard output"
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


def _nulls(value: Any) -> Any:
    """The value with None, null in JSON and empty in CSV, for NaN."""
    if isinstance(value, dict):
        return {key: _nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nulls(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _write(path: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    if path == "-":
        show(text)
    else:
        write_whole(Path(path), [text, "\n"])
