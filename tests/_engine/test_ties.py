"""Tests of tie groups, threads and merged parts."""

import threading
from itertools import chain, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn._engine import merging, threads
from tieaware_sklearn._engine.tie_groups import all_tied


def groups_of_two_queries():
    """Return the groups of two tied queries, with labels 1, 1 and 0, 0, 0."""
    labels = np.array([1, 1, 0, 0, 0])
    return all_tied(np.array([2, 3]), labels, np.arange(2.0))


def test_sums_of_whole_numbers_beyond_floats():
    # A running sum of 2^53 and 1 would lose each 1.
    gains = np.array([1.0, 2.0**53])
    groups = groups_of_two_queries()
    assert_array_equal(groups.gain_sums(gains), [2.0**54, 3])
    assert_array_equal(groups.gain_means(gains), [2.0**53, 1])


def test_many_queries_of_many_levels_are_sorted_not_counted():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 100, 100).astype(np.uint8)
    sizes = np.full(50, 2)
    groups = all_tied(sizes, label, np.arange(100.0))
    expected = np.sort(label.reshape(-1, 2)).ravel()
    assert_array_equal(groups.label, expected, strict=True)


def test_large_arrays_are_cached_until_forget():
    groups = groups_of_two_queries()
    gains = np.arange(2.0)
    documents = groups.documents(None)
    ordered = groups.ordered(gains, descending=True)
    assert groups.documents(None) is documents
    assert groups.ordered(gains, descending=True) is ordered
    groups.forget()
    assert groups.documents(None) is not documents
    assert groups.ordered(gains, descending=True) is not ordered


def thread_of_task(task):
    return threading.current_thread()


def test_a_single_task_runs_in_the_calling_thread():
    here = threading.current_thread()
    assert threads.in_threads(thread_of_task, [0], 2) == [here]
    assert threads.in_threads(str, [], 2) == []
    assert threads.in_threads(str, [1, 2], 2) == ["1", "2"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_parts_are_gathered_in_their_order(sizes):
    parts = []
    expected = []
    for number, size in enumerate(sizes):
        part = [number] * size
        expected += part
        merging.gather(parts, part, list.__add__, len)
        for larger, smaller in pairwise(parts):
            assert len(larger) >= 2 * len(smaller)
    assert list(chain(*parts)) == expected
