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
from tieaware_sklearn.inspection import query_permutation_importance
from tieaware_sklearn.measures import CG, DCG, NDCG
from tieaware_sklearn.rankers import LinearRanker

#: products with a power of two are exact
UNIT = 2.0**-40
N_QUERIES = 30


def measures(unit):
    gain = {0: 0.0, 1: unit, 2: 3 * unit}
    return [CG(k=3, gain=gain), DCG(k=5, gain=gain), NDCG(k=5, gain=gain)]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(N_QUERIES), 8)
    y = rng.integers(0, 3, len(qid))
    signal = y[:, None] * [2.0, 1, 0.5, 0, 0, -1]
    X = np.round(signal + 2 * rng.normal(size=(len(y), 6)))
    X[:, 4] = 0
    return X, y, qid


def in_unit(result, name, unit):
    """Values of an attribute; the first two of three measures are in the unit."""
    parts = np.split(np.asarray(getattr(result, name), dtype=float), 3)
    return [parts[0] / unit, parts[1] / unit, parts[2]]


@pytest.mark.filterwarnings("ignore:the differences by .* standard deviations")
@pytest.mark.parametrize(
    ("options", "weighted"),
    [
        ({"test": "t"}, False),
        ({"test": "t"}, True),
        ({"test": "wilcoxon"}, False),
        ({"test": "randomization"}, False),
        ({"test": "randomization"}, True),
        ({"correction": "tukey"}, False),
    ],
)
def test_comparisons(data, options, weighted):
    X, y, qid = data
    systems = {str(j): X[:, j] for j in range(6)} | {"copy": X[:, 0]}
    weight = qid + 1.0 if weighted else None
    usual, small = (
        compare_systems(
            y,
            systems,
            qid=qid,
            measure=measures(unit),
            query_weight=weight,
            **options,
        )
        for unit in (1.0, UNIT)
    )
    for name in ("difference", "difference_interval", "tie_range", "tie_std"):
        wanted, scaled = in_unit(usual, name, 1.0), in_unit(small, name, UNIT)
        np.testing.assert_array_equal(scaled, wanted, err_msg=name)
    for name in ("pvalues", "adjusted_pvalues", "same_sign", "effect"):
        wanted = getattr(usual, name)
        np.testing.assert_array_equal(getattr(small, name), wanted, err_msg=name)
    assert usual.same_sign.any()
    needed = []
    for result, unit in ((usual, 1.0), (small, UNIT)):
        by_dcg = result[result.measures[1], "expected"]
        needed.append(by_dcg.queries_needed(unit / 4).columns["queries_needed"])
    np.testing.assert_array_equal(*needed)


@pytest.mark.parametrize("average", ["macro", "median"])
def test_systems_that_differ_by_rounding_are_equal(data, average):
    _, y, qid = data
    systems = {"a": np.array([0, 2, 1])[y], "b": y}
    for unit in (1.0, UNIT):
        gain = {0: 0.0, 1: 0.3 * unit, 2: (0.1 + 0.2) * unit}
        result = compare_systems(
            y, systems, qid=qid, measure=DCG(gain=gain), average=average
        )
        assert (result.expected[:, 0] != result.expected[:, 1]).any()
        assert result.pvalues[0] == 1
        assert not result.same_sign[0]


def test_lifts_and_intervals(data):
    X, y, qid = data
    usual, small = (
        evaluate(y, X[:, 0], qid=qid, measures=measures(unit)).summary()
        for unit in (1.0, UNIT)
    )
    np.testing.assert_array_equal(small.lift, usual.lift)
    assert (usual.lift > 0).all()
    for name in ("mean", "interval_low", "interval_high", "tie_std"):
        wanted, scaled = in_unit(usual, name, 1.0), in_unit(small, name, UNIT)
        np.testing.assert_array_equal(scaled, wanted, err_msg=name)


@pytest.mark.parametrize("number", [None, 3])
def test_screenings(data, number):
    X, y, qid = data
    usual, small = (
        RankingFeatureSelector(measures(unit), n_features_to_select=number).fit(
            X, y, qid=qid
        )
        for unit in (1.0, UNIT)
    )
    for name in ("pvalues_", "qvalues_", "support_", "ranking_", "lift_"):
        wanted = getattr(usual, name)
        np.testing.assert_allclose(getattr(small, name), wanted, rtol=1e-14)
    assert list(usual.directions_) == list(small.directions_)
    assert "ascending" in usual.directions_
    assert 0 < usual.support_.sum() < 6
    first, rest = (
        small.screen(X[rows], y[rows], qid[rows]) for rows in (qid < 9, qid >= 9)
    )
    np.testing.assert_allclose(first.merge(rest).pvalues, small.pvalues_, rtol=1e-9)


def test_p_values_over_orders(data):
    X, y, qid = data
    systems = {"a": X[:, 2], "b": X[:, 3]}
    usual, small = (
        pvalues_over_orders(y, systems, qid=qid, measure=measures(unit), n_orders=50)
        for unit in (1.0, UNIT)
    )
    for name in ("pvalues", "share", "smallest", "largest", "n_orders"):
        np.testing.assert_array_equal(getattr(small, name), getattr(usual, name))


def test_precision_studies_and_importances(data):
    X, y, qid = data
    ranker = LinearRanker(measure=measures(1.0)[1], max_iter=1).fit(X, y, qid=qid)
    for j in range(3):
        studies, importances = zip(
            *[
                (
                    precision_study(y, {"a": X[:, 0] + X[:, 2]}, qid=qid, measure=m),
                    query_permutation_importance(
                        ranker, X, y, qid=qid, measures=m, random_state=0
                    ),
                )
                for m in (measures(1.0)[j], measures(UNIT)[j])
            ],
            strict=True,
        )
        np.testing.assert_array_equal(*[study.changed() for study in studies])
        np.testing.assert_array_equal(*[study.inferiority for study in studies])
        np.testing.assert_array_equal(*[scaled.pvalues for scaled in importances])


def test_linear_rankers(data):
    X, y, qid = data
    usual, small = (
        LinearRanker(measure=measures(unit)[1], tol=0, max_iter=3).fit(X, y, qid=qid)
        for unit in (1.0, UNIT)
    )
    np.testing.assert_allclose(small.coef_, usual.coef_)
