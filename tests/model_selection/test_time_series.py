"""Later queries for testing."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit, cross_validate

from tieaware_sklearn import QueryTimeSeriesSplit, make_ranking_scorer

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 6, size=17)
QID = np.repeat(np.arange(17), SIZES)
WHEN = RNG.permutation(17)
TIME = WHEN[QID]
X = RNG.normal(size=(len(QID), 2))


def numbers(parts, by=QID):
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
    assert numbers(cv.split(X, groups=QID)) == expected
    order = RNG.permutation(len(QID))
    parts = cv.split(X[order], None, QID[order], TIME[order])
    assert numbers(parts, TIME[order]) == expected


@pytest.mark.parametrize(
    "of",
    [
        lambda t: t / 7,
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
    expected = numbers(cv.split(X, groups=QID, time=TIME))
    assert numbers(cv.split(X, groups=QID, time=of(TIME))) == expected


def test_time_from_a_column_or_by_routing():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(q=QID, day=TIME)
    expected = numbers(QueryTimeSeriesSplit(3).split(X, groups=QID, time=TIME))
    cv = QueryTimeSeriesSplit(3, qid="q", time="day")
    assert numbers(cv.split(frame)) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            LinearRegression(),
            X,
            TIME,
            cv=QueryTimeSeriesSplit(3),
            scoring=make_ranking_scorer(),
            params={"qid": QID, "time": TIME},
            return_indices=True,
        )["indices"]
    assert numbers(zip(found["train"], found["test"], strict=True)) == expected
    with pytest.raises(ValueError, match=r"time must be given once.*\(time=False\)"):
        cv.split(frame, time=TIME)
    with pytest.raises(ValueError, match="time must name a column of X, got 'hour'"):
        QueryTimeSeriesSplit(3, qid="q", time="hour").split(frame)


def test_queries_of_one_time_come_by_id():
    parts = QueryTimeSeriesSplit(2, test_size=1).split(
        np.zeros((4, 1)), groups=["d", "b", "a", "c"], time=[1, 1, 1, 0]
    )
    assert [(train.tolist(), test.tolist()) for train, test in parts] == [
        ([2, 3], [1]),
        ([1, 2, 3], [0]),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_splits": 17}, "test_size=0, gap=0 for 17 queries"),
        ({"gap": 8}, "n_splits=5, test_size=2, gap=8 for 17 queries"),
        ({"test_size": 4}, "must leave queries for training"),
    ],
)
def test_too_few_queries(options, message):
    with pytest.raises(ValueError, match=message):
        QueryTimeSeriesSplit(**options).split(X, groups=QID)


def test_errors():
    for options in ({"gap": -1}, {"test_size": 0}, {"max_train_size": 1.5}):
        (name,) = options
        with pytest.raises(ValueError, match=f"{name} must be an integer >="):
            QueryTimeSeriesSplit(**options)
    cv = QueryTimeSeriesSplit(2)
    with pytest.raises(ValueError, match=r"time must be constant .* query"):
        cv.split(X, groups=QID, time=np.arange(len(QID)))
    with pytest.raises(ValueError, match="time must not be missing"):
        cv.split(X, groups=QID, time=np.where(QID == 3, np.nan, TIME))
    with pytest.raises(ValueError, match="time must have one value per row"):
        cv.split(X, groups=QID, time=TIME[1:])
