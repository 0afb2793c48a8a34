"""Rankings that are spread over a cluster: `dask.dataframe` in, small results out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from ._engine.validation import check_choice
from ._optional import import_optional
from .evaluation import RankingReport, RankingSummary
from .evaluation._prepared_ranking import DEFAULT_MEASURES, ColumnNames, prepare
from .evaluation._report import ReportMoments
from .evaluation._undefined import ask
from .feature_selection import RankingFeatureSelector, Screening
from .measures import Measure, parse_measures

dask, dd, pd = (
    import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask", "dask.dataframe", "pandas")
)

__all__ = ["evaluate", "evaluate_queries", "fit_selector"]

#: results that are merged at a time
_SPLIT_EVERY = 8
_VALUES = ("expected", "best", "worst", "std", "chance", "ideal")
Part = TypeVar("Part")


def evaluate(
    df: Any,
    *,
    score: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    average: str = "macro",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: str | None = None,
    convention: str | None = None,
    shuffle: bool = True,
) -> RankingSummary:
    """What a ranking is worth, as `tieaware_sklearn.evaluate` has it, on a cluster.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        A row per document, in any order.
    score, label, qid : str, default label="label", qid="qid"
        Columns with scores, labels and query ids.
    measures, zero_relevance, unjudged, convention
        As in `tieaware_sklearn.evaluate`.
    average : {"macro", "geometric"}, default="macro"
        Over queries: the mean, or the geometric mean (floor 1e-5).
    query_weight : str, optional
        A column with the weight of each document's query.
    shuffle : bool, default=True
        Bring the rows of every query together first. False where each partition
        holds whole queries already: nothing but results then leaves a worker.

    Returns
    -------
    RankingSummary
        As ``tieaware_sklearn.evaluate(...).summary(average)``, to 1e-12.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.evaluate`, and for columns that are not there.

    See Also
    --------
    evaluate_queries : The values of every query, left on the cluster.

    Notes
    -----
    Sums are computed where the queries are and merged in a tree, eight at a time.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> print(evaluate(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                measures=["P@2", "rr"]))
    measure    mean   worst    best  tie std  chance    lift       95% interval  queries
    ------------------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000   [0.5000, 0.5000]        2
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [-0.7133, 2.4633]        2
    """
    check_choice(average, "average", ("macro", "geometric"))
    report = _reporter(
        score, label, qid, measures, zero_relevance, unjudged, query_weight, convention
    )
    columns = _named(score=score, label=label, qid=qid, query_weight=query_weight)

    def moments(frame: Any) -> ReportMoments:
        return ReportMoments.of(report(frame), average)

    found = _tree(_together(df, columns, qid, shuffle), moments, ReportMoments.merge)
    if query_weight is not None and not found.values.weight.any():
        raise ValueError(f"{query_weight} must not be 0 in every query")
    return found.summary()


def evaluate_queries(
    df: Any,
    *,
    score: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
    shuffle: bool = True,
) -> Any:
    """What a ranking is worth, query by query; the values stay on the cluster.

    Parameters
    ----------
    df, score, label, qid, measures, zero_relevance, unjudged, convention, shuffle
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        Not computed yet: a row per query, in no certain order, with its id and,
        per measure, ``NDCG@10_expected``, ``_best``, ``_worst``, ``_std``,
        ``_chance`` and ``_ideal``.

    Raises
    ------
    ValueError
        As in `evaluate`; for what is in the data, when it is computed.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate_queries
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> values = evaluate_queries(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                           measures="rr")
    >>> values.compute().set_index("qid")["RR_expected"].sort_index().to_dict()
    {1: 1.0, 2: 0.75}
    """
    report = _reporter(
        score, label, qid, measures, zero_relevance, unjudged, None, convention
    )
    names = [str(measure) for measure in parse_measures(measures)]
    ids = df._meta[qid].iloc[:0].reset_index(drop=True)
    columns = [f"{name}_{value}" for name in names for value in _VALUES]
    meta = pd.DataFrame({qid: ids, **{name: np.zeros(0) for name in columns}})

    def rows(frame: Any) -> Any:
        if not len(frame):
            return meta
        found = report(frame)
        first = ~frame[qid].duplicated()
        out = {qid: frame[qid][first].reset_index(drop=True)}
        for j, name in enumerate(names):
            for value in _VALUES:
                out[f"{name}_{value}"] = getattr(found, value)[:, j]
        return pd.DataFrame(out)

    named = _named(score=score, label=label, qid=qid)
    return _together(df, named, qid, shuffle).map_partitions(rows, meta=meta)


def fit_selector(
    selector: RankingFeatureSelector,
    df: Any,
    *,
    label: str = "label",
    qid: str = "qid",
    features: Sequence[str] | None = None,
    query_weight: str | None = None,
    shuffle: bool = True,
) -> RankingFeatureSelector:
    """Screen features that are spread over a cluster.

    Parameters
    ----------
    selector : RankingFeatureSelector
        What to fit; it is left as it is.
    df : dask.dataframe.DataFrame
        A row per document, in any order.
    label, qid : str, default="label", "qid"
        Columns with labels and query ids.
    features : list of str, optional
        Columns to screen; by default all other columns of numbers.
    query_weight : str, optional
        A column with the weight of each document's query.
    shuffle : bool, default=True
        As in `evaluate`.

    Returns
    -------
    RankingFeatureSelector
        A copy, fitted: as after a `fit` of all rows in memory, to 1e-12.

    Raises
    ------
    ValueError
        As in `RankingFeatureSelector.fit`, for columns that are not there, and a
        selector that reads query ids from a column of X.

    Notes
    -----
    Each partition is screened where it is. Only statistics travel, about a kilobyte
    for each feature (and, with `redundancy`, 16 bytes for each pair of them), merged
    in a tree, eight at a time.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.dask import fit_selector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, random_state=0)
    >>> rows = pd.DataFrame(web.data, columns=web.feature_names)
    >>> rows = rows.assign(label=web.target, qid=web.qid).sample(frac=1, random_state=0)
    >>> selector = RankingFeatureSelector(n_features_to_select=3)
    >>> selector = fit_selector(selector, dd.from_pandas(rows, npartitions=3))
    >>> selector.get_feature_names_out().tolist()
    ['clicks', 'text_score', 'log_clicks']
    """
    if selector.qid is not None:
        raise ValueError(
            "selector must not read query ids from a column of X (qid="
            f"{selector.qid!r}): name the column of df here, qid=..."
        )
    given = _named(label=label, qid=qid, query_weight=query_weight)
    if features is None:
        numbers = df._meta.select_dtypes(["number", "bool"]).columns
        features = [name for name in numbers if name not in given]
    columns = [*given, *features]
    for name in features:
        if name in given or columns.count(name) > 1:
            raise ValueError(f"features must name each feature once, got {name!r}")
    if not features:
        raise ValueError("features must name at least one column, got none")

    def screening(frame: Any) -> Screening:
        weight = None if query_weight is None else frame[query_weight]
        X = frame[list(features)]
        return selector.screen(X, frame[label], frame[qid], weight)

    found = _tree(_together(df, columns, qid, shuffle), screening, Screening.merge)
    if query_weight is not None and not found.statistics.chance.weight.any():
        raise ValueError(f"{query_weight} must not be 0 in every query")
    fitted: RankingFeatureSelector = clone(selector)
    return fitted.adopt(found, df._meta[list(features)])


def _named(**columns: str | None) -> list[str]:
    """The columns asked for, each for one purpose."""
    names = [name for name in columns.values() if name is not None]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"{' and '.join(columns)} must name different columns, got {name!r}"
            )
    return names


def _reporter(
    score: str,
    label: str,
    qid: str,
    measures: str | Measure | Iterable[str | Measure],
    zero_relevance: float | str,
    unjudged: str,
    query_weight: str | None,
    convention: str | None,
) -> Callable[[Any], RankingReport]:
    """The report on some rows of `df`, its arguments checked once."""
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    names = ColumnNames(label, score, qid, query_weight or "query_weight")

    def report(frame: Any) -> RankingReport:
        weight = None if query_weight is None else frame[query_weight]
        prepared, scores = prepare(
            asked, frame[label], frame[score], frame[qid], weight,
            names=names, allow_zero=True,
        )  # fmt: skip
        return prepared.report(asked, scores)

    return report


def _together(df: Any, columns: list[str], qid: str, shuffle: bool) -> Any:
    """These columns, the rows of each query in one partition."""
    if not isinstance(df, dd.DataFrame):
        raise ValueError(f"df must be a dask.dataframe.DataFrame, got {type(df)}")
    for name in columns:
        if name not in df.columns:
            raise ValueError(
                f"df must have a column {name!r}, got {', '.join(map(str, df.columns))}"
            )
    df = df[columns]
    return df.shuffle(qid, ignore_index=True) if shuffle else df


def _tree(
    df: Any, of_rows: Callable[[Any], Part], merge: Callable[[Part, Part], Part]
) -> Part:
    """What is found in each partition, merged."""

    def of_partition(frame: Any) -> Part | None:
        return of_rows(frame) if len(frame) else None

    def merge_all(parts: list[Part | None]) -> Part | None:
        whole = None
        for part in parts:
            if part is not None:
                whole = part if whole is None else merge(whole, part)
        return whole

    level = [dask.delayed(of_partition)(part) for part in df.to_delayed()]
    while len(level) > 1:
        level = [
            dask.delayed(merge_all)(level[i : i + _SPLIT_EVERY])
            for i in range(0, len(level), _SPLIT_EVERY)
        ]
    (found,) = dask.compute(level[0])
    if found is None:
        raise ValueError("df must hold at least one row, got none")
    whole: Part = found
    return whole
