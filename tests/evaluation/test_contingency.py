"""Documents by relevance and retrieval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import queries
from tieaware_sklearn import ranking_score
from tieaware_sklearn.evaluation import contingency_table


@settings(max_examples=100)
@given(case=queries(), k=st.one_of(st.none(), st.integers(1, 8)))
def test_the_table_holds_every_document_once(case, k):
    labels, scores, qid = (np.array(column) for column in case)
    table = contingency_table(labels, scores, qid=qid, k=k, rel=2)
    for i, q in enumerate(table.qid):
        own = qid == q
        relevant = (labels[own] >= 2).sum()
        inside = np.isfinite(scores[own]).sum()
        inside = inside if k is None else min(inside, k)
        hits = table.true_positive[i]
        assert hits + table.false_positive[i] == pytest.approx(inside)
        assert hits + table.false_negative[i] == pytest.approx(relevant)
        total = sum(
            getattr(table, f"{a}_{b}")[i]
            for a in ("true", "false")
            for b in ("positive", "negative")
        )
        assert total == pytest.approx(own.sum())
        counted = naive.over_ties(
            lambda ranked, missing: sum(naive.relevance(ranked[:k], 2)),
            labels[own][:7].tolist(),
            scores[own][:7].tolist(),
        )
        if own.sum() <= 7:
            assert hits == pytest.approx(float(counted.expected))
    assert table.sum().sum() == pytest.approx(len(labels))
    assert table.to_pandas().shape == (len(table.qid), 5)


def test_measures_of_the_whole_list_follow_from_the_table():
    labels = [1, 1, 0, 1, 0, 0]
    scores = [1, 1, 2, -math.inf, -math.inf, 2]
    table = contingency_table(labels, scores)
    (tp, fp), (fn, tn) = table.sum()
    assert (tp, fp, fn, tn) == (2, 2, 1, 1)
    found = [ranking_score(labels, scores, measure=m) for m in ("SetP", "setr", "SetF")]
    assert found == [tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]
    assert ranking_score(labels, scores, measure="fallout") == fp / (fp + tn)
    assert str(contingency_table(labels, scores, k=3)).splitlines() == [
        "documents           relevant  not relevant  all",
        "-----------------------------------------------",
        "in the first 3             1             2    3",
        "not in the first 3         2             1    3",
        "all                        3             3    6",
    ]


def test_sums_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 2, 4000), rng.integers(0, 400, 4000)
    scores = rng.integers(0, 4, 4000)
    sums = contingency_table(labels, scores, qid=qid, k=3).sum()
    for _ in range(5):
        rows = rng.permutation(4000)
        again = contingency_table(labels[rows], scores[rows], qid=qid[rows], k=3)
        assert np.array_equal(again.sum(), sums)


def test_documents_that_nobody_judged():
    labels, scores = [1, float("nan"), 0], [3, 2, 1]
    with pytest.raises(ValueError, match="y_true must be judged"):
        contingency_table(labels, scores)
    table = contingency_table(labels, scores, k=2, unjudged="nonrelevant")
    assert table.sum().tolist() == [[1, 1], [0, 1]]
