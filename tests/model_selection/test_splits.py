"""Splitters and splits of arrays: whole queries, any row order, many sources of ids."""

import pickle
from datetime import UTC, datetime
from functools import partial
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
FRAME = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID)
SHUFFLED = {"shuffle": True, "random_state": 0}
SPLITTERS = {
    "k-fold": partial(QueryKFold, 4),
    "repeated": partial(QueryKFold, 3, n_repeats=2, **SHUFFLED),
    "shuffled": partial(QueryShuffleSplit, 3, random_state=0),
    "stratified": partial(QueryKFold, 4, stratify="n_relevant"),
    "shuffled stratified": partial(QueryKFold, 4, stratify="mean_label", **SHUFFLED),
    "in time": partial(QueryTimeSeriesSplit, 3, time="qid"),
}
each_splitter = pytest.mark.parametrize("make", SPLITTERS.values(), ids=SPLITTERS)


def query_ids(splits, qid=QID):
    """Return the sorted ids of the training and test queries of each split."""
    pairs = []
    for train, test in splits:
        train_ids = np.unique(qid[train])
        test_ids = np.unique(qid[test])
        pairs.append((train_ids.tolist(), test_ids.tolist()))
    return pairs


def split_rows(splits):
    """Return the training and test rows of each split as lists."""
    return [(list(train), list(test)) for train, test in splits]


def routed_splits(cv, X, y, params):
    """Return the rows of the splits that `cross_validate` makes with routing."""
    with sklearn.config_context(enable_metadata_routing=True):
        results = cross_validate(
            LinearRegression(),
            X,
            y,
            cv=cv,
            params=params,
            scoring=ta.make_ranking_scorer(),
            error_score="raise",
            return_indices=True,
        )
    indices = results["indices"]
    return zip(indices["train"], indices["test"], strict=True)


# -- every splitter


@each_splitter
def test_queries_are_whole(make):
    splits = list(make().split(X, Y, QID))
    assert len(splits) == make().get_n_splits(X, Y, QID)
    assert len(splits) == make().get_n_splits()
    for train, test in splits:
        in_train = np.isin(QID, QID[train])
        in_test = np.isin(QID, QID[test])
        assert in_train.any()
        assert in_test.any()
        assert not np.any(in_train & in_test)
        assert np.array_equal(train, np.flatnonzero(in_train))
        assert np.array_equal(test, np.flatnonzero(in_test))


@each_splitter
def test_row_order_does_not_matter(make):
    expected = query_ids(make().split(X, Y, QID))
    order = RNG.permutation(len(QID))
    qid = QID[order]
    splits = make().split(X[order], Y[order], qid)
    assert query_ids(splits, qid) == expected


@each_splitter
def test_ids_are_an_argument(make):
    expected = split_rows(make().split(X, Y, groups=QID))
    assert split_rows(make().split(X, Y, qid=QID)) == expected
    names = [f"query {q:03}" for q in QID]
    assert split_rows(make().split(X.tolist(), Y, groups=names)) == expected


