"""Tests of cut-offs that are a share of the documents of each query."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from tests import naive
from tests.strategies import queries, ranking
from tieaware_sklearn import (
    RankingFeatureSelector,
    evaluate,
    make_ranking_scorer,
    measures,
    parse_measure,
    ranking_score,
)
from tieaware_sklearn.evaluation import residuals, tie_distributions

PLAIN = {
    "P": naive.precision,
    "P(denominator=retrieved)": partial(naive.precision, denominator="retrieved"),
    "R": naive.recall,
    "R(denominator=cutoff)": partial(naive.recall, denominator="cutoff"),
    "F": naive.f_beta,
    "Fallout": naive.fallout,
    "Success": naive.success,
    "Judged": naive.judged,
    "CG": naive.cg,
    "DCG": naive.dcg,
    "NDCG": naive.ndcg,
    "NDCG(gain=linear)": partial(naive.ndcg, gain="linear"),
    "RBP(p=0.5)": partial(naive.rbp, p=0.5),
    "AP": naive.average_precision,
    "AP(denominator=cutoff)": partial(naive.average_precision, denominator="cutoff"),
    "RR": naive.reciprocal_rank,
    "ERR": naive.err,
}
WITH_DISTRIBUTION = ["P", "R", "F", "Fallout", "Success", "Judged", "RR"]
STATISTICS = ("expected", "best", "worst", "std")
SHARES = st.sampled_from(["5", "12.5", "33.3", "50", "70", "100"])


def at(percent, names=PLAIN):
    return [f"{name}@{percent}%" for name in names]


def enumerated(labels, scores, percent):
    """Return mean, best, worst and deviation of each measure over all orders."""
    moments = []
    for name, plain in PLAIN.items():
        exact = naive.over_ties(
            naive.at_share(plain, percent), labels, scores, lower=name == "Fallout"
        )
        if exact is None:
            moments.append([math.nan] * 4)
        else:
            *values, variance = map(float, exact)
            moments.append([*values, math.sqrt(variance)])
    return np.array(moments).T


@settings(max_examples=30)
@given(ranking() | ranking(7, scores=st.sampled_from([0.0, 0.0, 1.0])), SHARES)
def test_values_equal_enumeration(case, percent):
    labels, scores = case
    report = evaluate(labels, scores, measures=at(percent), zero_relevance="skip")
    expected = enumerated(labels, scores, percent)
    for name, values in zip(STATISTICS, expected, strict=True):
        np.testing.assert_allclose(
            getattr(report, name)[0], values, rtol=1e-12, atol=1e-12, err_msg=name
        )


@settings(max_examples=30)
@given(queries(), SHARES)
def test_each_query_is_cut_at_its_own_rank(case, percent):
    labels, scores, qid = map(np.array, case)
    # A measure without a cut-off and one with a rank do not change.
    others = ["ap", "ndcg@3"]
    report = evaluate(labels, scores, qid=qid, measures=at(percent) + others)
    for i, query in enumerate(report.qid):
        rows = qid == query
        k = naive.cut_off(percent, int(rows.sum()))
        names = [f"{name}@{k}" for name in PLAIN] + others
        for j, name in enumerate(names):
            alone = evaluate(labels[rows], scores[rows], measures=[name])
            for statistic in (*STATISTICS, "chance", "ideal", "undefined"):
                value = getattr(report, statistic)[i, j]
                assert_array_equal(value, getattr(alone, statistic)[0, 0], name)


@pytest.mark.parametrize(
    ("percent", "n", "k"),
    [
        ("5", 20, 1),
        ("5", 21, 2),
        ("5", 1, 1),
        ("2.5", 40, 1),
        ("0.1", 1000, 1),
        ("1e-05", 1000, 1),
        ("33.3", 1000, 333),
        ("100", 7, 7),
        # In floats, each product is above a whole number.
        ("7", 100, 7),
        ("14", 50, 7),
        ("55", 100, 55),
        ("1.1", 1000, 11),
    ],
)
def test_cut_offs_are_rounded_up_exactly(percent, n, k):
    assert naive.cut_off(percent, n) == k
    score = ranking_score(np.ones(n), np.arange(n), measure=f"cg@{percent}%")
    assert score == k


def test_no_product_of_a_share_and_a_size_is_off_by_one():
    sizes = np.arange(1, 301)
    qid = np.repeat(sizes, sizes)
    names = [f"cg@{percent}%" for percent in (1, 2.2, 5, 7, 10, 29, 57, 58)]
    report = evaluate(np.ones(len(qid)), -np.arange(len(qid)), qid=qid, measures=names)
    for j, name in enumerate(names):
        percent = name[3:-1]
        expected = [naive.cut_off(percent, n) for n in sizes.tolist()]
        assert report.expected[:, j].tolist() == expected


class HalvedRecall(measures.Recall):
    """A measure that the kernel has no plan for."""

    def numerator(self, groups):
        return super().numerator(groups) / 2


def test_measures_of_users_are_cut_at_shares():
    labels = [1, 0, 1, 0, 1]
    scores = [5, 4, 3, 2, 1]
    score = ranking_score(labels, scores, measure=HalvedRecall(k="50%"))
    assert score == pytest.approx(2 / 3 / 2)


def test_documents_that_are_not_retrieved_belong_to_the_list():
    scores = [4.0, 3.0, -math.inf, -math.inf]
    # 50% of four documents are two, of which the list retrieves both.
    assert ranking_score([0, 1, 1, 0], scores, measure="p@50%") == 0.5
    assert ranking_score([0, 1, 1, 0], scores, measure="r@25%") == 0.0


def test_dropped_documents_do_not_belong_to_the_list():
    labels = [math.nan, math.nan, 1, 0]
    scores = [4, 3, 2, 1]
    kept = ranking_score(labels, scores, measure="p@50%", unjudged="nonrelevant")
    dropped = ranking_score(labels, scores, measure="p@50%", unjudged="drop")
    assert (kept, dropped) == (0.0, 1.0)


def test_the_ideal_is_cut_at_the_same_rank():
    labels = [0, 3, 1, 2] * 5
    report = evaluate(labels, labels, measures=["ndcg@15%", "dcg@15%", "dcg@3"])
    assert report.expected[0, 0] == 1
    assert report.ideal[0, 1] == report.ideal[0, 2]


@pytest.mark.parametrize(
    ("text", "measure", "canonical"),
    [
        ("P@5%", measures.Precision(k="5%"), "P@5%"),
        ("recall@2.50%", measures.Recall(k="2.5%"), "R@2.5%"),
        ("ndcg@010 %", measures.NDCG(k="10%"), "NDCG@10%"),
        ("P(k='5%')", measures.Precision(k="5.0%"), "P@5%"),
        ("Accuracy@.5%", measures.Success(k="0.5%"), "Success@0.5%"),
        ("p@100%", measures.Precision(k="100%"), "P@100%"),
    ],
)
def test_names_of_shares(text, measure, canonical):
    assert parse_measure(text) == measure
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure
    assert hash(parse_measure(text)) == hash(measure)


@given(st.floats(0, 100, exclude_min=True), st.sampled_from(list(PLAIN)))
def test_names_of_shares_read_back(percent, name):
    measure = parse_measure(f"{name}@{percent}%")
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    "text", ["0%", "-5%", "100.1%", "nan%", "inf%", "%", "5%%", "1/3%", "x%", "0.05"]
)
def test_other_shares_are_refused(text):
    message = rf"'P@{text}': k must be an integer >= 1 or a share in \(0%, 100%\], got"
    with pytest.raises(ValueError, match=message):
        parse_measure(f"P@{text}")


def test_shares_of_nothing_but_ranks_are_refused():
    with pytest.raises(ValueError, match="Rprec has no parameter 'k'"):
        parse_measure("Rprec@5%")
    with pytest.raises(ValueError, match="recall must be a number, got '5%'"):
        parse_measure("IPrec@5%")
    with pytest.raises(ValueError, match=r"k must be .* a share .* got '5'"):
        measures.Precision(k="5")


def test_no_other_tool_cuts_at_shares():
    with pytest.raises(ValueError, match=r"convention='xgboost', got NDCG@5%"):
        ranking_score([1, 0], [2, 1], measure="ndcg@5%", convention="xgboost")


@given(ranking(scores=st.sampled_from([0.0, 1.0])), SHARES)
def test_distributions_have_the_same_moments(case, percent):
    labels, scores = case
    for name in at(percent, WITH_DISTRIBUTION):
        report = evaluate(labels, scores, measures=name, zero_relevance="skip")
        (found,) = tie_distributions(labels, scores, measure=name).values()
        moments = [found.mean(), found.std()]
        expected = [report.expected[0, 0], report.std[0, 0]]
        np.testing.assert_allclose(moments, expected, rtol=0, atol=1e-7)


def test_distributions_are_cut_by_query():
    found = tie_distributions(
        [1, 0, 0, 1], [1, 1, 1, 1], qid=[1, 1, 1, 2], measure="p@50%"
    )
    # Two of three documents, and the only one.
    assert found[1].values.tolist() == [0, 0.5]
    assert found[2].values.tolist() == [1]


def test_residuals_are_cut_by_query():
    labels = [1, math.nan, 0, 0, math.nan]
    scores = [3, 2, 1, 0, 5]
    qid = [1, 1, 1, 1, 2]
    names = ["rbp(p=0.5)", "cwl(chances=[1,1])", "p"]
    report = residuals(labels, scores, qid=qid, measures=[f"{n}@50%" for n in names])
    for i, k in enumerate([2, 1]):
        rows = np.array(qid) == i + 1
        alone = residuals(
            np.array(labels)[rows],
            np.array(scores)[rows],
            measures=[f"{name}@{k}" for name in names],
        )
        assert_array_equal(report.residual[i], alone.residual[0])


def test_users_of_a_share_read_to_a_rank_of_their_list():
    ranking = [0, 1, 0, 1]
    weight = parse_measure("p@50%").weight([1, 2, 3], ranking=ranking)
    assert weight.tolist() == [0.5, 0.5, 0]
    with pytest.raises(
        ValueError, match=r"ranking must contain the labels .* of P, got"
    ):
        parse_measure("p@50%").weight(1)


class FirstColumn(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def test_scorers_and_selectors_take_shares():
    rng = np.random.default_rng(0)
    qid = rng.integers(0, 20, 600)
    X = np.round(rng.normal(size=(600, 3)), 1)
    y = (X[:, 0] + rng.normal(size=600) > 1).astype(int)
    expected = []
    for column in X.T:
        score = ranking_score(y, column, qid=qid, measure="ndcg@10%")
        expected.append(score)
    scorer = make_ranking_scorer("ndcg@10%")
    assert scorer(FirstColumn().fit(X, y), X, y, qid=qid) == expected[0]
    screening = RankingFeatureSelector("ndcg@10%").fit(X, y, qid=qid).screening_
    table = screening.to_pandas().set_index("feature")
    assert table.loc["x0", "rank"] == 1
    assert table.loc["x0", "NDCG@10%"] == expected[0]


def test_features_are_tested_as_with_the_rank():
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(30), 20)
    X = np.round(rng.normal(size=(600, 4)), 1)
    y = rng.integers(0, 3, 600)
    tables = []
    for name in ("ndcg@10%", "ndcg@2"):
        screening = RankingFeatureSelector(name).fit(X, y, qid=qid).screening_
        tables.append(screening.to_pandas())
    share, rank = tables
    assert share["NDCG@10%_pvalue"].tolist() == rank["NDCG@2_pvalue"].tolist()
    assert share["NDCG@10%"].tolist() == rank["NDCG@2"].tolist()
