"""How far two orders of systems agree."""

from __future__ import annotations

import numpy as np

from .._engine.ties import FloatArray
from ._rank_correlation import rank_correlation


def order_agreement(exact: FloatArray, coarse: FloatArray, up: bool) -> FloatArray:
    """tau-b and tau-AP of two orders of systems, by their means.

    Systems without one of the means are left out; `up` says whether more is better.
    """
    there = ~(np.isnan(exact) | np.isnan(coarse))
    if not there.any():
        return np.full(2, np.nan)
    side = 1 if up else -1
    found = rank_correlation(
        side * exact[there], side * coarse[there], coefficients=("tau_b", "tau_ap")
    )
    return np.asarray(found.values[0])
