"""Systems compared by several measures, or under several treatments of ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Ranges, Table, probability
from .._display.words import meaning
from .._optional import import_optional
from ..measures._parse import parse_measure
from ._comparison_result import (
    EXPECTED,
    SystemComparison,
    SystemSummary,
    names_of_pairs,
    names_of_systems,
    p_head,
    pair_table,
    query_columns,
    summary_table,
    treated,
)


@dataclass(frozen=True, eq=False, repr=False)
class SystemSummaries(Result):
    """Averages over queries of `SystemComparisons`; prints as a table.

    Several treatments of ties are columns beside each other.

    Attributes
    ----------
    summaries : tuple of SystemSummary
        One for each measure and treatment, in the order of the comparisons.

    See Also
    --------
    SystemComparisons.summary : The method that returns these summaries.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
    ...                         measure=["rr", "p@1"])
    >>> found.summary().to_pandas()[["measure", "system", "mean"]]
      measure system   mean
    0      RR      a  1.000
    1      RR      b  0.625
    2     P@1      a  1.000
    3     P@1      b  0.250
    """

    summaries: tuple[SystemSummary, ...]

    def __iter__(self) -> Iterator[SystemSummary]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def _columns(self) -> dict[str, Any]:
        return _stacked(self.summaries, [one._columns() for one in self.summaries])

    def _tables(self) -> list[Table]:
        treatments = _treatments(self.summaries)
        if len(treatments) == 1:
            return [summary_table(self.summaries)]
        by = {ties: _under(self.summaries, ties) for ties in treatments}
        names = names_of_systems(by[treatments[0]])
        columns = {ties: _joined(by[ties], "mean") for ties in treatments}
        terms = {ties: f"average over queries, {treated(ties)}" for ties in treatments}
        ranges = None
        if EXPECTED in by:
            # what any order could give, if it is not there by itself
            for end in ("worst", "best"):
                columns.setdefault(end, _joined(by[EXPECTED], end))
            if len(by[EXPECTED]) == 1:
                worst, mean, best = (columns[n] for n in ("worst", EXPECTED, "best"))
                ranges = Ranges(worst, mean, best)
        left, shown = len(names), columns.items()
        return [Table.of(*names, *shown, left=left, terms=terms, ranges=ranges)]


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparisons(Result):
    """Comparisons by several measures or treatments of ties; prints as two tables.

    The first table has a row for each measure and system, the second a row for each
    measure and pair. Several treatments of ties are columns beside each other.

    Attributes
    ----------
    comparisons : tuple of SystemComparison
        One for each measure and treatment: all treatments of the first measure, then
        all of the second.

    See Also
    --------
    compare_systems : The function that returns these comparisons.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
    ...                         measure=["rr", "p@1"], ties=["expected", "worst"])
    >>> found.measures, found.ties
    (('RR', 'P@1'), ('expected', 'worst'))
    >>> found["P@1", "worst"].difference
    array([1.])
    >>> print(found)
    measure  system  expected   worst    best
    -----------------------------------------
    RR       a         1.0000  1.0000  1.0000
    RR       b         0.6250  0.5000  0.7500
    P@1      a         1.0000  1.0000  1.0000
    P@1      b         0.2500  0.0000  0.5000
    <BLANKLINE>
    measure  A  B  A - B expected  A - B worst  p (t) expected  p (t) worst  holds
    ------------------------------------------------------------------------------
    RR       a  b          0.3750       0.5000          0.2048      <0.0001    yes
    P@1      a  b          0.7500       1.0000          0.2048      <0.0001    yes
    """

    comparisons: tuple[SystemComparison, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names of the measures."""
        return tuple(dict.fromkeys(one.measure for one in self.comparisons))

    @property
    def ties(self) -> tuple[str, ...]:
        """Treatments of ties."""
        return _treatments(self.comparisons)

    def __iter__(self) -> Iterator[SystemComparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, key: tuple[str, str]) -> SystemComparison:
        """The comparison by a measure, by any of its names, under a treatment."""
        found = {(one.measure, one.ties): one for one in self.comparisons}
        if key not in found and isinstance(key, tuple) and len(key) == 2:
            with suppress(ValueError):
                key = str(parse_measure(key[0])), key[1]
        if key not in found:
            raise KeyError(f"{key!r} is not one of {list(found)}")
        return found[key]

    def summary(self) -> SystemSummaries:
        """Average each system over queries, by each measure and treatment.

        Returns
        -------
        SystemSummaries
        """
        return SystemSummaries(tuple(one.summary() for one in self.comparisons))

    def by_query(self) -> Any:
        """The values of each query and system, by each measure and treatment.

        Returns
        -------
        pandas.DataFrame
            The columns of `SystemComparison.by_query` after ``measure`` and ``ties``.
        """
        pandas = import_optional("pandas", extra="io", purpose="by_query")
        parts = [query_columns(one) for one in self.comparisons]
        return pandas.DataFrame(_stacked(self.comparisons, parts))

    def _columns(self) -> dict[str, Any]:
        return _stacked(self.comparisons, [one._columns() for one in self.comparisons])

    def _tables(self) -> list[Table]:
        averages = self.summary()._tables()
        if not len(self.comparisons[0].pairs):
            return averages
        if len(self.ties) == 1:
            return [*averages, pair_table(self.comparisons)]
        return [*averages, self._side_by_side()]

    def _side_by_side(self) -> Table:
        """Differences and p-values of all pairs, by treatment."""
        by = {ties: _under(self.comparisons, ties) for ties in self.ties}
        names = names_of_pairs(by[self.ties[0]])
        head, holds = p_head(self.comparisons[0]), "holds"
        differences = [
            (f"A - B {ties}", _joined(those, "difference"))
            for ties, those in by.items()
        ]
        pvalues = [
            (f"{head} {ties}", _joined(those, "adjusted_pvalues"), probability)
            for ties, those in by.items()
        ]
        columns = [*names, *differences, *pvalues]
        if EXPECTED in by:
            survives = _joined(by[EXPECTED], "survives")
            columns.append((holds, np.where(survives, "yes", "no")))
        terms = {f"A - B {ties}": f"{meaning('A - B')}, {treated(ties)}" for ties in by}
        terms |= {f"{head} {ties}": meaning(head) for ties in by}
        drop = [len(columns) - 1] if EXPECTED in by else []
        return Table.of(*columns, left=len(names), drop=drop, terms=terms)


def _treatments(of: Sequence[SystemComparison | SystemSummary]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.ties for one in of))


def _under(of: Sequence[Any], ties: str) -> list[Any]:
    """One for each measure."""
    return [one for one in of if one.ties == ties]


def _joined(of: Sequence[Any], name: str) -> NDArray[Any]:
    """An attribute of each, one after the other."""
    return np.concatenate([getattr(one, name) for one in of])


def _stacked(
    of: Sequence[SystemComparison | SystemSummary], parts: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Columns of each, one after the other, after its measure and treatment."""
    sizes = [len(next(iter(part.values()))) for part in parts]
    about = {
        name: np.repeat([getattr(one, name) for one in of], sizes)
        for name in ("measure", "ties")
    }
    return about | {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
