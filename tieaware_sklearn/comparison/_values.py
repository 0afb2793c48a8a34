"""Compare systems by values per query that are there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from .._engine import checks, exact_numbers, feature_matrix, messages
from .._typing import FloatArray
from ..evaluation import RankingReport, _report
from ..measures import Measure, _parse, parse_measure
from ..measures._values import QueryValues
from . import _pairs, _systems, _text
from ._result import SystemComparison

#: the name of values, if they come without one
VALUE = "value"
#: what a table has for each query, beside the values of systems
_OF_QUERIES = ("qid", "query_weight", "segment", "cluster")
#: what reports on the same queries have in common
_SHARED = ("query_weight", "segment", "cluster")


def compare_values(
    values: Any,
    *,
    qid: Any = None,
    measure: str | Measure | Iterable[str | Measure] | None = None,
    greater_is_better: bool | None = None,
    bounds: tuple[float, float] | None = None,
    missing: str = "raise",
    paired: bool = True,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    interval: str = "t",
    average: str = "macro",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    query_weight: Any = None,
    segment: Any = None,
    cluster: Any = None,
) -> SystemComparison:
    """Compare systems by values that you have: a value for each system and query.

    Values may come from any tool. Queries may be the tasks of a benchmark, the topics
    of a leaderboard or the prompts of a test set.

    Parameters
    ----------
    values : mapping of str to array-like, RankingReport or data frame, or data frame
        Values of each system. One of these:

        - a data frame with a column for each system and a row for each query;
        - a mapping of names of systems to arrays of shape (n_queries,), whose entries
          are of the same queries in the same order;
        - a mapping of names of systems to pandas Series, which go by their index;
        - a mapping of names of systems to reports of `evaluate`,
          `evaluate_batches` or `tieaware_sklearn.dask.evaluate`, or to tables that
          ``report.to_pandas(settings=True)`` has made. They go by their query ids.

        NaN is a query without a value. A pair is compared on the queries where both
        have one.
    qid : str or array-like of shape (n_queries,), optional
        Ids of the queries, or the column of a data frame that has them. By default
        the index of a data frame of pandas or of Series, otherwise the position.
    measure : str, Measure or list of them, optional
        What the values are of, for titles. Bounds and direction follow if it names a
        measure of `parse_measure`. Of reports, the measures to compare; by default
        all.
    greater_is_better : bool, optional
        Whether higher values are better. By default as the measure has it, and True
        for other names.
    bounds : (float, float), optional
        Least and largest value that a query can have. By default those of the
        measure, and none for other names. An interval of equal values exists only at
        a bound.
    missing : {"raise", "drop"}, default="raise"
        What to do about queries that not all systems have: an error, or leave them
        out.
    paired : bool, default=True
        False if systems have different queries, such as the traffic of two days.
        Means are then compared by Welch's t test, which finds less: the difficulty of
        queries does not cancel.
    baseline, test, alternative, correction, interval, average, confidence, \
