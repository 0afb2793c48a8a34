"""Scorers for the ``scoring`` argument of scikit-learn, with query ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
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
#: Options of a scorer that are those of `ranking_score`.
_RULES = ("ties", "average", "zero_relevance", "unjudged", "convention")
#: methods of classifiers, best first: predicted classes would tie documents
_OF_CLASSIFIERS = ("predict_proba", "decision_function")


def predicted_scores(
    estimator: Any,
    X: Any,
    response_method: str | Sequence[str] | None = None,
    method_caller: Callable[..., Any] | None = None,
    qid: Any = None,
) -> Array:
    """Predict one score per row by the first of these methods that the estimator has.

    None is the expected label of a classifier, and what others predict. The
    `method_caller` of scikit-learn predicts once for several scorers.
    """
    # scikit-learn sees a classifier inside a pipeline or search, too
    tagged = hasattr(estimator, "__sklearn_tags__")
    classifies = tagged and is_classifier(estimator)
    methods = response_method
    if methods is None:
        methods = _OF_CLASSIFIERS if classifies else "predict"
    methods = [methods] if isinstance(methods, str) else methods
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        advice = ""
        if response_method is None and classifies:
            advice = (
                ' ("predict" ranks by the class, where all documents of a class tie)'
            )
        raise AttributeError(
            f"{type(estimator).__name__} has no {' or '.join(methods)}: "
            f"response_method must name a method of the estimator{advice}"
        )
    with_qid = None if qid is None else _method_with_qid(estimator, method)
    # scikit-learn's way to call a method reads tags, refuses a single class, and has
    # probabilities of classifiers only
    plain = classifies and len(getattr(estimator, "classes_", ())) > 1
    plain = tagged and (method == "predict" or plain)
    if with_qid is not None:
        response = with_qid(X, qid=qid)
    elif method_caller is not None and plain:
        response = method_caller(estimator, method, X, pos_label=None)
    else:
        response = getattr(estimator, method)(X)
    name = f"{method} of {type(estimator).__name__}"
    response = exact_numbers.as_array(response, name)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    if response.ndim == 2 and method == "predict_proba":
        if classifies and response.shape[1] == 2:
            response = response[:, 1]  # probability of the greater label
        else:
            # Σ probability x class (Li, Burges and Wu 2007)
            classes = getattr(estimator, "classes_", None)
            labels = np.asarray(classes)
            if labels.dtype.kind not in "biuf":
                raise ValueError(
                    "classes_ of the estimator must be numbers, so that predict_proba "
                    f"gives an expected label, got {messages.show(classes)}"
                )
            # not BLAS: it gives equal rows sums that differ in their last bit
            response = np.einsum("ij,j->i", response, labels.astype(float))
    elif response.ndim == 2:
        raise ValueError(
            f"{name} must give one score per row, got shape {response.shape}. With "
            "more than two classes, rank by predict_proba, of the expected label "
            '(CalibratedClassifierCV adds it) or response_method="predict", where all '
            "documents of a class tie"
        )
    return checks.check_scores(response, n_rows=feature_matrix.count_rows(X), name=name)


def score_taken_apart(
    y_true: ArrayLike, y_score: ArrayLike, *, qid: Any = None, **options: Any
) -> Any:
    """Compute a score for tools that call a scorer's function, not the scorer.

    `TunedThresholdClassifierCV` does so with all rows, and with no column of X.
    """
    way = (
        "Metadata routing brings it: a column of X does not reach those who call it "
        "with labels and scores, as TunedThresholdClassifierCV does"
    )
    feature_matrix.need_qid(qid, "the function of the scorer", "", way=way)
    return ranking_score(y_true, y_score, qid=qid, **options)


def _method_with_qid(estimator: Any, method: str) -> Callable[..., Any] | None:
    """Find a method that takes `qid`, as that of `CoarseRanker` does, if any.

    The method may belong to the last step of a pipeline, or to the best estimator of a
    search, which predicts without qid.
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

    def transform_and_call(X: Any, *, qid: Any) -> Any:
        for transformer in transformers:
            if transformer not in (None, "passthrough"):
                X = transformer.transform(X)
        return getattr(estimator, method)(X, qid=qid)

    return transform_and_call


def _takes_qid(estimator: Any, method: str) -> bool:
    """Return whether a method takes query ids, and reads them from no column of X."""
    # TransformedTargetRegressor passes arguments on to its regressor
    ranker = getattr(estimator, "regressor_", estimator)
    try:
        parameters = signature(getattr(ranker, method)).parameters
    except (AttributeError, TypeError, ValueError):
        return False  # no such method, or one that is not written in Python
    return "qid" in parameters and getattr(ranker, "qid", None) is None


