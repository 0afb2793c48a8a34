"""Evaluation and screening of `dask.dataframe` data that are spread over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ._engine.digests import Digests, value_bits
from ._engine.known_queries import Repeated, id_digests, kept, repeated, same_digest
from ._engine.ties import FloatArray
from ._engine.validation import check_choice, check_qid
from ._optional import import_optional
from .evaluation import RankingReport, RankingSummary
from .evaluation import evaluate as evaluate_in_memory
from .evaluation._prepared_ranking import DEFAULT_MEASURES, ColumnNames, prepare
from .evaluation._report import ReportMoments
from .evaluation._undefined import Asked, ask
from .feature_selection import RankingFeatureSelector, Screening
from .measures import Measure
from .measures._parse import parse_measures

dask, dd, pandas = (
    import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask", "dask.dataframe", "pandas")
)

__all__ = ["evaluate", "evaluate_queries", "fit_selector"]

#: partitions of a query that a message names
_SHOWN = 4

Part = TypeVar("Part", ReportMoments, Screening)


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
    """Compute the exact scores of a ranking on a cluster, averaged over queries.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    score, label, qid : str, default label="label", qid="qid"
        Columns with scores, labels and query ids.
    measures, zero_relevance, unjudged, convention
        As in `tieaware_sklearn.evaluate`.
    average : {"macro", "geometric"}, default="macro"
        How to average over queries: by the mean, or by the geometric mean (with values
        of at least 1e-5).
    query_weight : str, optional
        A column with the weight of each document's query.
    shuffle : bool, default=True
        Whether to bring the rows of every query together first. Use False where each
        partition already holds whole queries: then only results leave a worker. A query
        with rows in several partitions is an error.

    Returns
    -------
    RankingSummary
        The same as ``tieaware_sklearn.evaluate(...).summary(average)``, to 1e-12.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.evaluate`, if `df` does not have a column, and if a
        query is in several partitions without `shuffle` (the message names the query
        and the partitions).

    See Also
    --------
    evaluate_queries : The values of every query, left on the cluster.
    tieaware_sklearn.evaluate : The same in memory.

    Notes
    -----
    Each worker sums over its queries, and the sums are merged in a tree, eight at a
    time. Digests of the query ids, 8 bytes for each query, are compared in one task: no
    query is counted twice, however many there are. Rows that come twice within a
    partition, or with `shuffle`, are documents of their query like any others. Two of n
    ids have the same digest with probability n² / 2⁶⁵ (3% for a billion); they are an
    error that names both.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> print(evaluate(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                measures=["P@2", "rr"]))
    measure    mean   worst    best  tie std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000  [0.5000, 0.5000]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    check_choice(average, "average", ("macro", "geometric"))
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    names = _Names(label, qid, query_weight, score)

    def moments(frame: Any) -> tuple[ReportMoments, Digests]:
        report = _report(frame, names, asked)
        return ReportMoments.of(report, average), id_digests(report.qid, qid)

    found, _ = _merged(_gather(df, names, shuffle), moments, qid, shuffle, keep=False)
    names.check_weight(found.values.weight)
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
    """Compute the exact scores of a ranking query by query; they stay on the cluster.

    Parameters
    ----------
    df, score, label, qid, measures, zero_relevance, unjudged, convention, shuffle
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        A frame, not yet computed, with one row per query and measure, queries in any
        order, and the columns of ``tieaware_sklearn.evaluate(...).to_pandas()``; ids
        are in the column that `qid` names.

    Raises
    ------
    ValueError
        As in `evaluate`. Errors in the data are raised when the frame is computed, and
        a query in several partitions when one of these is.

    See Also
    --------
    evaluate : Averages over queries.
    tieaware_sklearn.evaluate : The same in memory.

    Notes
    -----
    No partition of the result is complete before the queries of all partitions have
    been compared, by 8 bytes for each query.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate_queries
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> values = evaluate_queries(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                           measures="rr")
    >>> values.compute().set_index("qid")["expected"].sort_index().to_dict()
    {1: 1.0, 2: 0.75}
    """
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    names = _Names(label, qid, None, score)
    df = _gather(df, names, shuffle)

    def table(frame: Any) -> Any:
        ids = frame[qid].drop_duplicates()
        found = _report(frame, names, asked).to_pandas()
        # as they are in df: of its kind, such as categories
        found["qid"] = ids.repeat(len(asked.measures)).array
        return found.rename(columns={"qid": qid})

    any_report = evaluate_in_memory([1], [1], measures="rr").to_pandas()[:0]
    meta = any_report.assign(qid=df._meta[qid].iloc[:0]).rename(columns={"qid": qid})
    tables = df.map_partitions(
        lambda frame: table(frame) if len(frame) else meta,
        meta=meta,
        clear_divisions=True,
    )

    def digests_of(frame: Any) -> Any:
        return _cell(id_digests(_ids_of(frame, qid), qid).tobytes())

    def compare(cells: Any) -> Any:
        # one row for each partition, in their order
        parts = [np.frombuffer(cell, dtype=np.uint64) for cell in cells["found"]]
        return _cell((repeated(parts), len(parts)))

    def checked(frame: Any, cells: Any) -> Any:
        several, n_partitions = cells["found"].iloc[0]
        for again in several:
            for query in _with_digest(frame, qid, again.digest):
                what = _in_several(again, repr(query), n_partitions, qid, shuffle)
                raise ValueError(what)
        return frame

    digests = tables.map_partitions(digests_of, meta=_cell(b"")[:0])
    compared = digests.repartition(npartitions=1).map_partitions(
        compare, meta=_cell(())[:0]
    )
    return tables.map_partitions(checked, compared, meta=meta, align_dataframes=False)


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
    """Fit a feature selector on data that are spread over a cluster.

    Parameters
    ----------
    selector : RankingFeatureSelector
        The selector of which a copy is fitted.
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    label, qid : str, default="label", "qid"
        Columns with labels and query ids.
    features : list of str, optional
        Columns to screen; by default all other numeric columns.
    query_weight : str, optional
        A column with the weight of each document's query.
    shuffle : bool, default=True
        As in `evaluate`.

    Returns
    -------
    RankingFeatureSelector
        A fitted copy, the same as after a `fit` of all rows in memory, to 1e-12.

    Raises
    ------
    ValueError
        As in `RankingFeatureSelector.fit`, and if `df` does not have a column, if a
        query is in several partitions without `shuffle` (the message names it), if the
        selector reads query ids from a column of X, or if there are more than 1000
        features and the selector needs their correlations, but does not have
        ``redundancy=True``.

    See Also
    --------
    RankingFeatureSelector : The same in memory.

    Notes
    -----
    Each partition is screened on its worker. Only statistics are transferred, about a
    kilobyte for each feature (with `redundancy`, also 16 bytes for each pair of
    features), merged in a tree, eight at a time, and 8 bytes for each query, compared
    in one task as in `evaluate`. The selector keeps them, up to those of ten million
    queries, as after `RankingFeatureSelector.partial_fit`.

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
    ['clicks', 'page_visits', 'text_score']
    """
    if selector.qid is not None:
        raise ValueError(
            "selector must not read query ids from a column of X (qid="
            f"{selector.qid!r}): name the column of df here, qid=..."
        )
    names = _Names(label, qid, query_weight)
    if features is None:
        _check_frame(df)
        numbers = df._meta.select_dtypes(["number", "bool"]).columns
        features = [name for name in numbers if name not in names.given()]
    columns = list(features)
    if not columns:
        raise ValueError("features must name at least one column, got none")
    selector.check_correlated(len(columns))

    def screening(frame: Any) -> tuple[Screening, Digests]:
        weight = frame.get(query_weight)
        found = selector.screen(frame[columns], frame[label], frame[qid], weight)
        digests = found.query_digests
        # they are compared once, and do not climb the tree with the statistics
        return replace(found, query_digests=digests[:0]), digests

    gathered = _gather(df, names, shuffle, columns)
    found, digests = _merged(gathered, screening, qid, shuffle, keep=True)
    names.check_weight(found.statistics.chance.weight)
    fitted: RankingFeatureSelector = clone(selector)
    return fitted.adopt(replace(found, query_digests=digests), df._meta[columns])


def _check_frame(df: Any) -> None:
    if not isinstance(df, dd.DataFrame):
        raise ValueError(f"df must be a dask.dataframe.DataFrame, got {type(df)}")


class _Names(NamedTuple):
    """Columns that are no features."""

    label: str
    qid: str
    weight: str | None
    score: str | None = None

    def given(self) -> list[str]:
        return [name for name in self if name is not None]

    def check_weight(self, total: FloatArray) -> None:
        """Single partitions may weigh nothing, but not all of them."""
        if self.weight is not None and not total.any():
            raise ValueError(f"{self.weight} must not be 0 in every query")


def _report(frame: Any, names: _Names, asked: Asked) -> RankingReport:
    """On some of the rows."""
    label, qid, weight, score = names
    prepared, scores = prepare(
        asked, frame[label], frame[score], frame[qid],
        frame.get(weight), allow_zero=True,
        names=ColumnNames(label, score or "score", qid, weight or "query_weight"),
    )  # fmt: skip
    return prepared.report(asked, scores)


def _gather(df: Any, names: _Names, shuffle: bool, features: Sequence[str] = ()) -> Any:
    """The columns asked for, each for one purpose, the rows of a query together."""
    _check_frame(df)
    columns = [*names.given(), *features]
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(
                "label, qid, score, query_weight and features must name different "
                f"columns, got {name!r} twice"
            )
        if name not in df.columns:
            raise ValueError(
                f"df must have a column {name!r}, got {', '.join(map(str, df.columns))}"
            )
    df = df[columns]
    return df.shuffle(names.qid, ignore_index=True) if shuffle else df


def _merged(
    df: Any,
    of_rows: Callable[[Any], tuple[Part, Digests]],
    qid: str,
    shuffle: bool,
    *,
    keep: bool,
) -> tuple[Part, Digests]:
    """What is found in each partition, merged in a tree, and the digests to keep.

    Digests of query ids are compared in one task, to which each is sent once.
    """

    def of_partition(frame: Any) -> tuple[Part | None, Digests]:
        return of_rows(frame) if len(frame) else (None, np.empty(0, np.uint64))

    def merge(parts: list[Part | None]) -> Part | None:
        some = [part for part in parts if part is not None]
        return reduce(lambda ours, theirs: ours.merge(theirs), some) if some else None

    def compare(parts: list[Digests]) -> tuple[list[Repeated], Digests]:
        every = np.concatenate(parts) if keep else parts[0][:0]
        return repeated(parts), kept(every)

    partitions = df.to_delayed()
    found = [dask.delayed(of_partition, nout=2)(part) for part in partitions]
    compared = dask.delayed(compare)([digests for _, digests in found])
    tree = [part for part, _ in found]
    while len(tree) > 1:
        tree = [dask.delayed(merge)(tree[i : i + 8]) for i in range(0, len(tree), 8)]
    whole, (several, digests) = dask.compute(tree[0], compared)
    for again in several:
        raise ValueError(_look_up(again, partitions, qid, shuffle))
    if whole is None:
        raise ValueError("df must hold at least one row, got none")
    return whole, digests


def _look_up(again: Repeated, partitions: list[Any], qid: str, shuffle: bool) -> str:
    """What is wrong; two partitions are read again for the id of a query."""
    look = dask.delayed(_with_digest)
    two = [look(partitions[i], qid, again.digest) for i in again.parts[:2]]
    queries = [query for found in dask.compute(*two) for query in found]
    for other in queries[1:]:
        if queries[0] != other:
            return same_digest(queries[0], other, qid)
    # data that are not the same when they are read again may not have it
    name = repr(queries[0]) if queries else f"with the digest {again.digest:#018x}"
    return _in_several(again, name, len(partitions), qid, shuffle)


def _in_several(
    again: Repeated, query: str, n_partitions: int, qid: str, shuffle: bool
) -> str:
    """What to say of a query that is in several partitions."""
    numbers = [*map(str, again.parts)]
    if len(numbers) > _SHOWN:
        numbers[_SHOWN:] = [f"{len(numbers) - _SHOWN} more"]
    got = (
        f"got query {query} in partitions {', '.join(numbers[:-1])} and {numbers[-1]} "
        f"(of 0 to {n_partitions - 1})"
    )
    if again.n_queries > 1:
        got += f", and {again.n_queries - 1} more queries in several partitions"
    if shuffle:  # which goes by another digest of ids
        return f"{qid} must have equal ids of one type, {got}"
    return (
        f"{qid} must have all rows of a query in one partition without shuffle, {got}: "
        "use shuffle=True, or leave out partitions that repeat others"
    )


def _with_digest(frame: Any, qid: str, digest: int) -> list[Any]:
    """The query id of this digest, if it is there."""
    ids = _ids_of(frame, qid)
    found: list[Any] = ids[value_bits(ids) == np.uint64(digest)].tolist()
    return found


def _ids_of(frame: Any, qid: str) -> NDArray[Any]:
    """The different query ids of a frame."""
    if not len(frame):
        return np.empty(0)
    return check_qid(frame[qid], n_rows=len(frame), name=qid).qid


def _cell(value: Any) -> Any:
    """A frame that holds one object."""
    cell = np.empty(1, dtype=object)
    cell[0] = value
    return pandas.DataFrame({"found": cell})
