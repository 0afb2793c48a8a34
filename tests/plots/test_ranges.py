"""What ties leave open: of systems, of features, and with the official order."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from tests.plots.helpers import (
    DISPLAYS,
    DOCNO,
    QID,
    SYSTEMS,
    WEB,
    Y,
    check_layout,
    legend,
    line,
    rows_of,
    segments,
)
from tieaware_sklearn import RankingFeatureSelector, evaluate, official_vs_exact
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.measures import DCG
from tieaware_sklearn.plots import (
    FeatureScreeningDisplay,
    OfficialVsExactDisplay,
    TieRangeDisplay,
)
from tieaware_sklearn.plots._base import GREY
from tieaware_sklearn.score_precision import CoarseRanker

MEAN = "mean over all orders"


def test_ranges_are_those_of_the_report():
    display = DISPLAYS["ranges"]()
    of = {
        name: evaluate(Y, scores, qid=QID, measures=["ndcg@10", "fallout@10"]).summary()
        for name, scores in SYSTEMS.items()
    }
    order = sorted(SYSTEMS, key=lambda name: -of[name].mean[0])
    assert rows_of(display.axes_[0]) == order
    for j, axis in enumerate(display.axes_):
        ends = [sorted([of[name].worst[j], of[name].best[j]]) for name in order]
        assert segments(axis) == ends
        assert line(axis, MEAN) == [of[name].mean[j] for name in order]
        assert line(axis, "chance")[0] == of[order[0]].chance[j] == display.chance[j]
        for name, interval in zip(display.systems, display.interval, strict=True):
            assert interval[j].tolist() == of[name].interval[j].tolist()
    lower = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures="fallout@10")
    means = [of[name].mean[1] for name in rows_of(lower.axes_[0])]
    assert means == sorted(means)


def test_ranges_of_bands_and_comparisons():
    model = LinearRegression().fit(WEB.data, Y)
    coarse = CoarseRanker(LinearRegression(), "rho=2").fit(WEB.data, Y)
    display = TieRangeDisplay.from_estimator(
        {"exact": model, "bands": coarse}, WEB.data, Y, qid=QID
    )
    alone = TieRangeDisplay.from_estimator(model, WEB.data, Y, qid=QID)
    assert alone.mean[0, 0] == display.mean[0, 0]
    of_comparison = TieRangeDisplay.from_result(compare_systems(Y, SYSTEMS, qid=QID))
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
    assert np.array_equal(shown.mean, told.mean)
    for a, b in zip(shown.axes_, told.axes_, strict=True):
        assert line(a, MEAN) == line(b, MEAN)


RULES = {"official": (np.arange(len(Y)), "descending"), "$up$": np.arange(len(Y))}
BY_RULE = {"qid": QID, "external": RULES}


def test_other_treatments_are_marks():
    ties = ["official", "expected", "$up$", "best"]
    shown = TieRangeDisplay.from_result(
        compare_systems(Y, SYSTEMS, measure=["ap", "p@5"], ties=ties, **BY_RULE)
    )
    assert check_layout(shown.figure_)
    order = rows_of(shown.axes_[0])
    names = ["ties: official", r"ties: \$up\$", "ties: best"]
    for measure, axis in zip(["ap", "p@5"], shown.axes_, strict=True):
        labels = [one.get_label() for one in axis.lines]
        assert [label for label in labels if label.startswith("ties: ")] == names
        for label, one in zip(names, ["official", "$up$", "best"], strict=True):
            alone = compare_systems(Y, SYSTEMS, measure=measure, ties=one, **BY_RULE)
            means = dict(zip(alone.systems, alone.summary().mean, strict=True))
            assert line(axis, label) == [means[name] for name in order]
    # the range is that of the exact means, whatever comes first
    plain = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures=["ap"])
    assert segments(shown.axes_[0]) == segments(plain.axes_[0])
    assert not any(label.startswith("ties: ") for label in legend(plain))
    assert {"ties: official", MEAN} <= set(legend(shown))


def test_a_treatment_alone_has_its_name():
    options = {"measure": "ap", **BY_RULE}
    shown = TieRangeDisplay.from_result(
        compare_systems(Y, SYSTEMS, ties="official", **options)
    )
    assert "ties: official" in legend(shown)
    assert MEAN not in legend(shown)
    assert shown.best.tolist() == shown.worst.tolist()
    drawn = TieRangeDisplay.from_result(
        compare_systems(Y, SYSTEMS, ties=["official", "best"], **options)
    )
    assert drawn.ties == "official"
    assert list(drawn.marks) == ["best"]


def test_summaries_of_reports():
    segment = np.where(QID % 2, "odd", "even")
    options = {"qid": QID, "measures": ["ap", "esl"], "segment": segment}
    report = evaluate(Y, SYSTEMS["clicks"], **options)
    for result in (report, report.summary()):
        one = TieRangeDisplay.from_result(result)
        assert rows_of(one.axes_[0]) == ["all queries"]
        assert one.mean.tolist() == [report.summary().mean.tolist()]
        assert one.greater_is_better
    assert one.axes_[0].get_xlabel() == "AP, mean over queries"
    parts = TieRangeDisplay.from_result(report.by_segment())
    assert parts.systems == ("even", "odd")
    assert parts.mean.ravel().tolist() == report.by_segment().mean.tolist()
    assert parts.chance is None
    lower = {
        name: evaluate(Y, s, qid=QID, measures="esl").summary()
        for name, s in SYSTEMS.items()
    }
    named = TieRangeDisplay.from_result(lower)
    assert named.systems == tuple(SYSTEMS)
    assert not named.greater_is_better


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
        assert line(axis, "chance")[0] == selector.chance_[m]
    assert check_layout(display.figure_)
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        FeatureScreeningDisplay.from_result(screening, max_features=0)


def test_selected_features_are_numbered_and_others_name_what_they_repeat():
    selector = RankingFeatureSelector("ap", n_features_to_select=3)
    selector.fit(WEB.data, Y, qid=QID)
    names = WEB.feature_names
    display = FeatureScreeningDisplay.from_result(selector.screening_.named(names))
    labels = rows_of(display.ax_)
    for place, j in enumerate(selector.selection_order_, start=1):
        assert any(label.startswith(f"{place}. {names[j]}") for label in labels)
    repeats = np.flatnonzero(selector.repeats_ >= 0)
    assert len(repeats)
    for j in repeats:
        assert f"{names[j]} (repeats {names[selector.repeats_[j]]})" in labels
    assert sum(label[0].isdigit() for label in labels) == 3
    grey = [label.get_color() for label in display.ax_.get_yticklabels()]
    assert grey.count(GREY) == 9
    assert check_layout(display.figure_)


def test_marks_of_the_official_order_stand_in_the_ranges():
    display = DISPLAYS["official"]()
    found = official_vs_exact(
        Y, SYSTEMS, DOCNO, qid=QID, measures=["P_10", "esl"], n_orders=3
    )
    order = sorted(range(len(SYSTEMS)), key=lambda i: -found.exact[i, 0])
    assert rows_of(display.axes_[0]) == [found.systems[i] for i in order]
    for j, axis in enumerate(display.axes_):
        assert line(axis, MEAN) == found.exact[order, j].tolist()
        marks = line(axis, "trec_eval's order of ties")
        assert marks == found.official[order, j].tolist()
        for (low, high), mark in zip(segments(axis), marks, strict=True):
            assert low - 1e-12 <= mark <= high + 1e-12
        texts = {text.get_text() for text in axis.texts}
        assert {f"{100 * share:.0f} %" for share in found.tied_documents} <= texts


def test_the_more_is_tied_the_darker_the_range():
    found = official_vs_exact(
        [1, 0, 0] * 2,
        {"untied": [1, 2, 3] * 2, "tied": [1] * 6},
        list("abcdef"),
        qid=[1, 1, 1, 2, 2, 2],
        measures="rr",
        n_orders=2,
    )
    display = OfficialVsExactDisplay.from_result(found)
    (bars,) = display.ax_.collections
    colours = dict(zip(rows_of(display.ax_), bars.get_colors(), strict=True))
    assert colours["tied"][:3].sum() < colours["untied"][:3].sum()
