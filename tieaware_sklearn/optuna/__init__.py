"""Optuna objectives that tune scoring against exact measures.

Where scores tie, a measure that goes by the order of rows jumps with it, and a tuner
chases noise. The exact mean is one number for one set of scores; its values per
query tell a hopeless trial from a promising one early.
"""

from ._linear_scoring_objective import LinearScoringObjective
from ._query_objective import QueryObjective
from ._ranker_objective import RankerObjective
from ._score_precision_objective import ScorePrecisionObjective, coarsest
from ._scoring_objective import ScoringObjective

__all__ = [
    "LinearScoringObjective",
    "QueryObjective",
    "RankerObjective",
    "ScorePrecisionObjective",
    "ScoringObjective",
    "coarsest",
]
