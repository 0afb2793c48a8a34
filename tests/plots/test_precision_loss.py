"""What coarser scores change on each query."""

from __future__ import annotations

import pytest

from tests.plots.helpers import DISPLAYS, QID, STUDY, SYSTEMS, Y, check_layout
from tieaware_sklearn import precision_study
from tieaware_sklearn.plots import PrecisionLossDisplay


def test_boxes_hold_the_changes_of_queries():
    display = DISPLAYS["changes"]()
    assert display.levels == STUDY.levels[1:]
    for i, values in enumerate(display.changes, start=1):
        assert values.tolist() == STUDY.changes()[i].ravel().tolist()
    one = PrecisionLossDisplay.from_study(STUDY, system="clicks")
    at = STUDY.systems.index("clicks")
    assert one.changes[0].tolist() == STUDY.changes()[1, :, at].tolist()
    assert one.systems == "clicks"
    with pytest.raises(ValueError, match="system must be one of"):
        PrecisionLossDisplay.from_study(STUDY, system="x")
    many = precision_study(
        Y, SYSTEMS, qid=QID, coarseness=[f"levels={n}" for n in range(2, 12)]
    )
    assert check_layout(PrecisionLossDisplay.from_study(many).figure_)
