"""Judgments and runs, grouped by topic."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._engine import exact_numbers, messages
from .._typing import FloatArray, IntArray

#: Ids are strings. Bytes that are not UTF-8 become surrogate escapes, so that different
#: bytes are different ids.
UTF8 = ("utf-8", "surrogateescape")


class Kind(NamedTuple):
    """Judgments or runs, with their words in messages and their columns of numbers."""

    #: Participle in messages: a document was judged, or retrieved.
    happened: str
    number: str
    #: Possible names of the column of numbers in tables.
    columns: tuple[str, ...]


JUDGMENTS = Kind("judged", "label", ("target", "relevance", "label"))
RUN = Kind("retrieved", "score", ("score",))


class Topic(NamedTuple):
    """The lines of a topic, in the order of the input."""

    docno: list[str]
    #: Scores, or labels with NaN for labels below 0.
    values: FloatArray
    #: Ranks, or NaN if there are no ranks.
    rank: FloatArray

    def trec_eval_order(self) -> IntArray:
        """Sort the lines by score in 32 bits, then by document id, both descending."""
        ids = np.array([*map(as_bytes, self.docno)])
        return np.lexsort((ids, exact_numbers.in_32_bits(self.values)))[::-1]


class TrecLines(NamedTuple):
    """Judgments or a run.

    Attributes
    ----------
    source : str
        Name of the file or of the argument, for messages.
    topics : dict
        A `Topic` for each topic, in the order of the input.
    tag : str, optional
        The tag shared by all lines of a run.
    """

    source: str
    topics: dict[str, Topic]
    tag: str | None = None

    @property
    def n_lines(self) -> int:
        return sum(len(topic.docno) for topic in self.topics.values())

    def columns(self, number: str) -> dict[str, Any]:
        """Return the topic, document, number and rank of each line.

        Raises
        ------
        ValueError
            If there is no line.
        """
        if not self.n_lines:
            raise ValueError(f"{self.source} must contain at least one line, got none")
        topics = self.topics.values()
        sizes = [len(topic.docno) for topic in topics]
        documents: list[str] = []
        for topic in topics:
            documents += topic.docno
        return {
            "qid": np.repeat(np.array([*self.topics]), sizes),
            "docno": np.array(documents),
            number: np.concatenate([topic.values for topic in topics]),
            "rank": np.concatenate([topic.rank for topic in topics]),
        }


def as_bytes(docno: str) -> bytes:
    """Return the bytes of an id, by which trec_eval sorts."""
    return docno.encode(*UTF8)


def group_by_topic(
    kind: Kind,
    topics: Sequence[str],
    docno: Sequence[str],
    values: FloatArray,
    rank: FloatArray,
    *,
    source: str,
    place: messages.Place,
    names: Iterable[str] = (),
) -> TrecLines:
    """Group the lines by topic.

    Parameters
    ----------
    kind : Kind
    topics, docno, values, rank
        Columns with one element for each line. Lines with a score of -inf are left out,
        because their documents are not retrieved.
    source : str
        Name of the file or of the argument, for messages.
    place : callable
        Function that returns the location of a row, for messages.
    names : iterable of str
        Topics that come first, even if they have no lines.

    Raises
    ------
    ValueError
        If a document occurs twice in a topic.
    """
    rows_by_topic: dict[str, dict[str, int]] = defaultdict(dict)
    for name in names:
        rows_by_topic[name] = {}
    for row in np.flatnonzero(values != -np.inf).tolist():
        first = rows_by_topic[topics[row]].setdefault(docno[row], row)
        if first != row:
            raise ValueError(
                f"{source}, {place(row)}: {docno[row]} is {kind.happened} twice for "
                f"topic {topics[row]}, first in {place(first)}"
            )
    if kind is JUDGMENTS:
        values = np.where(values < 0, np.nan, values)
    grouped = {}
    for topic, documents in rows_by_topic.items():
        chosen = np.array([*documents.values()], dtype=np.int64)
        grouped[topic] = Topic([*documents], values[chosen], rank[chosen])
    return TrecLines(source, grouped)
