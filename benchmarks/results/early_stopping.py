"""Trees at which boosters stop early, and at which they should.

``python -m benchmarks.results.early_stopping lightgbm FILE ...`` (or ``xgboost``)
trains on sets of LETOR files (parts of a set are joined by +). Queries are split into 5
folds: each fold is held out once, the next fold validates, and the rest trains; all of
it is repeated. The same trees stop on NDCG@10 by the booster itself, for the validation
rows in several orders, and on the exact value. The command prints how often training
stops at tree 1, the median number of trees, and what the exact stop gains over the
order in NDCG@10 on held-out queries, with 95% corrected resampled t intervals over the
splits (Nadeau and Bengio 2003), which share queries. ``--sizes`` are the leaves of
LightGBM's trees, or the depths of XGBoost's. Without files it makes up a set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from tieaware_sklearn import PreparedRanking, ranking_score
from tieaware_sklearn._typing import Array

from ._shared import (
    ORDERS,
    Rows,
    TableRows,
    collections,
    grouped,
    made_up,
    ordered,
    print_table,
    query_folds,
)

SIZES = {"lightgbm": [4, 31], "xgboost": [2, 4, 6]}
SIZE_NAMES = {"lightgbm": "leaves", "xgboost": "depth"}
MEASURE = "ndcg@10"
N_FOLDS = 5
HEADERS = ("data", "validation", "tree 1", "trees", "gain", "95% interval")


class Trained(NamedTuple):
    """A trained booster.

    Attributes
    ----------
    reported : list of list of float
        The values of the booster for each set of validation rows and number of trees.
    predict : callable
        Returns the scores of a matrix of features by the first trees.
    """

    reported: list[list[float]]
    predict: Callable[[Array, int], Array]


def lightgbm(train: Rows, valid: Sequence[Rows], trees: int, leaves: int) -> Trained:
    import lightgbm as lgb

    rows, sizes = grouped(train)
    data = lgb.Dataset(rows.X, rows.y, group=sizes, params={"verbosity": -1})
    valid_sets = []
    for valid_rows in valid:
        rows, sizes = grouped(valid_rows)
        valid_sets.append(data.create_valid(rows.X, rows.y, group=sizes))
    names = [str(i) for i in range(len(valid))]
    reported = {}
    record = lgb.record_evaluation(reported)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10]}
    params |= {"num_leaves": leaves, "num_threads": 1, "verbosity": -1}
    model = lgb.train(params, data, trees, valid_sets, names, callbacks=[record])

    def predict(X: Array, n_trees: int) -> Array:
        return model.predict(X, num_iteration=n_trees, num_threads=1)

    return Trained([reported[name][MEASURE] for name in names], predict)


def xgboost(train: Rows, valid: Sequence[Rows], trees: int, depth: int) -> Trained:
    import xgboost as xgb

    def matrix(rows: Rows) -> xgb.DMatrix:
        rows, sizes = grouped(rows)
        return xgb.DMatrix(rows.X, rows.y, group=sizes, nthread=1)

    data = matrix(train)
    evals = [(matrix(rows), str(i)) for i, rows in enumerate(valid)]
    reported = {}
    params = {"objective": "rank:ndcg", "eval_metric": MEASURE, "max_depth": depth}
    params |= {"eta": 0.1, "nthread": 1}
    options = {"evals_result": reported, "verbose_eval": False}
    model = xgb.train(params, data, trees, evals=evals, **options)

    def predict(X: Array, n_trees: int) -> Array:
        data = xgb.DMatrix(X, nthread=1)
        return model.predict(data, iteration_range=(0, n_trees))

    return Trained([reported[name][MEASURE] for _, name in evals], predict)


LIBRARIES = {"lightgbm": lightgbm, "xgboost": xgboost}


def stop(curve: Sequence[float], patience: int) -> int:
    """Return the number of trees at which early stopping of both libraries ends."""
    best = 0
    for i, value in enumerate(curve):
        if value > curve[best]:
            best = i
        elif i - best >= patience:
            break
    return best + 1


def splits(rows: Rows, repeats: int) -> Iterator[list[Rows]]:
    """Yield training, validation and held-out queries."""
    for seed in range(repeats):
        folds = query_folds(rows, N_FOLDS, seed)
        for i in range(N_FOLDS):
            held_out, valid, *train = folds[i:] + folds[:i]
            parts = np.concatenate(train), valid, held_out
            yield [rows.take(np.sort(part)) for part in parts]


class Stops(NamedTuple):
    """Stops of a split: numbers of trees, and their NDCG@10 on held-out queries.

    The first two are for rows sorted by label, then come shuffled rows. The last stop
    is on the exact value.
    """

    trees: list[int]
    held_out: list[float]


def stops(
    library: str,
    parts: Sequence[Rows],
    size: int,
    shuffles: int = 20,
    trees: int = 200,
    patience: int = 30,
) -> Stops:
    train, valid, held_out = parts
    orders = [ordered(valid, order) for order in ORDERS[:2]]
    rng = np.random.default_rng(0)
    for _ in range(shuffles):
        permutation = rng.permutation(len(valid.y))
        orders.append(valid.take(permutation))
    booster = LIBRARIES[library](train, orders, trees, size)
    prepared = PreparedRanking(valid.y, valid.qid)
    exact = []
    for i in range(trees):
        scores = booster.predict(valid.X, i + 1)
        exact.append(prepared.score(scores, MEASURE))
    curves = [*booster.reported, exact]
    n_trees = [stop(curve, patience) for curve in curves]
    values = {}
    for number in set(n_trees):
        scores = booster.predict(held_out.X, number)
        values[number] = ranking_score(held_out.y, scores, qid=held_out.qid)
    return Stops(n_trees, [values[number] for number in n_trees])


def interval(differences: Array) -> str:
    """Return the interval of the mean of differences of splits that share queries."""
    n = len(differences)
    # a split holds out one fold and trains on all but two
    variance = differences.var(ddof=1) * (1 / n + 1 / (N_FOLDS - 2))
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(variance)
    mean = differences.mean()
    return f"[{mean - half:+.3f}, {mean + half:+.3f}]"


def order_rows(name: str, results: Sequence[Stops]) -> TableRows:
    """Return a table row for each order of the validation rows, the exact stop last."""
    trees = np.array([result.trees for result in results])
    held_out = np.array([result.held_out for result in results])
    gains = held_out[:, -1:] - held_out
    columns = [slice(0, 1), slice(1, 2), slice(2, -1), slice(-1, None)]
    rows = []
    for order, column in zip([*ORDERS, "any, exact"], columns, strict=True):
        n_trees = trees[:, column]
        at_first = np.mean(n_trees == 1)
        row = [name, order, f"{at_first:.2f}", f"{np.median(n_trees):.0f}"]
        gain = gains[:, column].mean(axis=1)
        if gain.any():
            row += [f"{gain.mean():+.3f}", interval(gain)]
        else:
            row += ["-", "-"]
        rows.append(row)
        name = ""
    return rows


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
    library = arguments.library
    shuffles = arguments.shuffles
    sets = collections(arguments.files) or {"made up": made_up()}
    for size in arguments.sizes or SIZES[library]:
        table = []
        for name, rows in sets.items():
            results = []
            for parts in splits(rows, arguments.repeats):
                results.append(stops(library, parts, size, shuffles))
            table += order_rows(name, results)
        print(f"{library}, {SIZE_NAMES[library]} {size}")
        print_table(HEADERS, table)
        print(flush=True)


if __name__ == "__main__":
    main()
