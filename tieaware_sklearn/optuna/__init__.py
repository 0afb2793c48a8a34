"""Optuna objectives that tune scoring against exact measures.

Where scores tie, a measure that goes by the order of rows jumps with it, and a tuner
chases noise. The exact mean is one number for one set of scores; its values per
query tell a hopeless trial from a promising one early.
"""

from ._linear import LinearScoringObjective
from ._objective import QueryObjective
from ._precision import ScorePrecisionObjective, coarsest
from ._ranker import RankerObjective
from ._scoring import ScoringObjective

__all__ = [
    "LinearScoringObjective",
    "QueryObjective",
    "RankerObjective",
    "ScorePrecisionObjective",
    "ScoringObjective",
    "coarsest",
]
