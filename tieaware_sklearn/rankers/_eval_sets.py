"""Evaluation sets of boosters: taken apart, gathered by query, measured by tree."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import (
    FloatArray,
    Queries,
    as_matrix,
    by_content,
    check_choice,
    check_labels,
    check_query_weight,
    check_scores,
    how_to_pass_qid,
    list_columns,
    offsets_of,
    qid_index,
    reject,
    resolve_qid,
    take_rows,
    without_mask,
)
from ..evaluation import Asked, Prepared, QueryRows, ask
from ..measures import Measure, parse_measures

#: the parts of an evaluation set beside eval_X
_EVAL_PARTS = ("eval_y", "eval_qid", "eval_sample_weight", "eval_init_score")
ROW_ORDERS = ("canonical", "input")
#: data sets of which a metric keeps what it prepared
_DATA_SETS = 16


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
    """Rows one query after another, in the order in which a booster gets them.

    Attributes
    ----------
    X : matrix of any kind
    y, weight, init_score : ndarray of shape (n_rows,), the last two or None
    queries : Queries
    given_labels : ndarray of shape (n_rows,)
        Those of the rows as they came, for messages.
    """

    X: Any
    y: FloatArray
    weight: Any
    init_score: Any
    queries: Queries
    given_labels: FloatArray


def gather_queries(
    given: GivenSet,
    column: str | int | None,
    *,
    prefix: str = "",
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
    prefix : {"", "eval_"}
        What messages have in front of names. Weights of evaluation sets are those of
        queries.
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
    X, qid = resolve_qid(given.X, column, given.qid, prefix=prefix)
    if qid is None:
        # evaluation sets are passed to fit as they are, with routing on or off
        way = "Or let it be a column of eval_X" if prefix else how_to_pass_qid()
        raise ValueError(
            f"{prefix}qid must hold the query of each row of {prefix}X, got None: pass "
            f"{prefix}qid to fit. {way}, qid=<name or index> in the constructor"
        )
    if given.y is None:  # as scikit-learn says it
        raise ValueError(
            f"{prefix}y must hold the labels of {prefix}X: a ranker requires y to be "
            "passed, but the target y is None"
        )
    X = without_mask(as_matrix(X, f"{prefix}X"))
    if not X.shape[1]:
        raise ValueError(
            f"{prefix}X must have features, got 0 feature(s) (shape={X.shape}) while a "
            "minimum of 1 is required. A feature selector before the ranker may have "
            "kept no feature"
        )
    name, weight, start = f"{prefix}sample_weight", given.weight, given.init_score
    own = weight if prefix else None
    rows = QueryRows.of(X, given.y, qid, own, prefix=prefix, weight=name)
    labels, queries = rows.labels, rows.queries
    if weight is not None:
        weight = check_scores(weight, n_rows=len(labels), name=name)
        reject(~(weight >= 0), weight, name, "be >= 0")
    if start is not None:
        start = check_scores(start, n_rows=len(labels), name=f"{prefix}init_score")
    if row_order == "canonical":
        queries = by_content(X, queries, labels, weight, start, salt=salt)
    return QueryData(
        take_rows(X, queries.order),
        queries.arrange(labels),
        None if weight is None else queries.arrange(weight),
        None if start is None else queries.arrange(start),
        replace(queries, order=None),
        labels,
    )


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
    """Names of the evaluation sets, and of those that are not the training data.

    Those that the user did not name are ``training`` and ``valid_0``, ``valid_1``, ...

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
    pairs = zip(names, default, strict=True)
    return names, [name for name, usual in pairs if usual != "training"]


def ask_eval_metric(
    eval_metric: str | Measure | Iterable[str | Measure] | None,
    zero_relevance: float | str,
    library: str,
) -> Asked | None:
    """What `eval_metric` of a ranker asks for, None for nothing.

    Raises
    ------
    ValueError
        For an unknown measure, or one twice.
    TypeError
        For anything else than names and Measures.
    """
    if eval_metric is None:
        return None
    one = isinstance(eval_metric, (str, Measure)) or not np.iterable(eval_metric)
    measures: list[Any] = [eval_metric] if one else [*eval_metric]  # type: ignore[misc]
    other = [one for one in measures if not isinstance(one, (str, Measure))]
    if other:
        raise TypeError(
            "eval_metric must be the name of a measure, a Measure or a list of these, "
            f"got {other[0]!r:.80}: other metrics need {library}"
        )
    try:
        parsed = parse_measures(measures)
    except ValueError as error:
        raise ValueError(f"eval_metric: {error}") from None
    return ask(parsed, zero_relevance)


