"""Digits as a retrieval task."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import ranking_score, tie_report
from tieaware_sklearn.datasets import load_digits_retrieval


def test_digits_tie():
    digits = load_digits_retrieval(n_queries=5)
    assert digits.data.shape == (5 * 1796, len(digits.feature_names))
    assert digits.data.dtype.kind == "i"
    assert set(digits.target) == {0, 1}
    assert len(np.unique(digits.qid)) == 5
    for name, column in zip(digits.feature_names, digits.data.T, strict=True):
        assert name in digits.DESCR
        assert tie_report(digits.target, column, qid=digits.qid).tied_documents > 0.5
    hamming = digits.data[:, digits.feature_names.index("hamming")]
    assert -64 <= hamming.min() <= hamming.max() <= 0
    score = ranking_score(digits.target, hamming, qid=digits.qid)
    assert score > 5 * ranking_score(digits.target, hamming * 0, qid=digits.qid)
    again = load_digits_retrieval(n_queries=5, return_X_y_qid=True)
    assert all(
        np.array_equal(a, digits[b])
        for a, b in zip(again, ["data", "target", "qid"], strict=True)
    )
    framed = load_digits_retrieval(n_queries=5, as_frame=True)
    assert framed.data.columns.tolist() == digits.feature_names
    assert np.array_equal(framed.data.to_numpy(), digits.data)
    for n in (0, 1798):
        with pytest.raises(ValueError, match=r"n_queries must be in 1..1797"):
            load_digits_retrieval(n_queries=n)
