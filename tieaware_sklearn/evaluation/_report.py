"""The scores of a ranking, query by query and on average, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result, by_query
from .._display.tables import Table
from .._engine.added_up import AddedUp
from .._engine.seeds import seed_of
from .._engine.ties import FloatArray
from .._engine.validation import check_choice, check_count, check_qid
from ._averages import GEOMETRIC_FLOOR, median, sums_of_squares
from ._intervals import QueryMoments, bootstrap_interval, median_interval
from ._summary import RankingSummary, SegmentSummary, stack_summaries

#: what `RankingReport` says of each query and measure
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
_ARRAYS = (*PER_QUERY, "sampling_error", "std_is_estimate")


@dataclass(frozen=True, eq=False, repr=False)
class RankingReport(Result):
    """Scores of a ranking for each query and measure; prints as its summary.

    Attributes
    ----------
    measures : tuple of str
        Canonical names, such as ``"NDCG@10"``.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst, std : ndarray of shape (n_queries, n_measures)
        Mean, most and least favourable value, and standard deviation over the orders
        of tied documents. NaN where a query is skipped.
    sampling_error : ndarray of shape (n_queries, n_measures)
        Standard error of `expected` where it is estimated from sampled orders, 0
        where it is exact.
    std_is_estimate : ndarray of shape (n_queries, n_measures), bool
        Whether `std` is estimated from sampled orders.
    chance, ideal : ndarray of shape (n_queries, n_measures)
        Expected and best value if all documents of the query are retrieved and tie.
        No ranking of all documents has a better value than the ideal; P and F
        without a cut-off can exceed it where fewer documents are retrieved.
    n_undefined : ndarray of shape (n_measures,), int
        Number of queries where the measure is undefined.
    bounds : ndarray of shape (n_measures, 2)
        Smallest and largest value that each measure can have: [0, 1] for normalised
        measures, [0, inf] for sums such as DCG. Intervals stay within these bounds.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages.
    segment : ndarray of shape (n_queries,) or None
        Segment of each query, as given to `evaluate`.

    See Also
    --------
    evaluate : The function that returns this report.
    RankingSummary : The averages over queries.
    SegmentSummary : The averages over the queries of each segment.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=["a", "a", "b", "b"],
    ...                   measures="rr")
    >>> report.qid
    array(['a', 'b'], dtype='<U1')
    >>> report.expected[:, 0], report.worst[:, 0]
    (array([1.  , 0.75]), array([1. , 0.5]))
    """

    measures: tuple[str, ...]
    qid: NDArray[Any]
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    std: FloatArray
    sampling_error: FloatArray
    std_is_estimate: NDArray[np.bool_]
    chance: FloatArray
    ideal: FloatArray
    n_undefined: NDArray[np.int64]
    bounds: FloatArray
    query_weight: FloatArray | None = None
    segment: NDArray[Any] | None = None

    def summary(
        self,
        average: str = "macro",
        *,
        interval: str = "t",
        n_resamples: int = 9999,
        random_state: Any = 0,
    ) -> RankingSummary:
        """Average over queries.

        Parameters
        ----------
        average : {"macro", "geometric", "median"}, default="macro"
            Average of the expected values: the mean ("macro"); the geometric mean of
            values raised to at least 1e-5, whose interval is that of the mean
            logarithm; or the median (Fuhr 2017), weighted as in `ranking_score`. The
            geometric mean and the median have no tie std.
        interval : {"t", "bootstrap"}, default="t"
            Interval of the average. "t" is Student's t interval, which is symmetric
            except where it is cut at `bounds`; for medians, it comes from the ranks of
            the values instead. "bootstrap" is the BCa interval of
            `scipy.stats.bootstrap` (Efron 1987): queries are resampled with their
            weights, and the interval stays within the range of their values. It takes
            about 1.5 s per measure for 20,000 queries, in proportion to their number.
            There is no bootstrap interval for medians.
        n_resamples : int, default=9999
            Number of bootstrap samples, at least 2.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the bootstrap. Equal seeds give equal intervals, whatever the order
            of rows.

        Returns
        -------
        RankingSummary

        Raises
        ------
        ValueError
            For an unknown option, and for a bootstrap interval of a median.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([1, 0, 0, 1], [2, 1, 1, 1], qid=[1, 1, 2, 2],
        ...                   measures="rr")
        >>> report.summary("median").mean
        array([0.875])
        """
        check_choice(average, "average", ("macro", "geometric", "median"))
        check_choice(interval, "interval", ("t", "bootstrap"))
        check_count(n_resamples, "n_resamples", least=2)
        if average == "median":
            if interval == "bootstrap":
                raise ValueError(
                    "interval must be 't' with average='median' (it then comes from "
                    "the ranks of the values), got 'bootstrap'"
                )
            return self._medians()
        found = ReportMoments.of(self, average).summary()
        if interval == "t":
            return found
        seed = seed_of(random_state)
        return replace(found, interval=self._bootstrap(average, n_resamples, seed))

    def _medians(self) -> RankingSummary:
        medians = [
            np.array([median(column, self.query_weight) for column in values.T])
            for values in averaged(self)
        ]
        unknown = np.full(len(self.measures), np.nan)
        interval = np.array([median_interval(column) for column in self.expected.T])
        if self.query_weight is not None:
            interval[:] = np.nan
        return _summary(
            self,
            "median",
            medians,
            interval,
            tie_std=unknown,
            sampling_error=unknown,
            n_estimated=self.std_is_estimate.sum(axis=0),
            n_queries=QueryMoments.of(self.expected, self.query_weight).count,
        )

    def by_segment(
        self,
        average: str = "macro",
        *,
        interval: str = "t",
        n_resamples: int = 9999,
        random_state: Any = 0,
    ) -> SegmentSummary:
        """Average over the queries of each segment, and over all queries.

        Parameters
        ----------
        average, interval, n_resamples, random_state
            As in `summary`.

        Returns
        -------
        SegmentSummary

        Raises
        ------
        ValueError
            As in `summary`, and if no `segment` was given to `evaluate`.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]],
        ...                   segment=["short", "long", "long"], measures="rr")
        >>> print(report.by_segment(interval="bootstrap"))
        RR     queries   mean  worst   best  tie std  chance    lift    95% interval
        ----------------------------------------------------------------------------
        long         2  0.625  0.500  0.750    0.125   0.750  -0.500  [0.500, 0.750]
        short        1  1.000  1.000  1.000    0.000   0.750   1.000          [-, -]
        all          3  0.750  0.667  0.833    0.083   0.750   0.000  [0.500, 1.000]
        """
        if self.segment is None:
            raise ValueError("segment must be given to evaluate, got None")
        seed = seed_of(random_state)

        def summary(report: RankingReport) -> RankingSummary:
            return report.summary(
                average, interval=interval, n_resamples=n_resamples, random_state=seed
            )

        segments, each = of_segments(self)
        return stack_summaries(segments, list(map(summary, each)), summary(self))

    def _some(self, queries: NDArray[np.intp]) -> RankingReport:
        """What averages over some of the queries are made of."""
        weight = self.query_weight
        values: dict[str, Any] = {
            name: getattr(self, name)[queries] for name in (*_ARRAYS, "qid")
        }
        values["query_weight"] = None if weight is None else weight[queries]
        return replace(self, segment=None, **values)

    def _bootstrap(self, average: str, n_resamples: int, seed: int) -> FloatArray:
        """Intervals of the averages, of shape (n_measures, 2)."""
        values = self.expected
        if average == "geometric":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        ends = np.array(
            [
                bootstrap_interval(
                    column,
                    self.query_weight,
                    n_resamples=n_resamples,
                    random_state=seed,
                )
                for column in values.T
            ]
        )
        return np.exp(ends) if average == "geometric" else ends

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in _ARRAYS}
        columns = by_query(self.qid, self.measures, values)
        if self.segment is None:
            return columns
        segment = np.repeat(self.segment, len(self.measures))
        return {"qid": columns["qid"], "segment": segment} | columns

    def _tables(self) -> list[Table]:
        return self.summary()._tables()


@dataclass
class ReportMoments(AddedUp):
    """What the macro or geometric averages of a report are made of; two merge.

    Attributes
    ----------
    bounds : tuple of pairs
        As in `RankingReport`.
    values : QueryMoments
        Of the expected, best and worst values, chance and ideal, or of their
        logarithms; columns (5, n_measures).
    tie_variance, error_variance : ndarray of shape (n_measures,)
        Σ w² s² over queries, s the standard deviation over the orders of ties, or the
        standard error where orders were sampled.
    n_estimated : ndarray of shape (n_measures,), int
    """

    measures: tuple[str, ...]
    average: str
    bounds: tuple[tuple[float, ...], ...]
    values: QueryMoments
    tie_variance: FloatArray
    error_variance: FloatArray
    n_estimated: NDArray[np.int64]

    @classmethod
    def of(cls, report: RankingReport, average: str) -> ReportMoments:
        weight = report.query_weight

        def moments(values: FloatArray) -> QueryMoments:
            if average == "geometric":
                values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
            return QueryMoments.of(values, weight)

        return cls(
            report.measures,
            average,
            tuple(map(tuple, report.bounds.tolist())),
            QueryMoments.stack([moments(values) for values in averaged(report)]),
            sums_of_squares(report.std, weight),
            sums_of_squares(report.sampling_error, weight),
            report.std_is_estimate.sum(axis=0),
        )

    def summary(self) -> RankingSummary:
        """The averages."""
        averages, intervals = self.values.averages(), self.values.interval()
        total = np.where(self.values.weight[0] > 0, self.values.weight[0], np.nan)
        if self.average == "geometric":
            averages, intervals = np.exp(averages), np.exp(intervals)
            total[:] = np.nan
        low, high = np.array(self.bounds).T
        return _summary(
            self,
            self.average,
            averages,
            np.clip(intervals[0], low[:, None], high[:, None]),
            tie_std=np.sqrt(self.tie_variance) / total,
            sampling_error=np.sqrt(self.error_variance) / total,
            n_estimated=self.n_estimated,
            n_queries=self.values.count[0],
        )


def of_segments(report: RankingReport) -> tuple[NDArray[Any], list[RankingReport]]:
    """The segments in ascending order, and the report of each."""
    segments = check_qid(
        report.segment, n_rows=len(report.qid), name="segment", empty=True
    )
    ascending = segments.sorted()
    each = [
        report._some(segments.given(segments.rows(np.array([one]))))
        for one in ascending
    ]
    return segments.qid[ascending], each


def averaged(report: RankingReport) -> list[FloatArray]:
    """What is averaged: expected, best and worst values, chance level and ideal."""
    return [report.expected, report.best, report.worst, report.chance, report.ideal]


def _summary(
    of: RankingReport | ReportMoments,
    average: str,
    averages: Sequence[FloatArray] | FloatArray,
    interval: FloatArray,
    *,
    n_queries: FloatArray,
    **others: Any,
) -> RankingSummary:
    """A summary, from averages of what `averaged` gives."""
    names = ("mean", "best", "worst", "chance", "ideal")
    named = dict(zip(names, averages, strict=True))
    return RankingSummary(
        measures=of.measures,
        average=average,
        **named,
        lift=lift(named["mean"], named["chance"], named["ideal"]),
        interval=interval,
        n_queries=n_queries.astype(np.int64),
        **others,
    )


def lift(score: FloatArray, chance: FloatArray, ideal: FloatArray) -> FloatArray:
    """(score - chance) / (ideal - chance), 0 where ideal and chance are equal."""
    room = ideal - chance
    out = np.where(np.isnan(score), np.nan, 0.0)
    np.divide(score - chance, room, out=out, where=np.abs(room) > 1e-12)
    # 0 over a negative room is -0.0
    return out + 0.0
