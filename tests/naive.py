"""Every measure again, by its definition and by enumeration, in exact fractions.

Nothing here is shared with the package. A measure is a function of the labels in
rank order, of those not retrieved, and of its parameters; it gives a Fraction, or None
where it is undefined. `over_ties` runs it over every order of the tied documents.
"""

import collections
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

Plain = Callable[[Sequence[float], Sequence[float]], "Fraction | None"]


class Exact(NamedTuple):
    expected: Fraction
    best: Fraction
    worst: Fraction
    variance: Fraction


def orders(labels: Sequence[float], scores: Sequence[float]) -> list[list[float]]:
    """Every order of the retrieved labels that the scores allow, equally likely."""
    return _orders(tuple(labels), tuple(scores))


# one case goes through all measures
@functools.lru_cache(maxsize=1)
def _orders(labels, scores):
    retrieved = [s for s in scores if s != -math.inf]
    groups = [
        [label for label, s in zip(labels, scores, strict=True) if s == score]
        for score in sorted(set(retrieved), reverse=True)
    ]
    # documents of equal label are alike: distinct orders of labels are equally likely
    choices = itertools.product(*map(_arrangements, groups))
    return [list(itertools.chain.from_iterable(choice)) for choice in choices]


def _arrangements(labels):
    """Distinct orders of labels; there may be few of many documents."""
    if not labels:
        return [()]
    found = []
    for first in sorted(set(labels)):
        rest = list(labels)
        rest.remove(first)
        found += [(first, *others) for others in _arrangements(rest)]
    return found


def outcomes(
    plain: Plain, labels: Sequence[float], scores: Sequence[float]
) -> dict[Fraction, Fraction]:
    """Every value and its chance, ascending; nothing where undefined."""
    missing = [lab for lab, s in zip(labels, scores, strict=True) if s == -math.inf]
    often = collections.Counter(plain(o, missing) for o in orders(labels, scores))
    if None in often:
        assert len(often) == 1
        return {}
    return {value: Fraction(often[value], often.total()) for value in sorted(often)}


def over_ties(
    plain: Plain,
    labels: Sequence[float],
    scores: Sequence[float],
    lower: bool = False,
    harmonic: bool = False,
) -> Exact | None:
    found = outcomes(plain, labels, scores)
    if not found:
        return None
    mean = sum((v * p for v, p in found.items()), Fraction(0))
    variance = sum((p * (v - mean) ** 2 for v, p in found.items()), Fraction(0))
    if harmonic and all(found):
        mean = 1 / sum((p / v for v, p in found.items()), Fraction(0))
    best, worst = max(found), min(found)
    if lower:
        best, worst = worst, best
    return Exact(mean, best, worst, variance)


def joint_orders(labels, qid, scores):
    """The labels of each query in rank order, in every order of the ties of a system.

    A list of orders, equally likely; an order maps the query to the labels retrieved
    and to those that are not.
    """
    each = {}
    for query in dict.fromkeys(qid):
        own = [i for i, q in enumerate(qid) if q == query]
        label, score = [labels[i] for i in own], [scores[i] for i in own]
        missing = [y for y, s in zip(label, score, strict=True) if s == -math.inf]
        each[query] = [(ranked, missing) for ranked in orders(label, score)]
    return [
        dict(zip(each, choice, strict=True))
        for choice in itertools.product(*each.values())
    ]


def relevance(labels: Sequence[float], rel: float) -> list[int]:
    return [int(label >= rel) for label in labels]


def cut_off(percent: Fraction | str, n: int) -> int:
    """The first rank down to which a ranking holds this share of n documents."""
    return next(k for k in itertools.count(1) if 100 * k >= Fraction(percent) * n)


def at_share(plain: Plain, percent: Fraction | str) -> Plain:
    """The measure down to a share of all documents of the query."""

    def value(ranked, missing):
        return plain(ranked, missing, k=cut_off(percent, len(ranked) + len(missing)))

    return value


def precision(ranked, missing, k=None, rel=1, denominator="cutoff"):
    shown = ranked[:k]
    places = len(shown) if k is None or denominator == "retrieved" else k
    return Fraction(sum(relevance(shown, rel)), places) if places else Fraction(0)


def judged(ranked, missing, k=None):
    """Negative labels are those of documents without a judgment."""
    return precision(ranked, missing, k, 0, "retrieved")


def set_ap(ranked, missing, rel=1):
    found = recall(ranked, missing, rel=rel)
    return None if found is None else found * precision(ranked, missing, rel=rel)


