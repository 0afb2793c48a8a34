"""Effects of random orders of ties on the sign and significance of a difference."""

import numpy as np
from scipy import stats

from .._typing import FloatArray

#: Minimum number of queries for which shares of significant orders are approximated.
_QUERIES = 50
#: Minimum number of queries with a varying difference for this approximation.
VARYING = 10


def share_with_sign(mean: float, variance: float) -> float:
    """Return the share of random orders of ties in which a mean keeps its sign.

    `mean` is the expected mean difference, and `variance` is the variance of the mean
    difference over the orders. The share is approximated by Φ(|mean| / √variance). In
    simulations, this approximation was off by at most 0.02 with 20 or more queries, and
    by at most 0.09 with 10 queries.
    """
    if variance <= 0:
        return 1.0
    return float(stats.norm.cdf(abs(mean) / np.sqrt(variance)))


def shares_significant(
    differences: FloatArray, variances: FloatArray, alpha: float
) -> tuple[float, float]:
    """Return the shares of random orders in which a t test finds each system better.

    The shares are approximations for the paired, two-sided t test. The shares are
    computed from the expected difference of each query and its variance over the orders
    of ties, both of shape (n_queries,). In the orders of the first share, the mean
    difference is above 0 and p < alpha. In the orders of the second share, the mean
    difference is below 0 and p < alpha.

    The mean m and the variance s² of the differences vary over the orders. The means,
    variances and covariance of m and s² follow from the queries, which are independent.
    The threshold t √(s²/n) is linear in s² to first order, so m minus the threshold is
    nearly normal. In simulations, shares were off by at most 0.023 at 50 queries. The
    shares are NaN for fewer than 50 queries, or if the differences of fewer than 10
    queries vary.
    """
    n = len(differences)
    if n < _QUERIES or np.count_nonzero(variances) < VARYING:
        return np.nan, np.nan
    mean = differences.mean()
    deviations = differences - mean
    mean_variance = variances.sum() / n**2
    square = (deviations**2).sum() / (n - 1) + variances.mean()
    covariance = 2 * (deviations * variances).sum() / (n * (n - 1))
    square_variance = (4 * deviations**2 * variances + 2 * variances**2).sum()
    square_variance /= (n - 1) ** 2
    t = stats.t.ppf(1 - alpha / 2, n - 1)
    # The factor is needed because E[√s²] is below √E[s²].
    factor = 1 - square_variance / (8 * square**2)
    threshold = t * np.sqrt(square / n) * factor
    slope = t / (2 * np.sqrt(n * square))
    shares = []
    for sign in (1, -1):
        spread = mean_variance - sign * 2 * slope * covariance
        spread += slope**2 * square_variance
        margin = sign * mean - threshold
        share = stats.norm.cdf(margin / np.sqrt(spread))
        shares.append(float(share))
    return shares[0], shares[1]
