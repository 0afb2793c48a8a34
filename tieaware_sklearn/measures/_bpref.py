"""Binary preference, which looks at judged documents only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._engine import FloatArray, IntArray, TieGroups, once_per_block
from ._base import MeasureOverRelevant, Outcomes

#: the distribution is not computed for more sums than this
_CELLS = 200_000_000


class _Judged(NamedTuple):
    """Judged documents of each group, and what a relevant one there is worth.

    A relevant document has x of the s non-relevant ones of its group above it, x
    being 0 ... s with equal chances, and B above the group: it is worth
    max(M - B - x, 0)/M, positive for the first t values of x.

    Attributes
    ----------
    r, s : ndarray of shape (n_groups,)
        Relevant documents, and those judged not relevant.
    headroom : ndarray of shape (n_groups,)
        h = max(M - B, 0).
    share : ndarray of shape (n_groups,)
        t / (s + 1), the chance to be worth anything.
    mean, variance : ndarray of shape (n_groups,)
        Of what it is then worth.
    """

    r: IntArray
    s: IntArray
    headroom: IntArray
    share: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class BPref(MeasureOverRelevant):
    """Binary preference: how often relevant documents rank above judged others.

    The value is Σ (1 - min(B_d, M)/M) / R over the relevant documents d that are
    retrieved. B_d is the number of documents judged not relevant that stand above d.
    R is the number of relevant documents. M is the smaller of R and the number of
    documents judged not relevant.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For rel <= 0.

    See Also
    --------
    AveragePrecision : The measure that BPref replaces where judgments are few.
    residuals : Bounds of other measures where documents are unjudged.

    Notes
    -----
    Unjudged documents (NaN labels) are ignored. Every other measure treats them as
    not relevant. BPref is undefined for queries without a relevant document. The
    definition is that of Buckley and Voorhees (2004) in the form that trec_eval has
    used since version 8. Mean and variance under ties follow from this: in a tie
    group with s documents judged not relevant, each relevant document has 0, 1, ...
    or s of them above it with equal probability.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import BPref
    >>> unjudged = float("nan")
    >>> ranking_score([unjudged, 1, 0, 1, 0], [5, 4, 3, 2, 1], measure=BPref())
    0.75
    """

    name: ClassVar[str] = "BPref"
    takes_unjudged: ClassVar[bool] = True
    maximum: ClassVar[float] = 1.0

    def _most(self, groups: TieGroups) -> IntArray:
        """M of each query."""
        total = groups.total_relevant(self.rel)
        # every judged document has a label of at least 0
        return np.asarray(np.minimum(total, groups.total_relevant(0.0) - total))

    @once_per_block
    def _judged(self, groups: TieGroups) -> _Judged:
        r = groups.relevant(self.rel)
        s = groups.relevant(0.0) - r
        above = groups.relevant_above(0.0) - groups.relevant_above(self.rel)
        most = self._most(groups)[groups.query]
        headroom = np.maximum(most - above, 0)
        t = np.minimum(headroom, s + 1)
        scale = np.maximum(most, 1)
        mean = np.maximum(headroom - (t - 1) / 2, 0) / scale
        t_float = t.astype(np.float64)
        variance = np.maximum(t_float**2 - 1, 0) / 12 / scale / scale
        share = t / (s + 1)
        # without non-relevant documents all preferences hold
        none = most == 0
        share[none], mean[none], variance[none] = 1.0, 1.0, 0.0
        return _Judged(r, s, headroom, share, mean, variance)

    def numerator(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        return groups.sum_groups(judged.r * (judged.share * judged.mean))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        spread = judged.share * judged.variance
        spread += judged.share * (1 - judged.share) * judged.mean**2
        together = (judged.r + judged.s + 1) / (judged.s + 2)
        return groups.sum_groups(judged.r * spread * together)

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        judged = self._judged(groups)
        most, total = self._most(groups).tolist(), groups.total_relevant(self.rel)
        sums = [np.ones(1) for _ in range(groups.n_queries)]
        for g in np.flatnonzero(judged.r > 0).tolist():
            query = groups.query[g]
            r, s, headroom = (int(a[g]) for a in (judged.r, judged.s, judged.headroom))
            # without non-relevant documents each relevant one is worth 1
            own = _sums(r, s, headroom) if most[query] else np.arange(r + 1) == r
            sums[query] = np.convolve(sums[query], own)
        for query, chances in enumerate(sums):
            scale = max(most[query], 1) * max(total[query], 1)
            yield query, np.arange(len(chances)) / scale, chances


def _sums(r: int, s: int, headroom: int) -> FloatArray:
    """Chances of Σ max(headroom - x, 0) over r relevant documents among s others."""
    most = r * headroom
    if (r + 1) * (s + 1) * (most + 1) > _CELLS:
        raise ValueError(
            f"the distribution of BPref is computed in at most {_CELLS:.0e} steps, got "
            f"{(r + 1) * (s + 1) * (most + 1):.0e} for a tie of {r} relevant and {s} "
            "other judged documents (sampled() estimates it)"
        )
    # rows: relevant documents met so far; columns: their sum
    state = np.zeros((r + 1, most + 1))
    state[0, 0] = 1.0
    for x in range(s + 1):
        worth = max(headroom - x, 0)
        for met in range(r):
            chance = (r - met) / (r - met + s - x)
            moved = chance * state[met]
            state[met + 1, worth:] += moved[: most + 1 - worth]
            state[met] -= moved
    return np.asarray(state[r])
