"""What a ranking is worth: `ranking_score` for a number, `evaluate` for a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from ..measures import Distribution, Measure, parse_measure
from ..measures._parse import parse_measures
from ._prepared_ranking import DEFAULT_MEASURES, check_averaging, prepare
from ._report import RankingReport
from ._undefined import ask


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
    """What a ranking is worth by one measure, exactly, however its scores tie.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels: finite and >= 0. NaN is unjudged. The rows of a matrix are queries,
        as in scikit-learn's `ndcg_score`; a matrix of one column is, without a
        `mask`, a column of documents. A cell that is NaN, or masked, in labels and
        scores is padding.
    y_score : array-like of the shape of y_true
        Scores of any numeric dtype, higher ranked first, equal ones tied: none is
        rounded. Numbers that no one dtype holds, such as integers beyond 2^53 beside
        fractions, are taken as 64-bit floats, and refused if that makes one of two.
        -inf is a document that was not retrieved: it counts among the relevant ones
        and in the ideal, never in the ranking.
    qid : array-like of shape (n_documents,), optional
        Query of each document: any hashable values, rows in any order. None is
        one query, or those in the rows of a matrix: their ids are 0, 1, ...
    mask : array-like of bool of shape (n_queries, n_documents), optional
        Of a matrix: True where there is a document, as in TensorFlow Ranking and
        Keras (in Rax it is called ``where``). All other cells are padding, whatever
        they hold; without it those that are missing in both matrices are. Labels
        padded with -1 take ``mask=y_true >= 0``.
    measure : str or Measure, default="ndcg@10"
        See `parse_measure`.
    ties : {"expected", "best", "worst", "input"}, default="expected"
        The mean over all orders of the tied documents, the most or the least
        favourable order, or the order of the rows: what a tool unaware of ties
        would report.
    average : {"macro", "geometric", "median", "micro"} or None, default="macro"
        Over queries: the mean, the geometric mean or the median of the values
        per query (floor of the geometric mean 1e-5; Fuhr 2017 on medians), the
        ratio of sums (measures that are ratios of counts: P, R, F, Fallout,
        Rprec), or no average. The median of weighted values has half of the weight
        below it and half above; where a value and all below it have just half, it
        is the mean of this value and the next.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined (R, NDCG, AP and all that
        divide by the relevant documents without one, Fallout without a non-relevant
        one). "skip" leaves them out of the average; "raise" names the first. ESL
        has no such value: its undefined queries are left out.
    unjudged : {"raise", "nonrelevant"}, default="raise"
        What to do with NaN labels.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of each document's query in the average: >= 0, constant within a
        query; of a matrix, one for each row.
    convention : {"lightgbm", "xgboost", "catboost", "sklearn", "trec_eval", \
"trec_eval9", "trec_eval10"}, optional
        Take the definitions of that tool: gain, denominators, and values of queries
        without a relevant document (in place of `zero_relevance`), for labels that
        are whole numbers. "trec_eval" is its version 9. A parameter that `measure`
        spells out, be it a default, is kept where the tool has such a mode and an
        error where not; weights are an error where the tool does not follow them.
        Ties are treated as `ties` says all the same: the tool's own numbers need
        ``ties="input"`` (lightgbm, xgboost, trec_eval with rows from
        ``load_trec(..., order="trec_eval")``), "worst" (catboost) or "expected"
        (sklearn's ndcg_score and dcg_score). These two refuse queries of one
        document, and so does NDCG or DCG by that convention: there is no number to
        reproduce.

    Returns
    -------
    float, or ndarray of shape (n_queries,) with ``average=None``
        Queries in order of first appearance, or of the rows of a matrix; those that
        "skip" leaves out are NaN.

    Raises
    ------
    ValueError
        For input that breaks a rule above, an unknown measure or option, and
        micro-averaging of a measure that is not a ratio of counts.

    Warns
    -----
    UndefinedMetricWarning
        Where every query is skipped: the average is NaN.

    See Also
    --------
    evaluate : Several measures, with best, worst and intervals.
    make_ranking_scorer : The same for searches and cross-validation.
    parse_measure : Names of measures.
    PreparedRanking : For many scores of the same documents.
    sklearn.metrics.ndcg_score : NDCG with linear gain, by the rows of matrices:
        ``convention="sklearn"`` gives its values.

    Notes
    -----
    McSherry and Najork, "Computing information retrieval performance measures
    efficiently in the presence of tied scores", ECIR 2008. No result depends on
    the order of rows, ``ties="input"`` excepted.

    Tensors of torch, JAX, CuPy and other libraries are taken by ``__array__`` or
    ``__dlpack__``, without their gradients, where the CPU can read their memory.
    Every function here that takes labels and scores takes them as matrices, too.

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

    Queries as the rows of matrices, the second one shorter:

    >>> nan = float("nan")
    >>> ranking_score([[1, 0, 0], [1, 0, nan]], [[3, 2, 1], [1, 1, nan]],
    ...               measure="ap", average=None)
    array([1.  , 0.75])
    """
    asked = ask([parse_measure(measure)], zero_relevance, unjudged, convention)
    check_averaging(asked, ties, average)
    prepared, scores = prepare(asked, y_true, y_score, qid, query_weight, mask=mask)
    return prepared.averaged(asked, scores, ties, average)[0]


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    convention: str | None = None,
    segment: Any = None,
    n_jobs: int | None = None,
) -> RankingReport:
    """What a ranking is worth by several measures, with all that ties leave open.

    Ties are found once and shared by all measures.

    Parameters
    ----------
    y_true, y_score, qid, mask, zero_relevance, unjudged, query_weight, convention
        As in `ranking_score`.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        Segment of each document's query, such as a market or a class of lengths: any
        hashable values, constant within a query; for matrices, one for each row.
        `RankingReport.by_segment` averages over the queries of each segment.
    n_jobs : int, optional
        Threads over blocks of queries (joblib); no result depends on it.

    Returns
    -------
    RankingReport
        Per query and measure the expected, best and worst value, the standard
        deviation over tie orders, the chance level and the ideal.

    Raises
    ------
    ValueError
        As in `ranking_score`.

    See Also
    --------
    ranking_score : One measure, as a number.
    RankingReport.summary : Averages, with t or bootstrap intervals.
    RankingReport.by_segment : The same by segment.
    PreparedRanking : For many scores of the same documents.
    tie_report : How much of a ranking is tied.
    compare_systems : Several systems, and tests of their differences.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 0, 1, 0, 0], [2, 1, 1, 1, 1, 0],
    ...                   qid=[1, 1, 1, 2, 2, 2], measures=["P@2", "rr"])
    >>> report.expected
    array([[0.5 , 1.  ],
           [0.5 , 0.75]])
    >>> print(report)
    measure    mean   worst    best  tie std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000  [0.5000, 0.5000]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    prepared, scores = prepare(asked, y_true, y_score, qid, query_weight, mask=mask)
    segments = prepared.segments(segment)
    return prepared.report(asked, scores, segment=segments, n_jobs=n_jobs)


