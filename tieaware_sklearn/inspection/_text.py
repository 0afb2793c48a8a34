"""Tables and sentences on the importance of columns.

An `importance` is a `PermutationImportance`. Its module imports this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._display import text_tables, words

#: rows of a printed table
_SHOWN = 20


def tables(importance: Any, most: int = _SHOWN) -> list[text_tables.Table]:
    """Table of the most important columns, for each measure."""
    head, pvalues = "pvalue", importance.pvalues
    if importance.correction is not None and len(importance.columns) > 1:
        head, pvalues = importance.correction, importance.adjusted_pvalues
    more = len(importance.columns) - most
    interval = f"{importance.confidence:.0%} interval"
    tables = []
    for m, measure in enumerate(importance.measures):
        order = importance._order(m)[:most]
        head_of_names = f"{measure} {words.number(importance.baseline[m])}"
        table = text_tables.Table.of(
            (head_of_names, [importance.columns[j] for j in order]),
            ("loss", importance.importances_mean[order, m]),
            (interval, importance.interval[order, m]),
            ("±repeats", importance.importances_std[order, m]),
            (head, pvalues[order, m], words.probability),
            drop=(3,),
            notes=[f"... and {more} more"] if more > 0 else [],
        )
        tables.append(table)
    notes = [*tables[-1].notes, *importance._undefined]
    tables[-1] = replace(tables[-1], notes=notes)
    return tables


def tables_of_page(importance: Any) -> list[text_tables.Table]:
    """Table of all columns, for each measure."""
    return tables(importance, len(importance.columns))


def conclusion(importance: Any) -> list[str]:
    """Say without which column each measure loses most."""
    lines = []
    for m, measure in enumerate(importance.measures):
        first = importance._order(m)[0]
        loss = words.number(importance.importances_mean[first, m])
        interval = words.bracketed(importance.interval[first, m])
        lines.append(
            f"{measure}, {words.number(importance.baseline[m])}, loses most without "
            f"{importance.columns[first]}: {loss} ({importance.confidence:.0%} "
            f"interval {interval})."
        )
    return lines
