"""Expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._engine.segments import expand, sizes_of, starts_of, sum_segments
from .._engine.ties import FloatArray, IntArray, TieGroups, once_per_block
from ._base import BoolArray, Measure
from ._err_under_ties import (
    NOTHING,
    hopeless_after,
    mean_double_products,
    mean_of_long_group,
    mean_products,
    widths,
)
from ._fields import cutoff, number
from ._gains import MAX_EXPONENTIAL_LABEL, gains_of
from ._sampled_places import first_places, generator, n_orders, places_of
from ._user_models import from_views

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
        owner, column = expand(sizes)
        first = starts_of(self.n_classes)[part]
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
        For k < 1, or max_label <= 0 or above 60; when a ranking is measured, for a
        label above `max_label`.

    See Also
    --------
    ReciprocalRank : The reciprocal rank of the first relevant document.
    RBP : A user who reads on whatever the documents are.

    Notes
    -----
    ERR is 0 for queries without a relevant document. The definition is equation 4 of
    Chapelle, Metzler, Zhang and Grinspan (2009). Under ties the mean is exact. The
    standard deviation is exact where at most 64 places of each tie count, and so for
    k <= 64. For longer ties, the part of the places after the 64th is estimated from
    100 to 1,000 sampled orders, and reports say so.

    Examples
    --------
    >>> from tieaware_sklearn import ERR, ranking_score
    >>> ranking_score([4, 0], [1, 1], measure=ERR())
    0.703125
    """

    name: ClassVar[str] = "ERR"
    maximum: ClassVar[float] = 1.0
    k: int | None = cutoff()
    max_label: float = number(4.0, above=0, most=MAX_EXPONENTIAL_LABEL)

    def gains(self, levels: FloatArray) -> FloatArray:
        levels = np.where(np.isinf(levels), self.max_label, levels)
        if len(levels) and levels[-1] > self.max_label:
            raise ValueError(
                f"y_true must be <= max_label={self.max_label:g} for {self}, got "
                f"{levels[-1]:g} (set ERR(max_label=...) to the top of the scale)"
            )
        return np.asarray(gains_of("exponential", levels) / 2.0**self.max_label)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        """Of the documents read; ERR itself is Σ L(i)/i over those that satisfy."""
        shown = self._needed(labels)[: self.k]
        levels, label = np.unique(shown, return_inverse=True)
        stops = self.gains(levels)[label]
        views = np.concatenate([[1.0], np.cumprod(1 - stops)])[: len(shown)]
        return from_views(views)

    @once_per_block
    def _passed(self, groups: TieGroups) -> FloatArray:
        """Chance to get past all documents above each group."""
        passed = np.ones(len(groups.n))
        if not len(groups.n):
            return passed
        through = np.multiply.reduceat(
            1 - self.gains_of(groups)[groups.label], groups.start
        )
        sizes = groups.n_groups_of_query
        first = starts_of(sizes)
        # query by query: a running product of its own groups alone
        for query in np.flatnonzero(sizes > 1).tolist():
            own = slice(first[query], first[query] + sizes[query] - 1)
            np.multiply.accumulate(through[own], out=passed[1:][own])
        return passed

    @once_per_block
    def _mixed(self, groups: TieGroups) -> _Mixed:
        gains = self.gains_of(groups)
        gain = gains[groups.label]
        inside = groups.inside(self.k)
        differ = gain[groups.start] < gain[groups.start + groups.n - 1]
        # nobody gets to the others
        reached = self._passed(groups) > NOTHING
        chosen = np.flatnonzero(differ & reached & (inside > 0))
        owner, place = expand(groups.n[chosen])
        own_gain = gain[groups.start[chosen][owner] + place]
        # labels ascend within a group: equal gains stand together
        new = np.ones(len(owner), dtype=bool)
        new[1:] = (own_gain[1:] != own_gain[:-1]) | (owner[1:] != owner[:-1])
        first = np.flatnonzero(new)
        means = groups.gain_means(gains)[chosen]
        return _Mixed(
            chosen,
            groups.lo[chosen],
            groups.n[chosen],
            np.minimum(inside[chosen], hopeless_after(1 - means)),
            inside[chosen] == groups.n[chosen],
            np.bincount(owner[first], minlength=len(chosen)),
            own_gain[first],
            sizes_of(first, len(owner)),
        )

    def std(self, groups: TieGroups) -> FloatArray:
        # nothing spreads beyond half its range (Popoviciu), whatever the rounding
        half = (self.best(groups) - self.worst(groups)) / 2
        return np.minimum(super().std(groups), half)

    def numerator(self, groups: TieGroups) -> FloatArray:
        gains = self.gains_of(groups)
        mixed = self._mixed(groups)
        worth = np.zeros(len(groups.n))

        pure = gains[groups.label[groups.start]] if len(groups.n) else np.zeros(0)
        pure[mixed.group] = 0.0
        places = groups.documents(self.k)
        chosen = pure[places.group] > 0
        owner, rank = places.group[chosen], places.rank[chosen]
        gone_on = (1 - pure[owner]) ** (rank - groups.lo[owner])
        counts = np.where(pure > 0, groups.inside(self.k), 0)
        worth += sum_segments(gone_on * pure[owner] / (rank + 1), counts)

        long = mixed.whole & (mixed.places > _LONG)
        for i in np.flatnonzero(long).tolist():
            counts, chances = mixed.classes(np.array([i]))
            worth[mixed.group[i]] = mean_of_long_group(
                int(mixed.lo[i]), counts[0], chances[0]
            )
        short = np.flatnonzero(~long)
        for width, batch in widths(mixed.places[short], 1):
            part = short[batch]
            left = mean_products(*mixed.classes(part), width)
            x = np.arange(1, width + 1)
            stopped = (left[:, :-1] - left[:, 1:]) / (mixed.lo[part, None] + x)
            stopped[x > mixed.places[part, None]] = 0.0
            worth[mixed.group[part]] = stopped.sum(axis=1)
        return groups.sum_groups(self._passed(groups) * worth)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """Groups are independent, and all of a group is passed in any order.

        With P_x the chance to pass the first x of a group, its part is
        Σ_x c_x P_x, c_x = 1/(lo + x + 1) - 1/(lo + x), c_kk = -1/(lo + kk).
        """
        mixed = self._mixed(groups)
        variance = np.zeros(len(groups.n))
        places = np.minimum(mixed.places, _MOST_PLACES)
        for width, part in widths(places, 2):
            variance[mixed.group[part]] = _exact_variance(
                mixed, part, places[part], width
            )
        for i in np.flatnonzero(mixed.places > _MOST_PLACES).tolist():
            variance[mixed.group[i]] += _sampled_variance(
                int(mixed.lo[i]),
                int(mixed.places[i]),
                *(array[0] for array in mixed.classes(np.array([i]))),
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
    return np.asarray(np.maximum(terms.sum(axis=1), 0.0))


def _sampled_variance(lo: int, places: int, counts: IntArray, q: FloatArray) -> float:
    """What the places below the first `_MOST_PLACES` add to the variance.

    With A and B what is found above and below there, 2 Cov(A, B) + Var(B): B is
    never large, so that a few orders tell.
    """
    n, stops = int(counts.sum()), np.repeat(1 - q, counts)
    rng = generator(stops, np.array([lo, places]))
    some = stops[stops > 0]
    if 4 * len(some) < places:
        # few documents matter: where they stand, and in which order
        orders = n_orders(len(some))
        at = places_of(rng, n, len(some), orders)
        drawn = first_places(rng, some, len(some), orders)
    else:
        at = np.arange(1, places + 1)
        drawn = first_places(rng, stops, places, n_orders(places))
    reached = np.ones_like(drawn)
    np.multiply.accumulate(1 - drawn[:, :-1], axis=1, out=reached[:, 1:])
    values = reached * drawn / (lo + at)
    first = (values * (at <= _MOST_PLACES)).sum(axis=1)
    below = (values * ((at > _MOST_PLACES) & (at <= places))).sum(axis=1)
    covariance = np.cov(first, below)
    return float(2 * covariance[0, 1] + covariance[1, 1])
