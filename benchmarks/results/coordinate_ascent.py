"""The tuned linear ranker on held-out parts of a collection.

``python -m benchmarks.results.coordinate_ascent PART+PART+PART`` trains on all parts
but one, LETOR files, and tests on that one, each in turn. One file alone is cut into
three parts of whole queries. It prints exact NDCG@10 and AP of each part by equal
weights, the best single feature of the training parts, and `LinearRanker` with several
options, and the seconds that a fit takes. All are means over the seeds.
"""

from __future__ import annotations

import time

import numpy as np

from tieaware_sklearn import LinearRanker, ranking_score

from ._shared import Rows, command_line, generated, joined, letor, split, table
from .linear_scoring import screened

TUNED = {
    "LinearRanker()": {},
    "n_restarts=4": {"n_restarts": 4},
    "held out: 0.2": {"validation_fraction": 0.2},
    'measure="ap"': {"measure": "ap"},
}


def parts_of(path: str, seed: int) -> list[Rows]:
    """Parts with query ids of their own."""
    names = path.split("+")
    if len(names) == 1:
        return split(letor(names), [1, 1, 1], seed)
    parts = [letor([name]) for name in names]
    return [
        part._replace(qid=np.array([f"{i} {query}" for query in part.qid]))
        for i, part in enumerate(parts)
    ]


def best_feature(rows: Rows) -> LinearRanker:
    """The best single feature, in its better direction."""
    selector = screened(rows)
    best = int(np.argmin(selector.ranking_))
    coef = np.zeros(rows.X.shape[1])
    coef[best] = -1 if selector.directions_[best] == "ascending" else 1
    return LinearRanker(coef).fit(rows.X)


def measured(ranker: LinearRanker, rows: Rows) -> list[float]:
    scores = ranker.predict(rows.X)
    return [
        float(ranking_score(rows.y, scores, qid=rows.qid, measure=measure))
        for measure in ("ndcg@10", "ap")
    ]


def of_fold(train: Rows, test: Rows, seed: int) -> dict[str, list[float]]:
    """NDCG@10, AP and seconds of each ranker."""
    found = {
        "equal weights": [*measured(LinearRanker("equal").fit(train.X), test), 0.0],
        "best feature": [*measured(best_feature(train), test), 0.0],
    }
    for name, options in TUNED.items():
        begun = time.perf_counter()
        ranker = LinearRanker(**options, random_state=seed)
        ranker.fit(train.X, train.y, qid=train.qid)
        seconds = time.perf_counter() - begun
        found[name] = [*measured(ranker, test), seconds]
    return found


def main() -> None:
    parser = command_line(__doc__, metavar="PART+PART+PART")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for path in arguments.files or [None]:
        folds = []
        for seed in range(arguments.seeds):
            parts = generated() if path is None else parts_of(path, seed)
            for i, test in enumerate(parts):
                train = joined(part for j, part in enumerate(parts) if j != i)
                folds.append(of_fold(train, test, seed))
        rows = []
        for name in folds[0]:
            values = np.array([fold[name] for fold in folds])
            each = values.reshape(-1, len(parts), 3).mean(axis=0)
            cells = [f"{ndcg:.4f} {ap:.4f}" for ndcg, ap, _ in each]
            ndcg, ap, seconds = each.mean(axis=0)
            rows.append([name, *cells, float(ndcg), float(ap), f"{seconds:.1f}"])
        print(f"{path or 'make_web_search'}: NDCG@10 and AP of each part held out")
        heads = [f"part {i + 1}" for i in range(len(parts))]
        print(table(["weights", *heads, "NDCG@10", "AP", "seconds"], rows) + "\n")


if __name__ == "__main__":
    main()
