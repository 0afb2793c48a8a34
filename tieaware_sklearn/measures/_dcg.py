"""Cumulated gain: CG, DCG and NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, TieGroups
from ._base import set_cutoff
from ._gains import gains_of, normalise_gain
from ._rank_weights import RankWeight, no_discount
from ._weighted_sum import WeightedSum

#: ir-measures' names for the gains of its nDCG
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exponential"}


@dataclass(frozen=True)
class _GainMeasure(WeightedSum):
    k: int | None = None
    gain: Any = "exponential"

    def __post_init__(self) -> None:
        set_cutoff(self)
        object.__setattr__(self, "gain", normalise_gain(self.gain))

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
        What a label is worth; see `NDCG`.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    Notes
    -----
    Järvelin and Kekäläinen (2002), equation 1.

    Examples
    --------
    >>> from tieaware_sklearn import CG, ranking_score
    >>> ranking_score([3, 2, 3, 0, 1], [5, 4, 3, 2, 1], measure=CG(k=3))
    8.0
    """

    name: ClassVar[str] = "CG"
    gain: Any = "linear"

    def _rank_weight(self) -> RankWeight:
        return no_discount

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
        What a label is worth; see `NDCG`.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    Notes
    -----
    Burges et al. (2005) with exponential gain; Järvelin and Kekäläinen (2002)
    with linear gain. Mean under ties: McSherry and Najork (2008), section 3.6.

    Examples
    --------
    >>> from tieaware_sklearn import DCG, ranking_score
    >>> ranking_score([3, 2, 3], [3, 2, 1], measure=DCG(k=1))
    7.0
    """

    name: ClassVar[str] = "DCG"


@dataclass(frozen=True)
class NDCG(_GainMeasure):
    """Normalised DCG: DCG over the DCG of the ideal order, both down to rank k.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    gain : {"exponential", "linear"}, table or callable, default="exponential"
        What a label is worth: 2^label - 1 (labels up to 60), the label itself,
        ``{label: gain}`` or a list indexed by label, or a function of a label.
        Gains are finite and >= 0.

    Raises
    ------
    ValueError
        For k < 1 or an unknown gain.

    Notes
    -----
    Undefined for queries in which no document has a gain. The ideal counts
    documents that were not retrieved. scikit-learn's `ndcg_score` is
    ``NDCG(gain="linear")``. Järvelin and Kekäläinen (2002); mean under ties:
    McSherry and Najork (2008), section 3.6.

    Examples
    --------
    >>> from tieaware_sklearn import NDCG, ranking_score
    >>> ranking_score([2, 0, 1], [3, 2, 1], measure=NDCG(k=10))
    0.9639404333166532
    """

    name: ClassVar[str] = "NDCG"

    @classmethod
    def parameters(cls, given: dict[str, Any], spelled: str) -> dict[str, Any]:
        if "dcg" not in given:
            return given
        if "gain" in given:
            raise ValueError(f"measure must give gain or dcg, got {spelled!r}")
        dcg = given.pop("dcg")
        if not isinstance(dcg, str) or dcg not in _IR_MEASURES_DCG:
            raise ValueError(
                f"dcg must be one of {tuple(_IR_MEASURES_DCG)}, got {dcg!r} in "
                f"{spelled!r}"
            )
        return {**given, "gain": _IR_MEASURES_DCG[dcg]}

    def normaliser(self, groups: TieGroups) -> FloatArray:
        return self.ideal_sum(groups)

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self.normaliser(groups) > 0
