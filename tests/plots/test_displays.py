"""What all displays have in common: names, panels, layout, systems, the gallery."""

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
PANELS = {"ranges": 2, "recall": 6}
PANELS |= {"users": 3, "systems": 2, "folds": 2}
EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("name", DISPLAYS)
def test_everything_fits_the_picture_and_is_drawn_again_into_axes_of_ones_own(name):
    display, number = DISPLAYS[name](), PANELS.get(name, 1)
    own = display.figure_
    assert check_layout(own)
    assert isinstance(display.axes_, list)
    assert display.axes_ == own.axes
    assert len(display.axes_) == number
    assert hasattr(display, "ax_") == (name not in PANELS)
    assert all(axis.get_xlabel() for axis in display.axes_)
    figure, axes = pyplot.subplots(1, number, figsize=(12, 4))
    assert display.plot(axes) is display
    assert display.figure_ is figure is not own
    assert display.axes_ == figure.axes == list(np.ravel(axes))
    assert name in PANELS or display.ax_ is axes
    assert not figure.legends
    assert display.axes_[-1].get_legend() is not None
    with pytest.raises(ValueError, match=r"ax must be \d axes, one per panel, got 7"):
        DISPLAYS[name](ax=list(pyplot.subplots(1, 7)[1]))


@pytest.mark.parametrize(("count", "abreast"), [(1, 1), (3, 3), (4, 2), (7, 3)])
def test_panels_stand_in_rows_of_three_at_most(count, abreast):
    measures = [f"p@{k}" for k in range(1, count + 1)]
    systems = dict(list(SYSTEMS.items())[:2])
    display = Ranges.from_predictions(Y, systems, qid=QID, measures=measures)
    assert len(display.axes_) == len(display.figure_.axes) == count
    columns = {axis.get_subplotspec().colspan.start for axis in display.axes_}
    assert len(columns) == abreast
    assert display.figure_.get_figwidth() <= 12
    assert check_layout(display.figure_)


def test_a_legend_has_as_many_columns_as_fit():
    few = DISPLAYS["folds"]()
    (legend,) = few.figure_.legends
    heights = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(heights) == 1
    (narrow,) = DISPLAYS["pvalues"]().figure_.legends
    few.figure_.canvas.draw()
    assert narrow.get_window_extent().width < narrow.figure.bbox.width
    assert check_layout(narrow.figure)


def test_matplotlib_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[plots\]"'):
        DISPLAYS["changes"]()


def test_names_of_any_kind_and_length():
    start = "a very long name of a system that is like the others "
    names = ["_private", r"$\foo$", "cost $a$ and $b$", f"{start}1", f"{start}2"]
    rows = QID <= 2
    systems = dict.fromkeys(names, WEB.data[rows, 5])
    curves = plots.PrecisionRecallBandDisplay.from_predictions(
        Y[rows], systems, qid=QID[rows], recall=[0, 1]
    )
    labels = [axis.get_title(loc="left") for axis in curves.axes_]
    assert len(set(labels)) == len(names)
    assert check_layout(curves.figure_)
    ranges = Ranges.from_predictions(Y[rows], systems, qid=QID[rows])
    shown = rows_of(ranges.axes_[0])
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) in range(32, 37)  # names are cut, and numbered
    assert check_layout(ranges.figure_)
    # without the words that all begin with, but for the last, and all end with
    alike = {
        f"team_bm25_rerank_{i}_with_no_title_field": WEB.data[rows, i] for i in (1, 2)
    }
    shown = rows_of(Ranges.from_predictions(Y[rows], alike, qid=QID[rows]).axes_[0])
    assert sorted(shown) == ["…rerank_1_with…", "…rerank_2_with…"]
    study = precision_study(Y, {"x" * 300: WEB.data[:, 5]}, qid=QID)
    assert check_layout(plots.PrecisionLossDisplay.from_result(study).figure_)


X, LABELS, IDS = WEB.data[FEW], Y[FEW], QID[FEW]


def test_systems_as_scores_and_as_estimators():
    names = WEB.feature_names[:3]
    frame = pd.DataFrame(X[:, :3], columns=names)
    assert Ranges.from_predictions(LABELS, frame, qid=IDS).systems == (*names,)
    models = {n: LinearRegression().fit(n * X, LABELS) for n in (0, 1)}
    found = Ranges.from_estimator(models, X, LABELS, qid=IDS)
    scores = {str(name): model.predict(X) for name, model in models.items()}
    direct = Ranges.from_predictions(LABELS, scores, qid=IDS)
    assert found.systems == direct.systems == ("0", "1")
    assert np.array_equal(found.mean, direct.mean)
    alone = Ranges.from_estimator(models[1], X, LABELS, qid=IDS)
    assert alone.systems == ("LinearRegression",)
    # queries reach rankers that need them
    coarse = CoarseRanker(LinearRegression(), "rho=2").fit(X, LABELS)
    assert Ranges.from_estimator(coarse, X, LABELS, qid=IDS).mean.all()


def test_options_go_down():
    data = LABELS, X[:, :2]
    plain = Ranges.from_predictions(*data, qid=IDS)
    assert plain.measures == ("NDCG@10", "AP", "RR")
    options = {"query_weight": IDS + 1.0, "measures": DCG(gain=lambda labels: labels)}
    shown = Ranges.from_predictions(*data, qid=IDS, **options)
    assert shown.measures == ("DCG(gain=<lambda>)",)
    assert shown.mean.tolist() == [
        [evaluate(LABELS, x, qid=IDS, **options).summary().mean[0]] for x in data[1].T
    ]
    with pytest.raises(TypeError, match="nonsense"):
        Ranges.from_predictions(*data, qid=IDS, nonsense=1)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_draws_and_answers(path):
    text = path.read_text()
    title, line, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert title.endswith("?")
    assert line == "=" * len(title)
    assert "\n# %%\n# " in text
    with threadpool_limits(1, "openmp"):  # threads that wait for others take minutes
        runpy.run_path(str(path))
    (number,) = pyplot.get_fignums()
    assert check_layout(pyplot.figure(number))


def test_every_display_is_shown():
    text = "".join(path.read_text() for path in EXAMPLES)
    assert set(plots.__all__) <= set(re.findall(r"\w+Display", text))
