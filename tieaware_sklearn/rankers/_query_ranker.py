"""What rankers share: `score` of all, and `fit` of LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._engine import (
    FittedQueries,
    as_matrix,
    check_whole_queries,
    how_to_pass_qid,
    list_columns,
    qid_index,
    resolve_qid,
    seed_of,
    split_qid_column,
    spread_features,
    without_mask,
)
from ..evaluation import QueryRows, ask
from ..measures import parse_measure
from ._eval_sets import (
    GivenSet,
    QueryData,
    check_columns,
    columns_of,
    gather_queries,
    measured,
    name_eval_sets,
    split_eval_sets,
)

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
        shown = sorted(all_of_them.values(), key=attrgetter("kind"))
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
        request = "set_score_request(qid=False)"
        _, ids = resolve_qid(X, column, qid, request=request)
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
        column: str | int | None = getattr(self, "qid", None)
        return column


class _Columns(NamedTuple):
    """Columns of X as given to `fit`."""

    #: names, none where X has none
    given: list[Any]
    is_feature: NDArray[np.bool_]

    @property
    def features(self) -> list[Any]:
        """Names of the features, None for each where they have none."""
        places = np.flatnonzero(self.is_feature)
        return [self.given[j] if self.given else None for j in places]


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
        options: dict[str, Any] = {"row_order": self.row_order, "salt": self._salt()}
        train = gather_queries(given, self.qid, **options)
        plain = sample_weight is getattr(self, "class_weight", None) is None
        evals = []
        for one in sets:
            # the training data themselves, if they are evaluated with their values
            if plain and one.weight is one.init_score is None and one.same_rows(given):
                evals.append(train)
                continue
            evals.append(gather_queries(one, self.qid, prefix="eval_", **options))
            check_columns(evals[-1].X, columns_of(train.X), "eval_X")
        names, held_out = name_eval_sets(sets, given, eval_names)
        return FitData(X, train, dict(zip(names, evals, strict=True)), held_out)

    # errors about arguments are those of `fit`
    _fit_data.__qualname__ = "fit"

    def __sklearn_is_fitted__(self) -> bool:
        return "_columns_" in self.__dict__

    def _salt(self) -> int:
        """The seed of the canonical order of rows."""
        if self.row_order == "input":  # draws nothing
            return 0
        params = self.get_params()  # type: ignore[attr-defined]
        states = (params.get(name) for name in _SEEDS)
        state = next((given for given in states if given is not None), None)
        if state is None or isinstance(state, numbers.Integral):
            return int(state or 0)
        return seed_of(state)

    def _remember(self, data: FitData) -> Self:
        """Keep the columns of X, as it was given to `fit`, and digests of queries."""
        X = data.X if hasattr(data.X, "shape") else np.asarray(data.X)
        is_feature = np.ones(X.shape[1], dtype=bool)
        if self.qid is not None:
            is_feature[qid_index(X, self.qid)] = False
        self._columns_ = _Columns(list_columns(X), is_feature)
        self._fitted_queries_ = FittedQueries.of(data.train.queries)
        return self

    def _remember_loaded(self, n_features: int, names: list[Any] | None) -> None:
        """Keep the features of a model that came from a file: there, all columns."""
        self._columns_ = _Columns(names or [], np.ones(n_features, dtype=bool))
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
