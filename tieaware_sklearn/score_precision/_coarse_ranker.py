"""A ranker whose scores are made coarser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import (
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from .._engine.qid_column import count_rows, resolve_qid
from .._engine.ties import FloatArray
from .._engine.validation import check_choice, check_qid
from ..model_selection._predictions import check_response_method, predicted_scores
from ..rankers._query_ranker import RankerMixin
from ._bands import EXISTING_TIES
from ._coarseness import Coarseness, parse_coarseness


class CoarseRanker(RankerMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Reduce the precision of the scores of any ranker.

    The precision of scores is then a parameter that `GridSearchCV` can tune.

    Parameters
    ----------
    estimator : estimator
        A ranker, regressor or classifier, or a pipeline that ends in one.
    coarseness : str or None, default="rho=1.1"
        Coarseness of the scores, as in `round_scores`, such as ``"bits=8"``; None keeps
        scores as they are. Bands (``"rho=1.1"``) need the query of each row in
        `predict`.
    scale : {"fit", "query"}, default="fit"
        The range of evenly spaced levels (``"levels=100"``, ``"bits=8"``): between the
        extreme scores of the training data, as in a quantised model, or of each query,
        which needs the query of each row in `predict`.
    existing_ties : {"keep", "order"}, default="keep"
        As in `band_scores`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method of `estimator` whose values rank, as in `make_ranking_scorer`.
    qid : str or int, optional
        The column of X that holds query ids. `estimator` gets X without it, and gets
        ``qid`` in `fit` if it takes that. By default query ids come as ``qid``: `fit`
        passes them to an estimator that takes them, and `make_ranking_scorer` passes
        them to `predict`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    limits_ : tuple of two floats or None
        Smallest and largest score of the training data, if levels are between them.
    n_features_in_ : int
        Number of columns of X in `fit`, that of `qid` included.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if X had names and all are texts.

    See Also
    --------
    round_scores : Makes given scores coarser.
    tieaware_sklearn.optuna.ScorePrecisionObjective : Searches for the coarsest
        precision that is not inferior.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from tieaware_sklearn import QueryKFold, make_ranking_scorer
    >>> from tieaware_sklearn.score_precision import CoarseRanker
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> search = GridSearchCV(
    ...     CoarseRanker(LinearRegression(), qid=0),
    ...     {"coarseness": [None, "levels=100", "levels=4"]},
    ...     scoring=make_ranking_scorer("ndcg@10", qid=0),
    ...     cv=QueryKFold(3, qid=0),
    ... ).fit(X, web.target)
    >>> coarse = search.best_estimator_.set_params(coarseness="levels=4")
    >>> len(np.unique(coarse.predict(X)))
    4
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(
        self,
        estimator: Any,
        coarseness: str | None = "rho=1.1",
        *,
        scale: str = "fit",
        existing_ties: str = "keep",
        response_method: str | Sequence[str] | None = None,
        qid: str | int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coarseness = coarseness
        self.scale = scale
        self.existing_ties = existing_ties
        self.response_method = response_method
        self.qid = qid

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, qid: Any = None, **fit_params: Any
    ) -> CoarseRanker:
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it; it is passed to an
            estimator that takes it.
        **fit_params
            Further arguments of the estimator's `fit`, passed through metadata routing
            if that is on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter breaks a rule above, if there are two sources of query ids,
            or if the estimator raises it.
        """
        self._checked()
        check_response_method(self.response_method)
        given = X
        X, qid = resolve_qid(X, self.qid, qid)
        check_qid(qid, n_rows=count_rows(X))
        if get_config()["enable_metadata_routing"]:
            if qid is not None and self.qid is None:
                fit_params["qid"] = qid
            routed = process_routing(self, "fit", **fit_params)
            fit_params = dict(routed["estimator"]["fit"])
            if qid is not None and self.qid is not None and self._hands_on_qid():
                fit_params["qid"] = qid
        elif qid is not None and (keyword := _qid_keyword(self.estimator)) is not None:
            fit_params.setdefault(keyword, qid)
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, y, **fit_params)
        validate_data(self, given, skip_check_array=True)
        scores = self._exact(X, qid)
        scores = scores[np.isfinite(scores)]
        ends = (float(scores.min()), float(scores.max())) if len(scores) else None
        self.limits_ = ends
        return self

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Return the coarser scores of the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it. It is needed for bands and
            for ``scale="query"``.

        Returns
        -------
        ndarray of shape (n_rows,)

        Raises
        ------
        ValueError
            If query ids are needed and there are none, or if scores are NaN.
        """
        check_is_fitted(self)
        coarseness = self._checked()
        given = X
        X, qid = resolve_qid(X, self.qid, qid, request="set_predict_request(qid=False)")
        if self.qid is not None:
            # a feature must not stand in for ids that were left out
            validate_data(self, given, reset=False, skip_check_array=True)
        queries = check_qid(qid, n_rows=count_rows(X))
        by_query = coarseness is not None and coarseness.by_query(self.scale)
        if by_query and qid is None:
            raise ValueError(
                f"{coarseness} must know which rows are ranked together, got qid=None: "
                "give predict qid=, as make_ranking_scorer does with the qid that it "
                "gets, or let it be a column of X, CoarseRanker(..., qid=<name or "
                "index>), which works for cross_val_predict and inside searches, too"
            )
        scores = self._exact(X, qid)
        if coarseness is None:
            return scores
        return coarseness.apply(
            scores,
            queries,
            limits=None if by_query else self.limits_,
            existing_ties=self.existing_ties,
        )

    def _exact(self, X: Any, qid: Any) -> FloatArray:
        estimator, method = self.estimator_, self.response_method
        return predicted_scores(estimator, X, count_rows(X), method, qid=qid)

    def _hands_on_qid(self) -> bool:
        """Whether the estimator, or a step of it, wants the ids of the column."""
        routing = get_routing_for_object(self.estimator)
        consumed = routing.consumes("fit", {"qid"})
        return "qid" in consumed or has_fit_parameter(self.estimator, "qid")

    def _checked(self) -> Coarseness | None:
        """The coarseness, if there is one, and all options checked."""
        check_choice(self.scale, "scale", ("fit", "query"))
        check_choice(self.existing_ties, "existing_ties", EXISTING_TIES)
        return None if self.coarseness is None else parse_coarseness(self.coarseness)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what scikit-learn routes to this ranker and its estimator.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = inner.target_tags.required
        return tags


def _qid_keyword(estimator: Any) -> str | None:
    """The name under which `fit` hands query ids on, without routing, if it does."""
    if has_fit_parameter(estimator, "qid"):
        return "qid"
    if not hasattr(estimator, "steps"):
        return None
    name, last = estimator.steps[-1]
    keyword = _qid_keyword(last)
    return None if keyword is None else f"{name}__{keyword}"
