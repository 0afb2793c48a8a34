"""Queries that come again, whatever came between."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn._engine.digests import SeenQueries

batches = st.lists(st.lists(st.integers(-9, 40), unique=True, max_size=6), max_size=12)


@given(batches)
def test_the_first_that_comes_again_as_a_set_finds_it(batches):
    seen, plain = SeenQueries(), set()
    for batch in batches:
        again = [i for i, query in enumerate(batch) if query in plain]
        assert seen.add(np.array(batch, dtype=np.int64)) == (
            again[0] if again else None
        )
        if not again:
            plain |= set(batch)


def test_ids_of_any_type_that_are_equal_are_one():
    seen = SeenQueries()
    assert seen.add(np.array([1, 2])) is None
    assert seen.add(np.array([0.5, 2.0])) == 1
    assert seen.add(np.array(["1", "2"], dtype=object)) is None
    assert seen.add(np.array(["0", "2"])) == 1