@each_splitter
def test_ids_are_a_column(make):
    expected = split_rows(make().split(X, Y, QID))
    by_name = make(qid="q")
    for frame in (FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
        assert split_rows(by_name.split(frame, Y)) == expected
    array = np.c_[X, QID]
    by_number = make(qid=2)
    for data in (array, sparse.csr_array(array), sparse.coo_array(array)):
        assert split_rows(by_number.split(data, Y)) == expected
    last = make(qid=-1)
    assert split_rows(last.split(array.tolist(), Y)) == expected


@each_splitter
def test_ids_are_routed(make):
    expected = split_rows(make().split(X, Y, QID))
    splits = routed_splits(make(), X, Y, {"qid": QID})
    assert split_rows(splits) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        renamed = make().set_split_request(qid="query")
        by_groups = make().set_split_request(qid=False)
    splits = routed_splits(renamed, X, Y, {"query": QID, "qid": QID})
    assert split_rows(splits) == expected
    splits = routed_splits(by_groups, X, Y, {"groups": QID, "qid": QID})
    assert split_rows(splits) == expected


@each_splitter
def test_ids_of_the_scorer_are_routed_and_those_of_the_splitter_a_column(make):
    expected = split_rows(make().split(X, Y, QID))
    with sklearn.config_context(enable_metadata_routing=True):
        cv = make(qid=2).set_split_request(qid=False)
    splits = routed_splits(cv, np.c_[X, QID], Y, {"qid": QID})
    assert split_rows(splits) == expected
    for copy in (pickle.loads(pickle.dumps(cv)), clone(cv, safe=False)):
        assert repr(copy) == repr(cv)
        assert "qid=2" in repr(copy)


@each_splitter
def test_messages_say_how_to_pass_ids(make):
    name = type(make()).__name__
    unrouted = rf"qid must contain .*None.*is off.*{name}\(qid=<name"
    with pytest.raises(ValueError, match=unrouted):
        list(make().split(X, Y))
    routed = r"For example, call search.fit\(X, y, qid=qid\)"
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=routed),
    ):
        list(make().split(X, Y))


@each_splitter
def test_ids_are_passed_once(make):
    message = r"qid must be given only once.*set_split_request\(groups=False"
    with pytest.raises(ValueError, match=message):
        list(make(qid=0).split(X, Y, QID))
    with pytest.raises(
        ValueError, match="qid must be given only once, got both qid and groups"
    ):
        list(make().split(X, Y, QID, qid=QID))


WRONG_COLUMNS = [
    ("q", pd.DataFrame(X), "qid must be the name of a column .* got 'q'"),
    (2, X, "index of one of the 2 columns"),
]


@each_splitter
@pytest.mark.parametrize(("column", "data", "message"), WRONG_COLUMNS)
def test_a_column_of_ids_must_exist(make, column, data, message):
    with pytest.raises(ValueError, match=message):
        list(make(qid=column).split(data, Y))


@each_splitter
def test_every_row_has_an_id(make):
    missing = [1, *[None] * (len(X) - 1)]
    with pytest.raises(ValueError, match="groups must not be missing"):
        list(make().split(X, Y, missing))
    message = rf"one value per row \({len(X)}\), got 2"
    with pytest.raises(ValueError, match=message):
        list(make().split(X, Y, [1, 2]))


# -- folds


