"""CPU time of this tree as a ratio to another commit, both timed in turns.

The other commit is checked out into a temporary folder, and its kernel is built there.
Each tree has a worker process, which makes the same workload and runs one task when it
is told to. So the trees alternate within one run, and what else the machine does slows
both. The tasks call public names alone, because they must run in both trees.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
ONE = "ndcg@10"
THREE = ["ndcg@10", "ap", "rr"]
THREE_AT_10 = ["p@10", "ap@10", "rr@10"]
#: Least seconds of CPU of a turn: the clock is too coarse for less.
LEAST_SECONDS = 0.1
SECTIONS = {
    "prepared": "Labels that are prepared once, by PreparedRanking.",
    "raw": "ranking_score, labels and ids checked in each call.",
    "evaluate": "evaluate with its three measures.",
    "selector": "RankingFeatureSelector on eight columns, half of them discrete.",
    "small": "Ten documents a call.",
    "long": "Lists of 10,000 documents, cut at 10.",
}


class Task(NamedTuple):
    """A call that is timed, and its names in the table."""

    section: str
    name: str
    scores: str
    call: Callable[[], object]


class Ratio(NamedTuple):
    """CPU time of this tree over the CPU time of the base, by turns."""

    section: str
    name: str
    scores: str
    ratios: list[float]

    def cells(self) -> list[str]:
        cells = [self.section, self.name, self.scores]
        for statistic in (median, min, max):
            ratio = statistic(self.ratios)
            cells.append(f"{ratio:.3f}")
        return cells


# -- in the process of a tree


def web_tasks(scale: float) -> Iterator[Task]:
    """Yield the tasks on documents as MSLR-WEB30K has them."""
    from benchmarks import workloads
    from tieaware_sklearn import PreparedRanking, evaluate, ranking_score

    web = workloads.web_with_trees(scale)
    ranking = PreparedRanking(web.y, web.qid)
    for kind, score in web.scores.items():
        call = partial(ranking.score, score, ONE)
        yield Task("prepared", "NDCG@10", kind, call)
        call = partial(ranking.evaluate, score, THREE)
        yield Task("prepared", "NDCG@10, AP, RR", kind, call)
        call = partial(ranking_score, web.y, score, qid=web.qid)
        yield Task("raw", "ranking_score", kind, call)
        call = partial(evaluate, web.y, score, qid=web.qid)
        yield Task("evaluate", "evaluate", kind, call)


def selector_tasks(scale: float) -> Iterator[Task]:
    """Yield a screening of columns, which costs as much as eight rankings."""
    from benchmarks import workloads
    from tieaware_sklearn import RankingFeatureSelector

    web = workloads.web(scale / 4)
    X = workloads.columns(len(web.y), 8)
    selector = RankingFeatureSelector(THREE)
    call = partial(selector.fit, X, web.y, web.qid)
    yield Task("selector", "fit", "mixed", call)


def small_tasks(scale: float) -> Iterator[Task]:
    """Yield calls with ten documents, whatever the scale."""
    from tieaware_sklearn import PreparedRanking, evaluate, ranking_score

    y = np.array([0.0, 1, 0, 2, 0, 0, 1, 0, 0, 1])
    score = np.array([1, 1, 2, 3, 0, 0, 2, 2, 1, 0]) / 4
    qid = np.zeros(10, dtype=int)
    ranking = PreparedRanking(y, qid)
    call = partial(ranking.score, score)
    yield Task("small", "PreparedRanking.score", "discrete", call)
    for function in (ranking_score, evaluate):
        call = partial(function, y, score, qid=qid)
        yield Task("small", function.__name__, "discrete", call)


def long_tasks(scale: float) -> Iterator[Task]:
    """Yield measures at a cut-off of long lists."""
    from benchmarks import workloads
    from tieaware_sklearn import PreparedRanking

    n_queries = max(int(150 * scale), 10)
    lists = workloads.matrix(n_queries, 10_000)
    ranking = PreparedRanking(lists.y, lists.qid)
    measures_of = {"NDCG@10": [ONE], "P, AP, RR @10": THREE_AT_10}
    for kind, score in lists.scores.items():
        for name, measures in measures_of.items():
            call = partial(ranking.evaluate, score, measures)
            yield Task("long", name, kind, call)


def make_tasks(sections: list[str], scale: float) -> list[Task]:
    """Return the tasks of these sections, with the data that they need."""
    makers = {
        web_tasks: {"prepared", "raw", "evaluate"},
        selector_tasks: {"selector"},
        small_tasks: {"small"},
        long_tasks: {"long"},
    }
    tasks = []
    for maker, sections_of_maker in makers.items():
        # The data of other sections would take time to make.
        if sections_of_maker.isdisjoint(sections):
            continue
        for task in maker(scale):
            if task.section in sections:
                tasks.append(task)
    return tasks


def engine() -> str:
    """Return the engine that runs, as bug reports show it."""
    from tieaware_sklearn import show_versions

    with contextlib.redirect_stdout(io.StringIO()) as output:
        show_versions()
    text = output.getvalue()
    versions = dict(line.split(maxsplit=1) for line in text.splitlines())
    return versions["engine"]


def serve(sections: list[str], scale: float) -> None:
    """Answer on standard output: names of tasks first, then CPU seconds of each run.

    A line of the input contains the number of a task, and how often to run the task.
    """
    import tieaware_sklearn

    answers = sys.stdout
    # What tasks print must not be read as an answer.
    sys.stdout = sys.stderr
    tasks = make_tasks(sections, scale)
    names = [[task.section, task.name, task.scores] for task in tasks]
    about = {"file": tieaware_sklearn.__file__, "engine": engine(), "tasks": names}
    print(json.dumps(about), file=answers, flush=True)
    for line in sys.stdin:
        number, times = map(int, line.split())
        call = tasks[number].call
        start = time.process_time()
        for _ in range(times):
            call()
        seconds = time.process_time() - start
        print(seconds, file=answers, flush=True)


# -- in the process that compares


class Worker:
    """A process that runs the tasks with the package of a tree."""

    def __init__(self, tree: Path, sections: list[str], scale: float):
        code = f"from benchmarks import against; against.serve({sections!r}, {scale!r})"
        command = [sys.executable, "-c", code]
        # The folder of the process comes before PYTHONPATH, so its package is imported.
        # The benchmarks come from this tree, because the base contains none.
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=tree, env=environment, **pipes)
        about = json.loads(self._answer())
        package = Path(about["file"]).parent
        if package != tree / "tieaware_sklearn":
            raise RuntimeError(f"the worker of {tree} imported {package}")
        self.engine: str = about["engine"]
        self.tasks: list[list[str]] = about["tasks"]

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a worker ended early; its error is above")
        return line

    def seconds(self, task: int, times: int) -> float:
        """Run a task and return the CPU seconds of one call."""
        assert self.process.stdin is not None
        print(task, times, file=self.process.stdin, flush=True)
        return float(self._answer()) / times

    def close(self) -> None:
        self.process.communicate()


def check_out(commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder, and build its kernel there."""
    archive = subprocess.check_output(["git", "archive", commit], cwd=ROOT)
    unpack = ["tar", "--extract", "--exclude=benchmarks", "--directory", str(folder)]
    subprocess.run(unpack, input=archive, check=True)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(build, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def ratios(
    commit: str, sections: list[str], scale: float, repeats: int
) -> Iterator[Ratio]:
    """Yield a ratio for each task, after one round that is not counted."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        base_tree = Path(name).resolve()
        check_out(commit, base_tree)
        this = Worker(ROOT.resolve(), sections, scale)
        stack.callback(this.close)
        base = Worker(base_tree, sections, scale)
        stack.callback(base.close)
        if (this.engine, this.tasks) != (base.engine, base.tasks):
            raise RuntimeError(
                f"engines and tasks must be equal, got {this.engine}: {this.tasks} and "
                f"{base.engine}: {base.tasks}"
            )
        for number, (section, task, scores) in enumerate(this.tasks):
            seconds = min(this.seconds(number, 1), base.seconds(number, 1))
            times = math.ceil(LEAST_SECONDS / max(seconds, 1e-6))
            turn_ratios = []
            for turn in range(repeats):
                # The trees take turns to be first.
                if turn % 2:
                    this_seconds = this.seconds(number, times)
                    base_seconds = base.seconds(number, times)
                else:
                    base_seconds = base.seconds(number, times)
                    this_seconds = this.seconds(number, times)
                turn_ratios.append(this_seconds / base_seconds)
            yield Ratio(section, task, scores, turn_ratios)
