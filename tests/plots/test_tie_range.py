"""What ties leave open of each system."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from tests.plots.helpers import (
    DISPLAYS,
    QID,
    SYSTEMS,
    WEB,
    Y,
    check_layout,
    rows_of,
    segments,
)
from tieaware_sklearn import evaluate
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.measures import DCG
from tieaware_sklearn.plots import TieRangeDisplay
from tieaware_sklearn.score_precision import CoarseRanker


def test_ranges_are_those_of_the_report():
    display = DISPLAYS["ranges"]()
    summaries = {
        name: evaluate(Y, scores, qid=QID, measures=["ndcg@10", "fallout@10"]).summary()
        for name, scores in SYSTEMS.items()
    }
    order = sorted(SYSTEMS, key=lambda name: -summaries[name].mean[0])
    for j, axis in enumerate(display.axes_):
        assert rows_of(display.axes_[0]) == order
        for (low, high), name in zip(segments(axis), order, strict=True):
            found = sorted([summaries[name].worst[j], summaries[name].best[j]])
            assert [low, high] == found
        (means,) = [
            line for line in axis.lines if line.get_label() == "mean over all orders"
        ]
        expected = [summaries[name].mean[j] for name in order]
        assert means.get_xdata().tolist() == expected
    lower = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures="fallout@10")
    means = [summaries[name].mean[1] for name in rows_of(lower.axes_[0])]
    assert means == sorted(means)


def test_ranges_of_estimators_and_comparisons():
    frame = pd.DataFrame(WEB.data, columns=WEB.feature_names)
    model = LinearRegression().fit(frame, Y)
    coarse = CoarseRanker(LinearRegression(), "rho=2").fit(frame, Y)
    display = TieRangeDisplay.from_estimator(
        {"exact": model, "bands": coarse}, frame, Y, qid=QID
    )
    assert sorted(display.systems) == ["bands", "exact"]
    alone = TieRangeDisplay.from_estimator(model, frame, Y, qid=QID)
    assert alone.systems == ("LinearRegression",)
    assert alone.mean[0, 0] == display.mean[0, 0]
    compared = compare_systems(Y, SYSTEMS, qid=QID)
    of_comparison = TieRangeDisplay.from_result(compared)
    direct = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures="ndcg@10")
    for name in ("mean", "best", "worst", "interval", "chance"):
        found = getattr(of_comparison, name), getattr(direct, name)
        assert np.array_equal(*found)


def test_intervals_do_not_leave_the_measure():
    y, qid = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    systems = {"nearly": [2, 1, 2, 1, 1, 2], "ideal": y}
    display = TieRangeDisplay.from_result(compare_systems(y, systems, qid=qid))
    assert display.interval[0, 0].tolist()[1] == 1
    assert display.interval[1, 0].tolist() == [1, 1]


def test_chance_and_intervals_are_those_of_the_report():
    display = DISPLAYS["ranges"]()
    summary = evaluate(Y, SYSTEMS["clicks"], qid=QID, measures="ndcg@10").summary()
    at = display.systems.index("clicks")
    assert display.chance[0] == summary.chance[0]
    assert display.interval[at, 0].tolist() == summary.interval[0].tolist()
    (line,) = [line for line in display.axes_[0].lines if line.get_label() == "chance"]
    assert line.get_xdata()[0] == summary.chance[0]


def test_measures_that_have_no_name_to_parse():
    display = TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=DCG(gain=lambda labels: labels)
    )
    assert display.measures == ("DCG(gain=<lambda>)",)


def test_a_classifier_ranks_by_its_expected_label():
    y = np.minimum(Y, 2).astype(int)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(WEB.data, y)
    scores = CoarseRanker(model, None).fit(WEB.data, y).predict(WEB.data)
    shown = TieRangeDisplay.from_estimator(model, WEB.data, y, qid=QID)
    told = TieRangeDisplay.from_predictions(y, scores, qid=QID)
    for a, b in zip(shown.axes_, told.axes_, strict=True):
        drawn = [[line.get_xdata() for line in ax.get_lines()] for ax in (a, b)]
        assert drawn[0]
        np.testing.assert_array_equal(*map(np.concatenate, drawn))


def marks(axis):
    """What is drawn of each treatment."""
    return {
        line.get_label(): line.get_xdata().tolist()
        for line in axis.lines
        if line.get_label().startswith("ties: ")
    }


def test_other_treatments_are_marks():
    rules = {"official": (np.arange(len(Y)), "descending"), "$up$": np.arange(len(Y))}
    options = {"qid": QID, "external": rules}
    ties = ["official", "expected", "$up$", "best"]
    shown = TieRangeDisplay.from_result(
        compare_systems(Y, SYSTEMS, measure=["ap", "p@5"], ties=ties, **options)
    )
    assert check_layout(shown.figure_)
    order = rows_of(shown.axes_[0])
    for measure, axis in zip(["ap", "p@5"], shown.axes_, strict=True):
        found = marks(axis)
        assert list(found) == ["ties: official", r"ties: \$up\$", "ties: best"]
        for label, values in found.items():
            one = label.removeprefix("ties: ").replace("\\", "")
            alone = compare_systems(Y, SYSTEMS, measure=measure, ties=one, **options)
            means = dict(zip(alone.systems, alone.summary().mean, strict=True))
            assert values == [means[name] for name in order]
    # the range is that of the exact means, whatever comes first
    plain = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures=["ap"])
    assert segments(shown.axes_[0]) == segments(plain.axes_[0])
    assert not marks(plain.axes_[0])
    entries = [text.get_text() for text in shown.figure_.legends[0].get_texts()]
    assert "ties: official" in entries
    assert "mean over all orders" in entries


def test_a_treatment_alone_has_its_name():
    rules = {"official": np.arange(len(Y))}
    shown = TieRangeDisplay.from_result(
        compare_systems(
            Y, SYSTEMS, qid=QID, measure="ap", ties="official", external=rules
        )
    )
    entries = [text.get_text() for text in shown.figure_.legends[0].get_texts()]
    assert "ties: official" in entries
    assert "mean over all orders" not in entries
    assert shown.best.tolist() == shown.worst.tolist()
    several = compare_systems(
        Y, SYSTEMS, qid=QID, measure=["ap"], ties=["official", "best"], external=rules
    )
    drawn = TieRangeDisplay.from_result(several)
    assert drawn.ties == "official"
    assert list(drawn.marks) == ["best"]


def test_summaries_of_reports():
    segment = np.where(QID % 2, "odd", "even")
    options = {"qid": QID, "measures": ["ap", "esl"], "segment": segment}
    report = evaluate(Y, SYSTEMS["clicks"], **options)
    one = TieRangeDisplay.from_result(report.summary())
    assert rows_of(one.axes_[0]) == ["all queries"]
    assert one.mean.tolist() == [report.summary().mean.tolist()]
    assert one.greater_is_better
    parts = TieRangeDisplay.from_result(report.by_segment())
    assert parts.systems == ("even", "odd")
    assert parts.mean.ravel().tolist() == report.by_segment().mean.tolist()
    assert parts.chance is None
    lower = {
        name: evaluate(Y, s, qid=QID, measures="esl") for name, s in SYSTEMS.items()
    }
    named = TieRangeDisplay.from_result({n: r.summary() for n, r in lower.items()})
    assert named.systems == tuple(SYSTEMS)
    assert not named.greater_is_better
