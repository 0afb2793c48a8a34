"""Feature selection by the exact score of each feature alone as a ranking."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch, Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._display import words
from .._engine import checks, exact_numbers, feature_matrix, merging, seen_queries
from .._typing import BoolArray, FloatArray, IndexArray
from ..evaluation import _prepared, _resolved
from ..io import _arrow, _batches, _frames, _wording
from ..measures import Measure, _parse, parse_measure
from . import _feature_sums, _selection
from ._screening import Screening

#: Arrays of a screening that become attributes, with NaN for the column of query ids.
_FIGURES = "mean", "best", "worst", "tie_std", "lift", "interval", "pvalues", "qvalues"


class RankingFeatureSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Select features by the exact score of each feature as a ranking.

    Each feature alone ranks the documents of each query. Discrete features tie many
    documents, so each score is the expected value over all orders of the ties.

    Parameters
    ----------
    measures : str, Measure or list of them, default=("ndcg@10", "ap", "rr")
        Measures of the rankings, as in `parse_measure`.
    sort_by : str or Measure, optional
        The measure, among `measures`, that decides directions, ranking and support. By
        default, the first measure decides.
    n_features_to_select : int, float or None, default=None
        Number of features to keep, the best first. A float in (0, 1] is a share of all
        features, which is rounded down to an integer, but not to 0. None keeps the
        features with a q-value of at most `alpha` and a lift of at least `min_lift`. A
        feature that is constant within every query is never kept.
    alpha : float, default=0.05
        Largest q-value, in [0, 1], of a feature that is kept. `alpha` limits the false
        discovery rate, and is used only if `n_features_to_select` is None.
    min_lift : float, default=0.0
        Smallest lift of a feature that is kept. The lift is
        ``(mean - chance) / (ideal - chance)``, so `min_lift` must be at most 1.
        `min_lift` is used only if `n_features_to_select` is None.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Values that rank first: higher values ("descending"), lower values
        ("ascending"), or the values that give the better ranking by `sort_by` ("auto").
        A list contains one entry for each feature. With "auto", p-values are corrected
        for the choice of the direction.
    missing : {"raise", "last"}, default="raise"
        Treatment of NaN in X: raise an error, or rank NaN below every value, in either
        direction, with all NaN tied.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where a measure is undefined, such as NDCG without a relevant
        document, as in `ranking_score`. "skip" leaves these queries out, and "raise"
        raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        Treatment of documents whose label is NaN, as in `ranking_score`: raise an
        error, count the documents as not relevant, or leave them out. Correlations of
        features include the documents that "drop" leaves out.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index for
        arrays). The column is never a feature. By default, query ids are the argument
        ``qid`` of `fit`.
    max_correlation : float or None, default=0.95
        Largest \|ρ\| of two selected features, in [0, 1], where ρ is the mean of
        Spearman's rank correlation over queries. A feature whose \|ρ\| with a selected
        feature is above the limit repeats that feature and is left out. With 1, only
        exact copies are left out: features that rank alike or in exactly the reverse
        order, such as x, 2x + 1, log x and -x. With None, no feature is left out as a
        repeat. If `n_features_to_select` cannot be reached otherwise, repeats are
        selected, the best first. Exact copies are selected last, with a warning.
    diversity : float, default=0.0
        Weight, in [0, 1], of the differences between selected features. The lift of the
        features has the weight ``1 - diversity``. With 0, features are selected in the
        order of `ranking_`. `diversity` is used only with `n_features_to_select` (see
        Notes).
    redundancy : bool or "auto", default="auto"
        Whether to compute ρ for all pairs of features, so that `to_pandas` can name the
        better feature that a feature repeats. "auto" computes ρ for all pairs of up to
        1000 features. With more features, "auto" computes ρ only with the selected
        features, and only in `fit`. If `max_correlation` or `diversity` is used, False
        raises an error, and `partial_fit`, `merge`, `adopt` and `fit_batches` need True
        for more than 1000 features. The matrix of all pairs takes
        ``16 * n_features**2`` bytes of memory (four times as much with
        ``missing="last"``).
    n_jobs : int, optional
        Number of threads, which share the features (joblib). The number does not change
        the results.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    mean_, best_, worst_, tie_std_ : ndarray of shape (n_features, n_measures)
        Means over queries of the expected, best and worst values over the orders of
        ties, and standard deviation, over the orders of ties, of the mean over queries.
        The values are NaN for the column of query ids.
    chance_, ideal_ : ndarray of shape (n_measures,)
        Means over queries of the chance level and of the ideal value.
    lift_ : ndarray of shape (n_features, n_measures)
        (mean - chance) / (ideal - chance), or 0 where ideal equals chance.
    interval_ : ndarray of shape (n_features, n_measures, 2)
        95% t interval of the mean over queries, clipped to the range of the measure.
        The interval is NaN if the number of queries is below 2 (with weights, the
        effective number), or if all queries have the same value.
    pvalues_ : ndarray of shape (n_features, n_measures)
        One-sided p-values of the mean against chance: the larger of the p-value of the
        paired t test over queries and the p-value for randomly placed labels (see
        Notes). If both directions were tried, the p-values are doubled, to at most 1.
        No p-value is 0.
    qvalues_ : ndarray of shape (n_features, n_measures)
        p-values adjusted for the number of features, separately for each measure
        (Benjamini and Hochberg 1995).
    directions_ : ndarray of shape (n_features,) of str
        "descending" if higher values of the feature rank first, "ascending" if lower
        values rank first, and "qid" for the column of query ids.
    ranking_ : ndarray of shape (n_features,), int
        Ranks, 1 for the best. Features with equal means rank in column order. The
        column of query ids is last.
    support_ : ndarray of shape (n_features,), bool
        Whether a feature is selected.
    selection_order_ : ndarray of shape (n_selected,), int
        Indices of the selected features, in the order in which they were chosen.
    repeats_ : ndarray of shape (n_features,), int
        Index of the most similar selected feature, for a feature that is not selected
        and repeats a selected feature (see `max_correlation`). -1 for every other
        feature.
    measures_ : tuple of str
        Canonical names of the measures, in the order of the columns of ``mean_``.
    rank_correlation_ : ndarray of shape (n_features, n_features) or None
        Mean of Spearman's ρ of two features, each ranked in its direction, over the
        queries in which both features vary, or 0 if both vary in no query. The column
        of query ids has no row or column in this matrix. None if ρ was not computed for
        all pairs of features (see `redundancy`). With ``missing="last"``, x and -x are
        copies even if both have the same direction, but then their ρ in this matrix may
        differ from -1, because missing values are last in both rankings.
    screening_ : Screening
        All results, without the column of query ids.
    n_queries_ : int
        Number of queries.
    n_features_in_ : int
        Number of columns of X, including the column of query ids.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X. The attribute exists only if all names are strings.

    See Also
    --------
    evaluate : Scores one ranking, query by query.
    tieaware_sklearn.plots.FeatureScreeningDisplay : Draws the scores.

    Notes
    -----
    If a measure is averaged over fewer than two queries (with weights, fewer than two
    effective queries), its p-values are NaN. If `sort_by` is averaged over at most one
    query and `n_features_to_select` is None, every feature that is not constant and
    does not repeat a selected feature is selected, with a warning.

    The column `qid` is never selected. The scores and p-values of the column are NaN. A
    list of directions contains no entry for the column.

    The t test estimates the effect of chance from the spread between queries. If a rare
    flag misses the relevant document of every query, the differences from chance may
    all be equal, and the t test alone would be certain. So no p-value is below the
    p-value of a normal test, which uses the variance of the score over random
    placements of each query's labels on its documents. This variance is the variance of
    an all-tied list, times the share of the spread of rank weights that lies between
    the ties of the feature. For measures that are sums over documents (such as NDCG, P,
    R or R-precision), the variance is exact (Wald and Wolfowitz 1944). For RR and
    Success, the variance is computed in another way, and is also exact. For AP, and for
    ERR with several relevant documents, the variance is an approximation. For other
    measures, the variance of an all-tied list is used. This variance is not too small,
    unless it is estimated from sampled orders (IPrec, IAP). PRR is an exception: the
    expected value is a harmonic mean over orders, so the chance level is below the mean
    over random labels, and the p-values are too small. No p-value is below one divided
    by the number of ways to place the labels, or below 1e-300. With fewer than ten
    queries, p-values may still be too small for a measure that is often at its best by
    chance, such as RR with several relevant documents.

    With `n_features_to_select`, the best feature is chosen first. Among the features
    that repeat no chosen feature, the next feature has the greatest
    ``(1 - diversity) * lift / max(lift) - diversity * r``, where ``r`` is the greatest
    \|ρ\| with a chosen feature. If no lift is positive, lifts are divided by the
    greatest \|lift\|. Equal values rank as in `ranking_`. This rule is maximal marginal
    relevance (Carbonell and Goldstein 1998), first used for features by Naini and
    Altingovde (2014). Whether `diversity` helps depends on the data: compare values of
    `diversity` by cross-validation. Without `max_correlation`, `diversity` may select
    copies.

    `Screening.to_bytes` returns ``screening_`` as bytes, and `Screening.from_bytes`
    reads the bytes. `adopt` then fits another selector that has the same parameters.
    The other selector can `transform`, `partial_fit` and `merge`.

    A difference from chance counts as 0 if it is at most 1e-12 of the ideal value of
    the query (or of the chance level, if lower values are better). McSherry and Najork
    (ECIR 2008) proposed the expected values of measures over the orders of ties.

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

    # Metadata routing passes query ids by default. Weights may be meant for a scorer.
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    __metadata_request__partial_fit: ClassVar = {"qid": True, "query_weight": False}
    # The link in the HTML that notebooks show for an estimator.
    _doc_link_module = "tieaware_sklearn"
    _doc_link_template = f"{words.REFERENCE}/tieaware_sklearn.{{estimator_name}}.html"

    screening_: Screening
    support_: BoolArray
    n_features_in_: int
    _is_feature_: BoolArray
    _fitted_qid_: str | int | None

    def __init__(
        self,
        measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
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
        diversity: float = 0.0,
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
        """Score every feature and select the best features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Features. Each column of a data frame is compared in its own dtype, so large
            integers are not rounded. Masked arrays are refused.
        y : array-like of shape (n_rows,)
            Labels, finite and >= 0. NaN means unjudged (see `unjudged`).
        qid : array-like of shape (n_rows,), optional
            Query of each row, in any order. Without `qid`, and without a column of
            query ids, all rows are one query, with a warning. Equal ids, such as
            ``np.zeros(len(y))``, avoid the warning.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query, >= 0, constant within a query, and above 0 for
            at least one query. Metadata routing passes weights after
            ``set_fit_request(query_weight=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input or a parameter breaks a rule above, if query ids are passed
            although a column of X contains query ids, or if there are more than 50 rows
            and each row is a query of its own.

        Warns
        -----
        UserWarning
            If there are no query ids, if `n_features_to_select` is None and there are
            fewer than two queries to test features, or if fewer than
            `n_features_to_select` features vary within a query. Also if exact copies
            must be selected to reach `n_features_to_select`, if there are more than 50
            queries and no feature varies within a query, if no document is relevant for
            a measure although labels are above 0, or if there are 2 to 50 rows and each
            row is a query of its own.
        """
        screening, features, prepared = self._screened(
            X, y, qid, query_weight, is_whole=True
        )
        return self._show(screening, features, prepared)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Add queries to the fitted statistics, for data that do not fit in memory.

        Parameters
        ----------
        X, y, qid, query_weight
            As in `fit`, but the weights may all be 0. All rows of a query must be
            passed in one call. Without query ids, the rows are one more query.

        Returns
        -------
        self
            The selector, with the results of one `fit` on the rows of all calls, up to
            rounding.

        Raises
        ------
        ValueError
            As in `fit`, except that each row may be a query of its own. Also if a query
            was passed in an earlier call, if the columns of X differ between calls, if
            a parameter that affects the statistics was changed between calls, or if
            only some calls pass weights. Also if `max_correlation` or `diversity` is
            used with more than 1000 features, and `redundancy` is not True. An error
            does not change the results of earlier calls.

        Warns
        -----
        UserWarning
            As in `fit`, but labels are not compared with the relevance thresholds of
            the measures, and each row may be a query of its own.

        Notes
        -----
        Queries are recognised by 64-bit digests of their ids, which take 80 MB for ten
        million queries. A screening contains these digests, but not the ids. The
        probability that two of n ids have the same digest is about n² / 2⁶⁵, or 3·10⁻⁶
        for ten million queries. An error is raised if ids of two calls have the same
        digest. Without query ids, rows that are passed again are counted again.
        """
        is_first = not hasattr(self, "screening_")
        if not is_first:
            self._check_unchanged()
        screening, _, _ = self._screened(X, y, qid, query_weight)
        if not is_first:
            screening = self.screening_.merge(screening)
        return self._show(screening)

    def merge(self, other: Self) -> Self:
        """Add the statistics of a selector fitted on other queries.

        Parameters
        ----------
        other : RankingFeatureSelector
            Another selector, fitted with the same measures, options and features. The
            queries must have weights in both selectors or in neither.

        Returns
        -------
        self
            The selector, with the results of one `fit` on all rows, up to rounding.

        Raises
        ------
        ValueError
            If `other` is not another selector, if the measures, options or features
            differ, if only one selector has weights, if a parameter of this selector
            that affects the statistics was changed after fitting, if the two selectors
            have a query in common, or if there are too many features, as in
            `partial_fit`. The selector then stays as it was. For queries in common, the
            message states their number, but not their ids, because a selector keeps
            only digests of ids.
        NotFittedError
            If this selector or `other` is not fitted.

        Warns
        -----
        UserWarning
            If the selection of features causes a warning, as in `fit`.
        """
        check_is_fitted(self)
        if not isinstance(other, RankingFeatureSelector) or other is self:
            raise ValueError(
                f"other must be another {type(self).__name__}, got {other!r}"
            )
        check_is_fitted(other)
        self._check_unchanged()
        return self._show(self.screening_.merge(other.screening_))

    def screen(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> Screening:
        """Score every feature without fitting the selector.

        Screenings can be merged if all rows of each query are in a single screening.
        `adopt` fits a selector with the merged screening.

        Parameters
        ----------
        X, y, qid, query_weight
            As in `fit`, but the weights may all be 0.

        Returns
        -------
        Screening
            Scores of the features. No feature is selected.

        Raises
        ------
        ValueError
            As in `fit`, except that each row may be a query of its own, and that
            `redundancy` may be False.

        Warns
        -----
        UserWarning
            If there are no query ids.
        """
        copy = clone(self)
        screening, _, _ = copy._screened(X, y, qid, query_weight, selects=False)
        return screening

    def adopt(self, screening: Screening, X: Any) -> Self:
        """Fit the selector with a screening made elsewhere, such as on a cluster.

        Parameters
        ----------
        screening : Screening
            A screening with the measures and options of this selector.
        X : array-like, sparse matrix or data frame
            Data with the columns that were screened, and with any number of rows. Only
            the number and the names of the columns are read.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `screening` is not a `Screening`, if its measures, options or features
            differ, or if the selection needs correlations that are missing, as in
            `partial_fit`. The selector then stays as it was.

        Warns
        -----
        UserWarning
            If the selection of features causes a warning, as in `fit`.
        """
        if not isinstance(screening, Screening):
            raise ValueError(f"screening must be a Screening, got {screening!r}")
        # A copy reads the columns first, because an error must not change the selector.
        names = clone(self)._read_columns(X)
        n_features = len(names)
        screened = list(screening.feature_names)
        # Data without names fit any names, and default names fit any data.
        default = [f"x{j}" for j in range(n_features)]
        fits = screened in (names, default) or not feature_matrix.list_columns(X)
        if not fits or len(screened) != n_features:
            raise ValueError(
                f"screening must have the {n_features} features of X "
                f"({', '.join(names)}), got {len(screened)} ({', '.join(screened)})"
            )
        rule = self.rule_for(n_features)
        if screening.rule.filled != rule.filled:
            raise ValueError(
                "screening must be made with the measures and options of the selector, "
                f"{rule.filled}, got {screening.rule.filled}"
            )
        self.check_correlated(rule)
        self._read_columns(X)
        return self._show(screening.named(names))

    def fit_batches(
        self,
        batches: Iterable[Any],
        *,
        label: str = "label",
        qid: str = "qid",
        features: Sequence[str] | None = None,
        query_weight: str | None = None,
        batch_rows: int | None = None,
    ) -> Self:
        """Fit the selector on batches of whole queries, for data larger than memory.

        Parameters
        ----------
        batches : iterable of data frames, Arrow tables or Arrow record batches
            Data frames of pandas, polars or another library that narwhals supports,
            Arrow tables or record batches, all of one kind, with one row per document.
            All rows of a query must be in one batch, in any order. If the rows of each
            query are contiguous, `tieaware_sklearn.datasets.whole_queries` makes
            batches of whole queries. For batches from
            `tieaware_sklearn.datasets.iter_batches`, the other parameters are ignored.
        label, qid : str, default="label", "qid"
            Columns with labels and query ids.
        features : list of str, optional
            Columns to screen. By default, all other columns of numbers or Booleans in
            the first batch are screened, including categorical columns whose categories
            are numbers or Booleans. In this case, all batches must have the same
            columns, and a warning names the columns that are left out.
        query_weight : str, optional
            A column with the weight of each document's query, as in `fit`.
        batch_rows : int, optional
            Minimum number of rows to gather before they are screened. By default, rows
            are gathered until they contain about four million feature values (32 MB).

        Returns
        -------
        self
            The selector, with the results of one `fit` on all rows, up to rounding. The
            results of an earlier fit are discarded.

        Raises
        ------
        ValueError
            As in `fit`, except that each row may be a query of its own. If an error
            concerns a single batch, the message contains the number of the batch,
            counted from 0. Also if a query is in two batches (the message names the
            query), or if ids have another type than in the first batch (for example,
            text after integers). Also if a batch lacks a column, if a column is named
            twice, if batches are not tables, if batches are of different kinds, or if
            there is no row or no column to screen. Also if the selector reads query ids
            from a column of X, or if there are more than 1000 features to correlate, as
            in `partial_fit`. The selector then stays as it was.
        ImportError
            If the batches are tables and pyarrow is not installed.

        Warns
        -----
        UserWarning
            As in `partial_fit`. Also if columns are left out because the columns are
            not numeric.

        See Also
        --------
        tieaware_sklearn.evaluate_batches : Exact scores of one column.
        tieaware_sklearn.dask.fit_selector : Fits a selector on a cluster.

        Examples
        --------
        >>> import pandas as pd
        >>> from tieaware_sklearn import RankingFeatureSelector
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=200, random_state=0)
        >>> rows = pd.DataFrame(web.data, columns=web.feature_names)
        >>> rows = rows.assign(label=web.target, qid=web.qid)
        >>> batches = [rows[rows.qid % 4 == part] for part in range(4)]
        >>> selector = RankingFeatureSelector(n_features_to_select=3)
        >>> selector.fit_batches(batches).get_feature_names_out().tolist()
        ['clicks', 'page_visits', 'text_score']
        """
        if self.qid is not None:
            raise ValueError(
                "qid of the constructor must be None for fit_batches, got "
                f"{self.qid!r}: pass the name of the column as qid to fit_batches"
            )
        if batch_rows is not None:
            checks.check_count(batch_rows, "batch_rows")
        remaining = iter(batches)
        first = next(remaining, None)
        if first is None:
            raise ValueError("batches must contain at least one row, got none")
        batches = chain([first], remaining)
        if isinstance(first, Bunch):
            X = first.data
            parts = self._screen_bunches(batches)
        else:
            row_columns = [label, qid]
            if query_weight is not None:
                row_columns.append(query_weight)
            chosen = [] if features is None else list(features)
            names = [*row_columns, *chosen]
            piece = next(_frames.pieces([first], names, empty=True))
            if features is None:
                chosen = _numeric_columns(piece, row_columns)
                names += chosen
            if not chosen:
                raise ValueError(
                    "features must name at least one column, or batches must contain a "
                    "numeric column besides label, qid and query_weight, got none"
                )
            _arrow.check_different(names, "label, qid, query_weight and features")
            X = piece.to_arrow(chosen)

            def screen_rows(rows: Any) -> Screening:
                values = [rows.column(name) for name in row_columns]
                part = self.screen(rows.select(chosen), *values)
                return replace(part, label=str(label))

            n_rows = _batches.rows_of_batch(batch_rows, len(chosen))
            alike = features is None
            tables = _frames.gathered(batches, names, qid, n_rows, alike=alike)
            parts = (_frames.of_all(rows, screen_rows) for rows in tables)
        gathered: list[Screening] = []
        for part in parts:
            merging.gather(gathered, part, Screening.merge, lambda s: s.n_queries)
        if not gathered:
            raise ValueError("batches must contain at least one row, got none")
        whole = gathered[0].merge(*gathered[1:])
        if query_weight is not None and not whole.statistics.of_labels.weight.any():
            raise ValueError(f"{query_weight} must not be 0 in every query")
        return self.adopt(whole, X)

    def _screen_bunches(self, batches: Iterable[Bunch]) -> Iterator[Screening]:
        """Yield the screening of each batch that `iter_batches` returned."""
        first_names = first_type = None
        seen = seen_queries.SeenQueries()
        for number, batch in enumerate(batches):
            names = list(batch.feature_names)
            # Batches may store ids of one Python type in different dtypes.
            id_type = type(np.asarray(batch.qid)[:1].tolist()[0]).__name__
            if first_names is None:
                first_names = names
                first_type = id_type
            if names != first_names:
                raise ValueError(
                    "batches must all have the same features, got "
                    f"{_wording.listed(first_names)} first and "
                    f"{_wording.listed(names)} in batch {number}"
                )
            if id_type != first_type:
                raise ValueError(
                    f"batch {number}: query ids must have the same type as in the "
                    f"first batch, got {id_type} after {first_type}"
                )
            ids = np.unique(batch.qid)
            repeated = seen.add(ids)
            if repeated is not None:
                raise ValueError(
                    f"batch {number}: query {ids[repeated].item()!r} is already in an "
                    "earlier batch, but all rows of a query must be in one batch"
                )
            try:
                yield self.screen(batch.data, batch.target, batch.qid)
            except ValueError as error:
                raise ValueError(f"batch {number}: {error}") from None

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, in the order of their columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Data with the columns passed to `fit`, including the column of query ids, if
            the parameter `qid` names a column.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            The selected columns, of the type that `set_output` chooses. If no feature
            is selected, the result contains no column, and a warning is issued.

        Raises
        ------
        ValueError
            If the columns of X differ from the columns in `fit`, if X is a masked
            array, or if X contains NaN and `missing` is "raise".
        NotFittedError
            If the selector is not fitted.
        """
        check_is_fitted(self)
        exact_numbers.check_not_masked(X, "X")
        if self.qid is not None:
            X = feature_matrix.blank_qid_column(X, self.qid)
        if not self.support_.any():
            words.warn(self._why_none())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No features were selected")
            chosen = super().transform(X)
        is_objects = isinstance(chosen, np.ndarray) and chosen.dtype.kind == "O"
        if self.qid is None or not is_objects:
            return chosen
        # If query ids are text, the numbers beside them are objects.
        finite = "allow-nan" if self.missing == "last" else True
        return check_array(chosen, ensure_all_finite=finite, ensure_min_features=0)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "last"
        return tags

    def _names(self) -> list[str]:
        """Return the names of the features, by default x0, x1, ... by column of X."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in np.flatnonzero(self._is_feature_)]
        return [str(name) for name in names[self._is_feature_]]

    def _read_columns(self, X: Any, *, reset: bool = True) -> list[str]:
        """Record the columns of X, or check them if not `reset`. Return `_names`."""
        X = feature_matrix.as_matrix(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self._is_feature_ = feature_matrix.are_features(X, self.qid)
        return self._names()

    def _check_features(self, X: Any, qid: Any, reset: bool) -> tuple[Any, Any]:
        """Return the checked features as a matrix, and the query ids."""
        names = self._read_columns(X, reset=reset)
        features, qid = feature_matrix.resolve_qid(X, self.qid, qid)
        hint = (
            (". If the column contains query ids, set qid={}")
            if self.qid is None
            else ""
        )
        feature_matrix.check_kinds(features, hint=hint)
        feature_matrix.check_any_feature(features, self.qid)
        matrix = check_array(
            features,
            estimator=self,
            input_name="X",
            accept_sparse=("csc", "csr"),
            # NaN is refused below, with an error that names `missing`.
            ensure_all_finite="allow-nan",
        )
        matrix = feature_matrix.keep_order(matrix, features)
        if self.missing == "raise":
            columns = None
            if hasattr(self, "feature_names_in_"):
                columns = names
            feature_matrix.check_no_nan(matrix, columns)
        return matrix, qid

    def _screened(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any,
        query_weight: ArrayLike | None,
        *,
        is_whole: bool = False,
        selects: bool = True,
    ) -> tuple[Screening, Any, _prepared.Prepared]:
        """Return the screening of these queries, their features and their labels.

        With `is_whole`, the data are all rows. Otherwise, the data are a part, and
        other parts may come before or after this part. If `selects` is False, no
        feature is selected afterwards, so the correlations that a selection needs may
        be missing.
        """
        is_first = is_whole or not hasattr(self, "screening_")
        features, qid = self._check_features(X, qid, reset=is_first)
        rule = self.rule_for(features.shape[1])
        if selects:
            self.check_correlated(rule, has_rows=is_whole)
        class_name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{class_name} requires y to be passed, but the target y is None"
            )
        single_documents = "raise" if is_whole else "accept"
        prepared = _prepared.prepare(
            y,
            qid,
            query_weight,
            X=X,
            names=_prepared.ROW_NAMES,
            unjudged=rule.resolved.unjudged,
            # Queries of other parts may have positive weights.
            allow_zero=not is_whole,
            keep=True,
            single_documents=single_documents,
        )
        queries = prepared.queries
        ids = queries.qid
        if qid is None:
            # Without ids, no query is recognised again.
            ids = ids[:0]
            option = f"{class_name}(qid=<name or index>)"
            advice = feature_matrix.how_to_pass_qid(option)
            feature_matrix.warn_one_query(queries.n_rows, f"pass qid to fit. {advice}")
        if is_whole:
            rule.resolved.warn_below_rel(prepared.labels)
        digests = seen_queries.id_digests(ids)
        weighted = query_weight is not None
        if not is_first:
            fitted = self.screening_
            if weighted != fitted.weighted:
                kinds = {True: "weights", False: "none"}
                raise ValueError(
                    "query_weight must be given for all queries or for none, got "
                    f"{kinds[weighted]} after queries with {kinds[fitted.weighted]}"
                )
            is_known = seen_queries.known(digests, fitted.query_digests)
            if is_known.any():
                query = queries.name(int(np.argmax(is_known)))
                raise ValueError(
                    "qid must have all rows of a query in one call of partial_fit, got "
                    f"query {query} again"
                )
        statistics = _feature_sums.feature_statistics(
            features, prepared, rule, self.n_jobs, self.progress
        )
        names = tuple(self._names())
        digests = np.sort(digests)
        screening = Screening(names, rule, statistics, digests, weighted=weighted)
        return screening, features, prepared

    def rule_for(self, n_features: int) -> _selection.Rule:
        """Check all parameters, and return their rule for this number of features."""
        number = self.n_features_to_select
        fits = number is None
        if isinstance(number, (int, np.integer)):
            fits = number >= 1 and not isinstance(number, bool)
        elif isinstance(number, (float, np.floating)):
            fits = 0 < number <= 1
        if not fits:
            raise ValueError(
                "n_features_to_select must be an integer >= 1, a share in (0, 1] or "
                f"None, got {number!r}"
            )
        for name, least in (("alpha", 0.0), ("min_lift", -np.inf), ("diversity", 0.0)):
            value = getattr(self, name)
            if not checks.is_number(value, most=1, least=least):
                raise ValueError(
                    f"{name} must be a finite number in [{least:g}, 1], got {value!r}"
                )
        limit = self.max_correlation
        if limit is not None and not checks.is_number(limit, most=1, least=0):
            raise ValueError(
                f"max_correlation must be in [0, 1] or None, got {limit!r}"
            )
        checks.check_choice(self.missing, "missing", ("raise", "last"))
        checks.check_choice(self.redundancy, "redundancy", (True, False, "auto"))
        checks.check_flag(self.progress, "progress")
        measures = tuple(_parse.parse_measures(self.measures))
        first = measures[0] if self.sort_by is None else parse_measure(self.sort_by)
        if first not in measures:
            raise ValueError(
                f"sort_by must be one of {list(map(str, measures))}, got {first}"
            )
        directions = _selection.each_direction(self.direction, n_features)
        _resolved.check_zero_relevance(self.zero_relevance)
        correlates = self.redundancy is True
        if self.redundancy == "auto":
            correlates = n_features <= _selection.AUTO_REDUNDANCY
        return _selection.Rule(
            measures=measures,
            sort=measures.index(first),
            directions=directions,
            missing=self.missing,
            zero_relevance=self.zero_relevance,
            unjudged=self.unjudged,
            correlates=correlates,
        )

    def _correlation_parameters(self) -> list[str]:
        """Return the parameters that need correlations of features."""
        parameters = []
        if self.max_correlation is not None:
            parameters.append("max_correlation")
        if self.n_features_to_select is not None and self.diversity > 0:
            parameters.append("diversity")
        return parameters

    def check_correlated(
        self, rule: _selection.Rule, *, has_rows: bool = False
    ) -> None:
        """Raise an error if the selection needs correlations that are not computed.

        With `has_rows`, ``redundancy="auto"`` can compute correlations when needed.
        """
        parameters = self._correlation_parameters()
        if not parameters or rule.correlates:
            return
        if self.redundancy is False or not has_rows:
            needs = " and ".join(f"{name}={getattr(self, name)}" for name in parameters)
            raise ValueError(
                f"redundancy must be True with {needs}, or 'auto' in a single fit or "
                f"with at most {_selection.AUTO_REDUNDANCY} features, got "
                f"{self.redundancy!r} and {len(rule.directions)} features. The "
                "correlations of all pairs take 16 bytes per pair. To select without "
                "correlations, set max_correlation=None and diversity=0"
            )

    def _check_unchanged(self) -> None:
        """Refuse parameters that were changed after the first queries."""
        screening = self.screening_
        rule = self.rule_for(len(screening.feature_names))
        is_same_rule = rule.filled == screening.rule.filled
        if self.qid != self._fitted_qid_ or not is_same_rule:
            raise ValueError(
                "parameters that affect the statistics (measures, sort_by, direction, "
                "missing, zero_relevance, unjudged, redundancy and qid) must not "
                f"change after fitting, got {self!r}"
            )
        self.check_correlated(rule)

    def _show(
        self,
        screening: Screening,
        X: Any = None,
        prepared: _prepared.Prepared | None = None,
    ) -> Self:
        """Set all fitted attributes from a screening, and select features.

        If the screening has no correlations, they are computed from X when needed.
        """
        selection = self._select(screening, X, prepared)
        is_feature = self._is_feature_
        spread = partial(feature_matrix.spread_features, is_feature=is_feature)
        self._fitted_qid_ = self.qid
        # The copy computes its own arrays, because users may change the attributes.
        self.screening_ = replace(screening, selection=selection)
        self.measures_ = screening.measures
        self.n_queries_ = screening.n_queries
        self.chance_ = screening.chance
        self.ideal_ = screening.ideal
        for name in _FIGURES:
            values = spread(getattr(screening, name), fill_value=np.nan)
            setattr(self, f"{name}_", values)
        directions = np.array(screening.directions, dtype=object)
        self.directions_ = spread(directions, fill_value="qid")
        self.ranking_ = spread(screening.ranking, fill_value=len(is_feature))
        columns = np.flatnonzero(is_feature)
        self.selection_order_ = columns[selection.order]
        repeats = selection.repeats
        repeated_columns = np.where(repeats < 0, -1, columns[repeats])
        self.repeats_ = spread(repeated_columns, fill_value=-1)
        self.support_ = np.zeros(len(is_feature), dtype=bool)
        self.support_[self.selection_order_] = True
        self.rank_correlation_ = screening.rank_correlation
        # `fit` refuses ids that differ in every row. Parts of data are not checked for
        # such ids, but then no feature varies.
        if screening.n_queries > checks.FEW_ROWS and not screening.varies.any():
            words.warn(self._why_none())
        return self

    def _select(
        self, screening: Screening, X: Any, prepared: Any
    ) -> _selection.Selection:
        """Return the best features, or the features that beat chance."""
        ascending = screening.ascending
        n_features = len(ascending)
        limit = self.max_correlation
        similarity = None
        if self._correlation_parameters():

            def correlate(chosen: IndexArray) -> FloatArray:
                correlation = _feature_sums.feature_correlation(
                    X[:, chosen],
                    prepared,
                    self.missing == "last",
                    self.n_jobs,
                    rounded=True,
                )
                return correlation.similarity(ascending[chosen])

            correlation = screening.statistics.correlation
            rho = np.empty((0, 0))
            place = np.full(n_features, -1)
            if correlation is not None:
                rho = correlation.similarity(ascending)
                place = np.arange(n_features)
            most = np.inf if limit is None else min(limit, _selection.BELOW_1)
            similarity = _selection.Similarity(rho, place, most, correlate)
        number = self.n_features_to_select
        by_number = number is not None
        sort = screening.rule.sort
        lift = screening.lift[:, sort]
        varies = screening.varies
        usable = varies
        n_queries = int(screening.n_averaged[sort])
        if not by_number and n_queries >= 2:
            is_significant = screening.qvalues[:, sort] <= self.alpha
            usable = varies & is_significant & (lift >= self.min_lift)
        elif not by_number:
            condition = "" if limit is None else " and does not repeat another feature"
            words.warn(
                f"p-values need at least two queries, got {n_queries}, so every "
                f"feature that is not constant{condition} is selected"
            )
        best = np.argsort(screening.ranking)
        best = best[usable[best]]
        n_selected = len(best)
        if number is not None:
            n_selected = _selection.number_of(number, n_features, n_selected)
        order, n_copies = _selection.choose_greedily(
            best,
            lift[best],
            n_selected,
            diversity=self.diversity if by_number else 0.0,
            similarity=similarity,
            fill=by_number,
        )
        if n_copies:
            are = "is a copy of another" if n_copies == 1 else "are copies of others"
            words.warn(
                f"n_features_to_select={number!r}, but only {n_selected - n_copies} "
                f"features rank differently: {n_copies} of the selected features {are}"
            )
        repeats, rho = _selection.find_repeats(varies, order, similarity)
        return _selection.Selection(order, repeats, rho, by_number)

    def _why_none(self) -> str:
        """Return why no feature is selected, for a message."""
        screening = self.screening_
        if not screening.varies.any():
            return (
                "no feature is selected: each feature is constant within every query. "
                "If qid contains ids of rows or documents, pass query ids instead"
            )
        best = int(np.argmin(screening.ranking))
        sort = screening.rule.sort
        return (
            f"no feature is selected: by {screening.sort_by}, none has a q-value of at "
            f"most alpha={self.alpha!r} and a lift of at least "
            f"min_lift={self.min_lift!r}. The best, {screening.feature_names[best]!r}, "
            f"has q = {screening.qvalues[best, sort]:.3g} and lift = "
            f"{screening.lift[best, sort]:.3g}. To select a fixed number of the best "
            "features, set n_features_to_select"
        )

    def to_pandas(self) -> Any:
        """Return the scores as a `pandas.DataFrame`, the best feature first.

        Returns
        -------
        pandas.DataFrame
            One row for each feature, with these columns:

            - ``rank``, ``feature``, ``direction``: rank, name and direction;
            - ``selected``: whether the feature is selected;
            - ``chosen``: position in `selection_order_`, from 1. The value is missing
              for a feature that is not selected;
            - for each measure, a column named after the measure, which contains the
              mean. The names of further columns add ``_interval_low`` and
              ``_interval_high`` (95%), ``_best``, ``_worst``, ``_tie_std``,
              ``_chance``, ``_lift``, ``_pvalue`` and ``_qvalue`` to the name of the
              measure;
            - ``repeats``: name of the selected feature that the feature repeats. If
              `repeats_` is -1 for the feature, name of the better-ranked feature with
              the greatest rank correlation;
            - ``correlation``: mean over queries of the rank correlation with the
              feature in ``repeats``.

            If `repeats_` is -1 for a feature, ``repeats`` and ``correlation`` are
            missing if correlations were not computed for all pairs of features (see
            `redundancy`), or if no better-ranked feature has a positive correlation.

        Raises
        ------
        NotFittedError
            If the selector is not fitted.
        ImportError
            If pandas is not installed.
        """
        check_is_fitted(self)
        return self.screening_.to_pandas()


def _numeric_columns(piece: _frames.Piece, row_columns: Sequence[str]) -> list[str]:
    """Return the columns of numbers, except the columns of labels, ids and weights."""
    names = piece.frame.columns
    numeric = _arrow.numeric(piece.to_arrow(names).schema)
    chosen = [name for name in numeric if name not in row_columns]
    left_out = [name for name in names if name not in (*row_columns, *chosen)]
    if chosen and left_out:
        words.warn(
            "columns that are not numeric are not screened: "
            f"{_wording.listed(left_out)}. To silence this warning, list the columns "
            "to screen in features"
        )
    return chosen
