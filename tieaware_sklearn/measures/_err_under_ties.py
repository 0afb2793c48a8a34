"""Mean products over the orders of a tie group: what is left of a user's attention.

A group holds documents of a few classes; each document of class c lets the user
go on with chance q_c. P_x is the chance to pass the first x documents, a product
that depends on the order of the group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._engine.ties import FloatArray, IntArray

#: products below this are nothing
NOTHING = 1e-18
#: numbers held at a time
_CELLS = 1 << 20


def hopeless_after(mean: FloatArray) -> IntArray:
    """Places after which E[P_x] <= mean^x is nothing (Maclaurin's inequality)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.ceil(np.log(NOTHING) / np.log(mean))
    places[~np.isfinite(places)] = 2.0**62
    return np.asarray(np.minimum(places, 2.0**62), np.int64)


def widths(places: IntArray, cells_of: int) -> Iterator[tuple[int, IntArray]]:
    """Groups of similar numbers of places, in batches that fit the cache.

    A group's width depends on its own number of places alone; a batch of width w
    holds at most `_CELLS / (w + 1)^cells_of` groups.
    """
    width = np.where(places <= 24, -(-places // 4) * 4, 0)
    large = places > 24
    width[large] = 1 << np.ceil(np.log2(places[large])).astype(np.int64)
    for columns in np.unique(width).tolist():
        of_width = np.flatnonzero(width == columns)
        step = max(1, _CELLS // (columns + 1) ** cells_of)
        for at in range(0, len(of_width), step):
            yield columns, of_width[at : at + step]


def mean_products(counts: IntArray, q: FloatArray, width: int) -> FloatArray:
    """E[P_x] for x = 0 ... width of groups with `counts` and `q` per class.

    Both have shape (n_groups, n_classes); classes without documents pad a row.
    Classes A and B merge as E^{AB}_x = Σ_j Hyp(j; x, |A|, |B|) E^A_j E^B_{x-j}, a
    class alone being q^x. The hypergeometric row of x + 1
    draws comes from that of x: all terms are positive, none is large. One document
    more is E_x <- (1 - x/m) E_x + x/m q E_{x-1}, m counting it.
    """
    x = np.arange(width + 1)
    merged = np.ones((len(counts), width + 1))
    so_far = np.zeros((len(counts), 1))
    for c in range(q.shape[1]):
        own = counts[:, c : c + 1].astype(np.float64)
        first = ((own > 0) & (so_far == 0))[:, 0]
        merged[first] = np.power(q[first, c : c + 1], x)
        later = (own > 0) & (so_far > 0)
        one = (later & (own == 1))[:, 0]
        if one.any():
            share = x / (so_far[one] + 1)
            before = merged[one]
            with_it = np.maximum(1 - share, 0) * before
            with_it[:, 1:] += share[:, 1:] * q[one, c : c + 1] * before[:, :-1]
            merged[one] = with_it
        more = (later & (own > 1))[:, 0]
        if more.any():
            alone = np.power(q[more, c : c + 1], x)
            merged[more] = _merge(merged[more], so_far[more], alone, own[more])
        so_far += own
    return merged


def _merge(ea: FloatArray, a: FloatArray, eb: FloatArray, b: FloatArray) -> FloatArray:
    width = ea.shape[1]
    out = np.empty_like(ea)
    chance = np.zeros_like(ea)
    chance[:, 0] = 1.0
    j = np.arange(width)
    for x in range(width):
        row = chance[:, : x + 1]
        out[:, x] = (row * ea[:, : x + 1] * eb[:, x::-1]).sum(axis=1)
        if x + 1 == width:
            break
        left = np.maximum(a + b - x, 1)
        from_a = row * (np.maximum(a - j[: x + 1], 0) / left)
        row *= np.maximum(b - (x - j[: x + 1]), 0) / left
        chance[:, 1 : x + 2] += from_a
    return out


def mean_double_products(counts: IntArray, q: FloatArray, width: int) -> FloatArray:
    """E[P_x P_{x+z}] as [group, x, z], right for x + z <= width.

    The first x documents count twice, the next z once. With all orders equally
    likely, n!/(x! z! (n-x-z)!) times the mean is the coefficient of s^x u^z in
    Π_c (1 + s q_c² + u q_c)^{n_c}; a power multiplies by its binomial series, one
    term at a time, s and u in units of 1/n. All terms are positive.
    """
    n = counts.sum(axis=1, keepdims=True)
    product = _times_powers(counts, q, n, width)
    ways = _times_powers(n, np.ones(n.shape), n, width)
    return np.divide(product, ways, out=np.zeros_like(product), where=ways > 0)


def _times_powers(
    counts: IntArray, q: FloatArray, n: IntArray, width: int
) -> FloatArray:
    product = np.zeros((len(counts), width + 1, width + 1))
    product[:, 0, 0] = 1.0
    unit = n.astype(np.float64)[:, :, None]
    for c in range(q.shape[1]):
        own = counts[:, c].astype(np.float64)[:, None, None]
        chance = q[:, c][:, None, None]
        term = product.copy()
        for m in range(1, min(int(own.max(initial=0)), width) + 1):
            factor = (np.maximum(own - m + 1, 0) / m) / unit
            following = np.zeros_like(term)
            following[:, 1:] = (chance * chance) * term[:, :-1]
            following[:, :, 1:] += chance * term[:, :, :-1]
            term = following * factor
            product += term
    return product


def mean_of_long_group(lo: int, counts: IntArray, q: FloatArray) -> float:
    """Σ_x (E[P_{x-1}] - E[P_x]) / (lo + x) over a whole group, however long.

    As the integral Σ_c n_c (1 - q_c) ∬ u^lo Π_{c'} (1 - s + s u q_c')^(n_c' -
    [c' = c]) du ds over the unit square: s is a document's
    place in the group, u^(lo + places) turns 1/(lo + x) into an integral. With
    s = y⁴ and u = 1 - z⁴ a Gauss-Legendre rule sees no corner.
    """
    s, ds, one_minus_u, u, du = _square()
    logs = [np.log1p(-s * (one_minus_u + u * (1 - qc))) for qc in q]
    total = sum(n * log for n, log in zip(counts.tolist(), logs, strict=True))
    with np.errstate(divide="ignore"):
        total = total + lo * np.log1p(-one_minus_u)
    integrand = sum(
        n * (1 - qc) * np.exp(total - log)
        for n, qc, log in zip(counts.tolist(), q.tolist(), logs, strict=True)
        if n
    )
    return float((integrand * ds * du).sum())


def _square() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(160)
    y, weight = (nodes + 1) / 2, weights / 2
    s, ds = (y**4)[:, None], (4 * y**3 * weight)[:, None]
    one_minus_u, du = (y**4)[None, :], (4 * y**3 * weight)[None, :]
    return s, ds, one_minus_u, 1 - one_minus_u, du
