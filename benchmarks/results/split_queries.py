"""What it costs to cut queries in two.

``python -m benchmarks.results.split_queries FILE ...`` cross-validates a regressor on
LETOR files by exact NDCG@10: over shuffled rows, which share queries between training
and test, and over whole queries. Without files it makes up a set.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

from tieaware_sklearn import QueryKFold, ranking_score

from ._shared import Rows, generated, letor, table

HEADERS = ("folds", "NDCG@10", "documents of a query in a test fold")


def compare(rows: Rows, n_splits: int = 5, **parameters: Any) -> list[list[Any]]:
    """Mean NDCG@10 of the folds, and how long the rankings are that they score."""
    ways = {
        f"KFold({n_splits}, shuffle=True)": KFold(
            n_splits, shuffle=True, random_state=0
        ),
        f"QueryKFold({n_splits})": QueryKFold(n_splits),
    }
    lines = []
    for name, cv in ways.items():
        scores, lengths = [], []
        groups = rows.qid if isinstance(cv, QueryKFold) else None
        for train, test in cv.split(rows.X, rows.y, groups):
            model = HistGradientBoostingRegressor(random_state=0, **parameters)
            model.fit(rows.X[train], rows.y[train])
            found = model.predict(rows.X[test])
            scores.append(ranking_score(rows.y[test], found, qid=rows.qid[test]))
            lengths.append(len(test) / len(np.unique(rows.qid[test])))
        lines.append([name, float(np.mean(scores)), f"{np.mean(lengths):.0f}"])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()
    rows = letor(arguments.files) if arguments.files else generated()[0]
    print(table(HEADERS, compare(rows)))


if __name__ == "__main__":
    main()
