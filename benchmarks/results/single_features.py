"""Single discrete features as rankings, by exact measures.

``python -m benchmarks.results.single_features FILE`` ranks the documents of LETOR files
by each of several features, in its better direction. It prints the exact mean by
several measures and cut-offs beside the worst and the best order of ties, the order of
the rows, and the range over sampled orders. Then it tunes the weights of a linear score
of these features against the exact mean, by coordinate ascent and with Optuna, and
prints NDCG@10 of held-out queries, a mean over splits. Features are counted from 1.
Without files it makes up a set.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import optuna

from tieaware_sklearn import PreparedRanking, ranking_score, sampled
from tieaware_sklearn._typing import Array

from ._shared import (
    Rows,
    TableRows,
    command_line,
    letor,
    made_up,
    means,
    print_table,
    split,
)
from .linear_scoring import HEADERS as TUNED_HEADERS
from .linear_scoring import compare
from .row_order import signs

MEASURES = ["ndcg@1", "ndcg@3", "ndcg@10", "ndcg", "ap", "rr"]
HEADERS = ["feature", "measure", "exact", "worst", "best", "rows", "of 100 orders"]


def measure_rows(rows: Rows, scores: Array, name: str) -> TableRows:
    """Return a row for each measure of the ranking by a feature."""
    prepared = PreparedRanking(rows.y, rows.qid)
    summary = prepared.evaluate(scores, MEASURES).summary()
    columns = [summary.measure, summary.mean, summary.worst, summary.best]
    table = []
    for i, measure in enumerate(MEASURES):
        by_rows = prepared.score(scores, measure, ties="input")
        score = partial(ranking_score, measure=measure)
        drawn = sampled(rows.y, scores, score, qid=rows.qid, n_orders=100)
        values = [column[i] for column in columns]
        table.append([name, *values, by_rows, f"{drawn.min:.4f} to {drawn.max:.4f}"])
        name = ""
    return table


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--names", nargs="+", help="of the features")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--trials", type=int, default=100)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows = letor(arguments.files) if arguments.files else made_up()
    names = arguments.names or arguments.features
    columns = np.array(arguments.features) - 1
    features = rows._replace(X=rows.X[:, columns])
    scores = features.X * signs(features, "ndcg@10")
    table = []
    for name, column in zip(names, scores.T, strict=True):
        table += measure_rows(rows, column, name)
    print_table(HEADERS, table)
    print()
    tables = []
    for seed in range(arguments.splits):
        train, test = split(rows, [2, 1], seed)
        tables.append(compare(train, test, columns, arguments.trials, seed))
    print_table(TUNED_HEADERS, means(tables))


if __name__ == "__main__":
    main()
