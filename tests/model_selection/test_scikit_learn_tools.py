"""Tools of scikit-learn with every ranker: query ids are routed, or are a column."""

from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBRanker

import tieaware_sklearn as ta
from tieaware_sklearn import QueryKFold, evaluate, make_ranking_scorer, ranking_score
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker
from tieaware_sklearn.xgboost import QueryXGBRanker

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "howto" / "search.md"
COMPATIBILITY = DOCS / "compatibility.md"
WEB = make_web_search(n_queries=20, n_documents=15, random_state=0)
FEATURES = WEB.feature_names[:5]
FRAME = pd.DataFrame(WEB.data[:, :5], columns=FEATURES)
WITH_QID = FRAME.assign(qid=WEB.qid)
DROP = ColumnTransformer([("qid", "drop", ["qid"])], remainder="passthrough")
FOLDS = list(QueryKFold(3).split(FRAME, groups=WEB.qid))
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
#: rankers with query ids, and a parameter to search over
BOOSTERS = {
    "lightgbm": (QueryLGBMRanker(n_estimators=4, verbosity=-1, n_jobs=1), "num_leaves"),
    "xgboost": (QueryXGBRanker(n_estimators=4, n_jobs=1), "max_depth"),
    "catboost": (QueryCatBoostRanker(n_estimators=4, **QUIET), "depth"),
}
RANKERS = {**BOOSTERS, "linear": (ta.LinearRanker(max_iter=1), "max_iter")}
by_each_ranker = pytest.mark.parametrize("name", RANKERS)
COARSE = {"coarse": (CoarseRanker(LinearRegression(), "rho=1.5"), "coarseness")}


class Setting(NamedTuple):
    """A ranker and its data, with routing on or off."""

    name: str
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
    def options(self):
        """The scorer and the folds of a tool."""
        return {"scoring": self.scorer(), "cv": QueryKFold(3, qid=self.qid)}

    def scores(self, tool=cross_val_score, model=None, **options):
        if model is None:
            model = self.ranker
        defaults = {**self.options, "error_score": "raise", **self.params}
        return tool(model, *self.rows, **{**defaults, **options})

    def search(self, Search=GridSearchCV, **options):
        """Return a search over two values of the parameter, not fitted."""
        defaults = {**self.options, "error_score": "raise"}
        grid = {self.parameter: [2, 4]}
        return Search(self.ranker, grid, **{**defaults, **options})

    def fitted(self, tool):
        with sklearn.config_context(enable_metadata_routing=self.qid is None):
            return tool.fit(*self.rows, **self.fit)


def setting(name: str, routing: bool) -> Setting:
    """Return the setting of a ranker by its name."""
    if name in RANKERS or name in COARSE:
        ranker, parameter = {**RANKERS, **COARSE}[name]
        ranker = clone(ranker).set_params(qid=None if routing else "qid")
    elif name == "XGBRanker":  # it reads a column named qid by itself
        ranker, parameter = XGBRanker(n_estimators=4, n_jobs=1), "max_depth"
        if routing:
            ranker.set_fit_request(qid=True)
    else:
        steps = [("tree", DecisionTreeRegressor(random_state=0))]
        if not routing:
            steps.insert(0, ("drop", DROP))
        ranker, parameter = Pipeline(steps), "tree__max_depth"
    if not routing:
        return Setting(name, WITH_QID, ranker, parameter, "qid", {}, {})
    ids = {"qid": WEB.qid}
    return Setting(name, FRAME, ranker, parameter, None, ids, {"params": ids})


def by_index(setting: Setting) -> Setting:
    """Return the setting with an array whose last column holds the ids."""
    ranker = setting.ranker
    if "qid" in ranker.get_params():
        ranker = clone(ranker).set_params(qid=-1)
    return setting._replace(X=setting.X.to_numpy(), qid=-1, ranker=ranker)


def with_indices(setting: Setting) -> list[Setting]:
    """Return the setting and, if the ids are a column, the same by its index."""
    if setting.qid is None:
        return [setting]
    return [setting, by_index(setting)]


@cache
def fold_scores(name, measure="ndcg@10"):
    """Return the score of each fold, computed without tools of scikit-learn."""
    ranker = setting(name, False).ranker
    scores = []
    for train, test in FOLDS:
        model = clone(ranker).fit(WITH_QID.iloc[train], WEB.target[train])
        y_score = model.predict(WITH_QID.iloc[test])
        y_true, qid = WEB.target[test], WEB.qid[test]
        scores.append(ranking_score(y_true, y_score, qid=qid, measure=measure))
    return scores


# Each function runs a tool in a setting and returns its result.


