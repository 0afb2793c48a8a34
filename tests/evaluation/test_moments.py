"""Moments over queries, merged in any parts, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import PreparedRanking, evaluate
from tieaware_sklearn.evaluation._averages import column_sums
from tieaware_sklearn.evaluation._intervals import QueryMoments

VALUES = st.sampled_from([0.0, 0.25, 0.7, 1.0, 1e-9, math.nan])


def plain(values, weights):
    """Mean and its standard error, from the definition."""
    pairs = [
        (Fraction(x), Fraction(w))
        for x, w in zip(values, weights, strict=True)
        if w > 0 and not math.isnan(x)
    ]
    if not pairs:
        return math.nan, math.nan
    total = sum(w for _, w in pairs)
    mean = sum(w * x for x, w in pairs) / total
    if len(pairs) == 1:
        return float(mean), math.nan
    spread = sum(w * w * (x - mean) ** 2 for x, w in pairs)
    spread *= Fraction(len(pairs), len(pairs) - 1)
    return float(mean), math.sqrt(spread) / float(total)


@given(
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([0, 0.5, 3.0])), min_size=1),
    st.booleans(),
    st.data(),
)
def test_of_all_and_merged(rows, weighted, data):
    *columns, weight = map(np.array, zip(*rows, strict=True))
    values = np.stack(columns, axis=1)
    given = weight if weighted else None
    ends = st.lists(st.integers(0, len(rows)), max_size=3).map(sorted)
    merged = None
    for part in np.split(np.arange(len(rows)), data.draw(ends)):
        found = QueryMoments.of(values[part], None if given is None else given[part])
        merged = found if merged is None else merged.merge(found)
    whole = QueryMoments.of(values, given)
    for moments in (whole, merged):
        for j in range(2):
            mean, error = plain(
                values[:, j], weight if weighted else np.ones(len(rows))
            )
            own = moments.some(j)
            assert own.averages() == pytest.approx(mean, abs=1e-14, nan_ok=True)
            assert own.standard_error() == pytest.approx(error, abs=1e-9, nan_ok=True)
    joined = QueryMoments.join([whole.some([1]), whole.some([0])])
    np.testing.assert_array_equal(joined.mean, whole.mean[[1, 0]])
    np.testing.assert_array_equal(joined.spread2, whole.spread2[[1, 0]])


@pytest.mark.parametrize("n", [3, 256, 257, 3000])
def test_sums_are_those_of_fsum(n):
    rng = np.random.default_rng(n)
    wide = rng.normal(size=n) * 2.0 ** rng.integers(-300, 300, n)
    columns = [rng.random(n), wide, np.zeros(n), rng.normal(size=n) * 1e290]
    values = np.stack(columns, axis=1)
    expected = [math.fsum(column) for column in columns]
    assert column_sums(values).tolist() == expected
    alone = [column_sums(column[:, None]).item() for column in columns]
    assert alone == expected


def test_weights_and_undefined_queries_reach_averages_of_prepared_rankings():
    labels, qid = [1, 0, 0, 0, 0, 1, 0], [1, 1, 2, 2, 3, 3, 3]
    scores, weight = [2, 1, 1, 1, 3, 2, 1], [3, 3, 5, 5, 1, 1, 1]
    options = {"query_weight": weight, "zero_relevance": "skip"}
    ranking = PreparedRanking(labels, qid=qid, **options)
    mean = (3 * 1 + 1 * 0.5) / 4
    assert ranking.score(scores, measure="ap") == mean
    report = evaluate(labels, scores, qid=qid, measures=["ap"], **options)
    assert report.summary().mean[0] == mean
    assert report.n_undefined.tolist() == [1]