def rows_of_queries(sizes):
    """Return X and the query of each row for queries of these sizes."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return np.zeros((len(qid), 1)), qid


def assert_folds(splits, fold):
    """Assert that each split tests the rows of its fold."""
    for number, (_, test) in enumerate(splits):
        assert np.array_equal(test, np.flatnonzero(fold == number))


@pytest.mark.parametrize("n_splits", [2, 3, 7])
@pytest.mark.parametrize("options", [{}, SHUFFLED])
def test_the_longest_query_goes_to_the_smallest_fold(n_splits, options):
    sizes = np.random.default_rng(n_splits).geometric(1 / 4, size=300)
    sizes[9] = 1000
    X, qid = rows_of_queries(sizes)
    rng = np.random.RandomState(0)
    order = np.arange(300)
    if options:
        order = rng.permutation(300)
    longest_first = order[np.argsort(-sizes[order], kind="stable")]
    load = np.zeros(n_splits, dtype=int)
    fold = np.zeros(300, dtype=int)
    for query in longest_first:
        fold[query] = np.argmin(load)
        if options:
            limit = load.min() + sizes[query]
            fold[query] = rng.choice(np.flatnonzero(load < limit))
        load[fold[query]] += sizes[query]
    cv = QueryKFold(n_splits, **options)
    assert_folds(cv.split(X, groups=qid), fold[qid])


@pytest.mark.parametrize("stratify", [False, "n_relevant"])
def test_repeats_are_shuffled_folds_of_one_stream(stratify):
    shuffled = partial(QueryKFold, 4, shuffle=True, stratify=stratify)

    def test_rows(**options):
        splits = split_rows(shuffled(**options).split(X, Y, QID))
        return [test for _, test in splits]

    rng = np.random.RandomState(7)
    repeats = [test_rows(random_state=rng) for _ in range(3)]
    repeated = test_rows(random_state=7, n_repeats=3)
    assert repeated == repeats[0] + repeats[1] + repeats[2]
    assert len({str(sorted(rows)) for rows in repeats}) == 3
    seeds = [test_rows(random_state=seed) for seed in range(10)]
    assert len({str(sorted(rows)) for rows in seeds}) == 10


# -- folds alike in relevance


def skewed_queries(seed, n_queries=120):
    """Return queries of all lengths, most with few or no relevant documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.geometric(1 / 20, size=n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    share = rng.choice([0.0, 0.0, 0.05, 0.5], size=n_queries)
    is_relevant = rng.random(len(qid)) < share[qid]
    y = is_relevant * rng.integers(1, 5, size=len(qid))
    return qid, y.astype(float)


def fold_spreads(cv, qid, y):
    """Return the largest fold less the smallest, by four numbers.

    The numbers count rows, queries, queries without a relevant document, and relevant
    documents.
    """
    n_relevant = np.bincount(qid, weights=y >= 1)
    folds = []
    for _, test in cv.split(y[:, None], y, qid):
        relevant = n_relevant[np.unique(qid[test])]
        n_without = np.sum(relevant == 0)
        folds.append((len(test), len(relevant), n_without, relevant.sum()))
    return np.ptp(np.array(folds), axis=0)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 1}])
@pytest.mark.parametrize("stratify", ["n_relevant", "mean_label"])
@pytest.mark.parametrize("seed", range(3))
def test_stratified_folds_are_alike(seed, stratify, options):
    qid, y = skewed_queries(seed)
    cv = QueryKFold(5, stratify=stratify, **options)
    n_rows, n_queries, n_without, n_relevant = fold_spreads(cv, qid, y)
    assert n_rows <= np.bincount(qid).max()
    assert n_queries <= 1
    assert n_without <= 1
    unstratified = fold_spreads(QueryKFold(5, **options), qid, y)
    assert unstratified[2] > n_without
    if stratify == "n_relevant":
        assert n_relevant < unstratified[3]
    # a document without a judgment counts as not relevant
    unjudged = np.where(y == 0, np.nan, y)
    X = y[:, None]
    expected = split_rows(cv.split(X, y, qid))
    assert split_rows(cv.split(X, unjudged, qid)) == expected


@pytest.mark.parametrize("options", [{}, SHUFFLED])
def test_stratified_folds_take_each_a_query_of_every_group(options):
    n_splits = 3
    rng = np.random.default_rng(5)
    sizes, n_relevant = rng.integers(2, 5, size=(2, 121))
    n_relevant = np.minimum(n_relevant, sizes)
    X, qid = rows_of_queries(sizes)
    place = np.arange(len(qid)) - np.flatnonzero(np.diff(qid, prepend=-1))[qid]
    y = place < n_relevant[qid]
    rng = np.random.RandomState(0)
    order = np.arange(121)
    if options:
        order = rng.permutation(121)
    # sorts of Python are stable: queries that are equal keep their order
    longest_first = sorted(order.tolist(), key=lambda query: -sizes[query])
    by_relevance = sorted(longest_first, key=lambda query: n_relevant[query])
    groups = [by_relevance[:1]]
    for start in range(1, 121, n_splits):
        groups.append(by_relevance[start : start + n_splits])
    for group in groups:
        group.sort(key=lambda query: -sizes[query])
    spreads = [np.ptp(sizes[group]) for group in groups]
    # a fold without a query of the first group gets no row
    spreads[0] = sizes[groups[0][0]]
    load = np.zeros(n_splits, dtype=int)
    fold = np.zeros(121, dtype=int)
    for number in np.argsort(-np.array(spreads), kind="stable"):
        free = list(range(n_splits))
        for query in groups[number]:
            least = min(load[free])
            near = [k for k in free if load[k] < least + sizes[query]]
            if not options:
                chosen = next(k for k in free if load[k] == least)
            elif len(near) > 1:
                chosen = near[rng.randint(len(near))]
            else:
                chosen = near[0]
            fold[query] = chosen
            load[chosen] += sizes[query]
            free.remove(chosen)
    cv = QueryKFold(n_splits, stratify="n_relevant", **options)
    assert_folds(cv.split(X, y, qid), fold[qid])


