"""Averages over queries.

Sums are computed by `math.fsum` and rounded once, so no average depends on the order of
rows.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from .._typing import BoolArray, FloatArray

#: Largest difference, as a share of the largest value, that counts as rounding.
NO_DIFFERENCE = 1e-12
#: Floor of the values in a geometric mean, as in trec_eval.
GEOMETRIC_FLOOR = 1e-5
#: Maximum number of values for which `math.fsum` is faster than exact parts.
_FEW = 768
#: Maximum number of exact parts of a sum. If more parts are needed, `math.fsum` is
#: used.
_PARTS = 8
#: Largest value whose exact parts cannot overflow.
_LARGE = 2.0**900


def largest_values(values: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column, or 0 if all values are NaN."""
    return np.fmax.reduce(np.abs(values), axis=0, initial=0.0)


def without_rounding(differences: FloatArray, largest: ArrayLike) -> FloatArray:
    """Return differences of values up to `largest`, with 0 for mere rounding errors.

    Whether a difference is a rounding error does not depend on the unit of the values.
    """
    rounding = NO_DIFFERENCE * np.asarray(largest)
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def round_relative(values: FloatArray, largest: ArrayLike, decimals: int) -> FloatArray:
    """Round values up to `largest` to decimals relative to a power of two.

    The decimals are relative to the least power of two that is not below `largest`.
    """
    # Scaling by a power of two is exact. Without nextafter, a power of two would have
    # the exponent of the next power.
    _, exponent = np.frexp(np.nextafter(largest, 0.0))
    scaled = np.ldexp(values, -exponent)
    return np.ldexp(np.round(scaled, decimals), exponent)


def counted_queries(
    is_defined: BoolArray, weight: FloatArray | None
) -> tuple[BoolArray, FloatArray | None]:
    """Return a mask of the queries that count, and the weights of these queries.

    The weights are None if they are equal.
    """
    if weight is None:
        return is_defined, None
    is_counted = is_defined & (weight > 0)
    weight = weight[is_counted]
    if not len(weight) or np.ptp(weight) == 0:
        return is_counted, None
    return is_counted, weight


