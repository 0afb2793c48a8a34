"""What is relied on in scikit-learn's scorers (1.6 to 1.9), and what it is good for.

The contract: `_MultimetricScorer` calls the scorers of a dict that are `_BaseScorer`s
by ``_score(method_caller, estimator, X, y, **routed)``, all of a call with one
`method_caller`, which can be referred to weakly, calls a method of the estimator for
all of them once, and is made anew for each call. An error of one is NaN for its key
alone. Of a scorer it reads `_response_method`, one name or several, and
``_accept_sample_weight()``; to tune a threshold, `_score_func`, `_sign` and `_kwargs`.
"""

from __future__ import annotations

import warnings
import weakref

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_validate,
)

from tests.model_selection.helpers import Column
from tieaware_sklearn import QueryKFold, make_ranking_scorer

KEYS = ["ndcg@10", "err@10", "neg_fallout@5"]
MEASURES = ["ndcg@10", "err@10", "fallout@5"]
CV = QueryKFold(3)


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
    rows = np.array([[2.0], [1.0]]), [0, 1]
    assert scorer(column, *rows) == {"a": 2.0, "b": 2.0}
    assert column.n_predictions_ == 1
    assert calls[0] is calls[1]
    assert calls[0]() is None  # gone with the call
    calls.clear()
    assert scorer(column, *rows) == {"a": 2.0, "b": 2.0}
    assert column.n_predictions_ == 2


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


def scorers(routing, **options):
    return make_ranking_scorer(MEASURES, qid=None if routing else 0, **options)


def validate(web, model, routing, y=None, **options):
    """Values of each key per fold, with all of scikit-learn's defaults."""
    X = np.column_stack([web.qid, web.data])
    given = {"params": {"qid": web.qid}} if routing else {}
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        warnings.catch_warnings(),
    ):
        for warned in (UserWarning, FitFailedWarning):
            warnings.simplefilter("ignore", warned)
        found = cross_validate(
            model,
            X,
            web.target if y is None else y,
            scoring=scorers(routing, **options),
            cv=QueryKFold(3, qid=None if routing else 0),
            **given,
        )
    return {key: found[f"test_{key}"] for key in KEYS}


def failing_folds(web, query):
    """Folds whose test rows have that query."""
    folds = CV.split(web.data, groups=web.qid)
    return np.array([query in web.qid[test] for _, test in folds])


@pytest.mark.parametrize(("routing", "fold"), [(True, 0), (False, 2)])
def test_a_failed_fold_is_nan_for_every_key(web, routing, fold):
    test = [test for _, test in CV.split(web.data, groups=web.qid)]
    query = web.qid[test[fold][0]]
    whole = validate(web, Fails(), routing)
    bad = failing_folds(web, query)
    assert bad.sum() == 1
    for method, fails in {"predict": bad, "fit": ~bad}.items():
        found = validate(web, Fails(method=method, query=query), routing)
        for key in KEYS:
            expected = np.where(fails, np.nan, whole[key])
            np.testing.assert_array_equal(found[key], expected)
    found = validate(web, Fails(method="predict", query="any"), routing)
    assert list(found) == KEYS
    assert np.isnan(list(found.values())).all()


@pytest.mark.parametrize("routing", [True, False])
def test_a_measure_that_fails_is_nan_alone(web, routing):
    """ERR knows labels up to 4; NDCG and fallout do not mind."""
    y = web.target.astype(float)
    y[web.qid == web.qid[0]] = 5
    bad = failing_folds(web, web.qid[0])
    found = validate(web, Fails(), routing, y)
    np.testing.assert_array_equal(np.isnan(found["err@10"]), bad)
    assert not np.isnan([found["ndcg@10"], found["neg_fallout@5"]]).any()
    # without a relevant document, these are undefined; fallout is not
    y = np.where(web.qid == web.qid[0], 0, np.arange(len(web.qid)) % 2)
    found = validate(web, Fails(), routing, y, zero_relevance="raise")
    np.testing.assert_array_equal(np.isnan(found["ndcg@10"]), bad)
    assert not np.isnan(found["neg_fallout@5"]).any()


@pytest.mark.parametrize(
    ("Search", "routing", "n_jobs"),
    [
        (GridSearchCV, True, 2),
        (GridSearchCV, False, None),
        (RandomizedSearchCV, True, None),
    ],
)
def test_a_search_goes_on(web, Search, routing, n_jobs):
    """One candidate fails in the first fold, one in all, one in none."""
    X = np.column_stack([web.qid, web.data])
    first = next(iter(CV.split(web.data, groups=web.qid)))[1]
    grid = [
        {"method": ["predict"], "query": [web.qid[first[0]], "any"]},
        {"method": [None]},
    ]
    options = {} if Search is GridSearchCV else {"n_iter": 3, "random_state": 0}
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        warnings.catch_warnings(),
    ):
        for warned in (UserWarning, FitFailedWarning):
            warnings.simplefilter("ignore", warned)
        search = Search(
            Fails(),
            grid,
            scoring=scorers(routing),
            refit="err@10",
            cv=QueryKFold(3, qid=None if routing else 0),
            n_jobs=n_jobs,
            **options,
        ).fit(X, web.target, **({"qid": web.qid} if routing else {}))
        score = search.score(X, web.target, **({"qid": web.qid} if routing else {}))
    results = search.cv_results_
    at = {params.get("query"): i for i, params in enumerate(results["params"])}
    assert set(search.scorer_) == set(KEYS)
    for key in KEYS:
        values = np.array([results[f"split{i}_test_{key}"] for i in range(3)]).T
        assert np.isnan(values[at[web.qid[first[0]]]]).tolist() == [True, False, False]
        assert np.isnan(values[at["any"]]).all()
        assert not np.isnan(values[at[None]]).any()
    assert search.best_params_ == {"method": None}
    scorer = make_ranking_scorer("err@10")
    assert score == scorer(search.best_estimator_, X, web.target, qid=web.qid)


def test_halving_takes_one_measure():
    """scikit-learn's own rule."""
    search = HalvingGridSearchCV(Column(), {}, scoring=make_ranking_scorer(["ap"]))
    with pytest.raises(ValueError, match="'scoring' parameter of HalvingGridSearchCV"):
        search.fit([[1.0]], [1])
