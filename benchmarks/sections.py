"""What ``python -m benchmarks`` measures, a function for each section.

Ratios to LightGBM are to its own ndcg@10 of the same documents, in the same turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

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
    by_engine,
    of_engines,
    prepared_by_engines,
    sklearn_loop,
    sklearn_matrix,
)
from benchmarks.timing import Task, medians
from benchmarks.workloads import Workload
from tieaware_sklearn import (
    PreparedRanking,
    RankingFeatureSelector,
    evaluate,
    ranking_score,
)
from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.datasets import (
    iter_batches,
    load_letor,
    load_run,
    load_table,
    load_trec,
)
from tieaware_sklearn.measures._values import Detail
from tieaware_sklearn.ranking._ranked import Order

ONE, THREE = ["ndcg@10"], ["ndcg@10", "ap", "rr"]
#: measures compared with the order of the rows
EVERY = (
    *("p@10", "r@10", "f@10", "success@10", "rprec", "dcg@10", "ndcg@10", "ndcg"),
    *("rbp", "ap", "rr", "bpref", "esl", "err(max_label=5)@10"),
)
LIGHTGBM = "LightGBM ndcg@10"
LOOP, MATRIX = "scikit-learn ndcg_score, a loop", "scikit-learn ndcg_score, 2-D"
#: how many times as long as ours they should take at least
SLOW = {LOOP: 100.0, MATRIX: 5.0}


class Line(NamedTuple):
    """What a task came to by each engine, and the limit, if it has one."""

    task: str
    scores: str
    unit: str
    found: Mapping[str, float]
    limit: float | None = None
    least: bool = False

    def cells(self) -> list[str]:
        """The limit is met if it is by the compiled kernel, where there is one."""
        found = [self.found[own] for own in ENGINES_HERE if own in self.found]
        figures = [f"{each:.3g}" for each in found] + [""] * len(ENGINES_HERE)
        cells = [self.task, self.scores, self.unit, *figures[: len(ENGINES_HERE)]]
        if self.limit is None:
            return [*cells, "", ""]
        sign = ">=" if self.least else "<="
        met = found[0] >= self.limit if self.least else found[0] <= self.limit
        return [*cells, f"{sign} {self.limit:g}", "yes" if met else "no"]


class ResolvedMeasures(NamedTuple):
    """What the command line asks for."""

    scale: float
    repeats: int

    def web(self, share: float = 1.0) -> Workload:
        """The documents of most sections, or a share of them, with all scores."""
        return workloads.with_trees(workloads.web(self.scale * share))


Section = Callable[[ResolvedMeasures], Iterator[Line]]


def _by_engine(found: Mapping[str, float], task: str) -> dict[str, float]:
    """What was found of a task by each engine."""
    return {own: found[f"{task} ({own})"] for own in ENGINES_HERE}


def _ratios(found: Mapping[str, float], task: str, of: float) -> dict[str, float]:
    return {own: value / of for own, value in _by_engine(found, task).items()}


def _lines(
    tasks: dict[str, Task],
    repeats: int,
    score: np.ndarray,
    data: Workload,
    kind: str,
    limits: Mapping[str, float],
) -> Iterator[Line]:
    """Ratios of tasks to LightGBM's metric of these scores."""
    found = medians(tasks | {LIGHTGBM: _lightgbm(data, score)}, repeats)
    for task, limit in limits.items():
        ratios = _ratios(found, task, found[LIGHTGBM])
        yield Line(task, kind, "x LightGBM", ratios, limit)


def _lightgbm(data: Workload, score: np.ndarray) -> Task:
    return lightgbm_metric(data.y, data.sizes, score, "ndcg@10")


