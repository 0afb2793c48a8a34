"""A linear score over features, as an estimator that tunes its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_array
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from .._display import progress_bars
from .._engine import checks, exact_numbers, feature_matrix, messages, split_queries
from .._typing import FloatArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure, parse_measure
from ..statistics.averages import column_means
from . import _query_ranker

TRANSFORMS = ("identity", "log1p", "rank")


class LinearRanker(_query_ranker.RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Rank by a weighted sum of features, Σ coef x transform(feature).

    `fit` tunes the weights by coordinate ascent on an exact measure, unless they are
    given. Rows with equal features have equal scores, to the last bit, wherever they
    are in X. Matrix products of linear algebra libraries do not guarantee this, and can
    break ties.

    Parameters
    ----------
    coef : "equal" or array-like of shape (n_features,), optional
        Weights of the transformed features, if they are not to be tuned. ``"equal"``
        takes the inverse of their standard deviation, which weights standardised
        features equally (0 for constant ones).
    transforms : str or list of str, optional
        Transform of all features, or of each: ``"identity"`` (the default), ``"log1p"``
        (sign(x) log(1 + abs(x))) or ``"rank"`` (the share of training values below x,
        plus half the share of those equal to it).
    measure : str or Measure, default="ndcg@10"
        Measure to tune the weights by, as in `parse_measure`.
    n_restarts : int, default=0
        Number of ascents from random weights. Two more start from weights in proportion
        to each feature's lift, and from the best single feature. The best ascent
        counts. Restarts fit the training queries better, but on real data they did not
        rank other queries better (``python -m benchmarks.results.coordinate_ascent``).
    max_iter : int, default=25
        Largest number of iterations of an ascent. An iteration moves every weight once.
    tol : float, default=0.001
        An ascent stops after two iterations in a row that improve the mean of the
        measure by at most `tol`.
    validation_fraction : float, optional
        Share of the queries, in (0, 1), that is held out to stop ascents and to choose
        the best one. By default the training queries are used for this, too.
    random_state : int, RandomState instance or None, default=0
        Seed of the order in which weights are moved, of random weights, and of the
        queries that are held out.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`.
    qid : str or int, optional
        The column of X that holds query ids, in `fit` and in `predict`: a name for data
        frames, an index for arrays. It has no entry in `transforms`, and none in
        `coef`, or one of 0, as in `coef_`. By default `fit` takes ``qid``.
    n_jobs : int, optional
        Number of threads over ascents (joblib). No result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,), float64
        Weight of each transformed column of X, 0 for `qid`.
    transforms_ : tuple of str
        Transform of each feature.
    train_score_ : ndarray of shape (n_iterations + 1,), float64
        Mean of the measure on the training queries, at the start of the best ascent and
        after each iteration. It is optimistic. Only if the weights are tuned.
    validation_score_ : ndarray of shape (n_iterations + 1,), float64
        The same on the queries that are held out, if any are.
    n_iter_ : int
        The iteration that gave `coef_`, 0 for the start. Only if the weights are tuned.
    n_features_in_ : int
        Number of columns of X in `fit`, including `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    tieaware_sklearn.optuna.LinearScoringObjective : Tunes weights within bounds, by
        several measures, or together with the transforms.

    Notes
    -----
    Coordinate ascent moves one weight at a time, to the best of 29 places: 0, and the
    old weight plus or minus .001, .003, .007 and so on to 16.4. These are weights of
    features divided by their standard deviation, and their absolute values sum to 1. A
    weight is moved only if the mean improves. A feature that is constant within every
    query gets the weight 0. The result does not depend on the order of the rows, to the
    last bit.

    If the weights are given or equal, `fit` learns from X alone, and needs neither y
    nor query ids.

    References
    ----------
    D. Metzler and W. B. Croft, Linear feature-based models for information retrieval,
    Information Retrieval 10(3), 2007.

    Examples
    --------
    >>> from tieaware_sklearn import LinearRanker, train_test_split_queries
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, n_documents=40, random_state=0)
    >>> X, X_test, y, y_test, qid, qid_test = train_test_split_queries(
    ...     web.data, web.target, qid=web.qid, random_state=0)
    >>> for coef in ("equal", None):
    ...     ranker = LinearRanker(coef).fit(X, y, qid=qid)
    ...     print(f"{ranker.score(X_test, y_test, qid=qid_test):.3f}")
    0.483
    0.613

    Given weights make a ranker as well:

    >>> columns = [web.feature_names.index(name) for name in ("text_score", "clicks")]
    >>> ranker = LinearRanker([1.0, 2.0], transforms=["identity", "log1p"])
    >>> ranker.fit(X[:, columns]).predict(X_test[:2, columns]).shape
    (2,)
    """

    # routing passes ids by default; weights may be meant for a scorer alone
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}

    def __init__(
        self,
        coef: str | ArrayLike | None = None,
        transforms: str | Sequence[str] | None = None,
        *,
        measure: str | Measure = "ndcg@10",
        n_restarts: int = 0,
        max_iter: int = 25,
        tol: float = 0.001,
        validation_fraction: float | None = None,
        random_state: Any = 0,
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        qid: str | int | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.coef = coef
        self.transforms = transforms
        self.measure = measure
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.zero_relevance = zero_relevance
        self.unjudged = unjudged
        self.qid = qid
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> LinearRanker:
        """Tune the weights, or learn what given weights and the transforms need.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Features, finite numbers.
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0. They are not used if `coef` is given.
        qid : array-like of shape (n_rows,)
            Query of each row, in any order, unless a column of X holds it. It is not
            used if `coef` is given.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query, >= 0 and constant within a query. Metadata
            routing passes it after ``set_fit_request(query_weight=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `coef` or `transforms` does not have one entry per feature, or has an
            entry that is not allowed, or if X has values that are not finite. If
            weights are tuned, also if there are no query ids or fewer than two queries,
            if each of more than 50 rows is a query of its own, if no label is above 0,
            or if labels, weights or parameters break a rule above.
        """
        resolved = self._checked()
        if self.coef is None and y is None:
            # the message of scikit-learn
            raise ValueError(
                "y must hold the labels of X: LinearRanker(coef=None) requires y to be "
                "passed, but the target y is None"
            )
        given, (X, qid) = X, self._features(X, qid, reset=True)
        self._is_feature_ = feature_matrix.are_features(given, self.qid)
        self.transforms_ = check_transforms(self.transforms, X.shape[1])
        columns = zip(X.T, self.transforms_, strict=True)
        self._sorted_ = [np.sort(x) if kind == "rank" else None for x, kind in columns]
        for name in _OF_TUNED:
            self.__dict__.pop(name, None)
        if self.coef is None:
            feature_matrix.need_qid(
                qid,
                "fit",
                ", qid=<name or index> in the constructor. "
                'coef="equal" needs no query ids',
            )
            labels: Any = y  # checked above
            prepared = _prepared.prepare(
                labels,
                qid,
                query_weight,
                X=given,
                names=_prepared.ROW_NAMES,
                unjudged=resolved.unjudged,
                keep=True,
                single_documents="raise",
            )
            queries = prepared.queries.by_id()
            if queries.n_queries == 1:
                raise ValueError(
                    "qid must have at least two queries to tune weights, got one (with "
                    f"n_samples = {len(X)})"
                )
            if prepared.labels.max() <= 0:
                raise ValueError(
                    "y must have a label above 0 to tune weights, got no relevant "
                    "document"
                )
            X = feature_matrix.take_rows(X, queries.order)
            self._tune(X, prepared.sorted(queries), resolved)
        elif isinstance(self.coef, str):
            self.coef_ = 1 / scales(self._transform(X))
        else:
            coef = exact_numbers.floats_of(self.coef, "coef")
            if len(coef) == self.n_features_in_ and not coef[~self._is_feature_].any():
                coef = coef[self._is_feature_]
            if len(coef) != X.shape[1]:
                raise ValueError(
                    f"coef must have one weight per feature ({X.shape[1]}), got "
                    f"{len(coef)}"
                )
            if not np.isfinite(coef).all():
                raise ValueError(f"coef must be finite, got {messages.show(coef)}")
            self.coef_ = coef
        self.coef_ = feature_matrix.spread_features(self.coef_, self._is_feature_, 0.0)
        return self

    def _checked(self) -> _resolved.ResolvedMeasures:
        """Check all options, and return the measure."""
        if isinstance(self.coef, str) and self.coef != "equal":
            raise ValueError(
                'coef must be "equal", one weight per feature, or None to tune them, '
                f"got {messages.show(self.coef)}"
            )
        checks.check_count(self.n_restarts, "n_restarts", least=0)
        checks.check_count(self.max_iter, "max_iter")
        if not checks.is_number(self.tol, least=0):
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}")
        if self.validation_fraction is not None:
            checks.check_share(self.validation_fraction, "validation_fraction")
        checks.check_flag(self.progress, "progress")
        measure = parse_measure(self.measure)
        return _resolved.resolve([measure], self.zero_relevance, self.unjudged)

    def _features(
        self, X: Any, qid: Any = None, *, reset: bool
    ) -> tuple[FloatArray, Any]:
        """Return features as floats, and query ids."""
        exact_numbers.check_not_masked(X, "X")
        options = {"dtype": np.float64, "order": "C"}
        if self.qid is None:
            feature_matrix.check_kinds(X, hint="; query ids go into qid={}")
            return validate_data(self, X, reset=reset, **options), qid
        features, qid = feature_matrix.resolve_qid(X, self.qid, qid)
        validate_data(self, X, reset=reset, skip_check_array=True)
        feature_matrix.check_kinds(features)
        if not features.shape[1]:
            raise ValueError(
                f"X must have a feature beside its qid column {self.qid!r}, got "
                "n_features=1"
            )
        features = check_array(features, estimator=self, input_name="X", **options)
        return features, qid

    def _tune(
        self,
        X: FloatArray,
        prepared: _prepared.Prepared,
        resolved: _resolved.ResolvedMeasures,
    ) -> None:
        """Tune the weights by coordinate ascents, and set the fitted attributes."""
        X = self._transform(X)
        # a feature that is constant within every query keeps a weight of 0
        varies = prepared.queries.varying(X).any(axis=0)
        spread = np.where(varies, scales(X), np.inf)
        rows = RankedRows(X, prepared, resolved, spread)
        draw = checks.check_seed(self.random_state)
        parts = hold_out(rows, self.validation_fraction, draw)
        begin = [*starts(parts[0]), *[None] * int(self.n_restarts)]
        # more restarts do not change the earlier ones
        seeds = [draw.randint(2**31 - 1) for _ in begin]
        # prepared labels are shared between threads
        ends = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
            delayed(ascend)(parts, start, seed, self.max_iter, self.tol)
            for start, seed in zip(begin, seeds, strict=True)
        )
        ascents = list(
            progress_bars.show_progress(
                ends, self.progress, len(begin), "ascent", "tuning"
            )
        )
        # the first of equally good ones
        tops = np.array([ascent.values[-1][ascent.n_iter] for ascent in ascents])
        best = ascents[int(np.argmax(tops >= tops.max() - SAME * abs(tops.max())))]
        self.coef_, self.n_iter_ = best.coef, best.n_iter
        self.train_score_, *held_out = rows.sign * np.array(best.values)
        if held_out:
            (self.validation_score_,) = held_out
        self._fitted_queries_ = split_queries.FittedQueries.of(prepared.queries)

    def predict(self, X: Any) -> FloatArray:
        """Return the scores of the rows of X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Features, finite numbers, with the column of `qid` if there is one.

        Returns
        -------
        ndarray of shape (n_rows,), float64

        Raises
        ------
        ValueError
            If X does not have the columns of `fit`, or has values that are not finite.
        """
        check_is_fitted(self)
        X, _ = self._features(X, reset=False)
        return linear_scores(self._transform(X), self.coef_[self._is_feature_])

    def _transform(self, X: FloatArray) -> FloatArray:
        if set(self.transforms_) == {"identity"}:
            return X
        columns = zip(X.T, self.transforms_, self._sorted_, strict=True)
        return np.column_stack([transformed(*column) for column in columns])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.coef is None
        tags.target_tags.positive_only = self.coef is None
        return tags


