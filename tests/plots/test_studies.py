"""Results of studies: precision, p-values, fronts, permutations and selections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import optuna
import pytest
from matplotlib.container import BarContainer
from sklearn.linear_model import LinearRegression

from tests.plots.helpers import (
    CURVE,
    DISPLAYS,
    IMPORTANCE,
    QID,
    STUDY,
    SYSTEMS,
    WEB,
    Y,
    check_layout,
    legend,
    rows_of,
)
from tieaware_sklearn import (
    RankingFeatureSelector,
    precision_study,
    query_permutation_importance,
    selection_curve,
)
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
from tieaware_sklearn.plots import (
    PairwisePValueDisplay,
    PermutationImportanceDisplay,
    PrecisionLossDisplay,
    ScorePrecisionDisplay,
    SelectionCurveDisplay,
)


def means_drawn(display):
    """The diamonds, one for each level."""
    marks = [line for line in display.ax_.lines if line.get_marker() == "D"]
    return [line.get_ydata()[0] for line in marks]


def test_boxes_hold_the_changes_of_queries():
    display = DISPLAYS["changes"]()
    changes = STUDY.changes()[1:]
    wanted = [level.mean() for level in changes]
    assert means_drawn(display) == pytest.approx(wanted, abs=1e-12)
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == list(STUDY.levels[1:])
    one = PrecisionLossDisplay.from_result(STUDY, system="clicks")
    wanted = changes[:, :, STUDY.systems.index("clicks")].mean(axis=1)
    assert means_drawn(one) == pytest.approx(wanted, abs=1e-12)
    assert one.ax_.get_title(loc="left") == "clicks"
    many = precision_study(
        Y, SYSTEMS, qid=QID, coarseness=[f"levels={n}" for n in range(2, 12)]
    )
    assert check_layout(PrecisionLossDisplay.from_result(many).figure_)


def test_quadrants_count_the_pairs():
    display = DISPLAYS["pvalues"]()
    before, after = STUDY.significant()[0], STUDY.significant()[-1]
    assert {
        f"significant in both: {(before & after).sum()}",
        f"significant in neither: {(~before & ~after).sum()}",
        f"newly significant: {(~before & after).sum()}",
        f"no longer significant: {(before & ~after).sum()}",
    } <= set(legend(display))
    drawn = sum(len(c.get_offsets()) for c in display.ax_.collections[:4])
    assert drawn == len(STUDY.pairs)
    named = PairwisePValueDisplay.from_result(STUDY, level="levels=4")
    assert named.ax_.get_ylabel() == "p-value under levels=4"
    shown = np.vstack([c.get_offsets() for c in named.ax_.collections[:4]])
    assert sorted(shown[:, 1]) == sorted(np.maximum(STUDY.pvalues[2], 1e-8))


def test_p_values_beyond_the_edge_are_marked_and_counted():
    exact, coarse = np.array([1e-9, 1e-3, np.nan]), np.array([0.2, 1e-3, 1e-9])
    systems = {name: SYSTEMS[name] for name in list(SYSTEMS)[:3]}
    study = precision_study(Y, systems, qid=QID, coarseness="rho=2")
    study = replace(study, pvalues=np.stack([exact, coarse]))
    shown = PairwisePValueDisplay.from_result(study)
    assert "p < 1e-08, at the edge: 1" in legend(shown)
    (marked,) = [c for c in shown.ax_.collections if "at the edge" in c.get_label()]
    assert marked.get_offsets().tolist() == [[1e-8, 0.2]]


def test_p_values_below_a_small_level():
    study = precision_study(Y, SYSTEMS, qid=QID, coarseness=["rho=1000000"], alpha=1e-9)
    display = PairwisePValueDisplay.from_result(study)
    assert display.ax_.get_xlim()[0] < 1e-9
    assert not display.study.turned().any()
    both = study.significant()
    gone = f"no longer significant: {(both[0] & ~both[1]).sum()}"
    assert gone in legend(display)
    assert check_layout(display.figure_)


def test_the_front_of_a_study():
    objective = ScorePrecisionObjective(Y, WEB.data[:, 5], qid=QID)
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=20)
    display = ScorePrecisionDisplay.from_result(study, keep=0.8)
    *kinds, ring = display.ax_.collections
    points = np.vstack([kind.get_offsets() for kind in kinds])
    assert {*map(tuple, points)} == {tuple(t.values[::-1]) for t in study.trials}
    chosen = coarsest(study, keep=0.8)
    assert ring.get_offsets().tolist() == [chosen.values[::-1]]
    assert display.ax_.texts[0].get_text() == chosen.user_attrs["coarseness"]
    (front,) = [n for n in display.ax_.lines if n.get_label() == "Pareto front"]
    optimal = {tuple(t.values[::-1]) for t in study.best_trials}
    assert {*map(tuple, front.get_xydata())} == optimal
    assert np.all(np.diff(front.get_xdata()) >= 0)
    assert check_layout(display.figure_)
    nothing = ScorePrecisionDisplay.from_result(study, keep=1)
    assert not nothing.ax_.texts
    with pytest.raises(ValueError, match="keep must be a number"):
        ScorePrecisionDisplay.from_result(study, keep=7)


def test_bars_and_intervals_of_permutations():
    display = PermutationImportanceDisplay.from_result(IMPORTANCE, max_features=4)
    best = np.argsort(IMPORTANCE.ranking)[:4]
    assert [IMPORTANCE.columns[j] for j in best] == rows_of(display.axes_[0])
    for m, axis in enumerate(display.axes_):
        (bars,) = [c for c in axis.containers if isinstance(c, BarContainer)]
        widths = [bar.get_width() for bar in bars]
        assert widths == IMPORTANCE.importances_mean[best, m].tolist()
        lines = np.array([s[:, 0] for s in axis.collections[0].get_segments()])
        np.testing.assert_array_equal(lines, IMPORTANCE.interval[best, m])
        assert IMPORTANCE.measures[m] in axis.get_xlabel()
        assert f"{IMPORTANCE.baseline[m]:.4f}" in axis.get_title(loc="left")
    more = f"… {len(IMPORTANCE.columns) - 4} more"
    assert more in [t.get_text() for t in display.axes_[0].texts]
    assert check_layout(display.figure_)


def test_the_legend_says_how_columns_are_permuted():
    X = WEB.data[:, :4]
    model = LinearRegression().fit(X, Y)
    options = {"measures": "ap", "within_queries": True, "confidence": 0.9}
    found = query_permutation_importance(model, X, Y, qid=QID, n_repeats=2, **options)
    display = PermutationImportanceDisplay.from_result(found)
    assert legend(display) == [
        "90% interval over queries",
        "column permuted within queries: mean loss",
    ]
    assert not display.ax_.texts
    assert check_layout(display.figure_)


@pytest.mark.parametrize("differences", [False, True])
def test_lines_and_intervals_of_selections(differences):
    curve = replace(CURVE, confidence=0.9) if differences else CURVE
    display = SelectionCurveDisplay.from_result(curve, differences=differences)
    axis, first = display.ax_, int(differences)
    wanted = [
        (curve.mean, curve.interval, curve.mean_all, "AP on held-out queries"),
        (curve.difference, curve.difference_interval, 0, "difference in AP"),
    ][differences]
    *lines, level = axis.get_lines()
    drawn = [line.get_ydata() for line in lines]
    np.testing.assert_array_equal(drawn, wanted[0][first:])
    bars = [[s[:, 1] for s in one.get_segments()] for one in axis.collections]
    np.testing.assert_array_equal(bars, wanted[1][first:])
    assert set(level.get_ydata()) == {wanted[2]}
    assert axis.get_ylabel() == wanted[3]
    names = [r"\$a\$", "b", "all 12 features"]
    assert (
        legend(display) == (["b", r"\$a\$, as many features"], names)[not differences]
    )
    assert ("95% intervals", "90% intervals")[differences] in axis.get_xlabel()
    assert [t.get_text() for t in axis.get_xticklabels()] == ["1", "2", "5", "10"]
    assert axis.get_xscale() == "log"
    assert check_layout(display.figure_)


def test_a_single_size_needs_no_logarithm():
    args = RankingFeatureSelector("ap"), LinearRegression(), WEB.data, Y
    curve = selection_curve(*args, qid=QID, n_features=[2], cv=2)
    axis = SelectionCurveDisplay.from_result(curve).ax_
    assert axis.get_xscale() == "linear"
    assert [t.get_text() for t in axis.get_xticklabels()] == ["2"]


ALONE = precision_study(Y, {"a": WEB.data[:, 0]}, qid=QID)
ONE_SELECTOR = replace(CURVE, selectors=CURVE.selectors[:1], values=CURVE.values[:, :1])


@pytest.mark.parametrize(
    ("cls", "result", "options", "message"),
    [
        (PrecisionLossDisplay, STUDY, {"system": "x"}, "system must be one of"),
        (PairwisePValueDisplay, STUDY, {"level": "x"}, "level must be one of"),
        (PairwisePValueDisplay, ALONE, {}, "study must have at least two systems"),
        (ScorePrecisionDisplay, optuna.create_study(), {}, "trials of a ScorePrec"),
        (
            PermutationImportanceDisplay,
            IMPORTANCE,
            {"max_features": 0},
            "max_features must be an integer >= 1",
        ),
        (
            SelectionCurveDisplay,
            ONE_SELECTOR,
            {"differences": True},
            "differences must be of at least two",
        ),
        (
            SelectionCurveDisplay,
            CURVE,
            {"differences": "yes"},
            "differences must be True or False",
        ),
    ],
)
def test_what_is_refused(cls, result, options, message):
    with pytest.raises(ValueError, match=message):
        cls.from_result(result, **options)
