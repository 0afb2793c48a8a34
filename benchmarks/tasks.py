"""What is timed: measures of ours by each engine, and the metrics of other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.metrics import ndcg_score

from benchmarks.timing import Task
from benchmarks.workloads import Workload
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import ENGINES, compiled, use_engine
from tieaware_sklearn.evaluation._statistics import LabelledQueries
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


def prepared(
    engine: str, data: Workload, names: Sequence[str], score: np.ndarray, **options
) -> Task:
    """Ours on labels that are prepared once, as LightGBM and XGBoost have them."""
    with use_engine(engine):
        queries = check_qid(data.qid, n_rows=len(data.y))
        labelled = LabelledQueries(data.y, queries, keep=True)
    measures = parse_measures(names)
    options = {"statistics": ("expected",), **options}
    return by_engine(engine, lambda: labelled.values(measures, score, **options))


def prepared_by_engines(
    title: str, data: Workload, names: Sequence[str], score: np.ndarray, **options
) -> dict[str, Task]:
    """The same by each engine, called "title (engine)"."""
    return {
        f"{title} ({own})": prepared(own, data, names, score, **options)
        for own in ENGINES_HERE
    }


def lightgbm_metric(data: Workload, score: np.ndarray, metric: str = "ndcg") -> Task:
    """LightGBM's own metric at rank 10 of scores that it starts from."""
    params = {"verbosity": -1, "feature_pre_filter": False}
    rows = lgb.Dataset(
        np.zeros((len(data.y), 1)),
        data.y,
        group=data.sizes,
        init_score=score,
        params=params,
    )
    options = {"objective": "lambdarank", "metric": metric, "eval_at": [10]}
    booster = lgb.Booster({**options, "num_threads": 1, "verbosity": -1}, rows)
    return booster.eval_train


def xgboost_metric(data: Workload, score: np.ndarray, metric: str) -> Task:
    """XGBoost's own metric of scores that it starts from, a prediction included."""
    rows = xgb.DMatrix(np.zeros((len(data.y), 1)), data.y, qid=data.qid, nthread=1)
    rows.set_base_margin(score.astype(np.float32))
    params = {"objective": "rank:ndcg", "eval_metric": metric, "nthread": 1}
    booster = xgb.Booster({**params, "base_score": 0.0}, [rows])
    return lambda: booster.eval(rows)


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
