"""Judgments and runs as lines: of files, dicts, tables and records, checked alike."""

from __future__ import annotations

import io
import math
import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain, count
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, exact_numbers, feature_matrix, messages
from .._engine.segments import FloatArray, IntArray
from . import _locate, _source, _wording

#: columns of the numbers of a run; those of judgments have labels only
RANK, SCORE = 0, 1
#: columns of tables as this library, ir_datasets, BEIR and ranx call them
_TOPIC = ("qid", "query_id", "query-id", "q_id")
_DOCUMENT = ("docno", "doc_id", "corpus-id")
#: labels of this library: NaN is "not judged", and a score of -inf "not retrieved"
_TARGET = "target"
#: BEIR and ranx call labels scores, too
_TOPIC_OF_SCORED_LABELS = ("query-id", "q_id")
#: the first line of judgments of BEIR, cut at tabs as the others
_BEIR = ["query-id", "corpus-id", "score"]
#: what stands in the second column of runs, where it is looked at
_Q0 = {b"Q0", b"q0", b"0"}
#: and the columns of files that are read as such
_NUMBERS = {"label", "rank", "score"}
#: ids as bytes and back, different ones for different bytes
_UTF8 = ("utf-8", "surrogateescape")
#: bytes of lines that are taken apart together
_BLOCK = 1 << 20
_BLANK = ord(" ")


class Kind(NamedTuple):
    """Judgments or a run: what files and tables hold, and what documents are."""

    happened: str
    #: columns of files; documents stand in the third
    names: list[str]
    #: names of the numbers in tables, the last of which messages use
    numbers: tuple[str, ...]
    #: what files may be besides
    hint: str = ""
    #: numbers of a line
    width: int = 1


JUDGMENTS = Kind(
    "judged",
    ["topic", "iteration", "docno", "label"],
    (_TARGET, "relevance", "label"),
    f" (or 3 below the line {' '.join(_BEIR)}, cut at tabs)",
)
RUN = Kind(
    "retrieved",
    ["topic", "Q0", "docno", "rank", "score", "tag"],
    ("score",),
    " (or 5 on all lines, without the tag)",
    width=2,
)


class TrecLines(NamedTuple):
    """Judgments or a run: lines, those of a topic together, in the order they came.

    Topics and documents are bytes, whose order is that of trec_eval.
    """

    #: topics in the order they came, and where their lines are
    topics: dict[bytes, slice]
    docno: list[bytes]
    #: of shape (n_lines, n_columns)
    numbers: FloatArray
    #: the file or argument that they come from, for messages
    source: str
    #: what all lines of a run are tagged with, if it is one
    tag: str | None = None

    def in_order(self, order: IntArray) -> TrecLines:
        """Put the lines in another order, which keeps those of a topic together."""
        docno = [self.docno[line] for line in order.tolist()]
        return self._replace(docno=docno, numbers=self.numbers[order])

    def topic_numbers(self) -> IntArray:
        """The place of the topic of each line."""
        sizes = [lines.stop - lines.start for lines in self.topics.values()]
        return np.repeat(np.arange(len(sizes)), sizes)

    def places_in_topics(self) -> IntArray:
        """The place of each line among those of its topic, from 1 on."""
        topic = self.topic_numbers()
        return np.arange(1, len(topic) + 1) - np.searchsorted(topic, topic)

    def ids(self) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
        """Topics and documents of all lines, of which there must be one."""
        rule = f"{self.source} must hold at least one line, got none"
        messages.require(self.docno, rule)
        topics = as_text(list(self.topics))
        return topics[self.topic_numbers()], as_text(self.docno)


def by_score_and_docno(run: TrecLines) -> IntArray:
    """The lines in the order of trec_eval."""
    lines = (
        sorted(range(of.start, of.stop), key=run.docno.__getitem__, reverse=True)
        for of in run.topics.values()
    )
    order = np.fromiter(chain.from_iterable(lines), np.int64, len(run.docno))
    falling = -exact_numbers.in_32_bits(run.numbers[order, SCORE])
    return order[np.lexsort((falling, run.topic_numbers()))]


def spelled(one: bytes) -> str:
    """A topic or document as text."""
    return one.decode(*_UTF8)


