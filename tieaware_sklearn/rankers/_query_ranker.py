"""Common parts of rankers: `score`, and the data of `fit` for boosters."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterable, Sequence
from copy import copy
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
    segments,
    split_queries,
)
from .._typing import Array, BoolArray, FloatArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure, _parse, parse_measure

#: number of prepared data sets that a metric keeps
_DATA_SETS = 16


def measured(
    resolved: _resolved.ResolvedMeasures, prepared: _prepared.Prepared, predictions: Any
) -> list[float]:
    """Average each measure over the queries."""
    scores = prepared.scores(predictions, "predictions")
    return prepared.means(resolved, prepared.values(resolved, scores).expected)


def prepare_set(
    labels: ArrayLike, queries: checks.Queries, weight: ArrayLike | None = None
) -> _prepared.Prepared:
    """Prepare a data set of a library for scores after each tree.

    Its rows stand query by query; `weight` has one value per row, of its query.
    """
    checked = checks.check_labels(shortest_decimals(labels), name="label")
    if weight is not None:
        decimals = shortest_decimals(weight)
        weight = checks.check_query_weight(decimals, queries, name="weight")
    return _prepared.Prepared(checked, queries, weight, keep=True)


class BoostingMeasures:
    """Measures of changing scores of data sets that stay.

    What scores do not change is kept of the last data sets; copies and pickles leave it
    behind.

    Parameters
    ----------
    measure : str, Measure or list of them
    zero_relevance : float, "skip" or "raise"
    negate : bool
        Whether values are negated, as LightGBM's tuners need them.
    """

    #: name of the public function that makes the metric
    made_by: ClassVar[str]

    def __init__(
        self,
        measure: str | Measure | Iterable[str | Measure],
        zero_relevance: float | str,
        *,
        negate: bool = False,
    ) -> None:
        self.single = isinstance(measure, (str, Measure))
        self.negate = negate
        parsed = _parse.parse_measures(measure)
        self._resolved = _resolved.resolve(parsed, zero_relevance)
        self.measures = self._resolved.measures
        self._prepared: dict[tuple[Any, ...], _prepared.Prepared] = {}

    def with_gain(self, gain: Any) -> Self:
        """Return a copy whose measures have this gain where they state none."""
        metric = copy(self)
        zero_relevance = self._resolved.options["zero_relevance"]
        metric._resolved = _resolved.resolve(self.measures, zero_relevance, gain=gain)
        return metric

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        """Return name, value and whether higher is better, as LightGBM wants them."""
        if self.negate:
            return f"neg_{measure}", -value, not measure.greater_is_better
        return str(measure), value, measure.greater_is_better

    def results(
        self,
        labels: Array,
        sizes: Array | None,
        weight: Array | None,
        scores: Array,
    ) -> Any:
        """Compute the result of each measure; of one measure, the result alone.

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
                "lightgbm.Dataset(X, y, group=sizes) or xgboost.DMatrix(X, y, qid=qid)"
            )
        given = [np.asarray(a) for a in (labels, sizes, weight) if a is not None]
        key = tuple((a.dtype, a.tobytes()) for a in given)
        if key not in self._prepared:
            if len(self._prepared) == _DATA_SETS:
                self._prepared.clear()
            self._prepared[key] = prepare_set(labels, queries_of(sizes), weight)
        means = measured(self._resolved, self._prepared[key], scores)
        results = list(map(self.result, self.measures, means))
        return results[0] if self.single else results

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}

    def __repr__(self) -> str:
        return f"{self.made_by}({', '.join(self._resolved.names)})"


def shortest_decimals(values: ArrayLike) -> Array:
    """Convert 32-bit values to the shortest decimals: 0.7, and not 0.699999988.

    LightGBM and XGBoost keep labels and weights in 32 bits; the shortest decimal
    that names such a value is the one that was given, up to seven digits.
    """
    values = np.asarray(values)
    if values.dtype != np.float32:
        return values
    levels, codes = np.unique(values, return_inverse=True)
    decimals = levels.astype(str).astype(np.float64)
    # whole numbers are exact already
    return np.where(levels == np.floor(levels), levels, decimals)[codes]


