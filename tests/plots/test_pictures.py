"""Displays draw the values of their results."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

import tieaware_sklearn as ta
from tests.plots.data import (
    DISPLAYS,
    FOLD_SCORES,
    HELD_OUT,
    QID,
    STUDY,
    SYSTEMS,
    WEB,
    Y,
)
from tests.plots.helpers import (
    GREY_RANGE,
    INTERVAL,
    MEAN,
    RANGE,
    check_layout,
    legend,
    line,
    rows_of,
    segments,
)
from tieaware_sklearn import plots
from tieaware_sklearn.evaluation import precision_recall_curve
from tieaware_sklearn.measures import DCG
from tieaware_sklearn.plots._base import GREY, SKY

Ranges = plots.TieRangeDisplay
#: The end of the label of the x axis of measures whose least value is best.
LOWER = " (lower is better)"


def test_ranges_are_those_of_the_report():
    display = DISPLAYS["ranges"]()
    summaries = {}
    for name, scores in SYSTEMS.items():
        report = ta.evaluate(Y, scores, qid=QID, measures=["ndcg@10", "fallout@10"])
        summaries[name] = report.summary()
    order = sorted(SYSTEMS, key=lambda name: -summaries[name].mean[0])
    assert rows_of(display.axes_[0]) == order
    ranked = [summaries[name] for name in order]
    for j, axis in enumerate(display.axes_):
        ends = [sorted([summary.worst[j], summary.best[j]]) for summary in ranked]
        assert segments(axis) == ends
        assert line(axis, MEAN) == [summary.mean[j] for summary in ranked]
        chance = ranked[0].chance[j]
        assert line(axis, "chance")[0] == chance
        assert display.chance[j] == chance
        for name, interval in zip(display.systems, display.interval, strict=True):
            assert interval[j].tolist() == summaries[name].interval[j].tolist()


def test_systems_are_sorted_by_a_measure_whose_least_value_is_best():
    display = Ranges.from_predictions(
        Y, SYSTEMS, qid=QID, measures=["fallout@10", "p@10"]
    )
    labels = [axis.get_xlabel() for axis in display.axes_]
    assert labels == [f"mean over queries{LOWER}", "mean over queries"]
    means = []
    for name in rows_of(display.axes_[0]):
        value = ta.ranking_score(Y, SYSTEMS[name], qid=QID, measure="fallout@10")
        means.append(value)
    assert means == sorted(means)


def test_ranges_of_a_comparison_are_those_of_predictions():
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID, measure="fallout@10")
    display = Ranges.from_result(compared)
    expected = Ranges.from_predictions(Y, SYSTEMS, qid=QID, measures="fallout@10")
    for name in ("mean", "best", "worst", "interval", "chance"):
        assert np.array_equal(getattr(display, name), getattr(expected, name))
    assert not display.greater_is_better


EXTERNAL = {"official": (np.arange(len(Y)), "descending"), "$up$": np.arange(len(Y))}


def compare_by_ties(ties, measure):
    """Return a comparison of systems, with two treatments of ties by external keys."""
    return ta.compare_systems(
        Y, SYSTEMS, qid=QID, measure=measure, ties=ties, external=EXTERNAL
    )


TREATMENTS = {
    "ties: official": "official",
    r"ties: \$up\$": "$up$",
    "ties: best": "best",
}


def test_other_treatments_are_marks():
    compared = compare_by_ties(["official", "expected", "$up$", "best"], ["ap", "p@5"])
    display = Ranges.from_result(compared)
    assert check_layout(display.figure_)
    assert {"ties: official", MEAN} <= set(legend(display))
    order = rows_of(display.axes_[0])
    for measure, axis in zip(["ap", "p@5"], display.axes_, strict=True):
        labels = [points.get_label() for points in axis.lines]
        marks = [label for label in labels if label.startswith("ties: ")]
        assert marks == list(TREATMENTS)
        for label, ties in TREATMENTS.items():
            alone = compare_by_ties(ties, measure)
            means = dict(zip(alone.systems, alone.summary().mean, strict=True))
            assert line(axis, label) == [means[name] for name in order]


def test_the_range_is_of_the_exact_means_in_any_order_of_treatments():
    compared = compare_by_ties(["official", "expected", "$up$", "best"], ["ap", "p@5"])
    display = Ranges.from_result(compared)
    exact = Ranges.from_predictions(Y, SYSTEMS, qid=QID, measures=["ap"])
    assert segments(display.axes_[0]) == segments(exact.axes_[0])
    assert "ties: " not in " ".join(legend(exact))


def test_without_exact_means_the_first_treatment_has_its_name():
    display = Ranges.from_result(compare_by_ties(["official", "best"], "ap"))
    assert "ties: official" in legend(display)
    assert MEAN not in legend(display)
    assert display.best.tolist() == display.worst.tolist()
    assert display.ties == "official"
    assert list(display.marks) == ["best"]


@pytest.fixture
def report():
    segment = np.where(QID % 2, "odd", "even")
    measures = ["ap", "esl"]
    scores = SYSTEMS["clicks"]
    return ta.evaluate(Y, scores, qid=QID, measures=measures, segment=segment)


def test_a_report_or_its_summary_has_a_row(report):
    for result in (report, report.summary()):
        display = Ranges.from_result(result)
        assert rows_of(display.axes_[0]) == ["all queries"]
        assert display.mean.tolist() == [report.summary().mean.tolist()]
        assert display.greater_is_better
    ap, esl = display.axes_
    assert ap.get_xlabel() == "mean over queries"
    assert esl.get_xlabel() == f"mean over queries{LOWER}"
    assert ap.get_title(loc="left").startswith("AP: ")


def test_segments_of_a_report_are_rows(report):
    by_segment = report.by_segment()
    display = Ranges.from_result(by_segment)
    assert display.systems == ("even", "odd")
    assert display.mean.ravel().tolist() == by_segment.mean.tolist()
    assert display.chance is None


def test_summaries_by_name_are_rows():
    summaries = {}
    for name, scores in SYSTEMS.items():
        summaries[name] = ta.evaluate(Y, scores, qid=QID, measures="esl").summary()
    display = Ranges.from_result(summaries)
    assert display.systems == tuple(SYSTEMS)
    assert not display.greater_is_better


@pytest.fixture(scope="module")
def selector():
    return ta.RankingFeatureSelector(["ap", "rr"]).fit(WEB.data, Y, qid=QID)


@pytest.fixture(scope="module")
def screening(selector):
    return selector.screening_.named(WEB.feature_names)


def test_features_are_those_of_the_selector(selector, screening):
    display = plots.FeatureScreeningDisplay.from_result(screening, max_features=4)
    assert check_layout(display.figure_)
    best = np.argsort(selector.ranking_)[:4]
    names = [WEB.feature_names[j] for j in best]
    rows = [row.split(" (")[0].split(". ")[-1] for row in rows_of(display.axes_[0])]
    assert rows == names
    for m, axis in enumerate(display.axes_):
        ends = np.array(segments(axis))
        np.testing.assert_array_equal(ends[:, 1], selector.best_[best, m])
        mean = selector.mean_[best, m]
        assert line(axis, "chance")[0] == selector.chance_[m]
        assert line(axis, MEAN) == mean.tolist()
        assert segments(axis, INTERVAL) == screening.interval[best, m].tolist()
        lead = mean.max() - selector.chance_[m]
        title = axis.get_title(loc="left")
        assert title.startswith(
            f"{screening.measures[m]}: the best feature beats chance by {lead:.2f}; "
        )


def test_diamonds_of_features_that_do_not_beat_chance_are_hollow(screening):
    display = plots.FeatureScreeningDisplay.from_result(screening)
    order = np.argsort(screening.ranking)
    for m, axis in enumerate(display.axes_):
        (hollow,) = [
            points
            for points in axis.lines
            if points.get_label() == "does not beat chance (q > 0.05)"
        ]
        is_drawn = ~np.isnan(hollow.get_xdata())
        assert is_drawn.tolist() == (screening.qvalues[order, m] > 0.05).tolist()
        assert hollow.get_markerfacecolor() == "white"


def test_features_by_a_measure_whose_least_value_is_best_say_so():
    selector = ta.RankingFeatureSelector(["esl", "ap"]).fit(WEB.data, Y, qid=QID)
    display = plots.FeatureScreeningDisplay.from_result(selector.screening_)
    labels = [axis.get_xlabel() for axis in display.axes_]
    assert labels == [f"mean over queries{LOWER}", "mean over queries"]


def test_a_range_that_contains_chance_is_grey(screening):
    display = plots.FeatureScreeningDisplay.from_result(screening)
    chance = screening.chance[0]
    contains = (screening.worst[:, 0] < chance) & (chance < screening.best[:, 0])
    axis = display.axes_[0]
    assert 0 < contains.sum() < 12
    assert len(segments(axis, GREY_RANGE)) == contains.sum()
    assert len(segments(axis, RANGE)) == 12 - contains.sum()
    colours = {
        bars.get_label(): to_hex(bars.get_color()[0]).upper()
        for bars in axis.collections
    }
    assert colours[GREY_RANGE] == GREY
    assert colours[RANGE] == SKY


def test_selected_features_are_numbered_and_others_name_what_they_repeat():
    selector = ta.RankingFeatureSelector("ap", n_features_to_select=3)
    selector.fit(WEB.data, Y, qid=QID)
    names = WEB.feature_names
    screening = selector.screening_.named(names)
    display = plots.FeatureScreeningDisplay.from_result(screening)
    labels = rows_of(display.ax_)
    for place, j in enumerate(selector.selection_order_, start=1):
        numbered = f"{place}. {names[j]}"
        assert any(label.startswith(numbered) for label in labels)
    repeats = np.flatnonzero(selector.repeats_ >= 0)
    assert len(repeats)
    for j in repeats:
        repeated = names[selector.repeats_[j]]
        assert f"{names[j]} (repeats {repeated})" in labels
    assert sum(label[0].isdigit() for label in labels) == 3
    assert any("(ascending)" in label for label in labels)


def curve_of(name):
    few = QID <= 4
    return precision_recall_curve(Y[few], SYSTEMS[name][few], qid=QID[few])


def y_of_lines(axis):
    return [points.get_ydata().tolist() for points in axis.lines]


def test_a_panel_per_system_with_the_others_behind():
    display = DISPLAYS["recall"]()
    curves = {name: curve_of(name) for name in SYSTEMS}
    means = [curve.mean.tolist() for curve in curves.values()]
    for axis, (name, curve) in zip(display.axes_, curves.items(), strict=True):
        assert axis.get_title(loc="left") == f"Interpolated precision: {name}"
        *behind, in_front = y_of_lines(axis)
        assert behind == means
        assert in_front == curve.mean.tolist()
        assert axis.lines[-1].get_label() == MEAN
        (band,) = axis.collections
        heights = band.get_paths()[0].vertices[:, 1]
        assert {*curve.worst, *curve.best} <= set(heights)


def test_three_systems_share_a_panel():
    curves = {name: curve_of(name) for name in list(SYSTEMS)[:3]}
    axis = plots.PrecisionRecallBandDisplay.from_result(curves).ax_
    assert y_of_lines(axis) == [curve.mean.tolist() for curve in curves.values()]
    assert [points.get_label() for points in axis.lines] == list(curves)


def test_a_curve_alone_is_named_scores():
    display = plots.PrecisionRecallBandDisplay.from_result(curve_of("clicks"))
    assert list(display.curves) == ["scores"]


def bars_of(axis):
    """Return the rows with a dot on each of the bars beside a panel."""
    bars = []
    for points in axis.lines:
        if "not signif" in points.get_label():
            bars.append(tuple(int(row) for row in points.get_ydata()))
    return bars


def sorted_pairs(rows):
    """Return the pairs of rows, the lower row first."""
    return set(itertools.combinations(sorted(rows), 2))


@pytest.fixture(scope="module")
def comparison_of_twelve():
    """Compare twelve systems by three measures; close systems do not differ."""
    rng = np.random.default_rng(0)
    spread = 1 + np.arange(12)[:, None] / 3
    scores = Y + rng.normal(0, spread, (12, len(Y)))
    order = rng.permutation(12)
    systems = {f"s{i}": scores[j] for i, j in enumerate(order)}
    measures = ["esl", "ap", "p@5"]
    with pytest.warns(match="the values per query"):
        return ta.compare_systems(Y, systems, qid=QID, measure=measures)


def test_systems_are_sorted_by_the_first_measure(comparison_of_twelve):
    display = plots.SystemComparisonDisplay.from_result(comparison_of_twelve)
    first = comparison_of_twelve["ESL", "expected"].summary()
    order = np.argsort(first.mean, kind="stable")
    assert rows_of(display.axes_[0]) == [f"s{i}" for i in order]
    for axis, compared in zip(display.axes_, comparison_of_twelve, strict=True):
        summary = compared.summary()
        assert line(axis, MEAN) == summary.mean[order].tolist()
        ends = np.stack([summary.worst, summary.best], axis=1)[order]
        assert segments(axis) == ends.tolist()
        assert segments(axis, INTERVAL) == summary.interval[order].tolist()
        is_lower_better = compared.measures == ("ESL",)
        label = axis.get_xlabel()
        assert label == f"mean over queries{LOWER if is_lower_better else ''}"
        assert axis.get_title(loc="left") == compared.measures[0]


def test_systems_on_a_common_bar_do_not_differ_and_others_do(comparison_of_twelve):
    display = plots.SystemComparisonDisplay.from_result(comparison_of_twelve)
    assert check_layout(display.figure_)
    assert "not significantly different (corrected p > 0.05)" in legend(display)
    rows = {name: row for row, name in enumerate(rows_of(display.axes_[0]))}
    for axis, compared in zip(display.axes_, comparison_of_twelve, strict=True):
        pairs = compared.to_pandas()
        equal = pairs[pairs.adjusted_pvalue > 0.05]
        equal_pairs = set()
        for a, b in zip(equal.a, equal.b, strict=True):
            equal_pairs |= sorted_pairs([rows[a], rows[b]])
        bars = bars_of(axis)
        assert len(set(bars)) == len(bars)
        joined = [sorted_pairs(bar) for bar in bars]
        assert set().union(*joined) == equal_pairs
        assert equal_pairs
        assert len(equal_pairs) < len(pairs) or compared.measures == ("ESL",)
        # no system could join a bar
        for bar in bars:
            for row in set(range(12)) - set(bar):
                assert not sorted_pairs([*bar, row]) <= equal_pairs


def test_a_bar_for_each_baseline_and_a_title_for_each_treatment():
    baselines = ["clicks", "url_length"]
    comparison = ta.compare_systems(
        Y,
        SYSTEMS,
        qid=QID,
        measure="p@5",
        baseline=baselines,
        ties=["expected", "worst"],
        correction=None,
    )
    display = plots.SystemComparisonDisplay.from_result(comparison)
    titles = [axis.get_title(loc="left") for axis in display.axes_]
    assert titles == ["P@5", "P@5, ties: worst"]
    assert {MEAN, "mean, ties as in the title"} <= set(legend(display))
    names = rows_of(display.axes_[0])
    for axis, compared in zip(display.axes_, comparison, strict=True):
        pairs = compared.to_pandas()
        equal = pairs[pairs.adjusted_pvalue > 0.05]
        expected = [{name, *equal.a[equal.b == name]} for name in baselines]
        assert [{names[row] for row in bar} for bar in bars_of(axis)] == expected


def test_a_baseline_that_differs_from_all_systems_has_no_bar():
    systems = {"perfect": Y, "reversed": -Y}
    options = {"qid": QID, "measure": "p@5", "baseline": "reversed"}
    display = plots.SystemComparisonDisplay.from_predictions(Y, systems, **options)
    (pvalue,) = display.comparison.pvalues
    assert pvalue < 0.05
    assert not bars_of(display.ax_)
    assert legend(display) == [RANGE, INTERVAL, MEAN]


def test_a_system_alone_has_no_bar():
    alone = ta.compare_systems(Y, {"a": Y}, qid=QID, measure="p@5")
    display = plots.SystemComparisonDisplay.from_result(alone)
    assert not bars_of(display.ax_)


def means_of_boxes(axis):
    marks = [points for points in axis.lines if points.get_marker() == "D"]
    return [mark.get_ydata()[0] for mark in marks]


def test_boxes_hold_the_changes_of_queries():
    display = DISPLAYS["changes"]()
    means = STUDY.changes()[1:].mean(axis=(1, 2))
    assert means_of_boxes(display.ax_) == pytest.approx(means.tolist(), abs=1e-12)


def test_boxes_of_a_system_hold_its_changes():
    display = plots.PrecisionLossDisplay.from_result(STUDY, system="clicks")
    changes = STUDY.changes()[1:, :, STUDY.systems.index("clicks")]
    means = changes.mean(axis=1).tolist()
    assert means_of_boxes(display.ax_) == pytest.approx(means, abs=1e-12)
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == list(STUDY.levels[1:])
    assert display.ax_.get_title(loc="left") == f"{STUDY.measure}: clicks"


def test_boxes_of_many_levels_fit():
    levels = [f"levels={n}" for n in range(2, 12)]
    study = ta.precision_study(Y, SYSTEMS["clicks"], qid=QID, coarseness=levels)
    display = plots.PrecisionLossDisplay.from_result(study)
    assert check_layout(display.figure_)


def labels_of_counts(before, after):
    """Return the entries of the legend for pairs that are significant or not."""
    counts = {
        "significant in both": np.sum(before & after),
        "significant in neither": np.sum(~before & ~after),
        "newly significant": np.sum(~before & after),
        "no longer significant": np.sum(before & ~after),
    }
    return {f"{name}: {count}" for name, count in counts.items() if count}


def dots_of_pairs(display):
    dots = []
    for collection in display.ax_.collections:
        if "significant" in collection.get_label():
            dots.append(collection.get_offsets())
    return np.vstack(dots)


def test_quadrants_count_the_pairs():
    display = DISPLAYS["pvalues"]()
    before, *_, after = STUDY.significant()
    entries = {entry for entry in legend(display) if "significant" in entry}
    assert entries == labels_of_counts(before, after)
    assert len(dots_of_pairs(display)) == len(STUDY.pairs)


def test_quadrants_of_a_level():
    display = plots.PairwisePValueDisplay.from_result(STUDY, level="levels=4")
    assert display.ax_.get_ylabel() == "p-value under levels=4"
    pvalues = np.maximum(STUDY.pvalues[2], 1e-8)
    assert sorted(dots_of_pairs(display)[:, 1]) == sorted(pvalues)


def test_p_values_beyond_the_edge_are_marked():
    systems = {name: SYSTEMS[name] for name in list(SYSTEMS)[:3]}
    study = ta.precision_study(Y, systems, qid=QID, coarseness="rho=2")
    pvalues = np.array([[1e-9, 1e-3, np.nan], [0.2, 1e-3, 1e-9]])
    study = replace(study, pvalues=pvalues)
    display = plots.PairwisePValueDisplay.from_result(study)
    assert "p < 1e-08, at the edge: 1" in legend(display)
    collections = display.ax_.collections
    (marks,) = [dots for dots in collections if "at the edge" in dots.get_label()]
    assert marks.get_offsets().tolist() == [[1e-8, 0.2]]


def test_p_values_below_a_small_level_are_shown():
    study = ta.precision_study(
        Y, SYSTEMS, qid=QID, coarseness=["rho=1000000"], alpha=1e-9
    )
    display = plots.PairwisePValueDisplay.from_result(study)
    assert display.ax_.get_xlim()[0] < 1e-9
    before, after = study.significant()
    n_lost = np.sum(before & ~after)
    assert f"no longer significant: {n_lost}" in legend(display)
    assert check_layout(display.figure_)


def dots(axis):
    """Return the scores of the folds of each row."""
    rows = []
    for points in axis.lines:
        if points.get_label() == "a fold":
            rows.append(points.get_xdata().tolist())
    return rows


def test_folds_of_a_result():
    display = plots.FoldScoresDisplay.from_result(FOLD_SCORES)
    ndcg, fallout = display.axes_
    assert rows_of(ndcg) == ["all folds"]
    assert ndcg.get_title(loc="left") == "ndcg@10"
    assert fallout.get_title(loc="left") == "neg_fallout@10"
    assert dots(ndcg) == [FOLD_SCORES["test_ndcg@10"].tolist()]
    assert dots(fallout) == [FOLD_SCORES["test_neg_fallout@10"].tolist()]
    means = line(ndcg, "mean over folds")
    assert means == pytest.approx([FOLD_SCORES["test_ndcg@10"].mean()])
    assert sorted(legend(display)) == ["a fold", "mean over folds"]


def test_the_range_of_the_report_of_folds():
    display = DISPLAYS["folds"]()
    ndcg, fallout = display.axes_
    summary = HELD_OUT.summary()
    assert segments(ndcg) == [[summary.worst[1], summary.best[1]]]
    # higher scores are better
    assert segments(fallout) == [[-summary.worst[0], -summary.best[0]]]
    assert dots(ndcg) == [FOLD_SCORES["test_ndcg@10"].tolist()]
    labels = ["a fold", "mean over folds", RANGE]
    assert sorted(legend(display)) == labels


def test_ranges_are_those_of_weighted_means():
    report = ta.evaluate(
        Y, WEB.data[:, 1], qid=QID, measures=["ap"], query_weight=1.0 + QID
    )
    display = plots.FoldScoresDisplay.from_result({"test_map": [0.5]}, reports=report)
    summary = report.summary()
    assert segments(display.ax_) == [[summary.worst[0], summary.best[0]]]


def n_ends_of_ranges(axis):
    return [len(bar) for bar in axis.collections[0].get_segments()]


def test_folds_of_models_are_rows_in_their_order():
    models = {
        "low": {"test_r2": [0.1, 0.3, 0.3]},
        "$high$": {"test_r2": [0.4, 0.5]},
        "both": {"test_r2": [0.5, 0.7], "test_ndcg@10": [0.2, 0.4]},
    }
    display = plots.FoldScoresDisplay.from_result(models, reports={"both": HELD_OUT})
    assert check_layout(display.figure_)
    r2, ndcg = display.axes_
    assert rows_of(r2) == ["low", r"\$high\$", "both"]
    assert dots(r2) == [scores["test_r2"] for scores in models.values()]
    assert line(r2, "mean over folds") == pytest.approx([0.7 / 3, 0.45, 0.6])
    assert dots(ndcg) == [[], [], [0.2, 0.4]]
    assert n_ends_of_ranges(r2) == [0, 0, 0]
    assert n_ends_of_ranges(ndcg) == [0, 0, 2]


@pytest.mark.filterwarnings("error")
def test_folds_with_an_error_are_counted_and_left_out_of_the_mean():
    models = {
        "partly scored": {"test_score": np.array([0.2, np.nan, 0.4])},
        "unscored": {"test_score": np.array([np.nan, np.nan])},
    }
    display = plots.FoldScoresDisplay.from_result(models)
    partly_scored, unscored = line(display.ax_, "mean over folds")
    assert partly_scored == pytest.approx(0.3)
    assert np.isnan(unscored)
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["scored folds", "2 of 3", "0 of 2"]
    assert display.ax_.get_xlabel() == "score on test folds"
    assert check_layout(display.figure_)


def test_a_measure_whose_name_cannot_be_parsed_is_found_in_the_report():
    measure = DCG(gain=lambda label: label)
    report = ta.evaluate(Y, WEB.data[:, 1], qid=QID, measures=measure)
    (scorer,) = ta.make_ranking_scorer([measure])
    result = {f"test_{scorer}": [1.0, 2.0]}
    display = plots.FoldScoresDisplay.from_result(result, reports=report)
    assert np.isfinite(segments(display.ax_)).all()


def test_at_least_one_feature_is_shown():
    screening = DISPLAYS["features"]().screening
    with pytest.raises(ValueError, match="max_features must be an integer >= 1, got 0"):
        plots.FeatureScreeningDisplay.from_result(screening, max_features=0)


def test_a_system_must_be_in_the_study():
    with pytest.raises(ValueError, match="system must be one of"):
        plots.PrecisionLossDisplay.from_result(STUDY, system="x")


def test_a_level_must_be_in_the_study():
    with pytest.raises(ValueError, match="level must be one of"):
        plots.PairwisePValueDisplay.from_result(STUDY, level="x")


def test_p_values_need_two_systems():
    study = ta.precision_study(Y, {"a": WEB.data[:, 0]}, qid=QID)
    with pytest.raises(ValueError, match="study must have at least two systems"):
        plots.PairwisePValueDisplay.from_result(study)


def test_a_comparison_must_be_a_result():
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID)
    message = (
        "comparison must be a SystemComparison, as returned by compare_systems, "
        "got dict"
    )
    with pytest.raises(ValueError, match=message):
        plots.SystemComparisonDisplay.from_result({"ap": compared})


def test_folds_must_have_scores():
    message = r"cv_results must have keys test_score or test_<name>, got \['fit_time'\]"
    with pytest.raises(ValueError, match=message):
        plots.FoldScoresDisplay.from_result({"fit_time": [1.0]})
    with pytest.raises(ValueError, match=r"cv_results must have keys .*, got \[\]"):
        plots.FoldScoresDisplay.from_result({})


MODELS = {"a": FOLD_SCORES, "b": FOLD_SCORES}
REPORT_ERRORS = [
    (
        {"test_score": [1.0]},
        HELD_OUT,
        r"reports must be for \['all folds'\] and contain one of the measures "
        r"\['score'\], got \['Fallout@10', 'NDCG@10'\] for 'all folds'",
    ),
    (
        MODELS,
        HELD_OUT,
        r"reports must be for \['a', 'b'\] and contain .*, got .* for 'all folds'",
    ),
    (
        MODELS,
        {"a": HELD_OUT, "c": HELD_OUT},
        r"reports must be for \['a', 'b'\] and contain .*, got .* for 'c'",
    ),
]


@pytest.mark.parametrize(("cv_results", "reports", "message"), REPORT_ERRORS)
def test_reports_must_fit_the_folds(cv_results, reports, message):
    with pytest.raises(ValueError, match=message):
        plots.FoldScoresDisplay.from_result(cv_results, reports=reports)


@pytest.mark.parametrize("average", ["geometric", "median"])
def test_averages_are_named(average, tmp_path):
    name = "geometric mean" if average == "geometric" else average
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    compared = ta.compare_systems(y, systems, qid=qid, measure="rr", average=average)
    display = Ranges.from_result(compared)
    assert display.ax_.get_xlabel() == f"{name} over queries"
    path = tmp_path / "page.html"
    compared.to_html(path)
    assert f"By the {name} of RR, a " in path.read_text()
