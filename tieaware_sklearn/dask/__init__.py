"""Evaluation, comparison and screening of `dask.dataframe` data on a cluster."""

from ._compare import compare_systems
from ._evaluate import evaluate, evaluate_queries
from ._selection import fit_selector

__all__ = ["compare_systems", "evaluate", "evaluate_queries", "fit_selector"]


def __dir__() -> list[str]:
    return __all__
