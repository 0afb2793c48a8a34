"""The guide's table of scikit-learn tools, line by line, routing on and off.

Every tool runs in both settings, and must give the same values: with routing on,
``qid`` is passed once; with routing off, it is a column of X.
"""

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
from sklearn.inspection import permutation_importance
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
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRanker

from tieaware_sklearn import (
    QueryKFold,
    RankingFeatureSelector,
    SplitQueriesWarning,
    evaluate,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.xgboost import QueryXGBRanker

WEB = make_web_search(n_queries=30, n_documents=20, random_state=0)
FRAME = pd.DataFrame(WEB.data, columns=WEB.feature_names)
WITH_QID = FRAME.assign(qid=WEB.qid)
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
#: rankers with query ids, and the parameter that is searched
BOOSTERS = {
    "lightgbm": (QueryLGBMRanker(n_estimators=4, verbosity=-1, n_jobs=1), "num_leaves"),
    "xgboost": (QueryXGBRanker(n_estimators=4, n_jobs=1), "max_depth"),
    "catboost": (QueryCatBoostRanker(n_estimators=4, **QUIET), "depth"),
}
RANKERS = ("lightgbm", "regressor")


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
    def cv(self):
        return QueryKFold(3, qid=self.qid)

    @property
    def rows(self):
        return self.X, WEB.target

    @property
    def how(self):
        return {"scoring": self.scorer(), "cv": self.cv, "error_score": "raise"}

    def cross_val_score(self, model=None, **options):
        model = self.ranker if model is None else model
        given = {**self.how, **self.params, **options}
        return cross_val_score(model, *self.rows, **given)

    def search(self, Search=GridSearchCV, ranker=None, **options):
        """A search over two values of the parameter, not fitted."""
        ranker = self.ranker if ranker is None else ranker
        return Search(ranker, {self.parameter: [2, 4]}, **{**self.how, **options})


def setting(name: str, routing: bool) -> Setting:
    if name in BOOSTERS:
        booster, parameter = BOOSTERS[name]
        ranker = clone(booster).set_params(qid=None if routing else "qid")
    else:
        # XGBRanker itself reads a column of this name
        drop = ColumnTransformer([("qid", "drop", ["qid"])], remainder="passthrough")
        tree = DecisionTreeRegressor(random_state=0)
        steps = [("tree", tree)] if routing else [("drop", drop), ("tree", tree)]
        ranker, parameter = Pipeline(steps), "tree__max_depth"
    if name == "XGBRanker":
        ranker, parameter = XGBRanker(n_estimators=4, n_jobs=1), "max_depth"
        ranker = ranker.set_fit_request(qid=True) if routing else ranker
    if not routing:
        return Setting(WITH_QID, ranker, parameter, "qid", {}, {})
    given = {"qid": WEB.qid}
    return Setting(FRAME, ranker, parameter, None, given, {"params": given})


def in_both_settings(name, run):
    """What `run` gives with routing on, after comparing it with routing off."""
    with sklearn.config_context(enable_metadata_routing=True):
        on = run(setting(name, True))
    off = run(setting(name, False))
    np.testing.assert_array_equal(on, off)
    return on


def by_hand(name, measure="ndcg@10"):
    """Each fold's score, without scikit-learn's help."""
    at = setting(name, False)
    values = []
    for train, test in QueryKFold(3).split(FRAME, groups=WEB.qid):
        model = clone(at.ranker).fit(WITH_QID.iloc[train], WEB.target[train])
        predicted = model.predict(WITH_QID.iloc[test])
        values.append(
            ranking_score(
                WEB.target[test], predicted, qid=WEB.qid[test], measure=measure
            )
        )
    return values


@pytest.mark.parametrize("name", [*BOOSTERS, "regressor", "XGBRanker"])
def test_cross_val_score(name):
    found = in_both_settings(name, lambda at: at.cross_val_score())
    assert found.tolist() == by_hand(name)


def results_of(*keys, **options):
    """What a search finds by these keys."""

    def run(at):
        search = at.search(**options).fit(*at.rows, **at.fit)
        return [search.cv_results_[key] for key in keys or ["mean_test_score"]]

    return run


def scorers_by_name(at):
    scoring = {"a": at.scorer(), "b": at.scorer("rr")}
    how = {**at.how, **at.params, "scoring": scoring}
    found = cross_validate(at.ranker, *at.rows, **how)
    assert found["test_a"].tolist() == by_hand("lightgbm")
    return [found["test_a"], found["test_b"]]


def group_k_fold(at):
    cv, given = GroupKFold(3), {"groups": WEB.qid}
    if at.qid is None:
        cv, given = cv.set_split_request(groups="qid"), at.params
    return cross_val_score(at.ranker, *at.rows, **{**at.how, **given, "cv": cv})


def refit_by_one_of_several(at):
    search = at.search(scoring=at.scorer(["ndcg@10", "rr"]), refit="rr")
    results = search.fit(*at.rows, **at.fit).cv_results_
    assert search.best_index_ == results["rank_test_rr"].argmin()
    return [results["mean_test_ndcg@10"], results["mean_test_rr"]]


def curve_of_values(at):
    values = {"param_name": at.parameter, "param_range": [2, 4]}
    found = validation_curve(at.ranker, *at.rows, **values, **at.how, **at.params)
    assert found[0].shape == found[1].shape == (2, 3)
    return found


HALVING = {
    "resource": "n_estimators", "min_resources": 2, "max_resources": 6,
    "random_state": 0,
}  # fmt: skip
TOOLS = {
    "random search": results_of(Search=RandomizedSearchCV, n_iter=2, random_state=0),
    "halving": results_of(Search=HalvingGridSearchCV, **HALVING),
    "random halving": results_of(
        Search=HalvingRandomSearchCV, n_candidates=2, **HALVING
    ),
    "nested": lambda at: at.cross_val_score(at.search()),
    "refit by one of several": refit_by_one_of_several,
    "validation curve": curve_of_values,
    "scorers by name": scorers_by_name,
    "group k-fold": group_k_fold,
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_give_the_same_with_routing_and_without(tool):
    in_both_settings("lightgbm", TOOLS[tool])


@pytest.mark.parametrize("name", RANKERS)
def test_cross_validate_with_several_measures(name):
    def run(at):
        how = {**at.how, "scoring": at.scorer(["ndcg@10", "AP", "fallout@5"])}
        found = cross_validate(
            at.ranker, *at.rows, return_train_score=True, **how, **at.params
        )
        names = ("test_ndcg@10", "test_AP", "test_neg_fallout@5", "train_AP")
        return [found[name] for name in names]

    found = in_both_settings(name, run)
    assert (found[3] > found[1].mean()).all()
    assert found[1].tolist() == by_hand(name, "ap")
    assert (-found[2]).tolist() == by_hand(name, "fallout@5")


@pytest.mark.parametrize("name", RANKERS)
def test_grid_search(name):
    def run(at):
        search = at.search().fit(*at.rows, **at.fit)
        expected = ranking_score(WEB.target, search.predict(at.X), qid=WEB.qid)
        assert search.score(*at.rows, **at.fit) == expected
        return [*search.cv_results_["mean_test_score"], search.best_score_]

    found = in_both_settings(name, run)
    at = setting(name, False)
    models = (clone(at.ranker).set_params(**{at.parameter: n}) for n in (2, 4))
    assert found[-1] == max(at.cross_val_score(model).mean() for model in models)


@pytest.mark.parametrize("name", RANKERS)
def test_out_of_fold_report(name):
    def run(at):
        scores = cross_val_predict(at.ranker, *at.rows, cv=at.cv, **at.params)
        report = evaluate(WEB.target, scores, qid=WEB.qid, measures=["ndcg@10", "rr"])
        return report.expected

    expected = in_both_settings(name, run)
    _, number = np.unique(WEB.qid, return_inverse=True)
    folds = QueryKFold(3).split(FRAME, groups=WEB.qid)
    means = [expected[np.unique(number[test]), 0].mean() for _, test in folds]
    assert means == pytest.approx(by_hand(name), abs=1e-12)


def test_learning_curve():
    # it cuts the last query of a training set short, even at 1.0
    def run(at):
        sizes = {"train_sizes": [0.5, 1.0]}
        return learning_curve(at.ranker, *at.rows, **sizes, **at.how, **at.params)[2]

    # the first fold's training set is the smallest, and whole
    assert in_both_settings("lightgbm", run)[1][0] == by_hand("lightgbm")[0]


@pytest.mark.parametrize("name", RANKERS)
def test_a_pipeline_with_the_selector(name):
    """With a column, the selector drops it; a ranker behind it needs it handed on."""
    selector = RankingFeatureSelector(n_features_to_select=4)
    with sklearn.config_context(enable_metadata_routing=True):
        on = setting(name, True)
        routed = on.cross_val_score(make_pipeline(selector, on.ranker))
    expected = []
    for train, test in QueryKFold(3).split(FRAME, groups=WEB.qid):
        rows = FRAME.iloc[train], WEB.target[train]
        X = selector.fit(*rows, qid=WEB.qid[train]).transform(FRAME)
        given = {} if name == "regressor" else {"qid": WEB.qid[train]}
        ranker = clone(on.ranker).fit(X[train], WEB.target[train], **given)
        expected.append(
            ranking_score(WEB.target[test], ranker.predict(X[test]), qid=WEB.qid[test])
        )
    assert routed.tolist() == expected
    off, by_column = setting(name, False), clone(selector).set_params(qid="qid")
    if name == "regressor":
        model = make_pipeline(by_column, DecisionTreeRegressor(random_state=0))
    else:
        parts = [
            ("features", by_column, list(WITH_QID)),
            ("qid", "passthrough", ["qid"]),
        ]
        ranker = clone(off.ranker).set_params(qid=-1)
        model = make_pipeline(ColumnTransformer(parts), ranker)
    assert off.cross_val_score(model).tolist() == expected


@pytest.mark.parametrize("name", RANKERS)
def test_rfecv_and_sequential_selection_need_routing(name):
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        X = at.X.iloc[:, :6]  # as many fits as features, squared
        ranker = at.ranker["tree"] if name == "regressor" else at.ranker
        how = {"cv": at.cv, "scoring": at.scorer()}

        def mean_score(columns):
            values = X.to_numpy()[:, columns]
            return cross_val_score(
                clone(ranker), values, WEB.target, **how, **at.params
            ).mean()

        rfecv = RFECV(ranker, step=4, **how).fit(X, WEB.target, **at.fit)
        found, means = rfecv.cv_results_, rfecv.cv_results_["mean_test_score"]
        assert found["n_features"].tolist() == [1, 2, 6]
        assert rfecv.n_features_ == found["n_features"][means.argmax()]
        assert means[-1] == mean_score(np.arange(6))
        sfs = SequentialFeatureSelector(ranker, n_features_to_select=1, **how)
        sfs.fit(X, WEB.target, **at.fit)
        single = [mean_score([j]) for j in range(6)]
        assert np.flatnonzero(sfs.get_support()) == np.argmax(single)
    if name == "regressor":
        return
    at = setting(name, False)
    for Selector in (RFECV, SequentialFeatureSelector):
        selector = Selector(at.ranker, cv=at.cv, scoring=at.scorer())
        with pytest.raises(ValueError, match="RFECV, SequentialFeatureSelector"):
            selector.fit(at.X, WEB.target)


def test_permutation_importance_through_a_closure():
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting("lightgbm", True)
        model = at.ranker.fit(*at.rows, **at.fit)
        with pytest.raises(ValueError, match="qid must hold"):
            permutation_importance(model, *at.rows, scoring=at.scorer())

        def score(model, X, y):
            return ranking_score(y, model.predict(X), qid=WEB.qid)

        found = permutation_importance(
            model, *at.rows, scoring=score, n_repeats=2, random_state=0
        )
    assert found.importances_mean.max() > 0


def test_several_measures_do_not_fit_where_one_number_is_wanted():
    at = setting("lightgbm", False)
    with pytest.raises(ValueError, match="'scoring' parameter of cross_val_score"):
        at.cross_val_score(scoring=at.scorer(["ndcg@10", "rr"]))


@pytest.mark.parametrize("name", BOOSTERS)
def test_early_stopping_in_a_search_and_in_a_pipeline(name):
    valid = make_web_search(n_queries=10, n_documents=20, random_state=1)
    held_out = pd.DataFrame(valid.data, columns=WEB.feature_names)

    def run(at):
        params = {"eval_y": (valid.target,), "eval_X": (held_out,), **at.fit}
        if at.qid is None:
            params["eval_qid"] = (valid.qid,)
        else:
            params["eval_X"] = (held_out.assign(qid=valid.qid),)
        ranker = clone(at.ranker).set_params(
            n_estimators=30, learning_rate=0.5, early_stopping_rounds=2
        )
        search = at.search(ranker=ranker, cv=QueryKFold(2, qid=at.qid))
        search.fit(*at.rows, **params)
        found = search.best_estimator_.evals_result_["valid_0"]["NDCG@10"]
        assert len(found) < 30
        return [*search.cv_results_["mean_test_score"], *found]

    in_both_settings(name, run)
    given = {"eval_X": valid.data, "eval_y": valid.target, "eval_qid": valid.qid}
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        ranker = at.ranker.set_params(n_estimators=30, early_stopping_rounds=2)
        model = make_pipeline(StandardScaler(), ranker, transform_input=["eval_X"])
        model.fit(WEB.data, WEB.target, **given, **at.fit)
    found = model[-1].evals_result_["valid_0"]["NDCG@10"]
    predicted = model.predict(valid.data)
    assert max(found) == ranking_score(valid.target, predicted, qid=valid.qid)


@pytest.mark.parametrize("routing", [True, False])
def test_an_integer_splits_queries(routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        at = setting("lightgbm", routing)
        with pytest.warns(SplitQueriesWarning, match="folds split queries"):
            at.cross_val_score(cv=4)