def cross_validated(at):
    scoring = at.scorer(["ndcg@10", "AP", "fallout@5"])
    results = at.scores(cross_validate, scoring=scoring, return_train_score=True)
    assert results["test_ndcg@10"].tolist() == fold_scores(at.name)
    fallout = -results["test_neg_fallout@5"]
    assert fallout.tolist() == fold_scores(at.name, "fallout@5")
    assert (results["train_AP"] > results["test_AP"].mean()).all()
    return [results[key] for key in results if key.startswith(("test", "train"))]


def results_of_search(**options):
    """Return a function that runs a search and returns its scores."""

    def run(at):
        search = at.fitted(at.search(**options))
        expected = ranking_score(WEB.target, search.predict(at.X), qid=WEB.qid)
        assert search.score(*at.rows, **at.fit) == expected
        return search.cv_results_["mean_test_score"]

    return run


def search_by_two_measures(at):
    scoring = at.scorer(["ndcg@10", "rr"])
    search = at.fitted(at.search(scoring=scoring, refit="rr"))
    return search.cv_results_["mean_test_rr"]


def nested_search(at):
    inner = QueryKFold(2, qid=at.qid)
    return at.scores(model=at.search(cv=inner))


def curve_of_parameters(at):
    return at.scores(validation_curve, param_name=at.parameter, param_range=[2, 4])


def scorers_by_name(at):
    scoring = {"a": at.scorer("ap"), "b": at.scorer("rr")}
    return at.scores(cross_validate, scoring=scoring)["test_b"]


def group_k_fold(at):
    cv = GroupKFold(3)
    if at.qid is None:
        return at.scores(cv=cv.set_split_request(groups="qid"))
    return at.scores(cv=cv, groups=WEB.qid)


def out_of_fold_report(at):
    cv = at.options["cv"]
    scores = cross_val_predict(at.ranker, *at.rows, cv=cv, **at.params)
    report = evaluate(WEB.target, scores, qid=WEB.qid, measures="ndcg@10")
    means = []
    for _, test in FOLDS:
        in_fold = np.isin(report.qid, WEB.qid[test])
        means.append(report.expected[in_fold].mean())
    assert means == pytest.approx(fold_scores(at.name), abs=1e-12)
    return report.expected


def curve_of_sizes(at):
    # learning_curve cuts the last query of a training set short, even at 1.0. Only the
    # smallest training set is whole: the training set of the first fold.
    _, _, scores = at.scores(learning_curve, train_sizes=[0.5, 1.0])
    assert scores[1][0] == fold_scores(at.name)[0]
    return scores


def make_rfe(ranker, **_):
    return RFE(ranker, n_features_to_select=2)


forward = partial(SequentialFeatureSelector, n_features_to_select=2)
#: selectors that fit the ranker on a part of the columns
SELECTORS = {
    "RFE": make_rfe,
    "RFECV": RFECV,
    "forward": forward,
    "backward": partial(forward, direction="backward"),
}


def selected_by(make):
    """Return a function that returns the columns that a selector keeps."""
    return lambda at: at.fitted(make(at.ranker, **at.options)).get_support()


def selected_by_importance(at):
    """Return the importances of the features. The importance of the ids is 0."""
    importances = []
    for indexed in with_indices(at):
        model = indexed.fitted(clone(indexed.ranker))
        attribute = "coef_" if at.name == "linear" else "feature_importances_"
        importance = getattr(model, attribute)
        assert not np.any(importance[5:])
        importances.append(importance)
        sizes = np.abs(importance)
        mean = np.mean(sizes)
        limits = {"mean": mean, "median": np.median(sizes), 0.0: 0.0, None: mean}
        for threshold, limit in limits.items():
            selector = SelectFromModel(indexed.ranker, threshold=threshold)
            support = indexed.fitted(selector).get_support()
            assert np.array_equal(support, sizes >= limit)
            # the ids stay only where every column does
            if indexed.qid is not None:
                assert support[-1] == (limit == 0)
                assert support.all() == (limit == 0)
    assert np.array_equal(importances[0], importances[-1])
    return importances[0][:5]


def tuned_threshold(at):
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    if at.qid is not None:
        model = make_pipeline(DROP, model)
    cv = at.options["cv"]
    tuned = TunedThresholdClassifierCV(model, scoring=at.scorer("p@3"), cv=cv)
    X, y = at.rows
    return tuned.fit(X, y > 0, **at.fit).best_score_


def behind_a_selector(at):
    selector = ta.RankingFeatureSelector(n_features_to_select=3, qid=at.qid)
    qid = None
    if at.qid is not None:
        features = ("features", selector, [*FEATURES, "qid"])
        selector = ColumnTransformer([features, ("qid", "passthrough", ["qid"])])
        qid = -1
    ranker = clone(at.ranker).set_params(qid=qid)
    return at.scores(model=make_pipeline(selector, ranker))


