"""Scorers for the ``scoring`` argument of scikit-learn, with query ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from .._engine.digests import query_marks
from .._engine.qid_column import how_to_pass_qid, resolve_qid
from .._engine.ties import FloatArray
from .._engine.validation import (
    UNJUDGED,
    Queries,
    check_choice,
    check_labels,
    check_qid,
    check_query_weight,
)
from ..evaluation import ranking_score
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ._predictions import RESPONSE_METHODS, check_response_method, predicted_scores


def make_ranking_scorer(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    qid: str | int | None = None,
    response_method: str | Sequence[str] | None = None,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
) -> RankingScorer:
    """A scorer of rankings for `GridSearchCV`, `cross_validate` and similar tools.

    Its value is that of `ranking_score`: the mean over queries, exact under ties.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        See `parse_measure`. A list makes one scorer that predicts once, finds ties
        once and gives a dict, for ``scoring=`` with ``refit="ndcg@10"``. Its keys
        are the names as given; those of measures where lower is better, whose
        values come negative, have ``neg_`` in front.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index
        for arrays), which works without metadata routing. The estimator is handed
        X with this column and must leave it out of its features, as
        `QueryLGBMRanker` and `RankingFeatureSelector` with the same `qid` do. By
        default query ids come as ``qid`` by metadata routing; there is no need to
        call `set_score_request`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method whose values rank; of a list, the first that the estimator
        has. By default ``predict``, and for classifiers, whose classes alone would
        tie most documents, ``predict_proba`` or else ``decision_function``. For
        two classes that is the probability or decision value of the greater label;
        for more classes, ``predict_proba`` ranks by the expected label.
    zero_relevance, unjudged
        As in `ranking_score`.

    Returns
    -------
    RankingScorer
        Called as ``scorer(estimator, X, y)`` or
        ``scorer(estimator, X, y, qid=qid, query_weight=weight)``. Weights of
        queries are routed once ``set_score_request(query_weight=True)`` asks for
        them; ``sample_weight``, a weight in training, never is.

    Raises
    ------
    ValueError
        For an unknown measure or option. When it scores: without query ids, for
        predictions that are NaN, and if the estimator remembers in
        ``query_ids_`` that it was fitted on other rows of a query that it is
        scored on, as an integer ``cv`` makes it. Query ids are to be unique: those
        of two data sets must not be numbered from 0 both.

    See Also
    --------
    QueryKFold : Folds of whole queries.
    ranking_score : The value itself, also for `sklearn.metrics.make_scorer`.

    Notes
    -----
    Use it with `QueryKFold`. An integer ``cv``, and halving searches over
    ``resource="n_samples"``, cut queries in pieces: the scores are then of other,
    easier rankings.

    scikit-learn turns an error of a scorer into NaN and a warning, unless
    ``error_score="raise"``. A scorer sees the test rows only: whether a fold splits
    a query it can tell for rankers with ``query_ids_`` (`QueryLGBMRanker`), not for
    others. Ranking by the expected label is that of McRank (Li, Burges and Wu,
    NIPS 2007).

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
    >>> make_ranking_scorer(["ndcg@10", "fallout@10"]).keys
    ('ndcg@10', 'neg_fallout@10')
    """
    rules = {"zero_relevance": zero_relevance, "unjudged": unjudged}
    return RankingScorer(measure, qid=qid, response_method=response_method, **rules)


class RankingScorer(_BaseScorer):  # type: ignore[misc]
    """A callable for ``scoring=``; `make_ranking_scorer` makes it.

    Attributes
    ----------
    measures : tuple of Measure
    keys : tuple of str
        Names of the values: those of the dict that a list of measures gives.
    qid : str, int or None
        The column of X with the query ids.
    """

    def __init__(
        self, measure: Any, *, qid: Any, response_method: Any, **rules: Any
    ) -> None:
        self._single = isinstance(measure, str) or not isinstance(measure, Iterable)
        given = [measure] if self._single else list(measure)
        self.measures = tuple(parse_measures(given))
        self._names = tuple(map(str, given))
        self.keys = tuple(
            ("" if parsed.greater_is_better else "neg_") + name
            for parsed, name in zip(self.measures, self._names, strict=True)
        )
        check_choice(rules["unjudged"], "unjudged", UNJUDGED)
        self._asked = ask(self.measures, **rules)
        self.qid = qid
        super().__init__(
            score_func=ranking_score,
            sign=1,
            kwargs=rules,
            # scikit-learn looks for the first of them that an estimator has
            response_method=check_response_method(response_method) or RESPONSE_METHODS,
        )
        self.response_method = response_method
        self._metadata_request = MetadataRequest(owner=self)
        self.set_score_request(qid=qid is None, query_weight=None)

    @property
    def __name__(self) -> str:
        return ", ".join(self.keys)

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> float | dict[str, float]:
        """Score the ranking of X by a fitted estimator.

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
        float, or dict of str to float for a list of measures
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
    ) -> float | dict[str, float]:
        labels = check_labels(y_true, unjudged=self._asked.unjudged)
        qid = self._query_ids(X, qid)
        queries = check_qid(qid, n_rows=len(labels))
        weight = check_query_weight(query_weight, queries)
        check_whole_queries(estimator, np.maximum(labels, 0), queries)
        scores = predicted_scores(
            estimator, X, len(labels), self.response_method, method_caller, qid
        )
        prepared = Prepared(labels, queries, weight)
        found = prepared.values(self._asked, scores)
        means = prepared.means(self._asked, found["expected"])
        values = [
            mean if measure.greater_is_better else 0.0 - mean
            for measure, mean in zip(self.measures, means, strict=True)
        ]
        if self._single:
            return values[0]
        return dict(zip(self.keys, values, strict=True))

    def _query_ids(self, X: Any, qid: Any) -> Any:
        request = "set_score_request(qid=False)"
        _, qid = resolve_qid(X, self.qid, qid, request=request)
        if qid is None:
            raise ValueError(
                "qid must say which rows are ranked together, got None. "
                f"{how_to_pass_qid()}, "
                f"make_ranking_scorer({self._spelled()}, qid=<name or index>)"
            )
        return qid

    def set_score_request(
        self, *, qid: Any = UNCHANGED, query_weight: Any = UNCHANGED
    ) -> RankingScorer:
        """What this scorer asks for by metadata routing.

        Parameters
        ----------
        qid : bool, None or str, optional
            Query ids, or the name under which they are passed; asked for from the
            start, unless a column of X holds them.
        query_weight : bool, None or str, optional
            Weights of queries, or the name under which they are passed.

        Returns
        -------
        self
        """
        request = self.get_metadata_routing()
        for parameter, alias in {"qid": qid, "query_weight": query_weight}.items():
            if alias != UNCHANGED:
                request.score.add_request(param=parameter, alias=alias)
        self._metadata_request = request
        return self

    def _spelled(self) -> str:
        return repr(self._names[0] if self._single else [*self._names])

    def __repr__(self) -> str:
        given = {
            "qid": self.qid,
            "response_method": self.response_method,
            **self._kwargs,
        }
        usual = signature(make_ranking_scorer).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in given.items()
            if value != usual[name].default
        ]
        return f"make_ranking_scorer({', '.join([self._spelled(), *shown])})"


