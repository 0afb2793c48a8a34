"""Measures that sum gains, each weighted by its rank: CG, DCG, NDCG, RBP, CWL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from .._engine.validation import reject
from ._base import (
    Measure,
    relevance,
    set_cutoff,
    set_number,
    weighted_sum,
    weighted_sum_variance,
)
from ._gains import gains_of, normalise_gain
from ._rank_weights import RankWeight, geometric_weight, log_discount, no_discount
from ._user_models import from_views


class _WeightedSum(Measure):
    """A sum of gains, each weighted by its rank."""

    if TYPE_CHECKING:  # a field of every subclass
        k: int | None

    def _weight(self) -> RankWeight:
        return log_discount

    def _weights(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is None:
            raise ValueError(
                f"{self} needs a cut-off for its user model (its weights have no sum), "
                f"such as {self}@10"
            )
        return from_views(self._weight()(np.arange(self.k)))

    def numerator(self, groups: TieGroups) -> FloatArray:
        return weighted_sum(groups, self.gains_of(groups), self._weight(), self.k)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return weighted_sum_variance(
            groups, self.gains_of(groups), self._weight(), self.k
        )

    def ideal_sum(self, groups: TieGroups) -> FloatArray:
        """The sum in the best order of all documents, retrieved or not.

        It is added up as `numerator` is, so that a perfect ranking is worth just 1.
        """

        def compute() -> FloatArray:
            gains = self.gains_of(groups)
            return self.numerator(groups.everything.ordered(gains, descending=True))

        ideal: FloatArray = groups.everything.memo(("ideal", self), compute)
        return ideal


@dataclass(frozen=True)
class _GainMeasure(_WeightedSum):
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

    def _weight(self) -> RankWeight:
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

    def normaliser(self, groups: TieGroups) -> FloatArray:
        return self.ideal_sum(groups)

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self.normaliser(groups) > 0


class _AttentionMeasure(_WeightedSum):
    """Attention given to relevance, binary or in [0, 1]."""

    if TYPE_CHECKING:  # fields of every subclass
        rel: float
        gain: Any

    def _check_relevance(self) -> None:
        set_number(self, "rel", above=0)
        if self.gain is not None:
            object.__setattr__(self, "gain", normalise_gain(self.gain))

    def gains(self, levels: FloatArray) -> FloatArray:
        if self.gain is None:
            return relevance(levels, self.rel)
        # an unlimited label stands for the best there could be
        gains = np.ones(len(levels))
        known = np.isfinite(levels)
        gains[known] = gains_of(self.gain, levels[known])
        too_large = gains > 1
        if too_large.any():
            at = int(np.argmax(too_large))
            raise ValueError(
                f"gain of {self.name} must be in [0, 1], got {gains[at]} for label "
                f"{levels[at]}"
            )
        return gains


@dataclass(frozen=True)
class RBP(_AttentionMeasure):
    """Rank-biased precision: (1 - p) Σ p^(rank - 1) over relevant documents.

    Parameters
    ----------
    p : float, default=0.8
        Persistence: the chance that the user goes on to the next document.
    k : int, optional
        Cut-off.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Graded relevance with gains in [0, 1], in place of `rel`.

    Raises
    ------
    ValueError
        For p outside (0, 1), k < 1, rel <= 0 or gains above 1.

    Notes
    -----
    Moffat and Zobel (2008), equation 3.

    Examples
    --------
    >>> from tieaware_sklearn import RBP, ranking_score
    >>> ranking_score([1, 0, 1], [3, 2, 1], measure=RBP(p=0.5))
    0.625
    """

    name: ClassVar[str] = "RBP"
    p: float = 0.8
    k: int | None = None
    rel: float = 1.0
    gain: Any = None

    def __post_init__(self) -> None:
        set_number(self, "p", above=0, below=1)
        set_cutoff(self)
        self._check_relevance()

    def _weight(self) -> RankWeight:
        return partial(geometric_weight, p=self.p)

    def _weights(self, n: int, labels: FloatArray | None) -> FloatArray:
        return self._weight()(np.arange(n if self.k is None else self.k))

    def _is_shown(self, field: Any) -> bool:
        return field.name == "p" or super()._is_shown(field)


@dataclass(frozen=True)
class CWL(_AttentionMeasure):
    """Expected rate of gain of a user given by his chances to read on.

    Parameters
    ----------
    chances : sequence of float
        The continuation vector C(1), C(2), ...: the chance to go on from each
        rank, in [0, 1]; 0 beyond the last one given.
    k : int, optional
        Cut-off: documents below it add nothing.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Graded relevance with gains in [0, 1], in place of `rel`.

    Raises
    ------
    ValueError
        For chances outside [0, 1], none at all, rel <= 0 or gains above 1.

    Notes
    -----
    Σ W(i) r_i with the weights W that the chances imply, which sum to 1: Moffat,
    Thomas and Scholer (2013), equations 1 to 3. Exact under ties, as every sum of
    weighted gains.

    Examples
    --------
    >>> from tieaware_sklearn import CWL, ranking_score
    >>> ranking_score([1, 0, 1], [2, 1, 1], measure=CWL([1, 1]))
    0.6666666666666666
    """

    name: ClassVar[str] = "CWL"
    chances: tuple[float, ...]
    k: int | None = None
    rel: float = 1.0
    gain: Any = None

    def __post_init__(self) -> None:
        try:
            chances = np.asarray(self.chances, dtype=np.float64)
        except (TypeError, ValueError):
            chances = np.zeros(0)
        if chances.ndim != 1 or not len(chances):
            raise ValueError(
                f"chances must be a sequence of numbers in [0, 1], got {self.chances!r}"
            )
        reject(~((chances >= 0) & (chances <= 1)), chances, "chances", "be in [0, 1]")
        object.__setattr__(self, "chances", tuple(chances.tolist()))
        set_cutoff(self)
        self._check_relevance()

    def _weights(self, n: int, labels: FloatArray | None) -> FloatArray:
        return _cwl_weights(self.chances)[: self.k]

    def _weight(self) -> RankWeight:
        known = _cwl_weights(self.chances)

        def weight(rank: IntArray) -> FloatArray:
            inside = rank < len(known)
            return np.where(inside, known[np.where(inside, rank, 0)], 0.0)

        return weight


@lru_cache(maxsize=64)
def _cwl_weights(chances: tuple[float, ...]) -> FloatArray:
    return from_views(np.concatenate([[1.0], np.cumprod(chances)]))
