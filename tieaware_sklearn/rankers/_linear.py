"""A linear score over features, as an estimator that tunes its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_array
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from .._display import show_progress
from .._engine import (
    FittedQueries,
    FloatArray,
    array_of,
    as_floats,
    check_choice,
    check_count,
    check_flag,
    check_kinds,
    check_seed,
    check_share,
    how_to_pass_qid,
    is_number,
    numbers_of,
    resolve_qid,
    without_mask,
)
from ..evaluation import Asked, QueryRows, ask
from ..measures import Measure, parse_measure
from ._coordinate_ascent import (
    SAME,
    Ascent,
    RankedRows,
    Stopping,
    ascend,
    lifts,
    linear_scores,
    split_queries,
    starts,
)
from ._query_ranker import RankerMixin

TRANSFORMS = ("identity", "log1p", "rank")


class LinearRanker(RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Rank by a weighted sum of features, Σ coef x transform(feature).

    `fit` tunes the weights by coordinate ascent on an exact measure, unless they are
    given. Rows with equal features have equal scores, to the last bit, wherever they
    are in X. Matrix products of linear algebra libraries do not guarantee this, and can
    break ties.

    Parameters
    ----------
    coef : "equal" or array-like of shape (n_features,), optional
        Weights of the transformed features, which then are not tuned. ``"equal"`` is
        the inverse of their standard deviation, which weights standardised features
        equally (0 for constant ones).
    transforms : str or list of str, optional
        Transform of all features, or of each: ``"identity"`` (the default), ``"log1p"``
        (sign(x) log(1 + abs(x))) or ``"rank"`` (the share of training values below x,
        plus half the share of those equal to it).
    measure : str or Measure, default="ndcg@10"
        Measure to tune the weights by, as in `parse_measure`.
    n_restarts : int, default=0
        Number of ascents from random weights, beside two from weights in proportion to
        the lift of each feature alone, and from the best single feature. The best
        ascent counts. Restarts fit the training queries better; on real data they did
        not rank other queries better
        (``python -m benchmarks.results.coordinate_ascent``).
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
        frames, an index for arrays. It has no weight, and no entry in `coef` and
        `transforms`. By default `fit` takes ``qid``.
    n_jobs : int, optional
        Number of threads over ascents (joblib). No result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), float64
        Weights of the transformed features.
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
        Number of columns of X in `fit`, that of `qid` included.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, where all are texts.

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

    # by metadata routing, ids come of themselves; weights may be a scorer's alone
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
            Weight, in the mean, of each row's query: >= 0 and constant within a query.
            Metadata routing passes it after ``set_fit_request(query_weight=True)``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `coef` or `transforms` does not have one entry per feature, or has an
            entry that is not allowed, or if X has values that are not finite. Where
            weights are tuned: if there are no query ids or fewer than two queries, if
            no label is above 0, or if labels, weights or parameters break a rule above.
        """
        asked = self._checked()
        if self.coef is None and y is None:  # as scikit-learn says it
            raise ValueError(
                "y must hold the labels of X: LinearRanker(coef=None) requires y to be "
                "passed, but the target y is None"
            )
        X, qid = self._features(X, qid, reset=True)
        self.transforms_ = check_transforms(self.transforms, X.shape[1])
        self._sorted_ = [
            np.sort(column) if kind == "rank" else None
            for column, kind in zip(X.T, self.transforms_, strict=True)
        ]
        for name in _OF_TUNED:
            self.__dict__.pop(name, None)
        if self.coef is None:
            self._tune(X, y, qid, query_weight, asked)
        elif isinstance(self.coef, str):
            self.coef_ = 1 / scales(self._transform(X))
        else:
            self.coef_ = as_floats(numbers_of(self.coef, "coef"), "coef").copy()
            if self.coef_.shape != (X.shape[1],):
                raise ValueError(
                    f"coef must have one weight per feature ({X.shape[1]}), got shape "
                    f"{self.coef_.shape}"
                )
            if not np.isfinite(self.coef_).all():
                raise ValueError(f"coef must be finite, got {self.coef_}")
        return self

    def _checked(self) -> Asked:
        """The measure, with all options checked."""
        if isinstance(self.coef, str) and self.coef != "equal":
            raise ValueError(
                'coef must be "equal", one weight per feature, or None to tune them, '
                f"got {self.coef!r}"
            )
        check_count(self.n_restarts, "n_restarts", least=0)
        check_count(self.max_iter, "max_iter")
        if not is_number(self.tol, least=0):
            raise ValueError(f"tol must be a number >= 0, got {self.tol!r}")
        if self.validation_fraction is not None:
            check_share(self.validation_fraction, "validation_fraction")
        check_flag(self.progress, "progress")
        return ask([parse_measure(self.measure)], self.zero_relevance, self.unjudged)

    def _features(
        self, X: Any, qid: Any = None, *, reset: bool
    ) -> tuple[FloatArray, Any]:
        """Features as floats, and query ids."""
        X = without_mask(X)
        options: dict[str, Any] = {"dtype": np.float64, "order": "C"}
        if self.qid is None:
            check_kinds(X, hint="; query ids go into qid={}")
            return validate_data(self, X, reset=reset, **options), qid
        X = X if hasattr(X, "shape") else array_of(X)
        features, qid = resolve_qid(X, self.qid, qid)
        validate_data(self, X, reset=reset, skip_check_array=True)
        check_kinds(features)
        if not features.shape[1]:
            raise ValueError(
                f"X must have a feature beside its qid column {self.qid!r}, got "
                "n_features=1"
            )
        features = check_array(features, estimator=self, input_name="X", **options)
        return features, qid

    def _tune(self, X: FloatArray, y: Any, qid: Any, weight: Any, asked: Asked) -> None:
        """Coordinate ascents, and the attributes that they leave."""
        rows = self._gather(X, y, qid, weight, asked)
        spread = np.where(rows.varying(), scales(rows.X), np.inf)
        draw = check_seed(self.random_state)
        train, held_out = split_queries(rows, self.validation_fraction, draw)
        begin = starts(lifts(train, spread), spread)
        begin += [None] * int(self.n_restarts)
        # more restarts leave those before as they are
        seeds = [draw.randint(2**31 - 1) for _ in begin]
        stopping = Stopping(int(self.max_iter), float(self.tol))
        # threads share what was made of the labels above
        ends = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")(
            delayed(ascend)(train, held_out, start, spread, stopping, seed)
            for start, seed in zip(begin, seeds, strict=True)
        )
        found: list[Ascent] = list(
            show_progress(ends, self.progress, len(begin), "ascent", "tuning")
        )
        # the first of those that are equally good
        top = max(ascent.value for ascent in found) - SAME
        best = next(ascent for ascent in found if ascent.value >= top)
        self.coef_, self.n_iter_ = best.coef, best.n_iter
        self.train_score_ = rows.sign * np.array(best.train)
        if held_out is not None:
            self.validation_score_ = rows.sign * np.array(best.held_out)
        self._fitted_queries_ = FittedQueries.of(rows.prepared.queries)

    def _gather(
        self, X: FloatArray, y: Any, qid: Any, query_weight: Any, asked: Asked
    ) -> RankedRows:
        """Transformed features and labels query by query, by id."""
        if qid is None:
            raise ValueError(
                "qid must hold the query of each row, got None: pass qid to fit. "
                f"{how_to_pass_qid()}, qid=<name or index> in the constructor. "
                'coef="equal" needs no query ids'
            )
        given = QueryRows.of(X, y, qid, query_weight, unjudged=asked.unjudged)
        if given.queries.n_queries < 2:
            raise ValueError(
                "qid must have at least two queries to tune weights, got one (with "
                f"n_samples = {len(X)})"
            )
        if given.labels.max() <= 0:
            raise ValueError(
                "y must have a label above 0 to tune weights, got no relevant document"
            )
        rows = given.sorted(given.queries.by_id())
        return RankedRows(self._transform(rows.X), rows.prepared(), asked)

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
        return linear_scores(self._transform(X), self.coef_)

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


