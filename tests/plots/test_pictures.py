"""What each display draws is what its result holds."""

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
from tests.plots.helpers import check_layout, legend, line, rows_of, segments
from tieaware_sklearn import plots
from tieaware_sklearn.evaluation import precision_recall_curve
from tieaware_sklearn.measures import DCG
from tieaware_sklearn.plots._base import BLUE, GREY

Ranges = plots.TieRangeDisplay
MEAN, INTERVAL = "mean over all orders", "95% interval over queries"
PAIR = ("clicks", "url_length")


def test_ranges_are_those_of_the_report():
    display = DISPLAYS["ranges"]()
    own = {"qid": QID, "measures": ["ndcg@10", "fallout@10"]}
    of = {n: ta.evaluate(Y, s, **own).summary() for n, s in SYSTEMS.items()}
    order = sorted(SYSTEMS, key=lambda name: -of[name].mean[0])
    assert rows_of(display.axes_[0]) == order
    for j, axis in enumerate(display.axes_):
        ends = [sorted([of[name].worst[j], of[name].best[j]]) for name in order]
        assert segments(axis) == ends
        assert line(axis, MEAN) == [of[name].mean[j] for name in order]
        assert line(axis, "chance")[0] == of[order[0]].chance[j] == display.chance[j]
        for name, interval in zip(display.systems, display.interval, strict=True):
            assert interval[j].tolist() == of[name].interval[j].tolist()
    lower = Ranges.from_predictions(Y, SYSTEMS, qid=QID, measures="fallout@10")
    means = [of[name].mean[1] for name in rows_of(lower.axes_[0])]
    assert means == sorted(means)
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID, measure="fallout@10")
    of_comparison = Ranges.from_result(compared)
    for name in ("mean", "best", "worst", "interval", "chance"):
        found = getattr(of_comparison, name), getattr(lower, name)
        assert np.array_equal(*found)
    assert not of_comparison.greater_is_better


def test_other_treatments_are_marks():
    rules = {"official": (np.arange(len(Y)), "descending"), "$up$": np.arange(len(Y))}
    own = {"qid": QID, "external": rules}
    ties = ["official", "expected", "$up$", "best"]
    compared = ta.compare_systems(Y, SYSTEMS, measure=["ap", "p@5"], ties=ties, **own)
    shown = Ranges.from_result(compared)
    assert check_layout(shown.figure_)
    order = rows_of(shown.axes_[0])
    names = ["ties: official", r"ties: \$up\$", "ties: best"]
    for measure, axis in zip(["ap", "p@5"], shown.axes_, strict=True):
        labels = [one.get_label() for one in axis.lines]
        assert [label for label in labels if label.startswith("ties: ")] == names
        for label, one in zip(names, ["official", "$up$", "best"], strict=True):
            alone = ta.compare_systems(Y, SYSTEMS, measure=measure, ties=one, **own)
            means = dict(zip(alone.systems, alone.summary().mean, strict=True))
            assert line(axis, label) == [means[name] for name in order]
    # the range is that of the exact means, whatever comes first
    plain = Ranges.from_predictions(Y, SYSTEMS, qid=QID, measures=["ap"])
    assert segments(shown.axes_[0]) == segments(plain.axes_[0])
    assert not any(label.startswith("ties: ") for label in legend(plain))
    assert {"ties: official", MEAN} <= set(legend(shown))
    # without exact means, the first has its name
    options = {"measure": "ap", "ties": ["official", "best"], **own}
    drawn = Ranges.from_result(ta.compare_systems(Y, SYSTEMS, **options))
    assert "ties: official" in legend(drawn)
    assert MEAN not in legend(drawn)
    assert drawn.best.tolist() == drawn.worst.tolist()
    assert drawn.ties == "official"
    assert list(drawn.marks) == ["best"]


