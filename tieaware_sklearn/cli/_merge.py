"""The command ``merge``: saved results on different queries, as one."""

import argparse
import glob
import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._display import words
from .._engine import hashing, merging, messages, seen_queries
from ..evaluation import RankingReport
from ..feature_selection import RankingFeatureSelector, Screening
from ..io import _locate, _saved
from ..plots import TieRangeDisplay
from . import _outputs, _screen

_SUFFIX = ".tie"
_KINDS = {Screening: "a screening", RankingReport: "the scores of a ranking"}


class _Part(NamedTuple):
    """A saved result with its file and its queries."""

    path: str
    result: Screening | RankingReport
    read: _screen.Read
    digests: hashing.Digests
    n_queries: int

    def shown(self) -> str:
        """Describe the queries and files in a line."""
        what = f"{self.path}: {self.n_queries} queries"
        files = [name for name in self.read.files if name != self.path]
        return f"{what} of {', '.join(files)}" if files else what


def run(arguments: argparse.Namespace) -> int:
    """Read the parts, merge them, and print or write the result."""
    paths = [path for name in arguments.files for path in _paths_of(name)]
    _outputs.check_files(arguments, paths)
    parts = list(map(_read, paths))
    _check_alike(parts)
    _check_no_query_twice(parts)
    merged = _merged([part.result for part in parts])
    if isinstance(merged, RankingReport):
        return _report_averages(arguments, merged, parts)
    rule = f"--average is for the scores of a ranking, but {paths[0]} holds a screening"
    messages.require(arguments.average == "macro", rule)
    return _report_features(arguments, merged, parts)


def _paths_of(name: str) -> list[str]:
    """List a file, those of a pattern, or ``*.tie`` of a folder."""
    local = name and not _locate.is_url(name)
    messages.require(local, "FILE must be a file, a folder or a pattern", name)
    pattern, what = name, f"that matches {name}"
    if os.path.isdir(name):
        pattern = os.path.join(glob.escape(name), "**", f"*{_SUFFIX}")
        what = f"*{_SUFFIX} in the folder {name}"
    elif os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    paths = sorted(filter(os.path.isfile, glob.iglob(pattern, recursive=True)))
    messages.require(paths, f"FILE: there is no file {what}")
    return paths


def _read(path: str) -> _Part:
    """Read a screening or a report from its file."""
    data, read = Path(path).read_bytes(), _screen.Read([path], None)
    try:
        result: Any = _saved.Saved.from_bytes(data)
        _, saved = _saved.from_bytes(data)
        if _screen.READ in saved.header:
            part = saved.part(_screen.READ)
            n_documents = part.value("n_documents", int, type(None))
            read = _screen.Read(list(part.texts("files")), n_documents)
    except ValueError as error:
        raise ValueError(f"{path} {str(error).removeprefix('data ')}") from None
    if isinstance(result, Screening):
        return _Part(path, result, read, result.query_digests, result.n_queries)
    return _Part(path, result, read, result.query_digests(), len(result.qid))


def _check_alike(parts: Sequence[_Part]) -> None:
    """Raise unless the parts have one kind, and equal features and options."""
    # labels of Python's arrays have no name, and go with those of any name
    named = (part for part in parts if getattr(part.result, "label", None))
    labelled = next(named, parts[0])
    for other in parts[1:]:
        for first in (parts[0], labelled):
            difference = _difference(first, other)
            rule = f"{other.path} does not merge with {first.path}: {difference}"
            messages.require(not difference, rule)


def _difference(first: _Part, other: _Part) -> str:
    """Word the first difference; empty if the parts merge."""
    ours: Any = first.result
    theirs: Any = other.result
    if type(ours) is not type(theirs):
        return f"it holds {_KINDS[type(theirs)]}, not {_KINDS[type(ours)]}"
    said: str = ours._difference(theirs, first.path, other.path)
    if isinstance(ours, RankingReport):
        return said
    few, many = sorted((ours.feature_names, theirs.feature_names), key=len)
    last = len(few) < len(many) and many[: len(few)] == few
    if last and all(name.isdecimal() for name in many):
        said += (
            " (if they are LETOR text with zeros left out, tell each screen how many "
            f"features there are: --n-features {len(many)})"
        )
    return said