def early_stopping(at):
    valid = make_web_search(n_queries=10, n_documents=15, random_state=1)
    X = pd.DataFrame(valid.data[:, :5], columns=FEATURES)
    eval_set = {"eval_X": (X,), "eval_y": (valid.target,)}
    if at.qid is None:
        eval_set["eval_qid"] = (valid.qid,)
    else:
        eval_set["eval_X"] = (X.assign(qid=valid.qid),)
    ranker = clone(at.ranker)
    ranker.set_params(n_estimators=30, learning_rate=0.5, early_stopping_rounds=2)
    search = at._replace(ranker=ranker).search(cv=QueryKFold(2, qid=at.qid))
    search.fit(*at.rows, **eval_set, **at.fit)
    rounds = search.best_estimator_.evals_result_["valid_0"]["NDCG@10"]
    assert len(rounds) < 30
    return [*search.cv_results_["mean_test_score"], *rounds]


def permuted(at):
    def score(model, X, y):
        return ranking_score(y, model.predict(X), qid=WEB.qid)

    importances = []
    for indexed in with_indices(at):
        model = indexed.fitted(indexed.ranker)
        result = permutation_importance(
            model, *indexed.rows, scoring=score, n_repeats=2, random_state=0
        )
        importances.append(result.importances)
    assert np.array_equal(importances[0], importances[-1])
    return importances[0][:5]


def with_rankers(names, run):
    return [(name, run) for name in names]


HALVING = {
    "min_resources": 2,
    "max_resources": 6,
    "random_state": 0,
    "resource": "n_estimators",
}
#: functions that run the tool of each row of the guide's table, some with a ranker
TOOLS = {
    "`GridSearchCV`, `RandomizedSearchCV`": [
        results_of_search(),
        results_of_search(Search=RandomizedSearchCV, n_iter=2, random_state=0),
        search_by_two_measures,
    ],
    "`HalvingGridSearchCV`, `HalvingRandomSearchCV`": [
        results_of_search(Search=HalvingGridSearchCV, **HALVING),
        results_of_search(Search=HalvingRandomSearchCV, n_candidates=2, **HALVING),
    ],
    "`cross_validate`": with_rankers(BOOSTERS, cross_validated),
    "`cross_val_score`": [Setting.scores],
    "`cross_val_predict`": [out_of_fold_report],
    "nested cross-validation": [nested_search],
    "`validation_curve`": [curve_of_parameters],
    "`learning_curve`": [curve_of_sizes],
    "`RFE`, `RFECV`, `SequentialFeatureSelector`": [
        selected_by(make) for make in SELECTORS.values()
    ],
    "`SelectFromModel`": with_rankers(RANKERS, selected_by_importance),
    "`StackingRegressor`, `VotingRegressor`": [
        lambda at: at.fitted(StackingRegressor([("ranker", at.ranker)])),
        lambda at: at.fitted(VotingRegressor([("ranker", at.ranker)])),
    ],
    "`TunedThresholdClassifierCV`": [tuned_threshold],
    "`Pipeline` with `RankingFeatureSelector`": with_rankers(
        ["lightgbm", "coarse"], behind_a_selector
    ),
    "early stopping in a search": with_rankers(BOOSTERS, early_stopping),
    "a regressor, such as `Ridge`": [("regressor", cross_validated)],
    "XGBoost's own `XGBRanker`": [("XGBRanker", cross_validated)],
    "`permutation_importance`": with_rankers(RANKERS, permuted),
    '`scoring={"a": ..., "b": ...}`': [scorers_by_name],
    "`GroupKFold` as `cv`": [group_k_fold],
    "an integer `cv`": [lambda at: at.scores(cv=3)],
}

#: An index of the ids names another column in these tools, and nothing shows that.
SILENT_BY_INDEX = ["`RFE`, `RFECV`, `SequentialFeatureSelector`"]


def scores_behind_a_transformer(output, qid):
    """Return the scores of a ranker that reads this column of transformed features."""
    with sklearn.config_context(transform_output=output):
        selector = ta.RankingFeatureSelector(n_features_to_select=3, qid="qid")
        features = make_column_transformer(
            (selector, list(WITH_QID)), ("passthrough", ["qid"])
        )
        ranker = clone(BOOSTERS["lightgbm"][0]).set_params(qid=qid)
        model = make_pipeline(features, ranker)
        return setting("lightgbm", False).scores(model=model)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_selector_in_front_gives_frames_too(output):
    """In arrays, the guide's recipe reads the last column, in frames a named column."""
    guide = GUIDE.read_text()
    assert "qid=-1" in guide
    assert 'qid="passthrough__qid"' in guide
    expected = scores_behind_a_transformer("default", -1)
    scores = scores_behind_a_transformer(output, "passthrough__qid")
    assert np.array_equal(scores, expected)


