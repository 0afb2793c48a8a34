"""What is relied on in scikit-learn's scorers (1.6 to 1.9), and what it is good for.

The contract: `_MultimetricScorer` calls the scorers of a dict that are `_BaseScorer`s
by ``_score(method_caller, estimator, X, y, **routed)``, all of a call with one
`method_caller`, which can be referred to weakly, calls a method of the estimator for
all of them once, and is made anew for each call. An error of one is NaN for its key
alone. Of a scorer it reads `_response_method`, one name or several, and
``_accept_sample_weight()``; to tune a threshold, `_score_func`, `_sign` and `_kwargs`.
"""

from __future__ import annotations

import weakref

import numpy as np
import pytest
import sklearn
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import GridSearchCV, cross_validate

from tests.model_selection.helpers import Column
from tieaware_sklearn import QueryKFold, make_ranking_scorer

KEYS = ["ndcg@10", "err@10", "neg_fallout@5"]
MEASURES = ["ndcg@10", "err@10", "fallout@5"]


class Spy(_BaseScorer):
    def __init__(self, calls):
        super().__init__(max, 1, {}, ("predict", "predict_proba"))
        self.calls = calls

    def _score(self, method_caller, estimator, X, y_true, **routed):
        first = method_caller(estimator, "predict", X, pos_label=None)
        assert method_caller(estimator, "predict", X, pos_label=None) is first
        self.calls.append(weakref.ref(method_caller))
        return float(first[0])


def test_one_caller_of_methods_serves_the_scorers_of_one_call():
    calls, column = [], Column()
    scorer = check_scoring(column, {"a": Spy(calls), "b": Spy(calls)})
    for n_predictions in (1, 2):
        assert scorer(column, np.array([[2.0], [1.0]]), [0, 1]) == {"a": 2.0, "b": 2.0}
        assert column.n_predictions_ == n_predictions
    assert calls[0] is calls[1]
    assert calls[0]() is None  # gone with the call


class Fails(Column):
    """Fails where a query is among the rows of X, whose first column holds its id."""

    def __init__(self, column=1, method=None, query=None):
        self.column = column
        self.method = method
        self.query = query

    def _check(self, method, X):
        if self.method == method and (self.query == "any" or self.query in X[:, 0]):
            raise RuntimeError("on purpose")

    def fit(self, X, y):
        self._check("fit", X)
        return self

    def predict(self, X):
        self._check("predict", X)
        return super().predict(X)


def options(routing, **rules):
    """Arguments of a tool."""
    qid = None if routing else 0
    scoring = make_ranking_scorer(MEASURES, qid=qid, **rules)
    return {"scoring": scoring, "cv": QueryKFold(3, qid=qid)}


def validate(web, y, routing, **rules):
    """Values of each key per fold, with all of scikit-learn's defaults."""
    rows = np.column_stack([web.qid, web.data]), y
    given = {"params": {"qid": web.qid}} if routing else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        found = cross_validate(Fails(), *rows, **options(routing, **rules), **given)
    return {key: found[f"test_{key}"] for key in KEYS}


def failing_folds(web):
    """The fold whose test rows have the first query."""
    folds = QueryKFold(3).split(web.data, groups=web.qid)
    return np.array([web.qid[0] in web.qid[test] for _, test in folds])


each = pytest.mark.parametrize("routing", [True, False])
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
]


@each
def test_a_measure_that_fails_is_nan_alone(web, routing):
    """ERR knows labels up to 4; NDCG and fallout do not mind."""
    first, bad = web.qid == web.qid[0], failing_folds(web)
    found = validate(web, np.where(first, 5.0, web.target), routing)
    np.testing.assert_array_equal(np.isnan(found["err@10"]), bad)
    assert not np.isnan([found["ndcg@10"], found["neg_fallout@5"]]).any()
    # without a relevant document, these are undefined; fallout is not
    y = np.where(first, 0, np.arange(len(web.qid)) % 2)
    found = validate(web, y, routing, zero_relevance="raise")
    np.testing.assert_array_equal(np.isnan(found["ndcg@10"]), bad)
    assert not np.isnan(found["neg_fallout@5"]).any()


@each
def test_a_search_goes_on(web, routing):
    """Candidates fail in the fold that tests a query, that trains on it, in all."""
    X, y = np.column_stack([web.qid, web.data]), web.target
    method, query = [None], web.qid[0]
    grid = [{"method": ["predict", "fit"], "query": [query, "any"]}, {"method": method}]
    given = {"qid": web.qid} if routing else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(Fails(), grid, refit="err@10", **options(routing))
        score = search.fit(X, y, **given).score(X, y, **given)
    results, bad = search.cv_results_, failing_folds(web)
    assert bad.sum() == 1
    for key in KEYS:
        found = [np.isnan(results[f"split{i}_test_{key}"]) for i in range(3)]
        for own, wanted in zip(np.transpose(found), (bad, 1, ~bad, 1, 0), strict=True):
            assert (own == wanted).all()
    assert search.best_params_ == {"method": None}
    scorer = make_ranking_scorer("err@10")
    assert score == scorer(search.best_estimator_, X, y, qid=web.qid)
