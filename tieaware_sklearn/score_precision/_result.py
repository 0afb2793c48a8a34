"""What a study of score precision found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import format_table, number
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import check_choice
from .._optional import import_optional
from ..evaluation._averages import mean


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionStudy(Result):
    """Systems whose scores are made coarser; prints as a table of the levels.

    Arrays over levels begin with the exact scores: ``levels[0]`` is "exact".

    Attributes
    ----------
    measure : str
    greater_is_better : bool
    levels : tuple of str
        ``"exact"`` and the coarseness levels, such as ``"rho=1.1"``.
    systems, dropped : tuple of str
        Those that were studied, and those below `min_share` of the best.
    qid : ndarray of shape (n_queries,)
        In order of first appearance.
    expected, best, worst : ndarray of shape (n_levels, n_queries, n_systems)
        Mean, most and least favourable value over the orders of ties.
    bits : ndarray of shape (n_levels, n_systems)
        What a score tells: log2 of the distinct scores of a query, averaged over
        queries.
    tied_documents : ndarray of shape (n_levels, n_systems)
        Share of retrieved documents whose score another one of the query has.
    tolerances : tuple of float
    inferiority : ndarray of shape (n_levels, n_tolerances, n_systems)
        p values of "the coarser system keeps no more than this share of the mean",
        by a one-tailed paired t test.
    pairs : ndarray of shape (n_pairs, 2), int
        Numbers of the systems of each pair.
    differences, pvalues : ndarray of shape (n_levels, n_pairs)
        Mean of the first less mean of the second, and its p value, two-tailed.
    tau_b, tau_ap : ndarray of shape (n_levels,)
        Correlation of the ordering of systems with the exact one.
    alpha : float
        Level of the tests.
    test : str
    """

    measure: str
    greater_is_better: bool
    levels: tuple[str, ...]
    systems: tuple[str, ...]
    dropped: tuple[str, ...]
    qid: NDArray[Any]
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    bits: FloatArray
    tied_documents: FloatArray
    tolerances: tuple[float, ...]
    inferiority: FloatArray
    pairs: IntArray
    differences: FloatArray
    pvalues: FloatArray
    tau_b: FloatArray
    tau_ap: FloatArray
    alpha: float
    test: str

    def means(self) -> FloatArray:
        """Means over queries.

        Returns
        -------
        ndarray of shape (n_levels, n_systems)
        """
        return level_means(self.expected)

    def changes(self) -> FloatArray:
        """Value of each query under coarser scores, less its exact one.

        Returns
        -------
        ndarray of shape (n_levels, n_queries, n_systems)
        """
        return np.asarray(self.expected - self.expected[0])

    def imprecision(self) -> FloatArray:
        """What the order of ties can change, as a share of the mean.

        Returns
        -------
        ndarray of shape (n_levels, n_systems)
            Best less worst mean, over the expected one; NaN where that is 0.
        """
        width = np.abs(level_means(self.best) - level_means(self.worst))
        middle = self.means()
        out = np.full(width.shape, np.nan)
        np.divide(width, middle, out=out, where=middle != 0)
        return out

    def not_inferior(self) -> IntArray:
        """How many systems keep more than each share of their mean.

        Returns
        -------
        ndarray of shape (n_levels, n_tolerances), int
        """
        return np.asarray((self.inferiority <= self.alpha).sum(axis=2))

    def significant(self) -> NDArray[np.bool_]:
        """Pairs whose difference is significant.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        return np.asarray(self.pvalues <= self.alpha)

    def discrimination(self) -> FloatArray:
        """Share of pairs that are significant (Sakai 2006); NaN without a pair.

        Returns
        -------
        ndarray of shape (n_levels,)
        """
        if not len(self.pairs):
            return np.full(len(self.levels), np.nan)
        return np.asarray(self.significant().mean(axis=1))

    def turned(self) -> NDArray[np.bool_]:
        """Pairs whose better system is the other one under coarser scores.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        signs = np.sign(self.differences)
        return np.asarray(signs * signs[0] < 0)

    def false_positives(self) -> IntArray:
        """Pairs significant only under coarser scores, or the other way round.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        found, exact = self.significant(), self.significant()[0]
        return np.asarray((found & (~exact | self.turned())).sum(axis=1))

    def false_negatives(self) -> IntArray:
        """Pairs significant under exact scores, and no longer.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        found, exact = self.significant(), self.significant()[0]
        return np.asarray((~found & exact).sum(axis=1))

    def to_pandas(self, rows: str = "systems") -> Any:
        """A `pandas.DataFrame` of systems, queries or pairs.

        Parameters
        ----------
        rows : {"systems", "queries", "pairs"}, default="systems"
            A row for each level and system (means and tests), each level, system
            and query (values and changes), or each level and pair of systems.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ValueError
            For other `rows`.
        """
        check_choice(rows, "rows", ("systems", "queries", "pairs"))
        pandas = import_optional("pandas", extra="io", purpose="to_pandas")
        levels, systems = np.array(self.levels, object), np.array(self.systems, object)
        n_levels = len(levels)
        if rows == "pairs":
            return pandas.DataFrame(
                {
                    "coarseness": np.repeat(levels, len(self.pairs)),
                    "a": np.tile(systems[self.pairs[:, 0]], n_levels),
                    "b": np.tile(systems[self.pairs[:, 1]], n_levels),
                    "difference": self.differences.ravel(),
                    "pvalue": self.pvalues.ravel(),
                }
            )
        if rows == "queries":
            n_queries = len(self.qid)
            return pandas.DataFrame(
                {
                    "coarseness": np.repeat(levels, n_queries * len(systems)),
                    "qid": np.tile(np.repeat(self.qid, len(systems)), n_levels),
                    "system": np.tile(systems, n_levels * n_queries),
                    "expected": self.expected.ravel(),
                    "best": self.best.ravel(),
                    "worst": self.worst.ravel(),
                    "change": self.changes().ravel(),
                }
            )
        columns = {
            "coarseness": np.repeat(levels, len(systems)),
            "system": np.tile(systems, n_levels),
            "mean": self.means().ravel(),
            "imprecision": self.imprecision().ravel(),
            "bits": self.bits.ravel(),
            "tied_documents": self.tied_documents.ravel(),
        }
        for t, tolerance in enumerate(self.tolerances):
            columns[f"p_{tolerance!r}"] = self.inferiority[:, t].ravel()
        return pandas.DataFrame(columns)

    def __str__(self) -> str:
        pairs = len(self.pairs)
        header = [self.measure, "bits", "tied", "change", "most", "range"]
        header += [f">{100 * tolerance:g}%" for tolerance in self.tolerances]
        if pairs:
            header += ["disc", "FP", "FN", "tau b", "tau AP"]
        rows = [self._row(i, bool(pairs)) for i in range(len(self.levels))]
        return "\n".join([format_table(header, rows), "", *self._legend()])

    def _row(self, i: int, pairs: bool) -> list[str]:
        changes = self.changes()[i]
        relative = _relative(self.means()[i], self.means()[0])
        largest = np.abs(changes[~np.isnan(changes)]).max(initial=0.0)
        row = [
            self.levels[i],
            number(float(self.bits[i].mean()), 1),
            f"{self.tied_documents[i].mean():.1%}",
            _percent(mean(relative), sign=True),
            number(float(largest)),
            _percent(mean(self.imprecision()[i])),
            *map(str, self.not_inferior()[i].tolist()),
        ]
        if pairs:
            row += [
                _percent(float(self.discrimination()[i])),
                str(self.false_positives()[i]),
                str(self.false_negatives()[i]),
                number(float(self.tau_b[i]), 2),
                number(float(self.tau_ap[i]), 2),
            ]
        return row

    def _legend(self) -> list[str]:
        of = "1 system" if len(self.systems) == 1 else f"{len(self.systems)} systems"
        shares = ", ".join(f">{100 * tolerance:g}%" for tolerance in self.tolerances)
        lines = [
            f"{of} on {len(self.qid)} queries",
            "bits    log2 of the distinct scores of a query",
            "tied    documents whose score another one has",
            "change  of the mean over queries; most: of one query, at the most",
            "range   best less worst order of ties, of the mean",
            f"{shares}: systems that keep more of their mean (p <= {self.alpha:g})",
        ]
        if len(self.pairs):
            lines += [
                f"disc    significant of {len(self.pairs)} pairs of systems",
                "FP, FN  newly so, or the other way round; no longer so",
                "tau     correlation of the order of systems with the exact one",
            ]
        if self.dropped:
            lines.append(f"dropped, too far below the best: {', '.join(self.dropped)}")
        return lines


def level_means(values: FloatArray) -> FloatArray:
    return np.array([[mean(column) for column in table.T] for table in values])


def _relative(values: FloatArray, exact: FloatArray) -> FloatArray:
    out = np.full(values.shape, np.nan)
    np.divide(values - exact, exact, out=out, where=exact != 0)
    return out


def _percent(value: float, sign: bool = False) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:+.2%}" if sign else f"{value:.1%}"
