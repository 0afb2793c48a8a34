"""Seeded random orders of tied documents."""

import hashlib
from collections.abc import Iterator

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: Largest and smallest number of orders that are drawn for a group. The longest groups
#: have the fewest orders.
MOST_ORDERS = 1000
FEWEST_ORDERS = 100
#: Maximum number of places that are drawn for a group, in all orders together.
_PLACES = 20_000_000
#: Maximum number of places that are drawn at a time.
_SAMPLED_CELLS = 1 << 21
#: Minimum number of orders at a time for which `_subsets` is faster than sorting.
_FEWEST_FOR_SUBSETS = 100


def generator(*contents: FloatArray | IntArray) -> np.random.Generator:
    """Return a generator whose seed depends on these arrays alone."""
    digest = hashlib.blake2b(digest_size=16)
    for array in contents:
        digest.update(array.tobytes())
    seed = int.from_bytes(digest.digest(), "little")
    return np.random.default_rng(seed)


def n_orders(n_places: int) -> int:
    """Return the number of orders to draw for a group with `n_places` places."""
    return min(max(_PLACES // max(n_places, 1), FEWEST_ORDERS), MOST_ORDERS)


def parts(n: int, most: int) -> list[int]:
    """Return the sizes of parts of at most `most` that add up to n."""
    return [min(most, n - start) for start in range(0, n, most)]


def _shuffled(rng: np.random.Generator, values: Array, orders: int) -> Iterator[Array]:
    """Yield the values in random orders, some rows at a time."""
    step = max(1, _SAMPLED_CELLS // len(values))
    for size in parts(orders, step):
        rows = np.tile(values, (size, 1))
        yield rng.permuted(rows, axis=1)


def first_places(
    rng: np.random.Generator, values: FloatArray, places: int, orders: int
) -> FloatArray:
    """Return the first `places` of `values` in random orders, (orders, places)."""
    n = len(values)
    # If few places are needed, they are drawn directly, because shuffling all values
    # takes longer.
    if 4 * places < n:
        drawn = [values[rng.choice(n, places, False)] for _ in range(orders)]
        return np.stack(drawn)
    drawn = [rows[:, :places].copy() for rows in _shuffled(rng, values, orders)]
    return np.concatenate(drawn)


def places_of(rng: np.random.Generator, n: int, chosen: int, orders: int) -> IntArray:
    """Return places of `chosen` of n documents in random orders, ascending, from 1."""
    # If few of many places are needed, they are drawn directly, because shuffling all
    # places takes longer.
    if 8 * chosen < n and n * orders > _SAMPLED_CELLS:
        drawn = [rng.choice(n, chosen, False, shuffle=False) for _ in range(orders)]
        return np.sort(np.stack(drawn), axis=1) + 1
    places = []
    for rows in _shuffled(rng, np.arange(n) < chosen, orders):
        _, place = np.nonzero(rows)
        places.append(place.reshape(-1, chosen) + 1)
    return np.concatenate(places)


def fast_places_of(
    rng: np.random.Generator, n: int, chosen: int, orders: int
) -> IntArray:
    """Return `places_of` from other random numbers, much faster if n is small."""
    if chosen == n:
        return np.broadcast_to(np.arange(1, n + 1), (orders, n))
    step = max(1, _SAMPLED_CELLS // n)
    if step < _FEWEST_FOR_SUBSETS:
        return places_of(rng, n, chosen, orders)
    places = [_subsets(rng, n, chosen, size) for size in parts(orders, step)]
    return np.concatenate(places)


def _subsets(rng: np.random.Generator, n: int, chosen: int, orders: int) -> IntArray:
    """Draw random subsets in all orders at once (Bentley and Floyd 1987)."""
    # The documents that are not chosen are drawn instead, if there are fewer of them.
    n_drawn = min(chosen, n - chosen)
    start = np.arange(orders) * n
    taken = np.zeros(orders * n, dtype=bool)
    last = np.arange(n - n_drawn, n)
    drawn = rng.integers(last + 1, size=(orders, n_drawn)).T
    for place, drawn_places in zip(last.tolist(), drawn, strict=True):
        index = drawn_places + start
        taken[np.where(taken[index], start + place, index)] = True
    if n_drawn < chosen:
        np.logical_not(taken, out=taken)
    places = np.flatnonzero(taken).reshape(orders, chosen)
    return places - start[:, None] + 1
