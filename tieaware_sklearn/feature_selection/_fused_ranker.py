"""Features fused into one ranking, as an estimator."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._engine.qid_column import how_to_pass_qid
from .._engine.ties import FloatArray
from .._engine.validation import check_qid
from ..measures import Measure
from ..rankers._query_ranker import RankerMixin
from ._borda import BordaScores
from ._fused_features import FusedFeatures, TrainingData, direction_names
from ._fusion import by_length
from ._rule import each_direction


class FusedRanker(FusedFeatures, RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Rank by the Borda fusion of features.

    Each feature ranks the documents of a query by itself. A document at midrank m of n
    gets the Borda score n + 1 - 2m of the feature, and its fused score is the sum of
    these. All are whole numbers, so documents that tie by every feature tie in the
    fused ranking, too, and no rounding makes or breaks a tie.

    Parameters
    ----------
    features : list of str or int, optional
        The columns of X to fuse: names of columns of data frames, or indices. By
        default all.
    measure : str or Measure, default="ndcg@10"
        Measure by which the direction "auto" is chosen, as in `parse_measure`.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Which values rank first: higher ones ("descending"), lower ones ("ascending"),
        or those that give the better ranking by the feature alone ("auto"); a list has
        one of these for each of `features`.
    missing : {"raise", "last"}, default="raise"
        What to do with NaN in X: raise an error, or rank it below every value, in
        either direction, with all NaN tied.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); it is never a feature. By default `fit`, `predict` and `score` take
        ``qid``.
    n_jobs : int, optional
        Number of threads over features (joblib); no result depends on it.

    Attributes
    ----------
    features_ : ndarray of shape (n_fused,), int
        Indices of the columns of X that are fused.
    directions_ : ndarray of shape (n_fused,) of str
        "descending" where higher values of the column rank first, or "ascending".
    n_features_in_ : int
        Number of columns of X, that of `qid` included.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X, where all are texts.

    See Also
    --------
    FusedRankingSelector : Chooses features that fuse well.
    LinearRanker : Ranks by a weighted sum of the values of features.

    Notes
    -----
    A Borda score depends on the other documents of the query: give `predict` all rows
    of a query in one call. Borda fusion of rankings is due to Aslam and Montague (SIGIR
    2001).

    Examples
    --------
    >>> from tieaware_sklearn import FusedRanker
    >>> X = [[3, 10], [2, 30], [2, 20], [1, 20], [5, 10], [4, 20]]
    >>> qid = [1, 1, 1, 1, 2, 2]
    >>> ranker = FusedRanker(direction="descending").fit(X, [0, 1, 1, 0, 0, 1], qid=qid)
    >>> ranker.predict(X, qid=qid)
    array([ 0.,  3.,  0., -3.,  0.,  0.])
    """

    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    __metadata_request__predict: ClassVar = {"qid": True}

    def __init__(
        self,
        features: Sequence[str | int] | None = None,
        *,
        measure: str | Measure = "ndcg@10",
        direction: str | Sequence[str] = "auto",
        missing: str = "raise",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        qid: str | int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.measure = measure
        self.direction = direction
        self.missing = missing
        self.zero_relevance = zero_relevance
        self.unjudged = unjudged
        self.qid = qid
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> FusedRanker:
        """Find the direction of each feature.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Features. Each column of a data frame is compared in its own dtype.
        y : array-like of shape (n_rows,)
            Labels, finite and >= 0. NaN is unjudged.
        qid : array-like of shape (n_rows,), optional
            Query of each row, in any order. Without it, and without a column of ids,
            all rows are one query, with a warning.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query, >= 0 and constant within a query. Metadata
            routing passes it after ``set_fit_request(query_weight=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input or a parameter breaks a rule above.

        Warns
        -----
        UserWarning
            If there are no query ids.
        """
        data = self._training_data(X, y, qid, query_weight)
        own = self._chosen()
        directions = each_direction(self.direction, len(own))
        ascending = np.array(directions) == "ascending"
        if "auto" in directions:
            fusion = data.fusion(data.X[:, own], self.n_jobs)
            ascending = fusion.alone(directions).ascending
        return self._show(data, own, ascending)

    def _show(
        self,
        data: TrainingData,
        features: NDArray[np.intp],
        ascending: NDArray[np.bool_],
    ) -> FusedRanker:
        """All fitted attributes; the column of query ids is none of the features."""
        self._own_, self._ascending_ = features, ascending
        self.features_ = np.flatnonzero(self._is_feature())[features]
        self.directions_ = direction_names(ascending)
        self._fitted_queries_ = data.fitted_queries()
        return self

    def predict(self, X: Any, qid: Any = None) -> FloatArray:
        """Return the fused scores of the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            Whole numbers.

        Raises
        ------
        ValueError
            If there are no query ids, or if X has other columns than in `fit`.
        """
        check_is_fitted(self)
        request = "set_predict_request(qid=False)"
        data, ids = self._check_features(X, qid, reset=False, request=request)
        if ids is None:
            raise ValueError(
                "qid must hold the query of each row, because Borda scores are those "
                f"of a query, got None: pass qid to predict. {how_to_pass_qid()}, "
                f"{type(self).__name__}(qid=<name or index>)"
            )
        queries = by_length(check_qid(ids, n_rows=data.shape[0]))
        borda = BordaScores.of(data[:, self._own_], queries, self.n_jobs)
        scores = np.empty(data.shape[0])
        places = np.arange(len(self._own_))
        scores[queries.given(np.arange(len(scores)))] = borda.fused(
            places, self._ascending_
        )
        return scores

    def _chosen(self) -> NDArray[np.intp]:
        """The features to fuse, the column of query ids not counted."""
        is_feature = self._is_feature()
        place = np.cumsum(is_feature) - 1
        if self.features is None:
            return place[is_feature]
        given = list(self.features)
        columns = [self._column(feature) for feature in given]
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(
                "features must name at least one column of X, each once, got "
                f"{self.features!r}"
            )
        for feature, column in zip(given, columns, strict=True):
            if not is_feature[column]:
                raise ValueError(
                    f"features must not name the column of query ids, got {feature!r}"
                )
        return np.asarray(place[columns])

    def _column(self, feature: Any) -> int:
        """The index of a column of X that is named by its name or its index."""
        n, names = self.n_features_in_, getattr(self, "feature_names_in_", ())
        whole = isinstance(feature, numbers.Integral) and not isinstance(feature, bool)
        if whole and -n <= int(feature) < n:
            return int(feature) % n
        if isinstance(feature, str) and feature in list(names):
            return list(names).index(feature)
        raise ValueError(
            f"features must hold names or indices of the {n} columns of X, got "
            f"{feature!r}"
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "last"
        return tags


def adopted(
    ranker: FusedRanker,
    selector: FusedFeatures,
    data: TrainingData,
    features: NDArray[np.intp],
    ascending: NDArray[np.bool_],
) -> FusedRanker:
    """The ranker, fitted by what a selector has found in the columns that it has."""
    for name in ("n_features_in_", "feature_names_in_", "_qid_at_"):
        if hasattr(selector, name):
            setattr(ranker, name, getattr(selector, name))
    return ranker._show(data, features, ascending)
