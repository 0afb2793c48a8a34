"""How much documents without a judgment could change a measure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result
from .._display.tables import format_table, number
from .._engine.ties import FloatArray, TieGroups
from .._optional import data_frame
from ..measures import (
    CWL,
    ERR,
    RBP,
    Measure,
    Precision,
    ReciprocalRank,
    Success,
    parse_measures,
)
from ._averages import mean
from ._checked_input import check_ranking
from ._labelled_queries import LabelledQueries, statistics_of

#: a relevant document more can only help these
BOUNDED = (Precision, RBP, CWL, ReciprocalRank, Success, ERR)
_STATISTICS = ("expected", "worst", "best")


@dataclass(frozen=True, eq=False, repr=False)
class ResidualReport(Result):
    """Measures between no and full relevance of what was not judged.

    All arrays but `qid` and `unjudged` have shape (n_queries, n_measures). Prints
    the averages over queries.

    Attributes
    ----------
    measures : tuple of str
    qid : ndarray of shape (n_queries,)
    low, high : ndarray
        Mean over tie orders with all unjudged documents not relevant, or all
        relevant.
    low_worst, high_best : ndarray
        The same in the worst and in the best order: together the smallest and the
        largest value there could be.
    residual : ndarray
        high - low.
    unjudged : ndarray of shape (n_queries,), int
        Documents retrieved without a judgment.
    """

    measures: tuple[str, ...]
    qid: NDArray[Any]
    low: FloatArray
    high: FloatArray
    low_worst: FloatArray
    high_best: FloatArray
    unjudged: NDArray[np.int64]

    @property
    def residual(self) -> FloatArray:
        return self.high - self.low

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row per query and measure."""
        queries, measures = self.low.shape
        arrays = ("low", "residual", "high", "low_worst", "high_best")
        columns = {name: getattr(self, name).ravel() for name in arrays}
        return data_frame(
            {
                "qid": np.repeat(self.qid, measures),
                "measure": list(self.measures) * queries,
                **columns,
                "unjudged": np.repeat(self.unjudged, measures),
            }
        )

    def __str__(self) -> str:
        arrays = (self.low, self.residual, self.high, self.low_worst, self.high_best)
        rows = [
            [name, *(number(mean(array[:, j])) for array in arrays)]
            for j, name in enumerate(self.measures)
        ]
        header = ["measure", "low", "residual", "high", "worst", "best"]
        return format_table(header, rows)


def residuals(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = ("rbp(p=0.8)", "p@10", "rr"),
) -> ResidualReport:
    """Bound measures when documents without a judgment could be relevant or not.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels; NaN is unjudged.
    y_score, qid
        As in `ranking_score`.
    measures : list of str or Measure, default=("rbp(p=0.8)", "p@10", "rr")
        P, RBP, CWL, RR, Success and ERR: one relevant document more can only
        raise them, so that the two extremes bound all else.

    Returns
    -------
    ResidualReport

    Raises
    ------
    ValueError
        As in `ranking_score`, and for other measures.

    Notes
    -----
    The residual of RBP and CWL includes what lies beyond the end of the list, down
    to the cut-off if there is one, as if relevant documents followed: p^n after n
    documents (Moffat and Zobel 2008). An unjudged document counts as `rel`, with
    graded gains as gain 1, and for ERR as `max_label`.

    Examples
    --------
    >>> from tieaware_sklearn import residuals
    >>> print(residuals([1, float("nan"), 0], [3, 2, 1], measures="rbp(p=0.5)"))
    measure        low  residual    high   worst    best
    ----------------------------------------------------
    RBP(p=0.5)  0.5000    0.3750  0.8750  0.5000  0.8750
    """
    parsed = parse_measures(measures)
    for measure in parsed:
        if not isinstance(measure, BOUNDED):
            raise ValueError(
                "measures must be P, RBP, CWL, RR, Success or ERR (a relevant document "
                f"more lowers others too, by their denominators), got {measure}"
            )
    data = check_ranking(y_true, y_score, qid, parsed, "nonrelevant")
    missing = data.labels < 0

    def beyond(groups: TieGroups) -> FloatArray:
        return np.column_stack([_tail(measure, groups) for measure in parsed])

    def compute(groups: TieGroups) -> tuple[list[FloatArray], FloatArray, FloatArray]:
        unjudged = groups.retrieved - groups.sum_groups(groups.relevant(0.0))
        found = statistics_of(parsed, _STATISTICS, groups)
        return found, unjudged, beyond(groups)

    judged = LabelledQueries(data.labels, data.queries)
    low = judged.each_block(compute, data.scores)
    # an unlimited label is the best that a document could be
    open_labels = np.where(missing, np.inf, data.labels)
    unknown = LabelledQueries(open_labels, data.queries)
    high = unknown.each_block(compute, data.scores)
    low_mean, low_worst, _ = (
        judged.in_order(parts) for parts in zip(*(part[0] for part in low), strict=True)
    )
    high_mean, _, high_best = (
        unknown.in_order(parts)
        for parts in zip(*(part[0] for part in high), strict=True)
    )
    tail = judged.in_order(part[2] for part in low)
    return ResidualReport(
        measures=tuple(str(measure) for measure in parsed),
        qid=data.queries.qid,
        low=low_mean,
        high=high_mean + tail,
        low_worst=low_worst,
        high_best=high_best + tail,
        unjudged=judged.in_order(part[1] for part in low).astype(np.int64),
    )


def _tail(measure: Measure, groups: TieGroups) -> FloatArray:
    """Weight of the ranks beyond the end of each list."""
    if isinstance(measure, RBP):
        end = groups.retrieved.astype(np.float64)
        if measure.k is None:
            return np.asarray(measure.p**end)
        # what lies below a cut-off counts for nothing
        return np.asarray(
            measure.p ** np.minimum(end, measure.k) - measure.p**measure.k
        )
    if isinstance(measure, CWL):
        weights = measure.weight(np.arange(1, len(measure.chances) + 2))
        after = np.concatenate([np.cumsum(np.asarray(weights)[::-1])[::-1], [0.0]])
        return np.asarray(after[np.minimum(groups.retrieved, len(after) - 1)])
    return np.zeros(groups.n_queries)
