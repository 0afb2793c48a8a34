"""The format of LETOR text: its lines, its queries, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._kernel import engine, letor
from ._letor_end import check_end
from ._scan import Runs, RunsFound
from ._text_source import Location, PathLike, TextSource, check_paths
from ._wording import quoted

Made = TypeVar("Made")

#: after the name of a file: where the sizes of its queries are
GROUP_SUFFIXES = (".query", ".group")
_DIGITS = re.compile(r"[0-9]+")
#: whole numbers that a float64 may not hold
_LONG = re.compile(rb"(?:^[ \t]*|(?<=[0-9]):)([+-]?[0-9]{16,}(?:\.0*)?)(?!\S)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
#: bytes of text that are looked at together
_CHUNK = 1 << 20
#: feature numbers are below this in scikit-learn's reader
_N_NUMBERS = 2**31


class Lines(NamedTuple):
    """What one must know of lines before their features are read."""

    n_rows: int
    #: of those that have one
    qid: NDArray[np.int64]
    #: the smallest and largest number of a feature; 1 and -1 if there are none
    smallest: int
    largest: int


class Counted(NamedTuple):
    """A file, its lines that hold a document, and how many of them have a qid:."""

    source: TextSource
    n_rows: int
    n_with_qid: int


def read_text(source: TextSource, reader: Callable[[bytes], Made]) -> Iterator[Made]:
    """What is made of a file, some whole lines at a time; errors name the line."""
    end = b""
    with source.reading(), source.open_text() as file:
        while text := file.read(_CHUNK):
            text += file.readline()
            try:
                made = reader(text)
            except (ValueError, OverflowError) as error:
                raise ValueError(_complaint(source, error)) from None
            # not the whole chunk, which would stay in memory beside the next
            end = text[text.rfind(b"\n") + 1 :]
            yield made
        check_end(source, end)


def look_at(text: bytes) -> Lines:
    """Queries and features of some lines, by the kernel where they are plain.

    Raises
    ------
    ValueError, OverflowError
        For numbers that are none; `read_text` says which. What stands between the
        first and the last feature of a line is not looked at.
    """
    if engine() == "compiled":
        found = letor.look(text)
        if found is not None:
            return Lines(*found)
    n_rows, ids = 0, []
    smallest, largest = 1, -1
    for line in text.split(b"\n"):
        content = line.partition(b"#")[0]
        if b"_" in content:  # which Python, and scikit-learn, read as part of a number
            raise ValueError("a number holds an underscore")
        parts = content.split(None, 3)
        if not parts:
            continue
        n_rows += 1
        features = parts[1:]
        if features and features[0].startswith(b"qid:"):
            ids.append(int(features.pop(0)[4:]))
        if features:
            last = content.rsplit(None, 1)[-1]
            smallest = min(smallest, int(features[0].partition(b":")[0]))
            largest = max(largest, int(last.partition(b":")[0]))
    if smallest < 0 or largest >= _N_NUMBERS:
        raise OverflowError("a feature number is out of range")
    return Lines(n_rows, np.array(ids, dtype=np.int64), smallest, largest)


def check_not_rounded(text: bytes) -> None:
    """Raise where a whole number would become another one, and perhaps a tie."""
    for line in text.split(b"\n"):
        for value in _LONG.findall(line.partition(b"#")[0]):
            if _is_rounded(value.decode()):
                raise ValueError("a number is not one that a float64 holds")


def check_query_file(
    query_file: PathLike | Sequence[PathLike] | None, n_paths: int
) -> list[Path]:
    """The files with the sizes of queries: none, or one for each path."""
    given = [] if query_file is None else check_paths(query_file, "query_file")
    if given and len(given) != n_paths:
        raise ValueError(
            f"query_file must name one file for each path ({n_paths}), got {len(given)}"
        )
    return given


def query_runs(files: Sequence[Counted], found: RunsFound, given: list[Path]) -> Runs:
    """Queries as lines name them, or by their sizes, numbered through all files.

    Raises
    ------
    ValueError
        Where some lines have a qid: and others not, or all and sizes are `given`;
        where sizes are not to be found, or do not add up to the rows of their file.
    """
    if not any(file.n_with_qid for file in files):
        own = [_sizes_of(file, given[i : i + 1]) for i, file in enumerate(files)]
        ends = np.cumsum(np.concatenate(own))
        starts = np.concatenate([[0], ends[:-1]])
        return Runs(np.arange(len(ends)), starts, int(ends[-1]))
    if given:
        raise ValueError(
            f"{files[0].source}: query_file must be None, because the lines have qid:"
        )
    for file in files:
        if file.n_with_qid != file.n_rows:
            raise ValueError(_complaint(file.source, needs_qid=True))
    return found.all()


def _sizes_of(file: Counted, given: list[Path]) -> NDArray[np.int64]:
    """Sizes of the queries of a file whose lines hold no qid:."""
    path = given[0] if given else _find_group_file(file.source.path)
    if path is None:
        if not file.n_rows:
            return np.empty(0, dtype=np.int64)
        path = file.source.path
        raise ValueError(
            f"{path}: the lines have no qid:, and there is no file {path.name}.query "
            "with the sizes of the queries beside it (query_file= names another file)"
        )
    sizes = _read_sizes(path)
    if sizes.sum() != file.n_rows:
        raise ValueError(
            f"{path}: the sizes of its {len(sizes)} queries add up to {sizes.sum()}, "
            f"but {file.source} has {file.n_rows} rows"
        )
    return sizes


def _find_group_file(path: Location) -> Location | None:
    for suffix in GROUP_SUFFIXES:
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            return beside
    return None


def _read_sizes(path: Location) -> NDArray[np.int64]:
    sizes = []
    source = TextSource(path)
    with source.reading(), source.open_text() as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("latin-1").strip()
            if not text:
                continue
            size = _integer(text)
            if size is None or not 1 <= size < _N_NUMBERS:
                raise ValueError(
                    f"{path}, line {number}: the size of a query must be an integer "
                    f">= 1 and below 2^31, got {quoted(text)}"
                )
            sizes.append(size)
    return np.array(sizes, dtype=np.int64)


def _complaint(
    source: TextSource, error: object = "", *, needs_qid: bool = False
) -> str:
    """What is wrong with the first malformed line of a file, or else the error."""
    for number, tokens in _documents(source):
        wrong = _wrong_with(tokens, needs_qid=needs_qid)
        if wrong:
            return f"{source}, line {number}: {wrong}"
    return f"{source}: {error or 'malformed'}"


def letor_place(sources: Sequence[TextSource], row: int) -> str:
    """File and line of a row of all files, for a message."""
    for source in sources:
        for number, _ in _documents(source):
            if row == 0:
                return f"{source}, line {number}"
            row -= 1
    raise IndexError(row)


def _documents(source: TextSource) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that hold a document."""
    with source.open_text() as file:
        for number, line in enumerate(file, start=1):
            # bytes are parted at ASCII white space alone, as scikit-learn does
            tokens = [t.decode("latin-1") for t in line.partition(b"#")[0].split()]
            if tokens:
                yield number, tokens


