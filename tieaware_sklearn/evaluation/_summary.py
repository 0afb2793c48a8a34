"""Averages over queries, of all of them and by segment, as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result, by_query
from .._display.tables import Ranges, Table, bracketed, number
from .._engine.ties import FloatArray
from ..io._saved import Saved
from ..io._saved_file import Kept, UnreadableError

#: decimals of a table by segment
_DIGITS = 3
#: what trackers of experiments do not take in names
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]+")
_FIGURES = (
    *("mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval"),
    *("sampling_error", "n_estimated", "n_queries"),
)
_COUNTS = ("n_estimated", "n_queries")


@dataclass(frozen=True, eq=False, repr=False)
class RankingSummary(Saved, Result):
    """Averages over queries of a `RankingReport`; prints as a table.

    `save` writes it to a file, and `load` reads it again. Only summaries of
    `evaluate_batches` merge.

    Attributes
    ----------
    measures : tuple of str
        Canonical names.
    average : {"macro", "geometric", "median"}
        Average over queries.
    mean, best, worst : ndarray of shape (n_measures,)
        Averages over queries of the expected, best and worst values.
    tie_std : ndarray of shape (n_measures,)
        Standard deviation of `mean` over the orders of tied documents. NaN for
        geometric means and medians.
    chance, ideal : ndarray of shape (n_measures,)
        Averages over queries of the expected and the best value if all documents of a
        query are retrieved and tie.
    lift : ndarray of shape (n_measures,)
        (mean - chance) / (ideal - chance): 0 for a ranking at the chance level, 1 for
        the ideal ranking. It is set to 0 where ideal and chance are equal.
    interval : ndarray of shape (n_measures, 2)
        95% interval of the average over queries: the t interval of a mean, an interval
        from the ranks of the values for a median, or a bootstrap interval. NaN for too
        few queries. The t interval is symmetric except where it is cut at the range of
        the measure: [0, 1] for normalised measures, [0, inf) for sums.
    sampling_error : ndarray of shape (n_measures,)
        Standard error of `mean` where it is estimated from sampled orders, which
        happens only for long ties under IPrec and IAP; otherwise 0.
    n_estimated : ndarray of shape (n_measures,), int
        Number of queries whose standard deviation is estimated from sampled orders.
    n_queries : ndarray of shape (n_measures,), int
        Number of queries in the average.

    See Also
    --------
    RankingReport.summary : The method that returns this summary.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> summary = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=[1, 1, 2, 2],
    ...                    measures="rr").summary()
    >>> summary.mean, summary.chance, summary.lift
    (array([0.875]), array([0.75]), array([0.5]))
    """

    _kind: ClassVar[str] = "RankingSummary"

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

    def _kept(self) -> Kept:
        header = {"measures": list(self.measures), "average": self.average}
        return Kept(header, {name: getattr(self, name) for name in _FIGURES})

    @classmethod
    def _of_kept(cls, kept: Kept) -> Self:
        return cls(**figures_of(kept))

    def _tables(self) -> list[Table]:
        first = {"macro": "measure"}.get(self.average, self.average)
        columns: list[tuple[str, Any]] = [
            (first, self.measures),
            ("median" if self.average == "median" else "mean", self.mean),
            ("worst", self.worst),
            ("best", self.best),
            ("tie std", self.tie_std),
            ("chance", self.chance),
            ("lift", self.lift),
            ("95% interval", self.interval),
        ]
        counts, notes = np.unique(self.n_queries), self.notes()
        if len(counts) == 1:
            notes.insert(0, "1 query" if counts[0] == 1 else f"{counts[0]} queries")
        else:
            columns.append(("queries", self.n_queries))
        largest = np.fmax.reduce([self.ideal, self.best, self.worst, self.chance])
        ranges = Ranges(self.worst, self.mean, self.best, largest)
        return [Table.of(*columns, drop=(4, 5), notes=notes, ranges=ranges)]

    def to_metrics(self) -> dict[str, float]:
        """Return all figures under stable names, for experiment trackers.

        Returns
        -------
        dict of str to float
            The keys are the measure and the attribute, such as ``"NDCG_at_10/mean"``
            and ``"NDCG_at_10/tie_std"``; `interval` becomes ``interval_low`` and
            ``interval_high``. Keys consist of letters, digits and ``_ . - /``, as
            MLflow requires. Averages other than the mean are part of the key:
            ``"NDCG_at_10_median/mean"``. NaN values are left out.

        Raises
        ------
        ValueError
            For measures whose names do not differ in ASCII letters and digits, which
            would have the same key.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> summary = evaluate([0, 1, 1], [2, 2, 1], measures=["p@1", "ap"]).summary()
        >>> metrics = summary.to_metrics()
        >>> metrics["P_at_1/mean"], metrics["P_at_1/best"], metrics["P_at_1/worst"]
        (0.5, 1.0, 0.0)
        """
        figures = self._columns()
        names = _plain_names("measures", figures.pop("measure"))
        average = "" if self.average == "macro" else f"_{self.average}"
        return {
            f"{name}{average}/{figure}": float(value)
            for figure, values in figures.items()
            for name, value in zip(names, values, strict=True)
            if not np.isnan(value)
        }

    def notes(self) -> list[str]:
        """Notes on which values of the table are estimates."""
        notes = []
        for i, name in enumerate(self.measures):
            if self.sampling_error[i] > 0:
                notes.append(
                    f"{name}: the mean is estimated from sampled orders of ties, with "
                    f"a standard error of {self.sampling_error[i]:.1g}"
                )
            if self.n_estimated[i]:
                count = self.n_estimated[i]
                of = "1 query" if count == 1 else f"{count} queries"
                notes.append(
                    f"{name}: the tie std of {of} is estimated from sampled orders of "
                    "ties"
                )
        return notes


@dataclass(frozen=True, eq=False, repr=False)
class SegmentSummary(Result):
    """Averages over the queries of each segment; prints as a table per measure.

    Attributes
    ----------
    measures : tuple of str
        Canonical names.
    average : {"macro", "geometric", "median"}
        Average over queries.
    segment : ndarray of shape (n_segments,)
        Segments in ascending order.
    mean, best, worst, tie_std, chance, ideal, lift, sampling_error : \
