"""Partitions computed on a cluster that may fail: what is lost, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from .._optional import import_optional
from ._faults import Where, file_of, is_named, number_in

dask = import_optional("dask", extra="dask", purpose="tieaware_sklearn.dask")

#: seconds between looks at the workers
LOOK = 2.0
#: seconds that all workers must be paused, without a task, before it is an error
PATIENCE = 30.0
_ADVICE = (
    "use smaller partitions, such as df.repartition(partition_size='100MB'), or "
    "workers with more memory"
)


@dataclass(frozen=True)
class Given:
    """What a data frame is made of, as far as messages speak of it.

    Attributes
    ----------
    df : dask.dataframe.DataFrame
        As it was given.
    rows : dask.dataframe.DataFrame
        The columns that are wanted, each partition computed by one task.
    columns : list of str
    """

    df: Any
    rows: Any
    columns: Sequence[str]

    def where(self, number: int) -> str:
        """A partition and, where it is known, its file."""
        where = str(Where(number, self.rows.npartitions))
        file = file_of(self.df, number)
        return f"{where}, file {file}" if file else where

    def number_of(self, key: Any) -> int | None:
        """Of the partition that a task reads."""
        # the graph has names of its own for them
        keys = self.rows.expr.operand("keys")
        return keys.index(key) if key in keys else None


def compute(*wanted: Any, given: Given) -> tuple[Any, ...]:
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
        have the memory; and if what the data frame holds on the cluster is gone.
    """
    client = _client()
    failed = _Failed()
    try:
        if client is None:
            return dask.compute(*wanted)  # type: ignore[no-any-return]
        return _computed(client, wanted, failed)
    except Exception as error:
        # nothing is held or under way any more
        if client is None or failed:
            _explain(error, given, client, failed.key)
            raise
        _explain_loss(error, client)
        raise


@dataclass
class _Failed:
    """Whether a task failed, and which one, if it is known."""

    any: bool = False
    key: Any = None

    def __bool__(self) -> bool:
        return self.any


def _computed(client: Any, wanted: Sequence[Any], failed: _Failed) -> tuple[Any, ...]:
    """What a cluster computes; nothing of it is left there, however it ends."""
    from distributed import wait

    futures = client.compute(list(wanted))
    pause = _Pause(client)
    try:
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=LOOK)
                break
            pause.look()
        return tuple(client.gather(futures))
    except Exception:
        failed.any = any(future.status == "error" for future in futures)
        failed.key = _key_of_fault(client, futures) if failed else None
        raise
    finally:
        _release(futures)


def _release(futures: Iterable[Any]) -> None:
    """Tell the cluster to forget them; what is not begun is not begun any more."""
    for future in futures:
        future.release()


def _key_of_fault(client: Any, futures: Iterable[Any]) -> Any:
    """The task that an error came from first; None if it is not known."""
    keys = [future.key for future in futures if future.status == "error"]
    # what `Client.recreate_error_locally` asks for, too
    with suppress(Exception):
        key = client.sync(client.scheduler.get_error_cause, keys=keys)
        return tuple(key) if isinstance(key, list) else key
    return None


def _explain_loss(error: Exception, client: Any) -> None:
    """Raise what says more of futures that are gone."""
    from distributed.comm import CommClosedError

    cancelled = isinstance(error, CancelledError)
    # the scheduler was there all the time, and says that it forgot them
    if client.status == "running" and cancelled and not _is_of_scheduler(error):
        raise RuntimeError(
            "partitions that df holds on the cluster were cancelled, released or lost "
            "before all partitions were done: compute or persist df again, with the "
            "client that is used now"
        ) from error
    if client.status != "running" or cancelled or isinstance(error, CommClosedError):
        raise ConnectionError(
            f"the connection to the Dask scheduler at {_address(client)} was lost "
            "before all partitions were done; the data and the arguments are "
            "unchanged: start the cluster and a client again, and repeat the call"
        ) from error


