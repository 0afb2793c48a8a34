"""Common parts of rankers: `score`, and the data of `fit` for boosters."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from itertools import compress
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._display import words
from .._engine import (
    checks,
    feature_matrix,
    messages,
    row_order,
    split_queries,
)
from .._typing import Array, BoolArray, FloatArray
from ..evaluation import _prepared, _resolved
from ..measures import _parse, parse_measure
from . import _booster_metric

#: Names of the seed in the three libraries, aliases first.
_SEEDS = ("random_seed", "seed", "random_state")


def is_function_of_rows(value: Any) -> bool:
    """Return whether an objective or a metric is a function that gets rows.

    The metrics of this package do not depend on the order of rows.
    """
    functions = value if isinstance(value, (list, tuple, set)) else [value]
    for function in functions:
        if isinstance(function, _booster_metric.BoosterMetric):
            continue
        if callable(function):
            return True
        # Objectives of CatBoost are objects with one of these methods.
        if hasattr(function, "calc_ders_range") or hasattr(function, "calc_ders_multi"):
            return True
    return False


def is_switched_on(value: Any) -> bool:
    """Return whether a switch is on. Boosters also accept a switch as text."""
    return str(value).lower() not in ("none", "false", "0", "0.0")


Function = TypeVar("Function", bound=Callable[..., Any])


def options_of(parent: Callable[..., Any]) -> Callable[[Function], Function]:
    """Show the parameters of `parent` in place of ``**options`` in a signature.

    scikit-learn reads the parameters of an estimator from the signature, as `help` and
    editors do.
    """

    def decorate(function: Function) -> Function:
        # The last parameter of `function` is ``**options``, the first of `parent` is
        # ``self``.
        *stated, _ = signature(function).parameters.values()
        _, *inherited = signature(parent).parameters.values()
        parameters = {parameter.name: parameter for parameter in stated}
        for parameter in inherited:
            if parameter.name not in parameters:
                kind = max(parameter.kind, Parameter.KEYWORD_ONLY)
                parameters[parameter.name] = parameter.replace(kind=kind)
        # Python requires positional parameters first, and ``**kwargs`` last.
        shown = sorted(parameters.values(), key=lambda parameter: parameter.kind)
        new_signature = signature(function).replace(parameters=shown)
        function.__signature__ = new_signature  # type: ignore[attr-defined]
        return function

    return decorate


class RankerMixin:
    """Mixin that adds `score`, the exact mean NDCG@10, to an estimator that ranks."""

    # scikit-learn reads the default requests of metadata routing from this attribute.
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}
    # The link in the HTML that notebooks show for an estimator.
    _doc_link_module = "tieaware_sklearn"
    _doc_link_template = (
        f"{words.REFERENCE}/{{estimator_module}}.{{estimator_name}}.html"
    )

    qid: str | int | None

    @property
    def _stated_gain(self) -> Any:
        """Gain of labels that the parameters state for training, or None."""
        return None

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the exact mean NDCG@10 of the ranking of X.

        Searches and cross-validation call this method by default. Queries without a
        relevant document count as 0. The gain of labels is the gain that the parameters
        of a booster state (``label_gain`` of LightGBM, ``ndcg_exp_gain`` of XGBoost,
        and ``type`` or ``dcg_type`` in the loss of CatBoost). If the parameters state
        no gain, the gain is exponential.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features), of a kind that `predict` accepts.
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Query ids are required unless a column of X contains the
            query ids. Metadata routing passes query ids without a request.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's query in the mean: >= 0 and constant within a query.
            The weights must not all be 0. Metadata routing passes weights after
            ``set_score_request(sample_weight=True)``.

        Returns
        -------
        float
            Mean of NDCG@10 over queries.

        Raises
        ------
        ValueError
            If there are no query ids, if query ids are passed although a column of X
            contains query ids, if labels or weights break a rule above, or if `predict`
            raises the error for X.
        NotFittedError
            If the ranker is not fitted.

        Warns
        -----
        SplitQueriesWarning
            If the ranker was fitted on a query with the same id, but with another
            number of rows (see `make_ranking_scorer`).
        UserWarning
            If there are several rows and each row is a query of its own.
        """
        check_is_fitted(self)
        column = self._qid_column(X)
        if column is None and qid is None and self.qid is not None:
            raise ValueError(
                f"X must have the qid column {self.qid!r}, or qid must be passed to "
                f"score, got neither. The columns are {feature_matrix.list_columns(X)}"
            )
        _, ids = feature_matrix.resolve_qid(
            X, column, qid, request="set_score_request(qid=False)"
        )
        feature_matrix.need_qid(ids, "score")
        names = _prepared.ColumnNames("y", weight="sample_weight")
        prepared = _prepared.prepare(y, ids, sample_weight, X=X, names=names)
        split_queries.check_whole_queries(self, prepared.queries)
        predict: Any = self.predict  # type: ignore[attr-defined]
        if column is None and "qid" in signature(predict).parameters:
            scores = predict(X, qid=ids)
        else:
            scores = predict(X)
        measures = [parse_measure("ndcg@10")]
        resolved = _resolved.resolve(measures, gain=self._stated_gain)
        return _booster_metric.mean_values(resolved, prepared, scores)[0]

    def _qid_column(self, X: Any) -> str | int | None:
        """Return the column of X that contains query ids, if any."""
        return self.qid


