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
    train, labels = X[:200], Y[:200]
    ranker = CoarseRanker(LinearRegression(), "levels=5").fit(train, labels)
    seen = LinearRegression().fit(train, labels).predict(train)
    assert ranker.limits_ == (seen.min(), seen.max())
    # one row at a time is as good as all
    rows = [ranker.predict(X[i : i + 1]) for i in range(300)]
    row_by_row = np.concatenate(rows)
    assert_array_equal(row_by_row, ranker.predict(X[:300]))
    assert len(np.unique(row_by_row)) <= 5


def test_qid_as_a_column():
    ranker = CoarseRanker(LinearRegression(), "rho=2", qid="qid").fit(FRAME, Y)
    assert ranker.feature_names_in_.tolist() == [*WEB.feature_names, "qid"]
    assert ranker.n_features_in_ == X.shape[1] + 1
    banded = band_scores(SCORES, 2, qid=QID)
    assert_array_equal(ranker.predict(FRAME), banded)
    with pytest.raises(ValueError, match="qid must be given only once, but column"):
        ranker.predict(FRAME, qid=QID)


def test_a_feature_does_not_stand_in_for_ids():
    with_ids = np.column_stack([QID, X])
    ranker = CoarseRanker(LinearRegression(), "rho=2", qid=0).fit(with_ids, Y)
    with pytest.raises(ValueError, match="X has 12 features, but Coarse"):
        ranker.predict(X)


def search(estimator, grid, qid=None):
    scoring = ta.make_ranking_scorer(qid=qid)
    folds = ta.QueryKFold(3, qid=qid)
    return GridSearchCV(estimator, grid, scoring=scoring, cv=folds, error_score="raise")


def by_hand(coarseness):
    values = []
    for train, test in ta.QueryKFold(3).split(X, groups=QID):
        model = LinearRegression().fit(X[train], Y[train])
        scores = model.predict(X[test])
        if coarseness is not None:
            scores = round_scores(scores, coarseness, qid=QID[test])
        value = ta.ranking_score(Y[test], scores, qid=QID[test])
        values.append(value)
    return values


