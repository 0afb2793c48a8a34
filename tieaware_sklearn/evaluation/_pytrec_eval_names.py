"""The measures of pytrec_eval by its names, as ours or as counts of documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._engine.ties import FloatArray
from ..measures import FBeta, Measure, parse_measure
from ..measures._base import spelled_out
from ._judged_topics import TopicRows

#: from the documents of topics and the least label that is relevant
OfCounts = Callable[[TopicRows, float], FloatArray]


class Named(NamedTuple):
    """A measure that was asked for.

    Attributes
    ----------
    key : str
        Its name in results.
    measure : Measure, optional
        None is a measure of value 1.
    factor : callable, optional
        What its values are multiplied with, of each topic.
    is_log : bool
        Whether the logarithm is asked for, as of a geometric mean.
    """

    key: str
    measure: Measure | None = None
    factor: OfCounts | None = None
    is_log: bool = False

    @property
    def is_sum(self) -> bool:
        """Whether the value of all topics is the sum of theirs."""
        return self.measure is None and self.key.startswith("num_")


class _Family(NamedTuple):
    """Measures with a number in their name.

    Attributes
    ----------
    ours : str
        The name that `parse_measure` reads, with a place for the number.
    defaults : tuple of str
        Numbers where none is given.
    decimals : int
        Those of the number in the keys of results.
    """

    ours: str
    defaults: tuple[str, ...]
    decimals: int = 0


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole; 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def share_of_possible(rows: TopicRows, rel: float) -> FloatArray:
    """Relevant documents retrieved, over as many as there could be."""
    most = np.minimum(rows.n_judged(rel), rows.n_retrieved())
    return _ratio(rows.n_retrieved(rel), most)


def _others(rows: TopicRows, rel: float) -> FloatArray:
    return rows.n_retrieved(0.0) - rows.n_retrieved(rel)


def _utility(rows: TopicRows, rel: float) -> FloatArray:
    return 2 * rows.n_retrieved(rel) - rows.n_retrieved()


def _retrieved(rows: TopicRows, rel: float) -> FloatArray:
    return rows.n_retrieved()


def _zero(rows: TopicRows, rel: float) -> FloatArray:
    return np.zeros(len(rows.topics))


def _one(rows: TopicRows, rel: float) -> FloatArray:
    return np.ones(len(rows.topics))


_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_LEVELS = tuple(f"{tenth / 10}" for tenth in range(11))
_FAMILIES = {
    "iprec_at_recall": _Family("iprec_at_recall_{}", _LEVELS, decimals=2),
    "P": _Family("P_{}", _CUTOFFS),
    "relative_P": _Family("recall_{}", _CUTOFFS),
    "recall": _Family("recall_{}", _CUTOFFS),
    "ndcg_cut": _Family("ndcg_cut_{}", _CUTOFFS),
    "map_cut": _Family("map_cut_{}", _CUTOFFS),
    "success": _Family("success_{}", ("1", "5", "10")),
    # its number has no part in the key
    "set_F": _Family("set_F", ("1",)),
}
_MEASURES = {
    "map": "map",
    "gm_map": "map",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "recip_rank",
    "gm_bpref": "bpref",
    "11pt_avg": "11pt_avg",
    "ndcg": "ndcg(gain=linear)",
    "set_P": "set_P",
    "set_recall": "set_recall",
    "set_map": "SetAP",
}
_COUNTS: dict[str, OfCounts] = {
    "runid": _zero,
    "num_q": _one,
    "num_ret": _retrieved,
    "num_rel": TopicRows.n_judged,
    "num_rel_ret": TopicRows.n_retrieved,
    "num_nonrel_judged_ret": _others,
    "set_relative_P": share_of_possible,
    "utility": _utility,
}
#: in the order of trec_eval, which is that of results
_ORDER = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec"),
    *("bpref", "recip_rank", "iprec_at_recall", "P", "recall"),
    *("gm_bpref", "utility", "11pt_avg", "ndcg", "ndcg_cut", "map_cut", "relative_P"),
    *("success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "num_nonrel_judged_ret",
)
#: what pytrec_eval has besides
_NOT_HERE = (
    *("G", "Rndcg", "Rprec_mult", "binG", "infAP", "ndcg_rel", "relstring"),
    *("all_trec", "all_prefs", "prefs", "qrels_jg"),
)
_NICKNAMES = {
    "official": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"),
        *("Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ),
    "set": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P"),
        *("set_relative_P", "set_recall", "set_map", "set_F"),
    ),
}
_WITH_NUMBERS = re.compile(r"(.+?)[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")


def named_measures(measures: Any, rel: float) -> list[Named]:
    """The measures of these names, in the order of trec_eval, then of ours.

    Parameters
    ----------
    measures : str, Measure or iterable of them
        Names of pytrec_eval mean what they mean there; others are read by
        `parse_measure`. Numbers in names replace the default ones, as there.
    rel : float
        Least label of a relevant document, in measures that do not spell it out.

    Raises
    ------
    ValueError
        For no names, unknown ones, and measures of pytrec_eval that are not here.
    """
    numbers: dict[str, list[str]] = {}
    ours: dict[str, Measure] = {}
    for given in _listed(measures):
        match = _WITH_NUMBERS.fullmatch(given) if isinstance(given, str) else None
        if isinstance(given, str) and given in _ORDER:
            numbers.setdefault(given, [])
        elif match is not None and match[1] in _FAMILIES:
            numbers.setdefault(match[1], []).extend(match[2].split(","))
        elif isinstance(given, str) and given in _NOT_HERE:
            raise ValueError(
                f"measures must have a definition here, got {given!r} (of those of "
                f"pytrec_eval these have none: {' '.join(_NOT_HERE)})"
            )
        else:
            ours[str(given)] = parse_measure(given)
    theirs = (
        named
        for name in _ORDER
        if name in numbers
        for named in _theirs(name, numbers[name])
    )
    found = [*theirs, *(Named(key, measure) for key, measure in ours.items())]
    keys = [named.key for named in found]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"measures must differ in results, got {key} twice")
    return [named._replace(measure=_at_level(named.measure, rel)) for named in found]


def _listed(measures: Any) -> Iterator[Any]:
    """Names one by one, nicknames spelled out; those of a set in a fixed order."""
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise ValueError(f"measures must be a name or several names, got {measures!r}")
    names = list(measures)
    if not names:
        raise ValueError("measures must name at least one measure, got none")
    if isinstance(measures, (set, frozenset)):
        names.sort(key=str)
    for name in names:
        yield from _NICKNAMES.get(name, (name,)) if isinstance(name, str) else (name,)


def _theirs(name: str, numbers: list[str]) -> Iterator[Named]:
    """All measures of a name, by ascending number."""
    if name in _COUNTS:
        yield Named(name, None, _COUNTS[name])
        return
    if name in _MEASURES:
        is_log = name.startswith("gm_")
        yield Named(name, parse_measure(_MEASURES[name]), None, is_log)
        return
    family = _FAMILIES[name]
    chosen = sorted({float(number) for number in numbers or family.defaults})
    if name == "set_F":
        if len(chosen) > 1:
            raise ValueError(
                f"measures must hold set_F with one number, got {len(chosen)}"
            )
        yield Named(name, _set_f(chosen[0]))
        return
    for number in chosen:
        text = f"{int(number)}" if number.is_integer() else repr(number)
        key = f"{name}_{number:.{family.decimals}f}"
        is_relative = name == "relative_P"
        factor = partial(_over_possible, cutoff=number) if is_relative else None
        yield Named(key, parse_measure(family.ours.format(text)), factor)


def _set_f(number: float) -> Measure:
    """trec_eval's number is β²."""
    return FBeta(beta=number**0.5)


def _over_possible(rows: TopicRows, rel: float, *, cutoff: float) -> FloatArray:
    """From recall to relative_P, which is hits / min(k, R)."""
    total = rows.n_judged(rel)
    return _ratio(total, np.minimum(total, cutoff))


def _at_level(measure: Measure | None, rel: float) -> Measure | None:
    """With this threshold, if it has one and does not spell it out."""
    if measure is None:
        return None
    takes = any(own.name == "rel" and own.init for own in fields(measure))
    if not takes or "rel" in spelled_out(measure):
        return measure
    changes: dict[str, Any] = {"rel": rel}
    return replace(measure, **changes)
