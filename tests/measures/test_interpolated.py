"""Interpolated precision and its averages: laws under ties, and sampled orders."""

from __future__ import annotations

import tracemalloc
from functools import cache

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation import precision_recall_curve, tie_distributions
from tieaware_sklearn.measures import _interpolated
from tieaware_sklearn.measures._interpolated import (
    RelevantInTies,
    first_places,
    places_of,
    places_of_some,
)


@pytest.mark.parametrize(("name", "relevant", "n", "value"), [
    # 0.1 of 30 is 3, though 0.1 * 30 > 3 in floats
    ("IPrec@0.1", [0, 1, 10, *range(33, 60)], 60, 30 / 60),
    ("IPrec@0", [0, 1, 10, *range(33, 60)], 60, 1),
    # 0.7 * 3 + 0.9 is 2.999... in floats: trec_eval looks from the second one on
    ("IPrec(rounding=trec_eval9)@0.7", [0, 2, 5], 6, 2 / 3),
    ("IPrec@0.7", [0, 2, 5], 6, 3 / 6),
    ("IPrec(rounding=nearest)@0.8", [0, 2, 5], 6, 2 / 3),
])  # fmt: skip
def test_recall_levels_are_decimal_fractions(name, relevant, n, value):
    labels = np.isin(np.arange(n), relevant)
    assert ranking_score(labels, -np.arange(n), measure=name) == value


def test_long_ties_are_sampled_and_say_so(monkeypatch):
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 2, 150), rng.integers(0, 2, 150)
    measures = ["iap", "iprec@0.2", "iap(points=all)"]
    exact = evaluate(labels, scores, measures=measures)
    assert (exact.sampling_error == 0).all()
    monkeypatch.setattr(_interpolated, "REACH", 10)
    sampled = evaluate(labels, scores, measures=measures)
    assert (sampled.sampling_error > 0).all()
    off = np.abs(sampled.expected - exact.expected) / sampled.sampling_error
    assert (off < 4).all()
    assert (sampled.worst <= sampled.expected).all()
    assert (sampled.expected <= sampled.best).all()
    assert "IAP: the mean is estimated from sampled orders" in str(sampled)
    assert str(sampled) == str(evaluate(labels, scores, measures=measures))
    with pytest.raises(ValueError, match=r"distribution of IPrec@0\.2 .* at most 10,"):
        tie_distributions(labels, scores, measure="iprec@0.2")
    # the curve is of the same orders as its average
    curve = precision_recall_curve(labels, scores)
    assert (curve.sampling_error > 0).any()
    assert curve.mean.mean() == pytest.approx(sampled.expected[0, 0], abs=1e-12)
    assert (np.diff(curve.mean) <= 0).all()


def walk(groups: list[tuple[int, int]], depth: int, t: float) -> float:
    """P(precision interpolated from `depth` on <= t), place by place."""
    places = [(n - y, r, y) for n, r in groups for y in range(n)]

    @cache
    def kept(at: int, found: int, left: int) -> float:
        if at == len(places):
            return 1.0
        remaining, r, y = places[at]
        left = r if y == 0 else left
        chance = left / remaining
        out = 0.0
        if chance > 0 and not (found + 1 >= depth and (found + 1) / (at + 1) > t):
            out += chance * kept(at + 1, found + 1, left - 1)
        if chance < 1:
            out += (1 - chance) * kept(at + 1, found, left)
        return out

    return kept(0, 0, 0)


@pytest.mark.parametrize("groups", [
    [(24, 7)],
    [(4, 4), (11, 5), (3, 0), (9, 8)],
    [(16, 1), (3, 3), (1, 1), (2, 0), (7, 3), (2, 2)],
    [(1, 0), (15, 14), (1, 1)],
])  # fmt: skip
def test_laws_are_those_of_a_walk_over_places(groups):
    labels = np.concatenate([np.arange(n) < r for n, r in groups]).astype(float)
    scores = -np.repeat(np.arange(len(groups)), [n for n, _ in groups])
    total = int(labels.sum())
    report = evaluate(labels, scores, measures=["iap(points=all)"])
    means = []
    for depth in range(1, total + 1):
        name = f"iprec(rounding=nearest)@{depth / total!r}"
        (found,) = tie_distributions(labels, scores, measure=name).values()
        for t in np.append(found.values, [0.2, 0.5, 0.9]).tolist():
            # no attainable value is that near to another one
            expected = walk(groups, depth, t + 1e-9)
            assert found.cdf(t + 1e-9) == pytest.approx(expected, abs=1e-12)
        one = evaluate(labels, scores, measures=name)
        assert one.expected[0, 0] == pytest.approx(found.mean(), abs=1e-12)
        assert one.std[0, 0] == pytest.approx(found.std(), abs=1e-9)
        means.append(found.mean())
    assert report.expected[0, 0] == pytest.approx(np.mean(means), abs=1e-12)


def test_all_levels_and_the_chance_level_are_worked_out_once(monkeypatch):
    walks, parts = [], RelevantInTies._parts
    monkeypatch.setattr(
        RelevantInTies, "_parts", lambda self: walks.append(self) or parts(self)
    )
    labels, qid = np.tile([1.0, 0, 0, 1, 0, 0, 0, 0], 6), np.repeat(np.arange(6), 8)
    precision_recall_curve(labels, np.zeros(48), qid=qid)
    # of six queries of one shape, at eleven levels: the ties, the best, the worst order
    assert len(walks) == 3
    evaluate(labels, np.arange(48), qid=qid, measures=["iap", "iprec@0.5"])
    # the ranking, its chance level and ideal
    assert len(walks) == 6


def test_long_ties_are_sampled_in_little_memory():
    labels = np.arange(20_000) % 3 == 0
    tracemalloc.start()
    evaluate(labels, np.zeros(20_000), measures="iap")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_places_of_random_orders():
    """None twice, each as often as the others, whatever their numbers."""
    values = np.arange(40.0)
    for places in (40, 12, 3):
        drawn = first_places(np.random.default_rng(0), values, places, 300)
        assert drawn.shape == (300, places)
        assert all(len(set(row)) == places for row in drawn.tolist())
        often = np.bincount(drawn.astype(int).ravel(), minlength=40)
        assert abs(often / (300 * places / 40) - 1).max() < 0.9
    shapes = (9, 9), (9, 1), (9, 7), (40, 3), (500, 60), (30_000, 2), (100_000, 3)
    for draw in (places_of, places_of_some):
        for n, chosen in shapes:
            where = draw(np.random.default_rng(0), n, chosen, 200)
            assert where.shape == (200, chosen)
            assert (np.diff(where, axis=1) > 0).all()
            assert 1 <= where.min() <= where.max() <= n
            assert where.mean() == pytest.approx((n + 1) / 2, rel=0.1)
        where = draw(np.random.default_rng(1), 5, 2, 20_000)
        _, counts = np.unique(where @ [10, 1], return_counts=True)
        assert counts == pytest.approx(np.full(10, 2000), rel=0.1)
