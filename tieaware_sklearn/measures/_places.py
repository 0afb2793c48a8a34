"""Places of tie groups that count, and groups of similar numbers of them together."""

from collections.abc import Iterator

import numpy as np

from .._engine import segments
from .._typing import FloatArray, IntArray

#: smaller products are taken as 0
NOTHING = 1e-18
#: numbers in memory at a time
CELLS = 1 << 20


def hopeless_after(mean: FloatArray) -> IntArray:
    """Number of places beyond which E[P_x] <= mean^x is taken as 0 (Maclaurin)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.ceil(np.log(NOTHING) / np.log(mean))
    places[~np.isfinite(places)] = 2.0**62
    return np.asarray(np.minimum(places, 2.0**62), np.int64)


def widths(
    places: IntArray, cells_of: int = 1, cells: int = CELLS, fine: int = 24
) -> Iterator[tuple[int, IntArray]]:
    """Groups of similar numbers of places, in batches that fit the cache.

    A group's width depends on its own number of places alone; a batch of width w
    holds at most `cells / (w + 1)^cells_of` groups. Widths are multiples of 4, and
    above `fine` powers of 2.
    """
    large = places > fine
    width = np.where(large, 0, -(-places // 4) * 4)
    width[large] = 1 << np.ceil(np.log2(places[large])).astype(np.int64)
    for columns in np.unique(width).tolist():
        of_width = np.flatnonzero(width == columns)
        step = max(1, cells // (columns + 1) ** cells_of)
        for at in range(0, len(of_width), step):
            yield columns, of_width[at : at + step]


def sums_after(values: FloatArray, sizes: IntArray) -> FloatArray:
    """For each of the values, the sum of those after it in its segment.

    They are added one by one from the end: no sum depends on another segment.
    """
    out, start = np.empty(len(values)), segments.starts_of(sizes)
    for width, batch in widths(sizes):
        owner, place = segments.expand(sizes[batch])
        at = start[batch][owner] + place
        rows = np.zeros((len(batch), width + 1))
        rows[owner, width - place] = values[at]
        out[at] = np.cumsum(rows, axis=1)[owner, width - place - 1]
    return out
