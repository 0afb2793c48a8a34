"""Inferred average precision, where judgments are a sample of a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._engine.segments import consecutive, starts_of, sum_segments
from .._engine.ties import FloatArray, IntArray, TieGroups, once_per_block
from ._base import MeasureOverRelevant
from ._fields import choice
from ._inferred_ties import InferredTies, Ties


@dataclass(frozen=True)
class InferredAveragePrecision(MeasureOverRelevant):
    """Inferred AP: average precision, estimated where judgments are a sample.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    pool : {"judged", "all"}, default="judged"
        Where unjudged documents (NaN labels) are. With "judged", they are outside the
        pool of documents from which those to judge were drawn, and taken as not
        relevant. With "all", every document is in the pool, and those that are not
        judged are as often relevant as those that are.

    Raises
    ------
    ValueError
        For rel <= 0 or an unknown pool.

    See Also
    --------
    AveragePrecision : The measure that is estimated.
    BPref : A measure that ignores unjudged documents.
    Judged : How many of the first k documents are judged.

    Notes
    -----
    A relevant document at rank k, with r relevant and n judged non-relevant documents
    above it, d documents of the pool in all, adds ::

        1/k + (k - 1)/k · d/(k - 1) · (r + ε)/(r + n + 2ε),    ε = 0.00001

    and the sum is divided by the number of relevant documents known. This is the
    estimate of Yilmaz and Aslam, "Estimating average precision with incomplete and
    imperfect judgments", CIKM 2006, with the ε of trec_eval. Inferred AP is undefined
    for queries without a relevant document.

    With ``pool="judged"``, d = r + n: up to ε, this is average precision. trec_eval
    computes it where no label in the qrels is negative. Where all unjudged documents
    that are retrieved have a label of -1 there, it computes what ``pool="all"`` does,
    with d = k - 1. A NaN label does not tell documents of the pool from others, so
    that qrels in which only some have a label of -1 give other values there.

    The mean under ties is exact. Above a relevant document of a tie group, the number
    of judged documents is hypergeometric, and given that number, so is that of
    relevant ones, of which the value is a linear function. The standard deviation is
    exact for tie groups of up to a few hundred documents: as long as n r, or n j r
    with j < n judged documents, is at most 200,000. Beyond that, it is estimated from
    100 to 1,000 sampled orders, and `RankingReport.std_is_estimate` says so.

    Examples
    --------
    >>> from tieaware_sklearn import InferredAveragePrecision, ranking_score
    >>> unjudged = float("nan")
    >>> labels, scores = [1, unjudged, unjudged, 1], [4, 3, 2, 1]
    >>> for pool in ("judged", "all"):
    ...     measure = InferredAveragePrecision(pool=pool)
    ...     print(f"{ranking_score(labels, scores, measure=measure):.4f}")
    0.7500
    1.0000
    """

    name: ClassVar[str] = "infAP"
    takes_unjudged: ClassVar[bool] = True
    maximum: ClassVar[float] = 1.0
    pool: str = choice("judged", "all")

    # Relevant documents first are the best order, and last the worst: two neighbours
    # of which one is relevant change the value of that one alone, and ε turns that
    # round below rank 100,000 at the earliest, for 1e-10.

    def _ties(self, groups: TieGroups, chosen: IntArray) -> Ties:
        """Counts of some tie groups, in their order."""
        return Ties(
            groups.lo[chosen],
            groups.n[chosen],
            groups.relevant(0.0)[chosen],
            groups.relevant(self.rel)[chosen],
            groups.relevant_above(0.0)[chosen],
            groups.relevant_above(self.rel)[chosen],
        )

    def numerator(self, groups: TieGroups) -> FloatArray:
        chosen, _ = groups.holding(self.rel)
        ties, worth = self._ties(groups, chosen), InferredTies(self.pool == "all")
        # a place of a group whose documents are all judged has just so many above it
        whole = ties.judged == ties.n
        own = Ties(*(column[whole] for column in ties))
        x = consecutive(np.zeros(len(own.n), np.int64), own.n)
        lo, _, _, _, judged_above, relevant_above = (
            np.repeat(column, own.n) for column in own
        )
        share = (own.relevant - 1) / np.maximum(own.n - 1, 1)
        above = worth.above(
            judged_above + x, relevant_above + np.repeat(share, own.n) * x
        )
        places = worth.value(lo + x + 1, above)
        # a sum over relevant documents alone has the same bits however they tie
        pure = own.relevant == own.n
        counts = np.ones(len(chosen), dtype=np.int64)
        counts[whole] = np.where(pure, own.n, 1)
        start, values = starts_of(counts), np.empty(counts.sum())
        sums = own.relevant * (sum_segments(places, own.n) / own.n)
        values[start[whole][~pure]] = sums[~pure]
        values[consecutive(start[whole][pure], own.n[pure])] = places[
            np.repeat(pure, own.n)
        ]
        values[start[~whole]] = [worth.mean(tie) for tie in ties.some(~whole)]
        per_query = np.bincount(groups.query[chosen], counts, groups.n_queries)
        return sum_segments(values, per_query.astype(np.int64))

    @once_per_block
    def _variances(self, groups: TieGroups) -> tuple[FloatArray, FloatArray]:
        """Of each query: the variance, and whether any part of it is estimated."""
        relevant = groups.relevant(self.rel)
        mixed = np.flatnonzero((relevant > 0) & (relevant < groups.n))
        variances, sampled = np.zeros((2, len(groups.n)))
        ties, worth = self._ties(groups, mixed), InferredTies(self.pool == "all")
        variances[mixed], sampled[mixed] = worth.variances(ties)
        return groups.sum_groups(variances), groups.sum_groups(sampled)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._variances(groups)[0]

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return (self._variances(groups)[1] > 0).astype(np.float64)
