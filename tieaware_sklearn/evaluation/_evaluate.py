"""Scores of rankings: `ranking_score`, `evaluate` and `PreparedRanking`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from .._engine import checks, feature_matrix, threads
from .._typing import Array, FloatArray
from ..measures import Distribution, Measure, _measure, _parse, parse_measure
from ..ranking._ranked import Ranked
from . import _prepared, _resolved
from ._report import RankingReport


class _Options(TypedDict, total=False):
    qid: Any
    mask: ArrayLike | None
    measure: str | Measure
    ties: str
    zero_relevance: float | str
    unjudged: str
    query_weight: ArrayLike | None
    convention: str | None


@overload
def ranking_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[_Options]
) -> FloatArray: ...
@overload
def ranking_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str = ...,
    **options: Unpack[_Options],
) -> float: ...
def ranking_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measure: str | Measure = "ndcg@10",
    ties: str = "expected",
    average: str | None = "macro",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    convention: str | None = None,
) -> float | FloatArray:
    """Compute the score of a ranking: by default, the mean over the orders of its ties.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged. In a matrix,
        each row is a query, as in scikit-learn's `ndcg_score`. A matrix with one column
        is read as a column of documents unless `mask` is given. Without a mask, a cell
        is padding if both its label and its score are NaN.
    y_score : array-like of the shape of y_true
        Scores, as real numbers of any dtype. Scores are compared exactly, in their own
        dtype. The document with the highest score ranks first, and equal scores tie.
        Lists are read by `numpy.asarray`. Objects are converted to 64-bit floats.
        Masked arrays, strings and +inf are refused, and so is NaN except in padding. A
        score of -inf means that the document is not retrieved. A document that is not
        retrieved has no rank, but its label counts in the number of relevant documents
        and in the ideal.
    qid : array-like of shape (n_documents,), optional
        Query id of each document, of any hashable type, with rows in any order. If
        None, all documents belong to one query. Matrices accept no `qid`: each row is a
        query, and the ids are 0, 1, ...
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of a matrix contains a document, as in TensorFlow Ranking and
        Keras. In Rax, the mask is called ``where``. All other cells are padding,
        whatever the two matrices contain. Without a mask, cells that are NaN in both
        matrices are padding. For labels padded with -1, use ``mask=y_true >= 0``.
    measure : str or Measure, default="ndcg@10"
        Name of the measure, or a `Measure` object, as in `parse_measure`.
    ties : {"expected", "best", "worst", "input"}, default="expected"
        Value of each query: the mean over all orders of tied documents ("expected"), or
        the value in the most or in the least favourable order ("best", "worst"). With
        "input", tied documents rank in the order of their rows, as in tools that ignore
        ties.
    average : {"macro", "geometric", "median", "micro"} or None, default="macro"
        Average over queries. "macro", "geometric" and "median" are the mean, the
        geometric mean and the median of the values per query. Before the geometric
        mean is computed, values below 1e-5 are raised to 1e-5. "micro" is the sum of
        the numerators over queries, divided by the sum of the denominators, for
        measures that are ratios of counts (P, R, F, Fallout, Rprec, Judged). None
        returns the value of each query.
        With weights, the median is the smallest value at which the cumulative weight of
        the ascending values exceeds half of the total weight. If the cumulative weight
        at a value is exactly half of the total, the median is the mean of this value
        and the next value.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined. For example, R and AP are
        undefined without a relevant document, NDCG without a document of positive gain,
        and Fallout without a non-relevant document (see the notes of each measure).
        "skip" leaves these queries out of the average. "raise" raises an error that
        names the first of these queries. For ESL and Rank, any value other than "raise"
        has the effect of "skip".
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat documents with a NaN label. "raise" raises an error.
        "nonrelevant" treats the documents as not relevant, except in BPref and Judged,
        which distinguish unjudged documents from non-relevant documents. "drop" ranks
        the judged documents alone, as trec_eval does with ``-J``. If all documents of a
        query are dropped, the query remains, without a retrieved document. For BPref
        and Judged, and with a convention of trec_eval, "raise" has the same effect as
        "nonrelevant".
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        For each document, the weight of its query in the average. Weights must be
        finite, >= 0, constant within a query, and not 0 for all queries. For matrices,
        pass one weight for each row.
    convention : {"lightgbm", "xgboost", "catboost", "sklearn", "trec_eval", \
"trec_eval9", "trec_eval10"}, optional
        Tool whose definitions are used, such as the gain, the denominator, the default
        cut-off of XGBoost, and the value of queries where the measure is undefined.
        With a convention, `zero_relevance` must stay at its default. The definitions
        are for labels that are whole numbers. "trec_eval" means version 9. A parameter
        that `measure` states explicitly, even at its default, is kept if the tool
        supports its value. Otherwise, an error is raised. An error is also raised
        if the tool does not apply the weights that are given. The convention does not
        change how ties are treated. To reproduce the values of the tool, use
        ``ties="input"`` (lightgbm, xgboost, and trec_eval with rows from
        ``load_trec(..., order="trec_eval")``), "worst" (catboost) or "expected"
        (scikit-learn's `ndcg_score` and `dcg_score`). With ``convention="sklearn"``,
        NDCG and DCG raise an error for queries of one document, as `ndcg_score` and
        `dcg_score` do.

    Returns
    -------
    float, or ndarray of shape (n_queries,) with ``average=None``
        The array contains the values of queries in order of first appearance, or in
        the order of the rows of a matrix. Values of queries that are left out are NaN.

    Raises
    ------
    ValueError
        If an argument breaks a rule above, if a measure or an option is unknown, if the
        convention does not support the measure, or if ``average="micro"`` is set for a
        measure that is not a ratio of counts.

    Warns
    -----
    UndefinedMetricWarning
        If every query is left out, so that the average is NaN. Also if labels are above
        0, but all labels are below the `rel` of the measure. With ``average=None``,
        neither warning is issued.
    UserWarning
        If a scorer made by `sklearn.metrics.make_scorer` calls `ranking_score` without
        query ids, because all rows then belong to one query. Also if the arguments look
        wrong: labels and scores that may be swapped, a different query id for each row,
        a mask that leaves out all relevant documents, negated unsigned integers, or
        data frames with the same labels of rows or columns in different orders.

    See Also
    --------
    evaluate : Several measures, with best and worst values and intervals.
    make_ranking_scorer : Makes a scikit-learn scorer of the same value, negated if
        lower is better.
    parse_measure : Describes the names of measures.
    PreparedRanking : Faster for many scores of the same documents.
    sklearn.metrics.ndcg_score : NDCG with linear gain, for matrices.

    Notes
    -----
    The means over the orders of ties are exact, except for IPrec and IAP with long ties
    (see `InterpolatedPrecision`). For P, R, F, AP, RR and NDCG, the means follow
    McSherry and Najork, "Computing information retrieval performance measures
    efficiently in the presence of tied scores", ECIR 2008. For PRR, "expected" is a
    harmonic mean (see `RaghavanPrecision`). No value depends on the order of rows,
    except with ``ties="input"``.

    Tensors of torch, JAX and other libraries are read through ``__array__`` or
    ``__dlpack__``, without their gradients, if they are in the memory of the CPU.
    Functions with a parameter `mask` also accept matrices. Functions that compare
    several systems, such as `compare_systems` and `precision_study`, accept a matrix
    for each system.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> clicks, relevance = [7, 2, 2, 2], [0, 0, 1, 0]
    >>> ranking_score(relevance, clicks, measure="rr")
    0.3611111111111111
    >>> ranking_score(relevance, clicks, measure="rr", ties="best")
    0.5
    >>> ranking_score([1, 0, 0, 1], [2, 1, 1, 1], qid=["a", "a", "b", "b"],
    ...               measure="ap", average=None)
    array([1.  , 0.75])

    Queries as the rows of matrices, where the second query is shorter:

    >>> nan = float("nan")
    >>> ranking_score([[1, 0, 0], [1, 0, nan]], [[3, 2, 1], [1, 1, nan]],
    ...               measure="ap", average=None)
    array([1.  , 0.75])
    """
    parsed = [parse_measure(measure)]
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    _prepared.check_averaging(resolved, ties, average)
    if qid is None:
        caller = sys._getframe(1).f_globals.get("__name__")
        # Without metadata routing, make_scorer(ranking_score) passes no query ids.
        if caller == "sklearn.metrics._scorer":
            n_rows = np.shape(y_true)[0]
            feature_matrix.warn_one_query(
                n_rows,
                ("use make_ranking_scorer, which requires query ids"),
            )
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight
    )
    return prepared.averaged(resolved, scores, ties, average)[0]


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    convention: str | None = None,
    segment: Any = None,
    cluster: Any = None,
    n_jobs: int | None = None,
) -> RankingReport:
    """Evaluate a ranking by several measures, with the range of values under ties.

    Ties are found once and shared by all measures.

    Parameters
    ----------
    y_true, y_score, qid, mask, zero_relevance, unjudged, query_weight, convention
        As in `ranking_score`, except that the weights may all be 0. With
        ``unjudged="raise"``, documents with a NaN label raise an error unless all
        measures are BPref or Judged, or the convention is a convention of trec_eval.
    measures : str, Measure or list of these, default=("ndcg@10", "ap", "rr")
        Names of different measures, or `Measure` objects, as in `parse_measure`.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        For each document, the segment of its query, such as a market or a range of
        query lengths. Segments are of any hashable type and constant within a query.
        For matrices, pass one segment for each row. `RankingReport.by_segment` averages
        over the queries of each segment.
    cluster : array-like of shape (n_documents,) or (n_queries,), optional
        For each document, the cluster of its query, in the same form as `segment`. The
        queries of a cluster are, for example, variants of a question, or queries of
        the same session or user. Because the queries of a cluster resemble each other,
        intervals count each cluster as one observation. Clusters do not change
        averages.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). No result depends on the
        number of threads.

    Returns
    -------
    RankingReport
        For each query and measure, the report contains the expected, best and worst
        value, the standard deviation over the orders of ties, the chance level and the
        ideal.

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if the list of measures is empty or contains a
        measure twice, or if a segment or a cluster is missing or varies within a query.

    Warns
    -----
    UndefinedMetricWarning
        If labels are above 0, but all labels are below the `rel` of a measure.
    UserWarning
        If there are fewer than 10 clusters, because intervals are then unreliable. Also
        if the arguments look wrong, as in `ranking_score`.

    See Also
    --------
    ranking_score : The average of one measure, as a float.
    RankingReport.summary : Averages over queries, with t or bootstrap intervals.
    RankingReport.by_segment : Averages over the queries of each segment.
    PreparedRanking : Faster for many scores of the same documents.
    tie_report : Reports how much of a ranking is tied.
    compare_systems : Compares several systems, with tests of their differences.

    Notes
    -----
    As in `ranking_score`, the means over the orders of ties are exact, except for IPrec
    and IAP with long ties (see `InterpolatedPrecision`).

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 0, 1, 0, 0], [2, 1, 1, 1, 1, 0],
    ...                   qid=[1, 1, 1, 2, 2, 2], measures=["P@2", "rr"])
    >>> report.expected
    array([[0.5 , 1.  ],
           [0.5 , 0.75]])
    >>> print(report)
    measure    mean   worst    best  tie_std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000            [-, -]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    # The weights may all be 0, because the rows may be one part of a larger data set.
    # `RankingReport.summary` then warns that averages are NaN.
    prepared, scores = _prepared.prepare_ranking(
        resolved,
        y_true,
        y_score,
        qid,
        mask,
        query_weight,
        segment=segment,
        cluster=cluster,
        allow_zero=True,
    )
    resolved.warn_below_rel(prepared.labels)
    return prepared.report(resolved, scores, n_jobs=n_jobs)


