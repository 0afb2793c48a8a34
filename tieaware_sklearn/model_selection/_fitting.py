"""Estimators fitted with the query ids that they take."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils.metadata_routing import get_routing_for_object

from .._engine.ties import FloatArray, IntArray
from .._engine.validation import Queries


def fit_on_queries(
    model: Any,
    X: Any,
    y: FloatArray,
    qid: NDArray[Any],
    number: IntArray,
    **fit_params: Any,
) -> Any:
    """Fit `model` on rows that stand query by query.

    `fit` gets ``qid`` if it takes it or requests it through metadata routing, or
    ``group``, the sizes of the queries, as LightGBM's own ranker does.

    Parameters
    ----------
    model : estimator
    X, y : features and labels of the rows
    qid : query id of each row
    number : number of the query of each row, ascending
    **fit_params : what else `fit` gets
    """
    fit = partial(model.fit, X, y, **fit_params)
    takes = inspect.signature(model.fit).parameters
    if type(model).__module__.startswith("xgboost") and qid.dtype.kind not in "iu":
        qid = number  # it takes numbers only
    if "qid" in takes:
        return fit(qid=qid)
    if "group" in takes:  # LightGBM's own ranker: sizes of queries in a row
        return fit(group=np.unique(number, return_counts=True)[1])
    with config_context(enable_metadata_routing=True):
        if get_routing_for_object(model).consumes("fit", ["qid"]):
            return fit(qid=qid)
    return fit()


def fit_rows(model: Any, X: Any, y: FloatArray, queries: Queries) -> Any:
    """Fit `model` on rows that stand in the order of these queries."""
    number = queries.codes
    return fit_on_queries(model, X, y, queries.qid[number], number)
