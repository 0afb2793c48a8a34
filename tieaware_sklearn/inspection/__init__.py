"""Inspection of rankers and selections: importance of columns, stability, curves."""

from ._curve_result import SelectionCurve
from ._permutation_importance import query_permutation_importance
from ._result import PermutationImportance
from ._selection_curve import selection_curve
from ._selection_stability import SelectionStability, selection_stability

__all__ = [
    "PermutationImportance",
    "SelectionCurve",
    "SelectionStability",
    "query_permutation_importance",
    "selection_curve",
    "selection_stability",
]
