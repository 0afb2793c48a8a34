"""Splitters: whole queries, any row order, ids three ways; and what each promises."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    cross_validate,
)

from tieaware_sklearn import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    make_ranking_scorer,
)
from tieaware_sklearn.model_selection import query_folds

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 12, size=23)
QID = np.repeat(RNG.permutation(23) * 3, SIZES)
Y = RNG.integers(0, 3, size=len(QID)).astype(float)
X = RNG.normal(size=(len(QID), 3))
DRAWN = {"shuffle": True, "random_state": 0}
MAKE = {
    "k-fold": lambda **k: QueryKFold(4, **k),
    "drawn k-fold": lambda **k: QueryKFold(4, **DRAWN, **k),
    "repeated": lambda **k: QueryKFold(3, n_repeats=2, **DRAWN, **k),
    "shuffled": lambda **k: QueryShuffleSplit(3, random_state=0, **k),
    "stratified": lambda **k: QueryKFold(4, stratify="n_relevant", **k),
    "drawn stratified": lambda **k: QueryKFold(4, stratify="mean_label", **DRAWN, **k),
    "in time": lambda **k: QueryTimeSeriesSplit(3, **k),
}
each = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


# -- every splitter


def queries_of(cv, X, y, qid):
    """Ids of the training and test queries of each split."""
    return [
        (set(np.asarray(qid)[train]), set(np.asarray(qid)[test]))
        for train, test in cv.split(X, y, groups=qid)
    ]


@each
def test_queries_are_whole_and_no_row_order_matters(make):
    expected = queries_of(make(), X, Y, QID)
    assert len(expected) == make().get_n_splits(X, Y, QID) == make().get_n_splits()
    parts = make().split(X, Y, QID)
    for ids, rows in zip(expected, parts, strict=True):
        assert all(ids)
        assert not ids[0] & ids[1]
        for chosen, found in zip(ids, rows, strict=True):
            assert np.array_equal(found, np.flatnonzero(np.isin(QID, list(chosen))))
    for _ in range(3):
        order = RNG.permutation(len(QID))
        assert queries_of(make(), X[order], Y[order], QID[order]) == expected


@each
def test_ids_come_in_three_ways(make):
    def rows(cv, X, **ids):
        return [[*map(list, part)] for part in cv.split(X, Y, **ids)]

    expected = rows(make(), X, groups=QID)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(q=QID)
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert rows(make(qid="q"), data) == expected
    array = np.c_[X, QID]
    for at, data in ((3, array), (-1, array.tolist()), (3, sparse.csr_array(array))):
        assert rows(make(qid=at), data) == expected
    names = [f"query {q:03}" for q in QID]
    assert rows(make(), X.tolist(), groups=names) == expected
    # by routing, the ids of the scorer alone where a column has those of the splitter
    with sklearn.config_context(enable_metadata_routing=True):
        apart = make(qid=3).set_split_request(groups=False)
        for cv, data in ((make(), X), (apart, array)):
            found = cross_validate(
                LinearRegression(),
                data,
                Y,
                cv=cv,
                scoring=make_ranking_scorer(),
                params={"qid": QID},
                error_score="raise",
                return_indices=True,
            )
            tests = [list(test) for test in found["indices"]["test"]]
            assert tests == [test for _, test in expected]


@each
def test_repr_clone_pickle_and_search(make):
    cv = make(qid="q")
    for other in (pickle.loads(pickle.dumps(cv)), clone(cv, safe=False)):
        assert type(other) is type(cv)
        assert repr(other) == repr(cv)
        assert "qid='q'" in repr(other)
    search = GridSearchCV(LinearRegression(), {"positive": [True, False]}, cv=make())
    search.fit(X, Y, groups=QID)
    assert len(search.cv_results_["mean_test_score"]) == 2


@each
def test_messages_say_how_to_pass_ids(make):
    off = (
        rf"groups must hold .*None.*routing is off.*{type(make()).__name__}\(qid=<name"
    )
    on = r"Pass it once, search.fit\(X, y, qid=qid\)"
    for routing, message in ((False, off), (True, on)):
        with (
            sklearn.config_context(enable_metadata_routing=routing),
            pytest.raises(ValueError, match=message),
        ):
            make().split(X, Y)
    frame = pd.DataFrame(X)
    for options, data, ids, message in (
        (
            {"qid": 0},
            X,
            QID,
            r"qid must be given once.*set_split_request\(groups=False",
        ),
        ({"qid": "q"}, frame, None, "qid must name a column of X, got 'q'"),
        ({"qid": 3}, X, None, "index of one of the 3 columns"),
        ({}, X, [1, *[None] * (len(X) - 1)], "groups must not be missing"),
        ({}, X, [1, 2], rf"one value per row \({len(X)}\), got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            make(**options).split(data, Y, ids)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: QueryKFold(1), ValueError, "n_splits=1"),
        (lambda: QueryKFold(2, random_state=0), ValueError, "random_state"),
        (lambda: QueryKFold(n_repeats=2), ValueError, "be 1 without shuffle.*got 2"),
        (lambda: QueryKFold(n_repeats=0, **DRAWN), ValueError, "n_repeats .*got 0"),
        (lambda: QueryKFold(n_repeats=2.0, **DRAWN), ValueError, "n_repeats .*got 2.0"),
        (lambda: QueryKFold(stratify="label"), ValueError, "stratify must .*'label'"),
        (lambda: QueryKFold(stratify=True), ValueError, "stratify must .*got True"),
        (lambda: QueryKFold(stratify=None), ValueError, "stratify must .*got None"),
        (lambda: QueryKFold(2).split([[0]], qid=[1]), TypeError, "argument 'qid'"),
        (lambda: QueryShuffleSplit(0), ValueError, "n_splits .* >= 1, got 0"),
        (lambda: QueryTimeSeriesSplit(gap=-1), ValueError, "gap .*>= 0, got -1"),
        (lambda: QueryTimeSeriesSplit(test_size=0), ValueError, "test_size .*>= 1"),
        (
            lambda: QueryTimeSeriesSplit(max_train_size=1.5),
            ValueError,
            "max_train_size .*>= 1, got 1.5",
        ),
    ],
)
def test_errors_of_options(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- folds


def rows_each(sizes):
    """X and the query of each row, by the sizes of queries."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return np.zeros((len(qid), 1)), qid


