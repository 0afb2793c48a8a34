"""The cost of folds that split queries.

``python -m benchmarks.results.split_queries FILE ...`` cross-validates a regressor on
sets of LETOR files (parts of a set are joined by +) by exact NDCG@10: over shuffled
rows, which share queries between training and test; over whole queries; and by the
models of whole queries on the shorter lists of the shuffled rows. The first and the
last score the same lists, so their difference is what the model knew of the query. The
difference is printed with half of its 95% t interval over queries. The last column is
the share of lists without a relevant document. Without files it makes up a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold

from tieaware_sklearn import ranking_score
from tieaware_sklearn._typing import Array, FloatArray

from ._shared import (
    Rows,
    collections,
    command_line,
    made_up,
    print_table,
    query_folds,
)

HEADERS = ("data", "queries", "split", "not split", "gain", "±95%", "whole", "empty")
N_SPLITS = 5


def out_of_fold(rows: Rows, folds: list[Array]) -> FloatArray:
    """Return the score of each row by the model that was not trained on its fold."""
    scores = np.empty(len(rows.y))
    for test in folds:
        train = np.delete(np.arange(len(rows.y)), test)
        model = HistGradientBoostingRegressor(random_state=0)
        model.fit(rows.X[train], rows.y[train])
        scores[test] = model.predict(rows.X[test])
    return scores


def compare(name: str, rows: Rows, seed: int) -> list[Any]:
    """Return a row of the table."""
    cv = KFold(N_SPLITS, shuffle=True, random_state=seed)
    row_folds = [test for _, test in cv.split(rows.X)]
    split_scores = out_of_fold(rows, row_folds)
    whole_scores = out_of_fold(rows, query_folds(rows, N_SPLITS, seed))
    # the rows of a query in a fold of rows are a list
    fold = np.empty(len(rows.y), dtype=int)
    for number, test in enumerate(row_folds):
        fold[test] = number
    lists = rows.query_numbers() * N_SPLITS + fold
    query = np.unique(lists) // N_SPLITS
    n_lists = np.bincount(query)

    def query_means(scores: FloatArray) -> FloatArray:
        """Return the mean over the lists of each query."""
        values = ranking_score(rows.y, scores, qid=lists, average=None)
        return np.bincount(query, values) / n_lists

    split = query_means(split_scores)
    not_split = query_means(whole_scores)
    gain = split - not_split
    low, high = stats.ttest_1samp(gain, 0).confidence_interval()
    row = [name, len(split), split.mean(), not_split.mean()]
    row += [f"{gain.mean():+.4f}", (high - low) / 2]
    row.append(ranking_score(rows.y, whole_scores, qid=rows.qid))
    best = ranking_score(rows.y, rows.y, qid=lists, average=None)
    row.append(f"{np.mean(best == 0):.0%}")
    return row


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    arguments = parser.parse_args()
    sets = collections(arguments.files) or {"made up": made_up()}
    table = [compare(name, rows, arguments.seed) for name, rows in sets.items()]
    print_table(HEADERS, table)


if __name__ == "__main__":
    main()
