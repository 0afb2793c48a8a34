"""The study of score precision: coarser scores, measured and tested."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html, progress_bars
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..comparison import _correlation, _pairs, _systems, _tie_statistics
from ..evaluation import Summary
from ..measures import Measure, parse_measure
from ..measures._values import Detail, QueryValues
from ..ranking import _blocks
from ..statistics.averages import column_means, largest_values, ratios, without_rounding
from ..statistics.inferiority import QueryLosses
from . import _bands, _coarse_ranker, _text


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionStudy(html.Result):
    """Effect of coarser scores on the evaluation of systems.

    The study is printed as a table of the levels. Arrays over levels begin with the
    exact scores: ``levels[0]`` is "exact". `to_pandas` returns a row for each query,
    level and system, and repeats the values of the printed table in each row of a
    level. The column "change" of the printed table is ``"mean change"`` in `to_pandas`,
    where ``"change"`` is the change of the query.

    Attributes
    ----------
    measure : str
        Name of the measure.
    greater_is_better : bool
        Whether higher values of the measure are better.
    levels : tuple of str
        ``"exact"`` and the levels of coarseness, such as ``"rho=1.1"``.
    systems : tuple of str
        Names of the systems studied.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected : ndarray of shape (n_levels, n_queries, n_systems)
        Value of each query under the treatment `ties`. With "expected", this value is
        the mean over the orders of ties.
    best, worst : ndarray of shape (n_levels, n_queries, n_systems)
        Best and worst value of each query over the orders of ties that the treatment
        `ties` leaves open. With "expected", all orders are open. If lower values are
        better, the best value is the smallest.
    bits : ndarray of shape (n_levels, n_systems)
        log2 of the number of distinct scores of a query, averaged over the queries with
        a retrieved document.
    tied_documents : ndarray of shape (n_levels, n_systems)
        Share of retrieved documents that have the same score as another document of
        their query.
    keep : tuple of float
        Shares of the mean to keep.
    inferiority : ndarray of shape (n_levels, n_shares, n_systems)
        For each share in `keep`, p-values of the hypothesis that a system with coarser
        scores keeps at most this share of its exact mean, by a one-tailed paired t
        test. If lower values are better, the hypothesis is that the coarse mean is at
        least the exact mean divided by the share. The p-values are NaN if there are
        fewer than two queries.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the two systems of each pair.
    difference : ndarray of shape (n_levels, n_pairs)
        Mean of the first system minus mean of the second system.
    pvalues : ndarray of shape (n_levels, n_pairs)
        Two-tailed p-values of the differences, or NaN if there are fewer than two
        queries.
    tau_b, tau_ap : ndarray of shape (n_levels,)
        Rank correlations, Kendall's τ_b and τ_AP, between the order of the systems at
        each level and their order by exact scores, as in `rank_correlation`. Both are
        NaN for one system.
    alpha : float
        Significance level of the tests.
    test : str
        Name of the test for pairs.
    ties : str
        Treatment of ties, as given to `precision_study`.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages and tests.

    See Also
    --------
    precision_study : The function that returns this study.
    tieaware_sklearn.plots.PrecisionLossDisplay : Draws the changes of queries.
    tieaware_sklearn.plots.PairwisePValueDisplay : Draws the tests of pairs.

    Examples
    --------
    >>> from tieaware_sklearn import precision_study
    >>> study = precision_study([1, 0, 0], [3.2, 2.9, 1.0], coarseness="decimals=0")
    >>> study.levels
    ('exact', 'decimals=0')
    """

    measure: str
    greater_is_better: bool
    levels: tuple[str, ...]
    systems: tuple[str, ...]
    qid: Array
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    bits: FloatArray
    tied_documents: FloatArray
    keep: tuple[float, ...]
    inferiority: FloatArray
    pairs: IntArray
    difference: FloatArray
    pvalues: FloatArray
    tau_b: FloatArray
    tau_ap: FloatArray
    alpha: float
    test: str
    ties: str
    query_weight: FloatArray | None = None
    _undefined: Sequence[str] = ()

    _tables = _text.table_of_levels
    _conclusion = _text.conclusion

    def summary(self) -> Summary:
        """Average over queries for each system and level.

        Returns
        -------
        Summary
            A row for each level of ``coarseness`` and ``system``, with these columns:

            - ``mean``, ``best`` and ``worst`` are the means of the expected, best and
              worst values.
            - ``imprecision`` is the absolute difference between ``best`` and ``worst``
              as a share of ``mean``, or NaN if the mean is 0.
            - ``bits`` and ``tied_documents`` are the attributes with these names.
            - ``changed`` is the number of queries whose value differs from the value
              for exact scores.
            - ``inferiority_pvalue_0.95`` and similar columns, one for each share in
              `keep`, contain the p-values of `inferiority`.
        """
        mean = self._means(self.expected)
        best = self._means(self.best)
        worst = self._means(self.worst)
        values: dict[str, Any] = {"mean": mean, "best": best, "worst": worst}
        values["imprecision"] = ratios(np.abs(best - worst), mean)
        values["bits"] = self.bits
        values["tied_documents"] = self.tied_documents
        values["changed"] = self.changed()
        for index, share in enumerate(self.keep):
            values[f"{_text.PVALUE}{share!r}"] = self.inferiority[:, index]
        keys = {"coarseness": self.levels, "system": self.systems}
        columns = html.by_cell(keys, values)
        about = {"measure": self.measure}
        return Summary(columns, tuple(keys), about, _text.table_of_means)

    def _means(self, values: FloatArray) -> FloatArray:
        """Return means over queries, of shape (n_levels, n_systems)."""
        return column_means(values.swapaxes(0, 1), self.query_weight)

    def changes(self) -> FloatArray:
        """Return the value of each query at each level minus the exact value.

        Returns
        -------
        ndarray of shape (n_levels, n_queries, n_systems)
        """
        return self.expected - self.expected[0]

    def changed(self) -> IntArray:
        """Count, at each level, the queries whose value differs from the exact value.

        Returns
        -------
        ndarray of shape (n_levels, n_systems), int
        """
        return count_changes(self.changes(), self.expected[0])

    def not_inferior(self) -> IntArray:
        """Count the systems that keep significantly more than each share of their mean.

        A system counts if the p-value in `inferiority` is at most `alpha`. The printed
        table leaves out systems with fewer than ten changed queries (see
        `precision_study`).

        Returns
        -------
        ndarray of shape (n_levels, n_shares), int
        """
        return (self.inferiority <= self.alpha).sum(axis=2)

    def significant(self) -> BoolArray:
        """Return which pairs differ significantly.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        return self.pvalues <= self.alpha

    def discrimination(self) -> FloatArray:
        """Return the share of pairs that differ significantly, or NaN for one system.

        The share is the discriminative power of Sakai (2006).

        Returns
        -------
        ndarray of shape (n_levels,)
        """
        if not len(self.pairs):
            return np.full(len(self.levels), np.nan)
        return self.significant().mean(axis=1)

    def turned(self) -> BoolArray:
        """Return whether coarser scores reverse the order of each pair of systems.

        A pair with equal means, at the level or under exact scores, is not reversed.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        signs = np.sign(self.difference)
        return signs * signs[0] < 0

    def false_positives(self) -> IntArray:
        """Count the pairs that differ significantly only under coarser scores.

        A pair that differs significantly under coarser and under exact scores, but in
        favour of different systems, is also counted.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        significant, turned = self.significant(), self.turned()
        return (significant & (~significant[0] | turned)).sum(axis=1)

    def false_negatives(self) -> IntArray:
        """Count the pairs that differ significantly only under exact scores.

        A pair that differs significantly under coarser and under exact scores, but in
        favour of different systems, is not counted, because this pair is a false
        positive.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        significant = self.significant()
        return (~significant & significant[0]).sum(axis=1)

    def _columns(self) -> dict[str, Any]:
        values = {
            "expected": self.expected,
            "best": self.best,
            "worst": self.worst,
            "change": self.changes(),
        }
        shape = self.expected.shape
        for name, figures in self._level_figures().items():
            values[name] = np.broadcast_to(figures[:, None, None], shape)
        keys = {"qid": self.qid, "coarseness": self.levels, "system": self.systems}
        by_query = {name: array.swapaxes(0, 1) for name, array in values.items()}
        return html.by_cell(keys, by_query)

    def _level_figures(self) -> dict[str, Any]:
        """Return the columns of the table of levels, over all systems.

        "mean change" and "range" are shares of the mean of each system, averaged over
        systems. "most" is the largest change of any query and system, in units of the
        measure. "changed" is the smallest number of changed queries over systems.
        """
        mean = self._means(self.expected)
        exact = np.broadcast_to(mean[0], mean.shape)
        mean_changes = ratios(mean - exact, exact)
        best = self._means(self.best)
        worst = self._means(self.worst)
        imprecision = ratios(np.abs(best - worst), mean)
        changes = np.nan_to_num(np.abs(self.changes()))
        figures: dict[str, Any] = {}
        figures["bits"] = self.bits.mean(axis=1)
        figures["tied"] = self.tied_documents.mean(axis=1)
        figures["mean change"] = column_means(mean_changes.T)
        figures["most"] = changes.max(axis=(1, 2))
        figures["range"] = column_means(imprecision.T)
        figures["changed"] = self.changed().min(axis=1)
        n_tested, n_passed = self._counts()
        for index, share in enumerate(self.keep):
            passed = np.where(n_tested > 0, n_passed[:, index], np.nan)
            figures[_text.more(share)] = passed
        if len(self.pairs):
            figures["disc"] = self.discrimination()
            figures["FP"] = self.false_positives()
            figures["FN"] = self.false_negatives()
            figures["tau b"] = self.tau_b
            figures["tau AP"] = self.tau_ap
        return figures

    def _counts(self) -> tuple[IntArray, IntArray]:
        """Count the systems of each level that can be tested, and that keep each share.

        A system can be tested if enough of its queries change.
        """
        tested = self.changed() >= _text.FEWEST
        passed = (self.inferiority <= self.alpha) & tested[:, None]
        return tested.sum(axis=1), passed.sum(axis=2)


def count_changes(changes: FloatArray, exact: FloatArray) -> IntArray:
    """Count the queries, the first axis of `exact`, whose value changes."""
    # Changes that are as small as the rounding errors of these values become 0.
    sizes = np.abs(without_rounding(changes, largest_values(exact)))
    # Changes may have a first axis of levels, so the axis is counted from the end.
    return (sizes > 0).sum(axis=-exact.ndim)


DEFAULT_COARSENESS = ("rho=1.1", "rho=1.2", "rho=1.4", "rho=1.7", "rho=2.0")
DEFAULT_KEEP = (0.99, 0.97, 0.95)


def coarse_values(
    systems: _systems.MeasuredSystems,
    system: int,
    coarseness: _coarse_ranker.Coarseness | None,
    *,
    existing_ties: str,
    scale: str,
    ties: str = "expected",
    detail: Detail = Detail.RANGE,
) -> tuple[QueryValues, _tie_statistics.ScoreTies]:
    """Return values of queries by a system's coarser or exact scores, and their ties.

    Coarseness None ranks by the exact scores.
    """
    checks.check_choice(existing_ties, "existing_ties", _bands.EXISTING_TIES)
    checks.check_choice(scale, "scale", ("query", "all"))
    prepared = systems.prepared
    queries = prepared.queries
    scores = systems.scores[system]
    if coarseness is not None:
        scaling_groups = queries
        if not coarseness.by_query(scale):
            # The rows of all queries are scaled as one query.
            scaling_groups = checks.check_qid(None, n_rows=queries.n_rows)
        scores = coarseness.apply(scores, scaling_groups, existing_ties=existing_ties)
    elif existing_ties == "order":
        # The exact ranking has no ties then. `coarseness.apply` breaks ties itself.
        scores = _bands.break_ties_by_row(scores)
    values = systems.rules.values(
        prepared,
        systems.resolved,
        scores,
        ties,
        detail,
        column=system,
        n_jobs=systems.n_jobs,
    )
    # Unjudged documents that are dropped do not count as ties.
    ranked = _blocks.without_dropped(scores, prepared.labels)
    ties_of_scores = _tie_statistics.score_ties(ranked, queries)
    # There is one measure.
    return values.apply(lambda array: array[:, 0]), ties_of_scores


def precision_study(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measure: str | Measure = "ndcg@10",
    coarseness: str | Iterable[str] = DEFAULT_COARSENESS,
    existing_ties: str = "keep",
    scale: str = "query",
    ties: str = "expected",
    external: Mapping[str, Any] | None = None,
    top: int | None = None,
    keep: Sequence[float] = DEFAULT_KEEP,
    alpha: float = 0.05,
    test: str = "t",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PrecisionStudy:
    """Measure how coarser scores change the evaluation of systems.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged (see `unjudged`).
        In a matrix, each row is a query.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents, as in `compare_systems`, with -inf
        for documents that the system does not retrieve.
    qid : array-like of shape (n_documents,), optional
        Query of each document. By default, all documents belong to one query, unless
        the labels are a matrix.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices contains a document, as in `compare_systems`.
    measure : str or Measure, default="ndcg@10"
        Name of the measure, or a `Measure`, as in `parse_measure`.
    coarseness : str or list of str, default=("rho=1.1", "rho=1.2", "rho=1.4", \
"rho=1.7", "rho=2.0")
        Levels of coarseness, as in `round_scores`.
    existing_ties : {"keep", "order"}, default="keep"
        Treatment, in bands, of documents that tie by exact scores. "keep" puts all
        documents of a tie into the same band, as in `band_scores`. "order" ranks tied
        documents in the order of rows, in bands and in the exact ranking. With "order"
        and ``ties="expected"``, bands reduce the RR or RBP of a query by at most
        `worst_case_loss`. With "keep" and with "order", the ties of the coarser scores
        are treated as `ties` states.
    scale : {"query", "all"}, default="query"
        Range of evenly spaced levels: from the smallest to the largest score of each
        query ("query"), or of all queries of a system ("all").
    ties : str, default="expected"
        Treatment of ties, as in `compare_systems`, for exact and coarse scores.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`. A key of shape
        (n_documents, n_systems) contains a column for each system.
    top : int, optional
        Number of systems to study. The systems with the best exact means are chosen. By
        default, all systems are studied.
    keep : float or list of float, default=(0.99, 0.97, 0.95)
        Shares of the exact mean to keep, in (0, 1]. Each share is tested (see Notes).
    alpha : float, default=0.05
        Significance level of all tests, in (0, 1).
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Two-tailed paired test for pairs of systems.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        Treatment of documents whose label is NaN, as in `ranking_score`: raise an
        error, count the documents as not relevant, or leave them out.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document, as in `compare_systems`.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). Results do not depend on
        `n_jobs`.
    progress : bool, default=False
        Whether to show a progress bar. A progress bar requires tqdm.

    Returns
    -------
    PrecisionStudy
        The values, tests and correlations at each level.

    Raises
    ------
    ValueError
        As in `compare_systems`, `band_scores` and `round_scores`. Also if `keep` or
        `coarseness` is empty, if a share in `keep` is outside (0, 1], if `alpha` is
        outside (0, 1), or if `top` is not an integer >= 1.
    ImportError
        If ``progress=True`` and tqdm is not installed.

    Warns
    -----
    UndefinedMetricWarning
        If every query of a system is left out, because the measure is undefined. Also
        if labels are above 0, but all labels are below the `rel` of the measure.
    UserWarning
        If the arguments look wrong, as in `ranking_score`.

    See Also
    --------
    tieaware_sklearn.optuna.ScorePrecisionObjective : Searches for the coarsest level.
    tieaware_sklearn.score_precision.worst_case_loss : Returns the largest loss of RR
        and RBP by banding.

    Notes
    -----
    Yang, Moffat and Turpin describe the study in "How precise does document scoring
    need to be?", AIRS 2016. A system is not inferior at 99% if a one-tailed paired t
    test rejects the hypothesis that the coarse mean of the system is at most 0.99 of
    the exact mean (at least the exact mean divided by 0.99, if lower values are
    better). The paper ranks documents with tied exact scores in the order of rows
    (``existing_ties="order"``). In the paper, and in this function by default, the
    value of a query is the mean over all orders of the documents within bands.

    If losses are rare, the test finds too many systems not inferior, because a sample
    that misses the losses shows no loss. We simulated systems that lose exactly the
    tolerated share, with 50 queries, 1 to 5 of which change on average. The test found
    20% to 60% of these systems not inferior, instead of 5%. The printed table therefore
    shows how many queries change. The table counts only systems with at least ten
    changed queries. ``3/4`` means that three of four such systems keep more than the
    share, and ``few`` means that no system has ten changed queries. The attribute
    `inferiority` of the result contains all p-values.

    Examples
    --------
    >>> from tieaware_sklearn import precision_study
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=100, random_state=0)
    >>> text, clicks = web.data[:, 5], web.data[:, 11]
    >>> study = precision_study(
    ...     web.target,
    ...     {"text": text, "text + clicks": text + clicks},
    ...     qid=web.qid,
    ...     coarseness=["rho=1.2", "decimals=0"],
    ... )
    >>> study.levels
    ('exact', 'rho=1.2', 'decimals=0')
    >>> study.not_inferior()
    array([[2, 2, 2],
           [1, 2, 2],
           [1, 2, 2]])
    """
    checks.check_share(alpha, "alpha")
    options = _systems.check_options(test, query_weight=query_weight)
    checks.check_flag(progress, "progress")
    shares = _distinct(keep, "keep", _check_share_to_keep)
    levels = _distinct(coarseness, "coarseness", _coarse_ranker.parse_coarseness)
    systems = _systems.prepare_systems(
        y_true,
        y_score,
        qid,
        [parse_measure(measure)],
        zero_relevance,
        unjudged,
        n_jobs,
        query_weight,
        mask=mask,
        external=external,
    )
    if not isinstance(ties, str):
        raise ValueError(f"ties must be one treatment, got {ties!r}")
    systems.rules.check(ties)
    (resolved_measure,) = systems.resolved.measures
    greater_is_better = resolved_measure.greater_is_better
    values_of = partial(
        coarse_values, existing_ties=existing_ties, scale=scale, ties=ties
    )
    if top is not None:
        checks.check_count(top, "top")

    weight = systems.prepared.weight
    queries = systems.prepared.queries
    exact = []
    for j in range(len(systems.names)):
        exact.append(values_of(systems, j, None))
    exact_values = [values.expected for values, _ in exact]
    exact_means = column_means(np.column_stack(exact_values), weight)
    order = np.argsort(
        -exact_means if greater_is_better else exact_means, kind="stable"
    )
    chosen = sorted(order[:top])

    results = [exact[j] for j in chosen]
    cells = list(itertools.product(levels, chosen))
    bar = progress_bars.show_progress(cells, progress, len(cells), "ranking")
    for precision, j in bar:
        results.append(values_of(systems, j, precision))
    n_levels = len(levels) + 1
    shape = n_levels, len(chosen)

    def by_level(arrays: list[Array]) -> Array:
        """Return an array of shape (n_levels, n_queries, n_systems)."""
        return np.reshape(arrays, (*shape, -1)).swapaxes(1, 2)

    values = QueryValues.join([values for values, _ in results], by_level)
    expected = values.expected
    _systems.warn_undefined(systems.resolved.measures, expected[:1])

    inferiority = np.empty((n_levels, len(shares), len(chosen)))
    for level, j in np.ndindex(shape):
        exact_column = expected[0, :, j]
        coarse_column = expected[level, :, j]
        losses = QueryLosses.from_values(exact_column, coarse_column, weight)
        for index, share in enumerate(shares):
            pvalue = losses.inferiority(share, greater_is_better=greater_is_better)
            inferiority[level, index, j] = pvalue

    names = tuple(systems.names[j] for j in chosen)
    # Without baselines, `pairs_with` returns every pair of systems.
    pairs = _systems.pairs_with((), names)
    difference = np.empty((n_levels, len(pairs)))
    pvalues = np.empty_like(difference)
    tau_b = np.empty(n_levels)
    tau_ap = np.empty(n_levels)
    bounds = systems.resolved.bounds[0]
    # Queries are tested by id, so that the order of rows does not matter.
    by_id = queries.sorted()
    means = column_means(expected.swapaxes(0, 1), weight)
    for level in range(n_levels):
        level_values = values.apply(itemgetter(level))
        tests = _pairs.compare_pairs(
            level_values, pairs, options, bounds, weight, by_id
        )
        difference[level] = tests["difference"]
        pvalues[level] = tests["pvalues"]
        taus = _correlation.order_agreement(means[0], means[level], greater_is_better)
        tau_b[level], tau_ap[level] = taus
    bits = [statistics.bits for _, statistics in results]
    tied_documents = [statistics.tied_documents for _, statistics in results]
    return PrecisionStudy(
        measure=str(resolved_measure),
        greater_is_better=greater_is_better,
        levels=("exact", *map(str, levels)),
        systems=names,
        qid=queries.qid,
        expected=expected,
        best=values.best,
        worst=values.worst,
        bits=np.reshape(bits, shape),
        tied_documents=np.reshape(tied_documents, shape),
        keep=shares,
        inferiority=inferiority,
        pairs=pairs,
        difference=difference,
        pvalues=pvalues,
        tau_b=tau_b,
        tau_ap=tau_ap,
        alpha=float(alpha),
        test=test,
        ties=ties,
        query_weight=weight,
        _undefined=systems.prepared.undefined_note(systems.resolved),
    )


def _check_share_to_keep(share: Any) -> float:
    checks.check_share(share, "keep", up_to_one=True)
    return float(share)


def _distinct(values: Any, name: str, parse: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Return one or several values, parsed and without duplicates."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = [values]
    parsed = dict.fromkeys(map(parse, values))
    if not parsed:
        raise ValueError(f"{name} must not be empty, got {values!r}")
    return tuple(parsed)
