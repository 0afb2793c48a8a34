"""Plots: what they draw is what was computed, and it fits the picture."""

from __future__ import annotations

import itertools
import sys

import matplotlib
import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from tieaware_sklearn import (
    DCG,
    RankingFeatureSelector,
    evaluate,
    precision_recall_curve,
    precision_study,
)
from tieaware_sklearn.cli import main
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.datasets import dump_letor, load_trec, make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
from tieaware_sklearn.plots import (
    FeatureScreeningDisplay,
    PairwisePValueDisplay,
    PrecisionLossDisplay,
    PrecisionRecallBandDisplay,
    ScorePrecisionDisplay,
    TieRangeDisplay,
    UserModelDisplay,
)
from tieaware_sklearn.score_precision import CoarseRanker

matplotlib.use("Agg")
from matplotlib import pyplot

WEB = make_web_search(n_queries=40, random_state=2)
Y, QID = WEB.target, WEB.qid
FEW = QID <= 4
SYSTEMS = dict(zip(WEB.feature_names[:6], WEB.data.T[:6], strict=True))
STUDY = precision_study(Y, SYSTEMS, qid=QID, coarseness=[1.2, "levels=4", 3])


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def tick_labels(axis):
    """Labels of the ticks inside the limits of an x or y axis, and the others."""
    shown, beyond = [], []
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        (shown if low <= tick.get_loc() <= high else beyond).append(tick.label1)
    return shown, beyond


