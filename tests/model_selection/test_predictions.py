"""Scores of estimators of any kind."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.model_selection.helpers import Column
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.score_precision import CoarseRanker


class Probabilities(ClassifierMixin, BaseEstimator):
    def __init__(self, probabilities, classes):
        self.probabilities = probabilities
        self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(self.probabilities, dtype=float)


def test_two_classes_rank_by_the_greater(web):
    y = (web.target >= 2).astype(int)
    model = LogisticRegression(max_iter=2000).fit(web.data, y)
    rows = (web.data, y)
    for method, scores in {
        "predict": model.predict(web.data),
        "predict_proba": model.predict_proba(web.data)[:, 1],
        "decision_function": model.decision_function(web.data),
    }.items():
        scorer = make_ranking_scorer("ap", response_method=method)
        assert scorer(model, *rows, qid=web.qid) == ranking_score(
            y, scores, qid=web.qid, measure="ap"
        )
    either = make_ranking_scorer("ap", response_method=["decision_function", "predict"])
    assert either(model, *rows, qid=web.qid) == scorer(model, *rows, qid=web.qid)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    assert either(tree, *rows, qid=web.qid) == ranking_score(
        y, tree.predict(web.data), qid=web.qid, measure="ap"
    )


def test_more_classes_rank_by_the_expected_label(web):
    probabilities = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]
    expected = [
        0.3 * 1 + 0.2 * 4,
        0.2 * 1 + 0.7 * 4,
        0.4 * 1,
    ]
    scorer = make_ranking_scorer("ndcg", response_method="predict_proba")
    model = Probabilities(probabilities, [0, 1, 4])
    assert scorer(model, np.zeros((3, 1)), [4, 0, 1], qid=[1, 1, 1]) == ranking_score(
        [4, 0, 1], expected
    )
    X = StandardScaler().fit_transform(web.data)
    model = LogisticRegression(max_iter=2000).fit(X, web.target)
    with pytest.raises(ValueError, match="must give one score per row"):
        make_ranking_scorer(response_method="decision_function")(
            model, X, web.target, qid=web.qid
        )


def test_equal_rows_tie_by_the_expected_label():
    rng = np.random.default_rng(0)
    row = rng.dirichlet(np.ones(5))
    model = Probabilities(np.tile(row, (257, 1)), range(5))
    y = np.r_[np.ones(1), np.zeros(256)]
    scorer = make_ranking_scorer("rr", response_method="predict_proba")
    found = scorer(model, np.zeros((257, 1)), y, qid=np.zeros(257))
    assert found == ranking_score(y, np.zeros(257), measure="rr")


def test_a_ranker_with_a_decision_function(web):
    class Ranker(BaseEstimator):
        def fit(self, X, y):
            return self

        def decision_function(self, X):
            return X[:, [1]]

    scorer = make_ranking_scorer("rr", response_method="decision_function")
    assert scorer(Ranker(), web.data, web.target, qid=web.qid) == ranking_score(
        web.target, web.data[:, 1], qid=web.qid, measure="rr"
    )
    with pytest.raises(AttributeError, match="Ranker has no predict"):
        make_ranking_scorer()(Ranker(), web.data, web.target, qid=web.qid)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_predictions_must_be_numbers(web, bad):
    X = web.data.copy()
    X[7, 1] = bad
    with pytest.raises(ValueError, match=r"predict of Column must .* in row 7"):
        make_ranking_scorer()(Column(1), X, web.target, qid=web.qid)


def test_classes_that_are_no_labels():
    scorer = make_ranking_scorer(response_method="predict_proba")
    model = Probabilities(np.full((3, 3), 1 / 3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="classes_ of the estimator must be numbers"):
        scorer(model, np.zeros((3, 1)), [1, 0, 0], qid=[1, 1, 1])


def test_masked_predictions_are_missing():
    class Masked(Column):
        def predict(self, X):
            return np.ma.masked_equal(X[:, 0], 2)

    with pytest.raises(ValueError, match="must not be NaN, got nan in row 1"):
        make_ranking_scorer()(Masked(), np.array([[1.0], [2.0]]), [1, 0], qid=[1, 1])


def test_a_classifier_ranks_by_its_probabilities_unless_told_otherwise():
    """Two of its classes would tie eight documents: AP .30 where it has .40."""
    p = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01]
    y = np.zeros(10)
    y[[1, 5]] = 1

    class Known(Probabilities):
        def predict(self, X):
            return (self.predict_proba(X)[:, 1] > 0.5).astype(int)

    model = Known(np.column_stack([1 - np.array(p), p]), [0, 1])
    rows = (model, np.zeros((10, 1)), y)
    by_default = make_ranking_scorer("ap")(*rows, qid=np.zeros(10))
    assert by_default == ranking_score(y, p, measure="ap") == (1 / 2 + 2 / 6) / 2
    told = make_ranking_scorer("ap", response_method="predict")
    classes = model.predict(np.zeros((10, 1)))
    assert told(*rows, qid=np.zeros(10)) == ranking_score(y, classes, measure="ap")


@pytest.mark.parametrize(
    "wrap",
    [
        FrozenEstimator,
        FixedThresholdClassifier,
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: GridSearchCV(model, {"max_depth": [3]}, cv=2),
        lambda model: GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {"decisiontreeclassifier__max_depth": [3]},
            cv=2,
        ),
    ],
)
def test_a_classifier_inside_others_is_one(web, wrap):
    y = (web.target >= 2).astype(int)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    model = wrap(tree).fit(web.data, y)
    assert make_ranking_scorer("ap")(model, web.data, y, qid=web.qid) == ranking_score(
        y, model.predict_proba(web.data)[:, 1], qid=web.qid, measure="ap"
    )


def test_a_classifier_in_a_coarse_ranker(web):
    y = np.minimum(web.target, 2)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    expected = model.predict_proba(web.data) @ [0.0, 1.0, 2.0]
    coarse = CoarseRanker(model, None).fit(web.data, y)
    assert coarse.predict(web.data) == pytest.approx(expected, abs=1e-15)


def test_classifiers_without_probabilities(web):
    y = (web.target >= 2).astype(int)
    ridge = RidgeClassifier().fit(web.data, y)
    scorer = make_ranking_scorer("ap")
    assert scorer(ridge, web.data, y, qid=web.qid) == ranking_score(
        y, ridge.decision_function(web.data), qid=web.qid, measure="ap"
    )
    ridge.fit(web.data, np.minimum(web.target, 2))
    with pytest.raises(ValueError, match="predict_proba, of the expected label"):
        scorer(ridge, web.data, y, qid=web.qid)
    votes = VotingClassifier([("ridge", RidgeClassifier())]).fit(web.data, y)
    with pytest.raises(AttributeError, match='"predict" ranks by the class'):
        scorer(votes, web.data, y, qid=web.qid)


@pytest.mark.parametrize("label", [0, 1])
def test_a_classifier_of_one_class_ties_all(web, label):
    y = (web.target >= 2).astype(int)
    model = DummyClassifier().fit(web.data, np.full(len(y), label))
    chance = ranking_score(y, np.zeros(len(y)), qid=web.qid, measure="ap")
    scoring = {name: make_ranking_scorer("ap") for name in "ab"}
    assert scoring["a"](model, web.data, y, qid=web.qid) == chance
    found = check_scoring(model, scoring)(model, web.data, y, qid=web.qid)
    assert found == {"a": chance, "b": chance}


def test_regressors_and_estimators_without_tags_predict(web):
    model = LinearRegression().fit(web.data, web.target)

    class Plain:
        fit, predict = model.fit, model.predict

    expected = ranking_score(web.target, model.predict(web.data), qid=web.qid)
    for one in (model, Plain()):
        scorer = make_ranking_scorer()
        assert scorer(one, web.data, web.target, qid=web.qid) == expected
        scoring = check_scoring(one, {"a": scorer, "b": make_ranking_scorer()})
        found = scoring(one, web.data, web.target, qid=web.qid)
        assert found == {"a": expected, "b": expected}


def coarse_search(model, **grid):
    return GridSearchCV(
        model,
        grid,
        cv=QueryKFold(2),
        scoring=make_ranking_scorer(),
        error_score="raise",
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda coarse: coarse,
        lambda coarse: coarse_search(coarse, coarseness=["rho=1.5"]),
        lambda coarse: coarse_search(
            make_pipeline(StandardScaler(), coarse),
            coarseranker__coarseness=["rho=1.5"],
        ),
        lambda coarse: make_pipeline(
            StandardScaler(), make_pipeline("passthrough", coarse_search(coarse))
        ),
        lambda coarse: coarse_search(coarse_search(coarse)),
    ],
    ids=["plain", "search", "pipeline", "search in pipeline", "nested"],
)
def test_query_ids_reach_predict_through_searches_and_pipelines(web, wrap):
    coarse = CoarseRanker(LinearRegression(), "rho=1.5")
    scorers = make_ranking_scorer(["ndcg@10", "rr"])
    with sklearn.config_context(enable_metadata_routing=True):
        model = wrap(coarse).fit(web.data, web.target, qid=web.qid)
        found = check_scoring(model, scorers)(model, web.data, web.target, qid=web.qid)
        folds = cross_val_score(
            wrap(coarse),
            web.data,
            web.target,
            scoring=scorers["ndcg@10"],
            cv=QueryKFold(3),
            params={"qid": web.qid},
            error_score="raise",
        )
    plain = coarse.fit(web.data, web.target).predict(web.data, qid=web.qid)
    for name, value in found.items():
        expected = ranking_score(web.target, plain, qid=web.qid, measure=name)
        assert value == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(folds).all()
