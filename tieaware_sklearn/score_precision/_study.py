"""The study itself: coarser scores, measured and tested."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.progress import show_progress
from .._engine.ties import FloatArray
from .._engine.validation import check_choice, check_share
from ..comparison import rank_correlation
from ..comparison._inferiority import QueryLosses
from ..comparison._measured_systems import MeasuredSystems
from ..comparison._paired_tests import TESTS, paired_test
from ..evaluation._averages import mean
from ..measures import Measure
from ._coarseness import Coarsener, parse_coarsenesses, score_detail
from ._result import PrecisionStudy, level_means

DEFAULT_COARSENESS = (1.1, 1.2, 1.4, 1.7, 2.0)
DEFAULT_TOLERANCES = (0.99, 0.97, 0.95)


def precision_study(
    y_true: ArrayLike,
    y_scores: Any,
    *,
    qid: Any = None,
    measure: str | Measure = "ndcg@10",
    coarseness: Any = DEFAULT_COARSENESS,
    existing_ties: str = "keep",
    scale: str = "query",
    tolerances: Sequence[float] = DEFAULT_TOLERANCES,
    alpha: float = 0.05,
    min_share: float = 0.0,
    test: str = "t",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    n_jobs: int | None = None,
    progress: bool = False,
) -> PrecisionStudy:
    """Make the scores of systems coarser, and see what evaluation still tells.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels: finite and >= 0. NaN is unjudged.
    y_scores : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems)
        The scores of each system for the same documents, -inf where it does not
        retrieve one, as in `compare_systems`.
    qid : array-like of shape (n_documents,), optional
        Query of each document.
    measure : str or Measure, default="ndcg@10"
        See `parse_measure`.
    coarseness : list of float, str or mapping, default=(1.1, 1.2, 1.4, 1.7, 2.0)
        Levels to try: numbers are growths of geometric bands (`band_scores`), texts
        such as ``"rho=1.1"``, ``"decimals=2"``, ``"significant=3"``,
        ``"bits=float16"``, ``"bits=8"`` or ``"levels=100"`` and mappings such as
        ``{"bits": 8}`` are parameters of `band_scores` and `round_scores`.
    existing_ties : {"keep", "order"}, default="keep"
        As in `band_scores`.
    scale : {"query", "all"}, default="query"
        Between which scores evenly spaced levels lie: the extremes of each query, or
        those of all of a system.
    tolerances : list of float, default=(0.99, 0.97, 0.95)
        Shares of the mean to keep.
    alpha : float, default=0.05
        Level of all tests.
    min_share : float, default=0.0
        Leave out systems whose mean is below this share of the best one (above its
        inverse where lower is better).
    test : {"t", "wilcoxon", "randomization"}, default="t"
        For pairs of systems, two-tailed.
    zero_relevance, unjudged
        As in `ranking_score`.
    n_jobs : int, optional
        Threads over blocks of queries; no result depends on it.
    progress : bool, default=False
        Show a progress bar (needs tqdm).

    Returns
    -------
    PrecisionStudy

    Raises
    ------
    ValueError
        As in `compare_systems`, `band_scores` and `round_scores`; for a level that
        is named twice, and shares outside of (0, 1].

    See Also
    --------
    tieaware_sklearn.optuna.ScorePrecisionObjective : Search for the coarsest level.
    tieaware_sklearn.score_precision.worst_case_loss : The most that bands can cost.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS
    2016, section 4: a system is not inferior at 99 % if a one-tailed paired t test
    rejects that its coarse mean is at most 0.99 of its exact one. Their bands take
    tied documents as they stand (``existing_ties="order"``), and they measure one
    order of ties; here it is the mean over all.

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
    shares = _check_shares(tolerances, "tolerances")
    least = 0.0
    if isinstance(min_share, bool) or min_share != 0:
        (least,) = _check_shares([min_share], "min_share")
    levels = parse_coarsenesses(coarseness)
    systems = MeasuredSystems(
        y_true, y_scores, qid, measure, zero_relevance, unjudged, n_jobs
    )
    queries = systems.queries
    coarsen = Coarsener.of(queries, existing_ties, scale)
    up = systems.measure.greater_is_better
    statistics = ("best", "worst")
    every = systems.all_values(statistics)
    kept = _kept([mean(column) for column in every["expected"].T], least, up)
    numbers = np.flatnonzero(kept).tolist()
    tables = [{name: table[:, kept] for name, table in every.items()}]
    details = [[score_detail(systems.scores[j], queries) for j in numbers]]
    bar = show_progress(
        list(itertools.product(levels, numbers)),
        progress,
        len(levels) * len(numbers),
        "ranking",
    )
    rankings = []
    for level, j in bar:
        scores = coarsen(systems.scores[j], level)
        rankings.append(
            (systems.values(scores, statistics), score_detail(scores, queries))
        )
    for start in range(0, len(rankings), len(numbers)):
        values, detail = zip(*rankings[start : start + len(numbers)], strict=True)
        tables.append(
            {name: np.column_stack([one[name] for one in values]) for name in every}
        )
        details.append(list(detail))
    expected = np.stack([table["expected"] for table in tables])
    pairs = list(itertools.combinations(range(len(numbers)), 2))
    # whatever order the rows came in
    by_id = expected[:, queries.sorted()]
    means = level_means(expected)
    if np.isnan(means[0]).any():
        systems.warn_undefined()
    tau_b, tau_ap = np.array([_agreement(means[0], row, up) for row in means]).T
    differences, pvalues = _pairwise(by_id, pairs, test)
    return PrecisionStudy(
        measure=str(systems.measure),
        greater_is_better=up,
        levels=("exact", *map(str, levels)),
        systems=tuple(systems.names[j] for j in numbers),
        dropped=tuple(itertools.compress(systems.names, ~kept)),
        qid=queries.qid,
        expected=expected,
        best=np.stack([table["best"] for table in tables]),
        worst=np.stack([table["worst"] for table in tables]),
        bits=np.array([[one.bits for one in level] for level in details]),
        tied_documents=np.array(
            [[one.tied_documents for one in level] for level in details]
        ),
        tolerances=shares,
        inferiority=_inferiority(expected, shares, up),
        pairs=np.array(pairs, dtype=np.int64).reshape(len(pairs), 2),
        differences=differences,
        pvalues=pvalues,
        tau_b=tau_b,
        tau_ap=tau_ap,
        alpha=float(alpha),
        test=test,
    )