def test_mean_labels_have_grades():
    # eight queries of four: half with a document of grade 1, half of grade 3
    X, qid = rows_of_queries([4] * 8)
    y = np.zeros(32)
    y[::4] = [1, 1, 1, 1, 3, 3, 3, 3]
    cv = QueryKFold(4, stratify="mean_label")
    for _, test in cv.split(X, y, qid):
        labels = y[test]
        assert sorted(labels[labels > 0]) == [1, 3]


def test_mean_labels_are_shares():
    # 2 relevant documents of 4 are as good as 1 of 2
    X, qid = rows_of_queries([4, 4, 2, 2])
    y = np.array([1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], dtype=float)
    cv = QueryKFold(2, stratify="mean_label")
    for _, test in cv.split(X, y, qid):
        assert len(set(qid[test]) & {0, 2}) == 1


def test_mean_labels_have_the_same_bits_in_any_order_of_rows():
    X, qid = rows_of_queries([3] * 12)
    y = np.tile([0.1, 0.2, 0.3], 12)
    cv = QueryKFold(3, stratify="mean_label")
    expected = query_ids(cv.split(X, y, qid), qid)
    for _ in range(5):
        order = RNG.permutation(36)
        splits = cv.split(X, y[order], qid[order])
        assert query_ids(splits, qid[order]) == expected


# -- later queries for testing

X_TIMED, QID_TIMED = rows_of_queries(np.random.default_rng(0).integers(1, 6, size=17))
TIME = np.random.default_rng(1).permutation(17)[QID_TIMED]


TIME_SERIES = [
    {},
    {"n_splits": 3, "test_size": 2},
    {"n_splits": 2, "gap": 3, "max_train_size": 4},
    {"n_splits": 4, "test_size": 1, "gap": 0, "max_train_size": 100},
]


@pytest.mark.parametrize("options", TIME_SERIES)
def test_folds_are_those_of_time_series_split_over_queries(options):
    splits = TimeSeriesSplit(**options).split(np.zeros(17))
    expected = query_ids(splits, np.arange(17))
    by_id = QueryTimeSeriesSplit(**options, time="qid")
    splits = by_id.split(X_TIMED, groups=QID_TIMED)
    assert query_ids(splits, QID_TIMED) == expected
    by_time = QueryTimeSeriesSplit(**options)
    order = RNG.permutation(len(QID_TIMED))
    splits = by_time.split(X_TIMED, None, QID_TIMED[order], TIME[order])
    assert query_ids(splits, TIME[order]) == expected


def mixed_numbers(times):
    """Return odd times as integers and even times as floats."""
    return [int(time) if time % 2 else float(time) for time in times]


KINDS_OF_TIMES = {
    "floats": (TIME / 7).tolist(),
    "numpy dates": np.datetime64("2026-01-01") + TIME,
    "pandas dates": pd.Series(pd.to_datetime(1e18 + TIME * 1e9, utc=True)),
    "dates": [datetime(2026, 1, 1 + int(day), tzinfo=UTC) for day in TIME],
    "texts": [f"2026-01-{day:02}" for day in TIME],
    "integers and floats": mixed_numbers(TIME),
}


