"""Scores by the number of selected features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from .._display import html, progress_bars, text_tables, words
from .._engine import checks, feature_matrix, messages, row_order
from .._engine.segments import FloatArray, IntArray
from ..evaluation import _averages, _intervals, _prepared, _resolved
from ..measures import Measure, parse_measure
from ..model_selection import _scorers, _splits


def rows_by_content(
    X: Any,
    y: ArrayLike,
    qid: Any,
    *,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> tuple[_prepared.QueryRows, IntArray]:
    """Rows sorted by query id and content, and the places that they were given at.

    Nothing that is computed of them depends on the order in which they were given.
    """
    ids, is_column = feature_matrix.ids_of(X, qid)
    X = feature_matrix.split_qid_column(X, qid)[0] if is_column else X
    X = feature_matrix.as_matrix(X)
    rows = _prepared.QueryRows.of(X, y, ids, query_weight, unjudged=unjudged)
    queries = row_order.by_content(X, rows.queries, rows.labels)
    return rows.sorted(queries), queries.given(np.arange(queries.n_rows))


def check_selector(selector: Any, name: str = "selector") -> None:
    """Refuse what is no selector of scikit-learn's interface, or reads ids of X."""
    selects = hasattr(selector, "fit") and hasattr(selector, "get_support")
    rule = f"{name} must be a selector with fit and get_support"
    messages.require(selects and not isinstance(selector, type), rule, selector)
    check_without_qid(selector)


