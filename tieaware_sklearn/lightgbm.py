"""LightGBM with query ids, and metrics that do not depend on the order of rows.

LightGBM breaks ties by the order of rows. The first trees tie many documents. If the
validation rows are sorted by label, the first tree can thus look perfect, and early
stopping may keep only that tree. The metrics of this module are exact under ties, so
such a tree does not look perfect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from . import _optional
from ._engine import checks, messages
from ._typing import Array, FloatArray
from .measures import Measure
from .measures._cumulated_gain import normalise_gain
from .rankers import _booster_metric, _query_ranker

lightgbm = _optional.import_optional("lightgbm")

__all__ = ["QueryLGBMRanker", "eval_metric", "feval"]

#: LightGBM's aliases of each parameter, in the order in which LightGBM prefers them.
_OBJECTIVE = ["app", "application", "loss", "objective_type", "objective"]
_METRIC = ["metric_types", "metrics", "metric"]
_STOPPING = [
    "early_stopping",
    "early_stopping_rounds",
    "n_iter_no_change",
    "early_stopping_round",
]
_CATEGORICAL = [
    "cat_feature",
    "categorical_column",
    "cat_column",
    "categorical_features",
    "categorical_feature",
]
#: Maximum number of rows of a query in LightGBM's ranking objectives.
MAX_QUERY_ROWS = 10_000
#: Number of default gains of LightGBM's ranking objectives: 2^label - 1 for labels 0 to
#: 30.
DEFAULT_LABEL_GAINS = 31
_RANKING_OBJECTIVES = {
    "lambdarank",
    "rank_xendcg",
    "xendcg",
    "xe_ndcg",
    "xe_ndcg_mart",
    "xendcg_mart",
}


class _Feval(_booster_metric.BoosterMetric):
    made_by = "feval"

    def __call__(self, preds: FloatArray, eval_data: Any) -> Any:
        return self.results(
            eval_data.get_label(), eval_data.get_group(), eval_data.get_weight(), preds
        )


class _EvalMetric(_booster_metric.BoosterMetric):
    made_by = "eval_metric"

    # LightGBM passes weights and groups only to functions of four parameters.
    def __call__(
        self,
        y_true: Array,
        y_pred: FloatArray,
        weight: Array | None = None,
        group: Array | None = None,
    ) -> Any:
        return self.results(y_true, group, weight, y_pred)


def feval(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
    negate: bool = False,
) -> Callable[[FloatArray, Any], Any]:
    """Make a tie-aware metric for `lightgbm.train`, `lightgbm.cv` and Optuna's tuners.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all
        measures.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.
    negate : bool, default=False
        Whether to return the negated value, with ``neg_`` before the name. Optuna's
        `LightGBMTuner` minimises every metric that is not LightGBM's own. If higher
        values of the measure are better, pass the negated metric to the tuner, with
        ``"metric": "neg_NDCG@10"`` in the parameters of the tuner.

    Returns
    -------
    callable
        ``feval(preds, eval_data)``, where `preds` contains the predictions and
        `eval_data` is a `Dataset` with query groups. The metric returns a tuple: the
        name (``"NDCG@10"``), the value, and whether higher is better. If `measure` is a
        list, the metric returns a list of such tuples. The weights of the data set are
        weights of queries, so they must be constant within each query.

    Raises
    ------
    ValueError
        If a measure is unknown or occurs twice, or if `zero_relevance` breaks a rule
        above. In training, the metric raises the error if the data contain no query
        groups, if labels or weights break a rule of `ranking_score`, if predictions
        contain NaN, or if a measure is undefined for a query and `zero_relevance` is
        "raise".

    See Also
    --------
    eval_metric : Makes the same metric for `LGBMRanker`.
    QueryLGBMRanker : Evaluates tie-aware NDCG@10 by default.

    Notes
    -----
    Set ``"metric": "None"`` in the parameters of LightGBM. Otherwise, LightGBM also
    evaluates its own metric, which depends on the order of rows and may stop training
    early. If there are at most 16 data sets, the labels, groups and weights of each
    data set are prepared only once.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import feval
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> sizes = np.unique(web.qid, return_counts=True)[1]  # if sorted by qid
    >>> data = lgb.Dataset(web.data, web.target.astype(int), group=sizes)
    >>> params = {"objective": "lambdarank", "metric": "None", "verbosity": -1}
    >>> history = {}
    >>> booster = lgb.train(params, data, 3, valid_sets=[data], feval=feval("ndcg@10"),
    ...                     callbacks=[lgb.record_evaluation(history)])
    >>> list(history["training"])
    ['NDCG@10']
    """
    return _Feval(measure, zero_relevance, negate=negate)


def eval_metric(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
) -> Callable[..., Any]:
    """Make a tie-aware metric for ``LGBMRanker.fit(eval_metric=...)``.

    `QueryLGBMRanker` accepts the names of measures directly.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all
        measures.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.

    Returns
    -------
    callable
        ``eval_metric(y_true, y_pred, weight, group)``. The arrays `y_true`, `y_pred`
        and `weight` contain the label, the score and the weight of each row, query by
        query. `weight` may be None. Weights are weights of queries, so they must be
        constant within each query. `group` contains the number of rows of each query.
        The metric returns a tuple: the name, the value, and whether higher is better.
        If `measure` is a list, the metric returns a list of such tuples.

    Raises
    ------
    ValueError
        As in `feval`.

    See Also
    --------
    feval : Makes the same metric for `lightgbm.train`.
    QueryLGBMRanker : Evaluates tie-aware NDCG@10 by default.

    Notes
    -----
    Set ``LGBMRanker(metric="None")`` to turn off LightGBM's own metric, which depends
    on the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lightgbm import LGBMRanker
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import eval_metric
    >>> eval_metric("rr")(np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 0.5, 2.0]), None,
    ...                   np.array([2, 2]))
    ('RR', 0.625, True)
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> sizes = np.unique(web.qid, return_counts=True)[1]  # if sorted by qid
    >>> ranker = LGBMRanker(n_estimators=3, metric="None", verbosity=-1)
    >>> _ = ranker.fit(web.data, web.target, group=sizes, eval_X=web.data,
    ...                eval_y=web.target, eval_group=[sizes],
    ...                eval_metric=eval_metric(["ndcg@10", "rr"]))
    >>> list(ranker.evals_result_["training"])
    ['NDCG@10', 'RR']
    """
    return _EvalMetric(measure, zero_relevance)


def _make_metrics(eval_metric: Any, gain: Any) -> list[Any]:
    """Return callables for LightGBM. Measures that state no gain have this gain.

    Queries without a relevant document have the value 0.
    """
    if eval_metric is None:
        return []
    if isinstance(eval_metric, str) or not np.iterable(eval_metric):
        eval_metric = [eval_metric]
    entries = list(eval_metric)
    if not any(map(callable, entries)):
        # A single metric finds the ties once for all measures.
        return [_EvalMetric(entries, 0.0).with_gain(gain)]
    metrics = []
    for metric in entries:
        if not callable(metric):
            metric = _EvalMetric(metric, 0.0)
        if isinstance(metric, _booster_metric.BoosterMetric):
            metric = metric.with_gain(gain)
        metrics.append(metric)
    return metrics


class QueryLGBMRanker(_query_ranker.QueryRankerMixin, lightgbm.LGBMRanker):  # type: ignore[misc, name-defined]
    """`lightgbm.LGBMRanker` with a query id for each row, and tie-aware measures.

    Rows may be in any order. Cross-validation splits ``qid`` like ``y``, so searches,
    pipelines and `cross_validate` work. Pass ``qid`` by metadata routing, which needs
    no `set_fit_request`, or as a column of X.

    Parameters
    ----------
    boosting_type, num_leaves, max_depth, learning_rate, n_estimators, \
