"""Folds alike in relevance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedGroupKFold

from tieaware_sklearn import QueryKFold


def relevant_per_query(qid, y, rel=1):
    return np.array([np.sum(y[qid == q] >= rel) for q in np.unique(qid)])


def skewed(seed, n_queries=120):
    """Queries of all lengths, many without a relevant document, few with many."""
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(1 / 20, size=n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    share = np.repeat(rng.choice([0.0, 0.0, 0.05, 0.5], size=n_queries), sizes)
    y = (rng.random(len(qid)) < share) * rng.integers(1, 5, size=len(qid))
    return qid, y.astype(float)


def figures(cv, qid, y):
    """Per fold: rows, queries, queries without a relevant document, relevant ones."""
    relevant = relevant_per_query(qid, y)
    out = []
    for _, test in cv.split(np.zeros((len(y), 1)), y, qid):
        there = np.unique(qid[test])
        row = len(test), len(there), (relevant[there] == 0).sum(), (y[test] >= 1).sum()
        out.append(row)
    return np.ptp(np.array(out), axis=0)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 1}])
@pytest.mark.parametrize("by", ["n_relevant", "mean_label"])
@pytest.mark.parametrize("seed", range(3))
def test_folds_are_alike(seed, by, options):
    qid, y = skewed(seed)
    rows, queries, without, relevant = figures(
        QueryKFold(5, stratify=by, **options), qid, y
    )
    largest = np.bincount(qid).max()
    assert rows <= largest
    assert queries <= 1
    assert without <= 1
    plain = figures(QueryKFold(5, **options), qid, y)
    assert plain[2] > without
    if by == "n_relevant":
        assert relevant < plain[3]


def test_more_even_in_queries_than_stratified_group_k_fold():
    qid, y = skewed(4)
    ours = figures(QueryKFold(5, stratify="n_relevant"), qid, y)
    theirs = figures(StratifiedGroupKFold(5), qid, (y >= 1).astype(int))
    assert ours[1] < theirs[1]
    assert ours[2] < theirs[2]


def test_grades():
    # eight queries of four: half with a document of grade 1, half of grade 3
    qid = np.repeat(np.arange(8), 4)
    y = np.zeros(32)
    y[::4] = [1, 1, 1, 1, 3, 3, 3, 3]
    for _, test in QueryKFold(4, stratify="mean_label").split(y[:, None], y, qid):
        assert sorted(y[test][y[test] > 0]) == [1, 3]
    # the mean looks at the share: 2 of 4 is as good as 1 of 2
    sizes = [4, 4, 2, 2]
    qid = np.repeat(np.arange(4), sizes)
    y = np.array([1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], dtype=float)
    for _, test in QueryKFold(2, stratify="mean_label").split(y[:, None], y, qid):
        assert len(set(qid[test]) & {0, 2}) == 1


def test_means_of_labels_do_not_go_by_the_order_of_rows():
    qid = np.repeat(np.arange(12), 3)
    y = np.tile([0.1, 0.2, 0.3], 12)
    rng = np.random.default_rng(0)
    cv = QueryKFold(3, stratify="mean_label")

    def folds(order):
        parts = cv.split(np.zeros((36, 1)), y[order], qid[order])
        return [set(qid[order][test]) for _, test in parts]

    expected = folds(np.arange(36))
    for _ in range(5):
        assert folds(rng.permutation(36)) == expected


def test_shuffling_draws_other_folds():
    qid, y = skewed(0)

    def first(seed):
        cv = QueryKFold(5, shuffle=True, random_state=seed, stratify="n_relevant")
        return frozenset(qid[next(cv.split(y[:, None], y, qid))[1]])

    assert len({first(seed) for seed in range(8)}) == 8
    assert first(3) == first(3)


def test_unjudged_is_not_relevant():
    qid, y = skewed(1)
    holes = np.where(y == 0, np.nan, y)
    for (_, test), (_, again) in zip(
        QueryKFold(5, stratify="n_relevant").split(y[:, None], y, qid),
        QueryKFold(5, stratify="n_relevant").split(y[:, None], holes, qid),
        strict=True,
    ):
        assert np.array_equal(test, again)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, None, "y must hold the labels .* by n_relevant, got None"),
        ({}, [0, 1, -1, 0], "y must be >= 0, got -1.0 in row 2"),
        ({}, [0, 1], r"y must have one value per row \(4\), got 2"),
        ({"n_splits": 3}, [0, 1, 1, 0], r"number of queries \(2\), got 3"),
    ],
)
def test_errors(options, y, message):
    cv = QueryKFold(**{"n_splits": 2, "stratify": "n_relevant", **options})
    with pytest.raises(ValueError, match=message):
        cv.split(np.zeros((4, 1)), y, [1, 1, 2, 2])


def test_errors_of_options():
    for stratify in ("label", True, None):
        with pytest.raises(ValueError, match=f"stratify must .*got {stratify!r}"):
            QueryKFold(stratify=stratify)
