"""The guide's table of scikit-learn tools: ``qid`` routed, or a column of X."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRanker

from tieaware_sklearn import (
    QueryKFold,
    evaluate,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.xgboost import QueryXGBRanker

WEB = make_web_search(n_queries=20, n_documents=15, random_state=0)
FRAME = pd.DataFrame(WEB.data, columns=WEB.feature_names)
WITH_QID = FRAME.assign(qid=WEB.qid)
FOLDS = list(QueryKFold(3).split(FRAME, groups=WEB.qid))
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
#: rankers with query ids, and the parameter that is searched
BOOSTERS = {
    "lightgbm": (QueryLGBMRanker(n_estimators=4, verbosity=-1, n_jobs=1), "num_leaves"),
    "xgboost": (QueryXGBRanker(n_estimators=4, n_jobs=1), "max_depth"),
    "catboost": (QueryCatBoostRanker(n_estimators=4, **QUIET), "depth"),
}


class Setting(NamedTuple):
    """How one ranker is used with routing on, or off."""

    X: Any
    ranker: Any
    parameter: str
    qid: str | None
    fit: dict[str, Any]
    params: dict[str, Any]

    def scorer(self, measure="ndcg@10"):
        return make_ranking_scorer(measure, qid=self.qid)

    @property
    def rows(self):
        return self.X, WEB.target

    @property
    def how(self):
        cv = QueryKFold(3, qid=self.qid)
        return {"scoring": self.scorer(), "cv": cv, "error_score": "raise"}

    def scores(self, tool=cross_val_score, model=None, **options):
        model = self.ranker if model is None else model
        return tool(model, *self.rows, **{**self.how, **self.params, **options})

    def search(self, Search=GridSearchCV, **options):
        """A search over two values of the parameter, not fitted."""
        return Search(self.ranker, {self.parameter: [2, 4]}, **{**self.how, **options})


def setting(name: str, routing: bool) -> Setting:
    if name in BOOSTERS:
        booster, parameter = BOOSTERS[name]
        ranker = clone(booster).set_params(qid=None if routing else "qid")
    elif name == "XGBRanker":  # which itself reads a column of this name
        ranker, parameter = XGBRanker(n_estimators=4, n_jobs=1), "max_depth"
        ranker = ranker.set_fit_request(qid=True) if routing else ranker
    else:
        drop = ColumnTransformer([("qid", "drop", ["qid"])], remainder="passthrough")
        tree = ("tree", DecisionTreeRegressor(random_state=0))
        ranker = Pipeline([tree] if routing else [("drop", drop), tree])
        parameter = "tree__max_depth"
    if not routing:
        return Setting(WITH_QID, ranker, parameter, "qid", {}, {})
    given = {"qid": WEB.qid}
    return Setting(FRAME, ranker, parameter, None, given, {"params": given})


def in_both_settings(name, run):
    """What `run` gives with routing on, after comparing it with routing off."""
    with sklearn.config_context(enable_metadata_routing=True):
        on = run(setting(name, True))
    np.testing.assert_array_equal(on, run(setting(name, False)))
    return on


def by_hand(name, measure="ndcg@10"):
    """Each fold's score, without scikit-learn's help."""
    ranker, values = setting(name, False).ranker, []
    for train, test in FOLDS:
        model = clone(ranker).fit(WITH_QID.iloc[train], WEB.target[train])
        rows = WEB.target[test], model.predict(WITH_QID.iloc[test])
        values.append(ranking_score(*rows, qid=WEB.qid[test], measure=measure))
    return values


@pytest.mark.parametrize("name", [*BOOSTERS, "regressor", "XGBRanker"])
def test_cross_validate(name):
    def run(at):
        scoring = at.scorer(["ndcg@10", "AP", "fallout@5"])
        found = at.scores(cross_validate, scoring=scoring, return_train_score=True)
        names = ("test_ndcg@10", "test_AP", "test_neg_fallout@5", "train_AP")
        return [found[name] for name in names]

    found = in_both_settings(name, run)
    assert found[0].tolist() == by_hand(name)
    assert (-found[2]).tolist() == by_hand(name, "fallout@5")
    assert (found[3] > found[1].mean()).all()


def results_of(**options):
    """What a search finds."""

    def run(at):
        search = at.search(**options).fit(*at.rows, **at.fit)
        expected = ranking_score(WEB.target, search.predict(at.X), qid=WEB.qid)
        assert search.score(*at.rows, **at.fit) == expected
        return search.cv_results_["mean_test_score"]

    return run


def group_k_fold(at):
    cv, given = GroupKFold(3), {"groups": WEB.qid}
    if at.qid is None:
        cv, given = cv.set_split_request(groups="qid"), {}
    return at.scores(cv=cv, **given)


def out_of_fold_report(at):
    cv = at.how["cv"]
    scores = cross_val_predict(at.ranker, *at.rows, cv=cv, **at.params)
    report = evaluate(WEB.target, scores, qid=WEB.qid, measures="ndcg@10")
    at = [np.isin(report.qid, WEB.qid[test]) for _, test in FOLDS]
    means = [report.expected[own].mean() for own in at]
    assert means == pytest.approx(by_hand("lightgbm"), abs=1e-12)
    return report.expected


def curve_of_sizes(at):
    # it cuts the last query of a training set short, even at 1.0, but for the
    # smallest training set: that of the first fold
    found = at.scores(learning_curve, train_sizes=[0.5, 1.0])[2]
    assert found[1][0] == by_hand("lightgbm")[0]
    return found


HALVING = {"min_resources": 2, "max_resources": 6, "random_state": 0}
HALVING["resource"] = "n_estimators"
TOOLS = {
    "grid search": results_of(),
    "random search": results_of(Search=RandomizedSearchCV, n_iter=2, random_state=0),
    "halving": results_of(Search=HalvingGridSearchCV, **HALVING),
    "random halving": results_of(
        Search=HalvingRandomSearchCV, n_candidates=2, **HALVING
    ),
    "nested": lambda at: at.scores(model=at.search(cv=QueryKFold(2, qid=at.qid))),
    "refit by one of several": lambda at: (
        at.search(scoring=at.scorer(["ndcg@10", "rr"]), refit="rr")
        .fit(*at.rows, **at.fit)
        .cv_results_["mean_test_rr"]
    ),
    "out-of-fold report": out_of_fold_report,
    "learning curve": curve_of_sizes,
    "validation curve": lambda at: at.scores(
        validation_curve, param_name=at.parameter, param_range=[2, 4]
    ),
    "group k-fold": group_k_fold,
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_give_the_same_with_routing_and_without(tool):
    in_both_settings("lightgbm", TOOLS[tool])


@pytest.mark.parametrize("Selector", [RFECV, SequentialFeatureSelector])
def test_selectors_of_scikit_learn_need_routing(Selector):
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting("lightgbm", True)
        selector = Selector(at.ranker, cv=at.how["cv"], scoring=at.scorer())
        selector.fit(at.X.iloc[:, :4], WEB.target, **at.fit)
    assert selector.get_support().any()
    at = setting("lightgbm", False)
    selector = Selector(at.ranker, cv=at.how["cv"], scoring=at.scorer())
    with pytest.raises(ValueError, match="RFECV, SequentialFeatureSelector"):
        selector.fit(*at.rows)
