"""The option ``--checkpoint``: a screening that goes on where it was interrupted."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Self

import numpy as np

from .. import __version__
from .._display import warn
from .._engine import gather
from .._kernel import engine
from ..feature_selection import Screening
from ..io import (
    GROUP_SUFFIXES,
    Kept,
    Saved,
    UnreadableError,
    is_url,
    kept_of,
    result_of,
    whole_file,
)
from ..measures import parse_measure, parse_measures
from ._outputs import in_words, note

#: seconds between two checkpoints at the least, and in units of what one takes, so
#: that they cost half a percent of the time at the most
_SECONDS, _TIMES = 1.0, 200.0
#: options without which a screening would be another one
_OPTIONS = (
    *("sort_by", "direction", "missing", "unjudged", "zero_relevance"),
    *("label", "qid", "ignore", "n_features", "batch_rows", "sort"),
)


@dataclass(frozen=True, eq=False)
class Checkpoint(Saved):
    """How far a screening has come.

    Attributes
    ----------
    job : dict
        What identifies it: version, engine, files and options.
    n_rows : int
        Rows that were read.
    n_documents : int
        Those of them that were screened.
    parts : tuple of Screening
        Those of the batches, as far as they are merged.
    """

    _kind: ClassVar[str] = "Checkpoint"

    job: dict[str, Any]
    n_rows: int = 0
    n_documents: int = 0
    parts: tuple[Screening, ...] = ()

    def with_batch(self, n_rows: int, n_documents: int, part: Any) -> Self:
        """So many rows later, of which a part, or None, was screened."""
        parts = list(self.parts)
        if part is not None:
            gather(parts, part, Screening.merge, attrgetter("n_queries"))
        read, screened = self.n_rows + n_rows, self.n_documents + n_documents
        return replace(self, n_rows=read, n_documents=screened, parts=tuple(parts))

    def screening(self) -> Screening | None:
        """Of all documents; None if there are none."""
        return reduce(Screening.merge, self.parts) if self.parts else None

    def _kept(self) -> Kept:
        header = {
            "job": self.job,
            "n_rows": self.n_rows,
            "n_documents": self.n_documents,
            "n_parts": len(self.parts),
        }
        kept = Kept(header, {})
        for i, part in enumerate(self.parts):
            kept = kept.with_part(f"part {i}", kept_of(part))
        return kept

    @classmethod
    def _of_kept(cls, kept: Kept) -> Self:
        n_rows, n_documents = kept.value("n_rows", int), kept.value("n_documents", int)
        parts = tuple(
            result_of(Screening, kept.part(f"part {i}"))
            for i in range(kept.value("n_parts", int))
        )
        if not 0 <= n_documents <= n_rows or bool(parts) != (n_documents > 0):
            raise UnreadableError(
                f"must have a screening of {n_documents} documents among {n_rows}"
            )
        return cls(kept.value("job", dict), n_rows, n_documents, parts)


@dataclass
class Progress:
    """How far a screening has come, kept in a file if one is asked for.

    Attributes
    ----------
    done : Checkpoint
    path : path or None
    """

    done: Checkpoint
    path: Path | None
    _is_new: bool = True
    _next: float = field(default=0.0, init=False)
    _is_kept: bool = field(default=False, init=False)
    _failed: bool = field(default=False, init=False)

    @classmethod
    def of(cls, arguments: argparse.Namespace, files: Sequence[str]) -> Self:
        """From the file, if it is there; it is written before anything is read.

        Raises
        ------
        ValueError
            If the file is of another screening, or damaged; if an input could not be
            read again; if everything is to be read at once.
        OSError
            If the file cannot be written.
        """
        if arguments.checkpoint is None:
            return cls(Checkpoint({}), None)
        if arguments.batch_rows == 0:
            raise ValueError(
                "--checkpoint needs batches, but --batch-rows 0 reads everything at "
                "once"
            )
        path, job = Path(arguments.checkpoint), _job(arguments, files)
        done, is_new = Checkpoint(job), not path.exists()
        if not is_new:
            if not path.is_file():
                raise ValueError(f"--checkpoint must name a plain file, got {path}")
            done = _read(path)
            if difference := _difference(done.job, job):
                raise ValueError(
                    f"--checkpoint: {path} is of another screening: {difference}. "
                    "Repeat the command that wrote it, or remove the file to start "
                    "again"
                )
        progress = cls(done, path, is_new)
        progress._write()
        if done.n_rows:
            note(f"{path}: goes on after the first {done.n_rows} documents")
        return progress

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What was done in the block is kept whatever ends it."""
        try:
            yield
        except BaseException:
            if self.done.n_rows:
                self.keep()
            elif self._is_new:
                self.remove()
            raise

    def add(self, n_rows: int, n_documents: int = 0, part: Any = None) -> None:
        """So many rows more were read, of which a part was screened."""
        # at once, for an interrupt may come at any time
        self.done = self.done.with_batch(n_rows, n_documents, part)
        self._is_kept = False
        if monotonic() >= self._next:
            self.keep(again=False)

    def keep(self, *, again: bool = True) -> None:
        """Write the file, if there is one; a failure is a warning.

        A second one in a row is said only with `again`.
        """
        if self._is_kept or self.path is None:
            return
        try:
            self._write()
        except OSError as error:
            if again or not self._failed:
                warn(f"{in_words(error)}: the checkpoint is not written")
            self._failed = True
            self._next = monotonic() + _SECONDS

    def remove(self) -> None:
        """All is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        if self.path is None:
            return
        start = monotonic()
        data = self.done.to_bytes()
        with whole_file(self.path, binary=True) as file:
            file.write(data)
            file.flush()
            # or its name could be on the disk before its content
            os.fsync(file.fileno())
        self._is_kept, self._failed = True, False
        end = monotonic()
        self._next = end + max(_SECONDS, _TIMES * (end - start))


def _read(path: Path) -> Checkpoint:
    try:
        return Checkpoint.load(path)
    except ValueError as error:
        raise ValueError(
            f"--checkpoint: {error}; if it is a checkpoint, remove it to start again"
        ) from None


def _job(arguments: argparse.Namespace, files: Sequence[str]) -> dict[str, Any]:
    """What identifies a screening, as JSON holds it."""
    measures = list(map(str, parse_measures(arguments.measures)))
    options = {"measures": measures} | {n: getattr(arguments, n) for n in _OPTIONS}
    # what is said is the same as what goes without saying
    options["sort_by"] = str(parse_measure(options["sort_by"] or measures[0]))
    options["label"] = options["label"] or "label"
    options["qid"] = options["qid"] or "qid"
    options["ignore"] = sorted(set(options["ignore"] or ()))
    return {
        # sums may differ in their last bits from one of these to another
        "software": {
            "tieaware-sklearn": __version__,
            "engine": engine(),
            "numpy": np.__version__,
        },
        "files": _states(files, arguments.query_file or ()),
        "options": options,
    }


def _states(files: Sequence[str], query_files: Sequence[str]) -> list[list[Any]]:
    """Name, size and time of change of all files that are read."""
    names = [*files, *query_files]
    beside = (f"{name}{suffix}" for name in files for suffix in GROUP_SUFFIXES)
    names += [name for name in beside if os.path.exists(name)]
    states = []
    for name in names:
        what = "standard input" if name == "-" else name
        state = None if name == "-" or is_url(name) else os.stat(name)
        if state is None or not stat.S_ISREG(state.st_mode):
            raise ValueError(
                f"--checkpoint needs local files that can be read again, got {what}"
            )
        states.append([os.path.abspath(name), state.st_size, state.st_mtime_ns])
    return states


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The first difference of two jobs, in words; nothing if they are the same."""
    for what, value in now["software"].items():
        old = before["software"].get(what)
        if old != value:
            return f"{what} was {old}, and is {value}"
    for i, (old, new) in enumerate(zip(before["files"], now["files"], strict=False)):
        if old[0] != new[0]:
            return f"file {i + 1} was {old[0]}, and is {new[0]}"
        if old != new:
            return f"{new[0]} has changed since"
    n_before, n_now = len(before["files"]), len(now["files"])
    if n_before != n_now:
        return f"the number of files was {n_before}, and is {n_now}"
    for name, value in now["options"].items():
        old = before["options"].get(name)
        if old != value:
            option = f"--{name.replace('_', '-')}"
            return f"{option} was {_shown(old)}, and is {_shown(value)}"
    return ""


def _shown(value: Any) -> str:
    """An option as it is typed."""
    if value is None or value == []:
        return "not given"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
