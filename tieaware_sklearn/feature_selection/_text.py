"""Tables and sentences on screenings of features.

A `screening` is a `Screening`. Its module imports this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._display import text_tables, words
from ..evaluation import _text as _rankings

#: rows of a printed table
SHOWN = 20
#: q-values up to this beat chance, in the sentence on top of a page
_ALPHA = 0.05
#: lower correlations are not shown as repeats
_ALIKE = 0.5


def tables(screening: Any, most: int = SHOWN) -> list[text_tables.Table]:
    """The table of the first features."""
    rows, notes = screening.rows(), []
    if len(rows) > most:
        notes.append(f"... and {len(rows) - most} more")
    # a reversed copy shows in no ρ of the directions, since NaN is last both ways
    reverses = any(row["correlation"] == -1 for row in rows)
    if screening.rule.missing == "last" and reverses:
        notes.append(
            "repeats (-1.00): of the copy in the other direction, missing values "
            "last; rank_correlation is that of the directions shown"
        )
    notes += undefined(screening)
    return [replace(table_of(screening, rows[:most]), notes=notes)]


def undefined(screening: Any) -> list[str]:
    """Note queries without a relevant document, if there are any."""
    counts, resolved = screening.statistics.n_undefined, screening.rule.resolved
    return _rankings.undefined_note(
        screening.n_queries, resolved.names, counts, resolved.value
    )


def tables_of_page(screening: Any) -> list[text_tables.Table]:
    """The table of the first features, and of all if there are more."""
    shown = tables(screening)
    if len(screening.feature_names) > SHOWN:
        everything = table_of(screening, screening.rows())
        shown.append(replace(everything, title="All features"))
    return shown


def conclusion(screening: Any) -> list[str]:
    """Say how many features beat chance, and which is best."""
    sort, best = screening.rule.sort, screening.rows()[0]
    beat = int((screening.qvalues[:, sort] <= _ALPHA).sum())
    return [
        f"{beat} of {len(screening.feature_names)} features beat chance by "
        f"{screening.sort_by} (qvalue <= {_ALPHA:g}; {screening.n_averaged[sort]} "
        f"queries); {best['feature']} is best, "
        f"{words.number(best[screening.sort_by])} where "
        f"chance is {words.number(screening.chance[sort])}."
    ]


def table_of(screening: Any, rows: Sequence[dict[str, Any]]) -> text_tables.Table:
    """Some of the rows of a screening, with the chance level above them.

    Text of 80 columns does without the intervals of all measures but `sort_by`, then
    without their qvalue, the rank, the interval of `sort_by` and the order of choice.
    """
    features = np.argsort(screening.ranking)[[row["rank"] - 1 for row in rows]]
    half = np.diff(screening.t_interval[features])[..., 0] / 2
    columns: list[tuple[Any, ...]] = [
        ("feature", ["(chance)", *(row["feature"] for row in rows)]),
        ("rank", ["", *(row["rank"] for row in rows)]),
        ("direction", ["", *(row["direction"] for row in rows)]),
    ]
    selection = screening.selection
    # a selection that is no more than the features that pass a test is not shown
    shows_order = selection is not None and (
        selection.by_number or (selection.repeats >= 0).any()
    )
    if shows_order:
        columns.append(("chosen", ["", *(row["chosen"] or "" for row in rows)]))
    start = len(columns)
    for m, measure in enumerate(screening.measures):
        columns += [
            (measure, [float(screening.chance[m]), *(row[measure] for row in rows)]),
            ("±95%", ["", *half[:, m].tolist()]),
            (
                "qvalue",
                ["", *(row[f"{measure}_qvalue"] for row in rows)],
                words.probability,
            ),
        ]
    repeated = [
        f"{row['repeats']} ({row['correlation']:.2f})"
        if abs(row["correlation"]) >= _ALIKE
        else ""
        for row in rows
    ]
    if any(repeated):
        columns.append(("repeats", ["", *repeated]))
    intervals = [start + 1 + 3 * m for m in range(len(screening.measures))]
    interval = intervals.pop(screening.rule.sort)
    intervals.reverse()
    drop = [*intervals, *(at + 1 for at in intervals), 1, interval]
    if shows_order:
        drop.append(3)
    return text_tables.Table.of(
        *columns,
        names=[len(columns) - 1] if any(repeated) else [],
        drop=drop,
        terms={"(chance)": words.meaning("chance")},
    )
