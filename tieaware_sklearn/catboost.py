"""CatBoost with query ids, and metrics that do not depend on the order of rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, safely_cast_index_arrays
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _optional
from ._engine import segments
from ._typing import Array, FloatArray
from .evaluation import _prepared, _resolved
from .measures import Measure, parse_measure
from .rankers import _booster_metric, _query_ranker

catboost = _optional.import_optional("catboost")

__all__ = ["QueryCatBoostRanker", "eval_metric"]

#: Parameters that CatBoostRanker does not have, or that have another meaning there.
_OURS = ("qid", "row_order", "eval_metric", "zero_relevance")
#: Parameters that list columns of X.
_COLUMN_LISTS = ("cat_features", "text_features", "embedding_features")


def _key(labels: ArrayLike) -> bytes:
    """Return the bytes of labels in 32 bits, by which a data set is recognised."""
    # Adding 0 turns -0 into 0, because the bytes of -0 and 0 differ.
    return (np.asarray(labels, dtype=np.float32) + np.float32(0)).tobytes()


class ExactMeasure:
    """A custom metric of CatBoost, which is called with labels but without queries.

    CatBoost passes all rows of a data set at once. The rows of an evaluation set are in
    the order of its pool. The rows of the training data are in an order that CatBoost
    chooses.
    """

    #: This attribute stops CatBoost's warning that numba cannot compile the metric.
    no_jit = True

    def __new__(cls, resolved: _resolved.ResolvedMeasures, *_: Any) -> Self:
        # CatBoost and its callbacks show a metric by the name of its class.
        return object.__new__(type(resolved.names[0], (cls,), {}))

    def __init__(
        self, resolved: _resolved.ResolvedMeasures, sets: Iterable[_prepared.Prepared]
    ) -> None:
        self.resolved = resolved
        #: Data sets by the key of their labels, or by this key and their weights.
        self.sets: dict[Any, _prepared.Prepared] = {}
        for prepared in sets:
            known = self.sets.setdefault(_key(prepared.labels), prepared)
            offsets, weight = prepared.queries.offsets, prepared.weight
            has_same_queries = np.array_equal(offsets, known.queries.offsets)
            has_same_weights = np.array_equal(weight, known.weight)  # type: ignore[arg-type]
            if not (has_same_queries and has_same_weights):
                raise ValueError(
                    "evaluation sets with the same labels must have the same queries "
                    "and weights, because the metric recognises sets by their labels"
                )
        self._training: bytes | None = None

    def __reduce__(self) -> Any:
        arguments = (type(self).__base__, self.resolved)
        return ExactMeasure.__new__, arguments, self.__dict__

    def is_max_optimal(self) -> bool:
        """Return whether higher values are better."""
        return self.resolved.measures[0].greater_is_better

    def evaluate(
        self, approxes: Sequence[FloatArray], target: Array, weight: Any
    ) -> tuple[float, float]:
        """Return the measure of an evaluation set, or 0 for the training data.

        CatBoost requires a pair of numbers, the value and a weight. `get_final_error`
        ignores the weight.
        """
        key = _key(target)
        if key not in self.sets:
            # Training data may be in any order, but always have the same labels.
            training = _key(np.sort(target))
            if self._training not in (None, training):
                raise ValueError(
                    "pools must include every evaluation set, got a set of "
                    f"{len(target)} rows with labels of neither a pool nor the "
                    "training data"
                )
            self._training = training
            return 0.0, 1.0
        prepared = self.sets[key]
        # Our rankers have already prepared the weights, in 64 bits.
        if weight is not None and prepared.weight is None:
            weight = np.array(weight)
            weighted_key = (key, weight.tobytes())
            if weighted_key not in self.sets:
                self.sets[weighted_key] = _booster_metric.prepare_set(
                    prepared.labels, prepared.queries, weight
                )
            prepared = self.sets[weighted_key]
        values = _booster_metric.mean_values(self.resolved, prepared, approxes[0])
        self._record(key, values)
        # CatBoost cannot write NaN, which is the mean over no query.
        return float(np.nan_to_num(values[0])), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value that `evaluate` computed."""
        return error

    def _record(self, key: bytes, values: list[float]) -> None:
        """Do nothing. `RecordedMeasures` records the values of a data set."""

    def __deepcopy__(self, memo: Any) -> ExactMeasure:
        # CatBoost copies the metric each time it trains. The copy forgets the labels of
        # earlier training data. Weighted sets are made again when they are needed.
        unweighted = [self.sets[key] for key in self.sets if isinstance(key, bytes)]
        return ExactMeasure(self.resolved, unweighted)

    def __repr__(self) -> str:
        names = ", ".join(self.resolved.names)
        return f"eval_metric({names})"


