"""Screening of features on the workers of a Dask cluster that store the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from .._engine import hashing, messages
from ..feature_selection import RankingFeatureSelector, Screening
from . import _partitions


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
    """Fit a feature selector on data that are distributed over a cluster.

    Parameters
    ----------
    selector : RankingFeatureSelector
        Selector to copy. The copy is fitted.
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    label, qid : str, default="label", "qid"
        Columns that contain labels and query ids.
    features : list of str, optional
        Columns to screen. By default, all other numeric and Boolean columns are
        screened.
    query_weight : str, optional
        Column that contains the weight of each document's query: >= 0 and constant
        within a query.
    shuffle : bool, default=True
        Whether to bring the rows of every query together first. Set ``shuffle=False``
        if each partition already contains whole queries, as in `evaluate`.

    Returns
    -------
    RankingFeatureSelector
        Fitted copy of `selector`. The results of the copy equal the results of `fit` on
        all rows in memory, up to rounding.

    Raises
    ------
    ValueError
        As in `RankingFeatureSelector.fit`, except that each row may be a query of its
        own, and as in `evaluate` for `df` and its partitions. An error is also raised
        if `features` is empty or not a list, if `features` is None and a partition
        contains columns that the meta of `df` lacks, if the selector is of another
        class or reads query ids from a column of X, or if the selector needs the
        correlations of more than 1000 features without ``redundancy=True``. Parameters
        are checked before any partition is read.

        Errors in partitions contain a note that names the partition.

    Warns
    -----
    UserWarning
        As in `RankingFeatureSelector.adopt`.

    See Also
    --------
    RankingFeatureSelector : Selects features from data in memory.

    Notes
    -----
    The parameters of the selector work as in `RankingFeatureSelector.fit`, except that
    `qid` must be None, and that no progress bar is shown. `max_correlation` and
    `diversity` need the correlations of all pairs of features.

    Each partition is screened on the worker that stores the partition. Workers send
    only statistics, which take about a kilobyte for each feature. Correlations (see the
    parameter `redundancy` of the selector) take another ``16 * n_features**2`` bytes,
    or four times as much with ``missing="last"``. The statistics are merged in a tree,
    eight at a time. As in `evaluate`, one task compares digests of the query ids, which
    take 8 bytes per query. The selector keeps these digests, as after a call of
    `RankingFeatureSelector.partial_fit`.

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
    if not isinstance(selector, RankingFeatureSelector):
        raise ValueError(
            "selector must be a RankingFeatureSelector, because other selectors need "
            f"all rows at once, got {messages.show(selector)}"
        )
    if selector.qid is not None:
        raise ValueError(
            f"selector must have qid=None, got qid={selector.qid!r}: pass the name of "
            "the column of df as qid to fit_selector"
        )
    names = _partitions.Names(label, qid, query_weight)
    if features is None:
        _partitions.check_frame(df)
        numbers = df._meta.select_dtypes(["number", "bool"]).columns
        columns = [name for name in numbers if name not in names]
        if not columns:
            raise ValueError(
                "df must contain a numeric column besides label, qid and query_weight, "
                f"got {list(df.columns)}"
            )
    else:
        is_list = isinstance(features, Iterable) and not isinstance(features, str)
        columns = list(features) if is_list else []
        if not columns:
            raise ValueError(
                f"features must be a list of at least one column, got {features!r}"
            )
    # All parameters are checked before any partition is read.
    selector.check_correlated(selector.rule_for(len(columns)))
    # The clone is not fitted, and prints no progress bars to the logs of workers.
    plain = clone(selector).set_params(progress=False)

    def screening(frame: Any) -> tuple[Screening, hashing.Digests]:
        # `get` returns None without `query_weight`.
        weight = frame.get(query_weight)
        part = plain.screen(frame[columns], frame[label], frame[qid], weight)
        digests = part.query_digests
        # One task compares the digests of all parts, so that merging does not send
        # them again.
        return replace(part, query_digests=digests[:0], label=str(label)), digests

    rows = _partitions.gathered(df, names, shuffle, columns, only=features is None)
    whole, digests = _partitions.merged(rows, screening, Screening.merge, qid, shuffle)
    # The total weight is known only after all partitions have been merged.
    names.check_weight(whole.statistics.of_labels.weight)
    fitted = clone(selector)
    return fitted.adopt(replace(whole, query_digests=digests), df._meta[columns])
