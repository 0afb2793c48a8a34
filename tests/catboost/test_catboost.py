"""What is particular to the real CatBoost: what it hands a metric, sets and names."""

import copy
import pickle

import numpy as np
import pytest
from catboost import CatBoostError, CatBoostRanker, Pool
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch

from tests.boosters.helpers import CatBoost, exact, rows_of
from tieaware_sklearn.catboost import QueryCatBoostRanker, eval_metric
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import parse_measure

OPTIONS = CatBoost.options
TRAIN = make_web_search(n_queries=30, n_documents=12, random_state=0)
VALID = make_web_search(n_queries=15, n_documents=12, random_state=1)
OTHER = make_web_search(n_queries=15, n_documents=12, random_state=2)


def pool(web, **options):
    return Pool(web.data, web.target, group_id=web.qid, **options)


def train(metric, *evaluated, **options):
    model = CatBoostRanker(eval_metric=metric, random_seed=0, **{**OPTIONS, **options})
    return model.fit(pool(TRAIN), eval_set=list(evaluated) or None)


ranker = CatBoost().ranker


VALUES = [
    ("ndcg@5", {"loss_function": "QueryRMSE"}),
    ("ap(rel=0.3)", {"thread_count": 3}),
    ("fallout@3", {}),
]


@pytest.mark.parametrize(("measure", "options"), VALUES)
def test_values_are_those_of_ranking_score(measure, options):
    """With labels and weights that 32 bits, which CatBoost keeps, do not hold."""
    weight = VALID.qid % 3 + 0.7
    valid = Bunch(**{**VALID, "target": VALID.target / 10})
    sets = [pool(OTHER), pool(valid, group_weight=weight)]
    metric = eval_metric(measure, pools=sets)
    model = train(metric, *sets, use_best_model=False, **options)
    results, name_of = model.get_evals_result(), str(parse_measure(measure))
    for tree in range(4):
        for number, (web, own) in enumerate([(OTHER, None), (valid, weight)]):
            scores = model.predict(web.data, ntree_end=tree + 1)
            expected = exact(web, scores, measure=measure, query_weight=own)
            assert results[f"validation_{number}"][name_of][tree] == expected
    values = results["validation_1"][name_of]
    best = min(values) if measure == "fallout@3" else max(values)
    assert model.get_best_iteration() == values.index(best)
    assert set(results["learn"][name_of]) == {0.0}


def test_it_trains_again_with_other_data():
    metric = eval_metric(pools=pool(VALID))
    first = train(metric, pool(VALID)).get_evals_result()
    model = CatBoostRanker(eval_metric=metric, **OPTIONS)
    model.fit(pool(OTHER), eval_set=pool(VALID))
    assert train(metric, pool(VALID)).get_evals_result() == first
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert repr(other) == repr(metric) == "eval_metric(NDCG@10)"
        assert type(other).__name__ == "NDCG@10"


