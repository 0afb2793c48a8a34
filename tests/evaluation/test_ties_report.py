"""The tie report against counting by hand."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import queries
from tieaware_sklearn import evaluate, tie_report

SCORES = [9.8, 9.3, 9.3, 9.3, 8.4, 8.4, 8.2, 8.0, 8.0, 8.0]
LABELS = [0, 0, 1, 1, 0, 0, 1, 0, 0, 1]


def test_figures_of_one_run():
    report = tie_report(LABELS, SCORES, k=5, measures=["P@5", "RR"])
    assert report.n_documents == 10
    assert report.n_distinct_scores == 5
    assert report.largest_group == 3
    assert report.tied_documents == 8 / 10
    assert report.mixed_documents == 6 / 10
    assert report.repeated_documents == (2 + 1 + 2) / 10
    assert report.tied_queries == 1
    # ranks 5 and 6 tie
    assert report.cut_queries == 1
    assert tie_report(LABELS, SCORES, k=4).cut_queries == 0
    assert tie_report(LABELS, SCORES, k=10).cut_queries == 0
    assert report.measures == ("P@5", "RR")
    assert report.mean_gap == pytest.approx([0, 1 / 2 - 1 / 3])


@settings(max_examples=100)
@given(case=queries(), k=st.integers(1, 5))
def test_equals_counting(case, k):
    labels, scores, qid = case
    measures = ["ap", "ndcg@3", "fallout@2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = tie_report(
            labels, scores, qid=qid, k=k, measures=measures, zero_relevance="skip"
        )
    groups: dict[tuple, list[int]] = {}
    for label, score, query in zip(labels, scores, qid, strict=True):
        if score != -math.inf:
            groups.setdefault((query, score + 0.0), []).append(label)
    documents = sum(map(len, groups.values()))
    n = max(documents, 1)
    tied = [g for g in groups.values() if len(g) > 1]
    assert report.n_documents == documents
    assert report.n_distinct_scores == len({score for _, score in groups})
    assert report.tied_documents == sum(map(len, tied)) / n
    assert report.mixed_documents == sum(len(g) for g in tied if len(set(g)) > 1) / n
    assert report.repeated_documents == sum(len(g) - 1 for g in tied) / n
    assert report.largest_group == max(map(len, groups.values()), default=0)
    with_ties = {query for (query, _), g in groups.items() if len(g) > 1}
    assert report.tied_queries == len(with_ties) / len(set(qid))
    cut = 0
    for query in set(qid):
        sizes = Counter({s: len(g) for (q, s), g in groups.items() if q == query})
        above = 0
        for score in sorted(sizes, reverse=True):
            cut += above < k < above + sizes[score]
            above += sizes[score]
    assert report.cut_queries == cut / len(set(qid))
    values = evaluate(labels, scores, qid=qid, measures=measures, zero_relevance="skip")
    gaps = np.abs(values.best - values.worst)
    for j in range(3):
        there = gaps[~np.isnan(gaps[:, j]), j]
        if len(there):
            assert report.mean_gap[j] == pytest.approx(there.mean())
            assert report.largest_gap[j] == there.max()
        else:
            assert math.isnan(report.mean_gap[j])


def test_scores_apart_by_rounding_only():
    scores = [0.1 + 0.2, 0.3, 0.3, 5.0, -math.inf]
    with pytest.warns(
        UserWarning, match="neighbouring scores that differ .*1 in all.* 0.3 and 0.30"
    ):
        report = tie_report([0, 1, 0, 1, 1], scores)
    assert report.n_nearly_tied == 1
    # not across queries, not between integers, not where they are equal
    for quiet, qid in (
        ([0.1 + 0.2, 0.3], [1, 2]),
        (np.array([2**60, 2**60 + 1]), None),
        ([0.3, 0.3], None),
        (np.array([1, 1.0001], dtype=np.float32), None),
        (np.array([1e7, 1e7 + 1], dtype=np.float32), None),
        (np.array([1, 1.001], dtype=np.float16), None),
        ([1.7e308, -1.7e308], None),
    ):
        assert tie_report([0, 1], quiet, qid=qid).n_nearly_tied == 0
    single = np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    with pytest.warns(UserWarning, match="last bits"):
        assert tie_report([0, 1], single).n_nearly_tied == 1


def test_dense_scores_are_near_each_other_by_chance():
    rng = np.random.default_rng(0)
    scores = rng.random(100_000).astype(np.float32)
    assert tie_report(rng.integers(0, 2, 100_000), scores).n_nearly_tied == 0


def test_prints_as_a_table():
    lines = str(tie_report(LABELS, SCORES, k=5)).splitlines()
    assert any(line.split() == ["documents", "tied", "80.0", "%"] for line in lines)
    assert lines[-3].startswith("NDCG@10")


def test_gaps_are_those_of_a_report():
    labels, scores, qid = [0, 0, 1, 0, 0, 1], [1, 1, 1, 1, 2, 2], [1, 1, 2, 2, 3, 3]
    for options in (
        {},
        {"zero_relevance": "skip"},
        {"query_weight": [1, 1, 2, 2, 3, 3]},
    ):
        summary = evaluate(labels, scores, qid=qid, measures="ap", **options).summary()
        found = tie_report(labels, scores, qid=qid, measures="ap", **options)
        assert found.mean_gap == pytest.approx(summary.best - summary.worst)
    frame = found.to_pandas().set_index(["figure", "measure"])["value"]
    assert frame["tied_documents", ""] == 1
    assert frame["mean_gap", "AP"] == found.mean_gap[0]


def test_nothing_retrieved():
    report = tie_report([1, 0], [-math.inf, -math.inf])
    assert report.n_documents == report.n_distinct_scores == 0
    assert report.tied_documents == 0


def test_bad_input():
    for k, message in ((0, "k must be an integer >= 1, got 0"), (None, "got None")):
        with pytest.raises(ValueError, match=message):
            tie_report([0, 1], [1, 2], k=k)
