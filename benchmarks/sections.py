"""What ``python -m benchmarks`` measures, a function for each section.

Ratios to LightGBM are to its own ndcg@10 of the same documents, in the same turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import ndcg_score

from benchmarks import cliffs, trec_files, workloads
from benchmarks.boosters import lightgbm_metric, xgboost_metric
from benchmarks.letor_files import write_letor
from benchmarks.tasks import (
    ENGINES_HERE,
    Tasks,
    by_engine,
    engine_tasks,
    median_times,
    prepared_rankings,
    prepared_tasks,
    sklearn_loop,
    sklearn_matrix,
)
from benchmarks.timing import Task, medians
from benchmarks.workloads import Workload
from tieaware_sklearn import (
    RankingFeatureSelector,
    datasets,
    evaluate,
    ranking_score,
)
from tieaware_sklearn._typing import Array, FloatArray
from tieaware_sklearn.measures._values import Detail
from tieaware_sklearn.ranking._ranked import Order

ONE = ["ndcg@10"]
THREE = ["ndcg@10", "ap", "rr"]
#: Measures compared with the order of the rows.
ALL_MEASURES = (
    "p@10",
    "r@10",
    "f@10",
    "success@10",
    "rprec",
    "dcg@10",
    "ndcg@10",
    "ndcg",
    "rbp",
    "ap",
    "rr",
    "bpref",
    "esl",
    "err(max_label=5)@10",
)
LIGHTGBM = "LightGBM ndcg@10"
LOOP = "scikit-learn ndcg_score, a loop"
MATRIX = "scikit-learn ndcg_score, 2-D"
#: Turns of tasks that take seconds.
FEW_REPEATS = 3


class Line(NamedTuple):
    """The figures of a task by each engine, and their limit, if they have a limit."""

    task: str
    scores: str
    unit: str
    figures: Sequence[float]
    limit: float | None = None
    is_least: bool = False

    def cells(self) -> list[str]:
        """Return the cells of a row.

        The compiled kernel must keep to the limit, or NumPy if there is no kernel.
        """
        cells = [self.task, self.scores, self.unit]
        for figure in self.figures:
            cells.append(f"{figure:.3g}")
        for _ in ENGINES_HERE[len(self.figures) :]:
            cells.append("")
        if self.limit is None:
            return [*cells, "", ""]
        figure = self.figures[0]
        if self.is_least:
            sign, is_met = ">=", figure >= self.limit
        else:
            sign, is_met = "<=", figure <= self.limit
        return [*cells, f"{sign} {self.limit:g}", "yes" if is_met else "no"]


class Tool(NamedTuple):
    """A task of another library, its documents, and the least ratio to our time."""

    name: str
    task: Task
    n_rows: int
    limit: float | None = None


class Settings(NamedTuple):
    """Size of the data, and turns of each task."""

    scale: float
    repeats: int


Lines = Iterator[Line]
#: Reads batches from a file.
Batches = Callable[[Path], Iterator[Any]]


def _for_all(figure: float) -> FloatArray:
    """Return the figure of a task that runs in the same way with each engine."""
    return np.full(len(ENGINES_HERE), figure)


def _lightgbm(data: Workload, score: FloatArray) -> Task:
    return lightgbm_metric(data.y, data.sizes, score, "ndcg@10")


def _lightgbm_lines(
    tasks: Tasks,
    settings: Settings,
    data: Workload,
    kind: str,
    limits: Mapping[str, float],
) -> Lines:
    """Yield ratios of tasks to LightGBM's metric of the scores of this kind."""
    score = data.scores[kind]
    tasks[LIGHTGBM, ""] = _lightgbm(data, score)
    times = median_times(tasks, settings.repeats)
    for task, limit in limits.items():
        ratios = times[task] / times[LIGHTGBM]
        yield Line(task, kind, "x LightGBM", ratios, limit)


