"""Evaluation, comparison and screening of `dask.dataframe` data on a cluster."""

from ._compare import compare_systems
from ._evaluate import evaluate
from ._selection import fit_selector

__all__ = ["compare_systems", "evaluate", "fit_selector"]
