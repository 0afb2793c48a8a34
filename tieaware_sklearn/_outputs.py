"""Figures for other programs: CSV and JSON, to a file or to standard output."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

from ._files import check_writable, write_whole


def check_outputs(csv_file: str | None, json_file: str | None) -> None:
    """Raise before the work is done if an output cannot be written."""
    same = None not in (csv_file, json_file) and os.path.realpath(
        str(csv_file)
    ) == os.path.realpath(str(json_file))
    if same:
        where = "standard output" if csv_file == "-" else csv_file
        raise ValueError(f"only one of --csv and --json can go to {where}")
    for option, path in (("--csv", csv_file), ("--json", json_file)):
        if path not in (None, "-"):
            check_writable(str(path), option)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV, numbers in full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _blank(value) for key, value in row.items()})
    return out.getvalue()


def _blank(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def as_json(document: dict[str, Any]) -> str:
    """A document as JSON; NaN is null."""
    return json.dumps(_nulls(document), indent=2, allow_nan=False) + "\n"


def _nulls(value: Any) -> Any:
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
