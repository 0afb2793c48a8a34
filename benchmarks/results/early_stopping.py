"""Where LightGBM stops early, and where it should.

``python -m benchmarks.results.early_stopping [FILE ...]`` splits the queries of each
LETOR file (or of a generated set) into training, validation and held-out ones,
and stops on the same validation rows in several orders, by LightGBM's metric and by
the exact one. Each FILE may be TRAIN+TEST: then the held-out queries are those of
TEST; or TRAIN+VALID+TEST. ``--leaves`` are those of a tree.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from lightgbm import LGBMRanker

from tieaware_sklearn import ranking_score
from tieaware_sklearn.lightgbm import QueryLGBMRanker

from ._shared import ORDERS, Rows, generated, grouped, ordered, read, table


class Stop(NamedTuple):
    """Where training stopped, and what its model is worth."""

    rows: str
    metric: str
    trees: int
    reported: float
    exact: float
    held_out: float


HEADERS = (
    "validation rows",
    "stops on",
    "trees",
    "reported",
    "exact",
    "held out, exact",
)


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
            worth = exact_scores(model, valid, held_out)
            yield Stop(order, metric, model.best_iteration_, reported, *worth)


def exact_scores(model: Any, *parts: Rows) -> list[float]:
    """NDCG@10 of a model's ranking of each part."""
    return [
        ranking_score(rows.y, model.predict(rows.X), qid=rows.qid) for rows in parts
    ]


def show_stops(
    description: str | None,
    stops: Callable[..., Iterator[Stop]],
    *,
    option: str,
    sizes: Sequence[int],
    parameter: str,
    learning_rate: float,
) -> None:
    """The command: `stops` of each file for trees of several sizes, as tables."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument(
        option,
        type=int,
        nargs="*",
        default=list(sizes),
        dest="sizes",
        metavar=option.lstrip("-").upper(),
    )
    arguments = parser.parse_args()
    for path in arguments.files or [None]:
        parts = generated() if path is None else read(path)
        counts = " / ".join(str(len(np.unique(rows.qid))) for rows in parts)
        of = path or "make_web_search"
        print(f"{of}: {counts} queries to train/validate/hold out\n")
        for size in arguments.sizes:
            found = stops(
                *parts,
                n_estimators=500,
                learning_rate=learning_rate,
                early_stopping_rounds=30,
                **{parameter: size},
            )
            print(f"{parameter}={size}")
            print(table(HEADERS, list(found)) + "\n")


def main() -> None:
    show_stops(
        __doc__,
        stops,
        option="--leaves",
        sizes=[4, 31],
        parameter="num_leaves",
        learning_rate=0.05,
    )


if __name__ == "__main__":
    main()
