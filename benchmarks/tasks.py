"""What is timed: measures of ours by each engine, and those of scikit-learn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import ndcg_score

from benchmarks.timing import Clock, Task, medians
from benchmarks.workloads import Workload
from tieaware_sklearn import PreparedRanking
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import ENGINES, compiled, use_engine
from tieaware_sklearn._typing import Array, FloatArray
from tieaware_sklearn.evaluation._prepared import Prepared
from tieaware_sklearn.measures._parse import parse_measures

#: The engines of this installation, the compiled kernel first.
ENGINES_HERE = ENGINES if compiled is not None else ENGINES[1:]
#: Tasks by name and engine; the engine is "" if another library runs the task.
Tasks = dict[tuple[str, str], Task]


def median_times(
    tasks: Tasks, repeats: int, clock: Clock | None = None
) -> dict[str, FloatArray]:
    """Return the median seconds of each task by each of its engines."""
    times = defaultdict(list)
    for (name, _), seconds in medians(tasks, repeats, clock).items():
        times[name].append(seconds)
    return {name: np.array(seconds) for name, seconds in times.items()}


def by_engine(engine: str, task: Task) -> Task:
    """Return the task, run by this engine."""

    def run() -> object:
        with use_engine(engine):
            return task()

    return run


def engine_tasks(name: str, task: Task) -> Tasks:
    """Return the task, run by each engine."""
    return {(name, engine): by_engine(engine, task) for engine in ENGINES_HERE}


def prepared_tasks(
    name: str, data: Workload, names: Sequence[str], score: FloatArray, **options: Any
) -> Tasks:
    """Return measures of labels that are prepared once, as boosters have them."""
    measures = parse_measures(names)
    tasks = {}
    for engine in ENGINES_HERE:
        with use_engine(engine):
            queries = check_qid(data.qid, n_rows=len(data.y))
            prepared = Prepared(data.y, queries, keep=True)
        values = partial(prepared.raw_values, measures, score, **options)
        tasks[name, engine] = by_engine(engine, values)
    return tasks


def prepared_rankings(y: Array, qid: Array) -> dict[str, PreparedRanking]:
    """Return the labels, prepared by each engine."""
    rankings = {}
    for engine in ENGINES_HERE:
        with use_engine(engine):
            rankings[engine] = PreparedRanking(y, qid)
    return rankings


def sklearn_loop(data: Workload, score: FloatArray, n_queries: int) -> Task:
    """Return calls of scikit-learn's `ndcg_score` for each of the first queries."""
    lists = []
    start = 0
    for size in data.sizes[:n_queries]:
        rows = slice(start, start + size)
        start += size
        # scikit-learn refuses a single document.
        if size > 1:
            lists.append((data.y[None, rows], score[None, rows]))

    def loop() -> None:
        for y_true, y_score in lists:
            ndcg_score(y_true, y_score, k=10)

    return loop


def sklearn_matrix(data: Workload, score: FloatArray) -> Task:
    """Return one call of scikit-learn's `ndcg_score`: queries of one length in rows."""
    shape = len(data.sizes), -1
    y_true = data.y.reshape(shape)
    y_score = score.reshape(shape)
    return partial(ndcg_score, y_true, y_score, k=10)