class RecordedMeasures(ExactMeasure):
    """Exact measures, recorded tree by tree: a metric and a callback of CatBoost.

    Parameters
    ----------
    resolved : ResolvedMeasures
    sets : dict of str to Prepared
        Evaluation sets, by name.

    Attributes
    ----------
    history : dict
        One value per tree, by evaluation set and measure:
        ``history["valid_0"]["NDCG@10"]``.
    after_tree : list of dict
        Values of all measures, by evaluation set, after each tree.
    """

    def __init__(
        self, resolved: _resolved.ResolvedMeasures, sets: dict[str, _prepared.Prepared]
    ) -> None:
        super().__init__(resolved, sets.values())
        self.history: dict[str, dict[str, list[float]]] = {}
        self.after_tree: list[dict[str, list[float]]] = []
        self._keys = {}
        for name, prepared in sets.items():
            self.history[name] = {measure: [] for measure in resolved.names}
            self._keys[name] = _key(prepared.labels)
        self._values: dict[bytes, list[list[float]]] = defaultdict(list)

    def after_iteration(self, info: Any) -> bool:
        """Record the values after a tree, and let the training continue."""
        values_by_set: dict[str, list[float]] = {}
        # Evaluation sets with the same labels are recorded one after another, so the
        # last values belong to the last set. Values of training data with the same
        # labels in the same order come first, and are not used. With a metric_period,
        # there are no values after some trees.
        for name, key in reversed(self._keys.items()):
            if not self._values[key]:
                continue
            values = self._values[key].pop()
            values_by_set[name] = values
            for measure, value in zip(self.resolved.names, values, strict=True):
                self.history[name][measure].append(value)
        names = _catboost_names(len(self.history))
        for name, history in zip(names, self.history.values(), strict=True):
            # CatBoost adds the first measure itself. Later callbacks see all measures.
            info.metrics.setdefault(name, {}).update(history)
        self.after_tree.append(values_by_set)
        self._values.clear()
        return True

    def _record(self, key: bytes, values: list[float]) -> None:
        self._values[key].append(values)

    def __deepcopy__(self, memo: Any) -> RecordedMeasures:
        return self  # CatBoost trains with the copy, which must record the values.


def _catboost_names(n_sets: int) -> list[str]:
    """Return CatBoost's names of the evaluation sets."""
    if n_sets == 1:
        return ["validation"]
    return [f"validation_{i}" for i in range(n_sets)]


def eval_metric(
    measure: str | Measure = "ndcg@10", *, pools: Any, zero_relevance: float | str = 0.0
) -> ExactMeasure:
    """Make a tie-aware metric for ``CatBoostRanker(eval_metric=...)``.

    `QueryCatBoostRanker` accepts the names of measures directly.

    Parameters
    ----------
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    pools : catboost.Pool or list of them
        The evaluation sets, with group ids. CatBoost passes labels and scores to a
        metric, but no groups, so the metric recognises a pool by its labels.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.

    Returns
    -------
    object
        A metric with the methods that CatBoost requires. The weights of a pool are
        weights of queries, so they must be constant within each query.

    Raises
    ------
    ValueError
        If the measure is unknown, if `zero_relevance` breaks a rule above, if a pool
        has no group ids, if labels break a rule of `ranking_score`, or if two pools
        have the same labels but different queries. Errors about weights, about
        undefined values, and about evaluation sets that are missing in `pools` are
        raised during training. CatBoost then raises its own error, whose message ends
        with the message of the metric.

    See Also
    --------
    QueryCatBoostRanker : Evaluates tie-aware NDCG@10 by default.

    Notes
    -----
    In CatBoost's results, the metric is named after its measure. The last evaluation
    set determines early stopping and the best model. The value for the training data
    (``learn``) is usually 0 and has no meaning, because CatBoost does not reveal the
    order of the training rows. The metric works only if CatBoost trains on the CPU.

    Examples
    --------
    >>> from catboost import CatBoostRanker, Pool
    >>> from tieaware_sklearn.catboost import eval_metric
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=40, random_state=0)  # rows are sorted by qid
    >>> valid = make_web_search(n_queries=20, random_state=1)
    >>> pool = Pool(valid.data, valid.target, group_id=valid.qid)
    >>> ranker = CatBoostRanker(iterations=5, eval_metric=eval_metric(pools=pool),
    ...                         verbose=False, allow_writing_files=False)
    >>> _ = ranker.fit(web.data, web.target, group_id=web.qid, eval_set=pool)
    >>> len(ranker.evals_result_["validation"]["NDCG@10"])
    5
    """
    resolved = _resolved.resolve([parse_measure(measure)], zero_relevance)
    sets = []
    for pool in pools if isinstance(pools, Iterable) else [pools]:
        ids = pool.get_group_id_hash()
        if ids is None:
            raise ValueError(
                "pools must have group ids, got a pool without them: make pools with "
                "catboost.Pool(X, y, group_id=qid)"
            )
        labels = np.asarray(pool.get_label(), np.float32)
        _, sizes = segments.runs(np.asarray(ids))
        # The sets have no weights, because a pool does not return its weights.
        sets.append(
            _booster_metric.prepare_set(labels, _booster_metric.queries_of(sizes))
        )
    return ExactMeasure(resolved, sets)