def queries_of(sizes: Any) -> checks.Queries:
    """Number queries that stand one after another, from their sizes."""
    sizes = np.asarray(sizes, dtype=np.int64)
    ids = np.flatnonzero(sizes > 0)
    return checks.Queries(ids, segments.offsets_of(sizes[ids]), None)


#: names of the seed in the libraries, aliases first
_SEEDS = ("random_seed", "seed", "random_state")
_COLUMNS = "must have the columns that the ranker was fitted on, in order"


def _has_names(X: Any) -> bool:
    """Return whether X has feature names, which are texts."""
    columns = feature_matrix.list_columns(X)
    return bool(columns) and all(isinstance(name, str) for name in columns)


def is_function_of_rows(value: Any) -> bool:
    """Return whether an objective or a metric is a function that gets rows.

    The metrics of this library do not depend on the order of rows.
    """
    functions = value if isinstance(value, (list, tuple, set)) else [value]
    return any(
        (callable(function) and not isinstance(function, BoostingMeasures))
        # objectives of CatBoost are objects
        or hasattr(function, "calc_ders_range")
        or hasattr(function, "calc_ders_multi")
        for function in functions
    )


def is_switched_on(value: Any) -> bool:
    """Return whether a switch is on, which libraries also take as a text."""
    return str(value).lower() not in ("none", "false", "0", "0.0")


Init = TypeVar("Init", bound=Callable[..., Any])


def options_of(parent: Callable[..., Any]) -> Callable[[Init], Init]:
    """Show the options of `parent` in the place of ``**options``.

    scikit-learn reads the parameters of an estimator there, as `help` and editors do.
    """

    def decorate(init: Init) -> Init:
        *options, _ = signature(init).parameters.values()
        _, *inherited = signature(parent).parameters.values()
        all_of_them = {one.name: one for one in options}
        for one in inherited:
            kind = max(one.kind, Parameter.KEYWORD_ONLY)
            all_of_them.setdefault(one.name, one.replace(kind=kind))
        shown = sorted(all_of_them.values(), key=operator.attrgetter("kind"))
        signed = signature(init).replace(parameters=shown)
        init.__signature__ = signed  # type: ignore[attr-defined]
        return init

    return decorate


class RankerMixin:
    """Mixin that adds `score`, the exact NDCG@10, to an estimator that ranks."""

    # scikit-learn reads default requests of metadata routing here
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    qid: str | int | None

    @property
    def _stated_gain(self) -> Any:
        """The gain of labels that the parameters state for training, or None."""
        return None

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the exact NDCG@10 of the ranking of X, the default score in searches.

        The gain of labels is what the parameters of a booster state (``label_gain`` of
        LightGBM, ``ndcg_exp_gain`` of XGBoost, ``type`` or ``dcg_type`` of a loss of
        CatBoost), and else exponential.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0.
        qid : array-like of shape (n_rows,)
            Query of each row, unless a column of X holds it. Metadata routing passes it
            without a request.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's query in the mean: constant within a query, and not
            all 0. Metadata routing passes it after
            ``set_score_request(sample_weight=True)``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are no query ids, or if labels or weights break a rule above.

        Warns
        -----
        SplitQueriesWarning
            If the ranker was fitted on the same ids with other numbers of rows (see
            `make_ranking_scorer`).
        """
        check_is_fitted(self)
        column = self._qid_column(X)
        if column is None and qid is None and self.qid is not None:
            raise ValueError(
                f"X must have the qid column {self.qid!r}, or qid must be passed to "
                f"score, got neither (columns: {feature_matrix.list_columns(X)})"
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
        return measured(resolved, prepared, scores)[0]

    def _qid_column(self, X: Any) -> str | int | None:
        """Column of X that holds query ids."""
        return self.qid


class GivenSet(NamedTuple):
    """Training data or one evaluation set, as the user gave it."""

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
    given_labels : ndarray of shape (n_rows,)
        Those of the rows as they came, for messages.
    given_queries : Queries
        Those of the rows as they came, whose `arrange` puts values into this order.
    """

    X: Any
    y: FloatArray
    weight: Any
    init_score: Any
    queries: checks.Queries
    given_labels: FloatArray
    given_queries: checks.Queries

    def prepared(self) -> _prepared.Prepared:
        """Prepare an evaluation set for scores after each tree."""
        return prepare_set(self.y, self.queries, self.weight)


