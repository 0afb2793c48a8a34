"""Ties: reported, broken by rules, and treated side by side."""

from __future__ import annotations

import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import queries
from tieaware_sklearn import (
    break_ties,
    compare_systems,
    evaluate,
    ranking_score,
    tie_report,
    tie_treatments,
)

NAN, INF = math.nan, math.inf
SCORES = [9.8, 9.3, 9.3, 9.3, 8.4, 8.4, 8.2, 8.0, 8.0, 8.0]
LABELS = [0, 0, 1, 1, 0, 0, 1, 0, 0, 1]

# -- the report


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
    assert [tie_report(LABELS, SCORES, k=k).cut_queries for k in (4, 5, 10)] == [
        0,
        1,
        0,
    ]
    assert report.measures == ("P@5", "RR")
    assert report.mean_gap == pytest.approx([0, 1 / 2 - 1 / 3])
    lines = str(report).splitlines()
    assert any(line.split() == ["documents", "tied", "80.0", "%"] for line in lines)
    assert lines[-2].split() == ["P@5", "0.0000", "0.0000"]
    frame = report.to_pandas().set_index(["figure", "measure"])["value"]
    assert frame["tied_documents", ""] == 0.8
    assert frame["mean_gap", "RR"] == report.mean_gap[1]


@settings(max_examples=50)
@given(case=queries(), k=st.integers(1, 5))
def test_equals_counting(engine, case, k):
    labels, scores, qid = case
    weight = [1.0 + query for query in qid]
    data = {"qid": qid, "zero_relevance": "skip", "query_weight": weight}
    data["measures"] = ["ap", "ndcg@3", "fallout@2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = tie_report(labels, scores, k=k, **data)
        summary = evaluate(labels, scores, **data).summary()
    groups: dict[tuple, list[int]] = {}
    for label, score, query in zip(labels, scores, qid, strict=True):
        if score != -INF:
            groups.setdefault((query, score + 0.0), []).append(label)
    documents = sum(map(len, groups.values()))
    n = max(documents, 1)
    tied = [g for g in groups.values() if len(g) > 1]
    assert report.n_queries == len(set(qid))
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
    gaps = np.abs(summary.best - summary.worst)
    np.testing.assert_allclose(report.mean_gap, gaps, rtol=0, atol=1e-12)
    values = evaluate(labels, scores, **data)
    largest = np.fmax.reduce(np.abs(values.best - values.worst))
    np.testing.assert_array_equal(report.largest_gap, largest)


@pytest.mark.parametrize(
    ("scores", "qid", "n"),
    [
        ([0.1 + 0.2, 0.3, 0.3, 5.0, -INF], None, 1),
        (
            np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32),
            None,
            1,
        ),
        # not across queries, not between integers, not where they are equal
        ([0.1 + 0.2, 0.3], [1, 2], 0),
        (np.array([2**60, 2**60 + 1]), None, 0),
        ([0.3, 0.3], None, 0),
        (np.array([1, 1.0001], dtype=np.float32), None, 0),
        (np.array([1e7, 1e7 + 1], dtype=np.float32), None, 0),
        (np.array([1, 1.001], dtype=np.float16), None, 0),
        ([1.7e308, -1.7e308], None, 0),
        # dense scores are near each other by chance
        (np.random.default_rng(0).random(100_000).astype(np.float32), None, 0),
    ],
)
def test_scores_apart_by_rounding_only(scores, qid, n):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = tie_report(np.arange(len(scores)) % 2, scores, qid=qid, measures="p@1")
    assert report.n_nearly_tied == len(caught) == n
    if n:
        assert "neighbouring scores that differ in their last bits only (1 in" in str(
            caught[0].message
        )
    if len(scores) == 5:
        assert "0.3 and 0.30" in str(caught[0].message)


def test_nothing_retrieved():
    report = tie_report([1, 0], [-INF, -INF])
    assert report.n_documents == report.n_distinct_scores == report.tied_documents == 0
    with pytest.raises(ValueError, match="k must be an integer >= 1, got 0"):
        tie_report([0, 1], [1, 2], k=0)


