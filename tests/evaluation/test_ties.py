"""Tests of reports on ties, of breaking ties, and of treatments of ties."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieaware_sklearn as ta
from tests.strategies import queries

NAN = math.nan
INF = math.inf

# -- reports


def test_a_report_prints_and_becomes_a_data_frame():
    labels = [0, 1, 1]
    report = ta.tie_report(labels, [1, 1, 1], measures="rr")
    frame = report.to_pandas().set_index(["figure", "measure"])
    assert frame.loc[("tied_documents", ""), "value"] == 1
    assert frame.loc[("mean_gap", "RR"), "value"] == 1 / 2
    lines = [line.split() for line in str(report).splitlines()]
    queries = lines.index(["queries", "1"])
    tied = lines.index(["documents", "tied", "100.0%"])
    gap = lines.index(["RR", "0.5000", "0.5000"])
    assert queries < tied < gap


def tie_groups(labels, scores, qid):
    """Return the labels of the retrieved documents by query and score."""
    groups = {query: defaultdict(list) for query in qid}
    for label, score, query in zip(labels, scores, qid, strict=True):
        if score != -INF:
            groups[query][score + 0.0].append(label)
    return groups


@settings(max_examples=40)
@given(case=queries(), k=st.integers(1, 5))
@pytest.mark.filterwarnings("ignore")
def test_figures_equal_counting(engine, case, k):
    labels, scores, qid = case
    data = {"qid": qid, "zero_relevance": "skip"}
    data["measures"] = ["ap", "fallout@2"]
    data["query_weight"] = [1.0 + query for query in qid]
    report = ta.tie_report(labels, scores, k=k, **data)
    groups = tie_groups(labels, scores, qid)
    n_documents = largest = tied = mixed = repeated = tied_queries = cut_queries = 0
    distinct = set()
    for by_score in groups.values():
        ends = [0]
        has_ties = False
        for score in sorted(by_score, reverse=True):
            group = by_score[score]
            n = len(group)
            distinct.add(score)
            ends.append(ends[-1] + n)
            largest = max(largest, n)
            if n > 1:
                has_ties = True
                tied += n
                repeated += n - 1
                if len(set(group)) > 1:
                    mixed += n
        n_documents += ends[-1]
        tied_queries += has_ties
        cut_queries += k < ends[-1] and k not in ends
    assert report.n_queries == len(groups)
    assert report.n_documents == n_documents
    assert report.n_distinct_scores == len(distinct)
    assert report.tied_documents == tied / max(n_documents, 1)
    assert report.mixed_documents == mixed / max(n_documents, 1)
    assert report.repeated_documents == repeated / max(n_documents, 1)
    assert report.largest_group == largest
    assert report.tied_queries == tied_queries / len(groups)
    assert report.cut_queries == cut_queries / len(groups)
    values = ta.evaluate(labels, scores, **data)
    summary = values.summary()
    gaps = np.abs(summary.best - summary.worst)
    np.testing.assert_allclose(report.mean_gap, gaps, rtol=0, atol=1e-12)
    gaps_of_queries = np.abs(values.best - values.worst)
    largest_gap = np.fmax.reduce(gaps_of_queries)
    np.testing.assert_array_equal(report.largest_gap, largest_gap)


# -- ties broken by keys

QUERY_IDS = st.sampled_from(["q", "r", "s"])
FEW_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, -0.0, 2.5])
KEYS = st.text(alphabet="a\0é\uffff\U0001f600\udc80", max_size=2)
ROWS = st.lists(st.tuples(QUERY_IDS, FEW_SCORES, KEYS), min_size=1, max_size=12)


def ranks_from_the_bottom(scores, keys, qid, *, reverse):
    """Return the ranks in each query, by comparing two documents at a time."""
    scores = [score + 0.0 for score in scores]
    documents = list(zip(qid, scores, keys, strict=True))
    ranks = []
    for query, score, key in documents:
        rank = 1
        for other_query, other_score, other_key in set(documents):
            if other_query != query or other_score == -np.inf:
                continue
            is_below = other_key < key if reverse else other_key > key
            if other_score < score or (other_score == score and is_below):
                rank += 1
        ranks.append(rank if score > -np.inf else -np.inf)
    return ranks


@settings(max_examples=40)
@given(ROWS, st.booleans(), st.randoms(use_true_random=False))
def test_ties_are_broken_by_bytes(cases, descending, random):
    qid, scores, docno = map(list, zip(*cases, strict=True))
    direction = "descending" if descending else "ascending"
    keys = [text.encode("utf-8", "surrogateescape") for text in docno]
    expected = ranks_from_the_bottom(scores, keys, qid, reverse=descending)
    objects = np.array(docno, dtype=object)
    # Texts, bytes and objects have the same order.
    for key in (docno, keys, objects):
        ranks = ta.break_ties(scores, (key, direction), qid=qid)
        assert ranks.tolist() == expected
    # Ranks by a key do not depend on the order of rows.
    n = len(cases)
    order = random.sample(range(n), n)
    scores = np.array(scores)
    qid = np.array(qid)
    for direction in ("ascending", "descending", "random"):
        ranks = ta.break_ties(scores, (objects, direction), qid=qid)
        shuffled_key = (objects[order], direction)
        shuffled = ta.break_ties(scores[order], shuffled_key, qid=qid[order])
        assert shuffled.tolist() == ranks[order].tolist()


def test_ties_are_broken_by_input_order_or_at_random():
    scores = [1, 1, 2, 1]
    ranks = ta.break_ties(scores, "input")
    assert ranks.tolist() == [3, 2, 4, 1]
    drawn = []
    for seed in range(100):
        ranks = ta.break_ties(scores, "random", random_state=seed)
        assert ranks[2] == 4
        drawn.append(tuple(ranks))
    assert len(set(drawn)) == 6
    again = ta.break_ties(scores, "random", random_state=3)
    assert tuple(again) == drawn[3]


DOCNO = ["a", "b", "d", "c"]
NEAR = [1.0, 1.0 + 2.0**-40, 1e300, 2e300]
# 64-bit floats do not tell these integers apart.
LARGE = np.array([2**53 + 1, 2**53, 2**53 + 4, 2**60])
COLUMNS = [[1.0, 2.0], [1.0, 2.0], [-INF, 3.0]]
RANKS_BY_KEY = [
    # Scores that are equal in 32 bits tie only with "float32".
    (NEAR, (DOCNO, "descending"), [1, 2, 3, 4]),
    (NEAR, (DOCNO, "ascending", "float32"), [2, 1, 3, 4]),
    (NEAR, (DOCNO, "descending", "float32"), [1, 2, 4, 3]),
    (LARGE, (DOCNO, "descending", "float32"), [1, 2, 3, 4]),
    (LARGE, (DOCNO, "descending"), [2, 1, 3, 4]),
    # Keys differ by NUL bytes, which arrays of bytes and of strings drop.
    ([1] * 3, (["a", b"a\0", "a\0\0"], "descending"), [1, 2, 3]),
    # A tuple of strings is a key.
    ([1, 1], ("a", "b"), [2, 1]),
    ([1] * 3, ("b", "descending", "a"), [2, 1, 3]),
    # The ties of each column of scores are broken on their own.
    (COLUMNS, [[1, 2], [2, 1], [NAN, 3]], [[2, 1], [1, 2], [-INF, 3]]),
    (COLUMNS, ["b", "a", "c"], [[1, 1], [2, 2], [-INF, 3]]),
]


@pytest.mark.parametrize(("scores", "key", "ranks"), RANKS_BY_KEY)
def test_keys_by_hand(scores, key, ranks):
    assert ta.break_ties(scores, key).tolist() == ranks


def test_systems_are_measured_as_if_alone():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    scores = rng.integers(0, 3, (2, 60))
    systems = dict(zip("ab", scores, strict=True))
    qid = np.repeat(range(12), 5)
    keys = {"docno": rng.permutation(60)}
    keys["each"] = rng.permutation(120).reshape(60, 2)
    names = ["expected", "best", "worst", "input", *keys]
    options = {"qid": qid, "measure": "ap"}
    comparisons = ta.compare_systems(
        labels, systems, ties=names, external=keys, **options
    )
    options["average"] = None
    for name, comparison in zip(names, comparisons, strict=True):
        assert comparison.ties == (name,)
        for j, column in enumerate(scores):
            ties = name
            if name in keys:
                key = keys[name]
                if name == "each":
                    key = key[:, j]
                column = ta.break_ties(column, key, qid=qid)
                ties = "expected"
            values = ta.ranking_score(labels, column, ties=ties, **options)
            expected = comparison.expected[:, j]
            assert expected.tolist() == values.tolist()
        if name in ("best", "worst", "input"):
            assert (comparison.std == 0).all()
            difference = comparison.difference[0]
            assert (comparison.tie_range[0] == difference).all()


# -- treatments


def values_by_treatment(result):
    """Return the values per query of the first measure, by treatment."""
    values = result.per_query[:, :, 0].tolist()
    return dict(zip(result.treatments, values, strict=True))


def test_treatments_side_by_side():
    labels = [0, 1, 1, 0, 1]
    scores = [1, 1, 1, 2, 2]
    qid = [1, 1, 1, 2, 2]
    url = (["c", "a", "b", "x", "y"], "descending")
    external = {"url": url}
    external["length"] = np.array([5, 5, 7, 2, 1])
    options = {"qid": qid, "measures": ["rr", "p@1"]}
    result = ta.tie_treatments(labels, scores, external=external, **options)
    names = ("input", "url", "length", "best", "worst", "expected")
    assert result.treatments == names
    values = values_by_treatment(result)
    assert values["input"] == [1 / 2, 1 / 2]
    assert values["url"] == [1 / 2, 1]
    # Documents of equal length stay tied: the value is 1 or 1/2.
    assert values["length"] == [3 / 4, 1]
    assert values["best"] == [1, 1]
    assert values["worst"] == [1 / 2, 1 / 2]
    assert values["expected"] == [pytest.approx(5 / 6), 3 / 4]
    mean_in_input_order = result.mean[0].tolist()
    assert mean_in_input_order == [1 / 2, 0]
    frame = result.to_pandas().set_index("treatment")
    assert frame.loc["url", "RR"] == 3 / 4
    lines = str(result).splitlines()
    widths = {len(line) for line in lines}
    assert len(widths) == 1


def test_rules_of_a_matrix():
    labels = [[1, 0, 0], [0, 1, 0]]
    scores = [[1, 1, 1], [2, 1, 1]]
    docno = [["a", "b", "c"], ["c", "b", "a"]]
    official = (docno, "descending", "float32")
    external = {"up": docno, "official": official, "rows": "input"}
    result = ta.tie_treatments(labels, scores, measures="rr", external=external)
    values = values_by_treatment(result)
    assert values["up"] == [1, 1 / 3]
    assert values["official"] == [1 / 3, 1 / 2]
    assert values["rows"] == [1, 1 / 2]


BAD_KEYS = [
    ("docno", r"key, if a string, must be one of \('input', 'random'\), got 'docno'"),
    (([1, 2], "up"), r"the direction in key must be one of \('ascending', .* got 'up'"),
    (([1, 2], "ascending", "half"), "key must .*'float32'.* got 'half'"),
    (([1, 2], "descending", "float32", 1), "key, if a tuple, .* got 4"),
    (([1, 2], 1), r"key must be 'input', .*an array, .*got \(\[1, 2\], 1\)"),
    ([1, 2, 3], r"key must have one value per row \(2\), got 3"),
    ([None, "a"], "key must not be missing .* got None in row 0$"),
    ([[1, 2], [3, 4]], r"key .*1-dim.*\(n_documents,\), got .*\(2, 2\)"),
    (["a", 1], r"key must contain only numbers or only strings, got \['a', 1\]"),
    ([1, {}], "key must contain only numbers or only strings: "),
]


@pytest.mark.parametrize(("key", "message"), BAD_KEYS)
def test_bad_keys(key, message):
    with pytest.raises(ValueError, match=message):
        ta.break_ties([1, 1], key)


BAD_KEYS_OF_TREATMENTS = [
    ({"expected": [1, 2]}, "external must not use .* got 'expected'"),
    ({"a": [1, 2, 3]}, r"external\['a'\] must have one .*\(2\), got 3"),
    ({"a": [1, NAN]}, r"external\['a'\] .*missing .* got nan in row 1"),
    ({"a": ([1, 2], "down")}, r"\['a'\] must be one of .* got 'down'"),
    ([1, 2], r"external must map names to keys, got \[1, 2\]"),
    ({1: [1, 2]}, "external must map names to keys, got {1:"),
]


@pytest.mark.parametrize(("external", "message"), BAD_KEYS_OF_TREATMENTS)
def test_bad_external_keys_of_treatments(external, message):
    with pytest.raises(ValueError, match=message):
        ta.tie_treatments([0, 1], [1, 1], external=external)


BAD_KEYS_OF_SYSTEMS = [
    ([1, 2], "x", r"ties must be one of .*'rank'\), got 'x'"),
    (
        [[1, 2], [1, NAN]],
        "rank",
        r"external\['rank'\] must not be missing where a document is retrieved, "
        "got nan in row 1, query 2, of system 'b'",
    ),
    (
        np.ones((2, 3)),
        "rank",
        r"1-dimensional, .*\(n_documents, n_systems\), got shape \(2, 3\)",
    ),
]


@pytest.mark.parametrize(("key", "ties", "message"), BAD_KEYS_OF_SYSTEMS)
def test_bad_external_keys_of_systems(key, ties, message):
    systems = {"a": [1, 1], "b": [1, 1]}
    options = {"ties": ties, "external": {"rank": key}}
    options["qid"] = [1, 2]
    with pytest.raises(ValueError, match=message):
        ta.compare_systems([1, 0], systems, **options)


def test_a_report_refuses_a_cut_off_of_0():
    with pytest.raises(ValueError, match="k must be an integer >= 1, got 0"):
        ta.tie_report([0, 1], [1, 2], k=0)


OPTIONS = [
    {"zero_relevance": 0.25, "query_weight": [1, 1, 3, 3, 1, 1]},
    {"zero_relevance": "skip"},
    {"convention": "catboost"},
    {"unjudged": "nonrelevant", "y_true": [1, NAN, 0, NAN, 2, 0]},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_treatments_take_the_options_of_ranking_score(options):
    data = {"y_true": [1, 0, 0, 0, 2, 0]}
    data["y_score"] = [1, 1, 2, 2, 1, 1]
    data["qid"] = [1, 1, 2, 2, 3, 3]
    data.update(options)
    result = ta.tie_treatments(measures="ap@1", **data)
    for i, ties in enumerate(result.treatments):
        expected = ta.ranking_score(measure="ap@1", ties=ties, **data)
        assert result.mean[i, 0] == expected
