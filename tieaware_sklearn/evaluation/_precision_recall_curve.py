"""Precision by recall, with its range under ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import messages
from .._typing import FloatArray
from ..measures import InterpolatedPrecision
from ..measures._values import Detail
from ..statistics.averages import column_means, stds_of_means
from . import _prepared, _resolved, _text

#: The eleven recall levels of TREC.
ELEVEN_POINTS = tuple(i / 10 for i in range(11))


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(html.Result):
    """Interpolated precision at several recall levels, averaged over queries.

    Printing the curve shows a table.

    Attributes
    ----------
    recall : ndarray of shape (n_points,)
        Recall levels.
    mean, worst, best : ndarray of shape (n_points,)
        Averages over queries of interpolated precision at each recall level. `mean`
        averages the means over the orders of ties. `worst` and `best` average the
        values in the least and in the most favourable order. The curve of any order
        lies between `worst` and `best`.
    tie_std : ndarray of shape (n_points,)
        Standard deviation, over the orders of ties, of the average over queries.
    sampling_error : ndarray of shape (n_points,)
        Standard error of `mean` where `mean` is estimated from sampled orders of long
        ties, and 0 where `mean` is exact.

    See Also
    --------
    precision_recall_curve : The function that returns this curve.
    tieaware_sklearn.plots.PrecisionRecallBandDisplay : Draws the curve.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import precision_recall_curve
    >>> curve = precision_recall_curve([1, 0, 1], [2, 1, 1], recall=[0, 1])
    >>> curve.worst, curve.best
    (array([1.        , 0.66666667]), array([1., 1.]))
    """

    recall: FloatArray
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    tie_std: FloatArray
    sampling_error: FloatArray
    _undefined: list[str]

    _tables = _text.table_of_curve


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    recall: ArrayLike = ELEVEN_POINTS,
    rel: float = 1.0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> PrecisionRecallCurve:
    """Compute interpolated precision at several recall levels, averaged over queries.

    Parameters
    ----------
    y_true, y_score, qid, mask, zero_relevance, unjudged, query_weight
        As in `ranking_score`.
    recall : array-like of float, default=(0, 0.1, ..., 1)
        Distinct recall levels in [0, 1]. Each level is read as it is printed, so 0.1
        is 1/10 in any floating-point type.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). No result depends on the
        number of threads.

    Returns
    -------
    PrecisionRecallCurve

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if there is no recall level, if a level is not a
        number, is outside [0, 1] or is given twice, or if `rel` is not a finite number
        above 0.

    Warns
    -----
    UndefinedMetricWarning
        If every query is left out, so that the averages are NaN.
    UserWarning
        If the arguments look wrong, as in `ranking_score`.

    See Also
    --------
    InterpolatedPrecision : The measure for one point of the curve.
    InterpolatedAveragePrecision : The average of the points at evenly spaced levels.
    tieaware_sklearn.plots.PrecisionRecallBandDisplay : Draws the curve.

    Notes
    -----
    The average of `mean` over the eleven default levels is the average of the measure
    ``IAP`` over queries. The notes of `InterpolatedPrecision` state the definition and
    its source. All levels together take about as long as one level.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import precision_recall_curve
    >>> print(precision_recall_curve([1, 0, 1], [2, 1, 1], recall=[0, 0.5, 1]))
    recall  precision   worst    best  tie_std
    ------------------------------------------
    0          1.0000  1.0000  1.0000   0.0000
    0.5        1.0000  1.0000  1.0000   0.0000
    1          0.8333  0.6667  1.0000   0.1667
    """
    try:
        array = np.ravel(recall)
        if array.dtype.kind == "f":
            # A level is the number that is printed: 0.1 in 32 bits is 1/10.
            array = array.astype(str)
        recall = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"recall must contain numbers in [0, 1]: {error}") from None
    levels = recall.tolist()
    if not levels:
        raise ValueError("recall must contain at least one level, got none")
    if len(set(levels)) < len(levels):
        raise ValueError(
            f"recall must contain each level once, got {messages.show(levels)}"
        )
    measures = [InterpolatedPrecision(level, rel) for level in levels]
    resolved = _resolved.resolve(measures, zero_relevance, unjudged)
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight
    )
    values = prepared.values(resolved, scores, Detail.DEVIATION, n_jobs=n_jobs)
    weight = prepared.weight
    means = prepared.means(resolved, values.expected)
    return PrecisionRecallCurve(
        recall=recall,
        mean=np.array(means),
        worst=column_means(values.worst, weight),
        best=column_means(values.best, weight),
        tie_std=stds_of_means(values.std, weight),
        sampling_error=stds_of_means(values.sampling_error, weight),
        _undefined=prepared.undefined_note(resolved),
    )
