"""Tools of scikit-learn, by every ranker: the guide's table, ids routed or a column."""

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

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "search.md"
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
RANKERS = BOOSTERS | {
    "linear": (ta.LinearRanker(max_iter=1), "max_iter"),
}
by_each_ranker = pytest.mark.parametrize("name", RANKERS)
COARSE = {"coarse": (CoarseRanker(LinearRegression(), "rho=1.5"), "coarseness")}


class Setting(NamedTuple):
    """How one ranker is used with routing on, or off."""

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
    def how(self):
        return {"scoring": self.scorer(), "cv": QueryKFold(3, qid=self.qid)}

    def scores(self, tool=cross_val_score, model=None, **options):
        model = self.ranker if model is None else model
        how = {**self.how, "error_score": "raise", **self.params, **options}
        return tool(model, *self.rows, **how)

    def search(self, Search=GridSearchCV, **options):
        """A search over two values of the parameter, not fitted."""
        how = {**self.how, "error_score": "raise", **options}
        return Search(self.ranker, {self.parameter: [2, 4]}, **how)

    def fitted(self, tool):
        with sklearn.config_context(enable_metadata_routing=self.qid is None):
            return tool.fit(*self.rows, **self.fit)


def setting(name: str, routing: bool) -> Setting:
    if name in RANKERS | COARSE:
        ranker, parameter = (RANKERS | COARSE)[name]
        ranker = clone(ranker).set_params(qid=None if routing else "qid")
    elif name == "XGBRanker":  # which itself reads a column of this name
        ranker, parameter = XGBRanker(n_estimators=4, n_jobs=1), "max_depth"
        ranker = ranker.set_fit_request(qid=True) if routing else ranker
    else:
        tree = ("tree", DecisionTreeRegressor(random_state=0))
        ranker = Pipeline([tree] if routing else [("drop", DROP), tree])
        parameter = "tree__max_depth"
    if not routing:
        return Setting(name, WITH_QID, ranker, parameter, "qid", {}, {})
    given = {"qid": WEB.qid}
    return Setting(name, FRAME, ranker, parameter, None, given, {"params": given})


def by_index(at: Setting) -> Setting:
    """The same of an array, whose last column has the ids."""
    ranker = at.ranker
    if "qid" in ranker.get_params():
        ranker = clone(ranker).set_params(qid=-1)
    return at._replace(X=at.X.to_numpy(), qid=-1, ranker=ranker)


def ways(at: Setting) -> list[Setting]:
    """The ids routed, or as a column by its name and by its index."""
    return [at] if at.qid is None else [at, by_index(at)]


@cache
def by_hand(name, measure="ndcg@10"):
    """Each fold's score, without scikit-learn's help."""
    ranker, values = setting(name, False).ranker, []
    for train, test in FOLDS:
        model = clone(ranker).fit(WITH_QID.iloc[train], WEB.target[train])
        rows = WEB.target[test], model.predict(WITH_QID.iloc[test])
        values.append(ranking_score(*rows, qid=WEB.qid[test], measure=measure))
    return values


def cross_validated(at):
    scoring = at.scorer(["ndcg@10", "AP", "fallout@5"])
    found = at.scores(cross_validate, scoring=scoring, return_train_score=True)
    assert found["test_ndcg@10"].tolist() == by_hand(at.name)
    assert (-found["test_neg_fallout@5"]).tolist() == by_hand(at.name, "fallout@5")
    assert (found["train_AP"] > found["test_AP"].mean()).all()
    return [found[key] for key in found if key.startswith(("test", "train"))]


def results_of(**options):
    """What a search finds."""

    def run(at):
        search = at.fitted(at.search(**options))
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
    of_folds = [np.isin(report.qid, WEB.qid[test]) for _, test in FOLDS]
    means = [report.expected[own].mean() for own in of_folds]
    assert means == pytest.approx(by_hand(at.name), abs=1e-12)
    return report.expected


def curve_of_sizes(at):
    # it cuts the last query of a training set short, even at 1.0, but for the
    # smallest training set: that of the first fold
    found = at.scores(learning_curve, train_sizes=[0.5, 1.0])[2]
    assert found[1][0] == by_hand(at.name)[0]
    return found


TWO = {"n_features_to_select": 2}
SOME_COLUMNS = {
    "RFE": lambda ranker, **_: RFE(ranker, **TWO),
    "RFECV": RFECV,
    "forward": partial(SequentialFeatureSelector, **TWO),
    "backward": partial(SequentialFeatureSelector, direction="backward", **TWO),
}


def selected(make):
    """The columns that a selector keeps."""
    return lambda at: at.fitted(make(at.ranker, **at.how)).get_support()