@pytest.mark.parametrize(
    ("options", "treatments", "means"),
    [
        ({}, (), []),
        ({"ties": "worst"}, ("worst",), [1 / 2]),
        ({"external": {"length": [90, 20, 55]}}, ("length", "expected"), [1.0, 5 / 6]),
    ],
)
def test_a_tie_report_has_averages_under_rules(options, treatments, means):
    report = tie_report([0, 1, 1], [1, 1, 1], measures=["rr"], **options)
    assert report.treatments == treatments
    assert report.mean.shape == (len(treatments), 1)
    assert report.mean.ravel().tolist() == pytest.approx(means)
    frame = report.to_pandas().set_index(["figure", "measure"])["value"]
    lines = str(report).splitlines()
    for one, mean in zip(treatments, means, strict=True):
        assert frame[f"mean ({one})", "RR"] == pytest.approx(mean)
        assert [one, f"{mean:.4f}"] in [line.split() for line in lines]


@pytest.mark.parametrize("ties", ["best", "input", "id"])
def test_tie_report_treats_judged_documents_alone(ties):
    # nothing is left of the second query, where AP is undefined
    labels, scores = np.array([NAN, 1, 0, NAN, 0, 1]), np.ones(6)
    qid, docno = np.array([1, 1, 1, 2, 3, 3]), np.array(list("abcdef"))

    def report(rows, **options):
        options |= {"ties": [ties, "expected"], "zero_relevance": "skip"}
        options |= {"qid": qid[rows], "measures": "ap"}
        external = {"id": (docno[rows], "descending")}
        return tie_report(labels[rows], scores[rows], external=external, **options)

    found = report(np.full(6, True), unjudged="drop")
    alone = report(~np.isnan(labels))
    assert found.mean.tolist() == alone.mean.tolist()
    assert found.tied_documents == alone.tied_documents


# -- rules

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


def by_hand(scores, keys, qid, *, reverse):
    """Ranks from the bottom of each query, by comparing two documents at a time."""

    def below(query, score, key, *, own):
        same = query == own[0] and score > -np.inf
        after = key < own[2] if reverse else key > own[2]
        return same and (score < own[1] or (score == own[1] and after))

    places = list(zip(qid, np.add(scores, 0.0).tolist(), keys, strict=True))
    distinct = set(places)
    return [
        1 + sum(below(*other, own=own) for other in distinct)
        if own[1] > -np.inf
        else -np.inf
        for own in places
    ]


