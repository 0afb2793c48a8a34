"""LinearRanker: equal rows have equal scores."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import (
    LinearRanker,
    QueryKFold,
    RankingFeatureSelector,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search


@given(st.integers(1, 70), st.integers(0, 10_000))
def test_equal_rows_have_equal_scores_wherever_they_stand(n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, n_features))
    at = rng.permutation(40)[:15]
    X[at] = X[at[0]]
    ranker = LinearRanker(rng.normal(size=n_features)).fit(X)
    scores = ranker.predict(X)
    assert len(set(scores[at])) == 1
    for rows in (at, slice(1, None), slice(None, None, -3)):
        assert np.array_equal(ranker.predict(X[rows]), scores[rows])
    assert np.array_equal(ranker.predict(np.asfortranarray(X)), scores)
    np.testing.assert_allclose(scores, X @ ranker.coef_, atol=1e-12)


def test_very_wide_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 9001))
    ranker = LinearRanker(rng.normal(size=9001)).fit(X)
    scores = ranker.predict(X)
    assert [ranker.predict(X[i : i + 1])[0] for i in range(60)] == scores.tolist()


def test_transforms():
    X = np.array([[3.0, -8.0, 2.0], [0.0, 0.0, 2.0], [1.0, 8.0, 5.0], [1.0, 1.0, 9.0]])
    ranker = LinearRanker([1, 1, 1], transforms=["identity", "log1p", "rank"]).fit(X)
    assert ranker.transforms_ == ("identity", "log1p", "rank")
    expected = X[:, 0] + np.sign(X[:, 1]) * np.log(1 + abs(X[:, 1]))
    expected += np.array([2 / 8, 2 / 8, 5 / 8, 7 / 8])
    np.testing.assert_allclose(ranker.predict(X), expected, atol=1e-15)
    low = ranker.predict([[0.0, 0.0, 1.0]])
    high = ranker.predict([[0.0, 0.0, 10.0]])
    between = ranker.predict([[0.0, 0.0, 3.0]])
    assert (low, between, high) == (0.0, 0.5, 1.0)


def test_equal_weights_put_features_on_one_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1, 1000, 0]
    ranker = LinearRanker("equal").fit(X)
    np.testing.assert_allclose(ranker.coef_[:2] * X[:, :2].std(axis=0), [1, 1])
    assert ranker.coef_[2] == 0
    order = rng.permutation(200)
    assert np.array_equal(LinearRanker("equal").fit(X[order]).coef_, ranker.coef_)


def test_in_a_pipeline_and_a_search():
    web = make_web_search(n_queries=30, n_documents=20, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            RankingFeatureSelector(n_features_to_select=2),
            StandardScaler(),
            LinearRanker(),
        )
        search = GridSearchCV(
            model,
            {"linearranker__coef": [[1, 0], [0, 1], [1, 1]]},
            scoring=make_ranking_scorer("ndcg@10"),
            cv=QueryKFold(3),
            error_score="raise",
        ).fit(web.data, web.target, qid=web.qid)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == max(scores)
    assert len(set(scores)) == 3


def test_frames_and_clone():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 1.0]})
    ranker = LinearRanker([1.0, 2.0]).fit(X)
    assert ranker.feature_names_in_.tolist() == ["a", "b"]
    assert ranker.predict(X).tolist() == [7.0, 4.0]
    assert clone(ranker).get_params() == ranker.get_params()
    assert repr(ranker) == "LinearRanker(coef=[1.0, 2.0])"


def test_it_is_unpickled_without_optuna(tmp_path):
    X = np.array([[1.0, 2.0], [3.0, 1.0]])
    path = tmp_path / "ranker.pickle"
    path.write_bytes(pickle.dumps(LinearRanker([1, 1], transforms="rank").fit(X)))
    code = (
        "import pickle, sys; sys.modules['optuna'] = None;"
        f"ranker = pickle.load(open({str(path)!r}, 'rb'));"
        f"print(ranker.predict({X.tolist()}).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[1.0, 1.0]"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coef": [1.0]}, r"one weight per feature \(2\), got 1"),
        ({"coef": [1.0, np.nan]}, "coef must be finite"),
        ({"coef": ["a", "b"]}, "coef must be numeric, got .* 'a' in row 0"),
        ({"coef": 1.0}, r"coef must be 1-dimensional, got shape \(\)"),
        ({"coef": "same"}, "coef must be \"equal\", one weight .* got 'same'"),
        ({"transforms": "square"}, "transforms must be one of"),
        ({"transforms": ["rank"]}, r"one entry per feature \(2\), got \['rank'\]"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearRanker(**{"coef": "equal", **parameters}).fit(np.ones((3, 2)))


def test_ties_survive_where_blas_breaks_them():
    """Two documents with equal features tie, and count with their mean."""
    rng = np.random.default_rng(3)
    row = rng.normal(size=13)
    X, y = np.vstack([row] * 9), np.eye(9)[0]
    scores = LinearRanker(rng.normal(size=13)).fit(X).predict(X)
    assert ranking_score(y, scores, measure="rr") == pytest.approx(
        sum(1 / k for k in range(1, 10)) / 9
    )
