"""What coarser scores change on each query."""

from __future__ import annotations

import pytest

from tests.plots.helpers import DISPLAYS, QID, STUDY, SYSTEMS, Y, check_layout
from tieaware_sklearn import precision_study
from tieaware_sklearn.plots import PrecisionLossDisplay


def means_drawn(display):
    """The diamonds, one for each level."""
    marks = [line for line in display.ax_.lines if line.get_marker() == "D"]
    return [line.get_ydata()[0] for line in marks]


def test_boxes_hold_the_changes_of_queries():
    display = DISPLAYS["changes"]()
    changes = STUDY.changes()[1:]
    wanted = [level.mean() for level in changes]
    assert means_drawn(display) == pytest.approx(wanted, abs=1e-12)
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == list(STUDY.levels[1:])
    one = PrecisionLossDisplay.from_result(STUDY, system="clicks")
    wanted = changes[:, :, STUDY.systems.index("clicks")].mean(axis=1)
    assert means_drawn(one) == pytest.approx(wanted, abs=1e-12)
    assert one.ax_.get_title(loc="left") == "clicks"
    with pytest.raises(ValueError, match="system must be one of"):
        PrecisionLossDisplay.from_result(STUDY, system="x")
    many = precision_study(
        Y, SYSTEMS, qid=QID, coarseness=[f"levels={n}" for n in range(2, 12)]
    )
    assert check_layout(PrecisionLossDisplay.from_result(many).figure_)
