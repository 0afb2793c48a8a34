"""One evaluation for all: labels prepared once, any scores and measures after that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    UNJUDGED,
    UNJUDGED_LABEL,
    Queries,
    check_choice,
    check_labels,
    check_qid,
    check_query_weight,
    check_scores,
)
from ..measures import Measure, parse_measure
from ..measures._names import names_where
from ..measures._parse import parse_measures
from ._averages import mean, means, reduce_queries
from ._labelled_queries import LabelledQueries
from ._report import PER_QUERY, RankingReport
from ._undefined import Asked, ask

TIES = ("expected", "best", "worst", "input")
AVERAGES = ("macro", "geometric", "median", "micro", None)
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_MEASURES = (DEFAULT_MEASURE, "ap", "rr")
#: measures whose ideals and chance levels are kept
_REMEMBERED = 64
#: kept of the same queries several times over
_COPIES = 4
_OF_A_REPORT = (*PER_QUERY, "sampling_error", "std_is_estimate")


class Prepared:
    """Checked labels in blocks of whole queries, for any scores and measures.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
    queries : Queries
    weight : ndarray of shape (n_queries,), optional
    keep : bool
        Keep the blocks for further scores; otherwise memory stays flat.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: Queries,
        weight: FloatArray | None = None,
        *,
        keep: bool = False,
    ) -> None:
        self.labels = labels
        self.queries = queries
        self.weight = weight
        self._keep = keep
        self._copies: dict[int, Prepared] = {}

    @cached_property
    def labelled(self) -> LabelledQueries:
        return LabelledQueries(self.labels, self.queries, keep=self._keep)

    def values(
        self,
        asked: Asked,
        scores: NDArray[Any],
        statistics: Sequence[str] = ("expected",),
        **options: Any,
    ) -> dict[str, FloatArray]:
        """Each of `statistics` per query and measure, undefined values replaced.

        `options` are those of `LabelledQueries.values`.
        """
        found = self.labelled.values(
            asked.measures, scores, statistics=statistics, **options
        )
        return asked.fill_statistics(found, self.queries, self.weight)

    def means(self, asked: Asked, values: FloatArray) -> list[float]:
        """Means over queries of one column per measure; warns where there is none."""
        averages: list[float] = means(values, self.weight).tolist()
        asked.warn_of_nan(averages)
        return averages

    def averaged(
        self, asked: Asked, scores: NDArray[Any], ties: str, average: str | None
    ) -> list[float | FloatArray]:
        """Each measure, averaged over queries; its values for no average."""
        plain = ties == "input"
        name = "expected" if plain else ties
        statistics = [name, "normaliser"] if average == "micro" else [name]
        found = self.values(asked, scores, statistics, input_order=plain)
        columns = found[name].T
        if average is None:
            return [*columns]
        if average == "micro":
            pooled = zip(columns, found["normaliser"].T, asked.value, strict=True)
            averages = [self._micro(*one) for one in pooled]
        else:
            averages = [reduce_queries(one, average, self.weight) for one in columns]
        asked.warn_of_nan(averages)
        return [*averages]

    def _micro(self, values: FloatArray, normaliser: FloatArray, empty: float) -> float:
        """Σ numerator / Σ denominator: the mean weighted by the denominators."""
        pooled = normaliser if self.weight is None else normaliser * self.weight
        result = mean(np.where(pooled > 0, values, np.nan), pooled)
        return float(empty) if np.isnan(result) else result

    def report(
        self, asked: Asked, scores: NDArray[Any], *, n_jobs: int | None = None
    ) -> RankingReport:
        """All that ties leave open, query by query."""
        raw = self.labelled.values(
            asked.measures, scores, statistics=_OF_A_REPORT, n_jobs=n_jobs
        )
        found = asked.fill_statistics(raw, self.queries, self.weight)
        return RankingReport(
            measures=asked.names,
            qid=self.queries.qid.copy(),
            **{name: found[name] for name in PER_QUERY},
            sampling_error=raw["sampling_error"],
            std_is_estimate=raw["std_is_estimate"] > 0,
            n_undefined=np.isnan(raw["expected"]).sum(axis=0),
            query_weight=None if self.weight is None else self.weight.copy(),
        )

    def of_labels(self, asked: Asked, statistics: Sequence[str]) -> list[FloatArray]:
        """Chance levels, ideals or other statistics that need no scores, filled."""
        found = self.labelled.of_labels(asked.measures, statistics)
        named = dict(zip(statistics, found, strict=True))
        return list(asked.fill_statistics(named, self.queries).values())

    def copies(self, number: int) -> Prepared:
        """So many times the same queries, for as many score columns in one call.

        A column alone costs as much as thousands of documents.
        """
        if number == 1:
            return self
        found = self._copies.get(number)
        if found is None:
            found = Prepared(
                np.tile(self.labels, number),
                self.queries.copies(number),
                None if self.weight is None else np.tile(self.weight, number),
                keep=True,
            )
            if len(self._copies) == _COPIES:
                self._copies = {}
            self._copies[number] = found
        return found

    def of_queries(self, chosen: IntArray) -> Prepared:
        """Some of the queries, their rows one query after another.

        The rows of this ranking must stand query by query.
        """
        return Prepared(
            self.labels[self.queries.rows(chosen)],
            self.queries.some(chosen),
            None if self.weight is None else self.weight[chosen],
        )