def _is_of_scheduler(error: Exception) -> bool:
    """Whether futures were cancelled because the scheduler ended, or began again."""
    reasons = [getattr(error, "reason", None)]
    reasons += [getattr(one, "reason", None) for one in getattr(error, "errors", ())]
    return any(str(reason).startswith("scheduler") for reason in reasons)


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


def shuffle_method() -> str | None:
    """How to shuffle; None for what Dask chooses.

    It chooses what only workers can do where a client is open, though the scheduler
    may be another one.
    """
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if hasattr(client, "scheduler_info"):
        return None
    method: str | None = dask.config.get("dataframe.shuffle.method", None)
    return method or "disk"


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
            # all of them: some versions list five unless told
            info = self._client.scheduler_info(n_workers=-1)
            workers = info["workers"].values()
        except OSError:
            # whether the scheduler is gone shows in the futures
            return
        if not workers or not all(map(_is_stuck, workers)):
            self._since = None
            return
        now = monotonic()
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


def _explain(error: Exception, given: Given, client: Any, key: Any) -> None:
    """Raise what says more of the error of a task, or add a note to it."""
    if type(error).__name__ == "KilledWorker":
        raise RuntimeError(_killed(error, given)) from error
    if isinstance(error, ValueError) and is_named(error):
        raise ValueError(_with_file(error, given)) from None
    number = given.number_of(key)
    found = _unreadable(given.rows, client) if number is None else (number, error)
    if found is None:
        cause = error.__cause__
        if str(error).startswith("P2P") and isinstance(cause, (ValueError, TypeError)):
            why = ", ".join(map(str, cause.args))
            raise ValueError(f"df cannot be shuffled: {why}") from cause
        return
    number, fault = found
    if isinstance(fault, ValueError) and is_named(fault):
        raise ValueError(_with_file(fault, given)) from None
    where = given.where(number)
    if isinstance(fault, KeyError) and _is_of(fault, given.columns):
        what = f"must have the columns of the meta of df: {fault.args[0]}"
        raise ValueError(f"{where} {what}") from fault
    if isinstance(fault, (ValueError, OSError)):
        lines = map(str.strip, str(fault).splitlines())
        raise ValueError(f"{where}: {' '.join(filter(None, lines))}") from fault
    error.add_note(f"in {where}")


def _with_file(error: ValueError, given: Given) -> str:
    """The message of an error that names a partition, with the file of this."""
    what = str(error)
    number = number_in(what)
    if number is None:
        return what
    return what.replace(
        str(Where(number, given.rows.npartitions)), given.where(number), 1
    )


def _is_of(error: KeyError, columns: Sequence[str]) -> bool:
    """Whether it speaks of one of the columns."""
    what = error.args[0] if error.args else None
    return any(what == name or repr(name) in str(what) for name in columns)


def _killed(error: Any, given: Given) -> str:
    """What to say of a task that all workers died of."""
    key = error.task
    part = "a partition"
    if (number := given.number_of(key)) is not None:
        part = given.where(number)
    elif isinstance(key, tuple) and isinstance(key[-1], int):
        part = f"partition {key[-1]}"
    limit = getattr(error.last_worker, "memory_limit", None)
    has = f", of which each has {_megabytes(limit)}" if limit else ""
    return (
        f"{error.allowed_failures + 1} workers died one after another of {part} (task "
        f"{key!r}), probably for want of memory{has}: {_ADVICE}; the logs of the "
        "workers say why they died"
    )


def _unreadable(rows: Any, client: Any) -> tuple[int, Exception] | None:
    """A partition that cannot be read again, and why."""
    parts = [dask.delayed(len)(part) for part in rows.to_delayed(optimize_graph=False)]
    if client is None:
        for number, part in enumerate(parts):
            try:
                part.compute()
            except Exception as error:
                return number, error
        return None
    from distributed import as_completed

    futures = client.compute(parts)
    numbers = {future.key: number for number, future in enumerate(futures)}
    try:
        for future in as_completed(futures):
            if future.status == "error":
                return numbers[future.key], future.exception()
    finally:
        _release(futures)
    return None
