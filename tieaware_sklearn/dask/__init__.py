"""Evaluation and screening of `dask.dataframe` data that are spread over a cluster."""

from ._evaluate import evaluate, evaluate_queries
from ._segments import evaluate_by_segment
from ._selection import fit_selector

__all__ = ["evaluate", "evaluate_by_segment", "evaluate_queries", "fit_selector"]
