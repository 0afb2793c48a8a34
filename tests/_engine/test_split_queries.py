"""Known ids with other numbers of rows are warned of; nothing else is."""

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

QID = np.repeat(np.arange(40), np.tile([9, 10, 11, 10], 10))
SOME = np.random.default_rng(0).random(len(QID)) < 0.7
IDS = [
    lambda q: q,
    lambda q: q.astype(float),
    lambda q: np.char.add("q", q.astype(str)),
    lambda q: np.array([f"q{i}" for i in q], dtype=object),
]


class Keeps(RegressorMixin, BaseEstimator):
    """A ranker that keeps the queries of column 0, as those of the library do."""

    def fit(self, X, y=None):
        X = np.asarray(X)
        self._fitted_queries_ = FittedQueries.from_queries(
            check_qid(X[:, 0], n_rows=len(X))
        )
        self.feature_importances_ = np.arange(float(X.shape[1]))[::-1]
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


def keep(qid):
    return Keeps().fit(np.reshape(np.asarray(qid), (-1, 1)))


def warnings_of(estimator, qid):
    with warnings.catch_warnings(record=True, action="always") as caught:
        check_whole_queries(estimator, check_qid(qid, n_rows=len(qid)))
    assert all(warning.category is SplitQueriesWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_each_query_is_known_again():
    whole, half = (check_qid(qid, n_rows=len(qid)) for qid in (QID, QID[::2]))
    assert len(FittedQueries.from_queries(whole).resized(half)) == 40


ORDER = np.random.default_rng(1).permutation(len(QID))
#: rows that are fitted on, ids that are scored, whether that warns
CASES = {
    "the same rows": (slice(None), QID, False),
    "in another order": (slice(None), QID[ORDER], False),
    "some whole queries": (slice(None), QID[np.isin(QID, [3, 7, 30])], False),
    "more queries": (QID < 20, QID, False),
    "other queries": (QID < 20, QID[QID >= 20], False),
    "other ids": (slice(None), QID + 1000, False),
    "equal halves, which nothing tells": (QID % 4 == 1, QID[QID % 4 == 1], False),
    "part of one query": (slice(None), QID[:-1], True),
    "a query twice over": (slice(None), np.append(QID, [0]), True),
    "the rest of the rows": (SOME, QID[~SOME], True),
    "all rows": (SOME, QID, True),
    "another data set": (slice(None), QID[5:], True),
    "one row of a new data set": (QID == 7, np.array([6, 7, 8]), True),
}


@pytest.mark.parametrize(("fitted", "scored", "warns"), CASES.values(), ids=CASES)
def test_what_is_warned_of(fitted, scored, warns):
    for name in IDS:
        messages = warnings_of(keep(name(QID)[fitted]), name(scored))
        assert len(messages) == warns
        for message in messages:
            for word in ("QueryKFold", "tieaware_sklearn.SplitQueriesWarning", "Keeps"):
                assert word in message


def test_it_is_small_and_holds_no_ids_but_names_the_first():
    (message,) = warnings_of(keep(IDS[2](QID)), IDS[2](QID[1:]))
    assert "numbers of rows: 'q0'. " in message
    (message,) = warnings_of(keep(QID), QID[4:-4])
    assert "numbers of rows: 0 and 1 more. " in message
    qid = np.repeat([f"someone@example.org/{i}" for i in range(2000)], 2)
    kept = keep(qid)
    dumped = pickle.dumps(kept._fitted_queries_)
    assert len(dumped) < 17 * 2000
    assert b"example" not in dumped
    kept._fitted_queries_ = pickle.loads(dumped)
    assert len(warnings_of(kept, qid)) == 0
    assert len(warnings_of(kept, qid[1:])) == 1


PLAIN = FunctionTransformer()
CHECKED = {
    "ranker": lambda ranker: ranker,
    "pipeline": lambda ranker: make_pipeline(PLAIN, ranker),
}
NOT_CHECKED = {
    "pipeline in a pipeline": lambda ranker: make_pipeline(make_pipeline(ranker)),
    "bagging": lambda ranker: BaggingRegressor(ranker, 2, bootstrap=False),
    "voting": lambda ranker: VotingRegressor([("b", ranker)]),
    "step": lambda ranker: make_pipeline(
        SelectFromModel(ranker, threshold=1), LinearRegression()
    ),
}


@pytest.mark.parametrize("name", [*CHECKED, *NOT_CHECKED])
def test_the_given_ranker_or_the_last_step_is_checked(name):
    X = np.column_stack([QID, np.random.default_rng(0).normal(size=(len(QID), 2))])
    model = (CHECKED | NOT_CHECKED)[name](Keeps()).fit(X, QID % 2)
    assert not warnings_of(model, QID)
    assert len(warnings_of(model, QID[1:])) == (name in CHECKED)


def test_estimators_without_queries_are_not_checked():
    for estimator in (object(), Keeps(), LinearRegression()):
        assert not warnings_of(estimator, QID)


def test_a_column_of_ids_that_a_step_may_have_moved_is_named():
    ranker = keep(QID)
    ranker.qid = 0
    (message,) = warnings_of(ranker, QID[SOME])
    assert f"ids were column 0 of X, with 40 values in {len(QID)} rows" in message
    ranker.qid = "query"
    assert "ids were column" not in warnings_of(ranker, QID[SOME])[0]
