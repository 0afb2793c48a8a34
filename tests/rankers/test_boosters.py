"""Rankers of LightGBM, XGBoost and CatBoost alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lightgbm.helpers import rows_of

#: what keeps them quiet, on one core
OPTIONS = {
    "lightgbm": {"verbosity": -1, "n_jobs": 1},
    "xgboost": {"n_jobs": 1},
    "catboost": {"verbose": 0, "allow_writing_files": False, "thread_count": 1},
}


@pytest.fixture(params=OPTIONS)
def make(request):
    room = pytest.importorskip(f"tieaware_sklearn.{request.param}")
    name = next(name for name in room.__all__ if name.startswith("Query"))
    quiet = OPTIONS[request.param]
    return lambda **options: getattr(room, name)(n_estimators=5, **quiet, **options)


def moved_by_one_unit(X, rng):
    """Each twentieth cell goes to the next float, up or down."""
    to = np.where(rng.random(X.shape) < 0.5, np.inf, -np.inf)
    return np.where(rng.random(X.shape) < 0.05, np.nextafter(X, to), X)


#: what no tree sees
UNSEEN = {
    "constant": lambda X, rng: np.column_stack([X, np.ones(len(X))]),
    "scaled": lambda X, rng: X * 2.0 ** rng.integers(-3, 4, X.shape[1]),
    "float32": lambda X, rng: X.astype(np.float32),
    "one unit": moved_by_one_unit,
}


@pytest.mark.parametrize("change", UNSEEN)
def test_what_no_tree_sees_changes_no_bit(web, make, change):
    data = np.float32(web.data).astype(float)
    rng = np.random.default_rng(0)
    changed, rows = UNSEEN[change](data, rng), rng.permutation(len(data))
    one = make().fit(data, web.target, qid=web.qid)
    two = make().fit(changed[rows], web.target[rows], qid=web.qid[rows])
    expected = one.predict(data)
    assert len(set(expected)) > 20
    # thresholds have moved by no more than the cells of their bins
    found = two.predict(data if change == "one unit" else changed)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"2-dimensional, got shape .*Reshape your"):
        one.predict(data[0])


def test_ids_alone_are_no_features(make):
    with pytest.raises(ValueError, match=r"got 0 feature\(s\) .* selector before"):
        make(qid=0).fit(np.array([[1], [1], [2], [2]]), [0, 1, 0, 1])


def test_training_data_stop_nothing_by_any_name(make, web):
    own = rows_of(web)
    sets = {f"eval_{name}": [values] for name, values in own.items()}
    with pytest.raises(ValueError, match="early_stopping_rounds needs an evaluation"):
        make(early_stopping_rounds=2).fit(**own, **sets, eval_names=["mine"])


@pytest.mark.parametrize(("zero", "value"), [(0.0, 0.5), (0.5, 0.75), ("skip", 1.0)])
def test_queries_without_a_relevant_document(zero, value):
    lgb = pytest.importorskip("lightgbm")
    room = pytest.importorskip("tieaware_sklearn.lightgbm")
    X, y, scores = np.zeros((4, 1)), np.array([1, 0, 0, 0]), np.array([2.0, 1, 1, 2])
    data = lgb.Dataset(X, y, group=[2, 2]).construct()
    assert room.feval("ap", zero_relevance=zero)(scores, data) == ("AP", value, True)
    metric = room.eval_metric("ap", zero_relevance=zero)
    assert metric(y, scores, None, np.array([2, 2])) == ("AP", value, True)
    xgb = pytest.importorskip("xgboost")
    metric = pytest.importorskip("tieaware_sklearn.xgboost").custom_metric
    data = xgb.DMatrix(X, y, qid=[0, 0, 1, 1])
    found = metric("ap", zero_relevance=zero)(scores, data)
    assert found == ("precise-AP", value)
