"""Features that cannot rank, and what sorted rows make of them.

``python -m benchmarks.results.constant_features FILE [FILE ...]`` looks for features
that have one value for all documents of a query, in each LETOR file (parts of a
collection are joined by +). It compares them with the best of the others by NDCG@10:
ties broken by rows sorted by label, as LightGBM reports it on these rows, and exactly.
Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.boosters import lightgbm_metric

from ._shared import Rows, collections, command_line, generated, grouped, ordered, table
from .row_order import signs, values

HEADERS = ("data", "all", "constant", "in file")
HEADERS += ("by rows", "other", "LightGBM", "exact", "other")


def constant(rows: Rows) -> np.ndarray:
    """Which features have one value for all documents of each query."""
    own, sizes = grouped(rows)
    starts = np.cumsum(sizes) - sizes
    least = np.minimum.reduceat(own.X, starts)
    return (least == np.maximum.reduceat(own.X, starts)).all(axis=0)


def lightgbm_ndcg(rows: Rows, score: np.ndarray) -> float:
    """NDCG@10 of given scores, in LightGBM's own words."""
    own, sizes = grouped(rows._replace(X=score))
    return lightgbm_metric(own.y, sizes, own.X, "ndcg@10")()


def compare(name: str, rows: Rows) -> list[Any]:
    """A line of the table."""
    idle = constant(rows)
    sign = signs(rows, "ndcg@10")
    seen = ordered(rows, "relevant first")
    by_rows = values(seen, sign, "ndcg@10", "input")
    exact = values(rows, sign, "ndcg@10", "expected")
    of_file = np.ptp(rows.X, axis=0) == 0
    line = [name, rows.X.shape[1], int(idle.sum()), int(of_file.sum())]
    first = [int(np.argmax(np.where(which, by_rows, -1))) for which in (idle, ~idle)]
    line += [float(by_rows[feature]) for feature in first]
    line.append(lightgbm_ndcg(seen, seen.X[:, first[0]]))
    return [*line, float(exact[idle].max()), float(exact[~idle].max())]


def made_up() -> Rows:
    """A generated set with a feature of its queries."""
    rows, *_ = generated(60)
    of_query = np.unique(rows.qid, return_inverse=True)[1] % 7
    return rows._replace(X=np.column_stack([rows.X, of_query]))


def main() -> None:
    files = command_line(__doc__).parse_args().files
    sets = collections(files) or {"made up": made_up()}
    lines = [compare(name, rows) for name, rows in sets.items()]
    print(table(HEADERS, lines))


if __name__ == "__main__":
    main()
