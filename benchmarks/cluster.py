"""What a document and a partition cost on a Dask cluster, and on one process alone.

``python -m benchmarks.cluster``: two worker processes of one thread each read Parquet
files whose rows stand in any order, bring the rows of each query together and measure
them; parts of that are timed alone, as core-nanoseconds per document, and extrapolated
to a billion documents. One process then does the same without Dask, batch by batch, and
the CPU time of both is compared. Nothing here sees a network: the shuffle goes through
the loopback of one machine.

``--documents 3e7`` needs about .7 GB on disk, and 1e8 2.5 GB; files are written one by
one, each from its own seed. ``--tmp`` is where they go, ``--runs 1`` is enough then.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from dask import dataframe as dd
from distributed import Client, LocalCluster

from benchmarks import workloads
from benchmarks.tables import format_table
from tieaware_sklearn import RankingFeatureSelector, evaluate_batches
from tieaware_sklearn.dask import evaluate, fit_selector

WORKERS = 2
#: Documents of a file: a partition of the size that the guide advises.
PER_FILE = 1_000_000
BILLION = 10**9
#: Partitions of one query, which cost next to nothing besides their fixed costs.
SMALL = 200
FEATURES = ["continuous", "discrete"]
#: Columns that `evaluate` reads.
THREE_COLUMNS = ["continuous", "label", "qid"]
OPTIONS = {"score": "continuous", "measures": ["ndcg@10", "ap", "rr"]}
ALONE = "alone: "

Task = Callable[[], object]


class Cost(NamedTuple):
    """Seconds of a task by the clock and by all CPUs, and bytes of one process."""

    seconds: float
    cpu: float
    peak: float


def write(folder: Path, documents: int, *, mixed: bool) -> tuple[int, int]:
    """Write Parquet files, by query or in any order; return their rows and bytes."""
    folder.mkdir()
    n_files = max(round(documents / PER_FILE), WORKERS)
    n_queries = 0
    n_rows = 0
    size = 0
    carried = []
    for i in range(n_files):
        data = workloads.web(documents / n_files / 3.7e6, seed=i)
        frame = pd.DataFrame(data.scores)
        frame["label"] = data.y
        frame["qid"] = data.qid + n_queries
        n_queries += len(data.sizes)
        n_rows += len(frame)
        if mixed:
            frame = frame.sample(frac=1, random_state=i, ignore_index=True)
            end = len(frame)
            if i + 1 < n_files:
                # Half of the rows go into the next file, so that queries are cut.
                end //= 2
            parts = [*carried, frame[:end]]
            carried = [frame[end:]]
            frame = pd.concat(parts)
        path = folder / f"{i:05}.parquet"
        frame.to_parquet(path, index=False)
        size += path.stat().st_size
    return n_rows, size


def forget_peak() -> None:
    with suppress(OSError):  # elsewhere than on Linux
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return bytes since the last call of `forget_peak`; 0 if they are not known."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        peak = re.search(r"VmHWM:\s*(\d+)", status)
        if peak is not None:
            return int(peak[1]) * 1024.0
    return 0.0


def cost_on_cluster(client: Client, task: Task) -> Cost:
    """Return a cost without the CPU of the client and the scheduler."""
    client.run(forget_peak)
    cpu_before = sum(client.run(time.process_time).values())
    start = time.perf_counter()
    task()
    seconds = time.perf_counter() - start
    cpu = sum(client.run(time.process_time).values()) - cpu_before
    peak = max(client.run(peak_memory).values())
    return Cost(seconds, cpu, peak)


def cost_alone(task: Task) -> Cost:
    """Return the cost in this process."""
    forget_peak()
    cpu_before = time.process_time()
    start = time.perf_counter()
    task()
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu_before
    return Cost(seconds, cpu, peak_memory())


def median_cost(runs: int, measure: Callable[[Task], Cost], task: Task) -> Cost:
    """Return the median by the clock of runs after a first run, or of a single run."""
    if runs > 1:
        measure(task)
    costs = [measure(task) for _ in range(runs)]
    return sorted(costs)[runs // 2]


def batches(folder: Path, columns: list[str]) -> Iterator[Any]:
    """Yield the tables of files of whole queries."""
    for path in sorted(folder.iterdir()):
        yield pq.read_table(path, columns=columns)


def selector() -> RankingFeatureSelector:
    return RankingFeatureSelector(redundancy=False, max_correlation=None)


def fit_on_cluster(frame: Any) -> None:
    fit_selector(selector(), frame, shuffle=False)


def evaluate_alone(folder: Path) -> None:
    evaluate_batches(batches(folder, THREE_COLUMNS), **OPTIONS)


def fit_alone(folder: Path) -> None:
    columns = [*FEATURES, "label", "qid"]
    selector().fit_batches(batches(folder, columns))


def tasks_of_cluster(folder: Path) -> dict[str, Task]:
    mixed = dd.read_parquet(folder / "mixed")
    whole = dd.read_parquet(folder / "whole")
    lengths = whole[THREE_COLUMNS].map_partitions(len)
    evaluate_whole = partial(evaluate, whole, shuffle=False, **OPTIONS)
    return {
        "read three columns": lengths.compute,
        "evaluate, queries whole": evaluate_whole,
        "evaluate, rows anywhere": partial(evaluate, mixed, **OPTIONS),
        "fit_selector, per feature": partial(fit_on_cluster, whole),
    }


def tasks_alone(folder: Path) -> dict[str, Task]:
    whole = folder / "whole"
    return {
        "evaluate, queries whole": partial(evaluate_alone, whole),
        "fit_selector, per feature": partial(fit_alone, whole),
    }


def tasks_of_partitions() -> dict[str, Task]:
    """Return tasks on partitions of one query of two documents."""
    query = pd.DataFrame()
    query["continuous"] = [0.5, 1.0]
    query["discrete"] = [1.0, 2.0]
    query["label"] = [0.0, 1.0]
    meta = query.assign(qid=0)[:0]
    qids = np.arange(SMALL)
    frame = dd.from_map(lambda qid: query.assign(qid=qid), qids, meta=meta)
    evaluate_whole = partial(evaluate, frame, shuffle=False, **OPTIONS)
    return {
        "partition, evaluate": evaluate_whole,
        "partition, evaluate with a shuffle": partial(evaluate, frame, **OPTIONS),
        "partition, fit_selector": partial(fit_on_cluster, frame),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--documents", type=float, default=1e7, help="default: 1e7")
    parser.add_argument("--runs", type=int, default=3, help="of each task")
    parser.add_argument("--tmp", help="a folder with room for the files")
    arguments = parser.parse_args()
    runs = arguments.runs
    costs = {}
    fixed_costs = {}
    with tempfile.TemporaryDirectory(dir=arguments.tmp) as name:
        folder = Path(name)
        documents = int(arguments.documents)
        n, size = write(folder / "whole", documents, mixed=False)
        # These tasks come first, while the memory of this process is that of one task.
        for task, call in tasks_alone(folder).items():
            costs[ALONE + task] = median_cost(runs, cost_alone, call)
        write(folder / "mixed", documents, mixed=True)
        options = {"host": "127.0.0.1", "dashboard_address": None}
        with (
            LocalCluster(n_workers=WORKERS, threads_per_worker=1, **options) as cluster,
            Client(cluster) as client,
        ):
            measure = partial(cost_on_cluster, client)
            for task, call in tasks_of_cluster(folder).items():
                costs[task] = median_cost(runs, measure, call)
            for task, call in tasks_of_partitions().items():
                fixed_costs[task] = median_cost(3, measure, call)
    print('"alone" is one process without Dask; queries are whole in each file')
    print(f"{n} documents in {size / 2**20:.0f} MB of Parquet, {WORKERS} workers\n")
    print_costs(costs, n)
    print("\nwhat each costs beside its rows\n")
    rows = []
    for task, cost in fixed_costs.items():
        milliseconds = 1e3 * cost.seconds / SMALL
        cpu_milliseconds = 1e3 * cost.cpu / SMALL
        rows.append([task, f"{milliseconds:.1f}", f"{cpu_milliseconds:.1f}"])
    print(format_table(["", "ms", "CPU ms"], rows))


def print_costs(costs: dict[str, Cost], n: int) -> None:
    """Print the costs of a document, and those of tasks on n documents."""
    document_rows = []
    task_rows = []
    for task, cost in costs.items():
        n_cores = 1 if task.startswith(ALONE) else WORKERS
        n_features = len(FEATURES) if "per feature" in task else 1
        core_seconds = cost.seconds * n_cores / n / n_features
        nanoseconds = 1e9 * core_seconds
        hours = core_seconds * BILLION / 3600
        document_rows.append([task, f"{nanoseconds:.0f}", f"{hours:.2f}"])
        alone = costs.get(ALONE + task)
        ratio = ""
        if alone is not None:
            ratio = f"{cost.cpu / alone.cpu:.2f}"
        speed = n / cost.seconds / 1e6
        cells = [task, f"{cost.seconds:.2f}", f"{speed:.2f}", f"{cost.cpu:.1f}", ratio]
        cells.append(f"{cost.peak / 2**20:.0f}")
        task_rows.append(cells)
    header = ["task", "core ns/document", "core hours for 10^9"]
    print(format_table(header, document_rows))
    print()
    header = ["task", "s", "10^6 rows/s", "CPU s", "to one process", "peak MB"]
    print(format_table(header, task_rows))


if __name__ == "__main__":
    main()
