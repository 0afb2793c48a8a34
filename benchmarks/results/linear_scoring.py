"""Weights of a linear score, tuned in several ways.

``python -m benchmarks.results.linear_scoring FILE`` compares `LinearScoringObjective`
on a LETOR file with equal weights, the best single feature and `LinearRanker`, which
tunes its weights by coordinate ascent, by exact NDCG@10 on held-out queries.
"""

from __future__ import annotations

import numpy as np
import optuna

from tieaware_sklearn import LinearRanker, RankingFeatureSelector, ranking_score
from tieaware_sklearn.optuna import LinearScoringObjective

from ._shared import Rows, command_line, generated, joined, letor, means, split, table


def screened(rows: Rows) -> RankingFeatureSelector:
    """Each feature by what it is worth alone."""
    selector = RankingFeatureSelector("ndcg@10", redundancy=False, max_correlation=None)
    return selector.fit(rows.X, rows.y, qid=rows.qid)


def compare(
    train: Rows, test: Rows, columns: np.ndarray, n_trials: int, seed: int
) -> list[tuple[str, float, float]]:
    """Exact NDCG@10 on both sets of each way to set the weights."""
    X = train.X[:, columns]
    objective = LinearScoringObjective(X, train.y, qid=train.qid)
    starts = objective.starts()

    def estimator(weights: dict[str, float]) -> LinearRanker:
        each = dict.fromkeys(weights, optuna.distributions.FloatDistribution(-1, 1))
        trial = optuna.trial.create_trial(params=weights, distributions=each, value=0.0)
        return objective.to_estimator(trial)

    def worth(ranker: LinearRanker) -> tuple[float, float]:
        return tuple(
            ranking_score(rows.y, ranker.predict(rows.X[:, columns]), qid=rows.qid)
            for rows in (train, test)
        )

    single = next(w for w in starts if np.count_nonzero([*w.values()]) == 1)
    equal = dict.fromkeys(single, 1.0)
    study = objective.create_study(seed, n_trials=n_trials)
    study.optimize(objective, n_trials=n_trials)
    ascent = LinearRanker(random_state=seed).fit(X, train.y, qid=train.qid)
    return [
        ("equal weights", *worth(estimator(equal))),
        ("best single feature", *worth(estimator(single))),
        ("the best to start from", *worth(estimator(starts[-1]))),
        ("LinearRanker()", *worth(ascent)),
        ("LinearScoringObjective", *worth(objective.to_estimator(study))),
    ]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--features", type=int, nargs="*", default=[10, 40])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for path in arguments.files or [None]:
        parts = (
            generated() if path is None else split(letor(path.split("+")), [2, 1, 1])
        )
        rows = joined(parts)
        for n_features in arguments.features:
            found = []
            for seed in range(arguments.seeds):
                train, test = split(rows, [2, 1], seed)
                columns = np.argsort(screened(train).ranking_)[:n_features]
                found.append(compare(train, test, columns, arguments.trials, seed))
            print(
                f"{path or 'make_web_search'}: {len(columns)} features, "
                f"{arguments.trials} trials, mean of {arguments.seeds} splits"
            )
            print(table(["weights", "train", "held out"], means(found)) + "\n")


if __name__ == "__main__":
    main()
