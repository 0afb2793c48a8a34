"""Features that cannot rank, and their values on sorted rows.

``python -m benchmarks.results.constant_features FILE [FILE ...]`` looks for features
that have the same value for all documents of a query, in each LETOR file (parts of a
collection are joined by +). It compares the best of these features with the best of the
other features by NDCG@10: with ties broken by rows sorted by label, as LightGBM reports
it on these rows, and exactly. Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.boosters import lightgbm_metric
from tieaware_sklearn._typing import Array, BoolArray

from . import _shared
from ._shared import Rows
from .row_order import signs, values

HEADERS = ("data", "all", "constant", "in file")
HEADERS += ("by rows", "other", "LightGBM", "exact", "other")


def constant(rows: Rows) -> BoolArray:
    """Return which features have the same value for all documents of each query."""
    rows, sizes = _shared.grouped(rows)
    starts = np.cumsum(sizes) - sizes
    least = np.minimum.reduceat(rows.X, starts)
    greatest = np.maximum.reduceat(rows.X, starts)
    return (least == greatest).all(axis=0)


def lightgbm_ndcg(rows: Rows, scores: Array) -> float:
    """Return the NDCG@10 of scores as LightGBM reports it."""
    rows, sizes = _shared.grouped(rows._replace(X=scores))
    metric = lightgbm_metric(rows.y, sizes, rows.X, "ndcg@10")
    return metric()


def compare(name: str, rows: Rows) -> list[Any]:
    """Return a row of the table."""
    is_constant = constant(rows)
    in_file = np.ptp(rows.X, axis=0) == 0
    row = [name, len(in_file), is_constant.sum(), in_file.sum()]
    sign = signs(rows, "ndcg@10")
    sorted_rows = _shared.ordered(rows, "relevant first")
    by_rows = values(sorted_rows, sign, "ndcg@10", "input")
    best = np.argmax(np.where(is_constant, by_rows, -1))
    row += [by_rows[best], by_rows[~is_constant].max()]
    row.append(lightgbm_ndcg(sorted_rows, sorted_rows.X[:, best]))
    exact = values(rows, sign, "ndcg@10", "expected")
    row += [exact[is_constant].max(), exact[~is_constant].max()]
    return row


def made_up() -> Rows:
    """Return a generated set with a feature that depends on the query alone."""
    rows = _shared.made_up(60)
    feature = rows.query_numbers() % 7
    return rows._replace(X=np.column_stack([rows.X, feature]))


def main() -> None:
    files = _shared.command_line(__doc__).parse_args().files
    sets = _shared.collections(files) or {"made up": made_up()}
    table = [compare(name, rows) for name, rows in sets.items()]
    _shared.print_table(HEADERS, table)


if __name__ == "__main__":
    main()
