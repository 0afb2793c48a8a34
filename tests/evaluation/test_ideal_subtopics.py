"""The greedy ideal: the order of the definition, whatever the order of rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn.evaluation._subtopics import ideal_scores

VECTORS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from([0, 0, 1])] * width), min_size=1, max_size=9
    )
)


def found_order(relevant, weights=None, alpha=0.5, depth=None):
    relevant = np.array(relevant, dtype=bool)
    queries = check_qid(None, n_rows=len(relevant))
    weight = np.ones((1, relevant.shape[1])) if weights is None else [weights]
    scores = ideal_scores(relevant, queries, np.array(weight), 1 - alpha, depth)
    ranked = np.flatnonzero(scores > -np.inf)
    order = ranked[np.argsort(-scores[ranked])]
    return [tuple(relevant[i].astype(int).tolist()) for i in order]


@given(
    documents=VECTORS,
    depth=st.sampled_from([None, 1, 3]),
    alpha=st.sampled_from([0.0, 0.25, 0.5]),
)
def test_it_is_the_order_of_the_definition(documents, depth, alpha):
    twin = [documents[i] for i in naive.greedy(documents, Fraction(alpha))]
    # documents without a gain are not ranked
    twin = [document for document in twin if any(document)][:depth]
    assert found_order(documents, alpha=alpha, depth=depth) == twin
    assert found_order(documents[::-1], alpha=alpha, depth=depth) == twin


@given(documents=VECTORS)
def test_weights_weigh_gains(documents):
    weights = [1.0, 0.25, 3.0, 0.5][: len(documents[0])]
    twin = [documents[i] for i in naive.greedy(documents, weights=weights)]
    twin = [document for document in twin if any(document)]
    assert found_order(documents, weights) == twin


def test_what_cannot_gain_any_more_is_not_ranked():
    assert found_order([(1, 0), (1, 0), (0, 1)], alpha=1.0) == [(1, 0), (0, 1)]


@pytest.mark.parametrize("alpha", [0.8, 0.9, 0.3])
def test_gains_that_are_equal_on_paper_tie(alpha):
    # after these, the subtopics have been seen twice, once, never, never, once, twice
    first = [(1, 0, 0, 0, 0, 1, 1, 1, 1), (1, 1, 0, 0, 1, 1, 0, 0, 0)]
    # 0.01 + 0.1 + 1 is not 1 + 0.1 + 0.01 if each sum is rounded
    tied = [(1, 1, 1, 0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 1, 0, 0, 0)]
    assert found_order([*tied, *first], alpha=alpha) == [*first, *tied]


@pytest.mark.parametrize("depth", [None, 2])
def test_queries_do_not_meet(depth):
    relevant = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [1, 1]], dtype=bool)

    def scores(rows, qid):
        queries = check_qid(qid, n_rows=len(rows))
        weights = np.ones((queries.n_queries, 2))
        return ideal_scores(rows, queries, weights, 0.5, depth)

    both = scores(relevant, [1, 1, 1, 2, 2])
    apart = [scores(relevant[:3], None), scores(relevant[3:], None)]
    np.testing.assert_array_equal(both, np.concatenate(apart))
