"""Precision-recall curves with bands."""

from __future__ import annotations

from sklearn.linear_model import LinearRegression

from tests.plots.helpers import DISPLAYS, FEW, QID, SYSTEMS, WEB, Y
from tieaware_sklearn import precision_recall_curve
from tieaware_sklearn.plots import PrecisionRecallBandDisplay


def test_curves_and_bands():
    display = DISPLAYS["recall"]()
    for line, (name, scores) in zip(display.ax_.lines, SYSTEMS.items(), strict=True):
        curve = precision_recall_curve(Y[FEW], scores[FEW], qid=QID[FEW])
        assert line.get_label() == name
        assert line.get_ydata().tolist() == curve.mean.tolist()
    curve = display.curves["clicks"]
    assert list(PrecisionRecallBandDisplay.from_curves(curve).curves) == ["precision"]
    model = LinearRegression().fit(WEB.data, Y)
    found = PrecisionRecallBandDisplay.from_estimator(
        model, WEB.data, Y, qid=QID, recall=[0, 0.5]
    )
    alone = PrecisionRecallBandDisplay.from_predictions(
        Y, model.predict(WEB.data), qid=QID, recall=[0, 0.5]
    )
    assert list(alone.curves) == ["scores"]
    wanted = alone.curves["scores"].mean
    assert found.curves["LinearRegression"].mean.tolist() == wanted.tolist()
