"""trec_eval's order of ties against exact means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn import evaluate, official_vs_exact, ranking_score
from tieaware_sklearn.comparison import pvalues_over_orders
from tieaware_sklearn.datasets import load_trec

#: six topics of four documents; the relevant document has the highest id
QID = np.repeat(np.arange(6), 4)
LABELS = np.tile([1, 0, 0, 0], 6)
DOCNO = [f"d{9 - i % 4}" for i in range(24)]
FLAT = np.ones(24)
#: the relevant document is first in four topics, second in two
SHARP = np.where(QID < 4, np.tile([4, 3, 2, 1], 6), np.tile([3, 4, 2, 1], 6))


def test_an_order_by_ids_can_find_what_is_not_there():
    found = official_vs_exact(
        LABELS,
        {"flat": FLAT, "sharp": SHARP},
        DOCNO,
        qid=QID,
        measures=["rr", "p@1"],
        n_orders=50,
    )
    assert found.measures == ("RR", "P@1")
    # by id the relevant document is first; exactly it is anywhere
    assert found.official[:, 0].tolist() == [1, 5 / 6]
    assert found.exact[:, 0] == pytest.approx([(1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, 5 / 6])
    assert found.worst[0].tolist() == [1 / 4, 0]
    assert found.best[0].tolist() == [1, 1]
    assert found.tied_documents.tolist() == [1, 0]
    assert found.tau_b.tolist() == [-1, -1]
    difference = np.repeat([0, 1 / 2], [4, 2])
    wanted = stats.ttest_1samp(difference, 0).pvalue
    assert found.comparisons["RR", "official"].pvalues == pytest.approx([wanted])
    # 1/6 is not significant, 25/48 less 5/6 is; of P@1 only the sign changes
    assert found.change.tolist() == [["new"], ["sign"]]
    text = str(found)
    assert "1 of 1 conclusions change; new: only the exact" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_significant_difference_can_turn_round_or_be_lost():
    half = np.where(QID < 5, FLAT, SHARP)
    systems = {"flat": FLAT, "half": half, "low": np.tile([1, 2, 3, 4], 6)}
    found = official_vs_exact(
        LABELS, systems, DOCNO, qid=QID, measures=["rr"], n_orders=2
    )
    changes = {
        (found.systems[a], found.systems[b]): change
        for (a, b), change in zip(found.pairs.tolist(), found.change[0], strict=True)
    }
    assert set(changes.values()) <= {"", "sign", "lost", "new", "turned"}
    assert changes["flat", "low"] == ""
    frame = found.to_pandas()
    assert frame["change"].tolist() == found.change[0].tolist()
    assert frame["official_difference"][1] == pytest.approx(3 / 4)
    averages = found.averages()
    assert averages["official"].tolist() == found.official[:, 0].tolist()


def test_values_are_those_of_each_treatment_alone():
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(20), 10)
    labels = rng.integers(0, 3, 200)
    systems = {name: rng.integers(0, 4, 200) / 7 for name in "abcd"}
    systems["a"][::5] = -math.inf
    docno = rng.permutation(200)
    # ids as text
    texts = [f"x{i:03}" for i in docno]
    found = official_vs_exact(
        labels, systems, texts, qid=qid, measures=["ap", "ndcg@5"], n_orders=20
    )
    order = np.argsort(-docno)
    for j, scores in enumerate(systems.values()):
        for m, measure in enumerate(["ap", "ndcg@5"]):
            # descending ids come first in the input
            official = ranking_score(
                labels[order],
                scores[order],
                qid=qid[order],
                measure=measure,
                ties="input",
            )
            assert found.official[j, m] == official
            summary = evaluate(labels, scores, qid=qid, measures=measure).summary()
            assert found.exact[j, m] == summary.mean[0]
            assert found.worst[j, m] <= found.official[j, m] <= found.best[j, m]
    over = pvalues_over_orders(labels, systems, qid=qid, measure="ap", n_orders=20)
    assert found.share[0].tolist() == over.share[0].tolist()
    assert found.largest[0].tolist() == over.largest[0].tolist()
    shuffled = rng.permutation(200)
    again = official_vs_exact(
        labels[shuffled],
        {name: scores[shuffled] for name, scores in systems.items()},
        np.array(texts)[shuffled],
        qid=qid[shuffled],
        measures=["ap", "ndcg@5"],
        n_orders=20,
    )
    for name in ("official", "exact", "worst", "best", "share", "smallest", "largest"):
        assert getattr(again, name).tolist() == getattr(found, name).tolist(), name


def test_more_pairs_than_ten_are_shown_where_a_conclusion_changes():
    rng = np.random.default_rng(0)
    systems = {f"s{i}": rng.permutation(24) for i in range(6)}
    found = official_vs_exact(
        LABELS, systems, DOCNO, qid=QID, measures="rr", n_orders=1
    )
    assert len(found.pairs) == 15
    assert not found.change.any()
    assert str(found).splitlines()[-1] == "0 of 15 conclusions change"


def test_a_single_query_has_no_share():
    found = official_vs_exact(
        [1, 0], {"a": [1, 1], "b": [2, 1]}, ["x", "y"], qid=[1, 1]
    )
    assert np.isnan(found.share).all()
    assert "nan" not in str(found)


def test_documents_left_out_do_not_tie():
    systems = {"a": [1, 1, 2, 1], "b": [1, 1, 1, 3]}
    found = official_vs_exact(
        [1, math.nan, 0, 1], systems, list("wxyz"), qid=[1, 1, 1, 2], unjudged="drop"
    )
    # of b, the first document ties with the third
    assert found.tied_documents.tolist() == [0, 2 / 3]


@pytest.mark.parametrize(
    ("scores", "docno", "message"),
    [
        ({"a": [1, 2]}, ["x", "y"], "y_score must hold at least two systems, got 'a'"),
        ({"a": [1, 2], "b": [1, 2]}, ["x"], "docno must have one value per row"),
        ({"a": [1, 2], "b": [1, 2]}, [["x"], ["y"]], "docno must be 1-dimensional"),
        ({"a": [1, 2], "b": [1, 2]}, ["x", None], "docno must not be .* None in row 1"),
        # 9 ranks above 10, as bytes, and below it, as a number
        ({"a": [1, 1], "b": [1, 2]}, [9, 10], "must hold strings, .* got 9 in row 0"),
        ({"a": [1, 1], "b": [1, 2]}, np.array([9, 10]), "got 9 in row 0"),
        ({"a": [1, 1], "b": [1, 2]}, ["9", 10], "got 10 in row 1"),
    ],
)
def test_bad_input(scores, docno, message):
    with pytest.raises(ValueError, match=message):
        official_vs_exact([1, 0], scores, docno, qid=[1, 1])


def test_the_published_example(shared_data):
    folder = shared_data / "sigtrec"
    names = ("baseline", "result_to_compare1", "result_to_compare2")
    runs = [folder / f"{name}.gz" for name in names]
    trec = load_trec(folder / "qrelFile.qrel.gz", runs)
    found = official_vs_exact(
        trec.target,
        dict(zip(names, trec.score.T, strict=True)),
        trec.docno,
        qid=trec.qid,
        measures=["map", "ndcg_cut_10", "P_5", "P_10", "ndcg(gain=linear)"],
        unjudged="nonrelevant",
        n_orders=20,
    )
    first = [found.comparisons[name, "official"] for name in found.measures]
    assert [round(one.difference[0], 4) for one in first[:3]] == [0.0096, 0.025, 0.0202]
    assert round(first[0].pvalues[0], 4) == 0.0001
    exact = [found.comparisons[name, "expected"] for name in found.measures]
    assert [round(one.difference[0], 4) for one in exact[:3]] == [
        -0.0019, -0.0058, -0.0036,
    ]  # fmt: skip
    assert round(exact[0].pvalues[0], 2) == 0.46
    assert found.change[:, 0].tolist() == ["lost", "lost", "lost", "", "new"]
    assert found.official[2, 3].round(4) == 0.0002
    assert found.exact[2, 3].round(4) == 0.1055
