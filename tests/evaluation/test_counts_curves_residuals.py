"""Contingency tables, precision by recall, and what unjudged documents could change."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import judged_ranking, queries
from tieaware_sklearn import evaluate
from tieaware_sklearn.evaluation import (
    contingency_table,
    precision_recall_curve,
    residuals,
)

pytestmark = pytest.mark.usefixtures("engine")
NAN, INF = math.nan, math.inf


@settings(max_examples=40)
@given(case=queries(), k=st.one_of(st.none(), st.integers(1, 8)))
def test_the_table_holds_every_document_once(case, k):
    labels, scores, qid = (np.array(column) for column in case)
    table = contingency_table(labels, scores, qid=qid, k=k, rel=2)
    for i, q in enumerate(table.qid):
        own = qid == q
        hits, inside = table.true_positive[i], np.isfinite(scores[own]).sum()
        inside = inside if k is None else min(inside, k)
        relevant = (labels[own] >= 2).sum()
        assert hits + table.false_positive[i] == pytest.approx(inside)
        assert hits + table.false_negative[i] == pytest.approx(relevant)
        below = table.false_negative[i] + table.true_negative[i]
        assert below == pytest.approx(own.sum() - inside)
        if own.sum() <= 7:
            counted = naive.over_ties(
                lambda ranked, missing: sum(naive.relevance(ranked[:k], 2)),
                labels[own].tolist(),
                scores[own].tolist(),
            )
            assert hits == pytest.approx(float(counted.expected))
    # no sum depends on the order of rows
    rows = np.random.default_rng(0).permutation(len(labels))
    again = contingency_table(labels[rows], scores[rows], qid=qid[rows], k=k, rel=2)
    assert np.array_equal(again.sum(), table.sum())


def test_tables_by_hand():
    labels, scores = [1, 1, 0, 1, 0, 0], [1, 1, 2, -INF, -INF, 2]
    table = contingency_table(labels, scores)
    assert table.sum().tolist() == [[2, 2], [1, 1]]
    assert table.to_pandas().shape == (1, 5)
    assert str(contingency_table(labels, scores, k=3)).splitlines() == [
        "documents           relevant  not relevant  all",
        "-----------------------------------------------",
        "in the first 3             1             2    3",
        "not in the first 3         2             1    3",
        "all                        3             3    6",
    ]
    lines = str(contingency_table([1, 0, 1], [2, 1, 1], k=2)).splitlines()
    assert lines[2].split()[-3:] == ["1.50", "0.50", "2"]
    table = contingency_table([1, NAN, 0], [3, 2, 1], k=2, unjudged="nonrelevant")
    assert table.sum().tolist() == [[1, 1], [0, 1]]


def test_the_curve_is_the_eleven_point_average_apart():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 300), rng.integers(0, 30, 300)
    qid = rng.integers(0, 12, 300)
    data = {"qid": qid, "query_weight": 1.0 + qid % 3}
    curve = precision_recall_curve(labels, scores, **data)
    assert curve.recall.tolist() == [i / 10 for i in range(11)]
    report = evaluate(labels, scores, measures="iap", **data).summary()
    for name in ("mean", "best", "worst"):
        values = getattr(curve, name)
        assert values.mean() == pytest.approx(getattr(report, name)[0], abs=1e-14)
    assert (np.diff(curve.mean) <= 1e-15).all()
    one = evaluate(labels, scores, measures="iprec@0.5", **data).summary()
    assert curve.tie_std[5] == one.tie_std[0]
    assert (curve.sampling_error == 0).all()
    assert curve.to_pandas().shape == (11, 6)
    assert len(str(curve).splitlines()) == 13
    strict = precision_recall_curve(labels, scores, rel=2, zero_relevance=0.25, **data)
    assert strict.mean == pytest.approx([0.25] * 11)
    # of a long tie it is estimated
    long = precision_recall_curve(labels, np.zeros(300), recall=[0.5])
    assert long.sampling_error[0] > 0
    assert "the means of long ties are estimated from sampled orders" in str(long)


def curve_at(recall):
    return lambda: precision_recall_curve([0, 1], [1, 2], recall=recall)


@pytest.mark.parametrize(("call", "message"), [
    (curve_at([0.5, 2]), "recall must be a finite number >= 0 and"),
    (curve_at([0.5, 0.5]), r"recall must hold each level once, got \[0.5, 0.5\]"),
    (curve_at([]), "recall must hold at least one level, got none"),
    (curve_at("x"), r"recall must hold numbers in \[0, 1\]"),
    (lambda: contingency_table([1, NAN, 0], [3, 2, 1]), "y_true must be judged"),
    *((lambda name=name: residuals([1, NAN], [2, 1], measures=name),
       r"be P, RBP, CWL, RR, Succe.*got") for name in ("ap", "ndcg@10", "r@5")),
])  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


PLAIN = {
    "P@3": naive.precision(3),
    "P": naive.precision(),
    "Success@2": naive.success(2),
}
PLAIN |= {"RR": naive.reciprocal_rank(), "ERR(max_label=1)": naive.err(max_label=1)}


@settings(max_examples=40)
@given(case=judged_ranking(max_documents=5))
def test_residuals_bound_every_judgment_and_every_order(case):
    labels, scores = [min(label, 1) for label in case[0]], case[1]
    given_labels = [NAN if label < 0 else label for label in labels]
    report = residuals(given_labels, scores, measures=list(PLAIN))
    choices = [(label,) if label >= 0 else (0, 1) for label in labels]
    for j, plain in enumerate(PLAIN.values()):
        exact = [
            naive.over_ties(plain, judged, scores)
            for judged in itertools.product(*choices)
        ]
        least = report.expected[0, j]
        found = [report.worst[0, j], report.best[0, j], least]
        found.append(least + report.residual[0, j])
        means = [one.expected for one in exact]
        wanted = [min(one.worst for one in exact), max(one.best for one in exact)]
        wanted += [min(means), max(means)]
        assert found == pytest.approx(list(map(float, wanted)), abs=1e-12)
    rows = zip(labels, scores, strict=True)
    assert report.n_unjudged[0] == sum(label < 0 and s != -INF for label, s in rows)


WEIGHTS = np.array([1, 0.5, 0.25, 0.125, 0.0625])


@pytest.mark.parametrize(("measure", "labels", "scores", "expected", "residual"), [
    # the second rank, and all from the fourth on
    ("rbp(p=0.8)", [1, NAN, 0, 1], [4, 3, 2, -INF], 0.2, 0.2 * 0.8 + 0.8**3),
    # below the cut-off nothing counts
    ("rbp(p=0.8)@2", [1, NAN, 0, 1], [4, 3, 2, -INF], 0.2, 0.2 * 0.8),
    ("rbp(p=0.8)@5", [1, NAN, 0], [4, 3, 2], 0.2, 0.2 * 0.8 + 0.8**3 - 0.8**5),
    ("cwl(chances=[0.5,0.5,0.5,0.5])", [1, NAN, 0, 1], [4, 3, 2, -INF],
     1 / WEIGHTS.sum(), WEIGHTS[[1, 3, 4]].sum() / WEIGHTS.sum()),
    ("rbp(p=0.5)", [NAN] * 3, [1, 1, 1], 0, 1),
    # graded gains: an unjudged document may be worth 1
    ("rbp(p=0.5,gain={0: 0, 1: 0.5})", [1, NAN], [2, 1], 1 / 4, 1 / 4 + 1 / 4),
])  # fmt: skip
def test_residuals_of_what_follows(measure, labels, scores, expected, residual):
    report = residuals(labels, scores, measures=measure)
    assert report.expected[0, 0] == report.worst[0, 0] == pytest.approx(expected)
    assert report.residual[0, 0] == pytest.approx(residual)
    assert report.best[0, 0] == pytest.approx(expected + residual)
    assert report.to_pandas().shape == (1, 7)


def test_residuals_of_queries_stand_for_themselves():
    data = {"y_score": [2, 1, 2, 1], "qid": list("aabb"), "query_weight": [1, 1, 3, 3]}
    found = residuals([1, NAN, NAN, 0], measures="p@2", **data)
    assert found.qid.tolist() == ["a", "b"]
    assert found.expected[:, 0].tolist() == found.worst[:, 0].tolist() == [1 / 2, 0]
    assert found.residual[:, 0].tolist() == [1 / 2, 1 / 2]
    assert found.best[:, 0].tolist() == [1, 1 / 2]
    assert found.n_unjudged.tolist() == [1, 1]
    row = str(found).splitlines()[-1].split()
    assert row == ["P@2", "0.1250", "0.5000", "0.1250", "0.6250"]
