"""Training and test queries drawn at random, and arrays split by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.model_selection import GroupShuffleSplit

from tieaware_sklearn import QueryShuffleSplit, train_test_split_queries

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 9, size=40)
QID = np.repeat(RNG.permutation(40), SIZES)
X = np.arange(len(QID) * 2.0).reshape(-1, 2)
Y = RNG.integers(0, 3, size=len(QID))


@pytest.mark.parametrize(
    ("sizes", "n_train", "n_test"),
    [
        ({}, 32, 8),
        ({"test_size": 0.3}, 28, 12),
        ({"test_size": 5}, 35, 5),
        ({"train_size": 0.33}, 13, 27),
        ({"train_size": 10, "test_size": 0.5}, 10, 20),
    ],
)
def test_sizes_are_of_queries_and_sets_those_of_group_shuffle_split(
    sizes, n_train, n_test
):
    ours = QueryShuffleSplit(3, random_state=5, **sizes).split(X, groups=QID)
    theirs = GroupShuffleSplit(3, random_state=5, **sizes).split(X, groups=QID)
    for (train, test), (their_train, their_test) in zip(ours, theirs, strict=True):
        assert len(np.unique(QID[train])) == n_train
        assert len(np.unique(QID[test])) == n_test
        assert np.array_equal(train, np.sort(their_train))
        assert np.array_equal(test, np.sort(their_test))


def test_arrays_are_split_and_qid_comes_last():
    split = train_test_split_queries(X, Y, qid=QID, random_state=0)
    X_train, X_test, y_train, y_test, qid_train, qid_test = split
    assert len(np.unique(qid_test)) == 10
    assert not set(qid_train) & set(qid_test)
    inside = np.isin(QID, qid_test)
    for array, train, test in (
        (X, X_train, X_test),
        (Y, y_train, y_test),
        (QID, qid_train, qid_test),
    ):
        assert np.array_equal(test, array[inside])
        assert np.array_equal(train, array[~inside])
    order = RNG.permutation(len(QID))
    again = train_test_split_queries(X[order], qid=QID[order], random_state=0)
    assert set(again[-1]) == set(qid_test)
    other = train_test_split_queries(X, qid=QID, random_state=1)
    assert set(other[-1]) != set(qid_test)


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
    plain = train_test_split_queries(X, Y, qid=QID, random_state=0)
    found = train_test_split_queries(*arrays, qid=QID.tolist(), random_state=0)
    assert len(found) == 2 * len(arrays) + 2
    for number, array in enumerate(arrays):
        for expected in (0, 1):
            part = found[2 * number + expected]
            assert isinstance(part, type(array)) or sparse.issparse(array)
            cells = part.toarray() if sparse.issparse(part) else np.asarray(part)
            values = plain[expected if cells.ndim == 2 else 2 + expected]
            assert np.array_equal(cells, values)
    assert found[-1] == plain[-1].tolist()
    assert list(found[2].index) == [len(X) - 1 - i for i in plain[0][:, 0] // 2]


def test_a_column_of_the_first_array_holds_the_ids():
    expected = train_test_split_queries(X, Y, qid=QID, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID)
    found = train_test_split_queries(frame, Y, qid="q", random_state=0)
    assert len(found) == 4
    assert np.array_equal(found[1]["q"], expected[-1])
    assert np.array_equal(found[3], expected[3])
    found = train_test_split_queries(np.c_[QID, X], qid=0, random_state=0)
    assert np.array_equal(found[1][:, 0], expected[-1])


def test_without_shuffling_the_last_ids_are_for_testing():
    *_, train, test = train_test_split_queries(X, qid=QID, shuffle=False)
    assert set(test) == set(range(30, 40))
    assert set(train) == set(range(30))
    *_, train, test = train_test_split_queries(
        X, qid=QID, shuffle=False, train_size=5, test_size=5
    )
    assert (set(train), set(test)) == (set(range(5)), set(range(5, 10)))


@pytest.mark.parametrize("test_size", [0.1, 0.25, 0.5, 0.8])
def test_stratified_by_labels(test_size):
    y = np.repeat(np.arange(40) % 20, SIZES)  # by place, not by id
    ends = []
    for seed in range(10):
        *_, test = train_test_split_queries(
            X, y, qid=QID, test_size=test_size, stratify=y, random_state=seed
        )
        assert len(set(test)) == 40 * test_size
        worths = [y[q == QID][0] for q in set(test)]
        assert abs(np.mean(worths) - 9.5) < (4 if test_size == 0.1 else 1)
        ends.append(frozenset(test.tolist()))
    assert len(set(ends)) == 10
    order = RNG.permutation(len(QID))
    *_, test = train_test_split_queries(
        X, qid=QID[order], stratify=y[order], test_size=test_size, random_state=9
    )
    assert set(test) == ends[-1]


def test_stratified_by_what_is_no_number():
    market = np.array(["de", "fr", "it", "us"])[QID % 4]
    for values in (market, market.tolist(), pd.Series(market, dtype="category")):
        *_, train, test = train_test_split_queries(
            X, qid=QID, stratify=values, random_state=0, train_size=16, test_size=8
        )
        assert np.bincount(np.unique(test) % 4).tolist() == [2, 2, 2, 2]
        assert np.bincount(np.unique(train) % 4).tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"qid": None}, "qid must say which rows are one query, got None"),
        ({"qid": QID[1:]}, r"one row per value of qid \(\d+\), got \d+ in array 0"),
        ({"qid": "q"}, "qid must be an index where X has no column names"),
        ({"test_size": 1.0}, r"test_size=1.0 should .*of samples 40 .* \(0, 1\)"),
        ({"test_size": 0}, "test_size=0 should be .*the samples are queries"),
        ({"test_size": True}, "test_size: True .*the samples are queries"),
        ({"train_size": "all"}, "train_size: all .*the samples are queries"),
        ({"test_size": 40}, "test_size=40 should be .*number of samples 40"),
        ({"test_size": 0.6, "train_size": 0.6}, "1.2, should be .*queries"),
        ({"stratify": Y, "shuffle": False}, "stratify must be None with shuffle=False"),
        ({"stratify": Y[1:]}, "stratify must have one value per row"),
        ({"stratify": np.where(Y == 1, np.nan, Y)}, "stratify must be finite"),
        ({"stratify": np.where(Y == 1, "a", "b")}, "constant within a query, got '"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        train_test_split_queries(X, **{"qid": QID, **options})


def test_errors_of_arrays():
    with pytest.raises(ValueError, match="arrays must include at least one"):
        train_test_split_queries(qid=QID)
    with pytest.raises(ValueError, match="got None in array 1"):
        train_test_split_queries(X, None, qid=QID)
    with pytest.raises(ValueError, match="test_size=40 should be"):
        QueryShuffleSplit(test_size=40).split(X, groups=QID)
    with pytest.raises(ValueError, match="n_splits must be an integer >= 1, got 0"):
        QueryShuffleSplit(0)
