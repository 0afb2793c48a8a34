"""Figures for other programs: CSV and JSON, to a file or to standard output."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import sys
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


def write_plot(path: str, figure: Any) -> None:
    """Write a figure in the format that its file name asks for."""
    with whole_file(Path(path), binary=True) as file:
        figure.savefig(file, format=_form(path), dpi=150)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV, numbers in full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_nulls(rows))
    return out.getvalue()


def as_json(document: dict[str, Any]) -> str:
    """A document as JSON; NaN is null."""
    return json.dumps(_nulls(document), indent=2, allow_nan=False) + "\n"


def _nulls(value: Any) -> Any:
    """The value with None, which CSV leaves empty, for NaN."""
    if isinstance(value, dict):
        return {key: _nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nulls(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def write_output(path: str, text: str) -> None:
    """Write a text to a file, or to standard output for ``-``."""
    if path == "-":
        sys.stdout.write(text)
    else:
        write_whole(Path(path), [text])
