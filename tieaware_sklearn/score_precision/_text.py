"""Tables and sentences on the precision of scores.

A `study` is a `PrecisionStudy`, whose module imports this module.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .._display import text_tables, words
from ..evaluation import Summary

#: Prefix of the names of columns of p-values. Each name ends with a share of the mean.
PVALUE = "inferiority_pvalue_"
#: Minimum number of changed queries for a verdict. With fewer changed queries, rare
#: losses may be missing from the sample, so the table reports no verdict.
FEWEST = 10


def table_of_levels(study: Any) -> list[text_tables.Table]:
    """Return a table with a row for each level of coarseness, over all systems."""
    correlation = partial(words.number, digits=2)
    formats: dict[str, Any] = {
        "bits": partial(words.number, digits=1),
        "tied": _percent,
        "mean change": partial(_percent, spec="+.2%"),
        "range": _percent,
        "disc": _percent,
        "tau b": correlation,
        "tau AP": correlation,
    }
    n_systems = len(study.systems)
    figures = study._level_figures()
    n_tested, n_passed = study._counts()
    for index, share in enumerate(study.keep):
        cells = ["-"]
        for tested, passed in zip(n_tested[1:], n_passed[1:, index], strict=True):
            if tested == 0:
                cells.append("few")
            elif tested == n_systems:
                cells.append(str(passed))
            else:
                cells.append(f"{passed}/{tested}")
        figures[more(share)] = cells
    columns: list[tuple[Any, ...]] = [(study.measure, study.levels)]
    for name, values in figures.items():
        head = name.removeprefix("mean ")
        show = formats.get(name, text_tables.shown)
        columns.append((head, values, show))
    shares = ", ".join(map(more, study.keep))
    terms = {
        "bits": "log2 of the number of distinct scores of a query",
        "tied": "share of documents with the score of another document",
        "change": "change of the mean over queries, as a share of the mean",
        "most": "the largest change of one query, in units of the measure",
        "range": "best minus worst order of ties, as a share of the mean",
        "changed": "queries whose value changes (smallest number over systems)",
        shares: "number of systems that keep more than this share of their mean (p <= "
        f"{study.alpha:g}). A system is tested if the values of {FEWEST} queries "
        "change. 3/4: 3 of 4 tested systems keep more; few: no system is tested",
    }
    # Narrow texts leave out the range.
    drop = [5]
    if len(study.pairs):
        terms |= {
            "disc": "share of system pairs that differ significantly "
            f"({len(study.pairs)} in all)",
            "FP": "pairs that differ significantly only with coarser scores, or "
            "with the opposite sign",
            "FN": "pairs that no longer differ significantly",
            "tau": "correlation of the order of systems with the exact one",
        }
        if len(study.keep) > 2:
            # Narrow texts first leave out the correlations of the order of systems, and
            # the second share.
            last = len(columns) - 1
            drop = [last, last - 1, 8, 5]
    systems = words.counted(n_systems, "system", "systems")
    queries = f"{len(study.qid)} queries"
    if study._undefined:
        (queries,) = study._undefined
    notes = ["", f"{systems} on {queries}"]
    table = text_tables.Table.of(
        *columns, drop=drop, notes=notes, terms=terms, explains=True
    )
    return [table]


def conclusion(study: Any) -> list[str]:
    """Return a sentence on the coarsest scores that cost all systems little."""
    _, n_passed = study._counts()
    candidates = np.flatnonzero(n_passed[:, 0] == len(study.systems))
    if len(candidates) == 0:
        return []
    bits = study.bits.mean(axis=1)
    coarsest = candidates[np.argmin(bits[candidates])]
    systems = study.systems[0] if len(study.systems) == 1 else "every system"
    return [
        f"With {study.levels[coarsest]} ({bits[coarsest]:.1f} bits for {bits[0]:.1f}), "
        f"{systems} keeps {more(study.keep[0])} of its {study.measure} (p <= "
        f"{study.alpha:g})."
    ]


def table_of_means(summary: Summary) -> list[text_tables.Table]:
    """Return a table with a row for each level of coarseness and system."""
    columns: list[tuple[Any, ...]] = []
    for name, column in summary.columns.items():
        if name == "coarseness":
            columns.append((summary.measure, column))
        elif name.startswith(PVALUE):
            share = float(name.removeprefix(PVALUE))
            columns.append((f"pvalue ({more(share)})", column, words.probability))
        else:
            columns.append((name.replace("_", " "), column))
    # Narrow texts leave out the last columns first, then the imprecision.
    drop = (*range(len(columns) - 1, 6, -1), 5)
    return [text_tables.Table.of(*columns, left=2, drop=drop)]


def _percent(value: float, spec: str = ".1%") -> str:
    return "-" if math.isnan(value) else format(value, spec)


def more(share: float) -> str:
    """Return the head for the number of systems that keep more than this share."""
    return f">{100 * share:g}%"