def loads(cv, X, qid):
    return [len(test) for _, test in cv.split(X, groups=qid)]


@pytest.mark.parametrize("options", [{}, DRAWN])
@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=5, max_size=30),
    n_splits=st.integers(2, 5),
    seed=st.integers(0, 99),
)
def test_folds_are_whole_balanced_and_fixed(options, sizes, n_splits, seed):
    X, qid = rows_each(sizes)
    rng, cv = np.random.default_rng(seed), QueryKFold(n_splits, **options)
    qid = rng.permutation(qid)
    folds = list(cv.split(X, None, qid))
    assert len(folds) == n_splits
    for train, test in folds:
        assert len(test)
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(len(qid)))
        assert not set(qid[test]) & set(qid[train])
    tests = [test for _, test in folds]
    assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(len(qid)))
    assert np.ptp([len(test) for test in tests]) <= (2 if options else 1) * max(sizes)
    # the same queries together in any order of rows
    order = rng.permutation(len(qid))
    again = queries_of(cv, X, None, qid[order])
    assert [set(qid[test]) for test in tests] == [test for _, test in again]


@pytest.mark.parametrize("n_splits", [2, 3, 7])
@pytest.mark.parametrize("options", [{}, DRAWN])
def test_folds_are_those_of_the_rule_and_the_seed(n_splits, options):
    sizes = np.random.default_rng(n_splits).geometric(1 / 4, size=300)
    X, qid = rows_each(sizes)
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


def test_folds_are_more_even_than_those_of_groups():
    X, qid = rows_each(np.random.default_rng(0).geometric(1 / 100, size=200))
    for options in ({}, DRAWN):
        assert np.ptp(loads(QueryKFold(5, **options), X, qid)) <= 5
    assert np.ptp(loads(GroupKFold(5, **DRAWN), X, qid)) > 500
    plain = sorted(loads(QueryKFold(5), X, qid))
    assert plain == sorted(loads(GroupKFold(5), X, qid))
    # one huge query stands alone
    X, qid = rows_each([10] * 30 + [1000])
    for options in ({}, DRAWN):
        found = loads(QueryKFold(4, **options), X, qid)
        assert sorted(found) == [100, 100, 100, 1000]


@pytest.mark.parametrize("stratify", [False, "n_relevant"])
def test_shuffling_draws_other_folds(stratify):
    X, qid = rows_each([5] * 30)
    y = qid % 4 // 3

    def first(seed):
        cv = QueryKFold(3, shuffle=True, random_state=seed, stratify=stratify)
        return frozenset(qid[next(cv.split(X, y, groups=qid))[1]])

    assert len({first(seed) for seed in range(10)}) == 10
    assert first(3) == first(3)
    rng = np.random.RandomState(0)
    assert first(rng) != first(rng)


def test_repeats_are_shuffled_folds_of_one_stream():
    X, qid = rows_each([3] * 20)
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

    def folds(qid):
        parts = QueryKFold(3).split(np.zeros((len(qid), 1)), groups=qid)
        return [{ids.index(qid[row]) for row in test} for _, test in parts]

    rng = np.random.default_rng(0)
    for _ in range(5):
        assert folds([qid[i] for i in rng.permutation(len(qid))]) == folds(qid)


