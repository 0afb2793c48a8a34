"""Where LightGBM stops early, and where it should.

``python -m benchmarks.results.early_stopping [FILE ...]`` splits the queries of each
LETOR file (or of a generated set) into training, validation and held-out ones,
and stops on the same validation rows in several orders, by LightGBM's metric and by
the exact one. Each FILE may be TRAIN+TEST: then the held-out queries are those of
TEST.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from lightgbm import LGBMRanker

from benchmarks.tables import format_table
from tieaware_sklearn import QueryKFold, ranking_score
from tieaware_sklearn.datasets import load_letor, make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker

ORDERS = ("relevant first", "relevant last", "shuffled")


class Rows(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    def take(self, rows: np.ndarray) -> Rows:
        return Rows(*(column[rows] for column in self))


class Stop(NamedTuple):
    """Where training stopped, and what its model is worth."""

    rows: str
    metric: str
    trees: int
    reported: float
    exact: float
    held_out: float


def split(rows: Rows, parts: list[int], seed: int = 0) -> list[Rows]:
    """Whole queries in so many shares."""
    cv = QueryKFold(sum(parts), shuffle=True, random_state=seed)
    tests = [test for _, test in cv.split(rows.X, groups=rows.qid)]
    ends = np.cumsum(parts)
    shares = zip(ends - parts, ends, strict=True)
    return [rows.take(np.concatenate(tests[a:b])) for a, b in shares]


def ordered(rows: Rows, order: str) -> Rows:
    """Rows of each query by label, or all in random order."""
    if order == "shuffled":
        return rows.take(np.random.default_rng(0).permutation(len(rows.y)))
    sign = -1 if order == "relevant first" else 1
    return rows.take(np.lexsort([sign * rows.y, rows.qid]))


def grouped(rows: Rows) -> tuple[Rows, np.ndarray]:
    """Rows query by query, and the sizes that LGBMRanker takes."""
    rows = rows.take(np.argsort(rows.qid, kind="stable"))
    return rows, np.unique(rows.qid, return_counts=True)[1]


def stops(
    train: Rows, valid: Rows, held_out: Rows, **parameters: object
) -> Iterator[Stop]:
    """Stop on NDCG@10 by LightGBM and by us, for every order of rows."""
    options = {"verbosity": -1, "n_jobs": 1, **parameters}
    for order in ORDERS:
        seen = ordered(valid, order)
        own_train, sizes = grouped(train)
        own_valid, valid_sizes = grouped(seen)
        theirs = LGBMRanker(**options).fit(
            own_train.X,
            own_train.y,
            group=sizes,
            eval_X=own_valid.X,
            eval_y=own_valid.y,
            eval_group=[valid_sizes],
            eval_at=[10],
        )
        # the same trees: what differs is where they stop
        ours = QueryLGBMRanker(row_order="input", **options).fit(
            own_train.X,
            own_train.y,
            qid=own_train.qid,
            eval_X=seen.X,
            eval_y=seen.y,
            eval_qid=seen.qid,
            eval_metric="ndcg@10",
        )
        for metric, model in (("LightGBM ndcg@10", theirs), ("exact NDCG@10", ours)):
            (reported,) = model.best_score_["valid_0"].values()
            exact, worth = (
                ranking_score(rows.y, model.predict(rows.X), qid=rows.qid)
                for rows in (valid, held_out)
            )
            yield Stop(order, metric, model.best_iteration_, reported, exact, worth)


def read(path: str) -> list[Rows]:
    """Training, validation and held-out queries of TRAIN or TRAIN+TEST."""
    files = [load_letor(name) for name in path.split("+")]
    columns = min(data.data.shape[1] for data in files)
    rows = [Rows(data.data[:, :columns], data.target, data.qid) for data in files]
    if len(rows) == 1:
        return split(rows[0], [2, 1, 1])
    return [*split(rows[0], [3, 1]), rows[1]]


def generated(n_queries: int = 200) -> list[Rows]:
    """The same of `make_web_search`."""
    web = make_web_search(n_queries=n_queries, random_state=0)
    return split(Rows(web.data, web.target, web.qid), [2, 1, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--leaves", type=int, nargs="*", default=[4, 31])
    arguments = parser.parse_args()
    for path in arguments.files or [None]:
        parts = generated() if path is None else read(path)
        sizes = " / ".join(str(len(np.unique(rows.qid))) for rows in parts)
        print(
            f"{path or 'make_web_search'}: {sizes} queries to train/validate/hold out\n"
        )
        for leaves in arguments.leaves:
            found = stops(
                *parts,
                num_leaves=leaves,
                n_estimators=500,
                learning_rate=0.05,
                early_stopping_rounds=30,
            )
            table = [
                [stop.rows, stop.metric, str(stop.trees)]
                + [f"{value:.4f}" for value in stop[3:]]
                for stop in found
            ]
            header = ["validation rows", "stops on", "trees", "reported", "exact"]
            print(f"num_leaves={leaves}")
            print(format_table([*header, "held out, exact"], table) + "\n")


if __name__ == "__main__":
    main()
