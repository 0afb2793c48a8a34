"""No decision depends on the unit of the gains."""

import numpy as np
import pytest

from tieaware_sklearn import (
    RankingFeatureSelector,
    compare_systems,
    evaluate,
    precision_study,
    pvalues_over_orders,
)
from tieaware_sklearn.measures import CG, DCG, NDCG
from tieaware_sklearn.rankers import LinearRanker

#: products with a power of two are exact
UNIT = 2.0**-40
N_QUERIES = 30


def measures(unit):
    gain = {0: 0.0, 1: unit, 2: 3 * unit}
    return [CG(k=3, gain=gain), DCG(k=5, gain=gain), NDCG(k=5, gain=gain)]


def in_both_units(function, *args, name="measure", **options):
    """Results of a function with gains of the usual unit, and of a small unit."""
    usual = function(*args, **{name: measures(1.0)}, **options)
    small = function(*args, **{name: measures(UNIT)}, **options)
    return usual, small


def assert_same(usual, small, *names):
    for name in names:
        values = getattr(small, name)
        np.testing.assert_array_equal(values, getattr(usual, name), err_msg=name)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(N_QUERIES), 8)
    y = rng.integers(0, 3, len(qid))
    signal = y[:, None] * [2.0, 1, 0.5, 0, 0, -1]
    X = np.round(signal + 2 * rng.normal(size=(len(y), 6)))
    X[:, 4] = 0
    return X, y, qid


def assert_same_in_units(usual, small, *names):
    """The first two of three measures are in the unit of the gains."""
    for name in names:
        expected = np.split(np.asarray(getattr(usual, name), dtype=float), 3)
        values = np.split(np.asarray(getattr(small, name), dtype=float), 3)
        values[0] /= UNIT
        values[1] /= UNIT
        np.testing.assert_array_equal(values, expected, err_msg=name)


@pytest.mark.filterwarnings("ignore:the differences by .* standard deviations")
@pytest.mark.parametrize(("options", "weighted"), [
    ({"test": "t"}, False),
    ({"test": "t"}, True),
    ({"test": "wilcoxon"}, False),
    ({"test": "randomization"}, False),
    ({"test": "randomization"}, True),
    ({"correction": "tukey"}, False),
])  # fmt: skip
def test_comparisons(data, options, weighted):
    X, y, qid = data
    systems = {str(j): X[:, j] for j in range(6)}
    systems["copy"] = X[:, 0]
    options = {"qid": qid, "query_weight": qid + 1.0 if weighted else None, **options}
    usual, small = in_both_units(compare_systems, y, systems, **options)
    names = ("difference", "difference_interval", "tie_range", "tie_std")
    assert_same_in_units(usual, small, *names)
    assert_same(usual, small, "pvalues", "adjusted_pvalues", "same_sign", "effect")
    assert usual.same_sign.any()
    usual_dcg = usual[usual.measures[1], "expected"]
    small_dcg = small[small.measures[1], "expected"]
    usual_plan = usual_dcg.queries_needed(1 / 4)
    small_plan = small_dcg.queries_needed(UNIT / 4)
    needed = small_plan.columns["queries_needed"]
    np.testing.assert_array_equal(needed, usual_plan.columns["queries_needed"])


@pytest.mark.parametrize("average", ["macro", "median"])
@pytest.mark.parametrize("unit", [1.0, UNIT])
def test_systems_that_differ_by_rounding_are_equal(data, average, unit):
    _, y, qid = data
    systems = {"a": np.array([0, 2, 1])[y], "b": y}
    measure = DCG(gain={0: 0.0, 1: 0.3 * unit, 2: (0.1 + 0.2) * unit})
    result = compare_systems(y, systems, qid=qid, measure=measure, average=average)
    assert (result.expected[:, 0] != result.expected[:, 1]).any()
    assert result.pvalues[0] == 1
    assert not result.same_sign[0]


def test_lifts_and_intervals(data):
    X, y, qid = data
    reports = in_both_units(evaluate, y, X[:, 0], name="measures", qid=qid)
    usual, small = (report.summary() for report in reports)
    assert_same(usual, small, "lift")
    assert (usual.lift > 0).all()
    names = ("mean", "interval_low", "interval_high", "tie_std")
    assert_same_in_units(usual, small, *names)


@pytest.mark.parametrize("number", [None, 3])
def test_screenings(data, number):
    X, y, qid = data
    options = {"name": "measures", "n_features_to_select": number}
    usual, small = in_both_units(RankingFeatureSelector, **options)
    usual.fit(X, y, qid=qid)
    small.fit(X, y, qid=qid)
    for name in ("pvalues_", "qvalues_", "support_", "ranking_", "lift_"):
        values = getattr(small, name)
        np.testing.assert_allclose(values, getattr(usual, name), rtol=1e-14)
    assert list(usual.directions_) == list(small.directions_)
    assert "ascending" in usual.directions_
    assert 0 < usual.support_.sum() < 6
    first, last = qid < 9, qid >= 9
    merged = small.screen(X[first], y[first], qid[first])
    merged = merged.merge(small.screen(X[last], y[last], qid[last]))
    np.testing.assert_allclose(merged.pvalues, small.pvalues_, rtol=1e-9)


def test_p_values_over_orders(data):
    X, y, qid = data
    systems = {"a": X[:, 2], "b": X[:, 3]}
    options = {"qid": qid, "n_orders": 50}
    usual, small = in_both_units(pvalues_over_orders, y, systems, **options)
    assert_same(usual, small, "pvalues", "share", "smallest", "largest", "n_orders")


@pytest.mark.parametrize(
    ("usual", "small"), [*zip(measures(1.0), measures(UNIT), strict=True)]
)
def test_precision_studies(data, usual, small):
    X, y, qid = data
    system = {"a": X[:, 0] + X[:, 2]}
    usual_study = precision_study(y, system, qid=qid, measure=usual)
    small_study = precision_study(y, system, qid=qid, measure=small)
    np.testing.assert_array_equal(small_study.changed(), usual_study.changed())
    assert_same(usual_study, small_study, "inferiority")


def test_linear_rankers(data):
    X, y, qid = data
    coefficients = []
    for unit in (1.0, UNIT):
        ranker = LinearRanker(measure=measures(unit)[1], tol=0, max_iter=3)
        ranker.fit(X, y, qid=qid)
        coefficients.append(ranker.coef_)
    usual, small = coefficients
    np.testing.assert_allclose(small, usual)
