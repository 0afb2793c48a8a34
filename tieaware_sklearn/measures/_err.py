"""Expected reciprocal rank, for graded relevance, and its moments under ties.

A group contains documents of a few classes. Each document of gain g stops the user with
probability g. L_x is the probability that the user stops at one of the first x
documents, 1 - Π (1 - g), which depends on the order of the group. Gains may be far
below the spacing of floats near 1, so everything is computed from gains and L, and
nothing is computed from 1 - L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._engine import segments
from .._engine.tie_groups import TieGroups, once_per_block
from .._typing import BoolArray, FloatArray, IntArray
from . import _cumulated_gain, _measure, _places, _sampled_orders
from ._measure import Measure


def _stops_of_class(gain: FloatArray, width: int) -> FloatArray:
    """Return L_x for x = 0 ... width, in a row for each class."""
    stopped = np.zeros((len(gain), width + 1))
    passed = np.power(1 - gain, np.arange(width))
    stopped[:, 1:] = np.cumsum(gain * passed, axis=1)
    return stopped


def mean_stops(counts: IntArray, gain: FloatArray, width: int) -> FloatArray:
    """Return E[L_x] for x = 0 ... width of groups with `counts` and `gain` per class.

    Both arrays have shape (n_groups, n_classes). Classes without documents pad a row.
    Classes A and B merge as E^{AB}_x = Σ_j Hyp(j; x, |A|, |B|) (E^A_j +
    (1 - E^A_j) E^B_{x-j}). The hypergeometric row of x + 1 draws comes from the row of
    x draws. All terms are positive, and none is large. If a single document joins, as
    the m-th, E_x becomes (1 - x/m) E_x + x/m (g + (1 - g) E_{x-1}).
    """
    x = np.arange(width + 1)
    merged = _stops_of_class(gain[:, :1], width)
    n_merged = counts[:, :1]
    for c in range(1, gain.shape[1]):
        size = counts[:, c]
        stop = gain[:, c : c + 1]
        is_single = size == 1
        if is_single.any():
            share = x / (n_merged[is_single] + 1)
            before = merged[is_single]
            single_stop = stop[is_single]
            joined = single_stop + (1 - single_stop) * before[:, :-1]
            before *= np.maximum(1 - share, 0)
            before[:, 1:] += share[:, 1:] * joined
            merged[is_single] = before
        is_larger = size > 1
        if is_larger.any():
            stops = _stops_of_class(stop[is_larger], width)
            n_larger = size[is_larger, None]
            merged[is_larger] = _merge(
                merged[is_larger], n_merged[is_larger], stops, n_larger
            )
        n_merged = n_merged + size[:, None]
    return merged


def _merge(
    stops_a: FloatArray, size_a: IntArray, stops_b: FloatArray, size_b: IntArray
) -> FloatArray:
    """Return E[L_x] of classes A and B together, from E[L_x] of each class."""
    width = stops_a.shape[1]
    merged = np.empty_like(stops_a)
    # Chance that j documents of A are among the first x.
    chance = np.zeros((len(stops_a), width + 1))
    chance[:, 0] = 1.0
    passed_a = 1 - stops_a
    n_from_a = np.arange(width)
    for x in range(width):
        j = n_from_a[: x + 1]
        row = chance[:, : x + 1]
        stopped = passed_a[:, : x + 1] * stops_b[:, x::-1]
        stopped += stops_a[:, : x + 1]
        merged[:, x] = (row * stopped).sum(axis=1)
        n_left = np.maximum(size_a + size_b - x, 1)
        drawn_from_a = row * (np.maximum(size_a - j, 0) / n_left)
        row *= np.maximum(size_b - (x - j), 0) / n_left
        chance[:, 1 : x + 2] += drawn_from_a
    return merged


def covariances(counts: IntArray, gain: FloatArray, width: int) -> FloatArray:
    """Return Cov(L_x, L_y) as [group, x, y], right for x <= y <= width.

    Gains may be negative. If their mean is about 0, nothing cancels.

    A class of b documents joins n - b documents. If j documents of the class are among
    the first y, at random places, the last of the j documents is among the first x with
    probability x/y, and turns L_x and L_y into g + (1 - g) L_{x-1} and
    g + (1 - g) L_{y-1}. Otherwise L_x does not change. So the means given j follow from
    the means given j - 1. The means are multiplied by C(y, x), so that x/y is not
    needed.
    """
    n_drawn = np.arange(width)
    binomial = np.zeros((width + 1, width + 1))
    binomial[0] = 1.0
    for y in range(width):
        binomial[1:, y + 1] = binomial[1:, y] + binomial[:-1, y]
    mean = _stops_of_class(gain[:, :1], width)
    product = binomial * mean[:, :, None] * mean[:, None]
    n_merged = counts[:, :1]
    for c in range(1, gain.shape[1]):
        size = counts[:, c : c + 1]
        n = n_merged + size
        stop = gain[:, c, None, None]
        go_on = 1 - stop
        stopping = stop * binomial[:-1, :-1]
        # Chance that no document of the class is among the first y.
        chance = np.ones_like(mean)
        n_left = np.maximum(n - n_drawn, 1)
        ratio = np.maximum(n_merged - n_drawn, 0) / n_left
        chance[:, 1:] = np.cumprod(ratio, axis=1)
        # The means, given j, of C(y, x) L_x L_y, of C(y, x) L_x, and of L_y.
        both = product
        first = binomial * mean[:, :, None]
        last = mean[:, None]
        product = chance[:, None] * both
        mean = chance * mean
        most = min(size.max(initial=0), width)
        for j in range(1, most + 1):
            ratio = np.maximum(size - j + 1, 0) * (n_drawn + 1) / (j * n_left)
            chance[:, 1:] = chance[:, :-1] * ratio
            chance[:, 0] = 0.0
            last[:, :, 1:] = stop + go_on * last[:, :, :-1]
            stay = go_on * both[:, :, :-1] + stop * first[:, :, :-1]
            join = go_on * stay[:, :-1] + stopping * last[:, :, 1:]
            both[:, 1:, 1:] = stay[:, 1:] + join
            joined = go_on * first[:, :-1, :-1]
            joined += first[:, 1:, :-1]
            first[:, 1:, 1:] = joined + stopping
            product += chance[:, None] * both
            mean += chance * last[:, 0]
        n_merged = n
    product /= np.maximum(binomial, 1)
    return product - mean[:, :, None] * mean[:, None]


def mean_of_long_group(lo: int, counts: IntArray, gain: FloatArray) -> float:
    """Return Σ_x (E[L_x] - E[L_{x-1}]) / (lo + x) over a whole group, however long.

    The sum is the integral Σ_c n_c g_c ∬ u^lo Π_{c'} (1 - s + s u (1 - g_c'))^(n_c' -
    [c' = c]) du ds over the unit square. The place of a document in the group is s. The
    integral of u^(lo + x - 1) over u is 1/(lo + x). With s = y⁴ and u = 1 - z⁴, the
    integrand has no corner, so a Gauss-Legendre rule is precise.
    """
    nodes, weights = np.polynomial.legendre.leggauss(160)
    y = (nodes[:, None] + 1) / 2
    weight = weights[:, None] / 2
    s = y**4
    ds = 4 * y**3 * weight
    one_minus_u = s.T
    u = 1 - one_minus_u
    du = ds.T
    logs = []
    for class_gain in gain:
        logs.append(np.log1p(-s * (one_minus_u + u * class_gain)))
    classes = list(zip(counts.tolist(), gain.tolist(), logs, strict=True))
    total = sum(n * log for n, _, log in classes)
    with np.errstate(divide="ignore"):
        total = total + lo * np.log1p(-one_minus_u)
    integrand = sum(n * g * np.exp(total - log) for n, g, log in classes if n)
    return float((integrand * ds * du).sum())


#: Maximum number of documents in a whole group whose places are summed. Longer groups
#: are integrated.
_LONG = 256
#: Maximum number of places whose variance is exact. Variances of more places are
#: sampled.
_MOST_PLACES = 64
#: Maximum number of covariances in a batch, which then fits in the cache.
_COVARIANCES = 1 << 15


class _Mixed(NamedTuple):
    """Groups that mix gains.

    Attributes
    ----------
    group, lo, n : ndarray of shape (n_mixed,)
        Index of each group, number of documents above it, and number of its documents.
    places : ndarray of shape (n_mixed,)
        Number of places above the cut-off, not counting places that hardly any user
        reaches.
    whole : ndarray of shape (n_mixed,), bool
        Whether all places of the group are above the cut-off.
    mean : ndarray of shape (n_mixed,)
        Mean gain of each group.
    n_classes : ndarray of shape (n_mixed,)
        Number of distinct gains of each group.
    gain, size : ndarray of shape (n_mixed_classes,)
        Gain and size of the classes of each group, in ascending order of gain, one
        group after another.
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
        """Return sizes and gains of the classes of some groups, (n_part, n_classes)."""
        n_classes = self.n_classes[part]
        owner, column = segments.expand(n_classes)
        starts = segments.starts_of(self.n_classes)
        index = starts[part][owner] + column
        shape = (len(part), n_classes.max(initial=0))
        counts = np.zeros(shape, dtype=np.int64)
        counts[owner, column] = self.size[index]
        gain = np.zeros(shape)
        gain[owner, column] = self.gain[index]
        return counts, gain

    def weights(self, part: IntArray, places: IntArray, width: int) -> FloatArray:
        """Return the weights of L_1 ... L_width in Σ_x (L_x - L_{x-1}) / (lo + x)."""
        x = np.arange(1, width + 1)
        places = places[:, None]
        rank = self.lo[part, None] + x
        divisor = np.where(x < places, rank * (rank + 1.0), rank)
        return np.where(x > places, 0.0, 1.0 / divisor)


@dataclass(frozen=True)
class ERR(Measure):
    """Expected reciprocal rank of the document at which the user stops.

    The user reads the list from the top. At each document that the user reads, the
    probability of stopping is (2^l - 1) / 2^max_label, where l is the label of the
    document.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Users who read beyond the cut-off add
        0 to the value. Without a cut-off, every retrieved document counts.
    max_label : float, default=4
        Highest label of the scale, above 0 and at most 60. `max_label` is not derived
        from the data.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if `max_label` is
        not above 0 and at most 60. When a ranking is measured, a label above
        `max_label` also raises a ValueError.

    See Also
    --------
    ReciprocalRank : The reciprocal rank of the first relevant document.
    RBP : Models a user who reads on with the same probability from every document.

    Notes
    -----
    ERR is 0 for queries in which no label is above 0. Chapelle, Metzler, Zhang and
    Grinspan (2009) define ERR. Under ties, the mean is exact. The standard deviation is
    exact if k <= 64, or if each tie group contains at most 64 documents. In a longer
    tie group, the contribution of the places after the 64th may be estimated from 100
    to 1,000 sampled orders. If so, reports show that the standard deviation is an
    estimate.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import ERR
    >>> ranking_score([4, 0], [1, 1], measure=ERR())
    0.703125
    """

    name = "ERR"
    maximum = 1.0
    k: Any = _measure.cutoff()
    max_label: float = _measure.number(
        4.0, above=0, most=_cumulated_gain.MAX_EXPONENTIAL_LABEL
    )

    def gains(self, levels: FloatArray) -> FloatArray:
        # `residuals` gives the best possible document an infinite label.
        levels = np.where(np.isinf(levels), self.max_label, levels)
        if len(levels) and levels[-1] > self.max_label:
            raise ValueError(
                f"a label must be <= max_label={self.max_label:g} for {self}, got "
                f"{levels[-1]:g}: set max_label of ERR to the highest label"
            )
        gains = _cumulated_gain.gains_of("exponential", levels)
        return gains / 2.0**self.max_label

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return 1 / (rank + 1)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        """Return W of the documents that users read. ERR is Σ L(i)/i."""
        shown = self._required(labels)[: self.k]
        levels, label = np.unique(shown, return_inverse=True)
        go_on = 1 - self.gains(levels)[label]
        views = np.append(1.0, np.cumprod(go_on))
        return _measure.from_views(views[: len(shown)])

    @once_per_block
    def _passed(self, groups: TieGroups) -> FloatArray:
        """Return the probability that users pass all documents above each group."""
        passed = np.ones(len(groups.n))
        go_on = 1 - self.gains_of(groups)[groups.label]
        group_passed = np.multiply.reduceat(go_on, groups.start)
        sizes = groups.n_groups_of_query
        first = segments.starts_of(sizes)
        # The running product starts anew in each query.
        for query in np.flatnonzero(sizes > 1).tolist():
            above = slice(first[query], first[query] + sizes[query] - 1)
            np.multiply.accumulate(group_passed[above], out=passed[1:][above])
        return passed

    @once_per_block
    def _mixed(self, groups: TieGroups) -> _Mixed:
        gains = self.gains_of(groups)
        # Equal gains of a group are adjacent.
        gain = gains[groups.labels_by(gains)]
        inside = groups.inside(self.k)
        last = groups.start + groups.n - 1
        is_mixed = gain[groups.start] < gain[last]
        is_reached = self._passed(groups) > _places.NOTHING
        chosen = np.flatnonzero(is_mixed & is_reached & (inside > 0))
        n = groups.n[chosen]
        inside = inside[chosen]
        rows = segments.consecutive(groups.start[chosen], n)
        owner = segments.owners(n)
        gain = gain[rows]
        is_start = segments.begins(gain) | segments.begins(owner)
        starts = np.flatnonzero(is_start)
        lo = groups.lo[chosen]
        mean = groups.gain_means(gains)[chosen]
        places = np.minimum(inside, _places.hopeless_after(1 - mean))
        whole = inside == n
        n_classes = np.bincount(owner[starts], minlength=len(chosen))
        size = segments.sizes_of(starts, len(owner))
        return _Mixed(chosen, lo, n, places, whole, mean, n_classes, gain[starts], size)

    def numerator(self, groups: TieGroups) -> FloatArray:
        gains = self.gains_of(groups)
        mixed = self._mixed(groups)

        # In a group with a single gain, the first document has the gain of the group.
        gain = gains[groups.label[groups.start]]
        gain[mixed.group] = 0.0
        places = groups.documents(self.k)
        chosen = gain[places.group] > 0
        owner, rank = places.group[chosen], places.rank[chosen]
        gone_on = (1 - gain[owner]) ** (rank - groups.lo[owner])
        counts = np.where(gain > 0, groups.inside(self.k), 0)
        terms = gone_on * gain[owner] / (rank + 1)
        values = segments.sum_segments(terms, counts)

        is_long = mixed.whole & (mixed.places > _LONG)
        for i in np.flatnonzero(is_long).tolist():
            (sizes,), (class_gains,) = mixed.classes(np.array([i]))
            value = mean_of_long_group(mixed.lo[i], sizes, class_gains)
            values[mixed.group[i]] = value
        short = np.flatnonzero(~is_long)
        for width, batch in _places.widths(mixed.places[short]):
            part = short[batch]
            sizes, class_gains = mixed.classes(part)
            stopped = mean_stops(sizes, class_gains, width)[:, 1:]
            stopped *= mixed.weights(part, mixed.places[part], width)
            values[mixed.group[part]] = stopped.sum(axis=1)
        return groups.sum_groups(self._passed(groups) * values)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator, a sum over independent groups."""
        mixed = self._mixed(groups)
        variance = np.zeros(len(groups.n))
        places = np.minimum(mixed.places, _MOST_PLACES)
        for width, part in _places.widths(places, 2, _COVARIANCES):
            exact = _exact_variance(mixed, part, places[part], width)
            variance[mixed.group[part]] = exact
        for i in np.flatnonzero(mixed.places > _MOST_PLACES).tolist():
            (sizes,), (gain,) = mixed.classes(np.array([i]))
            sampled = _sampled_variance(mixed.lo[i], mixed.places[i], sizes, gain)
            variance[mixed.group[i]] += sampled
        variance = np.maximum(variance, 0.0)
        return groups.sum_groups(self._passed(groups) ** 2 * variance)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        mixed = self._mixed(groups)
        is_sampled = np.zeros(len(groups.n))
        is_sampled[mixed.group] = mixed.places > _MOST_PLACES
        return np.minimum(groups.sum_groups(is_sampled), 1.0)


def _exact_variance(
    mixed: _Mixed, part: IntArray, inside: IntArray, width: int
) -> FloatArray:
    """Return the variance of the sum that the first `inside` places of groups add.

    With the mean gain ḡ and h = (g - ḡ)/(1 - ḡ), the chance 1 - g is (1 - ḡ)(1 - h),
    and P_x = 1 - L_x is (1 - ḡ)^x times P_x for gains h.
    """
    counts, gain = mixed.classes(part)
    mean = mixed.mean[part, None]
    go_on = np.maximum(1 - mean, _places.NOTHING)
    gain = np.where(counts > 0, gain - mean, 0.0) / go_on
    x = np.arange(1, width + 1)
    weight = mixed.weights(part, inside, width) * go_on**x
    # The chance of passing a whole group is the same in every order.
    weight[x >= mixed.n[part, None]] = 0.0
    row, column = np.triu_indices(width)
    covariance = covariances(counts, gain, width)[:, row + 1, column + 1]
    products = weight[:, row] * weight[:, column] * covariance
    # The row of each group is contiguous, so that the row's sum is the same in any
    # batch.
    terms = np.ascontiguousarray(products)
    terms[:, row < column] *= 2.0
    return terms.sum(axis=1)


def _sampled_variance(
    lo: int, places: int, counts: IntArray, gain: FloatArray
) -> float:
    """Return the part of the variance that is due to places after the first 64.

    If A is the sum over the first 64 places and B the sum over the further places, the
    part is 2 Cov(A, B) + Var(B). B is never large, so a few orders suffice.
    """
    n = counts.sum()
    stops = np.repeat(gain, counts)
    rng = _sampled_orders.generator(stops, np.array([lo, places]))
    positive = stops[stops > 0]
    n_positive = len(positive)
    if 4 * n_positive < places:
        # Only the places and the order of a few documents matter.
        orders = _sampled_orders.n_orders(n_positive)
        place = _sampled_orders.places_of(rng, n, n_positive, orders)
        drawn = _sampled_orders.first_places(rng, positive, n_positive, orders)
    else:
        orders = _sampled_orders.n_orders(places)
        place = np.arange(1, places + 1)
        drawn = _sampled_orders.first_places(rng, stops, places, orders)
    reached = np.ones_like(drawn)
    go_on = 1 - drawn[:, :-1]
    np.multiply.accumulate(go_on, axis=1, out=reached[:, 1:])
    values = reached * drawn / (lo + place)
    is_first = place <= _MOST_PLACES
    is_further = ~is_first & (place <= places)
    first = (values * is_first).sum(axis=1)
    further = (values * is_further).sum(axis=1)
    covariance = np.cov(first, further)
    return float(2 * covariance[0, 1] + covariance[1, 1])
