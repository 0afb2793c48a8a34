"""Power of the paired t test: queries needed for a difference, and the reverse."""

import math
from bisect import bisect_left
from functools import partial

from scipy import optimize, stats


def t_test_power(effect: float, n: float, alpha: float, alternative: str) -> float:
    """Return the power for n differences of mean `effect` and standard deviation 1.

    A one-sided alternative is assumed to have the direction of the effect. The
    statistic follows the noncentral t distribution with n - 1 degrees of freedom (Cohen
    1988, 2.3).
    """
    degrees = n - 1
    centre = abs(effect) * math.sqrt(n)
    if alternative != "two-sided":
        critical = stats.t.isf(alpha, degrees)
        return float(stats.nct.sf(critical, degrees, centre))
    critical = stats.t.isf(alpha / 2, degrees)
    power = stats.nct.sf(critical, degrees, centre)
    opposite = stats.nct.cdf(-critical, degrees, centre)
    # SciPy returns NaN if the probability of the opposite side is close to 0.
    if opposite > 0:
        power += opposite
    return float(power)


def queries_for_power(
    effect: float, power: float, alpha: float, alternative: str
) -> float:
    """Return the least number of queries with this power, or inf for no effect."""
    if math.isnan(effect):
        return math.nan
    # The square may underflow to 0.
    if effect**2 == 0:
        return math.inf
    # The search starts from the number for the normal distribution, which is a few
    # queries lower than the number for the t distribution.
    sides = 1
    if alternative == "two-sided":
        sides = 2
    reach = stats.norm.isf(alpha / sides) + stats.norm.ppf(power)
    least = float(reach**2 / effect**2)
    # Above 2^53, floats do not represent all whole numbers. The t distribution is then
    # the normal distribution, except for rounding.
    if least > 2**53:
        return least
    low = 2
    high = max(2, math.ceil(least))
    power_of = partial(t_test_power, effect, alpha=alpha, alternative=alternative)
    while power_of(high) < power:
        low = high
        high += max(2, high // 100)
    return float(low + bisect_left(range(low, high), power, key=power_of))


def effect_for_power(n: float, power: float, alpha: float, alternative: str) -> float:
    """Return the least effect for which n queries have this power."""
    if n < 2:
        return math.nan
    # Without an effect, the test rejects with probability alpha.
    if power <= alpha:
        return 0.0
    root = math.sqrt(n)

    def excess(centre: float) -> float:
        return t_test_power(centre / root, n, alpha, alternative) - power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    centre = float(optimize.brentq(excess, 0.0, high, xtol=1e-10))
    return centre / root