def prepared_labels(settings: Settings) -> Lines:
    """Means and all statistics of labels that are prepared once."""
    mean = "NDCG@10"
    means = "NDCG@10, AP, RR"
    statistics = "NDCG@10, AP, RR, all statistics"
    names = (mean, means, statistics)
    limits = {
        "continuous": (0.22, 0.6, 0.7),
        "discrete": (0.25, 0.85, 1.2),
        "trees": (0.28, 0.95, 1.3),
    }
    detail = Detail.DEVIATION
    data = workloads.web_with_trees(settings.scale)
    for kind, score in data.scores.items():
        tasks = prepared_tasks(mean, data, ONE, score)
        tasks |= prepared_tasks(means, data, THREE, score)
        tasks |= prepared_tasks(statistics, data, THREE, score, detail=detail)
        kind_limits = dict(zip(names, limits[kind], strict=True))
        yield from _lightgbm_lines(tasks, settings, data, kind, kind_limits)


def raw_arrays(settings: Settings) -> Lines:
    """`ranking_score` and `evaluate`, labels and ids checked in each call."""
    evaluate_limits = {"continuous": 1.2, "discrete": 1.5, "trees": 1.6}
    data = workloads.web_with_trees(settings.scale)
    for kind, score in data.scores.items():
        limits = {"ranking_score": 0.6, "evaluate": evaluate_limits[kind]}
        tasks: Tasks = {}
        for function in (ranking_score, evaluate):
            call = partial(function, data.y, score, qid=data.qid)
            tasks |= engine_tasks(function.__name__, call)
        yield from _lightgbm_lines(tasks, settings, data, kind, limits)


def selector(settings: Settings) -> Lines:
    """The selector's default, per feature: eight columns, half of them discrete."""
    data = workloads.web(settings.scale / 4)
    X = workloads.columns(len(data.y), 8)
    tasks = engine_tasks("selector", _fit(data, X))
    for kind, score in data.scores.items():
        tasks[kind, ""] = _lightgbm(data, score)
    times = median_times(tasks, settings.repeats)
    lightgbm = (times["continuous"] + times["discrete"]) / 2
    ratios = times["selector"] / 8 / lightgbm
    yield Line("selector, per feature", "mixed", "x LightGBM", ratios, 2.7)


def _fit(data: Workload, X: Array, **options: Any) -> Task:
    selector = RankingFeatureSelector(**options)
    return partial(selector.fit, X, data.y, qid=data.qid)


def order_of_rows(settings: Settings) -> Lines:
    """Ties averaged, against ties broken by the order of the rows."""
    data = workloads.in_degree()
    ((kind, score),) = data.scores.items()
    for name in ALL_MEASURES:
        tasks = prepared_tasks("mean", data, [name], score)
        tasks |= prepared_tasks("input", data, [name], score, order=Order.INPUT)
        times = median_times(tasks, settings.repeats)
        ratios = times["mean"] / times["input"]
        yield Line(f"exact {name}", kind, "x rows' order", ratios, 1.05)


def threads(settings: Settings) -> Lines:
    """One thread against two: over columns, or over blocks of queries."""
    data = workloads.web(settings.scale / 4)
    X = workloads.columns(len(data.y), 8)
    score = data.scores["continuous"]
    rankings = prepared_rankings(data.y, data.qid)
    tasks: Tasks = {}
    for n_jobs in (1, 2):
        fit = _fit(data, X, n_jobs=n_jobs)
        tasks |= engine_tasks(f"selector {n_jobs}", fit)
        for engine, ranking in rankings.items():
            call = partial(ranking.score_columns, X, n_jobs=n_jobs)
            tasks[f"score_columns {n_jobs}", engine] = by_engine(engine, call)
        call = partial(evaluate, data.y, score, qid=data.qid, n_jobs=n_jobs)
        tasks |= engine_tasks(f"evaluate {n_jobs}", call)
    times = median_times(tasks, settings.repeats, time.perf_counter)
    for name, kind, limit in (
        ("selector", "mixed", 1.7),
        ("score_columns", "mixed", 1.7),
        ("evaluate", "continuous", None),
    ):
        ratios = times[f"{name} 1"] / times[f"{name} 2"]
        task = f"{name}, two threads"
        yield Line(task, kind, "x faster", ratios, limit, is_least=True)


