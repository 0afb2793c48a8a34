"""The users behind measures, drawn."""

from __future__ import annotations

import pytest

from tests.plots.helpers import DISPLAYS
from tieaware_sklearn.plots import UserModelDisplay


def test_user_models():
    display = DISPLAYS["users"]()
    weights = [line.get_ydata().tolist() for line in display.axes_[0].lines]
    assert weights[1] == [1 / 5] * 5 + [0] * 3
    # the last document of P@5 is the fifth
    stem = display.axes_[2].lines[1]
    assert stem.get_xydata().tolist() == [[5, 0], [5, 1]]
    with pytest.raises(ValueError, match="ESL has no user model"):
        UserModelDisplay.from_measures("esl")
    with pytest.raises(
        ValueError,
        match="labels in rank order for the user model of AP",
    ):
        UserModelDisplay.from_measures("ap")
    with pytest.raises(ValueError, match="depth must be an integer >= 1"):
        UserModelDisplay.from_measures("p@5", depth=0)
