"""Files screened: read at once, or in batches where they are large."""

from __future__ import annotations

import argparse
import tempfile
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._display import shows_progress
from ..feature_selection import AUTO_REDUNDANCY, RankingFeatureSelector
from ..io import (
    Location,
    Scan,
    SortedScan,
    all_tabular,
    bytes_of_tables,
    is_nameless,
    rows_of_batch,
    scan_files,
    sorted_by_query,
    track,
)
from ..measures import Measure, parse_measures, refused_label
from ._checkpoint import Progress
from ._outputs import note
from ._slow import note_missing_kernel

#: files that would take more memory at once are read in batches, which take as much
_LARGE = 1 << 29
#: read at once, files peak at up to five times their numbers
_PEAK = 5


class Screened(NamedTuple):
    """A fitted selector, of what, and what came before the end, as the user knows."""

    selector: RankingFeatureSelector
    feature_names: list[str]
    files: list[str]
    #: None if nobody knows
    n_documents: int | None
    complete: bool
    #: what was asked of missing labels
    unjudged: str
    #: name of the column of labels, if it has one
    label: str | None
    interrupted: KeyboardInterrupt | None = None


def screen_files(
    arguments: argparse.Namespace,
    paths: list[Location],
    selector: RankingFeatureSelector,
    progress: Progress,
) -> Screened:
    """Fit the selector on all files, or on as much as there was time for."""
    files, unjudged = arguments.files, arguments.unjudged
    # labels of LETOR text have no name
    label = (arguments.label or "label") if all_tabular(paths) else None
    scan, rows = _look_through(arguments, paths)
    _note_left_out(scan.left_out)
    names = scan.feature_names
    note_missing_kernel(scan.n_rows * len(names))
    # one bar: over documents in batches, over features of all at once
    bar = shows_progress(arguments.quiet)
    selector.set_params(
        progress=bar and rows is None,
        unjudged="raise" if unjudged == "skip" else unjudged,
    )
    if rows is not None:
        _leave_repeats(arguments, selector, len(names))
    interrupted: KeyboardInterrupt | None = None
    first_row = progress.done.n_rows
    measures = parse_measures(arguments.measures)
    try:
        shown = bar and rows is not None
        for batch in track(scan, rows, shown, first_row=first_row):
            _check_values(batch, arguments.missing, unjudged)
            _check_labels(batch, measures)
            judged = np.ones(len(batch.target), dtype=bool)
            if unjudged == "skip":
                judged = ~np.isnan(batch.target)
            if not judged.any():
                progress.add(len(judged))
                continue
            data, target, qid = (
                values if judged.all() else values[judged]
                for values in (batch.data, batch.target, batch.qid)
            )
            if rows is None:
                selector.fit(data, target, qid=qid)
                n_documents = len(target)
                return Screened(
                    selector, names, files, n_documents, True, unjudged, label
                )
            part = selector.screen(data, target, qid=qid)
            progress.add(len(judged), len(target), part)
    except KeyboardInterrupt as stopped:
        if not progress.done.parts:
            raise
        interrupted = stopped
        note(
            "interrupted: the results are those of the first "
            f"{progress.done.n_documents} of {scan.n_rows} documents"
        )
    progress.keep()
    screening, n_documents = progress.done.screening(), progress.done.n_documents
    if screening is None:
        raise ValueError(f"{files[0]}: no document has a label")
    selector.adopt(screening, np.empty((0, len(names))))
    complete = interrupted is None
    return Screened(
        selector, names, files, n_documents, complete, unjudged, label, interrupted
    )


def _leave_repeats(
    arguments: argparse.Namespace, selector: RankingFeatureSelector, n_features: int
) -> None:
    """Of many features in batches no pairs are correlated; say so."""
    if n_features <= AUTO_REDUNDANCY:
        return
    asked = [name for name in ("max_correlation", "diversity") if name in arguments]
    if asked or arguments.select is not None:
        raise ValueError(
            f"features must be correlated to be selected, which batches allow up to "
            f"{AUTO_REDUNDANCY} features, got {n_features}: read everything at once "
            "(--batch-rows 0)"
        )
    selector.set_params(max_correlation=None)
    note(
        f"more than {AUTO_REDUNDANCY} features in batches: repeats are not looked for "
        "(--batch-rows 0 does)"
    )


