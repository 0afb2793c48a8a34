"""Optuna objectives that tune scores by exact measures.

Where scores tie, a measure that breaks ties by the order of rows changes with that
order, and a tuner chases noise. The exact mean depends on the scores alone, and its
values for single queries show early whether a trial is promising.
"""

# The base class of the objectives.
from ._base import QueryObjective as QueryObjective
from ._objectives import LinearScoringObjective, RankerObjective, ScoringObjective
from ._score_precision_objective import ScorePrecisionObjective, coarsest

__all__ = [
    "LinearScoringObjective",
    "RankerObjective",
    "ScorePrecisionObjective",
    "ScoringObjective",
    "coarsest",
]
