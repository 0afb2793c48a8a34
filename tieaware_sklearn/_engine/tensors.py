"""Tensors of other libraries, as arrays of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: DLPack's numbers of devices whose memory the CPU can read, and names of others
_ON_CPU = {1, 3, 11, 13}
_DEVICES = {2: "CUDA", 8: "Metal", 10: "ROCm", 14: "oneAPI"}


def from_tensor(values: Any, name: str) -> Any:
    """A tensor as an array, by ``__array__`` or ``__dlpack__``; all else as it is.

    Raises
    ------
    ValueError
        For tensors that are not in the memory of the CPU, or of a dtype that NumPy
        does not have, and for sparse matrices, of which NumPy makes no array.
    """
    if isinstance(values, (np.ndarray, np.generic)) or hasattr(values, "to_pylist"):
        return values
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name} must be dense, got a {type(values).__name__}")
    if callable(getattr(values, "detach", None)):
        # torch makes no array of a tensor that requires gradients
        values = values.detach()
    if not hasattr(values, "__dlpack_device__"):
        opaque = hasattr(values, "__array__") and not hasattr(values, "shape")
        return _as_array(values, name) if opaque else values
    kind, number = values.__dlpack_device__()
    if int(kind) not in _ON_CPU:
        device = _DEVICES.get(int(kind), f"DLPack type {int(kind)}")
        raise ValueError(
            f"{name} must be in the memory of the CPU, got a tensor on {device} device "
            f"{number}: move it there, with .cpu() in torch or .get() in CuPy"
        )
    return _as_array(values, name)


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        if hasattr(values, "__array__"):
            return np.asarray(values)
        found: NDArray[Any] = np.from_dlpack(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ValueError(
            f"{name} must be an array that NumPy can read: {error}"
        ) from None
    return found
