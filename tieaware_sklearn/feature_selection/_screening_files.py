"""What files of screenings hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.validation import UNJUDGED, check_choice
from ..evaluation._intervals import QueryMoments
from ..io._saved import kept_sums, sums_of
from ..io._saved_file import Kept, UnreadableError, plain_value
from ..measures._parse import names_to_save, parse_measures
from ._correlation import FeatureCorrelation
from ._rule import Rule, each_direction
from ._selection import Selection
from ._statistics import FeatureStatistics, Worth


def kept_rule(rule: Rule) -> Kept:
    """A rule by the names of its measures."""
    header = rule._asdict() | {
        "measures": names_to_save(rule.measures),
        "directions": list(map(str, rule.directions)),
        "zero_relevance": plain_value(rule.zero_relevance, "zero_relevance"),
    }
    return Kept(header, {})


def rule_of(kept: Kept, n_features: int) -> Rule:
    """The rule of that many features that `kept_rule` was given."""
    rule = Rule(
        tuple(parse_measures(kept.texts("measures"))),
        kept.value("sort", int),
        each_direction(kept.texts("directions"), n_features),
        kept.value("missing", str),
        kept.value("zero_relevance", float, int, str),
        kept.value("unjudged", str),
        kept.value("correlates", bool),
    )
    check_choice(rule.missing, "missing", ("raise", "last"))
    check_choice(rule.unjudged, "unjudged", UNJUDGED)
    rule.ask()
    if not 0 <= rule.sort < len(rule.measures):
        raise UnreadableError(f"must have 'sort' of a measure, got {rule.sort}")
    return rule


def kept_statistics(statistics: FeatureStatistics) -> Kept:
    """All sums."""
    return Kept({"n_queries": int(statistics.n_queries)}, kept_sums(statistics).arrays)


def statistics_of(kept: Kept, rule: Rule) -> FeatureStatistics:
    """The sums that `kept_statistics` was given."""
    n_features, n_measures = len(rule.directions), len(rule.measures)
    columns = (n_features, n_measures)
    correlation = None
    if rule.correlates:
        n_rankings = n_features * (2 if rule.missing == "last" else 1)
        part = kept.part("correlation")
        correlation = sums_of(FeatureCorrelation, part, n_rankings, n_rankings)
    n_queries: int = kept.value("n_queries", int)
    if n_queries < 1:
        raise UnreadableError(f"must have 'n_queries' >= 1, got {n_queries}")
    chance, ideal = kept.part("chance"), kept.part("ideal")
    return FeatureStatistics(
        sums_of(Worth, kept.part("descending"), *columns),
        sums_of(Worth, kept.part("ascending"), *columns),
        sums_of(QueryMoments, chance, n_measures),
        sums_of(QueryMoments, ideal, n_measures),
        kept.array("varies", "b", n_features),
        correlation,
        n_queries,
    )


def kept_selection(selection: Selection) -> Kept:
    """What was chosen."""
    arrays: dict[str, Any] = {
        "order": selection.order,
        "repeats": selection.repeats,
        "correlation": selection.correlation,
    }
    return Kept({"by_number": bool(selection.by_number)}, arrays)


def selection_of(kept: Kept, n_features: int) -> Selection:
    """What `kept_selection` was given."""
    order = kept.array("order", "i", None).astype(np.intp)
    repeats = kept.array("repeats", "i", n_features).astype(np.intp)
    known = np.arange(n_features)
    if len(np.unique(order)) < len(order) or not np.isin(order, known).all():
        raise UnreadableError("must have each feature at most once in 'order'")
    if not np.isin(repeats[repeats != -1], order).all():
        raise UnreadableError("must have chosen features or -1 in 'repeats'")
    correlation = kept.array("correlation", "f", n_features)
    return Selection(order, repeats, correlation, kept.value("by_number", bool))