def as_text(ids: Sequence[bytes]) -> NDArray[np.str_]:
    """Topics or documents as text, different ones for different bytes."""
    if not ids:
        return np.array([], dtype=np.str_)
    array = np.array(ids)
    codes = array.view(np.uint8).reshape(len(ids), -1)
    if codes.max() < 128:
        # ASCII: as astype(np.str_) has it, which decodes id by id
        return codes.astype(np.uint32).view(f"U{array.itemsize}")[:, 0]
    return np.array([*map(spelled, ids)])


def given_qrels(qrels: Any) -> TrecLines:
    """Judgments of any kind."""
    return _given(qrels, JUDGMENTS, "qrels")


def given_run(run: Any, source: str = "run") -> TrecLines:
    """A run of any kind; messages call it `source`, or a file by its name."""
    return _given(run, RUN, source)


def given_runs(run: Any) -> tuple[list[TrecLines], list[str] | None]:
    """One run, or a list or a mapping of runs, of any kinds; and names of several."""
    if isinstance(run, Mapping) and not is_table(run) and _maps_names_to_runs(run):
        named = [given_run(one, f"run[{name!r}]") for name, one in run.items()]
        return named, [*map(str, run)]
    is_one = isinstance(run, (Mapping, bytes, str, os.PathLike)) or is_table(run)
    if is_one or not isinstance(run, Iterable):
        return [given_run(run)], None
    items = list(run)
    messages.require(items, "run must hold at least one run, got an empty list")
    if _is_record(items[0]):
        return [given_run(items)], None
    several = [given_run(one, f"run[{i}]") for i, one in enumerate(items)]
    tags = [lines.tag for lines in several]
    # of a file the source is its name
    return several, run_names([lines.source for lines in several], tags)


def _maps_names_to_runs(run: Mapping[Any, Any]) -> bool:
    """By depth: a run maps topics to dicts of documents and their scores."""
    for value in run.values():
        if not isinstance(value, Mapping) or is_table(value):
            return True
        # a topic may have no documents
        if value:
            return isinstance(next(iter(value.values())), Mapping)
    return False


def run_names(paths: Sequence[str], tags: Sequence[str | None]) -> list[str]:
    """The tags of runs, where no other run has the same; else the names of their files.

    Without folders and ``.gz``, unless another run goes by this name. No two names are
    the same.
    """
    short = [_short(path) for path in paths]
    names = [tag if tag and tags.count(tag) == 1 else "" for tag in tags]
    others = [name for name, tag in zip(short, names, strict=True) if not tag]
    for i, (path, name) in enumerate(zip(paths, short, strict=True)):
        if not names[i]:
            first = name if others.count(name) == 1 and name not in names else path
            again = (f"{first} ({number})" for number in count(2))
            names[i] = next(one for one in chain([first], again) if one not in names)
    return names


def _short(path: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(path))
    return stem if suffix in _locate.COMPRESSED_SUFFIXES and stem else stem + suffix


def _given(given: Any, kind: Kind, source: str) -> TrecLines:
    if isinstance(given, (str, os.PathLike)):
        given = _source.TextSource(given)
    if isinstance(given, _source.TextSource):
        return lines_of_file(given, kind)
    if is_table(given):
        return _of_table(given, kind, source)
    if isinstance(given, Mapping):
        return _of_dicts(given, kind, source)
    records = list(given) if isinstance(given, Iterable) else []
    kinds = "a path, a dict of dicts, a data frame or records with query_id and doc_id"
    is_known = records and _is_record(records[0])
    messages.require(is_known, f"{source} must be {kinds}", given)
    rule = f"{source} must hold records of one type, got several"
    messages.require(len({*map(type, records)}) == 1, rule)
    fields = zip(records[0]._fields, zip(*records, strict=True), strict=True)
    return _of_table(dict(fields), kind, source)


def is_table(given: Any) -> bool:
    """Whether it has columns of topics and documents: a data frame, or a Bunch."""
    if not isinstance(given, Mapping):
        # a lazy frame has columns, and no values yet
        return hasattr(given, "__len__") and bool(feature_matrix.list_columns(given))
    columns = [given[name] for name in (*_TOPIC, *_DOCUMENT) if name in given]
    # not a dict of dicts, or of names and files, in which one is called "qid"
    others = (Mapping, str, os.PathLike)
    return len(columns) > 1 and not any(isinstance(one, others) for one in columns)


def _is_record(given: Any) -> bool:
    """Whether it is one of the named tuples of ir_datasets."""
    fields = getattr(given, "_fields", ())
    return "query_id" in fields and "doc_id" in fields


