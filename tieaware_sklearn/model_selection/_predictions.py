"""Estimators fitted with query ids, and the scores that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import get_routing_for_object

from .._engine import (
    FloatArray,
    Queries,
    array_of,
    check_choices,
    check_scores,
)

RESPONSE_METHODS = ("predict", "predict_proba", "decision_function")
#: of a classifier, the first that it has: its classes alone would tie documents
_OF_CLASSIFIERS = ("predict_proba", "decision_function")


def predicted_scores(
    estimator: Any,
    X: Any,
    n_rows: int,
    response_method: str | Sequence[str] | None = None,
    method_caller: Callable[..., Any] | None = None,
    qid: Any = None,
) -> NDArray[Any]:
    """One score per row, by the first of these methods that the estimator has.

    None is the expected label of a classifier, and what others predict. The
    `method_caller` of scikit-learn predicts once for several scorers.
    """
    # scikit-learn sees a classifier inside a pipeline or search, too
    tagged = hasattr(estimator, "__sklearn_tags__")
    kind = getattr(estimator, "_estimator_type", None)
    classifies = is_classifier(estimator) if tagged else kind == "classifier"
    method = _ranking_method(estimator, response_method, classifies)
    with_qid = None if qid is None else _method_with_qid(estimator, method)
    # its own way to call a method looks at tags, refuses a single class, and knows
    # probabilities of classifiers only
    plain = classifies and len(getattr(estimator, "classes_", ())) > 1
    plain = tagged and (method == "predict" or plain)
    if with_qid is not None:
        response = with_qid(X, qid=qid)
    elif method_caller is not None and plain:
        response = method_caller(estimator, method, X, pos_label=None)
    else:
        response = getattr(estimator, method)(X)
    if not isinstance(response, np.ma.MaskedArray):
        response = array_of(response)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    name = f"{method} of {type(estimator).__name__}"
    if response.ndim == 2 and method == "predict_proba":
        if classifies and response.shape[1] == 2:
            response = response[:, 1]  # of the greater label
        else:
            response = expected_label(response, getattr(estimator, "classes_", None))
    elif response.ndim == 2:
        raise ValueError(
            f"{name} must give one score per row, got shape {response.shape}. With "
            "more than two classes, rank by the expected label, which needs "
            "predict_proba (CalibratedClassifierCV adds it to a classifier), or by "
            'response_method="predict", where all documents of a class tie'
        )
    return check_scores(response, n_rows=n_rows, name=name)


def _ranking_method(
    estimator: Any, response_method: str | Sequence[str] | None, classifies: bool
) -> str:
    methods = response_method
    if methods is None:
        methods = _OF_CLASSIFIERS if classifies else "predict"
    methods = [methods] if isinstance(methods, str) else methods
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is not None:
        return method
    advice = "response_method must name a method of the estimator"
    if response_method is None and classifies:
        advice += ' ("predict" ranks by the class, where all documents of a class tie)'
    raise AttributeError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}: {advice}"
    )


def _method_with_qid(estimator: Any, method: str) -> Callable[..., Any] | None:
    """A method that ranks query by query, as that of `CoarseRanker` does, if any.

    It may belong to an estimator inside: searches predict without qid.
    """
    own = getattr(estimator, method, None)
    try:
        parameters = {} if own is None else signature(own).parameters
    except (TypeError, ValueError):  # not of Python
        return None
    if "qid" in parameters:
        return own if getattr(estimator, "qid", None) is None else None
    inner = _inside(estimator)
    by_query = None if inner is None else _method_with_qid(inner, method)
    if by_query is None:
        return None
    kinds = {parameter.kind for parameter in parameters.values()}
    if Parameter.VAR_KEYWORD in kinds and by_query == getattr(inner, method):
        return own  # which hands qid on
    if hasattr(estimator, "best_estimator_"):
        return by_query
    if hasattr(estimator, "steps"):
        return partial(_after_steps, estimator.steps[:-1], by_query)
    return None


def _inside(estimator: Any) -> Any:
    """The estimator whose predictions are those of a pipeline, a search or the like."""
    if hasattr(estimator, "steps"):
        return estimator.steps[-1][1]
    found = getattr(estimator, "best_estimator_", None)
    return getattr(estimator, "regressor_", None) if found is None else found


def _after_steps(
    steps: list[tuple[str, Any]], by_query: Callable[..., Any], X: Any, *, qid: Any
) -> Any:
    """What is predicted of X when it has gone through these steps of a pipeline."""
    for _, step in steps:
        if step not in (None, "passthrough"):
            X = step.transform(X)
    return by_query(X, qid=qid)


def check_response_method(response_method: Any) -> str | tuple[str, ...] | None:
    """A method, or several of them, whose values can rank; None asks the estimator."""
    if response_method is None:
        return None
    methods = check_choices(response_method, "response_method", RESPONSE_METHODS)
    return methods[0] if isinstance(response_method, str) else tuple(methods)


def expected_label(probabilities: FloatArray, classes: Any) -> FloatArray:
    """Σ probability x class of each row (McRank; Li, Burges and Wu 2007)."""
    labels = np.asarray(classes)
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            "classes_ of the estimator must be numbers, so that predict_proba gives an "
            f"expected label, got {classes!r}"
        )
    # not BLAS: it gives equal rows sums that differ in their last bit
    return np.asarray(np.einsum("ij,j->i", probabilities, labels.astype(float)))


def fit_rows(
    model: Any, X: Any, y: FloatArray, queries: Queries, **fit_params: Any
) -> Any:
    """Fit `model` on rows that stand in the order of these queries.

    `fit` gets ``qid`` if it takes it or requests it through metadata routing, or
    ``group``, the sizes of the queries, as LightGBM's own ranker does.

    Parameters
    ----------
    model : estimator
    X, y : features and labels of the rows
    queries : Queries
    **fit_params : what else `fit` gets
    """
    number = queries.codes
    qid = queries.qid[number]
    fit = partial(model.fit, X, y, **fit_params)
    takes = signature(model.fit).parameters
    if type(model).__module__.startswith("xgboost") and qid.dtype.kind not in "iu":
        qid = number  # it takes numbers only
    if "qid" in takes:
        return fit(qid=qid)
    if "group" in takes:  # LightGBM's own ranker: sizes of queries in a row
        return fit(group=queries.sizes)
    with config_context(enable_metadata_routing=True):
        if get_routing_for_object(model).consumes("fit", ["qid"]):
            return fit(qid=qid)
    return fit()
