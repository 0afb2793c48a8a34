"""Realistic shapes that once cost many times what they should, each with its goal.

A row is a function that makes two tasks, ours and what it is held against; `rows` times
them in turns. Rows stand in the order of the rooms of the library.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.timing import Task, medians
from tieaware_sklearn._engine import checks

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


def _ids(shuffled: bool) -> np.ndarray:
    """Numbers of 20,000 queries for a million rows."""
    queries = np.random.default_rng(0).integers(0, 20_000, 1_000_000)
    return queries if shuffled else np.sort(queries)


def _texts(shuffled: bool) -> np.ndarray:
    """UUIDs of these queries, a text of its own in each row."""
    names = [str(uuid.UUID(int=i * 0x9E3779B97F4A7C15F39CC060)) for i in range(20_000)]
    return np.array(names)[_ids(shuffled)].astype(object)


def _gather(ids: Any, plain: np.ndarray) -> Pair:
    """Rows gathered into queries, against codes by pandas."""
    base = pd.Series(plain, dtype=plain.dtype)
    n_rows = len(plain)
    return lambda: checks.check_qid(ids, n_rows=n_rows), base.factorize


@cliff("ids of text, sorted", "x pandas' factorize", 1)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(texts, texts)


@cliff("ids of text in Arrow, sorted", "x pandas' factorize of objects", 0.8)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(pa.array(texts), texts)


@cliff("ids that are categories, sorted", "x pandas' factorize of objects", 0.5)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(pd.Series(texts, dtype="category"), texts)


@cliff("ids of text, shuffled", "x pandas' factorize", 1.5)
def _() -> Pair:
    texts = _texts(shuffled=True)
    return _gather(texts, texts)


@cliff("integer ids, shuffled", "x pandas' factorize", 5)
def _() -> Pair:
    ids = _ids(shuffled=True)
    return _gather(ids, ids)


@cliff("times with a time zone as ids, shuffled", "x pandas' factorize of integers", 10)
def _() -> Pair:
    ids = _ids(shuffled=True)
    return _gather(pd.Series(pd.to_datetime(ids, unit="s", utc=True)), ids)


# ---------------------------------------------------------------------- measures


# ------------------------------------------------------- selector, features, inspection


# ------------------------------------------------------------- comparisons of systems


# ------------------------------------------------- overlaps, correlations, judgments


# ------------------------------------------------------------------- the command
