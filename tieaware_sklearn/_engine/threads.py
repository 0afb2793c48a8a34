"""Threads for work that ends in milliseconds."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_threads(
    call: Callable[[Task], Result], tasks: Sequence[Task], n_jobs: int | None
) -> list[Result]:
    """`call` of each of the tasks, in their order, by as many threads as joblib says.

    joblib itself looks every ten milliseconds whether its threads are done.
    """
    n_workers = min(effective_n_jobs(n_jobs), len(tasks)) if len(tasks) > 1 else 1
    if n_workers == 1:
        return [call(task) for task in tasks]
    with ThreadPoolExecutor(n_workers) as threads:
        return list(threads.map(call, tasks))