def check_response_method(response_method: Any) -> str | tuple[str, ...] | None:
    """Check the methods whose values rank; None leaves them to the estimator."""
    if response_method is None:
        return None
    methods = checks.check_choices(response_method, "response_method", RESPONSE_METHODS)
    return methods[0] if isinstance(response_method, str) else tuple(methods)


def fit_rows(
    model: Any, X: Any, y: FloatArray, queries: checks.Queries, **fit_params: Any
) -> Any:
    """Fit `model` on rows that stand query by query.

    `fit` gets ``qid`` if it takes it or requests it through metadata routing, or
    ``group``, the sizes of the queries, as LightGBM's own ranker does.

    Parameters
    ----------
    model : estimator
    X : matrix of any kind
    y : ndarray of shape (n_rows,)
    queries : Queries
    **fit_params : what else `fit` gets
    """
    number = queries.codes
    qid = queries.qid[number]
    fit = partial(model.fit, X, y, **fit_params)
    takes = signature(model.fit).parameters
    if type(model).__module__.startswith("xgboost") and qid.dtype.kind not in "iu":
        qid = number  # the model takes numbers only
    if "qid" in takes:
        return fit(qid=qid)
    if "group" in takes:  # LightGBM's own ranker: sizes of queries in a row
        return fit(group=queries.sizes)
    with config_context(enable_metadata_routing=True):
        if get_routing_for_object(model).consumes("fit", ["qid"]):
            return fit(qid=qid)
    return fit()


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

    It returns the value of `ranking_score`: the mean over queries, exact under ties.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. A list gives a dict of scorers, for
        ``scoring=`` with ``refit="ndcg@10"``. scikit-learn predicts once for all of
        them. Its keys are the names as given. If lower is better, the value is negated
        and the name starts with ``neg_``.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. The estimator is given X with this
        column and must leave it out of its features, as `QueryLGBMRanker` and
        `RankingFeatureSelector` with the same `qid` do. By default query ids come as
        ``qid`` through metadata routing; there is no need to call `set_score_request`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method that gives the scores to rank by. In a list, the first method that
        the estimator has counts. By default ``predict``, and for classifiers
        ``predict_proba`` or else ``decision_function``, because predicted classes tie
        most documents. With two classes, the score is the probability or decision value
        of the greater label. With more, it is the expected label by ``predict_proba``.
    ties : {"expected", "best", "worst", "input"}, default="expected"
        As in `ranking_score`.
    average : {"macro", "geometric", "median", "micro"}, default="macro"
        How to average over queries, as in `ranking_score`.
    zero_relevance, unjudged, convention
        As in `ranking_score`.

    Returns
    -------
    RankingScorer, or dict of str to RankingScorer for a list of measures
        It is called as ``scorer(estimator, X, y)`` or
        ``scorer(estimator, X, y, qid=qid, query_weight=weight)``. Weights of queries
        are routed only after ``set_score_request(query_weight=True)``.
        ``sample_weight``, which weights training documents, is never routed.

    Raises
    ------
    ValueError
        If a measure or option is unknown. The scorer raises it if there are no query
        ids or if predictions are NaN.

    Warns
    -----
    SplitQueriesWarning
        The scorer warns if a ranker of this library was fitted on the
        same ids with other numbers of rows. An integer ``cv`` causes this (see Notes).

    See Also
    --------
    QueryKFold : Folds of whole queries.
    ranking_score : The value itself, also for `sklearn.metrics.make_scorer`.

    Notes
    -----
    Use it with `QueryKFold`. An integer ``cv`` splits queries, and so do halving
    searches over ``resource="n_samples"``. The scores are then of shorter, easier
    rankings.

    scikit-learn turns an error of a scorer into NaN and a warning, unless
    ``error_score="raise"``. If one of several measures fails (``err@10`` with a label
    above 4), only its score is NaN. If the predictions or the rows cause the error, all
    scores are NaN.

    If a measure states no gain, a booster of this library (also as the last step of a
    pipeline) is scored by the gain of its parameters, such as ``label_gain``. To
    compare boosters with different gains, state one: ``NDCG(k=10, gain="linear")``.

    A name such as ``scoring="ndcg@10"`` is not accepted: scikit-learn looks names up in
    a list of its own, which other libraries cannot extend.

    A scorer sees only the test rows. `QueryLGBMRanker`, `QueryXGBRanker`,
    `QueryCatBoostRanker` and `LinearRanker` therefore keep a digest of each query id of
    `fit` and its number of rows. The scorer warns if a known id comes with another
    number of rows: most often, folds have split the queries. The check covers a ranker
    that is scored itself or is the last step of a pipeline, but no ranker inside
    voting, stacking, bagging or a search. Equal halves of a query are not noticed.
    Other data with the same ids also cause the warning: make ids unique, or silence it
    by
    ``warnings.filterwarnings("ignore", category=SplitQueriesWarning)``.

    McRank ranks by the expected label, too (Li, Burges and Wu, NIPS 2007).

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
    single = isinstance(measure, str) or not isinstance(measure, Iterable)
    given = [measure] if single else list(measure)  # type: ignore[arg-type]
    checks.check_choice(unjudged, "unjudged", checks.UNJUDGED)
    checks.check_choice(average, "average", _prepared.AVERAGES[:-1])
    measures = _parse.parse_measures(given)
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
    scorers = [
        RankingScorer(measure, str(name), options)
        for measure, name in zip(measures, given, strict=True)
    ]
    return scorers[0] if single else {scorer.key: scorer for scorer in scorers}


