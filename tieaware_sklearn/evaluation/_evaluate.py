"""What a ranking is worth: `ranking_score` for a number, `evaluate` for a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ..measures import Distribution, Measure, parse_measure, parse_measures
from ..measures._names import names_where
from ._averages import mean
from ._checked_input import Ranking, check_ranking
from ._conventions import apply_convention
from ._labelled_queries import STATISTICS, LabelledQueries
from ._report import RankingReport, reduce_queries
from ._undefined import check_zero_relevance, fill_std, fill_undefined, warn_undefined

TIES = ("expected", "best", "worst", "input")
AVERAGES = ("macro", "geometric", "median", "micro", None)
DEFAULT_MEASURES = ("ndcg@10", "ap", "rr")


@overload
def ranking_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = ...,
    measure: str | Measure = ...,
    ties: str = ...,
    average: Literal["macro", "geometric", "median", "micro"] = ...,
    zero_relevance: float | str = ...,
    unjudged: str = ...,
    query_weight: ArrayLike | None = ...,
    convention: str | None = ...,
) -> float: ...
@overload
def ranking_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = ...,
    measure: str | Measure = ...,
    ties: str = ...,
    average: None,
    zero_relevance: float | str = ...,
    unjudged: str = ...,
    query_weight: ArrayLike | None = ...,
    convention: str | None = ...,
) -> FloatArray: ...
def ranking_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
    y_true : array-like of shape (n_documents,)
        Labels: finite and >= 0. NaN is unjudged.
    y_score : array-like of shape (n_documents,)
        Scores of any numeric dtype, higher ranked first, equal ones tied. -inf
        is a document that was not retrieved: it counts among the relevant ones
        and in the ideal, never in the ranking.
    qid : array-like of shape (n_documents,), optional
        Query of each document: any hashable values, rows in any order. None is
        one query.
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
        Rprec), or no average.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined (R, NDCG, AP and all that
        divide by the relevant documents without one, Fallout without a non-relevant
        one). "skip" leaves them out of the average; "raise" names the first. ESL
        has no such value: its undefined queries are left out.
    unjudged : {"raise", "nonrelevant"}, default="raise"
        What to do with NaN labels.
    query_weight : array-like of shape (n_documents,), optional
        Weight of each document's query in the average: >= 0, constant within a
        query.
    convention : {"lightgbm", "xgboost", "catboost", "sklearn", "trec_eval"}, optional
        Take the definitions of that tool: gain, denominators, and values of queries
        without a relevant document (in place of `zero_relevance`), for labels that
        are whole numbers. Ties are treated as `ties` says all the same: the tool's
        own numbers need ``ties="input"`` (lightgbm, xgboost, trec_eval with rows
        from ``load_trec(..., order="trec_eval")``), "worst" (catboost) or
        "expected" (sklearn's ndcg_score and dcg_score).

    Returns
    -------
    float, or ndarray of shape (n_queries,) with ``average=None``
        Queries in order of first appearance; those that "skip" leaves out are NaN.

    Raises
    ------
    ValueError
        For input that breaks a rule above, an unknown measure or option, and
        micro-averaging of a measure that is not a ratio of counts.

    Warns
    -----
    UndefinedMetricWarning
        Where every query is skipped: the average is NaN.

    Notes
    -----
    McSherry and Najork, "Computing information retrieval performance measures
    efficiently in the presence of tied scores", ECIR 2008. No result depends on
    the order of rows, ``ties="input"`` excepted.

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
    """
    check_zero_relevance(zero_relevance)
    applied = apply_convention(
        convention, [parse_measure(measure)], zero_relevance, unjudged
    )
    (parsed,) = applied.measures
    check_choice(ties, "ties", TIES)
    check_choice(average, "average", AVERAGES)
    if average == "micro" and not parsed.is_ratio:
        known = names_where(Measure, lambda cls: cls.is_ratio)
        raise ValueError(
            f"average='micro' needs a measure that is a ratio of counts ({known}), got "
            f"{parsed}"
        )
    data = check_ranking(y_true, y_score, qid, [parsed], applied.unjudged, query_weight)
    labelled = LabelledQueries(data.labels, data.queries)
    plain = ties == "input"
    name = "expected" if plain else ties
    statistics = [name, "normaliser"] if average == "micro" else [name]
    found = labelled.values(
        [parsed], data.scores, statistics=statistics, input_order=plain
    )
    raw = found[name]
    values = fill_undefined(
        raw, np.isnan(raw), applied.zero_relevance, [parsed], data.queries
    )[:, 0]
    if average is None:
        return values
    if average == "micro":
        pooled = found["normaliser"][:, 0]
        result = _micro(raw[:, 0], pooled, data.weight, applied.zero_relevance)
    else:
        result = reduce_queries(values, average, data.weight)
    if np.isnan(result):
        warn_undefined(parsed)
    return result


