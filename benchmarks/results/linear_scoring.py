"""Weights of a linear score, tuned by several methods.

``python -m benchmarks.results.linear_scoring FILE`` compares `LinearScoringObjective`
on a LETOR file with equal weights, the best single feature and `LinearRanker`, which
tunes its weights by coordinate ascent, by exact NDCG@10 on held-out queries.
"""

from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import FloatDistribution

from tieaware_sklearn import LinearRanker, RankingFeatureSelector, ranking_score
from tieaware_sklearn._typing import Array
from tieaware_sklearn.optuna import LinearScoringObjective

from ._shared import (
    Rows,
    TableRows,
    command_line,
    letor,
    means,
    print_table,
    split,
    web_search,
)

HEADERS = ["weights", "train", "held out"]


def screened(rows: Rows) -> RankingFeatureSelector:
    """Return a selector that ranks each feature by its score alone."""
    selector = RankingFeatureSelector("ndcg@10", redundancy=False, max_correlation=None)
    return selector.fit(rows.X, rows.y, qid=rows.qid)


def compare(
    train: Rows, test: Rows, columns: Array, n_trials: int, seed: int
) -> TableRows:
    """Return the exact NDCG@10 of each method on the training and the test rows."""
    X = train.X[:, columns]
    objective = LinearScoringObjective(X, train.y, qid=train.qid)

    def with_weights(weights: dict[str, float]) -> LinearRanker:
        bounds = dict.fromkeys(weights, FloatDistribution(-1, 1))
        trial = optuna.trial.create_trial(
            params=weights, distributions=bounds, value=0.0
        )
        return objective.to_estimator(trial)

    starts = objective.starts()
    n_weights = [np.count_nonzero(list(start.values())) for start in starts]
    single = starts[n_weights.index(1)]
    rankers = {}
    rankers["equal weights"] = with_weights(dict.fromkeys(single, 1.0))
    rankers["best single feature"] = with_weights(single)
    rankers["the best to start from"] = with_weights(starts[-1])
    study = objective.create_study(seed, n_trials=n_trials)
    study.optimize(objective, n_trials=n_trials)
    ascent = LinearRanker(random_state=seed)
    rankers["LinearRanker()"] = ascent.fit(X, train.y, qid=train.qid)
    rankers["LinearScoringObjective"] = objective.to_estimator(study)
    table = []
    for name, ranker in rankers.items():
        row = [name]
        for rows in (train, test):
            scores = ranker.predict(rows.X[:, columns])
            row.append(ranking_score(rows.y, scores, qid=rows.qid))
        table.append(row)
    return table


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--features", type=int, nargs="*", default=[10, 40])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    data = {path: letor(path.split("+")) for path in arguments.files}
    if not data:
        data["make_web_search"] = web_search()
    details = f"{arguments.trials} trials, mean of {arguments.seeds} splits"
    for name, rows in data.items():
        for n_features in arguments.features:
            tables = []
            for seed in range(arguments.seeds):
                train, test = split(rows, [2, 1], seed)
                columns = np.argsort(screened(train).ranking_)[:n_features]
                tables.append(compare(train, test, columns, arguments.trials, seed))
            print(f"{name}: {len(columns)} features, {details}")
            print_table(HEADERS, means(tables))
            print()


if __name__ == "__main__":
    main()
