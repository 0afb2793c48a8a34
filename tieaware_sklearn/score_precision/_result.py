"""Results of a study of score precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Ranges, Table, number, probability
from .._engine.ties import FloatArray, IntArray
from ..evaluation import Summary
from ..evaluation._averages import mean, means

#: columns of frames: p-values of "no more than this share is kept"
_PVALUE = "inferiority_pvalue_"


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionStudy(Result):
    """Effect of coarser scores on the evaluation of systems.

    It prints as a table of the levels. Arrays over levels begin with the exact scores:
    ``levels[0]`` is "exact".

    Attributes
    ----------
    measure : str
        Name of the measure.
    greater_is_better : bool
        Whether higher values of the measure are better.
    levels : tuple of str
        ``"exact"`` and the levels of coarseness, such as ``"rho=1.1"``.
    systems, dropped : tuple of str
        Systems that were studied, and systems below `min_share` of the best one.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst : ndarray of shape (n_levels, n_queries, n_systems)
        Mean, largest and smallest value over the orders of ties (the reverse where
        lower is better).
    bits : ndarray of shape (n_levels, n_systems)
        log2 of the number of distinct scores of a query, averaged over queries.
    tied_documents : ndarray of shape (n_levels, n_systems)
        Share of retrieved documents that have the same score as another document of
        their query.
    keep : tuple of float
        Shares of the mean to keep.
    inferiority : ndarray of shape (n_levels, n_shares, n_systems)
        p-values of the hypothesis that the coarser system keeps at most this share of
        the mean, by a one-tailed paired t test.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the two systems of each pair.
    difference, pvalues : ndarray of shape (n_levels, n_pairs)
        Mean of the first system minus mean of the second, and its two-tailed p-value.
    tau_b, tau_ap : ndarray of shape (n_levels,)
        Rank correlation of the order of systems with the order by exact scores.
    alpha : float
        Significance level of the tests.
    test : str
        Name of the test for pairs.
    ties : str
        Treatment of ties, as given to `precision_study`.

    See Also
    --------
    precision_study : Returns such a study.
    tieaware_sklearn.plots.PrecisionLossDisplay : Draws the changes of queries.
    tieaware_sklearn.plots.PairwisePValueDisplay : Draws the tests of pairs.

    Examples
    --------
    >>> from tieaware_sklearn import precision_study
    >>> study = precision_study([1, 0, 0], [3.2, 2.9, 1.0], coarseness="decimals=0")
    >>> study.levels
    ('exact', 'decimals=0')
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
    keep: tuple[float, ...]
    inferiority: FloatArray
    pairs: IntArray
    difference: FloatArray
    pvalues: FloatArray
    tau_b: FloatArray
    tau_ap: FloatArray
    alpha: float
    test: str
    ties: str

    def summary(self) -> Summary:
        """Average over queries for each system and level.

        Returns
        -------
        Summary
            A row for each level of ``coarseness`` and ``system``: the averages ``mean``
            (of the expected values), ``best`` and ``worst``; ``imprecision``, best
            minus worst as a share of the mean, NaN where the mean is 0; ``bits`` and
            ``tied_documents``; and for each share of `keep` the p-value of "no more
            than this share is kept", such as ``inferiority_pvalue_0.95``.
        """
        average, best, worst = map(level_means, (self.expected, self.best, self.worst))
        values = {
            "mean": average,
            "best": best,
            "worst": worst,
            "imprecision": _share(np.abs(best - worst), average),
            "bits": self.bits,
            "tied_documents": self.tied_documents,
        }
        for t, keep in enumerate(self.keep):
            values[f"{_PVALUE}{keep!r}"] = self.inferiority[:, t]
        columns = _long({"coarseness": self.levels, "system": self.systems}, values)
        keys = ("coarseness", "system")
        return Summary(columns, keys, {"measure": self.measure}, _tables_of_means)

    def changes(self) -> FloatArray:
        """Return the change of each query: its value at each level minus its exact one.

        Returns
        -------
        ndarray of shape (n_levels, n_queries, n_systems)
        """
        return np.asarray(self.expected - self.expected[0])

    def not_inferior(self) -> IntArray:
        """Count the systems that keep more than each share of their mean.

        Returns
        -------
        ndarray of shape (n_levels, n_shares), int
        """
        return np.asarray((self.inferiority <= self.alpha).sum(axis=2))

    def significant(self) -> NDArray[np.bool_]:
        """Return which pairs differ significantly.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        return np.asarray(self.pvalues <= self.alpha)

    def discrimination(self) -> FloatArray:
        """Return the share of pairs that differ significantly; NaN without a pair.

        This is the discriminative power of Sakai (2006).

        Returns
        -------
        ndarray of shape (n_levels,)
        """
        if not len(self.pairs):
            return np.full(len(self.levels), np.nan)
        return np.asarray(self.significant().mean(axis=1))

    def turned(self) -> NDArray[np.bool_]:
        """Return which pairs have another better system than under exact scores.

        Returns
        -------
        ndarray of shape (n_levels, n_pairs), bool
        """
        signs = np.sign(self.difference)
        return np.asarray(signs * signs[0] < 0)

    def false_positives(self) -> IntArray:
        """Count the pairs that are significant under coarser but not exact scores.

        A pair that is significant under both, but in favour of different systems,
        counts here, too.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        found, exact = self.significant(), self.significant()[0]
        return np.asarray((found & (~exact | self.turned())).sum(axis=1))

    def false_negatives(self) -> IntArray:
        """Count the pairs that are significant under exact but not coarser scores.

        A pair that is significant under both, but in favour of different systems, does
        not count here: it is a false positive only.

        Returns
        -------
        ndarray of shape (n_levels,), int
        """
        found, exact = self.significant(), self.significant()[0]
        return np.asarray((~found & exact).sum(axis=1))

    def _columns(self) -> dict[str, Any]:
        values = {
            "expected": self.expected,
            "best": self.best,
            "worst": self.worst,
            "change": self.changes(),
        }
        return _long(
            {"qid": self.qid, "coarseness": self.levels, "system": self.systems},
            {name: array.swapaxes(0, 1) for name, array in values.items()},
        )

    def _tables(self) -> list[Table]:
        summary, shape = self.summary(), self.bits.shape
        average, imprecision = (
            summary.columns[name].reshape(shape) for name in ("mean", "imprecision")
        )
        changes = _share(average - average[0], average[0])
        largest = np.nan_to_num(np.abs(self.changes())).max(axis=(1, 2))
        columns: list[tuple[Any, ...]] = [
            (self.measure, self.levels),
            ("bits", self.bits.mean(axis=1), partial(number, digits=1)),
            ("tied", self.tied_documents.mean(axis=1), _percent),
            ("change", [mean(row) for row in changes], partial(_percent, form="+.2%")),
            ("most", largest),
            ("range", [mean(row) for row in imprecision], _percent),
        ]
        for share, counts in zip(self.keep, self.not_inferior().T, strict=True):
            columns.append((_more(share), counts))
        if len(self.pairs):
            columns += [
                ("disc", self.discrimination(), _percent),
                ("FP", self.false_positives()),
                ("FN", self.false_negatives()),
                ("tau b", self.tau_b, partial(number, digits=2)),
                ("tau AP", self.tau_ap, partial(number, digits=2)),
            ]
        return [
            Table.of(*columns, notes=self._notes(), terms=self._terms(), explains=True)
        ]

    def _notes(self) -> list[str]:
        of = "1 system" if len(self.systems) == 1 else f"{len(self.systems)} systems"
        notes = ["", f"{of} on {len(self.qid)} queries"]
        if self.dropped:
            notes.append(f"dropped (too far below the best): {', '.join(self.dropped)}")
        return notes

    def _terms(self) -> dict[str, str]:
        """What heads mean, which are short."""
        terms = {
            "bits": "log2 of the number of distinct scores of a query",
            "tied": "share of documents with the score of another document",
            "change": "change of the mean over queries",
            "most": "the largest change of one query",
            "range": "best minus worst order of ties, as a share of the mean",
            ", ".join(map(_more, self.keep)): "number of systems that keep more than "
            f"this share of their mean (p <= {self.alpha:g})",
        }
        if len(self.pairs):
            terms |= {
                "disc": "share of system pairs that differ significantly "
                f"({len(self.pairs)} in all)",
                "FP": "pairs that differ significantly only under coarser scores, or "
                "the other way round",
                "FN": "pairs that no longer differ significantly",
                "tau": "correlation of the order of systems with the exact one",
            }
        return terms