def rows_of_the_guide():
    _, _, after = COMPATIBILITY.read_text().partition("| tool | routing on |")
    table, _, _ = after.partition("\n\n")
    rows = []
    for line in table.splitlines()[2:]:
        cells = line.strip("|").split("|")
        rows.append([cell.strip() for cell in cells])
    return rows


def test_every_tool_of_the_guide_is_run():
    assert [row[0] for row in rows_of_the_guide()] == list(TOOLS)


@pytest.mark.parametrize("row", rows_of_the_guide(), ids=lambda row: row[0][:20])
@pytest.mark.filterwarnings("error::tieaware_sklearn.SplitQueriesWarning")
def test_tools_do_what_the_guide_says(row):
    tool, *cells, _ = row
    for case in TOOLS[tool]:
        name, run = case if isinstance(case, tuple) else ("lightgbm", case)
        results = []
        for routing, cell in zip((True, False), cells, strict=True):
            with sklearn.config_context(enable_metadata_routing=routing):
                at = setting(name, routing)
                if cell != "no":
                    results.append(run(at))
                    continue
                refused = [at] if tool in SILENT_BY_INDEX else with_indices(at)
                for indexed in refused:
                    with pytest.raises((ValueError, TypeError, ta.SplitQueriesWarning)):
                        run(indexed)
        # with routing and with a column, the results are the same to the last bit
        for result in results:
            assert np.array_equal(result, results[0])


BAGGED = {"n_estimators": 2, "random_state": 0}


@pytest.mark.parametrize("selector", SELECTORS)
@by_each_ranker
def test_selectors_that_fit_some_columns_take_routed_ids(selector, name):
    at = setting(name, True)
    fitted = at.fitted(SELECTORS[selector](at.ranker, **at.options))
    n_features = getattr(fitted, "n_features_", 2)
    assert fitted.get_support().sum() == n_features


@by_each_ranker
def test_bagged_features_take_routed_ids(name):
    at = setting(name, True)
    bagging = at.fitted(BaggingRegressor(at.ranker, max_features=0.5, **BAGGED))
    assert {model.n_features_in_ for model in bagging.estimators_} == {2}


@by_each_ranker
def test_a_column_that_was_never_the_ids_is_named(name):
    """SelectKBest drops the ids, and a feature takes their place."""
    at = by_index(setting(name, False))
    model = at.fitted(make_pipeline(SelectKBest(k=4), at.ranker))
    assert not model[0].get_support()[-1]
    feature = model[0].transform(at.X)[:, -1]
    assert not np.any(feature % 1)
    with pytest.warns(ta.SplitQueriesWarning) as caught:
        at.scorer()(model, *at.rows)
    message = str(caught[0].message)
    values = f"with {len(np.unique(feature))} values in {len(feature)} rows"
    assert f"ids were column -1 of X, {values}" in message
    assert "SelectKBest" in message


@by_each_ranker
def test_ids_that_were_an_argument_are_no_column(name):
    at = setting(name, True)
    at.ranker.fit(FRAME[1::2], WEB.target[1::2], qid=WEB.qid[1::2])
    with pytest.warns(ta.SplitQueriesWarning) as caught:
        at.scorer()(at.ranker, *at.rows, qid=WEB.qid)
    assert "column" not in str(caught[0].message)


def test_weights_of_columns_can_be_given_again():
    for at in with_indices(setting("linear", False)):
        model = at.fitted(at.ranker)
        expected = model.predict(at.X)
        for coef in (model.coef_, model.coef_[:5]):
            again = at.fitted(ta.LinearRanker(coef, qid=at.qid))
            assert np.array_equal(again.predict(at.X), expected)
        too_long = ta.LinearRanker(np.ones(6), qid=at.qid)
    with pytest.raises(ValueError, match=r"one weight per feature \(5\), got 6"):
        at.fitted(too_long)


@by_each_ranker
def test_bagged_rows_keep_the_column_of_ids(name):
    at = by_index(setting(name, False))
    bagging = BaggingRegressor(at.ranker, **BAGGED)
    if name == "xgboost":
        # drawn rows are weights, and XGBoost takes a weight per query
        with pytest.raises(ValueError, match="sample_weight must be constant"):
            at.fitted(bagging)
        return
    expected = at.fitted(clone(at.ranker))._fitted_queries_.ids
    for model in at.fitted(bagging).estimators_:
        assert np.array_equal(model._fitted_queries_.ids, expected)
