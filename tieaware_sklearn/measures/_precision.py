"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._ties import FloatArray, IntArray, TieGroups, expand, sum_segments
from .._validation import check_choice
from ._base import BinaryMeasure
from ._tables import harmonic_difference


@dataclass(frozen=True)
class AveragePrecision(BinaryMeasure):
    """Average precision: precision at each relevant document, averaged.

    Parameters
    ----------
    k : int, optional
        Cut-off: documents below it add nothing.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        What the sum is divided by: R, the number of relevant documents, as
        trec_eval's map_cut, or min(k, R), so that a perfect list scores 1.

    Raises
    ------
    ValueError
        For k < 1, rel <= 0 or an unknown denominator.

    Notes
    -----
    Undefined for queries without a relevant document.

    At the j-th place of a tie group of n documents, r of them relevant, with
    lo documents and R0 relevant ones above the group, a relevant document
    stands with chance r/n, and then (j - 1)(r - 1)/(n - 1) more stand before it
    in the group: the place adds r/n (R0 + 1 + (j - 1)(r - 1)/(n - 1)) / (lo + j).
    McSherry and Najork (2008), section 3.5.

    Examples
    --------
    >>> from tieaware_sklearn import AveragePrecision, ranking_score
    >>> ranking_score([1, 0, 1, 0], [4, 3, 2, 1], measure=AveragePrecision())
    0.8333333333333333
    """

    name: ClassVar[str] = "AP"
    denominator: str = "relevant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.denominator, "denominator", ("relevant", "cutoff"))

    def numerator(self, groups: TieGroups) -> FloatArray:
        group, rank, counts = groups.documents(self.k)
        r = groups.relevant(self.rel)
        share = r / groups.n
        more = (r - 1) / np.maximum(groups.n - 1, 1)
        above = groups.relevant_above(self.rel)[group]
        found = above + 1 + (rank - groups.lo[group]) * more[group]
        return sum_segments(share[group] * found / (rank + 1), counts)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        r = groups.relevant(self.rel)
        mixed = (r > 0) & (r < groups.n)
        chosen = np.flatnonzero(mixed & (groups.inside(self.k) > 0))
        variance = np.zeros(len(groups.n))
        variance[chosen] = _group_variance(
            groups.lo[chosen],
            groups.n[chosen],
            r[chosen],
            groups.relevant_above(self.rel)[chosen],
            groups.inside(self.k)[chosen],
        )
        return groups.sum_groups(variance)

    def normaliser(self, groups: TieGroups) -> FloatArray:
        total = groups.total_relevant(self.rel)
        if self.denominator == "cutoff" and self.k is not None:
            total = np.minimum(total, self.k)
        return total.astype(np.float64)

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return groups.total_relevant(self.rel) > 0


def _group_variance(
    lo: IntArray, n: IntArray, r: IntArray, above: IntArray, inside: IntArray
) -> FloatArray:
    """Variance that each mixed group adds to the numerator.

    With w_j = 1/(lo + j) at the first `inside` places and 0 beyond,
    W_j = Σ_{i>j} w_i, ρ_j = (j - 1) w_j + W_j and
    b_j = (R0 + 1) w_j + ρ_j (r - 1)/(n - 2): the part of a document's place,
    r (n - r)/(n (n - 1)) Σ (b_j - b̄)², and the part of pairs of places,
    r (r - 1)(n - r)(n - r - 1)/(n (n - 1)(n - 2)(n - 3))
    [Σ (j - 1) w_j² - Σ ρ_j²/(n - 2) + (Σ ρ_j)²/(2 (n - 1)(n - 2))],
    which are uncorrelated (Hoeffding's decomposition of the sum over pairs).
    """
    owner, before = expand(inside)
    rank = lo[owner] + before
    weight = 1.0 / (rank + 1)
    rho = before * weight + harmonic_difference(rank + 1, (lo + inside)[owner])

    size, relevant = n.astype(np.float64), r.astype(np.float64)
    other = size - relevant
    slope = (relevant - 1) / np.maximum(size - 2, 1)
    b = (above[owner] + 1) * weight + rho * slope[owner]
    mean = sum_segments(b, inside) / size
    deviation = b - mean[owner]
    places = sum_segments(deviation * deviation, inside)
    places += (size - inside) * mean * mean
    places *= relevant * other / (size * (size - 1))

    pairs = sum_segments(before * weight * weight, inside)
    pairs -= sum_segments(rho * rho, inside) / np.maximum(size - 2, 1)
    pairs += sum_segments(rho, inside) ** 2 / np.maximum(2 * (size - 1) * (size - 2), 1)
    # 0 where r or n - r is 1: there are no pairs to choose
    chance = (relevant / size) * ((relevant - 1) / (size - 1))
    chance *= (other / np.maximum(size - 2, 1)) * (
        (other - 1) / np.maximum(size - 3, 1)
    )
    return np.asarray(places + chance * np.maximum(pairs, 0))