def check_without_qid(model: Any) -> None:
    """Refuse an estimator, or a pipeline of one, that reads ids from a column of X."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    for step in [model, *steps]:
        column = getattr(step, "qid", None)
        got = f"got {type(step).__name__}(qid={column!r})"
        rule = f"qid must be given once, as an argument, {got}"
        messages.require(column is None, rule)


@dataclass(frozen=True, eq=False, repr=False)
class SelectionCurve(html.Result):
    """A measure on held-out queries by the number of features; prints as a table.

    `selection_curve` returns it. The last row of the table is the estimator with all
    features. Differences are from the first selector with as many features.

    Attributes
    ----------
    selectors : tuple of str
        Names of the selectors; the first is the baseline of `difference`.
    n_features : tuple of int
        Numbers of features, ascending.
    measure : str
        Canonical name.
    values : ndarray of shape (n_queries, n_selectors, n_sizes)
        Value of each query when tested, averaged over repeats. NaN if undefined or
        never tested.
    all_features : ndarray of shape (n_queries,)
        The same with all features.
    mean : ndarray of shape (n_selectors, n_sizes)
        Mean of `values` over queries.
    interval : ndarray of shape (n_selectors, n_sizes, 2)
        Interval of `mean`, clipped to the range of the measure.
    mean_all : float
        Mean of `all_features` over queries.
    interval_all : ndarray of shape (2,)
        Interval of `mean_all`, clipped as well.
    difference : ndarray of shape (n_selectors, n_sizes)
        Mean over queries of the values minus those of the first selector.
    difference_interval : ndarray of shape (n_selectors, n_sizes, 2)
        Interval of `difference`, over paired queries. NaN where both selectors choose
        the same features in every fold: they do not differ.
    difference_from_all : ndarray of shape (n_selectors, n_sizes)
        Mean over queries of the values minus those with all features.
    difference_from_all_interval : ndarray of shape (n_selectors, n_sizes, 2)
        Interval of `difference_from_all`. NaN where all features are chosen in every
        fold.
    qid : ndarray of shape (n_queries,)
        Query ids, ascending.
    query_weight : ndarray of shape (n_queries,) or None
        Weights of the queries.
    feature_names : tuple of str
        Names of the features.
    selected : ndarray of shape (n_folds, n_selectors, n_sizes, n_columns), bool
        The features that were chosen in each fold.
    confidence : float
        Confidence level of the intervals.

    See Also
    --------
    selection_curve : Returns such a result.
    tieaware_sklearn.plots.SelectionCurveDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_curve
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> X, y, qid = make_web_search(n_queries=20, as_frame=True, return_X_y_qid=True)
    >>> curve = selection_curve(
    ...     RankingFeatureSelector("ap"), Ridge(), X, y, qid=qid, measure="ap", cv=2)
    >>> curve.n_features, curve.values.shape
    ((1, 2, 5, 10), (20, 1, 4))
    >>> curve.selected.shape
    (2, 1, 4, 12)
    """

    selectors: tuple[str, ...]
    n_features: tuple[int, ...]
    measure: str
    values: FloatArray
    all_features: FloatArray
    mean: FloatArray
    interval: FloatArray
    mean_all: float
    interval_all: FloatArray
    difference: FloatArray
    difference_interval: FloatArray
    difference_from_all: FloatArray
    difference_from_all_interval: FloatArray
    qid: NDArray[Any]
    query_weight: FloatArray | None
    feature_names: tuple[str, ...]
    selected: NDArray[np.bool_]
    confidence: float

    def _columns(self) -> dict[str, Any]:
        n_sizes = len(self.n_features)
        names = [*np.repeat(np.array(self.selectors, object), n_sizes), "all features"]
        low, high = self.interval.reshape(-1, 2).T
        low_all, high_all = self.interval_all
        sizes = [*self.n_features * len(self.selectors), len(self.feature_names)]
        columns: dict[str, Any] = {
            "selector": names,
            "n_features": sizes,
            "measure": [self.measure] * len(names),
            "mean": np.append(self.mean, self.mean_all),
            "interval_low": np.append(low, low_all),
            "interval_high": np.append(high, high_all),
        }
        for name, of_all in (("difference", np.nan), ("difference_from_all", 0.0)):
            low, high = getattr(self, f"{name}_interval").reshape(-1, 2).T
            columns[name] = np.append(getattr(self, name), of_all)
            columns[f"{name}_low"] = np.append(low, np.nan)
            columns[f"{name}_high"] = np.append(high, np.nan)
        return columns

    def _conclusion(self) -> list[str]:
        s, i = np.unravel_index(np.argmax(self.mean), self.mean.shape)
        best, every = words.number(self.mean[s, i]), words.number(self.mean_all)
        return [
            f"{self.measure} is {best} with {self.n_features[i]} features chosen by "
            f"{self.selectors[s]}, and {every} with all {len(self.feature_names)}."
        ]

    def _about(self) -> dict[str, Any]:
        return {"held-out queries": len(self.qid)} | super()._about()

    def _tables(self) -> list[text_tables.Table]:
        columns = self._columns()
        half = (columns["interval_high"] - columns["interval_low"]) / 2
        share = f"{self.confidence:.0%}"
        first = self.selectors[0]
        # a selector does not differ from itself
        is_first = np.arange(len(half)) < len(self.n_features)
        difference = np.where(is_first, np.nan, columns["difference"])
        alike = np.append(_alike(self.selected).ravel(), False)
        ends = np.column_stack([columns["difference_low"], columns["difference_high"]])
        bracketed = list(map(words.bracketed, ends))
        intervals = np.where(np.isnan(ends[:, 0]), "-", bracketed)
        intervals = np.where(alike & ~is_first, "same", intervals)
        shown: list[tuple[Any, ...]] = [
            (self.measure, columns["selector"]),
            ("features", columns["n_features"]),
            ("mean", columns["mean"]),
            (f"±{share}", half),
        ]
        terms = {"mean": "mean over held-out queries"}
        if len(self.selectors) > 1:
            shown += [("difference", difference), (f"{share} interval", intervals)]
            terms["difference"] = f"mean minus that of {first} with as many features"
            terms[f"{share} interval"] = (
                "t interval of the difference over queries; same: both selectors "
                "choose the same features in every fold"
            )
        return [text_tables.Table.of(*shown, drop=(3,), terms=terms)]


def _alike(selected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where each selector chooses as the first one does, (n_selectors, n_sizes)."""
    return np.asarray((selected == selected[:, :1]).all(axis=(0, 3)))


def without_rounding(differences: FloatArray) -> FloatArray:
    return np.where(np.abs(differences) <= _averages.NO_DIFFERENCE, 0.0, differences)


#: parameters that say how many features a selector keeps
_SIZES = ("n_features_to_select", "k")


