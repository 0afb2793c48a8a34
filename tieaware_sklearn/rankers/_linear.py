"""A linear score over features, as an estimator that tunes its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_array
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from .._display import progress_bars, words
from .._engine import checks, exact_numbers, feature_matrix, messages, split_queries
from .._typing import FloatArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure, parse_measure
from ..statistics.averages import column_means
from . import _query_ranker

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks.
    CallbackSupportMixin = object

    def with_callbacks(fit: Any) -> Any:
        return fit


TRANSFORMS = ("identity", "log1p", "rank")
#: Steps by which a weight may change: 0.001, 0.003, 0.007, ..., 16.4, up and down, the
#: smallest first.
_STEPS = np.repeat(np.cumsum(0.001 * 2.0 ** np.arange(14)), 2)
_STEPS[1::2] *= -1
#: Maximum number of iterations in a row without progress.
_PATIENCE = 2
#: Largest relative difference between two means that may be due to rounding.
SAME = 1e-12


class LinearRanker(
    _query_ranker.RankerMixin,
    BaseEstimator,  # type: ignore[misc]
    CallbackSupportMixin,  # type: ignore[misc]
):
    """Rank by a weighted sum of features, Σ coef · transform(feature).

    Unless `coef` states the weights, `fit` tunes the weights by coordinate ascent on an
    exact measure. Rows with equal features have equal scores, to the last bit, wherever
    these rows are in X. Matrix products of linear algebra libraries do not guarantee
    equal scores, and can break ties.

    Parameters
    ----------
    coef : "equal" or array-like of shape (n_features,), optional
        Weights of the transformed features, if the weights are not to be tuned. With
        ``"equal"``, the weight of a transformed feature is the inverse of its standard
        deviation (0 if the feature is constant), so that standardised features have
        equal weights.
    transforms : str or list of str, optional
        Transform of all features, or a list with the transform of each feature:
        ``"identity"`` (the default), ``"log1p"`` (sign(x) log(1 + abs(x))) or
        ``"rank"`` (the share of training values below x, plus half the share of
        training values equal to x).
    measure : str or Measure, default="ndcg@10"
        Measure to tune the weights by, as in `parse_measure`.
    n_restarts : int, default=0
        Number of ascents from random weights. Two more ascents start from weights in
        proportion to each feature's lift (equal weights if no feature has a lift), and
        from the best single feature. If only one feature has a lift, these two starts
        are the same, and only one ascent runs. The best ascent counts. In our
        experiments on real data, restarts improved the fit to the training queries, but
        not the rankings of other queries
        (``python -m benchmarks.results.coordinate_ascent``).
    max_iter : int, default=25
        Largest number of iterations of an ascent. An iteration tries to move each
        weight once.
    tol : float, default=0.001
        Largest improvement of the mean of the measure that does not count as progress.
        An ascent stops after two iterations in a row without progress, or after an
        iteration that moves no weight.
    validation_fraction : float, optional
        Share of the queries, in (0, 1), to hold out. The held-out queries decide when
        ascents stop, and which iteration and which ascent is best. By default, no query
        is held out, and the training queries decide.
    random_state : int, RandomState instance or None, default=0
        Seed of the order in which weights are moved, of random weights, and of the
        queries that are held out.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        When weights are tuned, treatment of documents whose label is NaN, as in
        `ranking_score`: raise an error, count the documents as not relevant, or leave
        them out. `score` always refuses NaN labels.
    qid : str or int, optional
        The column of X that contains query ids, in `fit` and in `predict`: a name for
        data frames, an index for arrays. The column has no entry in `transforms`. In
        `coef`, the column has either no entry or the entry 0, as in `coef_`. By
        default, query ids are the argument ``qid`` of `fit`.
    n_jobs : int, optional
        Number of threads, which share the ascents (joblib). The number does not change
        the results.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,), float64
        Weight of each transformed column of X, 0 for the column `qid`.
    transforms_ : tuple of str
        Transform of each feature, without the column `qid`.
    train_score_ : ndarray of shape (n_iterations + 1,), float64
        Mean of the measure on the training queries, at the start of the best ascent and
        after each iteration. The mean is optimistic, because the weights are tuned on
        the same queries. The attribute exists only if the weights are tuned.
    validation_score_ : ndarray of shape (n_iterations + 1,), float64
        Mean of the measure on the queries that are held out, at the same iterations.
        The attribute exists only if queries are held out.
    n_iter_ : int
        The iteration that gave `coef_`, 0 for the start. The attribute exists only if
        the weights are tuned.
    n_features_in_ : int
        Number of columns of X in `fit`, including the column `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X in `fit`. The attribute exists only if all names are
        strings.

    See Also
    --------
    tieaware_sklearn.optuna.LinearScoringObjective : Tunes weights within bounds, by
        several measures, or together with the transforms.

    Notes
    -----
    Coordinate ascent moves one weight at a time, to the best of up to 29 values: 0, and
    the current weight plus or minus 0.001, 0.003, 0.007 and so on to 16.4. During the
    ascent, features are divided by their standard deviation, and the absolute values of
    the weights sum to 1. A weight is moved only if the mean improves. A feature that is
    constant within every query gets the weight 0. The result does not depend on the
    order of the rows, to the last bit.

    Unless `coef` is None, `fit` learns from X alone, and needs neither y nor query ids.

    With scikit-learn 1.9 or newer, ``set_callbacks`` sets callbacks that follow the
    ascents and their iterations. All ascents begin before the first ascent runs. The
    callbacks get X, y, and the argument ``qid`` of `fit` as metadata.

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

    Given weights also make a ranker:

    >>> columns = [web.feature_names.index(name) for name in ("text_score", "clicks")]
    >>> ranker = LinearRanker([1.0, 2.0], transforms=["identity", "log1p"])
    >>> ranker.fit(X[:, columns]).predict(X_test[:2, columns]).shape
    (2,)
    """

    # Routing passes query ids by default. Query weights must be requested, because they
    # may be meant for the scorer alone.
    __metadata_request__fit: ClassVar = {"qid": True, "query_weight": False}
    _doc_link_template = f"{words.REFERENCE}/tieaware_sklearn.{{estimator_name}}.html"

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
            Features, finite numbers, with the column of `qid` if there is one.
        y : array-like of shape (n_rows,), optional
            Labels: finite and >= 0, or NaN (see `unjudged`). Labels are required only
            if `coef` is None.
        qid : array-like of shape (n_rows,), optional
            Query of each row, in any order. Query ids are required only if `coef` is
            None and no column of X contains the query ids.
        query_weight : array-like of shape (n_rows,), optional
            Weight of each row's query, >= 0, constant within a query, and above 0 for
            at least one query. Weights are not used if `coef` is given. Metadata
            routing passes weights after ``set_fit_request(query_weight=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `coef` or `transforms` does not contain one entry per feature, if an
            entry breaks a rule above or is not finite, or if X contains values that are
            not finite. Also if a parameter breaks a rule above, or if query ids are
            passed although a column of X contains query ids. If weights are tuned, the
            error is also raised if there are no labels, no query ids or fewer than two
            queries, if there are more than 50 rows and each row is a query of its own,
            if no label is above 0, or if labels or weights break a rule above.
        """
        if isinstance(self.coef, str) and self.coef != "equal":
            raise ValueError(
                'coef must be "equal", one weight per feature, or None for tuning, '
                f"got {messages.show(self.coef)}"
            )
        checks.check_count(self.n_restarts, "n_restarts", least=0)
        checks.check_count(self.max_iter, "max_iter")
        if not checks.is_number(self.tol, least=0):
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}")
        if self.validation_fraction is not None:
            checks.check_share(self.validation_fraction, "validation_fraction")
        checks.check_flag(self.progress, "progress")
        data = {"estimator": self, "X": X, "y": y, "metadata": {"qid": qid}}
        context = None
        if hasattr(self, "_init_callback_context"):
            context = self._init_callback_context(
                max_subtasks=2 + self.n_restarts, sequential_subtasks=False
            ).call_on_fit_task_begin(**data)
        fit_task = FitTask(context, data)
        resolved = _resolved.resolve(
            [parse_measure(self.measure)], self.zero_relevance, self.unjudged
        )
        if self.coef is None and y is None:
            # scikit-learn's checks of estimators look for the end of this message.
            raise ValueError(
                "y must contain the labels of X: LinearRanker(coef=None) requires y to "
                "be passed, but the target y is None"
            )
        features, qid = self._features(X, qid, reset=True)
        n_features = features.shape[1]
        self._is_feature_ = feature_matrix.are_features(X, self.qid)
        self.transforms_ = check_transforms(self.transforms, n_features)
        self._sorted_ = [
            np.sort(column) if transform == "rank" else None
            for column, transform in zip(features.T, self.transforms_, strict=True)
        ]
        # An earlier fit may have tuned the weights.
        for name in (
            "train_score_",
            "validation_score_",
            "n_iter_",
            "_fitted_queries_",
        ):
            self.__dict__.pop(name, None)
        if self.coef is None:
            feature_matrix.need_qid(
                qid,
                "fit",
                'qid=<name or index> in the constructor. coef="equal" requires no '
                "query ids",
            )
            prepared = _prepared.prepare(
                y,  # type: ignore[arg-type]
                qid,
                query_weight,
                X=X,
                names=_prepared.ROW_NAMES,
                unjudged=resolved.unjudged,
                keep=True,
                single_documents="raise",
            )
            coef = self._tune(features, prepared, resolved, fit_task)
        elif isinstance(self.coef, str):
            coef = 1 / scales(self._transform(features))
        else:
            coef = exact_numbers.floats_of(self.coef, "coef")
            if len(coef) == self.n_features_in_ and not coef[~self._is_feature_].any():
                coef = coef[self._is_feature_]
            if len(coef) != n_features:
                raise ValueError(
                    f"coef must have one weight per feature ({n_features}), got "
                    f"{len(coef)}"
                )
            if not np.isfinite(coef).all():
                raise ValueError(f"coef must be finite, got {messages.show(coef)}")
        self.coef_ = feature_matrix.spread_features(coef, self._is_feature_)
        fit_task.end(coef)
        return self

    # scikit-learn does not declare types, so as a decorator it would hide the types of
    # fit.
    fit = with_callbacks(fit)

    def _features(
        self, X: Any, qid: Any = None, *, reset: bool
    ) -> tuple[FloatArray, Any]:
        """Return features as floats, and query ids."""
        exact_numbers.check_not_masked(X, "X")
        if self.qid is None:
            feature_matrix.check_kinds(
                X, hint=(". If the column contains query ids, set qid={}")
            )
            X = validate_data(self, X, reset=reset, dtype=np.float64, order="C")
            return X, qid
        features, qid = feature_matrix.resolve_qid(X, self.qid, qid)
        validate_data(self, X, reset=reset, skip_check_array=True)
        feature_matrix.check_kinds(features)
        feature_matrix.check_any_feature(features, self.qid)
        features = check_array(
            features, dtype=np.float64, order="C", estimator=self, input_name="X"
        )
        return features, qid

    def _tune(
        self,
        X: FloatArray,
        prepared: _prepared.Prepared,
        resolved: _resolved.ResolvedMeasures,
        fit_task: FitTask,
    ) -> FloatArray:
        """Tune the weights by coordinate ascents, and set the attributes of tuning."""
        queries = prepared.queries.by_id()
        if queries.n_queries == 1:
            raise ValueError(
                "qid must have at least two queries to tune weights, got one (with "
                f"n_samples = {len(X)})"
            )
        if prepared.labels.max() <= 0:
            raise ValueError(
                "y must have a label above 0 to tune weights, got no relevant document"
            )
        X = self._transform(feature_matrix.take_rows(X, queries.order))
        prepared = prepared.sorted(queries)
        # A feature that is constant within every query keeps a weight of 0.
        varies = prepared.queries.varying(X).any(axis=0)
        feature_scales = np.where(varies, scales(X), np.inf)
        rows = RankedRows(X, prepared, resolved, feature_scales)
        random_state = checks.check_seed(self.random_state)
        train, held_out = hold_out(rows, self.validation_fraction, random_state)
        random_starts = [None] * int(self.n_restarts)
        tasks = []
        for task_id, weights in enumerate(starts(train) + random_starts):  # type: ignore[operator]
            # Seeds are drawn in order, so that more restarts do not change the first.
            seed = random_state.randint(2**31 - 1)
            tasks.append(
                delayed(ascend)(
                    train,
                    held_out,
                    weights,
                    seed,
                    self.max_iter,
                    self.tol,
                    fit_task.subtask("ascent", task_id, self.max_iter),
                )
            )
        # Ascents run in threads, because they share the prepared labels.
        parallel = Parallel(
            n_jobs=self.n_jobs, require="sharedmem", return_as="generator"
        )
        ascents = list(
            progress_bars.show_progress(
                parallel(tasks), self.progress, len(tasks), "ascent", "tuning"
            )
        )
        best_values = np.array([ascent.best_value for ascent in ascents])
        best = ascents[first_best(best_values)]
        self.n_iter_ = best.n_iter
        self.train_score_ = rows.sign * np.array(best.train_values)
        if held_out is not None:
            self.validation_score_ = rows.sign * np.array(best.stopping_values)
        self._fitted_queries_ = split_queries.FittedQueries.from_queries(
            prepared.queries
        )
        return best.coef

    def predict(self, X: Any) -> FloatArray:
        """Return the scores of the rows of X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Features, finite numbers, with the column of `qid` if there is one.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            Higher scores rank first.

        Raises
        ------
        ValueError
            If the columns of X differ from the columns in `fit`, or if X contains
            values that are not finite.
        NotFittedError
            If the ranker is not fitted.
        """
        check_is_fitted(self)
        X, _ = self._features(X, reset=False)
        return linear_scores(self._transform(X), self.coef_[self._is_feature_])

    def _transform(self, X: FloatArray) -> FloatArray:
        """Return the transformed features."""
        if set(self.transforms_) == {"identity"}:
            return X
        columns = []
        for j, transform in enumerate(self.transforms_):
            columns.append(transformed(X[:, j], transform, self._sorted_[j]))
        return np.column_stack(columns)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.coef is None
        tags.target_tags.positive_only = self.coef is None
        return tags


def transformed(
    column: FloatArray, kind: str, ordered: FloatArray | None = None
) -> FloatArray:
    """Transform a feature by sorted training values: `ordered`, or its own values."""
    if kind == "log1p":
        return np.sign(column) * np.log1p(np.abs(column))
    if kind == "rank":
        if ordered is None:
            ordered = np.sort(column)
        n_below = np.searchsorted(ordered, column, side="left")
        n_up_to = np.searchsorted(ordered, column, side="right")
        return (n_below + n_up_to) / (2 * len(ordered))
    return column


def scales(X: FloatArray) -> FloatArray:
    """Return the standard deviations of features, infinite for constant features."""
    is_constant = (X[:1] == X).all(axis=0)
    largest = np.abs(X).max(axis=0)
    # Squares of deviations could underflow or overflow.
    is_extreme = ~is_constant & ((largest < 1e-100) | (largest > 1e100))
    if is_extreme.any():
        column = int(np.argmax(is_extreme))
        raise ValueError(
            "X must have features whose largest absolute values are from 1e-100 to "
            f"1e100, got {largest[column]:g} in feature {column}"
        )
    # The values are sorted, because their sum must not depend on the order of rows.
    deviations = np.sort(X, axis=0).std(axis=0)
    return np.where(is_constant, np.inf, deviations)


def check_transforms(
    transforms: Any, n_features: int, allowed: tuple[str, ...] = TRANSFORMS
) -> tuple[str, ...]:
    """Return the transform of each feature, checked."""
    names = "identity" if transforms is None else transforms
    if isinstance(names, str):
        names = (names,) * n_features
    is_list = isinstance(names, (list, tuple, np.ndarray))
    if not is_list or len(names) != n_features:
        raise ValueError(
            "transforms must be a name, or a list with one entry per feature "
            f"({n_features}), got {messages.show(transforms)}"
        )
    for name in names:
        checks.check_choice(name, "transforms", allowed)
    return tuple(names)


def linear_scores(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Return the scores Σ_j X_ij coef_j, bit by bit the same for equal rows."""
    scores = np.zeros(len(X))
    # Without parts, einsum can cut rows into buffers of 8192, at indices that differ
    # between rows. Equal rows could then get different sums.
    for start in range(0, len(coef), 4096):
        part = slice(start, start + 4096)
        columns = np.ascontiguousarray(X[:, part])
        scores += np.einsum("ij,j->i", columns, coef[part])
    return scores


def first_best(values: FloatArray) -> int:
    """Return the index of the first of the values that are largest up to rounding."""
    largest = values.max()
    return int(np.argmax(values >= largest - SAME * abs(largest)))


class FitTask(NamedTuple):
    """A task of `fit` for callbacks: the fit, an ascent or an iteration.

    Attributes
    ----------
    context : CallbackContext or None
        The task in scikit-learn. None before version 1.9.
    data : dict
        The ranker as ``"estimator"``, X, y and ``"metadata"``.
    """

    context: Any
    data: Any

    def subtask(self, *options: Any) -> FitTask:
        """Begin a part of the task, and return the part."""
        if self.context is None:
            return self
        context = self.context.subcontext(*options)
        return FitTask(context.call_on_fit_task_begin(**self.data), self.data)

    def end(self, coef: FloatArray) -> Any:
        """End the task with these weights. Return whether a callback asks to stop."""
        if self.context is None:
            return False
        coef = feature_matrix.spread_features(coef, self.data["estimator"]._is_feature_)
        return self.context.call_on_fit_task_end(
            **self.data, reconstruction_attributes={"coef_": coef}
        )


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Features and labels of whole queries, with the measure to optimise.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    prepared : Prepared
        Labels of the rows, query by query.
    resolved : ResolvedMeasures
        The measure.
    scales : ndarray of shape (n_features,)
        Divisors of the features in an ascent. Divisors are infinite for features that
        keep a weight of 0.
    """

    X: FloatArray
    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    scales: FloatArray

    @property
    def sign(self) -> int:
        """Sign of the measure, -1 if lower values are better."""
        return 1 if self.resolved.measures[0].greater_is_better else -1

    def select(self, queries: IntArray) -> RankedRows:
        """Return the rows of some queries."""
        X = self.X[self.prepared.queries.rows(queries)]
        return replace(self, X=X, prepared=self.prepared.of_queries(queries))

    def mean(self, scores: FloatArray) -> float:
        """Return the mean of the measure, negated if lower is better."""
        return float(self.means(scores[None])[0])

    def means(self, scores: FloatArray) -> FloatArray:
        """Return the means of scores of shape (n_columns, n_rows)."""
        values = self.prepared.values(self.resolved, scores).expected
        return self.sign * column_means(values[:, :, 0].T, self.prepared.weight)

    def means_after_steps(
        self, scores: FloatArray, feature: int, steps: FloatArray
    ) -> FloatArray:
        """Return the mean after each step of the weight of a feature."""
        column = self.X[:, feature]
        coef_steps = steps / self.scales[feature]
        n_at_once = _prepared.columns_at_once(len(self.X), len(steps), 1)
        means = []
        for start in range(0, len(steps), n_at_once):
            part = coef_steps[start : start + n_at_once, None]
            means.append(self.means(scores + part * column))
        return np.concatenate(means)


@dataclass(frozen=True, eq=False)
class Ascent:
    """Result of an ascent.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    n_iter : int
        The iteration that gave `coef`.
    best_value : float
        The mean of the measure with `coef` on the queries that decide when to stop.
    train_values, stopping_values : list of float
        Means at the start and after each iteration, on the training queries and on the
        queries that decide when to stop.
    """

    coef: FloatArray
    n_iter: int
    best_value: float
    train_values: list[float]
    stopping_values: list[float]


def ascend(
    train: RankedRows,
    held_out: RankedRows | None,
    start: FloatArray | None,
    seed: int,
    max_iter: int,
    tol: float,
    fit_task: FitTask,
) -> Ascent:
    """Climb from the weights `start` by coordinate ascent.

    Parameters
    ----------
    train : RankedRows
        Queries whose mean is maximised.
    held_out : RankedRows or None
        Queries that decide when to stop. If None, the training queries decide.
    start : ndarray of shape (n_features,) or None
        Weights, not all 0. If None, the weights are drawn at random.
    seed : int
        Seed of the order in which weights are moved, and of weights that are drawn.
    max_iter : int
        Largest number of iterations.
    tol : float
        Smallest improvement that counts as progress. The ascent stops after two
        iterations in a row that raise the best mean by at most `tol`.
    fit_task : FitTask
        The ascent, for callbacks. A callback may stop the ascent.
    """
    random_state = np.random.RandomState(seed)
    can_move = np.isfinite(train.scales)
    if start is None:
        start = random_state.uniform(-1, 1, len(can_move))
        # Weights are divided by their sum, so they must not all be 0.
        if can_move.any():
            start[~can_move] = 0.0
    point = _evaluate_weights(train, start)
    train_values = [point.mean]
    # Both names stand for the same list, unless queries are held out.
    stopping_values = train_values
    if held_out is not None:
        stopping_values = [held_out.mean(linear_scores(held_out.X, point.coef))]
    coef = point.coef
    best_value = stopping_values[0]
    n_iter = 0
    n_idle = 0
    for iteration in range(1, max_iter + 1):
        mean_before = point.mean
        iteration_task = fit_task.subtask("iteration")
        for feature in random_state.permutation(np.flatnonzero(can_move)):
            point = _move_weight(train, point, feature)
        train_values.append(point.mean)
        if held_out is not None:
            scores = linear_scores(held_out.X, point.coef)
            stopping_values.append(held_out.mean(scores))
        value = stopping_values[-1]
        if value > best_value + tol:
            n_idle = 0
        else:
            n_idle += 1
        if value > best_value + SAME * abs(best_value):
            coef = point.coef
            best_value = value
            n_iter = iteration
        stops = iteration_task.end(coef)
        if stops or point.mean == mean_before or n_idle == _PATIENCE:
            break
    fit_task.end(coef)
    return Ascent(coef, n_iter, best_value, train_values, stopping_values)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights in an ascent, whose absolute values sum to 1, and the measure's mean.

    `coef` are the weights of the features before they are divided by their scales.
    """

    weights: FloatArray
    coef: FloatArray
    scores: FloatArray
    mean: float


def _evaluate_weights(rows: RankedRows, weights: FloatArray) -> _Point:
    """Return the point of the weights, with the scores that `predict` computes."""
    weights = weights / np.abs(weights).sum()
    coef = weights / rows.scales
    scores = linear_scores(rows.X, coef)
    return _Point(weights, coef, scores, rows.mean(scores))


def _move_weight(rows: RankedRows, point: _Point, feature: int) -> _Point:
    """Return the point after the best step of a weight, or the point itself."""
    steps = _STEPS
    weight = point.weights[feature]
    if weight and np.count_nonzero(point.weights) > 1:
        # Weight 0 comes first, because fewer features are better if means are equal.
        steps = np.append(-weight, steps)
    means = rows.means_after_steps(point.scores, feature, steps)
    # Among equally good steps, the step to weight 0 comes first, then the smallest.
    best = first_best(means)
    least = point.mean + SAME * abs(point.mean)
    weights = point.weights.copy()
    weights[feature] += steps[best]
    if means[best] <= least or not weights.any():
        return point
    # The scores of scaled weights are rounded differently, and may tie differently.
    moved = _evaluate_weights(rows, weights)
    return moved if moved.mean > least else point


def starts(rows: RankedRows) -> list[FloatArray]:
    """Return starting weights: in proportion to lift, and the best feature alone.

    The lift of a feature is its gain over a ranking that ties everything. The lift is
    negative if the gain is in ascending order, and 0 if there is no gain in either
    order.
    """
    can_move = np.isfinite(rows.scales)
    tied_scores = np.zeros(len(rows.X))
    chance = rows.mean(tied_scores)
    both_directions = np.array([1.0, -1.0])
    lift = np.zeros(len(can_move))
    for feature in np.flatnonzero(can_move).tolist():
        means = rows.means_after_steps(tied_scores, feature, both_directions)
        descending, ascending = means - chance
        if descending >= ascending:
            lift[feature] = max(descending, 0.0)
        else:
            lift[feature] = -max(ascending, 0.0)
    if not lift.any():
        # The features that can be moved, or all features, get equal weights.
        lift[:] = can_move if can_move.any() else 1.0
    if np.count_nonzero(lift) == 1:
        return [lift]
    best = np.argmax(np.abs(lift))
    best_alone = np.zeros(len(lift))
    best_alone[best] = lift[best]
    return [lift, best_alone]


def hold_out(
    rows: RankedRows, share: float | None, random_state: np.random.RandomState
) -> tuple[RankedRows, RankedRows | None]:
    """Split queries into training queries and a share that is held out, if any.

    Raises
    ------
    ValueError
        If either part has no query, has no relevant document, or has no defined mean.
    """
    if share is None:
        train, held_out = rows, None
        parts = {"": rows}
    else:
        n_queries = rows.prepared.queries.n_queries
        n_held_out = round(share * n_queries)
        if not 0 < n_held_out < n_queries:
            raise ValueError(
                "validation_fraction must hold out at least one query and leave at "
                f"least one query for training, got {share!r} of {n_queries} queries"
            )
        order = random_state.permutation(n_queries)
        train = rows.select(np.sort(order[n_held_out:]))
        held_out = rows.select(np.sort(order[:n_held_out]))
        parts = {" used for tuning": train, " held out": held_out}
    for name, part in parts.items():
        if part.prepared.labels.max() <= 0:
            raise ValueError(
                f"validation_fraction={share!r} must leave relevant documents in both "
                f"parts, got none in the {part.prepared.queries.n_queries} "
                f"queries{name}"
            )
        if np.isnan(part.mean(np.zeros(len(part.X)))):
            raise ValueError(
                f"to tune weights, {rows.resolved.names[0]} must be defined for a "
                f"query whose weight is not 0, got no such query{name}"
            )
    return train, held_out
