"""eval_metric, and what the real CatBoost hands a custom metric."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from catboost import CatBoostError, CatBoostRanker, Pool
from sklearn.utils import Bunch

from tieaware_sklearn import ranking_score
from tieaware_sklearn.catboost import eval_metric
from tieaware_sklearn.datasets import make_web_search

QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
TRAIN = make_web_search(n_queries=30, n_documents=12, random_state=0)
VALID = make_web_search(n_queries=15, n_documents=12, random_state=1)
OTHER = make_web_search(n_queries=15, n_documents=12, random_state=2)


def pool(web, **options):
    return Pool(web.data, web.target, group_id=web.qid, **options)


def train(metric, *evaluated, **options):
    options = {"iterations": 4, "depth": 3, "random_seed": 0, **QUIET, **options}
    model = CatBoostRanker(eval_metric=metric, **options)
    return model.fit(pool(TRAIN), eval_set=list(evaluated) or None)


@pytest.mark.parametrize("measure", ["ndcg@5", "fallout@3"])
def test_values_are_those_of_ranking_score(measure):
    weight = VALID.qid % 3 + 0.7  # CatBoost keeps 32 bits
    sets = [pool(OTHER), pool(VALID, group_weight=weight)]
    model = train(eval_metric(measure, pools=sets), *sets, use_best_model=False)
    results = model.get_evals_result()
    for tree in range(4):
        for name, web, query_weight in (
            ("validation_0", OTHER, None),
            ("validation_1", VALID, weight),
        ):
            scores = model.predict(web.data, ntree_end=tree + 1)
            expected = ranking_score(
                web.target,
                scores,
                qid=web.qid,
                measure=measure,
                query_weight=query_weight,
            )
            assert results[name]["ExactMeasure"][tree] == expected
    values = results["validation_1"]["ExactMeasure"]
    best = min(values) if measure == "fallout@3" else max(values)
    assert model.get_best_iteration() == values.index(best)
    assert set(results["learn"]["ExactMeasure"]) == {0.0}


def test_it_trains_again_with_other_data():
    metric = eval_metric(pools=pool(VALID))
    assert repr(metric) == "eval_metric(NDCG@10)"
    first = train(metric, pool(VALID)).get_evals_result()
    model = CatBoostRanker(iterations=2, eval_metric=metric, **QUIET)
    model.fit(pool(OTHER), eval_set=pool(VALID))
    assert repr(copy.deepcopy(metric)) == repr(metric)
    assert train(metric, pool(VALID)).get_evals_result() == first


def test_labels_in_32_bits():
    web = Bunch(**VALID)
    web.target = np.where(VALID.target >= 2, 0.7, 0.1)
    metric = eval_metric("ap(rel=0.7)", pools=pool(web))
    model = train(metric, pool(web))
    scores = model.predict(web.data, ntree_end=1)
    assert model.get_evals_result()["validation"]["ExactMeasure"][0] == ranking_score(
        web.target, scores, qid=web.qid, measure="ap(rel=0.7)"
    )


def test_errors():
    with pytest.raises(ValueError, match=r"did you mean 'NDCG@10'\?"):
        eval_metric("ndgc@10", pools=pool(VALID))
    with pytest.raises(ValueError, match="pools must have group ids, got one without"):
        eval_metric(pools=Pool(VALID.data, VALID.target))
    merged = Pool(VALID.data, VALID.target, group_id=VALID.qid // 2)
    with pytest.raises(ValueError, match="evaluation sets must differ in their labels"):
        eval_metric(pools=[pool(VALID), merged])
    eval_metric(pools=[pool(VALID), pool(VALID)])
    varying = Pool(VALID.data, VALID.target, group_id=VALID.qid, weight=VALID.target)
    with pytest.raises(CatBoostError, match="weight must be constant within a query"):
        train(eval_metric(pools=varying), varying)
    with pytest.raises(CatBoostError, match="pools must include every evaluation set"):
        train(eval_metric(pools=pool(VALID)), pool(OTHER))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE"])
def test_what_catboost_promises(loss, threads):
    """The contract: whole evaluation sets, in order, once a tree, no warning of numba.

    What it is asked for is used; the learning data come in any order. A callback
    comes after the metrics of its tree. The last set decides.
    """

    class Seen:
        no_jit = True

        def __init__(self):
            self.calls, self.trees = [], []

        def __deepcopy__(self, memo):
            return self

        def is_max_optimal(self):
            return True

        def get_final_error(self, error, weight):
            return error

        def evaluate(self, approxes, target, weight):
            self.calls.append((np.array(target), np.array(approxes[0])))
            number = len(self.calls) // 3
            return float([number, -number, number == 1][len(self.calls) % 3 - 1]), 1.0

        def after_iteration(self, info):
            self.trees.append(len(self.calls))
            return True

    seen = Seen()
    model = CatBoostRanker(
        iterations=3,
        loss_function=loss,
        eval_metric=seen,
        use_best_model=False,
        **{**QUIET, "thread_count": threads},
    )
    model.fit(pool(TRAIN), eval_set=[pool(VALID), pool(OTHER)], callbacks=[seen])
    assert seen.trees == [3, 6, 9]
    for tree in range(3):
        learn, *evaluated = seen.calls[3 * tree : 3 * tree + 3]
        assert np.array_equal(np.sort(learn[0]), np.sort(TRAIN.target))
        for (labels, scores), web in zip(evaluated, (VALID, OTHER), strict=True):
            assert np.array_equal(labels, web.target)
            assert np.array_equal(scores, model.predict(web.data, ntree_end=tree + 1))
    assert model.get_best_iteration() == 0
