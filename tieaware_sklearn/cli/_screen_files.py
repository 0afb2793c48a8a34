"""Files screened: read at once, or in batches where they are large."""

from __future__ import annotations

import argparse
from functools import reduce
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._display import shows_progress
from .._engine import gather
from ..feature_selection import AUTO_REDUNDANCY, RankingFeatureSelector, Screening
from ..io import (
    Location,
    Rankings,
    all_tabular,
    is_nameless,
    open_files,
    rows_of_batch,
    size_on_disk,
    track,
)
from ..measures import Measure, parse_measures, refused_label
from ._outputs import note
from ._slow import note_missing_kernel

#: files that take more on disk are read in batches
_LARGE = 1 << 28


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
) -> Screened:
    """Fit the selector on all files, or on as much as there was time for."""
    files, unjudged = arguments.files, arguments.unjudged
    # labels of LETOR text have no name
    label = (arguments.label or "label") if all_tabular(paths) else None
    rankings, rows = _opened(arguments, paths)
    names = rankings.feature_names
    # one bar: over documents in batches, over features of all at once
    bar = shows_progress(arguments.quiet)
    selector.set_params(
        progress=bar and rows is None,
        unjudged="raise" if unjudged == "skip" else unjudged,
    )
    if rows is not None:
        _leave_repeats(arguments, selector, len(names))
    interrupted: KeyboardInterrupt | None = None
    measures = parse_measures(arguments.measures)
    parts: list[Screening] = []
    n_documents = n_read = 0
    try:
        for batch in track(rankings, rows, bar and rows is not None):
            if not n_read:
                _note_left_out(rankings.left_out)
            n_before, n_read = n_read, n_read + len(batch.target)
            note_missing_kernel(n_read * len(names), n_before * len(names))
            _check_values(batch, arguments.missing, unjudged)
            _check_labels(batch, measures)
            judged = np.ones(len(batch.target), dtype=bool)
            if unjudged == "skip":
                judged = ~np.isnan(batch.target)
            if not judged.any():
                continue
            data, target, qid = (
                values if judged.all() else values[judged]
                for values in (batch.data, batch.target, batch.qid)
            )
            if rows is None:
                selector.fit(data, target, qid=qid)
                return Screened(
                    selector, names, files, len(target), True, unjudged, label
                )
            part = selector.screen(data, target, qid=qid)
            gather(parts, part, Screening.merge, attrgetter("n_queries"))
            n_documents += len(target)
    except KeyboardInterrupt as stopped:
        # of a part nothing is written but what says that it is one
        if not parts or arguments.save is None:
            raise
        interrupted = stopped
    if not parts:
        raise ValueError(f"{files[0]}: no document has a label")
    selector.adopt(reduce(Screening.merge, parts), np.empty((0, len(names))))
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


def _opened(
    arguments: argparse.Namespace, paths: list[Location]
) -> tuple[Rankings, int | None]:
    """The files, and the rows of a batch; None to read them at once."""
    _check_kinds(arguments, paths)
    asked = arguments.batch_rows
    at_once = asked == 0 or (asked is None and size_on_disk(paths) <= _LARGE)
    rankings = open_files(
        paths,
        label=arguments.label or "label",
        qid=arguments.qid or "qid",
        ignore=arguments.ignore or (),
        query_file=arguments.query_file,
        n_features=arguments.n_features,
        missing_values=arguments.missing_values or (),
        thousands=arguments.thousands,
    )
    rows = None if at_once else rows_of_batch(asked, len(rankings.feature_names))
    return rankings, rows


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
        for option in ("label", "qid", "missing_values", "thousands"):
            if getattr(arguments, option) is not None:
                raise ValueError(
                    f"--{option.replace('_', '-')} is for CSV and Parquet files, but "
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
    """Name the file and line of all that the selector would refuse, with remedies."""
    wrong = []
    unlabelled = np.isnan(data.target)
    if unjudged == "raise" and unlabelled.any():
        wrong.append(
            f"{data.place(int(np.argmax(unlabelled)))}: the label is missing "
            f"({int(unlabelled.sum())} of {len(unlabelled)} are missing; --unjudged "
            "nonrelevant counts such documents as not relevant, --unjudged skip leaves "
            "them out)"
        )
    refused = np.isinf(data.target) | (data.target < 0)
    if refused.any():
        row = int(np.argmax(refused))
        wrong.append(
            f"{data.place(row)}: a label must be finite and >= 0, got "
            f"{data.target[row]:g}"
        )
    infinite = np.isinf(data.data)
    for j in np.flatnonzero(infinite.any(axis=0)).tolist():
        row = int(np.argmax(infinite[:, j]))
        wrong.append(
            f"{data.place(row)}: feature {data.feature_names[j]} must be finite, got "
            f"{data.data[row, j]:g} (--missing-values inf reads such cells of CSV as "
            "missing; --ignore leaves the feature out)"
        )
    gaps = np.isnan(data.data)
    if missing == "raise" and gaps.any():
        row, j = np.argwhere(gaps)[0].tolist()
        wrong.append(
            f"{data.place(row)}: feature {data.feature_names[j]} is missing "
            f"({int(gaps.sum())} values are missing in all; --missing last ranks them "
            "below all others)"
        )
    if wrong:
        raise ValueError("\n  ".join(wrong[:10]))


def _check_labels(data: Bunch, measures: list[Measure]) -> None:
    """Name the file and line of a label that a measure refuses."""
    if refused := refused_label(measures, data.target):
        row, why = refused
        raise ValueError(f"{data.place(row)}: {why}")
