"""Diversity and novelty: by enumeration, in any order of rows, by hand."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tests.strategies import SCORES
from tieaware_sklearn import evaluate_subtopics
from tieaware_sklearn import measures as m
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn.evaluation._subtopics import ideal_scores

pytestmark = pytest.mark.usefixtures("engine")
NAN = math.nan


def reciprocal(rank):
    return Fraction(1, rank)


def halved(rank):
    return naive.HALF ** (rank - 1)


def alpha_dcg(ranked, missing, weights=None, rel=1, **options):
    plain = naive.novelty(ranked, missing, weights=weights, rel=rel, **options)
    if weights is None:
        return plain
    # weights of the subtopics that count have the mean 1
    there = [
        Fraction(w)
        for i, w in enumerate(weights)
        if any(labels[i] >= rel for labels in [*ranked, *missing])
    ]
    return plain * len(there) / sum(there) if there else plain


#: measures, their definitions, and the parameters of these
TWINS = [
    (m.AlphaDCG(2, alpha=0.75), alpha_dcg, {"k": 2, "alpha": Fraction(3, 4)}),
    (m.AlphaDCG(alpha=1, rel=2), alpha_dcg, {"alpha": Fraction(1), "rel": 2}),
    (m.AlphaNDCG(), naive.normalised_novelty, {}),
    (m.AlphaNDCG(2, alpha=0.25, rel=2), naive.normalised_novelty,
     {"alpha": Fraction(1, 4), "rel": 2, "k": 2}),
    (m.NormalisedERRIA(3), naive.normalised_novelty, {"weight": reciprocal, "k": 3}),
    (m.NormalisedNRBP(), naive.normalised_novelty, {"weight": halved}),
    (m.SubtopicRecall(2), naive.of_subtopics, {"plain": naive.success, "k": 2}),
    (m.SubtopicRecall(rel=2), naive.of_subtopics, {"plain": naive.success, "rel": 2}),
    (m.IntentAware("err@3"), naive.of_subtopics, {"plain": naive.err, "k": 3}),
    (m.IntentAware("p@2"), naive.of_subtopics, {"plain": naive.precision, "k": 2}),
    (m.IntentAware("ndcg@3"), naive.of_subtopics, {"plain": naive.ndcg, "k": 3}),
]  # fmt: skip
MEASURES = [measure for measure, *_ in TWINS]


@st.composite
def rankings(draw, max_documents: int = 5):
    """Labels by subtopic, and scores, of one query."""
    n, width = draw(st.integers(1, max_documents)), draw(st.integers(1, 3))
    rows = st.tuples(*[st.sampled_from([0, 0, 1, 2])] * width)
    labels = draw(st.lists(rows, min_size=n, max_size=n))
    return labels, draw(st.lists(SCORES, min_size=n, max_size=n))


@settings(max_examples=40)
@given(rankings(), st.booleans())
def test_means_are_those_over_all_orders_of_ties(case, weighted):
    labels, scores = case
    weights = [0.5, 3.0, 0.25][: len(labels[0])] if weighted else None
    # a label that is missing is not relevant
    given = np.array(labels, float)
    given[:, 0] = np.where(given[:, 0] == 0, NAN, given[:, 0])
    options = {"measures": MEASURES, "subtopic_weight": weights}
    report = evaluate_subtopics(given, scores, **options)
    for j, (measure, plain, parameters) in enumerate(TWINS):
        plain = partial(plain, weights=weights, **parameters)
        for found, own in (
            (report.expected[0, j], scores),
            (report.chance[0, j], [0.0] * len(scores)),
        ):
            exact = naive.over_ties(plain, labels, own)
            value = 0.0 if exact is None else float(exact.expected)
            assert found == pytest.approx(value, rel=1e-12, abs=1e-12), measure
        needs = exact is None
        assert report.n_undefined[j] == needs, measure
        assert (report.n_subtopics[0, j] == 0) == needs or measure.name == "alpha_DCG"


def made(n=600):
    """Interleaved queries with ties, unretrieved documents and sparse subtopics."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((n, 5)) < 0.15, rng.integers(1, 4, (n, 5)), 0.0)
    labels[rng.random((n, 5)) < 0.3] = NAN
    scores, qid = rng.integers(0, 6, n).astype(float), rng.integers(0, 25, n)
    scores[rng.random(n) < 0.1] = -np.inf
    # subtopics that these queries do not have, and one without any
    labels[qid % 2 == 0, 3:] = NAN
    labels[qid == 7] = 0
    return labels, scores, qid


