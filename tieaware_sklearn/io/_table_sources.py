"""Tables and streams of tables of other libraries, read some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._display import warn
from .._engine import numbers_of
from .._optional import import_optional
from ._table_columns import are_numbers_as_text
from ._table_pieces import Piece, pieces
from ._tabular_cells import one_matrix
from ._whole_queries import whole_queries
from ._wording import listed

#: rows that are read together, if nothing else is said
_ROWS = 1 << 16


def tables_of(source: Any, n_rows: int = _ROWS) -> Iterable[Any] | None:
    """The rows of a table, a dataset or a plan, some at a time; None of what is none.

    Those of pandas, polars and Arrow as they are, all else that exports a stream of
    Arrow as record batches.
    """
    piece = Piece(source, 0)
    if piece.kind:
        starts = range(0, max(piece.n_rows, 1), n_rows)
        return (piece.rows(at, min(at + n_rows, piece.n_rows)).table for at in starts)
    if hasattr(source, "read"):  # a file that is open
        return None
    if isinstance(source, (list, tuple)):
        return source if source and Piece(source[0], 0).kind else None
    kinds = {(t.__module__.partition(".")[0], t.__name__) for t in type(source).__mro__}
    if ("polars", "LazyFrame") in kinds:
        if not hasattr(source, "collect_batches"):
            raise ValueError(
                "a polars LazyFrame needs its method collect_batches, which this "
                "version of polars does not have: install a newer one, or collect()"
            )
        every: Iterable[Any] = source.collect_batches(
            chunk_size=n_rows, maintain_order=True
        )
        return every
    if ("pyarrow", "RecordBatchReader") in kinds:
        every = source
        return every
    if ("pyarrow", "Dataset") in kinds or ("pyarrow", "Scanner") in kinds:
        sized = {"batch_size": n_rows} if ("pyarrow", "Dataset") in kinds else {}
        every = source.to_batches(**sized)
        return every
    if "DuckDBPyRelation" in {name for _, name in kinds}:
        # old ones export no stream by the protocol of Arrow
        new = getattr(source, "to_arrow_reader", None)
        every = (new or source.fetch_arrow_reader)(n_rows)
        return every
    if hasattr(source, "__arrow_c_stream__"):
        arrow = import_optional("pyarrow", extra="io", purpose="reading Arrow")
        every = arrow.RecordBatchReader.from_stream(source)
        return every
    return None


def peeked(source: Any) -> Any:
    """An iterator of paths as a list, and one of tables as such with a first one."""
    if type(source).__module__.startswith(("pyarrow", "polars", "duckdb")):
        return source
    if not isinstance(source, Iterator) or hasattr(source, "read"):
        return source
    for first in source:
        if Piece(first, 0).kind:
            return chain([first], source)
        is_path = isinstance(first, (str, os.PathLike))
        return [first, *source] if is_path else [first]
    return []


def check_paths(source: Any) -> None:
    """What is no table must be a path, or several.

    Raises
    ------
    ValueError
        If it is not; what can be read is listed.
    """
    if isinstance(source, (str, os.PathLike)):
        return
    several = isinstance(source, Iterable) and not hasattr(source, "read")
    wrong = [source] if not several or isinstance(source, bytes) else []
    wrong += [] if wrong else [
        one for one in source if not isinstance(one, (str, os.PathLike))
    ]  # fmt: skip
    if wrong:
        raise ValueError(
            "path must be a path, a list of paths, a table or plan of pandas, polars, "
            "Arrow or DuckDB, a stream of Arrow, or an iterable of tables, got "
            f"{'' if wrong[0] is source else 'a '}{_type_of(wrong[0])}"
            f"{'' if wrong[0] is source else ' in a ' + _type_of(source)}"
        )


def _type_of(value: Any) -> str:
    return type(value).__name__


def kind_of_source(source: Any) -> str:
    """What messages and descriptions call it."""
    own = type(source)
    return f"{own.__module__.partition('.')[0]} {own.__name__}"


def batches_of_tables(
    tables: Iterable[Any],
    kind: str,
    *,
    label: str,
    qid: str,
    ignore: Sequence[str],
    n_rows: Callable[[int], int],
) -> Iterator[Bunch]:
    """Batches of whole queries of tables, which are read once.

    `n_rows` tells the rows of a batch with so many features.
    """
    waiting = iter(tables)
    first = next(waiting, None)
    if first is None:
        raise _no_rows(kind)
    head = next(pieces([first], [], empty=True))
    head.check_columns([label, qid])
    numeric = head.numeric()
    for name in ignore:
        if name not in head.names or name in (label, qid):
            raise ValueError(
                f"ignore must name a feature, got {name!r} (columns: "
                f"{listed(head.names)})"
            )
    if label not in numeric:
        raise ValueError(f"a {kind}: column {label!r} must hold numbers")
    others = [name for name in head.names if name not in (label, qid, *ignore)]
    features = [name for name in others if name in numeric]
    texts = [
        name
        for name in others
        if name not in numeric and are_numbers_as_text(head.column(name))
    ]
    if texts:
        warn(
            f"a {kind}: columns of text are not features, though they hold numbers: "
            f"{listed(texts)} (cast them to numbers, or ignore them)"
        )
    if not features:
        raise ValueError(f"a {kind}: no column but {label!r} and {qid!r} holds numbers")
    least = n_rows(len(features))

    def every() -> Iterator[Any]:
        yield first
        yield from waiting

    return _batches(
        whole_queries(every(), qid, batch_rows=least),
        kind, label, qid, features, [n for n in others if n not in features],
    )  # fmt: skip


def _batches(
    tables: Iterable[Any],
    kind: str,
    label: str,
    qid: str,
    features: list[Any],
    left_out: list[Any],
) -> Iterator[Bunch]:
    start = 0
    for number, table in enumerate(tables):
        piece = Piece(table, number)
        stop = start + piece.n_rows
        place = partial(_place, f"a {kind}", start)

        def column(name: Any, piece: Piece = piece, place: Any = place) -> NDArray[Any]:
            return _numbers(piece, name, place)

        ids = np.asarray(piece.column(qid))
        yield Bunch(
            data=one_matrix([column(name) for name in features]),
            target=np.asarray(column(label), dtype=np.float64),
            qid=ids,
            feature_names=list(features),
            left_out=list(left_out),
            place=place,
            DESCR=f"a {kind}: rows {start} to {stop - 1}, "
            f"{len(piece.queries(qid).offsets) - 1} queries, {len(features)} features",
        )
        start = stop
    if not start:
        raise _no_rows(kind)


def _no_rows(kind: str) -> ValueError:
    return ValueError(f"path must hold at least one row, got none in a {kind}")


def _numbers(piece: Piece, name: Any, place: Any) -> NDArray[Any]:
    """A column of numbers or flags; what is missing is NaN."""
    column = piece.column(name)
    return numbers_of(column, f"column {name!r}", place)


def _place(kind: str, first: int, row: int) -> str:
    """A row of a batch as a message names it, as a function that can be pickled."""
    return f"row {first + row} of {kind}"
