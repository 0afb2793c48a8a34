"""Segments of flat arrays: runs of equal values, sums, numbers of owners.

What belongs to one query, or to one tie group, stands together; a segment is given by
its size, one after another, or by where it starts.
"""

import numpy as np

from .._typing import Array, BoolArray, IntArray


def begins(values: Array) -> BoolArray:
    """Where runs of equal values begin, along the last axis."""
    flags = np.ones(values.shape, dtype=bool)
    np.not_equal(values[..., 1:], values[..., :-1], out=flags[..., 1:])
    return flags


def run_starts(values: Array) -> IntArray:
    """The places at which runs of equal values start."""
    return begins(values).nonzero()[0]


def runs(values: Array) -> tuple[IntArray, IntArray]:
    """Starts and sizes of runs of equal values."""
    starts = run_starts(values)
    return starts, sizes_of(starts, len(values))


def sizes_of(starts: IntArray, end: int) -> IntArray:
    """Sizes of segments that start there, the last of them up to `end`."""
    return np.diff(starts, append=end)


def starts_of(sizes: IntArray) -> IntArray:
    """Where segments of these sizes start."""
    return np.cumsum(sizes) - sizes


def offsets_of(sizes: Array) -> IntArray:
    """Where segments of these sizes start, and the end of the last.

    They are the sums of the first 0, 1, ... sizes.
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def owners(sizes: IntArray) -> IntArray:
    """The number of the segment that each value belongs to."""
    return np.repeat(np.arange(len(sizes)), sizes)


def consecutive(first: IntArray, sizes: IntArray) -> IntArray:
    """first, first + 1, ... of each segment."""
    numbers = np.repeat(first - starts_of(sizes), sizes)
    numbers += np.arange(len(numbers))
    return numbers


def expand(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Owners, and 0-based places in their segments."""
    owner = owners(sizes)
    return owner, np.arange(len(owner)) - starts_of(sizes)[owner]


def sum_segments(values: Array, sizes: IntArray, dtype: type = np.float64) -> Array:
    """Sums of segments along the first axis, empty ones included.

    A segment's sum depends on its own values alone, to the last bit; the
    difference of two running sums would depend on what stands before it.
    """
    out = np.zeros((len(sizes), *values.shape[1:]), dtype=dtype)
    filled = sizes > 0
    starts = starts_of(sizes)[filled]
    if len(starts):
        out[filled] = np.add.reduceat(values, starts)
    return out


def count_segments(flags: BoolArray, sizes: IntArray) -> IntArray:
    """Numbers of true flags in segments, empty ones included."""
    # whole numbers: here differences of a running sum lose nothing
    before = offsets_of(flags)
    ends = np.cumsum(sizes)
    return before[ends] - before[ends - sizes]


def count_before(values: IntArray, sizes: IntArray) -> IntArray:
    """Sums of what stands before each of `values` in its segment."""
    before = offsets_of(values)
    return before[:-1] - np.repeat(before[starts_of(sizes)], sizes)