class InputRows(NamedTuple):
    """Training data or an evaluation set, as passed to `fit`."""

    X: Any
    y: Any
    qid: Any
    weight: Any
    init_score: Any


class QueryData(NamedTuple):
    """Rows of data query by query, in the order in which a booster gets them.

    Attributes
    ----------
    X : matrix of any kind
    y, weight, init_score : ndarray of shape (n_rows,), the last two or None
    queries : Queries
    input_labels : ndarray of shape (n_rows,)
        Labels in the order of the rows passed to `fit`, for messages.
    input_queries : Queries
        Queries of the rows passed to `fit`. The method `arrange` of these queries puts
        values into the order of the booster.
    """

    X: Any
    y: FloatArray
    weight: Any
    init_score: Any
    queries: checks.Queries
    input_labels: FloatArray
    input_queries: checks.Queries

    def prepared(self) -> _prepared.Prepared:
        """Prepare an evaluation set, to be scored after each tree."""
        return _booster_metric.prepare_set(self.y, self.queries, self.weight)


def has_names(columns: list[Any]) -> bool:
    """Return whether the names of columns are texts."""
    return bool(columns) and all(isinstance(name, str) for name in columns)


def check_names(X: Any, fitted: list[Any], name: str = "X") -> None:
    """Refuse columns in another order than in `fit`, if both have names."""
    pairs = zip(fitted, feature_matrix.list_columns(X), strict=False)
    for column, (fitted_name, column_name) in enumerate(pairs):
        if fitted_name is None or column_name is None:
            continue
        if fitted_name != column_name:
            raise ValueError(
                f"{name} must have the columns that the ranker was fitted on, in "
                f"order: {fitted_name!r} as column {column}, got "
                f"{messages.show(column_name)}"
            )


def split_eval_sets(eval_X: Any, arguments: dict[str, Any]) -> list[InputRows]:
    """Return the evaluation sets: several if `eval_X` is a tuple, otherwise one.

    `arguments` are y, qid, weight and init_score of the sets, in this order, by their
    names in `fit`.

    Raises
    ------
    ValueError
        If the arguments do not match each other.
    """
    if eval_X is None:
        for name, value in arguments.items():
            if value is not None:
                raise ValueError(f"eval_X must come with {name}, got None")
        return []
    if arguments["eval_y"] is None:
        raise ValueError("eval_y must contain the labels of eval_X, got None")
    if not isinstance(eval_X, tuple):
        return [InputRows(eval_X, *arguments.values())]
    n_sets = len(eval_X)
    columns: list[Any] = [eval_X]
    for name, value in arguments.items():
        if value is None:
            value = (None,) * n_sets
        if not isinstance(value, tuple) or len(value) != n_sets:
            raise ValueError(
                f"{name} must be a tuple with {n_sets} entries, like eval_X, got "
                f"{messages.show(value)}"
            )
        columns.append(value)
    return [InputRows(*values) for values in zip(*columns, strict=True)]