class RankingScorer(_BaseScorer):  # type: ignore[misc]
    """A scorer for ``scoring=``, which `make_ranking_scorer` returns.

    Call `make_ranking_scorer` to get one: the class is public for `isinstance` and type
    hints only. A scorer is called as ``scorer(estimator, X, y)`` or
    ``scorer(estimator, X, y, qid=qid, query_weight=weight)`` and returns a float.

    Attributes
    ----------
    measure : Measure
        The measure that is computed.
    key : str
        The name of the value, which starts with ``neg_`` where lower is better.
    qid : str, int or None
        The column of X that holds query ids.

    See Also
    --------
    make_ranking_scorer : Returns a scorer.

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
        rules = {key: options[key] for key in _RULES}
        super().__init__(
            score_func=score_taken_apart,
            sign=1 if measure.greater_is_better else -1,
            kwargs={"measure": measure, **rules},
            # scikit-learn takes the first method of several that an estimator has
            response_method=options["response_method"] or RESPONSE_METHODS,
        )
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
        X : array-like or data frame of shape (n_rows, n_features)
        y_true : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            As described in `make_ranking_scorer`.
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
        resolved = _resolved.resolve(
            [self.measure],
            options["zero_relevance"],
            options["unjudged"],
            options["convention"],
            gain=split_queries.stated_gain(estimator),
        )
        _, ids = feature_matrix.resolve_qid(
            X, self.qid, qid, request="set_score_request(qid=False)"
        )
        feature_matrix.need_qid(
            ids, "the scorer", ", make_ranking_scorer(..., qid=<name or index>)"
        )
        prepared = _prepared.prepare(
            y_true, ids, query_weight, X=X, unjudged=resolved.unjudged
        )
        split_queries.check_whole_queries(estimator, prepared.queries)
        response = predicted_scores(
            estimator, X, options["response_method"], method_caller, ids
        )
        scores = prepared.scores(response, "the prediction")
        (value,) = prepared.averaged(
            resolved, scores, options["ties"], options["average"]
        )
        return value if self.measure.greater_is_better else 0.0 - value

    def set_score_request(
        self, *, qid: Any = UNCHANGED, query_weight: Any = UNCHANGED
    ) -> RankingScorer:
        """Set what this scorer requests through metadata routing.

        Parameters
        ----------
        qid : bool, None or str, optional
            Whether to request query ids, or the name under which they are passed. They
            are requested from the start, unless a column of X holds them.
        query_weight : bool, None or str, optional
            Whether to request weights of queries, or the name under which they are
            passed.

        Returns
        -------
        RankingScorer
            This scorer.
        """
        request = self.get_metadata_routing()
        for parameter, alias in {"qid": qid, "query_weight": query_weight}.items():
            if alias != UNCHANGED:
                request.score.add_request(param=parameter, alias=alias)
        self._metadata_request = request
        return self

    def __repr__(self) -> str:
        usual = signature(make_ranking_scorer).parameters
        shown = [repr(self._name)]
        for name, value in self._options.items():
            if value != usual[name].default:
                shown.append(f"{name}={value!r}")
        return f"make_ranking_scorer({', '.join(shown)})"