def selected_by_importance(at):
    """Importances of features, by which some are selected; that of the ids is 0."""
    found = []
    for way in ways(at):
        model = way.fitted(clone(way.ranker))
        each = model.coef_ if at.name == "linear" else model.feature_importances_
        assert not np.any(each[5:])
        found.append(each)
        sizes = np.abs(each)
        limits = {"mean": np.mean(sizes), "median": np.median(sizes), 0.0: 0.0}
        limits[None] = limits["mean"]
        for threshold, limit in limits.items():
            selector = way.fitted(SelectFromModel(way.ranker, threshold=threshold))
            kept = selector.get_support()
            # the ids stay only where every column does
            assert np.array_equal(kept, sizes >= limit)
            if way.qid is not None:
                assert kept[-1] == kept.all() == (limit == 0)
    assert np.array_equal(found[0], found[-1])
    return found[0][:5]


def tuned_threshold(at):
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    if at.qid is not None:
        model = make_pipeline(DROP, model)
    how = {"scoring": at.scorer("p@3"), "cv": at.how["cv"]}
    X, y = at.rows
    return TunedThresholdClassifierCV(model, **how).fit(X, y > 0, **at.fit).best_score_


def behind_a_selector(at):
    selector = ta.RankingFeatureSelector(n_features_to_select=3, qid=at.qid)
    if at.qid is not None:
        names = [*FEATURES, "qid"]
        parts = [("kept", selector, names), ("qid", "passthrough", ["qid"])]
        selector = ColumnTransformer(parts)
    ranker = clone(at.ranker).set_params(qid=at.qid and -1)
    return at.scores(model=make_pipeline(selector, ranker))


def early_stopping(at):
    valid = make_web_search(n_queries=10, n_documents=15, random_state=1)
    X = pd.DataFrame(valid.data[:, :5], columns=FEATURES)
    X = X if at.qid is None else X.assign(qid=valid.qid)
    ids = {"eval_qid": (valid.qid,)} if at.qid is None else {}
    stops = {"n_estimators": 30, "learning_rate": 0.5, "early_stopping_rounds": 2}
    at = at._replace(ranker=clone(at.ranker).set_params(**stops))
    search = at.search(cv=QueryKFold(2, qid=at.qid))
    search.fit(*at.rows, eval_X=(X,), eval_y=(valid.target,), **ids, **at.fit)
    found = search.best_estimator_.evals_result_["valid_0"]["NDCG@10"]
    assert len(found) < 30
    return [*search.cv_results_["mean_test_score"], *found]


def permuted(at):
    def value(model, X, y):
        return ranking_score(y, model.predict(X), qid=WEB.qid)

    options = {"scoring": value, "n_repeats": 2, "random_state": 0}
    found = [
        permutation_importance(way.fitted(way.ranker), *way.rows, **options)
        for way in ways(at)
    ]
    assert all(np.array_equal(one.importances, found[0].importances) for one in found)
    return found[0].importances[:5]


def of_each(names, run):
    return [(name, run) for name in names]


HALVING = {"min_resources": 2, "max_resources": 6, "random_state": 0}
HALVING["resource"] = "n_estimators"
#: of each row of the guide's table, what is run, by which ranker
TOOLS = {
    "`GridSearchCV`, `RandomizedSearchCV`": [
        results_of(),
        results_of(Search=RandomizedSearchCV, n_iter=2, random_state=0),
        lambda at: at.fitted(
            at.search(scoring=at.scorer(["ndcg@10", "rr"]), refit="rr")
        ).cv_results_["mean_test_rr"],
    ],
    "`HalvingGridSearchCV`, `HalvingRandomSearchCV`": [
        results_of(Search=HalvingGridSearchCV, **HALVING),
        results_of(Search=HalvingRandomSearchCV, n_candidates=2, **HALVING),
    ],
    "`cross_validate`": of_each(BOOSTERS, cross_validated),
    "`cross_val_score`": [lambda at: at.scores()],
    "`cross_val_predict`": [out_of_fold_report],
    "nested cross-validation": [
        lambda at: at.scores(model=at.search(cv=QueryKFold(2, qid=at.qid)))
    ],
    "`validation_curve`": [
        lambda at: at.scores(
            validation_curve, param_name=at.parameter, param_range=[2, 4]
        )
    ],
    "`learning_curve`": [curve_of_sizes],
    "`RFE`, `RFECV`, `SequentialFeatureSelector`": [
        *map(selected, SOME_COLUMNS.values())
    ],
    "`SelectFromModel`": of_each([*BOOSTERS, "linear"], selected_by_importance),
    "`StackingRegressor`, `VotingRegressor`": [
        lambda at: at.fitted(StackingRegressor([("one", at.ranker)])),
        lambda at: at.fitted(VotingRegressor([("one", at.ranker)])),
    ],
    "`TunedThresholdClassifierCV`": [tuned_threshold],
    "`Pipeline` with `RankingFeatureSelector`": of_each(
        ["lightgbm", "coarse"], behind_a_selector
    ),
    "early stopping in a search": of_each(BOOSTERS, early_stopping),
    "a regressor, such as `Ridge`": [("regressor", cross_validated)],
    "XGBoost's own `XGBRanker`": [("XGBRanker", cross_validated)],
    "`permutation_importance`": of_each(RANKERS, permuted),
    '`scoring={"a": ..., "b": ...}`': [
        lambda at: at.scores(
            cross_validate, scoring={"a": at.scorer("ap"), "b": at.scorer("rr")}
        )["test_b"]
    ],
    "`GroupKFold` as `cv`": [group_k_fold],
    "an integer `cv`": [lambda at: at.scores(cv=3)],
}