def test_summaries_of_reports():
    segment = np.where(QID % 2, "odd", "even")
    options = {"qid": QID, "measures": ["ap", "esl"], "segment": segment}
    report = ta.evaluate(Y, SYSTEMS["clicks"], **options)
    for result in (report, report.summary()):
        one = Ranges.from_result(result)
        assert rows_of(one.axes_[0]) == ["all queries"]
        assert one.mean.tolist() == [report.summary().mean.tolist()]
        assert one.greater_is_better
    assert one.axes_[0].get_xlabel() == "AP, mean over queries"
    parts = Ranges.from_result(report.by_segment())
    assert parts.systems == ("even", "odd")
    assert parts.mean.ravel().tolist() == report.by_segment().mean.tolist()
    assert parts.chance is None
    each = [ta.evaluate(Y, s, qid=QID, measures="esl") for s in SYSTEMS.values()]
    lower = {n: report.summary() for n, report in zip(SYSTEMS, each, strict=True)}
    named = Ranges.from_result(lower)
    assert named.systems == tuple(SYSTEMS)
    assert not named.greater_is_better


def test_features_are_those_of_the_selector():
    selector = ta.RankingFeatureSelector(["ap", "rr"]).fit(WEB.data, Y, qid=QID)
    screening = selector.screening_.named(WEB.feature_names)
    display = plots.FeatureScreeningDisplay.from_result(screening, max_features=4)
    best = np.argsort(selector.ranking_)[:4]
    shown = [name.split(" (")[0].split(". ")[-1] for name in rows_of(display.axes_[0])]
    assert [WEB.feature_names[j] for j in best] == shown
    for m, axis in enumerate(display.axes_):
        ends = np.array(segments(axis))
        np.testing.assert_array_equal(ends[:, 1], selector.best_[best, m])
        chance, mean = selector.chance_[m], selector.mean_[best, m]
        assert line(axis, "chance")[0] == chance
        # bars go from chance to the mean; those that do not beat it are grey
        bars = sorted(axis.patches, key=lambda bar: bar.get_y())
        np.testing.assert_allclose([bar.get_x() for bar in bars], chance)
        np.testing.assert_allclose([bar.get_width() for bar in bars], mean - chance)
        said = axis.get_title(loc="left")
        assert said.startswith(f"{WEB.feature_names[best[mean.argmax()]]} beats chance")
        assert f"{mean.max() - chance:.2f};" in said
    assert check_layout(display.figure_)
    shown = plots.FeatureScreeningDisplay.from_result(screening)
    sure = (screening.qvalues[:, 0] <= 0.05).sum()
    colours = [to_hex(bar.get_facecolor()).upper() for bar in shown.axes_[0].patches]
    assert (colours.count(BLUE), colours.count(GREY)) == (sure, 12 - sure)


def test_selected_features_are_numbered_and_others_name_what_they_repeat():
    selector = ta.RankingFeatureSelector("ap", n_features_to_select=3)
    selector.fit(WEB.data, Y, qid=QID)
    names = WEB.feature_names
    screening = selector.screening_.named(names)
    display = plots.FeatureScreeningDisplay.from_result(screening)
    labels = rows_of(display.ax_)
    for place, j in enumerate(selector.selection_order_, start=1):
        assert any(label.startswith(f"{place}. {names[j]}") for label in labels)
    repeats = np.flatnonzero(selector.repeats_ >= 0)
    assert len(repeats)
    for j in repeats:
        assert f"{names[j]} (repeats {names[selector.repeats_[j]]})" in labels
    assert sum(label[0].isdigit() for label in labels) == 3
    assert any("(ascending)" in label for label in labels)
    grey = [label.get_color() for label in display.ax_.get_yticklabels()]
    assert grey.count(GREY) == 9


def test_a_panel_per_system_with_the_others_behind():
    display, few = DISPLAYS["recall"](), QID <= 4
    means = []
    for axis, (name, scores) in zip(display.axes_, SYSTEMS.items(), strict=True):
        curve = precision_recall_curve(Y[few], scores[few], qid=QID[few])
        means.append(curve.mean.tolist())
        assert axis.get_title(loc="left") == name
        *_, own = axis.lines
        assert own.get_label() == MEAN
        assert own.get_ydata().tolist() == means[-1]
        (band,) = axis.collections
        height = np.unique(band.get_paths()[0].vertices[:, 1])
        assert {*curve.worst, *curve.best} <= set(height)
    for axis in display.axes_:
        assert [line.get_ydata().tolist() for line in axis.lines[:-1]] == means
    # few share one
    three = dict(list(display.curves.items())[:3])
    axis = plots.PrecisionRecallBandDisplay.from_result(three).ax_
    assert [line.get_ydata().tolist() for line in axis.lines] == means[:3]
    assert [line.get_label() for line in axis.lines] == list(three)
    alone = plots.PrecisionRecallBandDisplay.from_result(curve)
    assert list(alone.curves) == ["scores"]


