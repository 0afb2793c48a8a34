"""Ties and contradictions of many systems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import tie_report
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn.comparison import tie_statistics
from tieaware_sklearn.comparison._official import score_ties
from tieaware_sklearn.datasets import load_trec

rows = st.lists(
    st.tuples(
        st.sampled_from("qrs"), st.sampled_from([-np.inf, 1.0, 2.0]), st.integers(1, 9)
    ),
    min_size=1,
    max_size=12,
)


def test_bits_and_ties_of_scores():
    scores = np.array([1.0, 1.0, 2.0, 3.0, -np.inf, 5.0, -np.inf])
    queries = check_qid([1, 2, 1, 1, 1, 2, 3], n_rows=7)
    found = score_ties(scores, queries)
    assert found.bits == pytest.approx((np.log2(3) + np.log2(2)) / 2)
    assert found.tied_documents == 0
    found = score_ties(np.array([4, 4, 1]), check_qid(None, n_rows=3))
    assert (found.bits, found.tied_documents) == (1, 2 / 3)
    nothing = score_ties(np.array([-np.inf]), check_qid(None, n_rows=1))
    assert (nothing.bits, nothing.tied_documents) == (0, 0)


@given(rows)
def test_statistics_are_those_of_a_tie_report(cases):
    qid, scores, rank = map(list, zip(*cases, strict=True))
    found = tie_statistics({"a": scores}, qid=qid, rank=rank)
    report = tie_report([0] * len(cases), scores, qid=qid, measures="p@1")
    assert found.tied_documents[0] == report.tied_documents
    assert found.repeated_documents[0] == report.repeated_documents
    assert found.n_documents[0] == report.n_documents
    queries = {q for q, s in zip(qid, scores, strict=True) if s > -np.inf}
    assert found.n_queries[0] == len(queries)
    tied = found.tied_queries[0] * found.n_queries[0]
    assert tied == pytest.approx(report.tied_queries * report.n_queries)
    contradictions = []
    for query in sorted(queries):
        # equal ranks contradict nothing
        own = sorted(
            (r, -s, i)
            for i, (q, s, r) in enumerate(cases)
            if q == query and s > -np.inf
        )
        by_rank = [scores[i] for _, _, i in own]
        contradictions.append(sum(b > a for a, b in pairwise(by_rank)))
    assert found.contradictions[0] == sum(contradictions)
    assert found.contradicted_queries[0] == sum(map(bool, contradictions))


def test_shares_of_all_systems():
    systems = {"a": [1, 1, 2, 2], "b": [4, 3, 2, 1], "c": [1, 2, -np.inf, -np.inf]}
    rank = np.array([[1, 1, 2], [2, 2, 1], [3, 3, np.nan], [4, 4, np.nan]])
    found = tie_statistics(systems, qid=[1, 1, 2, 2], rank=rank)
    overall = found.overall()
    assert overall["systems"] == pytest.approx(1 / 3)
    # of five lists two are tied, of ten documents two as the one before
    assert overall["queries"] == pytest.approx(2 / 5)
    assert overall["documents"] == pytest.approx(2 / 10)
    assert overall["contradictory systems"] == 0
    assert found.to_pandas()["system"].tolist() == ["a", "b", "c"]
    assert "contradictory" in str(found)
    assert "contradictory" not in str(tie_statistics(systems, qid=[1, 1, 2, 2]))


@pytest.mark.parametrize(
    ("rank", "message"),
    [
        ([1, 2], r"rank must have shape .* here \(3,\) or \(3, 1\), got \(2,\)"),
        (np.ones((3, 2)), r"rank must have shape .* got \(3, 2\)"),
        ({"a": [1, 2, 3]}, r"rank must have shape .* got \(\)"),
        (["first", "second", "third"], "rank must be numeric, .* 'first' in row 0"),
        ([1, 2, np.inf], "rank must be finite, .* got inf in row 2"),
        ([1, np.nan, 2], "rank must not be missing where a document is retrieved"),
    ],
)
def test_bad_ranks(rank, message):
    with pytest.raises(ValueError, match=message):
        tie_statistics({"a": [1, 2, 3]}, rank=rank)
    with pytest.raises(ValueError, match=r"y_score\['b'\] must have one value per row"):
        tie_statistics({"a": [1, 2, 3], "b": [1, 2]})


def test_contradictions_are_those_of_the_reader(shared_data):
    folder = shared_data / "robust03"
    runs = sorted(folder.glob("input.*.gz"))[:3]
    trec = load_trec(folder / "qrels.robust03.txt.gz", runs)
    found = tie_statistics(trec.score, qid=trec.qid, rank=trec["rank"])
    assert found.contradictions.tolist() == trec.n_contradictions.tolist()