subsample_for_bin, objective, class_weight, min_split_gain, min_child_weight, \
min_child_samples, subsample, subsample_freq, colsample_bytree, reg_alpha, reg_lambda, \
random_state, n_jobs, importance_type
        As in `lightgbm.LGBMRanker`.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index
        for arrays), in `fit`, in the evaluation sets, and in `predict` if X still
        contains the column. The column is never a feature. By default, query ids are
        the argument ``qid`` of `fit`.
    row_order : {"canonical", "input"}, default="canonical"
        The order in which LightGBM gets the rows of X and of evaluation sets.
        ``"canonical"`` sorts queries by id, and the rows of each query by label, then
        by the columns from the first to the last. The sorted rows of each query are
        then permuted, with `random_state` as the seed. So the model does not depend on
        the order of the rows of X. ``"input"`` keeps queries in the order of their
        first appearance, and rows in the order of X. If the rows of each query are
        contiguous, LightGBM gets the rows as they are in X. Set ``row_order="input"``
        to pass ``position`` to `fit`, or to use objectives or metrics that are
        functions, because positions and functions may depend on the order of rows. The
        metrics of this module do not need ``"input"``.
    **kwargs
        Other parameters of LightGBM. Parameters with one entry per feature, such as
        ``monotone_constraints``, contain no entry for the column `qid`. Indices in
        ``categorical_feature`` count all columns of X, including `qid`. With
        ``early_stopping_rounds``, the first measure of `eval_metric` decides when to
        stop. With ``first_metric_only=False``, any measure may stop the training.
        ``metric`` adds LightGBM's own metrics, which may depend on the order of rows.
        ``label_gain`` is also the gain of measures, such as NDCG, that state no gain.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X in `fit`, including the column `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X in `fit`, including the column `qid`. The attribute
        exists only if all names are strings.
    feature_importances_ : ndarray of shape (n_columns,)
        One value per column of X, 0 for the column `qid`. LightGBM's own `n_features_`,
        `feature_name_` and plots leave out the column.
    evals_result_ : dict
        Values of each evaluation set after each tree, by canonical names of measures:
        ``evals_result_["valid_0"]["NDCG@10"]``. The names differ from the names of
        LightGBM's own metrics.
    best_iteration_ : int
        The best tree, counted from 1 as in `lightgbm.LGBMRanker`, or 0 without early
        stopping. XGBoost and CatBoost count trees from 0.
    best_score_ : dict
        Values of each evaluation set after the best tree or, without early stopping,
        after the last tree.
    booster_, objective_, n_estimators_, n_iter_, n_features_, feature_name_
        As in `lightgbm.LGBMRanker`.

    See Also
    --------
    make_ranking_scorer : Scores the ranker in searches and cross-validation.
    feval : Makes the same metrics for `lightgbm.train`.

    Notes
    -----
    Before the first tree, all scores are tied, unless ``init_score`` is passed to
    `fit`. LightGBM's gradients then depend on the order of rows, which acts as a hidden
    second seed. In our measurements (LightGBM, XGBoost and CatBoost on generated data,
    MSLR and OHSUMED), reordering rows within queries changed held-out NDCG@10 as much
    as another `random_state`. The standard deviation was 0.004 with 225 queries, and
    0.015 with 50 queries. The order of rows caused no bias: rows sorted by relevance
    did not give better models. In 20 trials that appended columns of noise, the
    standard deviation was 0.0145 in the canonical order, and 0.0150 with
    ``row_order="input"``.

    `fit` accepts ``qid`` in place of ``group``, and ``eval_X``, ``eval_y`` and
    ``eval_qid`` in place of ``eval_set`` and ``eval_group``. In evaluation sets and in
    `predict`, data frames must contain the features of `fit` in the same order.

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

    _order_parameters: ClassVar = {
        **dict.fromkeys(
            [*_OBJECTIVE, *_METRIC, "eval_metric"], _query_ranker.is_function_of_rows
        ),
        "position": lambda position: position is not None,
    }

    @_query_ranker.options_of(lightgbm.LGBMRanker.__init__)
    def __init__(
        self,
        *,
        qid: str | int | None = None,
        row_order: str = "canonical",
        **options: Any,
    ) -> None:
        self.qid = qid
        self.row_order = row_order
        super().__init__(**options)

    @_query_ranker.options_of(_query_ranker.QueryRankerMixin._fit_data)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        eval_metric: Any = "ndcg@10",
        eval_at: Sequence[int] = (1, 2, 3, 4, 5),
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        position: ArrayLike | None = None,
        **options: Any,
    ) -> QueryLGBMRanker:
        """Train on whole queries.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features). Tables of polars and Arrow need LightGBM
            4.7.
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0. For the objective lambdarank, labels are integers
            below 31 (or below the number of entries of ``label_gain``).
        qid : array-like of shape (n_rows,), optional
            Query of each row. Query ids are required unless a column of X contains the
            query ids. Ids may have any hashable type. LightGBM's ranking objectives
            accept at most 10,000 rows in a query.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row, >= 0. The weights may vary within a query.
        init_score : array-like of shape (n_rows,), optional
            Scores from which boosting starts.
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
        eval_metric : str, Measure, callable or list of them, default="ndcg@10"
            Tie-aware measures, as in `parse_measure` (``"ndcg"`` has no cut-off), or
            callables in LightGBM's form, such as
            ``eval_metric("ap", zero_relevance="skip")`` of this module. Queries where a
            measure is undefined count as 0 by default. The first entry determines early
            stopping. However, if the constructor sets ``metric`` and the first entry is
            a function that is not from this module, then ``metric`` decides. With None,
            only ``metric`` is evaluated. If `eval_metric` was passed to the
            constructor, its value replaces the default of `fit`.
        eval_at : tuple of int, default=(1, 2, 3, 4, 5)
            Cut-offs of LightGBM's own ``metric="ndcg"`` and ``metric="map"``.
        feature_name : "auto" or list of str, default="auto"
            Names of the features, without the column `qid`. "auto" uses the names of
            the columns of a data frame.
        callbacks : list of callable, optional
            Functions that LightGBM calls at each iteration. Callbacks such as
            ``lightgbm.record_evaluation`` get the names of `evals_result_`, such as
            ``NDCG@10`` under ``valid_0``, but always get the name ``training`` for the
            training data.
        init_model : str, path, Booster or LGBMModel, optional
            A model from which training continues.
        categorical_feature : "auto" or list of str or int, default="auto"
            Categorical features, as in LightGBM. Indices count all columns of X,
            including `qid`. A list must not contain `qid`.
        position : array-like of int of shape (n_rows,), optional
            The position at which each document was shown, from 0 on. With positions,
            lambdarank corrects for the position bias of clicks. Positions need the
            objective lambdarank and ``row_order="input"``. Metadata routing passes
            positions after ``set_fit_request(position=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are no query ids, or if there are two sources of query ids. Also if
            there are more than 50 rows and each row is a query of its own, if an
            evaluation set has no labels or query ids, or if early stopping has no
            metric, or no evaluation set other than the training data. Also if labels,
            weights, lengths or names of measures break a rule above. Also if
            `position`, or an objective or a metric that is a function, is passed
            without ``row_order="input"``, or if `position` is passed with an objective
            other than lambdarank.
        """
        data = self._fit_data_of(X, y, options)
        train = data.train
        evals = list(data.evals.values())
        self._check_limits(train)
        categories = self._parameter(*_CATEGORICAL)
        # A text is "auto", the default of fit.
        if categories is None or not isinstance(categorical_feature, str):
            categories = categorical_feature
        # This value is the default of fit.
        if isinstance(eval_metric, str) and eval_metric == "ndcg@10":
            eval_metric = self.get_params().get("eval_metric", eval_metric)
        _query_ranker.check_order_parameters(
            self, self.row_order, eval_metric=eval_metric, position=position
        )
        metrics = _make_metrics(eval_metric, self._stated_gain)
        callbacks = list(callbacks or [])
        has_own_metric = self._parameter(*_METRIC) is not None
        data.check_stopping(
            self._parameter(*_STOPPING),
            has_own_metric or bool(metrics),
            "give eval_metric to fit, or metric to the constructor",
        )
        if has_own_metric and metrics:
            # Early stopping reads the first result, and LightGBM puts the results of
            # its own metrics first. A callback without an ``order`` runs before others.
            first = list(map(str, getattr(metrics[0], "measures", ())))

            def put_first(env: Any) -> None:
                env.evaluation_result_list.sort(
                    key=lambda result: result[1] not in first
                )

            callbacks.append(put_first)
        if position is not None:
            callbacks.append(self._position_callback(train, position))
        # LightGBM recognises the training data, on which it does not stop, by the name
        # "training". The user's name replaces this name in the results.
        internal_names = {}
        for name in data.evals:
            internal_names[name] = name if name in data.held_out else "training"
        model = lightgbm.LGBMRanker().set_params(**self._model_params())
        fit_options = {
            "eval_metric": metrics,
            "eval_at": eval_at,
            "feature_name": feature_name,
            "callbacks": callbacks,
            "init_model": init_model,
        }
        fit_options["categorical_feature"] = _query_ranker.without_qid(
            categories, X, self.qid
        )
        if evals:
            fit_options["eval_names"] = list(internal_names.values())
            fit_options["eval_sample_weight"] = [rows.weight for rows in evals]
            fit_options["eval_init_score"] = [rows.init_score for rows in evals]
            fit_options["eval_group"] = [rows.queries.sizes for rows in evals]
            if "eval_X" in signature(model.fit).parameters:
                fit_options["eval_X"] = tuple(rows.X for rows in evals)
                fit_options["eval_y"] = tuple(rows.y for rows in evals)
            else:  # LightGBM 4.6
                fit_options["eval_set"] = [(rows.X, rows.y) for rows in evals]
        model.fit(
            train.X,
            train.y,
            sample_weight=train.weight,
            init_score=train.init_score,
            group=train.queries.sizes,
            **fit_options,
        )
        for name, internal_name in internal_names.items():
            for results in (model.evals_result_, model.best_score_):
                # Without a metric, there are no results.
                if name != internal_name and internal_name in results:
                    results[name] = results.pop(internal_name)
        self._model_ = model
        return self._set_columns(data)

    @wraps(lightgbm.LGBMRanker.predict, assigned=())
    def predict(self, X: Any, *args: Any, **options: Any) -> Any:
        """Return the score of each row of X, in the order of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features). The column `qid` is optional: an array
            contains this column if the array has one column more than there are
            features.
        raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, \
validate_features, **kwargs
            As in `lightgbm.LGBMRanker`.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            Higher scores rank first. With `pred_leaf`, the result contains the indices
            of the leaves, of shape (n_rows, n_trees) and type int32. With
            `pred_contrib`, the result contains the contributions of the features
            without the column `qid`, of shape (n_rows, n_features + 1), as a sparse
            matrix if X is sparse.

        Raises
        ------
        ValueError
            If the number of features of X differs from the number in `fit`, or if the
            columns of a data frame have other names or another order than in `fit`.
        NotFittedError
            If the ranker is not fitted.
        """
        X = self._features(X)  # Raises an error if the ranker is not fitted.
        # As in LightGBM, parameters that were set after the fit apply to predictions.
        params = self._model_params()
        # LightGBM would also overwrite `objective_`, the objective of the fit.
        del params["objective"]
        return self._model_.set_params(**params).predict(X, *args, **options)

    @property
    def feature_importances_(self) -> Array:
        """One value per column of X, 0 for the column `qid`."""
        return self._per_column(self.booster_.feature_importance(self.importance_type))

    @property
    def _stated_gain(self) -> Any:
        """The table ``label_gain``, which LightGBM also reads from a text."""
        gains = self._parameter("label_gain")
        if gains is None:
            return None
        if isinstance(gains, str):
            gains = gains.split(",")
        return normalise_gain(gains, "label_gain")

    def _model_params(self) -> dict[str, Any]:
        """Return the parameters of the LGBMRanker that is trained."""
        params = self.get_params()
        for name in ("qid", "row_order", "eval_metric", *_CATEGORICAL):
            params.pop(name, None)
        params.setdefault("first_metric_only", True)
        if self._parameter(*_METRIC) is None:
            params["metric"] = "None"
        # LightGBM refuses numbers of rounds of other types than int.
        for name in _STOPPING:
            if isinstance(params.get(name), np.integer):
                params[name] = int(params[name])
        return params

    def _position_callback(
        self, train: _query_ranker.QueryData, position: ArrayLike
    ) -> Callable[[Any], None]:
        """Return a callback that passes the positions of documents to LightGBM.

        `LGBMRanker.fit` does not accept positions.
        """
        objective = self._parameter(*_OBJECTIVE) or "lambdarank"
        if objective != "lambdarank":
            # With other objectives, LightGBM ignores positions without a warning.
            raise ValueError(
                'position requires objective="lambdarank", got '
                f"objective={messages.show(objective)}"
            )
        positions = checks.check_scores(position, n_rows=len(train.y), name="position")
        is_wrong = (positions != np.floor(positions)) | (positions < 0)
        checks.reject(is_wrong, positions, "position", "be integers >= 0")
        positions = train.input_queries.arrange(positions).astype(np.int32)

        def set_positions(env: Any) -> None:
            if env.iteration == env.begin_iteration:
                env.model.train_set.set_position(positions)
                # The objective reads the positions when it is created.
                env.model.reset_parameter({"objective": objective})

        set_positions.before_iteration = True  # type: ignore[attr-defined]
        return set_positions

    def _check_limits(self, train: _query_ranker.QueryData) -> None:
        """Refuse data that LightGBM's ranking objectives do not accept."""
        objective = self._parameter(*_OBJECTIVE) or "lambdarank"
        if objective not in _RANKING_OBJECTIVES:
            return
        advice = 'or objective must be "regression"'
        queries = train.queries
        largest = int(np.argmax(queries.sizes))
        if queries.sizes[largest] > MAX_QUERY_ROWS:
            raise ValueError(
                f"qid must have at most {MAX_QUERY_ROWS} rows in a query for "
                f"LightGBM's {objective}, {advice}, got {queries.sizes[largest]} in "
                f"query {queries.name(largest)}"
            )
        if objective != "lambdarank":
            return
        labels = train.input_labels
        checks.reject(
            labels != np.floor(labels),
            labels,
            "y",
            f"be integers for LightGBM's {objective}, {advice}",
        )
        gains = self._stated_gain
        n_gains = DEFAULT_LABEL_GAINS if gains is None else len(gains)
        checks.reject(
            labels >= n_gains,
            labels,
            "y",
            f"be below {n_gains} for LightGBM's {objective}, or label_gain must "
            f"contain a gain for each label from 0 on, {advice}",
        )


def _forward(name: str) -> property:
    """Return a property that reads an attribute of the trained LGBMRanker."""
    inherited = getattr(lightgbm.LGBMRanker, name)

    def read(ranker: Any) -> Any:
        # Without a model, LightGBM raises NotFittedError.
        return inherited.fget(ranker.__dict__.get("_model_", ranker))

    return property(read, doc=inherited.__doc__)


for _name in (
    "best_iteration_",
    "best_score_",
    "booster_",
    "evals_result_",
    "feature_name_",
    "n_estimators_",
    "n_features_",
    "n_iter_",
    "objective_",
):
    setattr(QueryLGBMRanker, _name, _forward(_name))
