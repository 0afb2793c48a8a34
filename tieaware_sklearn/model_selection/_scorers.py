"""Scorers for the ``scoring`` argument of scikit-learn, with query ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from .._engine import (
    UNJUDGED,
    check_choice,
    check_labels,
    check_qid,
    check_query_weight,
    check_whole_queries,
    how_to_pass_qid,
    resolve_qid,
)
from ..evaluation import AVERAGES, Asked, Prepared, ask, check_averaging, ranking_score
from ..measures import Measure, parse_measures
from ._predictions import RESPONSE_METHODS, check_response_method, predicted_scores
from ._scikit_learn_scorers import BaseScorer, found_in_call


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

    Its value is that of `ranking_score`: the mean over queries, exact under ties.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. A list gives a dict of scorers that
        predict once and find ties once, for ``scoring=`` with ``refit="ndcg@10"``. Its
        keys are the names as given. Where lower is better, the value is negated and
        the name starts with ``neg_``.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. The estimator is given X with this
        column and must leave it out of its features, as `QueryLGBMRanker` and
        `RankingFeatureSelector` with the same `qid` do. By default query ids come as
        ``qid`` through metadata routing; there is no need to call `set_score_request`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method that gives the scores to rank by; of a list, the first method that
        the estimator has. By default ``predict``; for classifiers, whose predicted
        classes would tie most documents, ``predict_proba`` or, without it,
        ``decision_function``. With two classes, the score is the probability or
        decision value of the greater label; with more, it is the expected label by
        ``predict_proba``.
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
        are routed only after ``set_score_request(query_weight=True)``;
        ``sample_weight``, which weights training documents, is never routed.

    Raises
    ------
    ValueError
        If a measure or option is unknown. The scorer raises it if there are no query
        ids, and if predictions are NaN.

    Warns
    -----
    SplitQueriesWarning
        The scorer warns, once a call, if a ranker of this library was fitted on the
        same ids with other numbers of rows, as happens with an integer ``cv`` (see the
        notes).

    See Also
    --------
    QueryKFold : Folds of whole queries.
    ranking_score : The value itself, also for `sklearn.metrics.make_scorer`.

    Notes
    -----
    Use it with `QueryKFold`. An integer ``cv`` splits queries, and so do halving
    searches over ``resource="n_samples"``: the scores are then those of shorter, easier
    rankings.

    scikit-learn turns an error of a scorer into NaN and a warning, unless
    ``error_score="raise"``. If one of several measures fails (``err@10`` with a label
    above 4), only its score is NaN; if the predictions or the rows cause the error, all
    scores are NaN.

    A name such as ``scoring="ndcg@10"`` is not accepted: scikit-learn looks names up in
    a list of its own, which other libraries cannot extend.

    A scorer sees only the test rows. `QueryLGBMRanker`, `QueryXGBRanker`,
    `QueryCatBoostRanker`, `LinearRanker` and `FusedRanker` keep a digest of each query
    id of `fit` and its number of rows. If they, alone or inside pipelines, searches and
    other meta-estimators, are scored on a known id with another number of rows, the
    scorer warns: most often, folds have split the queries. Equal halves of a query are
    not noticed, nor is anything with other rankers. Other data with the same ids warn,
    too: make ids unique, or silence the warning by
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
    given: list[Any] = [measure] if single else list(measure)  # type: ignore[arg-type]
    family = _Family(
        tuple(parse_measures(given)),
        tuple(map(str, given)),
        single,
        qid,
        check_response_method(response_method),
        ties,
        average,
        zero_relevance,
        unjudged,
        convention,
    )
    family.check()
    scorers = [RankingScorer(family, place) for place in range(len(given))]
    return scorers[0] if single else {scorer.key: scorer for scorer in scorers}


@dataclass(frozen=True)
class _Family:
    """Measures that are asked for together, and how."""

    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    single: bool
    qid: str | int | None
    response_method: str | tuple[str, ...] | None
    ties: str
    average: str
    zero_relevance: float | str
    unjudged: str
    convention: str | None

    def check(self) -> None:
        check_choice(self.unjudged, "unjudged", UNJUDGED)
        check_choice(self.average, "average", AVERAGES[:-1])
        check_averaging(self.asked, self.ties, self.average)

    @cached_property
    def asked(self) -> Asked:
        return self.ask(self.measures)

    def ask(self, measures: Iterable[Measure]) -> Asked:
        return ask(measures, self.zero_relevance, self.unjudged, self.convention)

    @property
    def rules(self) -> dict[str, Any]:
        """Options of `ranking_score`."""
        names = ("ties", "average", "zero_relevance", "unjudged", "convention")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        measures = repr(self.names[0] if self.single else [*self.names])
        method = self.response_method
        given = {
            "qid": self.qid,
            "response_method": [*method] if isinstance(method, tuple) else method,
            **self.rules,
        }
        usual = signature(make_ranking_scorer).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in given.items()
            if value != usual[name].default
        ]
        return f"make_ranking_scorer({', '.join([measures, *shown])})"


class _Ranking:
    """Predictions for labelled queries, measured by a family once."""

    def __init__(
        self, family: _Family, prepared: Prepared, scores: NDArray[Any], metadata: Any
    ) -> None:
        self._family = family
        self._prepared = prepared
        self._scores = scores
        # alive as long as their addresses are asked for
        self._metadata = metadata

    def value(self, place: int, *, shared: bool) -> float:
        if shared and self._all is not None:
            return self._all[place]
        asked = self._family.ask([self._family.measures[place]])
        value: float = self._averages(asked)[0]
        return value

    @cached_property
    def _all(self) -> list[float] | None:
        """Of all measures; None if one of them fails, so that each is for itself."""
        try:
            return self._averages(self._family.asked)
        except Exception:
            return None

    def _averages(self, asked: Asked) -> list[Any]:
        family = self._family
        averaged = self._prepared.averaged
        return averaged(asked, self._scores, family.ties, family.average)


class RankingScorer(BaseScorer):  # type: ignore[misc]
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

    def __init__(self, family: Any, place: int) -> None:
        self._family = family
        self._place = place
        self.measure: Measure = family.measures[place]
        better = self.measure.greater_is_better
        self.key: str = ("" if better else "neg_") + family.names[place]
        self.qid = family.qid
        super().__init__(
            score_func=ranking_score,
            sign=1 if better else -1,
            kwargs={"measure": self.measure, **family.rules},
            # of several, scikit-learn takes the first that an estimator has
            response_method=family.response_method or RESPONSE_METHODS,
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
        found = found_in_call(method_caller)
        key = (self._family, id(qid), id(query_weight))
        if key not in found:
            found[key] = self._ranking(
                method_caller, estimator, X, y_true, qid, query_weight
            )
        value: float = found[key].value(self._place, shared=method_caller is not None)
        return value if self.measure.greater_is_better else 0.0 - value

    def _ranking(
        self,
        method_caller: Callable[..., Any] | None,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        qid: Any,
        query_weight: ArrayLike | None,
    ) -> _Ranking:
        family = self._family
        labels = check_labels(y_true, unjudged=family.asked.unjudged)
        ids = self._query_ids(X, qid)
        queries = check_qid(ids, n_rows=len(labels))
        weight = check_query_weight(query_weight, queries)
        check_whole_queries(estimator, queries)
        scores = predicted_scores(
            estimator, X, len(labels), family.response_method, method_caller, ids
        )
        prepared = Prepared(labels, queries, weight)
        return _Ranking(family, prepared, scores, (qid, query_weight))

    def _query_ids(self, X: Any, qid: Any) -> Any:
        request = "set_score_request(qid=False)"
        _, qid = resolve_qid(X, self.qid, qid, request=request)
        if qid is None:
            name = self._family.names[self._place]
            raise ValueError(
                "qid must hold the query of each row, got None. "
                f"{how_to_pass_qid()}, "
                f"make_ranking_scorer({name!r}, qid=<name or index>)"
            )
        return qid

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
        family = repr(self._family)
        return family if self._family.single else f"{family}[{self.key!r}]"
