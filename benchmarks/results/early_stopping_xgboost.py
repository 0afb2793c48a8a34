"""Where XGBoost stops early, and where it should.

``python -m benchmarks.results.early_stopping_xgboost [FILE ...]`` does with XGBoost
what ``early_stopping`` does with LightGBM, and takes the same files. ``--depth`` is
that of a tree.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from xgboost import XGBRanker

from tieaware_sklearn import ranking_score
from tieaware_sklearn.xgboost import QueryXGBRanker

from ._shared import ORDERS, Rows, generated, grouped, ordered, read, table
from .early_stopping import HEADERS, Stop


def stops(
    train: Rows, valid: Rows, held_out: Rows, **parameters: object
) -> Iterator[Stop]:
    """Stop on NDCG@10 by XGBoost and by us, for every order of rows."""
    options = {"n_jobs": 1, "objective": "rank:ndcg", **parameters}
    own_train, _ = grouped(train)
    for order in ORDERS:
        seen, sizes = grouped(ordered(valid, order))
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        theirs = XGBRanker(eval_metric="ndcg@10", **options).fit(
            own_train.X,
            own_train.y,
            qid=np.unique(own_train.qid, return_inverse=True)[1],
            eval_set=[(seen.X, seen.y)],
            eval_qid=[numbers],
            verbose=False,
        )
        # the same trees: what differs is where they stop
        ours = QueryXGBRanker(eval_metric="ndcg@10", row_order="input", **options).fit(
            own_train.X,
            own_train.y,
            qid=own_train.qid,
            eval_X=seen.X,
            eval_y=seen.y,
            eval_qid=seen.qid,
        )
        for metric, model in (("XGBoost ndcg@10", theirs), ("exact NDCG@10", ours)):
            exact, worth = (
                ranking_score(rows.y, model.predict(rows.X), qid=rows.qid)
                for rows in (valid, held_out)
            )
            trees = model.best_iteration + 1
            yield Stop(order, metric, trees, float(model.best_score), exact, worth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--depth", type=int, nargs="*", default=[2, 6])
    arguments = parser.parse_args()
    for path in arguments.files or [None]:
        parts = generated() if path is None else read(path)
        sizes = " / ".join(str(len(np.unique(rows.qid))) for rows in parts)
        print(
            f"{path or 'make_web_search'}: {sizes} queries to train/validate/hold out\n"
        )
        for depth in arguments.depth:
            found = stops(
                *parts,
                max_depth=depth,
                n_estimators=500,
                learning_rate=0.1,
                early_stopping_rounds=30,
            )
            print(f"max_depth={depth}")
            print(table(HEADERS, list(found)) + "\n")


if __name__ == "__main__":
    main()
