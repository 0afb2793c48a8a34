"""Permutation importance of the columns of X, with query ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from .._display import html, progress_bars
from .._engine import checks, feature_matrix, messages, row_order, split_queries
from .._typing import Array, FloatArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure, _parse
from ..model_selection import _scorers
from ..statistics.averages import column_means, largest_values, without_rounding
from ..statistics.moments import QueryMoments
from ..statistics.multiple_testing import CORRECTIONS, adjust
from . import _text


def column_groups(
    X: Any, columns: Any, qid_column: str | int | None
) -> dict[str, list[int]]:
    """Return the indices of the columns of X that are permuted together, by name.

    Raises
    ------
    ValueError
        For a column that X does not have, the column of query ids, a column that is
        twice in a group, groups without a column, and two groups of the same name.
    """
    names = feature_matrix.list_columns(X) or [f"x{j}" for j in range(X.shape[1])]
    names = list(map(str, names))
    left_out = None if qid_column is None else feature_matrix.qid_index(X, qid_column)
    groups = []
    if columns is None:
        for j, name in enumerate(names):
            if j != left_out:
                groups.append((name, [j]))
    elif isinstance(columns, Mapping):
        for name, group in columns.items():
            groups.append((str(name), _column_indices(X, group)))
    else:
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise ValueError(
                "columns must be a list or a mapping of columns, got "
                f"{messages.show(columns)}"
            )
        for group in columns:
            places = _column_indices(X, group)
            name = ", ".join(names[j] for j in places)
            groups.append((name, places))
    for name, places in groups:
        if left_out in places or not 0 < len(places) == len(set(places)):
            raise ValueError(
                "columns must have at least one column in each group, each column once "
                f"and none of query ids, got {messages.show(name)}"
            )
    by_name = dict(groups)
    if not 0 < len(by_name) == len(groups):
        raise ValueError(
            "columns must have at least one entry, and different names, got "
            f"{[name for name, _ in groups]}"
        )
    return by_name


def _column_indices(X: Any, group: Any) -> list[int]:
    """Return the indices of the columns of a group, which may be a single column."""
    is_column = isinstance(group, str) or not isinstance(group, Iterable)
    if isinstance(group, tuple):
        # a tuple may be a name of several levels
        is_column = group in feature_matrix.list_columns(X)
    if is_column:
        group = [group]
    return [feature_matrix.qid_index(X, column, "columns") for column in group]


def permuted(X: Any, places: list[int], rows: IntArray) -> Any:
    """Return X with these columns taken from these rows."""
    if isinstance(X, np.ndarray):
        out = X.copy(order="K")
        out[:, places] = X[rows[:, None], places]
        return out
    if feature_matrix.list_columns(X):
        frame = nw.from_native(X, eager_only=True)
        return frame.with_columns(frame[:, j][rows] for j in places).to_native()
    out = X.tolil()
    out[:, places] = out[rows][:, places]
    return out.tocsr()


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance(html.Result):
    """Permutation importances of the columns of X, which print as tables.

    `query_permutation_importance` returns it. There is one table for each measure, with
    the value on the unpermuted data in its header and the most important columns on
    top.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns or groups of columns.
    measures : tuple of str
        Names of the measures.
    baseline : ndarray of shape (n_measures,)
        Mean over queries on the unpermuted data.
    importances : ndarray of shape (n_columns, n_measures, n_repeats)
        Loss in the mean with each permutation: `baseline` minus the mean with the
        column permuted, or the reverse where lower is better.
    importances_mean, importances_std : ndarray of shape (n_columns, n_measures)
        Mean and standard deviation of `importances` over repeats.
    interval : ndarray of shape (n_columns, n_measures, 2)
        t interval of `importances_mean` over queries, clipped to the possible range:
        [-1, 1] for normalised measures.
    pvalues, adjusted_pvalues : ndarray of shape (n_columns, n_measures)
        p-values of the one-sided paired t test over queries of whether the mean gets
        worse, uncorrected and corrected for the number of columns.
    ranking : ndarray of shape (n_columns,), int
        Ranks of the columns by the first measure; 1 is the most important column.
    qid : ndarray of shape (n_queries,)
        Query ids, ascending.
    differences : ndarray of shape (n_queries, n_columns, n_measures)
        Loss of each query, averaged over repeats; NaN where it is undefined.
    query_weight : ndarray of shape (n_queries,) or None
        Weights of the queries.
    within_queries : bool
        Whether rows were permuted only within queries.
    confidence : float
        Confidence level of `interval`.
    correction : str or None
        Correction of `adjusted_pvalues`.

    See Also
    --------
    query_permutation_importance : Returns such a result.
    tieaware_sklearn.plots.PermutationImportanceDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from tieaware_sklearn import query_permutation_importance
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> X, y, qid = make_web_search(n_queries=20, as_frame=True, return_X_y_qid=True)
    >>> model = LinearRegression().fit(X, y)
    >>> found = query_permutation_importance(model, X, y, qid=qid, measures="ap")
    >>> found.measures, found.importances_mean.shape
    (('AP',), (12, 1))
    """

    columns: tuple[str, ...]
    measures: tuple[str, ...]
    baseline: FloatArray
    importances: FloatArray
    importances_mean: FloatArray
    interval: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    qid: Array
    differences: FloatArray
    query_weight: FloatArray | None
    within_queries: bool
    confidence: float
    correction: str | None
    _undefined: list[str]

    _tables = _text.tables
    _whole = _text.tables_of_page
    _conclusion = _text.conclusion

    @property
    def importances_std(self) -> FloatArray:
        return self.importances.std(axis=2)

    @property
    def ranking(self) -> IntArray:
        return np.argsort(self._order(0)) + 1

    def _order(self, measure: int) -> IntArray:
        """Return the indices of the columns, most important by a measure first."""
        return np.argsort(-self.importances_mean[:, measure], kind="stable")

    def _columns(self) -> dict[str, Any]:
        figures = {
            "importances_mean": self.importances_mean,
            "importances_std": self.importances_std,
            "interval_low": self.interval[..., 0],
            "interval_high": self.interval[..., 1],
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }
        return html.by_cell({"column": self.columns, "measure": self.measures}, figures)


def query_permutation_importance(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    columns: Iterable[Any] | Mapping[str, Any] | None = None,
    within_queries: bool = False,
    n_repeats: int = 5,
    response_method: str | Sequence[str] | None = None,
    correction: str | None = "holm",
    confidence: float = 0.95,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PermutationImportance:
    """Compute the permutation importance of the columns of X for a fitted ranker.

    The importance of a column is the loss in a measure when the column is permuted
    (Breiman 2001). Unlike `sklearn.inspection.permutation_importance`, this function
    takes query ids, and its measures are exact under ties. It pairs differences by
    query, which gives intervals and tests over queries.

    Parameters
    ----------
    estimator : fitted ranker, regressor, classifier or pipeline
        The model whose predictions rank the documents.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        Data, preferably not those that the estimator was fitted on. X is not changed.
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), or str or int, optional
        Query of each row, or the column of X that holds it (a name for data frames, an
        index for arrays). The estimator must leave it out of its features, and it is
        never permuted. By default all rows are one query, with a warning.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures, as in `parse_measure`.
    columns : list or mapping, optional
        The columns to permute. A list has columns (names for data frames, indices for
        arrays) and lists of columns that are permuted together. A mapping gives names
        to such columns or lists. By default each column is permuted by itself. Columns
        that carry the same information can replace each other: permute them together.
    within_queries : bool, default=False
        Whether to permute rows only within each query. A feature that is constant
        within queries then has an importance of 0. By default rows are permuted across
        all queries. This also destroys the column's information about queries and its
        interactions with features that are constant within queries.
    n_repeats : int, default=5
        Number of permutations, which are the same for all columns.
    response_method
        As in `make_ranking_scorer`.
    correction : {"holm", "bh", "by", None}, default="holm"
        Correction of the p-values for the number of columns, as in `compare_systems`.
    confidence : float, default=0.95
        Confidence level of the intervals over queries.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    zero_relevance, unjudged, query_weight
        As in `evaluate`.
    n_jobs : int, optional
        Number of threads over columns (joblib); no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    PermutationImportance
        The importances, with intervals and p-values.

    Raises
    ------
    ValueError
        If X does not have a column, if an option is unknown, or as in `evaluate`.

    Warns
    -----
    UserWarning
        If there are no query ids.

    See Also
    --------
    tieaware_sklearn.plots.PermutationImportanceDisplay : Draws the importances.
    RankingFeatureSelector : Scores each feature by itself, without a model.

    Notes
    -----
    Intervals and p-values refer to other queries ranked by the same model, not to a
    model trained anew. `importances_std` refers to other permutations. Rows are first
    put into the canonical order of our rankers, so that no result depends on their
    order. There is no tie_std, because permuted data are never used for ranking.

    Examples
    --------
    >>> from tieaware_sklearn import LinearRanker, query_permutation_importance
    >>> from tieaware_sklearn import train_test_split_queries
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=80, n_noise=1, n_duplicates=0, random_state=0)
    >>> web.feature_names
    ['in_degree', 'clicks', 'page_visits', 'url_length', 'n_slashes', 'text_score',
     'noise_1']
    >>> X, X_test, y, y_test, qid, qid_test = train_test_split_queries(
    ...     web.data, web.target, qid=web.qid, random_state=0)
    >>> ranker = LinearRanker(coef=[1, 2, 1, -1, -1, 4, 0], transforms="rank")
    >>> print(query_permutation_importance(
    ...     ranker.fit(X, y, qid=qid), X_test, y_test, qid=qid_test, measures="ndcg@10",
    ...     columns={"clicks": 1, "text and url": [3, 4, 5], "noise": 6}))
    NDCG@10 0.6442    loss      95% interval  ±repeats     holm
    -----------------------------------------------------------
    text and url    0.2316  [0.1560, 0.3072]    0.0241  <0.0001
    clicks          0.1174  [0.0833, 0.1516]    0.0214  <0.0001
    noise           0.0000            [-, -]    0.0000   1.0000
    """
    parsed = _parse.parse_measures(measures)
    gain = split_queries.stated_gain(estimator)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, gain=gain)
    checks.check_count(n_repeats, "n_repeats")
    checks.check_flag(within_queries, "within_queries")
    checks.check_flag(progress, "progress")
    checks.check_choice(correction, "correction", CORRECTIONS)
    checks.check_share(confidence, "confidence")
    method = _scorers.check_response_method(response_method)
    rng = checks.check_seed(random_state)
    ids, is_column = None, False
    if qid is None:
        n_rows = feature_matrix.count_rows(X)
        feature_matrix.warn_one_query(n_rows, "pass qid, an array or the column of X")
    else:
        ids, is_column = feature_matrix.ids_of(X, qid)
    X = feature_matrix.as_matrix(X)
    unsorted = _prepared.prepare(
        y,
        ids,
        query_weight,
        X=X,
        names=_prepared.ROW_NAMES,
        unjudged=resolved.unjudged,
        keep=True,
    )
    by_content = row_order.by_content(X, unsorted.queries, unsorted.labels)
    X = feature_matrix.take_rows(X, by_content.order)
    prepared = unsorted.sorted(by_content)
    queries = prepared.queries
    # a model that reads ids from a column of X does not take them as an argument
    row_qid = None
    if qid is not None and not is_column:
        row_qid = np.repeat(queries.qid, queries.sizes)
    groups = column_groups(X, columns, qid if is_column else None)
    n_rows, codes = queries.n_rows, queries.codes
    orders = []
    for _ in range(n_repeats):
        if within_queries:
            order = np.lexsort((rng.random_sample(n_rows), codes))
        else:
            order = rng.permutation(n_rows)
        orders.append(order)

    def values(X: Any) -> FloatArray:
        """Return the values of each query and measure, ranked by the model."""
        scores = _scorers.predicted_scores(estimator, X, method, qid=row_qid)
        return prepared.values(resolved, scores).expected

    baseline = values(X)
    largest = largest_values(baseline)
    signs = np.array([1.0 if m.greater_is_better else -1.0 for m in resolved.measures])

    def losses(places: list[int]) -> tuple[FloatArray, FloatArray]:
        """Return the losses of the queries if these columns are permuted.

        The second array has the mean of each repeat. The shapes are (n_queries,
        n_measures) and (n_measures, n_repeats).
        """
        permuted_values = [values(permuted(X, places, order)) for order in orders]
        differences = signs * (baseline - np.stack(permuted_values))
        # values that differ by rounding alone count as equal
        lost = without_rounding(differences, largest)
        averages = [column_means(repeat, prepared.weight) for repeat in lost]
        return lost.mean(axis=0), np.stack(averages, axis=1)

    # scikit-learn's Parallel keeps scikit-learn's settings, such as set_output, in
    # threads
    lost = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(losses)(places) for places in groups.values()
    )
    tracked = progress_bars.show_progress(
        lost, progress, len(groups), "column", "permuting"
    )
    per_query, importances = zip(*tracked, strict=True)
    differences = np.stack(per_query, axis=1)
    moments = QueryMoments.from_values(differences, prepared.weight)
    pvalues = moments.t_test("greater", largest).pvalue
    interval = moments.interval(confidence, largest=largest)
    # the largest difference of two values
    widest = np.diff(resolved.bounds)
    adjusted_pvalues = np.apply_along_axis(adjust, 0, pvalues, correction)
    return PermutationImportance(
        columns=tuple(groups),
        measures=resolved.names,
        baseline=np.array(prepared.means(resolved, baseline)),
        importances=np.stack(importances),
        importances_mean=moments.averages(),
        interval=np.clip(interval, -widest, widest),
        pvalues=pvalues,
        adjusted_pvalues=adjusted_pvalues,
        qid=queries.qid,
        differences=differences,
        query_weight=prepared.weight,
        within_queries=within_queries,
        confidence=float(confidence),
        correction=correction,
        _undefined=prepared.undefined_note(resolved),
    )
