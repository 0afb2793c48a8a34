"""Midranks by either engine are those of SciPy, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from tests._kernel.helpers import SCORES, by_engine
from tieaware_sklearn._kernel.arranged import rank_within


def plain(columns, sizes, *, both_ways):
    """Query by query; NaN is last."""
    out = []
    for sign in (1, -1)[: 1 + both_ways]:
        for column in columns:
            own = []
            for part in np.split(column, np.cumsum(sizes)[:-1]):
                # whole numbers as Python's, which have no largest one
                part = part.tolist() if part.dtype.kind in "iub" else part
                keys = [(x != x, -sign * x if x == x else 0) for x in part]
                place = {key: at for at, key in enumerate(sorted(set(keys)))}
                own += (2 * rankdata([place[k] for k in keys]) - len(part) - 1).tolist()
            out.append(own)
    return np.array(out).T


@settings(max_examples=150)
@given(data=st.data(), both_ways=st.booleans(), kind=st.sampled_from([*SCORES]))
def test_midranks(data, both_ways, kind):
    dtype, values = SCORES[kind]
    values = [x for x in values if x != -np.inf]
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)))
    n, m = int(sizes.sum()), data.draw(st.integers(1, 3))
    drawn = data.draw(st.lists(st.sampled_from(values), min_size=n * m, max_size=n * m))
    columns = np.array(drawn, dtype=dtype).reshape(m, n)
    wanted = plain(columns, sizes, both_ways=both_ways)
    for found in by_engine(rank_within, columns, sizes, both_ways=both_ways):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("step", [1.0, 2.0**-52])
def test_long_queries(step):
    rng = np.random.default_rng(0)
    sizes = np.array([50_000, 1, 20_000])
    columns = 1 + step * rng.integers(0, 30_000, (2, sizes.sum()))
    compiled, numpy = by_engine(rank_within, columns, sizes, both_ways=True)
    assert np.array_equal(compiled, numpy)