def prepared_labels(resolved: ResolvedMeasures) -> Iterator[Line]:
    """Means and all statistics of labels that are prepared once."""
    tasks = {
        "NDCG@10": (ONE, {}, (0.22, 0.25, 0.28)),
        "NDCG@10, AP, RR": (THREE, {}, (0.6, 0.85, 0.95)),
        "NDCG@10, AP, RR, all statistics": (
            THREE, {"detail": Detail.DEVIATION}, (0.7, 1.2, 1.3),
        ),
    }  # fmt: skip
    data = resolved.web()
    for at, (kind, score) in enumerate(data.scores.items()):
        made: dict[str, Task] = {}
        for task, (names, options, _) in tasks.items():
            made |= prepared_by_engines(task, data, names, score, **options)
        limits = {task: limits[at] for task, (*_, limits) in tasks.items()}
        yield from _lines(made, resolved.repeats, score, data, kind, limits)


def raw_arrays(resolved: ResolvedMeasures) -> Iterator[Line]:
    """`ranking_score` and `evaluate`, labels and ids checked in each call."""
    limits = {"ranking_score": (0.6, 0.6, 0.6), "evaluate": (1.2, 1.5, 1.6)}
    data = resolved.web()
    for at, (kind, score) in enumerate(data.scores.items()):
        calls: dict[str, Task] = {
            "ranking_score": partial(ranking_score, data.y, score, qid=data.qid),
            "evaluate": partial(evaluate, data.y, score, qid=data.qid),
        }
        made = of_engines(calls)
        own = {name: found[at] for name, found in limits.items()}
        yield from _lines(made, resolved.repeats, score, data, kind, own)


def selector(resolved: ResolvedMeasures) -> Iterator[Line]:
    """The selector's default, per feature: eight columns, half of them discrete."""
    data = workloads.web(resolved.scale / 4)
    X = workloads.columns(len(data.y), 8)
    tasks = of_engines({"selector": _fit(data, X)})
    for kind, score in data.scores.items():
        tasks[kind] = _lightgbm(data, score)
    found = medians(tasks, resolved.repeats)
    per_feature = {own: v / 8 for own, v in _by_engine(found, "selector").items()}
    of = float(np.mean([found[kind] for kind in data.scores]))
    ratios = {own: value / of for own, value in per_feature.items()}
    yield Line("selector, per feature", "mixed", "x LightGBM", ratios, 2.7)


def _fit(data: Workload, X: np.ndarray, **options) -> Task:
    return lambda: RankingFeatureSelector(**options).fit(X, data.y, qid=data.qid)


def order_of_rows(resolved: ResolvedMeasures) -> Iterator[Line]:
    """Ties averaged, against ties broken by the order of the rows."""
    data = workloads.in_degree()
    ((kind, score),) = data.scores.items()
    for name in EVERY:
        tasks = prepared_by_engines("mean", data, [name], score)
        tasks |= prepared_by_engines("input", data, [name], score, order=Order.INPUT)
        found = medians(tasks, resolved.repeats)
        plain = _by_engine(found, "input")
        ratios = {o: v / plain[o] for o, v in _by_engine(found, "mean").items()}
        yield Line(f"exact {name}", kind, "x rows' order", ratios, 1.05)


def threads(resolved: ResolvedMeasures) -> Iterator[Line]:
    """One thread against two: over columns, or over blocks of queries."""
    data = workloads.web(resolved.scale / 4)
    X = workloads.columns(len(data.y), 8)
    score = data.scores["continuous"]
    tasks: dict[str, Task] = {}
    for own in ENGINES_HERE:
        with use_engine(own):
            ranking = PreparedRanking(data.y, data.qid)
        for n in (1, 2):
            calls: dict[str, Task] = {
                "selector": _fit(data, X, n_jobs=n),
                "score_columns": partial(ranking.score_columns, X, n_jobs=n),
                "evaluate": partial(evaluate, data.y, score, qid=data.qid, n_jobs=n),
            }
            for name, call in calls.items():
                tasks[f"{name} {n} ({own})"] = by_engine(own, call)
    found = medians(tasks, resolved.repeats, time.perf_counter)
    for name, limit in (("selector", 1.7), ("score_columns", 1.7), ("evaluate", None)):
        two = _by_engine(found, f"{name} 2")
        ratios = {o: v / two[o] for o, v in _by_engine(found, f"{name} 1").items()}
        kind = "continuous" if name == "evaluate" else "mixed"
        yield Line(f"{name}, two threads", kind, "x faster", ratios, limit, True)