@pytest.mark.parametrize("time", KINDS_OF_TIMES.values(), ids=KINDS_OF_TIMES)
def test_times_of_any_kind_from_a_column_or_by_routing(time):
    cv = QueryTimeSeriesSplit(3)
    expected = split_rows(cv.split(X_TIMED, groups=QID_TIMED, time=TIME))
    assert split_rows(cv.split(X_TIMED, None, QID_TIMED, time)) == expected
    frame = pd.DataFrame(X_TIMED, columns=["a"]).assign(qid=QID_TIMED, time=time)
    by_column = QueryTimeSeriesSplit(3, qid="qid", time="time")
    assert split_rows(by_column.split(frame)) == expected
    splits = routed_splits(cv, X_TIMED, TIME, {"qid": QID_TIMED, "time": time})
    assert split_rows(splits) == expected


@settings(max_examples=60)
@given(
    times=st.lists(st.integers(0, 6), min_size=4, max_size=30),
    n_splits=st.integers(2, 4),
    test_size=st.none() | st.integers(1, 4),
    gap=st.integers(0, 2),
)
def test_queries_of_one_time_are_on_one_side(times, n_splits, test_size, gap):
    n_queries = len(times)
    n_times = len(set(times))
    times = np.array(times)
    qid = np.arange(n_queries)
    cv = QueryTimeSeriesSplit(n_splits, test_size=test_size, gap=gap, max_train_size=5)
    splits = cv.split(qid[:, None], None, qid, times)
    size = test_size or n_queries // (n_splits + 1)
    if n_times <= n_splits or n_queries - n_splits * size <= gap:
        with pytest.raises(
            ValueError, match=rf"must leave .* with {n_times} distinct times"
        ):
            list(splits)
        return
    try:
        splits = list(splits)
    except ValueError:  # the first change of time leaves nothing before the gap
        assert gap
        return
    tested = np.concatenate([times[test] for _, test in splits])
    expected = times[times >= tested.min()]
    assert sorted(tested) == sorted(expected)
    for train, test in splits:
        start = times[test].min()
        assert times[train].max() < start
        # the last queries before the test, but for the gap
        assert len(train) == min(5, np.sum(times < start) - gap)
    for (_, test), (_, later) in pairwise(splits):
        assert times[test].max() < times[later].min()


# -- splits at random


SIZES_OF_SETS = [
    ({}, 32, 8),
    ({"test_size": 0.3}, 28, 12),
    ({"test_size": 5}, 35, 5),
    ({"train_size": 0.33}, 13, 27),
    ({"train_size": 10, "test_size": 0.5}, 10, 20),
]


@pytest.mark.parametrize(("sizes", "n_train", "n_test"), SIZES_OF_SETS)
def test_sizes_are_numbers_of_queries(sizes, n_train, n_test):
    cv = QueryShuffleSplit(3, random_state=5, **sizes)
    for train_ids, test_ids in query_ids(cv.split(X, groups=QID)):
        assert len(train_ids) == n_train
        assert len(test_ids) == n_test


@pytest.mark.parametrize("sizes", [sizes for sizes, _, _ in SIZES_OF_SETS])
def test_sets_are_those_of_group_shuffle_split(sizes):
    cv = QueryShuffleSplit(3, random_state=5, **sizes)
    reference = GroupShuffleSplit(3, random_state=5, **sizes)
    expected = query_ids(reference.split(X, groups=QID))
    assert query_ids(cv.split(X, groups=QID)) == expected


# -- arrays


def split_queries(*arrays, **options):
    return ta.train_test_split_queries(*arrays, **{"qid": QID, **options})


def test_arrays_are_split_and_qid_comes_last():
    split = split_queries(X, Y, random_state=0)
    qid_test = split[-1]
    assert len(np.unique(qid_test)) == 10
    in_test = np.isin(QID, qid_test)
    for array, train, test in zip((X, Y, QID), split[::2], split[1::2], strict=True):
        assert np.array_equal(train, array[~in_test])
        assert np.array_equal(test, array[in_test])


