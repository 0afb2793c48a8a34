"""Inspection of rankers: the importance of columns."""

from ._permutation_importance import PermutationImportance, query_permutation_importance

__all__ = ["PermutationImportance", "query_permutation_importance"]
