"""Attention over relevance: RBP, and any user model given by its chances (C/W/L)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray
from .._engine.validation import reject
from ._base import relevance, set_cutoff, set_number
from ._gains import gains_of, normalise_gain
from ._rank_weights import RankWeight, geometric_weight
from ._user_models import from_views
from ._weighted_sum import WeightedSum


class _AttentionMeasure(WeightedSum):
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

    def _rank_weight(self) -> RankWeight:
        return partial(geometric_weight, p=self.p)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return self._rank_weight()(np.arange(n if self.k is None else self.k))

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
    example: ClassVar[str] = "CWL(chances=[0.9,0.5])"
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

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return _cwl_attention(self.chances)[: self.k]

    def _rank_weight(self) -> RankWeight:
        known = _cwl_attention(self.chances)

        def weight(rank: IntArray) -> FloatArray:
            inside = rank < len(known)
            return np.where(inside, known[np.where(inside, rank, 0)], 0.0)

        return weight


@lru_cache(maxsize=64)
def _cwl_attention(chances: tuple[float, ...]) -> FloatArray:
    return from_views(np.concatenate([[1.0], np.cumprod(chances)]))