def test_the_seed_draws_queries_not_rows():
    *_, qid_test = split_queries(X, random_state=0)
    order = RNG.permutation(len(QID))
    *_, reordered = split_queries(X[order], qid=QID[order], random_state=0)
    assert set(reordered) == set(qid_test)
    *_, reseeded = split_queries(X, random_state=1)
    assert set(reseeded) != set(qid_test)


def test_ids_are_a_column_of_the_first_array():
    expected = split_queries(X, Y, random_state=0)
    split = split_queries(FRAME, Y, qid="q", random_state=0)
    assert np.array_equal(split[1]["q"], expected[-1])
    assert len(split) == 4
    assert np.array_equal(split[2], expected[2])
    assert np.array_equal(split[3], expected[3])
    split = split_queries(np.c_[QID, X], qid=0, random_state=0)
    assert np.array_equal(split[1][:, 0], expected[-1])


UNSHUFFLED = [
    ({}, range(30), range(30, 40)),
    ({"train_size": 5, "test_size": 5}, range(5), range(5, 10)),
]


@pytest.mark.parametrize(("sizes", "train", "test"), UNSHUFFLED)
def test_without_shuffling_the_last_ids_are_for_testing(sizes, train, test):
    *_, train_ids, test_ids = split_queries(X, shuffle=False, **sizes)
    assert set(train_ids) == set(train)
    assert set(test_ids) == set(test)


FRAME_BACKWARDS = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X))[::-1])
CONTAINERS = {
    "list": X.tolist(),
    "pandas": FRAME_BACKWARDS,
    "polars": pl.from_pandas(FRAME_BACKWARDS),
    "arrow table": pa.Table.from_pandas(FRAME_BACKWARDS, preserve_index=False),
    "arrow array": pa.array(Y),
    "csr array": sparse.csr_array(X),
    "coo matrix": sparse.coo_matrix(X),
    "series": pd.Series(Y),
    "categories": pd.Categorical(Y),
}


@pytest.mark.parametrize("array", CONTAINERS.values(), ids=CONTAINERS)
def test_containers_come_back_as_they_are(array):
    X_train, X_test, y_train, y_test, *_ = split_queries(X, Y, random_state=0)
    train, test, *_ = split_queries(array, qid=QID.tolist(), random_state=0)
    if sparse.issparse(array):
        assert sparse.issparse(train)
        assert sparse.issparse(test)
        train = train.toarray()
        test = test.toarray()
    else:
        assert isinstance(train, type(array))
        assert isinstance(test, type(array))
    expected_train, expected_test = X_train, X_test
    if np.ndim(train) == 1:
        expected_train, expected_test = y_train, y_test
    assert np.array_equal(np.asarray(train), expected_train)
    assert np.array_equal(np.asarray(test), expected_test)


def test_ids_and_indices_come_back_as_they_are():
    X_train, _, expected, _ = split_queries(X, random_state=0)
    qid = QID.tolist()
    frame, _, train_ids, _ = split_queries(FRAME_BACKWARDS, qid=qid, random_state=0)
    assert train_ids == expected.tolist()
    rows = X_train[:, 0] // 2
    assert list(frame.index) == list(len(X) - 1 - rows)


@pytest.mark.parametrize("test_size", [0.1, 0.25, 0.5, 0.8])
def test_stratified_by_labels(test_size):
    y = np.repeat(np.arange(40) % 20, SIZES)  # by place, not by id
    tolerance = 4 if test_size == 0.1 else 1
    drawn = []
    for seed in range(10):
        options = {"test_size": test_size, "random_state": seed}
        *_, y_test, _, test = split_queries(X, y, stratify=y, **options)
        ids, first = np.unique(test, return_index=True)
        assert len(ids) == 40 * test_size
        assert abs(np.mean(y_test[first]) - 9.5) < tolerance
        drawn.append(frozenset(test.tolist()))
    assert len(set(drawn)) == 10
    order = RNG.permutation(len(QID))
    *_, test = split_queries(X, qid=QID[order], stratify=y[order], **options)
    assert set(test) == drawn[-1]


