"""The guide's table of scikit-learn tools, line by line, routing on and off.

Every tool runs for each ranker in both settings, and must give the same values:
with routing on, ``qid`` is passed once; with routing off, it is a column of X.
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
RANKERS = (*BOOSTERS, "regressor")


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
    def grid(self):
        return {self.parameter: [2, 4]}


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


def splits(search):
    return [search.cv_results_[f"split{i}_test_score"][0] for i in range(3)]


@pytest.mark.parametrize("name", [*RANKERS, "XGBRanker"])
def test_cross_val_score(name):
    found = in_both_settings(
        name,
        lambda at: cross_val_score(
            at.ranker,
            at.X,
            WEB.target,
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
            **at.params,
        ),
    )
    assert found.tolist() == by_hand(name)


@pytest.mark.parametrize("name", RANKERS)
def test_cross_validate_with_several_measures(name):
    measures = ["ndcg@10", "AP", "fallout@5"]

    def run(at):
        found = cross_validate(
            at.ranker,
            at.X,
            WEB.target,
            scoring=at.scorer(measures),
            cv=at.cv,
            return_train_score=True,
            error_score="raise",
            **at.params,
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
        search = GridSearchCV(
            at.ranker,
            at.grid,
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
        ).fit(at.X, WEB.target, **at.fit)
        assert search.score(at.X, WEB.target, **at.fit) == ranking_score(
            WEB.target, search.predict(at.X), qid=WEB.qid
        )
        return [*splits(search), search.best_score_]

    found = in_both_settings(name, run)
    at = setting(name, False)
    scores = []
    for value in (2, 4):
        model = clone(at.ranker).set_params(**{at.parameter: value})
        scores.append(cross_val_score(model, at.X, WEB.target, scoring=at.scorer(),
                                      cv=at.cv).mean())  # fmt: skip
    assert found[-1] == max(scores)


@pytest.mark.parametrize("name", RANKERS)
def test_grid_search_refits_by_one_of_several_measures(name):
    def run(at):
        search = GridSearchCV(
            at.ranker,
            at.grid,
            scoring=at.scorer(["ndcg@10", "rr"]),
            refit="rr",
            cv=at.cv,
            error_score="raise",
        ).fit(at.X, WEB.target, **at.fit)
        results = search.cv_results_
        assert search.best_index_ == results["rank_test_rr"].argmin()
        return [results["mean_test_ndcg@10"], results["mean_test_rr"]]

    in_both_settings(name, run)


@pytest.mark.parametrize("name", RANKERS)
def test_randomized_search(name):
    def run(at):
        search = RandomizedSearchCV(
            at.ranker,
            at.grid,
            n_iter=2,
            scoring=at.scorer(),
            cv=at.cv,
            random_state=0,
            error_score="raise",
        ).fit(at.X, WEB.target, **at.fit)
        return search.cv_results_["mean_test_score"]

    in_both_settings(name, run)


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("Search", [HalvingGridSearchCV, HalvingRandomSearchCV])
def test_halving_over_a_resource_of_the_estimator(name, Search):
    options = {} if Search is HalvingGridSearchCV else {"n_candidates": 2}

    def run(at):
        search = Search(
            at.ranker,
            at.grid,
            scoring=at.scorer(),
            cv=at.cv,
            resource="n_estimators",
            min_resources=2,
            max_resources=6,
            random_state=0,
            error_score="raise",
            **options,
        ).fit(at.X, WEB.target, **at.fit)
        return search.cv_results_["mean_test_score"]

    in_both_settings(name, run)


@pytest.mark.parametrize("name", RANKERS)
def test_out_of_fold_report(name):
    def run(at):
        scores = cross_val_predict(at.ranker, at.X, WEB.target, cv=at.cv, **at.params)
        report = evaluate(WEB.target, scores, qid=WEB.qid, measures=["ndcg@10", "rr"])
        return report.expected

    expected = in_both_settings(name, run)
    _, number = np.unique(WEB.qid, return_inverse=True)
    folds = QueryKFold(3).split(FRAME, groups=WEB.qid)
    means = [expected[np.unique(number[test]), 0].mean() for _, test in folds]
    assert means == pytest.approx(by_hand(name), abs=1e-12)


@pytest.mark.parametrize("name", RANKERS)
def test_nested_cross_validation(name):
    def run(at):
        search = GridSearchCV(at.ranker, at.grid, scoring=at.scorer(), cv=at.cv)
        return cross_val_score(
            search,
            at.X,
            WEB.target,
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
            **at.params,
        )

    in_both_settings(name, run)


@pytest.mark.parametrize("name", RANKERS)
def test_validation_curve(name):
    def run(at):
        return validation_curve(
            at.ranker,
            at.X,
            WEB.target,
            param_name=at.parameter,
            param_range=[2, 4],
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
            **at.params,
        )

    train, test = in_both_settings(name, run)
    assert train.shape == test.shape == (2, 3)


@pytest.mark.parametrize("name", RANKERS)
def test_learning_curve(name):
    # it cuts the last query of a training set short, even at 1.0
    def run(at):
        return learning_curve(
            at.ranker,
            at.X,
            WEB.target,
            train_sizes=[0.5, 1.0],
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
            **at.params,
        )[2]

    # the first fold's training set is the smallest, and whole
    assert in_both_settings(name, run)[1][0] == by_hand(name)[0]


@pytest.mark.parametrize("name", RANKERS)
def test_a_pipeline_with_the_selector_and_routing(name):
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        model = make_pipeline(RankingFeatureSelector(n_features_to_select=4), at.ranker)
        scores = cross_val_score(
            model,
            at.X,
            WEB.target,
            scoring=at.scorer(),
            cv=at.cv,
            error_score="raise",
            **at.params,
        )
    selected = []
    for train, test in QueryKFold(3).split(FRAME, groups=WEB.qid):
        selector = RankingFeatureSelector(n_features_to_select=4)
        rows = FRAME.iloc[train], WEB.target[train]
        X = selector.fit(*rows, qid=WEB.qid[train]).transform(FRAME)
        given = {} if name == "regressor" else {"qid": WEB.qid[train]}
        ranker = clone(at.ranker).fit(X[train], WEB.target[train], **given)
        selected.append(
            ranking_score(WEB.target[test], ranker.predict(X[test]), qid=WEB.qid[test])
        )
    assert scores.tolist() == selected


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_pipeline_with_the_selector_and_a_column(name):
    """The selector drops the column; a ranker behind it needs it handed on."""
    selector = RankingFeatureSelector(n_features_to_select=4, qid="qid")
    keep_qid = ColumnTransformer(
        [("features", selector, list(WITH_QID)), ("qid", "passthrough", ["qid"])]
    )
    at = setting(name, False)
    ranker = clone(at.ranker).set_params(qid=-1)
    off = cross_val_score(
        make_pipeline(keep_qid, ranker),
        WITH_QID,
        WEB.target,
        scoring=at.scorer(),
        cv=at.cv,
        error_score="raise",
    )
    with sklearn.config_context(enable_metadata_routing=True):
        on = setting(name, True)
        routed = cross_val_score(
            make_pipeline(RankingFeatureSelector(n_features_to_select=4), on.ranker),
            FRAME,
            WEB.target,
            scoring=on.scorer(),
            cv=on.cv,
            error_score="raise",
            **on.params,
        )
    assert off.tolist() == routed.tolist()


def test_a_pipeline_with_the_selector_and_a_regressor():
    selector = RankingFeatureSelector(n_features_to_select=4, qid="qid")
    at = setting("regressor", False)
    tree = DecisionTreeRegressor(random_state=0)
    scores = cross_val_score(
        make_pipeline(selector, tree),
        WITH_QID,
        WEB.target,
        scoring=at.scorer(),
        cv=at.cv,
        error_score="raise",
    )
    plain = RankingFeatureSelector(n_features_to_select=4)
    expected = []
    for train, test in QueryKFold(3).split(FRAME, groups=WEB.qid):
        y, qid = WEB.target[train], WEB.qid[train]
        X = plain.fit(FRAME.iloc[train], y, qid=qid).transform(FRAME)
        predicted = clone(tree).fit(X[train], y).predict(X[test])
        expected.append(ranking_score(WEB.target[test], predicted, qid=WEB.qid[test]))
    assert scores.tolist() == expected


@pytest.mark.parametrize("name", RANKERS)
def test_rfecv_and_sequential_selection_need_routing(name):
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        X = at.X.iloc[:, :6]  # as many fits as features, squared
        ranker = at.ranker["tree"] if name == "regressor" else at.ranker
        rfecv = RFECV(ranker, step=4, cv=at.cv, scoring=at.scorer())
        rfecv.fit(X, WEB.target, **at.fit)
        found = rfecv.cv_results_
        assert found["n_features"].tolist() == [1, 2, 6]
        assert (
            rfecv.n_features_ == found["n_features"][found["mean_test_score"].argmax()]
        )
        whole = cross_val_score(
            clone(ranker), X.to_numpy(), WEB.target, cv=at.cv, scoring=at.scorer(),
            **at.params,
        )  # fmt: skip
        assert found["mean_test_score"][-1] == whole.mean()
        sfs = SequentialFeatureSelector(
            ranker, n_features_to_select=1, cv=at.cv, scoring=at.scorer()
        )
        sfs.fit(X, WEB.target, **at.fit)
        single = [
            cross_val_score(
                clone(ranker),
                X.to_numpy()[:, [j]],
                WEB.target,
                cv=at.cv,
                scoring=at.scorer(),
                **at.params,
            ).mean()
            for j in range(X.shape[1])
        ]
        assert np.flatnonzero(sfs.get_support()) == np.argmax(single)
    if name == "regressor":
        return
    at = setting(name, False)
    for selector in (
        RFECV(at.ranker, cv=at.cv, scoring=at.scorer()),
        SequentialFeatureSelector(at.ranker, cv=at.cv, scoring=at.scorer()),
    ):
        with pytest.raises(ValueError, match="RFECV, SequentialFeatureSelector"):
            selector.fit(at.X, WEB.target)


@pytest.mark.parametrize("name", RANKERS)
def test_permutation_importance_through_a_closure(name):
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        fit = {} if name == "regressor" else at.fit
        model = at.ranker.fit(at.X, WEB.target, **fit)
        with pytest.raises(ValueError, match="qid must hold"):
            permutation_importance(model, at.X, WEB.target, scoring=at.scorer())

        def score(model, X, y):
            return ranking_score(y, model.predict(X), qid=WEB.qid)

        found = permutation_importance(
            model, at.X, WEB.target, scoring=score, n_repeats=2, random_state=0
        )
    assert found.importances_mean.max() > 0


def test_several_measures_do_not_fit_where_one_number_is_wanted():
    at = setting("lightgbm", False)
    with pytest.raises(ValueError, match="'scoring' parameter of cross_val_score"):
        cross_val_score(
            at.ranker, at.X, WEB.target, scoring=at.scorer(["ndcg@10", "rr"]), cv=at.cv
        )


@pytest.mark.parametrize("name", BOOSTERS)
def test_early_stopping_in_a_search(name):
    valid = make_web_search(n_queries=10, n_documents=20, random_state=1)
    given = {"eval_y": (valid.target,)}

    def run(at):
        held_out = pd.DataFrame(valid.data, columns=WEB.feature_names)
        if at.qid is None:
            params = {**given, **at.fit, "eval_X": (held_out,)}
            params["eval_qid"] = (valid.qid,)
        else:
            params = {**given, "eval_X": (held_out.assign(qid=valid.qid),)}
        ranker = clone(at.ranker).set_params(
            n_estimators=30, learning_rate=0.5, early_stopping_rounds=2
        )
        search = GridSearchCV(ranker, at.grid, scoring=at.scorer(), cv=at.cv)
        search.set_params(error_score="raise").fit(at.X, WEB.target, **params)
        found = search.best_estimator_.evals_result_["valid_0"]["NDCG@10"]
        assert len(found) < 30
        return [*search.cv_results_["mean_test_score"], *found]

    in_both_settings(name, run)


@pytest.mark.parametrize("name", BOOSTERS)
def test_early_stopping_in_a_pipeline(name):
    valid = make_web_search(n_queries=10, n_documents=20, random_state=1)
    held_out = {"eval_y": valid.target, "eval_qid": valid.qid}
    with sklearn.config_context(enable_metadata_routing=True):
        at = setting(name, True)
        ranker = at.ranker.set_params(n_estimators=30, early_stopping_rounds=2)
        model = make_pipeline(StandardScaler(), ranker, transform_input=["eval_X"])
        model.fit(WEB.data, WEB.target, eval_X=valid.data, **held_out, **at.fit)
    found = model[-1].evals_result_["valid_0"]["NDCG@10"]
    assert max(found) == ranking_score(
        valid.target, model.predict(valid.data), qid=valid.qid
    )


@pytest.mark.parametrize("name", RANKERS)
def test_group_k_fold(name):
    def run(at):
        cv, given = GroupKFold(3), {"groups": WEB.qid}
        if at.qid is None:
            cv, given = cv.set_split_request(groups="qid"), at.params
        return cross_val_score(
            at.ranker,
            at.X,
            WEB.target,
            scoring=at.scorer(),
            cv=cv,
            error_score="raise",
            **given,
        )

    in_both_settings(name, run)


@pytest.mark.parametrize("name", BOOSTERS)
def test_an_integer_splits_queries(name):
    for routing in (True, False):
        with sklearn.config_context(enable_metadata_routing=routing):
            at = setting(name, routing)
            with pytest.warns(SplitQueriesWarning, match="folds split queries"):
                cross_val_score(
                    at.ranker,
                    at.X,
                    WEB.target,
                    scoring=at.scorer(),
                    cv=4,
                    error_score="raise",
                    **at.params,
                )
