"""How much exactness costs: ``python -m benchmarks``.

Every figure is a ratio of medians of runs that take turns in one process on one
thread, so that a noisy machine shifts both sides.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import lightgbm as lgb
import numpy as np
from sklearn.metrics import ndcg_score
from sklearn.utils import Bunch

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn._text import format_table
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import feval

Task = Callable[[], object]


def medians(tasks: dict[str, Task], repeats: int) -> dict[str, float]:
    """Median seconds of each task, the tasks taking turns."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def sample_of_queries(qid: np.ndarray, n: int) -> list[slice]:
    """Rows of the first `n` queries of at least two documents."""
    starts = np.flatnonzero(np.diff(qid, prepend=0))
    ends = np.append(starts[1:], len(qid))
    return [slice(a, b) for a, b in zip(starts, ends, strict=True) if b - a > 1][:n]


def boosting(web: Bunch, repeats: int) -> str:
    """What metrics cost in training, one evaluation of all rows after each tree."""
    sizes = np.unique(web.qid, return_counts=True)[1]
    base = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}

    def train(metric: str, **options: object) -> Task:
        def task() -> None:
            data = lgb.Dataset(web.data, web.target, group=sizes)
            same = lgb.Dataset(web.data, web.target, group=sizes, reference=data)
            params = {**base, "metric": metric, "eval_at": [10]}
            lgb.train(params, data, 20, valid_sets=[same], **options)

        return task

    tasks = {
        "no metric": train("None"),
        "LightGBM ndcg@10": train("ndcg"),
        "feval: ndcg@10": train("None", feval=feval("ndcg@10")),
        "feval: ndcg@10, ap, rr": train("None", feval=feval(["ndcg@10", "ap", "rr"])),
    }
    seconds = medians(tasks, repeats)
    rows = [
        [name, f"{value:.2f}", f"{value / seconds['no metric']:.2f}"]
        for name, value in seconds.items()
    ]
    return format_table(["20 trees, evaluated by", "seconds", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    web = make_web_search(n_queries=arguments.queries, n_documents=120, random_state=0)
    y, qid = web.target, web.qid
    few = sample_of_queries(qid, 200)
    rows = []
    for name in ("clicks", "text_score"):
        score = web.data[:, web.feature_names.index(name)]
        keys = score.view(np.int64).copy()

        def loop(score: np.ndarray = score) -> None:
            for part in few:
                ndcg_score(y[None, part], score[None, part], k=10)

        def ours(measure: str, ties: str, score: np.ndarray = score) -> Task:
            return lambda: ranking_score(y, score, qid=qid, measure=measure, ties=ties)

        tasks: dict[str, Task] = {
            "np.sort of the scores": lambda keys=keys: np.sort(keys),
            "scikit-learn ndcg_score": loop,
            "evaluate: ndcg@10, ap, rr": lambda score=score: evaluate(
                y, score, qid=qid
            ),
        }
        for measure in ("ndcg@10", "ap", "rr"):
            tasks[f"{measure} in row order"] = ours(measure, "input")
            tasks[f"{measure} expected"] = ours(measure, "expected")
        seconds = medians(tasks, arguments.repeats)
        few_rows = sum(part.stop - part.start for part in few)
        for task, value in seconds.items():
            documents = few_rows if "scikit-learn" in task else len(y)
            base = seconds.get(task.replace("expected", "in row order"))
            ratio = f"{value / base:.2f}" if task.endswith("expected") else ""
            rows.append([task, name, f"{1e9 * value / documents:.0f}", ratio])
    print(f"{len(y)} documents, {arguments.queries} queries, one thread\n")
    print(format_table(["task", "scores", "ns/document", "expected / plain"], rows))
    print("\n" + boosting(web, min(arguments.repeats, 3)))


if __name__ == "__main__":
    main()