MARKET = np.array(["de", "fr", "it", "us"])[QID % 4]
CATEGORIES = [MARKET, MARKET.tolist(), pd.Series(MARKET, dtype="category")]


@pytest.mark.parametrize("values", CATEGORIES, ids=["array", "list", "categories"])
def test_stratified_by_categories(values):
    *_, train, test = split_queries(
        X, stratify=values, train_size=16, test_size=8, random_state=0
    )
    assert np.bincount(np.unique(train) % 4).tolist() == [4, 4, 4, 4]
    assert np.bincount(np.unique(test) % 4).tolist() == [2, 2, 2, 2]


def test_strata_are_drawn_in_the_order_of_the_seed():
    X, qid = rows_of_queries([2] * 200)
    strata = qid % 3
    *_, drawn = split_queries(
        X, qid=qid, stratify=strata, test_size=20, train_size=150, random_state=4
    )
    rng = np.random.RandomState(4)
    order = rng.permutation(200)
    by_stratum = order[np.argsort(order % 3, kind="stable")]
    bounds = np.arange(0, 201, 10)
    chosen = rng.randint(bounds[:-1], bounds[1:])
    assert set(drawn) == set(by_stratum[chosen])


# -- errors


SPLITTER_ERRORS = [
    (QueryKFold, {"n_splits": 1}, "n_splits=1"),
    (QueryKFold, {"n_splits": 2, "random_state": 0}, "random_state"),
    (QueryKFold, {"n_repeats": 2}, "n_repeats must be 1 without shuffle.*got 2"),
    (QueryKFold, {"n_repeats": 0, **SHUFFLED}, "n_repeats .*got 0"),
    (QueryKFold, {"n_repeats": 2.0, **SHUFFLED}, "n_repeats .*got 2.0"),
    (QueryKFold, {"stratify": "label"}, "stratify must .*got 'label'"),
    (QueryKFold, {"stratify": True}, "stratify must .*got True"),
    (QueryKFold, {"stratify": None}, "stratify must .*got None"),
    (QueryShuffleSplit, {"n_splits": 0}, "n_splits .* >= 1, got 0"),
    (QueryTimeSeriesSplit, {"gap": -1}, "gap .*>= 0, got -1"),
    (QueryTimeSeriesSplit, {"test_size": 0}, "test_size .*>= 1, got 0"),
    (QueryTimeSeriesSplit, {"max_train_size": 1.5}, "max_train.*>= 1, got 1.5"),
]


@pytest.mark.parametrize(("Splitter", "options", "message"), SPLITTER_ERRORS)
def test_parameters_of_splitters(Splitter, options, message):
    with pytest.raises(ValueError, match=message):
        Splitter(**options)


def test_shuffle_split_leaves_queries_for_training():
    cv = QueryShuffleSplit(test_size=40)
    with pytest.raises(ValueError, match="_size=40"):
        next(cv.split(X, None, QID))


STRATIFY_ERRORS = [
    (2, None, "y must contain the labels .*n_relevant"),
    (2, [0, 1, -1, 0], "y must be >= 0, got -1.0 in row 2"),
    (2, [0, 1], r"numbers of samples: \[4, 2, 4\]"),
    (3, None, r"number of queries \(2\), got 3"),
]


@pytest.mark.parametrize(("n_splits", "y", "message"), STRATIFY_ERRORS)
def test_stratified_folds_need_labels(n_splits, y, message):
    cv = QueryKFold(n_splits, stratify="n_relevant")
    with pytest.raises(ValueError, match=message):
        list(cv.split(np.zeros((4, 1)), y, [1, 1, 2, 2]))


def folds_of_three_queries(cv):
    X = np.zeros((4, 1))
    codes = np.array([0, 1, 0, 2])
    return query_folds(cv, X, np.zeros(4), codes, np.array(["a", "b", "c"]))


