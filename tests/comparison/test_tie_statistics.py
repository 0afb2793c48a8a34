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
    retrieved = [case for case in cases if case[1] > -np.inf]
    queries = {query for query, _, _ in retrieved}
    assert statistics.n_queries[0] == len(queries)
    tied = statistics.tied_queries[0] * statistics.n_queries[0]
    assert tied == pytest.approx(report.tied_queries * report.n_queries)
    contradictions = []
    for query in queries:
        # equal ranks contradict nothing
        ordered = sorted((r, -s) for q, s, r in retrieved if q == query)
        rises = [below < above for (_, above), (_, below) in pairwise(ordered)]
        contradictions.append(sum(rises))
    assert statistics.contradictions[0] == sum(contradictions)
    assert statistics.contradicted_queries[0] == np.count_nonzero(contradictions)
    # lines that are in the order of the ranks say the same
    by_line = tie_statistics(scores, qid=qid, rank=rank, input_order=rank)
    assert by_line.rises == statistics.contradictions
    assert by_line.rising_queries == statistics.contradicted_queries
    ranks = [(query, rank) for query, _, rank in retrieved]
    assert statistics.tied_ranks[0] == pytest.approx(share_of_repeated(ranks))
    unordered = share_of_repeated(retrieved)
    assert statistics.unordered_documents[0] == pytest.approx(unordered)


def share_of_repeated(keys):
    repeated = sum(keys.count(key) > 1 for key in keys)
    return repeated / max(len(keys), 1)


SYSTEMS = {"a": [1, 1, 2, 2], "b": [4, 3, 2, 1], "c": [1, 2, -np.inf, -np.inf]}
RANKS = np.array([[1, 1, 2], [2, 2, 1], [3, 4, np.nan], [4, 3, np.nan]])
QID = [1, 1, 2, 2]


def test_shares_of_all_systems():
    statistics = tie_statistics(SYSTEMS, qid=QID, rank=RANKS)
    # of five lists two are tied, of ten documents two as the one before
    expected = {"systems": 1 / 3, "queries": 2 / 5, "documents": 2 / 10}
    expected["contradictory systems"] = 1 / 3
    expected["contradictory queries"] = 1 / 5
    expected["contradictory documents"] = 1 / 10
    assert statistics.overall() == pytest.approx(expected)
    assert statistics.to_pandas()["system"].tolist() == ["a", "b", "c"]
    text = str(statistics)
    assert "contradictory" in text
    assert re.search("\nqueries +40.0% +0.0%", text)


def test_without_ranks_nothing_is_contradicted():
    statistics = tie_statistics(SYSTEMS, qid=QID)
    assert statistics.contradictions.tolist() == [-1] * 3
    assert statistics.rises.tolist() == [-1] * 3
    assert np.isnan(statistics.tied_ranks).all()
    assert np.isnan(statistics.unordered_documents).all()
    assert "contradictory" not in str(statistics)


def test_lines_in_another_order_than_the_scores_rise():
    statistics = tie_statistics(SYSTEMS, qid=QID, rank=RANKS)
    by_line = tie_statistics(SYSTEMS, qid=QID, input_order=RANKS)
    assert by_line.rises.tolist() == statistics.contradictions.tolist()
    assert by_line.overall()["rising queries"] == 1 / 5
    # of the shares of documents, 1/2, 0 and 0
    lines = [line.split() for line in str(by_line).splitlines()]
    documents = [words for words in lines if words[:1] == ["documents"]]
    assert documents[-1] == ["documents", "20.0%", "0.0%"]


BAD_RANKS = [
    ([1, 2], r"rank must have shape .*\(3,\) or \(3, 1\), got \(2,\)"),
    (np.ones((3, 2)), r"rank must have shape .* got \(3, 2\)"),
    ({"a": [1, 2, 3]}, r"rank must have shape .* got \(\)"),
    (["first", "second", "third"], "rank must be numeric, .* 'first' in row 0"),
    ([1, 2, np.inf], "rank must be finite or -inf, got inf in row 2"),
    ([1, np.nan, 2], "rank must not be missing where a document is retrieved"),
]


@pytest.mark.parametrize(("rank", "message"), BAD_RANKS)
def test_bad_ranks(rank, message):
    with pytest.raises(ValueError, match=message):
        tie_statistics({"a": [1, 2, 3]}, rank=rank)


def test_a_missing_rank_is_named_with_its_row():
    scores = {"a": [-np.inf, 2, 3]}
    message = "rank must not be missing where .* retrieved, got nan in row 2"
    with pytest.raises(ValueError, match=message):
        tie_statistics(scores, rank=[np.nan, 1, np.nan])
