"""What a summary that merges is made of, in memory and in files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._engine.differences import other_options
from .._engine.digests import Digests
from .._engine.known_queries import are_kept, both, check_apart
from .._engine.validation import UNJUDGED, check_choice
from ..io._saved import kept_sums
from ..io._saved_file import Kept, UnreadableError
from ..measures import Measure
from ..measures._parse import names_to_save, parse_measures
from ._conventions import CONVENTIONS
from ._exact_sums import ExactMoments, ExactSums, ReportSums
from ._undefined import check_zero_relevance

#: expected, best and worst values, chance and ideal
_AVERAGED = 5


class Options(NamedTuple):
    """What two summaries that merge have alike.

    Attributes
    ----------
    measures : tuple of Measure
    average : {"macro", "geometric"}
    zero_relevance : float, "skip" or "raise"
    unjudged : {"raise", "nonrelevant", "drop"}
    convention : str or None
    score, label : str
        Names of columns. That of query ids may differ: queries are told apart by ids.
    query_weight : str or None
        The column with the weights of queries, if they have any.
    """

    measures: tuple[Measure, ...]
    average: str
    zero_relevance: float | str
    unjudged: str
    convention: str | None
    score: str
    label: str
    query_weight: str | None

    def in_words(self) -> dict[str, Any]:
        """The fields as users know them, to be compared."""
        return {
            "measures": self.measures,
            "averages": self.average,
            "values of zero_relevance": self.zero_relevance,
            "values of unjudged": self.unjudged,
            "values of convention": self.convention,
            "columns of scores": self.score,
            "columns of labels": self.label,
            "columns of query weights": self.query_weight,
        }


@dataclass(frozen=True, eq=False)
class SummaryParts:
    """Sums over queries, and which queries these are.

    Attributes
    ----------
    options : Options
    sums : ReportSums
    digests : ndarray of shape (n_queries,), uint64
        Of the queries, in ascending order.
    """

    options: Options
    sums: ReportSums
    digests: Digests

    def n_queries(self) -> int:
        return len(self.digests)

    def difference(self, other: SummaryParts, here: str, there: str) -> str:
        """The first difference of options, in words; nothing if they merge."""
        ours, theirs = self.options.in_words(), other.options.in_words()
        return other_options(ours, theirs, here, there)

    def merge(self, other: SummaryParts) -> SummaryParts:
        """Of the queries of both."""
        if difference := self.difference(other, "this summary", "other"):
            raise ValueError(
                "other must have the measures, options and columns of this summary: "
                f"{difference}"
            )
        check_apart(self.digests, other.digests, "summary", other.n_queries())
        digests = both(self.digests, other.digests)
        return SummaryParts(self.options, self.sums.merge(other.sums), digests)


def kept_parts(parts: SummaryParts) -> Kept:
    """All that is needed to merge."""
    options = parts.options._asdict()
    options["measures"] = names_to_save(parts.options.measures)
    arrays = {
        "query_digests": parts.digests,
        "bounds": np.array(parts.sums.bounds, dtype=np.float64),
    }
    kept = Kept({"options": options}, arrays)
    return kept.with_part("sums", kept_sums(parts.sums))


def parts_of(kept: Kept, figures: dict[str, Any]) -> SummaryParts:
    """What `kept_parts` was given, of a summary with these figures."""
    options = _options_of(kept.part("options"))
    names = tuple(map(str, options.measures))
    if (names, options.average) != (figures["measures"], figures["average"]):
        raise UnreadableError(f"must have one summary, got those of {names} and others")
    digests, n_measures = kept.array("query_digests", "u", None), len(names)
    if not are_kept(digests) or len(digests) < figures["n_queries"].max():
        raise UnreadableError("must have a sorted digest of each query")
    sums = kept.part("sums")
    found = ReportSums(
        names,
        options.average,
        tuple(map(tuple, kept.array("bounds", "f", n_measures, 2).tolist())),
        _moments_of(sums.part("values"), _AVERAGED, n_measures),
        _sums_of(sums.part("tie_variance"), n_measures),
        _sums_of(sums.part("error_variance"), n_measures),
        sums.array("n_estimated", "i", n_measures),
    )
    return SummaryParts(options, found, digests)


def _options_of(kept: Kept) -> Options:
    options = Options(
        tuple(parse_measures(kept.texts("measures"))),
        kept.value("average", str),
        kept.value("zero_relevance", float, str),
        kept.value("unjudged", str),
        kept.value("convention", str, type(None)),
        kept.value("score", str),
        kept.value("label", str),
        kept.value("query_weight", str, type(None)),
    )
    check_zero_relevance(options.zero_relevance)
    check_choice(options.unjudged, "unjudged", UNJUDGED)
    if options.convention is not None:
        check_choice(options.convention, "convention", tuple(CONVENTIONS))
    return options


def _moments_of(kept: Kept, *shape: int) -> ExactMoments:
    names = ("weight", "values", "weight2", "products", "values2")
    sums = [_sums_of(kept.part(name), *shape) for name in names]
    return ExactMoments(kept.array("count", "f", *shape), *sums)


def _sums_of(kept: Kept, *shape: int) -> ExactSums:
    parts = kept.array("parts", "f", None, *shape)
    if not len(parts):
        raise UnreadableError("must have sums, got an empty array 'parts'")
    return ExactSums(parts)
