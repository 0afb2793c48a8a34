"""Precision-recall curves with bands."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import DISPLAYS, FEW, QID, SYSTEMS, WEB, Y
from tieaware_sklearn.evaluation import precision_recall_curve
from tieaware_sklearn.plots import PrecisionRecallBandDisplay


def test_a_panel_per_system_with_the_others_behind():
    display = DISPLAYS["recall"]()
    means = []
    for axis, (name, scores) in zip(display.axes_, SYSTEMS.items(), strict=True):
        curve = precision_recall_curve(Y[FEW], scores[FEW], qid=QID[FEW])
        means.append(curve.mean.tolist())
        assert axis.get_title(loc="left") == name
        *_, own = axis.lines
        assert own.get_label() == "mean over all orders"
        assert own.get_ydata().tolist() == means[-1]
        (band,) = axis.collections
        height = np.unique(band.get_paths()[0].vertices[:, 1])
        assert {*curve.worst, *curve.best} <= set(height)
    for axis in display.axes_:
        assert [line.get_ydata().tolist() for line in axis.lines[:-1]] == means


def test_few_systems_share_a_panel():
    few = dict(list(SYSTEMS.items())[:3])
    systems = {name: scores[FEW] for name, scores in few.items()}
    display = PrecisionRecallBandDisplay.from_predictions(Y[FEW], systems, qid=QID[FEW])
    for line, name in zip(display.ax_.lines, few, strict=True):
        assert line.get_label() == name
        assert line.get_ydata().tolist() == display.curves[name].mean.tolist()
    curve = display.curves["clicks"]
    assert list(PrecisionRecallBandDisplay.from_result(curve).curves) == ["scores"]
    named = pd.Series(systems["clicks"], name="clicks")
    alone = PrecisionRecallBandDisplay.from_predictions(Y[FEW], named, qid=QID[FEW])
    assert list(alone.curves) == ["clicks"]


def test_estimators_have_the_names_of_their_classes():
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
