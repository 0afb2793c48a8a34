"""What a command found: to files, or to standard output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ._outputs import as_csv, as_json, write_output, write_plot


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
        write_output(arguments.csv, as_csv(rows))
    if arguments.json is not None:
        write_output(arguments.json, as_json(about))
    if arguments.plot is not None:
        write_plot(arguments.plot, draw().figure_)
    if "-" not in (arguments.csv, arguments.json):
        print(text())
