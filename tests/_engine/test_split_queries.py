"""Tests of the warning if a fitted query is scored with another number of rows."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tieaware_sklearn import SplitQueriesWarning
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._engine.split_queries import FittedQueries, check_whole_queries

SIZES = np.tile([9, 10, 11, 10], 10)
QID = np.repeat(np.arange(40), SIZES)
SOME = np.random.default_rng(0).random(len(QID)) < 0.7


def in_all_types(qid):
    """Return query ids as arrays of each type."""
    ids = {"integers": qid, "floats": qid.astype(float)}
    ids["texts"] = np.array([f"q{query}" for query in qid])
    ids["objects"] = ids["texts"].astype(object)
    return ids


IDS = in_all_types(QID)
OTHER_IDS = in_all_types(QID + 1000)


class Keeps(RegressorMixin, BaseEstimator):
    """A ranker that remembers the queries of column 0, as our rankers do."""

    def fit(self, X, y=None):
        X = np.asarray(X)
        n_rows, n_columns = X.shape
        queries = check_qid(X[:, 0], n_rows=n_rows)
        self._fitted_queries_ = FittedQueries.from_queries(queries)
        self.feature_importances_ = np.arange(n_columns, 0.0, -1) - 1
        self.n_features_in_ = n_columns
        return self

    def predict(self, X):
        return np.zeros(len(X))


def keep(qid):
    X = np.reshape(qid, (-1, 1))
    return Keeps().fit(X)


def warnings_of(estimator, qid):
    queries = check_qid(qid, n_rows=len(qid))
    with warnings.catch_warnings(record=True, action="always") as caught:
        check_whole_queries(estimator, queries)
    assert all(warning.category is SplitQueriesWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_each_query_is_known_again():
    whole = check_qid(QID, n_rows=len(QID))
    half = QID[::2]
    queries = check_qid(half, n_rows=len(half))
    resized = FittedQueries.from_queries(whole).resized(queries)
    assert len(resized) == 40


ORDER = np.random.default_rng(1).permutation(len(QID))
ROWS = np.arange(len(QID))
QUARTER = QID % 4 == 1
WHOLE_QUERIES = np.isin(QID, [3, 7, 30])
#: Rows that are fitted and rows that are scored.
NOT_WARNED = {
    "the same rows": (ROWS, ROWS),
    "in another order": (ROWS, ORDER),
    "some whole queries": (ROWS, WHOLE_QUERIES),
    "more queries": (QID < 20, ROWS),
    "other queries": (QID < 20, QID >= 20),
    "equal halves, which nothing tells": (QUARTER, QUARTER),
}
WARNED = {
    "part of one query": (ROWS, ROWS[:-1]),
    "a query twice over": (ROWS, np.append(ROWS, 0)),
    "the rest of the rows": (SOME, ~SOME),
    "all rows": (SOME, ROWS),
    "another data set": (ROWS, ROWS[5:]),
    "one row of a new data set": (QID == 7, [60, 70, 80]),
}


@pytest.mark.parametrize("qid", IDS.values(), ids=IDS)
@pytest.mark.parametrize(("fitted", "scored"), NOT_WARNED.values(), ids=NOT_WARNED)
def test_whole_queries_are_not_warned_of(qid, fitted, scored):
    assert warnings_of(keep(qid[fitted]), qid[scored]) == []


@pytest.mark.parametrize("kind", IDS)
def test_unknown_ids_are_not_warned_of(kind):
    assert warnings_of(keep(IDS[kind]), OTHER_IDS[kind]) == []


@pytest.mark.parametrize("qid", IDS.values(), ids=IDS)
@pytest.mark.parametrize(("fitted", "scored"), WARNED.values(), ids=WARNED)
def test_split_queries_are_warned_of(qid, fitted, scored):
    (message,) = warnings_of(keep(qid[fitted]), qid[scored])
    for word in ("QueryKFold", "tieaware_sklearn.SplitQueriesWarning", "Keeps"):
        assert word in message


def test_the_first_split_query_is_named():
    texts = IDS["texts"]
    (message,) = warnings_of(keep(texts), texts[1:])
    assert "was fitted: 'q0'. " in message
    (message,) = warnings_of(keep(QID), QID[4:-4])
    assert "was fitted: 0 and 1 more. " in message


def test_fitted_queries_are_small_and_hold_no_ids():
    names = [f"someone@example.org/{i}" for i in range(2000)]
    qid = np.repeat(names, 2)
    ranker = keep(qid)
    dumped = pickle.dumps(ranker._fitted_queries_)
    assert len(dumped) < 17 * 2000
    assert b"example" not in dumped
    ranker._fitted_queries_ = pickle.loads(dumped)
    assert len(warnings_of(ranker, qid)) == 0
    assert len(warnings_of(ranker, qid[1:])) == 1


def in_two_pipelines(ranker):
    return make_pipeline(make_pipeline(ranker))


def in_bagging(ranker):
    return BaggingRegressor(ranker, 2, bootstrap=False)


def in_voting(ranker):
    return VotingRegressor([("ranker", ranker)])


def in_a_first_step(ranker):
    selector = SelectFromModel(ranker, threshold=1)
    return make_pipeline(selector, LinearRegression())


@pytest.fixture
def features():
    noise = np.random.default_rng(0).normal(size=(len(QID), 2))
    return np.column_stack([QID, noise])


PIPELINE = make_pipeline(FunctionTransformer(), Keeps())


@pytest.mark.parametrize("model", [Keeps(), PIPELINE], ids=["ranker", "pipeline"])
def test_a_ranker_or_the_last_step_of_a_pipeline_is_checked(model, features):
    model.fit(features, QID % 2)
    assert not warnings_of(model, QID)
    assert len(warnings_of(model, QID[1:])) == 1


NOT_CHECKED = [in_two_pipelines, in_bagging, in_voting, in_a_first_step]


@pytest.mark.parametrize("model_of", NOT_CHECKED)
def test_rankers_inside_other_estimators_are_not_checked(model_of, features):
    model = model_of(Keeps()).fit(features, QID % 2)
    assert not warnings_of(model, QID)
    assert not warnings_of(model, QID[1:])


def test_estimators_without_queries_are_not_checked():
    for estimator in (object(), Keeps(), LinearRegression()):
        assert not warnings_of(estimator, QID)


def test_a_column_of_ids_that_a_step_may_have_moved_is_named():
    ranker = keep(QID)
    ranker.qid = 0
    (message,) = warnings_of(ranker, QID[SOME])
    source = f"ids were column 0 of X, with 40 values in {len(QID)} rows"
    assert source in message
    ranker.qid = "query"
    (message,) = warnings_of(ranker, QID[SOME])
    assert "ids were column" not in message