def small_calls(resolved: ResolvedMeasures) -> Iterator[Line]:
    """One call with ten documents, and many columns of a dozen rows."""
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 3, 10).astype(float), rng.integers(0, 4, 10) / 4
    qid, n_calls = np.zeros(10, dtype=int), 200

    def repeated(call: Callable[[], object]) -> Task:
        def task() -> None:
            for _ in range(n_calls):
                call()

        return task

    made: dict[str, Task] = {}
    for own in ENGINES_HERE:
        with use_engine(own):
            ranking = PreparedRanking(y, qid)
        calls: dict[str, Callable[[], object]] = {
            "PreparedRanking.score": partial(ranking.score, score),
            "ranking_score": partial(ranking_score, y, score, qid=qid),
            "evaluate": partial(evaluate, y, score, qid=qid),
        }
        for name, call in calls.items():
            made[f"{name} ({own})"] = by_engine(own, repeated(call))
    made["scikit-learn"] = repeated(lambda: ndcg_score(y[None], score[None], k=10))
    found = medians(made, resolved.repeats)
    for name, limit in zip(calls, (0.08, 0.2, 0.35), strict=True):
        ratios = _ratios(found, name, found["scikit-learn"])
        yield Line(f"{name}, 10 documents", "discrete", "x ndcg_score", ratios, limit)
    few = workloads.few_rows()
    X = np.column_stack(list(few.scores.values()))
    own = medians(
        of_engines({"": _fit(few, X, redundancy=False, max_correlation=None)}),
        resolved.repeats,
    )
    each = {k: 1e6 * v / X.shape[1] for k, v in _by_engine(own, "").items()}
    yield Line("selector, per feature of 12 rows", "discrete", "µs", each)


def other_tools(resolved: ResolvedMeasures) -> Iterator[Line]:
    """Other tools: how many times as long as NDCG@10 of ours, prepared, they take."""
    data = workloads.web(resolved.scale / 4)
    few = 200
    rows = int(data.sizes[:few].sum())
    for kind, score in data.scores.items():
        xgboost = xgboost_metric(data.y, data.sizes, score, "ndcg@10")
        others = {
            "XGBoost ndcg@10": (xgboost, len(data.y)),
            LOOP: (sklearn_loop(data, score, few), rows),
        }
        yield from _beside(data, kind, score, others, resolved.repeats)
    lists = workloads.matrix()
    for kind, score in lists.scores.items():
        others = {MATRIX: (sklearn_matrix(lists, score), len(lists.y))}
        yield from _beside(lists, kind, score, others, resolved.repeats)


def _beside(
    data: Workload,
    kind: str,
    score: np.ndarray,
    others: Mapping[str, tuple[Task, int]],
    repeats: int,
) -> Iterator[Line]:
    """Other tools against NDCG@10 of ours, by the document."""
    tasks = {name: task for name, (task, _) in others.items()}
    tasks |= prepared_by_engines("", data, ONE, score)
    found = medians(tasks, repeats)
    ours = _by_engine(found, "")
    for name, (_, n) in others.items():
        each = found[name] / n
        ratios = {own: each * len(data.y) / value for own, value in ours.items()}
        shown = f"{data.name}, {kind}"
        yield Line(name, shown, "x ours", ratios, SLOW.get(name), True)


def one_query(resolved: ResolvedMeasures) -> Iterator[Line]:
    """One query of a million documents."""
    data = workloads.one_query()
    for kind, score in data.scores.items():
        tasks = prepared_by_engines("", data, ["ndcg@10", "ap"], score)
        found = _by_engine(medians(tasks, min(resolved.repeats, 3)), "")
        each = {own: 1e9 * value / len(data.y) for own, value in found.items()}
        yield Line("one query, NDCG@10 and AP", kind, "ns/document", each)


