"""What single features are worth."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plots.helpers import DISPLAYS, QID, WEB, Y, check_layout, rows_of, segments
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.plots import FeatureScreeningDisplay
from tieaware_sklearn.plots._base import GREY


def test_features_are_those_of_the_selector():
    selector = RankingFeatureSelector(["ap", "rr"]).fit(WEB.data, Y, qid=QID)
    screening = selector.screening_.named(WEB.feature_names)
    display = FeatureScreeningDisplay.from_result(screening, max_features=4)
    best = np.argsort(selector.ranking_)[:4]
    assert [WEB.feature_names[j] for j in best] == [
        name.split(" (")[0].split(". ")[-1] for name in rows_of(display.axes_[0])
    ]
    assert any("(low first)" in name for name in rows_of(DISPLAYS["features"]().ax_))
    for m, axis in enumerate(display.axes_):
        ends = np.array(segments(axis))
        np.testing.assert_array_equal(ends[:, 1], selector.best_[best, m])
        chance = [line for line in axis.lines if line.get_label() == "chance"]
        assert chance[0].get_xdata()[0] == selector.chance_[m]
    assert check_layout(display.figure_)
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        FeatureScreeningDisplay.from_result(screening, max_features=0)


def test_selected_features_are_numbered_and_others_name_what_they_repeat():
    selector = RankingFeatureSelector("ap", n_features_to_select=3)
    selector.fit(WEB.data, Y, qid=QID)
    display = FeatureScreeningDisplay.from_result(
        selector.screening_.named(WEB.feature_names)
    )
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    for place, j in enumerate(selector.selection_order_, start=1):
        assert any(
            label.startswith(f"{place}. {WEB.feature_names[j]}") for label in labels
        )
    repeats = np.flatnonzero(selector.repeats_ >= 0)
    assert len(repeats)
    for j in repeats:
        chosen = WEB.feature_names[selector.repeats_[j]]
        assert f"{WEB.feature_names[j]} (repeats {chosen})" in labels
    assert sum(label[0].isdigit() for label in labels) == 3
    grey = [label.get_color() for label in display.ax_.get_yticklabels()]
    assert grey.count(GREY) == 9
    assert check_layout(display.figure_)
