"""Judgments by topic, in which the documents of runs are looked up."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from .._engine.segments import consecutive, count_segments, offsets_of
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    DROPPED_LABEL,
    UNJUDGED_LABEL,
    Queries,
    is_retrieved,
)
from ..io._trec_inputs import given_qrels, given_run
from ..io._trec_lines import SCORE, as_text, spelled
from ..io._trec_tables import is_table
from ._prepared_ranking import Prepared
from ._undefined import Asked

#: whole numbers up to here are 64-bit floats, all of them
_WHOLE = 2**53


class TopicRows(NamedTuple):
    """Documents of topics, one topic after another, retrieved or judged or both.

    Attributes
    ----------
    topics : list of str
    labels : ndarray of shape (n_rows,)
        `UNJUDGED_LABEL` where a document is not judged, or `DROPPED_LABEL` if such
        documents are left out.
    scores : ndarray of shape (n_rows,)
        -inf where a document is not retrieved.
    sizes : ndarray of shape (n_topics,)
        Rows of each topic, at least one.
    """

    topics: list[str]
    labels: FloatArray
    scores: FloatArray
    sizes: IntArray

    def values(self, asked: Asked, statistics: tuple[str, ...]) -> list[FloatArray]:
        """Each of `statistics`, of shape (n_topics, n_measures)."""
        queries = Queries(np.array(self.topics), offsets_of(self.sizes), None)
        found = Prepared(self.labels, queries).values(asked, self.scores, statistics)
        return [found[name] for name in statistics]

    def n_retrieved(self, least: float | None = None) -> FloatArray:
        """Documents of each topic that are retrieved, with labels of at least `least`.

        Without it, documents without a label count, too.
        """
        counted = is_retrieved(self.scores)
        if least is None:
            counted &= self.labels != DROPPED_LABEL
        else:
            counted &= self.labels >= least
        return count_segments(counted, self.sizes).astype(np.float64)

    def n_judged(self, least: float) -> FloatArray:
        """Documents of each topic, retrieved or not, with labels of at least that."""
        return count_segments(self.labels >= least, self.sizes).astype(np.float64)


class JudgedTopics:
    """The labels of each topic that has any.

    Parameters
    ----------
    qrels : dict of dicts, or what else `load_trec` reads judgments from

    Raises
    ------
    ValueError
        As `load_trec`.
    """

    def __init__(self, qrels: Any) -> None:
        lines = given_qrels(qrels)
        own = lines.numbers[:, 0]
        labels = np.where(np.isnan(own), UNJUDGED_LABEL, own).tolist()
        docno = as_text(lines.docno).tolist()
        self._labels: dict[str, dict[str, float]] = {
            spelled(topic): dict(zip(docno[rows], labels[rows], strict=True))
            for topic, rows in lines.topics.items()
            if rows.stop > rows.start
        }

    @property
    def topics(self) -> list[str]:
        return list(self._labels)

    def rows(self, run: Any, name: str, *, judged_only: bool = False) -> TopicRows:
        """The documents of the topics that are judged and in a run, in its order.

        Parameters
        ----------
        run : dict of dicts, or what else `load_trec` reads a run from
        name : str
            What messages call it.
        judged_only : bool
            Leave out documents without a label.

        Raises
        ------
        ValueError
            As `load_trec`, but for runs without a topic that is judged.
        """
        ranked = run if _is_plain(run) else _plain(run, name)
        known = [topic for topic in ranked if topic in self._labels]
        labels: list[float] = []
        n_ranked, sizes = [], []
        for topic in known:
            judged, documents = self._labels[topic], ranked[topic]
            before = len(labels)
            labels += map(judged.get, documents, repeat(UNJUDGED_LABEL))
            n_ranked.append(len(labels) - before)
            labels += [label for one, label in judged.items() if one not in documents]
            sizes.append(len(labels) - before)
        found = np.array(labels, dtype=np.float64)
        scores = np.full(len(found), -np.inf)
        lengths = np.array(sizes, dtype=np.int64)
        top = consecutive(offsets_of(lengths)[:-1], np.array(n_ranked, dtype=np.int64))
        values = chain.from_iterable(ranked[topic].values() for topic in known)
        scores[top] = np.fromiter(values, np.float64, len(top))
        if judged_only:
            found[found == UNJUDGED_LABEL] = DROPPED_LABEL
        return TopicRows(known, found, scores, lengths)


def _is_plain(run: Any) -> bool:
    """Whether it is a dict of dicts of which nothing has to be read or refused.

    To look at types alone takes a tenth of the time of reading it as a file.
    """
    if not isinstance(run, dict) or is_table(run):
        return False
    if not all(type(documents) is dict for documents in run.values()):
        return False
    if {*map(type, run), *map(type, chain.from_iterable(run.values()))} - {str}:
        return False
    scores = [*chain.from_iterable(documents.values() for documents in run.values())]
    kinds = set(map(type, scores))
    if kinds - {float, int, np.float64}:
        return False
    if int in kinds and max(map(abs, scores)) > _WHOLE:
        return False
    return bool(np.isfinite(np.array(scores, dtype=np.float64)).all())


def _plain(run: Any, name: str) -> Mapping[str, Mapping[str, float]]:
    lines = given_run(run, name)
    docno = as_text(lines.docno).tolist()
    scores = lines.numbers[:, SCORE].tolist()
    return {
        spelled(topic): dict(zip(docno[rows], scores[rows], strict=True))
        for topic, rows in lines.topics.items()
    }
