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
    report = ta.tie_report([0, 1, 1], [1, 1, 1], measures=["rr"])
    frame = report.to_pandas().set_index(["figure", "measure"])
    assert frame.loc[("tied_documents", ""), "value"] == 1
    assert frame.loc[("mean_gap", "RR"), "value"] == 1 / 2
    lines = [line.split() for line in str(report).splitlines()]
    queries = lines.index(["queries", "1"])
    tied = lines.index(["documents", "tied", "100.0", "%"])
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
    data = {"qid": qid, "zero_relevance": "skip", "measures": ["ap", "fallout@2"]}
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
    largest_gap = np.fmax.reduce(np.abs(values.best - values.worst))
    np.testing.assert_array_equal(report.largest_gap, largest_gap)


# -- rules

QUERY_IDS = st.sampled_from(["q", "r", "s"])
FEW_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, -0.0, 2.5])
KEYS = st.text(alphabet="a\0é\uffff\U0001f600\udc80", max_size=2)
ROWS = st.lists(st.tuples(QUERY_IDS, FEW_SCORES, KEYS), min_size=1, max_size=12)


def ranks_from_the_bottom(scores, keys, qid, *, reverse):
    """Return the ranks in each query, by comparing two documents at a time."""
    documents = list(zip(qid, np.add(scores, 0.0).tolist(), keys, strict=True))
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
    # texts, bytes and objects compare alike
    for key in (docno, keys, objects):
        ranks = ta.break_ties(scores, (key, direction), qid=qid)
        assert ranks.tolist() == expected
    # no rule by key depends on the order of rows
    order = random.sample(range(len(cases)), len(cases))
    scores, qid = np.array(scores), np.array(qid)
    for direction in ("ascending", "descending", "random"):
        ranks = ta.break_ties(scores, (objects, direction), qid=qid)
        shuffled_key = (objects[order], direction)
        shuffled = ta.break_ties(scores[order], shuffled_key, qid=qid[order])
        assert shuffled.tolist() == ranks[order].tolist()


def test_input_order_and_a_random_one():
    scores = [1, 1, 2, 1]
    assert ta.break_ties(scores, "input").tolist() == [3, 2, 4, 1]
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
    labels = rng.integers(0, 2, 60)
    a, b = rng.integers(0, 3, (2, 60))
    options = {"qid": np.repeat(range(12), 5), "measure": "ap"}
    keys = {"docno": rng.permutation(60), "each": rng.permutation(120).reshape(60, 2)}
    names = ["expected", "best", "worst", "input", *keys]
    comparisons = ta.compare_systems(
        labels, {"a": a, "b": b}, ties=names, external=keys, **options
    )
    for name, comparison in zip(names, comparisons, strict=True):
        assert comparison.ties == (name,)
        for j, scores in enumerate((a, b)):
            ties = name
            if name in keys:
                key = keys[name]
                if name == "each":
                    key = key[:, j]
                scores = ta.break_ties(scores, key, qid=options["qid"])
                ties = "expected"
            values = ta.ranking_score(
                labels, scores, ties=ties, average=None, **options
            )
            assert comparison.expected[:, j].tolist() == values.tolist()
        if name in ("best", "worst", "input"):
            assert (comparison.std == 0).all()
            difference = comparison.difference[0]
            assert comparison.tie_range[0].tolist() == [difference, difference]


# -- treatments


def values_by_treatment(result):
    """Return the values per query of the first measure, by treatment."""
    values = result.per_query[:, :, 0].tolist()
    return dict(zip(result.treatments, values, strict=True))


def test_treatments_side_by_side():
    labels, scores, qid = [0, 1, 1, 0, 1], [1, 1, 1, 2, 2], [1, 1, 1, 2, 2]
    url = (["c", "a", "b", "x", "y"], "descending")
    external = {"url": url, "length": np.array([5, 5, 7, 2, 1])}
    result = ta.tie_treatments(
        labels, scores, qid=qid, measures=["rr", "p@1"], external=external
    )
    names = ("input", "url", "length", "best", "worst", "expected")
    assert result.treatments == names
    values = values_by_treatment(result)
    assert values["input"] == [1 / 2, 1 / 2]
    assert values["url"] == [1 / 2, 1]
    # equal lengths are still tied: 1 or 1/2
    assert values["length"] == [3 / 4, 1]
    assert values["best"] == [1, 1]
    assert values["worst"] == [1 / 2, 1 / 2]
    assert values["expected"] == [pytest.approx(5 / 6), 3 / 4]
    assert result.mean[0].tolist() == [1 / 2, 0]
    frame = result.to_pandas().set_index("treatment")
    assert frame.loc["url", "RR"] == 3 / 4
    widths = {len(line) for line in str(result).splitlines()}
    assert len(widths) == 1


