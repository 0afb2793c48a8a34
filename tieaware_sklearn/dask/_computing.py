"""Partitions computed on a cluster that may fail: what is lost, and what to do."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from .._optional import import_optional
from ._faults import Where, file_of, is_named

dask = import_optional("dask", extra="dask", purpose="tieaware_sklearn.dask")

#: seconds between looks at the workers
LOOK = 2.0
#: seconds that all workers must be paused, without a task, before it is an error
PATIENCE = 30.0
_ADVICE = (
    "use smaller partitions, such as df.repartition(partition_size='100MB'), or "
    "workers with more memory"
)


def compute(*wanted: Any, df: Any) -> tuple[Any, ...]:
    """Compute what is made of the partitions of a data frame.

    Raises
    ------
    ValueError
        For a partition that cannot be read, with its number and its file. Errors of
        other types are raised as they are, with a note that names the partition.
    ConnectionError
        If the scheduler is lost.
    RuntimeError
        If workers are killed again and again, or all are paused, because they do not
        have the memory.
    """
    client = _client()
    if client is None:
        try:
            return dask.compute(*wanted)  # type: ignore[no-any-return]
        except Exception as error:
            _explain(error, df, None)
            raise
    from distributed import wait
    from distributed.comm import CommClosedError

    futures = client.compute(list(wanted))
    pause = _Pause(client)
    try:
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=LOOK)
                break
            pause.look()
        return tuple(client.gather(futures))
    except Exception as error:
        if any(future.status == "error" for future in futures):
            _explain(error, df, client)
            raise
        lost = client.status != "running"
        if lost or isinstance(error, (CancelledError, CommClosedError)):
            raise ConnectionError(
                f"the connection to the Dask scheduler at {_address(client)} was lost "
                "before all partitions were done; the data and the arguments are "
                "unchanged: start the cluster and a client again, and repeat the call"
            ) from error
        raise
    finally:
        for future in futures:
            future.release()


def _client() -> Any:
    """The client of the cluster that would compute; None if there is no cluster."""
    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "scheduler_info") or client.asynchronous:
        return None
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return client
    # a task that waits for others must leave its thread to them, as Dask sees to
    return None


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "addr", "an unknown address"))


class _Pause:
    """Since when all workers are paused by their memory and none has a task to do."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._since: float | None = None

    def look(self) -> None:
        """Raise a RuntimeError if it is for too long."""
        try:
            workers = self._client.scheduler_info()["workers"].values()
        except OSError:
            # whether the scheduler is gone shows in the futures
            return
        if not workers or not all(map(_is_stuck, workers)):
            self._since = None
            return
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since >= PATIENCE:
            limits = [worker["memory_limit"] for worker in workers]
            raise RuntimeError(
                f"all workers ({len(limits)}) have been paused for {PATIENCE:.0f} "
                f"seconds, because each has used most of its {_megabytes(min(limits))} "
                f"of memory, and none will go on: {_ADVICE}"
            )


def _is_stuck(worker: dict[str, Any]) -> bool:
    if worker["status"] != "paused":
        return False
    counts = worker["metrics"].get("task_counts", {})
    return not any(counts.get(state) for state in ("executing", "long-running"))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _explain(error: Exception, df: Any, client: Any) -> None:
    """Raise what says more of the error of a task, or add a note to it."""
    if type(error).__name__ == "KilledWorker":
        raise RuntimeError(_killed(error)) from error
    if isinstance(error, ValueError) and is_named(error):
        return
    found = _unreadable(df, client)
    if found is None:
        cause = error.__cause__
        if str(error).startswith("P2P") and isinstance(cause, (ValueError, TypeError)):
            why = ", ".join(map(str, cause.args))
            raise ValueError(f"df cannot be shuffled: {why}") from cause
        return
    number, n_partitions, cause = found
    where = str(Where(number, n_partitions))
    # readers may make one partition of several
    if n_partitions == df.npartitions and (file := file_of(df, number)):
        where += f", file {file}"
    if isinstance(cause, ValueError) and is_named(cause):
        raise ValueError(str(cause)) from None
    if isinstance(cause, KeyError):
        what = f"must have the columns of the meta of df: {cause.args[0]}"
        raise ValueError(f"{where} {what}") from cause
    if isinstance(cause, (ValueError, OSError)):
        lines = map(str.strip, str(cause).splitlines())
        raise ValueError(f"{where}: {' '.join(filter(None, lines))}") from cause
    error.add_note(f"in {where}")


def _killed(error: Any) -> str:
    """What to say of a task that all workers died of."""
    key = error.task
    part = "a partition"
    if isinstance(key, tuple) and isinstance(key[-1], int):
        part = f"partition {key[-1]}"
    limit = getattr(error.last_worker, "memory_limit", None)
    has = f", of which each has {_megabytes(limit)}" if limit else ""
    return (
        f"{error.allowed_failures + 1} workers died one after another of {part} (task "
        f"{key!r}), probably for want of memory{has}: {_ADVICE}; the logs of the "
        "workers say why they died"
    )


def _unreadable(df: Any, client: Any) -> tuple[int, int, Exception] | None:
    """The first partition that cannot be read again, of how many, and why."""
    parts = [dask.delayed(len)(part) for part in df.to_delayed(optimize_graph=False)]
    futures = [None] * len(parts) if client is None else client.compute(parts)
    for number, (part, future) in enumerate(zip(parts, futures, strict=True)):
        try:
            part.compute() if future is None else future.result()
        except Exception as error:
            return number, len(parts), error
    return None
