"""What rankers share: `score` of all, and `fit` of LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._engine import (
    FittedQueries,
    FloatArray,
    Queries,
    as_matrix,
    by_content,
    check_choice,
    check_scores,
    check_whole_queries,
    how_to_pass_qid,
    list_columns,
    qid_index,
    reject,
    resolve_qid,
    seed_of,
    split_qid_column,
    spread_features,
    take_rows,
    without_mask,
)
from ..evaluation import Prepared, QueryRows, ask
from ..measures import parse_measure
from ._eval_sets import measured, prepare_set

#: the parts of an evaluation set beside eval_X
_EVAL_PARTS = ("eval_y", "eval_qid", "eval_sample_weight", "eval_init_score")
#: the names that the libraries have for the seed, aliases first
_SEEDS = ("random_seed", "seed", "random_state")


Init = TypeVar("Init", bound=Callable[..., Any])


def options_of(parent: Callable[..., Any]) -> Callable[[Init], Init]:
    """Show the options of `parent` in the place of ``**options``.

    scikit-learn reads the parameters of an estimator there, as `help` and editors do.
    """

    def decorate(init: Init) -> Init:
        *own, _ = signature(init).parameters.values()
        _, *theirs = signature(parent).parameters.values()
        all_of_them = {one.name: one for one in own}
        for one in theirs:
            kind = max(one.kind, Parameter.KEYWORD_ONLY)
            all_of_them.setdefault(one.name, one.replace(kind=kind))
        shown = sorted(all_of_them.values(), key=operator.attrgetter("kind"))
        signed = signature(init).replace(parameters=shown)
        init.__signature__ = signed  # type: ignore[attr-defined]
        return init

    return decorate


class RankerMixin:
    """Gives an estimator whose `predict` ranks a `score`: exact NDCG@10."""

    # scikit-learn reads what metadata routing asks for from the start here
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the exact NDCG@10 of the ranking of X, the default of searches.

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
            If the ranker was fitted on the same ids with other numbers of rows: see the
            notes of `make_ranking_scorer`.
        """
        check_is_fitted(self)
        column = self._qid_column(X)
        _, ids = resolve_qid(X, column, qid, request="set_score_request(qid=False)")
        if ids is None:
            way = ", qid=<name or index> in the constructor"
            raise ValueError(
                "qid must hold the query of each row, got None: pass qid to "
                f"score. {how_to_pass_qid()}{way if hasattr(self, 'qid') else ''}"
            )
        rows = QueryRows.of(X, y, ids, sample_weight, weight="sample_weight")
        check_whole_queries(self, rows.queries)
        predict: Any = self.predict  # type: ignore[attr-defined]
        by_query = column is None and "qid" in signature(predict).parameters
        scores = predict(X, **({"qid": ids} if by_query else {}))
        asked = ask([parse_measure("ndcg@10")], 0.0)
        return measured(asked, rows.prepared(keep=False), scores)[0]

    def _qid_column(self, X: Any) -> str | int | None:
        """The column of X that holds query ids."""
        return getattr(self, "qid", None)