class QueryCatBoostRanker(_query_ranker.QueryRankerMixin, BaseEstimator):  # type: ignore[misc]
    """`catboost.CatBoostRanker` with a query id for each row, and tie-aware measures.

    `fit` trains a `catboost.CatBoostRanker`, which becomes the attribute `model_`. Rows
    may be in any order. Cross-validation splits ``qid`` like ``y``, so searches,
    pipelines and `cross_validate` work. Pass ``qid`` by metadata routing, which needs
    no `set_fit_request`, or as a column of X. As in scikit-learn, parameters can be
    changed after `fit`, for another `fit`.

    Parameters
    ----------
    eval_metric : str, Measure or list of them, default="ndcg@10"
        Tie-aware measures of the evaluation sets, as in `parse_measure`
        (``"ndcg"`` has no cut-off). The first measure determines early stopping and
        the best model. With None, CatBoost's own metric decides, although this metric
        may depend on the order of rows.
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
        The order in which CatBoost gets the rows of X. ``"canonical"`` sorts queries by
        id, and the rows of each query by label, then by the columns from the first to
        the last. The sorted rows of each query are then permuted, with ``random_seed``
        as the seed. So the trees do not depend on the order of the rows of X.
        ``"input"`` keeps queries in the order of their first appearance, and rows in
        the order of X. If the rows of each query are contiguous, CatBoost gets the rows
        as they are in X. Set ``row_order="input"`` for ``has_time`` and for objectives
        that are Python objects, because both may depend on the order of rows.
    **options
        Other parameters of `catboost.CatBoostRanker`, under the same names. Indices in
        ``cat_features``, ``text_features`` and ``embedding_features`` count all columns
        of X, including `qid`. In other parameters, indices count the features only.
        With ``early_stopping_rounds``, the first measure of `eval_metric` in the last
        evaluation set that is not the training data decides when to stop.
        ``custom_metric`` adds CatBoost's own metrics. The gain that ``dcg_type`` of
        YetiRank or ``type`` of another loss states (Base: linear, Exp: exponential) is
        also the gain of measures, such as NDCG, that state no gain.

    Attributes
    ----------
    model_ : catboost.CatBoostRanker
        The trained model, for explanations, plots and files.
    n_features_in_ : int
        Number of columns of X in `fit`, including the column `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X in `fit`, including the column `qid`. The attribute
        exists only if all names are strings.
    feature_importances_ : ndarray of shape (n_columns,)
        CatBoost's ``PredictionValuesChange``, 0 for the column `qid`.
    evals_result_ : dict
        Values of each evaluation set after each tree, by canonical names of
        measures: ``evals_result_["valid_0"]["NDCG@10"]``. The dict also contains the
        values of CatBoost's own metrics.
    best_iteration_ : int or None
        The best tree, counted from 0, or None without an evaluation set.
    best_score_ : dict
        Values of `eval_metric` after the best tree:
        ``best_score_["valid_0"]["NDCG@10"]``. Empty without an evaluation set or
        without `eval_metric`.

    See Also
    --------
    QueryLGBMRanker : The ranker of LightGBM with the same conventions.
    make_ranking_scorer : Scores the ranker in searches and cross-validation.
    eval_metric : Makes the same metrics for `CatBoostRanker`.

    Notes
    -----
    If an evaluation set is not the training data, the ranker keeps only the trees up to
    the best tree, as in CatBoost. Set ``use_best_model=False`` to keep all trees. Set
    ``verbose=False`` to stop CatBoost from printing its progress, and
    ``allow_writing_files=False`` to stop CatBoost from writing files into
    ``catboost_info``. Exact measures need training on the CPU. On a GPU, set
    ``eval_metric=None``. Exact measures are computed only for evaluation sets, so
    CatBoost prints 0 for ``learn``.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.catboost import QueryCatBoostRanker
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> train = make_web_search(n_queries=60, random_state=0)
    >>> valid = make_web_search(n_queries=30, random_state=1)
    >>> ranker = QueryCatBoostRanker(iterations=20, early_stopping_rounds=5,
    ...                              verbose=False, allow_writing_files=False)
    >>> _ = ranker.fit(train.data, train.target, qid=train.qid, eval_X=valid.data,
    ...                eval_y=valid.target, eval_qid=valid.qid)
    >>> best = ranker.best_score_["valid_0"]["NDCG@10"]
    >>> scores = ranker.predict(valid.data)
    >>> best == ranking_score(valid.target, scores, qid=valid.qid, measure="ndcg@10")
    True
    """

    _order_parameters: ClassVar = {
        "has_time": _query_ranker.is_switched_on,
        "loss_function": _query_ranker.is_function_of_rows,
        "objective": _query_ranker.is_function_of_rows,
    }

    @_query_ranker.options_of(catboost.CatBoostRanker.__init__)
    def __init__(
        self,
        *,
        eval_metric: str | Measure | Iterable[str | Measure] | None = "ndcg@10",
        zero_relevance: float | str = 0.0,
        qid: str | int | None = None,
        row_order: str = "canonical",
        **options: Any,
    ) -> None:
        # Binding refuses unknown options, and gives all other options their defaults.
        bound = signature(type(self)).bind(**options)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)
        self.eval_metric = eval_metric
        self.zero_relevance = zero_relevance
        self.qid = qid
        self.row_order = row_order

    @_query_ranker.options_of(_query_ranker.QueryRankerMixin._fit_data)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        eval_metric: Any = None,
        callbacks: Sequence[Any] | None = None,
        init_model: Any = None,
        **options: Any,
    ) -> QueryCatBoostRanker:
        """Train on whole queries.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Data of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Query ids are required unless a column of X contains the
            query ids. Ids may have any hashable type.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row, >= 0. If the weights are constant within every query,
            CatBoost gets the weights as ``group_weight``. Otherwise, CatBoost gets the
            weights as weights of documents, which pairwise losses ignore.
        init_score : array-like of shape (n_rows,), optional
            Scores from which boosting starts: CatBoost's ``baseline``.
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
        callbacks : list of callbacks, optional
            Objects whose method ``after_iteration`` CatBoost calls after each tree.
        init_model : str, path, CatBoost model or QueryCatBoostRanker, optional
            A model from which training continues.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are no query ids, or if there are two sources of query ids. Also if
            there are more than 50 rows and each row is a query of its own, if an
            evaluation set has no labels or query ids, or if early stopping has no
            evaluation set other than the training data. Also if labels, weights,
            lengths or names of measures break a rule above. Also if two evaluation sets
            have the same labels but different queries or weights, because a metric of
            CatBoost cannot tell such sets apart. Also if ``has_time``, or an objective
            that is an object, is set without ``row_order="input"``.
        """
        data = self._fit_data_of(X, y, options)
        resolved = self._resolved_metric(eval_metric)
        data.check_stopping(self.early_stopping_rounds)
        # CatBoost stops by the last set, which must not be the training data.
        names = sorted(data.evals, key=lambda name: name in data.held_out)
        params = {}
        for name, value in self.get_params(deep=False).items():
            if name not in _OURS and value is not None:
                params[name] = value
        column_lists = {}
        for name in _COLUMN_LISTS:
            if name in params:
                column_lists[name] = _query_ranker.without_qid(
                    params.pop(name), X, self.qid, name=name
                )
        # Training data must not decide which tree is the best.
        if not data.held_out:
            params.setdefault("use_best_model", False)
        recorded = None
        if resolved is not None and names:
            sets = {name: data.evals[name].prepared() for name in names}
            recorded = RecordedMeasures(resolved, sets)
            params["eval_metric"] = recorded
            callbacks = [recorded, *(callbacks or [])]
        eval_pools = [_make_pool(data.evals[name], column_lists) for name in names]
        model = catboost.CatBoostRanker(**params)
        model.fit(
            _make_pool(data.train, column_lists),
            eval_set=eval_pools or None,
            callbacks=callbacks or None,
            init_model=getattr(init_model, "model_", init_model),
        )
        self.model_ = model
        self._set_results(recorded, names)
        return self._set_columns(data)

    def predict(
        self, X: Any, *, ntree_start: int = 0, ntree_end: int = 0
    ) -> FloatArray:
        """Return the score of each row of X, in the order of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Data of shape (n_rows, n_features). The column `qid` is optional: an array
            contains this column if the array has one column more than there are
            features.
        ntree_start, ntree_end : int, default=0
            The first tree to use, and the tree after the last tree to use. If
            `ntree_end` is 0, all trees from `ntree_start` on are used.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            Higher scores rank first.

        Raises
        ------
        ValueError
            If the number of features of X differs from the number in `fit`, or if the
            columns of a data frame have other names or another order than in `fit`.
        NotFittedError
            If the ranker is not fitted.
        """
        X = _readable(self._features(X))
        n_threads = -1 if self.thread_count is None else self.thread_count
        return self.model_.predict(
            X, ntree_start=ntree_start, ntree_end=ntree_end, thread_count=n_threads
        )

    @property
    def feature_importances_(self) -> Array:
        """One value per column of X, 0 for the column `qid`."""
        check_is_fitted(self)
        values = self.model_.get_feature_importance(type="PredictionValuesChange")
        return self._per_column(np.asarray(values))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.nan_mode != "Forbidden"
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.non_deterministic = self.task_type == "GPU"
        return tags

    @property
    def _stated_gain(self) -> str | None:
        """The gain that the loss states by ``type`` or ``dcg_type``, or None."""
        loss = str(self._parameter("loss_function", "objective"))
        name = "dcg_type" if loss.startswith("YetiRank") else "type"
        gain_type = re.search(rf"[:;]{name}=(Base|Exp)\b", loss)
        if gain_type is None:
            return None
        return "exponential" if gain_type[1] == "Exp" else "linear"

    def _set_results(self, recorded: RecordedMeasures | None, names: list[str]) -> None:
        """Set the attributes that contain the results of CatBoost and of measures."""
        logged = self.model_.get_evals_result()
        best = self.model_.get_best_iteration()
        catboost_names = [*_catboost_names(len(names)), "learn"]
        results = {}
        for name, catboost_name in zip([*names, "learn"], catboost_names, strict=True):
            if catboost_name in logged:
                results[name] = logged[catboost_name]
        self.best_iteration_ = best
        self.best_score_: dict[str, dict[str, float]] = {}
        if recorded is not None:
            # CatBoost logs the first measure under the name of the class of the metric.
            for values in results.values():
                values.pop(type(recorded).__name__, None)
            for name, history in recorded.history.items():
                results[name] = {**history, **results[name]}
            # After each tree, the sets were recorded from the last to the first.
            for name, values in reversed(recorded.after_tree[best].items()):
                measures = zip(recorded.resolved.names, values, strict=True)
                self.best_score_[name] = dict(measures)
            recorded.sets.clear()  # A pickle must not contain the data.
        self.evals_result_ = {}
        for name, values in results.items():
            if values:
                self.evals_result_[name] = values


def _make_pool(data: _query_ranker.QueryData, column_lists: dict[str, Any]) -> Any:
    """Return a CatBoost pool of rows that are arranged query by query."""
    options = {**column_lists, "baseline": data.init_score}
    if data.weight is not None:
        varies = data.queries.varying(data.weight).any()
        name = "weight" if varies else "group_weight"
        options[name] = data.weight.astype(np.float64)
    query_numbers = segments.owners(data.queries.sizes)
    return catboost.Pool(_readable(data.X), data.y, group_id=query_numbers, **options)


def _readable(X: Any) -> Any:
    """Convert X for CatBoost, which reads sparse matrices with 32-bit indices only."""
    if not hasattr(X, "tocsr"):
        return X
    X = X.tocsr()
    indices, indptr = safely_cast_index_arrays(X, np.int32)
    return csr_matrix((X.data, indices, indptr), shape=X.shape)
