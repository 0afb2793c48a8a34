"""Sums over queries that merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tieaware_sklearn._engine.added_up import AddedUp


@dataclass
class Sums(AddedUp):
    name: str
    total: Any
    found: Any
    inner: Any = None


def test_fields_merge_by_what_they_hold():
    a = Sums("x", np.array([1.0, 2.0]), np.array([True, False]), Sums("y", 1, 2))
    b = Sums("x", np.array([10.0, 0.5]), np.array([False, False]), Sums("y", 3, 4))
    both = a.merge(b)
    assert both.name == "x"
    assert both.total.tolist() == [11, 2.5]
    assert both.found.tolist() == [True, False]
    assert (both.inner.total, both.inner.found) == (4, 6)
    # what one of them lacks, both lack
    assert a.merge(Sums("x", b.total, b.found)).inner is None
    assert Sums("x", b.total, b.found).merge(a).inner is None


def test_several_stack():
    @dataclass
    class Columns(AddedUp):
        total: Any
        inner: Any

    parts = [Columns(np.arange(2) + i, Columns(np.ones(1) * i, 0)) for i in range(3)]
    stacked = Columns.stack(parts)
    assert stacked.total.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert stacked.inner.total.tolist() == [[0], [1], [2]]
