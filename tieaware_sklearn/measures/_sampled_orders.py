"""Random orders of tied documents, seeded."""

import hashlib
from collections.abc import Iterator

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: orders drawn of a group, fewer of very long ones
MOST_ORDERS = 1000
FEWEST_ORDERS = 100
_PLACES = 20_000_000
_SAMPLED_CELLS = 1 << 21
#: orders at a time from which steps over places pay
_WORTH_STEPPING = 100


def generator(*contents: FloatArray | IntArray) -> np.random.Generator:
    """A generator that these arrays alone decide."""
    digest = hashlib.blake2b(digest_size=16)
    for array in contents:
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))


def n_orders(places: int) -> int:
    """How many orders to draw of so many places."""
    return min(max(_PLACES // max(places, 1), FEWEST_ORDERS), MOST_ORDERS)


def parts(n: int, most: int) -> list[int]:
    """Sizes of the parts in which n are drawn, of at most so many each."""
    return [min(most, n - at) for at in range(0, n, most)]


def _shuffled(rng: np.random.Generator, values: Array, orders: int) -> Iterator[Array]:
    """`values` in so many random orders, some rows at a time."""
    for size in parts(orders, max(1, _SAMPLED_CELLS // len(values))):
        yield rng.permuted(np.tile(values, (size, 1)), axis=1)


def first_places(
    rng: np.random.Generator, values: FloatArray, places: int, orders: int
) -> FloatArray:
    """The first `places` of `values` in random orders, (orders, places)."""
    n = len(values)
    if 4 * places < n:
        return np.stack([values[rng.choice(n, places, False)] for _ in range(orders)])
    rows = _shuffled(rng, values, orders)
    return np.concatenate([part[:, :places].copy() for part in rows])


def places_of(rng: np.random.Generator, n: int, chosen: int, orders: int) -> IntArray:
    """Where `chosen` of n documents stand in random orders, ascending, from 1."""
    if 8 * chosen < n and n * orders > _SAMPLED_CELLS:
        drawn = [rng.choice(n, chosen, False, shuffle=False) for _ in range(orders)]
        return np.sort(np.stack(drawn), axis=1) + 1
    rows = _shuffled(rng, np.arange(n) < chosen, orders)
    places = [np.nonzero(part)[1].reshape(-1, chosen) + 1 for part in rows]
    return np.concatenate(places)


def places_of_some(
    rng: np.random.Generator, n: int, chosen: int, orders: int
) -> IntArray:
    """`places_of` of other random numbers: several times as fast while n is small."""
    if chosen == n:
        return np.broadcast_to(np.arange(1, n + 1), (orders, n))
    step = max(1, _SAMPLED_CELLS // n)
    if step < _WORTH_STEPPING:
        return places_of(rng, n, chosen, orders)
    some = [_subsets(rng, n, chosen, size) for size in parts(orders, step)]
    return np.concatenate(some)


def _subsets(rng: np.random.Generator, n: int, chosen: int, orders: int) -> IntArray:
    """Floyd's subsets, all orders a step (Bentley and Floyd 1987)."""
    # the fewer of chosen and others
    few = min(chosen, n - chosen)
    start = np.arange(orders) * n
    taken = np.zeros(orders * n, dtype=bool)
    last = np.arange(n - few, n)
    drawn = rng.integers(last + 1, size=(orders, few)).T
    for new, at in zip(last.tolist(), drawn, strict=True):
        at = at + start
        taken[np.where(taken[at], start + new, at)] = True
    if few < chosen:
        np.logical_not(taken, out=taken)
    places = np.flatnonzero(taken).reshape(orders, chosen)
    return places - start[:, None] + 1