def bars_of(axis):
    """Rows with a dot on each of the bars beside a panel."""
    dots = [one for one in axis.lines if "not signif" in one.get_label()]
    return [tuple(map(int, one.get_ydata())) for one in dots]


def test_systems_on_one_bar_do_not_differ_and_others_do():
    rng = np.random.default_rng(0)
    scores = Y + rng.normal(0, 1 + np.arange(12)[:, None] / 3, (12, len(Y)))
    systems = {f"s{i}": score for i, score in enumerate(scores[rng.permutation(12)])}
    measures = ["esl", "ap", "p@5"]
    with pytest.warns(match="the values per query"):
        compared = ta.compare_systems(Y, systems, qid=QID, measure=measures)
    display = plots.SystemComparisonDisplay.from_result(compared)
    summary = compared["ESL", "expected"].summary()
    order = np.argsort(summary.mean, kind="stable")
    assert rows_of(display.axes_[0]) == [f"s{i}" for i in order]
    for axis, one in zip(display.axes_, compared, strict=True):
        summary = one.summary()
        assert line(axis, "mean") == summary.mean[order].tolist()
        assert segments(axis, INTERVAL) == summary.interval[order].tolist()
        assert axis.get_xlabel() == f"{one.measures[0]}, mean over queries"
        row = {int(i): k for k, i in enumerate(order)}
        equal = {
            tuple(sorted(row[i] for i in pair))
            for pair, p in zip(one.pairs.tolist(), one.adjusted_pvalues, strict=True)
            if p > 0.05
        }
        bars = bars_of(axis)
        joined = {pair for bar in bars for pair in itertools.combinations(bar, 2)}
        assert joined == equal
        assert 0 < len(equal) < len(one.pairs) or one.measures == ("ESL",)
        # each as large as it can be
        for bar, k in itertools.product(bars, range(12)):
            with_k = {tuple(sorted((k, other))) for other in bar}
            assert k in bar or not with_k <= equal
        assert [*bars] == list(dict.fromkeys(bars))
    assert "not significantly different (corrected p > 0.05)" in legend(display)
    assert check_layout(display.figure_)


def test_a_bar_for_each_baseline_and_a_title_for_each_treatment():
    options = {"baseline": [*PAIR], "ties": ["expected", "worst"], "correction": None}
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID, measure="p@5", **options)
    display = plots.SystemComparisonDisplay.from_result(compared)
    titles = [axis.get_title(loc="left") for axis in display.axes_]
    assert titles == ["", "ties: worst"]
    names = rows_of(display.axes_[0])
    for axis, one in zip(display.axes_, compared, strict=True):
        frame = one.to_pandas()
        frame = frame[frame.adjusted_pvalue > 0.05]
        assert [{names[row] for row in bar} for bar in bars_of(axis)] == [
            {name, *frame.a[frame.b == name]} for name in PAIR
        ]
    alone = ta.compare_systems(Y, {"a": Y}, qid=QID, measure="p@5")
    assert not bars_of(plots.SystemComparisonDisplay.from_result(alone).ax_)


def test_boxes_hold_the_changes_of_queries():
    changes, own = STUDY.changes()[1:], STUDY.systems.index("clicks")
    one = plots.PrecisionLossDisplay.from_result(STUDY, system="clicks")
    for display, wanted in (
        (DISPLAYS["changes"](), changes.mean(axis=(1, 2))),
        (one, changes[:, :, own].mean(axis=1)),
    ):
        marks = [line for line in display.ax_.lines if line.get_marker() == "D"]
        means = [line.get_ydata()[0] for line in marks]
        assert means == pytest.approx(wanted.tolist(), abs=1e-12)
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == list(STUDY.levels[1:])
    assert one.ax_.get_title(loc="left") == "clicks"
    levels = [f"levels={n}" for n in range(2, 12)]
    many = ta.precision_study(Y, SYSTEMS["clicks"], qid=QID, coarseness=levels)
    assert check_layout(plots.PrecisionLossDisplay.from_result(many).figure_)


