"""Compare systems by values per query that exist already."""

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

#: Name of a measure for which no name is given.
VALUE = "value"
#: Names of the attributes with a value for each query. The attributes must be equal in
#: all reports of the same queries, and None for systems with different queries.
_SHARED = ("query_weight", "segment", "cluster")

#: Reports by the names of their systems.
Reports = dict[str, RankingReport]


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
    """Compare systems by existing values: a value for each system and query.

    Values may come from any tool. Queries may be the tasks of a benchmark, the topics
    of a leaderboard or the prompts of a test set.

    Parameters
    ----------
    values : mapping of str to array-like, RankingReport or data frame, or data frame
        Values of each system, in one of these forms:

        - A data frame with a column for each system and a row for each query.
        - A mapping of names of systems to arrays of shape (n_queries,), with the same
          queries in the same order.
        - A mapping of names of systems to pandas Series. Unless `qid` is given, the
          Series are aligned by index.
        - A mapping of names of systems to reports of `evaluate`, `evaluate_batches` or
          `tieaware_sklearn.dask.evaluate`, or to tables returned by
          ``report.to_pandas(settings=True)``. Reports and tables are aligned by query
          id.

        NaN means that a query has no value. A pair is compared on the queries for which
        both systems have a value.
    qid : str or array-like of shape (n_queries,), optional
        Ids of the queries, or the name of the column of a data frame that contains the
        ids. By default, the ids are the index of a pandas data frame or Series, and
        otherwise positions.
    measure : str, Measure or list of them, optional
        Name of the values, which is shown in tables. If `parse_measure` knows the name,
        the defaults of `bounds` and `greater_is_better` are the bounds and the
        direction of the measure. For reports, `measure` selects the measures to
        compare. By default, all measures of the reports are compared.
    greater_is_better : bool, optional
        Whether higher values are better. If None, the direction of a measure that
        `parse_measure` knows is used. For other measures, None means True, except for
        reports in which the ideal value is below the chance level.
    bounds : (float, float), optional
        Smallest and largest possible value of a query. If None, the bounds of a measure
        that `parse_measure` knows are used, and all other values are unbounded. If all
        differences of a pair are equal, ``interval="t"`` reports an interval only if
        the differences are as large as the bounds allow (see the Notes of
        `compare_systems`). Reports contain their own bounds.
    missing : {"raise", "drop"}, default="raise"
        Treatment of queries that are missing in some systems. "raise" raises an error.
        "drop" leaves these queries out.
    paired : bool, default=True
        Set ``paired=False`` if systems have different queries, such as the traffic of
        two days. Means are then compared by Welch's t test, which has less power,
        because the difficulty of queries does not cancel out.
    baseline, test, alternative, correction, interval, average, confidence, \
n_resamples, random_state
        Options of the tests and intervals, as in `compare_systems`. With
        ``paired=False``, leave `test`, `interval` and `average` at their defaults, and
        do not set ``correction="tukey"``.
    query_weight, segment, cluster : str or array-like of shape (n_queries,), optional
        As in `compare_systems`, with a value for each row of `values`, or the name of a
        column of the data frame. Reports contain their own weights, segments and
        clusters.

    Returns
    -------
    SystemComparison
        Comparison as returned by `compare_systems`. Comparisons of reports show the
        effect of ties, because reports contain the best and the worst values over the
        orders of ties. Other values contain no information on ties. If other values are
        compared, the treatment of ties is "given". The attributes ``worst``, ``best``,
        ``std``, ``chance``, ``tie_std`` and ``tie_range`` are then NaN, and
        ``same_sign`` is False.
        With ``paired=False``, ``qid`` is None, and each column of ``expected`` contains
        the values of a system on its own queries, followed by NaN if another system has
        more queries.

    Raises
    ------
    ValueError
        If there is no system, if two systems have the same name, if a value is infinite
        or outside the bounds, if an id occurs twice in a system, if systems have
        different queries (unless ``missing="drop"`` or ``paired=False`` is set), if no
        query is common to all systems that are paired, if reports differ in measures,
        options, weights, segments or clusters, if `qid`, `bounds`, `query_weight`,
        `segment` or `cluster` is given for reports, or if ``paired=False`` is combined
        with weights, segments or clusters. Also if an option is invalid, as in
        `compare_systems`.

    Warns
    -----
    UndefinedMetricWarning
        If all values of a system are NaN.
    UserWarning
        If the differences of a pair, or with ``paired=False`` the values of a system,
        are nearly all equal or skewed. Also if the weights correspond to few queries of
        equal weight, or if ``correction="tukey"`` is set and the spreads differ, as in
        `compare_systems`.

    See Also
    --------
    compare_systems : Compares systems by labels and scores, with treatments of ties.
    RankingReport.from_frame : Reads the table of a report.

    Notes
    -----
    Welch's test compares the means of a and b by t = (a - b) / √(s²_a/n_a + s²_b/n_b),
    with (s²_a/n_a + s²_b/n_b)² / (s⁴_a/(n_a²(n_a - 1)) + s⁴_b/(n_b²(n_b - 1)))
    degrees of freedom (Welch, Biometrika 1947). s² is the variance of the values
    of a system on n queries. With Welch's test, Cohen's d is the difference divided by
    the square root of the mean of the two variances. There is no p-value if neither
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
    options_of_values = {
        "qid": qid,
        "query_weight": query_weight,
        "segment": segment,
        "cluster": cluster,
        "bounds": bounds,
    }
    reports = _make_reports(values, options_of_values, measure)
    if paired:
        reports = _on_same_queries(reports, missing)
    names = tuple(reports)
    by_system = list(reports.values())
    first = by_system[0]
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
    stacked = [_stack(by_system, name) for name in ("expected", "best", "worst", "std")]
    table = QueryValues(*stacked)
    if paired:
        queries = checks.check_qid(first.qid, n_rows=len(first.qid))
        undefined = np.any([report.undefined for report in by_system], axis=0)
    else:
        options = _check_unpaired(options, reports)
        queries = None
        undefined = np.zeros_like(stacked[0][:, :, 0].T, dtype=bool)
    # Lower values are better if the ideal is below chance. The ideal and chance are NaN
    # for arrays, so higher values are better unless the name of the measure is known.
    directions = np.asarray(~(first.ideal < first.chance).any(axis=0))
    for j, name in enumerate(first.measures):
        with suppress(ValueError):
            directions[j] = parse_measure(name).greater_is_better
    if greater_is_better is not None:
        checks.check_flag(greater_is_better, "greater_is_better")
        directions[:] = greater_is_better
    # Only reports of `evaluate` have options. For reports made from arrays, the
    # treatment of ties is unknown.
    ties = _text.EXPECTED if first.options else _text.GIVEN
    chance = np.hstack(list(_stack(by_system, "chance")))
    baselines = _systems.check_baselines(baseline, names)
    return _systems.compared(
        {ties: table},
        options,
        queries,
        systems=names,
        measures=first.measures,
        greater_is_better=directions,
        bounds=first.bounds,
        chance=chance,
        undefined=undefined,
        baselines=baselines,
        query_weight=first.query_weight,
        segment=first.segment,
        cluster=first.cluster,
    )


def _make_reports(values: Any, options: dict[str, Any], measure: Any) -> Reports:
    """Return reports of the values of systems, with the same measures and options."""
    if isinstance(values, Mapping):
        keys = list(values)
    elif hasattr(values, "columns"):
        keys = feature_matrix.list_columns(values)
        for name, column in options.items():
            if isinstance(column, str):
                if column not in keys:
                    raise ValueError(
                        f"{name} must be a column of values or an array, got "
                        f"{column!r}. The columns are {keys}"
                    )
                keys.remove(column)
                options[name] = values[column]
        if options["qid"] is None:
            options["qid"] = getattr(values, "index", None)
    else:
        raise ValueError(
            "values must be a mapping from system names to values, or a data frame, "
            f"got {type(values).__name__}"
        )
    systems = {str(key): values[key] for key in keys}
    if len(systems) < len(keys) or not systems:
        raise ValueError(
            f"values must have systems with different names, got {keys or 'none'}"
        )
    reports = {}
    for name, column in systems.items():
        label = f"values[{name!r}]"
        reports[name] = _make_report(column, label, options, measure)
    first = next(iter(reports))
    for name, report in reports.items():
        for attribute in ("measures", "options"):
            expected = getattr(reports[first], attribute)
            value = getattr(report, attribute)
            if value != expected:
                raise ValueError(
                    f"values must have the same {attribute} in all systems, got "
                    f"{expected} in {first!r} and {value} in {name!r}"
                )
    return reports


def _make_report(
    values: Any, name: str, options: dict[str, Any], measure: Any
) -> RankingReport:
    """Return a report of the values of a system.

    An array contains no information on ties, so the statistics over ties are NaN.
    """
    if hasattr(values, "columns"):
        values = RankingReport.from_frame(values)
    if isinstance(values, RankingReport):
        return _select(values, name, options, measure)
    numbers = exact_numbers.floats_of(values, name)
    qid = options["qid"]
    if qid is None:
        qid = getattr(values, "index", None)
        # Lists also have an attribute `index`, but only a pandas index has a method
        # `equals`.
        if not hasattr(qid, "equals"):
            qid = np.arange(len(numbers))
    queries = checks.check_qid(qid, n_rows=len(numbers))
    if queries.n_queries < len(numbers):
        repeated = int(np.argmax(queries.sizes > 1))
        raise ValueError(
            "qid, or the index of values, must contain each query once, got "
            f"{queries.sizes[repeated]} values of {queries.name(repeated)} in {name}"
        )
    measured: Any = VALUE if measure is None else measure
    # None and unknown names stay as they are.
    with suppress(ValueError):
        measured = parse_measure(measure)
    if not isinstance(measured, (str, Measure)):
        raise ValueError(
            f"measure must be a single name if values are arrays, got {measure!r}"
        )
    if options["bounds"] is not None:
        low, high = options["bounds"]
    elif isinstance(measured, Measure):
        low, high = measured.minimum, measured.maximum
    else:
        low, high = -np.inf, np.inf
    checks.reject(
        np.isinf(numbers), numbers, name, "be finite, or NaN if there is no value"
    )
    is_beyond = (numbers < low) | (numbers > high)
    checks.reject(is_beyond, numbers, name, f"be from {low:g} to {high:g}")
    expected = numbers[:, None]
    statistics = ("best", "worst", "std", "sampling_error", "chance", "ideal")
    unknown = np.full(expected.shape, np.nan)
    fields: dict[str, Any] = dict.fromkeys(statistics, unknown)
    is_false = np.zeros(expected.shape, dtype=bool)
    fields["std_is_estimate"] = is_false
    fields["undefined"] = is_false
    fields["bounds"] = np.array([[low, high]], dtype=np.float64)
    weight = checks.check_query_weight(options["query_weight"], queries)
    fields["query_weight"] = weight
    for option in ("segment", "cluster"):
        column = options[option]
        if column is not None:
            column = checks.check_segment(column, queries, name=option)
        fields[option] = column
    return RankingReport((str(measured),), queries.qid, expected, **fields)


def _select(
    report: RankingReport, label: str, options: dict[str, Any], measure: Any
) -> RankingReport:
    """Return a report of the selected measures, after a check that no option is set."""
    for option, value in options.items():
        if value is not None:
            raise ValueError(
                f"{option} must be None if {label} is a report, because a report "
                f"contains its own settings, got {messages.show(value)}"
            )
    if measure is None:
        return report
    names = [str(chosen) for chosen in _parse.parse_measures(measure, name="measure")]
    columns = []
    for name in names:
        checks.check_choice(name, "measure", report.measures)
        columns.append(report.measures.index(name))
    fields: dict[str, Any] = {"measures": tuple(names)}
    fields["bounds"] = report.bounds[columns]
    for name in (*_report.COLUMNS, "undefined"):
        fields[name] = getattr(report, name)[:, columns]
    return replace(report, **fields)


def _on_same_queries(reports: Reports, missing: str) -> Reports:
    """Return reports on the common queries, in the order of the first system."""
    rows = {}
    for name, report in reports.items():
        rows[name] = {query: row for row, query in enumerate(report.qid.tolist())}
    common = set.intersection(*map(set, rows.values()))
    n_more = {name: len(ids) - len(common) for name, ids in rows.items()}
    if any(n_more.values()) and (missing == "raise" or not common):
        counts = ", ".join(f"{n} more in {name!r}" for name, n in n_more.items())
        raise ValueError(
            "values must be for the same queries in all systems, or share queries with "
            f"missing='drop', got {len(common)} common queries, {counts}"
        )
    first = next(iter(reports))
    common_ids = [query for query in rows[first] if query in common]
    aligned = {}
    for name, report in reports.items():
        common_rows = [rows[name][query] for query in common_ids]
        aligned[name] = report._select(np.array(common_rows, dtype=np.intp))
        for attribute in _SHARED:
            expected = getattr(aligned[first], attribute)
            if not np.array_equal(getattr(aligned[name], attribute), expected):
                raise ValueError(
                    f"{attribute} must be the same in all systems, got different "
                    f"values in {first!r} and {name!r}"
                )
    return aligned


def _check_unpaired(options: _pairs.Options, reports: Reports) -> _pairs.Options:
    """Check the options for ``paired=False``, and return them with Welch's test."""
    chosen = (options.test, options.interval, options.average)
    if chosen != ("t", "t", "macro") or options.correction == "tukey":
        raise ValueError(
            "with paired=False, test, interval and average must be left at their "
            "defaults, and correction must not be 'tukey', got "
            f"test={options.test!r}, interval={options.interval!r}, "
            f"average={options.average!r} and correction={options.correction!r}"
        )
    for name, report in reports.items():
        for attribute in _SHARED:
            if getattr(report, attribute) is not None:
                raise ValueError(
                    f"{attribute} must be None with paired=False, got values in "
                    f"{name!r}"
                )
    return options._replace(test="welch")


def _stack(reports: list[RankingReport], name: str) -> FloatArray:
    """Return an attribute of all reports, of shape (n_measures, n_queries, n_systems).

    NaN fills the columns of systems with fewer queries.
    """
    columns = [getattr(report, name) for report in reports]
    longest = max(map(len, columns))
    values = np.full((len(columns), longest, columns[0].shape[1]), np.nan)
    for j, column in enumerate(columns):
        values[j, : len(column)] = column
    return values.T
