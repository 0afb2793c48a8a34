"""The most that banding can cost."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import digamma

from ..measures import RBP, Measure, ReciprocalRank, parse_measure
from ._bands import check_rho, rank_safe_depth

#: bands of less attention than this can lose nothing
_NEGLIGIBLE = 1e-18


def worst_case_loss(measure: str | Measure, rho: Any) -> float:
    """The most that banding can take from a measure, whatever is relevant.

    Parameters
    ----------
    measure : str or Measure
        RR or RBP, without a cut-off.
    rho : float, str or Fraction
        Growth of the bands, as in `geometric_bands`.

    Returns
    -------
    float
        Value of the ranking less the mean over the orders inside its bands, at the
        ranking that loses most.

    Raises
    ------
    ValueError
        For another measure or rho <= 1.

    Notes
    -----
    A band of s ranks loses most with its t relevant documents on top; RR stops at
    the first band that holds one, RBP adds up the bands, each at its worst t in
    1 ... s. Yang, Moffat and Turpin (AIRS 2016), section 4 and Table 2 (their bound
    on t, as printed, leaves values out).

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import worst_case_loss
    >>> [round(worst_case_loss("rr", rho), 4) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
    [0.0038, 0.0119, 0.0417, 0.0833, 0.0833]
    """
    parsed = parse_measure(measure)
    ratio = check_rho(rho)
    known = isinstance(parsed, (ReciprocalRank, RBP)) and parsed.k is None
    if not known:
        raise ValueError(f"measure must be RR or RBP without a cut-off, got {parsed}")
    if isinstance(parsed, RBP):
        return _rbp_loss(parsed.p, ratio)
    return _rr_loss(ratio)


def _bands(ratio: Fraction, first: int) -> tuple[int, int]:
    """First rank of the band after this one, and the size of this one."""
    following = -(-ratio.numerator * first // ratio.denominator)
    return following, following - first


def _rr_loss(ratio: Fraction) -> float:
    first, most = rank_safe_depth(ratio) + 1, 0.0
    # 1/rank is convex, and the mean rank of a band at most b + (rho - 1)b/2: from
    # b on none loses more than (1 - 2/(rho + 1))/b
    reach = float((ratio - 1) / (ratio + 1))
    while reach / first > most:
        following, size = _bands(ratio, first)
        if size > 1:
            # more relevant documents only raise the mean
            mean = (digamma(following) - digamma(first)) / size
            most = max(most, 1 / first - float(mean))
        first = following
    return most


def _rbp_loss(p: float, ratio: Fraction) -> float:
    first, losses = rank_safe_depth(ratio) + 1, []
    while p ** (first - 1) > _NEGLIGIBLE:
        following, size = _bands(ratio, first)
        # further down a relevant document adds nothing
        deep = math.ceil(math.log(_NEGLIGIBLE) / math.log(p)) + 1
        relevant = np.arange(1, min(size, deep) + 1, dtype=np.float64)
        on_top, all_of_it = (-np.expm1(x * math.log(p)) for x in (relevant, size))
        loss = p ** (first - 1) * (on_top - relevant / size * all_of_it)
        losses.append(float(loss.max()))
        first = following
    return max(math.fsum(losses), 0.0)
