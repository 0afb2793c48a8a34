"""QueryKFold: whole queries, balanced, the same for any row order."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_val_score

from tieaware_sklearn import QueryKFold, make_ranking_scorer
from tieaware_sklearn.datasets import make_web_search

SIZES = st.lists(st.integers(1, 40), min_size=5, max_size=30)
SHUFFLES = [{}, {"shuffle": True, "random_state": 0}]


def checked(folds, n_rows):
    """The test sets; each training set is the rest."""
    for train, test in folds:
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(n_rows))
    return [test for _, test in folds]


@pytest.mark.parametrize("options", SHUFFLES)
@given(sizes=SIZES, n_splits=st.integers(2, 5), data=st.data())
def test_folds_are_whole_balanced_and_fixed(options, sizes, n_splits, data):
    qid = np.repeat(np.arange(len(sizes)), sizes)
    qid = np.array(data.draw(st.permutations(qid.tolist())))
    X = np.zeros((len(qid), 1))
    cv = QueryKFold(n_splits, **options)
    tests = checked(list(cv.split(X, None, qid)), len(qid))
    assert cv.get_n_splits(X, None, qid) == len(tests) == n_splits
    assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(len(qid)))
    for number, test in enumerate(tests):
        assert len(test)
        others = np.concatenate([t for i, t in enumerate(tests) if i != number])
        assert not set(qid[test]) & set(qid[others])
    loads = [len(test) for test in tests]
    assert max(loads) - min(loads) <= (2 if options else 1) * max(sizes)
    # the same queries together in any order of rows
    order = np.array(data.draw(st.permutations(range(len(qid)))))
    again = checked(list(cv.split(X, groups=qid[order])), len(qid))
    assert [set(qid[test]) for test in tests] == [
        set(qid[order][test]) for test in again
    ]


@pytest.mark.parametrize("options", SHUFFLES)
def test_balance_on_queries_of_many_sizes(options):
    sizes = np.random.default_rng(0).geometric(1 / 100, size=200)
    qid = np.repeat(np.arange(200), sizes)
    X = np.zeros((len(qid), 1))
    loads = [len(test) for _, test in QueryKFold(5, **options).split(X, groups=qid)]
    assert max(loads) - min(loads) <= 5
    shuffled = GroupKFold(5, shuffle=True, random_state=0).split(X, groups=qid)
    theirs = [len(test) for _, test in shuffled]
    assert max(theirs) - min(theirs) > 500


def test_unshuffled_folds_are_as_even_as_group_k_folds():
    sizes = np.random.default_rng(1).integers(1, 60, size=40)
    qid = np.repeat(np.arange(40), sizes)
    X = np.zeros((len(qid), 1))
    ours = sorted(len(test) for _, test in QueryKFold(4).split(X, groups=qid))
    theirs = sorted(len(test) for _, test in GroupKFold(4).split(X, groups=qid))
    assert ours == theirs


@pytest.mark.parametrize("n_splits", [2, 3, 7])
def test_folds_are_those_of_the_rule_and_the_seed(n_splits):
    sizes = np.random.default_rng(n_splits).geometric(1 / 4, size=300)
    qid = np.repeat(np.arange(300), sizes)
    X = np.zeros((len(qid), 1))
    for options in SHUFFLES:
        rng = np.random.RandomState(0)
        order = rng.permutation(300) if options else np.arange(300)
        load, fold = np.zeros(n_splits, dtype=int), np.zeros(300, dtype=int)
        for query in order[np.argsort(-sizes[order], kind="stable")]:
            fold[query] = np.argmin(load)
            if options:
                near = np.flatnonzero(load < load.min() + sizes[query])
                fold[query] = rng.choice(near)
            load[fold[query]] += sizes[query]
        folds = QueryKFold(n_splits, **options).split(X, groups=qid)
        for number, (_, test) in enumerate(folds):
            assert np.array_equal(test, np.flatnonzero(fold[qid] == number))


def test_one_huge_query_stands_alone():
    qid = np.r_[np.full(1000, 99), np.repeat(np.arange(30), 10)]
    X = np.zeros((len(qid), 1))
    for options in SHUFFLES:
        loads = [len(test) for _, test in QueryKFold(4, **options).split(X, groups=qid)]
        assert sorted(loads) == [100, 100, 100, 1000]


def test_shuffling_draws_other_folds():
    qid = np.repeat(np.arange(30), 5)
    X = np.zeros((len(qid), 1))

    def first(**options):
        return set(qid[next(QueryKFold(3, **options).split(X, groups=qid))[1]])

    drawn = {frozenset(first(shuffle=True, random_state=s)) for s in range(10)}
    assert len(drawn) == 10
    assert first(shuffle=True, random_state=3) == first(shuffle=True, random_state=3)
    rng = np.random.RandomState(0)
    assert first(shuffle=True, random_state=rng) != first(
        shuffle=True, random_state=rng
    )


@pytest.mark.parametrize("qid", [["b", "a", "b", "c"], [(1, 2), "x", (1, 2), 3]])
def test_ids_of_any_kind(qid):
    folds = list(QueryKFold(3).split(np.zeros((4, 1)), groups=qid))
    assert sorted(test.tolist() for _, test in folds) == [[0, 2], [1], [3]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_ids_from_a_column(frame):
    X = frame({"a": [1.0, 2.0, 3.0, 4.0], "query": ["x", "y", "x", "z"]})
    folds = QueryKFold(3, qid="query").split(X)
    assert sorted(test.tolist() for _, test in folds) == [[0, 2], [1], [3]]
    array = np.array([[1.0, 7], [2, 8], [3, 7], [4, 9]])
    folds = QueryKFold(3, qid=-1).split(array)
    assert sorted(test.tolist() for _, test in folds) == [[0, 2], [1], [3]]
    lists = QueryKFold(3, qid=1).split(array.tolist())
    assert sorted(test.tolist() for _, test in lists) == [[0, 2], [1], [3]]


def test_ids_as_groups_without_routing():
    web = make_web_search(n_queries=20, n_documents=10, random_state=0)
    predicted = cross_val_predict(
        LinearRegression(), web.data, web.target, cv=QueryKFold(4), groups=web.qid
    )
    for train, test in QueryKFold(4).split(web.data, groups=web.qid):
        model = LinearRegression().fit(web.data[train], web.target[train])
        assert np.array_equal(predicted[test], model.predict(web.data[test]))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_predict(
            LinearRegression(),
            web.data,
            web.target,
            cv=QueryKFold(4),
            params={"qid": web.qid},
        )
    assert np.array_equal(routed, predicted)


def test_a_column_and_a_routed_qid_can_be_kept_apart():
    web = make_web_search(n_queries=20, n_documents=10, random_state=0)
    X = np.column_stack([web.qid, web.data])
    with sklearn.config_context(enable_metadata_routing=True):
        cv = QueryKFold(4, qid=0).set_split_request(groups=False)
        scores = cross_val_score(
            LinearRegression(),
            X,
            web.target,
            cv=cv,
            scoring=make_ranking_scorer(),
            params={"qid": web.qid},
            error_score="raise",
        )
    assert len(scores) == 4


def test_repr_clone_and_pickle():
    cv = QueryKFold(3, qid="query", shuffle=True, random_state=0)
    text = (
        "QueryKFold(n_repeats=1, n_splits=3, qid='query', random_state=0, shuffle=True,"
        "\n      stratify=False)"
    )
    assert repr(cv) == text
    for other in (pickle.loads(pickle.dumps(cv)), clone(cv, safe=False)):
        assert repr(other) == text


@pytest.mark.parametrize(
    ("cv", "qid", "message"),
    [
        (QueryKFold(2), None, "routing is off.*let qid be a column of X, QueryKFold"),
        (QueryKFold(2), [1, 2], r"one value per row \(3\), got 2"),
        (QueryKFold(3), [1, 1, 2], r"number of queries \(2\), got 3"),
        (QueryKFold(2), [1, None, 2], "must not be missing"),
        (QueryKFold(2, qid=0), [1, 2, 3], r"given once.*set_split_request\(groups=Fal"),
        (QueryKFold(2, qid=1), None, "index of one of the 1 columns"),
    ],
)
def test_errors(cv, qid, message):
    with pytest.raises(ValueError, match=message):
        cv.split(np.zeros((3, 1)), groups=qid)


def test_with_routing_on_the_message_says_so():
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(
            ValueError,
            match=r"None: .* Pass it once, search.fit\(X, y, qid=",
        ),
    ):
        QueryKFold(2).split(np.zeros((3, 1)))


@pytest.mark.parametrize(
    "ids",
    [
        [frozenset([i, (i * 7) % 11 + 20]) for i in range(12)],
        [(i, 2.5) if i % 2 else (i % 3, "x", i) for i in range(12)],
        [1, "1", 2.5, "n", (1, 2), b"1", 3, "2", 4, "3", 5, "4"],
    ],
    ids=["sets", "tuples", "mixed"],
)
def test_ids_of_partial_order_give_the_same_folds(ids):
    qid = [value for value in ids for _ in range(len(str(value)) % 4 + 1)]
    X = np.zeros((len(qid), 1))

    def folds(qid):
        tests = [test for _, test in QueryKFold(3).split(X, groups=qid)]
        return [{ids.index(qid[row]) for row in test} for test in tests]

    rng = np.random.default_rng(0)
    expected = folds(qid)
    for _ in range(5):
        assert folds([qid[i] for i in rng.permutation(len(qid))]) == expected


def test_errors_of_options():
    with pytest.raises(ValueError, match="n_splits=1"):
        QueryKFold(1)
    with pytest.raises(ValueError, match="random_state"):
        QueryKFold(2, random_state=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'qid'"):
        QueryKFold(2).split(np.zeros((2, 1)), qid=[1, 2])


def test_repeats_are_shuffled_folds_of_one_stream():
    qid = np.repeat(np.arange(20), 3)
    X = np.zeros((60, 1))
    cv = QueryKFold(4, shuffle=True, n_repeats=3, random_state=7)
    found = [test.tolist() for _, test in cv.split(X, groups=qid)]
    rng = np.random.RandomState(7)
    expected = []
    for _ in range(3):
        once = QueryKFold(4, shuffle=True, random_state=rng).split(X, groups=qid)
        expected += [test.tolist() for _, test in once]
    assert found == expected
    assert len({str(sorted(found[i : i + 4])) for i in (0, 4, 8)}) == 3
    assert cv.get_n_splits() == 12
    for n_repeats in (0, 2.0):
        with pytest.raises(ValueError, match=f"n_repeats must .*got {n_repeats}"):
            QueryKFold(4, shuffle=True, n_repeats=n_repeats)
    with pytest.raises(ValueError, match=r"n_repeats must be 1 without shuffle.*got 2"):
        QueryKFold(4, n_repeats=2)
