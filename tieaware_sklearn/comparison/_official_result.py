"""What trec_eval's order of ties changes, against exact means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Ranges, Table, probability
from .._engine.ties import FloatArray, IntArray
from .._optional import import_optional
from ..evaluation._intervals import NO_DIFFERENCE
from ._comparison_result import SystemComparison

#: changes of conclusions, the gravest first
CHANGES = {
    "turned": "both differences are significant, in opposite directions",
    "lost": "only the official difference is significant",
    "new": "only the exact difference is significant",
    "sign": "neither is significant, and the signs differ",
}
#: of more pairs, only those with a change are shown
_MOST_PAIRS = 10


def changes_of(
    official: SystemComparison, exact: SystemComparison, alpha: float
) -> NDArray[np.str_]:
    """Of each pair, one of `CHANGES`, or nothing."""
    sides = [
        np.where(np.abs(one.difference) > NO_DIFFERENCE, np.sign(one.difference), 0)
        for one in (official, exact)
    ]
    sure, truly = (one.pvalues < alpha for one in (official, exact))
    opposite = sides[0] * sides[1] < 0
    return np.select(
        [sure & truly & opposite, sure & ~truly, ~sure & truly, ~sure & opposite],
        list(CHANGES),
        default="",
    )


@dataclass(frozen=True, eq=False, repr=False)
class OfficialVsExact(Result):
    """Systems by trec_eval's order of ties and by exact means; prints as tables.

    For each measure there is a table of the systems and one of the pairs. Of more than
    ten pairs, only those are printed whose conclusion changes; `to_pandas` has all.

    Attributes
    ----------
    systems, measures : tuple of str
        Names of the systems, and canonical names of the measures.
    tied_documents : ndarray of shape (n_systems,)
        Share of the retrieved documents that tie with another one of their query.
    official, exact, worst, best : ndarray of shape (n_systems, n_measures)
        Averages over queries: with ties broken by descending document id; over all
        orders of ties; in the worst order; and in the best one.
    tau_b, tau_ap : ndarray of shape (n_measures,)
        Rank correlation of the order of systems by official means with that by exact
        means. NaN where undefined.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    change : ndarray of shape (n_measures, n_pairs), str
        What the exact means change: "turned" (both differences are significant, in
        opposite directions), "lost" (only the official one is significant), "new"
        (only the exact one is), "sign" (neither is, and the signs differ), or "".
    comparisons : SystemComparison
        The comparison by each measure, with ``ties`` "official" and "expected".
    share, share_error : ndarray of shape (n_measures, n_pairs)
        Share of the orders of ties in which p < alpha, and its standard error.
    smallest, largest : ndarray of shape (n_measures, n_pairs)
        Smallest and largest p-value found among these orders.
    alpha : float
        Significance level.

    See Also
    --------
    official_vs_exact : The function that returns this result.
    tieaware_sklearn.plots.OfficialVsExactDisplay : Draws it.

    Examples
    --------
    >>> from tieaware_sklearn import official_vs_exact
    >>> found = official_vs_exact(
    ...     [1, 0, 1, 0], {"a": [1, 1, 1, 1], "b": [2, 1, 1, 2]}, ["4", "3", "2", "1"],
    ...     qid=[1, 1, 2, 2], measures="P@1")
    >>> found.official[:, 0].tolist(), found.exact[:, 0].tolist()
    ([1.0, 0.5], [0.5, 0.5])
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    tied_documents: FloatArray
    official: FloatArray
    exact: FloatArray
    worst: FloatArray
    best: FloatArray
    tau_b: FloatArray
    tau_ap: FloatArray
    pairs: IntArray
    change: NDArray[np.str_]
    comparisons: SystemComparison
    share: FloatArray
    share_error: FloatArray
    smallest: FloatArray
    largest: FloatArray
    alpha: float

    def _both(self, j: int) -> tuple[SystemComparison, SystemComparison]:
        official, exact = (
            self.comparisons[self.measures[j], ties] for ties in self.comparisons.ties
        )
        return official, exact

    def _columns(self) -> dict[str, Any]:
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        n = len(self.measures)
        columns: dict[str, Any] = {
            "measure": np.repeat(self.measures, len(self.pairs)),
            "a": np.tile(first, n),
            "b": np.tile(second, n),
        }
        for number, ties in enumerate(("official", "exact")):
            each = [self._both(j)[number] for j in range(n)]
            columns[f"{ties}_difference"] = np.ravel([one.difference for one in each])
            columns[f"{ties}_pvalue"] = np.ravel([one.pvalues for one in each])
        ranges = np.concatenate([self._both(j)[1].tie_range for j in range(n)])
        columns["tie_range_low"], columns["tie_range_high"] = ranges.T
        for name in ("share", "share_error", "smallest", "largest"):
            columns[name] = getattr(self, name).ravel()
        columns["change"] = self.change.ravel()
        return columns

    def averages(self) -> Any:
        """The means of the systems as a `pandas.DataFrame`, a row for each measure.

        Returns
        -------
        pandas.DataFrame
            Columns measure, system, tied_documents, official, exact, worst and best.
        """
        pandas = import_optional("pandas", extra="io", purpose="averages")
        n = len(self.measures)
        figures = ("official", "exact", "worst", "best")
        return pandas.DataFrame(
            {
                "measure": np.repeat(self.measures, len(self.systems)),
                "system": list(self.systems) * n,
                "tied_documents": np.tile(self.tied_documents, n),
                **{name: getattr(self, name).T.ravel() for name in figures},
            }
        )

    def _tables(self) -> list[Table]:
        tables = []
        for j, change in enumerate(self.change):
            shown = np.flatnonzero((change != "") | (len(change) <= _MOST_PAIRS))
            tables.append(self._system_table(j, [] if len(shown) else [_told(change)]))
            if len(shown):
                tables.append(self._pair_table(j, shown))
        return tables

    def _system_table(self, j: int, more: list[str]) -> Table:
        official, exact, worst, best = (
            getattr(self, name)[:, j] for name in ("official", "exact", "worst", "best")
        )
        notes = []
        if not np.isnan(self.tau_b[j]):
            notes.append(
                "order of systems, official against exact: tau-b "
                f"{self.tau_b[j]:.2f}, tau-AP {self.tau_ap[j]:.2f}"
            )
        return Table.of(
            (self.measures[j], self.systems),
            ("tied", self.tied_documents, _percent),
            ("official", official),
            ("exact", exact),
            ("worst", worst),
            ("best", best),
            notes=notes + more,
            ranges=Ranges(worst, exact, best),
            terms=_TERMS,
        )

    def _pair_table(self, j: int, shown: IntArray) -> Table:
        official, exact = self._both(j)
        first, second = np.array(self.systems, dtype=object)[self.pairs[shown].T]
        level = f"p < {self.alpha:g}"
        columns: list[tuple[Any, ...]] = [
            ("A", first),
            ("B", second),
            ("official", official.difference[shown]),
            ("p", official.pvalues[shown], probability),
            ("exact", exact.difference[shown]),
            ("p exact", exact.pvalues[shown], probability),
            (level, self.share[j, shown], _percent),
            ("tie range", exact.tie_range[shown]),
            ("change", self.change[j, shown].tolist()),
        ]
        return Table.of(
            *columns,
            left=2,
            drop=[7],
            notes=[_told(self.change[j])],
            terms=_TERMS | {level: "share of the orders of ties with it"},
        )


def _told(change: NDArray[np.str_]) -> str:
    """How many conclusions change, and what the kinds of changes there are mean."""
    count = int((change != "").sum())
    kinds = [f"{name}: {said}" for name, said in CHANGES.items() if name in change]
    return "; ".join([f"{count} of {len(change)} conclusions change", *kinds])


_TERMS = {
    "tied": "share of the documents that tie with another one of their query",
    "official": "by trec_eval's order of ties: descending document id",
    "exact": "mean over all orders of ties",
    "p": "p-value of the official difference",
    "p exact": "p-value of the exact difference",
}


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f} %"
