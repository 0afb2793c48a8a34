"""How finely scores tell documents apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware_sklearn.score_precision._coarse_systems import score_detail


def test_bits_and_ties_of_scores():
    from tieaware_sklearn._engine.validation import check_qid

    scores = np.array([1.0, 1.0, 2.0, 3.0, -math.inf, 5.0, -math.inf])
    queries = check_qid([1, 2, 1, 1, 1, 2, 3], n_rows=7)
    bits, tied = score_detail(scores, queries)
    assert bits == pytest.approx((math.log2(3) + math.log2(2)) / 2)
    assert tied == 0
    assert score_detail(np.array([4, 4, 1]), check_qid(None, n_rows=3)) == (1, 2 / 3)
    nothing = np.array([-math.inf])
    assert score_detail(nothing, check_qid(None, n_rows=1)) == (0, 0)
