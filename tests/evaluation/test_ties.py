"""Ties: reported, broken by rules, and treated side by side."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieaware_sklearn as ta
from tests.strategies import queries

NAN, INF = math.nan, math.inf

# -- the report


def test_a_report_prints_and_becomes_a_data_frame():
    tied = {"y_true": [0, 1, 1], "y_score": [1, 1, 1], "measures": ["rr"]}
    report = ta.tie_report(**tied)
    frame = report.to_pandas().set_index(["figure", "measure"])["value"]
    assert (frame["tied_documents", ""], frame["mean_gap", "RR"]) == (1, 1 / 2)
    lines = [line.split() for line in str(report).splitlines()]
    rows = [
        ["queries", "1"],
        ["documents", "tied", "100.0", "%"],
        ["RR", "0.5000", "0.5000"],
    ]
    assert [line for line in lines if line in rows] == rows


@settings(max_examples=40)
@given(case=queries(), k=st.integers(1, 5))
@pytest.mark.filterwarnings("ignore")
def test_figures_equal_counting(engine, case, k):
    labels, scores, qid = case
    data = {"qid": qid, "zero_relevance": "skip", "measures": ["ap", "fallout@2"]}
    data["query_weight"] = [1.0 + query for query in qid]
    report = ta.tie_report(labels, scores, k=k, **data)
    groups = {query: defaultdict(list) for query in qid}
    for label, score, query in zip(labels, scores, qid, strict=True):
        if score != -INF:
            groups[query][score + 0.0].append(label)
    every = [group for own in groups.values() for group in own.values()]
    tied, n = [g for g in every if len(g) > 1], max(sum(map(len, every)), 1)
    with_ties = cut = 0
    for own in groups.values():
        with_ties += any(len(group) > 1 for group in own.values())
        ends = np.cumsum([0, *(len(own[score]) for score in sorted(own)[::-1])])
        cut += k < ends[-1] and k not in ends
    expected = {
        "n_queries": len(groups),
        "n_documents": sum(map(len, every)),
        "n_distinct_scores": len({score for own in groups.values() for score in own}),
        "tied_documents": sum(map(len, tied)) / n,
        "mixed_documents": sum(len(g) for g in tied if len(set(g)) > 1) / n,
        "repeated_documents": sum(len(g) - 1 for g in tied) / n,
        "largest_group": max(map(len, every), default=0),
        "tied_queries": with_ties / len(groups),
        "cut_queries": cut / len(groups),
    }
    assert {name: getattr(report, name) for name in expected} == expected
    values = ta.evaluate(labels, scores, **data)
    gaps = np.abs(values.summary().best - values.summary().worst)
    np.testing.assert_allclose(report.mean_gap, gaps, rtol=0, atol=1e-12)
    largest = np.fmax.reduce(np.abs(values.best - values.worst))
    np.testing.assert_array_equal(report.largest_gap, largest)


# -- rules

rows = st.lists(
    st.tuples(
        st.sampled_from(["q", "r", "s"]),
        st.sampled_from([-np.inf, -1.0, 0.0, -0.0, 2.5]),
        st.text(alphabet="a\0é\uffff\U0001f600\udc80", max_size=2),
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
    return [
        1 + sum(below(*other, own=own) for other in set(places))
        if own[1] > -np.inf
        else -np.inf
        for own in places
    ]


@settings(max_examples=40)
@given(rows, st.booleans(), st.randoms(use_true_random=False))
def test_ties_are_broken_by_bytes(cases, descending, random):
    qid, scores, docno = map(list, zip(*cases, strict=True))
    direction = "descending" if descending else "ascending"
    keys = [text.encode("utf-8", "surrogateescape") for text in docno]
    wanted = by_hand(scores, keys, qid, reverse=descending)
    # texts, bytes and objects compare alike
    for same in (docno, keys, np.array(docno, dtype=object)):
        assert ta.break_ties(scores, (same, direction), qid=qid).tolist() == wanted
    # no rule by key depends on the order of rows
    shuffled = random.sample(range(len(cases)), len(cases))
    of_all = np.array(scores), np.array(docno, dtype=object), np.array(qid)
    for direction in ("ascending", "descending", "random"):
        found, again = (
            ta.break_ties(score, (key, direction), qid=query)
            for score, key, query in (of_all, [one[shuffled] for one in of_all])
        )
        assert again.tolist() == found[shuffled].tolist()


def test_input_order_and_a_random_one():
    scores = [1, 1, 2, 1]
    assert ta.break_ties(scores, "input").tolist() == [3, 2, 4, 1]
    drawn = [tuple(ta.break_ties(scores, "random", random_state=i)) for i in range(100)]
    assert len(set(drawn)) == 6
    assert all(ranks[2] == 4 for ranks in drawn)
    assert tuple(ta.break_ties(scores, "random", random_state=3)) == drawn[3]


DOCNO = ["a", "b", "d", "c"]
NEAR = [1.0, 1.0 + 2.0**-40, 1e300, 2e300]
# whole numbers that not even 64 bits tell apart
LARGE = np.array([2**53 + 1, 2**53, 2**53 + 4, 2**60])
COLUMNS = [[1.0, 2.0], [1.0, 2.0], [-INF, 3.0]]


@pytest.mark.parametrize(("scores", "key", "ranks"), [
    # scores equal in 32 bits tie only if that is asked for
    (NEAR, (DOCNO, "descending"), [1, 2, 3, 4]),
    (NEAR, (DOCNO, "ascending", "float32"), [2, 1, 3, 4]),
    (NEAR, (DOCNO, "descending", "float32"), [1, 2, 4, 3]),
    (LARGE, (DOCNO, "descending", "float32"), [1, 2, 3, 4]),
    (LARGE, (DOCNO, "descending"), [2, 1, 3, 4]),
    # NUL bytes tell keys apart: arrays of bytes and of strings lose them
    ([1] * 3, (["a", b"a\0", "a\0\0"], "descending"), [1, 2, 3]),
    # a tuple of strings is a key
    ([1, 1], ("a", "b"), [2, 1]),
    ([1] * 3, ("b", "descending", "a"), [2, 1, 3]),
    # each column of scores is broken on its own
    (COLUMNS, [[1, 2], [2, 1], [NAN, 3]], [[2, 1], [1, 2], [-INF, 3]]),
    (COLUMNS, ["b", "a", "c"], [[1, 1], [2, 2], [-INF, 3]]),
])  # fmt: skip
def test_keys_by_hand(scores, key, ranks):
    assert ta.break_ties(scores, key).tolist() == ranks


def test_systems_are_measured_as_if_alone():
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 2, 60), np.repeat(range(12), 5)
    systems = dict(zip("ab", rng.integers(0, 3, (2, 60)), strict=True))
    keys = {"docno": rng.permutation(60), "each": rng.permutation(120).reshape(60, 2)}
    names = ["expected", "best", "worst", "input", *keys]
    options = {"qid": qid, "measure": "ap"}
    found = ta.compare_systems(labels, systems, ties=names, external=keys, **options)
    for name, comparison in zip(names, found, strict=True):
        assert comparison.ties == (name,)
        for j, scores in enumerate(systems.values()):
            broken, ties = scores, name
            if name in keys:
                key = keys[name][:, j] if name == "each" else keys[name]
                broken, ties = ta.break_ties(scores, key, qid=qid), "expected"
            wanted = ta.ranking_score(
                labels, broken, ties=ties, average=None, **options
            )
            assert comparison.expected[:, j].tolist() == wanted.tolist()
        if name in ("best", "worst", "input"):
            assert (comparison.std == 0).all()
            assert comparison.tie_range[0].tolist() == [comparison.difference[0]] * 2


# -- treatments


def rows_of(found):
    """The values of the first measure by treatment and query."""
    values = found.per_query[:, :, 0].tolist()
    return dict(zip(found.treatments, values, strict=True))


def test_treatments_side_by_side():
    labels, scores, qid = [0, 1, 1, 0, 1], [1, 1, 1, 2, 2], [1, 1, 1, 2, 2]
    url = (["c", "a", "b", "x", "y"], "descending")
    options = {"external": {"url": url, "length": np.array([5, 5, 7, 2, 1])}}
    options["measures"] = ["rr", "p@1"]
    found = ta.tie_treatments(labels, scores, qid=qid, **options)
    assert rows_of(found) == {
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
    docno = [["a", "b", "c"], ["c", "b", "a"]]
    external = {"up": docno, "official": (docno, "descending", "float32")}
    found = ta.tie_treatments(
        [[1, 0, 0], [0, 1, 0]], [[1, 1, 1], [2, 1, 1]], measures="rr",
        external=external | {"rows": "input"},
    )  # fmt: skip
    wanted = {"up": [1, 1 / 3], "official": [1 / 3, 1 / 2], "rows": [1, 1 / 2]}
    assert wanted.items() <= rows_of(found).items()


def rule(key):
    return lambda: ta.break_ties([1, 1], key)


def treated(external):
    return lambda: ta.tie_treatments([0, 1], [1, 1], external=external)


def compared(**options):
    systems = {"a": [1] * 2, "b": [1] * 2}
    return lambda: ta.compare_systems([1, 0], systems, qid=[1, 2], **options)


@pytest.mark.parametrize(("call", "message"), [
    (rule("docno"), r"key must be one of \('input', 'random'\), got 'docno'"),
    (rule(([1, 2], "up")), r"key must be one of \('ascending', .* got 'up'"),
    (rule(([1, 2], "ascending", "half")), "key must .*'float32'.* got 'half'"),
    (rule(([1, 2], "descending", "float32", 1)), "key .* a tuple of 4 elements"),
    (rule(([1, 2], 1)), r"key must be an array, .*got \(\[1, 2\], 1\)"),
    (rule([1, 2, 3]), r"key must have one value per row \(2\), got 3"),
    (rule([None, "a"]), "key must not be missing .* got None in row 0$"),
    (rule([[1, 2], [3, 4]]), r"key .*1-dim.*\(n_documents,\), got .*\(2, 2\)"),
    (rule(["a", 1]), r"key must hold numbers only or strings only, got \['a', 1\]"),
    (rule([1, {}]), "key must hold numbers only or strings only: "),
    (treated({"expected": [1, 2]}), "external must not use .* got 'expected'"),
    (treated({"a": [1, 2, 3]}), r"external\['a'\] must have one .*\(2\), got 3"),
    (treated({"a": [1, NAN]}), r"external\['a'\] .*missing .* got nan in row 1"),
    (treated({"a": ([1, 2], "down")}), r"\['a'\] must be one of .* got 'down'"),
    (treated([1, 2]), r"external must map names to keys, got \[1, 2\]"),
    (compared(ties="x", external={"docno": [1, 2]}),
     r"ties must be one of .*'docno'\), got 'x'"),
    (compared(ties="rank", external={"rank": [[1, 2], [1, NAN]]}),
     r"external\['rank'\] must not be missing where a document is retrieved, "
     "got nan in row 1, query 2, of system 'b'"),
    (compared(ties="rank", external={"rank": np.ones((2, 3))}),
     r"1-dimensional, .*\(n_documents, n_systems\), got shape \(2, 3\)"),
    (treated({1: [1, 2]}), "external must map names to keys, got {1:"),
    (lambda: ta.tie_report([0, 1], [1, 2], k=0), "k must be an integer >= 1, got 0"),
])  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("options", [
    {"zero_relevance": 0.25, "query_weight": [1, 1, 3, 3, 1, 1]},
    {"zero_relevance": "skip"},
    {"convention": "catboost"},
    {"unjudged": "nonrelevant", "y_true": [1, NAN, 0, NAN, 2, 0]},
])  # fmt: skip
def test_options_are_those_of_ranking_score(options):
    data = {"y_true": [1, 0, 0, 0, 2, 0], "y_score": [1, 1, 2, 2, 1, 1], **options}
    data["qid"] = [1, 1, 2, 2, 3, 3]
    found = ta.tie_treatments(measures=["ap@1"], **data)
    for ties, mean in zip(found.treatments, found.mean.ravel(), strict=True):
        assert mean == ta.ranking_score(measure="ap@1", ties=ties, **data)
