"""Judgments and runs in memory as lines of TREC files: dicts of dicts, tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, compress, repeat
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._engine import (
    FloatArray,
    as_floats,
    list_columns,
    none_for_masked,
    numbers_of,
    show,
)
from ._trec_lines import TrecLines, as_bytes, consecutive, gathered, spelled
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


def lines_of_dicts(given: Mapping[Any, Any], kind: Kind, source: str) -> TrecLines:
    """Lines of a dict of dicts, topic to document to number, in the order it has.

    Parameters
    ----------
    given : mapping
        Topics and documents are strings or bytes. A topic may have no documents.
    kind : Kind
        `JUDGMENTS`, whose labels below 0 become NaN, or `RUN`, whose ranks are NaN
        because a dict has none.
    source : str
        What messages call it, such as "run".

    Raises
    ------
    ValueError
        With source, topic and document.
    """
    if not given:
        raise ValueError(f"{source} must hold at least one topic, got an empty dict")
    for topic, documents in given.items():
        if not isinstance(documents, Mapping):
            raise ValueError(
                f"{source} must map each topic to a dict of documents and their "
                f"{kind.number}s, got {show(documents)} for topic {show(topic)}"
            )
    names = _ids(list(given), lambda _: f"{source}: a topic")
    if len(set(names)) < len(names):
        raise ValueError(f"{source} must hold no topic both as string and as bytes")
    sizes = [*map(len, given.values())]
    topic_of = [*chain.from_iterable(map(repeat, names, sizes))]
    docno = _ids(
        [*chain.from_iterable(given.values())],
        lambda row: f"{source}: a document of topic {spelled(topic_of[row])}",
    )
    values = chain.from_iterable(own.values() for own in given.values())
    column = np.fromiter(values, dtype=object, count=len(docno))
    numbers = np.empty(0)
    if docno:
        rows = _Rows(topic_of, docno, source)
        numbers = rows.numbers(column, kind.number, None)
    columns = _labels(numbers)
    if kind is RUN:
        columns = np.column_stack([np.full(len(docno), np.nan), numbers])
    topics = consecutive(names, sizes)
    return _checked(TrecLines(topics, docno, columns, source), kind)


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


def is_record(given: Any) -> bool:
    """Whether it is one of the named tuples of ir_datasets."""
    fields = getattr(given, "_fields", ())
    return "query_id" in fields and "doc_id" in fields


def columns_of(records: Sequence[Any], source: str) -> dict[str, Sequence[Any]]:
    """The columns of named tuples, which must be of one type."""
    kinds = {type(record) for record in records}
    if len(kinds) > 1:
        names = listed(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{source} must hold records of one type, got {names}")
    return dict(zip(records[0]._fields, zip(*records, strict=True), strict=True))


def lines_of_table(given: Any, kind: Kind, source: str) -> TrecLines:
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
    ranks = _RANK if kind is RUN and _RANK in names else None
    lines = lines_of_columns(
        given, (*columns, of_number), kind, source, absent=absent, ranks=ranks
    )
    if kind is RUN and _TAG in names:
        tags = set(_listed(given[_TAG], f"{source}: {_TAG}"))
        if len(tags) == 1 and isinstance(tag := tags.pop(), str) and tag:
            lines = lines._replace(tag=tag)
    return lines


def lines_of_columns(
    given: Any,
    columns: tuple[str, str, str],
    kind: Kind,
    source: str,
    *,
    absent: float | None = None,
    ranks: str | None = None,
) -> TrecLines:
    """Lines of columns of topics, documents and numbers, those of a topic together.

    `absent` is NaN or -inf if labels or scores may be that: not judged, or not
    retrieved, which a run leaves out.
    """
    topic, docno = (
        _ids(
            _listed(given[name], f"{source}: {name}"),
            f"{source}, row {{}}: {name}".format,
        )
        for name in columns[:2]
    )
    if not topic:
        raise ValueError(f"{source} must hold at least one row, got none")
    rows = _Rows(topic, docno, source)
    numbers = rows.numbers(given[columns[2]], columns[2], absent)
    there = numbers != -np.inf
    if kind is JUDGMENTS:
        numbers = _labels(numbers)
    else:
        own = np.full(len(topic), np.nan)
        if ranks is not None:
            own = rows.numbers(given[ranks], ranks, np.nan)
        numbers = np.column_stack([own, numbers])
    if not there.all():
        topic, docno = [*compress(topic, there)], [*compress(docno, there)]
        numbers = numbers[there]
    places = {one: place for place, one in enumerate(dict.fromkeys(topic))}
    topic_of = np.fromiter(map(places.__getitem__, topic), np.int64, len(topic))
    return _checked(gathered([*places], topic_of, docno, numbers, source), kind)


class _Rows(NamedTuple):
    """Topics and documents of rows, for messages about their numbers."""

    topic: list[bytes]
    docno: list[bytes]
    source: str

    def place(self, row: int) -> str:
        return (
            f"document {spelled(self.docno[row])} of topic {spelled(self.topic[row])}"
        )

    def numbers(self, values: Any, name: str, absent: float | None) -> FloatArray:
        """Finite numbers, or `absent`, one for each row."""
        if isinstance(values, (list, tuple)):
            # NumPy would make text of numbers beside text
            values = np.fromiter(values, dtype=object, count=len(values))
        what = f"{self.source}: {name}"
        n_rows = {len(self.topic), len(self.docno), *np.shape(values)[:1]}
        if len(n_rows) > 1:
            raise ValueError(
                f"{self.source} must have columns of one length, got {sorted(n_rows)}"
            )
        numbers = as_floats(numbers_of(values, what, self.place), what)
        bad = ~np.isfinite(numbers)
        if absent is not None:
            bad &= ~np.isnan(numbers) if np.isnan(absent) else numbers != absent
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{what} must be a finite number, got {show(numbers[row].item())} for "
                f"{self.place(row)}"
            )
        return numbers


def _labels(numbers: FloatArray) -> FloatArray:
    """Labels as the column of judgments, NaN for those below 0."""
    return np.where(numbers < 0, np.nan, numbers)[:, None]


def _checked(lines: TrecLines, kind: Kind) -> TrecLines:
    if pair := lines.repeated():
        topic, document = pair
        raise ValueError(
            f"{lines.source}: document {document} is {kind.happened} twice for topic "
            f"{topic}"
        )
    return lines


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


def _ids(ids: list[Any], what: Callable[[int], str]) -> list[bytes]:
    """Topics or documents as bytes; `what` says which one of them is meant."""
    kinds = set(map(type, ids))
    if kinds <= {str}:
        with suppress(UnicodeEncodeError):
            found = as_bytes(ids)
            if all(found) and not any(b"\0" in one for one in found):
                return found
    return [_id(one, what, row) for row, one in enumerate(ids)]


def _id(one: Any, what: Callable[[int], str], row: int) -> bytes:
    if isinstance(one, str):
        try:
            found = one.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(
                f"{what(row)} must be text that UTF-8 can hold, got {one!a}"
            ) from None
    elif isinstance(one, bytes):
        found = bytes(one)
    else:
        is_whole = isinstance(one, Integral)
        hint = f" (ids are compared as text: pass '{one}')" if is_whole else ""
        got = f"the integer {one}" if is_whole else show(one)
        raise ValueError(f"{what(row)} must be a string or bytes, got {got}{hint}")
    if not found or b"\0" in found:
        raise ValueError(
            f"{what(row)} must be neither empty nor hold a NUL, got {show(one)}"
        )
    return found
