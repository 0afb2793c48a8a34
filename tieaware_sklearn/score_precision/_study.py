"""The study itself: coarser scores, measured and tested."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.progress import show_progress
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    check_choice,
    check_flag,
    check_qid,
    check_share,
    is_number,
)
from ..comparison._correlation import order_agreement
from ..comparison._official import score_ties
from ..comparison._systems import MeasuredSystems, pairs_of, warn_undefined
from ..comparison._tests import TESTS, QueryLosses, paired_test
from ..evaluation._averages import mean
from ..measures import Measure, parse_measure
from ._bands import EXISTING_TIES, in_order
from ._coarseness import Coarseness, parse_coarseness, several
from ._result import PrecisionStudy, level_means

DEFAULT_COARSENESS = ("rho=1.1", "rho=1.2", "rho=1.4", "rho=1.7", "rho=2.0")
DEFAULT_KEEP = (0.99, 0.97, 0.95)
SCALES = ("query", "all")


class CoarseValues(NamedTuple):
    """Values of a system by query, and how fine its scores are."""

    values: dict[str, FloatArray]
    bits: float
    tied_documents: float


class CoarseSystems:
    """Makes the scores of systems coarser and measures them."""

    def __init__(
        self,
        systems: MeasuredSystems,
        existing_ties: str,
        scale: str,
        ties: str = "expected",
    ):
        check_choice(existing_ties, "existing_ties", EXISTING_TIES)
        check_choice(scale, "scale", SCALES)
        self._systems = systems
        self._existing_ties = existing_ties
        self._scale = scale
        self.ties = ties
        self._exact = systems.scores
        if existing_ties == "order":
            # what bands of documents as they stand make coarser is this very order
            self._exact = [in_order(one, systems.queries) for one in systems.scores]
        self._together = check_qid(None, n_rows=systems.queries.n_rows)

    def measure(
        self, system: int, coarseness: Coarseness | None, *statistics: str
    ) -> CoarseValues:
        """`expected` and these statistics; no coarseness leaves scores exact."""
        systems, queries = self._systems, self._systems.queries
        scores = self._exact[system]
        if coarseness is not None:
            by_query = coarseness.by_query(self._scale)
            scores = coarseness.apply(
                systems.scores[system],
                queries if by_query else self._together,
                existing_ties=self._existing_ties,
            )
        found = systems.values(scores, statistics, self.ties, column=system)
        values = {name: column[:, 0] for name, column in found.items()}
        ties = score_ties(systems.ranked(scores), queries)
        return CoarseValues(values, ties.bits, ties.tied_documents)


def precision_study(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    measure: str | Measure = "ndcg@10",
    coarseness: str | Iterable[str] = DEFAULT_COARSENESS,
    existing_ties: str = "keep",
    scale: str = "query",
    ties: str | Sequence[str] = "expected",
    external: Mapping[str, Any] | None = None,
    keep: Sequence[float] = DEFAULT_KEEP,
    alpha: float = 0.05,
    min_share: float = 0.0,
    test: str = "t",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Any:
    """Measure how coarser scores change the evaluation of systems.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels: finite and >= 0. NaN is unjudged.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        The scores of each system for the same documents, as in `compare_systems`; -inf
        for a document that a system does not retrieve.
    qid : array-like of shape (n_documents,), optional
        Query of each document.
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    coarseness : str or list of str, default=("rho=1.1", "rho=1.2", "rho=1.4", \
"rho=1.7", "rho=2.0")
        Levels of coarseness, as in `round_scores`.
    existing_ties : {"keep", "order"}, default="keep"
        As in `band_scores`. With "order", the exact ranking is in the order of rows,
        too, and thus has no ties, so that bands lose at most `worst_case_loss` of a
        query. Ties that rounding makes are averaged over.
    scale : {"query", "all"}, default="query"
        The range of evenly spaced levels: between the extreme scores of each query, or
        of all queries of a system.
    ties : str or list of str, default="expected"
        Treatment of ties, as in `compare_systems`, of the exact and of the coarse
        scores alike.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`. A key of shape
        (n_documents, n_systems) has a column for each system.
    keep : list of float, default=(0.99, 0.97, 0.95)
        Shares of the mean to keep.
    alpha : float, default=0.05
        Significance level of all tests.
    min_share : float, default=0.0
        Smallest mean, as a share of the best one, of a system that is studied (the
        largest mean is the inverse where lower is better).
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Two-tailed paired test for pairs of systems.
    zero_relevance, unjudged
        As in `ranking_score`.
    n_jobs : int, optional
        Number of threads over blocks of queries; no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    PrecisionStudy or dict of str to PrecisionStudy
        The values, tests and correlations at each level; by treatment, if `ties` is a
        list.

    Raises
    ------
    ValueError
        As in `compare_systems`, `band_scores` and `round_scores`, and if a level is
        repeated or a share is outside (0, 1].

    See Also
    --------
    tieaware_sklearn.optuna.ScorePrecisionObjective : Searches for the coarsest level.
    tieaware_sklearn.score_precision.worst_case_loss : The largest loss by bands for a
        ranking without ties, and so for any with ``existing_ties="order"``.

    Notes
    -----
    The study is that of Yang, Moffat and Turpin, "How precise does document scoring
    need to be?", AIRS 2016, section 4: a system is not inferior at 99% if a one-tailed
    paired t test rejects that its coarse mean is at most 0.99 of its exact mean. They
    take documents with tied exact scores in the order of rows
    (``existing_ties="order"``), and measure one order of the ties that bands make; here
    the value is the mean over all orders.

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
    check_share(alpha, "alpha")
    check_choice(test, "test", TESTS)
    check_flag(progress, "progress")
    shares = tuple(several(keep, "keep", _share_to_keep))
    if not is_number(min_share, least=0, most=1):
        raise ValueError(f"min_share must be a number in [0, 1], got {min_share!r}")
    levels = several(coarseness, "coarseness", parse_coarseness)
    systems = MeasuredSystems(
        y_true, y_score, qid, [parse_measure(measure)],
        zero_relevance, unjudged, n_jobs, external,
    )  # fmt: skip
    treatments = systems.rules.check(ties)

    def study(treatment: str) -> PrecisionStudy:
        measured = CoarseSystems(systems, existing_ties, scale, treatment)
        return _study(
            systems, measured, levels, shares, float(alpha), min_share, test, progress
        )

    if isinstance(ties, str):
        return study(ties)
    return {treatment: study(treatment) for treatment in treatments}


def _study(
    systems: MeasuredSystems,
    measured: CoarseSystems,
    levels: Sequence[Coarseness],
    shares: tuple[float, ...],
    alpha: float,
    min_share: float,
    test: str,
    progress: bool,
) -> PrecisionStudy:
    """The study under one treatment of ties."""
    (measured_by,) = systems.measures
    up = measured_by.greater_is_better
    ends = ("best", "worst")
    exact = [measured.measure(j, None, *ends) for j in range(len(systems.names))]
    kept = _kept([mean(one.values["expected"]) for one in exact], min_share, up)
    numbers = np.flatnonzero(kept).tolist()
    cells = list(itertools.product(levels, numbers))
    found = [exact[j] for j in numbers] + [
        measured.measure(j, level, *ends)
        for level, j in show_progress(cells, progress, len(cells), "ranking")
    ]
    shape = len(levels) + 1, len(numbers)
    by_query = (*shape, systems.queries.n_queries)
    values = {
        name: np.reshape([one.values[name] for one in found], by_query).swapaxes(1, 2)
        for name in ("expected", *ends)
    }
    expected = values["expected"]
    averages = level_means(expected)
    warn_undefined(systems.asked, expected[:1])
    pairs = pairs_of(len(numbers))
    # whatever order the rows came in
    by_id = expected[:, systems.queries.sorted()]
    difference, pvalues = _pairwise(by_id, pairs, test)
    tau_b, tau_ap = np.array(
        [order_agreement(averages[0], row, up) for row in averages]
    ).T
    return PrecisionStudy(
        measure=str(measured_by),
        greater_is_better=up,
        levels=("exact", *map(str, levels)),
        systems=tuple(itertools.compress(systems.names, kept)),
        dropped=tuple(itertools.compress(systems.names, ~kept)),
        qid=systems.queries.qid,
        **values,
        bits=np.reshape([one.bits for one in found], shape),
        tied_documents=np.reshape([one.tied_documents for one in found], shape),
        keep=shares,
        inferiority=_inferiority(expected, shares, up),
        pairs=pairs,
        difference=difference,
        pvalues=pvalues,
        tau_b=tau_b,
        tau_ap=tau_ap,
        alpha=alpha,
        test=test,
        ties=measured.ties,
    )


def _share_to_keep(share: Any) -> float:
    check_share(share, "keep", up_to_one=True)
    return float(share)


def _kept(means: list[float], share: float, up: bool) -> NDArray[np.bool_]:
    """Systems that are at least this share as good as the best one."""
    values = np.array(means)
    known = values[~np.isnan(values)]
    if share == 0 or not len(known):
        return np.ones(len(values), dtype=bool)
    # a mean that is undefined is not up to any
    if up:
        return np.asarray(values >= share * known.max())
    return np.asarray(values * share <= known.min())


def _inferiority(
    expected: FloatArray, shares: tuple[float, ...], up: bool
) -> FloatArray:
    n_levels, _, n_systems = expected.shape
    out = np.empty((n_levels, len(shares), n_systems))
    for i, j in np.ndindex(n_levels, n_systems):
        losses = QueryLosses.of(expected[0, :, j], expected[i, :, j])
        out[i, :, j] = [
            losses.inferiority(share, greater_is_better=up) for share in shares
        ]
    return out


def _pairwise(
    expected: FloatArray, pairs: IntArray, test: str
) -> tuple[FloatArray, FloatArray]:
    """Mean differences and p-values of pairs, over the queries that both have."""
    difference, pvalues = np.full((2, len(expected), len(pairs)), np.nan)
    for i, p in np.ndindex(difference.shape):
        both = expected[i][:, pairs[p]]
        first, second = both[~np.isnan(both).any(axis=1)].T
        difference[i, p] = mean(first) - mean(second)
        pvalues[i, p] = paired_test(first - second, test).pvalue
    return difference, pvalues
