"""Types of arrays, for annotations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
#: Indices into arrays.
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]