def tie_distributions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    measure: str | Measure = "rr",
    unjudged: str = "raise",
) -> dict[Any, Distribution]:
    """All values that a measure can take over the orders of ties, and their chances.

    Parameters
    ----------
    y_true, y_score, qid, unjudged
        As in `ranking_score`.
    measure : str or Measure, default="rr"
        One whose distribution is known: P, R, F, Fallout, Rprec (hypergeometric),
        Success, RR, ESL, PRR, IPrec and BPref.

    Returns
    -------
    dict of query id to Distribution
        In order of first appearance (0 is the one query of ``qid=None``):
        ``values`` and ``probability``, ``mean()``, ``std()``, ``cdf(value)`` and
        ``quantile(q)``. Without values where the measure is undefined.

    Raises
    ------
    ValueError
        As in `ranking_score`, for other measures, and for ties too long for IPrec
        or BPref.

    See Also
    --------
    Distribution : What it returns, one per query.
    evaluate : Mean, best, worst and standard deviation only, for all measures.

    Examples
    --------
    >>> from tieaware_sklearn import tie_distributions
    >>> found = tie_distributions([0, 1, 0], [2, 1, 1], measure="rr")[0]
    >>> found.values, found.probability
    (array([0.33333333, 0.5       ]), array([0.5, 0.5]))
    """
    parsed = parse_measure(measure)
    prepared, scores = prepare(ask([parsed], unjudged=unjudged), y_true, y_score, qid)
    labelled = prepared.labelled
    blocks = labelled.each_block(
        lambda ranked: parsed.distributions(ranked.groups), scores
    )
    every = labelled.in_order(np.array(block, dtype=object) for block in blocks)
    return dict(zip(prepared.queries.qid.tolist(), every, strict=True))
