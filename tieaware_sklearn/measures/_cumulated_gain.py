"""CG, DCG, NDCG and RBP: sums of gains, each weighted by its rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .._engine import checks, messages, segments
from .._engine.tie_groups import TieGroups, Totals, once_per_block
from .._typing import FloatArray, IntArray
from . import _measure, _rank_tables
from ._measure import Measure

MAX_EXPONENTIAL_LABEL = 60
#: Bounds of positive gains and of the weight of rank 1. The squares of values within
#: these bounds can be summed without overflow or underflow.
_LEAST, _MOST = 1e-100, 1e100


def normalise_gain(gain: Any, name: str) -> Any:
    """Return a hashable form of a gain: a name, a callable, or (label, gain) pairs."""
    if callable(gain) or (isinstance(gain, str) and gain in _NAMED):
        return gain
    table = _table(gain)
    if not table or len(dict(table)) < len(table):
        raise ValueError(
            f"{name} must be one of {tuple(_NAMED)}, a callable, or a table of gains "
            f"that contains each label once, got {gain!r}"
        )
    for label, label_gain in table:
        if not (math.isfinite(label) and label >= 0):
            raise ValueError(f"labels of {name} must be finite and >= 0, got {label}")
        _check_gain(label, label_gain)
    return table


def _table(gain: Any) -> tuple[tuple[float, float], ...] | None:
    """Return (label, gain) pairs, sorted by label, or None if `gain` is no table."""
    if isinstance(gain, str):
        return None
    try:
        pairs = list(gain.items() if hasattr(gain, "items") else gain)
        if not any(isinstance(pair, (tuple, list)) for pair in pairs):
            pairs = list(enumerate(pairs))
        table = [(float(label), float(label_gain)) for label, label_gain in pairs]
    except (TypeError, ValueError):
        return None
    return tuple(sorted(table))


def _check_gain(label: float, gain: Any) -> float:
    number = float(gain)
    if not (number == 0 or _LEAST <= number <= _MOST):
        raise ValueError(
            f"gain must be 0 or from {_LEAST:g} to {_MOST:g}, got {number} for label "
            f"{_measure.shortest(label)}"
        )
    return number


def _exponential(levels: FloatArray) -> FloatArray:
    """Return 2^level - 1, exact for integer levels and precise for small levels."""
    if len(levels) and levels[-1] > MAX_EXPONENTIAL_LABEL:
        raise ValueError(
            f"a label must be <= {MAX_EXPONENTIAL_LABEL} with exponential gain, got "
            f'{levels[-1]}: set gain="linear", which accepts higher labels'
        )
    # NaN, the label of documents without a label, is not an integer. fmin replaces it.
    whole = np.fmin(levels, MAX_EXPONENTIAL_LABEL).astype(np.int64)
    gains = np.ldexp(1.0, whole) - 1
    return np.where(whole == levels, gains, np.expm1(levels * math.log(2)))


#: Functions that map levels, ascending and >= 0, to gains.
_NAMED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "exponential": _exponential,
    "linear": lambda levels: levels,
}


def refused_label(
    measures: Iterable[Any], labels: FloatArray
) -> tuple[int, str] | None:
    """Return the row of the first label that a measure refuses, and the reason.

    The result is None if no measure refuses a label. NaN is a missing label and is
    never refused.
    """
    distinct = np.unique(labels[~np.isnan(labels)])
    for measure in measures:
        if _refusal(measure, distinct):
            refused = [x for x in distinct if _refusal(measure, np.array([x]))]
            row = int(np.argmax(np.isin(labels, refused)))
            return row, _refusal(measure, labels[row : row + 1])
    return None


def _refusal(measure: Any, levels: FloatArray) -> str:
    """Return why a measure refuses labels of a file, or an empty string."""
    try:
        measure.gains(levels)
    except ValueError as error:
        return f"{measure}: {error}"
    return ""


def gains_of(gain: Any, levels: FloatArray) -> FloatArray:
    """Return the gain of each level.

    Unjudged documents have the gain of label 0. Dropped documents have no gain.

    Raises
    ------
    ValueError
        If a label is above 60 and the gain is exponential, if the table does not
        contain a label, or if a gain is negative or not finite.
    """
    if len(levels) and levels[0] == checks.DROPPED_LABEL:
        return np.append(0.0, gains_of(gain, levels[1:]))
    levels = np.maximum(levels, 0)
    if isinstance(gain, str):
        gains = _NAMED[gain](levels)
        positive = np.flatnonzero(gains > 0)
        # These gains ascend with the levels, so only the ends are checked.
        if len(positive):
            _check_gain(levels[positive[0]], gains[positive[0]])
            _check_gain(levels[positive[-1]], gains[positive[-1]])
        return gains
    table = {} if callable(gain) else dict(gain)
    level_gains = []
    for level in levels.tolist():
        if callable(gain):
            level_gain = gain(level)
        elif level in table:
            level_gain = table[level]
        else:
            labels = list(map(_measure.shortest, table))
            raise ValueError(
                f"a label must be one of the labels {labels} of the gain table, got "
                f"{_measure.shortest(level)}"
            )
        level_gains.append(_check_gain(level, level_gain))
    return np.array(level_gains)


#: Functions that map ranks, counted from 0, to weights.
_DISCOUNTS: dict[str, Callable[[IntArray], FloatArray]] = {
    "log2": _rank_tables.log_discount,
    "inverse": lambda rank: 1.0 / (rank + 1),
    "none": lambda rank: np.ones(len(rank)),
}


def _discount(discount: Any, name: str) -> Any:
    """Return a hashable form of a discount: a name, a callable, or a tuple."""
    if callable(discount) or (isinstance(discount, str) and discount in _DISCOUNTS):
        return discount
    weights = _vector(discount)
    if weights is None:
        raise ValueError(
            f"{name} must be one of {tuple(_DISCOUNTS)}, weights of the ranks from 1 "
            f"or a callable, got {discount!r}"
        )
    return tuple(_check_discount(weights, name).tolist())


def _vector(values: Any) -> FloatArray | None:
    """Return a non-empty one-dimensional array, or None for other values."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return vector if vector.ndim == 1 and len(vector) else None


