"""How probable it is that a system is better, given the queries seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._display.result import Result, as_columns
from .._display.tables import Table
from .._engine.exact import show
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import is_number
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments

_OF_PAIRS = ("difference", "better", "equivalent", "worse", "n_queries")


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonPosterior(Result):
    """Posterior probabilities that systems are better or equivalent; prints as a table.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    measure : str
        Canonical name.
    ties : str
        Treatment of ties.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    rope : float
        Differences of at most this much are equivalent (region of practical
        equivalence).
    difference : ndarray of shape (n_pairs,)
        Mean of the differences A - B over the queries where both are defined.
    better, equivalent, worse : ndarray of shape (n_pairs,)
        Posterior probabilities that A is better than B by more than `rope`, that they
        are equivalent, and that A is worse by more than `rope`. They add up to 1, and
        are NaN for fewer than two queries.
    n_queries : ndarray of shape (n_pairs,), int
        Number of queries where both systems are defined.

    See Also
    --------
    SystemComparison.posterior : The method that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2], measure="rr")
    >>> found.posterior(rope=0.1).better.round(4)
    array([0.8642])
    """

    systems: tuple[str, ...]
    measure: str
    ties: str
    pairs: IntArray
    rope: float
    difference: FloatArray
    better: FloatArray
    equivalent: FloatArray
    worse: FloatArray
    n_queries: IntArray

    def _columns(self) -> dict[str, Any]:
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        values = {name: getattr(self, name) for name in _OF_PAIRS}
        return as_columns({"a": first, "b": second, **values})

    def _tables(self) -> list[Table]:
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        note = f"equivalent: differences of {self.measure} of at most {self.rope:g}"
        if self.ties != "expected":
            note += f"; ties: {self.ties}"
        return [
            Table.of(
                ("A", first),
                ("B", second),
                ("A - B", self.difference),
                ("A better", self.better),
                ("equivalent", self.equivalent),
                ("B better", self.worse),
                left=2,
                notes=[note],
                terms={
                    "A better": "posterior probability that A is better",
                    "equivalent": "posterior probability that both are equivalent",
                    "B better": "posterior probability that B is better",
                },
            )
        ]


def posterior_of(
    differences: QueryMoments, rope: Any, *, greater_is_better: bool
) -> dict[str, Any]:
    """What a `ComparisonPosterior` has of each pair.

    Under Jeffreys' prior the mean difference of n queries, with mean d̄ and standard
    deviation s, has Student's t distribution with n - 1 degrees of freedom, location
    d̄ and scale s/√n (Corani and Benavoli 2015, without their correlation; Sakai, SIGIR
    2017).

    Parameters
    ----------
    differences : QueryMoments
        Of the differences A - B; columns (n_pairs,).
    rope : float
    greater_is_better : bool
    """
    if not is_number(rope, least=0):
        raise ValueError(f"rope must be a number >= 0, got {show(rope)}")
    n, average = differences.count, differences.averages()
    error = differences.standard_error()
    steady = error <= NO_DIFFERENCE
    # where nothing spreads, all is at the mean
    edge = rope + NO_DIFFERENCE * steady
    scale, degrees = np.where(steady, 1.0, error), np.maximum(n - 1, 1)

    def beyond(at: FloatArray) -> FloatArray:
        """P(mean > edge) of a mean that is estimated to be `at`."""
        share = stats.t.sf((edge - at) / scale, degrees)
        sure = np.where(at > edge, 1.0, 0.0)
        return np.where(np.isnan(error), np.nan, np.where(steady, sure, share))

    above, below = beyond(average), beyond(-average)
    better, worse = (above, below) if greater_is_better else (below, above)
    return {
        "difference": average,
        "better": better,
        "equivalent": np.maximum(1 - (above + below), 0.0),
        "worse": worse,
        "n_queries": n.astype(np.int64),
    }
