"""Partitions of a `dask.dataframe`: checked, gathered by query, and merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .._engine import (
    Digests,
    Repeated,
    check_qid,
    kept,
    repeated,
    same_digest,
    value_bits,
)
from .._optional import import_optional
from ._computing import (
    Given,
    Names,
    Wanted,
    Where,
    as_meta,
    check_columns,
    check_kinds_of,
    compute,
    kinds_of,
    shuffle_method,
)

dask, dd, pandas = (
    import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask", "dask.dataframe", "pandas")
)

#: partitions of a query that a message names
_SHOWN = 4
#: operations of Dask whose partitions are what a function of the user makes
_ANY_COLUMNS = {"MapPartitions", "FromMap", "FromDelayed", "FromGraph"}


Part = TypeVar("Part")


class _Graph(dict[Any, Any]):
    """Tasks that are known by a name, and need not be compared with others."""

    def __init__(self, tasks: Any, name: str) -> None:
        super().__init__(tasks)
        self._of = name

    def __dask_tokenize__(self) -> tuple[str, str]:
        return type(self).__name__, self._of


def in_own_partitions(df: Any) -> Any:
    """The same data frame, of which no step to come joins partitions.

    Dask reads several Parquet files as one partition where few of their columns are
    asked for. Queries that two of them repeat would then be in one partition.
    """
    # what Dask does to a data frame before it computes it, but for that step
    expr = df.expr.simplify().lower_completely().simplify()
    fuse = getattr(expr, "fuse", None)  # Dask of 2025 does without
    expr = expr if fuse is None else fuse()
    return dd.from_graph(
        _Graph(expr.__dask_graph__(), expr._name), df._meta, expr.divisions,
        list(expr.__dask_keys__()), "as-given",
    )  # fmt: skip


@dataclass(frozen=True)
class Gathered:
    """Rows of which those of a query are together.

    Attributes
    ----------
    df : dask.dataframe.DataFrame
    given : Given
        The same as they came, in partitions that a message can name.
    """

    df: Any
    given: Given


def gathered(
    df: Any,
    names: Names,
    shuffle: bool,
    others: Sequence[str] = (),
    what: str = "features",
    *,
    only: bool = False,
) -> Gathered:
    """The columns asked for, each for one purpose, the rows of a query together.

    With `only`, partitions must not have columns that the meta of `df` does not have.
    """
    columns = check_columns(df, names, others, what, shuffle)
    rows = _checked(df, columns, names.qid, only=only)
    given = Given(df, rows, columns)
    if shuffle:
        rows = rows.shuffle(
            names.qid, ignore_index=True, shuffle_method=shuffle_method()
        )
    return Gathered(rows, given)


def _checked(df: Any, columns: list[str], qid: str, *, only: bool) -> Any:
    """These columns, which every partition must have, of the kinds of the meta."""
    meta = df._meta[columns]
    kinds = kinds_of(meta)
    n_partitions, own = df.npartitions, list(df.columns) if only else None
    of_a_reader = not any(type(e).__name__ in _ANY_COLUMNS for e in df.expr.walk())

    def select(frame: Any, partition_info: Any = None) -> Any:
        where = Where((partition_info or {}).get("number", 0), n_partitions)
        check_kinds_of(
            frame, columns, kinds, where, None if of_a_reader else own, qid=qid
        )
        if not len(frame):  # of any types, which would be those of other rows as well
            return meta
        return as_meta(frame[columns], kinds, where)

    if of_a_reader:  # it then reads these columns only
        df = df[columns]
    return in_own_partitions(
        df.map_partitions(select, meta=meta, enforce_metadata=False)
    )


def merged(
    rows: Gathered,
    of_rows: Callable[[Any], tuple[Part, Digests]],
    both: Callable[[Part, Part], Part],
    qid: str,
    shuffle: bool,
    *,
    keep: bool,
    wanted: Wanted | None = None,
) -> tuple[Part, Digests]:
    """What is found in each partition, merged in a tree, and the digests to keep.

    `both` makes one of what is found in two partitions.

    Digests of query ids are compared in one task, to which each is sent once. What is
    `wanted` of the rows tells which of them an error is about.
    """

    def of_partition(frame: Any, where: Where) -> tuple[Part | None, Digests]:
        if not len(frame):
            return None, np.empty(0, np.uint64)
        return where.of_rows(of_rows, frame, wanted)

    def merge(parts: list[Part | None]) -> Part | None:
        some = [part for part in parts if part is not None]
        return reduce(both, some) if some else None

    def compare(parts: list[Digests]) -> tuple[list[Repeated], Digests]:
        every = np.concatenate(parts) if keep else parts[0][:0]
        return repeated(parts), kept(every)

    partitions = rows.df.to_delayed()
    token, measure = uuid4().hex, dask.delayed(of_partition, nout=2)
    found = [
        measure(
            part,
            Where(number, len(partitions), shuffle),
            dask_key_name=(f"measure-{token}", number),
        )
        for number, part in enumerate(partitions)
    ]
    compared = dask.delayed(compare)([digests for _, digests in found])
    tree = [part for part, _ in found]
    while len(tree) > 1:
        tree = [dask.delayed(merge)(tree[i : i + 8]) for i in range(0, len(tree), 8)]
    whole, (several, digests) = compute(tree[0], compared, given=rows.given)
    for again in several:
        raise ValueError(_look_up(again, partitions, qid, shuffle))
    if whole is None:
        raise ValueError("df must hold at least one row, got none")
    return whole, digests


def _look_up(again: Repeated, partitions: list[Any], qid: str, shuffle: bool) -> str:
    """What is wrong; two partitions are read again for the id of a query."""
    look = dask.delayed(with_digest)
    two = [look(partitions[i], qid, again.digest) for i in again.parts[:2]]
    queries = [query for found in dask.compute(*two) for query in found]
    for other in queries[1:]:
        if queries[0] != other:
            return same_digest(queries[0], other, qid)
    # data that are not the same when they are read again may not have it
    name = spell(queries[0]) if queries else f"with the digest {again.digest:#018x}"
    return in_several(again, name, len(partitions), qid, shuffle)


def in_several(
    again: Repeated, query: str, n_partitions: int, qid: str, shuffle: bool
) -> str:
    """What to say of a query that is in several partitions."""
    numbers = [*map(str, again.parts)]
    if len(numbers) > _SHOWN:
        numbers[_SHOWN:] = [f"{len(numbers) - _SHOWN} more"]
    got = (
        f"got query {query} in partitions {', '.join(numbers[:-1])} and {numbers[-1]} "
        f"(of 0 to {n_partitions - 1})"
    )
    if again.n_queries > 1:
        got += f", and {again.n_queries - 1} more queries in several partitions"
    if shuffle:  # which goes by another digest of ids
        return f"{qid} must have equal ids of one type, {got}"
    return (
        f"{qid} must have all rows of a query in one partition without shuffle, {got}: "
        "use shuffle=True, or leave out partitions that repeat others"
    )


def with_digest(frame: Any, qid: str, digest: int) -> list[Any]:
    """The query id of this digest, if it is there."""
    ids = ids_of(frame, qid)
    found = ids[value_bits(ids) == np.uint64(digest)]
    # times as integers would say nothing
    return list(found) if found.dtype.kind in "mM" else found.tolist()


def spell(query: Any) -> str:
    """A query id as a message shows it."""
    return str(query) if isinstance(query, np.generic) else repr(query)


def ids_of(frame: Any, qid: str) -> NDArray[Any]:
    """The different query ids of a frame."""
    if not len(frame):
        return np.empty(0)
    return check_qid(frame[qid], n_rows=len(frame), name=qid).qid
