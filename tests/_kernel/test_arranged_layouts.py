"""The kernel takes columns of any kind, as they lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn._kernel.arranged import score_columns


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.int64, np.uint64, "f2", "f4", "f8"]
)
def test_columns_lie_one_after_another(dtype, order):
    scores = np.asarray([[3, 1, 0], [0, 2, 1]], dtype=dtype, order=order)
    columns = score_columns(scores)
    assert columns.flags.c_contiguous
    assert columns.dtype in (np.float32, np.float64)
    assert (columns == scores).all()
