"""The tuned linear ranker on held-out parts of a collection.

``python -m benchmarks.results.coordinate_ascent PART+PART+PART`` reads the parts of a
collection, which are LETOR files. It tests on each part in turn and trains on the
others. A single file is cut into three parts of whole queries. The command prints exact
NDCG@10 and AP of each part by equal weights, by the best single feature of the training
parts, and by `LinearRanker` with several options, and the seconds of a fit. All values
are means over the seeds.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from tieaware_sklearn import LinearRanker, ranking_score

from ._shared import (
    Rows,
    command_line,
    joined,
    letor,
    print_table,
    split,
    web_search,
)
from .linear_scoring import screened

TUNED = {
    "LinearRanker()": {},
    "n_restarts=4": {"n_restarts": 4},
    "held out: 0.2": {"validation_fraction": 0.2},
    'measure="ap"': {"measure": "ap"},
}


def collection_parts(path: str, seed: int) -> list[Rows]:
    """Return the parts of a collection. No two parts have a query id in common."""
    files = path.split("+")
    if len(files) == 1:
        return split(letor(files), [1, 1, 1], seed)
    parts = []
    for i, file in enumerate(files):
        rows = letor([file])
        qid = np.array([f"{i} {query}" for query in rows.qid])
        parts.append(Rows(rows.X, rows.y, qid))
    return parts


def best_feature(rows: Rows) -> LinearRanker:
    """Return a ranker by the best single feature, in its better direction."""
    selector = screened(rows)
    best = np.argmin(selector.ranking_)
    coef = np.zeros(rows.X.shape[1])
    coef[best] = 1
    if selector.directions_[best] == "ascending":
        coef[best] = -1
    return LinearRanker(coef).fit(rows.X)


def measured(ranker: LinearRanker, rows: Rows) -> list[float]:
    """Return NDCG@10 and AP."""
    score = partial(ranking_score, rows.y, ranker.predict(rows.X), qid=rows.qid)
    return [score(measure="ndcg@10"), score(measure="ap")]


def fold_values(train: Rows, test: Rows, seed: int) -> dict[str, list[float]]:
    """Return NDCG@10, AP and the seconds of a fit of each ranker."""
    equal = LinearRanker("equal").fit(train.X)
    values = {}
    values["equal weights"] = [*measured(equal, test), 0.0]
    values["best feature"] = [*measured(best_feature(train), test), 0.0]
    for name, options in TUNED.items():
        start = time.perf_counter()
        ranker = LinearRanker(**options, random_state=seed)
        ranker.fit(train.X, train.y, qid=train.qid)
        seconds = time.perf_counter() - start
        values[name] = [*measured(ranker, test), seconds]
    return values


def main() -> None:
    parser = command_line(__doc__, metavar="PART+PART+PART")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for path in arguments.files or ["make_web_search"]:
        folds = []
        for seed in range(arguments.seeds):
            if arguments.files:
                parts = collection_parts(path, seed)
            else:
                parts = split(web_search(), [2, 1, 1])
            for i, test in enumerate(parts):
                train = joined(parts[:i] + parts[i + 1 :])
                folds.append(fold_values(train, test, seed))
        rows = []
        for name in folds[0]:
            values = np.array([fold[name] for fold in folds])
            part_means = values.reshape(-1, len(parts), 3).mean(axis=0)
            cells = [f"{ndcg:.4f} {ap:.4f}" for ndcg, ap, _ in part_means]
            ndcg, ap, seconds = part_means.mean(axis=0)
            rows.append([name, *cells, ndcg, ap, f"{seconds:.1f}"])
        print(f"{path}: NDCG@10 and AP of each part held out")
        heads = [f"part {i + 1}" for i in range(len(parts))]
        print_table(["weights", *heads, "NDCG@10", "AP", "seconds"], rows)
        print()


if __name__ == "__main__":
    main()
