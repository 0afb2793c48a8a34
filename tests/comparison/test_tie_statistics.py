"""The ties of many systems, and ranks and lines that contradict their scores."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware_sklearn import tie_report
from tieaware_sklearn.comparison import tie_statistics

CASES = st.tuples(
    st.sampled_from("qrs"), st.sampled_from([-np.inf, 1.0, 2.0]), st.integers(1, 9)
)


@settings(max_examples=50)
@given(st.lists(CASES, min_size=1, max_size=12))
def test_statistics_are_those_of_a_tie_report(cases):
    qid, scores, rank = map(list, zip(*cases, strict=True))
    statistics = tie_statistics({"a": scores}, qid=qid, rank=rank)
    report = tie_report([0] * len(cases), scores, qid=qid, measures="p@1")
    for name in ("tied_documents", "repeated_documents", "n_documents"):
        assert getattr(statistics, name)[0] == getattr(report, name), name
    queries = {q for q, s in zip(qid, scores, strict=True) if s > -np.inf}
    assert statistics.n_queries[0] == len(queries)
    tied = statistics.tied_queries[0] * statistics.n_queries[0]
    assert tied == pytest.approx(report.tied_queries * report.n_queries)
    contradictions = []
    for query in queries:
        # equal ranks contradict nothing
        own = sorted((r, -s) for q, s, r in cases if q == query and s > -np.inf)
        contradictions.append(sum(a < b for (_, b), (_, a) in pairwise(own)))
    assert statistics.contradictions[0] == sum(contradictions)
    assert statistics.contradicted_queries[0] == sum(map(bool, contradictions))
    # lines that are in the order of the ranks say the same
    line = [r for _, _, r in cases]
    again = tie_statistics(scores, qid=qid, rank=rank, input_order=line)
    assert again.rises == statistics.contradictions
    assert again.rising_queries == statistics.contradicted_queries
    retrieved = [case for case in cases if case[1] > -np.inf]
    by_rank = [(query, rank) for query, _, rank in retrieved]
    for name, keys in (("tied_ranks", by_rank), ("unordered_documents", retrieved)):
        tied = sum(keys.count(key) > 1 for key in keys)
        assert getattr(statistics, name)[0] == pytest.approx(tied / max(len(keys), 1))


def test_shares_of_all_systems():
    systems = {"a": [1, 1, 2, 2], "b": [4, 3, 2, 1], "c": [1, 2, -np.inf, -np.inf]}
    rank = np.array([[1, 1, 2], [2, 2, 1], [3, 4, np.nan], [4, 3, np.nan]])
    statistics = tie_statistics(systems, qid=[1, 1, 2, 2], rank=rank)
    # of five lists two are tied, of ten documents two as the one before
    expected = {"systems": 1 / 3, "queries": 2 / 5, "documents": 2 / 10}
    expected |= {"contradictory systems": 1 / 3, "contradictory queries": 1 / 5}
    expected["contradictory documents"] = 1 / 10
    assert statistics.overall() == pytest.approx(expected)
    assert statistics.to_pandas()["system"].tolist() == ["a", "b", "c"]
    assert "contradictory" in str(statistics)
    assert re.search("\nqueries +40.0 % +0.0 %", str(statistics))
    without = tie_statistics(systems, qid=[1, 1, 2, 2])
    assert without.contradictions.tolist() == without.rises.tolist() == [-1] * 3
    assert np.isnan([*without.tied_ranks, *without.unordered_documents]).all()
    assert "contradictory" not in str(without)
    by_line = tie_statistics(systems, qid=[1, 1, 2, 2], input_order=rank)
    assert by_line.rises.tolist() == statistics.contradictions.tolist()
    assert by_line.overall()["rising queries"] == 1 / 5
    # of the shares of documents, 1/2, 0 and 0
    *_, last = (key for key in str(by_line).splitlines() if key.startswith("documents"))
    assert last.split() == ["documents", "20.0", "%", "0.0", "%"]


BAD_RANKS = [
    ([1, 2], r"rank must have shape .*\(3,\) or \(3, 1\), got \(2,\)"),
    (np.ones((3, 2)), r"rank must have shape .* got \(3, 2\)"),
    ({"a": [1, 2, 3]}, r"rank must have shape .* got \(\)"),
    (["first", "second", "third"], "rank must be numeric, .* 'first' in row 0"),
    ([1, 2, np.inf], "rank must be finite, .* got inf in row 2"),
    ([1, np.nan, 2], "rank must not be missing where a document is retrieved"),
]


@pytest.mark.parametrize(("rank", "message"), BAD_RANKS)
def test_bad_ranks(rank, message):
    with pytest.raises(ValueError, match=message):
        tie_statistics({"a": [1, 2, 3]}, rank=rank)
