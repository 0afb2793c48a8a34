"""Expected reciprocal rank, for graded relevance, and its moments under ties.

Mean products over the orders of a tie group: what is left of a user's attention.

A group holds documents of a few classes; each document of class c lets the user
go on with chance q_c. P_x is the chance to pass the first x documents, a product
that depends on the order of the group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._engine import segments
from .._engine.tie_groups import TieGroups, once_per_block
from .._typing import BoolArray, FloatArray, IntArray
from . import _cumulated_gain, _measure, _places, _sampled_orders
from ._measure import Measure


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
        size = counts[:, c : c + 1].astype(np.float64)
        first = ((size > 0) & (so_far == 0))[:, 0]
        merged[first] = np.power(q[first, c : c + 1], x)
        later = (size > 0) & (so_far > 0)
        one = (later & (size == 1))[:, 0]
        if one.any():
            share = x / (so_far[one] + 1)
            before = merged[one]
            with_it = np.maximum(1 - share, 0) * before
            with_it[:, 1:] += share[:, 1:] * q[one, c : c + 1] * before[:, :-1]
            merged[one] = with_it
        more = (later & (size > 1))[:, 0]
        if more.any():
            alone = np.power(q[more, c : c + 1], x)
            merged[more] = _merge(merged[more], so_far[more], alone, size[more])
        so_far += size
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
        size = counts[:, c].astype(np.float64)[:, None, None]
        chance = q[:, c][:, None, None]
        term = product.copy()
        for m in range(1, min(int(size.max(initial=0)), width) + 1):
            factor = (np.maximum(size - m + 1, 0) / m) / unit
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
    nodes, weights = np.polynomial.legendre.leggauss(160)
    y, weight = (nodes[:, None] + 1) / 2, weights[:, None] / 2
    s, ds = y**4, 4 * y**3 * weight
    one_minus_u, u, du = s.T, 1 - s.T, ds.T
    logs = [np.log1p(-s * (one_minus_u + u * (1 - qc))) for qc in q]
    classes = list(zip(counts.tolist(), q.tolist(), logs, strict=True))
    total = sum(n * log for n, _, log in classes)
    with np.errstate(divide="ignore"):
        total = total + lo * np.log1p(-one_minus_u)
    integrand = sum(n * (1 - qc) * np.exp(total - log) for n, qc, log in classes if n)
    return float((integrand * ds * du).sum())


#: whole groups longer than this are integrated
_LONG = 256
#: variances of more places than this are sampled
_MOST_PLACES = 64


class _Mixed(NamedTuple):
    """Groups that mix gains.

    Attributes
    ----------
    group, lo, n : ndarray of shape (n_mixed,)
    places : ndarray of shape (n_mixed,)
        Places above the cut-off and above those that nobody reaches.
    whole : ndarray of shape (n_mixed,), bool
        No cut-off falls into the group.
    n_classes : ndarray of shape (n_mixed,)
        Distinct gains of each group.
    gain, size : ndarray of shape (n_mixed_classes,)
        Of the classes of each group, ascending, one group after another.
    """

    group: IntArray
    lo: IntArray
    n: IntArray
    places: IntArray
    whole: BoolArray
    n_classes: IntArray
    gain: FloatArray
    size: IntArray

    def classes(self, part: IntArray) -> tuple[IntArray, FloatArray]:
        """Counts of some groups, and the chances to go on: (n_part, n_classes)."""
        sizes = self.n_classes[part]
        owner, column = segments.expand(sizes)
        first = segments.starts_of(self.n_classes)[part]
        shape = len(part), int(sizes.max(initial=0))
        counts, chances = np.zeros(shape, dtype=np.int64), np.ones(shape)
        counts[owner, column] = self.size[first[owner] + column]
        chances[owner, column] = 1 - self.gain[first[owner] + column]
        return counts, chances


@dataclass(frozen=True)
class ERR(Measure):
    """Expected reciprocal rank of the document at which the user stops.

    The user reads the list from the top and stops at a document of label l with
    probability (2^l - 1) / 2^max_label.

    Parameters
    ----------
    k : int, optional
        Cut-off. Users who read beyond it add 0.
    max_label : float, default=4
        Highest label of the scale, at most 60. It is never inferred from the data.

    Raises
    ------
    ValueError
        For k < 1, or max_label <= 0 or above 60. When a ranking is measured, for a
        label above `max_label`.

    See Also
    --------
    ReciprocalRank : The reciprocal rank of the first relevant document.
    RBP : A user who reads on whatever the documents are.

    Notes
    -----
    ERR is 0 for queries without a relevant document. The definition is that of
    Chapelle, Metzler, Zhang and Grinspan (2009). Under ties the mean is exact. The
    standard deviation is exact if at most 64 places of each tie group count, as with
    k <= 64. Otherwise, the part of the places after the 64th is estimated from 100 to
    1,000 sampled orders, and reports say so.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import ERR
    >>> ranking_score([4, 0], [1, 1], measure=ERR())
    0.703125
    """

    name = "ERR"
    maximum = 1.0
    k: int | None = _measure.cutoff()
    max_label: float = _measure.number(
        4.0, above=0, most=_cumulated_gain.MAX_EXPONENTIAL_LABEL
    )

    def gains(self, levels: FloatArray) -> FloatArray:
        levels = np.where(np.isinf(levels), self.max_label, levels)
        if len(levels) and levels[-1] > self.max_label:
            raise ValueError(
                f"y_true must be <= max_label={self.max_label:g} for {self}, got "
                f"{levels[-1]:g} (set ERR(max_label=...) to the top of the scale)"
            )
        gains = _cumulated_gain.gains_of("exponential", levels)
        return gains / 2.0**self.max_label

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return 1 / (rank + 1)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        """Of the documents read; ERR itself is Σ L(i)/i over those that satisfy."""
        shown = self._needed(labels)[: self.k]
        levels, label = np.unique(shown, return_inverse=True)
        stops = self.gains(levels)[label]
        views = np.concatenate([[1.0], np.cumprod(1 - stops)])[: len(shown)]
        return _measure.from_views(views)

    @once_per_block
    def _passed(self, groups: TieGroups) -> FloatArray:
        """Chance to get past all documents above each group."""
        passed = np.ones(len(groups.n))
        go_on = 1 - self.gains_of(groups)[groups.label]
        through = np.multiply.reduceat(go_on, groups.start)
        sizes = groups.n_groups_of_query
        first = segments.starts_of(sizes)
        # a running product of each query's groups alone
        for query in np.flatnonzero(sizes > 1).tolist():
            above = slice(first[query], first[query] + sizes[query] - 1)
            np.multiply.accumulate(through[above], out=passed[1:][above])
        return passed

    @once_per_block
    def _mixed(self, groups: TieGroups) -> _Mixed:
        gains = self.gains_of(groups)
        gain = gains[groups.label]
        inside = groups.inside(self.k)
        differ = gain[groups.start] < gain[groups.start + groups.n - 1]
        # no user reaches the others
        reached = self._passed(groups) > _places.NOTHING
        chosen = np.flatnonzero(differ & reached & (inside > 0))
        owner, place = segments.expand(groups.n[chosen])
        gain_of_place = gain[groups.start[chosen][owner] + place]
        # labels ascend within a group: equal gains stand together
        new = segments.begins(gain_of_place) | segments.begins(owner)
        first = np.flatnonzero(new)
        means = groups.gain_means(gains)[chosen]
        return _Mixed(
            chosen,
            groups.lo[chosen],
            groups.n[chosen],
            np.minimum(inside[chosen], _places.hopeless_after(1 - means)),
            inside[chosen] == groups.n[chosen],
            np.bincount(owner[first], minlength=len(chosen)),
            gain_of_place[first],
            segments.sizes_of(first, len(owner)),
        )

    def numerator(self, groups: TieGroups) -> FloatArray:
        gains = self.gains_of(groups)
        mixed = self._mixed(groups)

        pure = gains[groups.label[groups.start]]
        pure[mixed.group] = 0.0
        places = groups.documents(self.k)
        chosen = pure[places.group] > 0
        owner, rank = places.group[chosen], places.rank[chosen]
        gone_on = (1 - pure[owner]) ** (rank - groups.lo[owner])
        counts = np.where(pure > 0, groups.inside(self.k), 0)
        worth = segments.sum_segments(gone_on * pure[owner] / (rank + 1), counts)

        long = mixed.whole & (mixed.places > _LONG)
        for i in np.flatnonzero(long).tolist():
            counts, chances = mixed.classes(np.array([i]))
            worth[mixed.group[i]] = mean_of_long_group(
                mixed.lo[i], counts[0], chances[0]
            )
        short = np.flatnonzero(~long)
        for width, batch in _places.widths(mixed.places[short]):
            part = short[batch]
            left = mean_products(*mixed.classes(part), width)
            x = np.arange(1, width + 1)
            stopped = (left[:, :-1] - left[:, 1:]) / (mixed.lo[part, None] + x)
            stopped[x > mixed.places[part, None]] = 0.0
            worth[mixed.group[part]] = stopped.sum(axis=1)
        return groups.sum_groups(self._passed(groups) * worth)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator, a sum over independent groups.

        With P_x the chance to pass the first x of a group, its part is
        Σ_x c_x P_x, c_x = 1/(lo + x + 1) - 1/(lo + x), c_kk = -1/(lo + kk).
        """
        mixed = self._mixed(groups)
        variance = np.zeros(len(groups.n))
        places = np.minimum(mixed.places, _MOST_PLACES)
        for width, part in _places.widths(places, 2):
            exact = _exact_variance(mixed, part, places[part], width)
            variance[mixed.group[part]] = exact
        for i in np.flatnonzero(mixed.places > _MOST_PLACES).tolist():
            counts, chances = mixed.classes(np.array([i]))
            variance[mixed.group[i]] += _sampled_variance(
                mixed.lo[i], mixed.places[i], counts[0], chances[0]
            )
        variance = np.maximum(variance, 0.0)
        of_queries = groups.sum_groups(self._passed(groups) ** 2 * variance)
        # nothing spreads beyond half its range (Popoviciu), whatever the rounding
        best = self.extreme(groups, best=True)
        worst = self.extreme(groups, best=False)
        return np.minimum(of_queries, ((best - worst) / 2) ** 2)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        mixed = self._mixed(groups)
        sampled = np.zeros(len(groups.n))
        sampled[mixed.group] = mixed.places > _MOST_PLACES
        return np.minimum(groups.sum_groups(sampled), 1.0)


