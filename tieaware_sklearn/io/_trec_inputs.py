"""Judgments and runs as they are given to the readers: files, dicts, tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

from .._engine import show
from ._locate import COMPRESSED_SUFFIXES
from ._source import TextSource
from ._trec_files import read_qrels, read_run
from ._trec_lines import TrecLines
from ._trec_tables import (
    JUDGMENTS,
    RUN,
    Kind,
    columns_of,
    is_record,
    is_table,
    lines_of_dicts,
    lines_of_table,
)

_ACCEPTED = "a path, a dict of dicts, a data frame or records with query_id and doc_id"


class Runs(NamedTuple):
    """One run or several, and the names of several."""

    lines: list[TrecLines]
    names: list[str] | None = None


def given_qrels(qrels: Any) -> TrecLines:
    """Judgments of any kind."""
    return _given(qrels, JUDGMENTS, "qrels")


def given_run(run: Any, source: str = "run") -> TrecLines:
    """A run of any kind; messages call it `source`, or a file by its name."""
    return _given(run, RUN, source)


def given_runs(run: Any) -> Runs:
    """One run, or a list or a mapping of runs, of any kinds."""
    if isinstance(run, Mapping) and not is_table(run):
        if not _maps_names_to_runs(run):
            return Runs([given_run(run)])
        for name in run:
            if not isinstance(name, str) or not name:
                raise ValueError(
                    f"names of runs must be strings, and not empty, got {show(name)}"
                )
        named = [given_run(one, f"run[{name!r}]") for name, one in run.items()]
        return Runs(named, list(run))
    if _is_one(run) or not isinstance(run, Iterable):
        return Runs([given_run(run)])
    items = list(run)
    if not items:
        raise ValueError("run must hold at least one run, got an empty list")
    if is_record(items[0]):
        return Runs([given_run(items)])
    several = [given_run(one, f"run[{i}]") for i, one in enumerate(items)]
    paths = [
        os.fspath(one) if _is_path(one) else lines.source
        for one, lines in zip(items, several, strict=True)
    ]
    return Runs(several, run_names(paths, [lines.tag for lines in several]))


def run_names(paths: Sequence[str], tags: Sequence[str | None]) -> list[str]:
    """The tags of runs, where no other run has the same; else the names of their files.

    Without folders and ``.gz``, unless another run goes by this name. No two names are
    the same.
    """
    own = [tag if tag and tags.count(tag) == 1 else None for tag in tags]
    short = [_short(path) for path in paths]
    others = [name for name, tag in zip(short, own, strict=True) if tag is None]
    used = {tag for tag in own if tag is not None}
    names: list[str] = []
    for path, name, tag in zip(paths, short, own, strict=True):
        if tag is None:
            first = name if others.count(name) == 1 and name not in used else path
            again = (f"{first} ({number})" for number in count(2))
            tag = next(one for one in chain([first], again) if one not in used)
            used.add(tag)
        names.append(tag)
    return names


def _short(path: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(path))
    return stem if suffix in COMPRESSED_SUFFIXES and stem else stem + suffix


def _given(given: Any, kind: Kind, source: str) -> TrecLines:
    if _is_path(given):
        read = read_run if kind is RUN else read_qrels
        return read(TextSource(given))
    if is_table(given):
        return lines_of_table(given, kind, source)
    if isinstance(given, Mapping):
        return lines_of_dicts(given, kind, source)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        records = list(given)
        if records and is_record(records[0]):
            return lines_of_table(columns_of(records, source), kind, source)
    raise ValueError(f"{source} must be {_ACCEPTED}, got {show(given)}")


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike))


def _is_one(given: Any) -> bool:
    """Whether it is one run, though it may be iterated over."""
    return _is_path(given) or isinstance(given, bytes) or is_table(given)


def _maps_names_to_runs(run: Mapping[Any, Any]) -> bool:
    """By depth: a run maps topics to dicts of documents and their scores."""
    found: dict[bool, Any] = {}
    for name, value in run.items():
        if not isinstance(value, Mapping) or is_table(value):
            found.setdefault(True, name)
        elif value:
            inner = next(iter(value.values()))
            found.setdefault(isinstance(inner, Mapping), name)
    if len(found) == 2:
        raise ValueError(
            "run must map either topics to dicts of documents and scores or names to "
            f"runs, got a run for {show(found[True])} and documents for "
            f"{show(found[False])}"
        )
    return True in found
