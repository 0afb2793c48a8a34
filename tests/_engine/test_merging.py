"""Sums over queries that merge, and the first difference of two results in words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn._engine.merging import (
    AddedUp,
    gather,
    other_features,
    other_options,
)


@dataclass
class Sums(AddedUp):
    total: Any
    found: Any
    inner: Any = None


def test_fields_merge_by_what_they_hold():
    a = Sums(np.array([1.0, 2.0]), np.array([True, False]), Sums(1, 2))
    b = Sums(np.array([10.0, 0.5]), np.array([False, False]), Sums(3, 4))
    both = a.merge(b)
    assert both.total.tolist() == [11, 2.5]
    assert both.found.tolist() == [True, False]
    assert (both.inner.total, both.inner.found) == (4, 6)
    # what one of them lacks, both lack
    assert a.merge(Sums(b.total, b.found)).inner is None
    assert Sums(b.total, b.found).merge(a).inner is None


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_parts_that_come_one_after_another_are_gathered_in_their_order(sizes):
    parts = []
    for i, size in enumerate(sizes):
        gather(parts, [i] * size, list.__add__, len)
        assert all(len(a) >= 2 * len(b) for a, b in pairwise(parts))
    assert list(chain(*parts)) == [i for i, n in enumerate(sizes) for _ in range(n)]


def test_parts_are_copied_as_often_as_their_number_doubles():
    parts, copied = [], []

    def merge(before, newest):
        copied.append(before + newest)
        return before + newest

    for _ in range(1024):
        gather(parts, 1, merge, int)
    assert parts == [1024]
    assert sum(copied) == 1024 * 10


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("ab", "ab", ""),
        ("abc", "ab", "features differ: B has no 'c'"),
        ("ab", "xaby", "features differ: A has no 'x'"),
        ("abc", "acb", "features differ in their order: B has 'c' where A has 'b'"),
        ("ab", "abb", "features differ: 3 in B, 2 in A"),
    ],
)
def test_features(ours, theirs, said):
    assert other_features(list(ours), list(theirs), "A", "B") == said


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (1, 1, ""),
        (1.5, "skip", "ones differ: skip in B, 1.5 in A"),
        (True, False, "ones differ: no in B, yes in A"),
        (None, "w", "ones differ: w in B, none in A"),
        ((1, 2), (1,), "ones differ: 1 in B, 1, 2 in A"),
        (["a", "b", "c"], ["a", "x", "y"], "ones differ: x in B, b in A"),
    ],
)
def test_the_first_option_that_differs(ours, theirs, said):
    first = {"same": 0, "ones": ours, "more": 1}
    other = {"same": 0, "ones": theirs, "more": 2 if said else 1}
    assert other_options(first, other, "A", "B") == said
