"""Ranks that tests of pairs leave, against all orders of the systems."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.statistics.rank_intervals import rank_intervals


def test_systems_that_a_pair_does_not_separate_share_ranks():
    better = np.triu(np.ones((4, 4), dtype=bool), 1)
    assert rank_intervals(better).tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
    better[1, 2] = better[2, 3] = False
    assert rank_intervals(better).tolist() == [[1, 1], [2, 3], [2, 4], [3, 4]]


@pytest.mark.parametrize("n", [1, 5])
def test_without_a_significant_pair_each_rank_is_possible(n):
    better = np.zeros((n, n), dtype=bool)
    assert rank_intervals(better).tolist() == [[1, n]] * n


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 3))
def test_ends_are_the_ranks_in_orders_that_contradict_no_pair(means, least):
    means = np.array(means)
    better = means[:, None] - means >= least
    ranks = []
    for order in itertools.permutations(range(len(means))):
        rank = np.argsort(order)
        if not (better & (rank[:, None] > rank)).any():
            ranks.append(rank + 1)
    expected = np.column_stack([np.min(ranks, axis=0), np.max(ranks, axis=0)])
    np.testing.assert_array_equal(rank_intervals(better), expected)