def test_quadrants_count_the_pairs():
    display = DISPLAYS["pvalues"]()
    before, after = STUDY.significant()[0], STUDY.significant()[-1]
    counts = {
        "significant in both": (before & after).sum(),
        "significant in neither": (~before & ~after).sum(),
        "newly significant": (~before & after).sum(),
        "no longer significant": (before & ~after).sum(),
    }
    named = {
        name: entry for entry in legend(display) for name in counts if name in entry
    }
    assert named == {name: f"{name}: {n}" for name, n in counts.items() if n}

    def drawn(shown):
        dots = [c for c in shown.ax_.collections if "significant" in c.get_label()]
        return np.vstack([c.get_offsets() for c in dots])

    assert len(drawn(display)) == len(STUDY.pairs)
    named = plots.PairwisePValueDisplay.from_result(STUDY, level="levels=4")
    assert named.ax_.get_ylabel() == "p-value under levels=4"
    assert sorted(drawn(named)[:, 1]) == sorted(np.maximum(STUDY.pvalues[2], 1e-8))


def test_p_values_beyond_the_edge_are_marked_and_below_a_small_level_shown():
    exact, coarse = np.array([1e-9, 1e-3, np.nan]), np.array([0.2, 1e-3, 1e-9])
    systems = {name: SYSTEMS[name] for name in list(SYSTEMS)[:3]}
    study = ta.precision_study(Y, systems, qid=QID, coarseness="rho=2")
    study = replace(study, pvalues=np.stack([exact, coarse]))
    shown = plots.PairwisePValueDisplay.from_result(study)
    assert "p < 1e-08, at the edge: 1" in legend(shown)
    (marked,) = [c for c in shown.ax_.collections if "at the edge" in c.get_label()]
    assert marked.get_offsets().tolist() == [[1e-8, 0.2]]
    study = ta.precision_study(
        Y, SYSTEMS, qid=QID, coarseness=["rho=1000000"], alpha=1e-9
    )
    display = plots.PairwisePValueDisplay.from_result(study)
    assert display.ax_.get_xlim()[0] < 1e-9
    both = study.significant()
    assert f"no longer significant: {(both[0] & ~both[1]).sum()}" in legend(display)
    assert check_layout(display.figure_)


def dots(axis):
    """Scores of the folds of each row."""
    lines = [one for one in axis.lines if one.get_label() == "a fold"]
    return [one.get_xdata().tolist() for one in lines]


def test_folds_of_a_result_and_the_range_of_its_report():
    display = DISPLAYS["folds"]()
    ndcg, fallout = display.axes_
    assert rows_of(ndcg) == ["all folds"]
    assert ndcg.get_xlabel() == "ndcg@10 on test folds"
    assert fallout.get_xlabel() == "neg_fallout@10 on test folds"
    assert dots(ndcg) == [FOLD_SCORES["test_ndcg@10"].tolist()]
    assert dots(fallout) == [FOLD_SCORES["test_neg_fallout@10"].tolist()]
    means = line(ndcg, "mean over folds")
    assert means == pytest.approx([FOLD_SCORES["test_ndcg@10"].mean()])
    summary = HELD_OUT.summary()
    assert segments(ndcg) == [[summary.worst[1], summary.best[1]]]
    # as the score, in which higher is better
    assert segments(fallout) == [[-summary.worst[0], -summary.best[0]]]
    labels = ["a fold", "mean over folds", "worst to best order of ties"]
    assert sorted(legend(display)) == labels
    alone = plots.FoldScoresDisplay.from_result(FOLD_SCORES)
    assert sorted(legend(alone)) == labels[:2]


def test_ranges_are_those_of_weighted_means():
    report = ta.evaluate(
        Y, WEB.data[:, 1], qid=QID, measures=["ap"], query_weight=1.0 + QID
    )
    display = plots.FoldScoresDisplay.from_result({"test_map": [0.5]}, reports=report)
    summary = report.summary()
    assert segments(display.ax_) == [[summary.worst[0], summary.best[0]]]


