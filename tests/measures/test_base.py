"""Parameters that measures refuse."""

from __future__ import annotations

import pytest

from tieaware_sklearn.measures import (
    CWL,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Precision,
    Recall,
    SearchLength,
    Success,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Success().weight(1), "Success has no user model"),
        (lambda: Recall(5).last(1), "R@5 has no user model"),
        (lambda: AveragePrecision().weight(1), "ranking must .* of AP, got None"),
        (lambda: Precision().weight(1), "ranking must hold the labels .* of P, got"),
        (lambda: NDCG().weight(1), "NDCG needs a cut-off, .* for its user model"),
        (lambda: RBP().weight(0), "i must hold ranks, integers >= 1, got 0"),
        (lambda: RBP().weight(1.5), "i must hold ranks, integers >= 1, got 1.5"),
        (lambda: RBP().weight(10**12), "i must be at most 10000000, got 1000000000000"),
        (lambda: ERR(max_label=1024), "max_label must be .* > 0 and <= 60, got 1024"),
        (lambda: SearchLength(10**30), r"i must be at most 2\*\*53, got 1000"),
        (lambda: FBeta(beta=1e50), r"beta must be .* > 0 and < 1e\+50, got 1e\+50"),
        (lambda: CWL([]), r"chances must be a sequence of numbers .* got \[\]"),
        (lambda: CWL(0.8), "chances must be a sequence of numbers .* got 0.8"),
        (lambda: CWL(["a"]), r"chances must be a sequence of numbers .* got \['a'\]"),
        (lambda: CWL([0.5, 1.2]), r"chances must be in \[0, 1\], got 1.2 in row 1"),
        (lambda: InterpolatedPrecision(1.1), "recall must be .* >= 0 and <= 1, got"),
        (lambda: InterpolatedAveragePrecision(1), "points must be an integer from 2"),
    ],
)
def test_bad_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()
