"""Evaluation and screening of `dask.dataframe` data on a cluster."""

from ._evaluate import evaluate
from ._selection import fit_selector

__all__ = ["evaluate", "fit_selector"]