n_resamples, random_state
        As in `compare_systems`. With ``paired=False``, test, interval and average
        must be left at their defaults, and Tukey's test is not for different queries.
    query_weight, segment, cluster : str or array-like of shape (n_queries,), optional
        As in `compare_systems`, with one value for each row of `values`, or a column
        of the data frame. Reports bring their own.

    Returns
    -------
    SystemComparison
        As of `compare_systems`. Comparisons of reports say how ties bear on them, as
        their values are exact means over the orders of ties. Other values say nothing
        of ties: the treatment of ties is then called "given", and ``worst``,
        ``best``, ``std``, ``chance``, ``tie_std`` and ``tie_range`` are NaN. With
        ``paired=False``, `qid` is None, each column of `expected` has the queries of
        its own system, followed by NaN, and `n_queries` are those of both systems.

    Raises
    ------
    ValueError
        For values that are no finite numbers or NaN, or outside of the bounds. If not
        all systems have the same queries. If reports have other measures, options,
        weights, segments or clusters than the first. For options as in
        `compare_systems`, and if ``paired=False`` comes with weights, segments or
        clusters.

    Warns
    -----
    UserWarning
        As in `compare_systems`.

    See Also
    --------
    compare_systems : The same from labels and scores, with treatments of ties.
    RankingReport.from_frame : Reads the table of a report.

    Notes
    -----
    Welch's test compares the means of a and b by t = (a - b) / √(s²_a/n_a + s²_b/n_b),
    with (s²_a/n_a + s²_b/n_b)² / (s⁴_a/(n_a²(n_a - 1)) + s⁴_b/(n_b²(n_b - 1)))
    degrees of freedom (Welch, Biometrika 1947). Cohen's d is then the difference
    divided by the root of the mean of both variances. There is no p-value if neither
    system varies.

    Examples
    --------
    >>> from tieaware_sklearn import compare_values
    >>> accuracy = {"new": [0.8, 0.7, 0.9, 0.6], "old": [0.7, 0.5, 0.8, 0.6]}
    >>> result = compare_values(accuracy, measure="accuracy")
    >>> print(result)
    accuracy    mean
    ----------------
    new       0.7500
    old       0.6500
    <BLANKLINE>
    A    B     A - B    ±95%  pvalue     d
    --------------------------------------
    new  old  0.1000  0.1299  0.0917  1.22
    <BLANKLINE>
    By accuracy, new is not shown to be better than old: ahead by 0.1000 (15.4%
    more; 95% interval [-0.0299, 0.2299], p = 0.0917).
    """
    checks.check_choice(missing, "missing", ("raise", "drop"))
    checks.check_flag(paired, "paired")
    of_queries = {
        "qid": qid,
        "query_weight": query_weight,
        "segment": segment,
        "cluster": cluster,
    }
    reports = _reports(values, of_queries, measure, bounds)
    _check_alike(reports)
    if paired:
        reports = _on_same_queries(reports, missing)
    names, each = tuple(reports), list(reports.values())
    first = each[0]
    options = _systems.check_options(
        test,
        alternative,
        correction,
        interval,
        confidence,
        n_resamples,
        random_state,
        baseline,
        average,
        first.query_weight,
        first.cluster,
    )
    joined = QueryValues(
        *(_stacked(each, name) for name in ("expected", "best", "worst", "std"))
    )
    undefined = np.zeros(joined.expected.shape[1::-1], dtype=bool)
    queries = None
    if paired:
        queries = checks.check_qid(first.qid, n_rows=len(first.qid))
        undefined = np.any([report.undefined for report in each], axis=0)
    else:
        options = _check_unpaired(options, reports)
    # True of values without a known measure
    rises = np.asarray(~(first.ideal < first.chance).any(axis=0))
    for j, name in enumerate(first.measures):
        with suppress(ValueError):
            rises[j] = parse_measure(name).greater_is_better
    if greater_is_better is not None:
        checks.check_flag(greater_is_better, "greater_is_better")
        rises[:] = greater_is_better
    # reports of evaluate have options, those made of arrays have none
    ties = _text.EXPECTED if first.options else _text.GIVEN
    return _systems.compared(
        names,
        first.measures,
        rises,
        first.bounds,
        queries,
        {ties: joined},
        np.hstack(list(_stacked(each, "chance"))),
        undefined,
        _systems.check_baselines(baseline, names),
        options,
        first.query_weight,
        first.segment,
        first.cluster,
    )


def _reports(
    values: Any,
    of_queries: dict[str, Any],
    measure: Any,
    bounds: tuple[float, float] | None,
) -> dict[str, RankingReport]:
    """Make a report of the values of each system."""
    if isinstance(values, Mapping):
        systems = {str(name): of_system for name, of_system in values.items()}
        n_names = len(values)
    elif hasattr(values, "columns"):
        columns = feature_matrix.list_columns(values)
        for name, column in of_queries.items():
            if isinstance(column, str):
                if column not in columns:
                    raise ValueError(
                        f"{name} must be a column of values or an array, got "
                        f"{column!r} (columns: {columns})"
                    )
                columns.remove(column)
                of_queries[name] = values[column]
        if of_queries["qid"] is None:
            of_queries["qid"] = getattr(values, "index", None)
        systems = {str(name): values[name] for name in columns}
        n_names = len(columns)
    else:
        raise ValueError(
            "values must be a mapping of names of systems to their values, or a data "
            f"frame, got {type(values).__name__}"
        )
    if len(systems) < n_names or not systems:
        raise ValueError(
            "values must have systems of different names, got "
            f"{list(systems) or 'none'}"
        )
    return {
        name: _report_of(of_system, f"values[{name!r}]", of_queries, measure, bounds)
        for name, of_system in systems.items()
    }


def _report_of(
    values: Any,
    name: str,
    of_queries: dict[str, Any],
    measure: Any,
    bounds: tuple[float, float] | None,
) -> RankingReport:
    """Make a report of the values of a system; of arrays, it says nothing of ties."""
    if hasattr(values, "columns"):
        values = RankingReport.from_frame(values)
    if isinstance(values, RankingReport):
        for option, value in [*of_queries.items(), ("bounds", bounds)]:
            if value is not None:
                raise ValueError(
                    f"{option} must be None for reports, which bring their own, got "
                    f"{messages.show(value)} and a report as {name}"
                )
        return values if measure is None else _select(values, measure)
    numbers = exact_numbers.floats_of(values, name)
    qid = of_queries["qid"]
    if qid is None:
        index = getattr(values, "index", None)
        # lists have a method of this name
        qid = index if hasattr(index, "equals") else np.arange(len(numbers))
    queries = checks.check_qid(qid, n_rows=len(numbers))
    if queries.n_queries < len(numbers):
        repeated = int(np.argmax(queries.sizes > 1))
        raise ValueError(
            f"qid must name each query once, got {queries.sizes[repeated]} values of "
            f"{queries.name(repeated)} in {name}"
        )
    measured: Any = VALUE if measure is None else measure
    with suppress(ValueError):
        measured = parse_measure(measure)
    if not isinstance(measured, (str, Measure)):
        raise ValueError(f"measure must be one name for arrays, got {measure!r}")
    if bounds is None:
        low, high = -np.inf, np.inf
        if isinstance(measured, Measure):
            low, high = measured.minimum, measured.maximum
    else:
        low, high = bounds
    checks.reject(np.isinf(numbers), numbers, name, "be finite, or NaN for no value")
    is_beyond = (numbers < low) | (numbers > high)
    checks.reject(is_beyond, numbers, name, f"be from {low:g} to {high:g}")
    weight, segment, cluster = (of_queries[name] for name in _SHARED)
    if segment is not None:
        segment = checks.check_segment(segment, queries)
    if cluster is not None:
        cluster = checks.check_segment(cluster, queries, name="cluster")
    column = numbers[:, None]
    unknown: Any = np.full(column.shape, np.nan)
    no_flag = np.zeros(column.shape, dtype=bool)
    of_ties = ("best", "worst", "std", "sampling_error", "chance", "ideal")
    return RankingReport(
        measures=(str(measured),),
        qid=queries.qid,
        expected=column,
        **dict.fromkeys(of_ties, unknown),
        std_is_estimate=no_flag,
        undefined=no_flag,
        bounds=np.array([[low, high]], dtype=np.float64),
        query_weight=checks.check_query_weight(weight, queries),
        segment=segment,
        cluster=cluster,
    )


def _select(report: RankingReport, measure: Any) -> RankingReport:
    """Return a report of some of its measures."""
    names = [str(chosen) for chosen in _parse.parse_measures(measure, name="measure")]
    for name in names:
        checks.check_choice(name, "measure", report.measures)
    at = [report.measures.index(name) for name in names]
    fields: dict[str, Any] = {
        name: getattr(report, name)[:, at] for name in (*_report.COLUMNS, "undefined")
    }
    return replace(report, measures=tuple(names), bounds=report.bounds[at], **fields)


def _check_alike(reports: dict[str, RankingReport]) -> None:
    """Refuse reports by other measures or options than the first one."""
    first = next(iter(reports))
    for name, report in reports.items():
        for shared in ("measures", "options"):
            of_first, of_report = (
                getattr(reports[first], shared),
                getattr(report, shared),
            )
            if of_first != of_report:
                raise ValueError(
                    f"values must have the same {shared} in all systems, got "
                    f"{of_first} in {first!r} and {of_report} in {name!r}"
                )


def _on_same_queries(
    reports: dict[str, RankingReport], missing: str
) -> dict[str, RankingReport]:
    """Return the queries that all systems have, in the order of the first one."""
    places = {
        name: {query: i for i, query in enumerate(report.qid.tolist())}
        for name, report in reports.items()
    }
    of_all = set.intersection(*map(set, places.values()))
    n_more = {name: len(ids) - len(of_all) for name, ids in places.items()}
    if any(n_more.values()) and (missing == "raise" or not of_all):
        counts = ", ".join(f"{n} more in {name!r}" for name, n in n_more.items())
        raise ValueError(
            "values must be of the same queries in all systems (missing='drop' keeps "
            f"those that all have), got {len(of_all)} that all have, {counts}"
        )
    first = next(iter(reports))
    shared_ids = [query for query in reports[first].qid.tolist() if query in of_all]
    aligned = {}
    for name, report in reports.items():
        of_system = [places[name][query] for query in shared_ids]
        aligned[name] = report._some(np.array(of_system, dtype=np.intp))
    for name, report in aligned.items():
        for shared in _SHARED:
            of_first, of_report = (
                getattr(aligned[first], shared),
                getattr(report, shared),
            )
            if not np.array_equal(of_first, of_report):
                raise ValueError(
                    f"{shared} must be the same in all systems, got another one in "
                    f"{first!r} than in {name!r}"
                )
    return aligned


def _check_unpaired(
    options: _pairs.Options, reports: dict[str, RankingReport]
) -> _pairs.Options:
    """Check that Welch's test has the options, and return them with its name."""
    chosen = (options.test, options.interval, options.average)
    if chosen != ("t", "t", "macro") or options.correction == "tukey":
        raise ValueError(
            "test, interval and average must be left at their defaults, and correction "
            f"must not be 'tukey', with paired=False, got {', '.join(chosen)} and "
            f"{options.correction}"
        )
    for name, report in reports.items():
        for shared in _SHARED:
            if getattr(report, shared) is not None:
                raise ValueError(
                    f"{shared} must be None with paired=False, got one in {name!r}"
                )
    return options._replace(test="welch")


def _stacked(reports: list[RankingReport], name: str) -> FloatArray:
    """Values of all systems, (n_measures, n_queries, n_systems); NaN fills columns."""
    columns = [getattr(report, name) for report in reports]
    shape = len(reports), max(map(len, columns)), columns[0].shape[1]
    values = np.full(shape, np.nan)
    for of_system, column in zip(values, columns, strict=True):
        of_system[: len(column)] = column
    return values.T
