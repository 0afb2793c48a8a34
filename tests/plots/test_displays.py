"""Names, panels, layout and systems of all displays, and the gallery."""

import ast
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from tests.plots.data import DISPLAYS, FEW, QID, SYSTEMS, WEB, Y
from tests.plots.helpers import check_layout, rows_of
from tieaware_sklearn import evaluate, plots, precision_study
from tieaware_sklearn.measures import DCG
from tieaware_sklearn.score_precision import CoarseRanker

Ranges = plots.TieRangeDisplay
PANELS = {"ranges": 2, "recall": 6, "systems": 2, "folds": 2}
each_display = pytest.mark.parametrize("name", DISPLAYS)
GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.rglob("*.py"))


@each_display
def test_everything_fits_the_picture(name):
    display = DISPLAYS[name]()
    figure = display.figure_
    assert check_layout(figure)
    assert isinstance(display.axes_, list)
    assert display.axes_ == figure.axes
    assert len(display.axes_) == PANELS.get(name, 1)
    assert hasattr(display, "ax_") == (name not in PANELS)
    for axis in display.axes_:
        assert axis.get_xlabel()


@each_display
def test_a_display_is_drawn_again_into_axes_of_the_user(name):
    display = DISPLAYS[name]()
    first = display.figure_
    figure, axes = pyplot.subplots(1, PANELS.get(name, 1), figsize=(12, 4))
    assert display.plot(axes) is display
    assert display.figure_ is figure
    assert display.figure_ is not first
    assert display.axes_ == figure.axes
    assert display.axes_ == list(np.ravel(axes))
    if name not in PANELS:
        assert display.ax_ is axes
    assert not figure.legends
    assert display.axes_[-1].get_legend() is not None


@each_display
def test_each_panel_needs_axes(name):
    _, axes = pyplot.subplots(1, 7)
    with pytest.raises(ValueError, match=r"ax .* one Axes per panel, \d in all, got 7"):
        DISPLAYS[name](ax=list(axes))


@pytest.mark.parametrize(("count", "abreast"), [(1, 1), (3, 3), (4, 2), (7, 3)])
def test_panels_stand_in_rows_of_three_at_most(count, abreast):
    measures = [f"p@{k}" for k in range(1, count + 1)]
    systems = dict(list(SYSTEMS.items())[:2])
    display = Ranges.from_predictions(Y, systems, qid=QID, measures=measures)
    assert len(display.axes_) == count
    assert len(display.figure_.axes) == count
    columns = {axis.get_subplotspec().colspan.start for axis in display.axes_}
    assert len(columns) == abreast
    assert display.figure_.get_figwidth() <= 12
    assert check_layout(display.figure_)


def test_a_legend_that_fits_has_one_line():
    (legend,) = DISPLAYS["folds"]().figure_.legends
    heights = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(heights) == 1


def test_a_legend_is_not_wider_than_its_figure():
    (legend,) = DISPLAYS["pvalues"]().figure_.legends
    assert check_layout(legend.figure)
    assert legend.get_window_extent().width < legend.figure.bbox.width


def test_matplotlib_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[plots\]"'):
        DISPLAYS["changes"]()


LONG = "a very long name of a system that is like the others "
NAMES = ["_private", r"$\foo$", "cost $a$ and $b$", f"{LONG}1", f"{LONG}2"]
TWO_QUERIES = QID <= 2


def test_titles_of_names_of_any_kind_differ():
    systems = dict.fromkeys(NAMES, WEB.data[TWO_QUERIES, 5])
    display = plots.PrecisionRecallBandDisplay.from_predictions(
        Y[TWO_QUERIES], systems, qid=QID[TWO_QUERIES], recall=[0, 1]
    )
    titles = {axis.get_title(loc="left") for axis in display.axes_}
    assert len(titles) == len(NAMES)
    assert check_layout(display.figure_)


def rows_of_systems(names):
    """Return the names of rows of a display of systems with these names."""
    systems = {name: WEB.data[TWO_QUERIES, j] for j, name in enumerate(names)}
    display = Ranges.from_predictions(Y[TWO_QUERIES], systems, qid=QID[TWO_QUERIES])
    assert check_layout(display.figure_)
    return rows_of(display.axes_[0])


