"""Effectiveness against score precision."""

from __future__ import annotations

import numpy as np
import optuna
import pytest

from tests.plots.helpers import QID, WEB, Y, check_layout
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
from tieaware_sklearn.plots import ScorePrecisionDisplay


def test_the_front_of_a_study():
    objective = ScorePrecisionObjective(Y, WEB.data[:, 5], qid=QID)
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=20)
    display = ScorePrecisionDisplay.from_result(study, keep=0.8)
    *kinds, ring = display.ax_.collections
    points = np.vstack([kind.get_offsets() for kind in kinds])
    assert {*map(tuple, points)} == {tuple(t.values[::-1]) for t in study.trials}
    chosen = coarsest(study, keep=0.8)
    assert ring.get_offsets().tolist() == [chosen.values[::-1]]
    assert display.ax_.texts[0].get_text() == chosen.user_attrs["coarseness"]
    (front,) = [n for n in display.ax_.lines if n.get_label() == "Pareto front"]
    optimal = {tuple(t.values[::-1]) for t in study.best_trials}
    assert {*map(tuple, front.get_xydata())} == optimal
    assert np.all(np.diff(front.get_xdata()) >= 0)
    assert check_layout(display.figure_)
    nothing = ScorePrecisionDisplay.from_result(study, keep=1)
    assert not nothing.ax_.texts
    with pytest.raises(ValueError, match="complete trials of a ScorePrecision"):
        ScorePrecisionDisplay.from_result(optuna.create_study())
    with pytest.raises(ValueError, match="keep must be a number"):
        ScorePrecisionDisplay.from_result(study, keep=7)
