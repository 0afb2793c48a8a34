"""Queries looked up by their digests."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import RankingFeatureSelector, evaluate_batches
from tieaware_sklearn.datasets import query_digests


def rows_of(ids):
    return pd.DataFrame(
        {"qid": np.repeat(ids, 2), "label": [1, 0] * len(ids), "x": [1, 2] * len(ids)}
    )


def summary_of(rows):
    return evaluate_batches([rows], score="x", measures="rr")


def selector_of(rows):
    return RankingFeatureSelector("rr").fit(rows[["x"]], rows.label, rows.qid)


@pytest.mark.parametrize("make", [summary_of, selector_of])
@pytest.mark.parametrize(
    "ids", [["tea", "mug", "pot"], [7, -1, 2**62], [0.5, 1.0, 2.0]]
)
def test_the_query_of_a_message_is_found(make, ids):
    ours, theirs = rows_of(ids[:2]), rows_of(ids[1:])
    with pytest.raises(ValueError, match=r"datasets\.query_digests tells") as caught:
        make(ours).merge(make(theirs))
    digest = int(re.search("0x[0-9a-f]{16}", str(caught.value))[0], 16)
    assert set(theirs.qid[query_digests(theirs.qid) == digest]) == {ids[1]}


@given(st.lists(st.integers(-5, 5) | st.sampled_from([2**53, 2**53 + 1]), min_size=1))
def test_equal_ids_have_equal_digests(ids):
    found = query_digests(ids)
    assert found.dtype == np.uint64
    same = np.equal.outer(np.array(ids), np.array(ids))
    assert np.array_equal(np.equal.outer(found, found), same)
    assert np.array_equal(found, query_digests(pd.Series(ids)))


def test_what_is_no_id_is_refused():
    with pytest.raises(ValueError, match="qid must not"):
        query_digests(["a", None])
