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

#: `ru_maxrss` is in kilobytes, but on macOS in bytes.
_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10


def peak_memory() -> float:
    """Return the most MB that this process held."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss / _MEGABYTE


def screened(scale: float, n_columns: int, n_jobs: int) -> list[float]:
    """Return seconds, seconds of CPU, the most MB held, and MB held above the data."""
    data = workloads.web(scale)
    X = workloads.columns(len(data.y), n_columns)
    data_memory = peak_memory()
    start = time.perf_counter()
    cpu_start = time.process_time()
    RankingFeatureSelector(n_jobs=n_jobs).fit(X, data.y, qid=data.qid)
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu_start
    peak = peak_memory()
    return [seconds, cpu, peak, peak - data_memory]


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
    spawn = multiprocessing.get_context("spawn")
    rows = []
    for n_jobs in arguments.threads:
        # A process does not forget the most memory that it held.
        with ProcessPoolExecutor(1, spawn) as pool:
            run = pool.submit(screened, arguments.scale, arguments.columns, n_jobs)
            figures = run.result()
        row = [str(n_jobs)]
        for figure in figures:
            row.append(f"{figure:.0f}")
        rows.append(row)
    header = ["threads", "s", "s of CPU", "MB at most", "MB above data"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()
