"""Bounds of measures over the possible labels of unjudged documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import checks, segments
from .._typing import Array, FloatArray, IntArray
from ..measures import (
    CWL,
    ERR,
    RBP,
    Measure,
    Precision,
    ReciprocalRank,
    Success,
    _measure,
    _parse,
)
from ..measures._values import Detail
from . import _prepared, _resolved, _text

#: Measures whose values are never lowered by another relevant document.
BOUNDED = (Precision, RBP, CWL, ReciprocalRank, Success, ERR)


@dataclass(frozen=True, eq=False, repr=False)
class ResidualReport(html.Result):
    """Bounds of measures over the possible labels of unjudged documents.

    Printing the report shows a table of averages over queries.

    Attributes
    ----------
    measures : tuple of str
        Canonical names.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected : ndarray of shape (n_queries, n_measures)
        Mean over the orders of ties if no unjudged document is relevant.
    residual : ndarray of shape (n_queries, n_measures)
        Increase in `expected` if all unjudged documents are relevant. For RBP and CWL,
        the increase includes the ranks beyond the end of the list (see the notes of
        `residuals`).
    worst, best : ndarray of shape (n_queries, n_measures)
        Smallest and largest possible value. The smallest value is reached in the worst
        order of ties if no unjudged document is relevant. The largest value is reached
        in the best order of ties if all unjudged documents are relevant. For RBP and
        CWL, the largest value also includes the ranks beyond the end of the list.
    n_unjudged : ndarray of shape (n_queries,), int
        Number of unjudged documents that are retrieved.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages.

    See Also
    --------
    residuals : The function that returns this report.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn.evaluation import residuals
    >>> report = residuals([1, np.nan], [2, 1], measures="rbp(p=0.5)")
    >>> report.worst[:, 0], report.residual[:, 0]
    (array([0.5]), array([0.5]))
    """

    measures: tuple[str, ...]
    qid: Array
    expected: FloatArray
    residual: FloatArray
    worst: FloatArray
    best: FloatArray
    n_unjudged: IntArray
    query_weight: FloatArray | None = None

    _tables = _text.table_of_residuals

    def _columns(self) -> dict[str, Any]:
        names = ("expected", "residual", "worst", "best")
        values = {name: getattr(self, name) for name in names}
        keys = {"qid": self.qid, "measure": self.measures}
        columns = html.by_cell(keys, values)
        columns["n_unjudged"] = np.repeat(self.n_unjudged, len(self.measures))
        return columns


def residuals(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = ("rbp", "p@10", "rr"),
    query_weight: ArrayLike | None = None,
) -> ResidualReport:
    """Bound measures over the possible labels of unjudged documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged.
    y_score, qid, mask, query_weight
        As in `ranking_score`.
    measures : str, Measure or list of these, default=("rbp", "p@10", "rr")
        Measures among P, RBP, CWL, RR, Success and ERR. Another relevant document never
        lowers the values of these measures. The values are therefore smallest if no
        unjudged document is relevant, and largest if all unjudged documents are
        relevant.

    Returns
    -------
    ResidualReport

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if the list of measures is empty or contains a
        measure twice, or if a measure is not among P, RBP, CWL, RR, Success and ERR.

    See Also
    --------
    evaluate : Accepts all measures, and can treat unjudged documents as not relevant.
    BPref : A measure that ignores unjudged documents.

    Notes
    -----
    The residual of RBP and CWL includes the ranks beyond the end of the list, as if
    these ranks contained documents with a gain of 1. If the measure has a cut-off, only
    ranks down to the cut-off are included. For RBP without a cut-off, the ranks beyond
    a list of n documents add p^n (Moffat and Zobel 2008). An unjudged document that is
    treated as relevant has a gain of 1 for RBP and CWL, and the label `max_label` for
    ERR.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import residuals
    >>> print(residuals([1, float("nan"), 0], [3, 2, 1], measures="rbp(p=0.5)"))
    measure       mean  residual   worst    best
    --------------------------------------------
    RBP(p=0.5)  0.5000    0.3750  0.5000  0.8750
    """
    parsed = _parse.parse_measures(measures)
    for measure in parsed:
        if not isinstance(measure, BOUNDED):
            raise ValueError(
                f"measures must be P, RBP, CWL, RR, Success or ERR, got {measure}"
            )
    resolved = _resolved.resolve(parsed, unjudged="nonrelevant")
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight
    )
    queries = prepared.queries
    is_unjudged = prepared.labels < 0
    lowest = prepared.raw_values(parsed, scores, Detail.RANGE)
    # Measures treat an infinite label as their best label.
    raised = np.where(is_unjudged, np.inf, prepared.labels)
    all_relevant = _prepared.Prepared(raised, queries)
    highest = all_relevant.raw_values(parsed, scores, Detail.RANGE)
    is_retrieved = queries.arrange(checks.is_retrieved(scores))
    n_retrieved = segments.count_segments(is_retrieved, queries.sizes)
    is_counted = is_retrieved & queries.arrange(is_unjudged)
    cut_measures, index = _measure.at_ranks(parsed, queries.sizes)
    tails = np.column_stack([_tail(measure, n_retrieved) for measure in cut_measures])
    tails = np.take_along_axis(tails, index, axis=1)
    return ResidualReport(
        measures=resolved.names,
        qid=queries.qid,
        expected=lowest.expected,
        residual=highest.expected + tails - lowest.expected,
        worst=lowest.worst,
        best=highest.best + tails,
        n_unjudged=segments.count_segments(is_counted, queries.sizes),
        query_weight=prepared.weight,
    )


def _tail(measure: Measure, n_retrieved: IntArray) -> FloatArray:
    """Return the weight of the ranks beyond the end of each list."""
    if isinstance(measure, RBP):
        # Ranks below a cut-off have no weight.
        cutoff = math.inf if measure.k is None else float(measure.k)
        return measure.p ** np.minimum(n_retrieved, cutoff) - measure.p**cutoff
    if isinstance(measure, CWL):
        # Users continue from rank i with the i-th chance. The last rank with a weight
        # is the rank after the last chance.
        ranks = np.arange(1, len(measure.chances) + 2)
        weights = np.asarray(measure.weight(ranks))
        # The sum of the weights below rank n is at index n.
        tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        return tails[np.minimum(n_retrieved, len(ranks))]
    return np.zeros(len(n_retrieved))