def _tables_of_means(of: Summary) -> list[Table]:
    (_, levels), *rest = of.columns.items()
    named = [
        (_of_share(name), column, probability)
        if name.startswith(_PVALUE)
        else (name.replace("_", " "), column)
        for name, column in rest
    ]
    # the p-values, and what lies within the range of the bands
    drop = (*range(len(named), 6, -1), 5)
    ranges = Ranges(of.worst, of.mean, of.best)
    return [Table.of((of.measure, levels), *named, left=2, drop=drop, ranges=ranges)]


def level_means(values: FloatArray) -> FloatArray:
    """Means over queries, of shape (n_levels, n_systems)."""
    return np.array([means(level) for level in values])


def _long(
    labels: dict[str, Sequence[Any] | NDArray[Any]], values: dict[str, FloatArray]
) -> dict[str, Any]:
    """A row for each cell of `values`, whose axes have these labels."""
    cells = np.meshgrid(*labels.values(), indexing="ij")
    named = zip([*labels, *values], [*cells, *values.values()], strict=True)
    return {name: cell.ravel() for name, cell in named}


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole; NaN for a whole of 0."""
    whole = np.broadcast_to(whole, part.shape)
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole != 0)
    return out


def _of_share(name: str) -> str:
    """The head of a column of p-values: the share that they are of."""
    return f"p ({_more(float(name.removeprefix(_PVALUE)))})"


def _percent(value: float, form: str = ".1%") -> str:
    return "-" if math.isnan(value) else format(value, form)


def _more(share: float) -> str:
    return f">{100 * share:g}%"
