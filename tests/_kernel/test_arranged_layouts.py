"""The kernel takes columns of any type and layout, and data without pairs."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn._kernel.arranged import score_columns
from tieaware_sklearn._kernel.engines import ENGINES, compiled, use_engine


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


@pytest.mark.parametrize("name", ENGINES)
def test_queries_of_one_document_have_no_correlation(name):
    if name == "compiled" and compiled is None:
        pytest.skip("the compiled kernel is missing")
    with use_engine(name):
        selector = RankingFeatureSelector().fit([[2, 3], [1, 4]], [1, 0], qid=[1, 2])
    assert selector.screening_.n_queries == 2
