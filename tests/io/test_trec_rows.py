"""Runs as columns: ranks and the order of lines, for every rule of ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import tie_treatments
from tieaware_sklearn.datasets import load_trec

topics = st.sampled_from(["1", "2"])
documents = st.sampled_from("abcde")
runs = st.lists(
    st.lists(
        st.tuples(topics, documents, st.integers(0, 2)),
        unique_by=lambda line: line[:2],
        max_size=8,
    ),
    min_size=1,
    max_size=3,
)
QRELS = {"1": {"a": 1, "b": 0, "e": 2}, "2": {"c": 1, "d": 1}}
NAMES = ("score", "rank", "input_order")


@given(runs, st.sampled_from([None, "trec_eval"]), st.booleans())
def test_what_a_run_says_of_each_document(drawn, order, alone):
    # each run has some topic
    drawn = [[*lines, ("2", "z", 1)] for lines in drawn]
    frames = [
        {
            "qid": [topic for topic, _, _ in lines],
            "docno": [document for _, document, _ in lines],
            "score": [score for _, _, score in lines],
            "rank": [7 * place for place in range(len(lines))],
        }
        for lines in drawn
    ]
    if alone:
        drawn = drawn[:1]
        trec = load_trec(QRELS, frames[0], order=order)
        columns = [{name: trec[name] for name in NAMES}]
    else:
        trec = load_trec(QRELS, frames, order=order)
        columns = [{n: trec[n][:, j] for n in NAMES} for j in range(len(drawn))]
    for lines, own in zip(drawn, columns, strict=True):
        seen: dict[str, int] = {}
        wanted = {}
        for place, (topic, document, score) in enumerate(lines):
            seen[topic] = seen.get(topic, 0) + 1
            wanted[topic, document] = score, 7 * place, seen[topic]
        pairs = list(zip(trec.qid.tolist(), trec.docno.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs)
        assert set(wanted) <= set(pairs)
        for i, pair in enumerate(pairs):
            found = [own[name][i] for name in NAMES]
            absent = -np.inf, np.nan, np.nan
            np.testing.assert_array_equal(found, wanted.get(pair, absent))


def test_every_rule_of_ties_goes_with_lists_of_runs(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    # all tied: by rank b leads, by line a, by document c
    first.write_text("1 Q0 a 3 1 x\n1 Q0 b 1 1 x\n1 Q0 c 2 1 x\n")
    second.write_text("1 Q0 b 2 1 y\n1 Q0 c 1 1 y\n1 Q0 a 3 1 y\n")
    both = load_trec({"1": {"a": 3, "b": 2, "c": 1}}, [first, second])
    for j, (by_rank, by_line) in enumerate([(2 / 3, 1), (1 / 3, 2 / 3)]):
        found = tie_treatments(
            both.target,
            both.score[:, j],
            qid=both.qid,
            measures=["ndcg(gain=linear)@1"],
            external={
                "rank": (both["rank"][:, j], "ascending"),
                "file": (both.input_order[:, j], "ascending"),
                "official": (both.docno, "descending"),
            },
        )
        table = found.to_pandas().set_index("treatment")
        column = table.iloc[:, 0]
        assert column["rank"] == pytest.approx(by_rank)
        assert column["file"] == pytest.approx(by_line)
        assert column["official"] == pytest.approx(1 / 3)


def test_inversions_count_topics_in_use_only():
    lines = {"qid": ["1", "1", "9", "9"], "docno": list("abab"), "score": [1, 2, 1, 2]}
    assert load_trec(QRELS, lines).n_inversions == 1
    ranked = {**lines, "rank": [1, 2, 1, 2]}
    assert load_trec(QRELS, ranked).n_contradictions == 1
    assert load_trec(QRELS, lines).n_contradictions == 0
