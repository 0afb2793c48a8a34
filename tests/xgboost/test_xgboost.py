"""What is particular to the real XGBoost: its metrics, names, limits and files."""

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from tests.boosters import conftest
from tests.boosters.helpers import EVAL3, Q3, ROWS3, X3, XGBoost, rows_of
from tests.strategies import queries
from tieaware_sklearn import ranking_score
from tieaware_sklearn.xgboost import QueryXGBRanker, custom_metric

#: from XGBoost 3.4 on: boosters other than trees
DEPRECATED = pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")
web, valid = conftest.web, conftest.valid
PARAMS = {"objective": "rank:ndcg", "max_depth": 2, "nthread": 1}


ranker, bits = XGBoost().ranker, XGBoost().bits


def matrix(data, **options):
    return xgb.DMatrix(data.data, data.target, qid=data.qid, **options)


@settings(max_examples=20)
@given(queries(max_queries=6, max_documents=10), st.booleans())
def test_value_is_that_of_ranking_score(rows, weighted):
    """Labels and weights in tenths, which 32 bits do not hold."""
    labels, scores, qid = (np.array(column) for column in rows)
    order, labels = np.argsort(qid, kind="stable"), labels / 10
    X = np.zeros((len(qid), 1))
    data = xgb.DMatrix(X, labels[order], qid=qid[order], nthread=1)
    if weighted:
        data.set_weight(np.unique(qid) % 3 / 10 + 0.1)  # one a query
    options = {"qid": qid, "query_weight": qid % 3 / 10 + 0.1 if weighted else None}
    names = ["precise-NDCG@3", "precise-AP(rel=0.3)", "Fallout@2"]
    measures = [name.removeprefix("precise-") for name in names]
    metric = custom_metric(measures)
    for _ in range(2):
        values = metric(scores[order], data)
        for (name, value), shown, measure in zip(values, names, measures, strict=True):
            expected = ranking_score(labels, scores, measure=measure, **options)
            assert name == shown
            assert value == pytest.approx(expected, abs=1e-15)
    assert len(metric._prepared) == 1


@pytest.mark.parametrize(("measure", "best"), [("ndcg@10", max), ("fallout@5", min)])
def test_early_stopping_goes_the_right_way(web, valid, measure, best):
    history, params = {}, {**PARAMS, "eta": 0.5, "disable_default_eval_metric": 1}
    given = {"evals": [(matrix(valid), "valid")], "early_stopping_rounds": 5}
    given |= {"evals_result": history, "verbose_eval": False}
    given["custom_metric"] = custom_metric(measure)
    booster = xgb.train(params, matrix(web), 80, **given)
    (values,) = history["valid"].values()
    assert booster.best_score == best(values)
    assert booster.best_iteration == values.index(best(values))
    assert len(values) == booster.best_iteration + 6 < 80


def test_names_of_metrics(web):
    table = custom_metric("ndcg(gain={0:0,1:1,2:1,3:1,4:2})@5")
    data = matrix(web)
    text = xgb.train(PARAMS, data, 1).eval_set([(data, "x")], feval=table)
    (name, value) = xgb.core._parse_eval_str(text)[-1]
    assert name.startswith("x-precise-NDCG(gain={0=0")
    assert 0 < value < 1
    metric = custom_metric(["rr", "p@5"])
    assert repr(metric) == "custom_metric(RR, P@5)"
    assert metric.__name__ == "precise-RR, precise-P@5"


def test_what_metrics_refuse(web):
    y, metric = web.target, custom_metric("rr")
    with pytest.raises(ValueError, match="must have query groups"):
        metric(y, xgb.DMatrix(web.data, y))
    nothing = xgb.DMatrix(web.data, 0 * y, qid=web.qid)
    strict = custom_metric("ap", zero_relevance="raise")
    with pytest.raises(ValueError, match="AP is undefined for query"):
        strict(y, nothing)
    with pytest.raises(TypeError, match=r"predictions and a DMatrix.*got ndarray"):
        metric(y, y)
    with pytest.raises(ValueError, match=r"measure must be a name .*got <built-in"):
        ranker(eval_metric=["ap", len]).fit(**rows_of(web))
    model = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=metric)
    given = {"qid": web.qid, "eval_set": [(web.data, y)], "eval_qid": [web.qid]}
    with pytest.raises(TypeError, match=r"passes single queries.*QueryXGBRanker"):
        model.fit(web.data, y, **given)


