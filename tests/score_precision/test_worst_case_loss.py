"""The most that banding can cost."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import evaluate
from tieaware_sklearn.score_precision import band_scores, worst_case_loss


def test_table_2_of_the_paper():
    printed = {
        "rr": [0.0038, 0.0119, 0.0417, 0.0833, 0.0833],
        "rbp(p=0.5)": [0.0002, 0.0052, 0.0429, 0.0945, 0.1016],
        "rbp(p=0.85)": [0.0087, 0.0231, 0.0482, 0.0777, 0.0971],
    }
    for measure, row in printed.items():
        found = [worst_case_loss(measure, rho) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
        assert [round(loss, 4) for loss in found] == row


@pytest.mark.parametrize("measure", ["rr", "rbp(p=0.5)", "rbp(p=0.85)"])
@pytest.mark.parametrize("rho", ["3/2", 2, 3])
def test_no_ranking_loses_more_and_one_loses_that_much(measure, rho):
    """Every labelling of ten ranks."""
    n = 10
    scores = -np.arange(n, dtype=float)
    every = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    qid = np.repeat(np.arange(2**n), n)
    rows = np.tile(scores, 2**n)
    banded = np.tile(band_scores(scores, rho), 2**n)
    values = [
        evaluate(every.ravel(), s, qid=qid, measures=measure).expected[:, 0]
        for s in (rows, banded)
    ]
    loss = (values[0] - values[1]).max()
    bound = worst_case_loss(measure, rho)
    assert loss <= bound + 1e-12
    # what lies deeper than ten ranks, or in a band that ten ranks cut
    rest = 0 if measure == "rr" else float(measure[6:-1]) ** 7
    assert loss >= bound - rest - 1e-12
