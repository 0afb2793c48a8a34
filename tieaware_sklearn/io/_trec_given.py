"""Judgments and runs as they are given to the readers: files, dicts, tables, records.

All become the same columns of topics, documents and numbers, checked in one place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, compress, count, repeat
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._engine import (
    FloatArray,
    Place,
    as_floats,
    in_row,
    list_columns,
    none_for_masked,
    numbers_of,
    reject,
    show,
)
from ._locate import COMPRESSED_SUFFIXES
from ._source import TextSource
from ._trec_columns import TrecLines, as_bytes, gathered, spelled
from ._trec_read import read_qrels, read_run
from ._wording import listed

#: columns of tables as this library, ir_datasets, BEIR and ranx call them
_TOPIC = ("qid", "query_id", "query-id", "q_id")
_DOCUMENT = ("docno", "doc_id", "corpus-id")
#: labels of this library: NaN is "not judged", and a score of -inf "not retrieved"
_TARGET = "target"
_RANK, _TAG = "rank", "tag"
#: BEIR and ranx call labels so, too
_SCORE = "score"
_TOPIC_OF_SCORED_LABELS = ("query-id", "q_id")


class Kind(NamedTuple):
    """Judgments or a run: what their numbers are called, and what documents are."""

    number: str
    columns: tuple[str, ...]
    happened: str


JUDGMENTS = Kind("label", (_TARGET, "relevance", "label"), "judged")
RUN = Kind("score", (_SCORE,), "retrieved")


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
    if _is_record(items[0]):
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
        return _of_table(given, kind, source)
    if isinstance(given, Mapping):
        return _of_dicts(given, kind, source)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        records = list(given)
        if records and _is_record(records[0]):
            if len(kinds := {type(record) for record in records}) > 1:
                names = listed(sorted(one.__name__ for one in kinds))
                raise ValueError(f"{source} must hold records of one type, got {names}")
            columns = zip(*records, strict=True)
            fields = dict(zip(records[0]._fields, columns, strict=True))
            return _of_table(fields, kind, source)
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


def is_table(given: Any) -> bool:
    """Whether it has columns of topics and documents: a data frame, or a Bunch."""
    if not isinstance(given, Mapping):
        # a lazy frame has columns, and no values yet
        return hasattr(given, "__len__") and bool(list_columns(given))
    found = [given[name] for name in (*_TOPIC, *_DOCUMENT) if name in given]
    # not a dict of dicts, or of names and files, in which one is called "qid"
    return len(found) > 1 and not any(
        isinstance(column, (Mapping, str, os.PathLike)) for column in found
    )


def _is_record(given: Any) -> bool:
    """Whether it is one of the named tuples of ir_datasets."""
    fields = getattr(given, "_fields", ())
    return "query_id" in fields and "doc_id" in fields


def _of_table(given: Any, kind: Kind, source: str) -> TrecLines:
    """Lines of a data frame or of a mapping of columns, in the order of its rows.

    A run leaves out rows that are not retrieved: those of `load_trec` whose score is
    -inf.

    Raises
    ------
    ValueError
        With source, topic and document.
    """
    names = list(given) if isinstance(given, Mapping) else list_columns(given)

    def named(what: str, *choices: str) -> str:
        found = [name for name in names if name in choices]
        if len(found) != 1:
            raise ValueError(
                f"{source} must have one column of {what} ({' or '.join(choices)}), "
                f"got the columns {listed(found or names)}"
            )
        return str(found[0])

    columns = named("topics", *_TOPIC), named("documents", *_DOCUMENT)
    choices = kind.columns
    if columns[0] in _TOPIC_OF_SCORED_LABELS:
        choices = (_SCORE,)
    of_number = named(f"{kind.number}s", *choices)
    absent = None
    if _TARGET in names:
        absent = np.nan if kind is JUDGMENTS else -np.inf
    ranks = given[_RANK] if kind is RUN and _RANK in names else None
    lines = lines_of_columns(
        given[columns[0]], given[columns[1]], given[of_number], (*columns, of_number),
        kind, source, absent=absent, ranks=ranks,
    )  # fmt: skip
    if kind is RUN and _TAG in names:
        tags = set(_listed(given[_TAG], f"{source}: {_TAG}"))
        if len(tags) == 1 and isinstance(tag := tags.pop(), str) and tag:
            lines = lines._replace(tag=tag)
    return lines


def _of_dicts(given: Mapping[Any, Any], kind: Kind, source: str) -> TrecLines:
    """Lines of a dict of dicts, topic to document to number, in the order it has.

    A topic may have no documents. Ranks are NaN, because a dict has none.
    """
    if not given:
        raise ValueError(f"{source} must hold at least one topic, got an empty dict")
    for topic, documents in given.items():
        if not isinstance(documents, Mapping):
            raise ValueError(
                f"{source} must map each topic to a dict of documents and their "
                f"{kind.number}s, got {show(documents)} for topic {show(topic)}"
            )
    topics = _ids(list(given), source, "topic", in_row)
    if len(set(topics)) < len(topics):
        raise ValueError(f"{source} must hold no topic both as string and as bytes")
    sizes = [*map(len, given.values())]
    topic = [*chain.from_iterable(map(repeat, topics, sizes))]
    docno = [*chain.from_iterable(given.values())]

    values = [*chain.from_iterable(own.values() for own in given.values())]
    names = "topic", "document", kind.number
    return lines_of_columns(
        topic, docno, values, names, kind, source, topics=topics,
        place=lambda row: f"topic {spelled(topic[row])}",
    )  # fmt: skip


def lines_of_columns(
    topic: Any,
    docno: Any,
    numbers: Any,
    names: tuple[str, str, str],
    kind: Kind,
    source: str,
    *,
    topics: Sequence[bytes] | None = None,
    absent: float | None = None,
    ranks: Any = None,
    place: Place | None = None,
) -> TrecLines:
    """Lines of columns of topics, documents and numbers, those of a topic together.

    `absent` is NaN or -inf if labels or scores may be that: not judged, or not
    retrieved, which a run leaves out. `topics` are all, if some may have no rows.

    Raises
    ------
    ValueError
        With the source, topic and document, or the `place` of a row.
    """
    place = place or in_row
    of_topic = _listed(topic, f"{source}: {names[0]}")
    documents = _listed(docno, f"{source}: {names[1]}")
    if topics is None and not of_topic:
        raise ValueError(f"{source} must hold at least one row, got none")
    own_ranks = np.full(len(of_topic), np.nan) if ranks is None else ranks
    sizes = {len(of_topic), len(documents)}
    sizes.update(*(np.shape(own)[:1] for own in (numbers, own_ranks)))
    if len(sizes) > 1:
        raise ValueError(
            f"{source} must have columns of one length, got {sorted(sizes)}"
        )
    of_topic = _ids(of_topic, source, names[0], place)
    documents = _ids(documents, source, names[1], place)
    rows = list(zip(of_topic, documents, strict=True))

    def pair(row: int) -> str:
        topic, document = map(spelled, rows[row])
        return f"document {document} of topic {topic}"

    found = _finite(numbers, f"{source}: {names[2]}", pair, absent)
    there = found != -np.inf
    if kind is JUDGMENTS:
        found = np.where(found < 0, np.nan, found)[:, None]
    else:
        own_ranks = _finite(own_ranks, f"{source}: {_RANK}", pair, np.nan)
        found = np.column_stack([own_ranks, found])
    kept = np.flatnonzero(there)
    of_topic = [*compress(of_topic, there)]
    every = [*dict.fromkeys(of_topic)] if topics is None else topics
    numbered = {one: number for number, one in enumerate(every)}
    codes = np.fromiter(map(numbered.__getitem__, of_topic), np.int64, len(kept))
    return gathered(
        every, codes, [*compress(documents, there)], found[kept], source,
        kind.happened, lambda row: place(int(kept[row])),
    )  # fmt: skip


def _finite(values: Any, name: str, place: Place, absent: float | None) -> FloatArray:
    """Finite numbers, or `absent`, one for each row."""
    if isinstance(values, (list, tuple)):
        # NumPy would make text of numbers beside text
        values = np.fromiter(values, dtype=object, count=len(values))
    if not len(values):
        return np.empty(0)
    numbers = as_floats(numbers_of(values, name, place), name)
    bad = ~np.isfinite(numbers)
    if absent is not None:
        bad &= ~np.isnan(numbers) if np.isnan(absent) else numbers != absent
    reject(bad, numbers, name, "be a finite number", place)
    return numbers


def _listed(column: Any, what: str) -> list[Any]:
    """The values of a column of any kind, as Python has them."""
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise ValueError(f"{what} must have one value per row, got {show(column)}")
    column = none_for_masked(column)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)


def _ids(ids: list[Any], source: str, name: str, place: Place) -> list[bytes]:
    """Topics or documents as bytes; the rest says which one is meant."""
    if set(map(type, ids)) <= {str}:
        with suppress(UnicodeEncodeError):
            found = as_bytes(ids)
            if all(found) and not any(b"\0" in one for one in found):
                return found
    return [_id(one, f"{source}: {name}", place, row) for row, one in enumerate(ids)]


def _id(one: Any, name: str, place: Place, row: int) -> bytes:
    if isinstance(one, str):
        try:
            found = one.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(
                f"{name} must be text that UTF-8 can hold, got {one!a} in {place(row)}"
            ) from None
    elif isinstance(one, bytes):
        found = bytes(one)
    else:
        is_whole = isinstance(one, Integral)
        hint = f" (ids are compared as text: pass '{one}')" if is_whole else ""
        got = f"the integer {one}" if is_whole else show(one)
        raise ValueError(
            f"{name} must be a string or bytes, got {got} in {place(row)}{hint}"
        )
    if not found or b"\0" in found:
        raise ValueError(
            f"{name} must be neither empty nor hold a NUL, got {show(one)} in "
            f"{place(row)}"
        )
    return found
