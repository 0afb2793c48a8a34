"""Inspection of rankers and selections: importance of columns, stability, curves."""

from ._permutation_importance import PermutationImportance, query_permutation_importance
from ._selection_curve import SelectionCurve, selection_curve
from ._selection_stability import SelectionStability, selection_stability

__all__ = [
    "PermutationImportance",
    "SelectionCurve",
    "SelectionStability",
    "query_permutation_importance",
    "selection_curve",
    "selection_stability",
]


def __dir__() -> list[str]:
    return __all__
