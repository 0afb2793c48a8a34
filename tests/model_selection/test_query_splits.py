"""What every splitter promises: whole queries, any row order, ids three ways."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from tieaware_sklearn import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    make_ranking_scorer,
)

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 12, size=23)
QID = np.repeat(RNG.permutation(23) * 3, SIZES)
Y = RNG.integers(0, 3, size=len(QID)).astype(float)
X = RNG.normal(size=(len(QID), 3))
MAKE = {
    "k-fold": lambda **k: QueryKFold(4, **k),
    "drawn k-fold": lambda **k: QueryKFold(4, shuffle=True, random_state=0, **k),
    "repeated": lambda **k: QueryKFold(
        3, shuffle=True, n_repeats=2, random_state=0, **k
    ),
    "shuffled": lambda **k: QueryShuffleSplit(3, random_state=0, **k),
    "stratified": lambda **k: QueryKFold(4, stratify="n_relevant", **k),
    "drawn stratified": lambda **k: QueryKFold(
        4, stratify="mean_label", shuffle=True, random_state=0, **k
    ),
    "in time": lambda **k: QueryTimeSeriesSplit(3, **k),
}
each = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


def queries_of(cv, X, y, qid, **ids):
    """Ids of the training and test queries of each split."""
    return [
        (set(np.asarray(qid)[train]), set(np.asarray(qid)[test]))
        for train, test in cv.split(X, y, **ids)
    ]


@each
def test_queries_are_whole_and_no_row_order_matters(make):
    expected = queries_of(make(), X, Y, QID, groups=QID)
    assert len(expected) == make().get_n_splits(X, Y, QID) == make().get_n_splits()
    for (train, test), (train_rows, test_rows) in zip(
        expected, make().split(X, Y, QID), strict=True
    ):
        assert train
        assert test
        assert not train & test
        assert np.array_equal(train_rows, np.flatnonzero(np.isin(QID, list(train))))
        assert np.array_equal(test_rows, np.flatnonzero(np.isin(QID, list(test))))
    for _ in range(3):
        order = RNG.permutation(len(QID))
        there = queries_of(make(), X[order], Y[order], QID[order], groups=QID[order])
        assert there == expected


@each
def test_ids_come_in_three_ways(make):
    expected = [[*map(list, part)] for part in make().split(X, Y, QID)]

    def rows(cv, X, **ids):
        return [[*map(list, part)] for part in cv.split(X, Y, **ids)]

    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names).assign(q=QID)
    for given in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert rows(make(qid="q"), given) == expected
    for given in (
        np.c_[QID, X],
        np.c_[QID, X].tolist(),
        sparse.csr_array(np.c_[QID, X]),
    ):
        assert rows(make(qid=0), given) == expected
    names = [f"query {q:03}" for q in QID]
    assert rows(make(), X.tolist(), groups=names) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(
            LinearRegression(),
            X,
            Y,
            cv=make(),
            scoring=make_ranking_scorer(),
            params={"qid": QID},
            error_score="raise",
            return_indices=True,
        )
    assert [list(test) for test in scores["indices"]["test"]] == [
        t for _, t in expected
    ]


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
    name = type(make()).__name__
    message = rf"groups must hold .*None.*Metadata routing is off.*{name}\(qid=<name or"
    with pytest.raises(ValueError, match=message):
        make().split(X, Y)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"Pass it once, search.fit\(X, y, qid=qid\)"),
    ):
        make().split(X, Y)
    with pytest.raises(ValueError, match=r"qid must be given once.*groups=False"):
        make(qid=0).split(X, Y, QID)
    with pytest.raises(ValueError, match="qid must name a column of X, got 'q'"):
        make(qid="q").split(pd.DataFrame(X), Y)
    with pytest.raises(ValueError, match="groups must not be missing"):
        make().split(X[:2], Y[:2], [1, None])