def _at_tabs(line: bytes) -> list[bytes]:
    """Cells of a line of TSV, none of one that is empty."""
    cells = line.strip(b"\r\n").split(b"\t")
    return cells if len(cells) > 1 or cells[0].strip() else []


def _columns(rows: Sequence[list[bytes]], names: list[str], kind: Kind) -> list[Any]:
    """Cells of lines as columns, numbers as such.

    Raises
    ------
    ValueError
        It says what is wrong with the line, if there is but one.
    """
    if {*map(len, rows)} != {len(names)}:
        hint = kind.hint if names is kind.names else " (as the first line says)"
        raise ValueError(
            f"must have {len(names)} columns ({' '.join(names)}), got "
            f"{len(rows[0])}{hint}"
        )
    columns: list[Any] = [*zip(*rows, strict=True)]
    for j, column in enumerate(columns):
        if b"" in column:
            raise ValueError(f"{names[j]} must not be empty")
        if names[j] not in _NUMBERS:
            continue
        try:
            columns[j] = [*map(float, column)]
        except ValueError:
            columns[j] = [math.nan]
        # float() also reads 1_0
        if b"_" in b"".join(column) or not all(map(math.isfinite, columns[j])):
            got = _wording.quoted(spelled(column[0]))
            raise ValueError(f"{names[j]} must be a finite number, got {got}")
    if len(names) == 5 and not _Q0.issuperset(columns[1]):
        got = _wording.quoted(spelled(columns[1][0]))
        raise ValueError(f"the second of 5 columns must be Q0, or 0, got {got}")
    return columns


def lines_of_file(source: _source.TextSource, kind: Kind) -> TrecLines:
    """Lines of a file, of one form throughout, which the first one shows.

    Raises
    ------
    ValueError
        With file and line.
    """
    known = defaultdict[bytes, int](count().__next__)
    # less than half the memory of lists
    codes, at_lines = array("q"), array("q")
    numbers = [np.empty((kind.width, 0))]
    docno: list[bytes] = []
    tags: set[bytes] = set()

    def parsed(lines: Sequence[tuple[int, list[bytes]]]) -> list[Any]:
        try:
            return _columns([cells for _, cells in lines], names, kind)
        except ValueError as error:
            for line in lines if len(lines) > 1 else ():
                parsed([line])
            raise ValueError(f"{source}, line {lines[0][0]}: {error}") from None

    with source.reading(), source.open_text() as file:
        there = (line for line in enumerate(file, start=1) if line[1].strip())
        start, text = next(there, (1, b""))
        # ASCII white space is where trec_eval cuts
        cut: Callable[[bytes], list[bytes]] = bytes.split
        names, at = kind.names, 2
        if kind is JUDGMENTS and _at_tabs(text.lower()) == [*map(str.encode, _BEIR)]:
            names, at, cut = _BEIR, 1, _at_tabs
            start, text = start + 1, file.readline()
        elif kind is RUN and len(text.split()) == 5:
            names = names[:-1]
        while text:
            of_lines: Any = range(start, start := start + text.count(b"\n"))
            columns = _plain_columns(text, names) if cut is bytes.split else None
            if columns is None:
                rows = enumerate(map(cut, text.split(b"\n")), of_lines.start)
                lines = [(number, cells) for number, cells in rows if cells]
                of_lines = [number for number, _ in lines]
                columns = parsed(lines) if lines else [()] * len(names)
            at_lines.extend(of_lines)
            codes.extend(map(known.__getitem__, columns[0]))
            docno.extend(columns[at])
            numbers.append(np.array(columns[at + 1 : at + 1 + kind.width]))
            if len(names) == 6:
                tags.update(columns[-1])
            text = file.read(_BLOCK) + file.readline()

    def place(row: int) -> str:
        return f"line {at_lines[row]}"

    trec = _gathered(kind, str(source), known, codes, docno, np.hstack(numbers), place)
    return trec._replace(tag=spelled(*tags)) if len(tags) == 1 else trec


