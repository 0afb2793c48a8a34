"""QueryCatBoostRanker: the real CatBoost with query ids."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from catboost import CatBoostRanker, Pool
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils import Bunch

from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.catboost import QueryCatBoostRanker, eval_metric
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import NDCG

QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
OPTIONS = {"iterations": 4, "depth": 3, **QUIET}
STOPPING = {"early_stopping_rounds": 5, "iterations": 60, "learning_rate": 0.5}


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=30, n_documents=12, random_state=0)


@pytest.fixture(scope="module")
def valid():
    return make_web_search(n_queries=20, n_documents=12, random_state=1)


def ranker(**parameters):
    return QueryCatBoostRanker(**{**OPTIONS, **parameters})


def evaluated(*sets):
    """What `fit` is given of evaluation sets."""
    return {
        "eval_X": tuple(data.data for data in sets),
        "eval_y": tuple(data.target for data in sets),
        "eval_qid": tuple(data.qid for data in sets),
    }


@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE"])
def test_sorted_rows_give_catboosts_own_model(web, loss):
    options = {"loss_function": loss, "random_seed": 3}
    weight = web.qid % 3 + 0.7
    theirs = CatBoostRanker(**OPTIONS, **options)
    theirs.fit(web.data, web.target, group_id=web.qid, group_weight=weight)
    ours = ranker(row_order="input", **options)
    names = np.array([f"q{-q % 7}{q}" for q in web.qid])  # in another order
    ours.fit(web.data, web.target, qid=names, sample_weight=weight)
    assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))
    # weights of documents, where CatBoost has them
    if loss == "QueryRMSE":
        weight = web.target + 1
        theirs = CatBoostRanker(**OPTIONS, **options)
        theirs.fit(web.data, web.target, group_id=web.qid, sample_weight=weight)
        ours.fit(web.data, web.target, qid=web.qid, sample_weight=weight)
        assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_any_order_of_rows_gives_the_same_trees(web, valid, kind):
    """Training, stopping and logs."""
    rng = np.random.default_rng(0)
    weight, start = web.qid % 3 + 1.0, rng.normal(size=len(web.qid))

    def fit(rows, valid_rows):
        model = ranker(**STOPPING, eval_metric=["ap", "ndcg@5"])
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
    X = kind(valid.data)
    assert np.array_equal(plain.predict(X), mixed.predict(X))
    assert plain.evals_result_ == mixed.evals_result_
    assert np.array_equal(
        plain.model_.get_leaf_values(), mixed.model_.get_leaf_values()
    )


def test_early_stopping_is_exact(web, valid):
    other = make_web_search(n_queries=10, n_documents=12, random_state=2)
    model = ranker(**STOPPING, eval_metric=["ndcg@10", NDCG(5), "fallout@3"])
    model.fit(
        web.data,
        web.target,
        qid=web.qid,
        **evaluated(other, valid, web),
        eval_names=["other", "held out", "training"],
    )
    measures = {"NDCG@10", "NDCG@5", "Fallout@3"}
    # CatBoost's own as well, of its loss
    for values in model.evals_result_.values():
        assert set(values) == {*measures, "NDCG:type=Base"}
    found = model.evals_result_["held out"]
    # the first measure, on the last set that is not the training data
    assert model.best_iteration_ == int(np.argmax(found["NDCG@10"]))
    assert len(found["NDCG@10"]) == model.best_iteration_ + 6 < 60
    assert model.model_.tree_count_ == model.best_iteration_ + 1
    for tree in (0, model.best_iteration_):
        for name, data in (("held out", valid), ("other", other), ("training", web)):
            scores = model.predict(data.data, ntree_end=tree + 1)
            for measure in measures:
                assert model.evals_result_[name][measure][tree] == ranking_score(
                    data.target, scores, qid=data.qid, measure=measure
                )
    assert model.best_score_["held out"] == {
        measure: found[measure][model.best_iteration_] for measure in measures
    }


def test_lower_may_be_better(web, valid):
    model = ranker(**STOPPING, eval_metric="fallout@5")
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    values = model.evals_result_["valid_0"]["Fallout@5"]
    assert model.best_iteration_ == int(np.argmin(values))


def test_the_training_data_alone_stop_nothing(web):
    model = ranker().fit(web.data, web.target, qid=web.qid, **evaluated(web))
    assert model.model_.tree_count_ == 4
    values = model.evals_result_["training"]["NDCG@10"]
    assert values[-1] == ranking_score(
        web.target, model.predict(web.data), qid=web.qid
    )  # fmt: skip


def test_sets_with_the_same_labels(web, valid):
    """Told apart by their order; where their queries differ, nothing tells."""
    twice = make_web_search(n_queries=20, n_documents=12, random_state=1)
    twice.data = np.round(twice.data)
    model = ranker(use_best_model=False)
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid, twice))
    for name, data in (("valid_0", valid), ("valid_1", twice)):
        assert model.evals_result_[name]["NDCG@10"][-1] == ranking_score(
            data.target, model.predict(data.data), qid=data.qid
        )
    given = {**evaluated(valid, twice), "eval_qid": (valid.qid, valid.qid // 2)}
    with pytest.raises(ValueError, match="evaluation sets must differ in their labels"):
        ranker(row_order="input").fit(web.data, web.target, qid=web.qid, **given)


def test_no_query_with_a_value(web, valid):
    model = ranker(eval_metric="ap", zero_relevance="skip")
    given = {**evaluated(valid), "eval_y": (np.zeros(len(valid.qid)),)}
    with pytest.warns(UndefinedMetricWarning, match="AP"):
        model.fit(web.data, web.target, qid=web.qid, **given)
    assert np.isnan(model.evals_result_["valid_0"]["AP"]).all()


def test_catboosts_own_metric_by_request(web, valid):
    pool = Pool(web.data, web.target, group_id=web.qid)
    held_out = Pool(valid.data, valid.target, group_id=valid.qid)
    theirs = CatBoostRanker(**OPTIONS).fit(pool, eval_set=held_out)
    ours = ranker(eval_metric=None, row_order="input")
    ours.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    assert ours.evals_result_["valid_0"] == theirs.get_evals_result()["validation"]
    assert ours.best_iteration_ == theirs.get_best_iteration()
    assert ours.best_score_ == {}
    assert ranker().fit(web.data, web.target, qid=web.qid).evals_result_ == {}
    added = ranker(custom_metric="MRR", metric_period=3)
    added.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    results = added.evals_result_["valid_0"]
    assert {name: len(values) for name, values in results.items()} == {
        "NDCG@10": 2,
        "NDCG:type=Base": 2,
        "MRR": 2,
    }
    assert added.best_score_["valid_0"]["NDCG@10"] == max(results["NDCG@10"])


def test_sets_of_the_same_labels_keep_their_own_values(web, valid):
    """With early stopping, the last set has values after trees where others have none.

    CatBoost hands a metric labels, which do not tell the two apart.
    """
    other = Bunch(**{**valid, "data": valid.data[:, ::-1]})
    model = ranker(iterations=6, metric_period=3, early_stopping_rounds=9)
    model.set_params(use_best_model=False)
    model.fit(web.data, web.target, qid=web.qid, **evaluated(other, valid))
    results = model.evals_result_
    assert [len(of["NDCG@10"]) for of in results.values()] == [3, 6]
    for name, data, trees in (
        ("valid_0", other, [1, 4, 6]),
        ("valid_1", valid, range(1, 7)),
    ):
        scores = [model.predict(data.data, ntree_end=tree) for tree in trees]
        assert results[name]["NDCG@10"] == [
            ranking_score(data.target, one, qid=data.qid) for one in scores
        ]


def test_users_callbacks(web, valid):
    class Stop:
        def after_iteration(self, info):
            return info.iteration < 2

    model = ranker(eval_metric="rr")
    given = {"qid": web.qid, **evaluated(valid)}
    model.fit(web.data, web.target, callbacks=[Stop()], **given)
    assert len(model.evals_result_["valid_0"]["RR"]) == 2


def test_columns_of_ids_and_categories(web, valid):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(3, "qid", [f"q{q}" for q in web.qid])
    frame["kind"] = np.array(["a", "b", "c"])[(web.target + web.qid).astype(int) % 3]
    without = frame.drop(columns="qid")
    theirs = CatBoostRanker(**OPTIONS, cat_features=["kind"])
    theirs.fit(without, web.target, group_id=web.qid)
    options = {"row_order": "input", "cat_features": ["kind"], "qid": "qid"}
    model = ranker(**options).fit(
        frame, web.target, eval_X=(frame[:100],), eval_y=(web.target[:100],)
    )
    model = ranker(**options).fit(frame, web.target)
    for X in (frame, without):
        assert np.array_equal(model.predict(X), theirs.predict(without))
    array = ranker(row_order="input", cat_features=[13], qid=3)
    array.fit(frame.to_numpy(), web.target)
    assert np.array_equal(array.predict(frame.to_numpy()), model.predict(frame))
    assert model.n_features_in_ == 14
    assert model.feature_names_in_.tolist() == list(frame)
    assert np.flatnonzero(np.isnan(model.feature_importances_)).tolist() == [3]
    assert model.model_.feature_names_ == list(without)
    with pytest.raises(ValueError, match="cat_features must leave out the qid column"):
        ranker(qid="qid", cat_features=["qid"]).fit(frame, web.target)
    # in any order of rows
    canonical = ranker(cat_features=["kind"], qid="qid")
    first = canonical.fit(frame, web.target).predict(frame)
    rows = np.random.default_rng(0).permutation(len(frame))
    again = canonical.fit(frame.iloc[rows], web.target[rows]).predict(frame)
    assert np.array_equal(first, again)


def test_copies_and_parameters(web, valid):
    model = ranker(**STOPPING, eval_metric=["rr", NDCG(7)], random_state=1)
    model.fit(web.data, web.target, qid=web.qid, **evaluated(valid))
    scores = model.predict(valid.data)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(valid.data), scores)
        assert other.evals_result_ == model.evals_result_
        assert other.best_iteration_ == model.best_iteration_
    # the labels of evaluation sets stay behind
    assert valid.target.astype(np.float32).tobytes() not in pickle.dumps(model)
    again = clone(model)
    assert again.get_params() == model.get_params()
    # where CatBoostRanker refuses
    model.set_params(iterations=2, early_stopping_rounds=None)
    model.fit(web.data, web.target, qid=web.qid)
    assert model.model_.tree_count_ == 2
    model.fit(web.data, web.target, qid=web.qid, init_model=model.model_)
    assert model.model_.tree_count_ == 4
    more = clone(model).fit(web.data, web.target, qid=web.qid, init_model=model)
    assert more.model_.tree_count_ == 6
    shown = repr(QueryCatBoostRanker(depth=3))
    assert shown == "QueryCatBoostRanker(depth=3)"
    assert QueryCatBoostRanker().get_params()["loss_function"] == "YetiRank"
    with pytest.raises(TypeError, match="CatBoostRanker has no parameter max_leafs"):
        QueryCatBoostRanker(max_leafs=3)
    with pytest.raises(ValueError, match="Invalid parameter 'max_leafs'"):
        model.set_params(max_leafs=3)
    with pytest.raises(NotFittedError):
        ranker().predict([[1.0]])


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
    ("options", "given", "error", "message"),
    [
        ({}, {"qid": None}, ValueError, "qid must hold the query of each row"),
        ({"eval_metric": "ndgc"}, {}, ValueError, "eval_metric: .*did you mean 'NDCG'"),
        ({"early_stopping_rounds": 2}, {}, ValueError, "early_stopping_rounds needs"),
        ({"row_order": "sorted"}, {}, ValueError, "row_order must be one of"),
        (
            {"eval_metric": len},
            {},
            TypeError,
            "eval_metric must be the name of a measure",
        ),
        ({"zero_relevance": "x"}, {}, ValueError, "zero_relevance must be one of"),
    ],
)
def test_errors(web, options, given, error, message):
    rows = {"X": web.data, "y": web.target, "qid": web.qid, **given}
    with pytest.raises(error, match=message):
        ranker(**options).fit(**rows)


def test_their_metric_objects_are_theirs(web, valid):
    pool = Pool(valid.data, valid.target, group_id=valid.qid)
    with pytest.raises(TypeError, match="eval_metric must be the name of a measure"):
        ranker(eval_metric=eval_metric(pools=pool)).fit(
            web.data, web.target, qid=web.qid
        )


def test_a_missing_catboost_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    monkeypatch.delitem(sys.modules, "tieaware_sklearn.catboost")
    with pytest.raises(
        ImportError, match=r'pip install "tieaware-sklearn\[catboost\]"'
    ):
        importlib.import_module("tieaware_sklearn.catboost")
