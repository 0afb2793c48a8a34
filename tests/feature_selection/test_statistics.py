"""Features against labels at random: what is known of chance, and what p says."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import comb

from tests._kernel.helpers import by_engine
from tests.instances import MEASURES
from tieaware_sklearn import RankingFeatureSelector, evaluate

#: sums over documents of what each adds at its rank: their variance is exact
SUMS = ["NDCG@2", "DCG", "CG@2", "RBP(p=0.8)", "P", "P@2", "R@3", "F", "F@2"]
SUMS += ["Fallout", "Fallout@2", "Rprec", "Rprec(rel=2)", "Judged@2", "SetAP"]
#: and so is that of what the first relevant document decides
EXACT = [*SUMS, "RR", "RR@2", "RR(rel=2)", "Success@1", "Success@2"]
#: whose variance is exact if one document is relevant
OF_ONE = ["ERR(max_label=2)@3"]
RARE, HALF, CONTINUOUS = "rare", "half", "continuous"


def screened(measures, X, y, qid, **options):
    selector = RankingFeatureSelector(measures, redundancy=False, max_correlation=None)
    return selector.screen(X, y, qid, **options)


def by_placement(labels, scores, measures):
    """Expected values of each way to place the labels, each of them a query."""
    ways = np.array(list(permutations(labels)), dtype=float)
    qid = np.repeat(np.arange(len(ways)), len(labels))
    tiled = np.tile(scores, len(ways))
    return evaluate(ways.ravel(), tiled, qid=qid, measures=measures)


@settings(max_examples=25)
@example(labels=[0, 0, 1, 0], scores=[2, 2, 1, 0, 0], weight=1.0)
@given(
    labels=st.lists(st.integers(0, 2), min_size=2, max_size=5),
    scores=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    weight=st.sampled_from([1.0, 0.5, 3.0]),
)
def test_variance_is_that_over_all_placements_of_the_labels(labels, scores, weight):
    scores, qid = np.array(scores[: len(labels)], float), np.zeros(len(labels))
    one = sum(label > 0 for label in labels) == 1
    measures = EXACT + OF_ONE * one
    given = measures, scores[:, None], labels, qid
    weights = np.full(len(labels), weight)
    known, numpy = by_engine(screened, *given, query_weight=weights)
    ways = [by_placement(labels, sign * scores, measures) for sign in (1, -1)]
    for screening in (known, numpy):
        found = screening.statistics.null_variance[0]
        for variance, report in zip(found, ways, strict=True):
            expected = ((report.expected - report.chance) ** 2).mean(axis=0)
            np.testing.assert_allclose(variance, weight**2 * expected, atol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 7, 200])
def test_long_lists_have_the_variance_of_the_first_relevant_document(k):
    """From the chances of each number of relevant documents in each tie."""
    rng = np.random.default_rng(0)
    n, n_relevant = 300, 40
    x, y = rng.integers(0, 9, n), rng.permutation(np.arange(n) < n_relevant)
    sizes, cut = np.bincount(x)[::-1], f"@{k}" if k else ""
    # by tie and number of relevant documents in it: chance, and both values
    parts, above = [], 0
    for m in sizes:
        none_above = comb(n - above, n_relevant) / comb(n, n_relevant)
        in_tie = stats.hypergeom(n - above, n_relevant, m)
        for c in range(1, min(m, n_relevant) + 1 if none_above > 0 else 0):
            place = np.arange(m)
            first = comb(m - 1 - place, c - 1) / comb(m, c)
            rank = above + 1 + place
            shown = rank <= (k or n)
            values = (first * shown / rank).sum(), (first * shown).sum()
            parts.append((none_above * in_tie.pmf(c), *values))
        above += m
    chance, *values = np.array(parts).T
    wanted = [chance @ v**2 - (chance @ v) ** 2 for v in values]
    for screening in by_engine(
        screened, ["RR" + cut, "Success" + cut], x[:, None] * 1.0, y, np.zeros(n)
    ):
        found = screening.statistics.null_variance[0, 0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_without_ties_it_is_the_variance_of_the_list_that_ties_as_a_whole():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    found = screened(MEASURES, np.stack([rng.permutation(60)], axis=1), y, qid)
    tied = evaluate(y, np.zeros(60), qid=qid, measures=MEASURES).std
    for variance in found.statistics.null_variance[0]:
        np.testing.assert_allclose(variance, (np.nan_to_num(tied) ** 2).sum(axis=0))


def test_no_p_is_below_that_of_the_best_placement():
    # lists of two and of three documents, the one that is relevant first
    y = np.tile([1, 0, 1, 0, 0], 3)
    qid = np.repeat(np.arange(6), np.tile([2, 3], 3))
    least = 1 / (2**3 * 3**3)
    selector = RankingFeatureSelector(["rr", "ap"], direction="descending")
    np.testing.assert_allclose(selector.fit(y[:, None], y, qid=qid).pvalues_, least)
    first, rest = (
        selector.screen(y[rows, None], y[rows], qid[rows])
        for rows in (qid < 2, qid >= 2)
    )
    np.testing.assert_allclose(first.merge(rest).pvalues, least)
    # a query without a relevant document has one placement, and one of weight 0 none
    more = np.append(y, [0, 0, 1, 0]), np.append(qid, [7, 7, 8, 8])
    weight = (more[1] < 8) * 1.0
    selector.fit(more[0][:, None], more[0], qid=more[1], query_weight=weight)
    assert (selector.pvalues_ >= least).all()


def test_p_is_never_0():
    y, qid = np.tile([1, 0, 0, 0], 3000), np.repeat(np.arange(3000), 4)
    selector = RankingFeatureSelector().fit(y[:, None], y, qid=qid)
    assert (selector.pvalues_ > 0).all()
    assert selector.support_.all()


def flags(kind, rng, n_queries, n_features=30):
    """Ten documents a query, one of them relevant, and features that know nothing."""
    shape = n_queries, 10, n_features
    y = rng.permuted(np.tile(np.eye(10)[0], (n_queries, 1)), axis=1).ravel()
    if kind == RARE:
        X = np.zeros(shape)
        at = rng.integers(0, 10, (n_queries, 1, n_features))
        np.put_along_axis(X, at, 1, axis=1)
    else:
        X = rng.normal(size=shape)
        X = X > 0 if kind == HALF else X
    return X.reshape(-1, n_features), y, np.repeat(np.arange(n_queries), 10)


@pytest.mark.parametrize("kind", [RARE, HALF, CONTINUOUS])
@pytest.mark.parametrize("n_queries", [5, 20])
def test_noise_is_hardly_ever_selected(kind, n_queries):
    rng, chosen = np.random.default_rng(0), np.zeros(3)
    for _ in range(40):
        found = screened(["ap", "rr", "ndcg@10"], *flags(kind, rng, n_queries))
        chosen += (found.qvalues <= 0.05).any(axis=0)
    # 2 of 40 are 5 %, and 6 or more of them come once in 75 times
    assert (chosen <= 5).all()
