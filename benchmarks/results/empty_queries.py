"""Queries without a relevant document, and what tools make of them.

``python -m benchmarks.results.empty_queries FILE ...`` evaluates one score for all
documents, the best feature and a perfect ranking of LETOR files by NDCG@10, as
LightGBM, CatBoost and scikit-learn define it, and over the queries that have a
relevant document. Ties are exact in all of them. Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn import ranking_score

from ._shared import Rows, command_line, generated, letor, table
from .constant_features import lightgbm_ndcg
from .row_order import signs, values

MEASURE = "ndcg(gain=exponential)@10"
#: how a tool defines NDCG@10, all with exponential gain
DEFINITIONS: dict[str, dict[str, Any]] = {
    "counted as 0 (scikit-learn)": {"zero_relevance": 0.0},
    "counted as 1 (LightGBM, XGBoost)": {"zero_relevance": 1.0},
    "left out": {"zero_relevance": "skip"},
}


def made_up() -> Rows:
    """A generated set in which every third query has no relevant document."""
    rows, *_ = generated(60)
    query = np.unique(rows.qid, return_inverse=True)[1]
    return rows._replace(y=np.where(query % 3 == 0, 0, rows.y))


def share_of_empty(rows: Rows) -> tuple[int, int]:
    """Queries without a relevant document, and all."""
    query = np.unique(rows.qid, return_inverse=True)[1]
    found = np.bincount(query, rows.y > 0) == 0
    return int(found.sum()), len(found)


def rankings(rows: Rows) -> dict[str, np.ndarray]:
    """Scores that say nothing, something and all."""
    sign = signs(rows, "ndcg@10")
    best = int(np.argmax(values(rows, sign, "ndcg@10", "expected")))
    return {
        "one score for all": np.zeros(len(rows.y)),
        f"feature {best + 1}": sign[best] * rows.X[:, best],
        "perfect": rows.y,
    }


def compare(rows: Rows) -> tuple[list[str], list[list[Any]]]:
    """A table: header, and a row per definition."""
    scores = rankings(rows)
    lines: list[list[Any]] = [
        [name]
        + [
            ranking_score(rows.y, score, qid=rows.qid, measure=MEASURE, **options)
            for score in scores.values()
        ]
        for name, options in DEFINITIONS.items()
    ]
    shuffled = rows.take(np.random.default_rng(0).permutation(len(rows.y)))
    reported = ["LightGBM reports (shuffled rows)"]
    for score in rankings(shuffled).values():
        reported.append(lightgbm_ndcg(shuffled, np.asarray(score, dtype=float)))
    return ["NDCG@10", *scores], [*lines, reported]


def main() -> None:
    files = command_line(__doc__).parse_args().files
    rows = letor(files) if files else made_up()
    empty, n_queries = share_of_empty(rows)
    print(f"{empty} of {n_queries} queries have no relevant document\n")
    print(table(*compare(rows)))


if __name__ == "__main__":
    main()