def test_folds_of_models_are_rows_in_their_order():
    low, high = {"test_r2": [0.1, 0.3, 0.3]}, {"test_r2": [0.4, 0.5]}
    other = {"test_r2": [0.5, 0.7], "test_ndcg@10": [0.2, 0.4]}
    models = {"low": low, "$high$": high, "other": other}
    display = plots.FoldScoresDisplay.from_result(models, reports={"other": HELD_OUT})
    r2, ndcg = display.axes_
    assert rows_of(r2) == ["low", r"\$high\$", "other"]
    assert dots(r2) == [low["test_r2"], high["test_r2"], other["test_r2"]]
    assert line(r2, "mean over folds") == pytest.approx([0.7 / 3, 0.45, 0.6])
    assert dots(ndcg) == [[], [], [0.2, 0.4]]
    assert [len(bar) for bar in r2.collections[0].get_segments()] == [0, 0, 0]
    assert [len(bar) for bar in ndcg.collections[0].get_segments()] == [0, 0, 2]
    assert check_layout(display.figure_)


@pytest.mark.filterwarnings("error")
def test_folds_with_an_error_are_counted_and_left_out_of_the_mean():
    models = {
        "some": {"test_score": np.array([0.2, np.nan, 0.4])},
        "none": {"test_score": np.array([np.nan, np.nan])},
    }
    display = plots.FoldScoresDisplay.from_result(models)
    some, none = line(display.ax_, "mean over folds")
    assert some == pytest.approx(0.3)
    assert np.isnan(none)
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


ALONE = ta.precision_study(Y, {"a": WEB.data[:, 0]}, qid=QID)
COMPARED = ta.compare_systems(Y, SYSTEMS, qid=QID)
SINGLE = ta.compare_systems(Y, SYSTEMS["clicks"], qid=QID)
SEVERAL = ta.compare_systems(Y, SYSTEMS, qid=QID, measure=["ap", "rr"], ties="best")
SCREENED = DISPLAYS["features"]().screening
NONE, MORE = {"max_features": 0}, "max_features must be an integer >= 1"


REFUSED = [
    ("PrecisionLoss", STUDY, {"system": "x"}, "system must be one of"),
    ("PairwisePValue", STUDY, {"level": "x"}, "level must be one of"),
    ("PairwisePValue", ALONE, {}, "study must have at least two systems"),
    ("FeatureScreening", SCREENED, NONE, MORE),
    (
        "SystemComparison",
        {"ap": COMPARED},
        {},
        "comparison must be one SystemComparison, as compare_systems returns it, "
        "got a dict",
    ),
    (
        "FoldScores",
        {"fit_time": [1.0]},
        {},
        r"cv_results must have keys test_score or test_<name>, got \['fit_time'\]",
    ),
    ("FoldScores", {}, {}, r"cv_results must have keys .*, got \[\]"),
    (
        "FoldScores",
        {"test_score": [1.0]},
        {"reports": HELD_OUT},
        r"reports must be of \['all folds'\] and contain a measure of the scores "
        r"\['score'\], got \['Fallout@10', 'NDCG@10'\] of 'all folds'",
    ),
    (
        "FoldScores",
        {"a": FOLD_SCORES, "b": FOLD_SCORES},
        {"reports": HELD_OUT},
        r"reports must be of \['a', 'b'\] and contain .*, got .* of 'all folds'",
    ),
    (
        "FoldScores",
        {"a": FOLD_SCORES, "b": FOLD_SCORES},
        {"reports": {"a": HELD_OUT, "c": HELD_OUT}},
        r"reports must be of \['a', 'b'\] and contain .*, got .* of 'c'",
    ),
]


@pytest.mark.parametrize(("name", "result", "options", "message"), REFUSED)
def test_what_is_refused(name, result, options, message):
    cls = getattr(plots, f"{name}Display")
    make = getattr(cls, "from_measures", cls.from_result)
    with pytest.raises(ValueError, match=message):
        make(result, **options)


@pytest.mark.parametrize("average", ["geometric mean", "median"])
def test_averages_are_named(average, tmp_path):
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    options = {"qid": qid, "measure": "rr", "average": average.split()[0]}
    found = ta.compare_systems(y, systems, **options)
    display = Ranges.from_result(found)
    assert display.ax_.get_xlabel() == f"RR, {average} over queries"
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"By the {average} of RR, a " in page
