"""trec_eval's order of ties against the exact mean over all orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.exact import in_32_bits, is_missing, none_for_masked, show
from .._engine.qid_column import array_of, warn_one_query
from .._engine.validation import (
    check_count,
    check_flag,
    check_length,
    check_share,
    is_retrieved,
)
from ..evaluation._averages import means
from ..evaluation._tie_rules import TieRules
from ..measures import Measure
from ..measures._parse import parse_measures
from ._comparison_result import STATISTICS, SystemComparison
from ._measured_systems import MeasuredSystems, check_baselines, pairs_with
from ._official_result import OfficialVsExact, changes_of
from ._order_agreement import order_agreement
from ._pvalues_over_orders import over_orders
from ._systems import check_options, compared
from ._tie_statistics import score_ties

#: the two treatments compared
OFFICIAL, EXACT = "official", "expected"


def official_vs_exact(
    y_true: ArrayLike,
    y_score: Any,
    docno: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = ("map", "ndcg_cut_10", "P_10"),
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alpha: float = 0.05,
    n_orders: int = 1000,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    n_jobs: int | None = None,
    progress: bool = False,
) -> OfficialVsExact:
    """Compare systems by trec_eval's rule for ties and by exact means.

    trec_eval ranks documents with equal scores by descending document id. The
    function shows which means, which order of systems and which significant
    differences depend on that.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels, finite and >= 0. NaN means that a document is unjudged.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems)
        Scores of each system, as in `compare_systems`. They are compared as 32-bit
        floats under both rules, as trec_eval does.
    docno : array-like of shape (n_documents,)
        Document ids, strings or bytes, compared as bytes. Numbers are refused, because
        "9" comes after "10" there; make them strings.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    measures : list of str or Measure, default=("map", "ndcg_cut_10", "P_10")
        Names of measures, or `Measure` objects; see `parse_measure`, which also knows
        trec_eval's names. One name differs: "ndcg" has exponential gains, and
        trec_eval's ndcg is "ndcg(gain=linear)".
    baseline : str or list of str, optional
        Systems with which all others are compared; by default all pairs.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Two-sided test of the differences per query, as in `compare_systems`.
    alpha : float, default=0.05
        Significance level. p-values are not corrected for the number of pairs;
        `compare_systems` does that.
    n_orders : int, default=1000
        Number of orders of ties to draw, as in `pvalues_over_orders`.
    n_resamples, random_state
        As in `pvalues_over_orders`.
    zero_relevance, unjudged
        As in `ranking_score`.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). No result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    OfficialVsExact

    Raises
    ------
    ValueError
        As in `compare_systems`; for fewer than two systems; and for document ids that
        are no strings, are missing or are not one per row.

    Warns
    -----
    UndefinedMetricWarning
        If a measure is undefined for every query of a system.

    See Also
    --------
    compare_systems : The comparison under any treatment of ties.
    pvalues_over_orders : p-values over the orders of ties.
    tieaware_sklearn.plots.OfficialVsExactDisplay : Draws the result.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS 2016,
    section 2 and Figure 2, compare the official values with the mean and the range
    over the orders of ties.

    Examples
    --------
    >>> from tieaware_sklearn import official_vs_exact
    >>> relevance, qid = [1, 0, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2]
    >>> docno = ["d3", "d2", "d1", "d9", "d8", "d7"]
    >>> systems = {"ties": [1, 1, 1, 1, 1, 1], "ranks": [3, 2, 1, 2, 3, 1]}
    >>> found = official_vs_exact(relevance, systems, docno, qid=qid, measures="rr")
    >>> found.official[:, 0], found.exact[:, 0].round(4)
    (array([1.  , 0.75]), array([0.6111, 0.75  ]))
    """
    check_share(alpha, "alpha")
    check_count(n_orders, "n_orders")
    check_flag(progress, "progress")
    options = check_options(
        test, "two-sided", None, "t", 0.95, n_resamples, random_state, baseline
    )
    systems = MeasuredSystems(
        y_true, y_score, qid, parse_measures(measures), zero_relevance, unjudged, n_jobs
    )
    names = systems.names
    if len(names) < 2:
        raise ValueError(f"y_score must hold at least two systems, got {names[0]!r}")
    rule = {OFFICIAL: (_ids(docno, systems.scores), "descending")}
    systems.scores = [in_32_bits(column) for column in systems.scores]
    systems.rules = TieRules(rule, len(systems.labels), names)
    baselines = check_baselines(baseline, names)
    pairs = pairs_with(baselines, names)
    if qid is None:
        warn_one_query(
            systems.queries.n_rows, "pass qid, because the test is over queries"
        )
    found = {
        ties: systems.all_values(STATISTICS[1:], ties) for ties in (OFFICIAL, EXACT)
    }
    comparisons = compared(
        names, systems.asked, systems.queries, found, baselines, options
    )
    official, exact = (
        [comparisons[measure, ties] for measure in comparisons.measures]
        for ties in (OFFICIAL, EXACT)
    )
    both = list(zip(official, exact, strict=True))
    over = over_orders(
        systems, pairs, test=test, alpha=alpha, n_orders=n_orders,
        n_resamples=n_resamples, seed=options.seed, n_jobs=n_jobs,
        progress=progress, found=found[EXACT],
    )  # fmt: skip
    tau_b, tau_ap = np.transpose([_agreement(*pair) for pair in both])
    return OfficialVsExact(
        systems=names,
        measures=comparisons.measures,
        tied_documents=np.array(
            [
                score_ties(systems.ranked(column), systems.queries).tied_documents
                for column in systems.scores
            ]
        ),
        official=_means(official, "expected"),
        exact=_means(exact, "expected"),
        worst=_means(exact, "worst"),
        best=_means(exact, "best"),
        tau_b=tau_b,
        tau_ap=tau_ap,
        pairs=pairs,
        change=np.array([changes_of(*pair, alpha) for pair in both]),
        comparisons=comparisons,
        share=over.share,
        share_error=over.share_error,
        smallest=over.smallest,
        largest=over.largest,
        alpha=float(alpha),
    )


def _ids(docno: Any, scores: Sequence[NDArray[Any]]) -> Any:
    """Document ids that compare as bytes: numbers would compare as numbers."""
    given = none_for_masked(docno)
    array = array_of(given)
    if array.ndim != 1:
        raise ValueError(f"docno must be 1-dimensional, got shape {array.shape}")
    check_length(array, len(scores[0]), "docno")
    values = given if isinstance(given, list) else array.tolist()
    retrieved = np.any([is_retrieved(column) for column in scores], axis=0)
    for row, one in enumerate(values):
        if isinstance(one, (str, bytes)):
            continue
        if not is_missing(one):
            raise ValueError(
                "docno must hold strings, which are compared as bytes, got "
                f"{show(one)} in row {row}"
            )
        if retrieved[row]:
            raise ValueError(
                "docno must not be missing where a document is retrieved, got "
                f"{one} in row {row}"
            )
    return given


def _means(comparisons: list[SystemComparison], statistic: str) -> Any:
    """Averages over queries, (n_systems, n_measures)."""
    return np.stack([means(getattr(one, statistic)) for one in comparisons], axis=-1)


def _agreement(official: SystemComparison, exact: SystemComparison) -> Any:
    return order_agreement(
        means(exact.expected),
        means(official.expected),
        bool(exact.greater_is_better[0]),
    )
