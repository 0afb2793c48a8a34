"""Rankers of boosting libraries among scikit-learn's tools, LightGBM's for all."""

from __future__ import annotations

import inspect
import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from tests.lightgbm.helpers import ranker, rows_of, trees_of
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.fixture(scope="module")
def frame(web):
    return pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)


def test_score_of_a_pipeline(web, routing):
    """With routing on, Pipeline.score hands sample_weight down, as None too."""
    expected = ranker().fit(**rows_of(web)).predict(web.data)
    expected = ranking_score(web.target, expected, qid=web.qid)
    last = ranker() if routing else ranker(qid=0)
    X = web.data if routing else np.column_stack([web.qid, web.data])
    given = {"qid": web.qid} if routing else {}
    pipeline = make_pipeline("passthrough", last)
    assert pipeline.fit(X, web.target, **given).score(X, web.target, **given) == (
        expected
    )
    if routing and parse_version(sklearn.__version__) < parse_version("1.8"):
        pytest.skip("a search without scoring routes nothing to a pipeline's score")
    search = GridSearchCV(pipeline, {"querylgbmranker__num_leaves": [3]}, cv=2)
    cv = QueryKFold(2) if routing else QueryKFold(2, qid=0)
    search.set_params(cv=cv, error_score="raise").fit(X, web.target, **given)
    assert search.score(X, web.target, **given) == pytest.approx(expected, abs=0.3)


def test_weighted_score_of_a_pipeline(web, routing):
    weight = web.qid % 3 + 1.0
    expected = ranking_score(
        web.target,
        ranker().fit(**rows_of(web)).predict(web.data),
        qid=web.qid,
        query_weight=weight,
    )
    if not routing:
        X = np.column_stack([web.qid, web.data])
        pipeline = make_pipeline("passthrough", ranker(qid=0)).fit(X, web.target)
        assert pipeline.score(X, web.target, sample_weight=weight) == expected
        return
    given = {"qid": web.qid, "sample_weight": weight}
    silent = make_pipeline(StandardScaler(), ranker())
    silent.fit(web.data, web.target, qid=web.qid)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        silent.score(web.data, web.target, **given)
    asking = ranker().set_score_request(sample_weight=True)
    pipeline = make_pipeline("passthrough", asking)
    pipeline.fit(web.data, web.target, qid=web.qid)
    assert pipeline.score(web.data, web.target, **given) == expected
    assert asking.score(web.data, web.target, **given) == expected


def test_searches_without_scoring(web, frame, routing):
    """The default score is what the scorer gives, by routing or by column."""
    model = ranker() if routing else ranker(qid="qid")
    cv = QueryKFold(3) if routing else QueryKFold(3, qid="qid")
    X = frame.drop(columns="qid") if routing else frame
    params = {"qid": web.qid} if routing else None
    scorer = make_ranking_scorer("ndcg@10", qid=None if routing else "qid")
    found, expected = (
        cross_val_score(
            model,
            X,
            web.target,
            cv=cv,
            scoring=scoring,
            params=params,
            error_score="raise",
        )
        for scoring in (None, scorer)
    )
    assert np.array_equal(found, expected)


