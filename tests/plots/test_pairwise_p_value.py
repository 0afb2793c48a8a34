"""What coarser scores change of the tests of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.plots.helpers import DISPLAYS, QID, STUDY, SYSTEMS, WEB, Y, check_layout
from tieaware_sklearn import precision_study
from tieaware_sklearn.plots import PairwisePValueDisplay


def test_quadrants_count_the_pairs():
    display = DISPLAYS["pvalues"]()
    before, after = STUDY.significant()[0], STUDY.significant()[-1]
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert f"significant in both: {(before & after).sum()}" in labels
    assert f"significant in neither: {(~before & ~after).sum()}" in labels
    assert f"newly significant: {(~before & after).sum()}" in labels
    assert f"no longer significant: {(before & ~after).sum()}" in labels
    drawn = sum(len(c.get_offsets()) for c in display.ax_.collections[:4])
    assert drawn == len(STUDY.pairs)
    named = PairwisePValueDisplay.from_result(STUDY, level="levels=4")
    assert named.ax_.get_ylabel() == "p-value under levels=4"
    shown = np.vstack([c.get_offsets() for c in named.ax_.collections[:4]])
    assert sorted(shown[:, 1]) == sorted(np.maximum(STUDY.pvalues[2], 1e-8))
    alone = precision_study(Y, {"a": WEB.data[:, 0]}, qid=QID)
    with pytest.raises(ValueError, match="study must have at least two systems"):
        PairwisePValueDisplay.from_result(alone)
    with pytest.raises(ValueError, match="level must be one of"):
        PairwisePValueDisplay.from_result(STUDY, level="x")


def test_p_values_beyond_the_edge_are_marked_and_counted():
    exact, coarse = np.array([1e-9, 1e-3, np.nan]), np.array([0.2, 1e-3, 1e-9])
    systems = {name: SYSTEMS[name] for name in list(SYSTEMS)[:3]}
    study = precision_study(Y, systems, qid=QID, coarseness="rho=2")
    study = replace(study, pvalues=np.stack([exact, coarse]))
    shown = PairwisePValueDisplay.from_result(study)
    labels = [text.get_text() for text in shown.figure_.legends[0].get_texts()]
    assert "p < 1e-08, at the edge: 1" in labels
    (marked,) = [c for c in shown.ax_.collections if "at the edge" in c.get_label()]
    assert marked.get_offsets().tolist() == [[1e-8, 0.2]]


def test_p_values_below_a_small_level():
    study = precision_study(Y, SYSTEMS, qid=QID, coarseness=["rho=1000000"], alpha=1e-9)
    display = PairwisePValueDisplay.from_result(study)
    assert display.ax_.get_xlim()[0] < 1e-9
    assert not display.study.turned().any()
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    both = study.significant()
    assert f"no longer significant: {(both[0] & ~both[1]).sum()}" in labels
    assert check_layout(display.figure_)
