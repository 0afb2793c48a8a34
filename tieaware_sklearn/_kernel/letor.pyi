import numpy as np
from numpy.typing import NDArray

_Int32 = NDArray[np.int32]
_Int64 = NDArray[np.int64]
_Float = NDArray[np.float64]

def look(text: bytes) -> tuple[int, _Int64, int, int] | None: ...
def parse(
    text: bytes, column: _Int32
) -> tuple[_Float, _Int32, _Int32, _Float] | None: ...