def check_names(X: Any, fitted: list[Any], name: str = "X") -> None:
    """Refuse names of columns in another order than in `fit`, where both have names."""
    pairs = zip(fitted, feature_matrix.list_columns(X), strict=False)
    for at, (wanted, got) in enumerate(pairs):
        if wanted != got and None not in (wanted, got):
            raise ValueError(
                f"{name} {_COLUMNS}: {wanted!r} as column {at}, got "
                f"{messages.show(got)}"
            )


def split_eval_sets(eval_X: Any, parts: dict[str, Any]) -> list[GivenSet]:
    """Split evaluation sets: a tuple holds several, anything else is one.

    `parts` are those beside `eval_X`, by the names of the arguments.

    Raises
    ------
    ValueError
        For parts that do not go together.
    """
    if eval_X is None:
        for name, value in parts.items():
            if value is not None:
                raise ValueError(f"eval_X must come with {name}, got None")
        return []
    if parts["eval_y"] is None:
        raise ValueError("eval_y must hold the labels of eval_X, got None")
    if not isinstance(eval_X, tuple):
        return [GivenSet(eval_X, *parts.values())]
    n_sets = len(eval_X)
    columns: list[tuple[Any, ...]] = [eval_X]
    for name, value in parts.items():
        if value is None:
            columns.append((None,) * n_sets)
        elif isinstance(value, tuple) and len(value) == n_sets:
            columns.append(value)
        else:
            raise ValueError(
                f"{name} must be a tuple of {n_sets} entries, as eval_X is, got "
                f"{messages.show(value)}"
            )
    return [GivenSet(*one) for one in zip(*columns, strict=True)]


def without_qid(
    given: Any, X: Any, qid: str | int | None, *, name: str = "categorical_feature"
) -> Any:
    """Renumber categorical or other features without the qid column; keep a text."""
    if qid is None or isinstance(given, str) or given is None:
        return given
    at, features = feature_matrix.qid_index(X, qid), []
    for feature in given:
        is_index = isinstance(feature, numbers.Integral)
        if feature == (at if is_index else qid):
            raise ValueError(f"{name} must leave out the qid column, got {feature!r}")
        features.append(feature - 1 if is_index and feature > at else feature)
    return features


