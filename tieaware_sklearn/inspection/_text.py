"""Tables and sentences on the importance of columns.

An `importance` is a `PermutationImportance`. Its module imports this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._display import text_tables, words

#: Number of rows of a printed table.
_SHOWN = 20


def tables(importance: Any, most: int = _SHOWN) -> list[text_tables.Table]:
    """Return a table of the most important columns for each measure."""
    pvalue_head = "pvalue"
    pvalues = importance.pvalues
    if importance.correction is not None and len(importance.columns) > 1:
        pvalue_head = importance.correction
        pvalues = importance.adjusted_pvalues
    interval = f"{importance.confidence:.0%} interval"
    n_hidden = len(importance.columns) - most
    notes = []
    if n_hidden > 0:
        notes.append(f"... and {n_hidden} more")
    tables = []
    for m, measure in enumerate(importance.measures):
        order = importance._order(m)[:most]
        baseline = words.number(importance.baseline[m])
        names = [importance.columns[j] for j in order]
        table = text_tables.Table.of(
            (f"{measure} {baseline}", names),
            ("loss", importance.importances_mean[order, m]),
            (interval, importance.interval[order, m]),
            ("±repeats", importance.importances_std[order, m]),
            (pvalue_head, pvalues[order, m], words.probability),
            drop=(3,),
            notes=notes,
        )
        tables.append(table)
    tables[-1] = replace(tables[-1], notes=[*notes, *importance._undefined])
    return tables


def tables_of_page(importance: Any) -> list[text_tables.Table]:
    """Return a table of all columns for each measure."""
    return tables(importance, len(importance.columns))


def conclusion(importance: Any) -> list[str]:
    """Return a sentence for each measure: without which column it loses most."""
    lines = []
    for m, measure in enumerate(importance.measures):
        first = importance._order(m)[0]
        column = importance.columns[first]
        baseline = words.number(importance.baseline[m])
        loss = words.number(importance.importances_mean[first, m])
        interval = words.bracketed(importance.interval[first, m])
        lines.append(
            f"{measure}, {baseline}, loses most without {column}: {loss} "
            f"({importance.confidence:.0%} interval {interval})."
        )
    return lines