def recall(ranked, missing, k=None, rel=1, denominator="relevant"):
    total = sum(relevance([*ranked, *missing], rel))
    if denominator == "cutoff" and k is not None:
        total = min(total, k)
    return Fraction(sum(relevance(ranked[:k], rel)), total) if total else None


def f_beta(ranked, missing, k=None, rel=1, beta=1):
    b2 = Fraction(beta) ** 2
    total = sum(relevance([*ranked, *missing], rel))
    hits = sum(relevance(ranked[:k], rel))
    below = (len(ranked) if k is None else k) + b2 * total
    return (1 + b2) * hits / below if below else Fraction(0)


def fallout(ranked, missing, k=None, rel=1):
    total = sum(label < rel for label in [*ranked, *missing])
    shown = sum(label < rel for label in ranked[:k])
    return Fraction(shown, total) if total else None


def success(ranked, missing, k=None, rel=1):
    return Fraction(int(any(relevance(ranked[:k], rel))))


def r_precision(ranked, missing, rel=1):
    total = sum(relevance([*ranked, *missing], rel))
    return Fraction(sum(relevance(ranked[:total], rel)), total) if total else None


def average_precision(ranked, missing, k=None, rel=1, denominator="relevant"):
    total = sum(relevance([*ranked, *missing], rel))
    if not total:
        return None
    flags = relevance(ranked[:k], rel)
    places = [i for i, hit in enumerate(flags, start=1) if hit]
    found = sum((Fraction(sum(flags[:i]), i) for i in places), Fraction(0))
    if denominator == "cutoff" and k is not None:
        total = min(k, total)
    return found / total


def graded_ap(ranked, missing, g):
    """Robertson, Kanoulas and Yilmaz's GAP, by its sum over pairs; g by label."""

    def worth(label):
        return sum(Fraction(g[t]) for t in g if t <= label)

    ideal = sum(map(worth, [*ranked, *missing]))
    if not ideal:
        return None
    total = Fraction(0)
    for n, label in enumerate(ranked, start=1):
        pairs = [worth(min(label, above)) for above in ranked[:n]]
        total += sum(pairs) / n
    return total / ideal


def reciprocal_rank(ranked, missing, k=None, rel=1):
    flags = relevance(ranked[:k], rel)
    return Fraction(1, flags.index(1) + 1) if 1 in flags else Fraction(0)


def err(ranked, missing, k=None, max_label=4):
    reached, total = Fraction(1), Fraction(0)
    for i, label in enumerate(ranked[:k]):
        stop = Fraction(2**label - 1, 2**max_label)
        total += reached * stop / (i + 1)
        reached *= 1 - stop
    return total


def bpref(ranked, missing, rel=1):
    """Negative labels are those of documents without a judgment."""
    everything = [*ranked, *missing]
    relevant = sum(label >= rel for label in everything)
    other = sum(0 <= label < rel for label in everything)
    if not relevant:
        return None
    most = min(relevant, other)
    total, above = Fraction(0), 0
    for label in ranked:
        if label >= rel:
            total += 1 - Fraction(min(above, most), most) if most else 1
        elif label >= 0:
            above += 1
    return total / relevant


def rank(ranked, missing, i=1, rel=1):
    places = [at for at, label in enumerate(ranked, start=1) if label >= rel]
    return Fraction(places[i - 1]) if len(places) >= i else None


def search_length(ranked, missing, i=1, rel=1):
    at = rank(ranked, missing, i, rel)
    return None if at is None else at - i


def precision_at_relevant(ranked, missing, i=1, rel=1):
    if sum(relevance([*ranked, *missing], rel)) < i:
        return None
    at = rank(ranked, missing, i, rel)
    return Fraction(0) if at is None else i / at


def interpolated(ranked, missing, recall, rel=1):
    return _mean_interpolated(ranked, missing, [Fraction(str(recall))], rel)


def interpolated_average(ranked, missing, points=11, rel=1):
    """Of equidistant levels of recall, or of that of each relevant document."""
    if points == "all":
        total = sum(relevance([*ranked, *missing], rel))
        levels = [Fraction(i + 1, total) for i in range(total)]
    else:
        levels = [Fraction(i, points - 1) for i in range(points)]
    return _mean_interpolated(ranked, missing, levels, rel)


