"""Scores of a fitted estimator, whatever the method that ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _cached_call

from .._engine.qid_column import array_of
from .._engine.ties import FloatArray
from .._engine.validation import check_choices, check_scores

_RESPONSE_METHODS = ("predict", "predict_proba", "decision_function")


def predicted_scores(
    estimator: Any,
    X: Any,
    n_rows: int,
    response_method: str | Sequence[str] = "predict",
    method_caller: Callable[..., Any] | None = None,
    qid: Any = None,
) -> NDArray[Any]:
    """One score per row, by the first of these methods that the estimator has."""
    wanted = response_method
    methods = [wanted] if isinstance(wanted, str) else list(wanted)
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise AttributeError(
            f"{type(estimator).__name__} has no {' or '.join(methods)}: "
            "response_method must name a method of the estimator"
        )
    if qid is not None and _takes_qid(estimator, method):
        response = getattr(estimator, method)(X, qid=qid)
    elif method == "predict" or is_classifier(estimator):
        # scikit-learn's own way, which predicts once for several scorers
        call = partial(_cached_call, None) if method_caller is None else method_caller
        response = call(estimator, method, X, pos_label=None)
    else:
        response = getattr(estimator, method)(X)
    if not isinstance(response, np.ma.MaskedArray):
        response = array_of(response)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    name = f"{method} of {type(estimator).__name__}"
    if response.ndim == 2 and method == "predict_proba":
        response = expected_label(response, getattr(estimator, "classes_", None))
    elif response.ndim == 2:
        raise ValueError(
            f"{name} must give one score per row, got shape {response.shape} (for "
            'more than two classes, response_method="predict_proba" ranks by the '
            "expected label)"
        )
    return check_scores(response, n_rows=n_rows, name=name)


def _takes_qid(estimator: Any, method: str) -> bool:
    """Whether a method ranks query by query, as that of `CoarseRanker` does."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    try:
        parameters = signature(getattr(estimator, method)).parameters
    except (TypeError, ValueError):  # not of Python
        return False
    return "qid" in parameters and getattr(estimator, "qid", None) is None


def check_response_method(response_method: Any) -> str | list[str]:
    """A method, or a list of them, whose values can rank."""
    methods = check_choices(response_method, "response_method", _RESPONSE_METHODS)
    return methods[0] if isinstance(response_method, str) else methods


def expected_label(probabilities: FloatArray, classes: Any) -> FloatArray:
    """Σ probability x class of each row (McRank; Li, Burges and Wu 2007)."""
    labels = np.asarray(classes)
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            "predict_proba ranks by the expected label: classes_ of the estimator must "
            f"be numbers, got {classes!r}"
        )
    # not BLAS: it gives equal rows sums that differ in their last bit
    return np.asarray(np.einsum("ij,j->i", probabilities, labels.astype(float)))