def test_columns_of_x_as_given(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    assert model.n_features_in_ == 13
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.feature_names_in_.dtype == object
    assert model.n_features_ == 12
    assert model.feature_name_ == web.feature_names
    with_names = pd.Series(model.feature_importances_, model.feature_names_in_)
    assert np.isnan(with_names.pop("qid"))
    gains = model.booster_.feature_importance("split")
    assert with_names.tolist() == gains.tolist()
    model.set_params(importance_type="gain")
    assert np.nansum(model.feature_importances_) > gains.sum()

    array = ranker(qid=-1).fit(frame.to_numpy(), web.target)
    assert array.n_features_in_ == 13
    assert not hasattr(array, "feature_names_in_")
    assert np.isnan(array.feature_importances_[-1])
    for X in (frame.to_numpy(), web.data):
        assert np.array_equal(array.predict(X), model.predict(frame))
    for X in (web.data[:, 1:], frame.to_numpy()[:, [0]]):
        with pytest.raises(ValueError, match=r"QueryLGBMRanker is expecting 13 feat"):
            array.predict(X)

    routed = ranker().fit(**rows_of(web))
    assert routed.n_features_in_ == routed.n_features_ == 12
    assert routed.feature_importances_.dtype.kind == "i"
    numbered = frame.rename(columns={"clicks": 7})
    with pytest.raises(AttributeError, match="X had no column names"):
        _ = ranker(qid="qid").fit(numbered, web.target).feature_names_in_


@pytest.mark.parametrize("module", ["lightgbm", "xgboost", "catboost"])
def test_matrices_have_two_dimensions(web, module):
    room = pytest.importorskip(f"tieaware_sklearn.{module}")
    name = next(name for name in room.__all__ if name.startswith("Query"))
    quiet = {"verbose": False, "allow_writing_files": False}
    options = quiet if module == "catboost" else {}
    model = getattr(room, name)(n_estimators=2, **options)
    model.fit(web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=r"2-dimensional, got shape .*Reshape your"):
        model.predict(web.data[0])


def test_it_is_fitted_again_on_other_columns(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    model.set_params(qid=None).fit(web.data[:, :3], web.target, qid=web.qid)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert len(model.feature_importances_) == 3


def test_selectors_of_features(web, frame):
    """The importance of the qid column is NaN: nothing takes it for a bad feature."""
    with sklearn.config_context(enable_metadata_routing=True):
        search = RFECV(ranker(), cv=QueryKFold(3), min_features_to_select=4)
        search.set_params(scoring=make_ranking_scorer(), step=4)
        search.fit(web.data, web.target, qid=web.qid)
    assert 4 <= search.n_features_ <= 12
    # without its NaN, RFE would take importances for those of other columns
    X = np.column_stack([web.qid, web.data])
    with pytest.raises(ValueError, match="contains NaN"):
        RFE(ranker(qid=0), n_features_to_select=4).fit(X, web.target)
    fitted = ranker(qid="qid").fit(frame, web.target)
    best = SelectFromModel(fitted, prefit=True, max_features=3, threshold=-np.inf)
    chosen = best.set_output(transform="pandas").fit(frame).transform(frame)
    order = np.argsort(-fitted.feature_importances_[:-1], kind="stable")
    assert set(chosen) == set(np.array(web.feature_names)[order[:3]])


def test_it_is_an_lgbm_model_with_all_that_one_has(web, valid):
    """Its attributes are those of the LGBMRanker that it trains."""
    model = ranker(early_stopping_rounds=3, n_estimators=20)
    assert isinstance(model, lgb.LGBMModel)
    names = [
        name
        for name, member in inspect.getmembers(lgb.LGBMRanker)
        if isinstance(member, property) and not name.startswith("_")
    ]
    assert len(names) > 10
    for name in names:
        with pytest.raises((NotFittedError, AttributeError)):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict(web.data)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    held = pd.DataFrame(valid.data, columns=web.feature_names)
    given = {"X": frame, "eval_X": held}
    model.fit(**{**rows_of(web, valid), **given})
    theirs = lgb.LGBMRanker(
        early_stopping_rounds=3, n_estimators=20, num_leaves=4, verbosity=-1, n_jobs=1
    )
    theirs.fit(
        frame,
        web.target,
        group=np.unique(web.qid, return_counts=True)[1],
        eval_X=held,
        eval_y=valid.target,
        eval_group=[np.unique(valid.qid, return_counts=True)[1]],
    )
    again = pickle.loads(pickle.dumps(model))
    for name in names:
        assert type(getattr(model, name)) is type(getattr(theirs, name)), name
        assert str(getattr(again, name)) == str(getattr(model, name)) or (
            name == "booster_"
        )
    assert trees_of(again) == trees_of(model)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, axes = pyplot.subplots(1, 2)
    lgb.plot_metric(model, ax=axes[0])
    lgb.plot_importance(model, ax=axes[1])
    pyplot.close("all")
    more = lgb.LGBMRanker(n_estimators=2, verbosity=-1)
    sizes = np.unique(web.qid, return_counts=True)[1]
    more.fit(frame, web.target, group=sizes, init_model=model)
    assert more.booster_.num_trees() == model.booster_.num_trees() + 2


def test_parameters_set_since_the_fit_hold(web, monkeypatch):
    """As in LightGBM, whose predict reads n_jobs and others when it is called."""
    seen = []
    model = ranker().fit(**rows_of(web))
    told = type(model.booster_).predict

    def predict(booster, X, **options):
        seen.append((options["num_threads"], options.get("pred_early_stop")))
        return told(booster, X, **options)

    monkeypatch.setattr(type(model.booster_), "predict", predict)
    model.predict(web.data)
    model.set_params(n_jobs=2, pred_early_stop=True).predict(web.data)
    assert seen == [(1, None), (2, True)]
    assert model.objective_ == "lambdarank"


def test_a_fit_that_fails_leaves_the_last_one(web):
    model = ranker().fit(**rows_of(web))
    before = model.predict(web.data)
    with pytest.raises(ValueError, match="y must be >= 0"):
        model.fit(web.data[:, :2], web.target - 9, qid=web.qid)
    assert np.array_equal(model.predict(web.data), before)


def test_values_are_logged_under_stable_names(web, valid):
    """Canonical names, for callbacks of LightGBM and for its own records."""
    history, shown = {}, []
    model = ranker(metric="ndcg", n_estimators=3).fit(
        **rows_of(web, valid, web),
        eval_metric=["ndcg@10", "ap", "p@5"],
        eval_at=[10],
        callbacks=[
            lgb.record_evaluation(history),
            lambda env: shown.append(env.evaluation_result_list),
        ],
    )
    names = ["NDCG@10", "AP", "P@5"]
    assert sorted(history) == ["training", "valid_0"]
    for results in (history, model.evals_result_):
        for values in results.values():
            # LightGBM's own keep their names, which no measure has
            assert next(iter(values)) == "NDCG@10"
            assert set(values) == {*names, "ndcg@10"}
            assert all(len(value) == 3 for value in values.values())
    assert {entry[:2] for entry in shown[0]} == {
        (part, name) for part in history for name in [*names, "ndcg@10"]
    }
    assert model.best_score_["valid_0"]["NDCG@10"] == history["valid_0"]["NDCG@10"][2]


def test_a_column_of_fractions_holds_no_ids(web):
    X = np.column_stack([web.qid, web.data])
    select = SelectFromModel(LinearRegression(), max_features=3, threshold=-np.inf)
    pipeline = make_pipeline(StandardScaler(), select, ranker(qid=0))
    with pytest.warns(UserWarning, match="qid=0 is a column of fractions, with -1"):
        pipeline.fit(X, web.target)
