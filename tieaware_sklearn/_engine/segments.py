"""Segments of flat arrays: runs of equal values, sums, and indices of segments.

The values of a query, or of a tie group, are a segment of an array. Segments follow
each other without gaps, so their sizes or their starts describe them.
"""

import numpy as np

from .._typing import Array, BoolArray, IntArray


def begins(values: Array) -> BoolArray:
    """Return a mask of the starts of runs of equal values, along the last axis."""
    flags = np.ones(values.shape, dtype=bool)
    np.not_equal(values[..., 1:], values[..., :-1], out=flags[..., 1:])
    return flags


def run_starts(values: Array) -> IntArray:
    """Return the indices at which runs of equal values start."""
    return begins(values).nonzero()[0]


def runs(values: Array) -> tuple[IntArray, IntArray]:
    """Return the starts and the sizes of runs of equal values."""
    starts = run_starts(values)
    return starts, sizes_of(starts, len(values))


def sizes_of(starts: IntArray, end: int) -> IntArray:
    """Return the sizes of segments, from their starts and the end of the array."""
    return np.diff(starts, append=end)


def starts_of(sizes: IntArray) -> IntArray:
    """Return the starts of segments of these sizes."""
    return np.cumsum(sizes) - sizes


def offsets_of(sizes: Array) -> IntArray:
    """Return the starts of segments of these sizes, and the end of the last segment.

    The offsets are the sums of the first 0, 1, ... sizes.
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=offsets[1:])
    return offsets


def owners(sizes: IntArray) -> IntArray:
    """Return the index of the segment of each value."""
    return np.repeat(np.arange(len(sizes)), sizes)


def consecutive(first: IntArray, sizes: IntArray) -> IntArray:
    """Return the integers `first`, `first` + 1, ... of each segment."""
    numbers = np.repeat(first - starts_of(sizes), sizes)
    numbers += np.arange(len(numbers))
    return numbers


def expand(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the index of each value's segment, and the index within the segment."""
    owner = owners(sizes)
    return owner, np.arange(len(owner)) - starts_of(sizes)[owner]


def sum_segments(values: Array, sizes: IntArray, dtype: type = np.float64) -> Array:
    """Return the sums of segments along the first axis. An empty segment has sum 0.

    All bits of a sum depend only on the values of the segment. The difference of two
    running sums would depend on earlier segments.
    """
    out = np.zeros((len(sizes), *values.shape[1:]), dtype=dtype)
    filled = sizes > 0
    starts = starts_of(sizes)[filled]
    if len(starts):
        out[filled] = np.add.reduceat(values, starts)
    return out


def count_segments(flags: BoolArray, sizes: IntArray) -> IntArray:
    """Return the number of true flags in each segment. Segments may be empty."""
    # The running sums are integers, so their differences are exact.
    before = offsets_of(flags)
    ends = np.cumsum(sizes)
    return before[ends] - before[ends - sizes]


def count_before(values: IntArray, sizes: IntArray) -> IntArray:
    """Return the sum of the values before each value in its segment."""
    before = offsets_of(values)
    return before[:-1] - np.repeat(before[starts_of(sizes)], sizes)