ROWS = made()


def of_rows(labels=ROWS[0], scores=ROWS[1], qid=ROWS[2], measures=MEASURES, **options):
    return evaluate_subtopics(labels, scores, qid=qid, measures=measures, **options)


def test_no_order_of_rows_changes_a_bit_and_queries_stand_alone():
    labels, scores, qid = ROWS
    first = of_rows()
    order = np.random.default_rng(1).permutation(len(scores))
    again = of_rows(*(column[order] for column in ROWS))
    place = [again.qid.tolist().index(query) for query in first.qid.tolist()]
    assert_array_equal(again.expected[place], first.expected)
    assert_array_equal(again.chance[place], first.chance)
    assert_array_equal(again.mean, first.mean)
    for query in first.qid[::5].tolist():
        own = qid == query
        alone = of_rows(labels[own], scores[own], None)
        assert_array_equal(alone.expected[0], first.expected[first.qid == query][0])
    # the order of subtopics matters to greedy ties only
    plain = [measure for measure in MEASURES if not measure.normalised]
    turned = of_rows(labels[:, ::-1], measures=plain)
    assert_array_equal(turned.expected, of_rows(measures=plain).expected)


def test_a_ranking_may_be_better_than_the_greedy_one():
    # the first document is as good as any; without it the others repeat nothing
    labels = [(1, 1, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1)]
    ideal, better = [3, 2, 1], [1, 3, 2]
    qid, scores = np.repeat([1, 2, 3], 3), ideal + better * 2
    report = evaluate_subtopics(labels * 3, scores, qid=qid, measures="alpha_nDCG@2")
    second = 1 / math.log2(3)
    value = (2 + 2 * second) / (2 + 1.5 * second)
    assert report.expected[:, 0].tolist() == [1, *[pytest.approx(value)] * 2]
    assert report.interval[0, 1] == pytest.approx(value)


def test_nrbp_by_hand():
    found = evaluate_subtopics([[1, 0], [1, 1]], [2, 1], measures="nrbp(beta=0.75)")
    sums = (1 + 0.75 / 2) + 0.75
    assert found.expected[0, 0] == pytest.approx((1 - 0.75 / 2) * sums / 2)


def test_weights_of_subtopics():
    labels, _, qid = ROWS
    plain = of_rows()
    # equal ones are none
    for weight in (np.full(5, 0.2), np.full(labels.shape, 7.0)):
        found = of_rows(subtopic_weight=weight)
        assert_allclose(found.expected, plain.expected, rtol=1e-13)
        assert_array_equal(found.n_subtopics, plain.n_subtopics)
    # any size will do
    weights = np.array([1.0, 2.0, 4.0, 1.0, 1.0])
    wanted = of_rows(subtopic_weight=weights)
    for unit in (5e-324, 1e300):
        for own in (weights * unit, np.tile(weights * unit, (len(qid), 1))):
            found = of_rows(subtopic_weight=own)
            assert_allclose(found.expected, wanted.expected, rtol=1e-9)
    # a subtopic of weight 0 is none
    weight, without = np.ones(labels.shape), labels.copy()
    weight[qid == 3, 1], without[qid == 3, 1] = 0, NAN
    found, twin = of_rows(subtopic_weight=weight), of_rows(without)
    assert_array_equal(found.expected, twin.expected)
    assert_array_equal(found.n_subtopics, twin.n_subtopics)
    # nor does it break a tie: the ideal begins with the first, unless column 0 counts
    labels = np.array([[0, 1, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1]])
    options = {"y_score": [3, 2, 1], "measures": m.AlphaNDCG(2)}
    found = evaluate_subtopics(labels, subtopic_weight=[0, 1, 1, 1, 1], **options)
    twin = evaluate_subtopics(labels[:, 1:], **options)
    turned = evaluate_subtopics(labels[:, [3, 1, 2, 4]], **options)
    assert found.expected == twin.expected != turned.expected