def _exact_variance(
    mixed: _Mixed, part: IntArray, inside: IntArray, width: int
) -> FloatArray:
    """Of what the first `inside` places of some groups add."""
    double = mean_double_products(*mixed.classes(part), width)
    x = np.arange(1, width + 1)
    places = inside[:, None]
    rank = mixed.lo[part, None] + x
    weight = np.where(x < places, -1.0 / (rank * (rank + 1.0)), -1.0 / rank)
    # no order changes what passes a whole group
    weight[(x > places) | (x >= mixed.n[part, None])] = 0.0
    means = double[:, 0, 1:]
    at, after = np.triu_indices(width)
    covariance = double[:, at + 1, after - at] - means[:, at] * means[:, after]
    # one row per group in memory: a row's sum is then the same in any batch
    terms = np.ascontiguousarray(weight[:, at] * weight[:, after] * covariance)
    terms[:, at < after] *= 2.0
    return np.maximum(terms.sum(axis=1), 0.0)


def _sampled_variance(lo: int, places: int, counts: IntArray, q: FloatArray) -> float:
    """The share of the variance that places below the first `_MOST_PLACES` add.

    With A and B the sums above and below there, 2 Cov(A, B) + Var(B): B is
    never large, so that a few orders tell.
    """
    n, stops = int(counts.sum()), np.repeat(1 - q, counts)
    rng = _sampled_orders.generator(stops, np.array([lo, places]))
    some = stops[stops > 0]
    if len(some) == 0:
        # gains that 1 swallows
        return 0.0
    if 4 * len(some) < places:
        # few documents matter: where they stand, and in which order
        orders = _sampled_orders.n_orders(len(some))
        at = _sampled_orders.places_of(rng, n, len(some), orders)
        drawn = _sampled_orders.first_places(rng, some, len(some), orders)
    else:
        at, orders = np.arange(1, places + 1), _sampled_orders.n_orders(places)
        drawn = _sampled_orders.first_places(rng, stops, places, orders)
    reached = np.ones_like(drawn)
    np.multiply.accumulate(1 - drawn[:, :-1], axis=1, out=reached[:, 1:])
    values = reached * drawn / (lo + at)
    first = (values * (at <= _MOST_PLACES)).sum(axis=1)
    below = (values * ((at > _MOST_PLACES) & (at <= places))).sum(axis=1)
    covariance = np.cov(first, below)
    return float(2 * covariance[0, 1] + covariance[1, 1])
