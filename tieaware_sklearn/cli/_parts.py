"""Saved results as the parts of one: what files hold, and whether they go together."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._engine import WHICH, Digests, gather, repeated, value_bits
from ..evaluation import RankingReport
from ..feature_selection import Screening
from ..io import Kept, Saved, UnreadableError, from_bytes, is_url, kept_of, to_bytes

#: in the header of a screening that the shell has saved
_READ = "read"
_SUFFIX = ".tie"
#: of query ids that begin anew in each part
_NUMBERED = (
    "; the queries of both are numbered 0, 1, ..., as they are in LETOR text without "
    "qid:. If they are not the same queries, screen the files by one command, which "
    "numbers them through, or write different qid: into their lines"
)


class Read(NamedTuple):
    """What a result was made of.

    Attributes
    ----------
    files : list of str
    n_documents : int or None
        None if nobody knows: Python saves no documents.
    complete : bool
        Whether all of the files was read.
    unjudged : str or None
        What the shell was asked to do with missing labels, which may be "skip"; None
        for what Python has saved.
    """

    files: list[str]
    n_documents: int | None
    complete: bool
    unjudged: str | None = None


class Part(NamedTuple):
    """A saved result, and which file it is in."""

    path: str
    result: Screening | RankingReport
    read: Read

    @property
    def digests(self) -> Digests:
        """Of the queries."""
        if isinstance(self.result, Screening):
            return self.result.query_digests
        return self.result.query_digests()

    def shown(self) -> str:
        """What it is, in a line."""
        what = f"{self.path}: {self.n_queries} queries"
        files = [name for name in self.read.files if name != self.path]
        return f"{what} of {', '.join(files)}" if files else what

    @property
    def n_queries(self) -> int:
        if isinstance(self.result, Screening):
            return self.result.n_queries
        return len(self.digests)


def find_parts(given: Sequence[str]) -> list[str]:
    """Files of saved results: those named, those of a pattern, ``*.tie`` of a folder.

    Raises
    ------
    ValueError
        If there is none in a folder, or none that matches a pattern.
    """
    return [path for name in given for path in _paths_of(name)]


def _paths_of(name: str) -> list[str]:
    if not name or is_url(name):
        raise ValueError(f"FILE must be a file, a folder or a pattern, got {name!r}")
    pattern, what = name, f"that matches {name}"
    if os.path.isdir(name):
        pattern = os.path.join(glob.escape(name), "**", f"*{_SUFFIX}")
        what = f"*{_SUFFIX} in the folder {name}"
    elif os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    found = filter(os.path.isfile, glob.iglob(pattern, recursive=True))
    if paths := sorted(found):
        return paths
    raise ValueError(f"FILE: there is no file {what}")


def saved_part(screening: Screening, read: Read) -> bytes:
    """A screening as `Screening.save` writes it, and what it was made of."""
    kept = kept_of(screening).with_part(_READ, Kept(read._asdict(), {}))
    return to_bytes(Screening._kind, kept)


def read_part(path: str) -> Part:
    """A screening or a report, from its file.

    Raises
    ------
    ValueError
        If the file holds nothing that merges, or is damaged.
    OSError
        If it cannot be read.
    """
    data = Path(path).read_bytes()
    try:
        kind, kept = from_bytes(data)
        result: Saved = Saved.from_bytes(data)
        read = Read([path], None, complete=True)
        if kind == Screening._kind and _READ in kept.header:
            read = _read_of(kept.part(_READ))
    except UnreadableError as error:
        raise ValueError(f"{path} {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}{str(error).removeprefix('data')}") from None
    if isinstance(result, (Screening, RankingReport)):
        return Part(path, result, read)
    raise ValueError(f"{path} must hold a result that merges, got a {kind}")


def _read_of(kept: Kept) -> Read:
    n_documents = kept.value("n_documents", int, type(None))
    complete = kept.value("complete", bool)
    unjudged = kept.value("unjudged", str, type(None))
    return Read(list(kept.texts("files")), n_documents, complete, unjudged)


def check_alike(parts: Sequence[Part]) -> None:
    """All are of one kind, with the same features, measures and options.

    Raises
    ------
    ValueError
        It names the first difference.
    """
    # labels of Python's arrays have no name: those of the first that has one
    labelled = next((part for part in parts if _label(part)), parts[0])
    for other in parts[1:]:
        for first in (parts[0], labelled):
            if difference := _difference(first, other):
                raise ValueError(
                    f"{other.path} does not merge with {first.path}: {difference}"
                )


def _label(part: Part) -> str | None:
    return part.result.label if isinstance(part.result, Screening) else None


def _difference(first: Part, other: Part) -> str:
    """The first difference, in words; nothing if they merge."""
    ours, theirs = first.result, other.result
    if isinstance(ours, Screening) and isinstance(theirs, Screening):
        if ours.rule.unjudged != theirs.rule.unjudged:
            ours, theirs = _as_asked(ours, first.read), _as_asked(theirs, other.read)
        said = ours._difference(theirs, first.path, other.path)
        return said + _how_many(ours.feature_names, theirs.feature_names)
    if isinstance(ours, RankingReport) and isinstance(theirs, RankingReport):
        return ours._difference(theirs, first.path, other.path)
    return f"it holds {_a_kind(theirs)}, not {_a_kind(ours)}"


def _as_asked(screening: Screening, read: Read) -> Screening:
    """With what `unjudged` was for the user."""
    unjudged = read.unjudged or screening.rule.unjudged
    return replace(screening, rule=screening.rule._replace(unjudged=unjudged))


def _how_many(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """What to do if the last features of LETOR text are nowhere in one file."""
    few, many = sorted((ours, theirs), key=len)
    if many[: len(few)] != few or not all(name.isdecimal() for name in many):
        return ""
    if len(few) == len(many):
        return ""
    return (
        f" (if they are LETOR text with zeros left out, tell each screen how many "
        f"features there are: --n-features {len(many)})"
    )


def _a_kind(result: Screening | RankingReport) -> str:
    is_screening = isinstance(result, Screening)
    return "a screening" if is_screening else "the scores of a ranking"


def check_no_query_twice(parts: Sequence[Part]) -> None:
    """No two parts have a query in common.

    Raises
    ------
    ValueError
        It names the two files and the digest of a query.
    """
    for again in repeated([part.digests for part in parts]):
        both = [parts[at] for at in again.parts[:2]]
        one, other = (part.path for part in both)
        n_queries = again.n_queries
        of_them = "a query" if n_queries == 1 else f"{n_queries} queries"
        raise ValueError(
            f"no query must be in two files, got {of_them} more than once, such as "
            f"the one whose id has the digest {again.digest:#018x}, which is in {one} "
            f"and in {other} ({WHICH})"
            f"{_NUMBERED if all(map(_is_numbered, both)) else ''}"
        )


def _is_numbered(part: Part) -> bool:
    """Whether the ids are 0, 1, ..., as those of LETOR text without any."""
    digests = part.digests
    return np.array_equal(digests, np.sort(value_bits(np.arange(len(digests)))))


def merged(parts: Sequence[Part]) -> Screening | RankingReport:
    """One result of all parts, the same to the last bit in whatever order they come."""
    results = [part.result for part in parts]
    # sums are rounded: by their content, so that names and places do not matter
    results.sort(key=lambda one: hashlib.sha256(one.to_bytes()).digest())
    reports = [one for one in results if isinstance(one, RankingReport)]
    if reports:
        return RankingReport.merge(*reports)
    found: list[Screening] = []
    for result in results:
        if isinstance(result, Screening):
            screening = replace(result, selection=None)
            gather(found, screening, Screening.merge, attrgetter("n_queries"))
    return reduce(Screening.merge, found)
