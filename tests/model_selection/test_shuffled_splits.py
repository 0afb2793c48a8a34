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
    ours, theirs = (
        list(Split(3, random_state=5, **sizes).split(X, groups=QID))
        for Split in (QueryShuffleSplit, GroupShuffleSplit)
    )
    for parts, their_parts in zip(ours, theirs, strict=True):
        found = [len(np.unique(QID[part])) for part in parts]
        assert found == [n_train, n_test]
        for part, their_part in zip(parts, their_parts, strict=True):
            assert np.array_equal(part, np.sort(their_part))


def split_queries(*arrays, **options):
    return train_test_split_queries(*arrays, **{"qid": QID, **options})


def test_arrays_are_split_and_qid_comes_last():
    split = split_queries(X, Y, random_state=0)
    assert len(split) == 6
    qid_train, qid_test = split[-2:]
    assert len(np.unique(qid_test)) == 10
    assert not set(qid_train) & set(qid_test)
    inside = np.isin(QID, qid_test)
    for at, array in enumerate((X, Y, QID)):
        assert np.array_equal(split[2 * at], array[~inside])
        assert np.array_equal(split[2 * at + 1], array[inside])
    order = RNG.permutation(len(QID))
    again = split_queries(X[order], qid=QID[order], random_state=0)
    assert set(again[-1]) == set(qid_test)
    assert set(split_queries(X, random_state=1)[-1]) != set(qid_test)
    # of ids in a column of the first array
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID)
    found = split_queries(frame, Y, qid="q", random_state=0)
    assert len(found) == 4
    assert np.array_equal(found[1]["q"], qid_test)
    assert np.array_equal(found[3], split[3])
    found = split_queries(np.c_[QID, X], qid=0, random_state=0)
    assert np.array_equal(found[1][:, 0], qid_test)


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
    found = split_queries(*arrays, qid=QID.tolist(), random_state=0)
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


@pytest.mark.parametrize(
    ("sizes", "train", "test"),
    [
        ({}, range(30), range(30, 40)),
        ({"train_size": 5, "test_size": 5}, range(5), range(5, 10)),
    ],
)
def test_without_shuffling_the_last_ids_are_for_testing(sizes, train, test):
    *_, train_ids, test_ids = split_queries(X, shuffle=False, **sizes)
    assert (set(train_ids), set(test_ids)) == (set(train), set(test))


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


def test_stratified_by_what_is_no_number():
    market = np.array(["de", "fr", "it", "us"])[QID % 4]
    for values in (market, market.tolist(), pd.Series(market, dtype="category")):
        *_, train, test = split_queries(
            X, stratify=values, random_state=0, train_size=16, test_size=8
        )
        assert np.bincount(np.unique(test) % 4).tolist() == [2, 2, 2, 2]
        assert np.bincount(np.unique(train) % 4).tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"qid": None}, "qid must say which rows are one query, got None"),
        (
            {"qid": QID[1:]},
            r"one row per value of qid \(\d+\), got \d+ in array 0",
        ),
        ({"qid": "q"}, "qid must be an index where X has no column names"),
        ({"test_size": 1.0}, r"test_size=1.0 should .*of samples 40 .* \(0, 1\)"),
        ({"test_size": 0}, "test_size=0 should be .*the samples are queries"),
        ({"test_size": True}, "test_size: True .*the samples are queries"),
        ({"train_size": "all"}, "train_size: all .*the samples are queries"),
        ({"test_size": 40}, "test_size=40 should be .*number of samples 40"),
        ({"test_size": 0.6, "train_size": 0.6}, "1.2, should be .*queries"),
        ({"stratify": Y, "shuffle": False}, "must be None with shuffle=False"),
        ({"stratify": Y[1:]}, "stratify must have one value per row"),
        ({"stratify": np.where(Y == 1, np.nan, 1)}, "stratify must be finite"),
        (
            {"stratify": np.where(Y == 1, "a", "b")},
            "constant within a query, got ",
        ),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_errors_of_split_queries(options, message):
    with pytest.raises(ValueError, match=message):
        split_queries(X, **options)


def test_errors_of_arrays():
    with pytest.raises(ValueError, match="arrays must include at least one"):
        split_queries()
    with pytest.raises(ValueError, match="got None in array 1"):
        split_queries(X, None)
    with pytest.raises(ValueError, match="test_size=40 should be"):
        QueryShuffleSplit(test_size=40).split(X, groups=QID)
