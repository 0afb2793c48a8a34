"""Features fused into one ranking, and selected by how good it is."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._display import warn
from .._engine import (
    FittedQueries,
    FloatArray,
    check_choice,
    check_count,
    check_flag,
    check_qid,
    how_to_pass_qid,
    is_number,
)
from ..evaluation import ask
from ..measures import Measure, parse_measure
from ..rankers import RankerMixin
from ._columns import FeatureColumns
from ._fusion import Alone, BordaScores, Fusion, Path, by_length, choose_number
from ._selection import check_number, each_direction, number_of


class FusedRanker(RankerMixin, FeatureColumns, BaseEstimator):  # type: ignore[misc]
    """Rank by the Borda fusion of features, given or selected one after another.

    Each feature ranks the documents of a query by itself. A document at midrank m of n
    gets the Borda score n + 1 - 2m of the feature, and its fused score is the sum of
    these. All are whole numbers, so documents that tie by every feature tie in the
    fused ranking, too, and no rounding makes or breaks a tie.

    With `n_features_to_select`, features are selected one after another. The first is
    the one that ranks best alone. Each further one is that which, fused with those
    chosen so far, gives the best ranking: the highest mean over queries of the exact
    measure. A feature that says what the chosen ones say already adds little, and one
    that is weak alone may add much.

    Parameters
    ----------
    features : list of str or int, optional
        The columns of X to fuse, or to select from: names of columns of data frames, or
        indices. By default all.
    measure : str or Measure, default="ndcg@10"
        Measure of the rankings, as in `parse_measure`.
    n_features_to_select : int, float, "cv" or None, default=None
        Number of features to select; a float in (0, 1] is a share of all `features`.
        "cv" chooses it by cross-validation over queries. A feature that is constant
        within every query is never selected. None fuses all `features`.
    max_correlation : float or None, default=0.95
        A feature whose rankings have a rank correlation (mean over queries of
        Spearman's ρ) above this with those of a chosen feature, in absolute value, is
        not considered while others are left; "cv" never selects it. None considers
        all.
    max_features : int, default=20
        Largest number of features that "cv" tries.
    cv : int or cross-validator, default=5
        Folds by which "cv" chooses: their number, those of `QueryKFold`, or a
        cross-validator, which is given the query ids as `groups`.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Which values rank first: higher ones ("descending"), lower ones ("ascending"),
        or those that give the better ranking by the feature alone ("auto"); a list has
        one of these for each of `features`. The direction of a feature stays the same
        at all steps.
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
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    selection_order_ : ndarray of shape (n_selected,), int
        Indices of the columns of X that are fused, in the order chosen or given.
    path_scores_ : ndarray of shape (n_selected,)
        Only where features are selected: mean over the training queries of the measure
        of the fused ranking after each choice. The features were chosen to make these
        high, so they are optimistic: expect less on other queries.
    support_ : ndarray of shape (n_features,), bool
        Which columns of X are fused.
    mean_ : ndarray of shape (n_features,)
        Mean over queries of the measure of each feature alone, in its direction. It is
        NaN for the column of query ids, and for columns that are none of `features`.
    directions_ : ndarray of shape (n_features,) of str
        "descending" where higher values rank first, or "ascending"; ``"qid"`` for the
        column of query ids, and ``"none"`` for columns that are none of `features`.
    ranking_ : ndarray of shape (n_features,), int
        Ranks of the features alone, 1 for the best; features with equal means rank in
        the order of `features`, and columns that are none of them are last.
    repeats_ : ndarray of shape (n_features,), int
        Only where features are selected: the first chosen column whose rankings
        correlate with those of the feature above `max_correlation`, or -1.
    cv_results_ : dict of str to ndarray of shape (n_numbers,)
        Only with "cv": ``n_features`` from 1 on, the mean over queries of the measure
        on the folds that features were not chosen on (``mean_test_score``), by how much
        this is worse than the best (``loss``), and the ``standard_error`` of that over
        queries.
    measure_ : str
        Canonical name of the measure.
    n_queries_, n_features_in_ : int
        Numbers of queries and of columns of X, that of `qid` included.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X, where all are texts.

    See Also
    --------
    RankingFeatureSelector : Selects by the scores of single features, with tests.
    LinearRanker : Ranks by a weighted sum of the values of features.

    Notes
    -----
    A Borda score depends on the other documents of the query: give `predict` all rows
    of a query in one call.

    Among features that fuse equally well, to 1e-12, the one that is better alone is
    chosen. No result depends on the order of rows or on threads. A selection of fewer
    features is the beginning of one of more: ``selection_order_[:5]`` are the features
    that ``n_features_to_select=5`` selects.

    "cv" selects the smallest number of features whose held-out mean is worse than the
    best one by at most one standard error. This is the error of their difference, for
    which the queries are paired; the spread of the queries themselves is larger, and
    would select too few features.

    Greedy forward selection of what improves a combination is due to Caruana et al.
    (Ensemble selection from libraries of models, ICML 2004), and Borda fusion of
    rankings to Aslam and Montague (Models for metasearch, SIGIR 2001).

    Examples
    --------
    >>> from tieaware_sklearn import FusedRanker
    >>> X = [[3, 10], [2, 30], [2, 20], [1, 20], [5, 10], [4, 20]]
    >>> qid = [1, 1, 1, 1, 2, 2]
    >>> ranker = FusedRanker(direction="descending").fit(X, [0, 1, 1, 0, 0, 1], qid=qid)
    >>> ranker.predict(X, qid=qid)
    array([ 0.,  3.,  0., -3.,  0.,  0.])

    Features selected, and ranked by:

    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, random_state=0)
    >>> ranker = FusedRanker(n_features_to_select=3)
    >>> _ = ranker.fit(web.data, web.target, qid=web.qid)
    >>> [web.feature_names[j] for j in ranker.selection_order_]
    ['clicks', 'text_score', 'in_degree']
    >>> ranker.path_scores_.round(3)
    array([0.449, 0.516, 0.537])
    >>> ranker.transform(web.data).shape
    (21040, 3)
    >>> ranker.predict(web.data, qid=web.qid)[:4]
    array([272., -32., 454., -26.])
    """

    # by metadata routing, ids come of themselves; weights may be a scorer's alone
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    __metadata_request__predict: ClassVar = {"qid": True}

    def __init__(
        self,
        features: Sequence[str | int] | None = None,
        *,
        measure: str | Measure = "ndcg@10",
        n_features_to_select: int | float | str | None = None,
        max_correlation: float | None = 0.95,
        max_features: int = 20,
        cv: Any = 5,
        direction: str | Sequence[str] = "auto",
        missing: str = "raise",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        qid: str | int | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.features = features
        self.measure = measure
        self.n_features_to_select = n_features_to_select
        self.max_correlation = max_correlation
        self.max_features = max_features
        self.cv = cv
        self.direction = direction
        self.missing = missing
        self.zero_relevance = zero_relevance
        self.unjudged = unjudged
        self.qid = qid
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> FusedRanker:
        """Find the direction of each feature, and select features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Features. Each column of a data frame is compared in its own dtype, integers
            beyond 2^53 included. Masked values are missing.
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
            If there are no query ids, if fewer features vary within a query than are to
            be selected, or if features are selected that repeat others.
        """
        self._check_options()
        asked = ask([parse_measure(self.measure)], self.zero_relevance, self.unjudged)
        X, qid = self._check_features(X, qid, reset=True)
        rows = self._rows(X, y, qid, query_weight, unjudged=asked.unjudged)
        given = self._given()
        directions = each_direction(self.direction, len(given))
        fusion = Fusion.of(X[:, given], rows, asked, self.n_jobs)
        alone = fusion.alone(directions)
        path = self._path(fusion, directions, alone)
        self.measure_, self.n_queries_ = asked.names[0], rows.queries.n_queries
        self._show(given, alone, path)
        self._fitted_queries_ = FittedQueries.of(rows.queries)
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

    def _check_options(self) -> None:
        wanted, most = self.n_features_to_select, self.max_correlation
        check_choice(self.missing, "missing", ("raise", "last"))
        if not (isinstance(wanted, str) and wanted == "cv"):
            check_number(wanted, '"cv" or None')
        if most is not None and not is_number(most, above=0, most=1):
            raise ValueError(
                f"max_correlation must be a number in (0, 1] or None, got {most!r}"
            )
        check_count(self.max_features, "max_features")
        check_flag(self.progress, "progress")

    def _path(
        self, fusion: Fusion, directions: Sequence[str], alone: Alone
    ) -> Path | None:
        """The features selected, one after another; None if all are fused."""
        self.__dict__.pop("cv_results_", None)
        wanted, n_features = self.n_features_to_select, fusion.n_features
        if wanted is None:
            return None
        if isinstance(wanted, str):
            self.cv_results_, number = choose_number(
                fusion,
                directions,
                self.cv,
                min(self.max_features, max(int(fusion.varies().sum()), 1)),
                max_correlation=self.max_correlation,
                progress=self.progress,
            )
        else:
            number = number_of(wanted, n_features)
        path = fusion.path(
            alone,
            number,
            max_correlation=self.max_correlation,
            fill=wanted != "cv",
            progress=self.progress,
        )
        found = len(path.order)
        if not found:
            warn(self._why_none())
        elif found < number and wanted != "cv":
            warn(
                f"n_features_to_select={wanted!r}, but only {found} of {n_features} "
                "features vary within a query: only these are selected"
            )
        if copies := int((path.repeats[path.order] >= 0).sum()):
            warn(
                f"n_features_to_select={wanted!r}, but {copies} of the {found} "
                "features that are selected repeat others (max_correlation): no others "
                "were left"
            )
        return path

    def _show(self, given: NDArray[np.intp], alone: Alone, path: Path | None) -> None:
        """What was found of the features given, at the columns of X."""
        features = self._is_feature()
        columns = np.flatnonzero(features)[given]

        def spread(values: NDArray[Any], other: Any) -> NDArray[Any]:
            out = np.full(len(features), other, dtype=values.dtype)
            out[columns] = values
            return out

        order = np.arange(len(given)) if path is None else path.order
        self._own_, self._ascending_ = given[order], alone.ascending[order]
        self.selection_order_ = columns[order]
        self.support_ = np.isin(np.arange(len(features)), self.selection_order_)
        self.mean_ = spread(alone.mean, np.nan)
        names = np.where(alone.ascending, "ascending", "descending").astype(object)
        self.directions_ = spread(names, "none")
        self.directions_[~features] = "qid"
        self.ranking_ = spread(np.argsort(alone.ranking) + 1, len(features))
        for name in ("path_scores_", "repeats_"):
            self.__dict__.pop(name, None)
        if path is not None:
            self.path_scores_ = path.scores
            repeats = np.where(path.repeats < 0, -1, columns[path.repeats])
            self.repeats_ = spread(repeats, -1)

    def _given(self) -> NDArray[np.intp]:
        """The features to fuse, the column of query ids not counted."""
        is_feature, n = self._is_feature(), self.n_features_in_
        if self.features is None:
            return np.arange(is_feature.sum())
        names, columns = list(getattr(self, "feature_names_in_", ())), []
        for one in self.features:
            whole = isinstance(one, numbers.Integral) and not isinstance(one, bool)
            if whole and -n <= int(one) < n:
                columns.append(int(one) % n)
            elif isinstance(one, str) and one in names:
                columns.append(names.index(one))
            else:
                raise ValueError(
                    f"features must hold names or indices of the {n} columns of X, got "
                    f"{one!r}"
                )
            if not is_feature[columns[-1]]:
                raise ValueError(
                    f"features must not name the column of query ids, got {one!r}"
                )
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(
                "features must name at least one column of X, each once, got "
                f"{self.features!r}"
            )
        return np.asarray((np.cumsum(is_feature) - 1)[columns])
