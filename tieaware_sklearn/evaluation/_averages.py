"""Averages over queries.

Sums are `math.fsum`, rounded once, so that no average depends on the order of rows.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate

import numpy as np

from .._typing import FloatArray

#: a difference this small is rounding
NO_DIFFERENCE = 1e-12
#: floor of the values in a geometric mean, as in trec_eval
GEOMETRIC_FLOOR = 1e-5
#: up to so many numbers, `math.fsum` is faster
_FEW = 768
#: largest number of parts that a sum is split into
_PARTS = 8
#: parts of sums of larger numbers may overflow
_LARGE = 2.0**900


def mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Weighted mean of the values that are not NaN; NaN where there is none."""
    if weight is None and len(values):
        total = math.fsum(values.tolist())
        if not math.isnan(total):
            return total / len(values)
    there = ~np.isnan(values)
    weight = np.ones(len(values)) if weight is None else weight
    total = math.fsum(weight[there].tolist())
    if total == 0:
        return math.nan
    return math.fsum((weight[there] * values[there]).tolist()) / total


def means(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """`mean` of each column of `values` (n_queries, n_columns)."""
    there = ~np.isnan(values)
    weights = there * (1.0 if weight is None else per_column(weight, values))
    total = column_sums(weights)
    sums = column_sums(np.where(there, values * weights, 0.0))
    return _ratios(sums, total)


def logs(values: FloatArray) -> FloatArray:
    """Logarithms for a geometric mean: values below 1e-5 count as 1e-5."""
    return np.log(np.maximum(values, GEOMETRIC_FLOOR))


def geometric_mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Exponential of the mean of `logs`."""
    return math.exp(mean(logs(values), weight))


def median(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Weighted median of the values that are not NaN; NaN where there is none.

    It is the value that half of the weight lies below and half above; where the
    weight up to a value, in ascending order, is just half of the total, the mean of
    this value and the next. With equal weights this is the median without them:
    weights are summed without rounding.
    """
    there = ~np.isnan(values)
    if weight is not None:
        there &= weight > 0
    if not there.any():
        return math.nan
    values = values[there]
    if weight is None or (weight[there] == weight[there][0]).all():
        return float(np.median(values))
    order = np.lexsort((weight[there], values))
    ascending = values[order]
    # sums of fractions are not rounded
    reached = list(accumulate(map(Fraction, weight[there][order].tolist())))
    half = reached[-1] / 2
    at = bisect_left(reached, half)
    if reached[at] == half:
        return float((ascending[at] + ascending[at + 1]) / 2)
    return float(ascending[at])


def medians(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """`median` of each column of `values` (n_queries, n_columns)."""
    return np.array([median(column, weight) for column in values.T])


def std_of_mean(std: FloatArray) -> float:
    """Standard deviation over orders of ties of a mean of independent queries."""
    return float(stds_of_means(std[:, None])[0])


def stds_of_means(std: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """`std_of_mean` of each column."""
    there = ~np.isnan(std)
    total = column_sums(there * (1.0 if weight is None else per_column(weight, std)))
    return _ratios(np.sqrt(sums_of_squares(std, weight)), total)


def _ratios(sums: FloatArray, total: FloatArray) -> FloatArray:
    unknown = np.full(total.shape, np.nan)
    return np.divide(sums, total, out=unknown, where=total > 0)


def sums_of_squares(std: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Σ w² s² over queries, of each column, NaN left out."""
    spread = std if weight is None else std * per_column(weight, std)
    return column_sums(np.where(np.isnan(std), 0.0, spread**2))


def column_sums(values: FloatArray, times: FloatArray | None = None) -> FloatArray:
    """Sums over queries, the first axis; 0 stands for what is left out.

    Values count once, or as often as `times` says. Its axes are the first of `values`,
    and its numbers are whole and below 2^26.

    The bits of `math.fsum`. Of many queries, the leading bits of all values are summed
    first, which is exact in any order, then those that are left, until nothing is
    (Rump, Ogita and Oishi 2008, "Accurate floating-point summation", part I).
    """
    columns, shape = np.moveaxis(values, 0, -1), values.shape[1:]
    if times is not None:
        # products with the leading 26 bits, and with the others, are exact
        times = np.moveaxis(per_column(times, values), 0, -1)
        leading = (columns.view(np.int64) & -(1 << 27)).view(np.float64)
        products = [times * leading, times * (columns - leading)]
        columns = np.concatenate(products, axis=-1)
    columns = np.ascontiguousarray(columns).reshape(math.prod(shape), columns.shape[-1])
    parts = _exact_parts(columns) if columns.size > _FEW else None
    if parts is not None and len(parts) <= 2:
        # the sum of two numbers is rounded once, too
        return parts.sum(axis=0).reshape(shape)
    summed = columns if parts is None else parts.T
    # lists of lists would keep the garbage collector busy
    return np.array([math.fsum(one.tolist()) for one in summed]).reshape(shape)


def _exact_parts(columns: FloatArray) -> FloatArray | None:
    """Numbers whose sum is that of each column, (n_parts, n_columns).

    None where that takes many, or overflows.
    """
    largest = max(columns.max(), -columns.min())
    if not largest < _LARGE:
        return None
    # enough bits stay free that no sum of leading bits is rounded
    room = (columns.shape[1] + 1).bit_length()
    grid = np.ldexp(1.0, np.frexp(largest)[1] + room)
    parts, rest = [], columns
    for _ in range(_PARTS):
        leading = rest + grid
        leading -= grid
        parts.append(leading.sum(axis=1))
        rest = np.subtract(rest, leading, out=leading)
        if not rest.any():
            return np.array(parts)
        grid = grid * 2.0 ** (room - 53)
    return None


def per_column(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Weights of queries, to be multiplied with the columns of `values`."""
    return weight.reshape(*weight.shape, *[1] * (values.ndim - weight.ndim))


#: averages over queries by their names
BY_NAME = {"macro": mean, "geometric": geometric_mean, "median": median}
