"""Tables and sentences on screenings of features.

A `screening` is a `Screening`, whose module imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._display import text_tables, words
from ..evaluation import _text as _rankings

#: Maximum number of rows of a printed table.
SHOWN = 20
#: Largest q-value that counts as better than chance in the sentence at the top of a
#: page.
_ALPHA = 0.05
#: Smallest |correlation| that the table shows as a repeat.
_ALIKE = 0.5


def tables(screening: Any, most: int = SHOWN) -> list[text_tables.Table]:
    """Return the table of the first features, in a list."""
    rows = screening.rows()
    notes = []
    if len(rows) > most:
        notes.append(f"... and {len(rows) - most} more")
    # Missing values rank last in both directions, so the correlation of the shown
    # directions does not reveal a reversed copy.
    reverses = any(row["correlation"] == -1 for row in rows)
    if screening.rule.missing == "last" and reverses:
        notes.append(
            "repeats (-1.00): of the copy in the other direction, missing values "
            "last; rank_correlation is that of the directions shown"
        )
    notes += undefined(screening)
    table = table_of(screening, rows[:most])
    return [replace(table, notes=notes)]


def undefined(screening: Any) -> list[str]:
    """Return a note on queries without a relevant document, if there are any."""
    resolved = screening.rule.resolved
    n_undefined = screening.statistics.n_undefined
    return _rankings.undefined_note(
        screening.n_queries, resolved.names, n_undefined, resolved.value
    )


def tables_of_page(screening: Any) -> list[text_tables.Table]:
    """Return the table of the first features, and a table of all if there are more."""
    shown = tables(screening)
    if len(screening.feature_names) > SHOWN:
        everything = table_of(screening, screening.rows())
        shown.append(replace(everything, title="All features"))
    return shown


def conclusion(screening: Any) -> list[str]:
    """Return a sentence with the number of features that beat chance, and the best."""
    sort = screening.rule.sort
    measure = screening.sort_by
    n_features = len(screening.feature_names)
    n_better = int((screening.qvalues[:, sort] <= _ALPHA).sum())
    n_queries = screening.n_averaged[sort]
    best = screening.rows()[0]
    mean = words.number(best[measure])
    chance = words.number(screening.chance[sort])
    sentence = (
        f"{n_better} of {n_features} features beat chance by {measure} (qvalue <= "
        f"{_ALPHA:g}; {n_queries} queries); {best['feature']} is best, {mean} where "
        f"chance is {chance}."
    )
    return [sentence]


def table_of(screening: Any, rows: Sequence[dict[str, Any]]) -> text_tables.Table:
    """Return the table of these rows, with the chance level above them.

    If the text is wider than 80 columns, it omits the intervals of all measures except
    `sort_by`. If needed, the text then omits the q-values of these measures, the rank,
    the interval of `sort_by` and the order of choice.
    """
    ranks = [row["rank"] for row in rows]
    names = [row["feature"] for row in rows]
    directions = [row["direction"] for row in rows]
    columns: list[tuple[Any, ...]] = [
        ("feature", ["(chance)", *names]),
        ("rank", ["", *ranks]),
        ("direction", ["", *directions]),
    ]
    selection = screening.selection
    # If the features that pass a test are all selected, the order adds nothing.
    shows_order = selection is not None and (
        selection.by_number or (selection.repeats >= 0).any()
    )
    if shows_order:
        places = [row["chosen"] or "" for row in rows]
        columns.append(("chosen", ["", *places]))
    features = np.argsort(screening.ranking)[np.array(ranks, dtype=int) - 1]
    # Only the interval before clipping has equal widths on both sides of the mean.
    half_widths = np.diff(screening.t_interval[features])[..., 0] / 2
    intervals = []
    for m, measure in enumerate(screening.measures):
        means = [row[measure] for row in rows]
        qvalues = [row[f"{measure}_qvalue"] for row in rows]
        columns.append((measure, [float(screening.chance[m]), *means]))
        intervals.append(len(columns))
        columns.append(("±95%", ["", *half_widths[:, m].tolist()]))
        columns.append(("qvalue", ["", *qvalues], words.probability))
    repeats = []
    for row in rows:
        text = ""
        if abs(row["correlation"]) >= _ALIKE:
            text = f"{row['repeats']} ({row['correlation']:.2f})"
        repeats.append(text)
    columns_of_names = []
    if any(repeats):
        columns_of_names.append(len(columns))
        columns.append(("repeats", ["", *repeats]))
    interval = intervals.pop(screening.rule.sort)
    # The rightmost column is omitted first.
    intervals.reverse()
    qvalue_columns = [column + 1 for column in intervals]
    # Column 1 is the rank, and column 3 the order of choice.
    drop = [*intervals, *qvalue_columns, 1, interval]
    if shows_order:
        drop.append(3)
    terms = {"(chance)": words.meaning("chance")}
    return text_tables.Table.of(
        *columns, names=columns_of_names, drop=drop, terms=terms
    )
