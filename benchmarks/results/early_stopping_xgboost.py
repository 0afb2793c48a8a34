"""Where XGBoost stops early, and where it should.

``python -m benchmarks.results.early_stopping_xgboost [FILE ...]`` does with XGBoost
what ``early_stopping`` does with LightGBM, and takes the same files. ``--depth`` is
that of a tree.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xgboost import XGBRanker

from tieaware_sklearn.xgboost import QueryXGBRanker

from ._shared import ORDERS, Rows, grouped, ordered
from .early_stopping import Stop, exact_scores, show_stops


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
            worth = exact_scores(model, valid, held_out)
            trees = model.best_iteration + 1
            yield Stop(order, metric, trees, float(model.best_score), *worth)


def main() -> None:
    show_stops(
        __doc__,
        stops,
        option="--depth",
        sizes=[2, 6],
        parameter="max_depth",
        learning_rate=0.1,
    )


if __name__ == "__main__":
    main()