#: attributes that are set only if weights are tuned
_OF_TUNED = ("train_score_", "validation_score_", "n_iter_", "_fitted_queries_")


def transformed(
    column: FloatArray, kind: str, ordered: FloatArray | None = None
) -> FloatArray:
    """Transform one feature; `ordered` are its sorted training values."""
    if kind == "log1p":
        return np.sign(column) * np.log1p(np.abs(column))
    if kind == "rank":
        if ordered is None:
            ordered = np.sort(column)
        below = np.searchsorted(ordered, column, side="left")
        up_to = np.searchsorted(ordered, column, side="right")
        return (below + up_to) / (2 * len(ordered))
    return column


def scales(X: FloatArray) -> FloatArray:
    """Standard deviations of features, infinite for constant ones."""
    constant = (X[:1] == X).all(axis=0)
    largest = np.abs(X).max(axis=0)
    extreme = ~constant & ((largest < 1e-100) | (largest > 1e100))
    if extreme.any():
        column = int(np.argmax(extreme))
        raise ValueError(
            "X must have features whose largest absolute values are from 1e-100 to "
            f"1e100, got {largest[column]:g} in column {column}"
        )
    # sorted, because the sum must not depend on the order of rows
    deviations = np.sort(X, axis=0).std(axis=0)
    return np.where(constant, np.inf, deviations)


