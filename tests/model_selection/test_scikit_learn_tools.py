"""The guide's table of scikit-learn tools, row by row: ids routed, or a column."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SequentialFeatureSelector,
)
from sklearn.inspection import permutation_importance
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
from tests.model_selection.helpers import BOOSTERS
from tieaware_sklearn import QueryKFold, evaluate, make_ranking_scorer, ranking_score
from tieaware_sklearn.datasets import make_web_search

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "search.md"
WEB = make_web_search(n_queries=20, n_documents=15, random_state=0)
FRAME = pd.DataFrame(WEB.data, columns=WEB.feature_names)
WITH_QID = FRAME.assign(qid=WEB.qid)
DROP = ColumnTransformer([("qid", "drop", ["qid"])], remainder="passthrough")
FOLDS = list(QueryKFold(3).split(FRAME, groups=WEB.qid))


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
        tree = ("tree", DecisionTreeRegressor(random_state=0))
        ranker = Pipeline([tree] if routing else [("drop", DROP), tree])
        parameter = "tree__max_depth"
    if not routing:
        return Setting(WITH_QID, ranker, parameter, "qid", {}, {})
    given = {"qid": WEB.qid}
    return Setting(FRAME, ranker, parameter, None, given, {"params": given})


def by_index(at: Setting) -> Setting:
    """The same of an array, whose last column has the ids."""
    ranker = at.ranker
    if "qid" in ranker.get_params():
        ranker = clone(ranker).set_params(qid=-1)
    return at._replace(X=at.X.to_numpy(), qid=-1, ranker=ranker)


@cache
def by_hand(name, measure="ndcg@10"):
    """Each fold's score, without scikit-learn's help."""
    ranker, values = setting(name, False).ranker, []
    for train, test in FOLDS:
        model = clone(ranker).fit(WITH_QID.iloc[train], WEB.target[train])
        rows = WEB.target[test], model.predict(WITH_QID.iloc[test])
        values.append(ranking_score(*rows, qid=WEB.qid[test], measure=measure))
    return values


def cross_validated(name):
    def run(at):
        scoring = at.scorer(["ndcg@10", "AP", "fallout@5"])
        found = at.scores(cross_validate, scoring=scoring, return_train_score=True)
        assert found["test_ndcg@10"].tolist() == by_hand(name)
        assert (-found["test_neg_fallout@5"]).tolist() == by_hand(name, "fallout@5")
        assert (found["train_AP"] > found["test_AP"].mean()).all()
        return [found[key] for key in found if key.startswith(("test", "train"))]

    return name, run


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


def selected(Selector, by_scores=False, **options):
    """The features that a selector keeps, of a few, beside which the ids may stand."""

    def run(at):
        some = [0, 1, 2, 3, *([-1] if at.qid else [])]
        X = at.X[:, some] if isinstance(at.X, np.ndarray) else at.X.iloc[:, some]
        how = {"cv": at.how["cv"], "scoring": at.scorer()} if by_scores else options
        found = Selector(at.ranker, **how).fit(X, WEB.target, **at.fit)
        kept, *ids = np.split(found.get_support(), [4])
        assert kept.any()
        assert not np.any(ids)
        return kept

    return run


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
        names = [*WEB.feature_names, "qid"]
        parts = [("kept", selector, names), ("qid", "passthrough", ["qid"])]
        selector = ColumnTransformer(parts)
    ranker = clone(at.ranker).set_params(qid=at.qid and -1)
    return at.scores(model=make_pipeline(selector, ranker))


def early_stopping(name):
    def run(at):
        valid = make_web_search(n_queries=10, n_documents=15, random_state=1)
        X = pd.DataFrame(valid.data, columns=WEB.feature_names)
        X = X if at.qid is None else X.assign(qid=valid.qid)
        ids = {"eval_qid": (valid.qid,)} if at.qid is None else {}
        stops = {"n_estimators": 30, "learning_rate": 0.5, "early_stopping_rounds": 2}
        at = at._replace(ranker=clone(at.ranker).set_params(**stops))
        search = at.search(cv=QueryKFold(2, qid=at.qid))
        search.fit(*at.rows, eval_X=(X,), eval_y=(valid.target,), **ids, **at.fit)
        found = search.best_estimator_.evals_result_["valid_0"]["NDCG@10"]
        assert len(found) < 30
        return [*search.cv_results_["mean_test_score"], *found]

    return name, run


def permuted(at):
    def value(model, X, y):
        return ranking_score(y, model.predict(X), qid=WEB.qid)

    model = clone(at.ranker).fit(*at.rows, **at.fit)
    options = {"scoring": value, "n_repeats": 2, "random_state": 0}
    return permutation_importance(model, *at.rows, **options).importances[:12]


HALVING = {"min_resources": 2, "max_resources": 6, "random_state": 0}
HALVING["resource"] = "n_estimators"
#: of each row of the guide's table, what is run, by which ranker
TOOLS = {
    "`GridSearchCV`, `RandomizedSearchCV`": [
        results_of(),
        results_of(Search=RandomizedSearchCV, n_iter=2, random_state=0),
        lambda at: (
            at.search(scoring=at.scorer(["ndcg@10", "rr"]), refit="rr")
            .fit(*at.rows, **at.fit)
            .cv_results_["mean_test_rr"]
        ),
    ],
    "`HalvingGridSearchCV`, `HalvingRandomSearchCV`": [
        results_of(Search=HalvingGridSearchCV, **HALVING),
        results_of(Search=HalvingRandomSearchCV, n_candidates=2, **HALVING),
    ],
    "`cross_validate`": [*map(cross_validated, BOOSTERS)],
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
        selected(RFE),
        selected(RFECV, by_scores=True),
        selected(SequentialFeatureSelector, by_scores=True),
    ],
    "`SelectFromModel`": [selected(SelectFromModel, threshold=2)],
    "`StackingRegressor`, `VotingRegressor`": [
        lambda at: StackingRegressor([("one", at.ranker)]).fit(*at.rows, **at.fit),
        lambda at: VotingRegressor([("one", at.ranker)]).fit(*at.rows, **at.fit),
    ],
    "`TunedThresholdClassifierCV`": [tuned_threshold],
    "`Pipeline` with `RankingFeatureSelector`": [behind_a_selector],
    "early stopping in a search": [*map(early_stopping, BOOSTERS)],
    "a regressor, such as `Ridge`": [cross_validated("regressor")],
    "XGBoost's own `XGBRanker`": [cross_validated("XGBRanker")],
    "`permutation_importance`": [permuted],
    '`scoring={"a": ..., "b": ...}`': [
        lambda at: at.scores(
            cross_validate, scoring={"a": at.scorer("ap"), "b": at.scorer("rr")}
        )["test_b"]
    ],
    "`GroupKFold` as `cv`": [group_k_fold],
    "an integer `cv`": [lambda at: at.scores(cv=3)],
}


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
                for refused in (at,) if routing else (at, by_index(at)):
                    with pytest.raises((ValueError, TypeError, ta.SplitQueriesWarning)):
                        run(refused)
        # both ways give the same, to the last bit
        assert all(np.array_equal(found[0], one) for one in found)