@settings(max_examples=60)
@given(rows, st.booleans(), st.randoms(use_true_random=False))
def test_ties_are_broken_by_bytes(cases, descending, random):
    qid, scores, docno, _ = map(list, zip(*cases, strict=True))
    direction = "descending" if descending else "ascending"
    keys = [text.encode("utf-8", "surrogateescape") for text in docno]
    wanted = by_hand(scores, keys, qid, reverse=descending)
    # texts, bytes and objects compare alike
    for same in (docno, keys, np.array(docno, dtype=object)):
        assert break_ties(scores, (same, direction), qid=qid).tolist() == wanted
    # no rule by key depends on the order of rows
    shuffled = random.sample(range(len(cases)), len(cases))
    of_all = np.array(scores), np.array(docno, dtype=object), np.array(qid)
    for direction in ("ascending", "descending", "random"):
        found, again = (
            break_ties(score, (key, direction), qid=query)
            for score, key, query in (of_all, [one[shuffled] for one in of_all])
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


DOCNO = ["a", "b", "d", "c"]
NEAR = [1.0, 1.0 + 2.0**-40, 1e300, 2e300]
# whole numbers that not even 64 bits tell apart
LARGE = np.array([2**53 + 1, 2**53, 2**53 + 4, 2**60])


@pytest.mark.parametrize(
    ("scores", "key", "ranks"),
    [
        # scores equal in 32 bits tie only if that is asked for
        (NEAR, (DOCNO, "descending"), [1, 2, 3, 4]),
        (NEAR, (DOCNO, "ascending", "float32"), [2, 1, 3, 4]),
        (NEAR, (DOCNO, "descending", "float32"), [1, 2, 4, 3]),
        (LARGE, (DOCNO, "descending", "float32"), [1, 2, 3, 4]),
        (LARGE, (DOCNO, "descending"), [2, 1, 3, 4]),
        # NUL bytes tell keys apart: arrays of bytes and of strings lose them
        ([1] * 3, ([b"a", b"a\0", b"a\0\0"], "descending"), [1, 2, 3]),
        ([1] * 3, (["a", "a\0", "a\0\0"], "descending"), [1, 2, 3]),
        ([1] * 3, (["a", b"a\0", "a\0\0"], "descending"), [1, 2, 3]),
        # a tuple of strings is a key
        ([1, 1], ("a", "b"), [2, 1]),
        ([1] * 3, ("b", "descending", "a"), [2, 1, 3]),
        # each column of scores is broken on its own
        ([[1.0, 2.0], [1.0, 2.0], [-INF, 3.0]], [[1, 2], [2, 1], [NAN, 3]],
         [[2, 1], [1, 2], [-INF, 3]]),
        ([[1.0, 2.0], [1.0, 2.0], [-INF, 3.0]], ["b", "a", "c"],
         [[1, 1], [2, 2], [-INF, 3]]),
    ],
)  # fmt: skip
def test_keys_by_hand(scores, key, ranks):
    assert break_ties(scores, key).tolist() == ranks


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("docno", r"key must be one of \('input', 'random'\), got 'docno'"),
        (([1, 2], "up"), r"key must be one of \('ascending', .* got 'up'"),
        (([1, 2], "ascending", "half"), "key must be one of .*'float32'.* got 'half'"),
        (([1, 2], "descending", "float32", 1), "key .* got a tuple of 4 elements"),
        (([1, 2], 1), "key must be an array, or a tuple of an array and one of"),
        ([1, 2, 3], r"key must have one value per row \(2\), got 3"),
        ([None, "a"], "key must not be missing .* got None in row 0$"),
        ([[1, 2], [3, 4]], r"key must be 1-dim.*\(n_documents,\), got shape \(2, 2\)"),
        (["a", 1], r"key must hold numbers only or strings only, got \['a', 1\]"),
        ([1, {}], "key must hold numbers only or strings only: "),
    ],
)
def test_bad_keys(key, message):
    with pytest.raises(ValueError, match=message):
        break_ties([1, 1], key)


def test_systems_are_measured_as_if_alone():
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 2, 60), np.repeat(range(12), 5)
    systems = dict(zip("ab", rng.integers(0, 3, (2, 60)), strict=True))
    external = {"docno": (rng.permutation(60), "descending")}
    names = ["expected", "best", "worst", "input", "docno"]
    options = {"qid": qid, "measure": "ap"}
    for name, found in zip(
        names,
        compare_systems(labels, systems, ties=names, external=external, **options),
        strict=True,
    ):
        for j, scores in enumerate(systems.values()):
            broken, ties = scores, name
            if name == "docno":
                broken, ties = break_ties(scores, external[name], qid=qid), "expected"
            wanted = ranking_score(labels, broken, ties=ties, average=None, **options)
            assert found.expected[:, j].tolist() == wanted.tolist()
        if name in ("best", "worst", "input"):
            assert (found.std == 0).all()
            assert found.tie_range[0].tolist() == [found.difference[0]] * 2


def test_a_rule_can_have_a_key_for_each_system():
    labels, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    rank = np.array([[1, 2], [2, 1], [1, 2], [2, 1.0]])
    options = {"qid": qid, "measure": "rr", "ties": "rank"}
    found = compare_systems(labels, np.ones((4, 2)), external={"rank": rank}, **options)
    assert found.expected.tolist() == [[1.0, 0.5], [1.0, 0.5]]
    assert found.ties == ("rank",)
    rank[2, 1] = NAN
    systems = {"a": [1] * 4, "b": [1] * 4}
    with pytest.raises(
        ValueError,
        match=r"external\['rank'\] must not be missing where a document is retrieved, "
        r"got nan in row 2, query 2, of system 'b'",
    ):
        compare_systems(labels, systems, external={"rank": rank}, **options)


