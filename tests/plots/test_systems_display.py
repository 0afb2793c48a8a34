"""Systems by their scores or as estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import FEW, WEB, Y
from tieaware_sklearn.plots import (
    PrecisionRecallBandDisplay,
    TieRangeDisplay,
)

X, LABELS, QID = WEB.data[FEW], Y[FEW], WEB.qid[FEW]
#: what of each says how many systems it was given
COUNTS = {
    TieRangeDisplay: lambda display: len(display.systems),
    PrecisionRecallBandDisplay: lambda display: len(display.curves),
}
OPTIONS = {
    PrecisionRecallBandDisplay: {"recall": [0, 1]},
}
NAMES = WEB.feature_names[:3]


@pytest.mark.parametrize("cls", COUNTS)
def test_scores_of_any_kind(cls):
    count, options = COUNTS[cls], OPTIONS.get(cls, {})
    scores = X[:, :3]
    for given in (
        dict(zip(NAMES, scores.T, strict=True)),
        pd.DataFrame(scores, columns=NAMES),
        scores,
    ):
        display = cls.from_predictions(LABELS, given, qid=QID, **options)
        assert count(display) == 3
    alone = cls.from_predictions(LABELS, scores[:, 0], qid=QID, **options)
    assert count(alone) == 1


@pytest.mark.parametrize("cls", COUNTS)
def test_estimators_are_ranked_by(cls):
    options = OPTIONS.get(cls, {})
    models = {
        "all": LinearRegression().fit(X, LABELS),
        "none": LinearRegression().fit(0 * X, LABELS),
    }
    display = cls.from_estimator(models, X, LABELS, qid=QID, **options)
    scores = {name: model.predict(X) for name, model in models.items()}
    direct = cls.from_predictions(LABELS, scores, qid=QID, **options)
    assert COUNTS[cls](display) == 2
    for axis, other in zip(display.axes_, direct.axes_, strict=True):
        assert axis.get_xlim() == other.get_xlim()
        for line, same in zip(axis.lines, other.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())


def test_options_go_down():
    y, scores = LABELS.astype(float), X[:, :2]
    weight = QID + 1.0
    plain = TieRangeDisplay.from_predictions(y, scores, qid=QID)
    assert plain.measures == ("NDCG@10", "AP", "RR")
    weighted = TieRangeDisplay.from_predictions(y, scores, qid=QID, query_weight=weight)
    assert not np.array_equal(plain.mean, weighted.mean)
    y[0] = np.nan
    with pytest.raises(ValueError, match="unjudged"):
        TieRangeDisplay.from_predictions(y, scores, qid=QID)
    TieRangeDisplay.from_predictions(y, scores, qid=QID, unjudged="nonrelevant")
    with pytest.raises(TypeError, match="nonsense"):
        TieRangeDisplay.from_predictions(y, scores, qid=QID, nonsense=1)
