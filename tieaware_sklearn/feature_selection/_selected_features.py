"""The features of a screening that a selector keeps."""

from __future__ import annotations

import numpy as np

from .._display.warn import warn
from .._engine.ties import FloatArray
from ._likeness import Likeness
from ._screening import Screening
from ._selection import Selection, SelectionRule, Walk, repeats_of


def nothing_passed(screening: Screening, alpha: float, min_lift: float) -> str:
    """Why no feature is kept, for a message."""
    if not screening.varies.any():
        return "no feature is selected: each is constant within every query"
    best, sort = int(np.argmin(screening.ranking)), screening.rule.sort
    return (
        f"no feature is selected: by {screening.measures[sort]}, none has a q-value of "
        f"at most {alpha=} and a lift of at least {min_lift=}. The best, "
        f"{screening.feature_names[best]!r}, has q = "
        f"{screening.qvalues[best, sort]:.3g} and lift = "
        f"{screening.lift[best, sort]:.3g}. To select a fixed number of the best "
        "features, set n_features_to_select"
    )


def select_features(
    screening: Screening, rule: SelectionRule, likeness: Likeness | None = None
) -> Selection:
    """The best features, or those better than chance, that do not repeat others.

    Correlations are those of the screening, unless `likeness` computes them.
    """
    varies, sort = screening.varies, screening.rule.sort
    if not rule.needs_correlation():
        likeness = None
    elif likeness is None:
        likeness = screening.likeness()
    usable = varies
    if rule.wanted is None:
        queries = int(screening.n_averaged[sort])
        if queries < 2:
            repeats = " and repeats no other" * (rule.max_correlation is not None)
            warn(
                f"p-values need at least two queries, got {queries}: every feature "
                f"that is not constant{repeats} is selected"
            )
        else:
            good = screening.qvalues[:, sort] <= rule.alpha
            usable = varies & good & (screening.lift[:, sort] >= rule.min_lift)
    best = np.argsort(screening.ranking)
    best = best[usable[best]]
    relevance = _relevance(screening.lift[best, sort])
    if rule.wanted is None:
        walk = Walk(best, relevance, 0.0, rule.max_correlation, likeness)
        walk.choose(len(best))
        return repeats_of(walk.chosen, varies, rule, likeness)
    n_features = len(varies)
    share = isinstance(rule.wanted, (float, np.floating))
    # 0.29 of 100 is 29, though the product is a little less
    number = max(1, int(rule.wanted * n_features + 1e-9)) if share else int(rule.wanted)
    if len(best) < number:
        warn(
            f"n_features_to_select={rule.wanted!r}, but only {len(best)} of "
            f"{n_features} features vary within a query: only these are selected"
        )
    number = min(number, len(best))
    walk = Walk(best, relevance, rule.diversity, rule.max_correlation, likeness)
    walk.choose(number)
    copies = walk.fill_up(number)
    if copies:
        warn(
            f"n_features_to_select={rule.wanted!r}, but only {number - copies} "
            f"features rank differently: {copies} of the selected features "
            f"{_are(copies)} of others"
        )
    return repeats_of(walk.chosen, varies, rule, likeness)


def _are(copies: int) -> str:
    return "is an exact copy" if copies == 1 else "are exact copies"


def _relevance(lift: FloatArray) -> FloatArray:
    """Lift as a share of the greatest one; if none is positive, of the greatest size.

    A lift that is not known is none.
    """
    lift = np.nan_to_num(lift)
    top = lift.max(initial=0.0)
    top = top if top > 0 else np.abs(lift).max(initial=0.0)
    return lift / top if top > 0 else lift
