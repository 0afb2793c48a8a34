"""Exposure of documents by rankings with ties, against equal exposure for equals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display import html, text_tables, words
from .._engine import checks, messages, segments, tie_groups
from .._engine.segments import FloatArray
from ..measures import Measure, ReciprocalRank, parse_measure
from . import _intervals, _prepared, _resolved
from ._report import Summary

_PER_QUERY = ("loss", "disparity", "relevance")


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedExposure(html.Result):
    """Exposure of the documents of each query; prints as its averages.

    Attributes
    ----------
    user_model : str
        Name of the measure whose user model it is.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    loss, disparity, relevance : ndarray of shape (n_queries,)
        EE-L, EE-D and EE-R of each query.
    exposure, target : ndarray of shape (n_documents,)
        Probability that the user looks at a document under the ranking, and under the
        ideal rankings. In a matrix, of its documents row by row.
    groups : ndarray of shape (n_groups,)
        The groups of documents, none without `group`.
    group_exposure, group_target : ndarray of shape (n_queries, n_groups)
        Sums of `exposure` and `target` over the documents of each group.

    See Also
    --------
    expected_exposure : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import expected_exposure
    >>> result = expected_exposure([1, 1, 0], [3, 1, 1], user_model="rbp(p=0.5)")
    >>> result.exposure, result.target
    (array([1.   , 0.375, 0.375]), array([0.75, 0.75, 0.25]))
    """

    user_model: str
    qid: NDArray[Any]
    loss: FloatArray
    disparity: FloatArray
    relevance: FloatArray
    exposure: FloatArray
    target: FloatArray
    groups: NDArray[Any]
    group_exposure: FloatArray
    group_target: FloatArray

    def summary(self) -> Summary:
        """Average over queries.

        Returns
        -------
        Summary
            A row for each ``figure``: EE-L, EE-D and EE-R, and for each group its
            exposure less that of the ideal rankings. ``mean`` is the average over
            queries, and ``interval`` its 95 % t interval.
        """
        names = ["EE-L", "EE-D", "EE-R"]
        names += [f"{group}: excess" for group in self.groups.tolist()]
        figures = np.stack([getattr(self, name) for name in _PER_QUERY], axis=1)
        values = np.hstack([figures, self.group_exposure - self.group_target])
        moments = _intervals.QueryMoments.of(values)
        low, high = moments.interval().T
        low[: len(_PER_QUERY)] = np.maximum(low[: len(_PER_QUERY)], 0.0)
        columns = {
            "figure": np.array(names),
            "mean": moments.averages(),
            "interval_low": low,
            "interval_high": high,
        }
        about = {"user_model": self.user_model, "n_queries": len(self.qid)}
        return Summary(columns, ("figure",), about, _tables_of_means)

    def _columns(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in _PER_QUERY}
        for j, group in enumerate(self.groups.tolist()):
            columns[f"{group}_exposure"] = self.group_exposure[:, j]
            columns[f"{group}_target"] = self.group_target[:, j]
        return {"qid": self.qid, **columns}


def _tables_of_means(of: Summary) -> list[text_tables.Table]:
    terms = {
        "EE-L": "squared distance of exposure from that of the ideal rankings",
        "EE-D": "sum of squared exposures",
        "EE-R": "sum of exposure times that of the ideal rankings",
    }
    queries = words.counted(of.n_queries, "query", "queries")
    return [
        text_tables.Table.of(
            ("", of.figure),
            ("mean", of.mean),
            ("95% interval", of.interval),
            notes=[f"{queries}; user model of {of.user_model}"],
            terms=terms,
        )
    ]


def expected_exposure(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    user_model: str | Measure = "rbp(p=0.8)",
    group: ArrayLike | None = None,
    unjudged: str = "raise",
) -> ExpectedExposure:
    """Compute the exposure of documents, and how far it is from equal for equal labels.

    A ranking with ties is a stochastic ranking in which each order of the tied
    documents is equally likely. The exposure of a document is the probability that a
    user looks at it, over these orders.

    Parameters
    ----------
    y_true, y_score, qid, mask, unjudged
        As in `ranking_score`.
    user_model : str or Measure, default="rbp(p=0.8)"
        A measure with a user model that depends on ranks alone (RBP, CWL, and P, CG,
        DCG or NDCG with a cut-off), or RR, whose user looks at documents down to the
        first relevant one.
    group : array-like of shape (n_documents,) or of the shape of y_true, optional
        Group of each document, such as its provider, of any hashable type.

    Returns
    -------
    ExpectedExposure

    Raises
    ------
    ValueError
        As in `ranking_score`, and for measures with another user model.

    See Also
    --------
    evaluate : How well a ranking serves its users.

    Notes
    -----
    Diaz, Mitra, Ekstrand, Biega and Carterette, "Evaluating stochastic rankings with
    expected exposure", CIKM 2020. Ideal rankings order documents by label, and those of
    one label at random. With exposures ε and ideal ones ε*, EE-D = Σ ε² (disparity),
    EE-R = Σ ε ε* (relevance) and EE-L = Σ (ε - ε*)² = EE-D - 2 EE-R + Σ ε*² (loss).

    For models of ranks alone, the exposure of a tied document is the mean of the
    chances of looking at the ranks of its tie. For RR, all documents above the tie
    of the first relevant one are seen. Of that tie, a relevant document is the first
    with probability 1/r, and another one is above all r relevant ones with
    probability 1/(r + 1). Documents that are not retrieved have no exposure.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import expected_exposure
    >>> labels, scores = [[1, 1, 0, 0]], [[2, 1, 1, 0]]
    >>> print(expected_exposure(labels, scores, user_model="rbp(p=0.5)"))
            mean  95% interval
    --------------------------
    EE-L  0.2422        [-, -]
    EE-D  1.2969        [-, -]
    EE-R  1.1250        [-, -]
    1 query; user model of RBP(p=0.5)
    """
    named = isinstance(user_model, (str, Measure))
    messages.require(named, "user_model must be the name of a measure", user_model)
    measure = parse_measure(user_model)
    resolved = _resolved.resolve([measure], unjudged=unjudged)
    prepared, scores = _prepared.prepare(resolved, y_true, y_score, qid, mask=mask)
    queries = prepared.queries
    labels = queries.arrange(prepared.labels)
    # documents without a judgment are not relevant
    there, labels = labels != checks.DROPPED_LABEL, np.maximum(labels, 0)
    scores, sizes = queries.arrange(scores), queries.sizes
    retrieved, views = checks.is_retrieved(scores), _views(measure, int(sizes.max()))
    ranked = tie_groups.ties_of_rows(scores, there & retrieved, sizes)
    ideal = tie_groups.ties_of_rows(labels, there, sizes)
    exposure = _exposure(measure, views, labels, ranked)
    target = _exposure(measure, views, labels, ideal)
    sums = {
        "loss": (exposure - target) ** 2,
        "disparity": exposure**2,
        "relevance": exposure * target,
    }
    if group is not None and prepared.lists is not None:
        group = prepared.lists.documents(group, "group")
    members = checks.check_qid(group, n_rows=queries.n_rows, name="group")
    n_groups = members.n_queries
    groups = members.qid[:0] if group is None else members.qid
    cells = queries.codes * n_groups + queries.arrange(members.row_codes())

    def by_group(values: FloatArray) -> FloatArray:
        # sorted, so that the order of rows changes no bit
        order = np.lexsort((values, cells))
        n_cells = queries.n_queries * n_groups
        totals = np.bincount(cells[order], values[order], n_cells)
        return np.asarray(totals.reshape(-1, n_groups)[:, : len(groups)], np.float64)

    back = np.argsort(queries.given(np.arange(queries.n_rows)))
    return ExpectedExposure(
        user_model=str(measure),
        qid=queries.qid.copy(),
        exposure=exposure[back],
        target=target[back],
        **{name: segments.sum_segments(values, sizes) for name, values in sums.items()},
        groups=groups,
        group_exposure=by_group(exposure),
        group_target=by_group(target),
    )


def _views(measure: Measure, longest: int) -> FloatArray:
    """Chances of looking at each rank; ones for the model of RR, which needs labels."""
    ranks = np.arange(1, longest + 1)
    if isinstance(measure, ReciprocalRank) and measure.k is None:
        return np.ones(longest)
    try:
        weights = np.asarray(measure.weight(ranks))
    except ValueError:
        raise ValueError(
            "user_model must be RR, or a measure whose user model depends on ranks "
            f"alone (RBP, CWL, and P, CG, DCG or NDCG with a cut-off), got {measure}"
        ) from None
    return np.asarray(weights / weights[0])


def _exposure(
    measure: Measure, views: FloatArray, labels: FloatArray, ties: tie_groups.RowTies
) -> FloatArray:
    """Exposure of each document, in the order of the labels."""
    group, query, lo, n = ties
    if not isinstance(measure, ReciprocalRank):
        mean = segments.sum_segments(views[segments.consecutive(lo, n)], n) / n
        # no exposure of what is not retrieved, in group -1
        return np.append(mean, 0.0)[group]
    relevant = labels >= measure.rel
    r = np.bincount(group[relevant & (group >= 0)], minlength=len(n) + 1)
    holds = np.flatnonzero(r)
    # the first tie of each query that holds a relevant document
    first = holds[segments.begins(query[holds])]
    last = np.full(int(query.max(initial=0)) + 1, len(n))
    last[query[first]] = first
    end, n_relevant = np.append(last[query], -2)[group], r[group]
    seen = np.where(relevant, 1 / np.maximum(n_relevant, 1), 1 / (n_relevant + 1))
    return np.where(group < end, 1.0, np.where(group == end, seen, 0.0))