def test_rules_of_a_matrix():
    labels, scores = [[1, 0, 0], [0, 1, 0]], [[1, 1, 1], [2, 1, 1]]
    docno = [["a", "b", "c"], ["c", "b", "a"]]
    official = (docno, "descending", "float32")
    external = {"up": docno, "official": official, "rows": "input"}
    result = ta.tie_treatments(labels, scores, measures="rr", external=external)
    values = values_by_treatment(result)
    assert values["up"] == [1, 1 / 3]
    assert values["official"] == [1 / 3, 1 / 2]
    assert values["rows"] == [1, 1 / 2]


@pytest.mark.parametrize(("key", "message"), [
    ("docno", r"key must be one of \('input', 'random'\), got 'docno'"),
    (([1, 2], "up"), r"key must be one of \('ascending', .* got 'up'"),
    (([1, 2], "ascending", "half"), "key must .*'float32'.* got 'half'"),
    (([1, 2], "descending", "float32", 1), "key .* a tuple of 4 elements"),
    (([1, 2], 1), r"key must be an array, .*got \(\[1, 2\], 1\)"),
    ([1, 2, 3], r"key must have one value per row \(2\), got 3"),
    ([None, "a"], "key must not be missing .* got None in row 0$"),
    ([[1, 2], [3, 4]], r"key .*1-dim.*\(n_documents,\), got .*\(2, 2\)"),
    (["a", 1], r"key must hold numbers only or strings only, got \['a', 1\]"),
    ([1, {}], "key must hold numbers only or strings only: "),
])  # fmt: skip
def test_bad_keys(key, message):
    with pytest.raises(ValueError, match=message):
        ta.break_ties([1, 1], key)


@pytest.mark.parametrize(("external", "message"), [
    ({"expected": [1, 2]}, "external must not use .* got 'expected'"),
    ({"a": [1, 2, 3]}, r"external\['a'\] must have one .*\(2\), got 3"),
    ({"a": [1, NAN]}, r"external\['a'\] .*missing .* got nan in row 1"),
    ({"a": ([1, 2], "down")}, r"\['a'\] must be one of .* got 'down'"),
    ([1, 2], r"external must map names to keys, got \[1, 2\]"),
    ({1: [1, 2]}, "external must map names to keys, got {1:"),
])  # fmt: skip
def test_bad_external_keys_of_treatments(external, message):
    with pytest.raises(ValueError, match=message):
        ta.tie_treatments([0, 1], [1, 1], external=external)


@pytest.mark.parametrize(("key", "ties", "message"), [
    ([1, 2], "x", r"ties must be one of .*'rank'\), got 'x'"),
    ([[1, 2], [1, NAN]], "rank",
     r"external\['rank'\] must not be missing where a document is retrieved, "
     "got nan in row 1, query 2, of system 'b'"),
    (np.ones((2, 3)), "rank",
     r"1-dimensional, .*\(n_documents, n_systems\), got shape \(2, 3\)"),
])  # fmt: skip
def test_bad_external_keys_of_systems(key, ties, message):
    systems = {"a": [1, 1], "b": [1, 1]}
    options = {"ties": ties, "external": {"rank": key}}
    with pytest.raises(ValueError, match=message):
        ta.compare_systems([1, 0], systems, qid=[1, 2], **options)


def test_a_report_refuses_a_cut_off_of_0():
    with pytest.raises(ValueError, match="k must be an integer >= 1, got 0"):
        ta.tie_report([0, 1], [1, 2], k=0)


@pytest.mark.parametrize("options", [
    {"zero_relevance": 0.25, "query_weight": [1, 1, 3, 3, 1, 1]},
    {"zero_relevance": "skip"},
    {"convention": "catboost"},
    {"unjudged": "nonrelevant", "y_true": [1, NAN, 0, NAN, 2, 0]},
])  # fmt: skip
def test_options_are_those_of_ranking_score(options):
    data = {"y_true": [1, 0, 0, 0, 2, 0], "y_score": [1, 1, 2, 2, 1, 1]}
    data["qid"] = [1, 1, 2, 2, 3, 3]
    data.update(options)
    result = ta.tie_treatments(measures=["ap@1"], **data)
    for ties, mean in zip(result.treatments, result.mean[:, 0], strict=True):
        assert mean == ta.ranking_score(measure="ap@1", ties=ties, **data)
