"""What a document costs on a Dask cluster.

``python -m benchmarks.cluster``: two worker processes of one thread each read Parquet
files whose rows stand in any order, bring the rows of each query together and measure
them; parts of that are timed alone, as core-nanoseconds a document, and extrapolated to
a billion documents. Nothing here sees a network: the shuffle goes through the loopback
of one machine.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pandas as pd
from dask import dataframe as dd
from distributed import Client, LocalCluster

from benchmarks import workloads
from benchmarks.tables import format_table
from benchmarks.timing import medians
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.dask import evaluate, fit_selector

WORKERS = 2
FILES = 16
BILLION = 10**9
REPEATS = 3


def write(folder: Path, scale: float, *, mixed: bool) -> int:
    """Documents as Parquet files, by query or in any order."""
    data = workloads.web(scale)
    frame = pd.DataFrame({**data.scores, "label": data.y, "qid": data.qid})
    if mixed:
        frame = frame.sample(frac=1, random_state=0)
    folder.mkdir()
    part = frame.qid % FILES if not mixed else pd.RangeIndex(len(frame)) % FILES
    for i in range(FILES):
        frame[part == i].to_parquet(folder / f"{i:02}.parquet", index=False)
    return len(frame)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=2.7, help="3.7 million times")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n = write(folder / "mixed", arguments.scale, mixed=True)
        write(folder / "sorted", arguments.scale, mixed=False)
        size = sum(file.stat().st_size for file in (folder / "mixed").iterdir())
        with (
            LocalCluster(
                n_workers=WORKERS,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
            ) as cluster,
            Client(cluster),
        ):
            mixed = dd.read_parquet(folder / "mixed")
            whole = dd.read_parquet(folder / "sorted")
            columns = ["continuous", "label", "qid"]
            options = {"score": "continuous", "measures": ["ndcg@10", "ap", "rr"]}
            selector = RankingFeatureSelector(redundancy=False, max_correlation=None)
            tasks = {
                "read the files": lambda: mixed[columns].map_partitions(len).compute(),
                "evaluate, queries whole": lambda: evaluate(
                    whole, shuffle=False, **options
                ),
                "evaluate, rows anywhere": lambda: evaluate(mixed, **options),
                "screen 2 features, queries whole": lambda: fit_selector(
                    selector, whole, shuffle=False
                ),
            }
            found = medians(tasks, REPEATS)
    print(f"{n} documents in {size / 2**20:.0f} MB of Parquet, {WORKERS} workers\n")
    rows = []
    for task, taken in found.items():
        core = taken * WORKERS / n
        hours = core * BILLION / 3600
        rows.append([task, f"{taken:.2f}", f"{1e9 * core:.0f}", f"{hours:.2f}"])
    header = ["task", "seconds", "core ns/document", "core hours for 10^9"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()