def tie_distributions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measure: str | Measure = "rr",
    unjudged: str = "raise",
) -> dict[Any, Distribution]:
    """Compute the distribution of a measure over the orders of ties, for each query.

    Parameters
    ----------
    y_true, y_score, qid, mask, unjudged
        As in `ranking_score`.
    measure : str or Measure, default="rr"
        A measure whose distribution has a closed form: P, R, F, Fallout, Rprec, Judged,
        Success, RR, ESL, Rank, PRR, IPrec, BPref or SetAP.

    Returns
    -------
    dict of query id to Distribution
        Queries are in order of first appearance. With ``qid=None``, the only id is 0,
        or, for matrices, the ids are the indices of the rows. If the measure is
        undefined for a query, the distribution of the query contains no values.

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if the distribution of the measure has no closed
        form, if you defined the class of the measure, or if ties are too long for IPrec
        or BPref.

    See Also
    --------
    Distribution : The distribution of one query.
    evaluate : Reports the mean, best and worst value and the standard deviation.
    sampled : Estimates the mean of a function of your own over random orders.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import tie_distributions
    >>> found = tie_distributions([0, 1, 0], [2, 1, 1], measure="rr")[0]
    >>> found.values, found.probability
    (array([0.33333333, 0.5       ]), array([0.5, 0.5]))
    """
    parsed = parse_measure(measure)
    resolved = _resolved.resolve([parsed], unjudged=unjudged)
    prepared, scores = _prepared.prepare_ranking(resolved, y_true, y_score, qid, mask)

    def distributions(ranked: Ranked) -> Array:
        measures, index = _measure.at_ranks([parsed], ranked.block.ties.retrieved)
        by_rank = [measure.distributions(ranked.ties[0]) for measure in measures]
        return np.array(by_rank, dtype=object)[index[:, 0], np.arange(len(index))]

    blocks = prepared.each_block(distributions, scores)
    ids = prepared.queries.qid.tolist()
    return dict(zip(ids, prepared.in_order(blocks), strict=True))