ndarray of shape (n_segments, n_measures)
        As in `RankingSummary`, over the queries of each segment.
    interval : ndarray of shape (n_segments, n_measures, 2)
        As in `RankingSummary`, over the queries of each segment.
    n_estimated, n_queries : ndarray of shape (n_segments, n_measures), int
        As in `RankingSummary`, over the queries of each segment.
    overall : RankingSummary
        The averages over all queries.

    See Also
    --------
    RankingReport.by_segment : The method that returns this summary.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=[1, 1, 2, 2],
    ...                   measures="rr", segment=["head", "head", "tail", "tail"])
    >>> found = report.by_segment()
    >>> dict(zip(found.segment.tolist(), found.mean[:, 0].tolist()))
    {'head': 1.0, 'tail': 0.75}
    """

    measures: tuple[str, ...]
    average: str
    segment: NDArray[Any]
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
    overall: RankingSummary

    def to_metrics(self) -> dict[str, float]:
        """Return all figures of all segments under stable names.

        Returns
        -------
        dict of str to float
            The keys are the segment and a key of `RankingSummary.to_metrics`, such as
            ``"head/NDCG_at_10/mean"``. NaN values are left out.
            ``overall.to_metrics()`` returns the figures of all queries.

        Raises
        ------
        ValueError
            For segments or measures whose names do not differ in ASCII letters and
            digits.

        See Also
        --------
        RankingSummary.to_metrics : The figures of all queries.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=[1, 1, 2, 2],
        ...                   measures="rr", segment=["head", "head", "tail", "tail"])
        >>> metrics = report.by_segment().to_metrics()
        >>> metrics["head/RR/mean"], metrics["tail/RR/mean"]
        (1.0, 0.75)
        """
        segments = _plain_names("segments", list(map(str, self.segment.tolist())))
        return {
            f"{segment}/{name}": value
            for i, segment in enumerate(segments)
            for name, value in self._of_segment(i).to_metrics().items()
        }

    def _of_segment(self, i: int) -> RankingSummary:
        figures = {name: getattr(self, name)[i] for name in _FIGURES}
        return RankingSummary(self.measures, self.average, **figures)

    def _columns(self) -> dict[str, Any]:
        figures = {name: getattr(self, name) for name in _FIGURES}
        low, high = np.moveaxis(figures.pop("interval"), -1, 0)
        columns = by_query(self.segment, self.measures, figures)
        segment = {"segment": columns.pop("qid")}
        ends = {"interval_low": low.ravel(), "interval_high": high.ravel()}
        return segment | columns | ends

    def _tables(self) -> list[Table]:
        tables = [self._table(j) for j in range(len(self.measures))]
        tables[-1] = replace(tables[-1], notes=self.overall.notes())
        return tables

    def _table(self, measure: int) -> Table:
        """All segments by one measure."""
        first = {"macro": "mean", "geometric": "geom.", "median": "median"}
        figures = {
            name: np.append(getattr(self, name)[:, measure], of_all[measure])
            for name in ("mean", "worst", "best", "tie_std", "chance", "lift")
            for of_all in [getattr(self.overall, name)]
        }
        ends = [*self.interval[:, measure], self.overall.interval[measure]]
        return Table.of(
            (self.measures[measure], [*map(str, self.segment.tolist()), "all"]),
            ("queries", [*self.n_queries[:, measure], self.overall.n_queries[measure]]),
            *(
                (
                    first[self.average] if name == "mean" else name.replace("_", " "),
                    values,
                    partial(number, digits=_DIGITS),
                )
                for name, values in figures.items()
            ),
            ("95% interval", ends, partial(bracketed, digits=_DIGITS)),
            drop=(5, 6),
            ranges=Ranges(figures["worst"], figures["mean"], figures["best"]),
        )


def figures_of(kept: Kept) -> dict[str, Any]:
    """All attributes of a summary, from a file."""
    measures, average = kept.texts("measures"), kept.value("average", str)
    if average not in ("macro", "geometric", "median"):
        raise UnreadableError(f"must have an average over queries, got {average!r}")
    if not measures:
        raise UnreadableError("must have 'measures' in its header, got none")
    figures = {
        name: kept.array(
            name,
            "i" if name in _COUNTS else "f",
            len(measures),
            *(2,) * (name == "interval"),
        )
        for name in _FIGURES
    }
    return {"measures": measures, "average": average, **figures}


def _plain_names(what: str, names: Sequence[str]) -> list[str]:
    """Names that trackers of experiments take."""
    plain = [
        _NOT_PLAIN.sub("_", name.replace("@", "_at_")).strip("_") for name in names
    ]
    if len(set(plain)) < len(plain) or not all(plain):
        raise ValueError(
            f"{what} must have names that differ in ASCII letters and digits, got "
            f"{', '.join(names)}"
        )
    return plain


def stack_summaries(
    segment: NDArray[Any], summaries: Sequence[RankingSummary], overall: RankingSummary
) -> SegmentSummary:
    """Summaries of each segment, and of all queries, as one."""
    figures = {
        name: np.stack([getattr(summary, name) for summary in summaries])
        for name in _FIGURES
    }
    return SegmentSummary(
        measures=overall.measures,
        average=overall.average,
        segment=segment,
        overall=overall,
        **figures,
    )