def _mean_interpolated(ranked, missing, levels, rel):
    total = sum(relevance([*ranked, *missing], rel))
    if not total:
        return None
    points = _recall_and_precision(ranked, total, rel)
    best = [max((p for r, p in points if r >= at), default=0) for at in levels]
    return sum(best, Fraction(0)) / len(best)


def _recall_and_precision(ranked, total, rel):
    """Recall and precision of the documents down to each rank."""
    hits = itertools.accumulate(relevance(ranked, rel))
    return [(Fraction(n, total), Fraction(n, k)) for k, n in enumerate(hits, start=1)]


def area(ranked, missing, rel=1):
    """Trapezoids under (recall, precision) of every rank, from (0, 1)."""
    total = sum(relevance([*ranked, *missing], rel))
    if not total:
        return None
    points = [(Fraction(0), Fraction(1)), *_recall_and_precision(ranked, total, rel)]
    pairs = itertools.pairwise(points)
    return sum(((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs), Fraction(0))


def gain_of(gain) -> Callable[[float], Fraction]:
    if gain == "linear":
        return Fraction
    if gain == "exponential":
        return lambda label: Fraction(2.0**label) - 1
    return lambda label: Fraction(gain(label))


@functools.cache
def log_discount(i: int) -> Fraction:
    """A float of its own: 1 / log2(rank + 1), ranks from 1."""
    return Fraction(1 / math.log2(i + 1))


def dcg(ranked, missing, k=None, gain="exponential", weight=log_discount):
    worth, shown = gain_of(gain), enumerate(ranked[:k], start=1)
    return sum((worth(label) * weight(i) for i, label in shown), Fraction(0))


def cg(ranked, missing, k=None, gain="linear"):
    return dcg(ranked, missing, k, gain, lambda i: Fraction(1))


def ndcg(ranked, missing, k=None, gain="exponential", weight=log_discount):
    ideal = _ideal_dcg(tuple(sorted([*ranked, *missing])), k, gain, weight)
    return dcg(ranked, missing, k, gain, weight) / ideal if ideal else None


# the same for every order of a query
@functools.lru_cache(maxsize=1024)
def _ideal_dcg(labels, k, gain, weight):
    best = sorted(labels, key=gain_of(gain), reverse=True)
    return dcg(best, [], k, gain, weight)


def cwl(ranked, missing, chances, rel=1, gain=None):
    views = [Fraction(1)]
    for chance in chances:
        views.append(views[-1] * Fraction(chance))
    worth = gain or (lambda label: label >= rel)
    return dcg(ranked, missing, len(views), worth, lambda i: views[i - 1] / sum(views))


def rbp(ranked, missing, p=0.8, k=None, rel=1, gain=None):
    persistence, worth = Fraction(p), gain or (lambda label: label >= rel)

    def weight(i):
        return (1 - persistence) * persistence ** (i - 1)

    return dcg(ranked, missing, k, worth, weight)


def tau_ap(right, judged):
    """Mean of Yilmaz, Aslam and Robertson's tau-AP over the orders of all ties."""
    n = len(right)
    values = []
    for order in _linear_orders(right):
        place = {document: i for i, document in enumerate(order)}
        for ranking in _linear_orders(judged):
            total = Fraction(0)
            for i in range(1, n):
                agree = sum(place[above] < place[ranking[i]] for above in ranking[:i])
                total += Fraction(agree, i)
            values.append(2 * total / (n - 1) - 1)
    return sum(values) / len(values)


@functools.cache
def _linear_orders(scores):
    """All orders of the documents that the scores allow, best first."""
    return [
        order
        for order in itertools.permutations(range(len(scores)))
        if all(scores[x] >= scores[y] for x, y in itertools.pairwise(order))
    ]


def tau_ap_by_pairs(right, judged):
    """The same, pair by pair."""
    n = len(right)
    total = 0.0
    for e in range(n):
        above = judged > judged[e]
        lo, tied = int(sum(above)), int(sum(judged == judged[e]))
        agree = sum(right[above] > right[e]) + sum(right[above] == right[e]) / 2
        group = (judged == judged[e]) & (np.arange(n) != e)
        inside = sum(right[group] > right[e]) + sum(right[group] == right[e]) / 2
        for x in range(tied):
            if lo + x:
                share = x / (tied - 1) * inside if x else 0.0
                total += (agree + share) / (lo + x) / tied
    return 2 * total / (n - 1) - 1


def tau_ap_b(right, judged):
    """Urbano and Marrero's tau-AP for two observers; None where it is undefined."""
    values = [_observer(right, judged), _observer(judged, right)]
    return None if None in values else sum(values) / 2


def _observer(right, judged):
    shares = []
    for e, score in enumerate(judged):
        above = [d for d, other in enumerate(judged) if other > score]
        if above:
            agree = sum(right[d] > right[e] for d in above)
            shares.append(Fraction(agree, len(above)))
    return 2 * sum(shares) / len(shares) - 1 if shares else None


def prefix_overlap(first, second, d):
    """Documents among the first d of both rankings."""
    return len(set(first[:d]) & set(second[:d]))


def rbo_extrapolated(first, second, p):
    """Equation 32 of Webber, Moffat and Zobel, term by term."""
    s, long = sorted([len(first), len(second)])
    x = [prefix_overlap(first, second, d) for d in range(long + 1)]
    total = sum(Fraction(x[d], d) * p**d for d in range(1, long + 1))
    total += sum(Fraction(x[s] * (d - s), s * d) * p**d for d in range(s + 1, long + 1))
    return (1 - p) / p * total + (
        Fraction(x[long] - x[s], long) + Fraction(x[s], s)
    ) * p**long


def rbo_bounds(first, second, p, terms):
    """Least and greatest overlap if the rankings went on, depth by depth.

    The series ends after so many terms: p**terms must be nothing.
    """
    s, long = sorted([len(first), len(second)])
    overlaps = [prefix_overlap(first, second, d) for d in range(1, long + 1)]
    return _rbo_bounds(tuple(overlaps), s, p, terms)


@functools.cache
def _rbo_bounds(overlaps, s, p, terms):
    long, least, most = len(overlaps), Fraction(0), Fraction(0)
    for d in range(1, terms + 1):
        overlap = overlaps[min(d, long) - 1]
        # each rank that is not known may hold a document of the other ranking
        could = min(d, overlap + max(d - s, 0) + max(d - long, 0))
        least += (1 - p) * p ** (d - 1) * Fraction(overlap, d)
        most += (1 - p) * p ** (d - 1) * Fraction(could, d)
    return least, most + p**terms


def retrieved_orders(scores):
    """All orders of the documents with a score above -inf, best first."""
    kept = [i for i, score in enumerate(scores) if score != -math.inf]
    orders = _linear_orders(tuple(scores[i] for i in kept))
    return [tuple(kept[i] for i in order) for order in orders]


def over_both_orders(value, first, second, depth=None):
    """`value` of the first ranks of two rankings, for every pair of orders."""
    return [
        value(one[:depth], other[:depth])
        for one in retrieved_orders(first)
        for other in retrieved_orders(second)
    ]


def top_k_recalls(reference, scores, k):
    """Shares of the first k of one ranking in those of another, over all orders."""
    n = min(k, sum(score != -math.inf for score in reference))
    return over_both_orders(
        lambda one, other: Fraction(prefix_overlap(one, other, k), n), reference, scores
    )


def interchangeable_recalls(reference, scores, k, tolerance=0):
    """Shares of documents as near as the k-th, over the orders of `scores`."""
    near = sorted((s for s in reference if s != -math.inf), reverse=True)[:k]
    right = {i for i, s in enumerate(reference) if s >= near[-1] - tolerance}
    return [
        Fraction(len(right & set(order[:k])), len(near))
        for order in retrieved_orders(scores)
    ]


def krippendorff_alpha(units, level):
    """Alpha by its definition: pairs of ratings within units, and of all ratings."""
    units = [unit for unit in units if len(unit) >= 2]
    ratings = sorted(rating for unit in units for rating in unit)

    def squared(a, b):
        if level == "nominal":
            return Fraction(a != b)
        if level == "interval":
            return (Fraction(a) - Fraction(b)) ** 2
        # the ratings from one to the other, those at both ends by half
        low, high = min(a, b), max(a, b)
        ends = Fraction(ratings.count(low) + ratings.count(high), 2)
        between = sum(low <= rating <= high for rating in ratings)
        return (between - ends) ** 2 if low < high else Fraction(0)

    observed = sum(
        squared(a, b) / (len(unit) - 1)
        for unit in units
        for a, b in itertools.permutations(unit, 2)
    )
    expected = sum(squared(a, b) for a, b in itertools.permutations(ratings, 2))
    if not expected:
        return None
    return 1 - (observed / len(ratings)) / (
        expected / (len(ratings) * (len(ratings) - 1))
    )
