"""What the rankers of LightGBM, XGBoost and CatBoost share."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._engine.fitted_queries import FittedQueries
from .._engine.matrix import without_mask
from .._engine.qid_column import (
    list_columns,
    qid_index,
    split_qid_column,
    spread_features,
)
from .._engine.seeds import seed_of
from ._query_data import (
    GivenSet,
    QueryData,
    check_columns,
    columns_of,
    gather_queries,
)
from ._ranker_mixin import RankerMixin

#: the names that the libraries have for the seed, aliases first
_SEEDS = ("random_seed", "seed", "random_state")


class _Columns(NamedTuple):
    """Columns of X as given to `fit`."""

    #: names, none where X has none
    given: list[Any]
    is_feature: NDArray[np.bool_]
    #: names of the features, None for each where they have none
    features: list[Any]


class QueryRankerMixin(RankerMixin):
    """Query ids, columns and the order of rows, for a booster's ranker.

    The class has the parameters `qid`, `row_order` and a seed. Its `fit` calls
    `_gather` and, at its end, `_remember`; its `predict` hands on
    ``self._features(X)``.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("qid", "eval_X", "eval_y", "eval_qid"), True
    )

    qid: str | int | None
    row_order: str
    _columns_: _Columns

    def _gather(
        self, own: GivenSet, sets: list[GivenSet]
    ) -> tuple[QueryData, list[QueryData]]:
        """Training data and evaluation sets, query by query."""
        salt = self._salt()

        def gathered(one: GivenSet, *, evaluation: bool) -> QueryData:
            return gather_queries(
                one,
                self.qid,
                evaluation=evaluation,
                row_order=self.row_order,
                salt=salt,
            )

        train = gathered(own, evaluation=False)
        evals = []
        for one in sets:
            if self._is_training(one, own):
                evals.append(train)
                continue
            data = gathered(one, evaluation=True)
            check_columns(data.X, columns_of(train.X), "eval_X")
            evals.append(data)
        return train, evals

    def _is_training(self, one: GivenSet, own: GivenSet) -> bool:
        """Whether it is the training data, and would be evaluated with its values."""
        weighted = getattr(self, "class_weight", None)
        plain = one.weight is one.init_score is own.weight is weighted is None
        return plain and one.same_rows(own)

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

    def _remember(self, X: Any, train: QueryData) -> None:
        """Keep the columns of X, as it was given to `fit`, and digests of queries."""
        X = X if hasattr(X, "shape") else np.asarray(X)
        is_feature = np.ones(X.shape[1], dtype=bool)
        if self.qid is not None:
            is_feature[qid_index(X, self.qid)] = False
        names = list_columns(X)
        features = [names[j] if names else None for j in np.flatnonzero(is_feature)]
        self._columns_ = _Columns(names, is_feature, features)
        self._fitted_queries_ = FittedQueries.of(train.queries)

    def _remember_loaded(self, n_features: int, names: list[Any] | None) -> None:
        """Keep the features of a model that came from a file: there, all columns."""
        features = names or [None] * n_features
        is_feature = np.ones(n_features, dtype=bool)
        self._columns_ = _Columns(names or [], is_feature, features)
        self.__dict__.pop("_fitted_queries_", None)

    def _fitted_columns(self, name: str) -> _Columns:
        columns = self.__dict__.get("_columns_")
        if columns is None:
            raise AttributeError(f"{type(self).__name__} has {name} only after fit")
        return columns  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in `fit`, that of `qid` included."""
        return len(self._fitted_columns("n_features_in_").is_feature)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns of X in `fit`, if all are texts."""
        names = self._fitted_columns("feature_names_in_").given
        if not names or not all(isinstance(name, str) for name in names):
            raise AttributeError("X had no column names in fit")
        return np.array(names, dtype=object)

    def _per_column(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value per feature at the columns of X, NaN at that of `qid`."""
        is_feature = self._fitted_columns("importances").is_feature
        if is_feature.all():
            return values
        spread: NDArray[Any] = spread_features(
            np.asarray(values, dtype=np.float64), is_feature, np.nan
        )
        return spread

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
        X = without_mask(X if hasattr(X, "shape") else np.asarray(X))
        if len(X.shape) != 2:
            raise ValueError(
                f"X must be 2-dimensional, got shape {X.shape}. Reshape your data"
            )
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
