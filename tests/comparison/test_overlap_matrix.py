"""Rank-biased overlap of every pair of systems."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tieaware_sklearn.comparison import pairwise_overlap, rank_biased_overlap

RNG = np.random.default_rng(0)
QID = RNG.integers(0, 5, 80)
SYSTEMS = {
    "a": RNG.integers(0, 4, 80).astype(float),
    "b": np.where(RNG.random(80) < 0.3, -math.inf, RNG.random(80)),
    # nothing is retrieved for one query
    "c": np.where(QID == 2, -math.inf, RNG.integers(0, 30, 80)),
}


@pytest.mark.parametrize("options", [{}, {"p": 0.5, "depth": 4}])
def test_each_pair_is_that_of_two_rankings(options):
    found = pairwise_overlap(SYSTEMS, qid=QID, **options)
    assert found.systems == ("a", "b", "c")
    for i, one in enumerate(SYSTEMS.values()):
        for j, other in enumerate(SYSTEMS.values()):
            pair = rank_biased_overlap(one, other, qid=QID, **options).summary()
            for name in ("mean", "worst", "best", "distance"):
                value = getattr(found, name)[i, j]
                assert value == pytest.approx(getattr(pair, name), abs=1e-15)
            assert found.n_queries[i, j] == pair.n_queries
    assert found.n_queries.tolist() == [[5, 5, 4], [5, 5, 4], [4, 4, 4]]
    frame = found.to_pandas()
    assert frame[["a", "b"]].agg("".join, axis=1).tolist() == [
        *("aa", "ab", "ac", "bb", "bc", "cc")
    ]
    assert frame["mean"][1] == found.mean[0, 1] == found.mean[1, 0]
    rows = RNG.permutation(80)
    shuffled = {name: scores[rows] for name, scores in SYSTEMS.items()}
    again = pairwise_overlap(shuffled, qid=QID[rows], **options)
    assert np.array_equal(again.mean, found.mean)


def test_a_system_and_any_order_of_its_ties():
    # the mean over independent orders is that over one of them, whichever it is
    scores = SYSTEMS["a"]
    orders = [scores + RNG.permutation(80) / 1000 for _ in range(3)]
    systems = dict(zip("xyz", orders, strict=True)) | {"tied": scores}
    found = pairwise_overlap(systems, qid=QID)
    assert found.mean[3] == pytest.approx(found.mean[3, 3], abs=1e-14)
    assert found.best[3] == pytest.approx(1.0, abs=0)
    assert found.mean[3, 3] < 1


def test_systems_in_other_forms():
    columns = np.column_stack([SYSTEMS["a"], SYSTEMS["c"]])
    expected = pairwise_overlap({"x": columns[:, 0], "y": columns[:, 1]}, qid=QID)
    for form in (columns, pd.DataFrame(columns, columns=["x", "y"]), columns.tolist()):
        found = pairwise_overlap(form, qid=QID)
        assert np.array_equal(found.mean, expected.mean)
    assert found.systems == ("system 0", "system 1")
    alone = pairwise_overlap([3, 2, 1])
    assert alone.mean.tolist() == [[1.0]]
    assert str(alone).splitlines()[-1].split()[0] == "scores"
    nothing = pairwise_overlap([-math.inf, -math.inf])
    assert np.isnan(nothing.mean).all()
    assert nothing.n_queries.tolist() == [[0]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_score": {}}, "y_score must hold at least one system, got none"),
        (
            {"y_score": {"a": [1, 2], "b": [1]}},
            r"y_score\['b'\] must have one value per row \(2\), got 1",
        ),
        ({"y_score": {"a": [math.nan]}}, r"y_score\['a'\] must not be NaN"),
        ({"y_score": [1, 2], "qid": [1]}, "qid must have one value per row"),
        ({"y_score": [1, 2], "p": 2}, r"p must be a number in \(0, 1\), got 2"),
        ({"y_score": [1, 2], "depth": 0}, "depth must be an integer >= 1, got 0"),
        ({"y_score": 5}, r"y_score must be a mapping .*, got shape \(\)"),
        ({"y_score": np.array(5)}, r"y_score must be a mapping .*, got shape \(\)"),
        ({"y_score": {"a": 5}}, r"y_score\['a'\] must be 1-dimensional"),
        ({"y_score": []}, "y_score must not be empty"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        pairwise_overlap(**given)
