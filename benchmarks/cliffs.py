"""Realistic shapes that once cost many times what they should, each with its goal.

A row is a function that makes two tasks, ours and what it is held against; `rows` times
them in turns. Rows stand in the order of the rooms of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.timing import Task, medians

#: ours, and what it is held against
Pair = tuple[Task, Task]


class Row(NamedTuple):
    """Tasks to be made, what the ratio is called, and the most it should be."""

    task: str
    unit: str
    goal: float
    make: Callable[[], Pair]


ROWS: list[Row] = []


def cliff(task: str, unit: str, goal: float) -> Callable[[Callable[[], Pair]], object]:
    """Enters a function that makes the two tasks among the rows."""

    def enter(make: Callable[[], Pair]) -> Callable[[], Pair]:
        ROWS.append(Row(task, unit, goal, make))
        return make

    return enter


def rows(repeats: int) -> Iterator[tuple[Row, float]]:
    """Each row with its ratio."""
    for row in ROWS:
        ours, base = row.make()
        times = medians({"ours": ours, "base": base}, repeats)
        yield row, times["ours"] / times["base"]


# ------------------------------------------------------------------ ids, rows, files


# ---------------------------------------------------------------------- measures


# ------------------------------------------------------- selector, features, inspection


# ------------------------------------------------------------- comparisons of systems


# ------------------------------------------------- overlaps, correlations, judgments


# ------------------------------------------------------------------- the command
