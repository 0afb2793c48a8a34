"""Checking, gathering by query and merging of the partitions of a Dask data frame."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
#: Operations of Dask that call a user's function on each partition. The result of the
#: function may contain other columns than the meta.
_ANY_COLUMNS = {"MapPartitions", "FromMap", "FromDelayed", "FromGraph"}
#: Pattern of a row number in a message.
_ROW = re.compile(r"\bin row (\d+)")


class Names(NamedTuple):
    """Names of the columns that are not features."""

    label: str
    qid: str
    weight: str | None

    def check_weight(self, total: Any) -> None:
        """Check that the total weight is not 0 in every query."""
        if self.weight is not None and not total.any():
            raise ValueError(f"{self.weight} must not be 0 in every query")


def check_frame(df: Any) -> None:
    if not isinstance(df, dd.DataFrame):
        raise ValueError(f"df must be a dask.dataframe.DataFrame, got {type(df)}")


class _Graph(dict[Any, Any]):
    """A graph of tasks whose Dask token depends only on its name."""

    def __init__(self, tasks: Any, name: str) -> None:
        super().__init__(tasks)
        self._name = name

    def __dask_tokenize__(self) -> tuple[str, str]:
        return type(self).__name__, self._name


def _in_own_partitions(df: Any) -> Any:
    """Return an equal data frame whose partitions are not joined by later steps.

    Dask reads several Parquet files as one partition if few of their columns are
    needed. A query that is repeated in two files would then be in one partition.
    """
    # The following steps are Dask's optimisation without the step that joins
    # partitions.
    expr = df.expr.simplify().lower_completely().simplify()
    if hasattr(expr, "fuse"):  # Dask of 2025 lacks this method.
        expr = expr.fuse()
    graph = _Graph(expr.__dask_graph__(), expr._name)
    keys = list(expr.__dask_keys__())
    return dd.from_graph(graph, df._meta, expr.divisions, keys, "as-given")


def gathered(
    df: Any,
    names: Names,
    shuffle: bool,
    data_columns: Sequence[str] = (),
    *,
    only: bool = False,
) -> Any:
    """Select columns, and bring the rows of each query into one partition.

    Every partition must contain these columns, with dtypes of the same kinds as in the
    meta of `df`. With `only`, no partition may contain columns that the meta lacks.
    """
    checks.check_flag(shuffle, "shuffle")
    columns = [name for name in names if name is not None]
    columns += data_columns
    check_frame(df)
    _arrow.check_different(columns, "label, qid, score, query_weight and others")
    df_columns = list(df.columns)
    for name in columns:
        if df_columns.count(name) != 1:
            shown = ", ".join(map(str, df_columns))
            raise ValueError(f"df must have exactly one column {name!r}, got {shown}")
    meta = df._meta[columns]
    n_partitions = df.npartitions
    operations = {type(expr).__name__ for expr in df.expr.walk()}

    def select(frame: Any, partition_info: Any = None) -> Any:
        number = partition_info["number"] if partition_info else 0
        with _noted(number, n_partitions):
            for name in columns:
                if name not in frame:
                    raise ValueError(
                        f"every partition must have the column {name!r} of the meta "
                        f"of df, got {', '.join(map(str, frame.columns))}"
                    )
            for name in frame:
                if only and name not in df_columns:
                    raise ValueError(
                        f"no partition may have the column {name!r}, which the meta of "
                        "df lacks: give df the right meta, or pass a list of features"
                    )
            return _as_meta(frame, meta, names.qid)

    if operations.isdisjoint(_ANY_COLUMNS):
        # After this selection, readers read only these columns. From the results of a
        # user's function, columns are selected later by `select`, which checks them.
        df = df[columns]
    selected = df.map_partitions(select, meta=meta, enforce_metadata=False)
    rows = _in_own_partitions(selected)
    if not shuffle:
        return rows
    # With an open client, Dask may choose a shuffle method that needs the client's
    # workers. The scheduler is then a method of the client and has `__self__`.
    method = None
    if not hasattr(dask.base.get_scheduler(), "__self__"):
        method = dask.config.get("dataframe.shuffle.method", None) or "disk"
    return rows.shuffle(names.qid, ignore_index=True, shuffle_method=method)


def _as_meta(frame: Any, meta: Any, qid: str) -> Any:
    """Select the columns of a partition, in dtypes that agree with the meta.

    If partitions differ in dtype, a shuffle converts integers to floats if the column
    also contains floats, and all values to text if the column also contains text.
    """
    if not len(frame):  # The dtypes of an empty partition are arbitrary.
        return meta
    columns = {}
    for name, dtype in meta.dtypes.items():
        try:
            columns[name] = _of_kind(frame[name], dtype, is_id=name == qid)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"column {name!r} must have the dtype of the meta of df, {dtype}, got "
                f"{frame[name].dtype} ({error})"
            ) from None
    return pandas.DataFrame(columns, index=frame.index)


def _of_kind(column: Any, dtype: Any, *, is_id: bool) -> Any:
    """Cast a column to the dtype of the meta if the cast changes no value."""
    kind = column.dtype.kind.replace("u", "i")
    meta_kind = dtype.kind.replace("u", "i")
    if kind == meta_kind or pandas.api.types.is_object_dtype(dtype):
        return column
    if meta_kind == "O":
        raise ValueError("values of another kind")
    is_float_for_integer = kind == "f" and meta_kind == "i"
    if is_float_for_integer and column.isna().any():
        # A later check raises an error that names the row.
        return column
    cast = column.astype(dtype)
    # Python objects are compared exactly, and numbers stay numbers.
    same = (cast.astype(object) == column.astype(object)) | column.isna()
    # Large floats may be integers that have been rounded.
    if same.all() and not (is_float_for_integer and exact_numbers.any_large(column)):
        return cast
    # Floats stay floats, except ids, whose kind must be the same in all partitions.
    if is_float_for_integer and not is_id:
        return column
    raise ValueError(f"values that {dtype} cannot represent")


@contextmanager
def _noted(
    number: int, n_partitions: int, ids: Any = None, *, shuffled: bool = False
) -> Iterator[None]:
    """Add a note that names the partition to errors raised in the block.

    If the query ids of the rows are passed, the note also names the query.
    """
    try:
        yield
    except Exception as error:
        partition = "shuffled partition" if shuffled else "partition"
        note = f"in {partition} {number} (numbered 0 to {n_partitions - 1})"
        row = _ROW.search(str(error))
        if ids is not None and row is not None:
            query = ids.tolist()[int(row[1])]
            note += f", query {query!r}"
        error.add_note(note)
        raise


def merged(
    rows: Any,
    reduce_rows: Callable[[Any], tuple[Any, hashing.Digests]],
    merge_two: Callable[[Any, Any], Any],
    qid: str,
    shuffled: bool,
) -> tuple[Any, hashing.Digests]:
    """Reduce each partition, and merge the results in a tree.

    `merge_two` merges the results of two partitions. A single task compares the digests
    of the query ids. Each digest is sent to this task once.
    """
    partitions = rows.to_delayed()
    n_partitions = len(partitions)

    def reduce_partition(frame: Any, number: int) -> tuple[Any, hashing.Digests]:
        if not len(frame):
            return None, np.empty(0, np.uint64)
        with _noted(number, n_partitions, frame[qid], shuffled=shuffled):
            return reduce_rows(frame)

    def merge(parts: list[Any]) -> Any:
        whole = None
        for part in parts:
            if whole is None:
                whole = part
            elif part is not None:
                whole = merge_two(whole, part)
        return whole

    def compare(parts: list[hashing.Digests]) -> Any:
        return seen_queries.repeated(parts), np.sort(np.concatenate(parts))

    task = f"measure-{uuid4().hex}"
    measure = delayed(reduce_partition, nout=2)
    tree = []
    all_digests = []
    for number, partition in enumerate(partitions):
        part, digests = measure(partition, number, dask_key_name=(task, number))
        tree.append(part)
        all_digests.append(digests)
    compared = delayed(compare)(all_digests)
    while len(tree) > 1:
        tree = [delayed(merge)(tree[i : i + 8]) for i in range(0, len(tree), 8)]
    whole, (repeated, digests) = dask.compute(tree[0], compared)
    if repeated is not None:
        digest, numbers = repeated
        raise ValueError(_repeated_query(digest, numbers, partitions, qid, shuffled))
    if whole is None:
        raise ValueError("df must contain at least one row, got none")
    return whole, digests


def _repeated_query(
    digest: np.uint64,
    numbers: list[int],
    partitions: list[Any],
    qid: str,
    shuffle: bool,
) -> str:
    """Return the error message about a query in several partitions.

    The first two of these partitions are read again to find the query.
    """
    first, second = numbers[:2]
    find_ids = delayed(_ids_with_digest)
    tasks = [find_ids(partitions[number], qid, digest) for number in (first, second)]
    queries = []
    for ids in dask.compute(*tasks):
        queries += ids
    for query in queries:
        if query != queries[0]:
            return seen_queries.same_digest(queries[0], query, qid)
    # If the data have changed since the first reading, the query may be missing.
    name = f"with the digest {digest:#018x}"
    if queries:
        query = queries[0]
        name = str(query) if isinstance(query, np.generic) else repr(query)
    places = (
        f"got query {name} in partitions {first} and {second} (numbered 0 to "
        f"{len(partitions) - 1})"
    )
    if shuffle:  # Dask's shuffle hashes ids of different types differently.
        return f"{qid} must have ids of one type in all partitions, {places}"
    return (
        f"{qid} must have all rows of a query in one partition with shuffle=False, "
        f"{places}: set shuffle=True, or leave out repeated partitions"
    )


def _ids_with_digest(frame: Any, qid: str, digest: np.uint64) -> list[Any]:
    """Return the query ids of a partition that have this digest."""
    if not len(frame):
        return []
    ids = checks.check_qid(frame[qid], n_rows=len(frame), name=qid).qid
    matching = ids[hashing.value_bits(ids) == digest]
    # `tolist` would convert times to integers.
    return list(matching) if matching.dtype.kind in "mM" else matching.tolist()