def without_qid(
    columns: Any, X: Any, qid: str | int | None, *, name: str = "categorical_feature"
) -> Any:
    """Renumber lists of columns without the qid column. A text is kept."""
    if qid is None or columns is None or isinstance(columns, str):
        return columns
    index = feature_matrix.column_index(X, qid)
    features = []
    for column in columns:
        is_index = isinstance(column, numbers.Integral)
        if column == (index if is_index else qid):
            raise ValueError(f"{name} must leave out the qid column, got {column!r}")
        if is_index and column > index:
            column -= 1
        features.append(column)
    return features


def name_eval_sets(
    eval_names: Any, are_training: list[bool]
) -> tuple[list[str], list[str]]:
    """Return the names of all evaluation sets, and of the sets that are held out.

    The default names are ``training`` for the training data, and ``valid_0``,
    ``valid_1``, ...

    Raises
    ------
    ValueError
        If the number of names is not the number of sets, or if two names are equal.
    """
    names = []
    if eval_names is None:
        for i, is_training in enumerate(are_training):
            names.append("training" if is_training else f"valid_{i}")
    elif isinstance(eval_names, str):
        names = [eval_names]
    else:
        names = list(eval_names)
    n_sets = len(are_training)
    if not len(names) == len(set(names)) == n_sets:
        raise ValueError(
            "eval_names must have a different name for each evaluation set "
            f"({n_sets}), got {messages.show(names)}"
        )
    held_out = list(compress(names, np.logical_not(are_training)))
    if "training" in held_out:
        raise ValueError(
            'eval_names must have "training" for the training data and for no other '
            f"set, got {messages.show(names)}"
        )
    return names, held_out


class FitData(NamedTuple):
    """Training and evaluation data of a booster, query by query.

    Attributes
    ----------
    X : matrix of any kind
        Features of the training data, as passed to `fit`.
    train : QueryData
    evals : dict of str to QueryData
        Evaluation sets by name.
    held_out : list of str
        Names of the evaluation sets that are not the training data.
    """

    X: Any
    train: QueryData
    evals: dict[str, QueryData]
    held_out: list[str]

    def check_stopping(
        self,
        rounds: Any,
        has_metric: bool = True,
        advice: str = "give eval_metric to the constructor",
    ) -> None:
        """Refuse early stopping without an evaluation set or without a metric."""
        if not isinstance(rounds, numbers.Real) or rounds <= 0:
            return
        if not self.held_out:
            raise ValueError(
                "early_stopping_rounds requires an evaluation set besides the training "
                "data, got none: pass eval_X, eval_y and eval_qid to fit"
            )
        if not has_metric:
            raise ValueError(
                f"early_stopping_rounds requires a metric, got none: {advice}"
            )


def check_order_parameters(ranker: Any, row_order: str, **fit_options: Any) -> None:
    """Refuse parameters that depend on the order of rows, unless rows keep their order.

    Raises
    ------
    ValueError
        If `row_order` is not "input" and a parameter of the ranker or of its `fit`
        depends on the order of rows.
    """
    if row_order == "input":
        return
    params = ranker.get_params()
    params.update(fit_options)
    for name, depends_on_order in ranker._order_parameters.items():
        value = params.get(name)
        if depends_on_order(value):
            raise ValueError(
                f'row_order must be "input" with {name}, which depends on the order of '
                f"rows, got row_order={row_order!r} and {name}={messages.show(value)}"
            )


