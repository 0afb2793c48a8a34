"""Exact numbers: values of any kind as arrays, where no rounding makes two equal."""

from decimal import Decimal
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from .._display import words
from . import messages

#: whole numbers up to here are 64-bit floats, all of them
LARGEST_EXACT = 2**53
#: kinds of NumPy's scalars that float() would take: times, complex numbers
_NO_NUMBERS = set("mMc")


def is_missing(value: Any) -> bool:
    """None, NaN of any kind, NaT, NA or a masked value, and what holds one of them."""
    if isinstance(value, str):
        return False
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # such as of arrays
        return False


def none_for_masked(values: Any) -> Any:
    """Values, as objects where some are masked: None stands for these."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        # NumPy takes a filling of None for a question mark
        objects = np.ma.getdata(values).astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    return values


def one_dimensional(values: Any, name: str) -> NDArray[Any]:
    """An array of one value per row; a single column is taken, with a warning."""
    if values is None:
        raise ValueError(f"{name} must be a 1-D array, got None")
    if not isinstance(values, (np.ndarray, list)):
        values = from_tensor(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a 1-D array: {error}") from None
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
    """Whether labels are a matrix with a query in each row.

    A column is none, unless a mask says what is padding in it.
    """
    shape: tuple[int, ...] = getattr(y_true, "shape", None) or ()
    if isinstance(y_true, (list, tuple)) and len(y_true):
        first = y_true[0]
        listed = isinstance(first, (list, tuple))
        shape = 0, *((len(first),) if listed else getattr(first, "shape", ()))
    return len(shape) == 2 and (masked or shape[1] != 1)


def numbers_of(
    values: Any, name: str, place: messages.Place = messages.in_row
) -> NDArray[Any]:
    """Numbers, one per row, of their own dtype or as floats; what is missing is NaN.

    Raises
    ------
    ValueError
        For what is no number, and numbers that differ and are one as 64-bit floats,
        where there is no dtype for all of them.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        if values.dtype.kind in "biu" and fits_floats(values.data):
            values = values.astype(np.float64)
        floats = values.dtype.kind == "f"
        values = values.filled(np.nan) if floats else none_for_masked(values)
    array = one_dimensional(values, name)
    kind = array.dtype.kind
    if kind == "O":
        return _numbers_of_objects(array.tolist(), name, place)
    # floats that were made of other numbers
    if kind == "f" and _kind(values) != "f" and any_large(array[np.isfinite(array)]):
        return _numbers_of_objects(as_given(from_tensor(values, name)), name, place)
    if kind not in "biuf":
        raise _not_numeric(array.tolist()[0], str(array.dtype), name, place(0))
    return array


def _not_numeric(value: Any, dtype: str, name: str, place: str) -> ValueError:
    got = f"got dtype {dtype} with {messages.show(value)} in {place}"
    is_text = isinstance(value, (str, bytes))
    way = " (astype(float) reads texts of numbers)" if is_text else ""
    return ValueError(f"{name} must be numeric, {got}{way}")


def floats_of(
    values: Any, name: str, place: messages.Place = messages.in_row
) -> NDArray[np.float64]:
    """Numbers as 64-bit floats, unless that makes one of two.

    Other errors are those of `numbers_of`.
    """
    numbers = numbers_of(values, name, place)
    floats: NDArray[np.float64] = numbers.astype(np.float64, copy=False)
    if not fits_floats(numbers):
        order = np.argsort(numbers)
        exact, rounded = numbers[order], floats[order]
        one = (exact[1:] != exact[:-1]) & (rounded[1:] == rounded[:-1])
        if one.any():
            at = int(np.argmax(one))
            raise ValueError(_one_of_two(exact[at], exact[at + 1], name))
    return floats


