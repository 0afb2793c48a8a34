"""Columns of a data frame, checked before any partition is read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Any

from .._engine.exact import show
from .._optional import import_optional
from ._faults import Names

dd, pandas = (
    import_optional(name, extra="dask", purpose="tieaware_sklearn.dask")
    for name in ("dask.dataframe", "pandas")
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
