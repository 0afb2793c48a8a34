"""The selector before a ranker: fit, predict and score, with routing and without."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from tieaware_sklearn import LinearRanker, RankingFeatureSelector, ranking_score
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker

RANKERS = {
    "lightgbm": QueryLGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1),
    "linear": LinearRanker("equal"),
    "coarse": CoarseRanker(LinearRegression(), "rho=1.5"),
}


def by_hand(web, name):
    """Predictions for all rows, of the ranker on the selected features."""
    selector = RankingFeatureSelector(n_features_to_select=4)
    X = selector.fit_transform(web.data, web.target, qid=web.qid)
    ranker = sklearn.clone(RANKERS[name])
    given = {} if name == "linear" else {"qid": web.qid}
    ranker.fit(X, web.target, **given)
    return ranker.predict(X, **(given if name == "coarse" else {}))


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_behind_the_selector_with_routing(web, name):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            RankingFeatureSelector(n_features_to_select=4), sklearn.clone(RANKERS[name])
        )
        coarse = {"qid": web.qid} if name == "coarse" else {}
        if name == "coarse":
            model[-1].set_predict_request(qid=True)
        model.fit(web.data, web.target, qid=web.qid)
        predicted = model.predict(web.data, **coarse)
        score = model.score(web.data, web.target, qid=web.qid)
    np.testing.assert_array_equal(predicted, by_hand(web, name))
    assert score == ranking_score(web.target, predicted, qid=web.qid)


@pytest.mark.parametrize("name", ["lightgbm", "coarse"])
@pytest.mark.parametrize("frames", [False, True])
def test_a_ranker_behind_the_selector_with_a_column(web, name, frames):
    X = pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)
    selector = RankingFeatureSelector(n_features_to_select=4, qid="qid")
    keep_qid = ColumnTransformer(
        [("features", selector, list(X)), ("qid", "passthrough", ["qid"])]
    )
    qid = -1
    if frames:
        keep_qid.set_output(transform="pandas")
        qid = "qid__qid"
    model = make_pipeline(keep_qid, sklearn.clone(RANKERS[name]).set_params(qid=qid))
    model.fit(X, web.target)
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted, by_hand(web, name))
    assert model.score(X, web.target) == ranking_score(
        web.target, predicted, qid=web.qid
    )


def test_ids_by_the_name_of_the_step(web):
    model = make_pipeline(
        RankingFeatureSelector(n_features_to_select=4),
        sklearn.clone(RANKERS["lightgbm"]),
    )
    steps = {"rankingfeatureselector__qid": web.qid, "querylgbmranker__qid": web.qid}
    model.fit(web.data, web.target, **steps)
    predicted = model.predict(web.data)
    np.testing.assert_array_equal(predicted, by_hand(web, "lightgbm"))
    with pytest.raises(ValueError, match="qid"):
        model.score(web.data, web.target)
