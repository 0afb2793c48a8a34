"""The format of LETOR text: its lines, its queries, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._text_source import PathLike, TextSource, check_paths

_FEATURE = re.compile(r"(\d+):(\S+)")


class Counted(NamedTuple):
    """A file, its lines that hold a document, and how many of them have a qid:."""

    source: TextSource
    n_rows: int
    n_with_qid: int


def split_line(line: bytes) -> tuple[bytes, list[bytes], int | None]:
    """What stands before a comment, its first three parts and the rest, the query id.

    Raises
    ------
    ValueError
        For a query id that is no integer, and for underscores.
    """
    content = line.partition(b"#")[0]
    if b"_" in content:  # which Python, and scikit-learn, read as part of a number
        raise ValueError("a number holds an underscore")
    parts = content.split(None, 3)
    has_qid = len(parts) > 1 and parts[1].startswith(b"qid:")
    return content, parts, int(parts[1][4:]) if has_qid else None


def check_query_file(
    query_file: PathLike | Sequence[PathLike] | None, n_paths: int
) -> list[Path]:
    """The files with the sizes of queries: none, or one for each path."""
    given = [] if query_file is None else check_paths(query_file, "query_file")
    if given and len(given) != n_paths:
        raise ValueError(
            f"query_file must name one file per path ({n_paths}), got {len(given)}"
        )
    return given


def query_sizes(
    files: Sequence[Counted], given: list[Path]
) -> list[NDArray[np.int64]] | None:
    """Sizes of the queries of each file; None where the lines name them by qid:.

    Raises
    ------
    ValueError
        Where some lines have a qid: and others not, or all and sizes are `given`;
        where sizes are not to be found, or do not add up to the rows of their file.
    """
    if not any(file.n_with_qid for file in files):
        return [_sizes_of(file, given[i : i + 1]) for i, file in enumerate(files)]
    if given:
        raise ValueError(
            f"{files[0].source}: query_file is given, but the lines hold qid:"
        )
    if any(file.n_with_qid != file.n_rows for file in files):
        wrong = (first_wrong(file.source, needs_qid=True) for file in files)
        first = next(filter(None, wrong), f"{files[0].source}: malformed")
        raise ValueError(first)
    return None


def numbered_queries(
    sizes: Sequence[NDArray[np.int64]],
) -> Iterator[NDArray[np.int64]]:
    """The query of each row of each file, numbered from 0 through all files."""
    first = 0
    for own in sizes:
        yield np.repeat(np.arange(first, first + len(own)), own)
        first += len(own)


def _sizes_of(file: Counted, given: list[Path]) -> NDArray[np.int64]:
    """Sizes of the queries of a file whose lines hold no qid:."""
    path = given[0] if given else _find_group_file(file.source.path)
    sizes = _read_sizes(path)
    if sizes.sum() != file.n_rows:
        raise ValueError(
            f"{path}: the sizes of its {len(sizes)} queries add up to {sizes.sum()}, "
            f"but {file.source} has {file.n_rows} rows"
        )
    return sizes


def _find_group_file(path: Path) -> Path:
    for suffix in (".query", ".group"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            return beside
    raise ValueError(
        f"{path}: its lines hold no qid:, and there is no {path.name}.query with the "
        "sizes of its queries beside it (query_file= names another)"
    )


def _read_sizes(path: Path) -> NDArray[np.int64]:
    sizes = []
    with TextSource(path).open() as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("latin-1").strip()
            if not text:
                continue
            if not text.isdigit() or int(text) < 1:
                raise ValueError(
                    f"{path}, line {number}: the size of a query must be an integer "
                    f">= 1, got {text!r}"
                )
            sizes.append(int(text))
    return np.array(sizes, dtype=np.int64)


def _is_number(text: str) -> bool:
    if "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def complaint(source: TextSource, *, fallback: str = "malformed") -> str:
    """What is wrong with a file, by its first malformed line."""
    return first_wrong(source) or f"{source}: {fallback}"


def first_wrong(source: TextSource, *, needs_qid: bool = False) -> str:
    """What is wrong with the first malformed line of a file; empty if none is."""
    with source.open() as file:
        for number, tokens in _documents(file):
            wrong = _wrong_with(tokens, needs_qid=needs_qid)
            if wrong:
                return f"{source}, line {number}: {wrong}"
    return ""


def _documents(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that hold a document."""
    for number, line in enumerate(lines, start=1):
        tokens = line.decode("latin-1").partition("#")[0].split()
        if tokens:
            yield number, tokens


def letor_place(sources: Sequence[TextSource], row: int) -> str:
    """File and line of a row of `read_letor`, for a message."""
    for source in sources:
        with source.open() as file:
            for number, _ in _documents(file):
                if row == 0:
                    return f"{source}, line {number}"
                row -= 1
    raise IndexError(row)


def _wrong_with(tokens: list[str], *, needs_qid: bool) -> str:
    label, *features = tokens
    if not _is_number(label):
        return f"the label must be a number, got {label!r}"
    if features and features[0].startswith("qid:"):
        qid = features.pop(0).removeprefix("qid:")
        if not re.fullmatch(r"[+-]?\d+", qid) or abs(int(qid)) >= 2**63:
            return f"qid must be a 64-bit integer, got {qid!r}"
    elif needs_qid:
        return "there is no qid:, though other lines have one"
    last = -1
    for feature in features:
        match = _FEATURE.fullmatch(feature)
        if match is None or not _is_number(match[2]):
            return f"a feature must look like number:value, got {feature!r}"
        if int(match[1]) >= 2**31:
            return f"a feature number must be below 2^31, got {match[1]}"
        if int(match[1]) <= last:
            return f"feature numbers must ascend, got {match[1]} after {last}"
        last = int(match[1])
    return ""


def kept_features(names: Sequence[str], ignore: Sequence[str]) -> list[int]:
    """Where the features stand that are not to be left out."""
    for name in ignore:
        if name not in names:
            raise ValueError(
                f"ignore must name a feature, got {name!r} (features: "
                f"{', '.join(names)})"
            )
    kept = [j for j, name in enumerate(names) if name not in ignore]
    if not kept:
        raise ValueError("ignore must leave a feature, got all of them")
    return kept