def test_what_metrics_refuse():
    with pytest.raises(ValueError, match=r"did you mean 'NDCG@10'\?"):
        eval_metric("ndgc@10", pools=pool(VALID))
    with pytest.raises(
        ValueError, match="pools must have group ids, got a pool without"
    ):
        eval_metric(pools=Pool(VALID.data, VALID.target))
    merged = Pool(VALID.data, VALID.target, group_id=VALID.qid // 2)
    with pytest.raises(ValueError, match="evaluation sets with the same labels must"):
        eval_metric(pools=[pool(VALID), merged])
    eval_metric(pools=[pool(VALID), pool(VALID)])
    varying = pool(VALID, weight=VALID.target)
    with pytest.raises(CatBoostError, match="weight must be constant within a query"):
        train(eval_metric(pools=varying), varying)
    with pytest.raises(CatBoostError, match="pools must include every evaluation set"):
        train(eval_metric(pools=pool(VALID)), pool(OTHER))


def test_weights_of_documents_where_catboost_has_them():
    theirs = CatBoostRanker(**OPTIONS, loss_function="QueryRMSE")
    weight = TRAIN.target + 1
    theirs.fit(TRAIN.data, TRAIN.target, group_id=TRAIN.qid, sample_weight=weight)
    ours = ranker(row_order="input", loss_function="QueryRMSE")
    ours.fit(**rows_of(TRAIN), sample_weight=weight)
    assert np.array_equal(ours.predict(TRAIN.data), theirs.predict(TRAIN.data))


def test_the_best_model_is_kept_and_the_last_set_decides():
    stopping = {"early_stopping_rounds": 5, "n_estimators": 60, "learning_rate": 0.5}
    model = ranker(**stopping, eval_metric=["ndcg@10", "rr"])
    model.fit(**rows_of(TRAIN, OTHER, VALID, TRAIN))
    # CatBoost's own as well, of its loss
    for values in model.evals_result_.values():
        assert set(values) == {"NDCG@10", "RR", "NDCG:type=Base"}
    tree = model.best_iteration_
    assert model.model_.tree_count_ == tree + 1
    assert model.best_score_["valid_1"] == {
        name: model.evals_result_["valid_1"][name][tree] for name in ("NDCG@10", "RR")
    }
    # the labels of evaluation sets stay behind
    assert VALID.target.astype(np.float32).tobytes() not in pickle.dumps(model)


def test_sets_with_the_same_labels():
    """Told apart by their order; where their queries differ, nothing tells.

    With early stopping, the last set has values after trees where others have none.
    """
    other = Bunch(**{**VALID, "data": VALID.data[:, ::-1]})
    for period, stop, lengths in ((1, None, [6, 6]), (3, 9, [3, 6])):
        model = ranker(n_estimators=6, metric_period=period, early_stopping_rounds=stop)
        model.set_params(use_best_model=False).fit(**rows_of(TRAIN, other, VALID))
        results = model.evals_result_
        assert [len(of["NDCG@10"]) for of in results.values()] == lengths
        for name, data, n in zip(results, (other, VALID), lengths, strict=True):
            trees = [1, 4, 6] if n == 3 else range(1, 7)
            scores = [model.predict(data.data, ntree_end=tree) for tree in trees]
            assert results[name]["NDCG@10"] == [exact(data, one) for one in scores]
    given = {**rows_of(TRAIN, VALID, other), "eval_qid": (VALID.qid, VALID.qid // 2)}
    with pytest.raises(ValueError, match="evaluation sets with the same labels must"):
        ranker(row_order="input").fit(**given)


def test_no_query_with_a_value():
    model = ranker(eval_metric="ap", zero_relevance="skip")
    given = {**rows_of(TRAIN, VALID), "eval_y": np.zeros(len(VALID.qid))}
    with pytest.warns(UndefinedMetricWarning, match="AP"):
        model.fit(**given)
    assert np.isnan(model.evals_result_["valid_0"]["AP"]).all()


def test_catboosts_own_metrics_by_request():
    theirs = CatBoostRanker(**OPTIONS).fit(pool(TRAIN), eval_set=pool(VALID))
    ours = ranker(eval_metric=None, row_order="input").fit(**rows_of(TRAIN, VALID))
    assert ours.evals_result_["valid_0"] == theirs.get_evals_result()["validation"]
    assert ours.best_iteration_ == theirs.get_best_iteration()
    assert ours.best_score_ == {}
    added = ranker(custom_metric="MRR", metric_period=3).fit(**rows_of(TRAIN, VALID))
    results = added.evals_result_["valid_0"]
    lengths = {name: len(values) for name, values in results.items()}
    assert lengths == dict.fromkeys(["NDCG@10", "NDCG:type=Base", "MRR"], 2)
    assert added.best_score_["valid_0"]["NDCG@10"] == max(results["NDCG@10"])


def test_columns_of_categories_are_among_the_features():
    with pytest.raises(ValueError, match=r"cat_features must leave out the qid"):
        ranker(qid=3, cat_features=[3]).fit(TRAIN.data, TRAIN.target)


def test_parameters():
    assert repr(QueryCatBoostRanker(depth=3)) == "QueryCatBoostRanker(depth=3)"
    assert QueryCatBoostRanker().get_params()["loss_function"] == "YetiRank"
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_leafs'"):
        QueryCatBoostRanker(max_leafs=3)
    with pytest.raises(ValueError, match="Invalid parameter 'max_leafs'"):
        ranker().set_params(max_leafs=3)


def test_callbacks_see_every_measure_by_its_name():
    seen = []

    class Watch:
        def after_iteration(self, info):
            names = ("NDCG@10", "AP")
            seen.append([info.metrics["validation"][name][-1] for name in names])
            return True

    model = ranker(eval_metric=["ndcg@10", "ap"])
    model.fit(**rows_of(TRAIN, VALID), callbacks=[Watch()])
    values = model.evals_result_["valid_0"]
    assert np.transpose(seen).tolist() == [values["NDCG@10"], values["AP"]]
    assert "NDCG@10" in model.model_.get_evals_result()["validation"]


def test_users_callbacks_and_a_model_to_continue_from():
    class Stop:
        def after_iteration(self, info):
            return info.iteration < 2

    model = ranker(eval_metric="rr").fit(**rows_of(TRAIN, VALID), callbacks=[Stop()])
    assert len(model.evals_result_["valid_0"]["RR"]) == 2
    more = ranker().fit(**rows_of(TRAIN), init_model=model)
    assert more.model_.tree_count_ == model.model_.tree_count_ + 4