CV_ERRORS = [
    (4, r"n_splits must be at most .* \(3\), got 4"),
    (True, "n_splits=2 or more, got n_splits=1"),
    ("ab", "cv must be .* a cross-validator, got 'ab'"),
    (QueryKFold(2, qid=0), "qid must be given only once, but column"),
    (Folds(), "cv must yield at least one fold, got none from these"),
    (Folds(([0, 2], [1]), ([0, 1], [3])), "whole, .* fold 1 of"),
    (Folds(([1], [0])), "whole, with different queries .* fold 0"),
    (Folds(([0, 1, 2], [1])), "different queries .*, got fold 0"),
]


@pytest.mark.parametrize(("cv", "message"), CV_ERRORS)
def test_folds_of_queries_are_disjoint_and_whole(cv, message):
    with pytest.raises(ValueError, match=message):
        folds_of_three_queries(cv)


@pytest.mark.parametrize("cv", [3, np.int64(3), QueryKFold(3)])
def test_folds_of_queries_are_by_number(cv):
    folds = folds_of_three_queries(cv)
    tests = sorted((test.tolist(), train.tolist()) for train, test in folds)
    assert tests == [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]


TIME_ERRORS = [
    (TIME, {"n_splits": 17}, "training, .*test_size=0, gap=0 for 17 q"),
    (TIME, {"gap": 8}, "n_splits=5, test_size=2, gap=8 for 17 queries"),
    (TIME, {"test_size": 4}, "must leave earlier queries for training"),
    (None, {}, 'time must contain the time .*None.*order of ids, set time="qid"'),
    (TIME, {"time": "qid"}, "time must be given only once, got both time='qid'"),
    (TIME, {"time": 0}, r"time must be given only once.*\(time=False\)"),
    (None, {"time": "hour"}, "time must be the name of a column .* got 'hour'"),
    (np.arange(len(TIME)), {}, "time must be constant .* query"),
    (np.where(QID_TIMED == 3, np.nan, TIME), {}, "must not be missing"),
    (TIME[1:], {}, "time must have one value per row"),
]


@pytest.mark.parametrize(("time", "options", "message"), TIME_ERRORS)
def test_times_of_queries(time, options, message):
    frame = pd.DataFrame({"a": X_TIMED[:, 0]})
    cv = QueryTimeSeriesSplit(**options)
    with pytest.raises(ValueError, match=message):
        list(cv.split(frame, None, QID_TIMED, time))


ARRAY_ERRORS = [
    ((), {}, "arrays must include at least one array, got none"),
    ((X, None), {}, "got None in array 1"),
    ((X,), {"qid": None}, "qid must identify .*, got None"),
    ((X,), {"qid": QID[1:]}, r"row per value of qid .* in array 0"),
    ((X,), {"qid": "q"}, "qid must be a column index, because X has"),
    ((X,), {"test_size": 1.0}, r"_size=1.0 .* 40 .* \(0, 1\)"),
    ((X,), {"test_size": 0}, "test_size=0 "),
    ((X,), {"test_size": True}, "test_size: True"),
    ((X,), {"test_size": 40}, "test_size=40 .*number of samples 40"),
    ((X,), {"test_size": 0.6, "train_size": 0.6}, "1.2, "),
    ((X,), {"stratify": Y, "shuffle": False}, "None with shuffle=F"),
    ((X,), {"random_state": "x"}, "random_state must be"),
    ((X,), {"stratify": Y[1:]}, "stratify must have one value per row"),
    ((X,), {"stratify": [np.nan] * len(Y)}, "stratify must be finite"),
    ((X,), {"stratify": Y.astype(str)}, "stratify.* within a query"),
]


@pytest.mark.parametrize(("arrays", "options", "message"), ARRAY_ERRORS)
def test_parameters_of_split_arrays(arrays, options, message):
    with pytest.raises(ValueError, match=message):
        split_queries(*arrays, **options)
