"""What is timed: measures of ours by each engine, and those of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from sklearn.metrics import ndcg_score

from benchmarks.timing import Task
from benchmarks.workloads import Workload
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import ENGINES, compiled, use_engine
from tieaware_sklearn.evaluation._prepared import Prepared
from tieaware_sklearn.measures._parse import parse_measures

#: those that this installation has, the compiled kernel first
ENGINES_HERE = ENGINES if compiled is not None else ENGINES[1:]


def by_engine(engine: str, task: Task) -> Task:
    """The task, run by one of the engines."""

    def run() -> object:
        with use_engine(engine):
            return task()

    return run


def of_engines(tasks: Mapping[str, Task]) -> dict[str, Task]:
    """Each of the tasks by each engine, called "name (engine)"."""
    return {
        f"{name} ({own})": by_engine(own, task)
        for name, task in tasks.items()
        for own in ENGINES_HERE
    }


def prepared_by_engines(
    title: str, data: Workload, names: Sequence[str], score: np.ndarray, /, **options
) -> dict[str, Task]:
    """Ours on labels that are prepared once, as LightGBM and XGBoost have them."""
    measures = parse_measures(names)
    made = {}
    for own in ENGINES_HERE:
        with use_engine(own):
            queries = check_qid(data.qid, n_rows=len(data.y))
            prepared = Prepared(data.y, queries, keep=True)
        values = partial(prepared.raw_values, measures, score, **options)
        made[f"{title} ({own})"] = by_engine(own, values)
    return made


def sklearn_loop(data: Workload, score: np.ndarray, n_queries: int) -> Task:
    """scikit-learn's `ndcg_score`, called for each of the first queries."""
    ends = np.cumsum(data.sizes)[:n_queries]
    parts = [slice(e - n, e) for e, n in zip(ends, data.sizes, strict=False) if n > 1]

    def loop() -> None:
        for part in parts:
            ndcg_score(data.y[None, part], score[None, part], k=10)

    return loop


def sklearn_matrix(data: Workload, score: np.ndarray) -> Task:
    """scikit-learn's `ndcg_score`, called once: queries of one length in rows."""
    shape = len(data.sizes), -1
    y, scores = data.y.reshape(shape), score.reshape(shape)
    return lambda: ndcg_score(y, scores, k=10)
