"""The study of score precision: coarser scores, measured and tested."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html, progress_bars
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..comparison import (
    _correlation,
    _pairs,
    _segmented,
    _systems,
    _tie_statistics,
)
from ..evaluation import Summary
from ..measures import Measure, parse_measure
from ..measures._values import Detail, QueryValues
from ..ranking import _blocks
from ..statistics.averages import (
    column_means,
    largest_values,
    ratios,
    without_rounding,
)
from ..statistics.inferiority import QueryLosses
from . import _bands, _coarse_ranker, _text


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionStudy(_segmented.SegmentedResult):
    """Effect of coarser scores on the evaluation of systems.

    It prints as a table of the levels. Arrays over levels begin with the exact scores:
    ``levels[0]`` is "exact". `to_pandas` returns a row for each query, level and
    system, and repeats the columns of the printed table. The column "change" of the
    table is ``"mean change"`` in `to_pandas`, whose ``"change"`` is that of the query.

    Attributes
    ----------
    measure : str
        Name of the measure.
    greater_is_better : bool
        Whether higher values of the measure are better.
    levels : tuple of str
        ``"exact"`` and the levels of coarseness, such as ``"rho=1.1"``.
    systems : tuple of str
        Names of the systems.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst : ndarray of shape (n_levels, n_queries, n_systems)
        Mean, best and worst value over orders of ties. If lower is better, the best is
        smallest.
    bits : ndarray of shape (n_levels, n_systems)
        log2 of the number of distinct scores of a query, averaged over queries.
    tied_documents : ndarray of shape (n_levels, n_systems)
        Share of retrieved documents that have the same score as another document of
        their query.
    keep : tuple of float
        Shares of the mean to keep.
    inferiority : ndarray of shape (n_levels, n_shares, n_systems)
        p-values of the hypothesis that the coarser system keeps at most this share of
        the mean, by a one-tailed paired t test.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the two systems of each pair.
    difference, pvalues : ndarray of shape (n_levels, n_pairs)
        Mean of the first system minus mean of the second, and its two-tailed p-value.
    tau_b, tau_ap : ndarray of shape (n_levels,)
        Rank correlation of the order of systems with the order by exact scores.
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
    precision_study : Returns such a study.
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

    _keys = ("coarseness", "system")
    _tables = _text.table_of_levels
    _conclusion = _text.conclusion

    def summary(self) -> Summary:
        """Average over queries for each system and level.

        Returns
        -------
        Summary
            A row for each level of ``coarseness`` and ``system``, with the averages
            ``mean`` (of the expected values), ``best`` and ``worst``. ``imprecision``
            is best minus worst as a share of the mean, NaN if the mean is 0. There are
            also ``bits``, ``tied_documents``, ``changed`` (the number of queries whose
            value changes), and the p-values of `inferiority`, such as
            ``inferiority_pvalue_0.95``.
        """
        mean, best, worst = (
            column_means(values.swapaxes(0, 1), self.query_weight)
            for values in (self.expected, self.best, self.worst)
        )
        values: dict[str, Any] = {
            "mean": mean,
            "best": best,
            "worst": worst,
            "imprecision": ratios(np.abs(best - worst), mean),
        }
        values |= {"bits": self.bits, "tied_documents": self.tied_documents}
        values["changed"] = self.changed()
        for t, keep in enumerate(self.keep):
            values[f"{_text.PVALUE}{keep!r}"] = self.inferiority[:, t]
        columns = html.by_cell(
            {"coarseness": self.levels, "system": self.systems}, values
        )
        about = {"measure": self.measure}
        return Summary(columns, self._keys, about, _text.table_of_means)

    def _figures(self) -> dict[str, Any]:
        return self.summary().columns

    def changes(self) -> FloatArray:
        """Return the change of each query: its value at each level minus its exact one.

        Returns
        -------
        ndarray of shape (n_levels, n_queries, n_systems)
        """
        return self.expected - self.expected[0]

    def changed(self) -> IntArray:
        """Count the queries whose value changes.

        Returns
        -------
        ndarray of shape (n_levels, n_systems), int
        """
        return count_changes(self.changes(), self.expected[0])

    def not_inferior(self) -> IntArray:
        """Count the systems that keep more than each share of their mean.

        The count is by p-values alone. The printed table leaves out systems with fewer
        than ten changed queries, see `precision_study`.

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
        """Return the share of pairs that differ significantly; NaN without a pair.

        This is the discriminative power of Sakai (2006).

        Returns
        -------
        ndarray of shape (n_levels,)
        """
        if not len(self.pairs):
            return np.full(len(self.levels), np.nan)
        return self.significant().mean(axis=1)

    def turned(self) -> BoolArray:
        """Return which pairs have a different winner than under exact scores.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        signs = np.sign(self.difference)
        return signs * signs[0] < 0

    def false_positives(self) -> IntArray:
        """Count the pairs that are significant under coarser but not exact scores.

        A pair that is significant under both, but in favour of different systems, also
        counts here.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        significant, turned = self.significant(), self.turned()
        return (significant & (~significant[0] | turned)).sum(axis=1)

    def false_negatives(self) -> IntArray:
        """Count the pairs that are significant under exact but not coarser scores.

        A pair that is significant under both, but in favour of different systems, does
        not count here: it is a false positive only.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        significant = self.significant()
        return (~significant & significant[0]).sum(axis=1)

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("expected", "best", "worst")}
        values["change"] = self.changes()
        shape = self.expected.shape
        for name, figures in self._of_levels().items():
            values[name] = np.broadcast_to(figures[:, None, None], shape)
        return html.by_cell(
            {"qid": self.qid, "coarseness": self.levels, "system": self.systems},
            {name: array.swapaxes(0, 1) for name, array in values.items()},
        )

    def _of_levels(self) -> dict[str, Any]:
        """Columns of the table of levels, over all systems.

        Changes of the mean and ranges are shares of it, averaged over systems.
        """
        summary, shape = self.summary().columns, self.bits.shape
        average = summary["mean"].reshape(shape)
        exact = np.broadcast_to(average[0], shape)
        changes = ratios(average - exact, exact)
        largest = np.nan_to_num(np.abs(self.changes())).max(axis=(1, 2))
        imprecision = summary["imprecision"].reshape(shape)
        n_tested, n_good = self._counts()
        passed = np.where(n_tested[:, None] > 0, n_good, np.nan)
        shares = map(_text.more, self.keep)
        figures = {
            "bits": self.bits.mean(axis=1),
            "tied": self.tied_documents.mean(axis=1),
            "mean change": column_means(changes.T),
            "most": largest,
            "range": column_means(imprecision.T),
            "changed": self.changed().min(axis=1),
            **dict(zip(shares, passed.T, strict=True)),
        }
        if len(self.pairs):
            figures["disc"] = self.discrimination()
            figures["FP"] = self.false_positives()
            figures["FN"] = self.false_negatives()
            figures["tau b"] = self.tau_b
            figures["tau AP"] = self.tau_ap
        return figures

    def _counts(self) -> tuple[IntArray, IntArray]:
        """Systems in which enough queries change, and how many of them keep a share."""
        tested = self.changed() >= _text.FEWEST
        passed = (self.inferiority <= self.alpha) & tested[:, None]
        return tested.sum(axis=1), passed.sum(axis=2)