def files_of_trec(resolved: ResolvedMeasures) -> Iterator[Line]:
    """TREC files: a million lines read, of one run and of ten."""
    n_topics, n_runs = 100, 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = trec_files.write_run(folder / "one", n_runs * n_topics)
        qrels = trec_files.write_qrels(folder / "qrels", n_topics)
        runs = [
            trec_files.write_run(folder / f"run{seed}", n_topics, seed)
            for seed in range(n_runs)
        ]
        tasks: dict[str, Task] = {
            "load_run": partial(load_run, one),
            "load_trec": partial(load_trec, qrels, runs),
        }
        found = medians(tasks, min(resolved.repeats, 3))
    for task, kind in (("load_run", "one run"), ("load_trec", "ten runs")):
        yield Line(task, kind, "s", dict.fromkeys(ENGINES_HERE, found[task]), 3.0)


def files_of_letor(resolved: ResolvedMeasures) -> Iterator[Line]:
    """LETOR text of 50 MB read, beside scikit-learn, which leaves out the query ids."""
    other = "load_svmlight_file"
    with tempfile.TemporaryDirectory() as name:
        path = write_letor(Path(name, "text"), 420)
        megabytes = path.stat().st_size / 1e6
        calls: dict[str, Task] = {
            "load_letor": partial(load_letor, path),
            "iter_batches": lambda: sum(len(b.qid) for b in iter_batches(path)),
        }
        tasks = {**calls, other: partial(load_svmlight_file, str(path))}
        found = medians(tasks, min(resolved.repeats, 3))
    for task in calls:
        for unit, value, goal in (
            ("MB/s", megabytes / found[task], None),
            (f"x {other}", found[task] / found[other], 1.3),
        ):
            each = dict.fromkeys(ENGINES_HERE, value)
            yield Line(task, "136 features", unit, each, goal)


def files_of_tables(resolved: ResolvedMeasures) -> Iterator[Line]:
    """Tables read, whole and in batches, beside pyarrow, which makes no matrix."""
    rng = np.random.default_rng(0)
    for n, n_columns in ((10**6, 20), (10**4, 1000)):
        columns: dict[str, object] = {
            str(j): np.round(rng.random(n), 3) for j in range(n_columns)
        }
        columns |= {"label": rng.integers(0, 3, n), "qid": np.arange(n) // 100}
        with tempfile.TemporaryDirectory() as name:
            table, folder = pa.table(columns), Path(name)
            csv.write_csv(table, folder / "a.csv")
            parquet.write_table(table, folder / "a.parquet", row_group_size=n // 10)
            for path, read, batches in (
                (folder / "a.csv", csv.read_csv, csv.open_csv),
                (folder / "a.parquet", parquet.read_table, _row_groups),
            ):
                tasks: dict[str, Task] = {
                    "load_table": partial(load_table, path),
                    "of load_table": partial(read, path),
                    "iter_batches": partial(_exhaust, iter_batches, path),
                    "of iter_batches": partial(_exhaust, batches, path),
                }
                found = medians(tasks, min(resolved.repeats, 3))
                kind = f"{path.suffix}, {n} x {n_columns}"
                for task in ("load_table", "iter_batches"):
                    ratio = found[task] / found[f"of {task}"]
                    yield Line(
                        task, kind, "x pyarrow", dict.fromkeys(ENGINES_HERE, ratio)
                    )


def _row_groups(path: Path) -> Iterator[object]:
    with parquet.ParquetFile(path) as file:
        yield from file.iter_batches()


def _exhaust(batches: Callable[[Path], Iterable[object]], path: Path) -> None:
    for _ in batches(path):
        pass


def shapes_that_were_slow(resolved: ResolvedMeasures) -> Iterator[Line]:
    """Realistic shapes that once fell off a cliff."""
    for row, ratio in cliffs.rows(resolved.repeats):
        ratios = dict.fromkeys(ENGINES_HERE[:1], ratio)
        yield Line(row.task, "", row.unit, ratios, row.goal)


SECTIONS: dict[str, Section] = {
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
