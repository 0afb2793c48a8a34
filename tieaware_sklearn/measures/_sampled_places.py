"""Seeded random orders of tied documents, for what has no closed form.

A seed comes from what is sampled and from nothing else: the same ties give the
same numbers, whatever stands before or beside them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, IntArray

#: orders drawn of a group, fewer of very long ones
MOST_ORDERS = 1000
FEWEST_ORDERS = 100
_PLACES = 20_000_000
_CELLS = 1 << 21


def generator(*contents: FloatArray | IntArray) -> np.random.Generator:
    """A generator that these arrays alone decide."""
    digest = hashlib.blake2b(digest_size=16)
    for array in contents:
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))


def n_orders(places: int) -> int:
    """How many orders to draw of so many places."""
    return int(np.clip(_PLACES // max(places, 1), FEWEST_ORDERS, MOST_ORDERS))


def _shuffled(
    rng: np.random.Generator, values: NDArray[Any], orders: int
) -> Iterator[NDArray[Any]]:
    """`values` in so many random orders, some rows at a time."""
    step = max(1, _CELLS // len(values))
    for at in range(0, orders, step):
        rows = np.tile(values, (min(step, orders - at), 1))
        yield rng.permuted(rows, axis=1)


def first_places(
    rng: np.random.Generator, values: FloatArray, places: int, orders: int
) -> FloatArray:
    """The first `places` of `values` in random orders, (orders, places)."""
    n = len(values)
    if 4 * places < n:
        return np.stack(
            [values[rng.choice(n, places, replace=False)] for _ in range(orders)]
        )
    rows = _shuffled(rng, values, orders)
    return np.concatenate([part[:, :places].copy() for part in rows])


def places_of(rng: np.random.Generator, n: int, chosen: int, orders: int) -> IntArray:
    """Where `chosen` of n documents stand in random orders, ascending, from 1."""
    if 8 * chosen < n and n * orders > _CELLS:
        drawn = [
            rng.choice(n, chosen, replace=False, shuffle=False) for _ in range(orders)
        ]
        return np.asarray(np.sort(np.stack(drawn), axis=1) + 1)
    rows = _shuffled(rng, np.arange(n) < chosen, orders)
    places = [np.nonzero(part)[1].reshape(-1, chosen) + 1 for part in rows]
    return np.concatenate(places)