def _wrong_with(tokens: list[str], *, needs_qid: bool) -> str:
    label, *features = tokens
    if not _is_number(label):
        return f"the label must be a number, got {quoted(label)}"
    if _is_rounded(label):
        return f"the label must be a number that a float64 holds, got {quoted(label)}"
    if features and features[0].startswith("qid:"):
        text = features.pop(0).removeprefix("qid:")
        qid = _integer(text)
        if qid is None or not -(2**63) <= qid < 2**63:
            return f"qid must be a 64-bit integer, got {quoted(text)}"
    elif needs_qid:
        return "there is no qid:, though other lines have one"
    last = -1
    for feature in features:
        text, colon, value = feature.partition(":")
        number = _integer(text)
        if not (colon and _DIGITS.fullmatch(text) and _is_number(value)):
            return f"a feature must look like number:value, got {quoted(feature)}"
        if _is_rounded(value):
            return (
                f"feature {quoted(text)[1:-1]} must be a number that a float64 holds, "
                f"or it would tie with others, got {quoted(value)}"
            )
        if number is None or number >= _N_NUMBERS:
            return f"a feature number must be below 2^31, got {quoted(text)}"
        if number <= last:
            return f"feature numbers must ascend, got {number} after {last}"
        last = number
    return ""


def _integer(text: str) -> int | None:
    """The integer that a text spells, if its digits are not in the thousands."""
    try:
        return int(text) if _INTEGER.fullmatch(text) else None
    except ValueError:
        return None


def _is_rounded(text: str) -> bool:
    """Whether a whole number would become another one."""
    whole, _, zeros = text.partition(".")
    number = None if zeros.strip("0") else _integer(whole)
    return number is not None and number != float(text)


def _is_number(text: str) -> bool:
    if "_" in text:
        return False
    try:
        # of text, float() would strip more than ASCII white space
        float(text.encode("latin-1"))
    except ValueError:
        return False
    return True
