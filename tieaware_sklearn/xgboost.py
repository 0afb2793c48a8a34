"""XGBoost with query ids, and metrics that do not depend on the order of rows.

XGBoost breaks ties by the order of rows. The first trees tie many documents. If the
validation rows are sorted by label, the first tree can thus look perfect, and early
stopping may keep only that tree. The metrics of this module are exact under ties, so
such a tree does not look perfect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from . import _optional
from ._engine import checks, feature_matrix
from ._typing import Array, FloatArray
from .evaluation import _prepared, _resolved
from .measures import Measure
from .rankers import _booster_metric, _query_ranker

xgboost = _optional.import_optional("xgboost")

__all__ = ["QueryXGBRanker", "custom_metric"]

#: Prefix of metrics to maximise. XGBoost maximises a metric in early stopping if its
#: name starts with "pre", "map", "ndcg" or "auc".
_MAXIMISED = "precise-"
#: Parameters that XGBRanker does not have, or uses only for its own metrics.
_OURS = ("qid", "row_order", "eval_metric", "zero_relevance", "early_stopping_rounds")
#: Parameters that XGBRanker reads from a loaded model.
_LOADED = ("objective", "booster", "base_score", "feature_types", "enable_categorical")
#: Largest label for which XGBoost computes 2^label - 1.
LARGEST_LABEL = 31


class _CustomMetric(_booster_metric.BoosterMetric):
    """A custom metric of XGBoost, called with predictions and a DMatrix."""

    made_by = "custom_metric"

    @property
    def __name__(self) -> str:
        return ", ".join(self.result(measure, 0.0)[0] for measure in self.measures)

    def result(self, measure: Measure, value: float) -> tuple[str, float]:
        # XGBoost writes results as "set-name:value", and reads them back.
        name = str(measure).replace(":", "=").replace(" ", "")
        if measure.greater_is_better:
            name = _MAXIMISED + name
        return name, value

    def __call__(self, predictions: FloatArray, data: Any) -> Any:
        if not hasattr(data, "get_uint_info"):
            raise TypeError(
                "custom_metric must be called with predictions and a DMatrix, as in "
                f"xgboost.train, got {type(data).__name__}. XGBRanker passes single "
                "queries instead: use QueryXGBRanker"
            )
        starts = data.get_uint_info("group_ptr")
        sizes = np.diff(starts.astype(np.int64)) if len(starts) else None
        weight = data.get_weight()
        if not len(weight):
            weight = None
        elif sizes is not None and len(weight) == len(sizes):
            weight = np.repeat(weight, sizes)
        return self.results(data.get_label(), sizes, weight, predictions)


def custom_metric(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
) -> Callable[[FloatArray, Any], Any]:
    """Make a tie-aware metric for `xgboost.train` and `xgboost.cv`.

    `QueryXGBRanker` accepts the names of measures directly.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all
        measures. In XGBoost's early stopping, the last measure decides by default.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.

    Returns
    -------
    callable
        ``metric(predictions, data)`` for ``xgboost.train(custom_metric=...)``, where
        `data` is a `DMatrix` with query ids. The metric returns a tuple: the name and
        the value. If `measure` is a list, the metric returns a list of such tuples. The
        weights of `data`, one per query in XGBoost, are weights of queries.

    Raises
    ------
    ValueError
        If a measure is unknown or occurs twice, or if `zero_relevance` breaks a rule
        above. In training, the metric raises the error if the data contain no query
        groups, if labels or weights break a rule of `ranking_score`, if predictions
        contain NaN, or if a measure is undefined for a query and `zero_relevance` is
        "raise".
    TypeError
        In training, if `XGBRanker` calls the metric.

    See Also
    --------
    QueryXGBRanker : Evaluates tie-aware NDCG@10 by default.

    Notes
    -----
    Results are named ``precise-NDCG@10``, because XGBoost's early stopping maximises a
    metric only if the name of the metric starts with a known word, such as "pre".
    Measures whose lower values are better keep their plain names. XGBoost rounds custom
    metrics to six decimals.

    The metric does not work with `XGBRanker`, because `XGBRanker` passes only one query
    at a time to a callable.

    XGBoost's own metric is also reported, unless the parameters contain
    ``disable_default_eval_metric=1``. `xgboost.cv` never splits queries. Set ``nfold``,
    because `xgboost.cv` accepts no ``folds`` for ranking.

    Examples
    --------
    >>> import xgboost as xgb
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.xgboost import custom_metric
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> data = xgb.DMatrix(web.data, web.target, qid=web.qid)
    >>> history = {}
    >>> params = {"objective": "rank:ndcg", "disable_default_eval_metric": 1}
    >>> booster = xgb.train(params, data, 3, evals=[(data, "train")],
    ...                     custom_metric=custom_metric("ndcg@10"),
    ...                     evals_result=history, verbose_eval=False)
    >>> list(history["train"])
    ['precise-NDCG@10']
    """
    return _CustomMetric(measure, zero_relevance)


@dataclass(eq=False)
class _Evaluation(xgboost.callback.TrainingCallback):  # type: ignore[misc, name-defined]
    """A callback that adds exact measures to XGBoost's log of evaluation sets.

    The values do not pass through XGBoost's texts, which keep six decimals. The other
    callbacks, early stopping among them, run after this callback and find the values in
    the log. XGBoost 3.0 keeps its own callbacks in a set, and runs them in any order.

    Attributes
    ----------
    resolved : ResolvedMeasures
    sets : dict of str to (Prepared, DMatrix)
        Evaluation sets.
    callbacks : list of callbacks
        Callbacks that run after this callback.
    """

    resolved: _resolved.ResolvedMeasures
    sets: dict[str, tuple[_prepared.Prepared, Any]]
    callbacks: list[Any]

    def before_training(self, model: Any) -> Any:
        for callback in self.callbacks:
            model = callback.before_training(model=model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return any(
            callback.before_iteration(model, epoch, evals_log)
            for callback in self.callbacks
        )

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        for name, (prepared, matrix) in self.sets.items():
            # XGBoost caches the scores of a matrix, and adds only a new tree. Names are
            # not checked, because an evaluation set may be an array where X is a frame.
            scores = model.predict(matrix, validate_features=False)
            means = _booster_metric.mean_values(self.resolved, prepared, scores)
            history = evals_log.setdefault(name, {})
            for measure, mean in zip(self.resolved.names, means, strict=True):
                history.setdefault(measure, []).append(mean)
        return any(
            callback.after_iteration(model, epoch, evals_log)
            for callback in self.callbacks
        )

    def after_training(self, model: Any) -> Any:
        for callback in self.callbacks:
            model = callback.after_training(model=model)
        return model


class QueryXGBRanker(_query_ranker.QueryRankerMixin, xgboost.XGBRanker):  # type: ignore[misc, name-defined]
    """`xgboost.XGBRanker` with a query id for each row, and tie-aware measures.

    Rows may be in any order. Cross-validation splits ``qid`` like ``y``, so searches,
    pipelines and `cross_validate` work. Pass ``qid`` by metadata routing, which needs
    no `set_fit_request`, or as a column of X.

    Parameters
    ----------
    objective : str, default="rank:ndcg"
        As in `xgboost.XGBRanker`.
    eval_metric : str, Measure or list of them, default="ndcg@10"
        Tie-aware measures of the evaluation sets, as in `parse_measure` (``"ndcg"`` has
        no cut-off). With None, nothing is evaluated.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where a measure is undefined, such as NDCG without a relevant
        document, as in `ranking_score`. "skip" leaves these queries out, and "raise"
        raises an error.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index
        for arrays), in `fit`, in the evaluation sets, and in `predict` if X still
        contains the column. The column is never a feature. By default, query ids are
        the argument ``qid`` of `fit`.
    row_order : {"canonical", "input"}, default="canonical"
        The order in which XGBoost gets the rows of X. ``"canonical"`` sorts queries by
        id, and the rows of each query by label, then by the columns from the first to
        the last. The sorted rows of each query are then permuted, with `random_state`
        as the seed. So the model does not depend on the order of the rows of X.
        ``"input"`` keeps queries in the order of their first appearance, and rows in
        the order of X. If the rows of each query are contiguous, XGBoost gets the rows
        as they are in X. Set ``row_order="input"`` for ``lambdarank_unbiased``, because
        XGBoost then reads the order of the rows of a query as the order in which the
        documents were shown.
    **options
        Other parameters of `xgboost.XGBRanker`. Parameters with one entry per feature,
        such as ``feature_types``, contain no entry for the column `qid`. With
        ``early_stopping_rounds``, the first measure of `eval_metric` in the last
        evaluation set that is not the training data decides when to stop. With
        ``ndcg_exp_gain=False``, measures, such as NDCG, that state no gain are computed
        with linear gain.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X in `fit`, including the column `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X in `fit`, including the column `qid`. The attribute
        exists only if all names are strings.
    feature_importances_ : ndarray of shape (n_columns,)
        One value per column of X, 0 for the column `qid`.
    evals_result_ : dict
        Values of each evaluation set after each tree, by canonical names of
        measures: ``evals_result_["valid_0"]["NDCG@10"]``. Empty without an evaluation
        set.
    best_iteration : int
        The best tree, counted from 0. The attribute exists only with early stopping.
    best_score : float
        Value, after the best tree, of the measure that decides when to stop. The
        attribute exists only with early stopping.

    See Also
    --------
    QueryLGBMRanker : The ranker of LightGBM with the same conventions.
    make_ranking_scorer : Scores the ranker in searches and cross-validation.
    custom_metric : Makes the same metrics for `xgboost.train`.

    Notes
    -----
    `XGBRanker` calls a custom metric on one query at a time. In `QueryXGBRanker`, a
    callback computes the measures from all scores after each tree. XGBoost's own
    metrics, which depend on the order of rows, are not evaluated.

    As in `QueryLGBMRanker`, `fit` accepts ``eval_X``, ``eval_y`` and ``eval_qid``
    instead of ``eval_set`` and ``eval_group``, and ``init_score`` instead of
    ``base_margin``. `fit` accepts one weight per row. `XGBRanker` requires one weight
    per query, but cross-validation can split only arrays with one entry per row.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.xgboost import QueryXGBRanker
    >>> train = make_web_search(n_queries=60, random_state=0)
    >>> valid = make_web_search(n_queries=30, random_state=1)
    >>> ranker = QueryXGBRanker(early_stopping_rounds=5)
    >>> _ = ranker.fit(train.data, train.target, qid=train.qid, eval_X=valid.data,
    ...                eval_y=valid.target, eval_qid=valid.qid)
    >>> scores = ranker.predict(valid.data)
    >>> ranker.best_score == ranking_score(valid.target, scores, qid=valid.qid,
    ...                                    measure="ndcg@10")
    True
    """

    _order_parameters: ClassVar = {"lambdarank_unbiased": _query_ranker.is_switched_on}

    @_query_ranker.options_of(xgboost.XGBModel.__init__)
    def __init__(
        self,
        *,
        objective: str = "rank:ndcg",
        eval_metric: str | Measure | Iterable[str | Measure] | None = "ndcg@10",
        zero_relevance: float | str = 0.0,
        qid: str | int | None = None,
        row_order: str = "canonical",
        **options: Any,
    ) -> None:
        self.zero_relevance = zero_relevance
        self.qid = qid
        self.row_order = row_order
        # XGBRanker's constructor checks the objective. By scikit-learn's conventions,
        # fit checks parameters.
        xgboost.XGBModel.__init__(
            self, objective=objective, eval_metric=eval_metric, **options
        )

    @_query_ranker.options_of(_query_ranker.QueryRankerMixin._fit_data)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        eval_metric: Any = None,
        verbose: bool | int = False,
        init_model: Any = None,
        **options: Any,
    ) -> QueryXGBRanker:
        """Train on whole queries.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0. For ``rank:ndcg``, labels are integers up to 31,
            unless ``ndcg_exp_gain=False``. For ``rank:map``, labels are 0 or 1.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Query ids are required unless a column of X contains the
            query ids. Ids may have any hashable type.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's query: >= 0 and constant within a query.
        init_score : array-like of shape (n_rows,), optional
            Scores from which boosting starts: ``base_margin`` of `XGBRanker`.
        eval_X, eval_y, eval_qid : like X, y and qid, or tuples of them, optional
            One evaluation set, or tuples with an entry for each evaluation set. In a
            search or cross-validation, write tuples even for one set,
            ``eval_X=(X_valid,)``, because scikit-learn reduces anything with as many
            rows as X to the rows of the fold.
        eval_names : str or list of str, optional
            Names of the evaluation sets, by default ``valid_0``, ``valid_1``, ..., and
            ``training`` for a set that consists of the same objects as X, y and qid.
        eval_query_weight : array-like or tuple of array-like, optional
            Weight of each row's query in the evaluation: >= 0 and constant within a
            query.
        eval_init_score : array-like or tuple of array-like, optional
            Scores to which the predictions are added, one per row.
        eval_metric : str, Measure or list of them, optional
            Measures that replace the `eval_metric` of the constructor.
        verbose : bool or int, default=False
            Whether to print the values of the evaluation sets after each tree. With an
            int n, the values are printed after every n-th tree.
        init_model : str, Booster or XGBModel, optional
            A model from which training continues: ``xgb_model`` of `XGBRanker`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are no query ids, or if there are two sources of query ids. Also if
            there are more than 50 rows and each row is a query of its own, if an
            evaluation set has no labels or query ids, or if early stopping has no
            measure, or no evaluation set other than the training data. Also if labels,
            weights, lengths or names of measures break a rule above. Also if
            ``lambdarank_unbiased`` is set without ``row_order="input"``, or if a
            feature is named "qid".
        """
        data = self._fit_data_of(X, y, options)
        train = data.train
        self._check_limits(train)
        resolved = self._resolved_metric(eval_metric)
        data.check_stopping(self.early_stopping_rounds, resolved is not None)
        params = self._model_params()
        if resolved is not None and data.evals:
            # The options of the matrix are the same as in `XGBRanker.predict`.
            matrix_options = {
                "missing": self.missing,
                "nthread": self.n_jobs,
                "feature_types": self.feature_types,
                "enable_categorical": self.enable_categorical,
            }
            sets = {}
            for name, rows in data.evals.items():
                matrix = xgboost.DMatrix(
                    rows.X, base_margin=rows.init_score, **matrix_options
                )
                sets[name] = (rows.prepared(), matrix)
            callbacks = list(self.callbacks or [])
            if verbose:
                monitor = xgboost.callback.EvaluationMonitor(period=int(verbose))
                callbacks.insert(0, monitor)
            if self.early_stopping_rounds:
                is_maximised = resolved.measures[0].greater_is_better
                stopping = xgboost.callback.EarlyStopping(
                    rounds=self.early_stopping_rounds,
                    metric_name=resolved.names[0],
                    data_name=data.held_out[-1],
                    maximize=is_maximised,
                )
                callbacks.append(stopping)
            params["callbacks"] = [_Evaluation(resolved, sets, callbacks)]
        query_weight = checks.check_query_weight(
            train.weight, train.queries, name="sample_weight"
        )
        model = xgboost.XGBRanker(**params)
        model.fit(
            train.X,
            train.y,
            group=train.queries.sizes,
            sample_weight=query_weight,
            base_margin=train.init_score,
            xgb_model=init_model,
            verbose=False,  # XGBoost 3.4 would print the measures of the callback.
        )
        # Our callback contains the evaluation sets, which must not stay in the model.
        model.callbacks = self.callbacks
        self._model_ = model
        return self._set_columns(data)

    @wraps(xgboost.XGBRanker.predict, assigned=())
    def predict(self, X: Any, **options: Any) -> NDArray[np.float32]:
        """Return the score of each row of X, in the order of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features). The column `qid` is optional: an array
            contains this column if the array has one column more than there are
            features.
        output_margin, validate_features, base_margin, iteration_range
            As in `xgboost.XGBRanker`.

        Returns
        -------
        ndarray of shape (n_rows,), float32
            Higher scores rank first.

        Raises
        ------
        ValueError
            If the number of features of X differs from the number in `fit`, or if the
            columns of a data frame have other names or another order than in `fit`.
        NotFittedError
            If the ranker is not fitted.
        """
        return super().predict(self._features(X), **options)

    @wraps(xgboost.XGBRanker.apply, assigned=())
    def apply(self, X: Any, iteration_range: Any = None) -> NDArray[np.float32]:
        """Return the index of the leaf of each row of X in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            As in `predict`.
        iteration_range : tuple of two int, optional
            The first boosting round to use, and the round after the last round to use.
            By default, all rounds are used or, with early stopping, the rounds up to
            the best round.

        Returns
        -------
        ndarray of shape (n_rows, n_trees) or (n_rows,), float32
            Index of the leaf of each row in each tree. The array has one dimension if
            there is a single tree.

        Raises
        ------
        ValueError
            As in `predict`.
        NotFittedError
            If the ranker is not fitted.
        """
        return super().apply(self._features(X), iteration_range)

    def get_booster(self) -> Any:
        """Return the trained `xgboost.Booster`.

        Returns
        -------
        Booster

        Raises
        ------
        NotFittedError
            If the ranker is not fitted.
        """
        check_is_fitted(self)
        return self._model_.get_booster()

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of the booster.

        Returns
        -------
        dict
            Parameters that are passed to `xgboost.train`.
        """
        return xgboost.XGBRanker(**self._model_params()).get_xgb_params()

    def load_model(self, fname: Any) -> None:
        """Load a model saved by `save_model` of this class or of `XGBRanker`.

        Parameters
        ----------
        fname : str, path-like or bytearray
            File or bytes, as in `xgboost.XGBRanker`. A saved model contains the names
            of the features, but not the name of the column of query ids. If X contains
            the column `qid`, `predict` removes the column.
        """
        model = xgboost.XGBRanker(**self._model_params())
        model.load_model(fname)
        for name in _LOADED:
            setattr(self, name, getattr(model, name))
        self._model_ = model
        # A saved model contains no column of query ids.
        self._names_ = model.get_booster().feature_names or []
        self._is_feature_ = np.ones(model.n_features_in_, dtype=bool)
        # The queries of an earlier fit are not the queries of the saved model.
        self.__dict__.pop("_fitted_queries_", None)

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Values of each evaluation set after each tree."""
        check_is_fitted(self)
        # Without evaluation sets, XGBoost sets no results.
        return getattr(self._model_, "evals_result_", {})

    @property
    def feature_importances_(self) -> Array:
        """One value per column of X, 0 for the column `qid`."""
        check_is_fitted(self)
        self._model_.importance_type = self.importance_type
        return self._per_column(self._model_.feature_importances_)

    @property
    def coef_(self) -> Array:
        """Coefficients of ``booster="gblinear"``, 0 for the column of `qid`."""
        check_is_fitted(self)
        return self._per_column(self._model_.coef_)

    @property
    def _stated_gain(self) -> str | None:
        """The gain that ``ndcg_exp_gain`` states, or None."""
        # The method get_params is avoided, because it would draw from a RandomState.
        is_exponential = getattr(self, "kwargs", {}).get("ndcg_exp_gain")
        if is_exponential is None:
            return None
        if _query_ranker.is_switched_on(is_exponential):
            return "exponential"
        return "linear"

    def _model_params(self) -> dict[str, Any]:
        """Return the parameters of the XGBRanker that is trained."""
        params = self.get_params()
        for name in _OURS:
            del params[name]
        return params

    def _check_limits(self, train: _query_ranker.QueryData) -> None:
        """Refuse data that XGBoost does not accept."""
        if self.qid is None and "qid" in feature_matrix.list_columns(train.X):
            raise ValueError(
                "X must not have a feature named 'qid', which XGBoost reads as query "
                'ids: set qid="qid" in the constructor, or rename the feature'
            )
        labels = train.input_labels
        advice = 'or objective must be "rank:pairwise"'
        if self.objective == "rank:map":
            checks.reject(
                (labels != 0) & (labels != 1),
                labels,
                "y",
                f"be 0 or 1 for XGBoost's rank:map, {advice}",
            )
        if self.objective == "rank:ndcg" and self._stated_gain != "linear":
            is_wrong = (labels != np.floor(labels)) | (labels > LARGEST_LABEL)
            checks.reject(
                is_wrong,
                labels,
                "y",
                f"be integers up to {LARGEST_LABEL} for XGBoost's rank:ndcg, or "
                f"ndcg_exp_gain must be False, {advice}",
            )
