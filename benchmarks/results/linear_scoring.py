"""Weights of a linear score, tuned in several ways.

``python -m benchmarks.results.linear_scoring FILE`` compares `LinearScoringObjective`
on a LETOR file with equal weights, the best single feature and `LinearRanker`, which
tunes its weights by coordinate ascent, by exact NDCG@10 on held-out queries.
"""

from __future__ import annotations

import argparse

import numpy as np
import optuna

from benchmarks.tables import format_table
from tieaware_sklearn import LinearRanker, RankingFeatureSelector, ranking_score
from tieaware_sklearn.optuna import LinearScoringObjective

from ._shared import Rows, generated, read, split


def weights_of(objective: LinearScoringObjective, parameters: dict) -> np.ndarray:
    return np.array([parameters[f"weight_{name}"] for name in objective.feature_names])


def compare(
    train: Rows, test: Rows, columns: np.ndarray, n_trials: int, seed: int
) -> list[tuple[str, float, float]]:
    """Exact NDCG@10 on both sets of each way to set the weights."""
    X = train.X[:, columns]
    objective = LinearScoringObjective(X, train.y, qid=train.qid)
    starts = [weights_of(objective, start) for start in objective.starts()]

    def estimator(weights: np.ndarray) -> LinearRanker:
        trial = optuna.trial.create_trial(
            params={
                f"weight_{n}": float(w)
                for n, w in zip(objective.feature_names, weights, strict=True)
            },
            distributions={
                f"weight_{n}": optuna.distributions.FloatDistribution(-1, 1)
                for n in objective.feature_names
            },
            value=0.0,
        )
        return objective.to_estimator(trial)

    def worth(ranker: LinearRanker) -> tuple[float, float]:
        return tuple(
            ranking_score(rows.y, ranker.predict(rows.X[:, columns]), qid=rows.qid)
            for rows in (train, test)
        )

    single = next(w for w in starts if np.count_nonzero(w) == 1)
    equal = np.ones(len(columns))
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--features", type=int, nargs="*", default=[10, 40])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for path in arguments.files or [None]:
        parts = generated() if path is None else read(path)
        rows = Rows(*(np.concatenate(c) for c in zip(*parts, strict=True)))
        for n_features in arguments.features:
            found = []
            for seed in range(arguments.seeds):
                train, test = split(rows, [2, 1], seed)
                selector = RankingFeatureSelector(
                    "ndcg@10", redundancy=False, max_correlation=None
                )
                selector.fit(train.X, train.y, qid=train.qid)
                columns = np.argsort(selector.ranking_)[:n_features]
                found.append(compare(train, test, columns, arguments.trials, seed))
            means = [
                [ways[0][0], *(f"{np.mean([w[i] for w in ways]):.4f}" for i in (1, 2))]
                for ways in zip(*found, strict=True)
            ]
            print(
                f"{path or 'make_web_search'}: {len(columns)} features, "
                f"{arguments.trials} trials, mean of {arguments.seeds} splits"
            )
            print(format_table(["weights", "train", "held out"], means) + "\n")


if __name__ == "__main__":
    main()