def _check_no_query_twice(parts: Sequence[_Part]) -> None:
    """Raise if two parts have a query in common."""
    for again in seen_queries.repeated([part.digests for part in parts]):
        one, other = (parts[at].path for at in again.parts[:2])
        of_them = words.counted(again.n_queries, "query", "queries")
        raise ValueError(
            f"no query must be in two files, got {of_them} more than once, such as "
            f"the one whose id has the digest {again.digest:#018x}, which is in "
            f"{one} and in {other} ({seen_queries.WHICH}). LETOR text without qid: "
            "has its queries numbered 0, 1, ... anew by each command: screen all of it "
            "by one"
        )


def _merged(results: list[Any]) -> Screening | RankingReport:
    """Merge all parts; their order changes no bit of the result."""
    # sums are rounded, so they are added in an order that depends on content alone
    results.sort(key=lambda one: hashlib.sha256(one.to_bytes()).digest())
    if isinstance(results[0], RankingReport):
        return RankingReport.merge(*results)
    gathered: list[Screening] = []
    for screening in results:
        unselected = replace(screening, selection=None)
        size = attrgetter("n_queries")
        merging.gather(gathered, unselected, Screening.merge, size)
    return reduce(Screening.merge, gathered)


def _report_features(
    arguments: argparse.Namespace, screening: Screening, parts: list[_Part]
) -> int:
    """Choose among the features of a merged screening, as if it were one."""
    rule, names = screening.rule, screening.feature_names
    selector = RankingFeatureSelector(
        list(rule.measures),
        sort_by=rule.measures[rule.sort],
        direction=list(rule.directions),
        missing=rule.missing,
        zero_relevance=rule.zero_relevance,
        unjudged=rule.unjudged,
        redundancy=rule.correlates,
    )
    _screen.set_selection(selector, arguments)
    if not rule.correlates:
        why = f"those of {parts[0].path} were not correlated when they were screened"
        _screen.leave_repeats(selector, arguments, why)
    selector.adopt(screening, np.empty((0, len(names))))
    counts = [part.read.n_documents for part in parts]
    read = _screen.Read(
        sorted(name for part in parts for name in part.read.files),
        None if None in counts else sum(filter(None, counts)),
    )
    # with names, label and selection
    adopted = selector.screening_.named(names)
    shown = [part.shown() for part in parts]
    return _screen.report(arguments, selector, adopted, read, shown)


def _report_averages(
    arguments: argparse.Namespace, report: RankingReport, parts: list[_Part]
) -> int:
    """Print or write the averages of merged reports."""
    paths = [part.path for part in parts]
    for name in ("top", *_screen.SELECTION):
        rule = f"--{name.replace('_', '-')} is for features, but {paths[0]} holds the "
        rule += "scores of a ranking"
        messages.require(getattr(arguments, name, None) is None, rule)
    summary = report.summary(arguments.average)
    rows = _outputs.rows_of(summary.columns)
    several = words.counted(len(paths), "file", "files")
    (table,) = summary._tables()
    findings = _outputs.Findings(
        title="Exact scores of a ranking",
        about={"files": sorted(paths), "average": summary.average, "measures": rows},
        rows=rows,
        read=[part.shown() for part in parts],
        opening=f"{several} of {len(report.qid)} queries",
        conclusion=summary._conclusion(),
        tables=[replace(table, title="Averages over queries")],
        remarks=["Scores are exact means over all orders of tied documents."],
        draw=lambda: TieRangeDisplay.from_result(summary),
        saved=report.to_bytes,
    )
    return _outputs.write_findings(arguments, findings)
