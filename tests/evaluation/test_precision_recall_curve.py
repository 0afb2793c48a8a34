"""Precision by recall."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import evaluate
from tieaware_sklearn.evaluation import precision_recall_curve


def test_the_curve_is_the_eleven_point_average_apart():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 300), rng.integers(0, 30, 300)
    qid = rng.integers(0, 12, 300)
    curve = precision_recall_curve(labels, scores, qid=qid)
    assert curve.recall.tolist() == [i / 10 for i in range(11)]
    report = evaluate(labels, scores, qid=qid, measures="iap").summary()
    assert curve.mean.mean() == pytest.approx(report.mean[0], abs=1e-14)
    assert curve.best.mean() == pytest.approx(report.best[0], abs=1e-14)
    assert curve.worst.mean() == pytest.approx(report.worst[0], abs=1e-14)
    assert (np.diff(curve.mean) <= 1e-15).all()
    assert (curve.sampling_error == 0).all()
    frame = curve.to_pandas()
    assert frame.shape == (11, 6)
    assert len(str(curve).splitlines()) == 13
    with pytest.raises(ValueError, match="recall must be a finite number >= 0 and"):
        precision_recall_curve(labels, scores, recall=[0.5, 2])
    for recall, message in (
        ([0.5, 0.5], "recall must hold each level once, got"),
        ([], "recall must hold at least one level, got none"),
        ("x", r"recall must hold numbers in \[0, 1\]"),
    ):
        with pytest.raises(ValueError, match=message):
            precision_recall_curve(labels, scores, recall=recall)
    long = precision_recall_curve(labels, np.zeros(300), recall=[0.5])
    assert long.sampling_error[0] > 0
    assert "the means of long ties are estimated from sampled orders" in str(long)