class GivenSet(NamedTuple):
    """Training data or one evaluation set, as the user gave it."""

    X: Any
    y: Any
    qid: Any
    weight: Any
    init_score: Any


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

    def prepared(self) -> Prepared:
        """An evaluation set, for scores after each tree."""
        return prepare_set(self.y, self.queries, self.weight, "eval_sample_weight")


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
    given: Any, are_training: Sequence[bool]
) -> tuple[list[str], list[str]]:
    """Names of the evaluation sets, and of those that are not the training data.

    Those that the user did not name are ``training`` and ``valid_0``, ``valid_1``, ...

    Raises
    ------
    ValueError
        Unless there is a different name for each set.
    """
    default = [
        "training" if is_training else f"valid_{number}"
        for number, is_training in enumerate(are_training)
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


class _Columns(NamedTuple):
    """Columns of X as given to `fit`."""

    #: names, none where X has none
    given: list[Any]
    is_feature: NDArray[np.bool_]
    #: names of the features, None for each where they have none
    features: list[Any]


class FitData(NamedTuple):
    """What a booster is trained on, query by query.

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
        advice: str = "give eval_metric to the constructor",
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
            raise ValueError(
                f"early_stopping_rounds needs a metric, got none: {advice}"
            )


class QueryRankerMixin(RankerMixin):
    """Query ids, columns and the order of rows, for a booster's ranker.

    The class has the parameters `qid`, `row_order` and a seed. Its `fit` trains the
    library's model on `_fit_data` and returns ``self._remember(data)``; its `predict`
    hands on ``self._features(X)``.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("qid", "eval_X", "eval_y", "eval_qid"), True
    )

    qid: str | int | None
    row_order: str
    _columns_: _Columns

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
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
    ) -> FitData:
        """The data that `fit` of each booster takes, checked and query by query."""
        given = GivenSet(X, y, qid, sample_weight, init_score)
        sets = split_eval_sets(
            GivenSet(eval_X, eval_y, eval_qid, eval_sample_weight, eval_init_score)
        )
        salt = self._salt()
        train = self._gather(given, salt)
        # the very objects X, y and qid
        are_training = [all(map(operator.is_, one[:3], given[:3])) for one in sets]
        plain = sample_weight is getattr(self, "class_weight", None) is None
        evals = []
        for one, is_training in zip(sets, are_training, strict=True):
            # the training data themselves, if they are evaluated with their values
            if plain and is_training and one.weight is one.init_score is None:
                evals.append(train)
                continue
            evals.append(self._gather(one, salt, "eval_"))
            check_columns(evals[-1].X, columns_of(train.X), "eval_X")
        names, held_out = name_eval_sets(eval_names, are_training)
        return FitData(X, train, dict(zip(names, evals, strict=True)), held_out)

    # errors about arguments are those of `fit`
    _fit_data.__qualname__ = "fit"

    def _gather(self, given: GivenSet, salt: int, prefix: str = "") -> QueryData:
        """Checked data, query by query: by `by_content` with this salt, or as given.

        Messages have `prefix` in front of names. Weights of evaluation sets are those
        of queries.
        """
        check_choice(self.row_order, "row_order", ("canonical", "input"))
        X, qid = resolve_qid(given.X, self.qid, given.qid, prefix=prefix)
        if qid is None:
            # evaluation sets are passed to fit as they are, with routing on or off
            way = "Or let it be a column of eval_X" if prefix else how_to_pass_qid()
            raise ValueError(
                f"{prefix}qid must hold the query of each row of {prefix}X, got None: "
                f"pass {prefix}qid to fit. {way}, qid=<name or index> in the "
                "constructor"
            )
        if given.y is None:  # as scikit-learn says it
            raise ValueError(
                f"{prefix}y must hold the labels of {prefix}X: a ranker requires y to "
                "be passed, but the target y is None"
            )
        X = without_mask(as_matrix(X, f"{prefix}X"))
        if not X.shape[1]:
            raise ValueError(
                f"{prefix}X must have features, got 0 feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required. A feature selector before the "
                "ranker may have kept no feature"
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
        if self.row_order == "canonical":
            queries = by_content(X, queries, labels, weight, start, salt=salt)
        return QueryData(
            take_rows(X, queries.order),
            queries.arrange(labels),
            None if weight is None else queries.arrange(weight),
            None if start is None else queries.arrange(start),
            replace(queries, order=None),
            labels,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_columns_" in self.__dict__

    def _salt(self) -> int:
        """The seed of the canonical order of rows."""
        if self.row_order == "input":  # draws nothing
            return 0
        params = self.get_params()  # type: ignore[attr-defined]
        given = [params[name] for name in _SEEDS if params.get(name) is not None]
        state = given[0] if given else 0
        return int(state) if isinstance(state, numbers.Integral) else seed_of(state)

    def _remember(self, data: FitData) -> Self:
        """Keep the columns of X, as it was given to `fit`, and digests of queries."""
        X = data.X if hasattr(data.X, "shape") else np.asarray(data.X)
        is_feature = np.ones(X.shape[1], dtype=bool)
        if self.qid is not None:
            is_feature[qid_index(X, self.qid)] = False
        features = columns_of(data.train.X)
        self._columns_ = _Columns(list_columns(X), is_feature, features)
        self._fitted_queries_ = FittedQueries.of(data.train.queries)
        return self

    def _remember_loaded(self, n_features: int, names: list[Any] | None) -> None:
        """Keep the features of a model that came from a file: there, all columns."""
        is_feature = np.ones(n_features, dtype=bool)
        features = names or [None] * n_features
        self._columns_ = _Columns(names or [], is_feature, features)
        self.__dict__.pop("_fitted_queries_", None)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in `fit`, that of `qid` included."""
        check_is_fitted(self)
        return len(self._columns_.is_feature)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns of X in `fit`, if all are texts."""
        check_is_fitted(self)
        names = self._columns_.given
        if not names or not all(isinstance(name, str) for name in names):
            raise AttributeError("X had no column names in fit")
        return np.array(names, dtype=object)

    def _per_column(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value per feature at the columns of X, NaN at that of `qid`."""
        is_feature = self._columns_.is_feature
        if not is_feature.all():
            values = spread_features(values.astype(float), is_feature, np.nan)
        return values

    def _qid_column(self, X: Any) -> str | int | None:
        """The column of query ids, where X still has it."""
        if self.qid is None:
            return None
        if hasattr(X, "columns"):
            return self.qid if self.qid in list_columns(X) else None
        shape = X.shape if hasattr(X, "shape") else np.shape(X)
        bare = len(shape) == 2 and shape[1] == len(self._columns_.features)
        return None if bare else self.qid

    def _features(self, X: Any) -> Any:
        """X as it was fitted on, without the qid column."""
        check_is_fitted(self)
        X = without_mask(as_matrix(X))
        columns, column = self._columns_, self._qid_column(X)
        if X.shape[1] != len(columns.features) + (column is not None):
            # as scikit-learn says it
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is "
                f"expecting {len(columns.is_feature)} features as input"
            )
        if column is not None:
            X = split_qid_column(X, column)[0]
        check_columns(X, columns.features)
        return X