def _micro(
    values: FloatArray,
    normaliser: FloatArray,
    weight: FloatArray | None,
    zero_relevance: float | str | list[float],
) -> float:
    """Σ numerator / Σ denominator: the mean weighted by the denominators."""
    pooled = normaliser if weight is None else normaliser * weight
    result = mean(np.where(pooled > 0, values, np.nan), pooled)
    if np.isnan(result) and not isinstance(zero_relevance, str):
        return float(np.ravel(zero_relevance)[0])
    return result


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    convention: str | None = None,
    n_jobs: int | None = None,
) -> RankingReport:
    """What a ranking is worth by several measures, with all that ties leave open.

    Ties are found once and shared by all measures.

    Parameters
    ----------
    y_true, y_score, qid, zero_relevance, unjudged, query_weight, convention
        As in `ranking_score`.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
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

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 0, 1, 0, 0], [2, 1, 1, 1, 1, 0],
    ...                   qid=[1, 1, 1, 2, 2, 2], measures=["P@2", "rr"])
    >>> report.expected
    array([[0.5 , 1.  ],
           [0.5 , 0.75]])
    >>> print(report)
    measure    mean   worst    best  tie std  chance    lift       95% interval  queries
    ------------------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000   [0.5000, 0.5000]        2
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [-0.7133, 2.4633]        2
    """
    check_zero_relevance(zero_relevance)
    parsed, zero, unjudged = apply_convention(
        convention, parse_measures(measures), zero_relevance, unjudged
    )
    data = check_ranking(y_true, y_score, qid, parsed, unjudged, query_weight)
    return report_of(data, parsed, zero, n_jobs=n_jobs)


def report_of(
    data: Ranking,
    parsed: Sequence[Measure],
    zero: float | str | list[float],
    *,
    n_jobs: int | None = None,
) -> RankingReport:
    """The report on a ranking that is checked."""
    labelled = LabelledQueries(data.labels, data.queries)
    statistics = (*STATISTICS, "standard_error", "std_is_estimate", "chance", "ideal")
    found = labelled.values(parsed, data.scores, statistics=statistics, n_jobs=n_jobs)
    undefined = np.isnan(found["expected"])

    def filled(values: FloatArray) -> FloatArray:
        return fill_undefined(values, undefined, zero, parsed, data.queries)

    expected = filled(found["expected"])

    def compared(values: FloatArray) -> FloatArray:
        # what is left out is left out of what it is compared with
        return np.where(np.isnan(expected), np.nan, filled(values))

    return RankingReport(
        measures=tuple(str(measure) for measure in parsed),
        qid=data.queries.qid,
        expected=expected,
        best=filled(found["best"]),
        worst=filled(found["worst"]),
        std=fill_std(found["std"], undefined, zero, parsed, data.queries),
        standard_error=found["standard_error"],
        std_is_estimate=found["std_is_estimate"] > 0,
        chance=compared(found["chance"]),
        ideal=compared(found["ideal"]),
        n_undefined=undefined.sum(axis=0),
        query_weight=data.weight,
    )


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

    Examples
    --------
    >>> from tieaware_sklearn import tie_distributions
    >>> found = tie_distributions([0, 1, 0], [2, 1, 1], measure="rr")[0]
    >>> found.values, found.probability
    (array([0.33333333, 0.5       ]), array([0.5, 0.5]))
    """
    parsed = parse_measure(measure)
    data = check_ranking(y_true, y_score, qid, [parsed], unjudged)
    labelled = LabelledQueries(data.labels, data.queries)
    blocks = labelled.each_block(parsed.distributions, data.scores)
    every = labelled.in_order(np.array(block, dtype=object) for block in blocks)
    return dict(zip(data.queries.qid.tolist(), every, strict=True))