# -- folds alike in relevance


def skewed(seed, n_queries=120):
    """Queries of all lengths, many without a relevant document, few with many."""
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(1 / 20, size=n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    share = np.repeat(rng.choice([0.0, 0.0, 0.05, 0.5], size=n_queries), sizes)
    y = (rng.random(len(qid)) < share) * rng.integers(1, 5, size=len(qid))
    return qid, y.astype(float)


def spreads(cv, qid, y):
    """Greatest less least fold: rows, queries, those without relevant, relevant."""
    relevant = np.bincount(qid, weights=y >= 1)
    out = []
    for _, test in cv.split(np.zeros((len(y), 1)), y, qid):
        there = np.unique(qid[test])
        row = len(test), len(there), (relevant[there] == 0).sum(), (y[test] >= 1).sum()
        out.append(row)
    return np.ptp(np.array(out), axis=0)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 1}])
@pytest.mark.parametrize("by", ["n_relevant", "mean_label"])
@pytest.mark.parametrize("seed", range(3))
def test_stratified_folds_are_alike(seed, by, options):
    qid, y = skewed(seed)
    rows, queries, without, relevant = spreads(
        QueryKFold(5, stratify=by, **options), qid, y
    )
    assert rows <= np.bincount(qid).max()
    assert queries <= 1
    assert without <= 1
    plain = spreads(QueryKFold(5, **options), qid, y)
    assert plain[2] > without
    if by == "n_relevant":
        assert relevant < plain[3]


def test_more_even_in_queries_than_stratified_group_k_fold():
    qid, y = skewed(4)
    ours = spreads(QueryKFold(5, stratify="n_relevant"), qid, y)
    theirs = spreads(StratifiedGroupKFold(5), qid, (y >= 1).astype(int))
    assert ours[1] < theirs[1]
    assert ours[2] < theirs[2]


def test_mean_labels_have_grades_and_shares():
    # eight queries of four: half with a document of grade 1, half of grade 3
    X, qid = rows_each([4] * 8)
    y = np.zeros(32)
    y[::4] = [1, 1, 1, 1, 3, 3, 3, 3]
    for _, test in QueryKFold(4, stratify="mean_label").split(X, y, qid):
        assert sorted(y[test][y[test] > 0]) == [1, 3]
    # the mean looks at the share: 2 of 4 is as good as 1 of 2
    X, qid = rows_each([4, 4, 2, 2])
    y = np.array([1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], dtype=float)
    for _, test in QueryKFold(2, stratify="mean_label").split(X, y, qid):
        assert len(set(qid[test]) & {0, 2}) == 1


def test_means_of_labels_do_not_go_by_the_order_of_rows():
    X, qid = rows_each([3] * 12)
    y = np.tile([0.1, 0.2, 0.3], 12)
    rng = np.random.default_rng(0)
    cv = QueryKFold(3, stratify="mean_label")
    expected = queries_of(cv, X, y, qid)
    for _ in range(5):
        order = rng.permutation(36)
        assert queries_of(cv, X, y[order], qid[order]) == expected


def test_unjudged_is_not_relevant():
    qid, y = skewed(1)
    cv = QueryKFold(5, stratify="n_relevant")
    holes = np.where(y == 0, np.nan, y)
    X = y[:, None]
    assert queries_of(cv, X, y, qid) == queries_of(cv, X, holes, qid)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, None, "y must hold the labels .* by n_relevant, got None"),
        ({}, [0, 1, -1, 0], "y must be >= 0, got -1.0 in row 2"),
        ({}, [0, 1], r"y must have one value per row \(4\), got 2"),
        ({"n_splits": 3}, [0, 1, 1, 0], r"number of queries \(2\), got 3"),
    ],
)
def test_errors_of_folds(options, y, message):
    cv = QueryKFold(**{"n_splits": 2, "stratify": "n_relevant", **options})
    with pytest.raises(ValueError, match=message):
        cv.split(np.zeros((4, 1)), y, [1, 1, 2, 2])


class Folds:
    def __init__(self, *folds):
        self.folds = folds

    def split(self, X, y, groups):
        return self.folds

    def __repr__(self):
        return "these"


CODES, IDS = np.array([0, 1, 0, 2]), np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (4, r"cv must be at most the number of queries \(3\), got 4"),
        (True, "cv must be a number of folds or a cross-validator, got True"),
        ("ab", "cv must be a number of folds or a cross-validator, got 'ab'"),
        (QueryKFold(2, qid=0), "cv must leave its qid at None"),
        (Folds(), "cv must make a fold, got none from these"),
        (Folds(([0, 2], [1]), ([0, 1], [3])), "whole .*, got fold 1 of these"),
        (Folds(([1], [0])), "whole and test on others .*, got fold 0 of these"),
        (Folds(([0, 1, 2], [1])), "whole and test on others .*, got fold 0 of these"),
    ],
)
def test_folds_of_queries_are_checked(cv, message):
    with pytest.raises(ValueError, match=message):
        query_folds(cv, np.zeros((4, 1)), np.zeros(4), CODES, IDS)


