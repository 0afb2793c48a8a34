"""The features of a screening as rows of plain values, the best first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def feature_rows(
    selector: Any, names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """A dict per feature of a fitted `RankingFeatureSelector`; see its `table`."""
    features = np.flatnonzero(selector._is_feature())
    order = features[np.argsort(selector.ranking_[features])]
    names = _names(selector) if names is None else names
    rows = []
    for rank, j in enumerate(order.tolist(), start=1):
        row: dict[str, Any] = {
            "rank": rank,
            "feature": names[j],
            "direction": str(selector.directions_[j]),
            "selected": bool(selector.support_[j]),
        }
        for m, measure in enumerate(selector.measures_):
            low, high = selector.ci_[j, m].tolist()
            row |= {
                measure: float(selector.scores_[j, m]),
                f"{measure}_low": low,
                f"{measure}_high": high,
                f"{measure}_best": float(selector.best_[j, m]),
                f"{measure}_worst": float(selector.worst_[j, m]),
                f"{measure}_tie_std": float(selector.tie_std_[j, m]),
                f"{measure}_chance": float(selector.chance_[m]),
                f"{measure}_lift": float(selector.lift_[j, m]),
                f"{measure}_p": float(selector.pvalues_[j, m]),
                f"{measure}_q": float(selector.qvalues_[j, m]),
            }
        like, rho = _repeats(selector, j, order[: rank - 1])
        row["repeats"] = None if like is None else names[like]
        row["correlation"] = rho
        rows.append(row)
    return rows


def _names(selector: Any) -> list[str]:
    names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(selector.n_features_in_)]
    return [str(name) for name in names]


def _repeats(
    selector: Any, feature: int, better: NDArray[np.int64]
) -> tuple[int | None, float]:
    """The better-ranked feature most like this one, the best of equals."""
    if selector.rank_correlation_ is None or not len(better):
        return None, math.nan
    column = np.cumsum(selector._is_feature()) - 1
    rho = selector.rank_correlation_[column[feature], column[better]]
    # the last bits of a correlation must not choose between copies
    at = int(np.argmax(np.round(rho, 10)))
    if rho[at] <= 1e-10:
        return None, math.nan
    return int(better[at]), float(rho[at])
