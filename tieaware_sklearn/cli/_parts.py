"""Saved results as the parts of one: what files hold, and whether they go together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .._engine.added_up import gather
from .._engine.digests import Digests
from .._engine.known_queries import WHICH, repeated
from ..evaluation import MergeableSummary, RankingSummary
from ..feature_selection import RankingFeatureSelector, Screening
from ..feature_selection._rule import Rule
from ..io._saved import Saved, kept_of
from ..io._saved_file import Kept, UnreadableError, from_bytes, to_bytes
from ._checkpoint import Checkpoint

_Result = TypeVar("_Result", Screening, MergeableSummary)
#: in the header of a screening that the shell has saved
_READ = "read"
#: fields of a rule or of the options of a summary, as users know them
_IN_WORDS = {"sort": "measures to sort by", "correlates": "correlations"}


class Read(NamedTuple):
    """What a result was made of.

    Attributes
    ----------
    files : list of str
    n_documents : int or None
        None if nobody knows: Python saves no documents.
    complete : bool
        Whether all of the files was read.
    """

    files: list[str]
    n_documents: int | None
    complete: bool


class Part(NamedTuple):
    """A saved result, and which file it is in."""

    path: str
    result: Screening | MergeableSummary
    read: Read

    @property
    def digests(self) -> Digests:
        """Of the queries."""
        if isinstance(self.result, Screening):
            return self.result.query_digests
        return self.result._parts.digests

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


def saved_part(screening: Screening, read: Read) -> bytes:
    """A screening as `Screening.save` writes it, and what it was made of."""
    kept = kept_of(screening).with_part(_READ, Kept(read._asdict(), {}))
    return to_bytes(Screening._kind, kept)


def read_part(path: str) -> Part:
    """A screening, a selector or a summary that merges, from its file.

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
    if isinstance(result, RankingFeatureSelector):
        result = result.screening_
    if isinstance(result, (Screening, MergeableSummary)):
        return Part(path, result, read)
    if isinstance(result, Checkpoint):
        raise ValueError(
            f"{path} is the checkpoint of a screening that is not complete: repeat "
            "the command that wrote it, with --save"
        )
    if isinstance(result, RankingSummary):
        raise ValueError(
            f"{path} holds averages alone, which do not merge: save what "
            "evaluate_batches returns"
        )
    raise ValueError(f"{path} must hold a result that merges, got a {kind}")


def _read_of(kept: Kept) -> Read:
    n_documents = kept.value("n_documents", int, type(None))
    return Read(list(kept.texts("files")), n_documents, kept.value("complete", bool))


def check_alike(parts: Sequence[Part]) -> None:
    """All are of one kind, with the same features, measures and options.

    Raises
    ------
    ValueError
        It names the first difference.
    """
    first = parts[0]
    for other in parts[1:]:
        if difference := _difference(first, other):
            raise ValueError(
                f"{other.path} does not merge with {first.path}: {difference}"
            )


def _difference(first: Part, other: Part) -> str:
    """The first difference, in words; nothing if they merge."""
    ours, theirs = first.result, other.result
    if isinstance(ours, Screening) and isinstance(theirs, Screening):
        names = _other_features(first, other)
        return names or _other_options(first, other, ours.rule, theirs.rule)
    if isinstance(ours, Screening) or isinstance(theirs, Screening):
        return f"it holds {_a_kind(theirs)}, not {_a_kind(ours)}"
    options = ours._parts.options, theirs._parts.options
    return _other_options(first, other, *options)


def _a_kind(result: Screening | MergeableSummary) -> str:
    is_screening = isinstance(result, Screening)
    return "a screening" if is_screening else "the scores of a ranking"


def _other_features(first: Part, other: Part) -> str:
    ours, theirs = (part.result.feature_names for part in (first, other))  # type: ignore[union-attr]
    for mine, yours, lacks in ((ours, theirs, other), (theirs, ours, first)):
        missing = [name for name in mine if name not in yours]
        if missing:
            return f"features differ: {lacks.path} has no {missing[0]!r}"
    for mine, yours in zip(ours, theirs, strict=False):
        if mine != yours:
            return (
                f"features differ in their order: {other.path} has {yours!r} where "
                f"{first.path} has {mine!r}"
            )
    return ""


def _other_options(
    first: Part, other: Part, ours: tuple[Any, ...], theirs: tuple[Any, ...]
) -> str:
    """The first field that differs of two tuples of one type."""
    fields: Sequence[str] = ours._fields  # type: ignore[attr-defined]
    for name, mine, yours in zip(fields, ours, theirs, strict=True):
        if mine != yours:
            if name == "directions":
                at = next(j for j, one in enumerate(mine) if one != yours[j])
                mine, yours = mine[at], yours[at]
            what = _IN_WORDS.get(name, name.replace("_", " "))
            return (
                f"{what} differ: {_in_words(name, yours, theirs)} in {other.path}, "
                f"{_in_words(name, mine, ours)} in {first.path}"
            )
    return ""


def _in_words(name: str, value: Any, options: tuple[Any, ...]) -> str:
    if name == "sort" and isinstance(options, Rule):
        return str(options.measures[value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_no_query_twice(parts: Sequence[Part]) -> None:
    """No two parts have a query in common.

    Raises
    ------
    ValueError
        It names the two files and the digest of a query.
    """
    for again in repeated([part.digests for part in parts]):
        one, other = (parts[at].path for at in again.parts[:2])
        n_queries = again.n_queries
        of_them = "a query" if n_queries == 1 else f"{n_queries} queries"
        raise ValueError(
            f"no query must be in two files, got {of_them} more than once, such as "
            f"the one whose id has the digest {again.digest:#018x}, which is in {one} "
            f"and in {other} ({WHICH})"
        )


def merged(parts: Sequence[Part]) -> Screening | MergeableSummary:
    """One result of all parts, the same to the last bit in whatever order they come."""
    if isinstance(parts[0].result, Screening):
        screenings = [
            replace(part.result, selection=None)
            for part in parts
            if isinstance(part.result, Screening)
        ]
        return _merged(screenings, Screening.merge, attrgetter("n_queries"))
    summaries = [p.result for p in parts if isinstance(p.result, MergeableSummary)]
    return _merged(
        summaries, MergeableSummary.merge, lambda one: int(one.n_queries.max())
    )


def _merged(
    results: list[_Result],
    merge: Callable[[_Result, _Result], _Result],
    size: Callable[[_Result], int],
) -> _Result:
    # sums are rounded: by their content, so that names and places do not matter
    results.sort(key=lambda one: hashlib.sha256(one.to_bytes()).digest())
    found: list[_Result] = []
    for result in results:
        gather(found, result, merge, size)
    return reduce(merge, found)