def check_whole_queries(estimator: Any, labels: FloatArray, queries: Queries) -> None:
    """Refuse queries that the estimator was fitted on other rows of.

    Scoring the very queries it was fitted on, with the same labels, is a training
    score, as ``return_train_score=True`` and `learning_curve` ask for.
    """
    fitted = _find_fitted(estimator)
    if fitted is None:
        return
    ids = np.asarray(fitted.query_ids_).tolist()
    scored = queries.qid.tolist()
    shared = set(ids) & set(scored)
    if not shared:
        return
    if shared == set(ids) == set(scored):
        marks = getattr(fitted, "_query_marks_", None)
        here = query_marks(queries.arrange(labels), queries.offsets).tolist()
        before = None if marks is None else dict(zip(ids, marks.tolist(), strict=True))
        if before in (None, dict(zip(scored, here, strict=True))):
            return
    first = next(q for q in scored if q in shared)
    more = "" if len(shared) == 1 else f" (and {len(shared) - 1} more)"
    raise ValueError(
        f"qid must not hold a query that {type(fitted).__name__} was fitted on, got "
        f"{first!r}{more}. Either the folds split queries: QueryKFold keeps them "
        "whole, an integer cv does not. Or these are other queries with the same ids: "
        "make ids unique (load_letor of a list of files numbers them through). Or they "
        "are a part of the training data, which is scored as a whole only"
    )


def _find_fitted(estimator: Any) -> Any:
    """The estimator that remembers its queries, inside pipelines and searches."""
    inner = ("best_estimator_", "estimator_", "regressor_")
    while estimator is not None and not hasattr(estimator, "query_ids_"):
        steps = getattr(estimator, "steps", None)
        found = [getattr(estimator, name) for name in inner if hasattr(estimator, name)]
        estimator = steps[-1][1] if steps else next(iter(found), None)
    return estimator
