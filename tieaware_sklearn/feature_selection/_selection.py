"""Which features to keep, and the parameters that say so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.warn import warn
from .._engine.validation import is_number
from ._screening import Screening


def check_selection(wanted: Any, alpha: Any, min_lift: Any) -> None:
    """The rule by which features are selected."""
    if wanted is not None:
        whole = isinstance(wanted, (int, np.integer)) and wanted >= 1
        share = isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1
        if isinstance(wanted, bool) or not (whole or share):
            raise ValueError(
                "n_features_to_select must be an integer >= 1, a share in (0, 1] "
                f"or None, got {wanted!r}"
            )
    for name, value, low in (("alpha", alpha, 0.0), ("min_lift", min_lift, -np.inf)):
        if not is_number(value, most=1, least=low):
            raise ValueError(f"{name} must be in [{low:g}, 1], got {value!r}")


def nothing_passed(screening: Screening, alpha: float, min_lift: float) -> str:
    """Why no feature is kept, for a message."""
    if not screening.varies.any():
        return "no feature is selected: each is constant within every query"
    best, sort = int(np.argmin(screening.ranking)), screening.rule.sort
    return (
        f"no feature is selected: by {screening.measures[sort]}, none has a q-value of "
        f"at most {alpha=} and a lift of at least {min_lift=}. The best, "
        f"{screening.feature_names[best]!r}, has q = "
        f"{screening.qvalues[best, sort]:.3g} and lift = "
        f"{screening.lift[best, sort]:.3g}. To select a fixed number of the best "
        "features, set n_features_to_select"
    )


def select_features(
    screening: Screening, wanted: Any, alpha: float, min_lift: float
) -> NDArray[np.bool_]:
    """Which features to keep: the best ones, or those better than chance."""
    varies, sort = screening.varies, screening.rule.sort
    if wanted is None:
        usable = int(screening.n_averaged[sort])
        if usable < 2:
            warn(
                f"p-values need at least two queries, got {usable}: every feature that "
                "is not constant is selected"
            )
            return varies.copy()
        good = screening.qvalues[:, sort] <= alpha
        good &= screening.lift[:, sort] >= min_lift
        return np.asarray(varies & good)
    n_features = len(varies)
    share = isinstance(wanted, (float, np.floating))
    # 0.29 of 100 is 29, though the product is a little less
    number = max(1, int(wanted * n_features + 1e-9)) if share else int(wanted)
    best = np.argsort(screening.ranking)
    best = best[varies[best]][:number]
    if len(best) < number:
        warn(
            f"n_features_to_select={wanted!r}, but only {len(best)} of {n_features} "
            "features vary within a query: only these are selected"
        )
    support = np.zeros(n_features, dtype=bool)
    support[best] = True
    return support