def _check_shares(values: Any, name: str) -> tuple[float, ...]:
    given = list(values) if isinstance(values, Iterable) else [values]
    if not given:
        raise ValueError(f"{name} must not be empty")
    for value in given:
        check_share(value, name, up_to_one=True)
        if given.count(value) > 1:
            raise ValueError(f"{name} must hold each share once, got {value} twice")
    return tuple(map(float, given))


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
    out = np.empty((len(expected), len(shares), expected.shape[2]))
    for i, j in itertools.product(range(len(expected)), range(expected.shape[2])):
        losses = QueryLosses.of(expected[0, :, j], expected[i, :, j])
        out[i, :, j] = [
            losses.inferiority(share, greater_is_better=up) for share in shares
        ]
    return out


def _agreement(exact: FloatArray, coarse: FloatArray, up: bool) -> FloatArray:
    """tau-b and tau-AP of the order of the systems that both means are there of."""
    there = ~(np.isnan(exact) | np.isnan(coarse))
    if not there.any():
        return np.full(2, np.nan)
    side = 1 if up else -1
    found = rank_correlation(
        side * exact[there], side * coarse[there], coefficients=("tau_b", "tau_ap")
    )
    return np.asarray(found.values[0])


def _pairwise(
    expected: FloatArray, pairs: list[tuple[int, int]], test: str
) -> tuple[FloatArray, FloatArray]:
    """Mean differences and p values of pairs, over the queries that both have."""
    differences, pvalues = np.full((2, len(expected), len(pairs)), np.nan)
    for i, table in enumerate(expected):
        for p, (a, b) in enumerate(pairs):
            both = table[:, a], table[:, b]
            kept = ~np.isnan(both[0] - both[1])
            first, second = both[0][kept], both[1][kept]
            differences[i, p] = mean(first) - mean(second)
            pvalues[i, p] = paired_test(first - second, test).pvalue
    return differences, pvalues
