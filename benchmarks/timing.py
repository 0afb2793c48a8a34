"""Tasks timed fairly: in turns, in one process."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from statistics import median
from typing import TypeVar

Task = Callable[[], object]
Clock = Callable[[], float]
Name = TypeVar("Name", bound=Hashable)

#: The clock of `medians` unless it is given one; ``--cpu`` replaces it.
CLOCK: list[Clock] = [time.perf_counter]


def cpu_time() -> float:
    """Return seconds of CPU of this process and of its children that have ended."""
    times = os.times()
    children = times.children_user + times.children_system
    return time.process_time() + children


def medians(
    tasks: Mapping[Name, Task], repeats: int, clock: Clock | None = None
) -> dict[Name, float]:
    """Return median seconds of each task; tasks take turns after a first round."""
    if clock is None:
        clock = CLOCK[0]
    times = defaultdict(list)
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = clock()
            task()
            seconds = clock() - start
            if turn > 0:
                times[name].append(seconds)
    return {name: median(seconds) for name, seconds in times.items()}