class QueryRankerMixin(RankerMixin):
    """Mixin for a booster's ranker: query ids, columns and the order of rows.

    The class has the parameters `qid`, `row_order` and a seed. The method `fit` of the
    class trains the library's model on `_fit_data`, and returns
    ``self._set_columns(data)``. The method `predict` passes ``self._features(X)`` to
    the model.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("qid", "eval_X", "eval_y", "eval_qid"), True
    )

    row_order: str
    #: Parameters that may give the order of rows a meaning, each with a function that
    #: returns whether a value does.
    _order_parameters: ClassVar[dict[str, Callable[[Any], bool]]]
    #: Names of the columns of X in `fit`, if any, and whether each is a feature.
    _names_: list[Any]
    _is_feature_: BoolArray

    def _fit_data(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_X: Any = None,
        eval_y: Any = None,
        eval_qid: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_query_weight: Any = None,
        eval_init_score: Any = None,
    ) -> FitData:
        """Check the arguments of `fit`, and return the data query by query."""
        checks.check_choice(self.row_order, "row_order", ("canonical", "input"))
        check_order_parameters(self, self.row_order)
        eval_arguments = {
            "eval_y": eval_y,
            "eval_qid": eval_qid,
            "eval_query_weight": eval_query_weight,
            "eval_init_score": eval_init_score,
        }
        eval_sets = split_eval_sets(eval_X, eval_arguments)
        salt = 0
        if self.row_order != "input":
            seed = self._parameter(*_SEEDS) or 0
            # Boosters accept integers that are not valid seeds of NumPy.
            if isinstance(seed, numbers.Integral):
                salt = int(seed)
            else:
                salt = checks.seed_of(seed)
        train = self._gather(InputRows(X, y, qid, sample_weight, init_score), salt)
        columns = feature_matrix.list_columns(train.X)
        evals = []
        are_training = []
        for rows in eval_sets:
            data = self._gather(rows, salt, "eval_")
            if data.X.shape[1] != train.X.shape[1]:
                raise ValueError(
                    "eval_X must have the columns that the ranker was fitted on, in "
                    f"order: {train.X.shape[1]} features, got {data.X.shape[1]}"
                )
            check_names(data.X, columns, "eval_X")
            if has_names(columns) != has_names(feature_matrix.list_columns(data.X)):
                words.warn(
                    "X and eval_X must both have feature names or both have none. In a "
                    'pipeline, set transform_input=["eval_X"]'
                )
            evals.append(data)
            are_training.append(rows.X is X and rows.y is y and rows.qid is qid)
        names, held_out = name_eval_sets(eval_names, are_training)
        return FitData(X, train, dict(zip(names, evals, strict=True)), held_out)

    def _fit_data_of(self, X: Any, y: Any, options: dict[str, Any]) -> FitData:
        """Return the data of `fit`, and refuse options that only boosters know."""
        unknown = options.keys() - signature(self._fit_data).parameters
        if unknown:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument "
                f"{min(unknown)!r}: fit accepts arguments such as qid, init_score, "
                "init_model, eval_X, eval_y, eval_qid and eval_query_weight"
            )
        return self._fit_data(X, y, **options)

    def _parameter(self, *names: str) -> Any:
        """Return the first value that is not None, among aliases of a parameter."""
        params = self.get_params()  # type: ignore[attr-defined]
        for name in names:
            if params.get(name) is not None:
                return params[name]
        return None

    def _resolved_metric(self, fit_metric: Any) -> _resolved.ResolvedMeasures | None:
        """Return the measures passed to `fit`, or else to the constructor, if any."""
        ranker: Any = self
        metric = ranker.eval_metric if fit_metric is None else fit_metric
        if metric is None:
            return None
        measures = _parse.parse_measures(metric, name="eval_metric")
        return _resolved.resolve(
            measures, ranker.zero_relevance, gain=self._stated_gain
        )

    def _gather(self, rows: InputRows, salt: int, prefix: str = "") -> QueryData:
        """Check data, and order rows within queries by content or as passed.

        `prefix` precedes the names of arguments in messages. Evaluation sets have
        weights of queries.
        """
        columns = feature_matrix.list_columns(rows.X)
        if len(set(columns)) < len(columns):
            raise ValueError(
                f"{prefix}X must have different column names, got "
                f"{messages.show(columns)}"
            )
        X, qid = feature_matrix.resolve_qid(rows.X, self.qid, rows.qid, prefix=prefix)
        advice = ""
        if prefix:
            # Metadata routing does not pass evaluation sets.
            advice = (
                "If the ids are a column of eval_X, use qid=<name or index> in the "
                "constructor"
            )
        feature_matrix.need_qid(qid, "fit", name=f"{prefix}qid", advice=advice)
        if rows.y is None:
            # scikit-learn's checks of estimators look for the end of this message.
            raise ValueError(
                f"{prefix}y must contain the labels of {prefix}X: a ranker requires y "
                "to be passed, but the target y is None"
            )
        X = feature_matrix.as_matrix(X, f"{prefix}X")
        if not X.shape[1]:
            raise ValueError(
                f"{prefix}X must have features, got 0 feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required. If a selector precedes the ranker, "
                "let the selector keep a feature"
            )
        weight, init_score = rows.weight, rows.init_score
        weight_name = "eval_query_weight" if prefix else "sample_weight"
        names = _prepared.ColumnNames(
            f"{prefix}y", f"{prefix}qid", weight_name, X=f"{prefix}X"
        )
        # Weights of training rows may differ within a query.
        query_weight = weight if prefix else None
        prepared = _prepared.prepare(
            rows.y, qid, query_weight, X=X, names=names, single_documents="raise"
        )
        labels = prepared.labels
        queries = prepared.queries
        n_rows = queries.n_rows
        if weight is not None:
            weight = checks.check_scores(weight, n_rows=n_rows, name=weight_name)
            checks.reject(~(weight >= 0), weight, weight_name, "be >= 0")
        if init_score is not None:
            init_score = checks.check_scores(
                init_score, n_rows=n_rows, name=f"{prefix}init_score"
            )
        if self.row_order == "canonical":
            queries = row_order.by_content(
                X, queries, labels, weight, init_score, salt=salt
            )
        if weight is not None:
            weight = queries.arrange(weight)
        if init_score is not None:
            init_score = queries.arrange(init_score)
        return QueryData(
            feature_matrix.take_rows(X, queries.order),
            queries.arrange(labels),
            weight,
            init_score,
            replace(queries, order=None),
            labels,
            queries,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_is_feature_" in self.__dict__

    def _set_columns(self, data: FitData) -> Self:
        """Set the attributes that describe the columns and the queries of `fit`."""
        self._names_ = feature_matrix.list_columns(data.X)
        self._is_feature_ = feature_matrix.are_features(data.X, self.qid)
        self._fitted_queries_ = split_queries.FittedQueries.from_queries(
            data.train.queries
        )
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in `fit`, including `qid`."""
        check_is_fitted(self)
        return len(self._is_feature_)

    @property
    def feature_names_in_(self) -> Array:
        """Column names of X in `fit`, if all are strings."""
        check_is_fitted(self)
        if not has_names(self._names_):
            raise AttributeError("X had no column names in fit")
        return np.array(self._names_, dtype=object)

    def _per_column(self, values: Array) -> Array:
        """Return one value per column of X, 0 for `qid`, from values per feature."""
        if not self._is_feature_.all():
            values = values.astype(float)
        return feature_matrix.spread_features(values, self._is_feature_)

    def _qid_column(self, X: Any) -> str | int | None:
        """Return the column of query ids, if X contains such a column."""
        if self.qid is None:
            return None
        if hasattr(X, "columns"):
            return self.qid if self.qid in feature_matrix.list_columns(X) else None
        shape = np.shape(X)
        if len(shape) == 2 and shape[1] == self._is_feature_.sum():
            return None
        return self.qid

    def _features(self, X: Any) -> Any:
        """Check X against the data of `fit`, and remove the qid column."""
        check_is_fitted(self)
        X = feature_matrix.as_matrix(X)
        column = self._qid_column(X)
        n_features = self._is_feature_.sum()
        if X.shape[1] != n_features + (column is not None):
            # The text is the message of scikit-learn.
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{len(self._is_feature_)} features as input"
            )
        if column is not None:
            X, _ = feature_matrix.split_qid_column(X, column)
        check_names(X, list(compress(self._names_, self._is_feature_)))
        return X
