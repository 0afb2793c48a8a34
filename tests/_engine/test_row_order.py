"""The order of rows that no order of the input changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._engine.digests import by_content


@pytest.fixture
def rows():
    """Few distinct cells, some of them NaN or below 0; equal rows; queries mixed."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, 4)) / 3
    X[rng.random(X.shape) < 0.1] = np.nan
    X[100:110] = X[0]
    return {
        "X": X,
        "y": rng.integers(0, 3, 200),
        "qid": rng.integers(0, 9, 200),
        "weight": rng.random(200),
    }


def order(X, y, qid, weight=None, salt=0):
    queries = by_content(X, check_qid(qid, n_rows=len(y)), y, weight, salt=salt)
    assert sorted(queries.order) == list(range(len(y)))
    assert (np.diff(qid[queries.order]) >= 0).all()
    return queries.order


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_the_input_changes_it(rows, seed):
    mixed = np.random.default_rng(seed).permutation(200)
    again = order(**{name: value[mixed] for name, value in rows.items()})
    assert np.array_equal(mixed[again], order(**rows))


@pytest.mark.parametrize(
    "make",
    [
        sp.csr_array,
        sp.csc_matrix,
        lambda X: sp.csr_array(X).tolil(),
        pd.DataFrame,
        lambda X: pd.DataFrame(X).astype(object),
    ],
)
def test_it_is_that_of_a_dense_matrix(rows, make):
    assert np.array_equal(order(**{**rows, "X": make(rows["X"])}), order(**rows))


def test_rows_are_compared_by_label_column_and_weight(rows):
    """Sorted as the rule says, and permuted: rows and places tell it apart."""
    x = np.nan_to_num(rows["X"], nan=np.inf)
    keys = [rows["weight"], *x.T[::-1], rows["y"], rows["qid"]]
    expected = np.lexsort(keys)
    place = np.empty(200, dtype=int)
    place[expected] = np.arange(200)
    # another salt permutes the places, which are those of the rule
    other = {"X": np.arange(200.0)[:, None], "y": np.zeros(200)}
    drawn = order(**other, qid=np.sort(rows["qid"]))
    assert np.array_equal(place[order(**rows)], drawn)


def test_texts_and_times_have_an_order(rows):
    frame = pd.DataFrame(rows["X"], columns=list("abcd"))
    frame["text"] = [f"{value:.2f} of it" for value in rows["weight"]]
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200), "D")
    given = {**rows, "X": frame}
    mixed = np.random.default_rng(3).permutation(200)
    again = order(
        frame.iloc[mixed], *(rows[name][mixed] for name in ("y", "qid", "weight"))
    )
    assert np.array_equal(mixed[again], order(**given))


def test_places_do_not_tell_labels():
    """Queries of one size are permuted each in its own way, and by the salt."""
    n_queries, size = 400, 10
    y = np.tile(np.arange(size), n_queries)
    qid = np.repeat(np.arange(n_queries), size)
    found = [
        y[order(np.zeros((len(y), 1)), y, qid, salt=salt)].reshape(-1, size)
        for salt in (0, 1)
    ]
    assert not np.array_equal(*found)
    # each label at each place about as often: chi-squared of 81 degrees of freedom
    for labels in found:
        counts = [np.bincount(column, minlength=size) for column in labels.T]
        assert ((np.array(counts) - 40) ** 2 / 40).sum() < 140


def test_a_query_that_is_added_leaves_those_of_other_sizes(rows):
    more = {name: np.append(value, value[:1], axis=0) for name, value in rows.items()}
    more["qid"][-1] = -1
    assert np.array_equal(order(**more)[1:], order(**rows))
