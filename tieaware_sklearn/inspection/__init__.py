"""Inspection of a fitted ranker: permutation importance of the columns of X."""

from ._permutation_importance import query_permutation_importance
from ._result import PermutationImportance

__all__ = ["PermutationImportance", "query_permutation_importance"]