def _check_discount(weights: FloatArray, name: str = "discount") -> FloatArray:
    never_rises = (weights[1:] <= weights[:-1]).all() and weights[-1] >= 0
    if not (never_rises and _LEAST <= weights[0] <= _MOST):
        raise ValueError(
            f"{name} must be from {_LEAST:g} to {_MOST:g} at rank 1, and must not rise "
            f"or be negative at later ranks, got {messages.show(weights.tolist())}"
        )
    return weights


class WeightedSum(Measure):
    """A sum of gains, each weighted by its rank."""

    #: Whether all ranks have the same weight.
    flat = False
    k: Any

    def rank_worth(self, rank: IntArray) -> FloatArray:
        """The weight of each rank. Ranks count from 0."""
        return _rank_tables.log_discount(rank)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is None:
            raise ValueError(
                f"{self.name} must have a cut-off for a user model, as in "
                f"{self.name}@10, because the weights of a user model have a finite sum"
            )
        return _measure.from_views(self.rank_worth(np.arange(self.k)))

    def numerator(self, groups: TieGroups) -> FloatArray:
        """Each place down to rank k adds the mean gain of its group.

        McSherry and Najork (2008), section 2.6.
        """
        gains = self.gains_of(groups)
        near, owner, rank, counts = groups.documents(self.k)
        means = groups.gain_means(gains, near)[owner]
        # Zeros are left out, because the bits of a sum depend on the number of terms.
        filled = means != 0
        values = means[filled] * self.rank_worth(rank[filled])
        return segments.sum_segments(values, segments.count_segments(filled, counts))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator over the orders of tied documents.

        The numerator is a sum over tie groups, which are independent, so the variances
        of the groups are added. Consider a group of n documents whose gains have
        variance S² (with divisor n - 1, or 0 if n is 1). The first kk places of the
        group are above the cut-off, with weights w_j. All other places have weight 0.
        Let w̄ be the mean of the n weights. The variance of the group is
        S² [Σ_{j<=kk} (w_j - w̄)² + (n - kk) w̄²].
        """
        if not groups.mixed:
            return np.zeros(groups.n_queries)
        variance = groups.gain_variances(self.gains_of(groups))
        inside = groups.inside(self.k)
        chosen = np.flatnonzero((variance > 0) & (inside > 0))
        counts = inside[chosen]
        n = groups.n[chosen]
        owner, place = segments.expand(counts)
        weights = self.rank_worth(groups.lo[chosen][owner] + place)
        mean = segments.sum_segments(weights, counts) / n
        deviation = weights - mean[owner]
        spread = segments.sum_segments(deviation * deviation, counts)
        spread += (n - counts) * mean * mean
        variance[chosen] *= spread
        variance[inside == 0] = 0.0
        return groups.sum_groups(variance)


@dataclass(frozen=True)
class _GainMeasure(WeightedSum):
    k: Any = _measure.cutoff()
    gain: Any = _measure.parameter("exponential", normalise_gain)

    def gains(self, levels: FloatArray) -> FloatArray:
        return gains_of(self.gain, levels)


@dataclass(frozen=True)
class CG(_GainMeasure):
    """Cumulated gain: the sum of the gains of the first k documents.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    gain : {"linear", "exponential"}, table or callable, default="linear"
        Gain of a label: the label itself ("linear"), 2^label - 1 ("exponential", for
        labels up to 60), a table ``{label: gain}``, a list of the gains of labels 0, 1,
        2, ..., or a function of a label. Gains must be 0 or between 1e-100 and 1e100.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if the gain
        breaks a rule above. When a ranking is measured, a label for which there is no
        valid gain also raises a ValueError.

    See Also
    --------
    DCG : The sum of gains discounted by rank.
    NDCG : DCG divided by the DCG of the ideal order.

    Notes
    -----
    The definition is equation 1 of Järvelin and Kekäläinen (2002).

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import CG
    >>> ranking_score([3, 2, 3, 0, 1], [5, 4, 3, 2, 1], measure=CG(k=3))
    8.0
    """

    name = "CG"
    flat = True
    gain: Any = _measure.parameter("linear", normalise_gain)

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return np.ones(len(rank))

    def numerator(self, groups: TieGroups) -> FloatArray:
        # A group above the cut-off adds the sum of its gains, not n times their mean.
        gains = self.gains_of(groups)
        inside = groups.inside(self.k)
        sums = groups.gain_sums(gains)
        shares = groups.gain_means(gains) * inside
        return groups.sum_groups(np.where(inside == groups.n, sums, shares))


@dataclass(frozen=True)
class _DiscountedGain(_GainMeasure):
    discount: Any = _measure.parameter("log2", _discount)

    def rank_worth(self, rank: IntArray) -> FloatArray:
        if isinstance(self.discount, str):
            return _DISCOUNTS[self.discount](rank)
        size = _rank_tables.size_for(rank)
        discounts = _discounts_of(self.discount, size)
        return discounts[rank]

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is None and isinstance(self.discount, tuple):
            return _measure.from_views(np.array(self.discount))
        return super()._attention(n, labels)


@lru_cache(maxsize=64)
def _discounts_of(discount: Any, size: int) -> FloatArray:
    """Return the weights of the first ranks, from a table or a function of ranks."""
    if not callable(discount):
        n_missing = max(size - len(discount), 0)
        return np.append(discount, np.zeros(n_missing))
    weights = np.asarray(discount(np.arange(1.0, size + 1)), dtype=np.float64)
    if weights.shape != (size,):
        raise ValueError(
            f"discount must return one weight per rank, got shape {weights.shape} for "
            f"{size} ranks"
        )
    return _check_discount(weights)


@dataclass(frozen=True)
class DCG(_DiscountedGain):
    """Discounted cumulated gain: Σ gain · discount(rank) down to rank k.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    gain : {"exponential", "linear"}, table or callable, default="exponential"
        Gain of a label: 2^label - 1 ("exponential", for labels up to 60), the label
        itself ("linear"), a table ``{label: gain}``, a list of the gains of labels 0,
        1, 2, ..., or a function of a label. Gains must be 0 or between 1e-100 and
        1e100.
    discount : {"log2", "inverse", "none"}, sequence or callable, default="log2"
        Weight of rank r: 1 / log2(r + 1) ("log2"), 1 / r ("inverse"), 1 ("none"), a
        sequence of weights, or a function. Sequences and functions are described in
        `NDCG`.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if the gain or the
        discount breaks a rule above. Functions are checked when a ranking is measured.
        A label for which there is no valid gain then also raises a ValueError.

    See Also
    --------
    NDCG : DCG divided by the DCG of the ideal order.
    CG : The sum of gains without a discount.

    Notes
    -----
    Burges et al. (2005) define DCG with exponential gain. Järvelin and Kekäläinen
    (2002) define DCG with linear gain and another logarithmic discount. For the mean
    under ties, see McSherry and Najork (2008), section 2.6.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import DCG
    >>> ranking_score([3, 2, 3], [3, 2, 1], measure=DCG(k=1))
    7.0
    """

    name = "DCG"


@dataclass(frozen=True)
class NDCG(_DiscountedGain):
    """Normalised DCG: DCG down to rank k, divided by the DCG of the ideal order.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    gain : {"exponential", "linear"}, table or callable, default="exponential"
        Gain of a label: 2^label - 1 ("exponential", for labels up to 60), the label
        itself ("linear"), a table ``{label: gain}``, a list of the gains of labels 0,
        1, 2, ..., or a function of a label. Gains must be 0 or between 1e-100 and
        1e100.
    discount : {"log2", "inverse", "none"}, sequence or callable, default="log2"
        Weight of rank r: 1 / log2(r + 1) ("log2"), 1 / r ("inverse"), 1 ("none"), a
        sequence of the weights of ranks 1, 2, ..., with 0 for all further ranks, or a
        function that maps an array of the ranks 1.0, 2.0, ... to an array of weights.
        Weights must be finite and >= 0, and must not increase with the rank. The weight
        of rank 1 must be between 1e-100 and 1e100.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if the gain or the
        discount breaks a rule above. Functions are checked when a ranking is measured.
        A label for which there is no valid gain then also raises a ValueError.

    See Also
    --------
    DCG : The same measure without normalisation.
    sklearn.metrics.ndcg_score : NDCG with linear gain and the same mean under ties, for
        a matrix of queries.

    Notes
    -----
    NDCG is undefined for queries in which no document has a positive gain. The ideal
    order includes documents that are not retrieved. By default, scikit-learn's
    ``ndcg_score`` returns the mean of ``NDCG(gain="linear")`` over queries, in which
    queries without a positive label count as 0. Järvelin and Kekäläinen (2002) define
    NDCG. For the mean under ties, see McSherry and Najork (2008), section 2.6.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import NDCG
    >>> ranking_score([2, 0, 1], [3, 2, 1], measure=NDCG(k=10))
    0.9639404333166532
    """

    name = "NDCG"
    maximum = 1.0
    undefined_over_zero = True
    #: Names that ir-measures uses for the gains of its nDCG.
    synonyms: ClassVar = {
        "dcg": ("gain", {"log2": "linear", "exp-log2": "exponential"})
    }

    def normaliser(self, groups: Totals) -> FloatArray:
        return self._ideal(groups.everything)

    @once_per_block
    def _ideal(self, everything: TieGroups) -> FloatArray:
        return self.extreme(everything, best=True)


def _chances(chances: Any, name: str) -> tuple[float, ...]:
    vector = _vector(chances)
    if vector is None:
        raise ValueError(
            f"{name} must be a sequence of numbers in [0, 1], got {chances!r}"
        )
    checks.reject(~((vector >= 0) & (vector <= 1)), vector, name, "be in [0, 1]")
    return tuple(vector.tolist())


class _AttentionMeasure(WeightedSum, _measure.RelevanceMeasure):
    """The share of attention on relevant documents, with gains 0 and 1 or in [0, 1]."""

    gain: Any

    def gains(self, levels: FloatArray) -> FloatArray:
        if self.gain is None:
            return super().gains(levels)
        # `residuals` gives the best possible document an infinite label.
        gains = np.ones(len(levels))
        is_finite = np.isfinite(levels)
        gains[is_finite] = gains_of(self.gain, levels[is_finite])
        is_wrong = gains > 1
        if is_wrong.any():
            index = np.argmax(is_wrong)
            raise ValueError(
                f"gain of {self.name} must be in [0, 1], got {gains[index]} for label "
                f"{levels[index]}"
            )
        return gains


@dataclass(frozen=True)
class RBP(_AttentionMeasure):
    """Rank-biased precision: (1 - p) Σ gain · p^(rank - 1) down to rank k.

    Parameters
    ----------
    p : float, default=0.8
        Persistence: the probability, above 0 and below 1, that the user reads on to the
        next document.
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Gain of a label for graded relevance, in any form that `NDCG` accepts. Gains
        must be in [0, 1]. By default, the gain is 1 for relevant documents, and 0 for
        all other documents. If a gain is set, `rel` is ignored.

    Raises
    ------
    ValueError
        If `p` is outside (0, 1), if `k` is neither a rank >= 1 nor a share in
        (0%, 100%], if `rel` is not a finite number above 0, or if the gain breaks a
        rule above. When a ranking is measured, a label for which there is no valid gain
        also raises a ValueError.

    See Also
    --------
    CWL : Models a user who reads on with a probability that depends on the rank.
    residuals : Reports bounds of the measure if documents are unjudged.

    Notes
    -----
    Moffat and Zobel (2008) define RBP.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import RBP
    >>> ranking_score([1, 0, 1], [3, 2, 1], measure=RBP(p=0.5))
    0.625
    """

    name = "RBP"
    always_shown = ("p",)
    p: float = _measure.number(0.8, above=0, below=1)
    k: Any = _measure.cutoff()
    rel: float = _measure.relevant_label()
    gain: Any = field(default=None, metadata={"check": normalise_gain})

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return _rank_tables.geometric_weight(rank, self.p)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        n_ranks = n if self.k is None else min(self.k, n)
        return self.rank_worth(np.arange(n_ranks))


@dataclass(frozen=True)
class CWL(_AttentionMeasure):
    """Expected rate of gain of a user who reads on with given probabilities.

    Parameters
    ----------
    chances : sequence of float
        Continuation vector C(1), C(2), ...: the probabilities, in [0, 1], that the
        user reads on from ranks 1, 2, ... For all further ranks, the probability is 0.
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Documents below the cut-off do not
        count.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    gain : table, callable or name, optional
        Gain of a label for graded relevance, in any form that `NDCG` accepts. Gains
        must be in [0, 1]. By default, the gain is 1 for relevant documents, and 0 for
        all other documents. If a gain is set, `rel` is ignored.

    Raises
    ------
    ValueError
        If `chances` is empty or contains a value outside [0, 1], if `k` is neither a
        rank >= 1 nor a share in (0%, 100%], if `rel` is not a finite number above 0, or
        if the gain breaks a rule above. When a ranking is measured, a label for which
        there is no valid gain also raises a ValueError.

    See Also
    --------
    RBP : Models a user who reads on with a constant probability.

    Notes
    -----
    The value is Σ W(i) r_i, where r_i is the gain at rank i. The weights W follow
    from the continuation vector and sum to 1 (Moffat, Thomas and Scholer 2013). A
    cut-off k removes the weights of all ranks after k, and does not change the other
    weights.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import CWL
    >>> round(ranking_score([1, 0, 1], [2, 1, 1], measure=CWL([1, 1])), 4)
    0.6667
    """

    name = "CWL"
    chances: tuple[float, ...] = field(metadata={"check": _chances})
    k: Any = _measure.cutoff()
    rel: float = _measure.relevant_label()
    gain: Any = field(default=None, metadata={"check": normalise_gain})

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return _cwl_attention(self.chances)[: self.k]

    def rank_worth(self, rank: IntArray) -> FloatArray:
        # All further ranks have the last weight.
        weights = np.append(_cwl_attention(self.chances), 0.0)
        return weights[np.minimum(rank, len(weights) - 1)]


@lru_cache(maxsize=64)
def _cwl_attention(chances: tuple[float, ...]) -> FloatArray:
    views = np.append(1.0, np.cumprod(chances))
    return _measure.from_views(views)
