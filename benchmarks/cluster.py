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
#: documents of a file: a partition of the size that the guide advises
PER_FILE = 1_000_000
BILLION = 10**9
#: partitions of which each holds next to nothing
SMALL = 200
FEATURES = ["continuous", "discrete"]
OPTIONS = {"score": "continuous", "measures": ["ndcg@10", "ap", "rr"]}
ALONE = "alone: "


class Cost(NamedTuple):
    """What a task took: seconds of the clock, of all CPUs, and bytes of one process."""

    seconds: float
    cpu: float
    peak: float


def write(folder: Path, documents: int, *, mixed: bool) -> tuple[int, int]:
    """Documents as Parquet files, by query or in any order; how many, and bytes."""
    folder.mkdir()
    n_files = max(round(documents / PER_FILE), WORKERS)
    first, n_rows, size = 0, 0, 0
    left: list[pd.DataFrame] = []
    for i in range(n_files):
        data = workloads.web(documents / n_files / 3.7e6, seed=i)
        frame = pd.DataFrame({**data.scores, "label": data.y, "qid": data.qid + first})
        first += len(data.sizes)
        n_rows += len(frame)
        if mixed:
            # half of the rows go into the next file, so that queries are cut
            frame = frame.sample(frac=1, random_state=i, ignore_index=True)
            half = len(frame) // 2 if i + 1 < n_files else len(frame)
            rest, frame = frame[half:], pd.concat([*left, frame[:half]])
            left = [rest]
        path = folder / f"{i:05}.parquet"
        frame.to_parquet(path, index=False)
        size += path.stat().st_size
    return n_rows, size


def cpu_of_this() -> float:
    return time.process_time()


def forget_peak() -> None:
    with suppress(OSError):  # elsewhere than on Linux
        Path("/proc/self/clear_refs").write_text("5")


def peak_of_this() -> float:
    """Bytes, since the last time that it was forgotten; 0 where it is not known."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
        return int(found[1]) * 1024.0 if found else 0.0
    return 0.0


def on_cluster(client: Client, task: Callable[[], object]) -> Cost:
    """CPU of the workers, without that of the client and the scheduler."""
    client.run(forget_peak)
    before = sum(client.run(cpu_of_this).values())
    start = time.perf_counter()
    task()
    seconds = time.perf_counter() - start
    cpu = sum(client.run(cpu_of_this).values()) - before
    return Cost(seconds, cpu, max(client.run(peak_of_this).values()))


def alone(task: Callable[[], object]) -> Cost:
    forget_peak()
    before, start = cpu_of_this(), time.perf_counter()
    task()
    seconds = time.perf_counter() - start
    return Cost(seconds, cpu_of_this() - before, peak_of_this())


def batches(folder: Path, columns: list[str]) -> Iterator[Any]:
    """Row groups of files of whole queries."""
    for path in sorted(folder.iterdir()):
        yield pq.read_table(path, columns=columns)


def tasks_of_cluster(folder: Path) -> dict[str, Callable[[], object]]:
    mixed, whole = (dd.read_parquet(folder / name) for name in ("mixed", "whole"))
    columns = ["continuous", "label", "qid"]
    return {
        "read three columns": lambda: whole[columns].map_partitions(len).compute(),
        "evaluate, queries whole": lambda: evaluate(whole, shuffle=False, **OPTIONS),
        "evaluate, rows anywhere": lambda: evaluate(mixed, **OPTIONS),
        "fit_selector, per feature": lambda: fit_selector(
            selector(), whole, shuffle=False
        ),
    }


def tasks_of_one(folder: Path) -> dict[str, Callable[[], object]]:
    columns = ["continuous", "label", "qid"]
    whole = folder / "whole"
    return {
        "evaluate, queries whole": lambda: evaluate_batches(
            batches(whole, columns), **OPTIONS
        ),
        "fit_selector, per feature": lambda: selector().fit_batches(
            batches(whole, [*FEATURES, "label", "qid"])
        ),
    }


def selector() -> RankingFeatureSelector:
    return RankingFeatureSelector(redundancy=False, max_correlation=None)


def fixed_costs(client: Client) -> dict[str, Cost]:
    """What partitions cost that hold next to nothing."""
    few = pd.DataFrame(
        {"continuous": [0.5, 1.0], "discrete": [1.0, 2.0], "label": [0.0, 1.0]}
    )
    meta = few.assign(qid=0)[:0]
    df = dd.from_map(lambda i: few.assign(qid=i), np.arange(SMALL), meta=meta)
    each = {
        "partition, evaluate": lambda: evaluate(df, shuffle=False, **OPTIONS),
        "partition, evaluate with a shuffle": lambda: evaluate(df, **OPTIONS),
        "partition, fit_selector": lambda: fit_selector(selector(), df, shuffle=False),
    }
    return {
        name: of_runs(3, lambda run=run: on_cluster(client, run))
        for name, run in each.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--documents", type=float, default=1e7, help="default: 1e7")
    parser.add_argument("--runs", type=int, default=3, help="of each task")
    parser.add_argument("--tmp", help="a folder with room for the files")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.tmp) as name:
        folder = Path(name)
        documents = int(arguments.documents)
        n, size = write(folder / "whole", documents, mixed=False)
        found: dict[str, Cost] = {}
        # first, while the memory of this process is that of one task
        for task, run in tasks_of_one(folder).items():
            found[ALONE + task] = of_runs(arguments.runs, lambda r=run: alone(r))
        write(folder / "mixed", documents, mixed=True)
        with (
            LocalCluster(
                n_workers=WORKERS,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
            ) as cluster,
            Client(cluster) as client,
        ):
            for task, run in tasks_of_cluster(folder).items():
                found[task] = of_runs(
                    arguments.runs, lambda r=run: on_cluster(client, r)
                )
            fixed = fixed_costs(client)
    print('"alone" is one process without Dask; queries are whole in each file')
    print(f"{n} documents in {size / 2**20:.0f} MB of Parquet, {WORKERS} workers\n")
    rows = []
    for task, cost in found.items():
        cores = 1 if task.startswith(ALONE) else WORKERS
        times = len(FEATURES) if "per feature" in task else 1
        core = cost.seconds * cores / n / times
        other = found.get(ALONE + task)
        rows.append(
            [
                task,
                f"{cost.seconds:.2f}",
                f"{n / cost.seconds / 1e6:.2f}",
                f"{1e9 * core:.0f}",
                f"{core * BILLION / 3600:.2f}",
                f"{cost.cpu:.1f}",
                f"{cost.cpu / other.cpu:.2f}" if other else "",
                f"{cost.peak / 2**20:.0f}",
            ]
        )
    header = ["task", "core ns/document", "core hours for 10^9"]
    print(format_table(header, [[row[0], *row[3:5]] for row in rows]))
    print()
    header = ["task", "s", "10^6 rows/s", "CPU s", "to one process", "peak MB"]
    print(format_table(header, [[*row[:3], *row[5:]] for row in rows]))
    print("\nwhat each costs beside its rows\n")
    rows = [
        [task, *(f"{1e3 * spent / SMALL:.1f}" for spent in cost[:2])]
        for task, cost in fixed.items()
    ]
    print(format_table(["", "ms", "CPU ms"], rows))


def of_runs(runs: int, measure: Callable[[], Cost]) -> Cost:
    """The median by the clock, of so many runs after a first one, or of a single."""
    if runs > 1:
        measure()
    return sorted(measure() for _ in range(runs))[runs // 2]


if __name__ == "__main__":
    main()
