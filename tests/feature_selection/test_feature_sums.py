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
    """Evaluate each placement of the labels as a query."""
    placements = np.array(list(permutations(labels)), dtype=float)
    n_placements = len(placements)
    qid = np.repeat(np.arange(n_placements), len(labels))
    tiled = np.tile(scores, n_placements)
    return evaluate(placements.ravel(), tiled, qid=qid, measures=measures)


@settings(max_examples=25)
@example(labels=[0, 0, 1, 0], scores=[2, 2, 1, 0, 0], weight=1.0)
@given(
    labels=st.lists(st.integers(0, 2), min_size=2, max_size=5),
    scores=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    weight=st.sampled_from([1.0, 0.5, 3.0]),
)
def test_variance_is_that_over_all_placements_of_the_labels(labels, scores, weight):
    n = len(labels)
    scores = np.array(scores[:n], float)
    measures = EXACT
    n_relevant = np.count_nonzero(labels)
    if n_relevant == 1:
        measures = EXACT + OF_ONE
    screenings = by_engine(
        screened,
        measures,
        scores[:, None],
        labels,
        np.zeros(n),
        query_weight=np.full(n, weight),
    )
    descending = by_placement(labels, scores, measures)
    ascending = by_placement(labels, -scores, measures)
    for screening in screenings:
        variances = screening.statistics.null_variance[0]
        for variance, report in zip(variances, [descending, ascending], strict=True):
            lift = report.expected - report.chance
            expected = weight**2 * (lift**2).mean(axis=0)
            np.testing.assert_allclose(variance, expected, atol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 7, 200])
def test_long_lists_have_the_variance_of_the_first_relevant_document(k):
    """The variance follows from the chances of each number of relevant documents."""
    rng = np.random.default_rng(0)
    n, n_relevant = 300, 40
    x = rng.integers(0, 9, n)
    y = rng.permutation(np.arange(n) < n_relevant)
    sizes = np.bincount(x)[::-1]
    cut = "" if k is None else f"@{k}"
    depth = n if k is None else k
    # by tie group and number of its relevant documents
    chances = []
    reciprocal_ranks = []
    successes = []
    above = 0
    for size in sizes:
        none_above = comb(n - above, n_relevant) / comb(n, n_relevant)
        in_tie = stats.hypergeom(n - above, n_relevant, size)
        largest = min(size, n_relevant) if none_above > 0 else 0
        for count in range(1, largest + 1):
            place = np.arange(size)
            is_first = comb(size - 1 - place, count - 1) / comb(size, count)
            rank = above + 1 + place
            is_shown = rank <= depth
            chances.append(none_above * in_tie.pmf(count))
            reciprocal_ranks.append((is_first * is_shown / rank).sum())
            successes.append((is_first * is_shown).sum())
        above += size
    expected = []
    for values in np.array([reciprocal_ranks, successes]):
        variance = np.dot(chances, values**2) - np.dot(chances, values) ** 2
        expected.append(variance)
    measures = ["RR" + cut, "Success" + cut]
    X = x[:, None].astype(float)
    for screening in by_engine(screened, measures, X, y, np.zeros(n)):
        variance = screening.statistics.null_variance[0, 0]
        np.testing.assert_allclose(variance, expected, rtol=1e-9, atol=1e-12)


def test_without_ties_it_is_the_variance_of_the_list_that_ties_as_a_whole():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    qid = np.repeat(np.arange(6), 10)
    X = rng.permutation(60)[:, None]
    screening = screened(MEASURES, X, y, qid)
    tied = evaluate(y, np.zeros(60), qid=qid, measures=MEASURES)
    std = np.nan_to_num(tied.std)
    expected = (std**2).sum(axis=0)
    for variance in screening.statistics.null_variance[0]:
        np.testing.assert_allclose(variance, expected)


@pytest.fixture
def best_placement():
    """Lists of two and of three documents with a relevant document first."""
    y = np.tile([1, 0, 1, 0, 0], 3)
    qid = np.repeat(np.arange(6), np.tile([2, 3], 3))
    least = 1 / (2**3 * 3**3)
    return y, qid, least


def test_no_p_is_below_that_of_the_best_placement(best_placement):
    y, qid, least = best_placement
    X = y[:, None]
    selector = RankingFeatureSelector(["rr", "ap"], direction="descending")
    selector.fit(X, y, qid=qid)
    np.testing.assert_allclose(selector.pvalues_, least)
    is_first = qid < 2
    first = selector.screen(X[is_first], y[is_first], qid[is_first])
    second = selector.screen(X[~is_first], y[~is_first], qid[~is_first])
    merged = first.merge(second)
    np.testing.assert_allclose(merged.pvalues, least)


def test_queries_without_relevance_or_weight_do_not_lower_p(best_placement):
    y, qid, least = best_placement
    # query 7 has one placement, and query 8 counts for nothing
    y = np.append(y, [0, 0, 1, 0])
    qid = np.append(qid, [7, 7, 8, 8])
    weight = np.where(qid < 8, 1.0, 0.0)
    selector = RankingFeatureSelector(["rr", "ap"], direction="descending")
    selector.fit(y[:, None], y, qid=qid, query_weight=weight)
    assert (selector.pvalues_ >= least).all()


def test_p_is_never_0():
    y = np.tile([1, 0, 0, 0], 3000)
    qid = np.repeat(np.arange(3000), 4)
    selector = RankingFeatureSelector().fit(y[:, None], y, qid=qid)
    assert (selector.pvalues_ > 0).all()
    assert selector.support_.all()


def noise(kind, rng, n_queries, n_features=30):
    """Ten documents a query, one of them relevant, and features without information."""
    shape = n_queries, 10, n_features
    one_relevant = np.eye(10)[0]
    labels = np.tile(one_relevant, (n_queries, 1))
    y = rng.permuted(labels, axis=1).ravel()
    if kind == RARE:
        X = np.zeros(shape)
        index = rng.integers(0, 10, (n_queries, 1, n_features))
        np.put_along_axis(X, index, 1, axis=1)
    else:
        X = rng.normal(size=shape)
    if kind == HALF:
        X = X > 0
    qid = np.repeat(np.arange(n_queries), 10)
    return X.reshape(-1, n_features), y, qid


@pytest.mark.parametrize("kind", [RARE, HALF, CONTINUOUS])
@pytest.mark.parametrize("n_queries", [5, 20])
def test_noise_is_hardly_ever_selected(kind, n_queries):
    rng = np.random.default_rng(0)
    n_selected = np.zeros(3)
    for _ in range(40):
        X, y, qid = noise(kind, rng, n_queries)
        screening = screened(["ap", "rr", "ndcg@10"], X, y, qid)
        n_selected += (screening.qvalues <= 0.05).any(axis=0)
    # 2 of 40 are 5%. 6 or more of 40 happen once in 75 times.
    assert (n_selected <= 5).all()
