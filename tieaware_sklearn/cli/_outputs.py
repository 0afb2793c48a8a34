"""What a command found: CSV, JSON and pictures for others, text for people."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._optional import import_optional
from ..io._whole_file import check_writable, whole_file, write_whole


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise before the work is done if an output cannot be written."""
    seen: dict[str, str] = {}
    for option in ("--csv", "--json", "--plot"):
        path = getattr(arguments, option.removeprefix("--"))
        if path is None:
            continue
        place = path if path == "-" else os.path.realpath(path)
        if place in seen:
            where = "standard output" if path == "-" else path
            raise ValueError(
                f"only one of {seen[place]} and {option} can go to {where}"
            )
        seen[place] = option
        if path != "-":
            check_writable(path, option)
    if arguments.plot is not None:
        _check_plot(arguments.plot)


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
        _write(arguments.csv, _as_csv(rows))
    if arguments.json is not None:
        document = json.dumps(_nulls(about), indent=2, allow_nan=False)
        _write(arguments.json, f"{document}\n")
    if arguments.plot is not None:
        figure = draw().figure_
        with whole_file(Path(arguments.plot), binary=True) as file:
            figure.savefig(file, format=_form(arguments.plot), dpi=150)
    if "-" not in (arguments.csv, arguments.json):
        print(text())


def _as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV, numbers in full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_nulls(rows))
    return out.getvalue()


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
        sys.stdout.write(text)
    else:
        write_whole(Path(path), [text])
