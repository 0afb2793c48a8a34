"""Average precision inferred from judgments of a sample, and its moments under ties.

Inferred precisions at the relevant documents of a tie group, over its orders.

Of n documents that tie, N are judged and r relevant. Above one of the relevant
documents stand x others of its group, x uniform on 0 ... n - 1; j of these are judged,
hypergeometric; of those, i are relevant, hypergeometric with mean j (r - 1)/(N - 1).
What the document is worth is a linear function of i, so that its mean given x and j is
the value at the mean of i.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._engine import (
    FloatArray,
    IntArray,
    TieGroups,
    consecutive,
    once_per_block,
    starts_of,
    sum_segments,
)
from ._base import MeasureOverRelevant, choice
from ._interpolated import generator, n_orders, places_of_some

#: of Yilmaz and Aslam, as trec_eval has it
EPSILON = 0.00001
#: variances are computed in at most so many steps
_STEPS = 200_000
#: numbers held at a time
_CELLS = 1 << 20
#: those of groups whose variances are computed together
_BATCH_CELLS = 1 << 14
#: -ln of what the counts left out have in all: nothing beside 1
_LEFT_OUT = 40.0


class Ties(NamedTuple):
    """Counts of tie groups, one each: of them, and of what stands above them.

    Attributes
    ----------
    lo, n : ndarray of shape (n_groups,)
        Documents above, and in the group.
    judged, relevant : ndarray of shape (n_groups,)
        Judged and relevant ones in the group.
    judged_above, relevant_above : ndarray of shape (n_groups,)
    """

    lo: IntArray
    n: IntArray
    judged: IntArray
    relevant: IntArray
    judged_above: IntArray
    relevant_above: IntArray

    def some(self, chosen: Any = slice(None)) -> Iterator[Tie]:
        """The counts of each group, or of the chosen ones."""
        columns = (column[chosen].tolist() for column in self)
        return map(Tie._make, zip(*columns, strict=True))


class Tie(NamedTuple):
    """The counts of one tie group, as in `Ties`."""

    lo: int
    n: int
    judged: int
    relevant: int
    judged_above: int
    relevant_above: int


class InferredTies(NamedTuple):
    """What relevant documents are worth.

    Attributes
    ----------
    pools_all : bool
        Every document is in the pool, not only those judged.
    """

    pools_all: bool

    def above(self, judged: Any, relevant: Any) -> Any:
        """What `value` needs to know of the documents above one."""
        precision = (relevant + EPSILON) / (judged + 2 * EPSILON)
        return precision if self.pools_all else judged * precision

    def value(self, rank: Any, above: Any) -> Any:
        """The inferred precision at a relevant document; `above` may be a mean."""
        return (1 + (rank - 1) * above if self.pools_all else 1 + above) / rank

    def mean(self, tie: Tie) -> float:
        """The mean sum of the values of a group."""
        return _mean(self, tie)

    def variances(self, ties: Ties) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The variance of that sum for each group, and whether it is estimated."""
        whole = ties.judged == ties.n
        # whole numbers would overflow
        steps = ties.n.astype(np.float64) * ties.relevant
        steps[~whole] *= ties.judged[~whole]
        sampled = steps > _STEPS
        out = np.empty(len(steps))
        for compute, there in ((_of_judged, whole), (_of_some_judged, ~whole)):
            for some in _alike(ties, np.flatnonzero(there & ~sampled)):
                if len(some):
                    longest_first = some[np.argsort(-ties.n[some], kind="stable")]
                    own = Ties(*(column[longest_first] for column in ties))
                    out[longest_first] = compute(self, own)
        out[sampled] = [_sampled(self, tie) for tie in ties.some(sampled)]
        return out, sampled


