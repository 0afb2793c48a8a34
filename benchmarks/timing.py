"""Tasks timed fairly: in turns, in one process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median

Task = Callable[[], object]
Clock = Callable[[], float]

#: what `medians` takes unless it is told; ``--cpu`` replaces it
CLOCK: list[Clock] = [time.perf_counter]


def cpu_time() -> float:
    """Seconds that this process has used, and those that it started and that ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def medians(
    tasks: dict[str, Task],
    repeats: int,
    clock: Clock | None = None,
) -> dict[str, float]:
    """Median seconds of each task, the tasks taking turns after a first round."""
    clock = clock or CLOCK[0]
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = clock()
            task()
            if turn:
                times[name].append(clock() - start)
    return {name: median(values) for name, values in times.items()}