def test_long_names_are_cut_and_numbered():
    rows = rows_of_systems(NAMES)
    assert len(set(rows)) == len(NAMES)
    assert 32 <= max(len(row) for row in rows) <= 36


def test_words_that_all_names_have_are_left_out_but_for_the_last_and_first():
    names = [f"team_bm25_rerank_{i}_with_no_title_field" for i in (1, 2)]
    assert sorted(rows_of_systems(names)) == ["…rerank_1_with…", "…rerank_2_with…"]


def test_a_name_longer_than_the_figure_is_cut():
    study = precision_study(Y, {"x" * 300: WEB.data[:, 5]}, qid=QID)
    display = plots.PrecisionLossDisplay.from_result(study)
    assert check_layout(display.figure_)


X, LABELS, IDS = WEB.data[FEW], Y[FEW], QID[FEW]


def test_systems_may_be_a_frame_of_scores():
    names = WEB.feature_names[:3]
    frame = pd.DataFrame(X[:, :3], columns=names)
    display = Ranges.from_predictions(LABELS, frame, qid=IDS)
    assert list(display.systems) == list(names)


def test_systems_may_be_estimators():
    models = {n: LinearRegression().fit(n * X, LABELS) for n in (0, 1)}
    display = Ranges.from_estimator(models, X, LABELS, qid=IDS)
    scores = {str(n): model.predict(X) for n, model in models.items()}
    expected = Ranges.from_predictions(LABELS, scores, qid=IDS)
    assert display.systems == ("0", "1")
    assert expected.systems == ("0", "1")
    assert np.array_equal(display.mean, expected.mean)


def test_a_single_estimator_has_the_name_of_its_class():
    model = LinearRegression().fit(X, LABELS)
    display = Ranges.from_estimator(model, X, LABELS, qid=IDS)
    assert display.systems == ("LinearRegression",)


def test_query_ids_reach_rankers_that_need_them():
    coarse = CoarseRanker(LinearRegression(), "rho=2").fit(X, LABELS)
    display = Ranges.from_estimator(coarse, X, LABELS, qid=IDS)
    assert display.mean.all()


def test_measures_of_a_display_by_default():
    display = Ranges.from_predictions(LABELS, X[:, :2], qid=IDS)
    assert display.measures == ("NDCG@10", "AP", "RR")


def test_options_reach_the_evaluation():
    measure = DCG(gain=lambda labels: labels)
    options = {"qid": IDS, "query_weight": IDS + 1.0, "measures": measure}
    display = Ranges.from_predictions(LABELS, X[:, :2], **options)
    assert display.measures == ("DCG(gain=<lambda>)",)
    for j in (0, 1):
        summary = evaluate(LABELS, X[:, j], **options).summary()
        assert display.mean[j].tolist() == summary.mean.tolist()


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="nonsense"):
        Ranges.from_predictions(LABELS, X[:, :2], qid=IDS, nonsense=1)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_draws_and_answers(path):
    text = path.read_text()
    title, line, blank, intro, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert title.endswith("?")
    assert line == "=" * len(title)
    # Thumbnails show the first paragraph, cut after 95 characters.
    assert not blank
    assert intro.endswith(".")
    assert f"{intro}\n\n" in text
    assert "\n# %%\n# " in text
    with threadpool_limits(1, "openmp"):  # threads that wait for others take minutes
        runpy.run_path(str(path))
    (number,) = pyplot.get_fignums()
    assert check_layout(pyplot.figure(number))


def test_each_section_of_the_gallery_has_a_heading():
    assert not list(GALLERY.glob("*.py"))
    sections = {path.parent for path in EXAMPLES}
    assert len(sections) == 5
    for section in sections:
        heading, line, *_ = (section / "GALLERY_HEADER.rst").read_text().splitlines()
        assert line == "-" * len(heading)


def test_every_display_is_shown():
    text = "".join(path.read_text() for path in EXAMPLES)
    assert set(plots.__all__) <= set(re.findall(r"\w+Display", text))