#: An index of the ids names another column there, which nothing tells.
SILENT_BY_INDEX = ["`RFE`, `RFECV`, `SequentialFeatureSelector`"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_selector_in_front_gives_frames_too(output):
    """The guide's recipe for arrays goes by the last column, for frames by its name."""
    found = []
    for given, qid in (("default", -1), (output, "passthrough__qid")):
        with sklearn.config_context(transform_output=given):
            selector = ta.RankingFeatureSelector(n_features_to_select=3, qid="qid")
            parts = (selector, list(WITH_QID)), ("passthrough", ["qid"])
            features = make_column_transformer(*parts)
            ranker = clone(BOOSTERS["lightgbm"][0]).set_params(qid=qid)
            at = setting("lightgbm", False)
            found.append(at.scores(model=make_pipeline(features, ranker)))
            assert repr(qid).strip("'") in GUIDE.read_text()
    assert np.array_equal(*found)


def rows_of_the_guide():
    table = GUIDE.read_text().partition("| tool | routing on |")[2].split("\n\n")[0]
    lines = table.splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_tool_of_the_guide_is_run():
    assert [row[0] for row in rows_of_the_guide()] == list(TOOLS)


@pytest.mark.parametrize("row", rows_of_the_guide(), ids=lambda row: row[0][:20])
@pytest.mark.filterwarnings("error::tieaware_sklearn.SplitQueriesWarning")
def test_tools_do_what_the_guide_says(row):
    tool, *cells, _ = row
    for run in TOOLS[tool]:
        name, run = run if isinstance(run, tuple) else ("lightgbm", run)
        found = []
        for routing, cell in zip((True, False), cells, strict=True):
            with sklearn.config_context(enable_metadata_routing=routing):
                at = setting(name, routing)
                if cell != "no":
                    found.append(run(at))
                    continue
                refused_ways = [at] if tool in SILENT_BY_INDEX else ways(at)
                for refused in refused_ways:
                    with pytest.raises((ValueError, TypeError, ta.SplitQueriesWarning)):
                        run(refused)
        # both ways give the same, to the last bit
        assert all(np.array_equal(found[0], one) for one in found)


BAGGED = {"n_estimators": 2, "random_state": 0}


@pytest.mark.parametrize("tool", [*SOME_COLUMNS, "bagged features"])
@by_each_ranker
def test_tools_that_hand_on_some_columns_take_routed_ids(tool, name):
    def make(ranker, **how):
        if tool in SOME_COLUMNS:
            return SOME_COLUMNS[tool](ranker, **how)
        return BaggingRegressor(ranker, max_features=0.5, **BAGGED)

    at = setting(name, True)
    found = at.fitted(make(at.ranker, **at.how))
    if isinstance(found, BaggingRegressor):
        assert {one.n_features_in_ for one in found.estimators_} == {2}
    else:
        assert found.get_support().sum() == getattr(found, "n_features_", 2)


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
    values = f"with {len(np.unique(feature))} values in {len(feature)} rows"
    for said in (f"ids were column -1 of X, {values}", "SelectKBest"):
        assert said in str(caught[0].message)
    # ids that were given are no column
    at, half = setting(name, True), np.arange(len(WEB.qid)) % 2 > 0
    at.ranker.fit(FRAME[half], WEB.target[half], qid=WEB.qid[half])
    with pytest.warns(ta.SplitQueriesWarning) as caught:
        at.scorer()(at.ranker, *at.rows, qid=WEB.qid)
    assert "column" not in str(caught[0].message)


def test_weights_of_columns_can_be_given_again():
    for at in ways(setting("linear", False)):
        model = at.fitted(at.ranker)
        for coef in (model.coef_, model.coef_[:5]):
            again = at.fitted(ta.LinearRanker(coef, qid=at.qid))
            assert np.array_equal(again.predict(at.X), model.predict(at.X))
    with pytest.raises(ValueError, match=r"one weight per feature \(5\), got 6"):
        at.fitted(ta.LinearRanker(np.ones(6), qid=at.qid))


@by_each_ranker
def test_bagged_rows_keep_the_column_of_ids(name):
    at = by_index(setting(name, False))
    tool = BaggingRegressor(at.ranker, **BAGGED)
    if name == "xgboost":
        # drawn rows are weights, of which XGBoost takes one a query
        with pytest.raises(ValueError, match="sample_weight must be constant"):
            at.fitted(tool)
        return
    expected = at.fitted(clone(at.ranker))._fitted_queries_.ids
    for one in at.fitted(tool).estimators_:
        assert np.array_equal(one._fitted_queries_.ids, expected)
