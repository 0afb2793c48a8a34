"""Queries without a relevant document, and the NDCG@10 that tools report for them.

``python -m benchmarks.results.empty_queries FILE ...`` evaluates constant scores, the
best feature and a perfect ranking of LETOR files by NDCG@10. It uses the definitions of
LightGBM, CatBoost and scikit-learn, and it averages over the queries that have a
relevant document. Ties are exact in all of these lines. Without files it makes up a
set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn import ranking_score
from tieaware_sklearn._typing import Array

from . import _shared
from ._shared import Rows, TableRows
from .constant_features import lightgbm_ndcg
from .row_order import signs, values

MEASURE = "ndcg(gain=exponential)@10"
#: `zero_relevance` by which tools define NDCG@10, all with exponential gain.
DEFINITIONS: dict[str, Any] = {
    "counted as 0 (scikit-learn)": 0.0,
    "counted as 1 (LightGBM, XGBoost)": 1.0,
    "left out": "skip",
}


def made_up() -> Rows:
    """Return a generated set without a relevant document in every third query."""
    rows = _shared.made_up(60)
    is_empty = rows.query_numbers() % 3 == 0
    return rows._replace(y=np.where(is_empty, 0, rows.y))


def count_empty(rows: Rows) -> tuple[int, int]:
    """Return the number of queries without a relevant document, and of all queries."""
    n_relevant = np.bincount(rows.query_numbers(), rows.y > 0)
    return np.sum(n_relevant == 0), len(n_relevant)


def rankings(rows: Rows) -> dict[str, Array]:
    """Return constant scores, the best feature and the labels, as scores."""
    sign = signs(rows, "ndcg@10")
    best = np.argmax(values(rows, sign, "ndcg@10", "expected"))
    return {
        "one score for all": np.zeros(len(rows.y)),
        f"feature {best + 1}": sign[best] * rows.X[:, best],
        "perfect": rows.y,
    }


def compare(rows: Rows) -> tuple[list[str], TableRows]:
    """Return the header of a table, and a row for each definition."""
    scores = rankings(rows)
    table = []
    for name, zero_relevance in DEFINITIONS.items():
        row = [name]
        for ranking in scores.values():
            value = ranking_score(
                rows.y,
                ranking,
                qid=rows.qid,
                measure=MEASURE,
                zero_relevance=zero_relevance,
            )
            row.append(value)
        table.append(row)
    shuffled = _shared.ordered(rows, "shuffled")
    row = ["LightGBM reports (shuffled rows)"]
    for ranking in rankings(shuffled).values():
        row.append(lightgbm_ndcg(shuffled, ranking.astype(float)))
    table.append(row)
    return ["NDCG@10", *scores], table


def main() -> None:
    files = _shared.command_line(__doc__).parse_args().files
    rows = _shared.letor(files) if files else made_up()
    n_empty, n_queries = count_empty(rows)
    print(f"{n_empty} of {n_queries} queries have no relevant document\n")
    headers, table = compare(rows)
    _shared.print_table(headers, table)


if __name__ == "__main__":
    main()
