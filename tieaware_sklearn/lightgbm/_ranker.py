"""LightGBM's ranker with query ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._engine.fitted_queries import FittedQueries
from .._engine.matrix import without_mask
from .._engine.qid_column import list_columns, split_qid_column
from .._engine.validation import Queries, check_labels, reject
from .._optional import import_optional
from ..model_selection import make_ranking_scorer
from ..rankers._query_data import (
    GivenSet,
    QueryData,
    check_columns,
    check_eval_names,
    columns_of,
    gather_queries,
    split_eval_sets,
    without_qid,
)
from ..rankers._signature import options_of
from ._metrics import FirstMetric, metrics_of

lightgbm = import_optional(
    "lightgbm", extra="lightgbm", purpose="tieaware_sklearn.lightgbm"
)

#: the names that LightGBM has for one parameter, aliases before its own
_NAMES = {
    "objective": ("app", "application", "loss", "objective_type", "objective"),
    "metric": ("metric_types", "metrics", "metric"),
    "early_stopping_round": (
        *("early_stopping", "early_stopping_rounds", "n_iter_no_change"),
        "early_stopping_round",
    ),
    "label_gain": ("label_gain",),
}
#: rows of a query that LightGBM's ranking objectives take
MAX_QUERY_ROWS = 10_000
#: gains of labels that they have by default: 2^label - 1 for labels 0 to 30
DEFAULT_LABEL_GAINS = 31
_RANKING = {"lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart"}
_RANKING |= {"xendcg_mart"}
_ROUTED = ("qid", "eval_X", "eval_y", "eval_qid")


class QueryLGBMRanker(lightgbm.LGBMRanker):  # type: ignore[misc, name-defined]
    """`lightgbm.LGBMRanker` with a query id per row, and exact early stopping.

    Rows may stand in any order. Cross-validation slices ``qid`` as it does ``y``,
    so that searches, pipelines and `cross_validate` work, with ``qid`` by metadata
    routing (there is no need to call `set_fit_request`) or from a column of X.

    Parameters
    ----------
    boosting_type, num_leaves, max_depth, learning_rate, n_estimators, \