# -- treatments


def test_treatments_side_by_side():
    labels, scores, qid = [0, 1, 1, 0, 1], [1, 1, 1, 2, 2], [1, 1, 1, 2, 2]
    found = tie_treatments(
        labels,
        scores,
        qid=qid,
        measures=["rr", "p@1"],
        external={
            "url": (["c", "a", "b", "x", "y"], "descending"),
            "length": np.array([5, 5, 7, 2, 1]),
        },
    )
    rows = dict(zip(found.treatments, found.per_query[:, :, 0].tolist(), strict=True))
    assert rows == {
        "input": [1 / 2, 1 / 2],
        "url": [1 / 2, 1],
        # equal lengths are still tied: 1 or 1/2
        "length": [3 / 4, 1],
        "best": [1, 1],
        "worst": [1 / 2, 1 / 2],
        "expected": [pytest.approx(5 / 6), 3 / 4],
    }
    assert found.treatments == ("input", "url", "length", "best", "worst", "expected")
    assert found.mean[0].tolist() == [1 / 2, 0]
    assert found.to_pandas().set_index("treatment").loc["url", "RR"] == 3 / 4
    assert len({len(line) for line in str(found).splitlines()}) == 1


def test_rules_of_a_matrix():
    labels, scores = [[1, 0, 0], [0, 1, 0]], [[1, 1, 1], [2, 1, 1]]
    docno = [["a", "b", "c"], ["c", "b", "a"]]
    external = {
        "up": docno,
        "down": (docno, "descending"),
        "official": (docno, "descending", "float32"),
        "rows": "input",
    }
    found = tie_treatments(labels, scores, measures="rr", external=external)
    rows = dict(zip(found.treatments, found.per_query[:, :, 0].tolist(), strict=True))
    wanted = {"up": [1, 1 / 3], "down": [1 / 3, 1 / 2], "rows": [1, 1 / 2]}
    wanted["official"] = wanted["down"]
    assert wanted.items() <= rows.items()


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ({"expected": [1, 2]}, "external must not use the name of .* got 'expected'"),
        ({"a": [1, 2, 3]}, r"external\['a'\] must have one value per row \(2\), got 3"),
        ({"a": [1, NAN]}, r"external\['a'\] must not be missing .* got nan in row 1"),
        ({"a": ([1, 2], "down")}, r"external\['a'\] must be one of .* got 'down'"),
        ({"a": [[1, 2]]}, r"external\['a'\] must be 1-dimensional"),
        ([1, 2], r"external must map names to keys, got \[1, 2\]"),
        ({1: [1, 2]}, "external must map names to keys"),
    ],
)
def test_bad_external_rules(external, message):
    for function in (tie_treatments, tie_report):
        with pytest.raises(ValueError, match=message):
            function([0, 1], [1, 1], external=external)


@pytest.mark.parametrize("function", [compare_systems, tie_report])
def test_unknown_treatments(function):
    with pytest.raises(ValueError, match=r"ties must be one of .*'docno'\), got 'x'"):
        function([1, 0], [2, 1], ties="x", external={"docno": [1, 2]})


@pytest.mark.parametrize(
    "options",
    [
        {"zero_relevance": 0.25, "query_weight": [1, 1, 3, 3, 1, 1]},
        {"zero_relevance": "skip"},
        {"convention": "catboost"},
        {"unjudged": "nonrelevant", "labels": [1, NAN, 0, NAN, 2, 0]},
    ],
)
def test_options_are_those_of_ranking_score(engine, options):
    data = {"labels": [1, 0, 0, 0, 2, 0], **options}
    labels, qid, scores = data.pop("labels"), [1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 1, 1]
    found = tie_treatments(labels, scores, qid=qid, measures=["ap@1"], **data)
    wanted = [
        ranking_score(labels, scores, qid=qid, measure="ap@1", ties=ties, **data)
        for ties in found.treatments
    ]
    assert found.mean.ravel().tolist() == wanted
