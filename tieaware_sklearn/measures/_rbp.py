"""Relevance weighted by attention: RBP, and user models given by C/W/L."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray
from .._engine.validation import reject
from ._base import RelevanceMeasure
from ._fields import cutoff, number
from ._gains import gains_of, normalise_gain
from ._rank_weights import geometric_weight
from ._user_models import from_views
from ._weighted_sum import WeightedSum


def _gain(gain: Any, name: str) -> Any:
    return None if gain is None else normalise_gain(gain, name)


def _chances(given: Any, name: str) -> tuple[float, ...]:
    try:
        chances = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        chances = np.zeros(0)
    if chances.ndim != 1 or not len(chances):
        raise ValueError(
            f"{name} must be a sequence of numbers in [0, 1], got {given!r}"
        )
    reject(~((chances >= 0) & (chances <= 1)), chances, name, "be in [0, 1]")
    return tuple(chances.tolist())


class _AttentionMeasure(WeightedSum, RelevanceMeasure):
    """Attention given to relevance, binary or in [0, 1]."""

    maximum: ClassVar[float] = 1.0
    gain: Any

    def gains(self, levels: FloatArray) -> FloatArray:
        if self.gain is None:
            return super().gains(levels)
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
        Persistence: the probability that the user reads on to the next document.
    k : int, optional
        Cut-off.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Gain of a label, in [0, 1], for graded relevance; replaces `rel`.

    Raises
    ------
    ValueError
        For p outside (0, 1), k < 1, rel <= 0 or gains above 1.

    See Also
    --------
    CWL : A user who reads on with a probability that depends on the rank.
    residuals : Bounds where documents are unjudged.

    Notes
    -----
    The definition is equation 3 of Moffat and Zobel (2008).

    Examples
    --------
    >>> from tieaware_sklearn import RBP, ranking_score
    >>> ranking_score([1, 0, 1], [3, 2, 1], measure=RBP(p=0.5))
    0.625
    """

    name: ClassVar[str] = "RBP"
    always_shown: ClassVar[tuple[str, ...]] = ("p",)
    p: float = number(0.8, above=0, below=1)
    k: int | None = cutoff()
    rel: float = number(1.0, above=0)
    gain: Any = field(default=None, metadata={"check": _gain})

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return geometric_weight(rank, self.p)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return self._rank_weights(np.arange(n if self.k is None else min(self.k, n)))


@dataclass(frozen=True)
class CWL(_AttentionMeasure):
    """Expected rate of gain of a user model given by its continuation probabilities.

    Parameters
    ----------
    chances : sequence of float
        Continuation vector C(1), C(2), ...: the probability, in [0, 1], that the
        user reads on from each rank. It is 0 beyond the last one given.
    k : int, optional
        Cut-off. Documents below it do not count.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Gain of a label, in [0, 1], for graded relevance; replaces `rel`.

    Raises
    ------
    ValueError
        For chances outside [0, 1] or an empty sequence of them, k < 1, rel <= 0 or
        gains above 1.

    See Also
    --------
    RBP : A user who reads on with a constant probability.
    tieaware_sklearn.plots.UserModelDisplay : Draws user models.

    Notes
    -----
    The value is Σ W(i) r_i, where r_i is the gain at rank i. The weights W follow
    from the continuation vector and sum to 1: Moffat, Thomas and Scholer (2013),
    equations 1 to 3. The mean under ties is exact, as for every sum of weighted
    gains.

    Examples
    --------
    >>> from tieaware_sklearn import CWL, ranking_score
    >>> round(ranking_score([1, 0, 1], [2, 1, 1], measure=CWL([1, 1])), 4)
    0.6667
    """

    name: ClassVar[str] = "CWL"
    example: ClassVar[str] = "CWL(chances=[0.9,0.5])"
    chances: tuple[float, ...] = field(metadata={"check": _chances})
    k: int | None = cutoff()
    rel: float = number(1.0, above=0)
    gain: Any = field(default=None, metadata={"check": _gain})

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return _cwl_attention(self.chances)[: self.k]

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        known = _cwl_attention(self.chances)
        inside = rank < len(known)
        return np.where(inside, known[np.where(inside, rank, 0)], 0.0)


@lru_cache(maxsize=64)
def _cwl_attention(chances: tuple[float, ...]) -> FloatArray:
    return from_views(np.concatenate([[1.0], np.cumprod(chances)]))