@pytest.mark.parametrize("routing", [False, True])
def test_a_search_tunes_the_bands(routing):
    levels = [None, "rho=3", "decimals=1", "decimals=2"]
    qid, rows, params = "qid", FRAME, {}
    if routing:
        qid, rows, params = None, X, {"qid": QID}
    ranker = CoarseRanker(LinearRegression(), qid=qid)
    tuner = search(ranker, {"coarseness": levels}, qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        scored = clone(tuner).fit(rows, Y, **params)
        by_default = clone(tuner).set_params(scoring=None).fit(rows, Y, **params)
        score = scored.score(rows, Y, **params)
        assert score == by_default.score(rows, Y, **params)
    assert scored.best_score_ == by_default.best_score_
    for fold in range(3):
        scores = scored.cv_results_[f"split{fold}_test_score"]
        expected = [by_hand(level)[fold] for level in levels]
        assert scores.tolist() == expected


COARSE = CoarseRanker(LinearRegression(), "rho=1.5")
SCALED_TARGET = TransformedTargetRegressor(COARSE)
SEARCH = search(LinearRegression(), {"positive": [False]})
OUTER = {
    "pipeline around a target": make_pipeline(StandardScaler(), SCALED_TARGET),
    "ranker around a search": CoarseRanker(SEARCH, "rho=1.5"),
    "ranker around a ranker": CoarseRanker(TREES, "rho=1.5"),
}


@pytest.mark.parametrize("name", OUTER)
def test_ids_reach_bands_inside(name):
    scorer = ta.make_ranking_scorer()
    folds = ta.QueryKFold(2)
    options = {"scoring": scorer, "error_score": "raise", "params": {"qid": QID}}
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(OUTER[name]).fit(X, Y, qid=QID)
        score = scorer(model, X, Y, qid=QID)
        frozen = FrozenEstimator(model)
        assert scorer(frozen, X, Y, qid=QID) == score
        scores_of_folds = cross_val_score(OUTER[name], X, Y, cv=folds, **options)
        assert np.isfinite(scores_of_folds).all()
    scores = SCORES
    if name == "ranker around a ranker":
        scores = clone(TREES).fit(X, Y, qid=QID).predict(X)
    banded = band_scores(scores, 1.5, qid=QID)
    expected = ta.ranking_score(Y, banded, qid=QID)
    assert score == pytest.approx(expected, abs=1e-9)
    # what is fitted is scored without routing, too
    assert scorer(model, X, Y, qid=QID) == score


@pytest.mark.parametrize("routing", [False, True])
def test_a_column_of_ids_reaches_bands_everywhere(routing):
    ranker = CoarseRanker(LinearRegression(), "rho=1.5", qid="qid")
    scaled = make_pipeline(StandardScaler(), LinearRegression())
    with sklearn.config_context(enable_metadata_routing=routing):
        folds = ta.QueryKFold(3, qid="qid")
        predicted = cross_val_predict(ranker, FRAME, Y, cv=folds, params={})
        levels = {"coarseness": ["rho=3", "rho=1.5"]}
        model = search(ranker, levels, qid="qid").fit(FRAME, Y)
        for inside in (scaled, TREES):
            around = clone(ranker).set_params(estimator=inside)
            if routing:
                around.set_fit_request(qid=False)
            around.fit(FRAME, Y)
            assert len(around.predict(FRAME)) == len(Y)
    values = []
    for _, test in ta.QueryKFold(3).split(X, groups=QID):
        value = ta.ranking_score(Y[test], predicted[test], qid=QID[test])
        values.append(value)
    assert values == by_hand("rho=1.5")
    assert_array_equal(model.predict(FRAME), model.best_estimator_.predict(FRAME))


def test_without_routing_ids_are_handed_on_to_those_who_take_them():
    direct = clone(TREES).fit(X, Y, qid=QID).predict(X)
    ranker = CoarseRanker(TREES, "rho=2").fit(X, Y, qid=QID)
    banded = band_scores(direct, 2, qid=QID)
    assert_array_equal(ranker.predict(X, qid=QID), banded)


def test_ids_of_a_column_are_handed_on_through_pipelines():
    inside = make_pipeline(StandardScaler(), make_pipeline(TREES))
    ranker = CoarseRanker(inside, "rho=2", qid="qid").fit(FRAME, Y)
    scaled = ranker.estimator_[0].transform(FRAME[WEB.feature_names])
    direct = clone(TREES).fit(scaled, Y, qid=QID).predict(scaled)
    banded = band_scores(direct, 2, qid=QID)
    assert_array_equal(ranker.predict(FRAME), banded)


def test_a_scorer_reads_the_column_that_an_estimator_drops():
    drop = make_column_transformer(("drop", ["qid"]), remainder="passthrough")
    inside = make_pipeline(drop, LinearRegression())
    ranker = CoarseRanker(inside, "rho=2").fit(FRAME, Y)
    scorer = ta.make_ranking_scorer(qid="qid")
    banded = band_scores(SCORES, 2, qid=QID)
    expected = ta.ranking_score(Y, banded, qid=QID)
    assert scorer(ranker, FRAME, Y) == pytest.approx(expected, abs=1e-12)


def test_classifiers():
    inner = LogisticRegression(max_iter=1000)
    ranker = CoarseRanker(inner, "decimals=1", response_method="predict_proba")
    is_relevant = (Y > 1).astype(int)
    ranker.fit(X, is_relevant)
    predicted = np.unique(ranker.predict(X)).tolist()
    assert set(predicted) <= {k / 10 for k in range(11)}
    assert len(predicted) > 3


WRONG = [
    ({"coarseness": 1.5}, "coarseness must be a string such as .* got 1.5"),
    ({"scale": "all"}, "scale must be one of .* got 'all'"),
    ({"existing_ties": "x"}, "existing_ties must be one of"),
    ({"response_method": "x"}, "response_method must be one of"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options_are_refused_where_they_are_not_needed(options, message):
    ranker = CoarseRanker(LinearRegression(), **options)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y)


def test_wrong_ids_are_refused_where_they_are_not_needed():
    ranker = CoarseRanker(LinearRegression(), "decimals=1")
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ranker.fit(X, Y, qid=QID[:5])
    ranker.fit(X, Y)
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ranker.predict(X, qid=QID[:5])


def test_a_wrong_scale_is_refused_by_a_fitted_ranker():
    ranker = CoarseRanker(LinearRegression(), "decimals=1").fit(X, Y)
    ranker.set_params(scale="bogus")
    with pytest.raises(ValueError, match="scale must be one of"):
        ranker.predict(X)
