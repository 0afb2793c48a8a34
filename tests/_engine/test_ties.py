"""Tie groups beyond what measures show, threads, and sums that merge."""

import threading
from itertools import chain, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn._engine import merging, threads
from tieaware_sklearn._engine.tie_groups import all_tied


def test_sums_of_whole_numbers_beyond_floats_and_many_queries_of_many_levels():
    # a running sum of 2^53 and ones would lose the ones
    gains = np.array([1.0, 2.0**53])
    groups = all_tied(np.array([2, 3]), np.array([1, 1, 0, 0, 0]), np.arange(2.0))
    assert_array_equal(groups.gain_sums(gains), [2.0**54, 3])
    assert_array_equal(groups.gain_means(gains), [2.0**53, 1])
    # which are sorted, not counted
    label = np.random.default_rng(0).integers(0, 100, 100).astype(np.uint8)
    groups = all_tied(np.full(50, 2), label, np.arange(100.0))
    assert_array_equal(groups.label, np.sort(label.reshape(-1, 2)).ravel(), strict=True)


def test_what_is_as_large_as_the_ranking_is_remembered_until_it_is_forgotten():
    groups = all_tied(np.array([2, 3]), np.array([1, 1, 0, 0, 0]), np.arange(2.0))

    def large():
        return groups.documents(None), groups.ordered(np.arange(2.0), descending=True)

    remembered = large()
    assert all(array is again for array, again in zip(remembered, large(), strict=True))
    groups.forget()
    assert not any(
        array is again for array, again in zip(remembered, large(), strict=True)
    )


def test_one_task_is_done_where_it_is_asked_for():
    here = [threading.current_thread()]
    assert threads.in_threads(lambda _: threading.current_thread(), [0], 2) == here
    assert threads.in_threads(str, [], 2) == []
    assert threads.in_threads(str, [1, 2], 2) == ["1", "2"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_parts_that_come_one_after_another_are_gathered_in_their_order(sizes):
    parts = []
    for i, size in enumerate(sizes):
        merging.gather(parts, [i] * size, list.__add__, len)
        assert all(len(a) >= 2 * len(b) for a, b in pairwise(parts))
    assert list(chain(*parts)) == [i for i, n in enumerate(sizes) for _ in range(n)]
