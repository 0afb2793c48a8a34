"""Expected reciprocal rank, for graded relevance, and its moments under ties.

A group holds documents of a few classes. Each document of gain g stops the user with
chance g. L_x is the chance to stop at one of the first x documents, 1 - Π (1 - g),
which depends on the order of the group. Gains may be far below the spacing of floats
near 1, so everything is computed from gains and L, and never from 1 - L.
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


def _class_alone(gain: FloatArray, width: int) -> FloatArray:
    """L_x for x = 0 ... width of documents that all have this gain, a row for each."""
    stopped = np.zeros((len(gain), width + 1))
    stopped[:, 1:] = np.cumsum(gain * np.power(1 - gain, np.arange(width)), axis=1)
    return stopped


def mean_stops(counts: IntArray, gain: FloatArray, width: int) -> FloatArray:
    """E[L_x] for x = 0 ... width of groups with `counts` and `gain` per class.

    Both have shape (n_groups, n_classes); classes without documents pad a row.
    Classes A and B merge as E^{AB}_x = Σ_j Hyp(j; x, |A|, |B|) (E^A_j +
    (1 - E^A_j) E^B_{x-j}). The hypergeometric row of x + 1 draws comes from that of x:
    all terms are positive, none is large. One document more is
    E_x <- (1 - x/m) E_x + x/m (g + (1 - g) E_{x-1}), m counting it.
    """
    x = np.arange(width + 1)
    merged = _class_alone(gain[:, :1], width)
    above = counts[:, :1].astype(np.float64)
    for c in range(1, gain.shape[1]):
        size, stop = counts[:, c], gain[:, c : c + 1]
        if (one := size == 1).any():
            share = x / (above[one] + 1)
            before = merged[one]
            merged[one] = np.maximum(1 - share, 0) * before
            joined = stop[one] + (1 - stop[one]) * before[:, :-1]
            merged[one, 1:] += share[:, 1:] * joined
        if (more := size > 1).any():
            alone = _class_alone(stop[more], width)
            merged[more] = _merge(merged[more], above[more], alone, size[more, None])
        above += size[:, None]
    return merged


def _merge(ea: FloatArray, a: FloatArray, eb: FloatArray, b: IntArray) -> FloatArray:
    width = ea.shape[1]
    out = np.empty_like(ea)
    chance = np.zeros((len(ea), width + 1))
    chance[:, 0] = 1.0
    j = np.arange(width)
    passed = 1 - ea
    for x in range(width):
        drawn = np.s_[:, : x + 1]
        row = chance[drawn]
        stopped = ea[drawn] + passed[drawn] * eb[:, x::-1]
        out[:, x] = (row * stopped).sum(axis=1)
        left = np.maximum(a + b - x, 1)
        from_a = row * (np.maximum(a - j[: x + 1], 0) / left)
        row *= np.maximum(b - (x - j[: x + 1]), 0) / left
        chance[:, 1 : x + 2] += from_a
    return out


def covariances(counts: IntArray, gain: FloatArray, width: int) -> FloatArray:
    """Cov(L_x, L_y) as [group, x, y], right for x <= y <= width.

    Gains may be negative. If their mean is about 0, nothing cancels.

    A class of b documents joins n - b others. If j of its documents are among the first
    y, each of them at any place, the last of these is among the first x with chance
    x/y, and turns L_x and L_y into g + (1 - g) L_{x-1} and g + (1 - g) L_{y-1};
    otherwise it leaves L_x. So the means given j come from those given j - 1. They are
    kept times C(y, x), so that x/y is not needed.
    """
    drawn = np.arange(width)
    binomial = np.zeros((width + 1, width + 1))
    binomial[0] = 1.0
    for y in range(width):
        binomial[1:, y + 1] = binomial[1:, y] + binomial[:-1, y]
    mean = _class_alone(gain[:, :1], width)
    product = binomial * mean[:, :, None] * mean[:, None]
    above = counts[:, :1]
    for c in range(1, gain.shape[1]):
        size = counts[:, c : c + 1]
        n = above + size
        stop = gain[:, c, None, None]
        go_on = 1 - stop
        stopping = stop * binomial[:-1, :-1]
        # that none of its documents is among the first y
        chance = np.ones_like(mean)
        left = np.maximum(n - drawn, 1)
        chance[:, 1:] = np.cumprod(np.maximum(above - drawn, 0) / left, axis=1)
        both = product
        first = binomial * mean[:, :, None]
        last = mean[:, None]
        product = chance[:, None] * both
        mean = chance * mean
        for j in range(1, min(int(size.max(initial=0)), width) + 1):
            ratio = np.maximum(size - j + 1, 0) * (drawn + 1) / (j * left)
            chance[:, 1:] = chance[:, :-1] * ratio
            chance[:, 0] = 0.0
            last[:, :, 1:] = stop + go_on * last[:, :, :-1]
            stay = go_on * both[:, :, :-1] + stop * first[:, :, :-1]
            join = go_on * stay[:, :-1] + stopping * last[:, :, 1:]
            both[:, 1:, 1:] = stay[:, 1:] + join
            first[:, 1:, 1:] = first[:, 1:, :-1] + go_on * first[:, :-1, :-1] + stopping
            product += chance[:, None] * both
            mean += chance * last[:, 0]
        above = n
    product /= np.maximum(binomial, 1)
    return product - mean[:, :, None] * mean[:, None]


def mean_of_long_group(lo: int, counts: IntArray, gain: FloatArray) -> float:
    """Σ_x (E[L_x] - E[L_{x-1}]) / (lo + x) over a whole group, however long.

    As the integral Σ_c n_c g_c ∬ u^lo Π_{c'} (1 - s + s u (1 - g_c'))^(n_c' -
    [c' = c]) du ds over the unit square: s is a document's
    place in the group, u^(lo + places) turns 1/(lo + x) into an integral. With
    s = y⁴ and u = 1 - z⁴ a Gauss-Legendre rule sees no corner.
    """
    nodes, weights = np.polynomial.legendre.leggauss(160)
    y, weight = (nodes[:, None] + 1) / 2, weights[:, None] / 2
    s, ds = y**4, 4 * y**3 * weight
    one_minus_u, u, du = s.T, 1 - s.T, ds.T
    logs = [np.log1p(-s * (one_minus_u + u * g)) for g in gain]
    classes = list(zip(counts.tolist(), gain.tolist(), logs, strict=True))
    total = sum(n * log for n, _, log in classes)
    with np.errstate(divide="ignore"):
        total = total + lo * np.log1p(-one_minus_u)
    integrand = sum(n * g * np.exp(total - log) for n, g, log in classes if n)
    return float((integrand * ds * du).sum())


#: whole groups longer than this are integrated
_LONG = 256
#: variances of more places than this are sampled
_MOST_PLACES = 64
#: covariances in memory at a time, which fit the cache
_COVARIANCES = 1 << 15


class _Mixed(NamedTuple):
    """Groups that mix gains.

    Attributes
    ----------
    group, lo, n : ndarray of shape (n_mixed,)
    places : ndarray of shape (n_mixed,)
        Places above the cut-off and above those that nobody reaches.
    whole : ndarray of shape (n_mixed,), bool
        No cut-off falls into the group.
    mean : ndarray of shape (n_mixed,)
        Mean gain of each group.
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
    mean: FloatArray
    n_classes: IntArray
    gain: FloatArray
    size: IntArray

    def classes(self, part: IntArray) -> tuple[IntArray, FloatArray]:
        """Counts of some groups, and gains: (n_part, n_classes)."""
        sizes = self.n_classes[part]
        owner, column = segments.expand(sizes)
        first = segments.starts_of(self.n_classes)[part]
        shape = len(part), int(sizes.max(initial=0))
        counts, gain = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        counts[owner, column] = self.size[first[owner] + column]
        gain[owner, column] = self.gain[first[owner] + column]
        return counts, gain

    def weights(self, part: IntArray, places: IntArray, width: int) -> FloatArray:
        """Of L_1 ... L_width in the sum Σ_x (L_x - L_{x-1}) / (lo + x) over places."""
        x = np.arange(1, width + 1)
        places = places[:, None]
        rank = self.lo[part, None] + x
        weight = 1.0 / np.where(x < places, rank * (rank + 1.0), rank)
        weight[x > places] = 0.0
        return weight


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
        shown = self._required(labels)[: self.k]
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
        # equal gains of a group stand together
        gain = gains[groups.labels_by(gains)]
        inside = groups.inside(self.k)
        differ = gain[groups.start] < gain[groups.start + groups.n - 1]
        # no user reaches the others
        reached = self._passed(groups) > _places.NOTHING
        chosen = np.flatnonzero(differ & reached & (inside > 0))
        owner, place = segments.expand(groups.n[chosen])
        gain_of_place = gain[groups.start[chosen][owner] + place]
        new = segments.begins(gain_of_place) | segments.begins(owner)
        first = np.flatnonzero(new)
        means = groups.gain_means(gains)[chosen]
        return _Mixed(
            chosen,
            groups.lo[chosen],
            groups.n[chosen],
            np.minimum(inside[chosen], _places.hopeless_after(1 - means)),
            inside[chosen] == groups.n[chosen],
            means,
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
            counts, gain = mixed.classes(np.array([i]))
            worth[mixed.group[i]] = mean_of_long_group(mixed.lo[i], counts[0], gain[0])
        short = np.flatnonzero(~long)
        for width, batch in _places.widths(mixed.places[short]):
            part = short[batch]
            stopped = mean_stops(*mixed.classes(part), width)[:, 1:]
            stopped *= mixed.weights(part, mixed.places[part], width)
            worth[mixed.group[part]] = stopped.sum(axis=1)
        return groups.sum_groups(self._passed(groups) * worth)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator, a sum over independent groups."""
        mixed = self._mixed(groups)
        variance = np.zeros(len(groups.n))
        places = np.minimum(mixed.places, _MOST_PLACES)
        for width, part in _places.widths(places, 2, _COVARIANCES):
            exact = _exact_variance(mixed, part, places[part], width)
            variance[mixed.group[part]] = exact
        for i in np.flatnonzero(mixed.places > _MOST_PLACES).tolist():
            counts, gain = mixed.classes(np.array([i]))
            variance[mixed.group[i]] += _sampled_variance(
                mixed.lo[i], mixed.places[i], counts[0], gain[0]
            )
        variance = np.maximum(variance, 0.0)
        return groups.sum_groups(self._passed(groups) ** 2 * variance)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        mixed = self._mixed(groups)
        sampled = np.zeros(len(groups.n))
        sampled[mixed.group] = mixed.places > _MOST_PLACES
        return np.minimum(groups.sum_groups(sampled), 1.0)


def _exact_variance(
    mixed: _Mixed, part: IntArray, inside: IntArray, width: int
) -> FloatArray:
    """Of what the first `inside` places of some groups add.

    With the mean gain ḡ and h = (g - ḡ)/(1 - ḡ), chances 1 - g are 1 - ḡ times 1 - h,
    and P_x = 1 - L_x is (1 - ḡ)^x times its value for gains h.
    """
    counts, gain = mixed.classes(part)
    mean = mixed.mean[part, None]
    go_on = np.maximum(1 - mean, _places.NOTHING)
    gain = np.where(counts > 0, gain - mean, 0.0) / go_on
    x = np.arange(1, width + 1)
    weight = mixed.weights(part, inside, width) * go_on**x
    # no order changes what passes a whole group
    weight[x >= mixed.n[part, None]] = 0.0
    at, after = np.triu_indices(width)
    covariance = covariances(counts, gain, width)[:, at + 1, after + 1]
    # one row per group in memory: a row's sum is then the same in any batch
    terms = np.ascontiguousarray(weight[:, at] * weight[:, after] * covariance)
    terms[:, at < after] *= 2.0
    return terms.sum(axis=1)


def _sampled_variance(
    lo: int, places: int, counts: IntArray, gain: FloatArray
) -> float:
    """The share of the variance that places below the first `_MOST_PLACES` add.

    With A and B the sums above and below there, 2 Cov(A, B) + Var(B): B is
    never large, so that a few orders tell.
    """
    n, stops = int(counts.sum()), np.repeat(gain, counts)
    rng = _sampled_orders.generator(stops, np.array([lo, places]))
    some = stops[stops > 0]
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