#: attributes that only tuned weights leave
_OF_TUNED = ("train_score_", "validation_score_", "n_iter_", "_fitted_queries_")


def transformed(
    column: FloatArray, kind: str, ordered: FloatArray | None = None
) -> FloatArray:
    """One feature, transformed; `ordered` are its sorted training values."""
    if kind == "log1p":
        return np.asarray(np.sign(column) * np.log1p(np.abs(column)))
    if kind == "rank":
        if ordered is None:
            ordered = np.sort(column)
        below = np.searchsorted(ordered, column, side="left")
        up_to = np.searchsorted(ordered, column, side="right")
        return np.asarray((below + up_to) / (2 * len(ordered)))
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
    # sorted first: a sum must not depend on the order of rows
    deviations = np.sort(X, axis=0).std(axis=0)
    return np.where(constant, np.inf, deviations)


def check_transforms(
    transforms: Any, n_features: int, allowed: tuple[str, ...] = TRANSFORMS
) -> tuple[str, ...]:
    """The transform of each feature."""
    each = "identity" if transforms is None else transforms
    names = (each,) * n_features if isinstance(each, str) else each
    if not isinstance(names, (list, tuple, np.ndarray)) or len(names) != n_features:
        raise ValueError(
            "transforms must be a name, or a list with one entry per feature "
            f"({n_features}), got {transforms!r}"
        )
    for name in names:
        check_choice(name, "transforms", allowed)
    return tuple(names)
