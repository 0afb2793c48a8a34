"""Reports on the scores of a ranking, by query and on average."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._display import html, text_tables, words
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from ..statistics.averages import floored_logs, stds_of_means
from ..statistics.chance import lift
from ..statistics.intervals import average_interval, bootstrap_interval
from ..statistics.moments import QueryMoments, cluster_means, effective_number
from . import _interval_warnings, _report_table, _text

#: Characters that experiment trackers refuse in names.
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, eq=False, repr=False)
class Summary(html.Result):
    """Table of averages over queries.

    The method that returns a summary describes the columns of the summary. Each column
    is also an attribute. Columns that contain the two ends of an interval, such as
    ``interval_low`` and ``interval_high``, are also joined in an attribute, such as
    ``interval`` of shape (n_rows, 2).

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        Columns by name, as in the data frame that `to_pandas` returns.
    keys : tuple of str
        Names of the columns that identify a row, such as ``("segment", "measure")``.
    about : dict of str to object
        Values that all rows share, such as ``average``. Each value is also an
        attribute.

    See Also
    --------
    RankingReport.summary : Averages of a ranking.
    RankingReport.by_segment : Averages of each segment of queries.
    SystemComparison.summary : Averages of several systems.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> summary = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=[1, 1, 2, 2],
    ...                    measures="rr").summary()
    >>> summary.mean, summary.columns["chance"], summary.average
    (array([0.875]), array([0.75]), 'macro')
    """

    columns: dict[str, Array]
    keys: tuple[str, ...]
    about: dict[str, Any]
    _show: Callable[[Summary], list[text_tables.Table]]

    _conclusion = _text.conclusion

    def __getattr__(self, name: str) -> Any:
        # An object that is being unpickled has no fields yet.
        columns = vars(self).get("columns", {})
        about = vars(self).get("about", {})
        if name in columns:
            return columns[name]
        if name in about:
            return about[name]
        if f"{name}_low" in columns:
            ends = columns[f"{name}_low"], columns[f"{name}_high"]
            return np.stack(ends, axis=-1)
        raise AttributeError(
            f"a Summary with {[*columns, *about]} has no attribute {name!r}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns, *self.about]

    def __len__(self) -> int:
        return len(self.columns[self.keys[0]])

    def to_metrics(self) -> dict[str, float]:
        """Return the figures under stable names, for experiment trackers.

        Returns
        -------
        dict of str to float
            Each name joins, by slashes, the values of the columns in `keys` and the
            name of another column: ``"NDCG_at_10/mean"``, or
            ``"head/NDCG_at_10/tie_std"`` for a segment. Names consist of ASCII letters,
            digits and ``_ . - /``, which MLflow accepts. If the average is not the
            mean, the name also contains the average: ``"NDCG_at_10_median/mean"``. NaN
            values and columns of text are left out.

        Raises
        ------
        ValueError
            If the names of two measures, segments or systems become equal when all
            characters except ASCII letters, digits and ``_ . -`` are replaced, or if no
            character of a name is left.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> summary = evaluate([0, 1, 1], [2, 2, 1], measures=["p@1", "ap"]).summary()
        >>> metrics = summary.to_metrics()
        >>> metrics["P_at_1/mean"], metrics["P_at_1/best"], metrics["P_at_1/worst"]
        (0.5, 1.0, 0.0)
        """
        average = self.about.get("average", "macro")
        suffix = "" if average == "macro" else f"_{average}"
        names = [_plain_names(key, self.columns[key]) for key in self.keys]
        metrics = {}
        for i, row in enumerate(zip(*names, strict=True)):
            prefix = "/".join(row) + suffix
            for figure, values in self.columns.items():
                if figure in self.keys or isinstance(values[i], str):
                    continue
                if not np.isnan(values[i]):
                    metrics[f"{prefix}/{figure}"] = float(values[i])
        return metrics

    def _columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def _tables(self) -> list[text_tables.Table]:
        return self._show(self)

    def _framed(self, method: str) -> list[text_tables.Table]:
        """Return the tables for a result whose `method` returns this summary."""
        tables = []
        for table in self._tables():
            tables.append(replace(table, frame=f"{method}.{table.frame}"))
        return tables


def _plain_names(key: str, values: Array) -> list[str]:
    """Replace the characters that experiment trackers refuse in names."""
    names = [str(value) for value in values.tolist()]
    spelled = [name.replace("@", "_at_") for name in names]
    plain = [_NOT_PLAIN.sub("_", name).strip("_") for name in spelled]
    if len(set(plain)) != len(set(values.tolist())) or not all(plain):
        raise ValueError(
            f"{key}s must have names that contain ASCII letters or digits, and differ "
            "in these characters, got "
            f"{', '.join(dict.fromkeys(names))}"
        )
    return plain


#: Fields of `RankingReport` with a value for each query and measure. `to_pandas`
#: returns a column for each of these fields.
COLUMNS = (*_report_table.VALUES, "std_is_estimate")
#: All fields of `RankingReport` with a row for each query.
_FIELDS_BY_QUERY = (*COLUMNS, "undefined", "qid", "query_weight", "segment", "cluster")


@dataclass(frozen=True, eq=False, repr=False)
class RankingReport(html.Result):
    """Values of a ranking for each query and measure.

    Printing a report shows its `summary`. ``to_pandas(settings=True)`` returns a table
    with the whole content of a report. The table can be saved, or concatenated with the
    tables of reports on other queries. `from_frame` makes a report from the table.

    Attributes
    ----------
    measures : tuple of str
        Canonical names, such as ``"NDCG@10"``.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst, std : ndarray of shape (n_queries, n_measures)
        Mean, most favourable value, least favourable value and standard deviation over
        the orders of tied documents. Values of queries that are left out are NaN. ESL
        and Rank leave out each query with fewer than i relevant documents retrieved,
        unless ``zero_relevance`` is "raise".
    sampling_error : ndarray of shape (n_queries, n_measures)
        Standard error of `expected` where `expected` is estimated from sampled orders,
        and 0 where `expected` is exact.
    std_is_estimate : ndarray of shape (n_queries, n_measures), bool
        Whether `std` is estimated from sampled orders.
    chance, ideal : ndarray of shape (n_queries, n_measures)
        Expected and best value if all documents of the query are retrieved and tie. No
        ranking of all documents has a better value than the ideal. If fewer documents
        are retrieved, the value of some measures, such as P without a cut-off, can be
        better than the ideal. Values of queries that are left out are NaN.
    undefined : ndarray of shape (n_queries, n_measures), bool
        Whether the measure is undefined for the query. If so, ``zero_relevance`` or the
        convention sets the value, or the value is NaN.
    n_undefined : ndarray of shape (n_measures,), int
        Number of queries where the measure is undefined.
    bounds : ndarray of shape (n_measures, 2)
        Lower and upper bound of the values of each measure: [0, 1] for normalised
        measures, [0, inf] for sums such as DCG, and [i, inf] for Rank. The bounds
        include the value of queries where the measure is undefined. Intervals stay
        within these bounds.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages.
    segment : ndarray of shape (n_queries,) or None
        Segment of each query, as given to `evaluate`.
    cluster : ndarray of shape (n_queries,) or None
        Cluster of each query, as given to `evaluate`. In intervals, the queries of a
        cluster count as one observation.
    options : dict
        ``zero_relevance``, ``unjudged`` and ``convention`` as given to `evaluate`.

    See Also
    --------
    evaluate : The function that returns this report.
    evaluate_batches : Returns the same report for rows that come in batches.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> report = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=["a", "a", "b", "b"],
    ...                   measures="rr")
    >>> report.qid
    array(['a', 'b'], dtype='<U1')
    >>> report.expected[:, 0], report.worst[:, 0]
    (array([1.  , 0.75]), array([1. , 0.5]))
    """

    measures: tuple[str, ...]
    qid: Array
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    std: FloatArray
    sampling_error: FloatArray
    std_is_estimate: BoolArray
    chance: FloatArray
    ideal: FloatArray
    undefined: BoolArray
    bounds: FloatArray
    query_weight: FloatArray | None = None
    segment: Array | None = None
    cluster: Array | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def n_undefined(self) -> IntArray:
        return self.undefined.sum(axis=0)

    def summary(
        self,
        average: str = "macro",
        *,
        interval: str = "t",
        n_resamples: int = 9999,
        random_state: Any = 0,
    ) -> Summary:
        """Average the values of each measure over queries.

        Parameters
        ----------
        average : {"macro", "geometric", "median"}, default="macro"
            Average of the expected values: the mean ("macro"), the geometric mean with
            values below 1e-5 raised to 1e-5 ("geometric"), or the median ("median",
            Fuhr 2017), weighted as in `ranking_score`. The interval of the geometric
            mean is computed from the mean logarithm. The coverage of this interval is
            below 95% if values near 0 are rare. For example, if 8% of the values of RR
            are 0, the coverage is 58% for 10 queries and 92% for 50 queries.
        interval : {"t", "bootstrap"}, default="t"
            Interval of the average. "t" is Student's t interval, cut off at `bounds`.
            If all queries have the same value, the spread cannot be estimated, so no
            interval is reported. However, if there are at least two queries or, with
            clusters, two clusters, and the common value is one of two finite bounds of
            the measure, such as P@1 = 1, the exact binomial interval is reported
            (Clopper and Pearson 1934). For a median, the "t" interval is instead
            computed from the ranks of the values, and no interval is reported for fewer
            than six queries, or with weights or clusters. "bootstrap" is the BCa
            interval of `scipy.stats.bootstrap` (Efron 1987). Queries, or clusters of
            queries, are resampled with their weights, and the interval stays within the
            range of their values. If all values are equal, the rules for "t" apply.
            With few queries, the bootstrap interval is usually shorter than the t
            interval, and covers the true average less often. For medians, no bootstrap
            interval is available.
        n_resamples : int, default=9999
            Number of bootstrap samples, at least 2.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the bootstrap. Equal seeds give equal intervals, whatever the order
            of rows.

        Returns
        -------
        Summary
            A row for each ``measure``, with these columns:

            - ``mean`` is the average of the expected values. ``best``, ``worst``,
              ``chance`` and ``ideal`` are averages of the attributes with these names.
            - ``tie_std`` is the standard deviation, over the orders of tied documents,
              of the mean over queries. For other averages, ``tie_std`` is NaN.
            - ``lift`` is (mean - chance) / (ideal - chance), or 0 if chance and ideal
              are equal.
            - ``interval_low`` and ``interval_high`` are the ends of the 95% confidence
              interval of the average, or NaN if no interval is reported.
            - ``sampling_error`` is the standard error of a mean that is estimated from
              sampled orders, 0 if the mean is exact, and NaN for other averages. Means
              are estimated only for long ties under IPrec and IAP.
            - ``n_estimated`` is the number of queries whose standard deviation over the
              orders of ties is estimated.
            - ``n_queries`` is the number of queries in the average.
            - ``n_effective`` is the effective number of queries: the squared sum of
              the weights, divided by the sum of the squared weights (Kish 1965). With
              clusters, ``n_effective`` is the effective number of clusters. The t
              interval is computed with n_effective - 1 degrees of freedom. If
              n_effective is below 2, no t interval is reported.

        Raises
        ------
        ValueError
            If an option is unknown, if `n_resamples` is not an integer >= 2, or if a
            bootstrap interval of a median is requested.

        Warns
        -----
        UndefinedMetricWarning
            If every query has weight 0, as can happen in a part of the data. Averages
            are then NaN.
        UserWarning
            For means and geometric means of at least two queries, if all values are
            equal, or if the interval may be too short because

            - there are fewer than 200 queries, and more than 80% of the values are
              equal;
            - there are fewer queries than 25 times the squared skewness of the values
              (Cochran 1977, p. 42);
            - the average is a geometric mean of fewer than 200 queries, or of fewer
              than 400 queries without a value near 0;
            - the weights of queries differ, and the effective number of queries is
              below 20.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([1, 0, 0, 1], [2, 1, 1, 1], qid=[1, 1, 2, 2],
        ...                   measures="rr")
        >>> report.summary("median").mean
        array([0.875])
        """
        checks.check_choice(average, "average", ("macro", "geometric", "median"))
        checks.check_choice(interval, "interval", ("t", "bootstrap"))
        checks.check_count(n_resamples, "n_resamples", least=2)
        if average == "median" and interval != "t":
            raise ValueError(
                "interval must be 't' with average='median', whose interval comes from "
                f"the ranks of the values, got {interval!r}"
            )
        if self.query_weight is not None and not self.query_weight.any():
            words.warn(
                "every query has weight 0, so averages are NaN", UndefinedMetricWarning
            )
        named = zip(self.measures, self.expected.T, strict=True)
        _interval_warnings.warn_of_intervals(named, average, self.query_weight)
        return self._summary(average, interval, n_resamples, random_state)

    def _summary(
        self, average: str, interval: str, n_resamples: int, random_state: Any
    ) -> Summary:
        """Average over queries, without the warnings of `summary`.

        `by_segment` warns about all segments together. A segment of weight 0 needs no
        warning.
        """
        weight = self.query_weight
        cluster = self.cluster
        bounds = self.bounds
        mean, ends = average_interval(self.expected, average, weight, bounds, cluster)
        ends = ends.clip(bounds[:, :1], bounds[:, 1:])
        if interval == "bootstrap":
            seed = checks.seed_of(random_state)
            ends = self._bootstrap(average, n_resamples, seed)
        averages = {}
        for name in ("best", "worst", "chance", "ideal"):
            values = getattr(self, name)
            averages[name], _ = average_interval(values, average, weight, bounds)
        # The standard deviation follows from a sum over queries only for the mean.
        scale = 1.0 if average == "macro" else np.nan
        counts = QueryMoments.from_values(self.expected, weight).count
        observations = cluster_means(self.expected, weight, cluster)
        n_effective = QueryMoments.from_values(*observations).effective()
        columns = {"measure": np.array(self.measures), "mean": mean}
        columns["best"] = averages["best"]
        columns["worst"] = averages["worst"]
        columns["tie_std"] = scale * stds_of_means(self.std, weight)
        columns["chance"] = averages["chance"]
        columns["ideal"] = averages["ideal"]
        columns["lift"] = lift(mean, averages["chance"], averages["ideal"])
        columns["interval_low"] = ends[:, 0]
        columns["interval_high"] = ends[:, 1]
        columns["sampling_error"] = scale * stds_of_means(self.sampling_error, weight)
        columns["n_estimated"] = self.std_is_estimate.sum(axis=0)
        columns["n_queries"] = counts.astype(np.int64)
        columns["n_effective"] = n_effective
        count = counts.max()
        effective = n_effective.min()
        if counts.min() < count:
            # Measures that skip queries have different numbers of queries. The number
            # of all queries is stated instead.
            weights = np.ones(len(self.qid)) if weight is None else weight
            count = np.count_nonzero(weights)
            effective = effective_number(weights, cluster)
        about = {"average": average}
        about["queries"] = _text.queries_in_words(count, effective, cluster)
        about["undefined"] = self._undefined_in_words(average)
        return Summary(columns, ("measure",), about, _text.table_of_means)

    def _undefined_in_words(self, average: str, can_skip: bool = True) -> str:
        """State for how many queries measures are undefined, and the other averages."""
        weight = self.query_weight
        undefined = self.undefined
        if weight is not None:
            undefined = undefined & (weight > 0)[:, None]
        defined = np.where(undefined, np.nan, self.expected)
        means, _ = average_interval(defined, average, weight, self.bounds)
        names = self.measures
        if len(names) == 1:
            # A single measure needs no name.
            names = (words.AVERAGES[average],)
        texts = []
        for name, mean in zip(names, means, strict=True):
            texts.append(f"{name} {words.number(mean)}")
        # A measure has the same value for all queries where the measure is undefined.
        values = np.where(undefined, self.expected, -np.inf)
        values = values.max(axis=0, initial=-np.inf)
        if self.options.get("convention") is not None:
            can_skip = False
        counts = undefined.sum(axis=0)
        return _text.undefined_in_words(
            self.measures, counts, values, texts, can_skip=can_skip
        )

    def by_segment(
        self,
        average: str = "macro",
        *,
        interval: str = "t",
        n_resamples: int = 9999,
        random_state: Any = 0,
    ) -> Summary:
        """Average over the queries of each segment, and over all queries.

        Parameters
        ----------
        average, interval, n_resamples, random_state
            As in `summary`.

        Returns
        -------
        Summary
            A row for each ``segment`` (in ascending order) and ``measure``. The other
            columns are the columns of `summary`, computed over the queries of the
            segment. The attribute ``overall`` is the `summary` of all queries.

        Raises
        ------
        ValueError
            As in `summary`. Also if the report contains no segments.

        Warns
        -----
        UndefinedMetricWarning, UserWarning
            As in `summary`, for all queries and for the queries of each segment. A
            segment in which every query has weight 0 causes no warning.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]],
        ...                   segment=["short", "long", "long"], measures="rr")
        >>> print(report.by_segment(interval="bootstrap"))
        RR     queries   mean  worst   best  tie_std  chance    lift    95% interval
        ----------------------------------------------------------------------------
        long         2  0.625  0.500  0.750    0.125   0.750  -0.500  [0.500, 0.750]
        short        1  1.000  1.000  1.000    0.000   0.750   1.000          [-, -]
        all          3  0.750  0.667  0.833    0.083   0.750   0.000  [0.500, 1.000]
        """
        if self.segment is None:
            raise ValueError("segment must be given when the report is made, got None")
        seed = checks.seed_of(random_state)
        overall = self.summary(
            average, interval=interval, n_resamples=n_resamples, random_state=seed
        )
        names, queries = checks.queries_by_segment(self.segment)
        summaries = []
        for chosen in queries:
            part = self._select(chosen)
            summaries.append(part._summary(average, interval, n_resamples, seed))
        named = zip(self.measures, self.expected.T, strict=True)
        _interval_warnings.warn_of_intervals(
            named, average, self.query_weight, (names, queries)
        )
        columns = {"segment": np.repeat(names, len(self.measures))}
        for name in overall.columns:
            values = [summary.columns[name] for summary in summaries]
            columns[name] = np.concatenate(values)
        about = {"average": average, "overall": overall}
        return Summary(columns, ("segment", "measure"), about, _text.tables_by_segment)

    def to_pandas(self, *, settings: bool = False) -> Any:
        """Return a `pandas.DataFrame` with a row for each query and measure.

        Parameters
        ----------
        settings : bool, default=False
            Set ``settings=True`` to add the columns ``cluster`` (if there are
            clusters), ``undefined``, ``query_weight`` (NaN without weights),
            ``zero_relevance``, ``unjudged`` and ``convention``. The table then contains
            the whole report, and `from_frame` rebuilds the report from the table. The
            table may be saved as Parquet or CSV, or concatenated with the tables of
            reports on other queries.

        Returns
        -------
        pandas.DataFrame
            The columns are ``qid``, ``segment`` (if there are segments), ``measure``,
            ``expected``, ``best``, ``worst``, ``std``, ``chance``, ``ideal``,
            ``sampling_error`` and ``std_is_estimate``.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> report = evaluate([1, 0, 0], [2, 1, 1], qid=["a"] * 3, measures="ap")
        >>> report.to_pandas()[["qid", "measure", "expected"]]
          qid measure  expected
        0   a      AP       1.0
        """
        table = super().to_pandas()
        if not settings:
            return table
        n_measures = len(self.measures)
        weight = self.query_weight
        if weight is None:
            weight = np.full(len(self.qid), np.nan)
        if self.cluster is not None:
            table["cluster"] = np.repeat(self.cluster, n_measures)
        table["undefined"] = self.undefined.ravel()
        table["query_weight"] = np.repeat(weight, n_measures)
        return table.assign(**self.options)

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """Make a report from a table that ``to_pandas(settings=True)`` has returned.

        The table may have been saved as Parquet or CSV and read again, or concatenated
        from the tables of reports on different queries.

        Parameters
        ----------
        frame : data frame
            A table from pandas, polars, Arrow, DuckDB or another library that narwhals
            supports. Rows may be in any order. The columns ``segment`` and ``cluster``
            are optional, and columns that `to_pandas` does not return are ignored.

        Returns
        -------
        RankingReport
            A report with the same values, to the last bit. Queries and measures are
            in order of first appearance.

        Raises
        ------
        ValueError
            If a required column is absent, if a column contains text in place of
            numbers, if a measure cannot be parsed, if there is no row or more than one
            row for a pair of query and measure, if a value is missing although the
            measure is defined, if an option or a weight is invalid, if
            ``zero_relevance``, ``unjudged`` or ``convention`` differs between rows, if
            a segment or a cluster is missing, or if the weight, the segment or the
            cluster differs within a query.

        See Also
        --------
        evaluate_batches : Makes one report from several tables of documents.

        Notes
        -----
        Measures are parsed from their names in the column ``measure``. A measure whose
        gain or discount is a function cannot be parsed, so use tables or sequences in
        place of functions. If you have defined measure classes, import their modules
        before the call.

        CSV files do not contain types. If ids are text such as ``"007"``, read the ids
        as text: ``pandas.read_csv(path, dtype={"qid": str})``. pandas before version 3
        rounds numbers from CSV unless ``float_precision="round_trip"`` is set.

        Examples
        --------
        >>> import pandas as pd
        >>> from tieaware_sklearn import RankingReport, evaluate
        >>> one = evaluate([1, 0], [2, 1], qid=["a", "a"], measures="rr")
        >>> two = evaluate([1, 0], [3, 3], qid=["b", "b"], measures="rr")
        >>> tables = [report.to_pandas(settings=True) for report in (one, two)]
        >>> RankingReport.from_frame(pd.concat(tables)).summary().mean
        array([0.875])
        """
        return cls(**_report_table.read_fields(frame))

    def _select(self, queries: IndexArray) -> RankingReport:
        """Return the report on some of the queries."""
        fields = {}
        for name in _FIELDS_BY_QUERY:
            array = getattr(self, name)
            if array is not None:
                fields[name] = array[queries]
        return replace(self, **fields)

    def _bootstrap(self, average: str, n_resamples: int, seed: int) -> FloatArray:
        """Return bootstrap intervals of the averages, of shape (n_measures, 2)."""
        values = self.expected
        bounds = self.bounds
        if average == "geometric":
            values = floored_logs(values)
            bounds = floored_logs(bounds)
        values, weight = cluster_means(values, self.query_weight, self.cluster)
        if weight is None:
            weight = np.ones(len(values))
        weights = np.broadcast_to(weight.T, values.T.shape)
        intervals = []
        for j, column in enumerate(values.T):
            interval = bootstrap_interval(
                column,
                weights[j],
                n_resamples=n_resamples,
                random_state=seed,
                bounds=bounds[j],
            )
            intervals.append(interval)
        ends = np.array(intervals)
        return np.exp(ends) if average == "geometric" else ends

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in COLUMNS}
        keys = {"qid": self.qid, "measure": self.measures}
        columns = html.by_cell(keys, values)
        if self.segment is None:
            return columns
        segment = np.repeat(self.segment, len(self.measures))
        return {"qid": columns["qid"], "segment": segment, **columns}

    def _whole(self) -> list[text_tables.Table]:
        tables = self._tables()
        if self.segment is not None:
            tables += self.by_segment()._framed("by_segment()")
        return tables

    def _conclusion(self) -> list[str]:
        return _text.conclusion(self.summary())


def concatenate(reports: Sequence[RankingReport]) -> RankingReport:
    """Join reports on different queries, with the same measures and options."""
    fields: dict[str, Any] = {}
    for name in _FIELDS_BY_QUERY:
        values = [getattr(report, name) for report in reports]
        if values[0] is None:
            continue
        kinds = {array.dtype.kind for array in values}
        if len(kinds) > 1:
            # NumPy would turn numbers into strings, or large integers into floats.
            values = [array.astype(object) for array in values]
        fields[name] = np.concatenate(values)
    return replace(reports[0], **fields)