subsample_for_bin, objective, class_weight, min_split_gain, min_child_weight, \
min_child_samples, subsample, subsample_freq, colsample_bytree, reg_alpha, reg_lambda, \
random_state, n_jobs, importance_type
        As in `lightgbm.LGBMRanker`.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index
        for arrays), in `fit`, in its evaluation sets, and in `predict` where X
        still has it. It is never a feature: `n_features_in_` and
        `feature_names_in_` leave it out. By default `fit` takes ``qid``.
    **kwargs
        Other parameters of LightGBM. ``early_stopping_rounds`` stops on the first
        measure of `eval_metric` alone (``first_metric_only=False``: on any).
        ``metric`` adds metrics of LightGBM's own, which go by the order of rows.

    Attributes
    ----------
    evals_result_ : dict
        Values of each evaluation set after each tree, by canonical names of
        measures: ``evals_result_["valid_0"]["NDCG@10"]``.
    best_iteration_, best_score_, booster_, feature_importances_, ...
        As in `lightgbm.LGBMRanker`.

    See Also
    --------
    make_ranking_scorer : Scores it in searches and cross-validation.
    feval : The same metrics for `lightgbm.train`.

    Notes
    -----
    LightGBM trains on the queries in the order of their ids, rows of a query in the
    order given.

    `fit` takes ``qid`` in place of ``group``, ``eval_X``, ``eval_y`` and ``eval_qid``
    in place of ``eval_set`` and ``eval_group``. Data frames must have the columns of
    `fit`, in order.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import QueryLGBMRanker
    >>> train = make_web_search(n_queries=60, random_state=0)
    >>> valid = make_web_search(n_queries=30, random_state=1)
    >>> ranker = QueryLGBMRanker(early_stopping_rounds=5, verbosity=-1)
    >>> _ = ranker.fit(train.data, train.target, qid=train.qid, eval_X=valid.data,
    ...                eval_y=valid.target, eval_qid=valid.qid)
    >>> best = ranker.best_score_["valid_0"]["NDCG@10"]
    >>> scores = ranker.predict(valid.data)
    >>> best == ranking_score(valid.target, scores, qid=valid.qid, measure="ndcg@10")
    True
    """

    # what is asked for by metadata routing from the start
    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(_ROUTED, True)
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    @options_of(lightgbm.LGBMRanker.__init__)
    def __init__(self, *, qid: str | int | None = None, **options: Any) -> None:
        self.qid = qid
        super().__init__(**options)

    def fit(
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
        eval_metric: Any = "ndcg@10",
        eval_at: Sequence[int] = (1, 2, 3, 4, 5),
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
    ) -> QueryLGBMRanker:
        """Train on whole queries.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0, and for LightGBM's ranking objectives integers
            below 31 (or as many as ``label_gain`` has entries).
        qid : array-like of shape (n_rows,)
            Query of each row, unless a column of X holds it: any hashable values,
            at most 10,000 rows each for LightGBM's ranking objectives.
        sample_weight, init_score : array-like of shape (n_rows,), optional
            As in LightGBM.
        eval_X, eval_y, eval_qid : like X, y and qid, or tuples of such, optional
            One evaluation set, or several. Inside a search or cross-validation
            write tuples even for one, ``eval_X=(X_valid,)``: scikit-learn cuts
            whatever has as many rows as X down to the rows of the fold.
        eval_names : str or list of str, optional
            Names of the evaluation sets, by default ``valid_0``, ``valid_1``, ..., and
            ``training`` for the very objects of X, y and qid.
        eval_sample_weight : array-like or tuple, list or dict of such, optional
            Weight of each row's query in the evaluation: constant within a query.
        eval_init_score : array-like or tuple, list or dict of such, optional
            Scores that the predictions are added to, one per row.
        eval_metric : str, Measure, callable or list of them, default="ndcg@10"
            Names of measures are tie-aware; see `parse_measure` (``"ndcg"`` has
            no cut-off). A callable is a metric in LightGBM's form;
            ``eval_metric("ap", zero_relevance="skip")`` of this module is one too.
            None evaluates ``metric`` alone.
        eval_at : tuple of int, default=(1, 2, 3, 4, 5)
            Cut-offs of LightGBM's own ``metric="ndcg"`` and ``metric="map"``.
        feature_name, callbacks, init_model
            As in LightGBM.
        categorical_feature : "auto" or list of str or int, default="auto"
            As in LightGBM; numbers count the columns of X, that of `qid` included.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Without query ids, or with ids given twice; for an evaluation set
            without labels or query ids; for labels, weights, lengths and names of
            measures that break a rule above; for early stopping without an
            evaluation set.
        """
        own = GivenSet(X, y, qid, sample_weight, init_score)
        train = gather_queries(own, self.qid)
        self._check_limits(y, train.queries)
        sets = split_eval_sets(
            GivenSet(eval_X, eval_y, eval_qid, eval_sample_weight, eval_init_score)
        )
        # LightGBM knows the training data, and does not stop on it, by this name
        names = [
            "training" if one.same_rows(own) else f"valid_{number}"
            for number, one in enumerate(sets)
        ]
        shown = check_eval_names(eval_names, names)
        # the user's name for it is put into the results afterwards
        internal = [
            name if name == "training" else other
            for name, other in zip(names, shown, strict=True)
        ]
        evals = [self._gather_evaluation(one, own, train) for one in sets]
        metrics = metrics_of(eval_metric)
        theirs = self._given("metric") is not None
        self._check_stopping(names, bool(metrics) or theirs)
        callbacks = list(callbacks or [])
        if theirs and metrics:
            first = FirstMetric()
            metrics[0] = first.watch(metrics[0])
            callbacks.append(first)
        super().fit(
            train.X,
            train.y,
            sample_weight=train.weight,
            init_score=train.init_score,
            group=train.queries.sizes,
            eval_names=internal or None,
            eval_X=tuple(data.X for data in evals) or None,
            eval_y=tuple(data.y for data in evals) or None,
            eval_sample_weight=[data.weight for data in evals] or None,
            eval_init_score=[data.init_score for data in evals] or None,
            eval_group=[data.queries.sizes for data in evals] or None,
            eval_metric=metrics,
            eval_at=eval_at,
            feature_name=feature_name,
            categorical_feature=without_qid(categorical_feature, X, self.qid),
            callbacks=callbacks or None,
            init_model=init_model,
        )
        if "training" in set(names) - set(shown):
            other = shown[names.index("training")]
            for results in (self.evals_result_, self.best_score_):
                if "training" in results:
                    results[other] = results.pop("training")
        self._columns_ = columns_of(train.X)
        self._fitted_queries_ = FittedQueries.of(train.X, train.queries)
        return self

    def _gather_evaluation(
        self, one: GivenSet, own: GivenSet, train: QueryData
    ) -> QueryData:
        """An evaluation set; the very training data where values are theirs too."""
        plain = one.weight is one.init_score is own.weight is self.class_weight is None
        if plain and one.same_rows(own):
            return train
        data = gather_queries(one, self.qid, evaluation=True)
        check_columns(data.X, columns_of(train.X), "eval_X")
        return data

    @wraps(lightgbm.LGBMRanker.predict, assigned=())
    def predict(self, X: Any, *args: Any, **options: Any) -> Any:
        """Scores of the rows of X, in their order.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Of shape (n_rows, n_features). A frame may have the qid column or not;
            an array has it if it has a column more than there are features.
        raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, \