@lru_cache(maxsize=4096)
def _mean(worth: InferredTies, tie: Tie) -> float:
    lo, n, judged, relevant, judged_above, relevant_above = tie
    others = judged - 1
    j = np.arange(judged)
    share = (relevant - 1) / max(others, 1)
    above = worth.above(judged_above + j, relevant_above + share * j)
    total = 0.0
    for x, first, chances in _judged_above(n - 1, others):
        columns = first[:, None] + np.arange(chances.shape[1])
        found = (chances * above[columns]).sum(axis=1)
        total += float(worth.value(lo + x + 1, found).sum())
    return relevant * (total / n)


def _judged_above(
    n: int, marked: int
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """How many of x = 0 ... n documents drawn from n are marked: rows of chances.

    Yields some x, the first number of each row, and the chances of this number and of
    those that follow. Numbers whose chances add up to nothing are left out.
    """
    share = marked / n if n else 0.0
    variance = n * share * (1 - share) / 4
    # Bernstein's inequality, which holds without replacement, too (Hoeffding 1963)
    reach = _LEFT_OUT / 3 + math.sqrt(_LEFT_OUT**2 / 9 + 2 * _LEFT_OUT * variance)
    width = min(marked + 1, 2 * math.ceil(reach) + 2)
    factorials = gammaln(np.arange(n + 2) + 1.0)
    step = max(_CELLS // width, 1)
    for at in range(0, n + 1, step):
        x = np.arange(at, min(at + step, n + 1))
        near = np.floor(x * share).astype(np.int64) - width // 2
        first = np.clip(near, 0, marked + 1 - width)
        j = first[:, None] + np.arange(width)
        rest = x[:, None] - j
        there = (rest >= 0) & (rest <= n - marked)
        rest = np.where(there, rest, 0)
        # C(marked, j) C(n - marked, x - j), but for factors of the row or of all
        logs = -factorials[j] - factorials[marked - j]
        logs -= factorials[rest] + factorials[n - marked - rest]
        logs[~there] = -np.inf
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        yield x, first, chances / chances.sum(axis=1, keepdims=True)


def _alike(ties: Ties, chosen: IntArray) -> Iterator[IntArray]:
    """The chosen groups, those of similar counts together: all are padded alike."""
    judged, relevant = ties.judged[chosen], ties.relevant[chosen]
    order = chosen[np.lexsort((ties.n[chosen], judged, relevant))]
    cells = (ties.judged[order] + 2) * (ties.relevant[order] + 2)
    batch = cells.cumsum() // _BATCH_CELLS
    yield from np.split(order, np.flatnonzero(np.diff(batch)) + 1)


def _of_judged(worth: InferredTies, ties: Ties) -> FloatArray:
    """Variances of groups, longest first, whose documents are all judged.

    From the last place up: moments of what follows, by the relevant ones above. What
    is beyond the counts of a group has no chance.
    """
    lo, n, _, relevant, judged_above, relevant_above = (c[:, None] for c in ties)
    met = np.arange(relevant.max() + 1)
    mean, variance = np.zeros((2, len(n), len(met) + 1))
    out = np.empty(len(n))
    for left in range(1, int(n.max()) + 1):
        k = np.count_nonzero(n >= left)
        x = n[:k] - left
        hit = np.clip((relevant[:k] - met) / left, 0, 1)
        above = worth.above(judged_above[:k] + x, relevant_above[:k] + met)
        with_it = worth.value(lo[:k] + x + 1, above) + mean[:k, 1:]
        without = mean[:k, :-1]
        new = hit * with_it + (1 - hit) * without
        variance[:k, :-1] = hit * (variance[:k, 1:] + (with_it - new) ** 2) + (
            1 - hit
        ) * (variance[:k, :-1] + (without - new) ** 2)
        mean[:k, :-1] = new
        done = np.flatnonzero(x == 0)
        out[done] = variance[done, 0]
    return out


def _of_some_judged(worth: InferredTies, ties: Ties) -> FloatArray:
    """The same by judged and relevant documents above, rows and columns."""
    lo, n, judged, relevant, judged_above, relevant_above = (
        column[:, None, None] for column in ties
    )
    met = np.arange(relevant.max() + 1)
    seen = np.arange(judged.max() + 1)[:, None]
    mean, variance = np.zeros((2, len(n), len(seen) + 1, len(met) + 1))
    out = np.empty(len(n))
    above = worth.above(judged_above + seen, relevant_above + met)
    for left in range(1, int(n.max()) + 1):
        k = np.count_nonzero(n >= left)
        x, coming = n[:k] - left, relevant[:k] - met
        hit = np.clip(coming / left, 0, 1)
        miss = np.clip((judged[:k] - seen - coming) / left, 0, 1 - hit)
        passed = np.maximum(1 - hit - miss, 0)
        with_it = worth.value(lo[:k] + x + 1, above[:k]) + mean[:k, 1:, 1:]
        parts = [
            (hit, with_it, variance[:k, 1:, 1:]),
            (miss, mean[:k, 1:, :-1], variance[:k, 1:, :-1]),
            (passed, mean[:k, :-1, :-1], variance[:k, :-1, :-1]),
        ]
        new, ends = np.zeros((2, *with_it.shape))
        for chance, of_part, _ in parts:
            new += chance * of_part
        for chance, of_part, own in parts:
            ends += chance * (own + (of_part - new) ** 2)
        mean[:k, :-1, :-1], variance[:k, :-1, :-1] = new, ends
        done = np.flatnonzero(x == 0)
        out[done] = variance[done, 0, 0]
    return out


@lru_cache(maxsize=4096)
def _sampled(worth: InferredTies, tie: Tie) -> float:
    """Over random orders that these counts decide."""
    lo, n, judged, relevant, judged_above, relevant_above = tie
    rng = generator(np.array(tie))
    orders = n_orders(judged if judged < n else relevant)
    sums = []
    step = max(_CELLS // judged, 1)
    for at in range(0, orders, step):
        some = min(step, orders - at)
        # which of the judged documents are relevant, and where these stand
        place = chosen = places_of_some(rng, judged, relevant, some)
        if judged < n:
            there = places_of_some(rng, n, judged, some)
            place = np.take_along_axis(there, chosen - 1, axis=1)
        above = worth.above(
            judged_above + chosen - 1, relevant_above + np.arange(relevant)
        )
        sums.append(worth.value(lo + place, above).sum(axis=1))
    return float(np.concatenate(sums).var(ddof=1))


@dataclass(frozen=True)
class InferredAveragePrecision(MeasureOverRelevant):
    """Inferred AP: average precision, estimated where judgments are a sample.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    pool : {"judged", "all"}, default="judged"
        Where unjudged documents (NaN labels) are. With "judged", they are outside the
        pool of documents from which those to judge were drawn, and taken as not
        relevant. With "all", every document is in the pool, and those that are not
        judged are as often relevant as those that are.

    Raises
    ------
    ValueError
        For rel <= 0 or an unknown pool.

    See Also
    --------
    AveragePrecision : The measure that is estimated.
    BPref : A measure that ignores unjudged documents.
    Judged : How many of the first k documents are judged.

    Notes
    -----
    A relevant document at rank k, with r relevant and n judged non-relevant documents
    above it, d documents of the pool in all, adds ::

        1/k + (k - 1)/k · d/(k - 1) · (r + ε)/(r + n + 2ε),    ε = 0.00001

    and the sum is divided by the number of relevant documents known. This is the
    estimate of Yilmaz and Aslam, "Estimating average precision with incomplete and
    imperfect judgments", CIKM 2006, with the ε of trec_eval. Inferred AP is undefined
    for queries without a relevant document.

    With ``pool="judged"``, d = r + n: up to ε, this is average precision. trec_eval
    computes it where no label in the qrels is negative. Where all unjudged documents
    that are retrieved have a label of -1 there, it computes what ``pool="all"`` does,
    with d = k - 1. A NaN label does not tell documents of the pool from others, so
    that qrels in which only some have a label of -1 give other values there.

    The mean under ties is exact. Above a relevant document of a tie group, the number
    of judged documents is hypergeometric, and given that number, so is that of
    relevant ones, of which the value is a linear function. The standard deviation is
    exact for tie groups of up to a few hundred documents: as long as n r, or n j r
    with j < n judged documents, is at most 200,000. Beyond that, it is estimated from
    100 to 1,000 sampled orders, and `RankingReport.std_is_estimate` says so.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import InferredAveragePrecision
    >>> unjudged = float("nan")
    >>> labels, scores = [1, unjudged, unjudged, 1], [4, 3, 2, 1]
    >>> for pool in ("judged", "all"):
    ...     measure = InferredAveragePrecision(pool=pool)
    ...     print(f"{ranking_score(labels, scores, measure=measure):.4f}")
    0.7500
    1.0000
    """

    name: ClassVar[str] = "infAP"
    takes_unjudged: ClassVar[bool] = True
    maximum: ClassVar[float] = 1.0
    pool: str = choice("judged", "all")

    # Relevant documents first are the best order, and last the worst: two neighbours
    # of which one is relevant change the value of that one alone, and ε turns that
    # round below rank 100,000 at the earliest, for 1e-10.

    def _ties(self, groups: TieGroups, chosen: IntArray) -> Ties:
        """Counts of some tie groups, in their order."""
        return Ties(
            groups.lo[chosen],
            groups.n[chosen],
            groups.relevant(0.0)[chosen],
            groups.relevant(self.rel)[chosen],
            groups.relevant_above(0.0)[chosen],
            groups.relevant_above(self.rel)[chosen],
        )

    def numerator(self, groups: TieGroups) -> FloatArray:
        chosen, _ = groups.holding(self.rel)
        ties, worth = self._ties(groups, chosen), InferredTies(self.pool == "all")
        # a place of a group whose documents are all judged has just so many above it
        whole = ties.judged == ties.n
        own = Ties(*(column[whole] for column in ties))
        x = consecutive(np.zeros(len(own.n), np.int64), own.n)
        lo, _, _, _, judged_above, relevant_above = (
            np.repeat(column, own.n) for column in own
        )
        share = (own.relevant - 1) / np.maximum(own.n - 1, 1)
        above = worth.above(
            judged_above + x, relevant_above + np.repeat(share, own.n) * x
        )
        places = worth.value(lo + x + 1, above)
        # a sum over relevant documents alone has the same bits however they tie
        pure = own.relevant == own.n
        counts = np.ones(len(chosen), dtype=np.int64)
        counts[whole] = np.where(pure, own.n, 1)
        start, values = starts_of(counts), np.empty(counts.sum())
        sums = own.relevant * (sum_segments(places, own.n) / own.n)
        values[start[whole][~pure]] = sums[~pure]
        values[consecutive(start[whole][pure], own.n[pure])] = places[
            np.repeat(pure, own.n)
        ]
        values[start[~whole]] = [worth.mean(tie) for tie in ties.some(~whole)]
        per_query = np.bincount(groups.query[chosen], counts, groups.n_queries)
        return sum_segments(values, per_query.astype(np.int64))

    @once_per_block
    def _variances(self, groups: TieGroups) -> tuple[FloatArray, FloatArray]:
        """Of each query: the variance, and whether any part of it is estimated."""
        relevant = groups.relevant(self.rel)
        mixed = np.flatnonzero((relevant > 0) & (relevant < groups.n))
        variances, sampled = np.zeros((2, len(groups.n)))
        ties, worth = self._ties(groups, mixed), InferredTies(self.pool == "all")
        variances[mixed], sampled[mixed] = worth.variances(ties)
        return groups.sum_groups(variances), groups.sum_groups(sampled)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._variances(groups)[0]

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return (self._variances(groups)[1] > 0).astype(np.float64)
