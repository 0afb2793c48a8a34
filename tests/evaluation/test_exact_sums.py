"""Sums without rounding, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.evaluation._exact_sums import ExactMoments, ExactSums

numbers = st.floats(-1e9, 1e9).map(lambda x: 0.0 if abs(x) < 1e-60 else x)
columns = st.lists(numbers, min_size=1, max_size=30)


@given(columns, st.integers(0, 30), st.randoms())
def test_the_parts_are_the_sum_and_depend_on_it_alone(values, cut, random):
    found = ExactSums.of(np.array(values)[:, None])
    exact = sum(map(Fraction, values), Fraction())
    assert found.fractions() == [exact]
    assert found.rounded.tolist() == [float(exact)]
    random.shuffle(values)
    parts = [p for p in (values[:cut], values[cut:]) if p]
    ours, *others = (ExactSums.of(np.array(part)[:, None]) for part in parts)
    for other in others:
        ours = ours.merge(other)
    np.testing.assert_array_equal(ours.parts, found.parts, strict=True)


@given(columns, st.data())
def test_spreads_are_rounded_once(values, data):
    weight = data.draw(st.none() | st.lists(
        st.floats(0.01, 9), min_size=len(values), max_size=len(values)
    ))  # fmt: skip
    x, w = np.array(values), None if weight is None else np.array(weight)
    found = ExactMoments.of(x[:, None], w).moments()
    ws = [Fraction(1)] * len(x) if w is None else [*map(Fraction, w.tolist())]
    ys = map(Fraction, (x if w is None else w * x).tolist())
    mean = Fraction(found.mean.tolist()[0])
    exact = sum((y - own * mean) ** 2 for y, own in zip(ys, ws, strict=True))
    assert found.spread2.tolist() == [float(exact)]
    assert found.weight.tolist() == [float(sum(ws))]
