"""Random orders that do not depend on the order of rows."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn.measures._interpolated import first_places, places_of


def test_places_of_random_orders():
    values = np.arange(40.0)
    for places in (40, 12, 3):
        drawn = first_places(np.random.default_rng(0), values, places, 300)
        assert drawn.shape == (300, places)
        # no document twice in one order, and each of them as often as the others
        assert all(len(set(row)) == places for row in drawn.tolist())
        often = np.bincount(drawn.astype(int).ravel(), minlength=40)
        assert abs(often / (300 * places / 40) - 1).max() < 0.9
    for n in (40, 100_000):
        where = places_of(np.random.default_rng(0), n, 3, 200)
        assert where.shape == (200, 3)
        assert (np.diff(where, axis=1) > 0).all()
        assert where.min() >= 1
        assert where.max() <= n
        assert where.mean() == pytest.approx((n + 1) / 2, rel=0.1)
