"""The picture of a result, for its page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..comparison import OfficialVsExact, SystemComparison
from ..evaluation import PrecisionRecallCurve, RankingReport, Summary
from ..feature_selection import Screening
from ..inspection import PermutationImportance, SelectionCurve
from ..score_precision import PrecisionStudy
from ._base import Display
from ._feature_screening import FeatureScreeningDisplay
from ._official_vs_exact import OfficialVsExactDisplay
from ._permutation_importance import PermutationImportanceDisplay
from ._precision_recall import PrecisionRecallBandDisplay
from ._precision_study import PrecisionLossDisplay
from ._selection_curve import SelectionCurveDisplay
from ._tie_range import TieRangeDisplay

_DISPLAYS: dict[type, Callable[[Any], Display]] = {
    OfficialVsExact: OfficialVsExactDisplay.from_result,
    PermutationImportance: PermutationImportanceDisplay.from_importance,
    PrecisionRecallCurve: PrecisionRecallBandDisplay.from_curves,
    PrecisionStudy: PrecisionLossDisplay.from_study,
    Screening: FeatureScreeningDisplay.from_screening,
    SelectionCurve: SelectionCurveDisplay.from_curve,
    SystemComparison: TieRangeDisplay.from_comparison,
}


def drawing_of(result: Any) -> Callable[[], Display] | None:
    """What draws a result; None for one that has no display."""
    if isinstance(result, RankingReport):
        result = result.summary()
    if isinstance(result, Summary):
        of_ranking = result.keys in (("measure",), ("segment", "measure"))
        known = of_ranking and "chance" in result.columns
        return partial(TieRangeDisplay.from_summary, result) if known else None
    draw = _DISPLAYS.get(type(result))
    return None if draw is None else partial(draw, result)
