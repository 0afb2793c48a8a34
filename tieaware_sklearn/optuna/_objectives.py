"""Objectives over queries: a scoring function, a linear score, or a ranker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array

from .._engine import (
    checks,
    exact_numbers,
    feature_matrix,
    hashing,
    messages,
    row_order,
    split_queries,
)
from .._typing import FloatArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure
from ..model_selection import _scorers, _splits
from ..rankers import LinearRanker, _linear, _query_ranker
from ._base import (
    Buckets,
    QueryObjective,
    Step,
    best_parameters,
    digest_of,
    optuna,
)

#: Approximate number of blocks in which queries are scored if trials may be pruned.
N_BLOCKS = 16
#: Numbers of weights and of trials above which CMA-ES learns more than TPE.
MANY_WEIGHTS = 20
MANY_TRIALS = 200
DEFAULT_BOUNDS = (-1.0, 1.0)


class ScoringObjective(QueryObjective):
    """Tune the parameters of a scoring function by an exact measure.

    Parameters
    ----------
    score : callable
        ``score(trial, X_block) -> y_score``. The function suggests parameters with
        ``trial.suggest_*``, and returns a score for each row of `X_block`, in the order
        of the rows. `X_block` contains the rows of whole queries, and must not be
        changed. Higher scores rank first, and -inf means that the document is not
        retrieved.
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features), which `score` gets in blocks of rows.
    y, qid, measure, zero_relevance, unjudged, query_weight, report_every, random_state
        As in `QueryObjective`.
    block_size : int, optional
        Number of queries that `score` gets at a time if trials may be pruned, rounded
        to whole buckets. By default, `score` gets about a sixteenth of all queries at a
        time. If trials cannot be pruned, `score` gets all queries at once.

    Raises
    ------
    ValueError
        As in `QueryObjective`. A trial raises the error if the number of scores is not
        the number of rows of `X_block`, or if a score is NaN or +inf. For pandas
        objects, a trial also raises the error if the scores have another index than
        `X_block`.

    See Also
    --------
    LinearScoringObjective : Tunes the weights of features.
    RankerObjective : Tunes the hyperparameters of a ranker.

    Notes
    -----
    The score of a row may depend on the rows of its own query, but not on other rows of
    the block.

    The rows of each query are contiguous in `X_block`, in the order of X. The queries
    are in the order of their ids, unless trials may be pruned.

    Examples
    --------
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import ScoringObjective
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> clicks, text = (web.feature_names.index(n) for n in ("clicks", "text_score"))
    >>> def score(trial, X):
    ...     boost = trial.suggest_float("boost", 0, 10)
    ...     return X[:, text] + boost * X[:, clicks]
    >>> objective = ScoringObjective(score, web.data, web.target, qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=20)
    >>> sorted(study.best_trial.user_attrs)
    ['best', 'n_queries', 'pruned', 'tie_std', 'tied_documents', 'worst']
    """

    @_query_ranker.options_of(QueryObjective.__init__)
    def __init__(
        self,
        score: Callable[[Any, Any], ArrayLike],
        X: Any,
        y: ArrayLike,
        *,
        block_size: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(X, y, **options)
        if block_size is not None:
            checks.check_count(block_size, "block_size")
        self._score = score
        n_queries = self._queries.n_queries
        self._bucket_queries = self._buckets(n_queries, self._seed)
        block_size = block_size or math.ceil(n_queries / N_BLOCKS)
        n_buckets = round(block_size * len(self._bucket_queries) / n_queries)
        self._buckets_per_block = max(1, n_buckets)

    def _further_digests(self) -> dict[str, str]:
        return {"score": digest_of(self._score)}

    def _steps(self, trial: Any, rng: np.random.Generator | None) -> Iterator[Step]:
        if rng is None:
            queries = np.arange(self._queries.n_queries)
            rows = np.arange(self._queries.n_rows)
            scores = self._scored(trial, rows, self._X)
            yield self._measure(queries, scores), []
            return
        numbers = rng.permutation(len(self._bucket_queries))
        for start in range(0, len(numbers), self._buckets_per_block):
            block = numbers[start : start + self._buckets_per_block].tolist()
            buckets = [self._bucket_queries[number] for number in block]
            queries = np.concatenate(buckets)
            rows = self._prepared.queries.rows(queries)
            X = feature_matrix.take_rows(self._X, rows)
            scores = self._scored(trial, rows, X)
            ends = np.cumsum([len(bucket) for bucket in buckets])
            places = np.arange(len(queries))
            parts = np.split(places, ends[:-1])
            yield self._measure(queries, scores), list(zip(block, parts, strict=True))

    def _scored(self, trial: Any, rows: IntArray, X: Any) -> Any:
        """Return checked scores of rows. Errors name rows by their index in X."""
        # The function must not change the data of the objective.
        if isinstance(X, np.ndarray):
            X = X.view()
            X.setflags(write=False)
        elif hasattr(X, "iloc") or hasattr(X, "tocsr"):
            X = X.copy()
        scores: Any = self._score(trial, X)
        name = "what score(trial, X) returns"
        have_index = hasattr(scores, "iloc") and hasattr(X, "iloc")
        if have_index and not scores.index.equals(X.index):
            raise ValueError(
                f"{name} must have the index of this X, whose rows are in the order of "
                f"query ids, got {scores.index[:3].tolist()}... for "
                f"{X.index[:3].tolist()}...: compute all scores from this X"
            )
        places = self._queries.original_rows(rows)
        return checks.check_scores(
            scores,
            n_rows=len(rows),
            name=name,
            place=lambda row: messages.in_row(places[row]),
        )


class LinearScoringObjective(ScoringObjective):
    """Tune the weights of a linear score over features by an exact measure.

    A trial suggests one weight for each feature, ``weight_<feature>``. Each transformed
    feature is first divided by its standard deviation, and the suggested weight is the
    weight of the scaled feature, so that weights are comparable. The user attribute
    ``coef`` of a trial contains the weights of the transformed features themselves. The
    score is Σ coef · transform(feature).

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Features, finite numbers.
    y, qid, measure, zero_relevance, unjudged, query_weight, report_every, random_state
        As in `QueryObjective`.
    block_size : int, optional
        Number of queries that are scored at a time if trials may be pruned, as in
        `ScoringObjective`.
    feature_names : list of str, optional
        Names of the features, by default the columns of a data frame, or ``x0``,
        ``x1``, ...
    bounds : pair of float, list of pairs or dict, default=(-1, 1)
        Smallest and largest ``weight_<feature>``, the weight of the scaled feature: one
        pair for all features, one pair for each feature, or a dict that maps feature
        names to pairs. Features that the dict leaves out get (-1, 1). ``(0, 1)``
        excludes negative weights, and ``(-1, 0)`` excludes positive weights. For
        positive weights that sum to 1, divide the tuned weights by their sum, because a
        positive factor does not change a ranking.
    coef_bounds : pair of float, list of pairs or dict, optional
        Smallest and largest entry of ``coef``, the weights of the transformed features
        themselves, in place of `bounds` and in the same form. If transforms are tuned,
        `coef_bounds` must be left out.
    transforms : str or list of str, optional
        Transform of all features, or a list with the transform of each feature:
        ``"identity"`` (the default), ``"log1p"`` or ``"rank"``, as in `LinearRanker`,
        or ``"tune"``. With ``"tune"``, the transform is a parameter of the trial,
        ``transform_<feature>``.

    Raises
    ------
    ValueError
        As in `QueryObjective`. Also if the data, a name, a bound or a transform breaks
        a rule above, or if both `bounds` and `coef_bounds` are set.

    See Also
    --------
    LinearRanker : The ranker whose weights are tuned.
    ScoringObjective : The objective for any scoring function.

    Notes
    -----
    A study from `create_study` first tries the weights that `starts` returns. By
    default, the sampler is CMA-ES for more than 20 weights or more than 200 planned
    trials, and otherwise TPE. With one weight, tuned transforms or several measures,
    the default sampler is always TPE. Pruning does not pay, because linear scores are
    cheap, and because CMA-ES learns less from the values of a part of the queries. Rows
    with equal features get equal scores, to the last bit.

    Examples
    --------
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import LinearScoringObjective
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> objective = LinearScoringObjective(web.data[:, [1, 5]], web.target, qid=web.qid,
    ...                                    feature_names=["clicks", "text_score"],
    ...                                    transforms=["log1p", "identity"])
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=20)
    >>> sorted(study.best_params)
    ['weight_clicks', 'weight_text_score']
    >>> ranker = objective.to_estimator(study)
    >>> ranker.coef_.tolist() == list(study.best_trial.user_attrs["coef"].values())
    True
    """

    @_query_ranker.options_of(QueryObjective.__init__)
    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        bounds: Any = DEFAULT_BOUNDS,
        coef_bounds: Any = None,
        transforms: str | Sequence[str] | None = None,
        block_size: int | None = None,
        **options: Any,
    ) -> None:
        feature_matrix.check_kinds(X)
        exact_numbers.check_not_masked(X, "X")
        data = check_array(X, dtype=np.float64, order="C", input_name="X")
        n_features = data.shape[1]
        names: Any = feature_names
        if names is None:
            default = [f"x{j}" for j in range(n_features)]
            names = feature_matrix.list_columns(X) or default
        texts = [] if isinstance(names, str) else list(map(str, names))
        if not len(texts) == len(set(texts)) == n_features:
            raise ValueError(
                "feature_names must have a different name for each feature "
                f"({n_features}), got {messages.show(names)}"
            )
        self.feature_names = texts
        self._bounds = _check_bounds(bounds, self.feature_names, "bounds")
        allowed = (*_linear.TRANSFORMS, "tune")
        self._transforms = _linear.check_transforms(transforms, n_features, allowed)
        if coef_bounds is not None:
            if bounds is not DEFAULT_BOUNDS:
                raise ValueError(
                    "bounds must be left out if coef_bounds is given, got "
                    f"{messages.show(bounds)}"
                )
            if "tune" in self._transforms:
                raise ValueError(
                    "coef_bounds must be left out if transforms are tuned, got "
                    f"{messages.show(coef_bounds)}"
                )
        choices = [self._transforms]
        if "tune" in self._transforms:
            # The columns of all features, once for each transform, are side by side.
            choices = [(kind,) * n_features for kind in _linear.TRANSFORMS]
        blocks = []
        for kinds in choices:
            columns = list(map(_linear.transformed, data.T, kinds))
            blocks.append(np.column_stack(columns))
        transformed = np.hstack(blocks)
        super().__init__(self._linear, transformed, y, block_size=block_size, **options)
        self._scales = np.concatenate([_linear.scales(block) for block in blocks])
        self._coef_bounds: FloatArray | None = None
        if coef_bounds is not None:
            ends = _check_bounds(coef_bounds, self.feature_names, "coef_bounds")
            self._coef_bounds = ends
            # The weight of a constant feature, whose scale is infinite, has no effect.
            self._scales[np.isinf(self._scales)] = 1.0
            self._bounds = ends * self._scales[:, None]
        self._original_X = X

    def _further_digests(self) -> dict[str, str]:
        return {
            "feature_names": digest_of(self.feature_names),
            "bounds": digest_of(self._bounds.tolist()),
            "transforms": digest_of(self._transforms),
        }

    def _linear(self, trial: Any, X: FloatArray) -> FloatArray:
        """Return the scores of a trial."""
        kinds, coef = self._suggest(trial)
        return _linear.linear_scores(X[:, self._columns(kinds)], coef)

    def _columns(self, kinds: Sequence[str]) -> Any:
        """Return the columns of the features after these transforms."""
        if "tune" not in self._transforms:
            return slice(None)
        blocks = [_linear.TRANSFORMS.index(kind) for kind in kinds]
        return np.array(blocks) * len(kinds) + np.arange(len(kinds))

    def _suggest(self, trial: Any) -> tuple[list[str], FloatArray]:
        """Return the transforms and the coefficients of a trial."""
        kinds = []
        for name, kind in zip(self.feature_names, self._transforms, strict=True):
            if kind == "tune":
                kind = trial.suggest_categorical(
                    f"transform_{name}", _linear.TRANSFORMS
                )
            kinds.append(kind)
        weights = []
        bounds = self._bounds.tolist()
        for name, (low, high) in zip(self.feature_names, bounds, strict=True):
            weights.append(trial.suggest_float(f"weight_{name}", low, high))
        scales = self._scales[self._columns(kinds)]
        coef = np.array(weights) / scales
        if self._coef_bounds is not None:
            # These bounds were multiplied by the scales, so rounding can move a
            # quotient beyond them.
            coef = coef.clip(*self._coef_bounds.T)
        by_name = dict(zip(self.feature_names, coef.tolist(), strict=True))
        trial.set_user_attr("coef", by_name)
        return kinds, coef

    def starts(self) -> list[dict[str, Any]]:
        """Return the parameters that a study begins with, the best last.

        Returns
        -------
        list of dict
            The parameters of two or three trials. In one trial, all weights are at
            their upper bounds (or at their lower bounds, if the upper bound is not
            above 0). In another trial, only the best single feature has a weight. If a
            feature has a lift, the weights of a third trial grow with the lift of each
            feature alone. If the bounds of a weight exclude 0, the weight is not 0, but
            at the nearest bound. All transforms that are tuned are "identity". The
            trials are sorted by the mean of the measure. With several measures, the
            first measure decides.
        """
        fixed = {}
        kinds = []
        for name, kind in zip(self.feature_names, self._transforms, strict=True):
            if kind == "tune":
                kind = "identity"
                fixed[f"transform_{name}"] = kind
            kinds.append(kind)
        columns = self._columns(kinds)
        X = self._X[:, columns]
        scales = self._scales[columns]
        queries = np.arange(self._queries.n_queries)
        sign = 1 if self._measures[0].greater_is_better else -1

        def value(weights: FloatArray) -> float:
            scores = _linear.linear_scores(X, weights / scales)
            measured = self._measure(queries, scores)
            return sign * self._means(measured)[0]

        low, high = self._bounds.T

        def single_values(bounds: FloatArray) -> FloatArray:
            """Return the value of each feature alone, with a bound as its weight."""
            values = np.full(len(bounds), -np.inf)
            for j, weights in enumerate(np.diag(bounds)):
                # A weight of 0 ties all documents, which is not a ranking.
                if weights.any():
                    values[j] = value(weights)
            return values

        high_values = single_values(high)
        low_values = single_values(low)
        best_values = np.maximum(low_values, high_values)
        best_bounds = np.where(high_values >= low_values, high, low)
        zeros = np.zeros(len(low))
        best = np.argmax(best_values)
        single_feature = zeros.copy()
        single_feature[best] = best_bounds[best]
        candidates = [np.where(high > 0, high, low), single_feature]
        lifts = np.maximum(best_values - value(zeros), 0)
        if lifts.any():
            candidates.append(best_bounds * lifts / lifts.max())
        # The bounds of a weight may exclude 0.
        candidates = [np.clip(weights, low, high) for weights in candidates]
        starts = []
        for weights in sorted(candidates, key=value):
            parameters: dict[str, Any] = dict(fixed)
            for name, weight in zip(self.feature_names, weights.tolist(), strict=True):
                parameters[f"weight_{name}"] = weight
            starts.append(parameters)
        return starts

    def _first_trials(self) -> list[dict[str, Any]]:
        return self.starts()

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        n_weights = len(self.feature_names)
        is_large = n_weights > MANY_WEIGHTS or (n_trials or 0) > MANY_TRIALS
        # CMA-ES needs at least two weights, numeric parameters and a single objective.
        is_numeric = n_weights > 1 and "tune" not in self._transforms
        if is_large and is_numeric and len(self._measures) == 1:
            return optuna.samplers.CmaEsSampler(seed=seed)
        return super()._sampler(seed, n_trials)

    def to_estimator(self, study: Any) -> LinearRanker:
        """Return the linear score of the best trial as a fitted estimator.

        The estimator does not need Optuna.

        Parameters
        ----------
        study : optuna.study.Study or trial
            A study of this objective, or a trial to use instead of the best trial. With
            several measures, `study` must be a trial, such as one of
            ``study.best_trials``.

        Returns
        -------
        LinearRanker
            A ranker that is fitted on the X of this objective.

        Raises
        ------
        RuntimeError
            If the study has several objectives and thus no best trial.
        ValueError
            If the study contains no complete trial.
        """
        kinds, coef = self._suggest(best_parameters(study))
        return LinearRanker(coef, transforms=kinds).fit(self._original_X)


def _check_bounds(bounds: Any, names: list[str], argument: str) -> FloatArray:
    """Return the smallest and largest weight of each feature, (n_features, 2)."""
    pairs = bounds
    if isinstance(bounds, Mapping):
        for name in bounds:
            if name not in names:
                raise ValueError(
                    f"{argument} must name features from {names}, got {name!r}"
                )
        pairs = [bounds.get(name, DEFAULT_BOUNDS) for name in names]
    try:
        ends = np.array(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.array(np.nan)
    is_ascending = False
    if ends.shape in ((2,), (len(names), 2)) and np.isfinite(ends).all():
        is_ascending = bool((ends[..., 0] < ends[..., 1]).all())
    if not is_ascending:
        raise ValueError(
            f"{argument} must be a pair of finite ascending numbers, one pair for each "
            f"of {len(names)} features, or a dict of pairs, got {messages.show(bounds)}"
        )
    return np.broadcast_to(ends, (len(names), 2))


class RankerObjective(QueryObjective):
    """Tune the hyperparameters of a ranker by cross-validation over whole queries.

    Parameters
    ----------
    estimator : estimator
        `QueryLGBMRanker`, another ranker, a regressor, a classifier or a pipeline. The
        method `fit` gets ``qid`` if the method accepts ``qid``, or requests ``qid``
        through metadata routing (as in a pipeline with
        ``XGBRanker().set_fit_request(qid=True)``). LightGBM's own ranker gets
        ``group``.
    space : dict or callable
        A dict of parameter names to Optuna distributions, such as
        ``{"num_leaves": IntDistribution(2, 64)}``. For steps of pipelines, names are as
        in `set_params`. A callable is a function of the trial that returns a dict of
        parameters.
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features).
    y, qid, measure, zero_relevance, unjudged, query_weight, report_every, random_state
        As in `QueryObjective`. A pruner is consulted after each fold. In training,
        documents whose label is NaN have the label 0, even if `unjudged` is "drop". A
        measure without a stated gain is computed with the gain that the parameters of
        `estimator` state, such as ``label_gain``.
    cv : int or cross-validator, default=5
        Number of folds of `QueryKFold`, or a cross-validator. The method
        ``split(X, y, groups)`` of a cross-validator gets the rows in the order of X,
        with 0 in place of NaN labels, and query ids as groups. The folds must consist
        of whole queries.
    response_method : str or list of str, optional
        Method of the estimator whose values rank the documents, such as
        ``"predict_proba"``, or a list of methods to try in order, as in
        `make_ranking_scorer`.
    row_order : {"canonical", "input"}, default="canonical"
        The order of rows in `fit`. ``"canonical"`` depends only on the contents of the
        rows. ``"input"`` keeps the order of X, with the rows of each query together,
        for estimators whose parameters give the order of rows a meaning, such as
        ``lambdarank_unbiased``. With ``"input"``, `XGBRanker` needs rows that are
        sorted by query id. Only the rankers of this package are checked for parameters
        of this kind.
    fit_params : dict, optional
        Further arguments of `fit`, without values per row. The objective itself passes
        ``qid`` or ``group``, so `fit_params` must not contain either.

    Raises
    ------
    ValueError
        As in `QueryObjective`. Also if `space`, `cv` or `row_order` breaks a rule
        above, or if the estimator is a `CatBoostRanker` (use `QueryCatBoostRanker`
        instead). A trial raises the error if a parameter of a ranker of this package
        gives the order of rows a meaning, and `row_order` is not "input".

    See Also
    --------
    make_ranking_scorer : Makes scorers for the searches of scikit-learn.
    QueryKFold : Makes the folds.

    Notes
    -----
    The fit of a ranker may depend on the order of rows. By default, `fit` gets the
    queries in the order of their ids, and the rows of each query in an order that
    depends only on the contents of the rows. So the order of the rows of X does not
    matter. XGBoost's and LightGBM's own rankers, and rankers of this package with
    ``row_order="input"``, are trained on rows in this order. A ranker of this package
    with ``row_order="canonical"`` first permutes the rows by its own `random_state`.

    Except on the smallest data, pruning pays: set ``create_study(prune=True)`` (see
    `QueryObjective`).

    Examples
    --------
    >>> import optuna
    >>> from optuna.distributions import IntDistribution
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import QueryLGBMRanker
    >>> from tieaware_sklearn.optuna import RankerObjective
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> objective = RankerObjective(QueryLGBMRanker(n_estimators=5, verbosity=-1),
    ...                             {"num_leaves": IntDistribution(2, 16)},
    ...                             web.data, web.target, qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=3)
    >>> objective.best_estimator(study).n_features_in_
    12
    """

    @_query_ranker.options_of(QueryObjective.__init__)
    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]],
        X: Any,
        y: ArrayLike,
        *,
        cv: Any = 5,
        response_method: str | Sequence[str] | None = None,
        row_order: str = "canonical",
        fit_params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        checks.check_choice(row_order, "row_order", ("canonical", "input"))
        self._row_order = row_order
        parts = [estimator]
        if hasattr(estimator, "get_params"):
            parts.extend(estimator.get_params().values())
        for part in parts:
            if type(part).__name__ == "CatBoostRanker":
                raise ValueError(
                    "estimator must accept qid in fit, got CatBoostRanker: use "
                    "tieaware_sklearn.catboost.QueryCatBoostRanker"
                )
        self.estimator = estimator
        super().__init__(X, y, **options)
        self.space = space
        if not callable(space):
            self.space = _check_distributions(space)
        self._response_method = _scorers.check_response_method(response_method)
        self._fit_params = dict(fit_params or {})
        # The labels of unjudged documents are negative.
        self._y = np.maximum(self._prepared.labels, 0)
        queries = self._queries
        # The cross-validator gets the rows in the order of X.
        rows = queries.arrange(np.arange(queries.n_rows))
        place = np.argsort(rows)
        codes = queries.codes[place]
        folds = _splits.query_folds(cv, X, self._y[place], codes, queries.qid)
        #: Training queries, test queries and buckets of test queries of each fold.
        self._folds: list[tuple[IntArray, IntArray, Buckets]] = []
        self._bucket_queries = []
        for fold, (train, test) in enumerate(folds):
            places = self._buckets(len(test), self._seed + fold, len(folds))
            buckets = list(enumerate(places, start=len(self._bucket_queries)))
            self._folds.append((train, test, buckets))
            self._bucket_queries.extend(test[bucket] for bucket in places)

    def _resolve(
        self, measures: Sequence[Measure], zero_relevance: float | str, unjudged: str
    ) -> _resolved.ResolvedMeasures:
        gain = split_queries.stated_gain(self.estimator)
        return _resolved.resolve(measures, zero_relevance, unjudged, gain=gain)

    def _further_digests(self) -> dict[str, str]:
        order = None
        if self._row_order == "input":
            order = hashing.row_digests(self._X)
        estimator = clone(self.estimator)
        if not callable(self.space):
            # The trials set the parameters of the space, so the values of these
            # parameters in the estimator must not change the digest.
            estimator.set_params(**dict.fromkeys(self.space))
        folds = [(train, test) for train, test, _ in self._folds]
        digests = {}
        digests["estimator"] = digest_of(estimator)
        digests["fit_params"] = digest_of(self._fit_params)
        digests["response_method"] = digest_of(self._response_method)
        digests["space"] = digest_of(self.space)
        digests["folds"] = digest_of(folds)
        digests["row_order"] = digest_of(order)
        return digests

    def _sort_rows(self, X: Any, prepared: _prepared.Prepared) -> checks.Queries:
        if self._row_order == "input":
            return prepared.queries
        return row_order.by_content(X, prepared.queries, prepared.labels)

    def _steps(self, trial: Any, rng: np.random.Generator | None) -> Iterator[Step]:
        model = self._model(self._suggest(trial))
        queries = self._prepared.queries
        order = np.arange(len(self._folds))
        if rng is not None:
            order = rng.permutation(order)
        for fold in order:
            train, test, buckets = self._folds[fold]
            rows = queries.rows(train)
            X = feature_matrix.take_rows(self._X, rows)
            y = self._y[rows]
            fitted = _scorers.fit_rows(
                clone(model), X, y, queries.subset(train), **self._fit_params
            )
            rows = queries.rows(test)
            X = feature_matrix.take_rows(self._X, rows)
            qid = queries.qid[queries.codes[rows]]
            method = self._response_method
            scores = _scorers.predicted_scores(fitted, X, method, qid=qid)
            yield self._measure(test, scores), buckets

    def _model(self, parameters: dict[str, Any]) -> Any:
        """Return an unfitted estimator with parameters that suit the order of rows."""
        model = clone(self.estimator).set_params(**parameters)
        for part in [model, *model.get_params().values()]:
            if isinstance(part, _query_ranker.QueryRankerMixin):
                _query_ranker.check_order_parameters(part, self._row_order)
        return model

    def _suggest(self, trial: Any) -> dict[str, Any]:
        """Return the parameters of a trial."""
        if callable(self.space):
            return dict(self.space(trial))
        suggested = {}
        for name, distribution in self.space.items():
            # The fields of a distribution are the arguments of the suggest method, such
            # as suggest_int for an IntDistribution.
            kind = type(distribution).__name__.removesuffix("Distribution").lower()
            suggest = getattr(trial, f"suggest_{kind}")
            suggested[name] = suggest(name, **vars(distribution))
        return suggested

    def best_estimator(self, study: Any) -> Any:
        """Return the estimator with the best parameters, fitted on all rows.

        Parameters
        ----------
        study : optuna.study.Study or trial
            A study of this objective, or a trial to use instead of the best trial. With
            several measures, `study` must be a trial, such as one of
            ``study.best_trials``.

        Returns
        -------
        estimator
            A fitted copy of the estimator.

        Raises
        ------
        RuntimeError
            If the study has several objectives and thus no best trial.
        ValueError
            If the study contains no complete trial.
        """
        model = self._model(self._suggest(best_parameters(study)))
        queries = self._prepared.queries
        return _scorers.fit_rows(model, self._X, self._y, queries, **self._fit_params)


def _check_distributions(space: Any) -> dict[str, Any]:
    """Return a copy of the checked space."""
    if not isinstance(space, Mapping) or not space:
        raise ValueError(
            "space must be a non-empty dict of Optuna distributions or a function of "
            f"the trial, got {messages.show(space)}"
        )
    for name, distribution in space.items():
        if not isinstance(distribution, optuna.distributions.BaseDistribution):
            raise ValueError(
                f"space[{name!r}] must be an Optuna distribution, got "
                f"{messages.show(distribution)}"
            )
    return dict(space)
