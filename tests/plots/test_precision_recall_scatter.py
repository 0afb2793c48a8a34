"""Precision and recall of each query."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plots.helpers import QID, SYSTEMS, Y
from tieaware_sklearn import evaluate
from tieaware_sklearn.plots import PrecisionRecallScatterDisplay


def lines_by_label(axis):
    return {line.get_label(): line for line in axis.lines}


def test_points_are_exact_means_and_lines_are_ranges():
    scores = SYSTEMS["clicks"]
    display = PrecisionRecallScatterDisplay.from_predictions(Y, scores, qid=QID, k=5)
    report = evaluate(Y, scores, qid=QID, measures=["p@5", "r@5"])
    there = report.n_undefined[1] == 0
    assert there
    points = lines_by_label(display.ax_)["query"]
    assert points.get_ydata().tolist() == report.expected[:, 0].tolist()
    assert points.get_xdata().tolist() == report.expected[:, 1].tolist()
    middle = lines_by_label(display.ax_)["mean over queries"]
    summary = report.summary()
    assert middle.get_ydata().tolist() == [summary.mean[0]]
    assert middle.get_xdata().tolist() == [summary.mean[1]]
    ranges = [line for line in display.ax_.lines if line.get_linewidth() == 2.5]
    ends = {tuple(line.get_ydata()) for line in ranges if len(line.get_ydata())}
    wanted = zip(report.best[:, 0], report.worst[:, 0], strict=True)
    assert ends == {pair for pair in wanted if pair[0] != pair[1]}


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_is_equal_along_a_line(beta):
    display = PrecisionRecallScatterDisplay.from_predictions(
        Y, SYSTEMS["clicks"], qid=QID, beta=beta
    )
    lines = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert len(lines) == 4
    for line, level in zip(lines, [0.2, 0.4, 0.6, 0.8], strict=True):
        recall, precision = line.get_data()
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert f == pytest.approx(np.full(len(f), level))
        assert (precision <= 1 + 1e-12).all()


def test_queries_without_a_relevant_document_are_left_out():
    display = PrecisionRecallScatterDisplay.from_predictions(
        [1, 0, 0, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2], k=None
    )
    assert len(lines_by_label(display.ax_)["query"].get_xdata()) == 1
    assert display.ax_.get_xlabel() == "recall"
    with pytest.raises(ValueError, match="beta must be a finite number > 0, got 0"):
        PrecisionRecallScatterDisplay.from_predictions([1, 0], [2, 1], beta=0)


def test_measures_are_its_own():
    with pytest.raises(TypeError, match="measures"):
        PrecisionRecallScatterDisplay.from_predictions([1, 0], [2, 1], measures="ap")
