"""Where boosters stop early, and where they should.

``python -m benchmarks.results.early_stopping lightgbm FILE ...`` (or ``xgboost``)
trains on sets of LETOR files (parts of a set are joined by +), in splits by query: each
of 5 folds is held out once, the next one validates, the rest trains; all of it
repeated. The same trees stop on NDCG@10 by the booster itself, for the validation rows
in several orders, and on the exact value. It prints how often training stops at tree 1,
the median number of trees, and what the exact stop gains over the order in NDCG@10 on
held-out queries, with 95 % corrected resampled t intervals over the splits (Nadeau and
Bengio 2003), which share queries. ``--sizes`` are the leaves of LightGBM's trees, or
the depths of XGBoost's. Without files it makes up a set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tieaware_sklearn import PreparedRanking, QueryKFold, ranking_score

from ._shared import ORDERS, Rows, collections, generated, grouped, ordered, table

SIZES = {"lightgbm": [4, 31], "xgboost": [2, 4, 6]}
MEASURE = "ndcg@10"
N_FOLDS = 5
HEADERS = ("data", "validation", "tree 1", "trees", "gain", "95% interval")


class Trained(NamedTuple):
    """What a booster reports by tree and set of rows, and how it predicts."""

    reported: list[list[float]]
    predict: Callable[[np.ndarray, int], np.ndarray]


def lightgbm(train: Rows, valid: Sequence[Rows], trees: int, leaves: int) -> Trained:
    import lightgbm as lgb

    own, sizes = grouped(train)
    data = lgb.Dataset(own.X, own.y, group=sizes, params={"verbosity": -1})
    sets = [
        data.create_valid(one.X, one.y, group=sizes)
        for one, sizes in map(grouped, valid)
    ]
    names = [str(i) for i in range(len(sets))]
    seen: dict[str, Any] = {}
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10]}
    options |= {"num_leaves": leaves, "num_threads": 1, "verbosity": -1}
    keep = lgb.record_evaluation(seen)
    model = lgb.train(options, data, trees, sets, names, callbacks=[keep])

    def predict(X: np.ndarray, number: int) -> np.ndarray:
        return np.asarray(model.predict(X, num_iteration=number, num_threads=1))

    return Trained([seen[name][MEASURE] for name in names], predict)


def xgboost(train: Rows, valid: Sequence[Rows], trees: int, depth: int) -> Trained:
    import xgboost as xgb

    def matrix(rows: Rows) -> xgb.DMatrix:
        own, sizes = grouped(rows)
        return xgb.DMatrix(own.X, own.y, group=sizes, nthread=1)

    evals = [(matrix(one), str(i)) for i, one in enumerate(valid)]
    seen: dict[str, Any] = {}
    options = {"objective": "rank:ndcg", "eval_metric": MEASURE, "max_depth": depth}
    options |= {"eta": 0.1, "nthread": 1}
    kept = {"evals_result": seen, "verbose_eval": False}
    model = xgb.train(options, matrix(train), trees, evals=evals, **kept)

    def predict(X: np.ndarray, number: int) -> np.ndarray:
        return model.predict(xgb.DMatrix(X, nthread=1), iteration_range=(0, number))

    return Trained([seen[name][MEASURE] for _, name in evals], predict)


LIBRARIES = {"lightgbm": lightgbm, "xgboost": xgboost}


def stop(curve: Sequence[float], patience: int) -> int:
    """The number of trees at which early stopping ends: the rule of both libraries."""
    best = 0
    for i, value in enumerate(curve):
        if value > curve[best]:
            best = i
        elif i - best >= patience:
            break
    return best + 1


def splits(rows: Rows, repeats: int) -> Iterator[list[Rows]]:
    """Training, validation and held-out queries."""
    for seed in range(repeats):
        cv = QueryKFold(N_FOLDS, shuffle=True, random_state=seed)
        folds = [test for _, test in cv.split(rows.X, groups=rows.qid)]
        for i in range(N_FOLDS):
            held_out, valid, *train = folds[i:] + folds[:i]
            parts = (np.concatenate(train), valid, held_out)
            yield [rows.take(np.sort(part)) for part in parts]


class Stops(NamedTuple):
    """Of one split: numbers of trees, and what they are worth on held-out queries."""

    trees: list[int]
    held_out: list[float]


def stops(
    library: str,
    train: Rows,
    valid: Rows,
    held_out: Rows,
    *,
    size: int,
    shuffles: int = 20,
    trees: int = 200,
    patience: int = 30,
) -> Stops:
    """Of rows sorted by label, either way; of shuffled ones; and the exact stop."""
    orders = [ordered(valid, order) for order in ORDERS[:2]]
    rng = np.random.default_rng(0)
    orders += [valid.take(rng.permutation(len(valid.y))) for _ in range(shuffles)]
    found = LIBRARIES[library](train, orders, trees, size)
    prepared = PreparedRanking(valid.y, valid.qid)
    exact = [
        prepared.score(found.predict(valid.X, number + 1), MEASURE)
        for number in range(trees)
    ]
    at = [stop(curve, patience) for curve in [*found.reported, exact]]
    worth = {
        number: ranking_score(
            held_out.y, found.predict(held_out.X, number), qid=held_out.qid
        )
        for number in set(at)
    }
    return Stops(at, [worth[number] for number in at])


def interval(differences: np.ndarray) -> str:
    """Of differences of splits that share queries."""
    n = len(differences)
    # a split holds out one fold and trains on all but two
    error = np.sqrt(differences.var(ddof=1) * (1 / n + 1 / (N_FOLDS - 2)))
    half = stats.t.ppf(0.975, n - 1) * error
    low, high = differences.mean() - half, differences.mean() + half
    return f"[{low:+.3f}, {high:+.3f}]"


def lines(name: str, found: Sequence[Stops]) -> list[list[str]]:
    """Lines of the table: one for rows in each order, the exact stop last."""
    trees = np.array([one.trees for one in found])
    held_out = np.array([one.held_out for one in found])
    gains = held_out[:, -1:] - held_out
    places = [slice(0, 1), slice(1, 2), slice(2, -1), slice(-1, None)]
    result = []
    for order, at in zip([*ORDERS, "any, exact"], places, strict=True):
        gain = gains[:, at].mean(axis=1)
        cells = [f"{(trees[:, at] == 1).mean():.2f}", f"{np.median(trees[:, at]):.0f}"]
        cells += [f"{gain.mean():+.3f}", interval(gain)] if gain.any() else ["-", "-"]
        result.append([name if not result else "", order, *cells])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.results.early_stopping", description=__doc__
    )
    parser.add_argument("library", nargs="?", choices=LIBRARIES, default="lightgbm")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="SIZE")
    parser.add_argument("--repeats", type=int, default=4, help="of the folds")
    parser.add_argument("--shuffles", type=int, default=20)
    arguments = parser.parse_args()
    sets = collections(arguments.files) or {"made up": generated()[0]}
    name = {"lightgbm": "leaves", "xgboost": "depth"}[arguments.library]
    for size in arguments.sizes or SIZES[arguments.library]:
        run = partial(stops, arguments.library, size=size, shuffles=arguments.shuffles)
        found = [
            line
            for data, rows in sets.items()
            for line in lines(
                data, [run(*parts) for parts in splits(rows, arguments.repeats)]
            )
        ]
        print(f"{arguments.library}, {name} {size}")
        print(table(HEADERS, found) + "\n", flush=True)


if __name__ == "__main__":
    main()
