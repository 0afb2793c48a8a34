"""The command ``convert``: learning-to-rank files written in another format."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._display import printable, shows_progress
from ..io import (
    GROUP_SUFFIXES,
    Location,
    all_tabular,
    check_form,
    check_writable,
    convert,
    feature_numbers,
    find_files,
    is_tabular,
    scan_files,
)
from ._outputs import note, show
from ._screen_files import sort_rows


def run(arguments: argparse.Namespace) -> None:
    """Read and write, some rows at a time."""
    paths, out = find_files(arguments.files, "FILE"), Path(arguments.out)
    _check_out(arguments, paths)
    _check_options(arguments, from_tables=all_tabular(paths), to_table=is_tabular(out))
    label, qid = arguments.label or "label", arguments.qid or "qid"
    scan = scan_files(
        paths,
        label=label,
        qid=qid,
        ignore=arguments.ignore or (),
        query_file=arguments.query_file,
        n_features=arguments.n_features,
    )
    if arguments.sort:
        scan = sort_rows(scan)
    bar = shows_progress(arguments.quiet)
    convert(scan, out, label=label, qid=qid, progress=bar)
    names = scan.feature_names
    if scan.left_out:
        names_left = ", ".join(scan.left_out)
        note(f"left out, without numbers or without a name: {names_left}")
    numbers = feature_numbers(names)
    if not is_tabular(out) and list(map(str, numbers)) != list(names):
        numbered = zip(numbers, names, strict=True)
        note(f"features {', '.join(f'{own} {name}' for own, name in numbered)}")
    show(
        printable(
            f"{arguments.out}: {scan.n_rows} documents, "
            f"{len(np.unique(scan.runs.ids))} queries, {len(names)} features"
        )
    )


def _check_out(arguments: argparse.Namespace, paths: Sequence[Location]) -> None:
    """Raise before anything is read if the output is an input, or cannot be written."""
    out = arguments.out
    if out == "-":
        raise ValueError("OUT must name a file, got -")
    sizes = [f"{name}{suffix}" for name in paths for suffix in GROUP_SUFFIXES]
    for name in (*map(str, paths), *sizes, *(arguments.query_file or ())):
        if os.path.isfile(out) and os.path.isfile(name) and os.path.samefile(out, name):
            raise ValueError(f"OUT must not replace an input, got {name}")
    check_writable(out, "OUT")
    check_form(Path(out), "OUT")


def _check_options(
    arguments: argparse.Namespace, *, from_tables: bool, to_table: bool
) -> None:
    """Options must be those of the formats."""
    for option in ("query_file", "n_features"):
        if from_tables and getattr(arguments, option):
            raise ValueError(
                f"--{option.replace('_', '-')} must be given for LETOR text only, got "
                f"tables: {arguments.files[0]}"
            )
    for option in ("label", "qid"):
        if getattr(arguments, option) is not None and not (from_tables or to_table):
            raise ValueError(
                f"--{option} names a column of CSV and Parquet files, but LETOR text "
                f"is read and written: {arguments.files[0]}, {arguments.out}"
            )