def check_transforms(
    transforms: Any, n_features: int, allowed: tuple[str, ...] = TRANSFORMS
) -> tuple[str, ...]:
    """Check the transforms, and return that of each feature."""
    each = "identity" if transforms is None else transforms
    names = (each,) * n_features if isinstance(each, str) else each
    if not isinstance(names, (list, tuple, np.ndarray)) or len(names) != n_features:
        raise ValueError(
            "transforms must be a name, or a list with one entry per feature "
            f"({n_features}), got {messages.show(transforms)}"
        )
    for name in names:
        checks.check_choice(name, "transforms", allowed)
    return tuple(names)


#: moves of a weight: .001, .003, .007, ..., 16.4, up and down, the smallest first
_MOVES = np.repeat(np.cumsum(0.001 * 2.0 ** np.arange(14)), 2)
_MOVES[1::2] *= -1
#: largest number of iterations in a row without progress
_PATIENCE = 2
#: a difference of two means up to this share of them may be rounding
SAME = 1e-12


def linear_scores(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Linear scores Σ_j X_ij coef_j, bit by bit the same for equal rows."""
    scores = np.zeros(len(X))
    # einsum alone would cut rows at different places, in buffers of 8192
    for start in range(0, len(coef), 4096):
        part = np.ascontiguousarray(X[:, start : start + 4096])
        scores += np.einsum("ij,j->i", part, coef[start : start + 4096])
    return scores


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Features and labels of whole queries, with the measure to optimise.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    prepared : Prepared
        Labels of the rows.
    resolved : ResolvedMeasures
        One measure.
    scales : ndarray of shape (n_features,)
        Weights are those of features divided by these; infinite for features that keep
        a weight of 0.
    """

    X: FloatArray
    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    scales: FloatArray

    @property
    def sign(self) -> int:
        """Sign of the measure, -1 where lower values are better."""
        return 1 if self.resolved.measures[0].greater_is_better else -1

    def of_queries(self, chosen: IntArray) -> RankedRows:
        """Select some of the queries; rows must stand query by query."""
        rows = self.prepared.queries.rows(chosen)
        part = self.prepared.of_queries(chosen)
        return RankedRows(self.X[rows], part, self.resolved, self.scales)

    def value(self, scores: FloatArray) -> float:
        """Mean of the measure for these scores, negated where lower is better."""
        return float(self.values(scores[None])[0])

    def moved(self, scores: FloatArray, feature: int, moves: FloatArray) -> FloatArray:
        """Values of the scores after each move of the weight of a feature."""
        column, by = self.X[:, feature], moves / self.scales[feature]
        size = _prepared.columns_at_once(len(self.X), len(by), 1)
        parts = [by[at : at + size, None] for at in range(0, len(by), size)]
        return np.concatenate([self.values(scores + part * column) for part in parts])

    def values(self, columns: FloatArray) -> FloatArray:
        """Values of columns of scores, given as (n_columns, n_rows)."""
        values = self.prepared.values(self.resolved, columns).expected
        return self.sign * column_means(values[:, :, 0].T, self.prepared.weight)


class Ascent(NamedTuple):
    """Result of an ascent.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    values : list of list of float
        The measure, negated where lower is better, of the start and after each
        iteration: of the training queries, and of those held out, if any are.
    n_iter : int
        The iteration that gave `coef`.
    """

    coef: FloatArray
    values: list[list[float]]
    n_iter: int


def ascend(
    parts: list[RankedRows],
    start: FloatArray | None,
    seed: int,
    max_iter: int,
    tol: float,
) -> Ascent:
    """Climb from the weights `start` by coordinate ascent.

    Parameters
    ----------
    parts : list of RankedRows
        Queries whose measure rises, and those held out, which say where to stop.
    start : ndarray of shape (n_features,) or None
        Weights, not all 0; None draws them.
    seed : int
        Of the orders in which weights are moved, and of weights that are drawn.
    max_iter : int
        Largest number of iterations.
    tol : float
        Two iterations in a row that raise the best value by no more than this are the
        last. It is that of the held-out queries where there are some.
    """
    train, *held_out = parts
    draw = np.random.RandomState(seed)
    known = np.isfinite(train.scales)
    if start is None:
        start = draw.uniform(-1, 1, len(known))
        start = np.where(known, start, 0.0) if known.any() else start
    here = _Place.of(train, start)
    best, n_iter, idle = here.coef, 0, 0
    values = [[here.value]]
    for part in held_out:
        values.append([part.value(linear_scores(part.X, here.coef))])
    watched = values[-1]
    for iteration in range(1, max_iter + 1):
        before = here.value
        for feature in draw.permutation(np.flatnonzero(known)):
            here = here.moved(train, feature)
        values[0].append(here.value)
        for part in held_out:
            watched.append(part.value(linear_scores(part.X, here.coef)))
        top = watched[n_iter]
        idle = 0 if watched[-1] > top + tol else idle + 1
        if watched[-1] > top + SAME * abs(top):
            best, n_iter = here.coef, iteration
        if here.value == before or idle == _PATIENCE:
            break
    return Ascent(best, values, n_iter)


class _Place(NamedTuple):
    """Weights in an ascent, whose absolute values sum to 1, and what they give."""

    weights: FloatArray
    coef: FloatArray
    scores: FloatArray
    value: float

    @classmethod
    def of(cls, rows: RankedRows, weights: FloatArray) -> _Place:
        """Scale the weights, and compute scores as `predict` does."""
        weights = weights / np.abs(weights).sum()
        coef = weights / rows.scales
        scores = linear_scores(rows.X, coef)
        return cls(weights, coef, scores, rows.value(scores))

    def moved(self, rows: RankedRows, feature: int) -> _Place:
        """Move one weight to the best of its candidates, or leave it."""
        moves, old = _MOVES, self.weights[feature]
        if old and np.count_nonzero(self.weights) > 1:
            # fewer features are better where the values are equal
            moves = np.append(-old, moves)
        values = rows.moved(self.scores, feature, moves)
        # the first, and so the smallest, of equally good moves
        top = values.max()
        at = int(np.argmax(values >= top - SAME * abs(top)))
        least = self.value + SAME * abs(self.value)
        new = self.weights.copy()
        new[feature] += moves[at]
        if values[at] <= least or not new.any():
            return self
        # rounding may change ties
        there = _Place.of(rows, new)
        return there if there.value > least else self


def starts(rows: RankedRows) -> list[FloatArray]:
    """Starting weights: by lift, and the best feature alone.

    The lift of a feature is its gain over a ranking that ties everything, negative
    where it gains in ascending order, 0 where neither order does.
    """
    known = np.isfinite(rows.scales)
    nothing, ends = np.zeros(len(rows.X)), np.array([1.0, -1.0])
    chance = rows.value(nothing)
    lift = np.zeros(len(known))
    for feature in np.flatnonzero(known).tolist():
        down, up = rows.moved(nothing, feature, ends) - chance
        lift[feature] = max(down, 0.0) if down >= up else -max(up, 0.0)
    # equal weights if no feature has a lift, or none can be moved
    equal = known.astype(np.float64) if known.any() else np.ones(len(lift))
    first = lift if lift.any() else equal
    if np.count_nonzero(first) == 1:
        return [first]
    best = np.arange(len(first)) == np.argmax(np.abs(first))
    return [first, np.where(best, first, 0.0)]


def hold_out(
    rows: RankedRows, share: float | None, draw: np.random.RandomState
) -> list[RankedRows]:
    """Split queries into those to tune by and those held out, if any.

    Raises
    ------
    ValueError
        If one of the two has no query, no relevant document, or no mean.
    """
    parts = {"": rows}
    if share is not None:
        n_queries = rows.prepared.queries.n_queries
        number = round(share * n_queries)
        if not 0 < number < n_queries:
            raise ValueError(
                "validation_fraction must hold out at least one query and leave at "
                f"least one, got {share!r} of {n_queries} queries"
            )
        drawn = draw.permutation(n_queries)
        parts = {
            " left to tune by": rows.of_queries(np.sort(drawn[number:])),
            " held out": rows.of_queries(np.sort(drawn[:number])),
        }
    for what, part in parts.items():
        if part.prepared.labels.max() <= 0:
            raise ValueError(
                f"validation_fraction={share!r} must leave relevant documents in both "
                f"parts, got none in the {part.prepared.queries.n_queries} "
                f"queries{what}"
            )
        if np.isnan(part.value(np.zeros(len(part.X)))):
            raise ValueError(
                f"{rows.resolved.names[0]} must be defined for a query whose weight is "
                f"not 0 to tune weights, got no such query{what}"
            )
    return list(parts.values())
