"""What the tests of Dask share."""

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
def assert_same(found, wanted):
    """The same result of a cluster as of one machine, here a summary."""
    for name, column in wanted.columns.items():
        assert_array_equal(found.columns[name], column, err_msg=name)
    assert str(found) == str(wanted)


def _assert_same_fields(found, wanted, whole):
    """Arrays by query, on a cluster by id, and those that are `whole`."""
    assert type(found) is type(wanted)
    order = [found.qid.tolist().index(one) for one in wanted.qid.tolist()]
    for name, value in vars(wanted).items():
        ours = getattr(found, name)
        if isinstance(value, np.ndarray):
            ours = ours if name in whole else ours[order]
            assert_array_equal(ours, value, err_msg=name)
        else:
            assert ours == value, name


@assert_same.register
def _(found: RankingReport, wanted):
    """The same values of each query, and averages."""
    assert (found.measures, found.options) == (wanted.measures, wanted.options)
    _assert_same_fields(found, wanted, ("bounds", "n_undefined"))
    for average in ("macro", "geometric", "median"):
        assert_same(found.summary(average), wanted.summary(average))
        if wanted.segment is not None:
            assert_same(found.by_segment(average), wanted.by_segment(average))


@assert_same.register
def _(found: RankingFeatureSelector, wanted):
    assert found.get_params() == wanted.get_params()
    for name, value in vars(wanted).items():
        if not (isinstance(value, np.ndarray) and name.endswith("_")):
            continue
        if value.dtype.kind == "f":
            got = getattr(found, name)
            assert_allclose(got, value, rtol=1e-11, atol=1e-12, err_msg=name)
        else:
            assert_array_equal(getattr(found, name), value, err_msg=name)


ALL = [dask.evaluate, dask.fit_selector]
_ARGUMENTS = {
    "fit_selector": {"selector": RankingFeatureSelector("rr")},
}


def computed(function, df, **options):
    """The result of a function, with the arguments that it needs."""
    given = _ARGUMENTS.get(function.__name__, {"score": "clicks"})
    return function(df=df, **given | options)


def _columns_given(rows, options):
    """Weights and segments, of options that name their columns."""
    names = {name: options.pop(name, None) for name in ("segment", "query_weight")}
    return {name: rows[column] for name, column in names.items() if column is not None}


def evaluated(rows, **options):
    """By one machine; options that name columns are given these."""
    options |= _columns_given(rows, options)
    return tieaware_sklearn.evaluate(rows.label, rows.clicks, qid=rows.qid, **options)


def check_evaluation(rows, npartitions=7, **options):
    """A cluster evaluates as one machine does."""
    found = computed(dask.evaluate, spread(rows, npartitions), **options)
    assert_same(found, evaluated(rows, **options))


LARGE = 2**53


def part(number):
    """Whole queries."""
    rng = np.random.default_rng(number)
    labels, scores = rng.integers(0, 3, 40).astype(float), rng.random(40)
    qid = np.repeat(np.arange(8), 5) + 8 * number
    return pd.DataFrame({"label": labels, "qid": qid, "clicks": scores, "weight": 1.0})
