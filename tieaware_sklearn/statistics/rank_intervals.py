"""Ranks that comparisons do not rule out, for each system."""

import numpy as np

from .._typing import Array, IntArray


def rank_intervals(better: Array) -> IntArray:
    """Return, for each system, the first and last rank that tests do not rule out.

    If the tests of all pairs have a family-wise error rate of at most alpha, including
    errors of direction, then all intervals contain the true ranks with a probability of
    at least 1 - alpha (Mohamad, Goeman and van Zwet, Biometrics 2022; Mogstad, Romano,
    Shaikh and Wilhelm, Review of Economic Studies 2024). Two-sided tests of all pairs
    with Holm's correction have this error rate.

    Parameters
    ----------
    better : ndarray of shape (n_systems, n_systems), bool
        Whether system i is significantly better than system j, False where a test is
        undefined.

    Returns
    -------
    ndarray of shape (n_systems, 2)
        First and last rank: 1 + the number of systems that are better, and n_systems
        minus the number of systems that are worse.
    """
    n_better = better.sum(axis=0)
    n_worse = better.sum(axis=1)
    ranks = np.column_stack([1 + n_better, len(better) - n_worse])
    return ranks.astype(np.int64)