def name_eval_sets(
    given: Any, are_training: Sequence[bool]
) -> tuple[list[str], list[str]]:
    """Name the evaluation sets, and those that are not the training data.

    Those that the user did not name are ``training`` and ``valid_0``, ``valid_1``, ...

    Raises
    ------
    ValueError
        Unless there is a different name for each set.
    """
    if given is None:
        given = [
            "training" if same else f"valid_{i}" for i, same in enumerate(are_training)
        ]
    names = [given] if isinstance(given, str) else list(given)
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
        Of the training data, as it was given.
    train : QueryData
    evals : dict of str to QueryData
        Evaluation sets by name.
    held_out : list of str
        Names of those that are not the training data.
    """

    X: Any
    train: QueryData
    evals: dict[str, QueryData]
    held_out: list[str]

    def check_stopping(
        self,
        rounds: Any,
        measured: bool = True,
        way: str = "give eval_metric to the constructor",
    ) -> None:
        """Refuse to stop early, after so many rounds, on nothing."""
        if not isinstance(rounds, numbers.Real) or rounds <= 0:
            return
        if not self.held_out:
            raise ValueError(
                "early_stopping_rounds needs an evaluation set other than the training "
                "data, got none: pass eval_X, eval_y and eval_qid to fit"
            )
        if not measured:
            raise ValueError(f"early_stopping_rounds needs a metric, got none: {way}")


def check_order_parameters(ranker: Any, row_order: str, **of_fit: Any) -> None:
    """Refuse parameters that give the order of rows a meaning, unless rows keep it.

    Raises
    ------
    ValueError
        If `row_order` is not "input", for a parameter of the ranker or of its
        `fit`.
    """
    if row_order == "input":
        return
    params = {**ranker.get_params(), **of_fit}
    for name, depends_on_order in ranker._order_parameters.items():
        if depends_on_order(params.get(name)):
            raise ValueError(
                f'row_order must be "input" with {name}, which depends on the '
                f"order of rows, got row_order={row_order!r} and {name}="
                f"{messages.show(params[name])}"
            )


class QueryRankerMixin(RankerMixin):
    """Mixin for a booster's ranker: query ids, columns and the order of rows.

    The class has the parameters `qid`, `row_order` and a seed. Its `fit` trains the
    library's model on `_fit_data` and returns ``self._remember(data)``; its `predict`
    hands on ``self._features(X)``.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("qid", "eval_X", "eval_y", "eval_qid"), True
    )

    row_order: str
    #: parameters that give the order of rows a meaning, and which of their values do
    _order_parameters: ClassVar[dict[str, Callable[[Any], bool]]]
    #: names of the columns of X in fit, none if X had none, and which are features
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
        given = GivenSet(X, y, qid, sample_weight, init_score)
        parts = {
            "eval_y": eval_y,
            "eval_qid": eval_qid,
            "eval_query_weight": eval_query_weight,
            "eval_init_score": eval_init_score,
        }
        sets = split_eval_sets(eval_X, parts)
        salt = 0  # of the canonical order of rows
        if self.row_order != "input":
            seed = self._given(*_SEEDS) or 0
            # the libraries take integers that are no seed of NumPy
            is_whole = isinstance(seed, numbers.Integral)
            salt = int(seed) if is_whole else checks.seed_of(seed)
        train = self._gather(given, salt)
        # the same objects X, y and qid
        are_training = [all(map(operator.is_, one[:3], given[:3])) for one in sets]
        evals = []
        for one in sets:
            evals.append(self._gather(one, salt, "eval_"))
            wanted, got = train.X.shape[1], evals[-1].X.shape[1]
            if wanted != got:
                raise ValueError(f"eval_X {_COLUMNS}: {wanted} features, got {got}")
            check_names(evals[-1].X, feature_matrix.list_columns(train.X), "eval_X")
            if _has_names(train.X) != _has_names(evals[-1].X):
                words.warn(
                    "X and eval_X must both have feature names or neither: a pipeline "
                    "transforms eval_X only with "
                    'Pipeline(..., transform_input=["eval_X"])'
                )
        names, held_out = name_eval_sets(eval_names, are_training)
        return FitData(X, train, dict(zip(names, evals, strict=True)), held_out)

    def _fit_data_of(self, X: Any, y: Any, given: dict[str, Any]) -> FitData:
        """Check arguments of `fit`, whose names may differ between boosters."""
        for name in given.keys() - signature(self._fit_data).parameters:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument "
                f"{name!r}: it takes qid, init_score, init_model, and evaluation sets "
                "as eval_X, eval_y, eval_qid and eval_query_weight"
            )
        return self._fit_data(X, y, **given)

    def _given(self, *names: str) -> Any:
        """Look up a parameter by its names, the first that is given."""
        params = self.get_params()  # type: ignore[attr-defined]
        for name in names:
            if params.get(name) is not None:
                return params[name]
        return None

    def _resolved_metric(self, given: Any) -> _resolved.ResolvedMeasures | None:
        """Measures given to `fit`, or else to the constructor; None for none."""
        ranker: Any = self
        wanted = ranker.eval_metric if given is None else given
        if wanted is None:
            return None
        parsed = _parse.parse_measures(wanted, name="eval_metric")
        return _resolved.resolve(parsed, ranker.zero_relevance, gain=self._stated_gain)

    def _gather(self, given: GivenSet, salt: int, prefix: str = "") -> QueryData:
        """Check data, and order rows within queries by content or as given.

        Messages have `prefix` in front of names. Weights of evaluation sets are those
        of queries.
        """
        columns = feature_matrix.list_columns(given.X)
        if len(set(columns)) < len(columns):
            raise ValueError(
                f"{prefix}X must have different column names, got "
                f"{messages.show(columns)}"
            )
        X, qid = feature_matrix.resolve_qid(given.X, self.qid, given.qid, prefix=prefix)
        # routing does not apply to evaluation sets
        way = "Or let it be a column of eval_X" if prefix else ""
        feature_matrix.need_qid(qid, "fit", name=f"{prefix}qid", way=way)
        if given.y is None:
            # the message of scikit-learn
            raise ValueError(
                f"{prefix}y must hold the labels of {prefix}X: a ranker requires y to "
                "be passed, but the target y is None"
            )
        X = feature_matrix.as_matrix(X, f"{prefix}X")
        if not X.shape[1]:
            raise ValueError(
                f"{prefix}X must have features, got 0 feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required: did a selector before the ranker "
                "keep none?"
            )
        weight, start = given.weight, given.init_score
        name = "eval_query_weight" if prefix else "sample_weight"
        # weights of training rows may differ within a query
        of_query = weight if prefix else None
        names = _prepared.ColumnNames(
            f"{prefix}y", f"{prefix}qid", name, X=f"{prefix}X"
        )
        prepared = _prepared.prepare(
            given.y, qid, of_query, X=X, names=names, single_documents="raise"
        )
        labels, queries = prepared.labels, prepared.queries
        n_rows = queries.n_rows
        if weight is not None:
            weight = checks.check_scores(weight, n_rows=n_rows, name=name)
            checks.reject(~(weight >= 0), weight, name, "be >= 0")
        if start is not None:
            name = f"{prefix}init_score"
            start = checks.check_scores(start, n_rows=n_rows, name=name)
        if self.row_order == "canonical":
            queries = row_order.by_content(X, queries, labels, weight, start, salt=salt)
        return QueryData(
            feature_matrix.take_rows(X, queries.order),
            queries.arrange(labels),
            None if weight is None else queries.arrange(weight),
            None if start is None else queries.arrange(start),
            replace(queries, order=None),
            labels,
            queries,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_is_feature_" in self.__dict__

    def _remember(self, data: FitData) -> Self:
        """Keep the columns of X, as it was given to `fit`, and digests of queries."""
        self._names_ = feature_matrix.list_columns(data.X)
        self._is_feature_ = feature_matrix.are_features(data.X, self.qid)
        self._fitted_queries_ = split_queries.FittedQueries.of(data.train.queries)
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
        if not self._names_ or not all(isinstance(name, str) for name in self._names_):
            raise AttributeError("X had no column names in fit")
        return np.array(self._names_, dtype=object)

    def _per_column(self, values: Array) -> Array:
        """One value per feature at the columns of X, 0 at that of `qid`."""
        if not self._is_feature_.all():
            values = values.astype(float)
        return feature_matrix.spread_features(values, self._is_feature_, 0.0)

    def _qid_column(self, X: Any) -> str | int | None:
        """Return the column of query ids, where X still has it."""
        if self.qid is None:
            return None
        if hasattr(X, "columns"):
            return self.qid if self.qid in feature_matrix.list_columns(X) else None
        shape = np.shape(X)
        bare = len(shape) == 2 and shape[1] == self._is_feature_.sum()
        return None if bare else self.qid

    def _features(self, X: Any) -> Any:
        """Check X against the data of `fit`, and remove the qid column."""
        check_is_fitted(self)
        X = feature_matrix.as_matrix(X)
        is_feature, column = self._is_feature_, self._qid_column(X)
        if X.shape[1] != is_feature.sum() + (column is not None):
            # the message of scikit-learn
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{len(is_feature)} features as input"
            )
        if column is not None:
            X = feature_matrix.split_qid_column(X, column)[0]
        check_names(X, list(compress(self._names_, is_feature)))
        return X
