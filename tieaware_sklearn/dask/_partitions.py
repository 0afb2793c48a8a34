"""Partitions of a `dask.dataframe`: checked, gathered by query, and merged."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from .. import _optional
from .._engine import checks, exact_numbers, hashing, seen_queries
from ..io import _arrow

dask, dd, pandas = (
    _optional.import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask", "dask.dataframe", "pandas")
)

delayed = dask.delayed
#: operations of Dask that call a function of the user for each partition
_ANY_COLUMNS = {"MapPartitions", "FromMap", "FromDelayed", "FromGraph"}
#: a row as messages name it
_ROW = re.compile(r"\bin row (\d+)")


class Names(NamedTuple):
    """Names of the columns that are no features."""

    label: str
    qid: str
    weight: str | None

    def check_weight(self, total: Any) -> None:
        """Check that the partitions do not all weigh nothing."""
        if self.weight is not None and not total.any():
            raise ValueError(f"{self.weight} must not be 0 in every query")


def check_frame(df: Any) -> None:
    if not isinstance(df, dd.DataFrame):
        raise ValueError(f"df must be a dask.dataframe.DataFrame, got {type(df)}")


class _Graph(dict[Any, Any]):
    """A graph of tasks, which Dask recognises by its name alone."""

    def __init__(self, tasks: Any, name: str) -> None:
        super().__init__(tasks)
        self._of = name

    def __dask_tokenize__(self) -> tuple[str, str]:
        return type(self).__name__, self._of


def _in_own_partitions(df: Any) -> Any:
    """Return the data frame such that no later step joins its partitions.

    Dask reads several Parquet files as one partition where few of their columns are
    needed. Queries that two of them repeat would then be in one partition.
    """
    # Dask's optimisation, without the step that joins partitions
    expr = df.expr.simplify().lower_completely().simplify()
    fuse = getattr(expr, "fuse", None)  # Dask of 2025 does without
    expr = expr if fuse is None else fuse()
    return dd.from_graph(
        _Graph(expr.__dask_graph__(), expr._name), df._meta, expr.divisions,
        list(expr.__dask_keys__()), "as-given",
    )  # fmt: skip


def gathered(
    df: Any,
    names: Names,
    shuffle: bool,
    others: Sequence[str] = (),
    *,
    only: bool = False,
) -> Any:
    """Select columns, and bring the rows of each query into one partition.

    Every partition must have these columns, of the kinds of the meta of `df`. With
    `only`, it must not have columns that the meta does not have.
    """
    checks.check_flag(shuffle, "shuffle")
    columns = [*(name for name in names if name is not None), *others]
    check_frame(df)
    _arrow.check_different(columns, "label, qid, score, query_weight and others")
    given = list(df.columns)
    for name in columns:
        if given.count(name) != 1:
            raise ValueError(
                f"df must have one column {name!r}, got {', '.join(map(str, given))}"
            )
    meta, n_partitions = df._meta[columns], df.npartitions
    of_a_reader = not any(type(e).__name__ in _ANY_COLUMNS for e in df.expr.walk())

    def select(frame: Any, partition_info: Any = None) -> Any:
        with _noted(partition_info, n_partitions):
            for name in columns:
                if name not in frame:
                    raise ValueError(
                        f"a partition must have a column {name!r}, as the meta of df "
                        f"has, got {', '.join(map(str, frame.columns))}"
                    )
            for name in frame:
                if only and name not in given:
                    raise ValueError(
                        f"a partition must not have a column {name!r}, which the meta "
                        "of df does not have: give df the right meta, or name the "
                        "features"
                    )
            return _as_meta(frame, meta, names.qid)

    # so that readers read these columns only
    read = df[columns] if of_a_reader else df
    selected = read.map_partitions(select, meta=meta, enforce_metadata=False)
    rows = _in_own_partitions(selected)
    if not shuffle:
        return rows
    # with an open client, Dask may choose a method that needs its workers
    method = None
    if not hasattr(dask.base.get_scheduler(), "__self__"):
        method = dask.config.get("dataframe.shuffle.method", None) or "disk"
    return rows.shuffle(names.qid, ignore_index=True, shuffle_method=method)


def _as_meta(frame: Any, meta: Any, qid: str) -> Any:
    """Select the columns of a partition, in dtypes that agree with the meta.

    A shuffle makes floats of integers that come together with floats, and texts of all
    that comes together with texts.
    """
    if not len(frame):  # the dtypes of an empty partition are arbitrary
        return meta
    columns = {}
    for name, dtype in meta.dtypes.items():
        try:
            columns[name] = _of_kind(frame[name], dtype, is_id=name == qid)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"column {name!r} must hold {dtype}, as the meta of df says, got "
                f"{frame[name].dtype} ({error})"
            ) from None
    return pandas.DataFrame(columns, index=frame.index)


def _of_kind(column: Any, dtype: Any, *, is_id: bool) -> Any:
    """Cast a column to the dtype of the meta where that changes no value."""
    kind, other = (one.kind.replace("u", "i") for one in (column.dtype, dtype))
    if kind == other or pandas.api.types.is_object_dtype(dtype):
        return column
    if other == "O":
        raise ValueError("values of another kind")
    floats = (kind, other) == ("f", "i")
    if floats and column.isna().any():  # a later check raises, with the row
        return column
    cast = column.astype(dtype)
    # objects of Python are compared exactly, and stay numbers
    same = (cast.astype(object) == column.astype(object)) | column.isna()
    if same.all() and not (floats and exact_numbers.any_large(column)):
        return cast
    if floats and not is_id:
        return column
    raise ValueError("values that this does not hold")


@contextmanager
def _noted(
    info: Mapping[str, Any] | None,
    n_partitions: int,
    ids: Any = None,
    *,
    shuffled: bool = False,
) -> Iterator[None]:
    """Name the partition in errors of the block.

    With the ids of its rows, they name the query, too.
    """
    try:
        yield
    except Exception as error:
        row = None if ids is None else _ROW.search(str(error))
        query = "" if row is None else f", query {ids.tolist()[int(row[1])]!r}"
        error.add_note(
            f"in {'shuffled ' * shuffled}partition {(info or {}).get('number', 0)} "
            f"(of 0 to {n_partitions - 1}){query}"
        )
        raise


def merged(
    rows: Any,
    of_rows: Callable[[Any], tuple[Any, hashing.Digests]],
    both: Callable[[Any, Any], Any],
    qid: str,
    shuffled: bool,
) -> tuple[Any, hashing.Digests]:
    """Reduce each partition, and merge the results in a tree.

    `both` merges the results of two partitions. Digests of query ids are compared in
    one task, to which each is sent once.
    """
    partitions = rows.to_delayed()

    def of_partition(frame: Any, number: int) -> tuple[Any, hashing.Digests]:
        if not len(frame):
            return None, np.empty(0, np.uint64)
        with _noted({"number": number}, n_partitions, frame[qid], shuffled=shuffled):
            return of_rows(frame)

    def merge(parts: list[Any]) -> Any:
        some = [part for part in parts if part is not None]
        return reduce(both, some) if some else None

    def compare(parts: list[hashing.Digests]) -> Any:
        return seen_queries.repeated(parts), np.sort(np.concatenate(parts))

    n_partitions = len(partitions)
    token, measure = uuid4().hex, delayed(of_partition, nout=2)
    reduced = [
        measure(part, number, dask_key_name=(f"measure-{token}", number))
        for number, part in enumerate(partitions)
    ]
    compared = delayed(compare)([digests for _, digests in reduced])
    tree = [part for part, _ in reduced]
    while len(tree) > 1:
        tree = [delayed(merge)(tree[i : i + 8]) for i in range(0, len(tree), 8)]
    whole, (repeated, digests) = dask.compute(tree[0], compared)
    if repeated is not None:
        digest, numbers = repeated
        raise ValueError(_repeated_query(digest, numbers, partitions, qid, shuffled))
    if whole is None:
        raise ValueError("df must hold at least one row, got none")
    return whole, digests


def _repeated_query(
    digest: np.uint64,
    numbers: list[int],
    partitions: list[Any],
    qid: str,
    shuffle: bool,
) -> str:
    """Return the message on a query in several partitions; two are read again."""
    look, (first, second) = delayed(_ids_with_digest), numbers[:2]
    two = [look(partitions[number], qid, digest) for number in (first, second)]
    queries = [query for ids in dask.compute(*two) for query in ids]
    for other in queries[1:]:
        if queries[0] != other:
            return seen_queries.same_digest(queries[0], other, qid)
    # data that change between readings may lack the query
    name = f"with the digest {digest:#018x}"
    if queries:
        query = queries[0]
        name = str(query) if isinstance(query, np.generic) else repr(query)
    got = (
        f"got query {name} in partitions {first} and {second} (of 0 to "
        f"{len(partitions) - 1})"
    )
    if shuffle:  # Dask's shuffle hashes ids of unlike types differently
        return f"{qid} must have equal ids of one type, {got}"
    return (
        f"{qid} must have all rows of a query in one partition without shuffle, {got}: "
        "use shuffle=True, or leave out partitions that repeat others"
    )


def _ids_with_digest(frame: Any, qid: str, digest: np.uint64) -> list[Any]:
    """Return the query ids of a partition that have this digest."""
    if not len(frame):
        return []
    ids = checks.check_qid(frame[qid], n_rows=len(frame), name=qid).qid
    matching = ids[hashing.value_bits(ids) == digest]
    # tolist would turn times into integers
    return list(matching) if matching.dtype.kind in "mM" else matching.tolist()
