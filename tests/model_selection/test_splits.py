"""Splitters and splits of arrays: whole queries, any row order, ids three ways."""

import pickle
from datetime import UTC, datetime
from itertools import pairwise

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
from sklearn.model_selection import GroupShuffleSplit, TimeSeriesSplit, cross_validate

import tieaware_sklearn as ta
from tests.model_selection.helpers import Folds
from tieaware_sklearn import QueryKFold, QueryShuffleSplit, QueryTimeSeriesSplit
from tieaware_sklearn.model_selection._splits import query_folds

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 9, size=40)
QID = np.repeat(RNG.permutation(40), SIZES)
Y = RNG.integers(0, 3, size=len(QID)).astype(float)
X = np.arange(len(QID) * 2.0).reshape(-1, 2)
DRAWN = {"shuffle": True, "random_state": 0}
SCORED = {"scoring": ta.make_ranking_scorer(), "error_score": "raise"}
SCORED["return_indices"] = True
MAKE = {
    "k-fold": lambda **k: QueryKFold(4, **k),
    "repeated": lambda **k: QueryKFold(3, n_repeats=2, **DRAWN, **k),
    "shuffled": lambda **k: QueryShuffleSplit(3, random_state=0, **k),
    "stratified": lambda **k: QueryKFold(4, stratify="n_relevant", **k),
    "drawn stratified": lambda **k: QueryKFold(4, stratify="mean_label", **DRAWN, **k),
    "in time": lambda **k: QueryTimeSeriesSplit(3, time="qid", **k),
}
each = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


def queries_of(parts, by=QID):
    """Ids of the training and test queries of each split."""
    return [(sorted({*by[train]}), sorted({*by[test]})) for train, test in parts]


# -- every splitter


@each
def test_queries_are_whole_and_no_row_order_matters(make):
    expected = queries_of(make().split(X, Y, QID))
    assert len(expected) == make().get_n_splits(X, Y, QID) == make().get_n_splits()
    for ids, rows in zip(expected, make().split(X, Y, QID), strict=True):
        assert all(ids)
        assert not {*ids[0]} & {*ids[1]}
        for chosen, found in zip(ids, rows, strict=True):
            assert np.array_equal(found, np.flatnonzero(np.isin(QID, chosen)))
    order = RNG.permutation(len(QID))
    parts = make().split(X[order], Y[order], QID[order])
    assert queries_of(parts, QID[order]) == expected


@each
def test_ids_come_in_three_ways(make):
    def rows(cv, X, **ids):
        return [[*map(list, part)] for part in cv.split(X, Y, **ids)]

    expected = rows(make(), X, groups=QID)
    assert rows(make(), X, qid=QID) == expected
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID)
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert rows(make(qid="q"), data) == expected
    array = np.c_[X, QID]
    kinds = array, sparse.csr_array(array), sparse.coo_array(array)
    for at, data in ((-1, array.tolist()), *((2, one) for one in kinds)):
        assert rows(make(qid=at), data) == expected
    names = [f"query {q:03}" for q in QID]
    assert rows(make(), X.tolist(), groups=names) == expected
    # by routing, the ids of the scorer alone where a column has those of the splitter
    with sklearn.config_context(enable_metadata_routing=True):
        apart = make(qid=2).set_split_request(qid=False)
        renamed = make().set_split_request(qid="query")
        ids = {"qid": QID}
        for cv, data, params in (
            (make(), X, ids),
            (apart, array, ids),
            (renamed, X, {"query": QID, **ids}),
            (make().set_split_request(qid=False), X, {"groups": QID, **ids}),
        ):
            how = {"cv": cv, "params": params, **SCORED}
            found = cross_validate(LinearRegression(), data, Y, **how)
            tests = [list(test) for test in found["indices"]["test"]]
            assert tests == [test for _, test in expected]
    for other in (pickle.loads(pickle.dumps(apart)), clone(apart, safe=False)):
        assert repr(other) == repr(apart)
        assert "qid=2" in repr(other)


