"""Matrices of features: what their cells may be, and that none of them is rounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exact import fits_floats, numbers_of, show
from .qid_column import array_of, list_columns

#: how the names of dtypes begin, in lower case, of pandas, polars and Arrow: of texts,
_TEXT = ("object", "str", "utf8", "large_str", "cat", "enum", "dictionary")
#: of times,
_TIMES = ("date", "time", "duration")
#: and of numbers that floats may not hold
_WIDE = ("int64", "uint64", "int128", "uint128", "decimal", "object", "cat")
#: numbers as people write them: 1,234,567.8 and 1.234.567,8; 3,14
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}([,.' ])\d{3}(?:\1\d{3})*(?:([.,])\d+)?\s*")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,)\d+\s*")


def check_kinds(X: Any, *, hint: str = "") -> None:
    """Refuse, naming them, columns of text or times; the `hint` is for text.

    In the hint, {} is the name of the column. Numbers that pandas can read have one
    of their own.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X must be real, got {X.dtype}")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X must hold numbers, got an array of {X.dtype}")
    for j, name, dtype in _columns_of(X):
        if dtype.startswith(_TIMES):
            raise ValueError(
                f"X must hold numbers, got {dtype} in column {name!r} (convert times "
                "to integers, which keep their order)"
            )
        for value in _each(_cells(X, j)) if dtype.startswith(_TEXT) else ():
            if isinstance(value, str) and not _is_number(value):
                advice = how_to_read(value) or (
                    f"leave the column out, or encode it{hint.format(repr(name))}"
                )
                raise ValueError(
                    f"X must hold numbers, got {show(value)} in column {name!r} "
                    f"({advice})"
                )


def how_to_read(text: str) -> str:
    """What makes a number of a text such as "2,624", or nothing for other texts."""
    thousands, decimal = None, None
    if found := _GROUPED.fullmatch(text):
        thousands, decimal = found.groups()
    elif found := _DECIMAL_COMMA.fullmatch(text):
        decimal = found[1]
    else:
        return ""
    options = [f"thousands={thousands!r}"] if thousands else []
    options += [f"decimal={decimal!r}"] if decimal == "," else []
    return f"pandas.read_csv(..., {', '.join(options)}) reads such numbers"


def check_no_nan(
    X: Any, names: Any, advice: str = 'missing="last" ranks it below every value'
) -> None:
    """Refuse NaN in a matrix, dense or sparse, whose columns may have names."""
    values = X.tocoo() if hasattr(X, "tocoo") else X
    cells = values.data if values is not X else X
    if cells.dtype.kind != "f" or not (missing := np.isnan(cells)).any():
        return
    columns = values.col[missing] if values is not X else np.nonzero(missing)[1]
    counts = np.bincount(columns)
    first = int(np.flatnonzero(counts)[0])
    name = first if names is None else repr(names[first])
    others = int((counts > 0).sum()) - 1
    more = f" and {others} more" if others else ""
    raise ValueError(
        f"X must not hold NaN, got {counts[first]} in column {name}{more} ({advice})"
    )


def without_mask(X: Any) -> Any:
    """X, with NaN where it is masked."""
    if not (isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X)):
        return X
    return np.ma.filled(X.astype(np.float64), np.nan)


def keep_order(X: Any, given: Any) -> Any:
    """X, made of what was `given`, with the order and the ties of each column of that.

    Integers that the floats of X do not tell apart, in a column of their own dtype,
    are replaced by their ranks.

    Raises
    ------
    ValueError
        For numbers that differ and are one in X, in a column without such a dtype.
    """
    if hasattr(X, "tocsr") or X.dtype.kind != "f":
        return X
    ranked = {}
    for j, name, cells in _wide_columns(X, given):
        numbers = numbers_of(cells, f"column {name!r} of X")
        if numbers.dtype.kind in "iu" and not fits_floats(numbers):
            ranked[j] = np.unique(numbers, return_inverse=True)[1]
    if ranked:
        # it may be the array that was given
        X = X.copy()
    for j, ranks in ranked.items():
        X[:, j] = ranks
    return X


def _wide_columns(X: NDArray[Any], given: Any) -> Iterator[tuple[int, Any, Any]]:
    """Place, name and cells of columns of which X may have rounded numbers."""
    if not hasattr(given, "shape"):
        given = array_of(given)
    if isinstance(given, np.ndarray):
        kind = given.dtype.kind
        masked = isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given)
        if kind == "O" or (masked and kind in "iu"):
            for j in range(X.shape[1]):
                if not _holds_text(given[:, j]):
                    yield j, j, given[:, j]
        return
    for j, name, dtype in _columns_of(given):
        if dtype.startswith(_WIDE):
            cells = _cells(given, j)
            if not (dtype.startswith(_TEXT) and _holds_text(cells)):
                yield j, name, cells


def _columns_of(X: Any) -> Iterator[tuple[int, Any, str]]:
    """Place, name and name of the dtype of each column of a data frame or table."""
    names = list_columns(X)
    if not names:
        return
    dtypes = X.schema.types if hasattr(X, "column_names") else list(X.dtypes)
    for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        yield j, name, str(dtype).lower()


def _cells(X: Any, j: int) -> Any:
    """A column of a data frame or table."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.column(j) if hasattr(X, "column_names") else X[:, j]


def _each(cells: Any) -> Iterable[Any]:
    """Python's values of a column; Arrow has its own."""
    values: Iterable[Any] = cells.to_pylist() if hasattr(cells, "to_pylist") else cells
    return values


def _holds_text(cells: Any) -> bool:
    return any(isinstance(value, (str, bytes)) for value in _each(cells))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