def _look_through(
    arguments: argparse.Namespace, paths: list[Location]
) -> tuple[Scan[Any], int | None]:
    """What is in the files, and the rows of a batch; None to read them at once."""
    _check_kinds(arguments, paths)
    asked = arguments.batch_rows
    free = asked is None and arguments.checkpoint is None
    at_once = asked == 0
    if free:
        # of text with numbered features the first pass tells
        at_once = all_tabular(paths) and _PEAK * bytes_of_tables(paths) <= _LARGE
    scan = scan_files(
        paths,
        label=arguments.label or "label",
        qid=arguments.qid or "qid",
        ignore=arguments.ignore or (),
        query_file=arguments.query_file,
        n_features=arguments.n_features,
        keep=at_once,
    )
    if at_once or (free and _PEAK * scan.n_bytes <= _LARGE):
        return scan, None
    if scan.scattered and arguments.sort:
        scan = sort_rows(scan)
    elif scan.scattered and free:
        note(
            "the rows of a query are not together: everything is read at once (--sort "
            "sorts them on disk)"
        )
        return scan, None
    elif scan.scattered:
        raise ValueError(f"{scan.scattered} (--batch-rows 0, without --checkpoint)")
    return scan, rows_of_batch(asked, len(scan.feature_names))


def sort_rows(scan: Scan[Any]) -> Scan[Any]:
    """The rows sorted by query, and a line that says so."""
    found = sorted_by_query(scan)
    if isinstance(found, SortedScan):
        note(
            "the rows of a query are not together: they are sorted by query on disk "
            f"with {found.engine.name}, in {tempfile.gettempdir()}"
        )
    return found


def _check_kinds(arguments: argparse.Namespace, paths: list[Location]) -> None:
    """The options must be of the kind of the files."""
    if all_tabular(paths):
        if arguments.query_file:
            raise ValueError(
                "--query-file must be given for LETOR text only, got tables: "
                f"{paths[0]}"
            )
        if arguments.n_features is not None:
            raise ValueError(
                "--n-features must be given for LETOR text only, got tables: "
                f"{paths[0]}"
            )
    else:
        for option in ("label", "qid"):
            if getattr(arguments, option) is not None:
                raise ValueError(
                    f"--{option} names a column of CSV and Parquet files, but "
                    f"{paths[0]} is read as LETOR text (its name has no such ending)"
                )


def _note_left_out(names: list[str]) -> None:
    nameless = [name for name in names if is_nameless(name)]
    if nameless:
        note(f"left out, without a name in the header: {', '.join(nameless)}")
    if len(names) > len(nameless):
        others = (name for name in names if name not in nameless)
        note(f"left out, not numeric: {', '.join(others)}")


def _check_values(data: Bunch, missing: str, unjudged: str) -> None:
    """Name the file and line of what the selector would refuse."""
    unlabelled = np.isnan(data.target)
    if unjudged == "raise" and unlabelled.any():
        raise ValueError(
            f"{data.place(int(np.argmax(unlabelled)))}: the label is missing "
            f"({int(unlabelled.sum())} of {len(unlabelled)} are missing; --unjudged "
            "nonrelevant counts such documents as not relevant, --unjudged skip leaves "
            "them out)"
        )
    wrong = np.isinf(data.target) | (data.target < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{data.place(row)}: a label must be finite and >= 0, got "
            f"{data.target[row]:g}"
        )
    infinite = np.isinf(data.data)
    if infinite.any():
        row, j = np.argwhere(infinite)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} must be finite, got "
            f"{data.data[row, j]:g}"
        )
    gaps = np.isnan(data.data)
    if missing == "raise" and gaps.any():
        row, j = np.argwhere(gaps)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} is missing "
            f"({int(gaps.sum())} values are missing in all; --missing last ranks them "
            "below all others)"
        )


def _check_labels(data: Bunch, measures: list[Measure]) -> None:
    """Name the file and line of a label that a measure refuses."""
    if refused := refused_label(measures, data.target):
        row, why = refused
        raise ValueError(f"{data.place(row)}: {why}")