#: Maximum number of measures whose ideals and chance levels are cached.
_MOST_CACHED = 64
#: Number of tasks for each worker. With several tasks per worker, all workers finish
#: at about the same time.
_TASKS = 4


class PreparedRanking:
    """Labels that are prepared once to evaluate many columns of scores.

    Everything that depends on the labels alone (queries, ideals, chance levels) is
    computed once. In our benchmarks, evaluating many columns of scores then took about
    half the time of `ranking_score` and `evaluate`, with bit-identical results. A
    pickle contains the labels, ids, weights, segments and options, but no cached
    values.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged.
    qid : array-like of shape (n_documents,), optional
        Query id of each document, of any hashable type, with rows in any order. If
        None, all documents belong to one query. Matrices accept no `qid`: each row is a
        query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of a matrix contains a document. A padded matrix needs a mask,
        because without scores a NaN label means an unjudged document.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        For each document, the weight of its query in averages. Weights must be finite,
        >= 0, constant within a query, and not 0 for all queries. For matrices, pass one
        weight for each row.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where a measure is undefined, as in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat documents with a NaN label, as in `ranking_score`. With "raise",
        the error is raised when a measure is computed.
    convention : str, optional
        Tool whose definitions are used, as in `ranking_score`.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        For each document, the segment of its query, as in `tieaware_sklearn.evaluate`.
        Reports contain the segments.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    n_documents : int
        Number of documents, including documents that ``unjudged="drop"`` leaves out.
        Padding is not counted.

    Raises
    ------
    ValueError
        If an argument breaks a rule above.

    See Also
    --------
    ranking_score, tieaware_sklearn.evaluate : Functions for one column of scores.

    Examples
    --------
    >>> from tieaware_sklearn import PreparedRanking
    >>> relevance, query = [0, 1, 0, 1, 0, 0], ["a", "a", "a", "b", "b", "b"]
    >>> prepared = PreparedRanking(relevance, query)
    >>> for scores in ([2, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]):
    ...     print(f"{prepared.score(scores, 'rr'):.4f}")
    0.5833
    0.6111
    >>> prepared.evaluate([2, 1, 1, 1, 1, 0], ["rr", "p@2"]).best
    array([[0.5, 0.5],
           [1. , 0.5]])
    """

    def __init__(
        self,
        y_true: ArrayLike,
        qid: Any = None,
        *,
        mask: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        convention: str | None = None,
        segment: Any = None,
    ) -> None:
        # Without measures, `resolve` only checks the options.
        _resolved.resolve((), zero_relevance, unjudged, convention)
        self._options = (zero_relevance, unjudged, convention)
        if unjudged == "raise":
            # Some measures accept unjudged documents. For all other measures,
            # `_resolve` raises an error.
            unjudged = "nonrelevant"
        self._prepared = _prepared.prepare(
            y_true,
            qid,
            query_weight,
            segment=segment,
            mask=mask,
            unjudged=unjudged,
            keep=True,
        )
        self._resolved: dict[tuple[Measure, ...], _resolved.ResolvedMeasures] = {}

    @property
    def qid(self) -> Array:
        return self._prepared.queries.qid.copy()

    @property
    def n_documents(self) -> int:
        return self._prepared.queries.n_rows

    @overload
    def score(
        self,
        y_score: ArrayLike,
        measure: str | Measure = ...,
        *,
        ties: str = ...,
        average: None,
    ) -> FloatArray: ...
    @overload
    def score(
        self,
        y_score: ArrayLike,
        measure: str | Measure = ...,
        *,
        ties: str = ...,
        average: str = ...,
    ) -> float: ...
    def score(
        self,
        y_score: ArrayLike,
        measure: str | Measure = _prepared.DEFAULT_MEASURE,
        *,
        ties: str = "expected",
        average: str | None = "macro",
    ) -> float | FloatArray:
        """Compute one measure for a column of scores, as `ranking_score` does.

        Parameters
        ----------
        y_score : array-like of the shape of y_true
            Scores. The document with the highest score ranks first, and equal scores
            tie. A document with a score of -inf is not retrieved. Scores of padding
            are ignored.
        measure : str or Measure, default="ndcg@10"
            Name of the measure, or a `Measure` object, as in `parse_measure`.
        ties, average
            Treatment of ties and average over queries, as in `ranking_score`.

        Returns
        -------
        float, or ndarray of shape (n_queries,) with ``average=None``

        Raises
        ------
        ValueError
            As in `ranking_score`.
        """
        resolved = self._resolve([parse_measure(measure)])
        _prepared.check_averaging(resolved, ties, average)
        scores = self._prepared.scores(y_score)
        return self._prepared.averaged(resolved, scores, ties, average)[0]

    def score_columns(
        self,
        y_score: Any,
        measure: str | Measure = _prepared.DEFAULT_MEASURE,
        *,
        ties: str = "expected",
        average: str | None = "macro",
        n_jobs: int | None = None,
    ) -> FloatArray:
        """Compute one measure for each of several columns of scores.

        Values are bit-identical to the values of `score`. Several columns are ranked
        together, which saves time on small data. In our measurements with 5,000 or more
        documents, only `n_jobs` saved time.

        Parameters
        ----------
        y_score : array-like of shape (n_documents, n_columns)
            Scores, with a column for each model, trial or feature: an array, a data
            frame, or a mapping of names to columns. Each column keeps its dtype. If
            `y_true` is a matrix, the scores are an array of shape (n_queries,
            n_documents, n_columns) or a mapping of names to matrices.
        measure, ties, average
            As in `score`.
        n_jobs : int, optional
            Number of threads over columns (joblib). No result depends on the number of
            threads.

        Returns
        -------
        ndarray of shape (n_columns,), or (n_columns, n_queries) with ``average=None``

        Raises
        ------
        ValueError
            As in `score`. If the scores of a column cause the error, the message names
            the column. Also if there is no column, or if two columns have the same
            name.

        Examples
        --------
        >>> from tieaware_sklearn import PreparedRanking
        >>> prepared = PreparedRanking([0, 1, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2])
        >>> models = [[2, 0], [1, 0], [1, 0], [1, 0], [1, 0], [0, 0]]
        >>> prepared.score_columns(models, "rr")
        array([0.58333333, 0.61111111])
        """
        resolved = self._resolve([parse_measure(measure)])
        _prepared.check_averaging(resolved, ties, average)
        prepared = self._prepared
        matrices = prepared.lists is not None
        _, named = feature_matrix.list_systems(y_score, matrices=matrices)
        columns = [prepared.scores(column, name) for name, column in named.items()]
        resolved.warn_below_rel(prepared.labels)
        n_tasks = 1
        n_workers = effective_n_jobs(n_jobs)
        if n_workers > 1:
            n_tasks = _TASKS * n_workers
        size = _prepared.columns_at_once(self.n_documents, len(columns), n_tasks)
        # A batch has one dtype, because stacking columns of different dtypes could
        # round scores.
        batches = []
        batch: list[Array] = []
        for column in columns:
            if batch and (len(batch) == size or batch[0].dtype != column.dtype):
                batches.append(batch)
                batch = []
            batch.append(column)
        batches.append(batch)

        def averaged(batch: list[Array]) -> list[float] | FloatArray:
            scores = np.stack(batch)
            return prepared.averaged(resolved, scores, ties, average, warns=False)

        # All threads use the same blocks of labels.
        parts = threads.in_threads(averaged, batches, n_jobs)
        averages = np.concatenate(parts)
        if average is not None and np.isnan(averages).any():
            _resolved.warn_of_nan(resolved.measures, [np.nan])
        return averages

    def evaluate(
        self,
        y_score: ArrayLike,
        measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
        *,
        n_jobs: int | None = None,
    ) -> RankingReport:
        """Compute several measures for a column of scores.

        The report is the same as the report of `tieaware_sklearn.evaluate`.

        Parameters
        ----------
        y_score : array-like of the shape of y_true
            Scores, as in `score`.
        measures : str, Measure or list of these, default=("ndcg@10", "ap", "rr")
            Names of different measures, or `Measure` objects, as in `parse_measure`.
        n_jobs : int, optional
            Number of threads over blocks of queries (joblib). No result depends on the
            number of threads.

        Returns
        -------
        RankingReport

        Raises
        ------
        ValueError
            As in `tieaware_sklearn.evaluate`.
        """
        resolved = self._resolve(_parse.parse_measures(measures))
        scores = self._prepared.scores(y_score)
        resolved.warn_below_rel(self._prepared.labels)
        return self._prepared.report(resolved, scores, n_jobs=n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        # Measures may contain functions that cannot be pickled.
        state = self.__dict__.copy()
        state["_resolved"] = {}
        return state

    def _resolve(self, measures: Sequence[Measure]) -> _resolved.ResolvedMeasures:
        """Resolve measures once, and raise if a measure does not accept the labels."""
        key = tuple(measures)
        if key in self._resolved:
            return self._resolved[key]
        prepared = self._prepared
        resolved = _resolved.resolve(measures, *self._options)
        if resolved.unjudged == "raise":
            # `ranking_score` raises the same error for these labels.
            is_unjudged = prepared.labels == checks.UNJUDGED_LABEL
            labels = np.where(is_unjudged, np.nan, prepared.labels)
            checks.check_labels(labels, place=prepared.place)
        n_cached = sum(map(len, self._resolved))
        if n_cached + len(key) > _MOST_CACHED:
            # The blocks cache statistics of each measure, which take memory.
            prepared.forget()
            self._resolved = {}
        self._resolved[key] = resolved
        return resolved
