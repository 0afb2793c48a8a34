"""Cumulated gain: CG, DCG and NDCG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups, Totals, once_per_block
from .._kernel.walks import Walk
from ._base import BEST
from ._fields import cutoff
from ._gains import gains_of, normalise_gain
from ._weighted_sum import WeightedSum


@dataclass(frozen=True)
class _GainMeasure(WeightedSum):
    k: int | None = cutoff()
    gain: Any = field(default="exponential", metadata={"check": normalise_gain})

    def gains(self, levels: FloatArray) -> FloatArray:
        return gains_of(self.gain, levels)


@dataclass(frozen=True)
class CG(_GainMeasure):
    """Cumulated gain: the sum of the gains of the first k documents.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    gain : {"linear", "exponential"}, table or callable, default="linear"
        Gain of a label, as in `NDCG`.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    See Also
    --------
    DCG : The sum of gains discounted by rank.
    NDCG : DCG divided by the DCG of the ideal order.

    Notes
    -----
    The definition is equation 1 of Järvelin and Kekäläinen (2002).

    Examples
    --------
    >>> from tieaware_sklearn import CG, ranking_score
    >>> ranking_score([3, 2, 3, 0, 1], [5, 4, 3, 2, 1], measure=CG(k=3))
    8.0
    """

    name: ClassVar[str] = "CG"
    gain: Any = field(default="linear", metadata={"check": normalise_gain})

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return np.ones(len(rank))

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        found = super().walk(levels, longest)
        return None if found is None else found._replace(flat=True)

    def numerator(self, groups: TieGroups) -> FloatArray:
        # a group that is whole adds its sum of gains, not n times their mean
        gains, inside = self.gains_of(groups), groups.inside(self.k)
        sums = groups.gain_sums(gains)
        shares = groups.gain_means(gains) * inside
        return groups.sum_groups(np.where(inside == groups.n, sums, shares))


@dataclass(frozen=True)
class DCG(_GainMeasure):
    """Discounted cumulated gain: Σ gain / log2(rank + 1) down to rank k.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    gain : {"exponential", "linear"}, table or callable, default="exponential"
        Gain of a label, as in `NDCG`.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    See Also
    --------
    NDCG : DCG divided by the DCG of the ideal order.
    CG : The sum of gains without a discount.

    Notes
    -----
    The definition is that of Burges et al. (2005) with exponential gain, and that of
    Järvelin and Kekäläinen (2002) with linear gain. For the mean under ties see
    McSherry and Najork (2008), section 3.6.

    Examples
    --------
    >>> from tieaware_sklearn import DCG, ranking_score
    >>> ranking_score([3, 2, 3], [3, 2, 1], measure=DCG(k=1))
    7.0
    """

    name: ClassVar[str] = "DCG"


@dataclass(frozen=True)
class NDCG(_GainMeasure):
    """Normalised DCG: DCG divided by the DCG of the ideal order, down to rank k.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    gain : {"exponential", "linear"}, table or callable, default="exponential"
        Gain of a label: 2^label - 1 ("exponential", for labels up to 60), the label
        itself ("linear"), a table ``{label: gain}`` or a list indexed by label, or a
        function of a label. Gains must be finite and >= 0.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    See Also
    --------
    DCG : The same measure without normalisation.
    sklearn.metrics.ndcg_score : The same mean under ties, for a matrix of queries.

    Notes
    -----
    NDCG is undefined for queries in which no document has a positive gain. The ideal
    order includes documents that are not retrieved. scikit-learn's `ndcg_score` is
    ``NDCG(gain="linear")``. The definition is that of Järvelin and Kekäläinen (2002).
    For the mean under ties see McSherry and Najork (2008), section 3.6.

    Examples
    --------
    >>> from tieaware_sklearn import NDCG, ranking_score
    >>> ranking_score([2, 0, 1], [3, 2, 1], measure=NDCG(k=10))
    0.9639404333166532
    """

    name: ClassVar[str] = "NDCG"
    maximum: ClassVar[float] = 1.0
    undefined_over_zero: ClassVar[bool] = True
    #: ir-measures' names for the gains of its nDCG
    synonyms: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
        "dcg": ("gain", {"log2": "linear", "exp-log2": "exponential"})
    }

    def normaliser(self, groups: Totals) -> FloatArray:
        # added up as numerators are, so that a perfect ranking is worth just 1
        return self._ideal_sum(groups.everything)

    @once_per_block
    def _ideal_sum(self, everything: TieGroups) -> FloatArray:
        return self.found(everything, BEST)
