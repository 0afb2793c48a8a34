"""How fast exact measures are: ``python -m benchmarks``.

Every figure is a ratio of medians of runs that take turns in one process on one
thread (but for the threads themselves), so that a noisy machine shifts both sides.
Libraries that are not installed are left out; ``--json FILE`` writes the figures.
"""

from __future__ import annotations

import argparse
import ast
import json
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from joblib import parallel_config
from sklearn.metrics import ndcg_score

from benchmarks import competitors, workloads
from benchmarks.tables import format_table
from benchmarks.timing import Task, medians
from benchmarks.workloads import Workload
from tieaware_sklearn import PreparedRanking, RankingFeatureSelector, ranking_score
from tieaware_sklearn._engine.validation import check_qid
from tieaware_sklearn.evaluation._labelled_queries import LabelledQueries
from tieaware_sklearn.lightgbm import feval
from tieaware_sklearn.measures._parse import parse_measures

LEAST_REPEATS = 3


class Line(NamedTuple):
    """A target: what is compared with what, the limit, and the ratio found."""

    what: str
    of: str
    ratio: float
    limit: float
    least: bool = False

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.limit if self.least else self.ratio <= self.limit

    def cells(self) -> list[str]:
        sign = ">=" if self.least else "<="
        return [
            self.what,
            self.of,
            f"{self.ratio:.2f}",
            f"{sign} {self.limit:g}",
            "yes" if self.is_met else "no",
        ]


def prepared(data: Workload, names: list[str], score: np.ndarray, **options) -> Task:
    """Ours on labels that are prepared once, as LightGBM and XGBoost have them."""
    queries = check_qid(data.qid, n_rows=len(data.y))
    labelled = LabelledQueries(data.y, queries, keep=True)
    measures = parse_measures(names)
    options = {"statistics": ("expected",), **options}
    return lambda: labelled.values(measures, score, **options)


def lightgbm_metric(data: Workload, score: np.ndarray, metric: str) -> Task:
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


def packed_keys(data: Workload, score: np.ndarray) -> np.ndarray:
    """Score and label of each document in one integer, as our own sort has them."""
    low = np.int64(7)
    return (score.view(np.int64) & ~low) | data.y.astype(np.int64)


def sklearn_loop(data: Workload, score: np.ndarray, n_queries: int) -> Task:
    ends = np.cumsum(data.sizes)[:n_queries]
    parts = [slice(e - n, e) for e, n in zip(ends, data.sizes, strict=False) if n > 1]

    def loop() -> None:
        for part in parts:
            ndcg_score(data.y[None, part], score[None, part], k=10)

    return loop


def sklearn_matrix(data: Workload, score: np.ndarray, shape: tuple[int, int]) -> Task:
    """One call for the first documents of queries that have so many."""
    n_queries, n_documents = shape
    first = (np.cumsum(data.sizes) - data.sizes)[data.sizes >= n_documents]
    rows = first[:n_queries, None] + np.arange(n_documents)
    y, scores = data.y[rows], score[rows]
    return lambda: ndcg_score(y, scores, k=10)


def against_others(data: Workload, repeats: int) -> tuple[list[Line], list[list[str]]]:
    """Workload (a): the metrics of LightGBM, XGBoost, scikit-learn, and a sort."""
    lines: list[Line] = []
    table: list[list[str]] = []
    n, few, shape = len(data.y), 200, (1000, 100)
    rows = {
        "scikit-learn ndcg_score": int(data.sizes[:few].sum()),
        "scikit-learn, one 2-D call": shape[0] * shape[1],
    }
    for kind, score in data.scores.items():
        keys = packed_keys(data, score)
        three = ["ndcg@10", "ap", "rr"]
        tasks = {
            "LightGBM ndcg@10": lightgbm_metric(data, score, "ndcg"),
            "LightGBM map@10": lightgbm_metric(data, score, "map"),
            "XGBoost ndcg@10": xgboost_metric(data, score, "ndcg@10"),
            "scikit-learn ndcg_score": sklearn_loop(data, score, few),
            "scikit-learn, one 2-D call": sklearn_matrix(data, score, shape),
            "np.sort of the keys": lambda keys=keys: np.sort(keys),
            "NDCG@10": prepared(data, ["ndcg@10"], score),
            "NDCG@10, AP, RR": prepared(data, three, score),
            "AP": prepared(data, ["ap"], score),
            "ranking_score NDCG@10": lambda score=score: ranking_score(
                data.y, score, qid=data.qid, measure="ndcg@10"
            ),
        }
        seconds = medians(tasks, repeats)
        per_document = {
            name: 1e9 * value / rows.get(name, n) for name, value in seconds.items()
        }
        table += [[name, kind, f"{value:.1f}"] for name, value in per_document.items()]

        def line(
            what: str,
            of: str,
            limit: float,
            found: dict[str, float] = per_document,
            kind: str = kind,
        ) -> Line:
            return Line(f"{what}, {kind}", of, found[what] / found[of], limit)

        lines += [
            line("NDCG@10", "LightGBM ndcg@10", 0.6),
            line("NDCG@10", "XGBoost ndcg@10", 0.5),
            line("NDCG@10, AP, RR", "LightGBM ndcg@10", 1.0),
            line("NDCG@10", "np.sort of the keys", 4.0),
        ]
        for theirs, at_least in zip(rows, (100, 5), strict=True):
            slow = per_document[theirs] / per_document["NDCG@10"]
            lines.append(Line(theirs, f"NDCG@10, {kind}", slow, at_least, True))
    return lines, table


