"""Ties broken by rules, and treatments of ties by name."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import (
    break_ties,
    compare_systems,
    evaluate,
    precision_study,
    ranking_score,
    tie_report,
    tie_treatments,
)
from tieaware_sklearn.datasets import load_trec

rows = st.lists(
    st.tuples(
        st.sampled_from(["q", "r", "s"]),
        st.sampled_from([-np.inf, -1.0, 0.0, -0.0, 2.5]),
        st.text(alphabet="aé\uffff\U0001f600\udc80", max_size=2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


def _as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


def by_hand(scores, keys, qid, *, reverse):
    """Ranks from the bottom of each query, by comparing two documents at a time."""
    out = np.full(len(scores), -np.inf)
    for i, (own, key, query) in enumerate(zip(scores, keys, qid, strict=True)):
        if own == -np.inf:
            continue
        below = set()
        for other, its_key, its_query in zip(scores, keys, qid, strict=True):
            if its_query != query or other == -np.inf:
                continue
            first = its_key < key if not reverse else its_key > key
            lower = other < own or (other == own and its_key != key and not first)
            if lower:
                below.add((other + 0.0, its_key))
        out[i] = len(below) + 1
    return out


@given(rows, st.booleans())
def test_ties_are_broken_by_bytes(cases, descending):
    qid, scores, docno, _ = map(list, zip(*cases, strict=True))
    direction = "descending" if descending else "ascending"
    found = break_ties(scores, (docno, direction), qid=qid)
    keys = list(map(_as_bytes, docno))
    wanted = by_hand(scores, keys, qid, reverse=descending)
    assert found.tolist() == wanted.tolist()
    # bytes themselves, and objects, compare alike
    for same in (keys, np.array(docno, dtype=object)):
        again = break_ties(scores, (same, direction), qid=qid)
        assert again.tolist() == wanted.tolist()


@given(rows, st.randoms(use_true_random=False))
def test_no_rule_by_key_depends_on_the_order_of_rows(cases, random):
    shuffled = random.sample(range(len(cases)), len(cases))
    qid, scores, docno, _ = map(np.array, zip(*cases, strict=True))
    docno = docno.astype(object)
    for direction in ("ascending", "descending", "random"):
        found = break_ties(scores, (docno, direction), qid=qid)
        again = break_ties(
            scores[shuffled], (docno[shuffled], direction), qid=qid[shuffled]
        )
        assert again.tolist() == found[shuffled].tolist()


def test_input_order_and_a_random_one():
    scores = [1, 1, 2, 1]
    assert break_ties(scores, "input").tolist() == [3, 2, 4, 1]
    drawn = {tuple(break_ties(scores, "random", random_state=i)) for i in range(100)}
    assert len(drawn) == 6
    assert all(ranks[2] == 4 for ranks in drawn)
    once, again = (break_ties(scores, "random", random_state=3) for _ in range(2))
    assert once.tolist() == again.tolist()


def test_each_column_of_scores_is_broken_on_its_own():
    scores = np.array([[1.0, 2.0], [1.0, 2.0], [-np.inf, 3.0]])
    rank = np.array([[1, 2], [2, 1], [np.nan, 3]])
    found = break_ties(scores, rank)
    assert found.tolist() == [[2, 1], [1, 2], [-np.inf, 3]]
    assert break_ties(scores, ["b", "a", "c"]).tolist() == [
        [1, 1], [2, 2], [-np.inf, 3],
    ]  # fmt: skip


def test_scores_equal_in_32_bits_tie_only_if_that_is_asked_for():
    scores, docno = [1.0, 1.0 + 2.0**-40, 1e300, 2e300], ["a", "b", "d", "c"]
    exact = break_ties(scores, (docno, "descending"))
    assert exact.tolist() == [1, 2, 3, 4]
    official = break_ties(scores, (docno, "ascending", "float32"))
    assert official.tolist() == [2, 1, 3, 4]
    assert break_ties(scores, (docno, "descending", "float32")).tolist() == [1, 2, 4, 3]
    # whole numbers that not even 64 bits tell apart
    large = np.array([2**53 + 1, 2**53, 2**53 + 4, 2**60])
    official = break_ties(large, (docno, "descending", "float32"))
    assert official.tolist() == [1, 2, 3, 4]
    assert break_ties(large, (docno, "descending")).tolist() == [2, 1, 3, 4]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("docno", r"key must be one of \('input', 'random'\), got 'docno'"),
        (([1, 2], "up"), r"key must be one of \('ascending', .* got 'up'"),
        (([1, 2], "ascending", "half"), "key must be one of .* got 'half'"),
        ([1, 2, 3], r"key must have one value per row \(2\), got 3"),
        ([None, "a"], "key must not be missing .* got None in row 0"),
        ([[1, 2], [3, 4]], "key must be 1-dimensional, or .* got shape"),
        (["a", 1], "key must hold numbers only or strings only"),
    ],
)
def test_bad_keys(key, message):
    with pytest.raises(ValueError, match=message):
        break_ties([1, 1], key)


@given(rows, rows)
def test_systems_are_measured_as_if_alone(first, second):
    n = min(len(first), len(second))
    qid, a, docno, labels = map(list, zip(*first[:n], strict=True))
    _, b, _, _ = map(list, zip(*second[:n], strict=True))
    key = (np.array(docno, dtype=object), "descending")
    names = ["expected", "best", "worst", "input", "docno"]
    comparisons = compare_systems(
        labels,
        {"a": a, "b": b},
        qid=qid,
        measure=["ap", "rr"],
        ties=names,
        external={"docno": key},
    )
    assert comparisons.ties == tuple(names)
    assert comparisons.measures == ("AP", "RR")
    for measure in ("AP", "RR"):
        for name in names:
            found = comparisons[measure, name]
            for j, scores in enumerate([a, b]):
                own = break_ties(scores, key, qid=qid) if name == "docno" else scores
                score = functools.partial(
                    ranking_score, labels, own, qid=qid, measure=measure, average=None
                )
                wanted = score(ties="expected" if name == "docno" else name)
                assert found.expected[:, j].tolist() == wanted.tolist()
            if name in ("best", "worst", "input"):
                assert (found.std == 0).all()
                assert found.tie_range[0].tolist() == [found.difference[0]] * 2
    # one of each is a comparison itself
    alone = compare_systems(labels, {"a": a, "b": b}, qid=qid, measure="ap")
    assert (
        alone.difference.tolist() == comparisons["AP", "expected"].difference.tolist()
    )


def test_a_missing_key_names_system_and_query():
    rank = np.array([[1, 1], [2, 2], [1, np.nan], [2, 2]])
    message = (
        r"external\['rank'\] must not be missing where a document is retrieved, "
        r"got nan in row 2, query '7', of system 'b'"
    )
    with pytest.raises(ValueError, match=message):
        compare_systems(
            [1, 0, 1, 0],
            {"a": [1, 1, 1, 1], "b": [1, 1, 1, 1]},
            qid=["1", "1", "7", "7"],
            ties="rank",
            external={"rank": rank},
        )


def test_a_rule_can_have_a_key_for_each_system():
    labels, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    scores, rank = np.ones((4, 2)), np.array([[1, 2], [2, 1], [1, 2], [2, 1]])
    found = compare_systems(
        labels, scores, qid=qid, measure="rr", ties="rank", external={"rank": rank}
    )
    assert found.expected.tolist() == [[1.0, 0.5], [1.0, 0.5]]
    assert found.ties == ("rank",)


def test_a_study_under_a_rule_breaks_exact_and_coarse_ties():
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 2, 300), np.repeat(np.arange(30), 10)
    scores = rng.integers(0, 30, (300, 2)) / 10.0
    docno = rng.permutation(300)
    external = {"docno": (docno, "descending")}
    options = {"qid": qid, "measure": "ap", "coarseness": "decimals=0"}
    found = precision_study(labels, scores, ties="docno", external=external, **options)
    for level, own in enumerate([scores, np.round(scores)]):
        for j in range(2):
            broken = break_ties(own[:, j], external["docno"], qid=qid)
            wanted = evaluate(labels, broken, qid=qid, measures="ap").expected[:, 0]
            assert found.expected[level, :, j].tolist() == wanted.tolist()
    plain = precision_study(labels, scores, **options)
    with_rules = precision_study(labels, scores, external=external, **options)
    assert plain.expected.tolist() == with_rules.expected.tolist()
    assert (plain.ties, found.ties) == ("expected", "docno")


def test_a_tie_report_has_averages_under_rules():
    labels, scores = [0, 1, 1], [1, 1, 1]
    external = {"length": [90, 20, 55]}
    report = tie_report(labels, scores, measures=["rr"], external=external)
    assert report.treatments == ("length", "expected")
    assert report.mean[:, 0].tolist() == [1.0, pytest.approx(5 / 6)]
    assert "length" in str(report)
    frame = report.to_pandas().set_index(["figure", "measure"])["value"]
    assert frame["mean (length)", "RR"] == 1.0
    assert tie_report(labels, scores).treatments == ()
    assert tie_report(labels, scores, ties="worst").treatments == ("worst",)


@pytest.mark.parametrize(
    "function", [compare_systems, precision_study, tie_report], ids=lambda f: f.__name__
)
def test_unknown_treatments(function):
    with pytest.raises(ValueError, match=r"ties must be one of .*'docno'\), got 'x'"):
        function([1, 0], [2, 1], ties="x", external={"docno": [1, 2]})
    with pytest.raises(ValueError, match=r"external must not use .* got 'best'"):
        function([1, 0], [2, 1], external={"best": [1, 2]})


def test_lists_of_runs_agree_with_trec_eval_topic_by_topic(shared_data):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = shared_data / "robust03"
    names = ["input.rutcor03100.gz", "input.MU03rob01.gz", "input.humR03dc.gz"]
    qrels = folder / "qrels.robust03.txt.gz"
    trec = load_trec(qrels, [folder / name for name in names])
    judged = {}
    for topic, document, label in zip(trec.qid, trec.docno, trec.target, strict=True):
        if not np.isnan(label):
            judged.setdefault(topic, {})[document] = int(label)
    external = {"official": (trec.docno, "descending", "float32")}
    found = compare_systems(
        trec.target,
        trec.score,
        qid=trec.qid,
        measure=["ap", "p_10", "ndcg_cut_10"],
        ties="official",
        external=external,
        unjudged="nonrelevant",
    )
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map", "P.10", "ndcg_cut.10"})
    for j in range(len(names)):
        there = np.isfinite(trec.score[:, j])
        run: dict[str, dict[str, float]] = {}
        for topic, document, score in zip(
            trec.qid[there], trec.docno[there], trec.score[there, j], strict=True
        ):
            run.setdefault(topic, {})[document] = float(score)
        wanted = evaluator.evaluate(run)
        for comparison, name in zip(found, ["map", "P_10", "ndcg_cut_10"], strict=True):
            theirs = [wanted.get(topic, {}).get(name, 0.0) for topic in comparison.qid]
            assert comparison.expected[:, j] == pytest.approx(theirs, abs=1e-12)


def test_nul_bytes_tell_keys_apart():
    # arrays of bytes and of strings lose them at the end
    for keys in (
        [b"a", b"a\0", b"a\0\0"],
        ["a", "a\0", "a\0\0"],
        ["a", b"a\0", "a\0\0"],
    ):
        assert break_ties([1, 1, 1], (keys, "descending")).tolist() == [1, 2, 3]


def test_rules_of_a_matrix():
    labels, scores = [[1, 0, 0], [0, 1, 0]], [[1, 1, 1], [2, 1, 1]]
    docno = [["a", "b", "c"], ["c", "b", "a"]]
    found = tie_treatments(
        labels,
        scores,
        measures="rr",
        external={
            "up": docno,
            "down": (docno, "descending"),
            "official": (docno, "descending", "float32"),
            "rows": "input",
        },
    )
    wanted = {"up": [1, 1 / 3], "down": [1 / 3, 1 / 2], "rows": [1, 1 / 2]}
    wanted["official"] = wanted["down"]
    for name, values in wanted.items():
        row = found.treatments.index(name)
        assert found.per_query[row, :, 0].tolist() == values, name


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((["x", "y"], "descending", "float32", 1), "got a tuple of 4 elements"),
        ((["x", "y"], 1), "key must be an array, or a tuple of an array and one of"),
        ((["x", "y"], "desc"), "key must be one of .*, got 'desc'"),
        ((["x", "y"], "descending", "float16"), "key must be one of .*, got 'float16'"),
    ],
)
def test_tuples_that_are_no_rule(key, message):
    with pytest.raises(ValueError, match=message):
        break_ties([1, 1], key)


def test_a_tuple_of_strings_is_a_key():
    assert break_ties([1, 1], ("a", "b")).tolist() == [2, 1]
    assert break_ties([1, 1, 1], ("b", "descending", "a")).tolist() == [2, 1, 3]


@pytest.mark.parametrize("ties", ["best", "input", "id"])
def test_tie_report_treats_judged_documents_alone(ties):
    # nothing is left of the second query, where AP is undefined
    labels, scores = np.array([np.nan, 1, 0, np.nan, 0, 1]), np.ones(6)
    qid, docno = np.array([1, 1, 1, 2, 3, 3]), np.array(list("abcdef"))
    judged = ~np.isnan(labels)

    def report(rows, **options):
        return tie_report(
            labels[rows],
            scores[rows],
            qid=qid[rows],
            measures="ap",
            ties=[ties, "expected"],
            external={"id": (docno[rows], "descending")},
            zero_relevance="skip",
            **options,
        )

    found = report(np.full(6, True), unjudged="drop")
    alone = report(judged)
    assert found.mean.tolist() == alone.mean.tolist()
    assert found.tied_documents == alone.tied_documents
