"""Tools that hand on some of the columns of X, by every ranker and every way of ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.model_selection.helpers import BOOSTERS
from tieaware_sklearn import (
    FusedRanker,
    LinearRanker,
    QueryKFold,
    SplitQueriesWarning,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.xgboost import QueryXGBRanker

WEB = make_web_search(n_queries=12, n_documents=15, random_state=0)
X, Y, QID = WEB.data[:, :5], WEB.target, WEB.qid
NAMES = WEB.feature_names[:5]
IDS_FIRST = np.column_stack([QID, X])
RANKERS = {name: booster for name, (booster, _) in BOOSTERS.items()}
RANKERS |= {"linear": LinearRanker(max_iter=1), "fused": FusedRanker()}


class Way(NamedTuple):
    """How query ids reach the tool."""

    X: Any
    qid: str | int | None
    fit: dict[str, Any]

    @property
    def how(self):
        scoring = make_ranking_scorer("ndcg@10", qid=self.qid)
        return {"cv": QueryKFold(2, qid=self.qid), "scoring": scoring}

    def fitted(self, tool):
        with sklearn.config_context(enable_metadata_routing=self.qid is None):
            return tool.fit(self.X, Y, **self.fit)


COLUMN = {
    "index": Way(IDS_FIRST, 0, {}),
    "name": Way(pd.DataFrame(IDS_FIRST, columns=["qid", *NAMES]), "qid", {}),
}
ROUTED = Way(X, None, {"qid": QID})


@pytest.fixture(params=list(RANKERS))
def ranker(request):
    return RANKERS[request.param]


def sequential(direction):
    return lambda ranker, **how: SequentialFeatureSelector(
        ranker, direction=direction, n_features_to_select=2, **how
    )


SOME_COLUMNS = {
    "RFE": lambda ranker, **_: RFE(ranker, n_features_to_select=2),
    "RFECV": RFECV,
    "forward": sequential("forward"),
    "backward": sequential("backward"),
    "bagged features": lambda ranker, **_: BaggingRegressor(
        ranker, n_estimators=2, max_features=0.5, random_state=0
    ),
}


@pytest.mark.parametrize("tool", list(SOME_COLUMNS))
def test_tools_that_hand_on_some_columns_need_routing(tool, ranker):
    make = SOME_COLUMNS[tool]
    for at in COLUMN.values():
        own = clone(ranker).set_params(qid=at.qid)
        # the guard of clones, and of a step of a pipeline
        for model in (own, make_pipeline(StandardScaler(), own)):
            with pytest.raises(ValueError, match=r"^qid must .* routing on") as error:
                at.fitted(make(model, **at.how))
            assert repr(at.qid) in str(error.value)
    if isinstance(ranker, FusedRanker) and tool in ("RFE", "RFECV"):
        with pytest.raises(ValueError, match="FusedRanker should have `coef_`"):
            ROUTED.fitted(make(ranker, **ROUTED.how))
        return
    found = ROUTED.fitted(make(ranker, **ROUTED.how))
    if isinstance(found, BaggingRegressor):
        assert {one.n_features_in_ for one in found.estimators_} == {2}
    else:
        assert found.get_support().sum() == getattr(found, "n_features_", 2)


def test_workers_and_foreign_folds_change_nothing():
    at = COLUMN["index"]
    folds = list(QueryKFold(2).split(X, groups=QID))
    model = LinearRanker("equal", qid=0)
    tool = SequentialFeatureSelector(model, cv=folds, scoring=at.how["scoring"])
    with pytest.raises(ValueError, match=r"qid must not be an index .* got 0"):
        at.fitted(tool.set_params(n_jobs=2))
    # folds by a column of ids are refused by themselves
    tool.set_params(estimator=LinearRegression(), cv=at.how["cv"], n_jobs=None)
    with pytest.raises(ValueError, match=r"qid must not be an index .* got 0"):
        at.fitted(tool)


def test_a_column_that_was_never_the_ids_is_named(ranker):
    """SelectKBest drops the ids, and a feature takes their place."""
    model = make_pipeline(SelectKBest(k=4), clone(ranker).set_params(qid=0))
    model.fit(IDS_FIRST, Y)
    assert not model[0].get_support()[0]
    feature = model[0].transform(IDS_FIRST)[:, 0]
    assert not np.any(feature % 1)
    scorer = make_ranking_scorer("ndcg@10", qid=0)
    with pytest.warns(SplitQueriesWarning) as caught:
        scorer(model, IDS_FIRST, Y)
    values = f"with {len(np.unique(feature))} values in {len(Y)} rows"
    for said in (f"ids were column 0 of what it got in fit, {values}", "SelectKBest"):
        assert said in str(caught[0].message)
    # ids that were given are no column
    half = np.arange(len(Y)) % 2 > 0
    plain = clone(ranker).fit(X[half], Y[half], qid=QID[half])
    with pytest.warns(SplitQueriesWarning) as caught:
        make_ranking_scorer("ndcg@10")(plain, X, Y, qid=QID)
    assert "column" not in str(caught[0].message)


@pytest.mark.parametrize("threshold", [None, "mean", "median", 0.0])
def test_importances_have_an_entry_for_the_ids(threshold, ranker):
    if isinstance(ranker, FusedRanker):  # which selects by itself
        with pytest.raises(ValueError, match="FusedRanker should have `coef_`"):
            ROUTED.fitted(SelectFromModel(ranker)).get_support()
        return
    plain = ROUTED.fitted(clone(ranker))
    name = "coef_" if isinstance(ranker, LinearRanker) else "feature_importances_"
    expected = np.append(0.0, getattr(plain, name))
    limit = {None: np.mean, "mean": np.mean, "median": np.median}.get(threshold)
    limit = 0.0 if limit is None else limit(np.abs(expected))
    for at in COLUMN.values():
        own = clone(ranker).set_params(qid=at.qid)
        assert np.array_equal(getattr(at.fitted(clone(own)), name), expected)
        kept = at.fitted(SelectFromModel(own, threshold=threshold)).get_support()
        # the ids stay only where every column does
        assert np.array_equal(kept, np.abs(expected) >= limit)
        assert kept[0] == (limit == 0) == kept.all()


def test_weights_of_columns_can_be_given_again():
    for at in COLUMN.values():
        model = at.fitted(LinearRanker(max_iter=1, qid=at.qid))
        for coef in (model.coef_, model.coef_[1:]):
            again = at.fitted(LinearRanker(coef, qid=at.qid))
            assert np.array_equal(again.predict(at.X), model.predict(at.X))
    with pytest.raises(ValueError, match=r"one weight per feature \(5\), got 6"):
        LinearRanker(np.ones(6), qid=0).fit(IDS_FIRST)


def test_permutation_importance_is_that_of_the_features(ranker):
    def importances(at):
        model = at.fitted(clone(ranker).set_params(qid=at.qid))
        ids = {"qid": QID} if isinstance(ranker, FusedRanker) and at is ROUTED else {}

        def value(model, X, y):
            return ranking_score(y, model.predict(X, **ids), qid=QID)

        options = {"scoring": value, "n_repeats": 2, "random_state": 0}
        return permutation_importance(model, at.X, Y, **options).importances_mean

    by_index, by_name = map(importances, COLUMN.values())
    assert np.array_equal(by_index, by_name)
    assert np.array_equal(by_index[1:], importances(ROUTED))


def test_bagged_rows_keep_the_column_of_ids(ranker):
    at, own = COLUMN["index"], clone(ranker).set_params(qid=0)
    tool = BaggingRegressor(own, n_estimators=2, random_state=0)
    if isinstance(ranker, QueryXGBRanker):
        # drawn rows are weights, of which XGBoost takes one a query
        with pytest.raises(ValueError, match="sample_weight must be constant"):
            at.fitted(tool)
        return
    tool = at.fitted(tool)
    expected = at.fitted(own)._fitted_queries_.ids
    for one in tool.estimators_:
        assert np.array_equal(one._fitted_queries_.ids, expected)
