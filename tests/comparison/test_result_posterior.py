"""How probable it is that a system is better."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=3)
SYSTEMS = dict(zip(WEB.feature_names[:4], WEB.data.T[:4], strict=True))
VALUES = [st.integers(-8, 8).map(lambda x: x / 8)] * 8


def posterior(values, rope, greater_is_better=True):
    """Of differences to a system whose values are all 0."""
    given = compare_systems([1, 0], {"a": [2, 1], "b": [1, 2]}, qid=[1, 1])
    expected = np.column_stack([values, np.zeros(len(values))])
    up = np.array([greater_is_better])
    found = replace(given, expected=expected, greater_is_better=up).posterior(rope)
    return [found.columns[name][0] for name in ("better", "equivalent", "worse")]


def test_the_posterior_from_likelihood_and_prior():
    values, rope = np.array([0.3, 0.1, -0.2, 0.25, 0.1]), 0.05

    def density(mu):
        """Normal likelihood times 1/sigma, summed over sigma; up to a factor."""

        def at(sigma):
            return math.prod(stats.norm.pdf(values, mu, sigma)) / sigma

        return integrate.quad(at, 0, np.inf, epsabs=1e-12)[0]

    def mass(start, end):
        return integrate.quad(density, start, end, epsabs=1e-9, limit=200)[0]

    parts = [mass(rope, 9), mass(-rope, rope), mass(-9, -rope)]
    wanted = [part / sum(parts) for part in parts]
    assert posterior(values, rope) == pytest.approx(wanted, abs=1e-4)


@given(st.tuples(*VALUES), st.sampled_from([0, 0.01, 0.125, 2]))
def test_the_three_add_up_and_change_places(values, rope):
    better, equivalent, worse = posterior(values, rope)
    assert better + equivalent + worse == pytest.approx(1, abs=1e-12)
    assert min(better, equivalent, worse) >= 0
    assert posterior([-x for x in values], rope) == [worse, equivalent, better]
    turned = posterior(values, rope, greater_is_better=False)
    assert turned == [worse, equivalent, better]
    assert posterior(values[::-1], rope) == [better, equivalent, worse]
    if len(set(values)) > 1:
        less = stats.ttest_1samp(values, 0, alternative="greater").pvalue
        assert posterior(values, 0)[2] == pytest.approx(less, abs=1e-9)


def test_where_nothing_spreads():
    assert posterior([0.25] * 4, 0.1) == [1, 0, 0]
    assert posterior([-0.25] * 4, 0.1) == [0, 0, 1]
    # a difference as large as the rope is equivalent
    assert posterior([0.1] * 4, 0.1) == [0, 1, 0]
    assert posterior([0.0] * 4, 0) == [0, 1, 0]
    assert np.isnan(posterior([0.5], 0.1)).all()


@pytest.mark.parametrize("measure", ["ap", "esl"])
def test_it_is_that_of_the_pairs_of_a_comparison(measure):
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure=measure)
    shown = found.posterior(rope=0.02)
    for i, (a, b) in enumerate(found.pairs.tolist()):
        apart = found.expected[:, a] - found.expected[:, b]
        apart = apart[~np.isnan(apart)]
        t = stats.t(len(apart) - 1, apart.mean(), stats.sem(apart))
        ends = t.sf(0.02), t.cdf(-0.02)
        better, worse = ends if found.greater_is_better[0] else ends[::-1]
        assert shown.better[i] == pytest.approx(better, abs=1e-12)
        assert shown.worse[i] == pytest.approx(worse, abs=1e-12)
    assert shown.difference == pytest.approx(found.difference)
    assert shown.n_queries.tolist() == found.n_queries.tolist()
    frame = shown.to_pandas()
    pd.testing.assert_frame_equal(frame[["a", "b"]], found.to_pandas()[["a", "b"]])
    assert frame["equivalent"].tolist() == shown.equivalent.tolist()
    assert frame.to_latex(index=False).count("\\\\\n") == 7
    assert f"of {found.measures[0]} of at most 0.02" in str(shown)


def test_one_system_has_no_pairs():
    found = compare_systems(WEB.target, WEB.data[:, 0], qid=WEB.qid, correction="tukey")
    assert found.posterior().better.shape == (0,)
    assert found.posterior().to_pandas().empty
    assert found.to_pandas().empty
    assert len(found.by_query()) == 40
    assert str(found.posterior()).startswith("A  B")


def test_the_treatment_is_named():
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, ties="best")
    assert "; ties: best" in str(found.posterior())
    assert found.posterior().rope == 0.01


@pytest.mark.parametrize("rope", [-0.1, math.nan, math.inf, "x", True])
def test_bad_input(rope):
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid)
    with pytest.raises(ValueError, match="rope must be a number >= 0, got"):
        found.posterior(rope=rope)
