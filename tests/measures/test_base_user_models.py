"""The users behind measures."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import ranking_score
from tieaware_sklearn.measures import (
    CWL,
    DCG,
    ERR,
    RBP,
    AveragePrecision,
    Precision,
    ReciprocalRank,
    RPrecision,
)

RANKED = [0, 1, 0, 2, 1, 0]


@pytest.mark.parametrize(
    "measure",
    [
        Precision(4),
        RBP(0.6),
        CWL([0.9, 0.5, 0.75]),
        ReciprocalRank(),
        ReciprocalRank(rel=2),
        AveragePrecision(),
        AveragePrecision(rel=2),
        RPrecision(),
        Precision(),
    ],
    ids=str,
)
def test_the_measure_is_the_attention_given_to_relevance(measure):
    ranks = np.arange(1, len(RANKED) + 1)
    weight = measure.weight(ranks, ranking=RANKED)
    relevant = np.array(RANKED) >= measure.rel
    value = ranking_score(RANKED, -ranks, measure=measure)
    assert (weight * relevant).sum() == pytest.approx(value)


@pytest.mark.parametrize(
    "measure",
    [Precision(4), CWL([0.9, 0.5, 0.75]), DCG(5), ReciprocalRank(), ERR(5)],
    ids=str,
)
def test_weights_and_last_documents_sum_to_one(measure):
    ranks = np.arange(1, 60)
    assert measure.weight(ranks, ranking=RANKED).sum() == pytest.approx(1)
    last = measure.last(ranks, ranking=RANKED)
    assert last.sum() == pytest.approx(1)
    # nobody leaves without having read on to there
    views = np.cumprod(measure.continuation(ranks, ranking=RANKED))
    stay = np.concatenate([[1], views])
    assert last == pytest.approx(stay[:-1] - stay[1:])


def test_continuation_by_hand():
    assert RBP(0.8).continuation(7) == pytest.approx(0.8)
    assert Precision(3).continuation([1, 2, 3, 4]).tolist() == [1, 1, 0, 0]
    assert CWL([0.9, 0.5]).continuation([1, 2, 3]) == pytest.approx([0.9, 0.5, 0])
    # RR goes on until it has found what it wants
    found = ReciprocalRank().continuation([1, 2, 3], ranking=[0, 1, 1])
    assert found.tolist() == [1, 0, 0]
    # AP: Σ_{j>i} r_j/j over Σ_{j>=i} r_j/j
    found = AveragePrecision().continuation([1, 2, 3], ranking=[1, 0, 1])
    assert found == pytest.approx([(1 / 3) / (4 / 3), 1, 0])
    stop = (2**2 - 1) / 16
    found = ERR().continuation([1, 2], ranking=[2, 0, 0])
    assert found == pytest.approx([1 - stop, 1])
    # ERR is Σ L(i)/i over those who stop because they are satisfied
    last = ERR().last([1, 2], ranking=[2, 0, 0])
    assert last == pytest.approx([stop, 0])


def test_cwl_is_the_measure_of_its_user():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 50), rng.integers(0, 9, 50)
    pairs = [("p@4", CWL([1, 1, 1])), (RBP(0.5), CWL([0.5] * 60))]
    for known, own in pairs:
        for ties in ("expected", "best", "worst"):
            a = ranking_score(labels, scores, measure=known, ties=ties)
            assert a == pytest.approx(
                ranking_score(labels, scores, measure=own, ties=ties)
            )
