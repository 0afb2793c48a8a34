"""How coarse scores may become before evaluation changes."""

from ._result import PrecisionStudy
from ._study import precision_study

__all__ = ["PrecisionStudy", "precision_study"]