def column_means(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weighted mean of each column of `values` (n_queries, ...).

    NaN is left out. The mean of a column of NaN is NaN.
    """
    products, totals = _weighted(values, weight)
    return ratios(column_sums(products), totals)


def weighted_mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the weighted mean of the values that are not NaN."""
    if weight is None and len(values):
        # For few values, this branch takes a tenth of the time of `column_means`.
        total = math.fsum(values.tolist())
        if not math.isnan(total):
            return total / len(values)
    return float(column_means(values, weight))


def floored_logs(values: FloatArray) -> FloatArray:
    """Return logarithms for a geometric mean, in which 1e-5 replaces smaller values."""
    return np.log(np.maximum(values, GEOMETRIC_FLOOR))


def geometric_mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the exponential of the mean of `floored_logs`."""
    return math.exp(weighted_mean(floored_logs(values), weight))


def weighted_median(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the weighted median of the values that are not NaN, or NaN for no values.

    The median is the smallest value at which the cumulative weight of the ascending
    values exceeds half of the total weight. If the cumulative weight at a value is
    exactly half of the total, the median is the mean of this value and the next value.
    With equal weights, the result is the median without weights.
    """
    is_counted, weight = counted_queries(~np.isnan(values), weight)
    values = values[is_counted]
    if not len(values):
        return math.nan
    if weight is None:
        return float(np.median(values))
    order = values.argsort()
    ascending = values[order]
    # Sums of fractions are not rounded. Rounded sums would depend on the order of rows,
    # and could miss exactly half.
    fractions = map(Fraction, weight[order].tolist())
    cumulative = list(accumulate(fractions))
    half = cumulative[-1] / 2
    middle = bisect_left(cumulative, half)
    if cumulative[middle] == half:
        return float((ascending[middle] + ascending[middle + 1]) / 2)
    return float(ascending[middle])


def column_medians(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weighted median of each column of `values` (n_queries, n_columns)."""
    return np.array([weighted_median(column, weight) for column in values.T])


def stds_of_means(std: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the standard deviation of the mean of independent queries, per column."""
    products, totals = _weighted(std, weight)
    variances = column_sums(products**2)
    return ratios(np.sqrt(variances), totals)


def _weighted(
    values: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return values times weights, 0 for NaN, and the total weight of each column."""
    is_defined = ~np.isnan(values)
    if weight is None:
        weights = is_defined * 1.0
    else:
        weights = is_defined * per_column(weight, values)
    products = np.where(is_defined, values * weights, 0.0)
    return products, column_sums(weights)


def ratios(
    parts: ArrayLike, totals: FloatArray, undefined: float = math.nan
) -> FloatArray:
    """Return parts / totals, or `undefined` where a total is not above 0."""
    values = np.full(totals.shape, undefined)
    return np.divide(parts, totals, out=values, where=totals > 0)


def column_sums(values: FloatArray, times: FloatArray | None = None) -> FloatArray:
    """Return sums over queries, the first axis. Values that are left out must be 0.

    Values count once, or ``times`` times. The axes of `times` are the first axes of
    `values`, and the values of `times` are whole numbers below 2^26.

    The sums are equal to `math.fsum` to the last bit. For many values, the leading bits
    of all values are summed first, then the leading bits of the remainders, until
    nothing remains (Rump, Ogita and Oishi 2008, "Accurate floating-point summation",
    part I). Each of these sums is exact in any order.
    """
    shape = values.shape[1:]
    columns = np.moveaxis(values, 0, -1)
    if times is not None:
        # Products with the leading 26 bits, and with the remainders, are exact.
        times = np.moveaxis(per_column(times, values), 0, -1)
        bits = columns.view(np.int64) & -(1 << 27)
        leading = bits.view(np.float64)
        products = [times * leading, times * (columns - leading)]
        columns = np.concatenate(products, axis=-1)
    n_columns = math.prod(shape)
    columns = np.ascontiguousarray(columns)
    columns = columns.reshape(n_columns, columns.shape[-1])
    terms = columns
    if columns.size > _FEW:
        parts = _exact_parts(columns)
        if parts is not None:
            if len(parts) <= 2:
                # The sum of two numbers is also rounded only once.
                return parts.sum(axis=0).reshape(shape)
            terms = parts.T
    # A list of lists would keep the garbage collector busy.
    sums = [math.fsum(column.tolist()) for column in terms]
    return np.array(sums).reshape(shape)


def _exact_parts(columns: FloatArray) -> FloatArray | None:
    """Return a few numbers with the same exact sum as each column.

    The numbers have shape (n_parts, n_columns). The result is None if more than
    `_PARTS` numbers are needed, if sums may overflow, or if a value is NaN.
    """
    largest = max(columns.max(), -columns.min())
    if not largest < _LARGE:
        return None
    # Enough bits are left free that no sum of leading bits is rounded.
    spare = (columns.shape[1] + 1).bit_length()
    _, exponent = np.frexp(largest)
    # Adding and then subtracting this large number rounds values to the spacing of
    # floats near the large number, which keeps only the leading bits of the values.
    grid = np.ldexp(1.0, exponent + spare)
    parts = []
    remainder = columns
    for _ in range(_PARTS):
        leading = remainder + grid
        leading -= grid
        parts.append(leading.sum(axis=1))
        remainder = np.subtract(remainder, leading, out=leading)
        if not remainder.any():
            return np.array(parts)
        grid = grid * 2.0 ** (spare - 53)
    return None


def per_column(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Return weights of queries, shaped to be multiplied with columns of `values`."""
    n_axes = values.ndim - weight.ndim
    return weight.reshape(weight.shape + (1,) * n_axes)


#: Averages over queries, by name.
AVERAGE_FUNCTIONS = {
    "macro": weighted_mean,
    "geometric": geometric_mean,
    "median": weighted_median,
}