def test_a_random_state_is_drawn_from_once(web):
    options = {**XGBoost.options, "subsample": 0.5}
    theirs = xgb.XGBRanker(**options, random_state=np.random.RandomState(5))
    theirs.fit(web.data, web.target, qid=web.qid)
    ours = ranker(**options, row_order="input", random_state=np.random.RandomState(5))
    ours.fit(**rows_of(web))
    assert bits(ours) == bits(theirs)
    assert np.array_equal(ours.apply(web.data), theirs.apply(web.data))
    limit = (0, 2)
    assert np.array_equal(ours.apply(web.data, limit), theirs.apply(web.data, limit))


def test_users_callbacks_see_our_values(web, valid, capsys):
    class Seen(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            return evals_log["valid_0"]["RR"][-1] > 0 and epoch == 2

    model = ranker(callbacks=[Seen()], eval_metric="rr")
    for verbose, shown in ((1, 1), (2, 0), (False, 0)):
        model.fit(**rows_of(web, valid), verbose=verbose)
        assert len(model.evals_result_["valid_0"]["RR"]) == 3
        assert capsys.readouterr().out.count("[1]\tvalid_0-RR:") == shown
    model.fit(**rows_of(web, valid))
    assert capsys.readouterr().out == ""
    assert [type(c) for c in model.get_params()["callbacks"]] == [Seen]


@DEPRECATED
def test_linear_boosters(web):
    X = np.column_stack([web.qid, web.data])
    model = ranker(booster="gblinear", max_depth=None, qid=0).fit(X, web.target)
    assert np.flatnonzero(model.coef_ == 0).tolist() == [0]
    # negative ones count, too
    least = int(np.argmin(model.coef_))
    chosen = SelectFromModel(model, prefit=True, threshold=-model.coef_[least])
    assert model.coef_[least] < 0
    assert chosen.get_support()[least]
    assert not hasattr(ranker().fit(**rows_of(web)), "coef_")


def test_files(web, valid, tmp_path):
    path = tmp_path / "model.json"
    model = ranker().fit(**rows_of(web, valid))
    scores = model.predict(valid.data)
    model.save_model(path)
    loaded, plain = QueryXGBRanker(), xgb.XGBRanker()
    for other in (loaded, plain):
        other.load_model(path)
        assert np.array_equal(other.predict(valid.data), scores)
    assert loaded.n_features_in_ == valid.data.shape[1]
    assert not hasattr(loaded, "feature_names_in_")
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.score(valid.data, valid.target, qid=valid.qid) > 0
    with pytest.raises(ValueError, match="X has 3 features, but QueryXGBRanker is"):
        loaded.predict(valid.data[:, :3])
    # loaded models find the column of ids
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(q=web.qid)
    model = ranker(qid="q").fit(frame, web.target)
    model.save_model(path)
    loaded = QueryXGBRanker(qid="q")
    loaded.load_model(path)
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
    with pytest.raises(NotFittedError):
        model.get_booster()


FRAME3 = pd.DataFrame(X3, columns=["a", "qid", "b"])
NO_METRIC = {"early_stopping_rounds": 2, "eval_metric": None}


REFUSED = [
    ({}, {"X": FRAME3}, "X must not have a feature named 'qid'.*qid=\"qid\""),
    ({}, {"y": [0, 0.5, 0]}, r"y must be integers up to 31 .*got 0.5 in row 1"),
    ({}, {"y": [0, 1, 32]}, r"y must be integers up to 31 .*got 32.0 in row 2"),
    ({"ndcg_exp_gain": True}, {"y": [0, 1, 32]}, "y must be integers up to 31"),
    ({"objective": "rank:map"}, {"y": [0, 2, 1]}, "y must be 0 or 1 .*rank:map"),
    ({}, {"sample_weight": [1, 2, 3]}, "weight must be constant within a query"),
    ({"early_stopping_rounds": 2.0}, {}, "rounds requires an evaluation set"),
    (
        NO_METRIC,
        EVAL3,
        "requires a metric, got none: give eval_metric to the constructor",
    ),
]


@pytest.mark.parametrize(("options", "given", "message"), REFUSED)
def test_what_is_refused(options, given, message):
    with pytest.raises(ValueError, match=message):
        ranker(**options).fit(**ROWS3 | given)


LIMITS = [
    ({}, [0, 31, 1]),
    ({"ndcg_exp_gain": False}, [0, 0.5, 40]),
    ({"objective": "rank:pairwise"}, [0, 0.5, 40]),
    ({"objective": "rank:map"}, [0, 1, 0]),
    ({"early_stopping_rounds": 0}, [0, 1, 0]),
]


@pytest.mark.parametrize(("options", "y"), LIMITS)
def test_limits_are_those_of_the_objective(options, y):
    ranker(**options).fit(X3, y, qid=Q3)
