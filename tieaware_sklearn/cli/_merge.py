"""The command ``merge``: saved results of other queries each, as one."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from .._display import show_progress, shows_progress
from ..evaluation import RankingReport
from ..feature_selection import RankingFeatureSelector, Screening
from ..plots import TieRangeDisplay
from ._outputs import Findings, check_outputs, note, write_findings
from ._parts import (
    Part,
    check_alike,
    check_no_query_twice,
    find_parts,
    merged,
    read_part,
)
from ._screen import report, set_selection
from ._screen_files import Screened

#: options that choose among features
_SELECTION = ("select", "max_correlation", "diversity")


def run(arguments: argparse.Namespace) -> None:
    """Read the parts, merge them, and print or write what they are together."""
    paths = find_parts(arguments.files)
    check_outputs(arguments, paths)
    bar = shows_progress(arguments.quiet) and len(paths) > 1
    files = show_progress(paths, bar, len(paths), "file")
    parts = [read_part(path) for path in files]
    check_alike(parts)
    check_no_query_twice(parts)
    _check_complete(parts, arguments)
    found = merged(parts)
    read = [part.shown() for part in parts]
    if isinstance(found, Screening):
        if arguments.average != "macro":
            raise ValueError(
                f"--average is for the scores of a ranking, but {paths[0]} holds a "
                "screening"
            )
        report(arguments, _screened(arguments, found, parts), read)
    else:
        _report_averages(arguments, found, paths, read)


def _check_complete(parts: list[Part], arguments: argparse.Namespace) -> None:
    """Parts of what was to be screened are merged only if that is wanted."""
    for part in parts:
        if not part.read.complete and not arguments.interrupted:
            raise ValueError(
                f"{part.path}: the screening was interrupted after "
                f"{part.read.n_documents} documents: complete it, or merge what there "
                "is with --interrupted"
            )


def _screened(
    arguments: argparse.Namespace, screening: Screening, parts: list[Part]
) -> Screened:
    """The selector of a merged screening, and what all parts were made of."""
    rule, n_features = screening.rule, len(screening.feature_names)
    selector = RankingFeatureSelector(
        list(rule.measures),
        sort_by=rule.measures[rule.sort],
        direction=list(rule.directions),
        missing=rule.missing,
        zero_relevance=rule.zero_relevance,
        unjudged=rule.unjudged,
        redundancy=rule.correlates,
        n_features_to_select=arguments.select,
    )
    set_selection(selector, arguments)
    if not rule.correlates:
        _leave_repeats(arguments, selector)
    selector.adopt(screening, np.empty((0, n_features)))
    unjudged = [part.read.unjudged for part in parts]
    counts = [part.read.n_documents for part in parts]
    return Screened(
        selector,
        list(screening.feature_names),
        sorted(name for part in parts for name in part.read.files),
        sum(n for n in counts if n is not None) if None not in counts else None,
        all(part.read.complete for part in parts),
        "skip" if "skip" in unjudged else rule.unjudged,
        screening.label,
    )


def _leave_repeats(
    arguments: argparse.Namespace, selector: RankingFeatureSelector
) -> None:
    """Where no pairs of features were correlated, repeats are unknown; say so."""
    if any(getattr(arguments, name, None) is not None for name in _SELECTION):
        raise ValueError(
            f"{arguments.files[0]}: features must be correlated to be selected, which "
            "was not done when they were screened"
        )
    selector.set_params(max_correlation=None)
    note("features were not correlated: repeats are not looked for")


def _report_averages(
    arguments: argparse.Namespace,
    found: RankingReport,
    paths: list[str],
    read: list[str],
) -> None:
    for name in ("top", *_SELECTION):
        if getattr(arguments, name, None) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')} is for features, but "
                f"{paths[0]} holds the scores of a ranking"
            )
    summary = found.summary(arguments.average)
    (table,) = summary._tables()
    columns = {
        name: np.asarray(values).tolist() for name, values in summary._columns().items()
    }
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    several = "1 file" if len(read) == 1 else f"{len(read)} files"
    about: dict[str, Any] = {
        "files": sorted(paths),
        "average": summary.average,
        "measures": rows,
    }
    write_findings(
        arguments,
        Findings(
            title="Exact scores of a ranking",
            about=about,
            rows=rows,
            read=read,
            opening=[f"{several} of {len(found.qid)} queries"],
            tables=[("Averages over queries", table)],
            remarks=["Scores are exact means over all orders of tied documents."],
            draw=lambda: TieRangeDisplay.from_result(summary),
            saved=found.to_bytes,
        ),
    )