class PreparedRanking:
    """Labels checked and gathered by query once, for many columns of scores.

    What depends on the labels alone (queries, ideals, chance levels) is found once:
    to evaluate each feature, model or trial on the same data costs about half of
    what `ranking_score` and `evaluate` take, with the same bits.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels: finite and >= 0. NaN is unjudged.
    qid : array-like of shape (n_documents,), optional
        Query of each document: any hashable values, rows in any order. None is
        one query.
    query_weight : array-like of shape (n_documents,), optional
        Weight of each document's query in averages: >= 0, constant within a query.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant"}, default="raise"
        What to do with NaN labels.
    convention : str, optional
        As in `ranking_score`: the definitions of another tool.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    n_documents : int

    Raises
    ------
    ValueError
        For input that breaks a rule above.

    See Also
    --------
    ranking_score, evaluate : The same for one column of scores.

    Examples
    --------
    >>> from tieaware_sklearn import PreparedRanking
    >>> relevance, query = [0, 1, 0, 1, 0, 0], ["a", "a", "a", "b", "b", "b"]
    >>> prepared = PreparedRanking(relevance, query)
    >>> for scores in ([2, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]):
    ...     print(prepared.score(scores, "rr"))
    0.5833333333333333
    0.6111111111111112
    >>> prepared.evaluate([2, 1, 1, 1, 1, 0], ["rr", "p@2"]).best
    array([[0.5, 0.5],
           [1. , 0.5]])
    """

    def __init__(
        self,
        y_true: ArrayLike,
        qid: Any = None,
        *,
        query_weight: ArrayLike | None = None,
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        convention: str | None = None,
    ) -> None:
        ask((), zero_relevance, unjudged, convention)
        check_choice(unjudged, "unjudged", UNJUDGED)
        labels = check_labels(y_true, unjudged="nonrelevant")
        queries = check_qid(qid, n_rows=len(labels))
        weight = check_query_weight(query_weight, queries)
        self._prepared = Prepared(labels, queries, weight, keep=True)
        self._missing = bool((labels == UNJUDGED_LABEL).any())
        self._asked_before: set[Measure] = set()
        self._rules = (zero_relevance, unjudged, convention)

    @property
    def qid(self) -> NDArray[Any]:
        return self._prepared.queries.qid.copy()

    @property
    def n_documents(self) -> int:
        return self._prepared.queries.n_rows

    def score(
        self,
        y_score: ArrayLike,
        measure: str | Measure = DEFAULT_MEASURE,
        *,
        ties: str = "expected",
        average: str | None = "macro",
    ) -> float | FloatArray:
        """What scores are worth by one measure, as `ranking_score` has it.

        Parameters
        ----------
        y_score : array-like of shape (n_documents,)
            Scores, higher ranked first, equal ones tied; -inf is not retrieved.
        measure : str or Measure, default="ndcg@10"
            See `parse_measure`.
        ties, average
            As in `ranking_score`.

        Returns
        -------
        float, or ndarray of shape (n_queries,) with ``average=None``

        Raises
        ------
        ValueError
            As in `ranking_score`.
        """
        asked = self._ask([parse_measure(measure)])
        check_averaging(asked, ties, average)
        scores = check_scores(y_score, n_rows=self.n_documents)
        return self._prepared.averaged(asked, scores, ties, average)[0]

    def evaluate(
        self,
        y_score: ArrayLike,
        measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
        *,
        n_jobs: int | None = None,
    ) -> RankingReport:
        """What scores are worth by several measures, as `evaluate` has it.

        Parameters
        ----------
        y_score : array-like of shape (n_documents,)
            As in `score`.
        measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        n_jobs : int, optional
            Threads over blocks of queries (joblib); no result depends on it.

        Returns
        -------
        RankingReport

        Raises
        ------
        ValueError
            As in `evaluate`.
        """
        asked = self._ask(parse_measures(measures))
        scores = check_scores(y_score, n_rows=self.n_documents)
        return self._prepared.report(asked, scores, n_jobs=n_jobs)

    def _ask(self, measures: Sequence[Measure]) -> Asked:
        asked = ask(measures, *self._rules)
        if asked.unjudged == "raise" and self._missing:
            # in the words, and by the rows, of those who check at once
            labels = self._prepared.labels
            check_labels(np.where(labels == UNJUDGED_LABEL, np.nan, labels))
        self._asked_before.update(asked.measures)
        if len(self._asked_before) > _REMEMBERED:
            # what is kept for each measure must not add up without end
            old = self._prepared
            self._prepared = Prepared(old.labels, old.queries, old.weight, keep=True)
            self._asked_before = set(asked.measures)
        return asked


class ColumnNames(NamedTuple):
    """What messages call the arrays."""

    label: str = "y_true"
    score: str = "y_score"
    qid: str = "qid"
    weight: str = "query_weight"


def prepare(
    asked: Asked,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: Any = None,
    query_weight: ArrayLike | None = None,
    *,
    names: ColumnNames = ColumnNames(),  # noqa: B008
    allow_zero: bool = False,
    keep: bool = False,
) -> tuple[Prepared, NDArray[Any]]:
    """The one door of evaluation: labels, scores and weights, checked and gathered."""
    labels = check_labels(y_true, name=names.label, unjudged=asked.unjudged)
    scores = check_scores(y_score, n_rows=len(labels), name=names.score)
    queries = check_qid(qid, n_rows=len(labels), name=names.qid)
    weight = check_query_weight(
        query_weight, queries, allow_zero=allow_zero, name=names.weight
    )
    return Prepared(labels, queries, weight, keep=keep), scores


def check_averaging(asked: Asked, ties: str, average: str | None) -> None:
    """A way to treat ties, and an average that goes with the measures asked for."""
    check_choice(ties, "ties", TIES)
    check_choice(average, "average", AVERAGES)
    for measure in asked.measures:
        if average == "micro" and not measure.is_ratio:
            known = names_where(lambda cls: cls.is_ratio)
            raise ValueError(
                "average='micro' needs a measure that is a ratio of counts "
                f"({known}), got {measure}"
            )
