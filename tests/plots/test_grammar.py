"""One visual grammar in all displays, at all widths of the pages."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex
from threadpoolctl import threadpool_limits

import tieaware_sklearn as ta
from tests.plots.data import DISPLAYS, QID, Y
from tests.plots.helpers import (
    GREY_RANGE,
    INTERVAL,
    MEAN,
    RANGE,
    check_boxes,
    legend,
)
from tieaware_sklearn import plots
from tieaware_sklearn.plots._base import GREY, ORANGE, SKY, text_colour

DOCS = Path(__file__).parents[2] / "docs"
#: Displays whose marks are ranges, intervals and means in rows.
ROWS = ["ranges", "systems", "features", "folds"]
MEASURES = {
    "ranges": ["NDCG@10", "Fallout@10"],
    "systems": ["AP", "ESL"],
    "features": ["AP"],
    "folds": ["ndcg@10", "neg_fallout@10"],
    "changes": ["NDCG@10"],
    "pvalues": ["NDCG@10"],
    "recall": ["Interpolated precision"] * 6,
}
#: Entries of legends that are not of the grammar.
OTHER_ENTRIES = {
    "chance",
    "a fold",
    "all systems",
    "mean over folds",
    "mean over queries",
    "interquartile range and median",
    "outlier queries",
    "does not beat chance (q > 0.05)",
    "not significantly different (corrected p > 0.05)",
    "better system reversed",
}


def hex_of(colour):
    return to_hex(colour).upper()


@pytest.mark.parametrize("name", ROWS)
def test_a_blue_or_grey_bar_is_a_range_and_a_thin_dark_line_an_interval(name):
    for axis in DISPLAYS[name]().axes_:
        styles = {}
        for bars in axis.collections:
            colour = hex_of(bars.get_color()[0])
            styles[bars.get_label()] = (colour, bars.get_linewidth()[0])
        ink = hex_of(text_colour(axis))
        expected = {RANGE: (SKY, 7), GREY_RANGE: (GREY, 7), INTERVAL: (ink, 1.2)}
        assert RANGE in styles
        assert styles.items() <= expected.items()
        assert (INTERVAL in styles) == (name != "folds")


@pytest.mark.parametrize("name", [*ROWS, "changes", "recall"])
def test_an_orange_diamond_is_a_mean(name):
    for axis in DISPLAYS[name]().axes_:
        diamonds = []
        for points in axis.lines:
            is_diamond = points.get_marker() == "D"
            is_orange = hex_of(points.get_markerfacecolor()) == ORANGE
            is_mean = points.get_label().startswith("mean over")
            if is_diamond and is_orange:
                diamonds.append(points)
            if is_mean:
                assert is_diamond
                assert is_orange
        assert diamonds
        assert any(points.get_label().startswith("mean over") for points in diamonds)


@pytest.mark.parametrize("name", ["pvalues", "changes"])
def test_no_mark_that_is_not_of_ties_is_grey(name):
    axis = DISPLAYS[name]().ax_
    for marks in axis.collections:
        for colour in (*marks.get_facecolor(), *marks.get_edgecolor()):
            assert hex_of(colour) != GREY
    for points in axis.lines:
        if points.get_marker() not in ("None", ""):
            assert hex_of(points.get_markeredgecolor()) != GREY


def test_a_curve_alone_has_a_blue_band_and_orange_diamonds():
    few = QID <= 3
    curve = ta.evaluation.precision_recall_curve(Y[few], Y[few] // 2, qid=QID[few])
    axis = plots.PrecisionRecallBandDisplay.from_result(curve).ax_
    (band,) = axis.collections
    assert band.get_label() == RANGE
    assert hex_of(band.get_facecolor()[0]) == SKY
    (mean,) = axis.lines
    assert mean.get_label() == MEAN
    assert mean.get_marker() == "D"
    assert hex_of(mean.get_color()) == ORANGE


@pytest.mark.parametrize("name", DISPLAYS)
def test_titles_begin_with_the_measure(name):
    display = DISPLAYS[name]()
    titles = [axis.get_title(loc="left") for axis in display.axes_]
    for title, measure in zip(titles, MEASURES[name], strict=True):
        assert re.match(rf"{re.escape(measure)}\b", title)


@pytest.mark.parametrize("name", DISPLAYS)
def test_legends_have_the_same_words(name):
    for entry in legend(DISPLAYS[name]()):
        if not re.search(r": \d+$", entry):
            assert entry in {RANGE, GREY_RANGE, INTERVAL, MEAN, *OTHER_ENTRIES}


MANY = 17
NAMES = [f"organisation_{i}_bm25_with_cross_encoder_depth_{i}0" for i in range(MANY)]
THREE = ["ndcg@10", "ap", "p@5"]
FEW = QID <= 12


@pytest.fixture(scope="module")
def many_systems():
    """Return systems with long names; every other system has many ties."""
    rng = np.random.default_rng(0)
    systems = {}
    for i, name in enumerate(NAMES):
        noisy = Y[FEW] + rng.normal(0, 1 + i / 3, FEW.sum())
        systems[name] = np.round(noisy, i % 2)
    return systems


def draw_ranges(systems):
    return plots.TieRangeDisplay.from_predictions(
        Y[FEW], systems, qid=QID[FEW], measures=THREE
    )


def draw_systems(systems):
    return plots.SystemComparisonDisplay.from_predictions(
        Y[FEW], systems, qid=QID[FEW], measure=THREE
    )


def draw_features(systems):
    X = np.column_stack(list(systems.values()))
    selector = ta.RankingFeatureSelector(THREE).fit(X, Y[FEW], qid=QID[FEW])
    screening = selector.screening_.named(list(systems))
    return plots.FeatureScreeningDisplay.from_result(screening)


def draw_folds(systems):
    rng = np.random.default_rng(0)
    results = {}
    for name in systems:
        results[name] = {f"test_{measure}": rng.random(5) for measure in THREE}
    return plots.FoldScoresDisplay.from_result(results)


@pytest.fixture
def theme(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import theme

    return theme


@pytest.fixture
def widths(theme, monkeypatch):
    """Return the widths of the pictures that are written, whose boxes are checked."""
    found = {}
    write_both = theme._write_both

    def check_and_write(figure, path, **options):
        # Panels alone are cut out of figures whose boxes were checked.
        if not options:
            found[path.stem] = figure.get_figwidth()
            check_boxes(figure)
        write_both(figure, path, **options)

    monkeypatch.setattr(theme, "_write_both", check_and_write)
    return found


@pytest.mark.filterwarnings("ignore:the values per query")
@pytest.mark.parametrize("draw", [draw_ranges, draw_systems, draw_features, draw_folds])
def test_many_long_names_fit_at_all_widths(draw, many_systems, theme, widths, tmp_path):
    with pyplot.rc_context(theme.THEME):
        display = draw(many_systems)
        check_boxes(display.figure_)
        theme.write(display.figure_, tmp_path / "many.svg")
    # Paper shows the picture of wide pages.
    assert widths == {"many": 7.66, "many_phone": 4.4}
    for name in widths:
        light = (tmp_path / f"{name}.svg").read_text()
        dark = (tmp_path / f"{name}_dark.svg").read_text()
        colour = re.compile("#[0-9a-f]{6}")
        assert colour.sub("", light) == colour.sub("", dark)
        assert theme.INK in light
        assert theme.INK not in dark
        assert "#56b4e9" not in dark


@pytest.mark.parametrize("name", DISPLAYS)
def test_each_display_fits_at_all_widths(name, theme, widths, tmp_path):
    with pyplot.rc_context(theme.THEME):
        theme.write(DISPLAYS[name]().figure_, tmp_path / "x.svg")
    assert widths["x"] <= 8.2
    assert widths["x_phone"] == 4.4


EXAMPLES = sorted((DOCS / "gallery").rglob("*.py"))
PICTURES = sorted((DOCS / "pictures").glob("*.py"))


@pytest.mark.filterwarnings("ignore:the values per query")
@pytest.mark.parametrize("path", [*EXAMPLES, *PICTURES], ids=lambda path: path.stem)
def test_pictures_of_the_pages_fit_at_all_widths(path, theme, widths, tmp_path):
    with (
        pyplot.rc_context(theme.THEME),
        threadpool_limits(1, "openmp"),  # threads that wait for others take minutes
    ):
        names = runpy.run_path(str(path))
        if "main" in names:
            pytest.skip("the script writes a picture that is committed")
        theme.write(pyplot.gcf(), tmp_path / "x.svg")
    assert widths["x"] <= 8.2
    assert widths["x_phone"] == 4.4


RANKS = ["14_users", "15_users_who_look", "17_topic_differences", "two_intervals"]


@pytest.mark.parametrize("name", RANKS)
def test_ranks_start_at_one(name, theme):
    (path,) = [path for path in [*EXAMPLES, *PICTURES] if path.stem == name]
    runpy.run_path(str(path))
    n_ranks = 0
    for axis in pyplot.gcf().axes:
        if axis.get_xlabel().startswith(("rank", "topics", "queries")):
            ticks = axis.get_xticks()
            assert ticks[0] == 1
            assert all(ticks == np.round(ticks))
            n_ranks += 1
    assert n_ranks


def test_rows_are_labelled_once(many_systems):
    first, *others = draw_ranges(many_systems).axes_
    assert all(tick.label1.get_visible() for tick in first.yaxis.get_major_ticks())
    for axis in others:
        ticks = axis.yaxis.get_major_ticks()
        assert not any(tick.label1.get_visible() for tick in ticks)


def test_axes_are_fitted_to_the_data(many_systems):
    display = draw_ranges(many_systems)
    for j, axis in enumerate(display.axes_):
        interval = display.interval[:, j]
        low = min(display.worst[:, j].min(), interval.min(), display.chance[j])
        high = max(display.best[:, j].max(), interval.max())
        left, right = axis.get_xlim()
        assert left <= low <= high <= right
        assert right - left <= 1.15 * (high - low)
