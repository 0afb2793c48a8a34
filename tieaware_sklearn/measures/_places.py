"""Places of tie groups that count, and batches of groups with similar numbers."""

from collections.abc import Iterator

import numpy as np

from .._engine import segments
from .._engine.tie_groups import LONGEST
from .._typing import FloatArray, IntArray

#: Limit below which products of probabilities count as 0.
NOTHING = 1e-18
#: Maximum number of array elements in a batch.
CELLS = 1 << 20


def hopeless_after(mean: FloatArray) -> IntArray:
    """Return the number of places x from which E[P_x] counts as 0.

    P_x is a product of x chances with this mean, drawn without replacement. E[P_x] is
    at most mean^x (Maclaurin's inequality), and mean^x is below `NOTHING` for larger x.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.ceil(np.log(NOTHING) / np.log(mean))
    # If the mean is 1, the product never falls.
    places[~np.isfinite(places)] = LONGEST
    return places.astype(np.int64)


def widths(
    places: IntArray, dimensions: int = 1, cells: int = CELLS, fine: int = 24
) -> Iterator[tuple[int, IntArray]]:
    """Yield batches of groups with similar numbers of places, with their width.

    The width of a group depends only on the group's own number of places. Widths up to
    `fine` are multiples of 4, and larger widths are powers of 2. A batch fits in the
    cache, because a batch of width w contains at most `cells / (w + 1)^dimensions`
    groups.
    """
    is_large = places > fine
    width = np.where(is_large, 0, -(-places // 4) * 4)
    exponent = np.ceil(np.log2(places[is_large]))
    width[is_large] = 1 << exponent.astype(np.int64)
    for n_columns in np.unique(width).tolist():
        groups = np.flatnonzero(width == n_columns)
        step = max(1, cells // (n_columns + 1) ** dimensions)
        for start in range(0, len(groups), step):
            yield n_columns, groups[start : start + step]


def sums_after(values: FloatArray, sizes: IntArray) -> FloatArray:
    """Return, for each value, the sum of the values after it in its segment.

    Values are added one by one from the end, so no sum depends on another segment.
    """
    sums = np.empty(len(values))
    starts = segments.starts_of(sizes)
    for width, batch in widths(sizes):
        owner, place = segments.expand(sizes[batch])
        index = starts[batch][owner] + place
        reversed_rows = np.zeros((len(batch), width + 1))
        reversed_rows[owner, width - place] = values[index]
        running_sums = np.cumsum(reversed_rows, axis=1)
        sums[index] = running_sums[owner, width - place - 1]
    return sums
