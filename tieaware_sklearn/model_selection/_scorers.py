"""Scorers for the ``scoring`` argument of scikit-learn, with query ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.metadata_routing import (
    UNCHANGED,
    MetadataRequest,
    get_routing_for_object,
)

from .._engine import checks, exact_numbers, feature_matrix, messages, split_queries
from .._typing import Array, FloatArray
from ..evaluation import _prepared, _resolved, ranking_score
from ..measures import Measure, _parse

RESPONSE_METHODS = ("predict", "predict_proba", "decision_function")


def predicted_scores(
    estimator: Any,
    X: Any,
    response_method: str | Sequence[str] | None = None,
    method_caller: Callable[..., Any] | None = None,
    qid: Any = None,
) -> Array:
    """Return one score per row, by the first of the methods that the estimator has.

    By default, classifiers are asked for probabilities or decision values, because
    predicted classes tie documents. Other estimators are asked for predictions. The
    `method_caller` of scikit-learn predicts once for several scorers.
    """
    has_tags = hasattr(estimator, "__sklearn_tags__")
    # scikit-learn also recognises classifiers inside pipelines and searches.
    classifies = has_tags and is_classifier(estimator)
    methods = response_method
    if methods is None:
        methods = ("predict_proba", "decision_function") if classifies else "predict"
    if isinstance(methods, str):
        methods = (methods,)
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        advice = ""
        if response_method is None and classifies:
            advice = '. With "predict", documents of the same class tie'
        raise AttributeError(
            f"{type(estimator).__name__} has no {' or '.join(methods)}: "
            f"response_method must name a method of the estimator{advice}"
        )
    predict_with_qid = None
    if qid is not None:
        predict_with_qid = _method_with_qid(estimator, method)
    # The method caller reads tags, refuses a single class, and calls `predict_proba` of
    # classifiers only.
    has_several_classes = classifies and len(getattr(estimator, "classes_", ())) > 1
    suits_caller = has_tags and (method == "predict" or has_several_classes)
    if predict_with_qid is not None:
        response = predict_with_qid(X, qid)
    elif method_caller is not None and suits_caller:
        response = method_caller(estimator, method, X, pos_label=None)
    else:
        response = getattr(estimator, method)(X)
    name = f"{method} of {type(estimator).__name__}"
    response = exact_numbers.as_array(response, name)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    elif response.ndim == 2 and method != "predict_proba":
        raise ValueError(
            f"{name} must return one score per row, got shape {response.shape}. With "
            "more than two classes, rank by the expected label, which requires "
            "predict_proba, as added by CalibratedClassifierCV, or set "
            'response_method="predict", which ties all documents of a class'
        )
    elif response.ndim == 2 and response.shape[1] == 2 and classifies:
        # The second column is the probability of the greater label.
        response = response[:, 1]
    elif response.ndim == 2:
        response = _expected_labels(response, getattr(estimator, "classes_", None))
    n_rows = feature_matrix.count_rows(X)
    return checks.check_scores(response, n_rows=n_rows, name=name)


def _expected_labels(probabilities: Array, classes: Any) -> FloatArray:
    """Return Σ probability x class of each row (Li, Burges and Wu 2007)."""
    labels = np.asarray(classes)
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            "classes_ of the estimator must be numbers to compute expected labels from "
            f"predict_proba, got {messages.show(classes)}"
        )
    # With BLAS, sums of equal rows could differ in the last bit.
    return np.einsum("ij,j->i", probabilities, labels.astype(float))


def score_predictions(
    y_true: ArrayLike, y_score: ArrayLike, *, qid: Any = None, **options: Any
) -> Any:
    """Return the score for tools that call the function of a scorer, not the scorer.

    `TunedThresholdClassifierCV` calls the function with all rows, and without X.
    """
    if qid is None:
        raise ValueError(
            "qid must contain the query of each row, got None: pass qid by metadata "
            "routing. A column of X does not reach the function of the scorer, because "
            "tools such as TunedThresholdClassifierCV pass only labels and scores"
        )
    return ranking_score(y_true, y_score, qid=qid, **options)


def _method_with_qid(estimator: Any, method: str) -> Callable[..., Any] | None:
    """Return a function of X and qid if the method accepts `qid`, as in `CoarseRanker`.

    The method may belong to the last step of a pipeline, or to the best estimator of a
    search. Pipelines and searches do not pass qid themselves.
    """
    transformers: list[Any] = []
    while not _takes_qid(estimator, method):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            transformers += [step for _, step in estimator.steps[:-1]]
            estimator = estimator.steps[-1][1]
        else:
            return None

    def transform_and_call(X: Any, qid: Any) -> Any:
        for transformer in transformers:
            if transformer not in (None, "passthrough"):
                X = transformer.transform(X)
        return getattr(estimator, method)(X, qid=qid)

    return transform_and_call


def _takes_qid(estimator: Any, method: str) -> bool:
    """Return whether a method accepts query ids, and does not read them from X."""
    # TransformedTargetRegressor passes arguments to its regressor.
    ranker = getattr(estimator, "regressor_", estimator)
    try:
        parameters = signature(getattr(ranker, method)).parameters
    except (AttributeError, TypeError, ValueError):
        # The estimator lacks the method, or the method is not written in Python.
        return False
    return "qid" in parameters and getattr(ranker, "qid", None) is None


def check_response_method(response_method: Any) -> str | tuple[str, ...] | None:
    """Return the checked methods whose values rank, or None for the default."""
    if response_method is None:
        return None
    methods = checks.check_choices(response_method, "response_method", RESPONSE_METHODS)
    if isinstance(response_method, str):
        return response_method
    return tuple(methods)


def fit_rows(
    model: Any, X: Any, y: FloatArray, queries: checks.Queries, **fit_params: Any
) -> Any:
    """Fit an estimator on rows that are in the order of queries, and return it.

    `fit` gets ``qid`` if it accepts or requests ``qid``. The `fit` of LightGBM's own
    ranker gets ``group``, which contains the sizes of the queries.

    Parameters
    ----------
    model : estimator
        Estimator that is fitted in place.
    X : matrix of any kind
        Features of the rows, query by query.
    y : ndarray of shape (n_rows,)
        Labels of the rows.
    queries : Queries
        The queries of the rows.
    **fit_params : object
        Other arguments of `fit`.
    """
    codes = queries.codes
    qid = queries.qid[codes]
    if type(model).__module__.startswith("xgboost") and qid.dtype.kind not in "iu":
        # XGBoost reads query ids as integers, truncates fractions and refuses text.
        qid = codes
    parameters = signature(model.fit).parameters
    if "qid" in parameters:
        fit_params["qid"] = qid
    elif "group" in parameters:
        fit_params["group"] = queries.sizes
    else:
        with config_context(enable_metadata_routing=True):
            if get_routing_for_object(model).consumes("fit", ["qid"]):
                return model.fit(X, y, qid=qid, **fit_params)
    return model.fit(X, y, **fit_params)


class _Options(TypedDict, total=False):
    qid: str | int | None
    response_method: str | Sequence[str] | None
    ties: str
    average: str
    zero_relevance: float | str
    unjudged: str
    convention: str | None


@overload
def make_ranking_scorer(
    measure: str | Measure = ..., **options: Unpack[_Options]
) -> RankingScorer: ...
@overload
def make_ranking_scorer(
    measure: Iterable[str | Measure], **options: Unpack[_Options]
) -> dict[str, RankingScorer]: ...
def make_ranking_scorer(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    qid: str | int | None = None,
    response_method: str | Sequence[str] | None = None,
    ties: str = "expected",
    average: str = "macro",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
) -> RankingScorer | dict[str, RankingScorer]:
    """Make a scorer of rankings for `GridSearchCV`, `cross_validate` and similar tools.

    The scorer returns the value of `ranking_score` for the predictions of an estimator,
    negated if lower values are better.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. With a list, the function returns a
        dict of scorers for ``scoring=``. A search that refits then needs the key of a
        scorer, as in ``refit="ndcg@10"``. The keys of the dict are the names in the
        list, preceded by ``neg_`` if lower values are better.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index for
        arrays). A column needs no metadata routing. The estimator is given X with this
        column, and must not use the column as a feature. For example, `QueryLGBMRanker`
        and `RankingFeatureSelector` with the same `qid` leave the column out. By
        default, query ids are passed as ``qid`` through metadata routing. No call of
        `set_score_request` is needed.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method that returns the scores to rank by. If a list is given, the first
        method that the estimator has is called. By default, the method is ``predict``.
        For classifiers, the default is ``predict_proba`` or, for classifiers without
        this method, ``decision_function``, because predicted classes tie most
        documents. With two classes, the score is the probability or the decision value
        of the greater label. With more classes, the score is the expected label
        computed from ``predict_proba``, and ``decision_function`` raises an error.
    ties : {"expected", "best", "worst", "input"}, default="expected"
        Treatment of ties, as in `ranking_score`.
    average : {"macro", "geometric", "median", "micro"}, default="macro"
        How to average over queries, as in `ranking_score`.
    zero_relevance, unjudged, convention
        Values of queries where a measure is undefined, treatment of NaN labels, and
        tool whose definitions are used, as in `ranking_score`.

    Returns
    -------
    RankingScorer, or dict of str to RankingScorer for a list of measures
        A scorer is called as ``scorer(estimator, X, y)`` or
        ``scorer(estimator, X, y, qid=qid, query_weight=weight)``. Weights of queries
        are routed only after ``set_score_request(query_weight=True)``.
        ``sample_weight``, which weights training documents, is never routed to the
        scorer.

    Raises
    ------
    ValueError
        If a measure or an option is unknown, if a list contains no measure or the same
        measure twice, if ``average="micro"`` is set for a measure that is not a ratio
        of counts, or if the convention does not support a measure. When a scorer is
        called, the error is raised if there are no query ids, if query ids, labels or
        weights break a rule of `ranking_score`, if a measure is undefined for a query
        and `zero_relevance` is "raise", if predictions contain NaN, or if predictions
        have several columns from which no expected label can be computed.
    AttributeError
        When a scorer is called, if the estimator has none of the methods in
        `response_method`.

    Warns
    -----
    SplitQueriesWarning
        When a scorer is called, if a ranker of this package was fitted on a query with
        the same id, but with another number of rows. The usual cause is an integer
        ``cv`` (see Notes).
    UserWarning
        When a scorer is called, if there are several rows and each row is a query of
        its own.

    See Also
    --------
    QueryKFold : Folds of whole queries.
    ranking_score : Computes the value. `sklearn.metrics.make_scorer` also accepts this
        function.

    Notes
    -----
    Use the scorer with `QueryKFold`. An integer ``cv`` may split queries, and so may
    halving searches over ``resource="n_samples"``. The scores then describe shorter,
    easier rankings.

    scikit-learn turns an error of a scorer into NaN and a warning, unless
    ``error_score="raise"``. If only one of several measures fails, such as ``err@10``
    with a label above 4, only the score of this measure is NaN. If the predictions or
    the rows cause the error, all scores are NaN.

    If NDCG, DCG or CG states no gain, a booster of this package is scored by the gain
    in its parameters, such as ``label_gain``. This also holds if the booster is the
    last step of a pipeline. To compare boosters with different gains, state a gain:
    ``NDCG(k=10, gain="linear")``.

    A name such as ``scoring="ndcg@10"`` is not accepted, because scikit-learn looks
    names up in its own list, which other packages cannot extend.

    A scorer sees only the test rows. `QueryLGBMRanker`, `QueryXGBRanker`,
    `QueryCatBoostRanker` and `LinearRanker` therefore keep a digest of each query id
    that was passed to `fit`, and the number of rows of each query. The scorer warns if
    a known id comes with another number of rows. Most often, the reason is that folds
    have split the queries. The check covers a ranker that is scored itself or is the
    last step of a pipeline, but no ranker inside voting, stacking, bagging or a search.
    If a query is split into equal halves, the scorer does not warn. Other data with the
    same ids also cause the warning. In this case, make the ids unique, or silence the
    warning with ``warnings.filterwarnings("ignore", category=SplitQueriesWarning)``.

    McRank also ranks by the expected label (Li, Burges and Wu, NIPS 2007).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from tieaware_sklearn import QueryKFold, make_ranking_scorer
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> without_qid = make_column_transformer(("drop", [0]), remainder="passthrough")
    >>> scores = cross_val_score(make_pipeline(without_qid, LinearRegression()), X,
    ...                          web.target, cv=QueryKFold(3, qid=0),
    ...                          scoring=make_ranking_scorer("ndcg@10", qid=0))
    >>> scores.shape
    (3,)
    >>> list(make_ranking_scorer(["ndcg@10", "fallout@10"]))
    ['ndcg@10', 'neg_fallout@10']
    """
    is_single = isinstance(measure, str) or not isinstance(measure, Iterable)
    names = [measure] if is_single else list(measure)  # type: ignore[arg-type]
    checks.check_choice(unjudged, "unjudged", checks.UNJUDGED)
    # The last choice is None, which returns no single number.
    checks.check_choice(average, "average", _prepared.AVERAGES[:-1])
    measures = _parse.parse_measures(names)
    resolved = _resolved.resolve(measures, zero_relevance, unjudged, convention)
    _prepared.check_averaging(resolved, ties, average)
    options = {
        "qid": qid,
        "response_method": check_response_method(response_method),
        "ties": ties,
        "average": average,
        "zero_relevance": zero_relevance,
        "unjudged": unjudged,
        "convention": convention,
    }
    scorers = []
    for parsed, name in zip(measures, names, strict=True):
        scorers.append(RankingScorer(parsed, str(name), options))
    if is_single:
        return scorers[0]
    return {scorer.key: scorer for scorer in scorers}


class RankingScorer(_BaseScorer):  # type: ignore[misc]
    """A scorer for ``scoring=``, as returned by `make_ranking_scorer`.

    Call `make_ranking_scorer` to make a scorer. The class is public for `isinstance`
    and type hints only. A scorer is called as ``scorer(estimator, X, y)`` or
    ``scorer(estimator, X, y, qid=qid, query_weight=weight)`` and returns a float.

    Attributes
    ----------
    measure : Measure
        The measure that is computed.
    key : str
        The name of the value, which starts with ``neg_`` if lower values are better.
    qid : str, int or None
        The column of X that contains query ids, or None if ids are passed to the
        scorer.

    See Also
    --------
    make_ranking_scorer : The function that returns a scorer.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from tieaware_sklearn import make_ranking_scorer
    >>> scorer = make_ranking_scorer("rr")
    >>> X, y = [[1.0], [2.0], [3.0]], [0, 0, 1]
    >>> scorer(LinearRegression().fit(X, y), X, y, qid=["a", "a", "a"])
    1.0
    """

    def __init__(self, measure: Measure, name: str, options: dict[str, Any]) -> None:
        self.measure = measure
        self.key = name if measure.greater_is_better else f"neg_{name}"
        self._name = name
        self._options = options
        self.qid = options["qid"]
        sign = 1 if measure.greater_is_better else -1
        keywords = {**options, "measure": measure}
        del keywords["qid"], keywords["response_method"]
        # scikit-learn calls the first of the methods that an estimator has.
        methods = options["response_method"] or RESPONSE_METHODS
        super().__init__(score_predictions, sign, keywords, methods)
        self._metadata_request = MetadataRequest(owner=self)
        self.set_score_request(qid=self.qid is None, query_weight=None)

    @property
    def __name__(self) -> str:
        return self.key

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> float:
        """Score a fitted estimator's ranking of X.

        Parameters
        ----------
        estimator : object
            Fitted estimator with a method of `response_method`.
        X : array-like or data frame of shape (n_rows, n_features)
        y_true : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query id of each row. Pass no ids if a column of X contains the ids.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query in the average, as in `ranking_score`.

        Returns
        -------
        float
            The value of `ranking_score`, negated if lower values are better.

        Raises
        ------
        ValueError, AttributeError
            As in `make_ranking_scorer`.
        """
        return self._score(None, estimator, X, y_true, qid, query_weight)

    def _score(
        self,
        method_caller: Callable[..., Any] | None,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> float:
        options = self._options
        gain = split_queries.stated_gain(estimator)
        resolved = _resolved.resolve(
            [self.measure],
            options["zero_relevance"],
            options["unjudged"],
            options["convention"],
            gain,
        )
        request = "set_score_request(qid=False)"
        _, qid = feature_matrix.resolve_qid(X, self.qid, qid, request=request)
        option = "make_ranking_scorer(..., qid=<name or index>)"
        feature_matrix.need_qid(qid, "the scorer", option)
        unjudged = resolved.unjudged
        prepared = _prepared.prepare(y_true, qid, query_weight, X=X, unjudged=unjudged)
        split_queries.check_whole_queries(estimator, prepared.queries)
        methods = options["response_method"]
        response = predicted_scores(estimator, X, methods, method_caller, qid)
        scores = prepared.scores(response, "the prediction")
        ties, average = options["ties"], options["average"]
        (value,) = prepared.averaged(resolved, scores, ties, average)
        if self.measure.greater_is_better:
            return value
        # Subtraction gives 0.0, and not -0.0, if the value is 0.
        return 0.0 - value

    def set_score_request(
        self, *, qid: Any = UNCHANGED, query_weight: Any = UNCHANGED
    ) -> RankingScorer:
        """Set what this scorer requests through metadata routing.

        Parameters
        ----------
        qid : bool, None or str, optional
            Whether to request query ids, or the name under which the ids are passed. By
            default, the request stays as it is. A new scorer requests query ids unless
            a column of X contains the ids.
        query_weight : bool, None or str, optional
            Whether to request weights of queries, or the name under which the weights
            are passed. By default, the request stays as it is. A new scorer does not
            request weights.

        Returns
        -------
        RankingScorer
            This scorer.
        """
        request = self.get_metadata_routing()
        if qid != UNCHANGED:
            request.score.add_request(param="qid", alias=qid)
        if query_weight != UNCHANGED:
            request.score.add_request(param="query_weight", alias=query_weight)
        self._metadata_request = request
        return self

    def __repr__(self) -> str:
        parameters = signature(make_ranking_scorer).parameters
        arguments = [repr(self._name)]
        for name, value in self._options.items():
            if value != parameters[name].default:
                arguments.append(f"{name}={value!r}")
        return f"make_ranking_scorer({', '.join(arguments)})"
