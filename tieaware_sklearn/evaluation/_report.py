"""What a ranking is worth, query by query and on average, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result, by_query
from .._display.tables import format_columns
from .._engine.added_up import AddedUp
from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ._averages import GEOMETRIC_FLOOR, median, sums_of_squares
from ._intervals import QueryMoments, median_interval

#: what `RankingReport` says of each query and measure
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")


@dataclass(frozen=True, eq=False, repr=False)
class RankingSummary(Result):
    """Averages over queries of a `RankingReport`; prints as a table.

    Attributes
    ----------
    measures : tuple of str
    average : {"macro", "geometric", "median"}
    mean, best, worst : ndarray of shape (n_measures,)
        Averages over queries.
    tie_std : ndarray of shape (n_measures,)
        Standard deviation of the average over the orders of tied documents; NaN
        for geometric means and medians.
    chance, ideal : ndarray of shape (n_measures,)
        Averages over queries. `ideal` is the best value when all documents of a
        query are retrieved and tie.
    lift : ndarray of shape (n_measures,)
        (mean - chance) / (ideal - chance): 0 for no better than chance, 1 for the
        ideal; 0 where the two are equal.
    interval : ndarray of shape (n_measures, 2)
        95 % interval of the average over queries: t of the mean, from the ranks
        of the values of the median; NaN for too few queries. That of a mean is
        symmetric, and may reach beyond what the measure can be.
    sampling_error : ndarray of shape (n_measures,)
        Standard error of `mean` where orders had to be sampled (long ties under
        IPrec and IAP); 0 where it is exact, as it is for all other measures.
    n_estimated : ndarray of shape (n_measures,), int
        Queries whose standard deviation comes from sampled orders.
    n_queries : ndarray of shape (n_measures,), int
        Queries averaged.
    """

    measures: tuple[str, ...]
    average: str
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    tie_std: FloatArray
    chance: FloatArray
    ideal: FloatArray
    lift: FloatArray
    interval: FloatArray
    sampling_error: FloatArray
    n_estimated: NDArray[np.int64]
    n_queries: NDArray[np.int64]

    def __str__(self) -> str:
        macro, median = self.average == "macro", self.average == "median"
        columns = [
            ("measure" if macro else self.average, self.measures),
            ("median" if median else "mean", self.mean),
            ("worst", self.worst),
            ("best", self.best),
            ("tie std", self.tie_std),
            ("chance", self.chance),
            ("lift", self.lift),
            ("95% interval", self.interval),
            ("queries", self.n_queries),
        ]
        return "\n".join([format_columns(columns), *self.notes()])

    def notes(self) -> list[str]:
        """What in the table is an estimate."""
        notes = []
        for i, name in enumerate(self.measures):
            if self.sampling_error[i] > 0:
                notes.append(
                    f"{name}: mean over sampled orders, standard error "
                    f"{self.sampling_error[i]:.1g}"
                )
            if self.n_estimated[i]:
                count = self.n_estimated[i]
                of = "1 query" if count == 1 else f"{count} queries"
                notes.append(f"{name}: tie std of {of} from sampled orders")
        return notes


@dataclass(frozen=True, eq=False, repr=False)
class RankingReport(Result):
    """What a ranking is worth, query by query; prints as its summary.

    Attributes
    ----------
    measures : tuple of str
        Canonical names, such as ``"NDCG@10"``.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst, std : ndarray of shape (n_queries, n_measures)
        Mean, most and least favourable value, and standard deviation over the
        orders of the tied documents. NaN where a query was skipped.
    sampling_error : ndarray of shape (n_queries, n_measures)
        Standard error of `expected` where orders had to be sampled, 0 where exact.
    std_is_estimate : ndarray of shape (n_queries, n_measures), bool
        Where `std` comes from sampled orders.
    chance, ideal : ndarray of shape (n_queries, n_measures)
        Expected and best value if every score were equal: no score can do better
        than the ideal by ranking all documents (uncut P and F can, by retrieving
        fewer).
    n_undefined : ndarray of shape (n_measures,), int
        Queries where the measure is undefined.
    query_weight : ndarray of shape (n_queries,) or None
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
    query_weight: FloatArray | None = None

    def summary(self, average: str = "macro") -> RankingSummary:
        """Averages over queries.

        Parameters
        ----------
        average : {"macro", "geometric", "median"}, default="macro"
            The mean; the geometric mean of the expected values (floor 1e-5),
            its interval that of the mean logarithm; the median of the expected
            values (Fuhr 2017), weighted as in `ranking_score`. The last two have no
            tie std.

        Returns
        -------
        RankingSummary

        Raises
        ------
        ValueError
            For another `average`.
        """
        check_choice(average, "average", ("macro", "geometric", "median"))
        if average != "median":
            return ReportMoments.of(self, average).summary()
        medians = [
            np.array([median(column, self.query_weight) for column in values.T])
            for values in _averaged(self)
        ]
        unknown = np.full(len(self.measures), np.nan)
        interval = np.array([median_interval(column) for column in self.expected.T])
        if self.query_weight is not None:
            interval[:] = np.nan
        return _summary(
            self,
            average,
            medians,
            interval,
            tie_std=unknown,
            sampling_error=unknown,
            n_estimated=self.std_is_estimate.sum(axis=0),
            n_queries=QueryMoments.of(self.expected, self.query_weight).count,
        )

    def _columns(self) -> dict[str, Any]:
        names = (*PER_QUERY, "sampling_error", "std_is_estimate")
        values = {name: getattr(self, name) for name in names}
        return by_query(self.qid, self.measures, values)

    def __str__(self) -> str:
        return str(self.summary())


@dataclass
class ReportMoments(AddedUp):
    """What the macro or geometric averages of a report are made of; two merge.

    Attributes
    ----------
    values : QueryMoments
        Of the expected, best and worst values, chance and ideal, or of their
        logarithms; columns (5, n_measures).
    tie_variance, error_variance : ndarray of shape (n_measures,)
        Σ w² s² over queries, s the standard deviation over tie orders, or the
        standard error where orders were sampled.
    n_estimated : ndarray of shape (n_measures,), int
    """

    measures: tuple[str, ...]
    average: str
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
            QueryMoments.stack([moments(values) for values in _averaged(report)]),
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
        return _summary(
            self,
            self.average,
            averages,
            intervals[0],
            tie_std=np.sqrt(self.tie_variance) / total,
            sampling_error=np.sqrt(self.error_variance) / total,
            n_estimated=self.n_estimated,
            n_queries=self.values.count[0],
        )


def _averaged(report: RankingReport) -> list[FloatArray]:
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
    """A summary, from averages of what `_averaged` gives."""
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