def count_changes(changes: FloatArray, exact: FloatArray) -> IntArray:
    """Count the queries, the first axis of `exact`, whose value changes."""
    changed = np.abs(without_rounding(changes, largest_values(exact))) > 0
    return changed.sum(axis=-exact.ndim)


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
    """Values of queries by a system's coarser or exact scores, and their ties."""
    checks.check_choice(existing_ties, "existing_ties", _bands.EXISTING_TIES)
    checks.check_choice(scale, "scale", ("query", "all"))
    prepared = systems.prepared
    scores, queries = systems.scores[system], prepared.queries
    if coarseness is not None:
        ranges = queries
        if not coarseness.by_query(scale):
            ranges = checks.check_qid(None, n_rows=queries.n_rows)
        scores = coarseness.apply(scores, ranges, existing_ties=existing_ties)
    elif existing_ties == "order":
        # the exact ranking has no ties then, either
        scores = _bands.in_order(scores)
    values = systems.rules.values(
        prepared,
        systems.resolved,
        scores,
        ties,
        detail,
        column=system,
        n_jobs=systems.n_jobs,
    )
    of_measure = values.apply(lambda array: array[:, 0])
    ranked = _blocks.without_dropped(scores, prepared.labels)
    return of_measure, _tie_statistics.score_ties(ranked, queries)


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
    segment: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PrecisionStudy:
    """Measure how coarser scores change the evaluation of systems.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged. In a matrix,
        each row is a query.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents, as in `compare_systems`, with -inf
        for documents that the system does not retrieve.
    qid : array-like of shape (n_documents,), optional
        Query of each document.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of matrices holds a document, as in `compare_systems`.
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    coarseness : str or list of str, default=("rho=1.1", "rho=1.2", "rho=1.4", \
"rho=1.7", "rho=2.0")
        Levels of coarseness, as in `round_scores`.
    existing_ties : {"keep", "order"}, default="keep"
        As in `band_scores`. "order" also breaks the ties of the exact ranking. Bands
        then lose at most `worst_case_loss` on a query. Values are averaged over ties
        that rounding creates.
    scale : {"query", "all"}, default="query"
        Range of evenly spaced levels: the extreme scores of each query, or of all
        queries of a system.
    ties : str, default="expected"
        Treatment of ties, as in `compare_systems`, for exact and coarse scores.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`. A key of shape
        (n_documents, n_systems) has a column for each system.
    top : int, optional
        Number of systems to study: those with the best exact means. By default all.
    keep : list of float, default=(0.99, 0.97, 0.95)
        Shares of the mean to keep.
    alpha : float, default=0.05
        Significance level of all tests.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Two-tailed paired test for pairs of systems.
    zero_relevance, unjudged
        As in `ranking_score`.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document, as in `compare_systems`.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        Segment of the query of each document, as in `evaluate`. `by_segment` of the
        result has the results on the queries of each segment.
    n_jobs : int, optional
        Number of threads over blocks of queries; no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    PrecisionStudy
        The values, tests and correlations at each level.

    Raises
    ------
    ValueError
        As in `compare_systems`, `band_scores` and `round_scores`, and if a share is
        outside (0, 1].

    See Also
    --------
    tieaware_sklearn.optuna.ScorePrecisionObjective : Searches for the coarsest level.
    tieaware_sklearn.score_precision.worst_case_loss : The largest loss by bands for a
        ranking without ties, or with ``existing_ties="order"``.

    Notes
    -----
    The study is that of Yang, Moffat and Turpin, "How precise does document scoring
    need to be?", AIRS 2016. A system is not inferior at 99% if a one-tailed paired t
    test rejects that its coarse mean is at most 0.99 of its exact mean. They rank
    documents with tied exact scores in the order of rows (``existing_ties="order"``).
    As here, the values of bands are means over all orders of their documents.

    The test is wrong where losses are rare: a sample that misses them shows no loss.
    Simulated at its limit with 50 queries, of which 1 to 5 changed on average, it found
    20 to 60 % of the systems not inferior, instead of 5 %. So the table prints how many
    queries change, and ``few`` in place of a count where no system has ten of them. A
    count such as ``3/4`` is of the systems that do. The p-values are there either way.

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
    shares = tuple(_coarse_ranker.several(keep, "keep", _share_to_keep))
    parse = _coarse_ranker.parse_coarseness
    levels = _coarse_ranker.several(coarseness, "coarseness", parse)
    systems = _systems.prepare_systems(
        y_true, y_score, qid, [parse_measure(measure)],
        zero_relevance, unjudged, n_jobs, query_weight, segment, mask, external,
    )  # fmt: skip
    if not isinstance(ties, str):
        raise ValueError(f"ties must be one treatment, got {ties!r}")
    systems.rules.check(ties)
    (measured_by,) = systems.resolved.measures
    up = measured_by.greater_is_better
    values_of = partial(
        coarse_values, existing_ties=existing_ties, scale=scale, ties=ties
    )
    if top is not None:
        checks.check_count(top, "top")

    def studied(systems: _systems.MeasuredSystems) -> PrecisionStudy:
        weight, queries = systems.prepared.weight, systems.prepared.queries
        exact = [values_of(systems, j, None) for j in range(len(systems.names))]
        by_system = [values.expected for values, _ in exact]
        means = column_means(np.stack(by_system, axis=1), weight)
        order = np.argsort(-means if up else means, kind="stable")
        chosen = sorted(order[:top])
        shape = len(levels) + 1, len(chosen)
        cells = list(itertools.product(levels, chosen))
        results = [exact[j] for j in chosen] + [
            values_of(systems, j, level)
            for level, j in progress_bars.show_progress(
                cells, progress, len(cells), "ranking"
            )
        ]
        # of shape (n_levels, n_queries, n_systems)
        values = QueryValues.join(
            [of_cell for of_cell, _ in results],
            lambda arrays: np.reshape(arrays, (*shape, -1)).swapaxes(1, 2),
        )
        expected = values.expected
        averages = column_means(expected.swapaxes(0, 1), weight)
        _systems.warn_undefined(systems.resolved.measures, expected[:1])
        pairs = _systems.pairs_with((), systems.names[: shape[1]])
        # by id, so that the order of rows does not matter
        bounds, by_id = systems.resolved.bounds[0], queries.sorted()
        compared = [
            _pairs.compare_pairs(
                values.apply(itemgetter(i)), pairs, options, bounds, weight, by_id
            )
            for i in range(len(expected))
        ]
        inferiority = np.empty((shape[0], len(shares), shape[1]))
        for i, j in np.ndindex(shape):
            losses = QueryLosses.from_values(
                expected[0, :, j], expected[i, :, j], weight
            )
            inferiority[i, :, j] = [
                losses.inferiority(share, greater_is_better=up) for share in shares
            ]
        taus = [_correlation.order_agreement(averages[0], row, up) for row in averages]
        tau_b, tau_ap = np.transpose(taus)
        return PrecisionStudy(
            measure=str(measured_by),
            greater_is_better=up,
            levels=("exact", *map(str, levels)),
            systems=tuple(systems.names[j] for j in chosen),
            qid=queries.qid,
            expected=values.expected,
            best=values.best,
            worst=values.worst,
            bits=np.reshape([of.bits for _, of in results], shape),
            tied_documents=np.reshape([of.tied_documents for _, of in results], shape),
            keep=shares,
            inferiority=inferiority,
            pairs=pairs,
            difference=np.array([of_pairs["difference"] for of_pairs in compared]),
            pvalues=np.array([of_pairs["pvalues"] for of_pairs in compared]),
            tau_b=tau_b,
            tau_ap=tau_ap,
            alpha=float(alpha),
            test=test,
            ties=ties,
            query_weight=weight,
        )

    return systems.with_segments(studied)


def _share_to_keep(share: Any) -> float:
    checks.check_share(share, "keep", up_to_one=True)
    return float(share)