@pytest.mark.parametrize("cv", [3, np.int64(3), QueryKFold(3)])
def test_folds_of_queries_are_by_number(cv):
    found = query_folds(cv, np.zeros((4, 1)), np.zeros(4), CODES, IDS)
    tests = sorted((test.tolist(), train.tolist()) for train, test in found)
    assert tests == [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]


# -- later queries for testing

N_ROWS = np.random.default_rng(0).integers(1, 6, size=17)
FLAT, WHICH = rows_each(N_ROWS)
TIME = np.random.default_rng(1).permutation(17)[WHICH]


def numbers(parts, by=WHICH):
    return [(sorted(set(by[train])), sorted(set(by[test]))) for train, test in parts]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_splits": 3, "test_size": 2},
        {"n_splits": 2, "gap": 3, "max_train_size": 4},
        {"n_splits": 4, "test_size": 1, "gap": 0, "max_train_size": 100},
    ],
)
def test_folds_are_those_of_time_series_split_over_queries(options):
    expected = [
        (train.tolist(), test.tolist())
        for train, test in TimeSeriesSplit(**options).split(np.zeros(17))
    ]
    cv = QueryTimeSeriesSplit(**options)
    assert numbers(cv.split(FLAT, groups=WHICH)) == expected
    order = RNG.permutation(len(WHICH))
    parts = cv.split(FLAT, None, WHICH[order], TIME[order])
    assert numbers(parts, TIME[order]) == expected


@pytest.mark.parametrize(
    "of",
    [
        lambda t: (t / 7).tolist(),
        lambda t: np.datetime64("2026-01-01") + t,
        lambda t: pd.Series(pd.to_datetime(1e18 + t * 1e9, utc=True)),
        lambda t: [datetime(2026, 1, 1 + int(i), tzinfo=UTC) for i in t],
        lambda t: [f"2026-01-{i:02}" for i in t],
        # integers and floats are numbers together
        lambda t: [int(i) if i % 2 else float(i) for i in t],
    ],
)
def test_times_of_any_kind(of):
    cv = QueryTimeSeriesSplit(3)
    expected = numbers(cv.split(FLAT, groups=WHICH, time=TIME))
    assert numbers(cv.split(FLAT, groups=WHICH, time=of(TIME))) == expected


def test_time_from_a_column_or_by_routing():
    frame = pd.DataFrame(FLAT, columns=["a"]).assign(q=WHICH, day=TIME)
    expected = numbers(QueryTimeSeriesSplit(3).split(FLAT, groups=WHICH, time=TIME))
    cv = QueryTimeSeriesSplit(3, qid="q", time="day")
    assert numbers(cv.split(frame)) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            LinearRegression(),
            FLAT,
            TIME,
            cv=QueryTimeSeriesSplit(3),
            scoring=make_ranking_scorer(),
            params={"qid": WHICH, "time": TIME},
            return_indices=True,
        )["indices"]
    assert numbers(zip(found["train"], found["test"], strict=True)) == expected


def test_queries_of_one_time_come_by_id():
    parts = QueryTimeSeriesSplit(2, test_size=1).split(
        np.zeros((4, 1)), groups=["d", "b", "a", "c"], time=[1, 1, 1, 0]
    )
    found = [(train.tolist(), test.tolist()) for train, test in parts]
    assert found == [([2, 3], [1]), ([1, 2, 3], [0])]


@pytest.mark.parametrize(
    ("options", "time", "message"),
    [
        ({"n_splits": 17}, None, "training, got .*test_size=0, gap=0 for 17 queries"),
        ({"gap": 8}, None, "training, got n_splits=5, test_size=2, gap=8 for 17 quer"),
        ({"test_size": 4}, None, "must leave queries for training"),
        ({"time": 0}, TIME, r"time must be given once.*\(time=False\)"),
        ({"time": "hour"}, None, "time must name a column of X, got 'hour'"),
        ({}, np.arange(len(WHICH)), "time must be constant .* query"),
        ({}, np.where(WHICH == 3, np.nan, TIME), "time must not be missing"),
        ({}, TIME[1:], "time must have one value per row"),
    ],
)
def test_errors_of_time(options, time, message):
    data = pd.DataFrame({"a": FLAT[:, 0]}) if "time" in options else FLAT
    with pytest.raises(ValueError, match=message):
        QueryTimeSeriesSplit(**options).split(data, groups=WHICH, time=time)
