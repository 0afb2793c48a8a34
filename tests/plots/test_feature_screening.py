"""What single features are worth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.plots.helpers import DISPLAYS, QID, WEB, Y, check_layout, rows_of, segments
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.plots import FeatureScreeningDisplay
from tieaware_sklearn.plots._base import GREY


def test_features_are_those_of_the_selector():
    selector = RankingFeatureSelector(["ap", "rr"]).fit(WEB.data, Y, qid=QID)
    display = FeatureScreeningDisplay.from_estimator(
        selector, feature_names=WEB.feature_names, max_features=4
    )
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
        FeatureScreeningDisplay.from_estimator(selector, max_features=0)
    with pytest.raises(
        ValueError, match=r"feature_names must have one name per feature \(12\), got 1"
    ):
        FeatureScreeningDisplay.from_estimator(selector, feature_names=["a"])


def test_every_column_of_scores_is_a_feature():
    names = WEB.feature_names[:3]
    scores = WEB.data[:, :3]
    array = FeatureScreeningDisplay.from_predictions(
        Y, scores, qid=QID, feature_names=names
    )
    for given in (
        dict(zip(names, scores.T, strict=True)),
        pd.DataFrame(scores, columns=names),
    ):
        display = FeatureScreeningDisplay.from_predictions(Y, given, qid=QID)
        assert display.screening.feature_names == array.screening.feature_names
        np.testing.assert_array_equal(display.screening.mean, array.screening.mean)
    assert array.screening.measures == ("NDCG@10", "AP", "RR")
    alone = FeatureScreeningDisplay.from_predictions(
        Y, scores[:, 0], qid=QID, measures="ap"
    )
    assert alone.screening.feature_names == ("x0",)
    named = FeatureScreeningDisplay.from_predictions(
        Y, pd.Series(scores[:, 0], name="clicks"), qid=QID, measures="ap"
    )
    assert named.screening.feature_names == ("clicks",)
    assert alone.ax_ is alone.axes_[0]


def test_selected_features_are_numbered_and_others_name_what_they_repeat():
    selector = RankingFeatureSelector("ap", n_features_to_select=3)
    selector.fit(WEB.data, Y, qid=QID)
    display = FeatureScreeningDisplay.from_estimator(
        selector, feature_names=WEB.feature_names
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
