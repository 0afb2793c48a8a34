"""What columns of tables hold: numbers or none, and query ids of which kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_optional

#: what query ids are
TEXTS, INTEGERS = "text", "integers"
UNSIGNED = "64-bit integers without a sign"
#: what pandas finds in columns of objects, all of them numbers
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")


def holds_numbers_arrow(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers or flags, or a dictionary of them."""
    types = _arrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(of_type(kind) for of_type in numbers)


def holds_numbers_polars(kind: Any) -> bool:
    """Whether a type of polars is one of numbers or flags."""
    return bool(kind.is_numeric() or kind == _polars().Boolean)


def holds_numbers_pandas(column: Any) -> bool:
    """Whether a column of pandas has a type of numbers or flags, or objects that are.

    Of categories, what they are. Neither durations nor complex numbers are numbers.
    """
    if hasattr(column.dtype, "pyarrow_dtype"):
        return holds_numbers_arrow(column.dtype.pyarrow_dtype)
    values = column.cat.categories if hasattr(column.dtype, "categories") else column
    kind = getattr(values.dtype, "kind", "O")
    if kind != "O":
        return kind in "biuf"
    pandas = import_optional("pandas", extra="io", purpose="a pandas DataFrame")
    return pandas.api.types.infer_dtype(values, skipna=True) in _NUMBERS


def are_numbers_as_text(column: Any) -> bool:
    """Whether the cells of a column are texts, all of which Python reads as numbers."""
    texts = [cell for cell in np.asarray(plain_column(column)).tolist() if cell == cell]
    texts = [cell for cell in texts if cell is not None]
    return bool(texts) and all(map(_is_number, texts))


def _is_number(cell: Any) -> bool:
    try:
        return isinstance(cell, str) and float(cell) is not None
    except ValueError:
        return False


def plain_column(column: Any) -> Any:
    """A column of which NumPy makes an array that holds the same.

    NumPy knows no integers of 128 bits, and of a dictionary of Arrow it gets some value
    where one is missing.
    """
    own = type(column).__module__.partition(".")[0]
    if own == "pyarrow" and _arrow().types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if own == "polars" and str(column.dtype) in ("Int128", "UInt128"):
        return column.cast(_polars().Decimal(38, 0))
    return column


def is_nested(column: Any) -> bool:
    """Whether a column of Arrow or polars has several values in a cell."""
    own = type(column).__module__.partition(".")[0]
    if own == "pyarrow":
        return bool(_arrow().types.is_nested(column.type))
    return own == "polars" and bool(column.dtype.is_nested())


def kind_of_ids(ids: NDArray[Any]) -> str:
    """What query ids are: those of one kind are told apart alike."""
    if ids.dtype.kind == "O":
        return " and ".join(sorted({_kind_of_type(own) for own in set(map(type, ids))}))
    if ids.dtype.kind == "U":
        return TEXTS
    return _kind_of_type(ids.dtype.type, str(ids.dtype))


def _kind_of_type(own: type, name: str | None = None) -> str:
    if issubclass(own, str):
        return TEXTS
    if issubclass(own, np.uint64):
        return UNSIGNED
    if issubclass(own, (bool, np.bool_)):
        return "values of the type bool"
    if issubclass(own, (int, np.integer)) and not issubclass(own, np.timedelta64):
        return INTEGERS
    if issubclass(own, float):  # of 64 bits, those of NumPy are Python's, too
        return "values of the type float64"
    return f"values of the type {name or own.__name__}"


class OneKind:
    """The kind of the query ids of the first batch, which all must have."""

    def __init__(self) -> None:
        self._first: tuple[str, int] | None = None

    def check(self, ids: NDArray[Any], qid: str, number: int) -> None:
        """The ids of a batch are of this kind.

        Raises
        ------
        ValueError
            If they are not: a query of both batches would be two in silence.
        """
        kind = kind_of_ids(ids)
        first, at = self._first = self._first or (kind, number)
        if kind != first:
            raise ValueError(
                f"column {qid!r} of batch {number} must hold {first}, as in batch {at}"
                f", got {kind}: a query of both batches would be two queries (write "
                "the ids of one as those of the other)"
            )


def check_spelled(ids: NDArray[Any], name: str) -> None:
    """Refuse texts that no file could hold."""
    for text in ids.tolist() if ids.dtype.kind in "UO" else ():
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(
                    f"{name} must hold text that UTF-8 can write, got {text!r}, with "
                    "half of a surrogate pair"
                ) from None


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="an Arrow table")


def _polars() -> Any:
    return import_optional("polars", extra="test", purpose="a polars DataFrame")