@each
def test_messages_say_how_to_pass_ids(make):
    off = rf"qid must hold .*None.*is off.*{type(make()).__name__}\(qid=<name"
    on = r"Pass it once, search.fit\(X, y, qid=qid\)"
    for routing, message in ((False, off), (True, on)):
        with (
            sklearn.config_context(enable_metadata_routing=routing),
            pytest.raises(ValueError, match=message),
        ):
            list(make().split(X, Y))
    once = r"qid must be given once.*set_split_request\(groups=False"
    for options, data, ids, message in (
        ({"qid": 0}, X, QID, once),
        ({"qid": "q"}, pd.DataFrame(X), None, "qid must name a column of X, got 'q'"),
        ({"qid": 2}, X, None, "index of one of the 2 columns"),
        ({}, X, [1, *[None] * (len(X) - 1)], "groups must not be missing"),
        ({}, X, [1, 2], rf"one value per row \({len(X)}\), got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            list(make(**options).split(data, Y, ids))
    with pytest.raises(ValueError, match="qid must be given once, got groups"):
        list(make().split(X, Y, QID, qid=QID))


# -- folds


def rows_each(sizes):
    """X and the query of each row, by the sizes of queries."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return np.zeros((len(qid), 1)), qid


@pytest.mark.parametrize("n_splits", [2, 3, 7])
@pytest.mark.parametrize("options", [{}, DRAWN])
def test_folds_are_those_of_the_rule_and_the_seed(n_splits, options):
    sizes = np.random.default_rng(n_splits).geometric(1 / 4, size=300)
    sizes[9] = 1000
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


@pytest.mark.parametrize("stratify", [False, "n_relevant"])
def test_repeats_are_shuffled_folds_of_one_stream(stratify):
    def folds(random_state=7, n_repeats=1):
        how = {"random_state": random_state, "n_repeats": n_repeats}
        cv = QueryKFold(4, shuffle=True, stratify=stratify, **how)
        return [test.tolist() for _, test in cv.split(X, Y, QID)]

    rng = np.random.RandomState(7)
    once = [folds(rng) for _ in range(3)]
    assert folds(n_repeats=3) == [test for found in once for test in found]
    assert len({str(sorted(found)) for found in once}) == 3
    assert len({str(sorted(folds(seed))) for seed in range(10)}) == 10


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
    for _, test in cv.split(y[:, None], y, qid):
        own = relevant[np.unique(qid[test])]
        out.append((len(test), len(own), (own == 0).sum(), own.sum()))
    return np.ptp(np.array(out), axis=0)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 1}])
@pytest.mark.parametrize("by", ["n_relevant", "mean_label"])
@pytest.mark.parametrize("seed", range(3))
def test_stratified_folds_are_alike(seed, by, options):
    qid, y = skewed(seed)
    cv = QueryKFold(5, stratify=by, **options)
    rows, queries, without, relevant = spreads(cv, qid, y)
    assert rows <= np.bincount(qid).max()
    assert queries <= 1
    assert without <= 1
    plain = spreads(QueryKFold(5, **options), qid, y)
    assert plain[2] > without
    if by == "n_relevant":
        assert relevant < plain[3]
    # a document without a judgment counts as not relevant
    holes = np.where(y == 0, np.nan, y)
    X = y[:, None]
    expected = queries_of(cv.split(X, y, qid), qid)
    assert queries_of(cv.split(X, holes, qid), qid) == expected


@pytest.mark.parametrize("options", [{}, DRAWN])
def test_stratified_folds_are_those_of_the_rule_and_the_seed(options):
    # sorts of Python are stable: queries that are equal keep their order
    n_splits = 3
    rng = np.random.default_rng(5)
    sizes, n_relevant = rng.integers(2, 5, size=(2, 121))
    n_relevant = np.minimum(n_relevant, sizes)
    X, qid = rows_each(sizes)
    y = np.concatenate(
        [np.arange(n) < r for n, r in zip(sizes, n_relevant, strict=True)]
    )
    drawn = np.random.RandomState(0)
    order = drawn.permutation(121).tolist() if options else [*range(121)]
    order.sort(key=lambda query: -sizes[query])
    order.sort(key=lambda query: n_relevant[query])
    groups = [order[:1], *(order[i : i + n_splits] for i in range(1, 121, n_splits))]
    for group in groups:
        group.sort(key=lambda query: -sizes[query])
    spread = [np.ptp([*sizes[group], *[0] * (len(group) < 3)]) for group in groups]
    load, fold = np.zeros(n_splits, dtype=int), np.zeros(121, dtype=int)
    for number in sorted(range(len(groups)), key=lambda number: -spread[number]):
        free = [*range(n_splits)]
        for query in groups[number]:
            least = min(load[free])
            fold[query] = next(k for k in free if load[k] == least)
            near = [k for k in free if load[k] < least + sizes[query]]
            if options and len(near) > 1:
                fold[query] = near[drawn.randint(len(near))]
            elif options:
                fold[query] = near[0]
            load[fold[query]] += sizes[query]
            free.remove(fold[query])
    folds = QueryKFold(n_splits, stratify="n_relevant", **options).split(X, y, qid)
    for number, (_, test) in enumerate(folds):
        assert np.array_equal(test, np.flatnonzero(fold[qid] == number))


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
    # and has the same bits in any order of rows
    X, qid = rows_each([3] * 12)
    y, cv = np.tile([0.1, 0.2, 0.3], 12), QueryKFold(3, stratify="mean_label")
    expected = queries_of(cv.split(X, y, qid), qid)
    for _ in range(5):
        order = RNG.permutation(36)
        parts = cv.split(X, y[order], qid[order])
        assert queries_of(parts, qid[order]) == expected


# -- later queries for testing

FLAT, WHICH = rows_each(np.random.default_rng(0).integers(1, 6, size=17))
TIME = np.random.default_rng(1).permutation(17)[WHICH]


SPLITS = [
    {},
    {"n_splits": 3, "test_size": 2},
    {"n_splits": 2, "gap": 3, "max_train_size": 4},
    {"n_splits": 4, "test_size": 1, "gap": 0, "max_train_size": 100},
]


@pytest.mark.parametrize("options", SPLITS)
def test_folds_are_those_of_time_series_split_over_queries(options):
    parts = TimeSeriesSplit(**options).split(np.zeros(17))
    expected = queries_of(parts, np.arange(17))
    by_id = QueryTimeSeriesSplit(**options, time="qid")
    assert queries_of(by_id.split(FLAT, groups=WHICH), WHICH) == expected
    cv = QueryTimeSeriesSplit(**options)
    order = RNG.permutation(len(WHICH))
    parts = cv.split(FLAT, None, WHICH[order], TIME[order])
    assert queries_of(parts, TIME[order]) == expected


TIMES = [
    lambda t: (t / 7).tolist(),
    lambda t: np.datetime64("2026-01-01") + t,
    lambda t: pd.Series(pd.to_datetime(1e18 + t * 1e9, utc=True)),
    lambda t: [datetime(2026, 1, 1 + int(i), tzinfo=UTC) for i in t],
    lambda t: [f"2026-01-{i:02}" for i in t],
    # integers and floats are numbers together
    lambda t: [int(i) if i % 2 else float(i) for i in t],
]


@pytest.mark.parametrize("of", TIMES)
def test_times_of_any_kind_from_a_column_or_by_routing(of):
    cv = QueryTimeSeriesSplit(3)
    expected = queries_of(cv.split(FLAT, groups=WHICH, time=TIME), WHICH)
    given = {"qid": WHICH, "time": of(TIME)}
    assert queries_of(cv.split(FLAT, None, *given.values()), WHICH) == expected
    frame = pd.DataFrame(FLAT, columns=["a"]).assign(**given)
    by_column = QueryTimeSeriesSplit(3, qid="qid", time="time")
    assert queries_of(by_column.split(frame), WHICH) == expected
    how = {"cv": cv, "params": given, **SCORED}
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(LinearRegression(), FLAT, TIME, **how)
    assert queries_of(zip(*found["indices"].values(), strict=True), WHICH) == expected


@settings(max_examples=60)
@given(
    times=st.lists(st.integers(0, 6), min_size=4, max_size=30),
    n_splits=st.integers(2, 4),
    test_size=st.none() | st.integers(1, 4),
    gap=st.integers(0, 2),
)
def test_queries_of_one_time_are_on_one_side(times, n_splits, test_size, gap):
    times = np.array(times)
    ids, n_times = np.arange(len(times)), len(set(times.tolist()))
    how = {"test_size": test_size, "gap": gap, "max_train_size": 5}
    cv = QueryTimeSeriesSplit(n_splits, **how)
    rows = ids[:, None], None, ids, times
    size = test_size or len(ids) // (n_splits + 1)
    if n_times <= n_splits or len(ids) - n_splits * size <= gap:
        with pytest.raises(ValueError, match=rf"must leave .* of {n_times} times"):
            list(cv.split(*rows))
        return
    try:
        parts = [(train, times[train], times[test]) for train, test in cv.split(*rows)]
    except ValueError:  # the first change of time leaves nothing before the gap
        assert gap
        return
    tested = [time for _, _, test in parts for time in test]
    first = min(tested)
    assert sorted(tested) == sorted(times[times >= first])
    for train, before, test in parts:
        assert before.max() < test.min()
        # the last ones, but for the gap
        assert len(train) == min(5, (times < test.min()).sum() - gap)
    assert all(a[2].max() < b[2].min() for a, b in pairwise(parts))


# -- drawn at random


SIZES_OF_SETS = [
    ({}, (32, 8)),
    ({"test_size": 0.3}, (28, 12)),
    ({"test_size": 5}, (35, 5)),
    ({"train_size": 0.33}, (13, 27)),
    ({"train_size": 10, "test_size": 0.5}, (10, 20)),
]


@pytest.mark.parametrize(("sizes", "numbers"), SIZES_OF_SETS)
def test_sizes_are_of_queries_and_sets_those_of_group_shuffle_split(sizes, numbers):
    ours, theirs = (
        queries_of(Split(3, random_state=5, **sizes).split(X, groups=QID))
        for Split in (QueryShuffleSplit, GroupShuffleSplit)
    )
    assert ours == theirs
    assert {tuple(map(len, ids)) for ids in ours} == {numbers}


# -- arrays


def split_queries(*arrays, **options):
    return ta.train_test_split_queries(*arrays, **{"qid": QID, **options})


def test_arrays_are_split_and_qid_comes_last():
    split = split_queries(X, Y, random_state=0)
    qid_test = split[-1]
    assert len(np.unique(qid_test)) == 10
    inside = np.isin(QID, qid_test)
    for array, train, test in zip((X, Y, QID), split[::2], split[1::2], strict=True):
        assert np.array_equal(train, array[~inside])
        assert np.array_equal(test, array[inside])
    order = RNG.permutation(len(QID))
    again = split_queries(X[order], qid=QID[order], random_state=0)
    assert set(again[-1]) == set(qid_test) != set(split_queries(X, random_state=1)[-1])
    # of ids in a column of the first array
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID)
    _, found, *others = split_queries(frame, Y, qid="q", random_state=0)
    assert np.array_equal(found["q"], qid_test)
    assert [*map(list, others)] == [*map(list, split[2:4])]
    found = split_queries(np.c_[QID, X], qid=0, random_state=0)
    assert np.array_equal(found[1][:, 0], qid_test)
    # without shuffling, the last ids are for testing
    for sizes, train, test in (
        ({}, range(30), range(30, 40)),
        ({"train_size": 5, "test_size": 5}, range(5), range(5, 10)),
    ):
        *_, train_ids, test_ids = split_queries(X, shuffle=False, **sizes)
        assert (set(train_ids), set(test_ids)) == (set(train), set(test))


def test_containers_come_back_as_they_are():
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X))[::-1])
    arrays = [
        X.tolist(),
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame, preserve_index=False),
        pa.array(Y),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        pd.Series(Y),
        pd.Categorical(Y),
    ]
    plain = split_queries(X, Y, random_state=0)
    *found, train_ids, _ = split_queries(*arrays, qid=QID.tolist(), random_state=0)
    for number, array in enumerate(arrays):
        for expected, part in enumerate(found[2 * number : 2 * number + 2]):
            assert isinstance(part, type(array)) or sparse.issparse(array)
            cells = part.toarray() if sparse.issparse(part) else np.asarray(part)
            values = plain[expected if cells.ndim == 2 else 2 + expected]
            assert np.array_equal(cells, values)
    assert train_ids == plain[-2].tolist()
    assert list(found[2].index) == [len(X) - 1 - i for i in plain[0][:, 0] // 2]


@pytest.mark.parametrize("test_size", [0.1, 0.25, 0.5, 0.8])
def test_stratified_by_labels(test_size):
    y = np.repeat(np.arange(40) % 20, SIZES)  # by place, not by id
    ends = []
    for seed in range(10):
        options = {"test_size": test_size, "random_state": seed}
        *_, test = split_queries(X, y, stratify=y, **options)
        assert len(set(test)) == 40 * test_size
        worths = [y[q == QID][0] for q in set(test)]
        assert abs(np.mean(worths) - 9.5) < (4 if test_size == 0.1 else 1)
        ends.append(frozenset(test.tolist()))
    assert len(set(ends)) == 10
    order = RNG.permutation(len(QID))
    *_, test = split_queries(X, qid=QID[order], stratify=y[order], **options)
    assert set(test) == ends[-1]
    # what is no number
    market = np.array(["de", "fr", "it", "us"])[QID % 4]
    sizes = {"train_size": 16, "test_size": 8, "random_state": 0}
    for values in (market, market.tolist(), pd.Series(market, dtype="category")):
        *_, train, test = split_queries(X, stratify=values, **sizes)
        for ids, number in ((train, 4), (test, 2)):
            assert np.bincount(np.unique(ids) % 4).tolist() == [number] * 4


def test_strata_are_drawn_in_the_order_of_the_seed():
    X, qid = rows_each([2] * 200)
    strata = qid % 3
    *_, drawn = split_queries(
        X, qid=qid, stratify=strata, test_size=20, train_size=150, random_state=4
    )
    rng = np.random.RandomState(4)
    order = sorted(rng.permutation(200).tolist(), key=lambda query: query % 3)
    ends = [10 * i for i in range(21)]
    chosen = rng.randint(ends[:-1], ends[1:])
    assert set(drawn) == {order[i] for i in chosen}


# -- what is refused


CODES, IDS = np.array([0, 1, 0, 2]), np.array(["a", "b", "c"])


def folds_of(cv):
    return query_folds(cv, np.zeros((4, 1)), np.zeros(4), CODES, IDS)


def relevant_folds(y, **options):
    cv = QueryKFold(**{"n_splits": 2, "stratify": "n_relevant", **options})
    return list(cv.split(np.zeros((4, 1)), y, [1, 1, 2, 2]))


def in_time(times=None, **options):
    X = pd.DataFrame({"a": FLAT[:, 0]})
    return list(QueryTimeSeriesSplit(**options).split(X, None, WHICH, times))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: QueryKFold(1), "n_splits=1"),
        (lambda: QueryKFold(2, random_state=0), "random_state"),
        (lambda: QueryKFold(n_repeats=2), "n_repeats must be 1 without shuffle.*got 2"),
        (lambda: QueryKFold(n_repeats=0, **DRAWN), "n_repeats .*got 0"),
        (lambda: QueryKFold(n_repeats=2.0, **DRAWN), "n_repeats .*got 2.0"),
        (lambda: QueryKFold(stratify="label"), "stratify must .*got 'label'"),
        (lambda: QueryKFold(stratify=True), "stratify must .*got True"),
        (lambda: QueryKFold(stratify=None), "stratify must .*got None"),
        (lambda: relevant_folds(None), "y must hold the labels .* n_relevant"),
        (lambda: relevant_folds([0, 1, -1, 0]), "y must be >= 0, got -1.0 in row 2"),
        (lambda: relevant_folds([0, 1]), r"numbers of samples: \[4, 2, 4\]"),
        (lambda: relevant_folds(None, n_splits=3), r"number of queries \(2\), got 3"),
        (lambda: folds_of(4), r"n_splits must be at most .* \(3\), got 4"),
        (lambda: folds_of(True), "n_splits=2 or more, got n_splits=1"),
        (lambda: folds_of("ab"), "cv must be .* a cross-validator, got 'ab'"),
        (lambda: folds_of(QueryKFold(2, qid=0)), "qid must be given once: it is col"),
        (lambda: folds_of(Folds()), "cv must make a fold, got none from these"),
        (lambda: folds_of(Folds(([0, 2], [1]), ([0, 1], [3]))), "whole .* fold 1 of"),
        (lambda: folds_of(Folds(([1], [0]))), "whole and test on other .* fold 0"),
        (lambda: folds_of(Folds(([0, 1, 2], [1]))), "test on other .*, got fold 0"),
        (lambda: QueryShuffleSplit(0), "n_splits .* >= 1, got 0"),
        (lambda: next(QueryShuffleSplit(test_size=40).split(X, None, QID)), "_size=40"),
        (lambda: QueryTimeSeriesSplit(gap=-1), "gap .*>= 0, got -1"),
        (lambda: QueryTimeSeriesSplit(test_size=0), "test_size .*>= 1, got 0"),
        (lambda: QueryTimeSeriesSplit(max_train_size=1.5), "max_train.*>= 1, got 1.5"),
        (lambda: in_time(TIME, n_splits=17), "training, .*test_size=0, gap=0 for 17 q"),
        (lambda: in_time(TIME, gap=8), "n_splits=5, test_size=2, gap=8 for 17 queries"),
        (lambda: in_time(TIME, test_size=4), "must leave queries for training"),
        (lambda: in_time(), 'time must hold the time .*None.*time="qid" is the order'),
        (lambda: in_time(TIME, time="qid"), "time must be given once, got time='qid'"),
        (lambda: in_time(TIME, time=0), r"time must be given once.*\(time=False\)"),
        (lambda: in_time(time="hour"), "time must name a column of X, got 'hour'"),
        (lambda: in_time(np.arange(len(WHICH))), "time must be constant .* query"),
        (lambda: in_time(np.where(WHICH == 3, np.nan, TIME)), "must not be missing"),
        (lambda: in_time(TIME[1:]), "time must have one value per row"),
        (lambda: split_queries(), "arrays must include at least one array, got none"),
        (lambda: split_queries(X, None), "got None in array 1"),
        (lambda: split_queries(X, qid=None), "qid must say which .*, got None"),
        (lambda: split_queries(X, qid=QID[1:]), r"row per value of qid .* in array 0"),
        (lambda: split_queries(X, qid="q"), "qid must be an index where X has"),
        (lambda: split_queries(X, test_size=1.0), r"_size=1.0 .* 40 .* \(0, 1\)"),
        (lambda: split_queries(X, test_size=0), "test_size=0 "),
        (lambda: split_queries(X, test_size=True), "test_size: True"),
        (lambda: split_queries(X, test_size=40), "test_size=40 .*number of samples 40"),
        (lambda: split_queries(X, test_size=0.6, train_size=0.6), "1.2, "),
        (lambda: split_queries(X, stratify=Y, shuffle=False), "None with shuffle=F"),
        (lambda: split_queries(X, random_state="x"), "random_state must be"),
        (lambda: split_queries(X, stratify=Y[1:]),
         "stratify must have one value per row"),
        (lambda: split_queries(X, stratify=[np.nan] * len(Y)),
         "stratify must be finite"),
        (lambda: split_queries(X, stratify=Y.astype(str)), "stratify.* within a query"),
    ],
)  # fmt: skip
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("cv", [3, np.int64(3), QueryKFold(3)])
def test_folds_of_queries_are_by_number(cv):
    tests = sorted((test.tolist(), train.tolist()) for train, test in folds_of(cv))
    assert tests == [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]
