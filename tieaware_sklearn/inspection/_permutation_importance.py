"""Permutation importance of the columns of X, with query ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from .._display.progress import show_progress
from .._engine.qid_column import array_of, count_rows, ids_of, take_rows, warn_one_query
from .._engine.row_order import by_content
from .._engine.seeds import check_seed
from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_count,
    check_flag,
    check_labels,
    check_length,
    check_qid,
    check_query_weight,
    check_share,
)
from ..comparison._tests import CORRECTIONS
from ..evaluation._averages import means
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments, adjust
from ..evaluation._prepared_ranking import DEFAULT_MEASURES, Prepared
from ..evaluation._undefined import Asked, ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ..model_selection._predictions import check_response_method, predicted_scores
from ._columns import column_groups, with_rows
from ._result import PermutationImportance

Columns = Iterable[Any] | Mapping[str, Any] | None


def query_permutation_importance(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    columns: Columns = None,
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
    takes query ids, its measures are exact under ties, and it pairs differences query
    by query, which gives intervals and tests over queries.

    Parameters
    ----------
    estimator : fitted ranker, regressor, classifier or pipeline
        The model whose predictions rank the documents.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        Data, preferably other than those that the estimator was fitted on. X is not
        changed.
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), or str or int, optional
        Query of each row, or the column of X that holds it (a name for data frames, an
        index for arrays), which the estimator must leave out of its features and which
        is never permuted. By default all rows are one query, with a warning.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures, as in `parse_measure`.
    columns : list or mapping, optional
        The columns to permute. A list has columns (names for data frames, indices for
        arrays), each permuted by itself, and lists of columns, each permuted together.
        A mapping gives names to such columns or lists. By default each column is
        permuted by itself. Columns that carry the same information can replace each
        other: permute them together.
    within_queries : bool, default=False
        Whether to permute rows only within each query. A feature that is constant
        within queries then has an importance of 0. By default rows are permuted across
        all queries, which also destroys the column's information about queries and its
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
    model trained anew; `importances_std` refers to other permutations. Rows are put
    into the canonical order of our rankers first, so that no result depends on the
    order of rows. There is no tie std, because permuted data are never used for
    ranking.

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
    NDCG@10 0.6442    loss      95% interval  ±repeats  p (holm)
    ------------------------------------------------------------
    text and url    0.2316  [0.1560, 0.3072]    0.0241   <0.0001
    clicks          0.1174  [0.0833, 0.1516]    0.0214   <0.0001
    noise           0.0000  [0.0000, 0.0000]    0.0000    1.0000
    """
    asked = ask(parse_measures(measures), zero_relevance, unjudged)
    check_count(n_repeats, "n_repeats")
    check_flag(within_queries, "within_queries")
    check_flag(progress, "progress")
    check_choice(correction, "correction", CORRECTIONS)
    check_share(confidence, "confidence")
    method = check_response_method(response_method)
    rng = check_seed(random_state)
    if qid is None:
        warn_one_query(count_rows(X), "pass qid, an array or the column of X")
    ids, is_column = (None, False) if qid is None else ids_of(X, qid)
    predict = partial(predicted_scores, estimator, response_method=method)
    model = Measured(predict, asked, X, y, ids, query_weight, hand_on=not is_column)
    groups = column_groups(model.X, columns, qid if is_column else None)
    rows = permutations(model.prepared.queries, n_repeats, rng, within=within_queries)
    baseline = model.values(model.X)
    averages = np.array(model.prepared.means(asked, baseline))
    # threads of scikit-learn keep its settings, such as those of set_output
    lost = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(model.losses)(baseline, places, rows) for places in groups.values()
    )
    found = list(show_progress(lost, progress, len(groups), "column", "permuting"))
    per_query, importances = zip(*found, strict=True)
    differences = np.stack(per_query, axis=1)
    moments = QueryMoments.of(differences, model.prepared.weight)
    pvalues = moments.p_greater()
    # the largest difference of two values
    widest = np.diff(asked.bounds)
    return PermutationImportance(
        columns=tuple(groups),
        measures=asked.names,
        baseline=averages,
        importances=np.stack(importances),
        importances_mean=moments.averages(),
        interval=np.clip(moments.interval(confidence), -widest, widest),
        pvalues=pvalues,
        adjusted_pvalues=np.apply_along_axis(adjust, 0, pvalues, correction),
        qid=model.prepared.queries.qid,
        differences=differences,
        query_weight=model.prepared.weight,
        within_queries=within_queries,
        confidence=float(confidence),
        correction=correction,
    )


class Measured:
    """A fitted estimator, and rows in an order that their contents decide.

    With `hand_on`, an estimator that ranks query by query is given the ids.
    """

    def __init__(
        self,
        predict: Callable[..., NDArray[Any]],
        asked: Asked,
        X: Any,
        y: ArrayLike,
        ids: Any,
        query_weight: ArrayLike | None = None,
        *,
        hand_on: bool = True,
    ) -> None:
        self.predict = predict
        self.asked = asked
        X = X if hasattr(X, "shape") else array_of(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must be 2-dimensional, got shape {X.shape}")
        labels = check_labels(y, unjudged=asked.unjudged, name="y")
        check_length(labels, count_rows(X), "y")
        queries = by_content(X, check_qid(ids, n_rows=len(labels)), labels)
        weight = check_query_weight(query_weight, queries)
        self.X = take_rows(X, queries.order)
        gathered = Queries(queries.qid, queries.offsets, None)
        self.prepared = Prepared(queries.arrange(labels), gathered, weight, keep=True)
        by_row = np.repeat(queries.qid, queries.sizes)
        self.ids = by_row if hand_on and ids is not None else None

    def values(self, X: Any) -> FloatArray:
        """Of each query and measure, with the rows of X as they stand here."""
        queries = self.prepared.queries
        scores = self.predict(X=X, n_rows=queries.n_rows, qid=self.ids)
        return self.prepared.values(self.asked, scores)["expected"]

    def losses(
        self, baseline: FloatArray, places: list[int], permuted: list[NDArray[np.intp]]
    ) -> tuple[FloatArray, FloatArray]:
        """The loss with some columns permuted.

        By query and measure, averaged over repeats, and by measure and repeat,
        averaged over queries.
        """
        measures = self.asked.measures
        sign = np.where([one.greater_is_better for one in measures], 1.0, -1.0)
        worse = [self.values(with_rows(self.X, places, rows)) for rows in permuted]
        lost = sign * (baseline - np.stack(worse))
        lost[np.abs(lost) <= NO_DIFFERENCE] = 0.0
        averages = [means(once, self.prepared.weight) for once in lost]
        return lost.mean(axis=0), np.stack(averages, axis=1)


def permutations(
    queries: Queries, number: int, rng: np.random.RandomState, *, within: bool
) -> list[NDArray[np.intp]]:
    """Rows in random order, all of them or those of each query."""
    n_rows = queries.n_rows
    if not within:
        return [rng.permutation(n_rows) for _ in range(number)]
    codes = queries.codes
    return [np.lexsort((rng.random_sample(n_rows), codes)) for _ in range(number)]
