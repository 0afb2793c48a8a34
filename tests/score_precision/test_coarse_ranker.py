"""A ranker whose scores are made coarser, inside scikit-learn's tools."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker, band_scores, round_scores

WEB = make_web_search(n_queries=60, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid
FRAME = pd.DataFrame(X, columns=WEB.feature_names).assign(qid=QID)
SCORES = LinearRegression().fit(X, Y).predict(X)


@pytest.mark.parametrize(
    "how",
    [
        None,
        "decimals=1",
        "significant=2",
        "bits=bfloat16",
        "bits=3",
        "levels=7",
    ],
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
    # the columns of X as given; the estimator sees no ids
    assert ranker.feature_names_in_.tolist() == [*WEB.feature_names, "qid"]
    assert ranker.n_features_in_ == 1 + ranker.estimator_.n_features_in_
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.predict(FRAME[FRAME.columns[::-1]])
    assert_array_equal(ranker.predict(FRAME), band_scores(SCORES, 2, qid=QID))
    with pytest.raises(ValueError, match="qid must be given once: it is column 'qid'"):
        ranker.predict(FRAME, qid=QID)


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
    grid = {"coarseness": levels}
    expected = [by_hand(LinearRegression(), level) for level in levels]
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            search = GridSearchCV(
                CoarseRanker(LinearRegression()),
                grid,
                scoring=make_ranking_scorer(),
                cv=QueryKFold(3),
                error_score="raise",
            ).fit(X, Y, qid=QID)
        else:
            search = GridSearchCV(
                CoarseRanker(LinearRegression(), qid="qid"),
                grid,
                scoring=make_ranking_scorer(qid="qid"),
                cv=QueryKFold(3, qid="qid"),
                error_score="raise",
            ).fit(FRAME, Y)
    for at, values in enumerate(expected):
        for fold, value in enumerate(values):
            assert search.cv_results_[f"split{fold}_test_score"][at] == value


def test_routing_reaches_a_ranker_inside_and_bands_at_the_end_of_a_pipeline():
    inner = QueryLGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1)
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator in (
            CoarseRanker(inner, "rho=1.5"),
            make_pipeline(StandardScaler(), CoarseRanker(inner, "rho=1.5")),
        ):
            values = cross_val_score(
                estimator,
                X,
                Y,
                scoring=make_ranking_scorer(),
                cv=QueryKFold(3),
                params={"qid": QID},
                error_score="raise",
            )
            assert np.isfinite(values).all()


def test_without_routing_qid_is_handed_on_to_those_who_take_it():
    inner = QueryLGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1)
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
    inner = QueryLGBMRanker(n_estimators=2, min_child_samples=5, verbose=-1)
    half = np.arange(len(Y)) % 2 > 0
    ids = QID + 7  # numbers from 0 on could be of other data
    ranker = CoarseRanker(inner, "decimals=2").fit(X[half], Y[half], qid=ids[half])
    with pytest.raises(ValueError, match="that QueryLGBMRanker was fitted on"):
        make_ranking_scorer()(ranker, X[~half], Y[~half], qid=ids[~half])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"coarseness": 1.5},
            "coarseness must be a text such as .* got 1.5",
        ),
        ({"coarseness": "rho=0.5"}, "rho must be > 1, got '0.5'"),
        ({"coarseness": "levels=0"}, "levels must be an integer >= 2, got '0'"),
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
        for inner in (LinearRegression(), QueryLGBMRanker(n_estimators=2, verbose=-1)):
            ranker = CoarseRanker(inner, "rho=2", qid=0).set_fit_request(qid=False)
            assert len(ranker.fit(X_all, Y).predict(X_all)) == len(Y)
    ranker.set_params(scale="bogus")
    with pytest.raises(ValueError, match="scale must be one of"):
        ranker.predict(X_all)
