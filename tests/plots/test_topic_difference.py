"""Differences of two systems, query by query."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import QID, SYSTEMS, WEB, Y, check_layout
from tieaware_sklearn import compare_systems, evaluate
from tieaware_sklearn.plots import TopicDifferenceDisplay

PAIR = ("clicks", "url_length")


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def ranges(display):
    """Ends of the lines of ties."""
    (lines,) = [c for c in display.ax_.collections if "range" in c.get_label()]
    return [segment[:, 1].tolist() for segment in lines.get_segments()]


@pytest.mark.parametrize("measure", ["rr", "fallout@5"])
def test_bars_and_ranges_are_those_of_the_reports(measure):
    compared = compare_systems(Y, SYSTEMS, qid=QID, measure=measure)
    display = TopicDifferenceDisplay.from_result(compared, pair=PAIR)
    a, b = (evaluate(Y, SYSTEMS[n], qid=QID, measures=measure) for n in PAIR)
    wanted = (a.expected - b.expected)[:, 0]
    ends = [np.sort(np.stack([x.best, x.worst]), axis=0)[:, :, 0] for x in (a, b)]
    low, high = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
    assert display.ax_.get_title(loc="left") == " − ".join(PAIR)
    # A is better to the left, whatever is better
    side = 1 if measure == "rr" else -1
    bars = sorted(display.ax_.patches, key=lambda bar: bar.get_x())
    heights = [bar.get_height() for bar in bars]
    assert heights == (side * np.sort(-side * wanted) * -1).tolist()
    # a line for every query with ties, from the smallest to the largest difference
    assert sorted(ranges(display)) == sorted(
        [lo, hi] for lo, hi in zip(low, high, strict=True) if hi > lo
    )
    counts = {
        f"{PAIR[0]} better in every order of ties": ((low, -high)[side < 0] > 0).sum(),
        f"{PAIR[1]} better in every order of ties": ((-high, low)[side < 0] > 0).sum(),
        "no difference": ((low == 0) & (high == 0)).sum(),
    }
    counts["depends on the order of ties"] = len(low) - sum(counts.values())
    for label, count in counts.items():
        found = [text for text in legend(display) if text.startswith(label)]
        assert found == ([f"{label}: {count}"] if count else [])
    assert f"mean over queries: {wanted.mean():.4f}" in legend(display)


def test_the_first_pair_is_shown_by_default():
    compared = compare_systems(Y, SYSTEMS, qid=QID, baseline="url_length")
    display = TopicDifferenceDisplay.from_result(compared)
    assert display.ax_.get_title(loc="left") == f"{next(iter(SYSTEMS))} − url_length"
    model = LinearRegression().fit(WEB.data, Y)
    shown = TopicDifferenceDisplay.from_estimator(
        {"a": model, "b": LinearRegression().fit(WEB.data[:, :2], Y)}
        | {"b": LinearRegression(fit_intercept=False).fit(WEB.data, Y)},
        WEB.data,
        Y,
        qid=QID,
    )
    assert shown.ax_.get_title(loc="left") == "a − b"


def test_many_queries_have_no_names_and_few_have():
    few, many = QID <= 20, np.arange(800)
    shown = TopicDifferenceDisplay.from_predictions(
        Y[few], {n: s[few] for n, s in SYSTEMS.items()}, qid=QID[few], pair=PAIR
    )
    labels = [label.get_text() for label in shown.ax_.get_xticklabels()]
    assert sorted(map(int, labels)) == sorted(np.unique(QID[few]).tolist())
    systems = {"$a$": many % 7, "_b": many % 3}
    display = TopicDifferenceDisplay.from_predictions(
        many % 2, systems, qid=many // 2, measure="ap"
    )
    assert not display.ax_.get_xticklabels()
    assert display.ax_.get_xlabel() == "400 queries, sorted by difference"
    assert check_layout(display.figure_)


def test_queries_where_a_system_is_undefined_are_left_out():
    labels, qid = [1, 0] * 3, [1, 1, 2, 2, 3, 3]
    systems = {"a": [2, 1, 1, 2, 1, 1], "b": [2, 1, 2, 1] + [-math.inf] * 2}
    compared = compare_systems(labels, systems, qid=qid, measure="esl")
    display = TopicDifferenceDisplay.from_result(compared)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["1", "2"]
    bars = sorted(display.ax_.patches, key=lambda bar: bar.get_x())
    assert [bar.get_height() for bar in bars] == [0, 1]
    # lower is better
    assert "b better in every order of ties: 1" in legend(display)
    nothing = {"a": systems["a"], "b": [-math.inf] * 6}
    with pytest.warns(match="ESL is undefined"):
        compared = compare_systems(labels, nothing, qid=qid, measure="esl")
    with pytest.raises(ValueError, match="must have a query where a and b are defined"):
        TopicDifferenceDisplay.from_result(compared)


def test_bad_input():
    compared = compare_systems(Y, SYSTEMS, qid=QID)
    for pair in ("clicks", ("clicks", "bm25"), (1, "clicks")):
        with pytest.raises(ValueError, match="pair must be one of"):
            TopicDifferenceDisplay.from_result(compared, pair=pair)
    alone = compare_systems(Y, SYSTEMS["clicks"], qid=QID)
    with pytest.raises(ValueError, match="comparison must have at least two systems"):
        TopicDifferenceDisplay.from_result(alone)
    with pytest.raises(ValueError, match=r"choose one by its key.*\['AP', 'best'\]"):
        TopicDifferenceDisplay.from_predictions(
            Y, SYSTEMS, qid=QID, measure=["ap", "rr"], ties="best"
        )