def measured(asked: Asked, prepared: Prepared, predictions: Any) -> list[float]:
    """The mean of each measure over the queries."""
    n_rows = prepared.queries.n_rows
    scores = check_scores(predictions, n_rows=n_rows, name="predictions")
    return prepared.means(asked, prepared.values(asked, scores)["expected"])


def prepare_set(
    labels: NDArray[Any],
    queries: Queries,
    weight: NDArray[Any] | None = None,
    name: str = "weight",
) -> Prepared:
    """A data set as a library keeps it, for scores after each tree.

    Its rows stand query by query; `weight` has one value per row, of its query.
    """
    checked = check_labels(shortest_decimals(labels), name="label")
    if weight is not None:
        weight = check_query_weight(shortest_decimals(weight), queries, name=name)
    return Prepared(checked, queries, weight, keep=True)


class TreeByTree:
    """Values of measures by evaluation set, in the order of the trees.

    Attributes
    ----------
    asked : Asked
    sets : dict of str to Prepared
    history : dict
        ``history["valid_0"]["NDCG@10"]``: one value per tree.
    """

    def __init__(self, asked: Asked, sets: dict[str, QueryData]) -> None:
        self.asked = asked
        self.sets = {
            name: prepare_set(one.y, one.queries, one.weight, "eval_sample_weight")
            for name, one in sets.items()
        }
        self.history: dict[str, dict[str, list[float]]] = {
            name: {measure: [] for measure in asked.names} for name in sets
        }

    def add(self, values: dict[str, list[float]]) -> None:
        """The values of evaluation sets after one more tree."""
        for name, means in values.items():
            for kept, value in zip(self.history[name].values(), means, strict=True):
                kept.append(value)


class BoostingMeasures:
    """Measures of changing scores of data sets that stay.

    What scores do not change is kept of the last data sets; copies and pickles leave it
    behind.

    Parameters
    ----------
    measure : str, Measure or list of them
    zero_relevance : float, "skip" or "raise"
    """

    #: the public function that makes it
    made_by: ClassVar[str]

    def __init__(
        self,
        measure: str | Measure | Iterable[str | Measure],
        zero_relevance: float | str,
    ) -> None:
        self.single = isinstance(measure, (str, Measure))
        self._asked = ask(parse_measures(measure), zero_relevance)
        self.measures = self._asked.measures
        self._prepared: dict[tuple[Any, ...], Prepared] = {}

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        """Name, value and whether higher is better, as LightGBM wants them."""
        return str(measure), value, measure.greater_is_better

    def results(
        self,
        labels: NDArray[Any],
        sizes: NDArray[Any] | None,
        weight: NDArray[Any] | None,
        scores: NDArray[Any],
    ) -> Any:
        """The result of each measure over a data set; of one measure it alone.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
        sizes : ndarray of shape (n_queries,) or None
            Numbers of rows of each query, one query after another.
        weight : ndarray of shape (n_rows,) or None
            Weights of queries.
        scores : ndarray of shape (n_rows,)
        """
        if sizes is None:
            raise ValueError(
                "the evaluation data must have query groups, got none: make them with "
                "lightgbm.Dataset(X, y, group=[number of rows of the first query, of "
                "the second, ...]) or xgboost.DMatrix(X, y, qid=qid)"
            )
        given = [None if a is None else np.asarray(a) for a in (labels, sizes, weight)]
        key = tuple(a if a is None else (a.dtype, a.tobytes()) for a in given)
        if key not in self._prepared:
            prepared = prepare_set(labels, queries_of(sizes), weight)
            if len(self._prepared) == _DATA_SETS:
                self._prepared.clear()
            self._prepared[key] = prepared
        means = measured(self._asked, self._prepared[key], scores)
        results = list(map(self.result, self.measures, means))
        return results[0] if self.single else results

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}

    def __repr__(self) -> str:
        return f"{self.made_by}({', '.join(self._asked.names)})"


def shortest_decimals(values: NDArray[Any]) -> NDArray[Any]:
    """32-bit values as the decimals that they were: 0.7, and not 0.699999988.

    LightGBM and XGBoost keep labels and weights in 32 bits; the shortest decimal
    that names such a value is the one that was given, up to seven digits.
    """
    if values.dtype != np.float32:
        return values
    levels, codes = np.unique(values, return_inverse=True)
    decimals = np.array([float(str(level)) for level in levels])
    # whole numbers are exact as they are
    return np.where(levels == np.floor(levels), levels, decimals)[codes]


def queries_of(sizes: NDArray[Any]) -> Queries:
    """Queries that stand one after another, by their numbers of rows."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return Queries(np.flatnonzero(sizes > 0), offsets_of(sizes[sizes > 0]), None)