@pytest.mark.parametrize(("zero", "mean"), [(0.0, 0.25), (1.0, 0.75), ("skip", 0.5)])
def test_queries_without_subtopics(zero, mean):
    labels, scores, qid = [[1, 0], [0, 1], [0, NAN]], [2, 1, 1], ["a", "a", "b"]
    options = {"measures": ["strec@1", "alpha_dcg"], "zero_relevance": zero}
    found = evaluate_subtopics(labels, scores, qid=qid, **options)
    assert found.mean == pytest.approx([mean, (1 + 1 / math.log2(3)) / 2])
    assert found.n_undefined.tolist() == [1, 0]
    assert found.n_subtopics.tolist() == [[2, 2], [0, 0]]
    skips = zero == "skip"
    assert np.isnan(found.expected[1]).tolist() == [skips, False]
    assert np.isnan(found.chance[1]).tolist() == [skips, False]
    assert str(found).splitlines()[0].endswith("queries") == skips
    assert (str(found).splitlines()[-1] == "2 queries") != skips
    if skips:
        counts = [line.split()[-1] for line in str(found).splitlines()[2:]]
        assert counts == ["1", "2"]
        with pytest.warns(UndefinedMetricWarning, match="StRecall@2 is undefined for"):
            evaluate_subtopics([[0]], [1], measures="strec@2", zero_relevance="skip")


def test_query_weights_weigh_queries():
    data = {"y_true": [[1], [0], [1]], "y_score": [1, 1, 1], "qid": [1, 1, 2]}
    data["query_weight"] = [3, 3, 1]
    report = evaluate_subtopics(**data, measures="strec@1")
    assert report.mean.tolist() == [(3 * 0.5 + 1) / 4]
    assert report.query_weight.tolist() == [3, 1]
    # a weight of 3 and one of 1 are worth 1.6 queries
    assert np.isnan(report.interval).all()
    data["query_weight"] = [2, 2, 2]
    low, high = evaluate_subtopics(**data, measures="strec@1").interval[0]
    assert 0 <= low <= high <= 1
    # of the chance, too
    lines = [line.split() for line in str(report).splitlines()]
    assert lines[0] == ["measure", "mean", "chance", "95%", "interval"]
    assert lines[-2][1:3] == ["0.6250", "0.6250"]
    frame = report.to_pandas()
    assert frame["n_subtopics"].tolist() == [1, 1]
    names = ["qid", "measure", "expected", "chance", "n_subtopics"]
    assert frame.columns.tolist() == names
    measures = evaluate_subtopics(**data).measures
    assert measures == ("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")


@pytest.mark.parametrize(("change", "message"), [
    ({"y_true": [1, 0]}, r"y_true must have shape \(n_documents, n_subtopics\)"),
    ({"y_true": np.zeros((2, 0))}, r"y_true must have .* not be empty, .*\(2, 0\)"),
    ({"y_true": [[1, -1], [0, 0]]}, r"be >= 0, got -1.0 in row 0, column 1"),
    ({"y_true": [[1, 0], [0, np.inf]]}, "y_true must be finite, got inf in row 1"),
    ({"y_true": [[1, 0], [0, "x"]]}, "y_true must be numeric"),
    ({"y_score": [1]}, "y_score must have one value per row"),
    ({"y_score": [1, NAN]}, "y_score must not be NaN"),
    ({"qid": [1]}, "qid must have one value per row"),
    ({"query_weight": [1, -1]}, "query_weight must be"),
    ({"measures": []}, "measures must name at least one measure"),
    ({"measures": ["strec@5", "StRecall@5"]}, "measures must differ, got StRec"),
    ({"measures": 3}, "measure must be a name such as .*, got 3"),
    ({"measures": "ndcg@10"}, "unknown measure of subtopics 'ndcg@10'"),
    ({"measures": "err_ia@3", "y_true": [[9], [0]]}, "y_true must be <= max_label"),
    ({"subtopic_weight": [1]},
     r"subtopic_weight must have .*\(2,\), .*y_true, \(2, 2\), got \(1,\)"),
    ({"subtopic_weight": [1, -1]}, "subtopic_weight must be >= 0, got -1"),
    ({"subtopic_weight": [1, NAN]}, "subtopic_weight must not be NaN.*column 1"),
    ({"subtopic_weight": [[1, 1], [1, 2]]},
     "column 1 of subtopic_weight must be constant .* 1.0 and 2.0 in query 0"),
    ({"zero_relevance": "x"}, "zero_relevance must be one of"),
    ({"zero_relevance": "raise", "y_true": [[1], [0]], "qid": ["a", "b"]},
     r"alpha_nDCG@20 is undefined for query 'b'"),
    ({"convention": "trec_eval"}, "convention must be one of"),
    ({"convention": "ndeval", "measures": "ndcg_ia"}, "='ndeval', got NDCG"),
    ({"convention": "ndeval", "measures": "err_ia(max_label=1)@5"}, "out max_la"),
    ({"convention": "ndeval", "measures": "alpha_dcg"}, "alpha_DCG@k"),
])  # fmt: skip
def test_bad_input_is_named(change, message):
    given = {"y_true": [[1, 0], [0, 1]], "y_score": [1, 2], **change}
    with pytest.raises(ValueError, match=message):
        evaluate_subtopics(**given)


