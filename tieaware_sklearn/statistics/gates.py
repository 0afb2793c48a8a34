"""Gaffke's bound on a loss, and losses that a test would have detected."""

import math

import numpy as np

from .._typing import FloatArray
from .power import effect_for_power

#: Maximum number of random weights in memory at a time.
_CELLS = 1 << 18


def gaffke_pvalue(
    differences: FloatArray,
    room: float,
    tolerance: float,
    *,
    n_draws: int = 9999,
    random_state: int = 0,
) -> float:
    """Test whether the mean difference is at most ``-tolerance``, by Gaffke's bound.

    A small p-value is evidence that the mean difference is above ``-tolerance``. The
    test does not overlook rare losses, because one query with the worst possible
    difference is added to the observed queries. The p-value is the probability that the
    mean over the observed queries and the added query, with random Dirichlet(1, ..., 1)
    weights, is at most ``-tolerance``.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        Differences between a system and a baseline, which are positive if the system is
        better. NaN is left out.
    room : float
        Size of the worst possible difference, which is 1 for values in [0, 1].
    tolerance : float
        Loss that is to be ruled out, in [0, room).
    n_draws : int
        Number of random weights of the queries.
    random_state : int
        Seed of the random weights. The p-value does not depend on the order of the
        queries.

    Returns
    -------
    float
        The p-value, or NaN if there are no queries.

    Notes
    -----
    With n queries, the weight of the added query is Beta(1, n) distributed, whatever
    the relative weights of the other queries. If the other queries have the weighted
    mean m, the mean of all queries is at most -tolerance with probability ((room -
    tolerance) / (room + m))^n, or 1 if m is at most -tolerance. Only the relative
    weights are drawn, and the p-value is the mean of these probabilities. The p-value
    is exact if all differences are equal.

    The test is conjectured to be valid for all distributions: under the null
    hypothesis, the p-value is at most alpha with a probability of at most alpha. No
    counterexample is known (Gaffke 2005; Learned-Miller and Thomas 2019,
    arXiv:1905.06208). A related bound is proved (Phan, Thomas and Learned-Miller 2021,
    arXiv:2106.03163).
    """
    # The sorted order does not depend on the order of the rows.
    ascending = np.sort(differences[~np.isnan(differences)])
    n = len(ascending)
    if n == 0:
        return math.nan
    rng = np.random.default_rng(random_state)
    step = max(1, _CELLS // n)
    total = 0.0
    for start in range(0, n_draws, step):
        size = min(step, n_draws - start)
        weights = rng.standard_exponential((size, n))
        means = weights @ ascending / weights.sum(axis=1)
        means = np.maximum(means, -tolerance)
        shares = (room - tolerance) / (room + means)
        total += float((shares**n).sum())
    return total / n_draws


def excludable_loss(n_queries: int, alpha: float, room: float = 1.0) -> float:
    """Return the least tolerance that queries without any difference rule out.

    At this tolerance, `gaffke_pvalue` is alpha. A tolerance of δ requires
    ln(alpha) / ln(1 - δ / room) queries.
    """
    share = 1 - alpha ** (1 / n_queries)
    return float(room * share)


def detectable_loss(
    standard_error: float, n_queries: float, alpha: float, *, power: float = 0.8
) -> float:
    """Return the mean loss that the one-sided t test detects with this power.

    `standard_error` is the standard error of the mean difference. `n_queries` is the
    number of queries of equal weight from which the standard error was computed: one
    more than the degrees of freedom. The result is NaN for fewer than two queries, and
    for a standard error of 0, because the spread is then unknown.
    """
    if standard_error == 0:
        return math.nan
    effect = effect_for_power(n_queries, power, alpha, "less")
    return float(standard_error * math.sqrt(n_queries) * effect)
