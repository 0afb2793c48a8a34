"""Threads for tasks of a few milliseconds."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_threads(
    call: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int | None
) -> list[Result]:
    """Return the result of `call` for each task, in the order of the tasks.

    joblib determines the number of threads. The threads of joblib itself would be
    slower, because joblib checks only every ten milliseconds whether threads are done.
    """
    n_workers = min(effective_n_jobs(n_jobs), len(tasks))
    if n_workers <= 1:
        return [call(task) for task in tasks]
    with ThreadPoolExecutor(n_workers) as threads:
        return list(threads.map(call, tasks))
