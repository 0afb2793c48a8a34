"""Training and evaluation data of rankers, gathered by query."""

from __future__ import annotations

import numbers
import operator
from typing import Any, NamedTuple

import numpy as np

from .._engine.qid_column import (
    how_to_pass_qid,
    list_columns,
    qid_index,
    resolve_qid,
    take_rows,
)
from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_labels,
    check_qid,
    check_query_weight,
    check_scores,
    reject,
)


class GivenSet(NamedTuple):
    """Training data or one evaluation set, as the user gave it."""

    X: Any
    y: Any
    qid: Any
    weight: Any
    init_score: Any

    def same_rows(self, other: GivenSet) -> bool:
        """Whether X, y and qid are the very objects of another set."""
        return all(map(operator.is_, self[:3], other[:3]))


class QueryData(NamedTuple):
    """Rows gathered by query, the queries in the order of their ids."""

    X: Any
    y: FloatArray
    queries: Queries
    weight: Any
    init_score: Any


def gather_queries(
    X: Any,
    y: Any,
    qid: Any,
    weight: Any = None,
    init_score: Any = None,
    *,
    column: str | int | None = None,
    evaluation: bool = False,
) -> QueryData:
    """Checked data, its rows query by query.

    Parameters
    ----------
    X, y, qid, weight, init_score : one row or value per document
    column : str or int, optional
        The column of X that holds query ids.
    evaluation : bool
        The arguments are called ``eval_X`` and so on, and weights are those of
        queries.

    Raises
    ------
    ValueError
        Without query ids, for those given twice, for labels that are not finite
        and >= 0, and for lengths that differ.
    """
    name = "eval_" if evaluation else ""
    X, qid = resolve_qid(X, column, qid, prefix=name)
    if qid is None:
        raise ValueError(
            f"{name}qid must name the query of each row of {name}X, got None: pass "
            f"{name}qid to fit. {how_to_pass_qid()}, qid=<name or index> in the "
            "constructor"
        )
    labels = check_labels(y, name=f"{name}y")
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"{name}X must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    if X.shape[0] != len(labels):
        raise ValueError(
            f"{name}y must have one value per row of {name}X ({X.shape[0]}), got "
            f"{len(labels)}"
        )
    queries = check_qid(qid, n_rows=len(labels), name=f"{name}qid").by_id()
    if evaluation:
        check_query_weight(weight, queries, name="eval_sample_weight")
    if weight is not None:
        weight = check_scores(weight, n_rows=len(labels), name=f"{name}sample_weight")
        reject(~(weight >= 0), weight, f"{name}sample_weight", "be >= 0")
        weight = queries.arrange(weight)
    if init_score is not None:
        init_score = queries.arrange(
            check_scores(init_score, n_rows=len(labels), name=f"{name}init_score")
        )
    X = take_rows(X, queries.order)
    return QueryData(X, queries.arrange(labels), queries, weight, init_score)


class Columns(NamedTuple):
    """How many features there are, and their names if they have any."""

    n: int
    names: list[Any] | None

    @classmethod
    def of(cls, X: Any) -> Columns:
        return cls(X.shape[1], list_columns(X) or None)


def check_columns(X: Any, fitted: Columns, name: str = "X") -> None:
    """Refuse other columns than those of `fit`, and names in another order."""
    got = Columns.of(X)
    if got.n != fitted.n:
        what = f"{fitted.n} features, got {got.n}"
    elif got.names is None or fitted.names is None or got.names == fitted.names:
        return
    else:
        pairs = list(zip(got.names, fitted.names, strict=True))
        at = next(i for i, (a, b) in enumerate(pairs) if a != b)
        what = f"{fitted.names[at]!r} as column {at}, got {got.names[at]!r}"
    raise ValueError(
        f"{name} must have the columns that the ranker was fitted on, in order: {what}"
    )


def split_eval_sets(
    eval_X: Any,
    eval_y: Any,
    eval_qid: Any,
    eval_sample_weight: Any = None,
    eval_init_score: Any = None,
) -> list[GivenSet]:
    """Evaluation sets one by one; a tuple, or a list of matrices, holds several.

    Raises
    ------
    ValueError
        For parts that do not go together.
    """
    parts = {
        "eval_y": eval_y,
        "eval_qid": eval_qid,
        "eval_sample_weight": eval_sample_weight,
        "eval_init_score": eval_init_score,
    }
    if eval_X is None:
        for name, value in parts.items():
            if value is not None:
                raise ValueError(f"eval_X must come with {name}, got None")
        return []
    if eval_y is None:
        raise ValueError("eval_y must have the labels of eval_X, got None")
    # a list of numbers is data, a list of matrices is several sets
    several = isinstance(eval_X, tuple) or (
        isinstance(eval_X, list) and all(len(np.shape(X)) == 2 for X in eval_X)
    )
    sets = list(eval_X) if several else [eval_X]
    columns = [sets]
    for name, value in parts.items():
        if name in ("eval_y", "eval_qid") and not several:
            columns.append([value])
        else:
            columns.append(_each(value, len(sets), name))
    return [GivenSet(*one) for one in zip(*columns, strict=True)]


def _each(values: Any, n_sets: int, name: str) -> list[Any]:
    """One entry per evaluation set, None where there is none."""
    if isinstance(values, dict):
        if not set(values) <= set(range(n_sets)):
            raise ValueError(
                f"{name} must have numbers of evaluation sets as keys (0 to "
                f"{n_sets - 1}), got {list(values)}"
            )
        return [values.get(i) for i in range(n_sets)]
    if values is None:
        values = ()
    numbers_only = isinstance(values, list) and all(
        isinstance(value, numbers.Real) for value in values
    )
    if isinstance(values, (tuple, list)) and not numbers_only:
        if len(values) > n_sets:
            raise ValueError(
                f"{name} must have at most one entry per evaluation set ({n_sets}), "
                f"got {len(values)}"
            )
        return [*values, *[None] * (n_sets - len(values))]
    if n_sets > 1:
        raise ValueError(
            f"{name} must be a tuple of {n_sets} like eval_X, got {values!r:.80}"
        )
    return [values]


def without_qid(categorical: Any, X: Any, qid: str | int | None) -> Any:
    """Categorical features, numbered without the qid column of X."""
    if qid is None or isinstance(categorical, str) or categorical is None:
        return categorical
    at = qid_index(X if hasattr(X, "shape") else np.asarray(X), qid)
    features = []
    for feature in categorical:
        counted = isinstance(feature, numbers.Integral)
        if feature == (at if counted else qid):
            raise ValueError(
                f"categorical_feature must not hold the qid column, got {feature!r}"
            )
        features.append(feature - 1 if counted and feature > at else feature)
    return features


def check_eval_names(given: Any, default: list[str]) -> list[str]:
    """Names of the evaluation sets, one each and all different."""
    names = default if given is None else given
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != len(default) or len(set(names)) < len(names):
        raise ValueError(
            "eval_names must have a different name for each evaluation set "
            f"({len(default)}), got {names}"
        )
    for name, usual in zip(names, default, strict=True):
        if name == "training" != usual:
            raise ValueError(
                'eval_names must keep "training" for the training data, on which '
                f"LightGBM does not stop, got {names}"
            )
    return names