validate_features, **kwargs
            As in LightGBM.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            With `pred_leaf` of shape (n_rows, n_trees), with `pred_contrib` of shape
            (n_rows, n_features + 1).

        Raises
        ------
        ValueError
            For a data frame with other columns than that of `fit`, or in another
            order.
        """
        return super().predict(self._features(X), *args, **options)

    def score(self, X: Any, y: ArrayLike, *, qid: Any = None) -> float:
        """Exact NDCG@10 of the ranking of X: what searches without `scoring` take.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0.
        qid : array-like of shape (n_rows,)
            Query of each row, unless a column of X holds it.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            As for `make_ranking_scorer`.
        """
        column = self.qid if self._has_qid(X) else None
        scorer = make_ranking_scorer("ndcg@10", qid=column)
        return scorer(self, X, y, qid=qid)

    def _has_qid(self, X: Any) -> bool:
        """Whether X still has the column of query ids."""
        if self.qid is None:
            return False
        if hasattr(X, "columns"):
            return self.qid in list_columns(X)
        shape = np.shape(X) if not hasattr(X, "shape") else X.shape
        return len(shape) != 2 or shape[1] != self.n_features_in_

    def _features(self, X: Any) -> Any:
        """X as it was fitted on, without the qid column."""
        if not self.__sklearn_is_fitted__():
            return X
        X = without_mask(X if hasattr(X, "shape") else np.asarray(X))
        if self.qid is not None and self._has_qid(X):
            X = split_qid_column(X, self.qid)[0]
        if len(X.shape) == 2:
            check_columns(X, self._columns_)
        return X

    def _given(self, parameter: str) -> Any:
        """A parameter of LightGBM by any of its names, aliases before its own."""
        params = self.get_params()
        given = (params.get(name) for name in _NAMES[parameter])
        return next((value for value in given if value is not None), None)

    def _check_stopping(self, evals: list[str], measured: bool) -> None:
        rounds = self._given("early_stopping_round")
        if not isinstance(rounds, (int, np.integer)) or rounds <= 0:
            return
        if not set(evals) - {"training"}:
            raise ValueError(
                "early_stopping_rounds needs an evaluation set, got none but the "
                "training data: pass eval_X, eval_y and eval_qid to fit"
            )
        if not measured:
            raise ValueError(
                "early_stopping_rounds needs a metric, got none: give eval_metric to "
                "fit or metric to the constructor"
            )

    def _check_limits(self, y: ArrayLike, queries: Queries) -> None:
        """What LightGBM's ranking objectives refuse, in plain words."""
        objective = self._given("objective") or "lambdarank"
        if objective not in _RANKING:
            return
        advice = 'objective="regression" has no such limit'
        largest = int(np.argmax(queries.sizes))
        if queries.sizes[largest] > MAX_QUERY_ROWS:
            raise ValueError(
                f"qid must have at most {MAX_QUERY_ROWS} rows in a query for "
                f"LightGBM's {objective}, got {queries.sizes[largest]} in query "
                f"{queries.name(largest)} ({advice})"
            )
        if objective != "lambdarank":
            return
        labels = check_labels(y, name="y")
        rule = f"be integers for LightGBM's {objective} ({advice})"
        reject(labels != np.floor(labels), labels, "y", rule)
        gains = self._given("label_gain")
        n_gains = DEFAULT_LABEL_GAINS
        if gains is not None:
            n_gains = len(gains.split(",") if isinstance(gains, str) else gains)
        rule = (
            f"be below {n_gains} for LightGBM's {objective} (label_gain= takes one "
            f"gain for each label from 0 on; {advice})"
        )
        reject(labels >= n_gains, labels, "y", rule)

    def _process_params(self, stage: str) -> dict[str, Any]:
        params: dict[str, Any] = super()._process_params(stage)
        params.pop("qid", None)
        if stage == "fit":
            params.setdefault("first_metric_only", True)
            if self._given("metric") is None:
                params["metric"] = "None"
            for name in _NAMES["early_stopping_round"]:
                if isinstance(params.get(name), np.integer):
                    params[name] = int(params[name])
        return params
