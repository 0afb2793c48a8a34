"""Compare systems on the workers of a Dask cluster, where their rows are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import Any

import numpy as np

from .._engine import checks, hashing, messages, seen_queries
from ..comparison import SystemComparison, _systems
from ..evaluation import _prepared, _report, _resolved, _ties
from ..measures import Measure, _parse
from ..measures._values import QueryValues
from . import _partitions


def compare_systems(
    df: Any,
    *,
    scores: Sequence[str],
    label: str = "label",
    qid: str = "qid",
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    ties: str | Sequence[str] = "expected",
    external: Mapping[str, Any] | None = None,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    interval: str = "t",
    average: str = "macro",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: str | None = None,
    segment: str | None = None,
    shuffle: bool = True,
) -> SystemComparison:
    """Compare systems on a cluster pair by pair, over queries and over their ties.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    scores : list of str
        Columns with the scores of the systems, with -inf for documents that a system
        does not retrieve. The systems have the names of their columns.
    label, qid : str, default="label", "qid"
        Columns with labels and query ids.
    measure, baseline, test, alternative, correction, interval, average, confidence, \
n_resamples, random_state, zero_relevance, unjudged
        As in `tieaware_sklearn.compare_systems`.
    ties : str or list of str, default="expected"
        Treatment of ties: "expected", the exact mean over the orders of tied documents;
        "best" or "worst" of these; or the name of a rule in `external`. With a list,
        several treatments side by side. There is no "input", because rows on a cluster
        have no order. A column of row numbers can be a rule.
    external : mapping of str to str or tuple, optional
        External rules for ties by name: a column whose smallest value ranks first, a
        pair of a column and "ascending" or "descending", or a triple of these and
        "float32", as in `break_ties`.
    query_weight, segment : str, optional
        Columns with the weight and the segment of each document's query, as in
        `evaluate`.
    shuffle : bool, default=True
        As in `evaluate`.

    Returns
    -------
    SystemComparison
        The same as `tieaware_sklearn.compare_systems`, to the last bit, with queries in
        ascending order of their ids. The result does not depend on the partitions.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.compare_systems`, if `df` lacks a column, and if a query
        is in several partitions without `shuffle` (the message names it).

    Warns
    -----
    UndefinedMetricWarning
        If the measure is undefined for every query of a system.

    See Also
    --------
    tieaware_sklearn.compare_systems : The same in memory.
    evaluate : The values of every query of one system.

    Notes
    -----
    Each worker sends the values of its queries, 40 bytes for each query, measure,
    treatment of ties and system. The calling process tests the pairs.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import compare_systems
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0, 0, 1, 0],
    ...                      "clicks": [9, 1, 1, 5, 2, 2, 1, 1, 0],
    ...                      "age": [1, 2, 3, 2, 3, 3, 1, 1, 1],
    ...                      "qid": [1, 1, 1, 2, 2, 2, 3, 3, 3]})
    >>> print(compare_systems(dd.from_pandas(rows, npartitions=2),
    ...                       scores=["clicks", "age"], measure="rr"))
    RR        mean   worst    best  tie_std
    ---------------------------------------
    clicks  0.9167  0.8333  1.0000   0.0833
    age     0.4259  0.3333  0.5556   0.0944
    <BLANKLINE>
    A       B     A - B    ±95%  tie_std         tie range  same sign  pvalue     d
    -------------------------------------------------------------------------------
    clicks  age  0.4907  0.7569   0.1259  [0.2778, 0.6667]        yes  0.1081  1.61
    <BLANKLINE>
    By RR, clicks is not significantly better than age: by 0.4907 (95% interval
    [-0.2662, 1.2477], p = 0.1081); clicks is better in every order of ties.
    """
    options = _systems.check_options(
        test, alternative, correction, interval, confidence, n_resamples,
        random_state, baseline, average, query_weight,
    )  # fmt: skip
    parsed = _parse.parse_measures(measure, name="measure")
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged)
    listed = isinstance(scores, Iterable) and not isinstance(scores, (str, Mapping))
    chosen = list(scores) if listed else []
    if not chosen:
        raise ValueError(
            f"scores must be a list of columns, got {messages.show(scores)}"
        )
    systems = tuple(map(str, chosen))
    names = _partitions.Names(label, qid, query_weight)
    keys = _check_keys(external)
    # the segment may be the query id, the weight or a key
    read = dict.fromkeys([*(column for column, *_ in keys.values()), segment])
    known = [*names, *chosen, None]
    others = [name for name in read if name not in known]
    # rules are checked before any partition is read
    no_keys = {name: ([0], *how) for name, (_, *how) in keys.items()}
    treatments = _ties.TieRules(no_keys, 1, systems).check(ties)
    if "input" in treatments:
        raise ValueError(
            "ties must not be 'input' on a cluster, where rows have no order: a column "
            "with their numbers can be a rule, external={'input order': column}"
        )
    baselines = _systems.check_baselines(baseline, systems)

    def values(frame: Any) -> tuple[list[Any], hashing.Digests]:
        prepared = _prepared.prepare(
            frame[label],
            frame[qid],
            frame.get(query_weight),
            segment=frame.get(segment),
            names=_prepared.ColumnNames(
                label, qid, query_weight or "query_weight", str(segment)
            ),
            unjudged=resolved.unjudged,
            allow_zero=True,
            keep=True,
        )
        given = {name: (frame[column], *how) for name, (column, *how) in keys.items()}
        rules = _ties.TieRules(given, len(frame), systems)
        columns = [prepared.scores(frame[name], name) for name in chosen]
        measured = _systems.MeasuredSystems(systems, columns, prepared, resolved, rules)
        ids = prepared.queries.qid
        part = (
            ids,
            prepared.weight,
            prepared.segment,
            prepared.label_values(resolved).chance,
            *map(measured.values, treatments),
        )
        return [part], seen_queries.id_digests(ids, qid)

    rows = _partitions.gathered(df, names, shuffle, [*chosen, *others])
    parts, _ = _partitions.merged(rows, values, add, qid)
    all_ids, weights, segments, chances, *values_of_parts = zip(*parts, strict=True)
    ids = _report.one_after_another(all_ids)
    queries = checks.check_qid(ids, n_rows=len(ids))
    order = queries.sorted()

    def in_order(arrays: Sequence[Any]) -> Any:
        if arrays[0] is None:
            return None
        return _report.one_after_another(arrays)[order]

    def values_in_order(arrays: Sequence[Any]) -> Any:
        return np.concatenate(arrays, axis=1)[:, order]

    weight = in_order(weights)
    names.check_weight(weight)
    return _systems.compared(
        systems,
        resolved,
        queries.some(order),
        {
            treatment: QueryValues.join(values, values_in_order)
            for treatment, values in zip(treatments, values_of_parts, strict=True)
        },
        in_order(chances),
        baselines,
        options,
        weight,
        in_order(segments),
    )


def _check_keys(external: Any) -> dict[str, tuple[Any, ...]]:
    """Check the external rules of ties: by name, a column and how it ranks."""
    if not isinstance(external, Mapping):
        _ties.TieRules(external, 1)  # raises unless it is None
        return {}
    keys = {}
    for name, key in external.items():
        column, *how = key if isinstance(key, tuple) and key else (key,)
        if "random" in how:
            raise ValueError(
                f"external[{name!r}] must be 'ascending' or 'descending' on a cluster, "
                "where each partition would draw orders of its own, got 'random'"
            )
        keys[name] = (column, *(how or ["ascending"]))
    return keys
