"""Tables and sentences on the precision of scores.

A `study` is a `PrecisionStudy`. Its module imports this one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .._display import text_tables, words
from ..evaluation import Summary

#: beginning of the columns of p-values, which end with a share of the mean
PVALUE = "inferiority_pvalue_"
#: with fewer changed queries, rare losses may be missing from the sample: no verdict
FEWEST = 10


def table_of_levels(study: Any) -> list[text_tables.Table]:
    """Table with a row a level of coarseness, over all systems."""
    correlation = partial(words.number, digits=2)
    shows: dict[str, Any] = {
        "bits": partial(words.number, digits=1),
        "tied": _percent,
        "mean change": partial(_percent, form="+.2%"),
        "range": _percent,
        "disc": _percent,
        "tau b": correlation,
        "tau AP": correlation,
    }
    figures, (n_tested, n_good) = study._of_levels(), study._counts()
    n_systems = len(study.systems)
    for share, counts in zip(study.keep, n_good.T, strict=True):
        pairs = zip(counts, n_tested, strict=True)
        cells = [_out_of(*pair, n_systems) for pair in pairs]
        figures[more(share)] = ["-", *cells[1:]]
    columns: list[tuple[Any, ...]] = [(study.measure, study.levels)]
    for name, values in figures.items():
        head = name.removeprefix("mean ")
        columns.append((head, values, shows.get(name, text_tables.shown)))
    # the heads are short
    terms = {
        "bits": "log2 of the number of distinct scores of a query",
        "tied": "share of documents with the score of another document",
        "change": "change of the mean over queries",
        "most": "the largest change of one query",
        "range": "best minus worst order of ties, as a share of the mean",
        "changed": "queries whose value changes, in the system with the fewest",
        ", ".join(map(more, study.keep)): "number of systems that keep more than "
        f"this share of their mean (p <= {study.alpha:g}). 3/4: only 4 systems have "
        f"{FEWEST} changed queries, which the test needs; few: none has",
    }
    # narrow texts leave out the correlations of the order of systems, and a share
    # between two others
    drop = [5]
    if len(study.pairs):
        terms |= {
            "disc": "share of system pairs that differ significantly "
            f"({len(study.pairs)} in all)",
            "FP": "pairs that differ significantly only under coarser scores, or "
            "the other way round",
            "FN": "pairs that no longer differ significantly",
            "tau": "correlation of the order of systems with the exact one",
        }
        if len(study.keep) > 2:
            last = len(columns) - 1
            drop = [last, last - 1, 8, 5]
    systems = words.counted(n_systems, "system", "systems")
    (queries,) = study._undefined or [f"{len(study.qid)} queries"]
    return [
        text_tables.Table.of(
            *columns,
            drop=drop,
            notes=["", f"{systems} on {queries}"],
            terms=terms,
            explains=True,
        )
    ]


def conclusion(study: Any) -> list[str]:
    """Say which scores are the coarsest that cost little."""
    good = np.flatnonzero(study._counts()[1][:, 0] == len(study.systems))
    if not len(good):
        return []
    coarsest = good[np.argmin(study.bits[good].mean(axis=1))]
    systems = study.systems[0] if len(study.systems) == 1 else "every system"
    return [
        f"With {study.levels[coarsest]} ({study.bits[coarsest].mean():.1f} bits for "
        f"{study.bits[0].mean():.1f}), {systems} keeps {more(study.keep[0])} of its "
        f"{study.measure} (p <= {study.alpha:g})."
    ]


def table_of_means(summary: Summary) -> list[text_tables.Table]:
    """Table with a row a level of coarseness and system."""
    (_, levels), *rest = summary.columns.items()
    columns: list[tuple[Any, ...]] = [(summary.measure, levels)]
    for name, column in rest:
        if name.startswith(PVALUE):
            share = float(name.removeprefix(PVALUE))
            columns.append((f"pvalue ({more(share)})", column, words.probability))
        else:
            columns.append((name.replace("_", " "), column))
    # narrow texts leave out the last columns first, then the imprecision
    drop = (*range(len(rest), 6, -1), 5)
    return [text_tables.Table.of(*columns, left=2, drop=drop)]


def _out_of(count: int, n_tested: int, n_systems: int) -> str:
    if not n_tested:
        return "few"
    return f"{count}" if n_tested == n_systems else f"{count}/{n_tested}"


def _percent(value: float, form: str = ".1%") -> str:
    return "-" if math.isnan(value) else format(value, form)


def more(share: float) -> str:
    """Head of the number of systems that keep more than a share of their mean."""
    return f">{100 * share:g}%"
