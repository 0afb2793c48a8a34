"""What is computed on a cluster: columns that there must be, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._engine import (
    check_labels,
    check_qid,
    check_query_weight,
    check_scores,
    reject,
    show,
)
from .._optional import import_optional
from ..evaluation import Asked
from ..measures import refused_label

dask, dd, pandas = (
    import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask", "dask.dataframe", "pandas")
)

_ADVICE = (
    "give them a type of their own, or make df within "
    "dask.config.set({'dataframe.convert-string': False})"
)
#: the column in which Dask notes where it shuffles a row to
_OF_DASK = "_partitions"
#: what pandas infers of objects that texts stand for as well
_TEXTS = {"string", "empty"}


def check_frame(df: Any) -> None:
    if not isinstance(df, dd.DataFrame):
        raise ValueError(f"df must be a dask.dataframe.DataFrame, got {type(df)}")
    if df.columns.nlevels > 1:
        raise ValueError(
            f"df must have columns of one level, got {df.columns.nlevels} levels"
        )


def check_columns(
    df: Any, names: Names, others: Sequence[Any], what: str, shuffle: Any
) -> list[Any]:
    """Columns that are wanted of a data frame, each for one purpose."""
    check_frame(df)
    if not isinstance(shuffle, bool):
        raise ValueError(f"shuffle must be True or False, got {show(shuffle)}")
    columns = [*names.given(), *others]
    for name in columns:
        if not isinstance(name, Hashable):
            raise ValueError(
                f"label, qid, score, query_weight and {what} must be names of columns, "
                f"got {show(name)}"
            )
        if columns.count(name) > 1:
            raise ValueError(
                f"label, qid, score, query_weight and {what} must name different "
                f"columns, got {name!r} twice"
            )
        found = list(df.columns).count(name)
        if not found:
            raise ValueError(
                f"df must have a column {name!r}, got {', '.join(map(str, df.columns))}"
            )
        if found > 1:
            raise ValueError(f"df must have one column {name!r}, got {found}")
        if name == _OF_DASK and shuffle:
            raise ValueError(
                f"df must not have a column {name!r} that is used with shuffle=True, "
                "because Dask uses this name: rename it"
            )
        _check_objects(df, name, mixed=name == names.qid)
        if name in (names.label, names.score, names.weight) and _is_text(df, name):
            raise ValueError(
                f"df must have numbers in column {name!r}, got text (dtype "
                f"{df._meta[name].dtype}): if they were objects, {_ADVICE}"
            )
    return columns


def check_given(**names: Any) -> None:
    """Whether arguments that are needed name columns."""
    for argument, name in names.items():
        if name is None or not isinstance(name, Hashable):
            raise ValueError(
                f"{argument} must be the name of a column, got {show(name)}"
            )


def objects_in(df: Any, name: str) -> str:
    """What a column of objects held before Dask made texts of them, as pandas says.

    It is known of data that were in memory, and empty otherwise.
    """
    for source in df.expr.walk():
        # what Dask keeps of `from_pandas`; it is not part of its interface
        with suppress(Exception):
            if not type(source).__name__.startswith("FromPandas"):
                continue
            column = source.operand("frame")._data[name]
            if pandas.api.types.is_object_dtype(column.dtype):
                return str(pandas.api.types.infer_dtype(column, skipna=True))
    return ""


def _check_objects(df: Any, name: Any, *, mixed: bool) -> None:
    """Whether texts that Dask made of objects stand for the same values.

    Numbers of one type are as well told apart by their texts, but "10" is before "9".
    With `mixed`, only numbers beside others are refused: 7 and 7.0 have two texts, and
    7 and "7" have one.
    """
    if not _is_text(df, name):
        return
    kind = objects_in(df, name)
    if not kind or kind in _TEXTS or (mixed and not kind.startswith("mixed-")):
        return
    raise ValueError(
        f"df must have values as they are in column {name!r}, got texts that Dask made "
        f"of objects ({kind}): {_ADVICE}"
    )


def _is_text(df: Any, name: Any) -> bool:
    """Whether a column has a dtype of texts, and not of any objects."""
    dtype, types = df._meta[name].dtype, pandas.api.types
    return types.is_string_dtype(dtype) and not (
        types.is_object_dtype(dtype) or isinstance(dtype, pandas.CategoricalDtype)
    )


Found = TypeVar("Found")
#: from here on, floats do not hold all integers
_BEYOND = 2**53
#: how messages of this module begin
_OURS = re.compile(r"(shuffled )?partition (\d+) \(of 0 to \d+\)")
#: the number of a row, before the query that it is of
_ROW = re.compile(r"\brow \d+, (?=query )")
#: kinds of which values of one are compared with those of another
_NUMBERS = {"integers", "floats", "numbers"}
#: what pandas infers of objects
_KINDS = {
    "string": "text",
    "integer": "integers",
    "floating": "floats",
    "mixed-integer-float": "numbers",
    "decimal": "numbers",
    "boolean": "numbers",
    "datetime": "times",
    "mixed-integer": "values of several types",
    "mixed": "values of several types",
}


class Names(NamedTuple):
    """Columns that are no features."""

    label: str
    qid: str
    weight: str | None
    score: str | None = None

    def given(self) -> list[str]:
        return [name for name in self if name is not None]

    def check_weight(self, total: Any) -> None:
        """Single partitions may weigh nothing, but not all of them."""
        if self.weight is not None and not total.any():
            raise ValueError(f"{self.weight} must not be 0 in every query")


class Wanted(NamedTuple):
    """What is read of each partition, and what its values must be.

    Attributes
    ----------
    names : Names
    asked : Asked
        Measures, and what they do with labels.
    scores : sequence of str
        Columns with scores, beside that of `names`.
    features : sequence of str
        Columns to screen.
    missing : {"raise", "last"}
        Whether NaN is an error in these.
    others : sequence of str
        Columns of any values, none of which is missing.
    """

    names: Names
    asked: Asked
    scores: Sequence[str] = ()
    features: Sequence[str] = ()
    missing: str = "raise"
    others: Sequence[str] = ()

    def check(self, frame: Any) -> None:
        """Raise a ValueError that names the column and the query of a wrong value."""
        label, qid, weight, score = self.names
        unknown = frame[qid].isna()
        if unknown.any():
            value = show(frame[qid][unknown.to_numpy()].tolist()[0])
            raise ValueError(
                f"{qid} must not be missing, got {value} in {int(unknown.sum())} of "
                f"{len(frame)} rows"
            )
        queries = check_qid(frame[qid], n_rows=len(frame), name=qid)

        def place(row: int) -> str:
            return f"query {show(frame[qid].iloc[row : row + 1].tolist()[0])}"

        labels = check_labels(
            frame[label], unjudged=self.asked.unjudged, name=label, place=place
        )
        refused = refused_label(self.asked.measures, labels)
        if refused is not None:
            row, why = refused
            raise ValueError(f"{label} is refused in {place(row)}: {why}")
        for name in [*self.scores, *([] if score is None else [score])]:
            check_scores(frame[name], name=name, place=place)
        if weight is not None:
            check_query_weight(
                frame[weight], queries, allow_zero=True, name=weight, place=place
            )
        for name in self.others:
            gone = frame[name].isna().to_numpy()
            reject(gone, frame[name].to_numpy(dtype=object), name, "not be missing",
                   place)  # fmt: skip
        for name in self.features:
            cells = frame[name]
            values = pandas.to_numeric(cells, errors="coerce").to_numpy(
                dtype=np.float64, na_value=np.nan
            )
            there, number = cells.notna().to_numpy(), ~np.isnan(values)
            given = cells.to_numpy(dtype=object)
            reject(there & ~number, given, name, "hold numbers", place)
            reject(np.isinf(values), given, name, "be finite", place)
            if self.missing == "raise":
                rule = 'not be missing (missing="last" ranks it below every value)'
                reject(~there, given, name, rule, place)


class Where(NamedTuple):
    """One of the partitions; rows that were shuffled stand in other ones."""

    number: int
    n_partitions: int
    shuffled: bool = False

    def __str__(self) -> str:
        of = f"partition {self.number} (of 0 to {self.n_partitions - 1})"
        return f"shuffled {of}" if self.shuffled else of

    def of_rows(
        self, of_rows: Callable[[Any], Found], frame: Any, wanted: Wanted | None
    ) -> Found:
        """What is found in its rows; errors name it, the column and the query."""
        try:
            return of_rows(frame)
        except ValueError as error:
            # rows of a partition say nothing beside a query
            what = _ROW.sub("", str(error))
            raise ValueError(f"{self}: {_first_fault(frame, wanted) or what}") from None


def _first_fault(frame: Any, wanted: Wanted | None) -> str:
    try:
        if wanted is not None:
            wanted.check(frame)
    except ValueError as error:
        return str(error)
    return ""


def is_named(error: ValueError) -> bool:
    """Whether it names a partition."""
    return bool(_OURS.match(str(error)))


def number_in(message: str) -> int | None:
    """The number of the partition of the data frame that a message names."""
    found = _OURS.match(message)
    return None if found is None or found[1] else int(found[2])


def kinds_of(meta: Any) -> dict[str, str]:
    """Columns of which it is known that they hold numbers, texts or times."""
    found = {name: _kind(meta[name]) for name in meta.columns}
    return {name: kind for name, kind in found.items() if kind}


def check_kinds_of(
    frame: Any,
    wanted: Sequence[str],
    kinds: Mapping[str, str],
    where: Where,
    only: Sequence[str] | None = None,
    *,
    qid: str | None = None,
) -> None:
    """Whether a partition is what the meta of its data frame says.

    It must have the columns that are wanted, with values of the kinds of the meta. With
    `only`, it must have no others than these. Of ids in `qid`, integers and floats are
    two kinds: as floats, integers beyond 2^53 are other ids.
    """
    if not isinstance(frame, pandas.DataFrame):
        raise ValueError(f"{where} must be a pandas.DataFrame, got {type(frame)}")
    for name in wanted:
        if name not in frame.columns:
            own = ", ".join(map(str, frame.columns))
            raise ValueError(
                f"{where} must have a column {name!r}, as the meta of df has, got {own}"
            )
    for name in () if only is None else frame.columns:
        if name not in (only or ()):
            raise ValueError(
                f"{where} must not have a column {name!r}, which the meta of df does "
                "not have: give df the right meta, or name the features"
            )
    for name in wanted if len(frame) else ():
        kind, other = _kind(frame[name]), kinds.get(name, "")
        alike = not kind or not other or kind == other
        if kind in _NUMBERS and other in _NUMBERS:
            alike = alike or name != qid or "numbers" in (kind, other)
            # what is missing makes floats of integers, and is an error of its own
            alike = alike or bool(frame[name].isna().any())
        elif other in _NUMBERS:
            other = "numbers"
        if not alike:
            raise ValueError(
                f"{where} must have {other} in column {name!r}, as the meta of df "
                f"has, got {kind} (dtype {frame[name].dtype})"
            )


def as_meta(frame: Any, kinds: Mapping[str, str], where: Where) -> Any:
    """A partition whose numbers can stand beside those of others unchanged.

    A shuffle makes floats of integers that come together with floats.
    """
    for name in frame.columns:
        kind, other = _kind(frame[name]), kinds.get(name)
        if {kind, other} != {"integers", "floats"}:
            continue
        values = pandas.to_numeric(frame[name]).dropna()
        if kind == "integers":
            if len(values) and not -_BEYOND <= values.min() <= values.max() <= _BEYOND:
                raise ValueError(
                    f"{where} must have floats in column {name!r}, as the meta of df "
                    "has, got integers that 64-bit floats do not hold (beyond 2^53)"
                )
        elif len(values) == len(frame):
            floats = values.to_numpy(dtype=np.float64)
            if ((floats == np.rint(floats)) & (np.abs(floats) < _BEYOND)).all():
                # not by `assign`, which knows no names that are numbers
                frame = frame.copy(deep=False)
                frame[name] = floats.astype(np.int64)
    return frame


def _kind(column: Any) -> str:
    """Integers, floats, text, ...; empty for others, and if there is nothing to see."""
    dtype = column.dtype
    types = pandas.api.types
    if isinstance(dtype, pandas.CategoricalDtype):
        dtype, column = dtype.categories.dtype, dtype.categories
    if types.is_object_dtype(dtype):
        found: str = pandas.api.types.infer_dtype(column, skipna=True)
        return _KINDS.get(found, "")
    if types.is_bool_dtype(dtype):
        return "numbers"
    if types.is_integer_dtype(dtype):
        return "integers"
    if types.is_numeric_dtype(dtype):
        return "floats" if types.is_float_dtype(dtype) else "numbers"
    if types.is_datetime64_any_dtype(dtype):
        return "times"
    return "text" if types.is_string_dtype(dtype) else ""


def file_of(df: Any, number: int) -> str:
    """The Parquet file that a partition is read from; empty if it is not known."""
    for read in df.expr.walk():
        if "ReadParquet" not in type(read).__name__:
            continue
        if read.npartitions == df.npartitions:
            # what the two readers of Dask know; it is not part of their interface
            with suppress(Exception):
                return str(read.fragments[number].path)
            with suppress(Exception):
                return str(read._plan["parts"][number]["piece"][0])
    return ""


#: seconds between looks at the workers
LOOK = 2.0
#: seconds that all workers must be paused, without a task, before it is an error
PATIENCE = 30.0
_IF_SHORT = (
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
                f"of memory, and none will go on: {_IF_SHORT}"
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
        f"{key!r}), probably for want of memory{has}: {_IF_SHORT}; the logs of the "
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
