"""What the greedy selection of a fused ranking takes: ``python -m benchmarks.fusion``.

`FusedRanker` chooses 10 of 136 features, half of them discrete, for 500,000
documents of made-up queries; every third feature goes with the labels. Seconds are of
the clock and of the processors; a step is what each further feature takes, as
core-nanoseconds a document and candidate, its correlations included. Memory is the peak
of a fit beside X.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from benchmarks import workloads
from benchmarks.tables import format_table
from tieaware_sklearn import FusedRanker


def data(n_queries: int, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and query ids."""
    queries = workloads.web(n_queries / 31_531)
    X = workloads.columns(len(queries.y), n_features)
    some = X[:, ::3]
    rng = np.random.default_rng(0)
    some += rng.uniform(0, 0.3, some.shape[1]) * queries.y[:, None]
    return X, queries.y, queries.qid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=4250)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--select", type=int, default=10)
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    X, y, qid = data(arguments.queries, arguments.features)
    most = arguments.select

    def fit(number: int) -> FusedRanker:
        selector = FusedRanker(n_features_to_select=number, n_jobs=arguments.n_jobs)
        return selector.fit(X, y, qid=qid)

    fit(1)
    seconds = {}
    for number in (1, most):
        wall, cpu = time.perf_counter(), time.process_time()
        fit(number)
        seconds[number] = time.perf_counter() - wall, time.process_time() - cpu
    tracemalloc.start()
    fit(2)
    peak = tracemalloc.get_traced_memory()[1]
    candidates = sum(X.shape[1] - chosen for chosen in range(1, most))
    step = (seconds[most][1] - seconds[1][1]) / candidates / len(y) * 1e9
    rows = [
        [f"{number} of {X.shape[1]}", *(f"{own:.1f}" for own in seconds[number])]
        for number in (1, most)
    ]
    print(f"{len(y)} documents, {X.nbytes / 1e6:.0f} MB of features\n")
    print(format_table(["features", "seconds", "CPU seconds"], rows))
    print(f"\na step: {step:.0f} ns a document and candidate")
    print(f"memory beside X: {peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
