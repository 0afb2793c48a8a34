"""trec_eval's order of ties, drawn in the range of all orders."""

from __future__ import annotations

from tests.plots.helpers import DISPLAYS, DOCNO, QID, SYSTEMS, Y, rows_of, segments
from tieaware_sklearn import official_vs_exact
from tieaware_sklearn.plots import OfficialVsExactDisplay


def test_marks_stand_in_the_ranges():
    display = DISPLAYS["official"]()
    found = official_vs_exact(
        Y, SYSTEMS, DOCNO, qid=QID, measures=["P_10", "esl"], n_orders=3
    )
    order = sorted(range(len(SYSTEMS)), key=lambda i: -found.exact[i, 0])
    assert rows_of(display.axes_[0]) == [found.systems[i] for i in order]
    for j, axis in enumerate(display.axes_):
        lines = {line.get_label(): line.get_xdata().tolist() for line in axis.lines}
        assert lines["mean over all orders"] == found.exact[order, j].tolist()
        marks = lines["trec_eval's order of ties"]
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
