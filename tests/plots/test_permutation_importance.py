"""What a ranker loses when columns are permuted."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.container import BarContainer
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import IMPORTANCE, QID, WEB, Y, check_layout, rows_of
from tieaware_sklearn import query_permutation_importance
from tieaware_sklearn.plots import PermutationImportanceDisplay


def test_bars_and_intervals_are_those_found():
    display = PermutationImportanceDisplay.from_result(IMPORTANCE, max_features=4)
    best = np.argsort(IMPORTANCE.ranking)[:4]
    names = [IMPORTANCE.columns[j] for j in best]
    assert names == rows_of(display.axes_[0])
    for m, axis in enumerate(display.axes_):
        (bars,) = [c for c in axis.containers if isinstance(c, BarContainer)]
        widths = [bar.get_width() for bar in bars]
        assert widths == IMPORTANCE.importances_mean[best, m].tolist()
        lines = np.array([s[:, 0] for s in axis.collections[0].get_segments()])
        np.testing.assert_array_equal(lines, IMPORTANCE.interval[best, m])
        assert IMPORTANCE.measures[m] in axis.get_xlabel()
        assert f"{IMPORTANCE.baseline[m]:.4f}" in axis.get_title(loc="left")
    more = f"… {len(IMPORTANCE.columns) - 4} more"
    assert more in [t.get_text() for t in display.axes_[0].texts]
    assert check_layout(display.figure_)
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        PermutationImportanceDisplay.from_result(IMPORTANCE, max_features=0)


def test_the_legend_says_how_columns_are_permuted():
    X = WEB.data[:, :4]
    model = LinearRegression().fit(X, Y)
    options = {"measures": "ap", "within_queries": True, "confidence": 0.9}
    found = query_permutation_importance(model, X, Y, qid=QID, n_repeats=2, **options)
    display = PermutationImportanceDisplay.from_result(found)
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "90% interval over queries",
        "column permuted within queries: mean loss",
    ]
    assert not display.ax_.texts
    assert check_layout(display.figure_)
