"""The value and the place of a feature in several orders of the same rows.

``python -m benchmarks.results.row_order FILE ... --feature 134`` ranks the documents of
LETOR files by each feature, in its better direction: with ties broken by the order of
rows, in several orders of the same rows, and exactly. For each of them it prints the
value of one feature, its place among all features, and the best feature. Without files
it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn import PreparedRanking
from tieaware_sklearn._typing import Array, BoolArray, FloatArray

from ._shared import (
    ORDERS,
    Rows,
    TableRows,
    command_line,
    letor,
    made_up,
    ordered,
    print_table,
)

HEADERS = ("measure", "rows", "value", "place", "best feature", "its value")


def signs(rows: Rows, measure: str) -> Array:
    """Return the better direction of each feature by its exact value: 1 or -1."""
    ascending = values(rows, -1, measure, "expected")
    return np.where(values(rows, 1, measure, "expected") >= ascending, 1, -1)


def values(rows: Rows, sign: Any, measure: str, ties: str) -> FloatArray:
    """Return the value of each feature, multiplied by its sign, as a ranking."""
    prepared = PreparedRanking(rows.y, rows.qid)
    columns = (sign * rows.X).T
    return np.array([prepared.score(column, measure, ties=ties) for column in columns])


def feature_numbers(is_chosen: BoolArray) -> str:
    """Return the numbers of features as text, from 1, and no more than three."""
    numbers = np.flatnonzero(is_chosen) + 1
    text = ", ".join(map(str, numbers[:3]))
    if len(numbers) > 3:
        text += f" and {len(numbers) - 3} more"
    return text


def places(rows: Rows, feature: int, measures: list[str]) -> TableRows:
    """Return a row for each measure and order of rows. Features are counted from 1."""
    orders = [("as published", rows, "input")]
    for order in ORDERS:
        orders.append((order, ordered(rows, order), "input"))
    orders.append(("any order, exact", rows, "expected"))
    table = []
    for measure in measures:
        sign = signs(rows, measure)
        for order, ordered_rows, ties in orders:
            column = values(ordered_rows, sign, measure, ties)
            value = column[feature - 1]
            best = column.max()
            place = np.sum(column > value) + 1
            best_features = feature_numbers(column == best)
            table.append([measure, order, value, place, best_features, best])
    return table


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--feature", type=int, default=2, help="counted from 1")
    parser.add_argument("--measures", nargs="+", default=["ap", "ndcg@10", "rr"])
    arguments = parser.parse_args()
    rows = letor(arguments.files) if arguments.files else made_up()
    print_table(HEADERS, places(rows, arguments.feature, arguments.measures))


if __name__ == "__main__":
    main()
