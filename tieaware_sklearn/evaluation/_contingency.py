"""The two-by-two table of relevance and retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import checks
from .._typing import Array, FloatArray
from ..measures import Precision
from ..ranking._ranked import Ranked
from ..statistics.averages import column_sums
from . import _prepared, _resolved, _text


@dataclass(frozen=True, eq=False, repr=False)
class ContingencyTable(html.Result):
    """Documents by relevance and retrieval; prints as a table of sums.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    k : int or None
        Cut-off. Documents below this rank count as not retrieved.
    true_positive, false_positive : ndarray of shape (n_queries,)
        Numbers of relevant and of other documents that are retrieved. They are exact
        means over the orders of ties where `k` falls inside a tie group, and whole
        numbers otherwise.
    false_negative, true_negative : ndarray of shape (n_queries,)
        Numbers of relevant and of other documents that are not retrieved.

    See Also
    --------
    contingency_table : The function that returns this table.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import contingency_table
    >>> table = contingency_table([1, 0, 1], [2, 1, 1], k=2)
    >>> table.true_positive, table.false_positive
    (array([1.5]), array([0.5]))
    """

    qid: Array
    k: int | None
    true_positive: FloatArray
    false_positive: FloatArray
    false_negative: FloatArray
    true_negative: FloatArray

    _tables = _text.table_of_contingency

    def sum(self) -> FloatArray:
        """Sum the counts over queries.

        Returns
        -------
        ndarray of shape (2, 2)
            [[true positive, false positive], [false negative, true negative]].
        """
        retrieved = [self.true_positive, self.false_positive]
        not_retrieved = [self.false_negative, self.true_negative]
        cells = np.array([retrieved, not_retrieved])
        return column_sums(cells.T).T


def contingency_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    k: int | None = None,
    rel: float = 1.0,
    unjudged: str = "raise",
) -> ContingencyTable:
    """Count documents by relevance and retrieval.

    Parameters
    ----------
    y_true, y_score, qid, mask, unjudged
        As in `ranking_score`. Documents with a score of -inf are not retrieved.
    k : int, optional
        Cut-off. Documents below rank k count as not retrieved. Where the cut-off
        falls inside a tie group, counts are exact means over the orders of the group.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Returns
    -------
    ContingencyTable

    Raises
    ------
    ValueError
        As in `ranking_score`; for k < 1 or rel <= 0.

    See Also
    --------
    Precision, Recall, Fallout : Ratios of the counts of this table.

    Notes
    -----
    P, R, F and Fallout without a cut-off are ratios of these counts. `parse_measure`
    calls the first three ``SetP``, ``SetR`` and ``SetF``, too. See Manning, Raghavan
    and Schütze (2008), section 8.3.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import contingency_table
    >>> retrieved = [1.0, 1.0, 1.0, float("-inf"), float("-inf")]
    >>> print(contingency_table([1, 1, 0, 1, 0], retrieved))
    documents      relevant  not relevant  all
    ------------------------------------------
    retrieved             2             1    3
    not retrieved         1             1    2
    all                   3             2    5
    """
    measure = Precision(k, rel)
    resolved = _resolved.resolve([measure], unjudged=unjudged)
    prepared, scores = _prepared.prepare_ranking(resolved, y_true, y_score, qid, mask)

    def count(ranked: Ranked) -> FloatArray:
        (groups,) = ranked.ties
        hits = measure.numerator(groups)
        retrieved = groups.sum_groups(groups.inside(measure.k))
        relevant = groups.total_relevant(measure.rel)
        documents = groups.total_relevant(checks.UNJUDGED_LABEL)
        return np.column_stack([hits, retrieved, relevant, documents])

    parts = prepared.each_block(count, scores)
    hits, retrieved, relevant, documents = prepared.in_order(parts).T
    false_positive = retrieved - hits
    return ContingencyTable(
        qid=prepared.queries.qid,
        k=measure.k,
        true_positive=hits,
        false_positive=false_positive,
        false_negative=relevant - hits,
        true_negative=documents - relevant - false_positive,
    )