def against_plain(data: Workload, repeats: int) -> list[Line]:
    """Workload (b): ties averaged against ties broken by the order of rows."""
    lines = []
    for kind, score in data.scores.items():
        for name in ("p@10", "r@10", "ndcg@10", "ap", "rr", "rbp", "rprec"):
            seconds = medians(
                {
                    "expected": prepared(data, [name], score),
                    "input": prepared(data, [name], score, input_order=True),
                },
                repeats,
            )
            ratio = seconds["expected"] / seconds["input"]
            lines.append(Line(name, f"rows' order, {kind}", ratio, 1.05))
    return lines


def scaling(repeats: int) -> list[Line]:
    """ns a document from 10^5 to 10^7 documents."""
    found = []
    for scale in (0.027, 0.27, 2.7):
        data = workloads.web(scale)
        task = prepared(data, ["ndcg@10"], data.scores["continuous"])
        found.append(medians({"": task}, repeats)[""] / len(data.y))
    return [Line("ns/document, slowest size", "fastest", max(found) / min(found), 1.5)]


def screening(repeats: int) -> list[Line]:
    """Workload (e): two threads, or two processes, screen columns."""
    n_queries = 2000
    data, X = workloads.web(n_queries / 31_531), workloads.columns(n_queries)

    def screen(backend: str, n_jobs: int) -> Task:
        selector = RankingFeatureSelector(
            n_jobs=n_jobs, redundancy=False, max_correlation=None
        )

        def task() -> None:
            with parallel_config(backend=backend, n_jobs=n_jobs):
                selector.fit(X, data.y, qid=data.qid)

        return task

    tasks = {"one": screen("threading", 1), "two threads": screen("threading", 2)}
    tasks["two processes"] = screen("loky", 2)
    seconds = medians(tasks, max(repeats - 2, 1))
    return [
        Line("screening, alone", of, seconds["one"] / seconds[of], 1.7, True)
        for of in ("two threads", "two processes")
    ]


def few_rows(repeats: int) -> list[Line]:
    """Workload (f): many columns of a dozen rows, against one call for each column."""
    data = workloads.few_rows()
    X = np.column_stack(list(data.scores.values()))
    selector = RankingFeatureSelector(redundancy=False, max_correlation=None)
    ranking = PreparedRanking(data.y, data.qid)

    def one_by_one() -> None:
        for column in X.T:
            ranking.evaluate(column)

    tasks = {
        "selector": lambda: selector.fit(X, data.y, qid=data.qid),
        "evaluate": one_by_one,
    }
    seconds = medians(tasks, repeats)
    ratio = seconds["selector"] / seconds["evaluate"]
    return [Line("screening 12 rows", "evaluate, a call a column", ratio, 0.1)]


def memory(data: Workload) -> list[Line]:
    """What is allocated above inputs and outputs, at the most."""
    score = data.scores["continuous"]
    tracemalloc.start()
    ranking_score(data.y, score, qid=data.qid, measure="ndcg@10", average=None)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return [Line("extra memory", "MB", peak, 64)]


def boosting(repeats: int) -> str:
    """What metrics cost in training, one evaluation of all rows after each tree."""
    data = workloads.web(0.03)
    rng = np.random.default_rng(0)
    X = np.column_stack([*data.scores.values(), rng.normal(size=(len(data.y), 10))])
    base = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}

    def train(metric: str, **options: object) -> Task:
        def task() -> None:
            rows = lgb.Dataset(X, data.y, group=data.sizes)
            same = lgb.Dataset(X, data.y, group=data.sizes, reference=rows)
            params = {**base, "metric": metric, "eval_at": [10]}
            lgb.train(params, rows, 20, valid_sets=[same], **options)

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


def other_programs() -> str:
    """What else can be run here, a line each, by the first line of its docstring."""
    folder = Path(__file__).parent
    lines = ["other programs, python -m benchmarks.NAME:"]
    for path in [*sorted(folder.glob("*.py")), *sorted(folder.glob("*/*.py"))]:
        module = ast.parse(path.read_text(encoding="utf-8"))
        if isinstance(module.body[-1], ast.If) and path != Path(__file__):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            what = (ast.get_docstring(module) or "").partition("\n")[0]
            lines.append(f"  {name:<24} {what}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=other_programs(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of workload (a)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    repeats = max(arguments.repeats, LEAST_REPEATS)
    data = workloads.web(arguments.scale)
    print(f"{len(data.y)} documents, {len(data.sizes)} queries, one thread\n")
    lines, table = against_others(data, repeats)
    lines += memory(data)
    lines += against_plain(workloads.in_degree(), repeats)
    for other in (workloads.trec(), workloads.one_query()):
        for kind, score in other.scores.items():
            tasks = {f"{other.name}: NDCG@10": prepared(other, ["ndcg@10"], score)}
            tasks[f"{other.name}: NDCG@10, AP"] = prepared(
                other, ["ndcg@10", "ap"], score
            )
            if other.name == "TREC":
                tasks |= competitors.tools(other, score)
            for name, value in medians(tasks, LEAST_REPEATS).items():
                table.append([name, kind, f"{1e9 * value / len(other.y):.1f}"])
    lines += screening(repeats)
    lines += few_rows(repeats)
    lines += scaling(LEAST_REPEATS)
    print(format_table(["task", "scores", "ns/document"], table, left=2))
    header = ["what", "against", "ratio", "target", "met"]
    print("\n" + format_table(header, [line.cells() for line in lines], left=2))
    print("\n" + boosting(LEAST_REPEATS))
    if arguments.json is not None:
        document = {
            "documents": len(data.y),
            "ns_per_document": [dict(zip(("task", "scores", "ns"), r)) for r in table],  # noqa: B905
            "targets": [{**line._asdict(), "met": line.is_met} for line in lines],
        }
        arguments.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
