"""QueryXGBRanker: the real XGBoost with query ids."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import xgboost as xgb
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import NDCG
from tieaware_sklearn.xgboost import QueryXGBRanker, custom_metric


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=15, random_state=0)


@pytest.fixture(scope="module")
def valid():
    return make_web_search(n_queries=20, n_documents=15, random_state=1)


#: from XGBoost 3.4 on: boosters other than trees
DEPRECATED = pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")
OPTIONS = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}


def ranker(**parameters):
    return QueryXGBRanker(**{**OPTIONS, **parameters})


def bits(model):
    return bytes(model.get_booster().save_raw())


def evaluated(*sets):
    """What `fit` is given of evaluation sets."""
    return {
        "eval_X": tuple(data.data for data in sets),
        "eval_y": tuple(data.target for data in sets),
        "eval_qid": tuple(data.qid for data in sets),
    }


STOPPING = {"early_stopping_rounds": 5, "n_estimators": 60, "learning_rate": 0.5}


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise"])
def test_sorted_rows_give_xgboosts_own_model(web, objective):
    options = {"objective": objective, "subsample": 0.7, "random_state": 3}
    theirs = xgb.XGBRanker(**OPTIONS, **options)
    weight = np.arange(1, 41.0)
    theirs.fit(web.data, web.target, qid=web.qid, sample_weight=weight)
    ours = ranker(row_order="input", **options)
    rows = weight[web.qid - 1]
    names = np.array([f"q{-q % 7}{q}" for q in web.qid])  # in another order
    ours.fit(web.data, web.target, qid=names, sample_weight=rows)
    assert bits(ours) == bits(theirs)
    assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))
    assert np.array_equal(ours.apply(web.data), theirs.apply(web.data))


def test_a_random_state_is_drawn_from_once(web):
    options = {**OPTIONS, "subsample": 0.5}
    theirs = xgb.XGBRanker(**options, random_state=np.random.RandomState(5))
    theirs.fit(web.data, web.target, qid=web.qid)
    ours = ranker(**options, row_order="input", random_state=np.random.RandomState(5))
    ours.fit(web.data, web.target, qid=web.qid)
    assert bits(ours) == bits(theirs)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_any_order_of_rows_gives_the_same_bits(web, valid, kind):
    """Training, stopping and logs."""
    rng = np.random.default_rng(0)
    weight, start = web.qid % 3 + 1.0, rng.normal(size=len(web.qid))

    def fit(rows, valid_rows):
        model = ranker(**STOPPING, eval_metric=["ap", "ndcg@5"], subsample=0.8)
        return model.fit(
            kind(web.data[rows]),
            web.target[rows],
            qid=web.qid[rows],
            sample_weight=weight[rows],
            init_score=start[rows],
            eval_X=kind(valid.data[valid_rows]),
            eval_y=valid.target[valid_rows],
            eval_qid=valid.qid[valid_rows],
            eval_sample_weight=(valid.qid[valid_rows] % 2 + 1.0),
            eval_init_score=np.zeros(len(valid_rows)),
        )

    plain = fit(np.arange(len(web.qid)), np.arange(len(valid.qid)))
    mixed = fit(rng.permutation(len(web.qid)), rng.permutation(len(valid.qid)))
    assert bits(plain) == bits(mixed)
    assert plain.evals_result_ == mixed.evals_result_


def test_the_seed_draws_another_order(web):
    a, b = (
        ranker(random_state=seed).fit(web.data, web.target, qid=web.qid)
        for seed in (0, 1)
    )
    assert not np.array_equal(a.predict(web.data), b.predict(web.data))


def test_early_stopping_is_exact(web, valid):
    other = make_web_search(n_queries=10, n_documents=15, random_state=2)
    model = ranker(**STOPPING, eval_metric=["ndcg@10", NDCG(5), "fallout@3"])
    model.fit(
        web.data,
        web.target,
        qid=web.qid,
        **evaluated(other, valid, web),
        eval_names=["other", "held out: a-b", "training"],
    )
    assert list(model.evals_result_) == ["other", "held out: a-b", "training"]
    found = model.evals_result_["held out: a-b"]
    assert list(found) == ["NDCG@10", "NDCG@5", "Fallout@3"]
    # the first measure, on the last set that is not the training data
    assert model.best_score == max(found["NDCG@10"])
    assert model.best_iteration == found["NDCG@10"].index(model.best_score)
    assert len(found["NDCG@10"]) == model.best_iteration + 6 < 60
    for tree in (0, model.best_iteration):
        for name, data in (("held out: a-b", valid), ("other", other)):
            scores = model.predict(data.data, iteration_range=(0, tree + 1))
            for measure, values in model.evals_result_[name].items():
                assert values[tree] == ranking_score(
                    data.target, scores, qid=data.qid, measure=measure
                )
    best = ranking_score(valid.target, model.predict(valid.data), qid=valid.qid)
    assert model.best_score == best


def test_lower_may_be_better(web, valid):
    model = ranker(**STOPPING, eval_metric="fallout@5")
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    assert model.best_score == min(model.evals_result_["valid_0"]["Fallout@5"])


@DEPRECATED
def test_evaluation_changes_no_tree(web, valid):
    plain = ranker(booster="dart", rate_drop=0.5).fit(web.data, web.target, qid=web.qid)
    seen = clone(plain).fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    assert bits(plain) == bits(seen)


def test_queries_without_relevant_documents(web, valid):
    nothing = valid.qid == valid.qid[0]
    target = np.where(nothing, 0, valid.target)
    given = {"eval_X": valid.data, "eval_y": target, "eval_qid": valid.qid}
    for zero in (0.0, 1.0, "skip"):
        model = ranker(eval_metric="ap", zero_relevance=zero)
        model.fit(web.data, web.target, qid=web.qid, **given)
        scores = model.predict(valid.data)
        assert model.evals_result_["valid_0"]["AP"][-1] == ranking_score(
            target, scores, qid=valid.qid, measure="ap", zero_relevance=zero
        )
    with pytest.raises(ValueError, match="AP is undefined for query"):
        ranker(eval_metric="ap", zero_relevance="raise").fit(
            web.data, web.target, qid=web.qid, **given
        )


def test_users_callbacks_see_our_values(web, valid, capsys):
    class Seen(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            return evals_log["valid_0"]["RR"][-1] > 0 and epoch == 2

    model = ranker(callbacks=[Seen()], eval_metric="rr")
    model.fit(web.data, web.target, qid=web.qid, verbose=1, **evaluated(valid))
    assert len(model.evals_result_["valid_0"]["RR"]) == 3
    assert capsys.readouterr().out.count("[1]\tvalid_0-RR:") == 1
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    assert capsys.readouterr().out == ""
    assert [type(c) for c in model.get_params()["callbacks"]] == [Seen]


def test_a_column_of_ids(web, valid):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    kinds = pd.Categorical((web.target + web.qid) % 3)
    frame.insert(3, "qid", [f"q{q}" for q in web.qid])
    held_out = pd.DataFrame(valid.data, columns=web.feature_names)
    held_out["qid"] = [f"v{q}" for q in valid.qid]
    model = ranker(qid="qid").fit(
        frame, web.target, eval_X=held_out[frame.columns], eval_y=valid.target
    )
    routed = ranker().fit(web.data, web.target, qid=frame["qid"])
    assert np.array_equal(model.predict(frame), routed.predict(web.data))
    without = frame.drop(columns="qid")
    assert np.array_equal(model.predict(without), routed.predict(web.data))
    assert model.n_features_in_ == 13
    assert model.feature_names_in_.tolist() == list(frame)
    assert np.flatnonzero(np.isnan(model.feature_importances_)).tolist() == [3]
    assert model.score(held_out[frame.columns], valid.target) == ranking_score(
        valid.target, model.predict(held_out[frame.columns]), qid=valid.qid
    )
    array = ranker(qid=3).fit(frame.to_numpy()[:, [0, 1, 2, 3]], web.target)
    assert array.n_features_in_ == 4
    # categories, in evaluation sets too
    frame["kind"] = kinds
    model = ranker(qid="qid", enable_categorical=True, early_stopping_rounds=3)
    held_out = frame.iloc[:150]
    model.fit(frame, web.target, eval_X=held_out, eval_y=web.target[:150])
    assert model.best_score == pytest.approx(
        ranking_score(web.target[:150], model.predict(held_out), qid=web.qid[:150]),
        abs=1e-12,
    )
    with pytest.raises(ValueError, match="X must not have a feature named 'qid'"):
        ranker().fit(frame.drop(columns="kind"), web.target, qid=web.qid)


@DEPRECATED
def test_linear_boosters(web):
    X = np.column_stack([web.qid, web.data])
    model = ranker(booster="gblinear", max_depth=None, qid=0).fit(X, web.target)
    assert np.flatnonzero(np.isnan(model.coef_)).tolist() == [0]
    assert not hasattr(ranker().fit(web.data, web.target, qid=web.qid), "coef_")


def test_copies_and_files(web, valid, tmp_path):
    model = ranker(**STOPPING, eval_metric=["rr", NDCG(7)])
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    scores = model.predict(valid.data)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(valid.data), scores)
        assert other.evals_result_ == model.evals_result_
        assert other.best_iteration == model.best_iteration
    assert clone(model).get_params() == model.get_params()
    model.save_model(tmp_path / "model.json")
    loaded = QueryXGBRanker()
    loaded.load_model(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(valid.data), scores)
    assert loaded.n_features_in_ == valid.data.shape[1]
    assert not hasattr(loaded, "feature_names_in_")
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.score(valid.data, valid.target, qid=valid.qid) > 0
    with pytest.raises(ValueError, match="X has 3 features, but QueryXGBRanker is"):
        loaded.predict(valid.data[:, :3])
    plain = xgb.XGBRanker()
    plain.load_model(tmp_path / "model.json")
    assert np.array_equal(plain.predict(valid.data), scores)
    again = model.set_params(n_estimators=2, early_stopping_rounds=None)
    again.fit(web.data, web.target, qid=web.qid)
    assert again.get_booster().num_boosted_rounds() == 2
    assert again.evals_result_ == {}
    again.fit(web.data, web.target, qid=web.qid, init_model=again.get_booster())
    assert again.get_booster().num_boosted_rounds() == 4


def test_loaded_models_find_the_column_of_ids(web, tmp_path):
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(q=web.qid)
    model = ranker(qid="q").fit(frame, web.target)
    model.save_model(tmp_path / "model.json")
    loaded = QueryXGBRanker(qid="q")
    loaded.load_model(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.feature_names_in_.tolist() == web.feature_names
    assert loaded.score(frame, web.target) == model.score(frame, web.target)


def test_parameters_of_every_kind():
    model = QueryXGBRanker(max_depth=2, lambdarank_num_pair_per_sample=4)
    model.set_params(eval_metric="ap", ndcg_exp_gain=False)
    params = model.get_params()
    assert (params["max_depth"], params["eval_metric"]) == (2, "ap")
    assert params["lambdarank_num_pair_per_sample"] == 4
    assert clone(model).get_params() == params
    theirs = model.get_xgb_params()
    assert not {"qid", "row_order", "zero_relevance"} & set(theirs)
    assert theirs["ndcg_exp_gain"] is False
    assert not hasattr(model, "n_features_in_")
    for use in (model.get_booster, lambda: model.predict([[1.0]])):
        with pytest.raises(NotFittedError):
            use()


def test_routing_and_columns_give_the_same_folds(web):
    scorer = make_ranking_scorer("ndcg@10")
    with sklearn.config_context(enable_metadata_routing=True):
        on = cross_val_score(
            ranker(),
            web.data,
            web.target,
            cv=QueryKFold(3),
            scoring=scorer,
            params={"qid": web.qid},
        )
    X = np.column_stack([web.data, web.qid])
    off = cross_val_score(ranker(qid=-1), X, web.target, cv=QueryKFold(3, qid=-1))
    assert np.array_equal(on, off)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"qid": None}, "qid must hold the query of each row, got None"),
        ({"eval_metric": "ndgc"}, {}, "eval_metric: .*did you mean 'NDCG'"),
        ({"eval_metric": ["ap", "map"]}, {}, "eval_metric: measures must differ"),
        ({"early_stopping_rounds": 2}, {}, "early_stopping_rounds needs an evaluation"),
        (
            {"early_stopping_rounds": 2, "eval_metric": None},
            {"eval_X": [[0.0] * 12], "eval_y": [1], "eval_qid": [1]},
            "needs a metric, got none: give eval_metric to the constructor",
        ),
        ({"early_stopping_rounds": 2.0}, {}, "rounds needs an evaluation set"),
        ({"row_order": "sorted"}, {}, "row_order must be one of"),
        ({}, {"eval_X": [[1.0]]}, "eval_y must hold the labels of eval_X, got None"),
        ({}, {"y": 0.5}, r"y must be integers up to 31 .*got 0.5 in row 0"),
        ({"objective": "rank:map"}, {"y": 2}, "y must be 0 or 1 for XGBoost's rank:m"),
        (
            {},
            {"sample_weight": np.arange(1, 730.0)},
            "sample_weight must be constant within a query",
        ),
    ],
)
def test_errors(web, options, given, message):
    rows = {"X": web.data, "y": web.target, "qid": web.qid, **given}
    if np.isscalar(rows["y"]):
        rows["y"] = np.full(len(web.qid), rows["y"])
    with pytest.raises(ValueError, match=message):
        ranker(**options).fit(**rows)


@pytest.mark.parametrize("metric", [custom_metric("rr"), ["ap", len], 3])
def test_other_metrics_are_refused(web, metric):
    with pytest.raises(TypeError, match="eval_metric must be the name of a measure"):
        ranker(eval_metric=metric).fit(web.data, web.target, qid=web.qid)


def test_what_xgboost_promises(web):
    """The contract: a callback may add values, which stop early, and which stay.

    A matrix that is none of the training is predicted as it will be by all trees.
    """
    data = xgb.DMatrix(web.data, web.target, qid=web.qid)
    other = xgb.DMatrix(web.data[:100])
    seen = []
    stop = xgb.callback.EarlyStopping(
        rounds=2, metric_name="M", data_name="mine", maximize=True
    )

    class Adds(xgb.callback.TrainingCallback):
        def before_training(self, model):
            return stop.before_training(model)

        def after_training(self, model):
            return stop.after_training(model)

        def after_iteration(self, model, epoch, evals_log):
            seen.append(model.predict(other))
            values = evals_log.setdefault("mine", OrderedDict()).setdefault("M", [])
            values.append([1.0, 3.0, 2.0, 2.0, 0.0][epoch])
            return stop.after_iteration(model, epoch, evals_log)

    log = {}
    booster = xgb.train(
        {"objective": "rank:ndcg", "max_depth": 3},
        data,
        5,
        callbacks=[Adds()],
        evals_result=log,
        verbose_eval=False,
    )
    assert log["mine"]["M"] == [1.0, 3.0, 2.0, 2.0]
    assert (booster.best_iteration, booster.best_score) == (1, 3.0)
    for tree, scores in enumerate(seen):
        whole = booster.predict(other, iteration_range=(0, tree + 1))
        assert np.array_equal(scores, whole)
