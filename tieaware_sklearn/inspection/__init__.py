"""What a fitted ranker goes by: permutation importance of columns of X."""

from ._permutation_importance import query_permutation_importance
from ._result import PermutationImportance

__all__ = ["PermutationImportance", "query_permutation_importance"]
