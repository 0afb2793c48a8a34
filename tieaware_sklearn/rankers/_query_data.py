"""Training and evaluation data of rankers, gathered by query."""

from __future__ import annotations

import numbers
import operator
from typing import Any, NamedTuple

import numpy as np

from .._engine.matrix import without_mask
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
    check_length,
    check_qid,
    check_query_weight,
    check_scores,
    reject,
)

#: the parts of an evaluation set beside eval_X
_EVAL_PARTS = ("eval_y", "eval_qid", "eval_sample_weight", "eval_init_score")


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
    given: GivenSet, column: str | int | None, *, evaluation: bool = False
) -> QueryData:
    """Checked data, its rows query by query.

    Parameters
    ----------
    given : GivenSet
        One row or value per document.
    column : str, int or None
        The column of X that holds query ids.
    evaluation : bool
        Messages speak of ``eval_X`` and so on, and weights are those of queries.

    Raises
    ------
    ValueError
        Without query ids, for those given twice, for labels that are not finite
        and >= 0, and for lengths that differ.
    """
    name = "eval_" if evaluation else ""
    X, y, qid, weight, init_score = given
    X, qid = resolve_qid(X, column, qid, prefix=name)
    if qid is None:
        raise ValueError(
            f"{name}qid must name the query of each row of {name}X, got None: pass "
            f"{name}qid to fit. {how_to_pass_qid()}, qid=<name or index> in the "
            "constructor"
        )
    labels = check_labels(y, name=f"{name}y")
    X = without_mask(X if hasattr(X, "shape") else np.asarray(X))
    if len(X.shape) != 2:
        raise ValueError(
            f"{name}X must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    check_length(labels, X.shape[0], f"{name}y")
    queries = check_qid(qid, n_rows=len(labels), name=f"{name}qid").by_id()
    if evaluation:
        check_query_weight(weight, queries, name="eval_sample_weight")
    if weight is not None:
        weight = check_scores(weight, n_rows=len(labels), name=f"{name}sample_weight")
        reject(~(weight >= 0), weight, f"{name}sample_weight", "be >= 0")
        weight = queries.arrange(weight)
    if init_score is not None:
        start = check_scores(init_score, n_rows=len(labels), name=f"{name}init_score")
        init_score = queries.arrange(start)
    X = take_rows(X, queries.order)
    return QueryData(X, queries.arrange(labels), queries, weight, init_score)


def columns_of(X: Any) -> list[Any]:
    """Names of the features, None for each where they have none."""
    return list_columns(X) or [None] * X.shape[1]


def check_columns(X: Any, fitted: list[Any], name: str = "X") -> None:
    """Refuse other columns than those of `fit`, and names in another order."""
    got = columns_of(X)
    if len(got) != len(fitted):
        what = f"{len(fitted)} features, got {len(got)}"
    elif got == fitted or None in (*got, *fitted):
        return
    else:
        at = next(i for i, column in enumerate(got) if column != fitted[i])
        what = f"{fitted[at]!r} as column {at}, got {got[at]!r}"
    raise ValueError(
        f"{name} must have the columns that the ranker was fitted on, in order: {what}"
    )


def split_eval_sets(given: GivenSet) -> list[GivenSet]:
    """Evaluation sets one by one; a tuple, or a list of matrices, holds several.

    Raises
    ------
    ValueError
        For parts that do not go together.
    """
    eval_X, *values = given
    parts = dict(zip(_EVAL_PARTS, values, strict=True))
    if eval_X is None:
        for name, value in parts.items():
            if value is not None:
                raise ValueError(f"eval_X must come with {name}, got None")
        return []
    if given.y is None:
        raise ValueError("eval_y must have the labels of eval_X, got None")
    # a list of numbers is data, a list of matrices is several sets
    several = isinstance(eval_X, tuple) or (
        isinstance(eval_X, list) and all(len(np.shape(X)) == 2 for X in eval_X)
    )
    sets = list(eval_X) if several else [eval_X]
    columns = [sets]
    for name, value in parts.items():
        whole = not several and name in ("eval_y", "eval_qid")
        columns.append([value] if whole else _each(value, len(sets), name))
    return [GivenSet(*one) for one in zip(*columns, strict=True)]


def _each(values: Any, n_sets: int, name: str) -> list[Any]:
    """One entry per evaluation set, None where there is none."""
    values = {} if values is None else values
    if isinstance(values, dict):
        if not set(values) <= set(range(n_sets)):
            raise ValueError(
                f"{name} must have numbers of evaluation sets as keys (0 to "
                f"{n_sets - 1}), got {list(values)}"
            )
        return [values.get(i) for i in range(n_sets)]
    flat = isinstance(values, list) and all(isinstance(v, numbers.Real) for v in values)
    if isinstance(values, (tuple, list)) and not flat:
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
    if any(a == "training" != b for a, b in zip(names, default, strict=True)):
        raise ValueError(
            'eval_names must keep "training" for the training data, on which '
            f"LightGBM does not stop, got {names}"
        )
    return names