def selection_curve(
    selectors: Any,
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: Any,
    n_features: Sequence[int] | None = None,
    measure: str | Measure = _prepared.DEFAULT_MEASURE,
    cv: Any = 5,
    response_method: str | Sequence[str] | None = None,
    confidence: float = 0.95,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> SelectionCurve:
    """Compute a measure on held-out queries by the number of selected features.

    In each fold, features are selected on the training queries alone, and the estimator
    is trained on the first k of them. Its ranking of the test queries is evaluated. No
    feature is chosen on queries that it is tested on. Differences are paired by query.

    Parameters
    ----------
    selectors : selector or mapping of str to selector
        Unfitted selectors of scikit-learn's interface, by name. The first is the
        baseline of the differences.
    estimator : ranker, regressor, classifier or pipeline
        It is cloned for every fit.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), or str or int
        Query of each row, or the column of X that holds it (a name for data frames, an
        index for arrays). It is not a feature. Selectors and the estimator get the ids
        if their `fit` takes or requests ``qid``. Their own `qid` must be None.
    n_features : list of int, optional
        Numbers of features. By default 1, 2, 5, 10, 20, 50 and so on, below the number
        of columns.
    measure : str or Measure, default="ndcg@10"
        Measure, as in `parse_measure`.
    cv : int or cross-validator, default=5
        Number of folds of `QueryKFold`, or a cross-validator, which is given the query
        ids as `groups`. With its `n_repeats`, the values of a query are averaged over
        repeats.
    response_method
        As in `make_ranking_scorer`.
    confidence : float, default=0.95
        Confidence level of the intervals over queries.
    zero_relevance, unjudged, query_weight
        As in `evaluate`. Weights are for averages only, not for fits.
    n_jobs : int, optional
        Number of processes over folds (joblib); no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    SelectionCurve
        Means and differences, with intervals over queries.

    Raises
    ------
    ValueError
        If the folds split a query, if a number of features is larger than the number of
        columns, if a selector cannot be told how many features to select, or as in
        `evaluate`.

    See Also
    --------
    tieaware_sklearn.plots.SelectionCurveDisplay : Draws the curve.
    selection_stability : How much the selection depends on the queries.

    Notes
    -----
    A selector with `selection_order_` is fitted once per fold, with the largest number
    of features as its ``n_features_to_select``, and its first k features are taken.
    Other selectors are fitted for each number of features, as their
    ``n_features_to_select`` or ``k``. A selector that keeps fewer features than asked
    for is evaluated with those. If it keeps none, all documents tie.

    Intervals are t intervals over queries. They refer to these ways of selecting and
    training, averaged over training sets of this size. Folds share training queries,
    and a model ranks all queries of a fold, so values of queries depend on each other.
    The variance is therefore the corrected resampled one of Nadeau and Bengio (2003,
    "Inference for the generalization error", Machine Learning 52), where 1/n becomes ::

        1/n + 1/n_train

    for n queries tested, and n_train that a fold is trained on, on average. With five
    folds, intervals are 1.5 times as long as for independent values. In simulations,
    95 % intervals covered 94 to 99 %, and 66 to 95 % without the correction.

    It is optimistic to choose the number of features by the curve and report its
    maximum.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_curve
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=80, random_state=0)
    >>> single = RankingFeatureSelector("ndcg@10", max_correlation=None)
    >>> print(selection_curve(
    ...     {"single": single, "default": RankingFeatureSelector("ndcg@10")},
    ...     DecisionTreeRegressor(max_depth=6, random_state=0), web.data,
    ...     web.target, qid=web.qid, n_features=[1, 3, 5]))
    NDCG@10       features    mean    ±95%  difference       95% interval
    ---------------------------------------------------------------------
    single               1  0.3906  0.0535           -                  -
    single               3  0.4582  0.0547           -                  -
    single               5  0.5073  0.0549           -                  -
    default              1  0.3906  0.0535      0.0000               same
    default              3  0.4981  0.0524      0.0399  [-0.0040, 0.0838]
    default              5  0.5113  0.0512      0.0040  [-0.0272, 0.0353]
    all features        12  0.5040  0.0523           -                  -
    """
    named = selectors
    if not isinstance(selectors, Mapping):
        named = {type(selectors).__name__: selectors}
    messages.require(named, "selectors must have at least one entry, got none")
    for name, selector in named.items():
        check_selector(selector, f"selectors[{name!r}]")
    check_without_qid(estimator)
    checks.check_share(confidence, "confidence")
    checks.check_flag(progress, "progress")
    method = _scorers.check_response_method(response_method)
    resolved = _resolved.resolve([parse_measure(measure)], zero_relevance, unjudged)
    rows, given = rows_by_content(
        X, y, qid, unjudged=resolved.unjudged, query_weight=query_weight
    )
    sizes = _check_sizes(n_features, rows.X.shape[1])
    # splitters see rows as they were given
    place = np.argsort(given)
    X, labels = feature_matrix.take_rows(rows.X, place), rows.labels[place]
    codes = rows.queries.codes[place]
    folds = _splits.query_folds(cv, X, labels, codes, rows.queries.qid)
    run = partial(_run, rows, list(named.values()), estimator, sizes, resolved, method)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    parts = parallel(delayed(run)(*fold) for fold in folds)
    bar = progress_bars.show_progress(parts, progress, len(folds), "fold", "selection")
    done = list(bar)

    shape = rows.queries.n_queries, len(named) * len(sizes) + 1
    total, count = np.zeros(shape), np.zeros((shape[0], 1))
    for (_, test), (of_test, _) in zip(folds, done, strict=True):
        total[test] += of_test
        count[test] += 1
    values = total / np.where(count > 0, count, np.nan)
    table, alone = values[:, :-1].reshape(-1, len(named), len(sizes)), values[:, -1]

    # intervals are longer by the root of (1/n + 1/n_train) / (1/n): see Notes
    n_train = np.mean([len(train) for train, _ in folds])
    longer = np.sqrt(1 + np.count_nonzero(count) / n_train)

    def averages(of: FloatArray) -> tuple[FloatArray, FloatArray]:
        moments = _intervals.QueryMoments.of(of, rows.weight)
        means = moments.averages()
        middle = means[..., None]
        return means, middle + longer * (moments.interval(confidence) - middle)

    mean, interval = averages(table)
    mean_all, interval_all = averages(alone)
    from_first = averages(without_rounding(table - table[:, :1]))
    from_all = averages(without_rounding(table - alone[:, None, None]))
    selected = np.stack([one for _, one in done])
    from_first[1][_alike(selected)] = np.nan
    from_all[1][selected.all(axis=(0, 3))] = np.nan
    bounds = resolved.bounds[0]
    return SelectionCurve(
        selectors=tuple(map(str, named)),
        n_features=tuple(sizes),
        measure=resolved.names[0],
        values=table,
        all_features=alone,
        mean=mean,
        interval=np.clip(interval, *bounds),
        mean_all=float(mean_all),
        interval_all=np.clip(interval_all, *bounds),
        difference=from_first[0],
        difference_interval=from_first[1],
        difference_from_all=from_all[0],
        difference_from_all_interval=from_all[1],
        qid=rows.queries.qid,
        query_weight=rows.weight,
        feature_names=tuple(map(str, feature_matrix.names_of(rows.X))),
        selected=selected,
        confidence=float(confidence),
    )


def _check_sizes(n_features: Any, n_columns: int) -> list[int]:
    """Numbers of features, ascending, each once."""
    if n_features is None:
        steps = [m * 10**e for e in range(len(str(n_columns))) for m in (1, 2, 5)]
        return [step for step in steps if step < n_columns] or [1]
    sizes = np.ravel(np.asarray(n_features, dtype=object)).tolist()
    for size in sizes:
        checks.check_count(size, "n_features")
    rule = f"n_features must be integers from 1 to the number of features ({n_columns})"
    messages.require(sizes and max(sizes) <= n_columns, rule, n_features)
    return sorted(set(map(int, sizes)))


def _run(
    rows: _prepared.QueryRows,
    selectors: list[Any],
    estimator: Any,
    sizes: list[int],
    resolved: _resolved.ResolvedMeasures,
    method: Any,
    train: IntArray,
    test: IntArray,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Values of the test queries, all features last; which features were chosen."""
    training, tested = rows.of_queries(train), rows.of_queries(test)
    prepared, queries = tested.prepared(), tested.queries

    @cache
    def values(*columns: int) -> FloatArray:
        scores = np.zeros(queries.n_rows)
        if columns:
            some = replace(training, X=take_columns(training.X, list(columns)))
            scores = _scorers.predicted_scores(
                _scorers.fit_rows(clone(estimator), some),
                take_columns(tested.X, list(columns)),
                method,
                qid=queries.qid[queries.codes],
            )
        return prepared.values(resolved, scores)["expected"][:, 0]

    n_columns = training.X.shape[1]
    selected = np.zeros((len(selectors), len(sizes), n_columns), dtype=bool)
    for s, selector in enumerate(selectors):
        for k, columns in enumerate(first_features(selector, sizes, training)):
            selected[s, k, columns] = True
    # in the order of X, because a model may depend on the order of columns
    chosen = map(np.flatnonzero, selected.reshape(-1, n_columns))
    every = [*(some.tolist() for some in chosen), range(n_columns)]
    return np.column_stack([values(*columns) for columns in every]), selected


def first_features(
    selector: Any, sizes: list[int], training: _prepared.QueryRows
) -> list[IntArray]:
    """The first features that a selector chooses, for each of these numbers."""
    parameters = selector.get_params()
    size = next((name for name in _SIZES if name in parameters), None)

    def fitted(number: int) -> Any:
        copy = clone(selector)
        if size is not None:
            copy.set_params(**{size: number})
        return _scorers.fit_rows(copy, training)

    largest = fitted(sizes[-1])
    order = getattr(largest, "selection_order_", None)
    if order is not None:
        return [np.asarray(order, dtype=np.intp)[:number] for number in sizes]
    rule = "selectors must have selection_order_, or a parameter n_features_to_select"
    messages.require(size is not None, f"{rule} or k", selector)
    every = [*map(fitted, sizes[:-1]), largest]
    return [np.flatnonzero(one.get_support()) for one in every]


def take_columns(X: Any, columns: list[int]) -> Any:
    """These columns of a matrix of any kind."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "column_names"):  # an Arrow table
        return X.select(columns)
    return X[:, columns]
