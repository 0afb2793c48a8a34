"""Feature selection by the exact score of each feature alone as a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._engine.qid_column import spread_features
from ..evaluation._prepared_ranking import DEFAULT_MEASURES
from ..io._saved import Saved
from ..io._saved_file import Kept
from ..measures import Measure
from ._in_batches import FitsInBatches
from ._likeness import Likeness
from ._screening import Screening
from ._selected_features import nothing_passed, select_features
from ._selection import SelectionRule
from ._selector_files import kept_selector, selector_of


class RankingFeatureSelector(SelectorMixin, FitsInBatches, Saved, BaseEstimator):  # type: ignore[misc]
    r"""Select features by the exact score of each alone as a ranking.

    Every feature ranks the documents of every query by itself. Discrete features tie
    many documents, and each score is the exact mean over all orders of the ties.

    Parameters
    ----------
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures of the rankings, as in `parse_measure`.
    sort_by : str or Measure, optional
        The one of `measures` that alone decides directions, ranking and support; by
        default the first.
    n_features_to_select : int, float or None, default=None
        Number of the best features to keep; a float in (0, 1] is a share of all
        features. None keeps the features with a q-value of at most `alpha` and a lift
        of at least `min_lift`, the best first. A feature that is constant within every
        query is never kept.
    alpha : float, default=0.05
        False discovery rate among the features that are kept.
    min_lift : float, default=0.0
        Smallest lift, (mean - chance) / (ideal - chance), of a feature that is kept.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Which values rank first: higher ones ("descending"), lower ones ("ascending"),
        or those that give the better ranking by `sort_by` ("auto"); a list has one of
        these for each feature. With "auto", p-values are corrected for the choice.
    missing : {"raise", "last"}, default="raise"
        What to do with NaN in X: raise an error, or rank it below every value, in
        either direction, with all NaN tied.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`. Features are correlated over all
        documents, those that "drop" leaves out included.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); it is never a feature. By default `fit` takes ``qid``.
    max_correlation : float or None, default=0.95
        Greatest \|ρ\| of two selected features, in [0, 1], where ρ is the mean over
        queries of Spearman's rank correlation. A feature above it repeats the selected
        one and is left out; x, 2x + 1, log x and -x repeat each other. With
        `n_features_to_select`, repeats are selected, the best first, if nothing else
        remains, exact copies last and with a warning. 1 leaves out exact copies only,
        None nothing.
    diversity : float, default=0.4
        Share, in [0, 1], of being different from the features selected so far in the
        choice of the next, with `n_features_to_select` (see Notes). 0 is the order of
        `ranking_`.
    redundancy : bool or "auto", default="auto"
        Whether to correlate all pairs of features, so that `to_pandas` can name the
        better feature that a feature repeats; "auto" does so up to 1000 features.
        `max_correlation` and `diversity` need True or "auto": of more than 1000
        features, "auto" correlates in `fit` only those that come into question with
        those that are selected. `partial_fit`, `merge` and `adopt` have no rows for
        that, and need True, which takes 16 bytes for each pair.
    n_jobs : int, optional
        Number of threads over features (joblib); no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    mean_, best_, worst_, tie_std_ : ndarray of shape (n_features, n_measures)
        Mean over queries of the expected, best and worst values, and standard deviation
        of `mean_` over the orders of ties. They are NaN for the column of query ids.
    chance_, ideal_ : ndarray of shape (n_measures,)
        Mean over queries of the chance level and of the ideal value.
    lift_ : ndarray of shape (n_features, n_measures)
        (mean - chance) / (ideal - chance).
    interval_ : ndarray of shape (n_features, n_measures, 2)
        95% t interval of the mean over queries, clipped to the range of the measure.
    pvalues_ : ndarray of shape (n_features, n_measures)
        p-values of the one-sided paired t test over queries of the mean against chance,
        min(1, 2p) where both directions were tried.
    qvalues_ : ndarray of shape (n_features, n_measures)
        p-values adjusted over the features, by measure (Benjamini and Hochberg 1995).
    directions_ : ndarray of shape (n_features,) of str
        "descending" where higher values rank first, or "ascending".
    ranking_ : ndarray of shape (n_features,), int
        Ranks, 1 for the best; features with equal means rank in column order.
    support_ : ndarray of shape (n_features,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (n_selected,), int
        Indices of the selected features, in the order in which they were chosen.
    repeats_ : ndarray of shape (n_features,), int
        For a feature that is left out by `max_correlation`, the index of the selected
        feature that it repeats; -1 for every other feature.
    measures_ : tuple of str
        Canonical names of the measures, in the order of the columns above.
    rank_correlation_ : ndarray of shape (n_features, n_features) or None
        Mean over queries of Spearman's ρ of two rankings, each in its direction,
        without the column of query ids.
    screening_ : Screening
        All results, without the column of query ids.
    n_queries_, n_features_in_ : int
        Numbers of queries and of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X, where all are texts.

    See Also
    --------
    evaluate : Scores one ranking, query by query.
    RankingScoreFunc : The scores for scikit-learn's univariate filters.
    tieaware_sklearn.plots.FeatureScreeningDisplay : Draws the scores.

    Notes
    -----
    p-values need at least two queries. With fewer, they are NaN, and every feature that
    is not constant and repeats no other is kept, with a warning. The column that `qid`
    names is NaN in the attributes, last in `ranking_` and ``"qid"`` in `directions_`,
    and it is never selected; a list of directions leaves it out.

    With `n_features_to_select`, the best feature is chosen first, then always the
    feature with the greatest ``(1 - diversity) * lift / max(lift) - diversity * r``,
    where ``r`` is its greatest \|ρ\| with a chosen feature; equal values rank as in
    `ranking_`. This is maximal marginal relevance (Carbonell and Goldstein 1998), first
    used for features by Naini and Altingovde (2014). On four data sets
    (``python -m benchmarks.selection``: 779 queries, folds by query, 3 to 20 features),
    the defaults raised NDCG@10 of rankers trained on the selected features by 0.0144
    (95% half-width 0.0084) over the best single features: 0.0450 with 131 features,
    0.0136 with 207, 0.0042 with 40, and nothing certain with 19. 0.3 was best for the
    linear ranker, 0.5 for trees.
    Without `max_correlation`, no `diversity` keeps copies out.

    `save` keeps parameters and results of a fitted selector, for `transform` as for
    `partial_fit` and `merge`. What `set_output` and ``set_fit_request`` were told is
    not kept.

    A difference from chance of at most 1e-12 counts as no difference. McSherry and
    Najork (ECIR 2008) compared single web features by expected measures in this way.

    Examples
    --------
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, random_state=0)
    >>> selector = RankingFeatureSelector(n_features_to_select=3)
    >>> _ = selector.fit(web.data, web.target, qid=web.qid)
    >>> selector.get_feature_names_out(web.feature_names).tolist()
    ['clicks', 'page_visits', 'text_score']
    >>> [web.feature_names[j] for j in selector.selection_order_]
    ['clicks', 'text_score', 'page_visits']
    >>> web.feature_names[11], web.feature_names[selector.repeats_[11]]
    ('log_clicks', 'clicks')
    >>> web.feature_names[3], str(selector.directions_[3])
    ('url_length', 'ascending')
    """

    _kind: ClassVar[str] = "RankingFeatureSelector"
    # by metadata routing, ids come of themselves; weights may be a scorer's alone
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    __metadata_request__partial_fit: ClassVar = {"qid": True, "query_weight": False}

    def __init__(
        self,
        measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
        *,
        sort_by: str | Measure | None = None,
        n_features_to_select: int | float | None = None,
        alpha: float = 0.05,
        min_lift: float = 0.0,
        direction: str | Sequence[str] = "auto",
        missing: str = "raise",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        qid: str | int | None = None,
        max_correlation: float | None = 0.95,
        diversity: float = 0.4,
        redundancy: bool | str = "auto",
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.measures = measures
        self.sort_by = sort_by
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.min_lift = min_lift
        self.direction = direction
        self.missing = missing
        self.zero_relevance = zero_relevance
        self.unjudged = unjudged
        self.qid = qid
        self.max_correlation = max_correlation
        self.diversity = diversity
        self.redundancy = redundancy
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Score every feature and select the best ones.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Features. Each column of a data frame is compared in its own dtype, integers
            beyond 2^53 included. Masked values are missing.
        y : array-like of shape (n_rows,)
            Labels, finite and >= 0. NaN is unjudged.
        qid : array-like of shape (n_rows,), optional
            Query of each row, in any order. Without it, and without a column of ids,
            all rows are one query, with a warning. Equal ids, such as
            ``np.zeros(len(y))``, avoid the warning.
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
            If there are no query ids, too few queries to test, too few features, or if
            exact copies must be selected to reach `n_features_to_select`.
        """
        screening, rows = self._screened(X, y, qid, query_weight, whole=True)
        few = screening.rule.correlates
        return self._show(screening, None if few else rows.likeness(screening))

    def _show(self, screening: Screening, likeness: Likeness | None = None) -> Self:
        """All fitted attributes of a screening, and the selection.

        Correlations are those of the screening, unless `likeness` computes them.
        """
        rule = SelectionRule.of(self)
        selection = select_features(screening, rule, likeness)
        self._fitted_qid_ = self.qid
        return self._set(replace(screening, selection=selection))

    def _set(self, screening: Screening) -> Self:
        """All fitted attributes of a screening, of which features are selected."""
        selection: Any = screening.selection
        features = self._is_feature()

        def spread(values: NDArray[Any], of_qid: Any = np.nan) -> Any:
            # not the arrays of the screening, which others may hold
            return spread_features(values.copy(), features, of_qid)

        self.screening_ = screening
        self.measures_ = screening.measures
        self.n_queries_ = screening.n_queries
        self.chance_, self.ideal_ = screening.chance.copy(), screening.ideal.copy()
        self.mean_ = spread(screening.mean)
        self.best_, self.worst_ = spread(screening.best), spread(screening.worst)
        self.tie_std_, self.lift_ = spread(screening.tie_std), spread(screening.lift)
        self.interval_ = spread(screening.interval)
        self.pvalues_ = spread(screening.pvalues)
        self.qvalues_ = spread(screening.qvalues)
        self.directions_ = spread(np.array(screening.directions, dtype=object), "qid")
        self.ranking_ = spread(screening.ranking, len(features))
        columns = np.flatnonzero(features)
        self.selection_order_ = columns[selection.order]
        repeats = selection.repeats
        self.repeats_ = spread(np.where(repeats < 0, -1, columns[repeats]), -1)
        self.support_ = np.isin(np.arange(len(features)), self.selection_order_)
        correlation = screening.rank_correlation
        self.rank_correlation_ = None if correlation is None else correlation.copy()
        return self

    def _kept(self) -> Kept:
        check_is_fitted(self)
        return kept_selector(self)

    @classmethod
    def _of_kept(cls, kept: Kept) -> Self:
        selector, screening = selector_of(cls, kept)
        of: Self = selector._set(screening)
        return of

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            The selected columns, of the type that `set_output` chooses; without a
            column, with a warning, if no feature is selected.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`.
        """
        check_is_fitted(self)
        why_none = ""
        if not self.support_.any():
            why_none = nothing_passed(self.screening_, self.alpha, self.min_lift)
        return self._reduce(X, super().transform, why_none)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def to_pandas(self) -> Any:
        """Return the features as a `pandas.DataFrame`, the best first.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``rank``, ``direction``, ``selected`` and ``chosen``,
            the place in `selection_order_`, 1 for the first, missing if not selected.
            For each measure, a column of its name holds the mean, and columns whose
            names begin with it hold ``_interval_low`` and ``_interval_high`` (95%),
            ``_best``, ``_worst``, ``_tie_std``, ``_chance``, ``_lift``, ``_p`` and
            ``_q``. ``repeats`` is the feature of `repeats_` for which a feature was
            left out; for other features, it is the better-ranked feature with the most
            similar rankings. ``correlation`` is the mean over queries of their rank
            correlation. Both are missing without `redundancy`, and where no better
            feature has a positive correlation.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        check_is_fitted(self)
        return self.screening_.to_pandas()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "last"
        return tags