def test_err_ia_is_that_of_ndeval_but_for_a_constant():
    rng = np.random.default_rng(5)
    data = {"y_true": rng.random((40, 3)) < 0.2, "y_score": rng.integers(0, 9, 40)}
    plain = evaluate_subtopics(**data, measures="ERR_IA(max_label=1)@10")
    theirs = evaluate_subtopics(**data, measures="ERR_IA@10", convention="ndeval")
    ratio = sum(0.5**rank / rank for rank in range(1, 11))
    assert theirs.measures == ("ERR_IA@10",)
    assert_allclose(plain.expected, theirs.expected * ratio, rtol=1e-14)


# -- the greedy ideal

VECTORS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from([0, 0, 1])] * width), min_size=1, max_size=9
    )
)


def found_order(relevant, weights=None, alpha=0.5, depth=None):
    relevant = np.array(relevant, dtype=bool)
    queries = check_qid(None, n_rows=len(relevant))
    weight = np.ones((1, relevant.shape[1])) if weights is None else [weights]
    scores = ideal_scores(relevant, queries, np.array(weight), 1 - alpha, depth)
    order = np.argsort(-scores)[: np.isfinite(scores).sum()]
    return [tuple(relevant[i].astype(int).tolist()) for i in order]


@settings(max_examples=60)
@given(
    VECTORS, st.sampled_from([None, 1, 3]), st.sampled_from([0.0, 0.25, 0.5]),
    st.booleans(),
)  # fmt: skip
def test_the_ideal_is_the_order_of_the_definition(documents, depth, alpha, weighted):
    weights = [1.0, 0.25, 3.0, 0.5][: len(documents[0])] if weighted else None
    order = naive.greedy(documents, Fraction(alpha), weights=weights)
    # documents without a gain are not ranked
    twin = [documents[i] for i in order if any(documents[i])][:depth]
    options = {"weights": weights, "alpha": alpha, "depth": depth}
    assert found_order(documents, **options) == twin
    assert found_order(documents[::-1], **options) == twin


@pytest.mark.parametrize("alpha", [0.8, 0.9, 0.3])
def test_gains_that_are_equal_on_paper_tie(alpha):
    # after these, the subtopics have been seen twice, once, never, never, once, twice
    first = [(1, 0, 0, 0, 0, 1, 1, 1, 1), (1, 1, 0, 0, 1, 1, 0, 0, 0)]
    # 0.01 + 0.1 + 1 is not 1 + 0.1 + 0.01 if each sum is rounded
    tied = [(1, 1, 1, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 1, 0, 0, 0)]
    assert found_order([*tied, *first], alpha=alpha) == [*first, *tied]
    # what cannot gain any more is not ranked
    assert found_order([(1, 0), (1, 0), (0, 1)], alpha=1.0) == [(1, 0), (0, 1)]
