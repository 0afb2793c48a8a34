"""What several tests of this room share."""

import itertools

import matplotlib
import numpy as np
from sklearn.tree import DecisionTreeRegressor

import tieaware_sklearn as ta
from tieaware_sklearn import plots
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.judgments import leave_one_out

WEB = make_web_search(n_queries=40, random_state=2)
Y, QID = WEB.target, WEB.qid
FEW = QID <= 4
DOCNO = [f"d{i:04}" for i in range(len(Y))]
SYSTEMS = dict(zip(WEB.feature_names[:6], WEB.data.T[:6], strict=True))
STUDY = ta.precision_study(
    Y, SYSTEMS, qid=QID, coarseness=["rho=1.2", "levels=4", "rho=3"]
)
SELECTOR = ta.RankingFeatureSelector("ap").fit(WEB.data, Y, qid=QID)
TREE = DecisionTreeRegressor(max_depth=4, random_state=0)
COLUMNS = {name: j for j, name in enumerate(WEB.feature_names)}
OPTIONS = {"measures": ["ndcg@10", "esl"], "columns": COLUMNS, "n_repeats": 2}
IMPORTANCE = ta.query_permutation_importance(
    TREE.fit(WEB.data, Y), WEB.data, Y, qid=QID, **OPTIONS
)
SELECTORS = {
    "$a$": ta.RankingFeatureSelector("ap"),
    "b": ta.RankingFeatureSelector("rr", direction="ascending"),
}
CURVE = ta.selection_curve(SELECTORS, TREE, WEB.data, Y, qid=QID, cv=2, measure="ap")
OFFICIAL = ta.official_vs_exact(
    Y, SYSTEMS, DOCNO, qid=QID, measures=["P_10", "esl"], n_orders=3
)


def tick_labels(axis):
    """Labels of the ticks inside the limits of an x or y axis, and the others."""
    shown, beyond = [], []
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        (shown if low <= tick.get_loc() <= high else beyond).append(tick.label1)
    return shown, beyond


def contrast(colour, other):
    """Contrast of two colours, by the formula of WCAG 2."""
    light = []
    for one in (colour, other):
        rgb = np.array(matplotlib.colors.to_rgb(one))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        light.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(light) / min(light)


def check_layout(figure):
    """All text lies in the picture, and no labels of ticks cover each other.

    It can be read on white.
    """
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
        assert -1 <= box.x0 <= box.x1 <= width + 1, text
        assert -1 <= box.y0 <= box.y1 <= height + 1, text
        assert contrast(text.get_color(), "white") >= 4.5, text
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


LEFT_OUT = leave_one_out(
    {n: {"qid": QID, "docno": DOCNO, "score": s} for n, s in SYSTEMS.items()},
    {"qid": QID, "docno": DOCNO, "target": Y},
    depth=5,
)
DISPLAYS = {
    "ranges": lambda **k: plots.TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=["ndcg@10", "fallout@10"], **k
    ),
    "systems": lambda **k: plots.SystemComparisonDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measure=["ap", "esl"], **k
    ),
    "official": lambda **k: plots.OfficialVsExactDisplay.from_result(OFFICIAL, **k),
    "features": lambda **k: plots.FeatureScreeningDisplay.from_result(
        SELECTOR.screening_.named(WEB.feature_names), **k
    ),
    "importances": lambda **k: plots.PermutationImportanceDisplay.from_result(
        IMPORTANCE, max_features=8, **k
    ),
    "changes": lambda **k: plots.PrecisionLossDisplay.from_result(STUDY, **k),
    "pvalues": lambda **k: plots.PairwisePValueDisplay.from_result(STUDY, **k),
    "recall": lambda **k: plots.PrecisionRecallBandDisplay.from_predictions(
        Y[FEW], {n: s[FEW] for n, s in SYSTEMS.items()}, qid=QID[FEW], **k
    ),
    "queries": lambda **k: plots.PrecisionRecallScatterDisplay.from_predictions(
        Y, {n: SYSTEMS[n] for n in list(SYSTEMS)[:2]}, qid=QID, **k
    ),
    "curve": lambda **k: plots.SelectionCurveDisplay.from_result(CURVE, **k),
    "topics": lambda **k: plots.TopicDifferenceDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measure="ap", pair=("clicks", "url_length"), **k
    ),
    "left out": lambda **k: plots.LeaveOneOutDisplay.from_result(LEFT_OUT, **k),
    "users": lambda **k: plots.UserModelDisplay.from_measures(
        ["rbp(p=0.8)", "p@5", "dcg@5", "ap"], ranking=[1, 0, 1], depth=8, **k
    ),
}


def rows_of(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def segments(axis, label="worst to best order of ties"):
    """Ends of the bars of each row."""
    (bars,) = [one for one in axis.collections if one.get_label() == label]
    return [segment[:, 0].tolist() for segment in bars.get_segments()]


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def line(axis, label):
    """Where the points of a line stand."""
    (found,) = [one for one in axis.lines if one.get_label() == label]
    return np.asarray(found.get_xdata()).tolist()
