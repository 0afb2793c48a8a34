"""Single discrete features as rankings, by exact measures.

``python -m benchmarks.results.single_features FILE`` ranks the documents of LETOR files
by each of some features, in its better direction, and prints the exact mean by several
measures and cut-offs beside the worst and the best order of ties, the order of the
rows, and the range over sampled orders. Then it tunes the weights of a linear score of
these features against the exact mean, by coordinate ascent and with Optuna, and prints
NDCG@10 of held-out queries, a mean over splits. Features are counted from 1. Without
files it makes up a set.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import optuna

from tieaware_sklearn import PreparedRanking, ranking_score, sampled

from ._shared import Rows, command_line, generated, letor, means, split, table
from .linear_scoring import compare
from .row_order import signs

MEASURES = ["ndcg@1", "ndcg@3", "ndcg@10", "ndcg", "ap", "rr"]
HEADERS = ["feature", "measure", "exact", "worst", "best", "rows", "of 100 orders"]


def ranked(rows: Rows, scores: np.ndarray, name: str) -> list[list[Any]]:
    """Lines of the table, for the ranking by a feature."""
    prepared = PreparedRanking(rows.y, rows.qid)
    summary = prepared.evaluate(scores, MEASURES).summary()
    lines = []
    for j, measure in enumerate(MEASURES):
        value = partial(ranking_score, measure=measure)
        drawn = sampled(rows.y, scores, value, qid=rows.qid, n_orders=100)
        line = [summary.measure[j], summary.mean[j], summary.worst[j]]
        line += [summary.best[j], prepared.score(scores, measure, ties="input")]
        lines.append(
            [name if not j else "", *line, f"{drawn.min:.4f} to {drawn.max:.4f}"]
        )
    return lines


def tuned(
    rows: Rows, features: list[int], n_splits: int, n_trials: int
) -> list[list[Any]]:
    """Of each way to set the weights: means over splits, training and held out."""
    columns = np.array(features) - 1
    found = [
        compare(*split(rows, [2, 1], seed), columns, n_trials, seed)
        for seed in range(n_splits)
    ]
    return means(found)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--names", nargs="+", help="of the features")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--trials", type=int, default=100)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows = letor(arguments.files) if arguments.files else generated()[0]
    names = arguments.names or [str(feature) for feature in arguments.features]
    columns = rows.X[:, np.array(arguments.features) - 1]
    columns = columns * signs(rows._replace(X=columns), "ndcg@10")
    lines = [
        line
        for scores, name in zip(columns.T, names, strict=True)
        for line in ranked(rows, scores, name)
    ]
    print(table(HEADERS, lines))
    of = tuned(rows, arguments.features, arguments.splits, arguments.trials)
    print("\n" + table(["weights", "train", "held out"], of))


if __name__ == "__main__":
    main()
