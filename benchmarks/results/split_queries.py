"""What it costs to cut queries in two.

``python -m benchmarks.results.split_queries FILE ...`` cross-validates a regressor on
sets of LETOR files (parts of a set are joined by +) by exact NDCG@10: over shuffled
rows, which share queries between training and test; over whole queries; and by the
models of the latter on the shorter lists of the former. The first and the last score
the same lists, so their difference is what the model knew of the query, with half of
its 95 % t interval over queries. The share of lists that are empty of relevant
documents comes last. Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

from tieaware_sklearn import QueryKFold, ranking_score

from ._shared import Rows, collections, command_line, generated, table

HEADERS = ("data", "queries", "split", "not split", "gain", "±95%", "whole", "empty")
N_SPLITS = 5


def out_of_fold(rows: Rows, folds: list[Any], **parameters: Any) -> np.ndarray:
    """Each row scored by the model that was not trained on it."""
    scores = np.empty(len(rows.y))
    for train, test in folds:
        model = HistGradientBoostingRegressor(random_state=0, **parameters)
        model.fit(rows.X[train], rows.y[train])
        scores[test] = model.predict(rows.X[test])
    return scores


def compare(name: str, rows: Rows, seed: int = 0, **parameters: Any) -> list[Any]:
    """A line of the table."""
    by_row = list(KFold(N_SPLITS, shuffle=True, random_state=seed).split(rows.X))
    cv = QueryKFold(N_SPLITS, shuffle=True, random_state=seed)
    by_query = list(cv.split(rows.X, groups=rows.qid))
    scores = {
        "split": out_of_fold(rows, by_row, **parameters),
        "whole": out_of_fold(rows, by_query, **parameters),
    }
    # what a query has in one fold of rows is a list; of its lists, a query has the mean
    fold = np.empty(len(rows.y), dtype=int)
    for number, (_, test) in enumerate(by_row):
        fold[test] = number
    codes = np.unique(rows.qid, return_inverse=True)[1]
    lists = codes * N_SPLITS + fold
    values = [
        ranking_score(rows.y, score, qid=lists, average=None)
        for score in scores.values()
    ]
    query = np.unique(lists) // N_SPLITS
    split, same = np.array([np.bincount(query, one) for one in values]) / np.bincount(
        query
    )
    low, high = stats.ttest_1samp(split - same, 0).confidence_interval()
    whole = ranking_score(rows.y, scores["whole"], qid=rows.qid)
    best = ranking_score(rows.y, rows.y, qid=lists, average=None)
    return [
        *(name, len(split), split.mean(), same.mean(), f"{(split - same).mean():+.4f}"),
        *((high - low) / 2, whole, f"{(best == 0).mean():.0%}"),
    ]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    arguments = parser.parse_args()
    sets = collections(arguments.files) or {"made up": generated()[0]}
    lines = [compare(name, rows, arguments.seed) for name, rows in sets.items()]
    print(table(HEADERS, lines))


if __name__ == "__main__":
    main()
