"""A ranker whose scores are made coarser, inside scikit-learn's tools."""

from __future__ import annotations

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

from tieaware_sklearn import (
    QueryKFold,
    SplitQueriesWarning,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker, band_scores, round_scores

WEB = make_web_search(n_queries=40, n_documents=30, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid
FRAME = pd.DataFrame(X, columns=WEB.feature_names).assign(qid=QID)
SCORES = LinearRegression().fit(X, Y).predict(X)


@pytest.mark.parametrize(
    "how",
    [None, "decimals=1", "significant=2", "bits=bfloat16", "bits=3", "levels=7"],
)
def test_predictions_are_those_of_the_estimator_made_coarser(how):
    ranker = CoarseRanker(LinearRegression(), how).fit(X, Y)
    expected = round_scores(SCORES, how) if how else SCORES
    assert_array_equal(ranker.predict(X), expected)
    assert ranker.n_features_in_ == X.shape[1]


def test_levels_lie_between_the_scores_of_training():
    ranker = CoarseRanker(LinearRegression(), "levels=5").fit(X[:200], Y[:200])
    inner = LinearRegression().fit(X[:200], Y[:200])
    seen = inner.predict(X[:200])
    assert ranker.limits_ == (seen.min(), seen.max())
    # one row at a time is as good as all
    one_by_one = np.concatenate([ranker.predict(X[i : i + 1]) for i in range(300)])
    assert_array_equal(one_by_one, ranker.predict(X[:300]))
    assert len(set(one_by_one.tolist())) <= 5


def test_bands_and_levels_of_queries():
    ranker = CoarseRanker(LinearRegression(), "rho=1.5").fit(X, Y)
    assert_array_equal(ranker.predict(X, qid=QID), band_scores(SCORES, 1.5, qid=QID))
    ranker.set_params(coarseness="levels=4", scale="query")
    found = ranker.predict(X, qid=QID)
    assert_array_equal(found, round_scores(SCORES, "levels=4", qid=QID))
    with pytest.raises(ValueError, match=r"levels=4 must know which rows .* qid=None"):
        ranker.predict(X)


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


def test_ids_are_checked_where_they_are_not_needed():
    ranker = CoarseRanker(LinearRegression(), "decimals=1")
    for call in (
        lambda: ranker.fit(X, Y, qid=QID[:5]),
        lambda: ranker.fit(X, Y).predict(X, qid=QID[:5]),
    ):
        with pytest.raises(ValueError, match="qid must have one value per row"):
            call()


def search(estimator, grid, qid=None):
    how = {"scoring": make_ranking_scorer(qid=qid), "cv": QueryKFold(3, qid=qid)}
    return GridSearchCV(estimator, grid, error_score="raise", **how)


def by_hand(estimator, how):
    values = []
    for train, test in QueryKFold(3).split(X, groups=QID):
        fitted = clone(estimator).fit(X[train], Y[train])
        scores = fitted.predict(X[test])
        if how is not None:
            scores = round_scores(scores, how, qid=QID[test])
        values.append(ranking_score(Y[test], scores, qid=QID[test]))
    return values


@pytest.mark.parametrize("routing", [False, True])
def test_a_search_tunes_the_bands(routing):
    levels = [None, "rho=3", "decimals=1", "decimals=2"]
    expected = [by_hand(LinearRegression(), level) for level in levels]
    qid = None if routing else "qid"
    rows, given = ((X, Y), {"qid": QID}) if routing else ((FRAME, Y), {})
    ranker = CoarseRanker(LinearRegression(), qid=qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        scored, own = (
            search(ranker, {"coarseness": levels}, qid).set_params(**changed)
            for changed in ({}, {"scoring": None})
        )
        scored.fit(*rows, **given)
        own.fit(*rows, **given)
        assert scored.score(*rows, **given) == own.score(*rows, **given)
    assert scored.best_score_ == own.best_score_
    for at, values in enumerate(expected):
        for fold, value in enumerate(values):
            assert scored.cv_results_[f"split{fold}_test_score"][at] == value


LEVELS = {"coarseness": ["rho=3", "rho=1.5"]}
COARSE = CoarseRanker(LinearRegression(), "rho=1.5")
OUTER = {
    "search": search(COARSE, LEVELS),
    "search in a search": search(search(COARSE, LEVELS), {"refit": [True]}),
    "search of pipelines": search(
        make_pipeline(StandardScaler(), COARSE),
        {f"coarseranker__{name}": values for name, values in LEVELS.items()},
    ),
    "pipeline around a search": make_pipeline(
        StandardScaler(), "passthrough", search(COARSE, LEVELS)
    ),
    "target transformed": TransformedTargetRegressor(COARSE),
    "pipeline around a target": make_pipeline(
        StandardScaler(), TransformedTargetRegressor(COARSE)
    ),
    "ranker around a search": CoarseRanker(
        search(LinearRegression(), {"positive": [False]}), "rho=1.5"
    ),
    "ranker around a ranker": CoarseRanker(
        QueryLGBMRanker(n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1),
        "rho=1.5",
    ),
}


@pytest.mark.parametrize("name", OUTER)
def test_ids_reach_bands_inside(name):
    scorer = make_ranking_scorer()
    # a search finds its own level
    alone = "target" in name or "ranker" in name
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(OUTER[name]).fit(X, Y, qid=QID)
        found = scorer(model, X, Y, qid=QID)
        assert scorer(FrozenEstimator(model), X, Y, qid=QID) == found
        how = {"scoring": scorer, "cv": QueryKFold(2), "params": {"qid": QID}}
        folds = cross_val_score(OUTER[name], X, Y, error_score="raise", **how)
        assert np.isfinite(folds).all()
    scores = SCORES
    if name == "ranker around a ranker":
        scores = clone(model.estimator).fit(X, Y, qid=QID).predict(X)
    values = [
        ranking_score(Y, round_scores(scores, level, qid=QID), qid=QID)
        for level in (["rho=1.5"] if alone else ["rho=3", "rho=1.5"])
    ]
    assert min(abs(found - value) for value in values) < 1e-9
    # what is fitted is scored without routing, too
    assert scorer(model, X, Y, qid=QID) == found


@pytest.mark.parametrize("routing", [False, True])
def test_a_column_of_ids_reaches_bands_everywhere(routing):
    ranker = CoarseRanker(LinearRegression(), "rho=1.5", qid="qid")
    with sklearn.config_context(enable_metadata_routing=routing):
        found = cross_val_predict(
            ranker, FRAME, Y, cv=QueryKFold(3, qid="qid"), params={}
        )
        model = search(ranker, LEVELS, qid="qid").fit(FRAME, Y)
        inside = make_pipeline(StandardScaler(), LinearRegression())
        around = clone(ranker).set_params(estimator=inside).fit(FRAME, Y)
    for train, test in QueryKFold(3).split(X, groups=QID):
        scores = LinearRegression().fit(X[train], Y[train]).predict(X[test])
        banded = band_scores(scores, 1.5, qid=QID[test])
        assert ranking_score(Y[test], found[test], qid=QID[test]) == ranking_score(
            Y[test], banded, qid=QID[test]
        )
    assert_array_equal(model.predict(FRAME), model.best_estimator_.predict(FRAME))
    assert len(around.predict(FRAME)) == len(Y)


def test_without_routing_a_pipeline_gets_the_ids_of_the_column():
    inner = QueryLGBMRanker(n_estimators=2, min_child_samples=5, n_jobs=1, verbose=-1)
    inside = make_pipeline(StandardScaler(), make_pipeline(inner))
    ranker = CoarseRanker(inside, "rho=2", qid="qid").fit(FRAME, Y)
    direct = inner.fit(
        ranker.estimator_[0].transform(FRAME[WEB.feature_names]), Y, qid=QID
    )
    assert_array_equal(
        ranker.estimator_[-1][-1].booster_.feature_importance(),
        direct.booster_.feature_importance(),
    )


def test_without_routing_qid_is_handed_on_to_those_who_take_it():
    inner = QueryLGBMRanker(n_estimators=5, min_child_samples=5, n_jobs=1, verbose=-1)
    direct = inner.fit(X, Y, qid=QID).predict(X)
    ranker = CoarseRanker(clone(inner), "rho=2").fit(X, Y, qid=QID)
    assert_array_equal(ranker.predict(X, qid=QID), band_scores(direct, 2, qid=QID))
    # an estimator that drops the column itself, under a scorer that reads it
    drop = make_column_transformer(("drop", ["qid"]), remainder="passthrough")
    ranker = CoarseRanker(make_pipeline(drop, LinearRegression()), "rho=2")
    scorer = make_ranking_scorer(qid="qid")
    value = scorer(ranker.fit(FRAME, Y), FRAME, Y)
    banded = band_scores(SCORES, 2, qid=QID)
    assert value == pytest.approx(ranking_score(Y, banded, qid=QID), abs=1e-12)


def test_classifiers():
    relevant = (Y > 1).astype(int)
    ranker = CoarseRanker(
        LogisticRegression(max_iter=1000), "decimals=1", response_method="predict_proba"
    ).fit(X, relevant)
    found = set(ranker.predict(X).tolist())
    assert found <= {k / 10 for k in range(11)}
    assert len(found) > 3


def test_fitting_on_a_query_is_remembered():
    inner = QueryLGBMRanker(n_estimators=2, min_child_samples=5, n_jobs=1, verbose=-1)
    ids = QID.astype(str)
    ranker = CoarseRanker(inner, "decimals=2").fit(X, Y, qid=ids)
    for score in (make_ranking_scorer(), CoarseRanker.score):
        with pytest.warns(SplitQueriesWarning, match="QueryLGBMRanker was fitted on"):
            score(ranker, X[:50], Y[:50], qid=ids[:50])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coarseness": 1.5}, "coarseness must be a text such as .* got 1.5"),
        ({"coarseness": "rho=0.5"}, "rho must be > 1, got '0.5'"),
        ({"scale": "all"}, "scale must be one of .* got 'all'"),
        ({"existing_ties": "x"}, "existing_ties must be one of"),
        ({"response_method": "x"}, "response_method must be one of"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        CoarseRanker(LinearRegression(), **options).fit(X, Y)


def test_a_column_of_ids_and_routing():
    X_all = np.column_stack([QID, X])
    with sklearn.config_context(enable_metadata_routing=True):
        for inner in (
            LinearRegression(),
            QueryLGBMRanker(n_estimators=2, n_jobs=1, verbose=-1),
        ):
            ranker = CoarseRanker(inner, "rho=2", qid=0).set_fit_request(qid=False)
            assert len(ranker.fit(X_all, Y).predict(X_all)) == len(Y)
    ranker.set_params(scale="bogus")
    with pytest.raises(ValueError, match="scale must be one of"):
        ranker.predict(X_all)
