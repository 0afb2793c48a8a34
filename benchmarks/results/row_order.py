"""What the order of rows makes of a feature, and of all the others.

``python -m benchmarks.results.row_order FILE ... --feature 134`` ranks the documents of
LETOR files by each feature, in its better direction, ties broken by the order of rows,
in several orders of the same rows, and exactly. It prints the value of one feature,
its place among all features, and the best feature: each line is scored in one way.
Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tieaware_sklearn import PreparedRanking

from ._shared import ORDERS, Rows, command_line, generated, letor, ordered, table

HEADERS = ("measure", "rows", "value", "place", "best feature", "its value")


class Place(NamedTuple):
    """One feature among all, scored in one way."""

    measure: str
    rows: str
    value: float
    place: int
    best: str
    best_value: float


def signs(rows: Rows, measure: str) -> np.ndarray:
    """The better direction of each feature, by its exact value: 1 or -1."""
    prepared = PreparedRanking(rows.y, rows.qid)
    found = [
        [prepared.score(sign * column, measure) for sign in (1, -1)]
        for column in rows.X.T
    ]
    return 1 - 2 * np.argmax(found, axis=1)


def values(rows: Rows, sign: np.ndarray, measure: str, ties: str) -> np.ndarray:
    """Of each feature, in this direction."""
    prepared = PreparedRanking(rows.y, rows.qid)
    columns = (sign * rows.X).T
    return np.array([prepared.score(column, measure, ties=ties) for column in columns])


def names(found: np.ndarray, where: np.ndarray) -> str:
    """Features by their numbers, from 1; no more than three of them."""
    numbers = np.flatnonzero(where) + 1
    more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
    return ", ".join(map(str, numbers[:3])) + more


def places(rows: Rows, feature: int, measures: list[str]) -> list[Place]:
    """A feature (counted from 1) for every measure and order of rows."""
    found = []
    orders: list[tuple[str, Any]] = [("as published", rows)]
    orders += [(order, ordered(rows, order)) for order in ORDERS]
    for measure in measures:
        sign = signs(rows, measure)
        for order, seen in [*orders, ("any order, exact", rows)]:
            ties = "expected" if "exact" in order else "input"
            of_all = values(seen, sign, measure, ties)
            value, best = float(of_all[feature - 1]), float(of_all.max())
            place = 1 + int((of_all > value).sum())
            first = names(of_all, of_all == best)
            found.append(Place(measure, order, value, place, first, best))
    return found


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--feature", type=int, default=2, help="counted from 1")
    parser.add_argument("--measures", nargs="+", default=["ap", "ndcg@10", "rr"])
    arguments = parser.parse_args()
    rows = letor(arguments.files) if arguments.files else generated()[0]
    print(table(HEADERS, places(rows, arguments.feature, arguments.measures)))


if __name__ == "__main__":
    main()