def check_layout(figure):
    """All text lies in the picture, and no labels of ticks cover each other."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    both = list(itertools.chain(*((a.xaxis, a.yaxis) for a in figure.axes)))
    beyond = {id(label) for axis in both for label in tick_labels(axis)[1]}
    count = 0
    for text in figure.findobj(matplotlib.text.Text):
        if id(text) in beyond or not text.get_visible() or not text.get_text().strip():
            continue
        box = text.get_window_extent(renderer)
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
        count += 1
    for axis in both:
        boxes = [
            label.get_window_extent(renderer)
            for label in tick_labels(axis)[0]
            if label.get_visible() and label.get_text() and not label.get_rotation()
        ]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other), "labels of ticks overlap"
    return count


DISPLAYS = {
    "ranges": lambda **k: TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=["ndcg@10", "fallout@10"], **k
    ),
    "features": lambda **k: FeatureScreeningDisplay.from_predictions(
        Y, WEB.data, qid=QID, feature_names=WEB.feature_names, measures="ap", **k
    ),
    "changes": lambda **k: PrecisionLossDisplay.from_study(STUDY, **k),
    "pvalues": lambda **k: PairwisePValueDisplay.from_study(STUDY, **k),
    "recall": lambda **k: PrecisionRecallBandDisplay.from_predictions(
        Y[FEW], {n: s[FEW] for n, s in SYSTEMS.items()}, qid=QID[FEW], **k
    ),
    "users": lambda **k: UserModelDisplay.from_measures(
        ["rbp(p=0.8)", "p@5", "dcg@5", "ap"], ranking=[1, 0, 1], depth=8, **k
    ),
}
PANELS = {"ranges": 2, "users": 3}


@pytest.mark.parametrize("name", DISPLAYS)
def test_everything_fits_the_picture(name, tmp_path):
    display = DISPLAYS[name]()
    assert check_layout(display.figure_)
    display.figure_.savefig(tmp_path / "plot.png", dpi=60)
    assert (tmp_path / "plot.png").stat().st_size > 5000
    axes = getattr(display, "axes_", None) or [display.ax_]
    assert all(axis.get_xlabel() for axis in axes)


@pytest.mark.parametrize("name", DISPLAYS)
def test_axes_of_the_users_own(name):
    figure, axes = pyplot.subplots(1, PANELS.get(name, 1), figsize=(12, 4))
    display = DISPLAYS[name](ax=axes)
    assert display.figure_ is figure
    assert not figure.legends
    assert len(figure.axes) == PANELS.get(name, 1)
    with pytest.raises(ValueError, match=r"ax must be \d axes, one per panel, got 7"):
        DISPLAYS[name](ax=list(pyplot.subplots(1, 7)[1]))


def rows_of(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def segments(axis):
    """Ends of the bars of each row."""
    (bars,) = [
        c for c in axis.collections if c.get_label() == "worst to best order of ties"
    ]
    return [segment[:, 0].tolist() for segment in bars.get_segments()]


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
    coarse = CoarseRanker(LinearRegression(), rho=2).fit(frame, Y)
    display = TieRangeDisplay.from_estimator(
        {"exact": model, "bands": coarse}, frame, Y, qid=QID
    )
    assert sorted(display.systems) == ["bands", "exact"]
    alone = TieRangeDisplay.from_estimator(model, frame, Y, qid=QID)
    assert alone.systems == ("LinearRegression",)
    assert alone.mean[0, 0] == display.mean[0, 0]
    compared = compare_systems(Y, SYSTEMS, qid=QID)
    from_comparison = TieRangeDisplay.from_comparison(compared)
    direct = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID)
    for name in ("mean", "best", "worst"):
        found = getattr(from_comparison, name), getattr(direct, name)
        assert np.array_equal(*found)


def test_features_are_those_of_the_selector():
    selector = RankingFeatureSelector(["ap", "rr"]).fit(WEB.data, Y, qid=QID)
    display = FeatureScreeningDisplay.from_estimator(
        selector, feature_names=WEB.feature_names, max_features=4
    )
    best = np.argsort(selector.ranking_)[:4]
    assert [name.split()[0] for name in display.features] == [
        WEB.feature_names[j] for j in best
    ]
    assert any("(low first)" in name for name in DISPLAYS["features"]().features)
    for m, axis in enumerate(display.axes_):
        ends = np.array(segments(axis))
        np.testing.assert_array_equal(ends[:, 1], selector.best_[best, m])
        chance = [line for line in axis.lines if line.get_label() == "chance"]
        assert chance[0].get_xdata()[0] == selector.chance_[m]
    assert check_layout(display.figure_)
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        FeatureScreeningDisplay.from_estimator(selector, max_features=0)
    with pytest.raises(ValueError, match="feature_names must have 12 names, got 1"):
        FeatureScreeningDisplay.from_estimator(selector, feature_names=["a"])


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


def test_quadrants_count_the_pairs():
    display = DISPLAYS["pvalues"]()
    before, after = STUDY.significant()[0], STUDY.significant()[-1]
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert f"significant in both: {(before & after).sum()}" in labels
    assert f"in neither: {(~before & ~after).sum()}" in labels
    assert f"newly significant: {(~before & after).sum()}" in labels
    assert f"no longer significant: {(before & ~after).sum()}" in labels
    drawn = sum(len(c.get_offsets()) for c in display.ax_.collections[:4])
    assert drawn == len(STUDY.pairs)
    named = PairwisePValueDisplay.from_study(STUDY, level="levels=4")
    assert named.coarse.tolist() == STUDY.pvalues[2].tolist()
    alone = precision_study(Y, {"a": WEB.data[:, 0]}, qid=QID)
    with pytest.raises(ValueError, match="study must have at least two systems"):
        PairwisePValueDisplay.from_study(alone)
    with pytest.raises(ValueError, match="level must be one of"):
        PairwisePValueDisplay.from_study(STUDY, level="x")


def test_curves_and_bands():
    display = DISPLAYS["recall"]()
    for line, (name, scores) in zip(display.ax_.lines, SYSTEMS.items(), strict=True):
        curve = precision_recall_curve(Y[FEW], scores[FEW], qid=QID[FEW])
        assert line.get_label() == name
        assert line.get_ydata().tolist() == curve.expected.tolist()
    curve = display.curves["clicks"]
    assert list(PrecisionRecallBandDisplay.from_curves(curve).curves) == ["precision"]
    model = LinearRegression().fit(WEB.data, Y)
    found = PrecisionRecallBandDisplay.from_estimator(
        model, WEB.data, Y, qid=QID, recall=[0, 0.5]
    )
    alone = PrecisionRecallBandDisplay.from_predictions(
        Y, model.predict(WEB.data), qid=QID, recall=[0, 0.5]
    )
    assert list(alone.curves) == ["scores"]
    expected = alone.curves["scores"].expected
    assert found.curves["LinearRegression"].expected.tolist() == expected.tolist()


def test_user_models():
    display = DISPLAYS["users"]()
    weights = [line.get_ydata().tolist() for line in display.axes_[0].lines]
    assert weights[1] == [1 / 5] * 5 + [0] * 3
    with pytest.raises(ValueError, match="ESL has no user model"):
        UserModelDisplay.from_measures("esl")
    with pytest.raises(ValueError, match="AP needs ranking"):
        UserModelDisplay.from_measures("ap")
    with pytest.raises(ValueError, match="depth must be an integer >= 1"):
        UserModelDisplay.from_measures("p@5", depth=0)


def test_the_front_of_a_study():
    objective = ScorePrecisionObjective(WEB.data[:, 5], Y, qid=QID)
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=20)
    display = ScorePrecisionDisplay.from_study(study, tolerance=0.8)
    assert display.values.tolist() == [t.values[0] for t in study.trials]
    assert display.chosen == coarsest(study, 0.8).number
    front = {t.number for t in study.best_trials}
    assert set(display.front.tolist()) == front
    assert np.all(np.diff(display.bits[display.front]) >= 0)
    assert check_layout(display.figure_)
    nothing = ScorePrecisionDisplay.from_study(study, tolerance=1)
    assert nothing.chosen is None
    with pytest.raises(ValueError, match="complete trials of a ScorePrecision"):
        ScorePrecisionDisplay.from_study(optuna.create_study())
    with pytest.raises(ValueError, match="tolerance must be a number"):
        ScorePrecisionDisplay.from_study(study, tolerance=7)


def test_matplotlib_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[plots\]"'):
        DISPLAYS["changes"]()


def test_long_names_are_cut():
    names = {f"{'a very long name of a system ' * 3}{i}": s for i, s in enumerate("ab")}
    systems = {name: WEB.data[:, i] for i, name in enumerate(names)}
    display = TieRangeDisplay.from_predictions(Y, systems, qid=QID)
    shown = rows_of(display.axes_[0])
    assert all(len(name) <= 32 for name in shown)
    assert len(set(shown)) == 2
    assert check_layout(display.figure_)


@pytest.mark.parametrize("n", [3, 40])
def test_names_of_any_kind(n):
    start = "a very long name of a system that is like the others "
    names = [
        "_private",
        r"$\foo$",
        "cost $a$ and $b$",
        *(f"{start}{i}" for i in range(n)),
    ]
    rows = QID <= 2
    systems = dict.fromkeys(names, WEB.data[rows, 5])
    curves = PrecisionRecallBandDisplay.from_predictions(
        Y[rows], systems, qid=QID[rows], recall=[0, 1]
    )
    labels = [text.get_text() for text in curves.figure_.legends[0].get_texts()]
    assert len(set(labels)) == len(names)
    assert check_layout(curves.figure_)
    ranges = TieRangeDisplay.from_predictions(Y[rows], systems, qid=QID[rows])
    assert len(set(rows_of(ranges.axes_[0]))) == len(names)
    assert check_layout(ranges.figure_)


def test_many_measures_and_long_titles():
    names = [f"rbp(p={i / 100})" for i in range(50, 80)]
    assert check_layout(UserModelDisplay.from_measures(names, depth=5).figure_)
    study = precision_study(Y, {"x" * 300: WEB.data[:, 5]}, qid=QID)
    assert check_layout(PrecisionLossDisplay.from_study(study).figure_)


def test_measures_that_have_no_name_to_parse():
    display = TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=DCG(gain=lambda labels: labels)
    )
    assert display.measures == ("DCG(gain=<lambda>)",)


def test_p_values_below_a_small_level():
    study = precision_study(Y, SYSTEMS, qid=QID, coarseness=["rho=1000000"], alpha=1e-9)
    display = PairwisePValueDisplay.from_study(study)
    assert display.ax_.get_xlim()[0] < 1e-9
    assert not display.turned.any()
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    both = study.significant()
    assert f"no longer significant: {(both[0] & ~both[1]).sum()}" in labels
    assert check_layout(display.figure_)


# -- the command line


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    letor, qrels, run = folder / "web.txt", folder / "qrels", folder / "run"
    dump_letor(WEB.data, Y, QID, letor)
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    run.write_text("1 Q0 a 1 5 x\n1 Q0 b 2 5 x\n2 Q0 a 1 1 x\n")
    return str(letor), str(qrels), str(run)


def header(path):
    return path.read_bytes()[:5]


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_commands_write_plots(form, files, tmp_path, capsys):
    letor, qrels, run = files
    path = tmp_path / f"plot.{form}"
    start = {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}[form]
    assert main(["screen", letor, "--top", "3", "--plot", str(path)]) == 0
    assert header(path) == start
    assert "features" in capsys.readouterr().out
    assert main(["evaluate", qrels, run, "--plot", str(path), "--json"]) == 0
    assert header(path) == start
    assert list(tmp_path.iterdir()) == [path]


def test_plots_of_several_runs_and_averages(files):
    _, qrels, run = files
    from tieaware_sklearn.cli._evaluate import measure_run, tie_ranges
    from tieaware_sklearn.measures import parse_measures

    trec = load_trec(qrels, run)
    rows, _ = measure_run(trec, parse_measures(["rr", "ap"]), "median", None)
    rows = [{"run": name, **row} for name in ("x", "y") for row in rows]
    display = tie_ranges(rows, "median", lower_is_better=False)
    assert display.systems == ("x", "y")
    assert display.measures == ("RR", "AP")
    assert display.mean[0].tolist() == [0.875, 0.875]
    assert display.best[0].tolist() == [1, 1]
    assert display.worst[0].tolist() == [0.75, 0.75]
    assert display.axes_[0].get_xlabel() == "RR, median over topics"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("plot.doc", "--plot must name a file that ends in .png, .svg, .pdf"),
        ("-", "--plot must name a file that ends in"),
        ("missing/plot.png", "--plot: there is no folder for"),
        ("", "--plot must name a file, got an empty name"),
    ],
)
def test_commands_refuse_before_they_work(path, message, files, tmp_path, capsys):
    name = str(tmp_path / path) if path not in ("", "-") else path
    assert main(["screen", files[0], "--plot", name]) == 1
    out, err = capsys.readouterr()
    assert message in err
    assert not out
    same = str(tmp_path / "a.png")
    assert main(["screen", files[0], "--plot", same, "--csv", same]) == 1
    assert "only one of --csv and --plot can go to" in capsys.readouterr().err


def test_commands_without_matplotlib_say_what_to_install(files, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["screen", files[0], "--plot", "x.png"]) == 1
    assert 'pip install "tieaware-sklearn[plots]"' in capsys.readouterr().err


def test_many_panels_stand_in_rows():
    names = [f"p@{k}" for k in (1, 2, 3, 5)]
    display = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures=names)
    assert len(display.axes_) == 4
    columns = {round(axis.get_position().x0, 2) for axis in display.axes_}
    assert len(columns) == 2
    assert check_layout(display.figure_)
    seven = TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=[f"p@{k}" for k in range(1, 8)]
    )
    assert len(seven.figure_.axes) == 7
