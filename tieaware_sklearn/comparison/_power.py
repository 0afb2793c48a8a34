"""Power of the paired t test: queries that a difference needs, and the reverse."""

import math
from bisect import bisect_left
from functools import partial

from scipy import optimize, stats


def power(effect: float, n: float, alpha: float, alternative: str) -> float:
    """Compute the power for n differences of mean `effect` and standard deviation 1.

    A one-sided alternative is taken to be that of the effect. The statistic has the
    noncentral t distribution with n - 1 degrees of freedom (Cohen 1988, 2.3).
    """
    degrees, centre = n - 1, abs(effect) * math.sqrt(n)
    sides = 2 if alternative == "two-sided" else 1
    critical = stats.t.isf(alpha / sides, degrees)
    result = stats.nct.sf(critical, degrees, centre)
    other = stats.nct.cdf(-critical, degrees, centre)
    # scipy has NaN where next to nothing is on the other side
    return float(result + other if sides == 2 and other > 0 else result)


def queries_needed(
    effect: float, wanted: float, alpha: float, alternative: str
) -> float:
    """Find the least number of queries whose power is `wanted`; inf for no effect."""
    if math.isnan(effect):
        return math.nan
    if effect**2 == 0:
        return math.inf
    # that of the normal distribution is hardly less
    sides = 2 if alternative == "two-sided" else 1
    reach = stats.norm.isf(alpha / sides) + stats.norm.ppf(wanted)
    least = float(max(reach, 0.0) ** 2 / effect**2)
    if least > 2**53:  # the t distribution is normal, and floats are no longer whole
        return least
    low, high = 2, max(2, math.ceil(least))
    of_queries = partial(power, effect, alpha=alpha, alternative=alternative)
    while of_queries(high) < wanted:
        low, high = high, high + max(2, high // 100)
    return float(low + bisect_left(range(low, high), wanted, key=of_queries))


def least_effect(n: float, wanted: float, alpha: float, alternative: str) -> float:
    """Find the least effect for which n queries have the power `wanted`."""
    if n < 2:
        return math.nan

    def lacking(centre: float) -> float:
        return power(centre / math.sqrt(n), n, alpha, alternative) - wanted

    high = 1.0
    while lacking(high) < 0:
        high *= 2
    return float(optimize.brentq(lacking, 0.0, high, xtol=1e-10)) / math.sqrt(n)
