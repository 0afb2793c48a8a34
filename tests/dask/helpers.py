"""Helpers of the tests of Dask."""

from functools import singledispatch

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from numpy.testing import assert_allclose, assert_array_equal

import tieaware_sklearn
from tieaware_sklearn import RankingFeatureSelector, RankingReport, dask

MEASURES = ["ndcg@10", "ap", "rr", "err@5"]
MARKS = [
    # a cluster warns of its own affairs, and leaves sockets to the collector
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("dask"),
]


def spread(rows, npartitions=7):
    return dd.from_pandas(rows, npartitions=npartitions)


@singledispatch
def assert_same(actual, expected):
    """Check that a cluster returns the summary of one machine."""
    for name, column in expected.columns.items():
        assert_array_equal(actual.columns[name], column, err_msg=name)
    assert str(actual) == str(expected)


@assert_same.register
def _(actual: RankingReport, expected):
    """Compare the values of each query, and averages. A cluster sorts queries by id."""
    assert type(actual) is type(expected)
    ids = actual.qid.tolist()
    order = [ids.index(query) for query in expected.qid.tolist()]
    for name, value in vars(expected).items():
        actual_value = getattr(actual, name)
        if isinstance(value, np.ndarray):
            if name not in ("bounds", "n_undefined"):
                actual_value = actual_value[order]
            assert_array_equal(actual_value, value, err_msg=name)
        else:
            assert actual_value == value, name
    for average in ("macro", "geometric", "median"):
        assert_same(actual.summary(average), expected.summary(average))
        if expected.segment is not None:
            assert_same(actual.by_segment(average), expected.by_segment(average))


@assert_same.register
def _(actual: RankingFeatureSelector, expected):
    assert actual.get_params() == expected.get_params()
    for name, value in vars(expected).items():
        if not (isinstance(value, np.ndarray) and name.endswith("_")):
            continue
        actual_value = getattr(actual, name)
        if value.dtype.kind == "f":
            tolerance = {"rtol": 1e-11, "atol": 1e-12}
            assert_allclose(actual_value, value, **tolerance, err_msg=name)
        else:
            assert_array_equal(actual_value, value, err_msg=name)


ALL = [dask.evaluate, dask.fit_selector]


def computed(function, df, **options):
    """Return the result of a function of `ALL`, with the arguments that it needs."""
    defaults = {"score": "clicks"}
    if function is dask.fit_selector:
        defaults = {"selector": RankingFeatureSelector("rr")}
    return function(df=df, **defaults | options)


def evaluated(rows, **options):
    """Return the report of one machine. Options name columns, as on a cluster."""
    for name in ("segment", "query_weight"):
        column = options.get(name)
        if column is not None:
            options[name] = rows[column]
    return tieaware_sklearn.evaluate(rows.label, rows.clicks, qid=rows.qid, **options)


def check_evaluation(rows, npartitions=7, **options):
    """Check that a cluster evaluates as one machine does."""
    actual = computed(dask.evaluate, spread(rows, npartitions), **options)
    assert_same(actual, evaluated(rows, **options))


LARGE = 2**53


def part(number):
    """Return a partition of whole queries."""
    rng = np.random.default_rng(number)
    labels = rng.integers(0, 3, 40).astype(float)
    scores = rng.random(40)
    qid = np.repeat(np.arange(8), 5) + 8 * number
    return pd.DataFrame({"label": labels, "qid": qid, "clicks": scores, "weight": 1.0})