def small_calls(settings: Settings) -> Lines:
    """One call with ten documents, and many columns of a dozen rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10).astype(float)
    score = rng.integers(0, 4, 10) / 4
    qid = np.zeros(10, dtype=int)
    tasks: Tasks = {}
    for engine, ranking in prepared_rankings(y, qid).items():
        call = _repeated(partial(ranking.score, score))
        tasks["PreparedRanking.score", engine] = by_engine(engine, call)
    for function in (ranking_score, evaluate):
        call = _repeated(partial(function, y, score, qid=qid))
        tasks |= engine_tasks(function.__name__, call)
    call = partial(ndcg_score, y[None], score[None], k=10)
    tasks["scikit-learn", ""] = _repeated(call)
    times = median_times(tasks, settings.repeats)
    limits = {"PreparedRanking.score": 0.08, "ranking_score": 0.2, "evaluate": 0.35}
    for name, limit in limits.items():
        ratios = times[name] / times["scikit-learn"]
        yield Line(f"{name}, 10 documents", "discrete", "x ndcg_score", ratios, limit)
    data = workloads.few_rows()
    X = np.column_stack(list(data.scores.values()))
    fit = _fit(data, X, redundancy=False, max_correlation=None)
    tasks = engine_tasks("selector", fit)
    times = median_times(tasks, settings.repeats)
    microseconds = 1e6 * times["selector"] / X.shape[1]
    yield Line("selector, per feature of 12 rows", "discrete", "µs", microseconds)


def _repeated(call: Task) -> Task:
    """Return 200 calls as one task, because a clock is too coarse for one call."""

    def task() -> None:
        for _ in range(200):
            call()

    return task


def other_tools(settings: Settings) -> Lines:
    """Other tools: how many times as long as NDCG@10 of ours, prepared, they take."""
    data = workloads.web(settings.scale / 4)
    n_queries = 200
    n_rows = int(data.sizes[:n_queries].sum())
    for kind, score in data.scores.items():
        xgboost = xgboost_metric(data.y, data.sizes, score, "ndcg@10")
        loop = sklearn_loop(data, score, n_queries)
        tools = []
        tools.append(Tool("XGBoost ndcg@10", xgboost, len(data.y)))
        tools.append(Tool(LOOP, loop, n_rows, 100.0))
        yield from _tool_lines(data, kind, tools, settings)
    lists = workloads.matrix()
    for kind, score in lists.scores.items():
        matrix = sklearn_matrix(lists, score)
        tools = [Tool(MATRIX, matrix, len(lists.y), 5.0)]
        yield from _tool_lines(lists, kind, tools, settings)


def _tool_lines(
    data: Workload, kind: str, tools: Sequence[Tool], settings: Settings
) -> Lines:
    """Yield ratios of other tools to NDCG@10 of ours, by the document."""
    tasks = prepared_tasks("ours", data, ONE, data.scores[kind])
    for tool in tools:
        tasks[tool.name, ""] = tool.task
    times = median_times(tasks, settings.repeats)
    ours = times["ours"] / len(data.y)
    scores = f"{data.name}, {kind}"
    for tool in tools:
        ratios = times[tool.name] / tool.n_rows / ours
        yield Line(tool.name, scores, "x ours", ratios, tool.limit, is_least=True)


def one_query(settings: Settings) -> Lines:
    """One query of a million documents."""
    data = workloads.one_query()
    for kind, score in data.scores.items():
        tasks = prepared_tasks("ours", data, ["ndcg@10", "ap"], score)
        times = median_times(tasks, FEW_REPEATS)
        nanoseconds = 1e9 * times["ours"] / len(data.y)
        yield Line("one query, NDCG@10 and AP", kind, "ns/document", nanoseconds)


def files_of_trec(settings: Settings) -> Lines:
    """TREC files: a million lines read, of one run and of ten."""
    n_topics = 100
    n_runs = 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        long_run = trec_files.write_run(folder / "one", n_runs * n_topics)
        qrels = trec_files.write_qrels(folder / "qrels", n_topics)
        runs = []
        for seed in range(n_runs):
            run = trec_files.write_run(folder / f"run{seed}", n_topics, seed)
            runs.append(run)
        tasks = {}
        tasks["load_run"] = partial(datasets.load_run, long_run)
        tasks["load_trec"] = partial(datasets.load_trec, qrels, runs)
        times = medians(tasks, FEW_REPEATS)
    for task, kind in {"load_run": "one run", "load_trec": "ten runs"}.items():
        seconds = _for_all(times[task])
        yield Line(task, kind, "s", seconds, 3.0)


def files_of_letor(settings: Settings) -> Lines:
    """LETOR text of 50 MB read, beside scikit-learn, which leaves out the query ids."""
    with tempfile.TemporaryDirectory() as name:
        path = write_letor(Path(name, "text"), 420)
        megabytes = path.stat().st_size / 1e6
        tasks = {}
        tasks["load_letor"] = partial(datasets.load_letor, path)
        tasks["iter_batches"] = partial(_exhaust, datasets.iter_batches, path)
        tasks["scikit-learn"] = partial(load_svmlight_file, str(path))
        times = medians(tasks, FEW_REPEATS)
    for task in ("load_letor", "iter_batches"):
        speed = megabytes / times[task]
        yield Line(task, "136 features", "MB/s", _for_all(speed))
        ratios = _for_all(times[task] / times["scikit-learn"])
        yield Line(task, "136 features", "x load_svmlight_file", ratios, 1.3)


def files_of_tables(settings: Settings) -> Lines:
    """Tables read, whole and in batches, beside pyarrow, which makes no matrix."""
    rng = np.random.default_rng(0)
    for n, n_columns in ((10**6, 20), (10**4, 1000)):
        columns = {}
        for j in range(n_columns):
            values = rng.random(n)
            columns[str(j)] = np.round(values, 3)
        columns["label"] = rng.integers(0, 3, n)
        columns["qid"] = np.arange(n) // 100
        table = pa.table(columns)
        shape = f"{n} x {n_columns}"
        with tempfile.TemporaryDirectory() as name:
            path = Path(name, "a.csv")
            csv.write_csv(table, path)
            yield from _table_lines(path, shape, csv.read_csv, csv.open_csv)
            path = Path(name, "a.parquet")
            parquet.write_table(table, path, row_group_size=n // 10)
            yield from _table_lines(path, shape, parquet.read_table, _row_groups)


def _table_lines(
    path: Path, shape: str, read: Callable[[Path], Any], batches: Batches
) -> Lines:
    """Yield ratios to these functions of pyarrow, which read whole and in batches."""
    tasks = {}
    tasks["load_table"] = partial(datasets.load_table, path)
    tasks["pyarrow load_table"] = partial(read, path)
    tasks["iter_batches"] = partial(_exhaust, datasets.iter_batches, path)
    tasks["pyarrow iter_batches"] = partial(_exhaust, batches, path)
    times = medians(tasks, FEW_REPEATS)
    kind = f"{path.suffix}, {shape}"
    for task in ("load_table", "iter_batches"):
        ratio = times[task] / times[f"pyarrow {task}"]
        yield Line(task, kind, "x pyarrow", _for_all(ratio))


def _row_groups(path: Path) -> Iterator[object]:
    with parquet.ParquetFile(path) as file:
        yield from file.iter_batches()


def _exhaust(batches: Batches, path: Path) -> None:
    for _ in batches(path):
        pass


def shapes_that_were_slow(settings: Settings) -> Lines:
    """Realistic shapes that once fell off a cliff."""
    for row, ratio in cliffs.rows(settings.repeats):
        # Rows run with the first engine.
        yield Line(row.task, "", row.unit, [ratio], row.goal)


SECTIONS: dict[str, Callable[[Settings], Lines]] = {
    "prepared": prepared_labels,
    "raw": raw_arrays,
    "selector": selector,
    "order": order_of_rows,
    "threads": threads,
    "small": small_calls,
    "tools": other_tools,
    "one-query": one_query,
    "trec": files_of_trec,
    "letor": files_of_letor,
    "tables": files_of_tables,
    "cliffs": shapes_that_were_slow,
}
