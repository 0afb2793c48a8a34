"""Feature selection by the exact score of the features' fused ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._display.warn import warn
from .._engine.digests import bits_of, mixed, row_digests, value_bits
from .._engine.qid_column import spread_features
from .._engine.ties import FloatArray
from .._engine.validation import check_count, check_flag, is_number
from ..measures import Measure
from ._fused_features import FusedFeatures, TrainingData, direction_names
from ._fused_number import choose_number
from ._fused_ranker import FusedRanker, adopted
from ._fusion import Alone, Fusion, Path
from ._rule import each_direction

_NOTHING = "no feature is selected: each is constant within every query"


class _Known(NamedTuple):
    """What a fit has found, and the data and parameters that it follows from."""

    origin: tuple[Any, ...] | None
    alone: Alone
    path: Path | None


class FusedRankingSelector(SelectorMixin, FusedFeatures, BaseEstimator):  # type: ignore[misc]
    """Select features one after another by the exact score of their fused ranking.

    The first feature is the one that ranks best alone. Each further one is that which,
    fused with those chosen so far, gives the best ranking: the highest mean over
    queries of the exact measure of the sum of their Borda scores (see `FusedRanker`).
    A feature that says what the chosen ones say already adds little, and one that is
    weak alone may add much.

    Parameters
    ----------
    measure : str or Measure, default="ndcg@10"
        Measure of the rankings, as in `parse_measure`.
    n_features_to_select : int, float or "auto", default=10
        Number of features to select; a float in (0, 1] is a share of all features.
        "auto" chooses it by cross-validation over queries. A feature that is constant
        within every query is never selected.
    max_correlation : float or None, default=0.95
        A feature whose rankings have a rank correlation (mean over queries of
        Spearman's ρ) above this with those of a chosen feature, in absolute value, is
        not considered while others are left; "auto" never selects it. None considers
        all.
    max_features : int, default=20
        Largest number of features that "auto" tries.
    cv : int or cross-validator, default=5
        Folds by which "auto" chooses: their number, those of `QueryKFold`, or a
        cross-validator, which is given the query ids as `groups`.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Which values rank first: higher ones ("descending"), lower ones ("ascending"),
        or those that give the better ranking by the feature alone ("auto"); a list has
        one of these for each feature. The direction of a feature stays the same at
        all steps.
    missing : {"raise", "last"}, default="raise"
        What to do with NaN in X: raise an error, or rank it below every value, in
        either direction, with all NaN tied.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); it is never a feature. By default `fit` takes ``qid``.
    warm_start : bool, default=False
        Whether `fit` goes on from the features that the last `fit` has chosen, if data
        and parameters are the same but for the number of features. The result is that
        of a new selector.
    n_jobs : int, optional
        Number of threads over features (joblib); no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    selection_order_ : ndarray of shape (n_selected,), int
        Indices of the selected columns of X, in the order chosen.
    path_scores_ : ndarray of shape (n_selected,)
        Mean over the training queries of the measure of the fused ranking after each
        choice. The features were chosen to make these high, so they are optimistic:
        expect less on other queries.
    support_ : ndarray of shape (n_features,), bool
        Which features are selected.
    mean_ : ndarray of shape (n_features,)
        Mean over queries of the measure of each feature alone, in its direction. It is
        NaN for the column of query ids.
    directions_ : ndarray of shape (n_features,) of str
        "descending" where higher values rank first, or "ascending"; ``"qid"`` for the
        column of query ids.
    ranking_ : ndarray of shape (n_features,), int
        Ranks of the features alone, 1 for the best; features with equal means rank in
        column order, and the column of query ids is last.
    repeats_ : ndarray of shape (n_features,), int
        The first chosen column whose rankings correlate with those of the feature
        above `max_correlation`, or -1.
    ranker_ : FusedRanker
        Ranks by the selected features.
    cv_results_ : dict of str to ndarray of shape (n_numbers,)
        Only with "auto": ``n_features`` from 1 on, the mean over queries of the measure
        on the folds that features were not chosen on (``mean_test_score``), by how much
        this is worse than the best (``loss``), and the ``standard_error`` of that over
        queries.
    measure_ : str
        Canonical name of the measure.
    n_queries_, n_features_in_ : int
        Numbers of queries and of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, where all are texts.

    See Also
    --------
    RankingFeatureSelector : Selects by the scores of single features, with tests.
    FusedRanker : The fused ranking of given features.

    Notes
    -----
    Among features that fuse equally well, to 1e-12, the one that is better alone is
    chosen. No result depends on the order of rows or on threads.

    "auto" selects the smallest number of features whose held-out mean is worse than the
    best one by at most one standard error. This is the error of their difference, for
    which the queries are paired; the spread of the queries themselves is larger, and
    would select too few features.

    Greedy forward selection of what improves a combination is due to Caruana et al.
    (Ensemble selection from libraries of models, ICML 2004), and Borda fusion of
    rankings to Aslam and Montague (Models for metasearch, SIGIR 2001).

    Examples
    --------
    >>> from tieaware_sklearn import FusedRankingSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, random_state=0)
    >>> selector = FusedRankingSelector(n_features_to_select=3)
    >>> _ = selector.fit(web.data, web.target, qid=web.qid)
    >>> [web.feature_names[j] for j in selector.selection_order_]
    ['clicks', 'text_score', 'in_degree']
    >>> selector.path_scores_.round(3)
    array([0.449, 0.516, 0.537])
    >>> selector.transform(web.data).shape
    (21040, 3)
    >>> scores = selector.predict(web.data, qid=web.qid)
    >>> scores[:4]
    array([272., -32., 454., -26.])
    """

    # by metadata routing, ids come of themselves; weights may be a scorer's alone
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    __metadata_request__predict: ClassVar = {"qid": True}

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        n_features_to_select: int | float | str = 10,
        max_correlation: float | None = 0.95,
        max_features: int = 20,
        cv: Any = 5,
        direction: str | Sequence[str] = "auto",
        missing: str = "raise",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        qid: str | int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> FusedRankingSelector:
        """Select features.

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
        data = self._training_data(X, y, qid, query_weight)
        directions = each_direction(self.direction, data.X.shape[1])
        fusion = data.fusion(data.X, self.n_jobs)
        origin = self._origin(data, directions) if self.warm_start else None
        known = self.__dict__.pop("_known_", None)
        if origin is None or known is None or known.origin != origin:
            known = _Known(origin, fusion.alone(directions), None)
        wanted = self.n_features_to_select
        number = self._number(fusion, directions)
        path = fusion.path(
            known.alone,
            number,
            max_correlation=self.max_correlation,
            fill=wanted != "auto",
            start=known.path,
            progress=self.progress,
        )
        _warn_of(path, wanted, number, fusion.n_features)
        if origin is not None:
            self._known_ = known._replace(path=path)
        return self._show(data, known.alone, path)

    def _check_options(self) -> None:
        wanted, most = self.n_features_to_select, self.max_correlation
        whole = isinstance(wanted, (int, np.integer)) and wanted >= 1
        share = isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1
        auto = isinstance(wanted, str) and wanted == "auto"
        if isinstance(wanted, bool) or not (whole or share or auto):
            raise ValueError(
                "n_features_to_select must be an integer >= 1, a share in (0, 1] or "
                f'"auto", got {wanted!r}'
            )
        if most is not None and not is_number(most, above=0, most=1):
            raise ValueError(
                f"max_correlation must be a number in (0, 1] or None, got {most!r}"
            )
        check_count(self.max_features, "max_features")
        check_flag(self.warm_start, "warm_start")
        check_flag(self.progress, "progress")

    def _number(self, fusion: Fusion, directions: Sequence[str]) -> int:
        """How many features to select."""
        self.__dict__.pop("cv_results_", None)
        wanted = self.n_features_to_select
        if isinstance(wanted, str):
            self.cv_results_, number = choose_number(
                fusion,
                directions,
                self.cv,
                min(self.max_features, max(int(fusion.varies().sum()), 1)),
                max_correlation=self.max_correlation,
                progress=self.progress,
            )
            return number
        if isinstance(wanted, (float, np.floating)):
            # 0.29 of 100 is 29, though the product is a little less
            return max(1, int(wanted * fusion.n_features + 1e-9))
        return int(wanted)

    def _origin(
        self, data: TrainingData, directions: tuple[str, ...]
    ) -> tuple[Any, ...]:
        """All that decides which features come one after another."""
        queries = data.queries
        digest = mixed(row_digests(data.X)) + bits_of(data.labels)
        digest = mixed(digest) + value_bits(queries.qid)[queries.row_codes()]
        total = int(mixed(digest).sum(dtype=np.uint64))
        weight = None if data.weight is None else tuple(data.weight.tolist())
        return (
            total, weight, data.asked.measures, str(self.zero_relevance),
            self.unjudged, self.missing, self.max_correlation, directions, self.qid,
        )  # fmt: skip

    def _show(
        self, data: TrainingData, alone: Alone, path: Path
    ) -> FusedRankingSelector:
        """All fitted attributes."""
        features = self._is_feature()
        columns = np.flatnonzero(features)
        rank = np.empty(len(columns), dtype=np.int64)
        rank[alone.ranking] = np.arange(1, len(columns) + 1)
        repeats = np.where(path.repeats < 0, -1, columns[path.repeats])
        names = direction_names(alone.ascending)
        self.measure_ = str(data.asked.measures[0])
        self.n_queries_ = data.queries.n_queries
        self.selection_order_ = columns[path.order]
        self.path_scores_ = path.scores
        self.support_ = np.isin(np.arange(len(features)), self.selection_order_)
        self.mean_ = spread_features(alone.mean.copy(), features, np.nan)
        self.ranking_ = spread_features(rank, features, len(features))
        self.repeats_ = spread_features(repeats, features, -1)
        self.directions_ = spread_features(names, features, "qid")
        options = ("measure", "missing", "zero_relevance", "unjudged", "qid", "n_jobs")
        ranker = FusedRanker(
            self.selection_order_.tolist(),
            direction=names[path.order].tolist(),
            **{name: getattr(self, name) for name in options},
        )
        turned = alone.ascending[path.order]
        self.ranker_ = adopted(ranker, self, data, path.order, turned)
        return self

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, in the order of their columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            The selected columns, of the type that `set_output` chooses; without a
            column, with a warning, if every feature is constant within every query.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`.
        """
        check_is_fitted(self)
        why_none = "" if self.support_.any() else _NOTHING
        return self._reduce(X, super().transform, why_none)

    def predict(self, X: Any, qid: Any = None) -> FloatArray:
        """Return the fused scores of the rows of X by the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            As `FusedRanker.predict` gives them.

        Raises
        ------
        ValueError
            If there are no query ids, or if X has other columns than in `fit`.
        """
        check_is_fitted(self)
        return self.ranker_.predict(X, qid)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "last"
        return tags


def _warn_of(path: Path, wanted: Any, number: int, n_features: int) -> None:
    """Say that there are too few features, or too few that are no copies."""
    found = len(path.order)
    copies = int((path.repeats[path.order] >= 0).sum())
    if not found:
        warn(_NOTHING)
    elif found < number and wanted != "auto":
        warn(
            f"n_features_to_select={wanted!r}, but only {found} of {n_features} "
            "features vary within a query: only these are selected"
        )
    if copies:
        warn(
            f"n_features_to_select={wanted!r}, but {copies} of the {found} features "
            "that are selected repeat others (max_correlation): no others were left"
        )
