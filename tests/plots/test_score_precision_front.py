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
    display = ScorePrecisionDisplay.from_study(study, keep=0.8)
    assert display.values.tolist() == [t.values[0] for t in study.trials]
    assert display.chosen == coarsest(study, keep=0.8).number
    front = {t.number for t in study.best_trials}
    assert set(display.front.tolist()) == front
    assert np.all(np.diff(display.bits[display.front]) >= 0)
    assert check_layout(display.figure_)
    nothing = ScorePrecisionDisplay.from_study(study, keep=1)
    assert nothing.chosen is None
    with pytest.raises(ValueError, match="complete trials of a ScorePrecision"):
        ScorePrecisionDisplay.from_study(optuna.create_study())
    with pytest.raises(ValueError, match="keep must be a number"):
        ScorePrecisionDisplay.from_study(study, keep=7)
