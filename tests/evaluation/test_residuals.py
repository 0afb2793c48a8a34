"""Contingency tables, precision-recall curves and residuals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import judged_ranking, queries
from tieaware_sklearn import (
    contingency_table,
    evaluate,
    precision_recall_curve,
    ranking_score,
    residuals,
)

NAN = math.nan


# -- contingency


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


# -- precision-recall curves


def test_the_curve_is_the_eleven_point_average_apart():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 300), rng.integers(0, 30, 300)
    qid = rng.integers(0, 12, 300)
    curve = precision_recall_curve(labels, scores, qid=qid)
    assert curve.recall.tolist() == [i / 10 for i in range(11)]
    report = evaluate(labels, scores, qid=qid, measures="iap").summary()
    assert curve.expected.mean() == pytest.approx(report.mean[0], abs=1e-14)
    assert curve.best.mean() == pytest.approx(report.best[0], abs=1e-14)
    assert curve.worst.mean() == pytest.approx(report.worst[0], abs=1e-14)
    assert (np.diff(curve.expected) <= 1e-15).all()
    assert (curve.standard_error == 0).all()
    frame = curve.to_pandas()
    assert frame.shape == (11, 6)
    assert len(str(curve).splitlines()) == 13
    with pytest.raises(ValueError, match="recall must be a finite number >= 0 and"):
        precision_recall_curve(labels, scores, recall=[0.5, 2])
    for recall, message in (
        ([0.5, 0.5], "recall must hold each level once, got"),
        ([], "recall must hold at least one level, got none"),
        ("x", r"recall must be numbers in \[0, 1\]"),
    ):
        with pytest.raises(ValueError, match=message):
            precision_recall_curve(labels, scores, recall=recall)
    long = precision_recall_curve(labels, np.zeros(300), recall=[0.5])
    assert long.standard_error[0] > 0
    assert "long ties sampled, standard error at most" in str(long)


# -- residuals

PLAIN = {
    "P@3": naive.precision(3),
    "P": naive.precision(),
    "RR": naive.reciprocal_rank(),
    "Success@2": naive.success(2),
    "ERR(max_label=1)": naive.err(max_label=1),
}


@pytest.mark.parametrize("measure", PLAIN)
@settings(max_examples=60)
@given(case=judged_ranking())
def test_residuals_bound_every_judgment_and_every_order(measure, case):
    labels, scores = case
    labels = [min(label, 1) for label in labels]
    given_labels = [NAN if label < 0 else label for label in labels]
    report = residuals(given_labels, scores, measures=measure)
    plain = PLAIN[measure]
    seen, means = [], []
    choices = [(label,) if label >= 0 else (0, 1) for label in labels]
    for judged in itertools.product(*choices):
        exact = naive.over_ties(plain, judged, scores)
        seen += [exact.worst, exact.best]
        means.append(exact.expected)
    assert report.low_worst[0, 0] == pytest.approx(float(min(seen)), abs=1e-12)
    assert report.high_best[0, 0] == pytest.approx(float(max(seen)), abs=1e-12)
    assert report.low[0, 0] == pytest.approx(float(min(means)), abs=1e-12)
    assert report.high[0, 0] == pytest.approx(float(max(means)), abs=1e-12)
    retrieved = [
        label < 0 and s != -math.inf for label, s in zip(labels, scores, strict=True)
    ]
    assert report.unjudged[0] == sum(retrieved)


def test_the_residual_of_rbp_includes_what_follows_the_list():
    p = 0.8
    report = residuals(
        [1, NAN, 0, 1],
        [4, 3, 2, -math.inf],
        measures=["rbp(p=0.8)", "rbp(p=0.8)@2", "cwl(chances=[0.5, 0.5, 0.5, 0.5])"],
    )
    assert report.low[0, 0] == pytest.approx(1 - p)
    # the second rank, and all from the fourth on
    assert report.residual[0, 0] == pytest.approx((1 - p) * p + p**3)
    # below the cut-off nothing counts
    assert report.residual[0, 1] == pytest.approx((1 - p) * p)
    longer = residuals([1, NAN, 0], [4, 3, 2], measures="rbp(p=0.8)@5")
    assert longer.residual[0, 0] == pytest.approx((1 - p) * p + p**3 - p**5)
    assert report.to_pandas().shape == (3, 8)
    weights = np.array([1, 0.5, 0.25, 0.125, 0.0625])
    rest = weights[[1, 3, 4]].sum() / weights.sum()
    assert report.residual[0, 2] == pytest.approx(rest)
    everything = residuals([NAN] * 3, [1, 1, 1], measures="rbp(p=0.5)")
    assert everything.low[0, 0] == 0
    assert everything.high[0, 0] == pytest.approx(1)
    # graded gains: an unjudged document may be worth 1
    graded = residuals([1, NAN], [2, 1], measures="rbp(p=0.5,gain={0: 0, 1: 0.5})")
    assert graded.low[0, 0] == 1 / 4
    assert graded.high[0, 0] == pytest.approx(1 / 4 + 1 / 4 + 1 / 4)


def test_residuals_of_measures_with_denominators_are_refused():
    for measure in ("ap", "ndcg@10", "r@5"):
        with pytest.raises(ValueError, match="measures must be P, RBP, CWL, RR, Succe"):
            residuals([1, NAN], [2, 1], measures=measure)
