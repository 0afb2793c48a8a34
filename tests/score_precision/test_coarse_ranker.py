"""A ranker whose scores are made coarser, inside scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tieaware_sklearn as ta
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker, band_scores, round_scores

WEB = make_web_search(n_queries=40, n_documents=30, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid
FRAME = pd.DataFrame(X, columns=WEB.feature_names).assign(qid=QID)
SCORES = LinearRegression().fit(X, Y).predict(X)
TREES = QueryLGBMRanker(n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1)


ALONE = None, "decimals=1", "significant=2", "bits=bfloat16", "bits=3", "levels=7"
BY_QUERY = "rho=1.5", "levels=4"


@pytest.mark.parametrize("coarseness", [*ALONE, *BY_QUERY])
def test_predictions_are_those_of_the_estimator_made_coarser(coarseness):
    scale = "query" if coarseness == "levels=4" else "fit"
    ranker = CoarseRanker(LinearRegression(), coarseness, scale=scale).fit(X, Y)
    ids = QID if coarseness in BY_QUERY else None
    expected = round_scores(SCORES, coarseness, qid=ids) if coarseness else SCORES
    assert_array_equal(ranker.predict(X, qid=QID), expected)
    if ids is None:
        assert_array_equal(ranker.predict(X), expected)
    else:
        message = f"qid must .*{coarseness} depends on the query, got None"
        with pytest.raises(ValueError, match=message):
            ranker.predict(X)


def test_levels_lie_between_the_scores_of_training():
    ranker = CoarseRanker(LinearRegression(), "levels=5").fit(X[:200], Y[:200])
    seen = LinearRegression().fit(X[:200], Y[:200]).predict(X[:200])
    assert ranker.limits_ == (seen.min(), seen.max())
    # one row at a time is as good as all
    one_by_one = np.concatenate([ranker.predict(X[i : i + 1]) for i in range(300)])
    assert_array_equal(one_by_one, ranker.predict(X[:300]))
    assert len(set(one_by_one.tolist())) <= 5


def test_qid_as_a_column():
    ranker = CoarseRanker(LinearRegression(), "rho=2", qid="qid").fit(FRAME, Y)
    assert ranker.feature_names_in_.tolist() == [*WEB.feature_names, "qid"]
    assert ranker.n_features_in_ == X.shape[1] + 1
    assert_array_equal(ranker.predict(FRAME), band_scores(SCORES, 2, qid=QID))
    with pytest.raises(ValueError, match="qid must be given once, but it is column"):
        ranker.predict(FRAME, qid=QID)
    # a feature does not stand in for ids
    ranker = CoarseRanker(LinearRegression(), "rho=2", qid=0)
    ranker.fit(np.column_stack([QID, X]), Y)
    with pytest.raises(ValueError, match="X has 12 features, but Coarse"):
        ranker.predict(X)


def search(estimator, grid, qid=None):
    options = {
        "scoring": ta.make_ranking_scorer(qid=qid),
        "cv": ta.QueryKFold(3, qid=qid),
    }
    return GridSearchCV(estimator, grid, error_score="raise", **options)


def by_hand(coarseness):
    values = []
    for train, test in ta.QueryKFold(3).split(X, groups=QID):
        scores = LinearRegression().fit(X[train], Y[train]).predict(X[test])
        if coarseness is not None:
            scores = round_scores(scores, coarseness, qid=QID[test])
        values.append(ta.ranking_score(Y[test], scores, qid=QID[test]))
    return values


@pytest.mark.parametrize("routing", [False, True])
def test_a_search_tunes_the_bands(routing):
    levels = [None, "rho=3", "decimals=1", "decimals=2"]
    qid = None if routing else "qid"
    rows, params = ((X, Y), {"qid": QID}) if routing else ((FRAME, Y), {})
    ranker = CoarseRanker(LinearRegression(), qid=qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        scored = search(ranker, {"coarseness": levels}, qid).fit(*rows, **params)
        own = clone(scored).set_params(scoring=None).fit(*rows, **params)
        assert scored.score(*rows, **params) == own.score(*rows, **params)
    assert scored.best_score_ == own.best_score_
    scores = [scored.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    assert np.transpose(scores).tolist() == [by_hand(level) for level in levels]


COARSE = CoarseRanker(LinearRegression(), "rho=1.5")
OUTER = {
    "pipeline around a target": make_pipeline(
        StandardScaler(), TransformedTargetRegressor(COARSE)
    ),
    "ranker around a search": CoarseRanker(
        search(LinearRegression(), {"positive": [False]}), "rho=1.5"
    ),
    "ranker around a ranker": CoarseRanker(TREES, "rho=1.5"),
}


@pytest.mark.parametrize("name", OUTER)
def test_ids_reach_bands_inside(name):
    scorer = ta.make_ranking_scorer()
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(OUTER[name]).fit(X, Y, qid=QID)
        score = scorer(model, X, Y, qid=QID)
        assert scorer(FrozenEstimator(model), X, Y, qid=QID) == score
        options = {"scoring": scorer, "cv": ta.QueryKFold(2), "params": {"qid": QID}}
        folds = cross_val_score(OUTER[name], X, Y, error_score="raise", **options)
        assert np.isfinite(folds).all()
    scores = SCORES
    if name == "ranker around a ranker":
        scores = clone(TREES).fit(X, Y, qid=QID).predict(X)
    banded = band_scores(scores, 1.5, qid=QID)
    assert score == pytest.approx(ta.ranking_score(Y, banded, qid=QID), abs=1e-9)
    # what is fitted is scored without routing, too
    assert scorer(model, X, Y, qid=QID) == score


@pytest.mark.parametrize("routing", [False, True])
def test_a_column_of_ids_reaches_bands_everywhere(routing):
    ranker = CoarseRanker(LinearRegression(), "rho=1.5", qid="qid")
    with sklearn.config_context(enable_metadata_routing=routing):
        folds = ta.QueryKFold(3, qid="qid")
        predicted = cross_val_predict(ranker, FRAME, Y, cv=folds, params={})
        levels = {"coarseness": ["rho=3", "rho=1.5"]}
        model = search(ranker, levels, qid="qid").fit(FRAME, Y)
        for inside in (make_pipeline(StandardScaler(), LinearRegression()), TREES):
            around = clone(ranker).set_params(estimator=inside)
            if routing:
                around.set_fit_request(qid=False)
            around.fit(FRAME, Y)
            assert len(around.predict(FRAME)) == len(Y)
    folds = [test for _, test in ta.QueryKFold(3).split(X, groups=QID)]
    values = [
        ta.ranking_score(Y[rows], predicted[rows], qid=QID[rows]) for rows in folds
    ]
    assert values == by_hand("rho=1.5")
    assert_array_equal(model.predict(FRAME), model.best_estimator_.predict(FRAME))


def test_without_routing_ids_are_handed_on_to_those_who_take_them():
    direct = clone(TREES).fit(X, Y, qid=QID).predict(X)
    ranker = CoarseRanker(TREES, "rho=2").fit(X, Y, qid=QID)
    assert_array_equal(ranker.predict(X, qid=QID), band_scores(direct, 2, qid=QID))
    # through pipelines, from the column
    inside = make_pipeline(StandardScaler(), make_pipeline(TREES))
    ranker = CoarseRanker(inside, "rho=2", qid="qid").fit(FRAME, Y)
    scaled = ranker.estimator_[0].transform(FRAME[WEB.feature_names])
    direct = clone(TREES).fit(scaled, Y, qid=QID).predict(scaled)
    assert_array_equal(ranker.predict(FRAME), band_scores(direct, 2, qid=QID))
    # an estimator that drops the column itself, under a scorer that reads it
    drop = make_column_transformer(("drop", ["qid"]), remainder="passthrough")
    ranker = CoarseRanker(make_pipeline(drop, LinearRegression()), "rho=2")
    value = ta.make_ranking_scorer(qid="qid")(ranker.fit(FRAME, Y), FRAME, Y)
    banded = band_scores(SCORES, 2, qid=QID)
    assert value == pytest.approx(ta.ranking_score(Y, banded, qid=QID), abs=1e-12)


def test_classifiers():
    inner = LogisticRegression(max_iter=1000)
    ranker = CoarseRanker(inner, "decimals=1", response_method="predict_proba")
    predicted = set(ranker.fit(X, (Y > 1).astype(int)).predict(X).tolist())
    assert predicted <= {k / 10 for k in range(11)}
    assert len(predicted) > 3


WRONG = [
    ({"coarseness": 1.5}, "coarseness must be a text such as .* got 1.5"),
    ({"scale": "all"}, "scale must be one of .* got 'all'"),
    ({"existing_ties": "x"}, "existing_ties must be one of"),
    ({"response_method": "x"}, "response_method must be one of"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_is_wrong_is_found_where_it_is_not_needed(options, message):
    with pytest.raises(ValueError, match=message):
        CoarseRanker(LinearRegression(), **options).fit(X, Y)
    ranker = CoarseRanker(LinearRegression(), "decimals=1")
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ranker.fit(X, Y, qid=QID[:5])
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ranker.fit(X, Y).predict(X, qid=QID[:5])
    with pytest.raises(ValueError, match="scale must be one of"):
        ranker.set_params(scale="bogus").predict(X)