def in_32_bits(values: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers as trec_eval holds them; all beyond its range are alike, -inf is kept."""
    # it reads 64 bits first; whoever asks for 32 bits asks for rounding
    floats, limit = values.astype(np.float64), float(np.finfo(np.float32).max)
    there = floats != -np.inf
    return np.where(there, np.clip(floats, -limit, limit), -np.inf).astype(np.float32)


def fits_floats(values: NDArray[Any]) -> bool:
    """Whether 64-bit floats tell all numbers of such an array apart, for certain."""
    kind, itemsize = values.dtype.kind, values.dtype.itemsize
    if itemsize < 8 or kind not in "iuf" or (kind == "f" and itemsize == 8):
        return True
    if kind == "f":
        return not len(values)
    return max(int(values.max(initial=0)), -int(values.min(initial=0))) <= LARGEST_EXACT


def first_rounded(values: NDArray[Any]) -> int | None:
    """The row of the first number that is another one as a 64-bit float."""
    if fits_floats(values):
        return None
    # Python compares integers with floats exactly
    numbers = enumerate(values.tolist())
    return next((row for row, number in numbers if float(number) != number), None)


def _kind(value: Any) -> str:
    """The kind of the dtype that an array or a scalar has, if it has one."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))


def any_large(floats: Any) -> bool:
    """Whether any float may stand for more than one whole number."""
    with np.errstate(over="ignore"):  # float16 does not reach so far
        return bool((np.abs(floats) >= LARGEST_EXACT).any())


def as_given(values: Any) -> list[Any]:
    """The values themselves of a list, a series of pandas or polars, or of Arrow."""
    for method in ("to_pylist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return np.array(values, dtype=object).ravel().tolist()


def _numbers_of_objects(
    values: list[Any], name: str, place: messages.Place
) -> NDArray[Any]:
    """Numbers of any types: floats, or integers where these are all that there are."""
    numbers, plain = np.empty(0, object), (int, float, np.number, np.bool_)
    if all(issubclass(kind, plain) for kind in {type(value) for value in values}):
        numbers = np.asarray(values)
    if numbers.dtype.kind not in "biuf":
        floats = (_as_float(value, name, place, i) for i, value in enumerate(values))
        numbers = np.array(list(floats))
    elif numbers.dtype.kind != "f" or not any_large(numbers[np.isfinite(numbers)]):
        return numbers
    whole = all(isinstance(value, (int, np.integer)) for value in values)
    if whole and min(values) >= 0 and max(values) < 2**64:
        return np.array(values, dtype=np.uint64)
    there = numbers == numbers
    exact = list(map(exact_number, compress(values, there)))
    floats = numbers[there].tolist()
    first = dict(zip(reversed(floats), reversed(exact), strict=True))
    for number, one in zip(floats, exact, strict=True):
        if first[number] != one:
            raise ValueError(_one_of_two(first[number], one, name))
    return numbers


def _as_float(value: Any, name: str, place: messages.Place, row: int) -> float:
    is_number = isinstance(value, (int, float, Decimal))  # the rest takes longer
    if not is_number and is_missing(value):
        return np.nan
    other = isinstance(value, (str, bytes)) or _kind(value) in _NO_NUMBERS
    if is_number or not (other or np.ndim(value)):
        try:
            return float(value)
        except OverflowError:
            got = f"got {messages.show(value)} in {place(row)}"
            raise ValueError(f"{name} must fit 64-bit floats, {got}") from None
        except (TypeError, ValueError):
            pass
    raise _not_numeric(value, "object", name, place(row))


def exact_number(value: Any) -> Any:
    """A number that Python compares exactly with those of other kinds."""
    return value.item() if isinstance(value, np.generic) else value


def _one_of_two(first: Any, second: Any, name: str) -> str:
    first, second = (messages.show(exact_number(one)) for one in (first, second))
    return (
        f"{name} must not hold numbers that differ but are equal as 64-bit floats, got "
        f"{first} and {second} (pass an array of one integer dtype, or the ranks of "
        "the values)"
    )


#: DLPack's numbers of devices whose memory the CPU can read
_ON_CPU = {1, 3, 11, 13}


def from_tensor(values: Any, name: str) -> Any:
    """A tensor as an array, by ``__array__`` or ``__dlpack__``; all else as it is.

    Raises
    ------
    ValueError
        For tensors that are not in the memory of the CPU, or of a dtype that NumPy
        does not have, and for sparse matrices, of which NumPy makes no array.
    """
    is_array = isinstance(values, (np.ndarray, np.generic, list))
    if is_array or hasattr(values, "to_pylist"):
        return values
    if hasattr(values, "tocsr"):
        got = f"got a {type(values).__name__}: toarray() makes it so, with 0 elsewhere"
        raise ValueError(f"{name} must be dense, {got}")
    if callable(getattr(values, "detach", None)):
        # torch makes no array of a tensor that requires gradients
        values = values.detach()
    if hasattr(values, "__dlpack_device__"):
        kind, number = values.__dlpack_device__()
        rule = f"{name} must be in the memory of the CPU, got a tensor on device"
        way = "move it there, with .cpu() in torch or .get() in CuPy"
        here = int(kind) in _ON_CPU
        messages.require(here, f"{rule} {number} of DLPack type {int(kind)}: {way}")
    elif hasattr(values, "shape") or not hasattr(values, "__array__"):
        return values
    read = np.asarray if hasattr(values, "__array__") else np.from_dlpack
    try:
        return read(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        rule = f"{name} must be an array that NumPy can read"
        raise ValueError(f"{rule}: {error}") from None
