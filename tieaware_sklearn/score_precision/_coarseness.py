"""A way to make scores coarser, by its name and value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, dense_ranks
from .._engine.validation import Queries, check_choice, is_retrieved
from ._bands import EXISTING_TIES, band_scores, check_rho
from ._rounding import NAMED_BITS, round_scores

KINDS = ("rho", "decimals", "significant", "bits", "levels")
SCALES = ("query", "all")


class Coarseness(NamedTuple):
    """One way to make scores coarser; its text is ``kind=value``."""

    kind: str
    value: Any

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"

    @property
    def is_linear(self) -> bool:
        """Whether it divides the range between two scores."""
        linear_bits = self.kind == "bits" and self.value not in NAMED_BITS
        return self.kind == "levels" or linear_bits

    def apply(
        self,
        scores: Any,
        qid: Any = None,
        *,
        existing_ties: str = "keep",
        limits: Any = None,
    ) -> FloatArray:
        """Coarser scores; `qid` is that of bands, and of a range of each query."""
        if self.kind == "rho":
            return band_scores(scores, self.value, qid=qid, existing_ties=existing_ties)
        if not self.is_linear:
            qid = limits = None
        options: dict[str, Any] = {self.kind: self.value}
        return round_scores(scores, qid=qid, limits=limits, **options)


class Coarsener(NamedTuple):
    """Makes the scores of given queries coarser."""

    queries: Queries
    existing_ties: str
    scale: str

    @classmethod
    def of(cls, queries: Queries, existing_ties: str, scale: str) -> Coarsener:
        check_choice(existing_ties, "existing_ties", EXISTING_TIES)
        check_choice(scale, "scale", SCALES)
        return cls(queries, existing_ties, scale)

    def __call__(self, scores: Any, coarseness: Coarseness) -> FloatArray:
        qid = None
        if coarseness.kind == "rho" or self.scale == "query":
            qid = self.queries.row_codes()
        return coarseness.apply(scores, qid, existing_ties=self.existing_ties)


def parse_coarseness(given: Any, name: str = "coarseness") -> Coarseness:
    """A number (rho), a text such as ``"bits=8"``, or a mapping of one entry."""
    if isinstance(given, Coarseness):
        return given
    if isinstance(given, Mapping) and len(given) == 1:
        ((kind, value),) = given.items()
    elif isinstance(given, str) and "=" in given:
        kind, _, value = (part.strip() for part in given.partition("="))
        value = value if kind == "rho" or value in NAMED_BITS else _whole(value)
    elif isinstance(given, (int, float, np.number, Fraction)):
        kind, value = "rho", given
    else:
        raise ValueError(
            f'{name} must be a text such as "rho=1.1", "decimals=2", "significant=3", '
            f'"bits=float16", "bits=8" or "levels=100", got {given!r}'
        )
    check_choice(kind, f"{name} {given!r}: the kind", KINDS)
    if kind == "rho":
        check_rho(value)
    else:
        round_scores([0.0, 1.0], **{kind: value})
    return Coarseness(kind, value)


def _whole(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


def parse_coarsenesses(given: Any) -> list[Coarseness]:
    """One or several, all different."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, Mapping))
    each = list(given) if several and not isinstance(given, Coarseness) else [given]
    if not each:
        raise ValueError("coarseness must not be empty")
    parsed = [parse_coarseness(one) for one in each]
    seen: dict[Any, Coarseness] = {}
    for one in parsed:
        same = (one.kind, check_rho(one.value) if one.kind == "rho" else one.value)
        if same in seen:
            raise ValueError(
                f"coarseness must hold each level once, got {seen[same]} and {one}"
            )
        seen[same] = one
    return parsed


class ScoreDetail(NamedTuple):
    """How finely scores tell the documents of a query apart, on average."""

    bits: float
    tied_documents: float


def score_detail(scores: NDArray[Any], queries: Queries) -> ScoreDetail:
    """log2 of the distinct scores of a query, on average, and the share that ties."""
    retrieved = is_retrieved(scores)
    ranks, n_ranks = dense_ranks(scores[retrieved])
    if not n_ranks:
        return ScoreDetail(0.0, 0.0)
    key = queries.row_codes()[retrieved] * n_ranks + ranks
    groups, sizes = np.unique(key, return_counts=True)
    distinct = np.bincount(groups // n_ranks)
    bits = np.log2(distinct[distinct > 0])
    tied = int(sizes[sizes > 1].sum())
    return ScoreDetail(math.fsum(bits.tolist()) / len(bits), tied / len(ranks))
