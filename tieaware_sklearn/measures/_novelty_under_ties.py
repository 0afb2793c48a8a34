"""Gains that shrink with every repetition, as means over the orders of ties.

A list holds the documents of a query with their labels for one subtopic. The first
relevant document counts in full, each further one `keep` times what the one before it
does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from ._err_under_ties import hopeless_after, widths


def novelty_sums(
    groups: TieGroups,
    rel: float,
    keep: float,
    k: int | None,
    weights: Callable[[IntArray], FloatArray],
) -> FloatArray:
    """Σ w(rank) keep^(relevant documents above) over the relevant documents of a list.

    A group of n documents, c of them relevant, with C relevant ones above it adds
    keep^C Σ_x w(lo + x) c/n E[keep^H]: a relevant document is at place x with chance
    c/n, and H of the x - 1 others above it in the group are relevant, out of c - 1
    among n - 1.
    """
    relevant = groups.relevant(rel)
    inside = groups.inside(k)
    chosen = np.flatnonzero((relevant > 0) & (inside > 0))
    c, n, lo = relevant[chosen], groups.n[chosen], groups.lo[chosen]
    others = np.maximum(n - 1, 1)
    # what decays to nothing is not summed
    mean = 1 - (1 - keep) * ((c - 1) / others)
    places = np.minimum(inside[chosen], 1 + hopeless_after(mean))
    worth = np.zeros(len(chosen))
    for width, part in widths(places, 1):
        kept = mean_kept(n[part] - 1, c[part] - 1, keep, width)
        x = np.arange(width)
        kept *= weights(lo[part, None] + x)
        kept[x >= places[part, None]] = 0.0
        worth[part] = kept.sum(axis=1)
    worth *= c / n
    worth *= np.power(keep, groups.relevant_above(rel)[chosen])
    values = np.zeros(len(groups.n))
    values[chosen] = worth
    return groups.sum_groups(values)


def mean_kept(n: IntArray, c: IntArray, keep: float, width: int) -> FloatArray:
    """E[keep^H] for x = 0 ... width - 1, of shape (n_groups, width), while x <= n.

    H of x documents drawn from n are relevant, c being so. With one relevant document
    more, among n of them, x of them hold it with chance x/n:
    E_x <- (1 - x/n) E_x + x/n keep E_{x-1}. All terms are positive.
    """
    x = np.arange(width, dtype=np.float64)
    # those with most relevant documents first: a step is for the first of them
    order = np.argsort(-c, kind="stable")
    most, fewest = c[order], (n - c)[order]
    found = np.ones((len(n), width))
    for step in range(int(most.max(initial=0))):
        some = slice(0, int(np.searchsorted(-most, -step, side="left")))
        share = np.minimum(x / (fewest[some, None] + step + 1.0), 1.0)
        part = found[some]
        following = (1 - share) * part
        following[:, 1:] += keep * share[:, 1:] * part[:, :-1]
        found[some] = following
    out = np.empty_like(found)
    out[order] = found
    return out
