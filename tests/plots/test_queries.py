"""Query by query: precision and recall, differences of systems, users of measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import (
    DISPLAYS,
    FEW,
    QID,
    SYSTEMS,
    WEB,
    Y,
    check_layout,
    legend,
)
from tieaware_sklearn import compare_systems, evaluate
from tieaware_sklearn.evaluation import precision_recall_curve
from tieaware_sklearn.plots import (
    PrecisionRecallBandDisplay,
    PrecisionRecallScatterDisplay,
    TopicDifferenceDisplay,
    UserModelDisplay,
)

PAIR = ("clicks", "url_length")


def lines_by_label(axis):
    return {line.get_label(): line for line in axis.lines}


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
    systems = {name: scores[FEW] for name, scores in list(SYSTEMS.items())[:3]}
    display = PrecisionRecallBandDisplay.from_predictions(Y[FEW], systems, qid=QID[FEW])
    for line, name in zip(display.ax_.lines, systems, strict=True):
        assert line.get_label() == name
        assert line.get_ydata().tolist() == display.curves[name].mean.tolist()
    curve = display.curves["clicks"]
    assert list(PrecisionRecallBandDisplay.from_result(curve).curves) == ["scores"]


def test_points_are_exact_means_and_lines_are_ranges():
    scores = SYSTEMS["clicks"]
    display = PrecisionRecallScatterDisplay.from_predictions(Y, scores, qid=QID, k=5)
    report = evaluate(Y, scores, qid=QID, measures=["p@5", "r@5"])
    summary = report.summary()
    for label, precision, recall in (
        ("query", report.expected[:, 0].tolist(), report.expected[:, 1].tolist()),
        ("mean over queries", [summary.mean[0]], [summary.mean[1]]),
    ):
        points = lines_by_label(display.ax_)[label]
        assert points.get_ydata().tolist() == precision
        assert points.get_xdata().tolist() == recall
    ranges = [line for line in display.ax_.lines if line.get_linewidth() == 2.5]
    ends = {tuple(line.get_ydata()) for line in ranges if len(line.get_ydata())}
    wanted = zip(report.best[:, 0], report.worst[:, 0], strict=True)
    assert ends == {pair for pair in wanted if pair[0] != pair[1]}


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_is_equal_along_a_line(beta):
    display = PrecisionRecallScatterDisplay.from_predictions(
        Y, SYSTEMS["clicks"], qid=QID, beta=beta
    )
    lines = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    for line, level in zip(lines, [0.2, 0.4, 0.6, 0.8], strict=True):
        recall, precision = line.get_data()
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert f == pytest.approx(np.full(len(f), level))
        assert (precision <= 1 + 1e-12).all()


def test_queries_without_a_relevant_document_are_left_out():
    made = PrecisionRecallScatterDisplay.from_predictions
    display = made([1, 0, 0, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2], k=None)
    assert len(lines_by_label(display.ax_)["query"].get_xdata()) == 1
    assert display.ax_.get_xlabel() == "recall"
    with pytest.raises(ValueError, match="beta must be a finite number > 0, got 0"):
        made([1, 0], [2, 1], beta=0)


@pytest.mark.parametrize("measure", ["rr", "fallout@5"])
def test_bars_and_ranges_are_differences_of_reports(measure):
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
    (lines,) = [c for c in display.ax_.collections if "range" in c.get_label()]
    assert sorted(segment[:, 1].tolist() for segment in lines.get_segments()) == sorted(
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
    models = {
        "a": LinearRegression().fit(WEB.data, Y),
        "b": LinearRegression(fit_intercept=False).fit(WEB.data, Y),
    }
    shown = TopicDifferenceDisplay.from_estimator(models, WEB.data, Y, qid=QID)
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


@pytest.mark.parametrize(
    ("systems", "compared", "options", "message"),
    [
        (SYSTEMS, {}, {"pair": "clicks"}, "pair must be one of"),
        (SYSTEMS, {}, {"pair": ("clicks", "bm25")}, "pair must be one of"),
        (SYSTEMS, {}, {"pair": (1, "clicks")}, "pair must be one of"),
        (SYSTEMS["clicks"], {}, {}, "comparison must have at least two systems"),
        (
            SYSTEMS,
            {"measure": ["ap", "rr"], "ties": "best"},
            {},
            r"choose one by its key.*\['AP', 'best'\]",
        ),
    ],
)
def test_differences_that_are_refused(systems, compared, options, message):
    with pytest.raises(ValueError, match=message):
        TopicDifferenceDisplay.from_predictions(
            Y, systems, qid=QID, **compared, **options
        )


def test_user_models():
    display = DISPLAYS["users"]()
    weights = [line.get_ydata().tolist() for line in display.axes_[0].lines]
    assert weights[1] == [1 / 5] * 5 + [0] * 3
    # the last document of P@5 is the fifth
    stem = display.axes_[2].lines[1]
    assert stem.get_xydata().tolist() == [[5, 0], [5, 1]]


@pytest.mark.parametrize(
    ("measure", "depth", "message"),
    [
        ("esl", 20, "ESL has no user model"),
        ("ap", 20, "labels in rank order for the user model of AP"),
        ("p@5", 0, "depth must be an integer >= 1"),
    ],
)
def test_measures_without_a_user(measure, depth, message):
    with pytest.raises(ValueError, match=message):
        UserModelDisplay.from_measures(measure, depth=depth)
