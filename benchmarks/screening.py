"""Columns as many as MSLR-WEB30K has, screened: seconds, and memory at the most.

Every run is a process of its own, which makes 3.7 million documents and 136 columns
of them in single precision, 2 GB: ``python -m benchmarks.screening``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks import workloads
from benchmarks.tables import format_table
from tieaware_sklearn import RankingFeatureSelector

#: `ru_maxrss` is in kilobytes, on macOS in bytes
_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10


def peak_memory() -> float:
    """MB that this process held at the most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE


def screened(scale: float, n_columns: int, n_jobs: int) -> list[float]:
    """Seconds, seconds of CPU, MB at the most, and MB before columns were screened."""
    data = workloads.web(scale)
    X = workloads.columns(len(data.y), n_columns)
    before = peak_memory()
    start, cpu = time.perf_counter(), time.process_time()
    RankingFeatureSelector(n_jobs=n_jobs).fit(X, data.y, qid=data.qid)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return [wall, cpu, peak_memory(), before]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.screening",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--scale", type=float, default=1.0, help="1: 3.7 million")
    parser.add_argument("--columns", type=int, default=136)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    rows = []
    for n_jobs in arguments.threads:
        resolved = arguments.scale, arguments.columns, n_jobs
        # memory at the most is that of a process
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            wall, cpu, peak, before = pool.submit(screened, *resolved).result()
        figures = wall, cpu, peak, peak - before
        rows.append([str(n_jobs), *(f"{value:.0f}" for value in figures)])
    header = ["threads", "s", "s of CPU", "MB at most", "MB above data"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()
