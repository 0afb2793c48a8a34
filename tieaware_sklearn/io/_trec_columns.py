"""Judgments and runs as columns of topics, documents and numbers, from any source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import FloatArray, in_32_bits

#: columns of the numbers of a run; those of judgments have labels only
RANK, SCORE = 0, 1


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

    def in_order(self, order: NDArray[np.int64]) -> TrecLines:
        """The same lines in another order, which keeps those of a topic together."""
        docno = [self.docno[line] for line in order.tolist()]
        return self._replace(docno=docno, numbers=self.numbers[order])

    def topic_numbers(self) -> NDArray[np.int64]:
        """The place of the topic of each line."""
        return np.repeat(np.arange(len(self.topics)), self.n_lines_of_topics())

    def places_in_topics(self) -> NDArray[np.int64]:
        """The place of each line among those of its topic, from 1 on."""
        first = [lines.start for lines in self.topics.values()]
        starts = np.repeat(np.array(first, dtype=np.int64), self.n_lines_of_topics())
        return np.arange(1, len(self.docno) + 1) - starts

    def n_lines_of_topics(self) -> list[int]:
        return [lines.stop - lines.start for lines in self.topics.values()]


def gathered(
    topics: Sequence[bytes],
    topic_of: NDArray[np.int64],
    docno: list[bytes],
    numbers: FloatArray,
    source: str,
    happened: str,
    place: Callable[[int], str],
) -> TrecLines:
    """Lines put together by their topics, of which `topic_of` holds the places.

    Raises
    ------
    ValueError
        For a document that occurs twice in a topic: `place` says where a line stood,
        and `happened` what happened there.
    """
    sizes = np.bincount(topic_of, minlength=len(topics)).tolist()
    lines = TrecLines(consecutive(topics, sizes), docno, numbers, source)
    order = np.arange(len(topic_of))
    if (topic_of[1:] < topic_of[:-1]).any():
        order = np.argsort(topic_of, kind="stable")
        lines = lines.in_order(order)
    for topic, of_topic in lines.topics.items():
        documents = lines.docno[of_topic]
        if len(set(documents)) == len(documents):
            continue
        seen: dict[bytes, int] = {}
        for one, row in zip(documents, order[of_topic].tolist(), strict=True):
            if (first := seen.setdefault(one, row)) != row:
                raise ValueError(
                    f"{source}, {place(row)}: {spelled(one)} is {happened} twice for "
                    f"topic {spelled(topic)} ({place(first)} has it too)"
                )
    return lines


def consecutive(topics: Iterable[bytes], sizes: Sequence[int]) -> dict[bytes, slice]:
    """Topics, and where their lines are, if they stand one after the other."""
    bounds = np.cumsum([0, *sizes], dtype=np.int64).tolist()
    return dict(zip(topics, map(slice, bounds, bounds[1:]), strict=True))


def with_32_bits(run: TrecLines) -> TrecLines:
    """Scores as trec_eval holds them."""
    numbers = run.numbers.copy()
    numbers[:, SCORE] = in_32_bits(numbers[:, SCORE])
    return run._replace(numbers=numbers)


def by_score_and_docno(run: TrecLines) -> NDArray[np.int64]:
    """The lines in the order of trec_eval."""
    topic, falling = run.topic_numbers(), -run.numbers[:, SCORE]
    order = np.lexsort((falling, topic))
    as_above = np.zeros(len(order) + 1, dtype=bool)
    as_above[1:-1] = np.diff(topic[order]) == 0
    as_above[1:-1] &= np.diff(falling[order]) == 0
    # ids are compared where they decide only
    tied = order[as_above[:-1] | as_above[1:]].tolist()
    by_docno = np.zeros(len(order), dtype=np.int64)
    tied.sort(key=run.docno.__getitem__, reverse=True)
    by_docno[tied] = np.arange(len(tied))
    return np.lexsort((by_docno, falling, topic))


def as_text(ids: Sequence[bytes]) -> NDArray[np.str_]:
    """Topics or documents as text, different ones for different bytes."""
    if not ids:
        return np.array([], dtype=np.str_)
    array = np.array(ids)
    codes = array.view(np.uint8).reshape(len(ids), -1)
    if codes.max() < 128:
        # ASCII: as astype(np.str_) has it, which decodes id by id
        return codes.astype(np.uint32).view(f"U{array.itemsize}")[:, 0]
    parts = spelled(b"\n".join(ids)).split("\n")
    return np.array(parts if len(parts) == len(ids) else [*map(spelled, ids)])


def spelled(one: bytes) -> str:
    """A topic or document as text."""
    return one.decode("utf-8", "surrogateescape")


def as_bytes(ids: Sequence[str]) -> list[bytes]:
    """What `as_text` makes text of.

    Raises
    ------
    UnicodeEncodeError
        For a half of a surrogate pair that stands for no byte.
    """
    joined = "\n".join(ids).encode("utf-8", "surrogateescape")
    parts = joined.split(b"\n")
    if len(parts) == len(ids):
        return parts
    return [one.encode("utf-8", "surrogateescape") for one in ids]


def all_lines(lines: TrecLines) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Topics and documents of all lines, of which there must be one."""
    if not lines.docno:
        raise ValueError(f"{lines.source} must hold at least one line, got none")
    topics = np.repeat(as_text(list(lines.topics)), lines.n_lines_of_topics())
    return topics, as_text(lines.docno)