def _plain_columns(text: bytes, names: Sequence[str]) -> list[Any] | None:
    """Columns of many lines by Arrow, if it is there and cells have one blank between.

    None of lines in which something may be wrong.
    """
    if len(text) < _BLOCK:  # pyarrow takes long to import
        return None
    is_blank = np.frombuffer(text, np.uint8) <= _BLANK
    are_two = is_blank[0] or (is_blank[1:] & is_blank[:-1]).any()
    if are_two or any(one in text for one in b"\t\r\v\f"):
        return None
    try:
        arrow, csv = map(import_module, ["pyarrow", "pyarrow.csv"])
    except ImportError:
        return None
    types = {
        name: arrow.float64() if name in _NUMBERS else arrow.binary() for name in names
    }
    try:
        table = csv.read_csv(
            io.BytesIO(text),
            csv.ReadOptions(
                column_names=names, use_threads=False, block_size=len(text)
            ),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except arrow.ArrowInvalid:
        return None
    columns = [np.asarray(column) for column in table.columns]
    for name, column in zip(names, columns, strict=True):
        if name in _NUMBERS and not np.isfinite(column).all():
            return None
    return None if len(names) == 5 and not _Q0.issuperset(columns[1]) else columns


def _of_table(given: Any, kind: Kind, source: str) -> TrecLines:
    """Lines of a data frame or of a mapping of columns, in the order of its rows."""
    is_mapping = isinstance(given, Mapping)
    names = list(given) if is_mapping else feature_matrix.list_columns(given)

    def named(what: str, *choices: str) -> str:
        chosen = [name for name in names if name in choices]
        rule = f"{source} must have one column of {what} ({' or '.join(choices)})"
        got = f"got the columns {_wording.listed(chosen or names)}"
        messages.require(len(chosen) == 1, f"{rule}, {got}")
        return str(chosen[0])

    topic, document = named("topics", *_TOPIC), named("documents", *_DOCUMENT)
    numbers = RUN.numbers if topic in _TOPIC_OF_SCORED_LABELS else kind.numbers
    chosen = [topic, document, named(f"{kind.numbers[-1]}s", *numbers)]
    chosen += [name for name in ("rank",) if kind is RUN and name in names]
    columns = {name: given[name] for name in chosen}
    lines = lines_of_columns(columns, kind, source, absent=_TARGET in names)
    if kind is RUN and "tag" in names:
        tags = {*np.asarray(given["tag"], dtype=object).tolist()}
        if len(tags) == 1 and isinstance(tag := tags.pop(), str) and tag:
            return lines._replace(tag=tag)
    return lines


def lines_of_columns(
    columns: Mapping[str, Any], kind: Kind, source: str, *, absent: bool
) -> TrecLines:
    """Lines of columns of topics, documents, numbers and, if there are any, ranks.

    `absent` says that documents may be not judged (NaN) or not retrieved (-inf), which
    a run leaves out.

    Raises
    ------
    ValueError
        With source, column and row.
    """
    of_columns = {f"{source}: {name}": column for name, column in columns.items()}
    (topic, topics), (document, documents), (number, values), *rank = of_columns.items()
    of_topic, docno = _ids(topics, topic), _ids(documents, document)
    messages.require(of_topic, f"{source} must hold at least one row, got none")
    nothing = None if not absent else np.nan if kind is JUDGMENTS else -np.inf
    numbers = [_finite(ranks, name, messages.in_row, np.nan) for name, ranks in rank]
    numbers.append(_finite(values, number, messages.in_row, nothing))
    sizes = {len(of_topic), len(docno), *map(len, numbers)}
    rule = f"{source} must have columns of one length"
    messages.require(len(sizes) == 1, rule, sorted(sizes))
    retrieved = np.flatnonzero(numbers[-1] != -np.inf)
    known = defaultdict[bytes, int](count().__next__)
    codes = [known[of_topic[row]] for row in retrieved.tolist()]
    docno = [docno[row] for row in retrieved.tolist()]
    numbers = [column[retrieved] for column in numbers]

    def place(row: int) -> str:
        return messages.in_row(int(retrieved[row]))

    return _gathered(kind, source, known, codes, docno, numbers, place)


def _of_dicts(given: Mapping[Any, Any], kind: Kind, source: str) -> TrecLines:
    """Lines of a dict of dicts, topic to document to number, in the order it has.

    A topic may have no documents.
    """
    number = kind.numbers[-1]
    rule = f"{source} must hold at least one topic, got an empty dict"
    messages.require(given, rule)
    rule = f"{source} must map each topic to a dict of documents and their {number}s"
    for topic, documents in given.items():
        if not isinstance(documents, Mapping):
            got = f"{messages.show(documents)} for topic {messages.show(topic)}"
            raise ValueError(f"{rule}, got {got}")
    known = defaultdict[bytes, int](count().__next__)
    of_topics = [known[one] for one in _ids(list(given), f"{source}: topic")]
    topics, codes = list(known), np.repeat(of_topics, [*map(len, given.values())])
    documents = [*chain.from_iterable(given.values())]
    values = [*chain.from_iterable(topic.values() for topic in given.values())]

    def place(row: int) -> str:
        return f"document {documents[row]} of topic {spelled(topics[codes[row]])}"

    docno = _ids(documents, f"{source}: document", place)
    numbers = _finite(values, f"{source}: {number}", place)
    return _gathered(kind, source, topics, codes, docno, [numbers], place)


def _finite(
    values: Any, name: str, place: messages.Place, absent: float | None = None
) -> FloatArray:
    """Finite numbers, or `absent`, one for each row."""
    if isinstance(values, (list, tuple)):
        if not values:
            return np.empty(0)
        # NumPy would make text of numbers beside text
        values = np.fromiter(values, dtype=object, count=len(values))
    numbers = exact_numbers.floats_of(values, name, place)
    bad = ~np.isfinite(numbers)
    if absent is not None:
        bad &= ~np.isnan(numbers) if np.isnan(absent) else numbers != absent
    checks.reject(bad, numbers, name, "be a finite number", place)
    return numbers


def _ids(
    column: Any, name: str, place: messages.Place = messages.in_row
) -> list[bytes]:
    """Topics or documents of any kind of column as bytes."""
    values = np.asarray(exact_numbers.none_for_masked(column), dtype=object)
    messages.require(values.ndim == 1, f"{name} must have one value per row", column)
    ids: list[Any] = values.tolist()
    if set(map(type, ids)) == {str}:
        with suppress(UnicodeEncodeError):
            joined = "\n".join(ids).encode(*_UTF8)
            parts = joined.split(b"\n")
            if len(parts) == len(ids) and all(parts) and b"\0" not in joined:
                return parts
    return [_id(one, name, place, row) for row, one in enumerate(ids)]


def _id(one: Any, name: str, place: messages.Place, row: int) -> bytes:
    rule, got, hint = "be a string or bytes", messages.show(one), ""
    if isinstance(one, (str, bytes)):
        rule = "be neither empty nor hold a NUL"
        try:
            text = one if isinstance(one, bytes) else one.encode(*_UTF8)
            if text and b"\0" not in text:
                return text
        except UnicodeEncodeError:
            rule = "be text that UTF-8 can hold"
    elif isinstance(one, Integral):
        got, hint = f"the integer {one}", f" (ids are compared as text: pass '{one}')"
    raise ValueError(f"{name} must {rule}, got {got} in {place(row)}{hint}")


def _gathered(
    kind: Kind,
    source: str,
    topics: Collection[bytes],
    of_lines: Sequence[int] | IntArray,
    docno: list[bytes],
    numbers: Sequence[FloatArray] | FloatArray,
    place: messages.Place,
) -> TrecLines:
    """Lines put together by their topics, of which `of_lines` holds the numbers.

    Labels below 0 and ranks that are not given are NaN.

    Raises
    ------
    ValueError
        For a document that occurs twice in a topic: `place` says where a line stood.
    """
    codes = np.array(of_lines, dtype=np.int64)
    values = np.full((len(codes), kind.width), np.nan)
    values[:, -len(numbers) :] = np.transpose(numbers)
    if kind is not RUN:
        values[values < 0] = np.nan
    bounds = np.cumsum([0, *np.bincount(codes, minlength=len(topics))]).tolist()
    slices = map(slice, bounds, bounds[1:])
    lines = TrecLines(dict(zip(topics, slices, strict=True)), docno, values, source)
    order = np.arange(len(codes))
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        lines = lines.in_order(order)
    for topic, of_topic in lines.topics.items():
        documents = lines.docno[of_topic]
        if len(set(documents)) == len(documents):
            continue
        ((twice, _),) = Counter(documents).most_common(1)
        rows = zip(documents, order[of_topic].tolist(), strict=True)
        first, row, *_ = (place(row) for one, row in rows if one == twice)
        raise ValueError(
            f"{source}, {row}: {spelled(twice)} is {kind.happened} twice for topic "
            f"{spelled(topic)} ({first} has it too)"
        )
    return lines
