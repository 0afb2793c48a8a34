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

_DISPLAYS: dict[type, type[Display]] = {
    OfficialVsExact: OfficialVsExactDisplay,
    PermutationImportance: PermutationImportanceDisplay,
    PrecisionRecallCurve: PrecisionRecallBandDisplay,
    PrecisionStudy: PrecisionLossDisplay,
    RankingReport: TieRangeDisplay,
    Screening: FeatureScreeningDisplay,
    SelectionCurve: SelectionCurveDisplay,
    Summary: TieRangeDisplay,
    SystemComparison: TieRangeDisplay,
}


def drawing_of(result: Any) -> Callable[[], Display] | None:
    """What draws a result; None for one that has no display."""
    # of summaries, only those of rankings have ranges
    if isinstance(result, Summary) and not {"ideal", "chance"} <= result.columns.keys():
        return None
    display = _DISPLAYS.get(type(result))
    return None if display is None else partial(display.from_result, result)
