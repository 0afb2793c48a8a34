"""Judgments and runs of any kind: files, dicts of dicts, tables and records."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .._engine import checks, exact_numbers, feature_matrix, messages
from .._typing import BoolArray, FloatArray
from . import _locate, _trec_files, _trec_lines, _wording
from ._source import TextSource
from ._trec_lines import Kind, TrecLines

#: Column names in tables of this library, ir_datasets, BEIR and ranx.
_TOPIC = ("qid", "query_id", "query-id", "q_id")
_DOCUMENT = ("docno", "doc_id", "corpus-id")
#: Names of the topic column in tables of BEIR and ranx, where labels are called scores.
_TOPIC_OF_SCORED_LABELS = ("query-id", "q_id")


def read_judgments(qrels: Any) -> TrecLines:
    """Read judgments of any kind."""
    return _read(qrels, _trec_lines.JUDGMENTS, "qrels")


def read_run(run: Any, source: str = "run") -> TrecLines:
    """Read a run of any kind. Messages name the file or else `source`."""
    return _read(run, _trec_lines.RUN, source)


def read_runs(run: Any) -> tuple[list[TrecLines], list[str] | None]:
    """Read one run, or a list or dict of runs, and return the names of several runs."""
    if isinstance(run, Mapping) and not is_table(run) and _maps_names_to_runs(run):
        runs = [read_run(value, f"run[{name!r}]") for name, value in run.items()]
        return runs, [*map(str, run)]
    is_single = isinstance(run, (Mapping, bytes, str, os.PathLike)) or is_table(run)
    if is_single or not isinstance(run, Iterable):
        return [read_run(run)], None
    items = list(run)
    if not items:
        raise ValueError("run must contain at least one run, got none")
    if _is_record(items[0]):
        return [read_run(items)], None
    runs = [read_run(item, f"run[{i}]") for i, item in enumerate(items)]
    # If a run is in a file, the source is the name of the file.
    names = run_names([lines.source for lines in runs], [lines.tag for lines in runs])
    return runs, names


def run_names(paths: Sequence[str], tags: Sequence[str | None]) -> list[str]:
    """Return a different name for each run.

    The name is the tag, unless other runs have the same tag. Otherwise, the name is the
    name of the file, without folders or the suffix of compression (such as ``.gz``),
    unless another run has this name. A number is appended to a name that is still
    taken.
    """
    short = [_short_name(path) for path in paths]
    names = [tag if tag and tags.count(tag) == 1 else "" for tag in tags]
    # File names of the runs that have no name yet.
    nameless = [file for file, name in zip(short, names, strict=True) if not name]
    for i, path in enumerate(paths):
        if not names[i]:
            is_taken = nameless.count(short[i]) > 1 or short[i] in names
            name = path if is_taken else short[i]
            names[i] = name
            number = 2
            while names.count(names[i]) > 1:
                names[i] = f"{name} ({number})"
                number += 1
    return names


def _short_name(path: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(path))
    return stem if suffix in _locate.COMPRESSED_SUFFIXES else stem + suffix


def _maps_names_to_runs(run: Mapping[Any, Any]) -> bool:
    """Return whether the values are runs, and not topics of one run."""
    for value in run.values():
        if not isinstance(value, Mapping) or is_table(value):
            return True
        # A topic may have no documents.
        if value:
            return isinstance(next(iter(value.values())), Mapping)
    return False


def is_table(value: Any) -> bool:
    """Return whether a value is a table: a data frame, or columns in a dict or Bunch.

    A dict is a table if it contains columns of topics and documents.
    """
    if not isinstance(value, Mapping):
        # A lazy frame has columns but no length.
        return hasattr(value, "__len__") and bool(feature_matrix.list_columns(value))
    columns = [value[name] for name in (*_TOPIC, *_DOCUMENT) if name in value]
    # The name of a topic or a run may equal the name of a column.
    other_values = (Mapping, str, os.PathLike)
    return len(columns) > 1 and not any(isinstance(c, other_values) for c in columns)


def _is_record(value: Any) -> bool:
    """Return whether a value is a named tuple of ir_datasets."""
    return {"query_id", "doc_id"} <= {*getattr(value, "_fields", ())}


def _read(data: Any, kind: Kind, source: str) -> TrecLines:
    if isinstance(data, (str, os.PathLike)):
        data = TextSource(data)
    if isinstance(data, TextSource):
        return _trec_files.read_file(data, kind)
    if not is_table(data):
        if isinstance(data, Mapping):
            return _read_dicts(data, kind, source)
        records = list(data) if isinstance(data, Iterable) else []
        if not records or not _is_record(records[0]):
            raise ValueError(
                f"{source} must be a path, a dict of dicts, a data frame or records "
                f"with query_id and doc_id, got {messages.show(data)}"
            )
        columns = zip(*records, strict=True)
        data = dict(zip(records[0]._fields, columns, strict=True))
    return _read_table(data, kind, source)


def _read_table(table: Any, kind: Kind, source: str) -> TrecLines:
    """Read a data frame or a dict of columns."""
    is_mapping = isinstance(table, Mapping)
    names = list(table) if is_mapping else feature_matrix.list_columns(table)
    topic = _find_column(names, "topics", _TOPIC, source)
    docno = _find_column(names, "documents", _DOCUMENT, source)
    numbers = kind.columns
    if topic in _TOPIC_OF_SCORED_LABELS:
        numbers = _trec_lines.RUN.columns
    value = _find_column(names, f"{kind.number}s", numbers, source)
    columns = {name: table[name] for name in (topic, docno, value)}
    if kind is _trec_lines.RUN and "rank" in names:
        columns["rank"] = table["rank"]
    # Tables of this library may contain documents that are not judged or retrieved.
    lines = lines_of_columns(columns, kind, source, allow_missing="target" in names)
    if "tag" not in names:
        return lines
    tags = {*np.asarray(table["tag"], dtype=object).tolist()}
    tag = tags.pop() if len(tags) == 1 else None
    return lines._replace(tag=tag) if isinstance(tag, str) else lines


def _find_column(
    names: Sequence[Any], content: str, choices: Sequence[str], source: str
) -> str:
    """Return the name of the only column with topics, documents or numbers."""
    matches = [name for name in names if name in choices]
    if len(matches) != 1:
        raise ValueError(
            f"{source} must have one column of {content} ({' or '.join(choices)}), got "
            f"the columns {_wording.listed(matches or names)}"
        )
    return str(matches[0])


def lines_of_columns(
    columns: Mapping[str, Any],
    kind: Kind,
    source: str,
    *,
    allow_missing: bool = False,
    integer_ids: bool = False,
    place: messages.Place = messages.in_row,
    names: Sequence[str] = (),
) -> TrecLines:
    """Return lines from the columns of topics, documents, numbers and optional ranks.

    Parameters
    ----------
    columns : dict
        Columns, by the names used in messages.
    kind, source, place, names
        As in `group_by_topic`.
    allow_missing : bool
        Whether a label may be NaN (not judged) and a score may be -inf (not retrieved).
        Rows that are not retrieved are left out.
    integer_ids : bool
        Whether ids may be integers.

    Raises
    ------
    ValueError
        If a value is refused. The message states the source, the column and the row.
        Also if there is no row, if columns have different lengths, or if a document is
        repeated.
    """
    topic, docno, value, *_ = columns
    topics = _ids(columns[topic], f"{source}: {topic}", place, integer_ids)
    documents = _ids(columns[docno], f"{source}: {docno}", place, integer_ids)
    if not topics and not names:
        raise ValueError(f"{source} must contain at least one row, got none")
    missing = None
    if allow_missing:
        missing = np.isnan if kind is _trec_lines.JUDGMENTS else np.isneginf
    values = _finite(columns[value], f"{source}: {value}", place, missing)
    ranks = np.full(len(values), np.nan)
    if "rank" in columns:
        ranks = _finite(columns["rank"], f"{source}: rank", place, np.isnan)
    lengths = {len(topics), len(documents), len(values), len(ranks)}
    if len(lengths) > 1:
        raise ValueError(
            f"{source} must have columns of equal length, got {sorted(lengths)}"
        )
    return _trec_lines.group_by_topic(
        kind,
        topics,
        documents,
        values,
        ranks,
        source=source,
        place=place,
        names=names,
    )


def _read_dicts(dicts: Mapping[Any, Any], kind: Kind, source: str) -> TrecLines:
    """Read a dict that maps topics to documents to numbers. A topic may be empty."""
    if not dicts:
        raise ValueError(f"{source} must contain at least one topic, got an empty dict")
    for name, topic in dicts.items():
        if not isinstance(topic, Mapping):
            raise ValueError(
                f"{source} must map each topic to a dict of documents and their "
                f"{kind.number}s, got {messages.show(topic)} for topic "
                f"{messages.show(name)}"
            )
    names = _ids(list(dicts), f"{source}: topic")
    topics: list[str] = []
    documents: list[Any] = []
    values: list[Any] = []
    for name, topic in zip(names, dicts.values(), strict=True):
        topics += [name] * len(topic)
        documents += topic
        values += topic.values()

    def place(row: int) -> str:
        return f"document {documents[row]} of topic {topics[row]}"

    columns = {"topic": topics, "document": documents, kind.number: values}
    return lines_of_columns(columns, kind, source, place=place, names=names)


def _finite(
    values: Any,
    name: str,
    place: messages.Place,
    is_missing: Callable[[FloatArray], BoolArray] | None,
) -> FloatArray:
    """Return numbers, which must be finite or missing."""
    if isinstance(values, (list, tuple)):
        # All topics of a dict may be empty. `floats_of` refuses empty columns.
        if not values:
            return np.empty(0)
        # NumPy would convert numbers to text if some of the values are text.
        values = np.fromiter(values, dtype=object, count=len(values))
    numbers = exact_numbers.floats_of(values, name, place)
    bad = ~np.isfinite(numbers)
    if is_missing is not None:
        bad &= ~is_missing(numbers)
    checks.reject(bad, numbers, name, "be a finite number", place)
    return numbers


def _ids(
    column: Any,
    name: str,
    place: messages.Place = messages.in_row,
    integer_ids: bool = False,
) -> list[str]:
    """Return topics or documents as strings, from any kind of column."""
    exact_numbers.check_not_masked(column, name)
    values = np.asarray(column, dtype=object)
    if values.ndim != 1:
        raise ValueError(
            f"{name} must have one value per row, got {messages.show(column)}"
        )
    ids = values.tolist()
    # This test takes a tenth of the time of a loop over the ids.
    if {*map(type, ids)} == {str} and all(ids):
        return ids
    for row, value in enumerate(ids):
        text = value
        if integer_ids and isinstance(value, Integral):
            text = str(value)
        elif isinstance(value, bytes):
            text = value.decode(*_trec_lines.UTF8)
        if not isinstance(text, str) or not text:
            types = "string, bytes or integer" if integer_ids else "string or bytes"
            raise ValueError(
                f"{name} must be a non-empty {types}, got {messages.show(value)} "
                f"in {place(row)}"
            )
        ids[row] = text
    return ids
