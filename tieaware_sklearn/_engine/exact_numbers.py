"""Conversion to arrays of numbers in their own dtype, with objects as floats."""

from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from .._display import words
from .._typing import Array, FloatArray
from . import messages

#: 64-bit floats represent all integers up to this number, but not the next integer.
LARGEST_EXACT = 2**53


def is_missing(value: Any) -> bool:
    """Return whether a value, or an element of a tuple, is None, NaN, NaT or NA."""
    # The type of pandas.NA is recognised by its name, because pandas may be missing.
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # Arrays have no truth value.
        return False


def check_not_masked(values: Any, name: str) -> None:
    """Refuse masked arrays, whose masks most functions of NumPy ignore."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} must not be a masked array, got shape {values.shape}: replace "
            "masked values by NaN with .astype(float).filled(np.nan)"
        )


def as_array(values: Any, name: str) -> Array:
    """Return an array of any values, by `numpy.asarray` or DLPack.

    Raises
    ------
    ValueError
        If the values are None, a masked array, a sparse matrix, lists of unequal
        length, or a tensor that NumPy cannot read, such as a tensor on a GPU.
    """
    if type(values) is np.ndarray:
        return values
    if values is None:
        raise ValueError(f"{name} must be an array, got None")
    check_not_masked(values, name)
    if hasattr(values, "tocsr"):
        raise ValueError(
            f"{name} must be dense, got a {type(values).__name__}: convert the matrix "
            "with toarray(), which fills empty cells with 0"
        )
    if callable(getattr(values, "detach", None)):
        # PyTorch does not convert tensors that require gradients.
        values = values.detach()
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ValueError(
            f"{name} must be an array that NumPy can read. If rows differ in length, "
            f"pad labels and scores with NaN. The error was: {error}"
        ) from None


def one_dimensional(values: Any, name: str) -> Array:
    """Return an array of one value per row. A column is flattened, with a warning."""
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        words.warn(
            f"{name} must be 1-dimensional, got a column of shape {array.shape}, which "
            "is flattened",
            DataConversionWarning,
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-dimensional, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got 0 rows")
    return array


def are_lists(y_true: Any, *, masked: bool) -> bool:
    """Return whether labels are a matrix with one query in each row.

    A single column is not a matrix of queries, unless a mask marks its padding.
    """
    shape = as_array(y_true, "y_true").shape
    return len(shape) == 2 and (masked or shape[1] != 1)


def numbers_of(
    values: Any, name: str, place: messages.Place = messages.in_row
) -> Array:
    """Return one number per row, in the dtype of an array of numbers.

    Objects become 64-bit floats, and missing values among objects become NaN.

    Raises
    ------
    ValueError
        If there is no value, if the values are not one-dimensional, or if a value is
        not a number.
    """
    array = one_dimensional(values, name)
    if array.dtype.kind == "O":
        return _floats_of_objects(array, name, place)
    if array.dtype.kind not in "biuf":
        raise _not_numeric(array[:1].tolist()[0], str(array.dtype), name, place(0))
    return array


def floats_of(
    values: Any, name: str, place: messages.Place = messages.in_row
) -> FloatArray:
    """Return one 64-bit float per row. Errors are raised as in `numbers_of`."""
    return numbers_of(values, name, place).astype(np.float64, copy=False)


def _floats_of_objects(objects: Array, name: str, place: messages.Place) -> FloatArray:
    values = objects.tolist()
    if set(map(type, values)) <= {int, float}:
        with suppress(OverflowError):  # NumPy is faster, but its error names no row.
            return np.array(values, dtype=np.float64)
    floats = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, (int, float, Real, Decimal, np.bool_)):
            try:
                floats[row] = float(value)
            except OverflowError:
                raise ValueError(
                    f"{name} must contain numbers that fit in 64-bit floats, got "
                    f"{messages.show(value)} in {place(row)}"
                ) from None
        elif not is_missing(value):
            raise _not_numeric(value, "object", name, place(row))
    return floats


def _not_numeric(value: Any, dtype: str, name: str, place: str) -> ValueError:
    advice = ""
    if isinstance(value, (str, bytes)):
        advice = ". If the strings contain numbers, convert them with astype(float)"
    return ValueError(
        f"{name} must be numeric, got dtype {dtype} with {messages.show(value)} in "
        f"{place}{advice}"
    )


def in_32_bits(values: Array) -> NDArray[np.float32]:
    """Return numbers as the 32-bit floats that trec_eval stores.

    Numbers above the range of these floats become the largest float, and tie. Numbers
    below the range become the most negative float, and also tie.
    """
    # trec_eval rounds twice: it reads a 64-bit float and stores a 32-bit float.
    floats = values.astype(np.float64)
    limit = float(np.finfo(np.float32).max)
    clipped = np.clip(floats, -limit, limit)
    # -inf is not a number, but marks documents that are not retrieved.
    return np.where(floats == -np.inf, -np.inf, clipped).astype(np.float32)


def fits_floats(values: Array) -> bool:
    """Return whether different numbers surely differ as 64-bit floats.

    Only the dtype and the largest absolute value are checked, so the result may be
    False even if all numbers fit.
    """
    kind = values.dtype.kind
    itemsize = values.dtype.itemsize
    if itemsize < 8 or kind not in "iuf":
        return True
    if kind == "f":
        # Any number of a wider dtype, such as longdouble, may need more digits.
        return itemsize == 8 or not len(values)
    largest = int(values.max(initial=0))
    least = int(values.min(initial=0))
    return max(largest, -least) <= LARGEST_EXACT


def first_rounded(values: Array) -> int | None:
    """Return the row of the first number that a 64-bit float cannot represent."""
    if fits_floats(values):
        return None
    # Python compares integers with floats exactly.
    for row, number in enumerate(values.tolist()):
        if float(number) != number:
            return row
    return None


def any_large(floats: Any) -> bool:
    """Return whether any float may stand for more than one whole number."""
    # The bound becomes inf for float16, whose largest number is below the bound.
    with np.errstate(over="ignore"):
        return bool((np.abs(floats) >= LARGEST_EXACT).any())
