"""trec_eval's order of ties against exact means, and the ties of many systems."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn import evaluate, official_vs_exact, ranking_score, tie_report
from tieaware_sklearn.comparison import pvalues_over_orders, tie_statistics

#: six topics of four documents; the relevant document has the highest id
QID = np.repeat(np.arange(6), 4)
LABELS = np.tile([1, 0, 0, 0], 6)
DOCNO = [f"d{9 - i % 4}" for i in range(24)]
FLAT = np.ones(24)
#: the relevant document is first in four topics, second in two
SHARP = np.where(QID < 4, np.tile([4, 3, 2, 1], 6), np.tile([3, 4, 2, 1], 6))


def compare(systems, measures="rr", **options):
    return official_vs_exact(
        LABELS, systems, DOCNO, qid=QID, measures=measures, **options
    )


def test_an_order_by_ids_can_find_what_is_not_there():
    found = compare({"flat": FLAT, "sharp": SHARP}, ["rr", "p@1"], n_orders=50)
    assert found.measures == ("RR", "P@1")
    # by id the relevant document is first; exactly it is anywhere
    assert found.official[:, 0].tolist() == [1, 5 / 6]
    assert found.exact[:, 0] == pytest.approx([(1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, 5 / 6])
    assert found.worst[0].tolist() == [1 / 4, 0]
    assert found.best[0].tolist() == [1, 1]
    assert found.tied_documents.tolist() == [1, 0]
    assert found.tau_b.tolist() == found.tau_ap.tolist() == [-1, -1]
    difference = np.repeat([0, 1 / 2], [4, 2])
    wanted = stats.ttest_1samp(difference, 0).pvalue
    assert found.comparisons["RR", "official"].pvalues == pytest.approx([wanted])
    # 1/6 is not significant, 25/48 less 5/6 is; of P@1 only the sign changes
    assert found.change.tolist() == [["new"], ["sign"]]
    text = str(found)
    assert text.count("1 of 1 conclusions change; new: only the exact") == 1
    assert max(map(len, text.splitlines())) <= 80
    assert found.alpha == 0.05
    frame = found.averages()
    assert frame["measure"].tolist() == ["RR", "RR", "P@1", "P@1"]
    assert frame["system"].tolist() == ["flat", "sharp"] * 2
    assert frame["tied_documents"].tolist() == [1, 0] * 2
    for name in ("official", "exact", "worst", "best"):
        assert frame[name].tolist() == getattr(found, name).T.ravel().tolist()


def test_values_are_those_of_each_treatment_alone():
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(20), 10)
    labels = rng.integers(0, 3, 200)
    systems = {name: rng.integers(0, 4, 200) / 7 for name in "abcd"}
    systems["a"][::5] = -math.inf
    docno = rng.permutation(200)
    texts = np.array([f"x{i:03}" for i in docno])
    options = {"measures": ["ap", "ndcg@5"], "n_orders": 20}
    found = official_vs_exact(labels, systems, texts, qid=qid, **options)
    # descending ids come first in the input
    order = np.argsort(-docno)
    for j, scores in enumerate(systems.values()):
        rows = labels[order], scores[order]
        for m, measure in enumerate(["ap", "ndcg@5"]):
            how = {"qid": qid[order], "measure": measure, "ties": "input"}
            assert found.official[j, m] == ranking_score(*rows, **how)
            summary = evaluate(labels, scores, qid=qid, measures=measure).summary()
            assert found.exact[j, m] == summary.mean[0]
            assert found.worst[j, m] <= found.official[j, m] <= found.best[j, m]
    over = pvalues_over_orders(labels, systems, qid=qid, measure="ap", n_orders=20)
    names = ("share", "share_error", "smallest", "largest")
    for name in names:
        assert getattr(found, name)[0].tolist() == getattr(over, name)[0].tolist()
    rows = rng.permutation(200)
    shuffled = {name: scores[rows] for name, scores in systems.items()}
    mixed = labels[rows], shuffled, texts[rows]
    again = official_vs_exact(*mixed, qid=qid[rows], **options)
    for name in ("official", "exact", "worst", "best", *names):
        assert getattr(again, name).tolist() == getattr(found, name).tolist(), name
    frame, exact = found.to_pandas(), found.comparisons["AP", "expected"]
    assert frame["change"].tolist() == found.change.ravel().tolist()
    own, official = frame[frame["measure"] == "AP"], found.comparisons["AP", "official"]
    assert own["official_difference"].tolist() == official.difference.tolist()
    assert own["exact_difference"].tolist() == exact.difference.tolist()
    assert own["exact_pvalue"].tolist() == exact.pvalues.tolist()
    assert np.array_equal(own[["tie_range_low", "tie_range_high"]], exact.tie_range)


def test_what_is_shown_of_many_pairs_and_of_one_query():
    rng = np.random.default_rng(0)
    found = compare({f"s{i}": rng.permutation(24) for i in range(6)}, n_orders=1)
    assert len(found.pairs) == 15
    assert not found.change.any()
    assert str(found).splitlines()[-1] == "0 of 15 conclusions change"
    found = official_vs_exact([1, 0], {"a": [1, 1], "b": [2, 1]}, [*"xy"], qid=[1, 1])
    assert np.isnan(found.share).all()
    assert "nan" not in str(found)
    # of b, the first document ties with the third, as the second is left out
    systems = {"a": [1, 1, 2, 1], "b": [1, 1, 1, 3]}
    found = official_vs_exact(
        [1, math.nan, 0, 1], systems, list("wxyz"), qid=[1, 1, 1, 2], unjudged="drop"
    )
    assert found.tied_documents.tolist() == [0, 2 / 3]


BAD_INPUT = [
    ({"docno": ["x"]}, "docno must have one value per row"),
    ({"docno": [["x"], ["y"]]}, "docno must be 1-dimensional"),
    ({"docno": ["x", None]}, "docno must not be .* None in row 1"),
    # 9 ranks above 10, as bytes, and below it, as a number
    ({"docno": [9, 10]}, "docno must hold strings, .* got 9 in row 0"),
    ({"docno": np.array([9, 10])}, "got 9 in row 0"),
    ({"docno": ["9", 10]}, "got 10 in row 1"),
    ({"y_score": {"a": [1, 1]}}, "y_score must hold at least two systems, got 'a'"),
    ({"alpha": 0}, "alpha must"),
    ({"n_orders": 0}, "n_orders must"),
]


@pytest.mark.parametrize(("given", "message"), BAD_INPUT)
def test_bad_input(given, message):
    usual = {"y_score": {"a": [1, 1], "b": [1, 2]}, "docno": ["x", "y"]}
    with pytest.raises(ValueError, match=message):
        official_vs_exact([1, 0], qid=[1, 1], **{**usual, **given})


CASES = st.tuples(
    st.sampled_from("qrs"), st.sampled_from([-np.inf, 1.0, 2.0]), st.integers(1, 9)
)


@settings(max_examples=50)
@given(st.lists(CASES, min_size=1, max_size=12))
def test_statistics_are_those_of_a_tie_report(cases):
    qid, scores, rank = map(list, zip(*cases, strict=True))
    found = tie_statistics({"a": scores}, qid=qid, rank=rank)
    report = tie_report([0] * len(cases), scores, qid=qid, measures="p@1")
    for name in ("tied_documents", "repeated_documents", "n_documents"):
        assert getattr(found, name)[0] == getattr(report, name), name
    queries = {q for q, s in zip(qid, scores, strict=True) if s > -np.inf}
    assert found.n_queries[0] == len(queries)
    tied = found.tied_queries[0] * found.n_queries[0]
    assert tied == pytest.approx(report.tied_queries * report.n_queries)
    contradictions = []
    for query in queries:
        # equal ranks contradict nothing
        own = sorted((r, -s) for q, s, r in cases if q == query and s > -np.inf)
        contradictions.append(sum(a < b for (_, b), (_, a) in pairwise(own)))
    assert found.contradictions[0] == sum(contradictions)
    assert found.contradicted_queries[0] == sum(map(bool, contradictions))
    # lines that are in the order of the ranks say the same
    line = [r for _, _, r in cases]
    again = tie_statistics(scores, qid=qid, rank=rank, input_order=line)
    assert again.rises == found.contradictions
    assert again.rising_queries == found.contradicted_queries
    there = [case for case in cases if case[1] > -np.inf]
    by_rank = [(query, rank) for query, _, rank in there]
    for name, keys in (("tied_ranks", by_rank), ("unordered_documents", there)):
        tied = sum(keys.count(one) > 1 for one in keys)
        assert getattr(found, name)[0] == pytest.approx(tied / max(len(keys), 1))


def test_shares_of_all_systems():
    systems = {"a": [1, 1, 2, 2], "b": [4, 3, 2, 1], "c": [1, 2, -np.inf, -np.inf]}
    rank = np.array([[1, 1, 2], [2, 2, 1], [3, 4, np.nan], [4, 3, np.nan]])
    found = tie_statistics(systems, qid=[1, 1, 2, 2], rank=rank)
    # of five lists two are tied, of ten documents two as the one before
    expected = {"systems": 1 / 3, "queries": 2 / 5, "documents": 2 / 10}
    expected |= {"contradictory systems": 1 / 3, "contradictory queries": 1 / 5}
    expected["contradictory documents"] = 1 / 10
    assert found.overall() == pytest.approx(expected)
    assert found.to_pandas()["system"].tolist() == ["a", "b", "c"]
    assert "contradictory" in str(found)
    assert re.search("\nqueries +40.0 % +0.0 %", str(found))
    without = tie_statistics(systems, qid=[1, 1, 2, 2])
    assert without.contradictions.tolist() == without.rises.tolist() == [-1] * 3
    assert np.isnan([*without.tied_ranks, *without.unordered_documents]).all()
    assert "contradictory" not in str(without)
    by_line = tie_statistics(systems, qid=[1, 1, 2, 2], input_order=rank)
    assert by_line.rises.tolist() == found.contradictions.tolist()
    assert by_line.overall()["rising queries"] == 1 / 5
    # of the shares of documents, 1/2, 0 and 0
    *_, last = (one for one in str(by_line).splitlines() if one.startswith("documents"))
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
