"""Features fused by their Borda scores, and selected by how good that ranking is."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._display import progress_bars, words
from .._engine import checks, feature_matrix, messages, segments, split_queries, threads
from .._engine.segments import FloatArray, IntArray
from .._kernel import midranks
from ..evaluation import _averages, _blocks, _intervals, _prepared, _resolved
from ..measures import Measure, parse_measure
from ..model_selection import _splits
from ..rankers import _query_ranker
from . import _selection, _statistics


class FusedRanker(_query_ranker.RankerMixin, _statistics.FeatureColumns, BaseEstimator):  # type: ignore[misc]
    """Rank by the Borda fusion of features, given or selected one after another.

    Each feature ranks the documents of a query by itself. The document at midrank m of
    n gets the Borda score n + 1 - 2m. Its fused score is the sum over the features. All
    scores are whole numbers, so no rounding makes or breaks a tie. Documents that tie
    by every feature tie in the fused ranking, too.

    With `n_features_to_select`, features are selected one after another. The first is
    the one that ranks best alone. Each further feature gives the best ranking when
    fused with those chosen before, by the mean of the exact measure over queries. A
    feature that repeats the chosen ones adds little, and a feature that is weak alone
    may add much.

    Parameters
    ----------
    features : list of str or int, optional
        The columns of X to fuse, or to select from: names of columns of data frames, or
        indices. By default all.
    measure : str or Measure, default="ndcg@10"
        Measure of the rankings, as in `parse_measure`.
    n_features_to_select : int, float, "cv" or None, default=None
        Number of features to select. A float in (0, 1] is a share of `features`. "cv"
        chooses the number by cross-validation over queries. None fuses all `features`.
        A feature that is constant within every query is never selected.
    max_correlation : float or None, default=0.95
        Largest absolute rank correlation with a chosen feature (mean over queries of
        Spearman's ρ). A feature above it is selected only if no others are left, and
        never by "cv". None considers all.
    max_features : int, default=20
        Largest number of features that "cv" tries.
    cv : int or cross-validator, default=5
        Number of folds of `QueryKFold` for "cv", or a cross-validator, which is given
        the query ids as `groups`.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        Which values rank first: higher ones ("descending"), lower ones ("ascending"),
        or those that give the better ranking by the feature alone ("auto"). A list has
        one entry for each of `features`. The direction of a feature stays the same at
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
        Mean of the measure over the training queries after each choice, if features are
        selected. The features were chosen to make these values high, so they are
        optimistic: expect less on other queries.
    support_ : ndarray of shape (n_features,), bool
        Which columns of X are fused.
    mean_ : ndarray of shape (n_features,)
        Mean over queries of the measure of each feature alone, in its direction. NaN
        for the column of query ids and for columns that are not in `features`.
    directions_ : ndarray of shape (n_features,) of str
        "descending" if higher values rank first, or "ascending". It is ``"qid"`` for
        the column of query ids and ``"none"`` for columns that are not in `features`.
    ranking_ : ndarray of shape (n_features,), int
        Ranks of the features alone, 1 for the best. Features with equal means rank in
        the order of `features`. Columns that are not in `features` are last.
    repeats_ : ndarray of shape (n_features,), int
        The first chosen column that correlates with the feature above
        `max_correlation`, or -1. Only if features are selected.
    cv_results_ : dict of str to ndarray of shape (n_numbers,)
        Only with "cv". ``n_features`` counts from 1, up to the number at which some
        fold has only features left that repeat others. ``mean_test_score`` is the mean
        of the measure over queries that features were not chosen on. ``loss`` is how
        much worse this is than the best, and ``standard_error`` its standard error over
        queries.
    measure_ : str
        Canonical name of the measure.
    n_queries_, n_features_in_ : int
        Numbers of queries and of columns of X, including `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X, if all are strings.

    See Also
    --------
    RankingFeatureSelector : Selects by the scores of single features, with tests.
    LinearRanker : Ranks by a weighted sum of the values of features.

    Notes
    -----
    A Borda score depends on the other documents of the query: give `predict` all rows
    of a query in one call.

    If features fuse equally well, to 1e-12, the one that is better alone is chosen. No
    result depends on the order of rows or on threads. Selections are nested:
    ``selection_order_[:5]`` are the features that ``n_features_to_select=5`` selects.

    "cv" selects the smallest number of features whose held-out mean is at most one
    standard error worse than the best. This is the standard error of the paired
    difference. The standard error of a mean is larger and would select too few
    features.

    Greedy forward selection for a combination is due to Caruana et al. (Ensemble
    selection from libraries of models, ICML 2004), and Borda fusion of rankings to
    Aslam and Montague (Models for metasearch, SIGIR 2001).

    Examples
    --------
    >>> from tieaware_sklearn import FusedRanker
    >>> X = [[3, 10], [2, 30], [2, 20], [1, 20], [5, 10], [4, 20]]
    >>> qid = [1, 1, 1, 1, 2, 2]
    >>> ranker = FusedRanker(direction="descending").fit(X, [0, 1, 1, 0, 0, 1], qid=qid)
    >>> ranker.predict(X, qid=qid)
    array([ 0.,  3.,  0., -3.,  0.,  0.])

    Select features and rank by them:

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
            Features. Each column of a data frame is compared in its own dtype, even
            integers beyond 2^53. Masked arrays are refused.
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
            If there are no query ids, if too few features vary within a query, or if
            selected features repeat others.
        """
        wanted, limit = self.n_features_to_select, self.max_correlation
        checks.check_choice(self.missing, "missing", ("raise", "last"))
        if not (isinstance(wanted, str) and wanted == "cv"):
            _selection.check_number(wanted, '"cv" or None')
        fits = limit is None or checks.is_number(limit, above=0, most=1)
        rule = "max_correlation must be a number in (0, 1] or None"
        messages.require(fits, rule, limit)
        checks.check_count(self.max_features, "max_features")
        checks.check_flag(self.progress, "progress")
        measures = [parse_measure(self.measure)]
        resolved = _resolved.resolve(measures, self.zero_relevance, self.unjudged)
        how = {"unjudged": resolved.unjudged, "given": X}
        X, qid = self._check_features(X, qid, reset=True)
        rows = self._rows(X, y, qid, query_weight, **how)
        given = self._given()
        directions = np.array(_selection.each_direction(self.direction, len(given)))
        queries, weight = by_length(rows.queries), rows.weight
        if weight is not None:
            weight = weight[rows.queries.shortest_first()]
        labels, arranged = queries.arrange(rows.labels), replace(queries, order=None)
        prepared = _prepared.Prepared(labels, arranged, weight, keep=True)
        borda = BordaScores.of(X[:, given], queries, self.n_jobs)
        fusion = Fusion(borda, prepared, resolved, directions, limit, self.n_jobs)
        self._show(given, fusion.alone, self._path(fusion))
        self.measure_, self.n_queries_ = resolved.names[0], rows.queries.n_queries
        self._fitted_queries_ = split_queries.FittedQueries.of(rows.queries)
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
        why = "Borda scores are those of a query"
        feature_matrix.need_qid_to_predict(ids, self, why)
        queries = by_length(checks.check_qid(ids, n_rows=data.shape[0]))
        borda = BordaScores.of(data[:, self._fused_], queries, self.n_jobs)
        total = np.zeros(data.shape[0])
        for feature, lower in enumerate(self._ascending_.tolist()):
            # whole numbers, none of them rounded
            total += borda.of_feature(feature, lower)
        scores = np.empty_like(total)
        scores[queries.given(np.arange(len(total)))] = total
        return scores

    def _path(self, fusion: Fusion) -> Path | None:
        """The features selected, one after another; None if all are fused."""
        self.__dict__.pop("cv_results_", None)
        wanted, number = self.n_features_to_select, 0
        if wanted is None:
            return None
        n_varying = int(fusion.varies().sum())
        if isinstance(wanted, str):
            most = min(self.max_features, max(n_varying, 1))
            chosen = choose_number(fusion, self.cv, most, self.progress)
            self.cv_results_, number = chosen
        elif n_varying:
            n_features = len(fusion.directions)
            number = _selection.number_of(wanted, n_features, n_varying)
        path = fusion.path(number, wanted != "cv", self.progress)
        n_selected = len(path.order)
        if not n_selected:
            words.warn(self._why_none())
        if copies := int((path.repeats[path.order] >= 0).sum()):
            words.warn(
                f"n_features_to_select={wanted!r}, but {copies} of the "
                f"{n_selected} features that are selected repeat others "
                "(max_correlation): no others were left"
            )
        return path

    def _show(self, given: NDArray[np.intp], alone: Alone, path: Path | None) -> None:
        """Set the fitted attributes, which have a place for each column of X."""
        features = self._is_feature_
        columns = np.flatnonzero(features)[given]

        def spread(values: NDArray[Any], other: Any) -> NDArray[Any]:
            out = np.full(len(features), other, dtype=values.dtype)
            out[columns] = values
            return out

        order = np.arange(len(given)) if path is None else path.order
        self._fused_, self._ascending_ = given[order], alone.ascending[order]
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
        is_feature, n = self._is_feature_, self.n_features_in_
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
                rule = f"features must hold names or indices of the {n} columns of X"
                raise ValueError(f"{rule}, got {one!r}")
            rule = "features must not name the column of query ids"
            messages.require(is_feature[columns[-1]], rule, one)
        rule = "features must name at least one column of X, each once"
        messages.require(0 < len(columns) == len(set(columns)), rule, self.features)
        return np.asarray((np.cumsum(is_feature) - 1)[columns])


#: rows and columns that are ranked in one call
_ROWS, _COLUMNS = 1 << 14, 8
#: documents of a query whose products of scores add up in 64 bits: at most n³/3
_LONGEST = 3_000_000

Whole = NDArray[np.signedinteger[Any]]


class BordaScores(NamedTuple):
    """The Borda score of each document of a query by each feature.

    Of n documents, that at midrank m has n + 1 - 2m: a whole number, 0 for all where
    all tie, and the same for documents that tie.

    Attributes
    ----------
    down : ndarray of shape (n_features, n_rows), int16 or int32
        Scores where higher values rank first.
    up : dict of int to ndarray of shape (n_rows,)
        Where lower values rank first, of the features with NaN, which is last either
        way; of all others these are the negatives of `down`.
    sizes : ndarray of shape (n_queries,)
        Rows of each query, which stand one after another.
    """

    down: Whole
    up: dict[int, Whole]
    sizes: IntArray

    @classmethod
    def of(
        cls, X: Any, queries: checks.Queries, n_jobs: int | None = None
    ) -> BordaScores:
        """Rank the columns of X, dense or sparse; the scores stand query by query.

        Queries of about equal length are ranked together: they must be by length.
        """
        X = X.tocsc() if sp.issparse(X) else X
        sizes, n_features = queries.sizes, X.shape[1]
        small = int(sizes.max()) <= 2**15
        shape = n_features, queries.n_rows
        down: Whole = np.empty(shape, np.int16 if small else np.int32)
        parts = [
            (slice(*queries.offsets[[first, stop]].tolist()), sizes[first:stop])
            for first, stop in _blocks.ranges(sizes, _ROWS)
        ]

        def rank(start: int) -> dict[int, Whole]:
            some = slice(start, start + _COLUMNS)
            arranged = queries.arrange(_statistics.columns_of(X, some))
            columns = np.ascontiguousarray(arranged.T)
            gaps = np.flatnonzero((columns != columns).any(axis=1))
            up = np.empty((len(gaps), queries.n_rows), down.dtype)
            for rows, within in parts:
                part = columns[:, rows]
                # those ranked first have the least midranks, and the highest scores
                ranks = midranks.rank_within(part, within, both_ways=False)
                down[some, rows] = -ranks.T
                if len(gaps):
                    both = midranks.rank_within(part[gaps], within, both_ways=True)
                    up[:, rows] = -both.T[len(gaps) :]
            return dict(zip((start + gaps).tolist(), up, strict=True))

        ways_up = threads.in_threads(rank, range(0, n_features, _COLUMNS), n_jobs)
        return cls(down, {j: one for up in ways_up for j, one in up.items()}, sizes)

    def of_feature(self, feature: int, ascending: bool) -> Whole:
        """Scores of a feature in one direction."""
        down: Whole = self.down[feature]
        return self.up.get(feature, -down) if ascending else down

    def products(self, one: Whole, other: Whole) -> FloatArray:
        """Σ of products over each query, rounded once unless it is very long."""
        kind = np.int64 if self.sizes.max() <= _LONGEST else np.float64
        product = np.multiply(one, other, dtype=kind)
        return np.asarray(segments.sum_segments(product, self.sizes, kind), np.float64)


class Alone(NamedTuple):
    """Each feature as a ranking by itself.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Mean over queries of the measure, in the direction of the feature.
    ascending : ndarray of shape (n_features,), bool
        Whether lower values rank first.
    ranking : ndarray of shape (n_features,), int
        The features, the best first; equal ones in the order of their columns.
    """

    mean: FloatArray
    ascending: NDArray[np.bool_]
    ranking: NDArray[np.intp]


class Path(NamedTuple):
    """Features in the order chosen.

    Attributes
    ----------
    order : ndarray of shape (n_chosen,), int
    scores : ndarray of shape (n_chosen,)
        Mean over queries of the measure of the fused ranking after each step.
    repeats : ndarray of shape (n_features,), int
        For each feature the chosen one that it repeats, or -1.
    """

    order: NDArray[np.intp]
    scores: FloatArray
    repeats: NDArray[np.intp]


@dataclass(eq=False)
class Fusion:
    """Features of the same documents, to be fused.

    Attributes
    ----------
    borda : BordaScores
    prepared : Prepared
        Labels, which stand query by query as the scores do.
    resolved : ResolvedMeasures
        One measure.
    directions : ndarray of shape (n_features,) of str
        As users give them, "auto" among others.
    n_jobs : int, optional
        Threads over candidates.
    """

    borda: BordaScores
    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    directions: NDArray[np.str_]
    max_correlation: float | None
    n_jobs: int | None
    _squares: dict[int, FloatArray] = field(default_factory=dict, init=False)

    @property
    def sign(self) -> float:
        return 1.0 if self.resolved.measures[0].greater_is_better else -1.0

    @cached_property
    def alone(self) -> Alone:
        """Each feature in the better of its directions; of equal ones, "descending"."""
        nothing = np.zeros(self.borda.down.shape[1])
        means = np.full((2, len(self.borda.down)), np.nan)
        for turned, other in enumerate(("ascending", "descending")):
            some = np.flatnonzero(self.directions != other)
            means[turned, some] = self._means(nothing, some, np.full(len(some), turned))
        value = comparable(self.sign * means)
        ascending = (value[1] > value[0]) | (self.directions == "ascending")
        best = np.where(ascending, means[1], means[0])
        # the best first, equal ones in the order of columns
        ranking = np.argsort(-comparable(self.sign * best), kind="stable")
        return Alone(best, ascending, ranking)

    def varies(self) -> NDArray[np.bool_]:
        """Features that are not constant within every query."""
        return np.array([bool(column.any()) for column in self.borda.down])

    def path(self, number: int, fill: bool, progress: bool = False) -> Path:
        """The best feature, then at each step the one that fuses best.

        Parameters
        ----------
        number : int
            Features to choose, if so many vary.
        fill : bool
            Whether features that repeat chosen ones are chosen if no others are left.
        progress : bool
        """
        total, alone = np.zeros(self.borda.down.shape[1]), self.alone
        open_ = self.varies()
        repeats = np.full(len(self.borda.down), -1)
        order: list[int] = []
        scores: list[float] = []
        number = min(number, int(open_.sum()))
        steps = range(number)
        for step in progress_bars.show_progress(
            steps, progress, number, "feature", "selecting"
        ):
            candidates = alone.ranking[open_[alone.ranking]]
            fresh = candidates[repeats[candidates] < 0]
            if not len(fresh) and not fill:
                break
            candidates = fresh if len(fresh) else candidates
            if step == 0:
                best = int(candidates[0])
                score = float(alone.mean[best])
            else:
                values = self._means(total, candidates, alone.ascending[candidates])
                # of equally good ones the first, which is the best by itself
                value = comparable(self.sign * values)
                at = int(np.argmax(value >= value.max() - _averages.NO_DIFFERENCE))
                best, score = int(candidates[at]), float(values[at])
            order.append(best)
            scores.append(score)
            open_[best] = False
            total += self.borda.of_feature(best, bool(alone.ascending[best]))
            if self.max_correlation is not None:
                others = np.flatnonzero(open_ & (repeats < 0))
                of_best = partial(self.correlation, best)
                rho = threads.in_threads(of_best, others.tolist(), self.n_jobs)
                is_repeat = np.abs(np.array(rho, dtype=float)) > self.max_correlation
                repeats[others[is_repeat]] = best
        return Path(np.array(order, dtype=np.intp), np.array(scores), repeats)

    def correlation(self, one: int, other: int) -> float:
        """Spearman's ρ of two features, its mean over the queries in which both vary.

        Each is in its direction.
        """
        borda, ascending = self.borda, self.alone.ascending
        a, b = (borda.of_feature(j, bool(ascending[j])) for j in (one, other))
        for j, scores in ((one, a), (other, b)):
            if j not in self._squares:
                self._squares[j] = borda.products(scores, scores)
        squares = self._squares[one] * self._squares[other]
        both, weight = squares > 0, self.prepared.weight
        rho = borda.products(a, b)[both] / np.sqrt(squares[both])
        weight = np.ones(len(rho)) if weight is None else weight[both]
        return float(np.average(rho, weights=weight)) if weight.any() else 0.0

    def of_queries(self, chosen: NDArray[np.intp]) -> Fusion:
        """A fusion of the same features, on some of the queries."""
        rows = self.prepared.queries.rows(chosen)
        prepared = self.prepared.of_queries(chosen)
        down, up = self.borda.down[:, rows], self.borda.up
        up = {j: one[rows] for j, one in up.items()}
        borda = BordaScores(down, up, prepared.queries.sizes)
        return replace(self, borda=borda, prepared=prepared)

    def values_along(self, path: Path, ascending: NDArray[np.bool_]) -> FloatArray:
        """Values of the queries after each step, (n_chosen, n_queries).

        Of a path without a step, those if all documents tie, once.
        """
        total = np.zeros(self.borda.down.shape[1])
        values = []
        for feature in path.order.tolist():
            total += self.borda.of_feature(feature, bool(ascending[feature]))
            values.append(self._values(total[None])[0])
        return np.array(values) if values else self._values(total[None])

    def _values(self, columns: FloatArray) -> FloatArray:
        values = self.prepared.values(self.resolved, columns)
        return np.asarray(values["expected"][..., 0])

    def _means(
        self, total: FloatArray, features: NDArray[np.intp], ascending: NDArray[Any]
    ) -> FloatArray:
        """Mean measure of the sum of `total` and each feature."""
        if not len(features):
            return np.empty(0)
        workers = effective_n_jobs(self.n_jobs)
        n_tasks = _statistics.TASKS * workers if workers > 1 else 1
        size = _prepared.columns_at_once(len(total), len(features), n_tasks)

        def means(first: int) -> list[float]:
            some = slice(first, first + size)
            columns = np.empty((len(features[some]), len(total)))
            pairs = zip(features[some].tolist(), ascending[some].tolist(), strict=True)
            for column, (feature, turned) in zip(columns, pairs, strict=True):
                scores = self.borda.of_feature(feature, bool(turned))
                # whole numbers, none of them rounded
                np.add(total, scores, out=column)
            values = self._values(columns)
            return [_averages.mean(one, self.prepared.weight) for one in values]

        starts = range(0, len(features), size)
        return np.concatenate(threads.in_threads(means, starts, self.n_jobs))


def by_length(queries: checks.Queries) -> checks.Queries:
    """Queries by length and id, an order that no order of rows changes."""
    chosen = queries.shortest_first()
    rows = queries.given(queries.rows(chosen))
    return replace(queries.some(chosen), order=rows)


def comparable(values: FloatArray) -> FloatArray:
    """NaN, where a measure is undefined for every query, is below everything."""
    return np.where(np.isnan(values), -np.inf, values)


def choose_number(
    fusion: Fusion, cv: Any, most: int, progress: bool
) -> tuple[dict[str, NDArray[Any]], int]:
    """Held-out values by number of features, and the number to select.

    That is the smallest number that is worse than the best by at most one standard
    error of the difference. Queries are the same for all numbers, so how they differ
    from each other does not count.
    """
    prepared = fusion.prepared
    queries = prepared.queries
    nothing = np.zeros((queries.n_rows, 1))
    folds = _splits.query_folds(
        cv, nothing, prepared.labels, queries.codes, queries.qid
    )
    total = np.zeros((most, queries.n_queries))
    times = np.zeros(queries.n_queries)
    shown = progress_bars.show_progress(
        folds, progress, len(folds), "fold", "cross-validation"
    )
    for train, test in shown:
        training = fusion.of_queries(train)
        path, ascending = training.path(most, fill=False), training.alone.ascending
        along = fusion.of_queries(test).values_along(path, ascending)
        # after these, all features of this fold repeat chosen ones
        most = min(most, len(along))
        total[:most, test] += along[:most]
        times[test] += 1
    total = total[:most]
    values = np.full_like(total, np.nan)
    np.divide(total, times, out=values, where=times > 0)
    average = _averages.means(values.T, prepared.weight)
    best = int(np.argmax(comparable(fusion.sign * average)))
    apart = fusion.sign * (values[best] - values).T
    loss = _intervals.QueryMoments.of(apart, prepared.weight)
    # the best does not differ from itself, and of one query no error is known
    error = np.nan_to_num(loss.standard_error())
    enough = np.flatnonzero(loss.mean <= error + _averages.NO_DIFFERENCE)
    results = {"n_features": np.arange(1, most + 1), "mean_test_score": average}
    results |= {"loss": loss.mean, "standard_error": error}
    return results, int(enough[0]) + 1
