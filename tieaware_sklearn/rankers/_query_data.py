"""Training and evaluation data of rankers, gathered by query."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
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
from .._engine.row_order import by_content
from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_labels,
    check_length,
    check_qid,
    check_query_weight,
    check_scores,
    reject,
)

#: the parts of an evaluation set beside eval_X
_EVAL_PARTS = ("eval_y", "eval_qid", "eval_sample_weight", "eval_init_score")
ROW_ORDERS = ("canonical", "input")


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
    """Rows gathered by query; ``queries.order`` says where they came from."""

    X: Any
    y: FloatArray
    queries: Queries
    weight: Any
    init_score: Any

    def labels_as_given(self) -> FloatArray:
        """Labels of the rows as they came, for messages."""
        labels = np.empty_like(self.y)
        labels[self.queries.given(np.arange(len(labels)))] = self.y
        return labels


def gather_queries(
    given: GivenSet,
    column: str | int | None,
    *,
    evaluation: bool = False,
    row_order: str = "canonical",
    salt: int = 0,
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
    row_order : {"canonical", "input"}
        Queries in the order of their ids, rows in that of `by_content`; or queries in
        order of first appearance, rows as given.
    salt : int
        Another one gives another canonical order.

    Raises
    ------
    ValueError
        Without query ids, for those given twice, for labels that are not finite
        and >= 0, for lengths that differ, for X without a feature, and for another
        `row_order`.
    """
    check_choice(row_order, "row_order", ROW_ORDERS)
    name = "eval_" if evaluation else ""
    X, y, qid, weight, init_score = given
    X, qid = resolve_qid(X, column, qid, prefix=name)
    if qid is None:
        # evaluation sets are passed to fit as they are, with routing on or off
        way = "Or let it be a column of eval_X" if evaluation else how_to_pass_qid()
        raise ValueError(
            f"{name}qid must hold the query of each row of {name}X, got None: pass "
            f"{name}qid to fit. {way}, qid=<name or index> in the constructor"
        )
    if y is None:  # as scikit-learn says it
        raise ValueError(
            f"{name}y must hold the labels of {name}X: a ranker requires y to be "
            "passed, but the target y is None"
        )
    labels = check_labels(y, name=f"{name}y")
    X = without_mask(X if hasattr(X, "shape") else np.asarray(X))
    if len(X.shape) != 2:
        raise ValueError(
            f"{name}X must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    if not X.shape[1]:
        raise ValueError(
            f"{name}X must have features, got 0 feature(s) (shape={X.shape}) while a "
            "minimum of 1 is required. A feature selector before the ranker may have "
            "kept no feature"
        )
    check_length(labels, X.shape[0], f"{name}y")
    queries = check_qid(qid, n_rows=len(labels), name=f"{name}qid")
    if evaluation:
        check_query_weight(weight, queries, name="eval_sample_weight")
    if weight is not None:
        weight = check_scores(weight, n_rows=len(labels), name=f"{name}sample_weight")
        reject(~(weight >= 0), weight, f"{name}sample_weight", "be >= 0")
    if init_score is not None:
        init_score = check_scores(
            init_score, n_rows=len(labels), name=f"{name}init_score"
        )
    if row_order == "canonical":
        queries = by_content(X, queries, labels, weight, init_score, salt=salt)
    weight, init_score = (
        None if value is None else queries.arrange(value)
        for value in (weight, init_score)
    )
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
        raise ValueError("eval_y must hold the labels of eval_X, got None")
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
                f"{name} must have the indices of evaluation sets as keys (0 to "
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
            f"{name} must be a tuple of {n_sets} entries, as eval_X is, got "
            f"{values!r:.80}"
        )
    return [values]


def without_qid(
    given: Any, X: Any, qid: str | int | None, *, name: str = "categorical_feature"
) -> Any:
    """Features of a kind, numbered without the qid column of X."""
    if qid is None or isinstance(given, str) or given is None:
        return given
    at = qid_index(X if hasattr(X, "shape") else np.asarray(X), qid)
    features = []
    for feature in given:
        counted = isinstance(feature, numbers.Integral)
        if feature == (at if counted else qid):
            raise ValueError(f"{name} must leave out the qid column, got {feature!r}")
        features.append(feature - 1 if counted and feature > at else feature)
    return features


def name_eval_sets(
    sets: list[GivenSet], own: GivenSet, given: Any
) -> tuple[list[str], list[str]]:
    """Names of the evaluation sets: default ones, and those of the user.

    The default one of the very training data is ``training``.

    Raises
    ------
    ValueError
        Unless there is a different name for each set.
    """
    default = [
        "training" if one.same_rows(own) else f"valid_{number}"
        for number, one in enumerate(sets)
    ]
    names = default if given is None else given
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != len(default) or len(set(names)) < len(names):
        raise ValueError(
            "eval_names must have a different name for each evaluation set "
            f"({len(default)}), got {names}"
        )
    if any(a == "training" != b for a, b in zip(names, default, strict=True)):
        raise ValueError(
            'eval_names must have "training" for the training data, which early '
            f"stopping ignores, and for no other set, got {names}"
        )
    return default, names


def check_stopping(
    rounds: Any, evals: Sequence[str], measured: bool, *, advice: str = ""
) -> None:
    """Refuse to stop early on nothing.

    Parameters
    ----------
    rounds : object
        What was asked for as ``early_stopping_rounds``.
    evals : list of str
        Names of the evaluation sets by default.
    measured : bool
        Whether there is a metric.
    advice : str
        How to give one.
    """
    if not isinstance(rounds, numbers.Real) or rounds <= 0:
        return
    if not set(evals) - {"training"}:
        raise ValueError(
            "early_stopping_rounds needs an evaluation set other than the training "
            "data, got none: pass eval_X, eval_y and eval_qid to fit"
        )
    if not measured:
        raise ValueError(f"early_stopping_rounds needs a metric, got none: {advice}")
