"""From what was added up over queries to scores, tests, directions and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._display.warn import warn
from .._engine.ties import FloatArray
from .._engine.validation import check_choice, is_number
from ..evaluation._intervals import QueryMoments
from ..evaluation._report import lift
from ..measures import Measure
from ._statistics import FeatureStatistics

#: results that have a value for each feature and measure
PER_FEATURE = ("scores", "best", "worst", "tie_std", "lift", "ci", "pvalues", "qvalues")
DIRECTIONS = ("auto", "descending", "ascending")


@dataclass(frozen=True)
class FeatureResults:
    """The fitted attributes of `RankingFeatureSelector`, qid column left out."""

    scores: FloatArray
    best: FloatArray
    worst: FloatArray
    tie_std: FloatArray
    chance: FloatArray
    ideal: FloatArray
    lift: FloatArray
    ci: FloatArray
    pvalues: FloatArray
    qvalues: FloatArray
    ascending: NDArray[np.bool_]
    ranking: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        statistics: FeatureStatistics,
        measures: Sequence[Measure],
        sort: int,
        directions: Sequence[str],
    ) -> FeatureResults:
        """Results by measure number `sort`, for the directions asked for."""
        up, down = statistics.descending, statistics.ascending
        favourable = 1.0 if measures[sort].greater_is_better else -1.0
        asked = np.array(directions)
        both = asked == "auto"
        gain = favourable * (down.value.mean - up.value.mean)[:, sort]
        # a tie, as of a constant feature, leaves the direction descending
        ascending = (asked == "ascending") | (both & (gain > 0))

        def chosen(name: str) -> QueryMoments:
            return _where(ascending, getattr(down, name), getattr(up, name))

        value = chosen("value")
        scores = value.averages()
        pvalues = chosen("difference").p_greater()
        pvalues = np.where(both[:, None], np.minimum(1.0, 2 * pvalues), pvalues)
        variance = np.where(ascending[:, None], down.tie_variance, up.tie_variance)
        total = np.where(value.weight > 0, value.weight, np.nan)
        chance, ideal = statistics.chance.averages(), statistics.ideal.averages()
        order = np.argsort(-favourable * scores[:, sort], kind="stable")
        ranking = np.empty(len(order), dtype=np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        return cls(
            scores=scores,
            best=chosen("best").averages(),
            worst=chosen("worst").averages(),
            tie_std=np.sqrt(variance) / total,
            chance=chance,
            ideal=ideal,
            lift=lift(scores, chance, ideal),
            ci=value.interval(),
            pvalues=pvalues,
            qvalues=_q_values(pvalues),
            ascending=ascending,
            ranking=ranking,
        )


def each_direction(direction: Any, n_features: int) -> list[str]:
    """The direction asked for, of each feature."""
    if isinstance(direction, str) or not isinstance(direction, Iterable):
        check_choice(direction, "direction", DIRECTIONS)
        return [direction] * n_features
    directions = list(direction)
    if len(directions) != n_features:
        raise ValueError(
            f"direction must have one value per feature ({n_features}), got "
            f"{len(directions)}"
        )
    for one in directions:
        check_choice(one, "direction", DIRECTIONS)
    return directions


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


def select_features(
    statistics: FeatureStatistics,
    results: FeatureResults,
    sort: int,
    wanted: Any,
    alpha: float,
    min_lift: float,
) -> NDArray[np.bool_]:
    """Which features to keep: the best ones, or those better than chance."""
    varies = statistics.varies
    if wanted is None:
        usable = int(statistics.chance.count[sort])
        if usable < 2:
            warn(
                f"p-values need at least two queries, got {usable} (without qid, all "
                "rows are one query): every feature that is not constant is kept"
            )
            return varies.copy()
        good = results.qvalues[:, sort] <= alpha
        good &= results.lift[:, sort] >= min_lift
        return np.asarray(varies & good)
    n_features = len(varies)
    share = isinstance(wanted, (float, np.floating))
    # 0.29 of 100 is 29, though the product is a little less
    number = max(1, int(wanted * n_features + 1e-9)) if share else int(wanted)
    best = np.argsort(results.ranking)
    best = best[varies[best]][:number]
    if len(best) < number:
        warn(
            f"n_features_to_select={wanted!r}, but only {len(best)} of "
            f"{n_features} features vary within a query: the others are left out"
        )
    support = np.zeros(n_features, dtype=bool)
    support[best] = True
    return support


def _where(
    ascending: NDArray[np.bool_], down: QueryMoments, up: QueryMoments
) -> QueryMoments:
    column = ascending[:, None]
    return QueryMoments(
        *(
            np.where(column, getattr(down, field.name), getattr(up, field.name))
            for field in fields(QueryMoments)
        )
    )


def _q_values(pvalues: FloatArray) -> FloatArray:
    """Benjamini-Hochberg per column; NaN stays NaN."""
    out = np.full(pvalues.shape, np.nan)
    for j, column in enumerate(pvalues.T):
        there = ~np.isnan(column)
        if there.any():
            out[there, j] = stats.false_discovery_control(column[there])
    return out
