"""Common behaviour of the rankers of the three libraries."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.boosters.helpers import EVAL3, Q3, ROWS3, X3, Y3, exact, rows_of
from tieaware_sklearn import ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import NDCG

STOPPING = {"early_stopping_rounds": 5, "n_estimators": 60, "learning_rate": 0.5}


@pytest.mark.parametrize("objective", [0, 1])
def test_sorted_rows_give_the_model_of_the_library(booster, web, objective):
    options = {**booster.objectives[objective], **booster.sample, "random_state": 3}
    weight = web.qid % 3 + 0.7
    expected = booster.fit_library_ranker(web, weight, **options)
    # ids that sort differently
    names = np.array([f"q{-q % 7}{q}" for q in web.qid])
    model = booster.ranker(row_order="input", **options)
    model.fit(web.data, web.target, qid=names, sample_weight=weight)
    assert booster.bits(model) == booster.bits(expected)
    assert np.array_equal(model.predict(web.data), expected.predict(web.data))


@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse")
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_no_order_of_rows_moves_a_bit(booster, web, valid, kind):
    """All that has rows goes along: in training, in stopping and in logs."""
    rng = np.random.default_rng(0)
    n = len(web.qid)
    n_valid = len(valid.qid)
    weight = web.qid % 3 + 1.0
    valid_weight = valid.qid % 3 + 1.0
    start = rng.normal(size=n)
    valid_start = rng.normal(size=n_valid)
    parameters = {"n_estimators": 6, **booster.sample}

    def fit(rows, valid_rows):
        arguments = {"X": kind(web.data[rows]), "y": web.target[rows]}
        arguments["qid"] = [f"q{q:03}" for q in web.qid[rows]]
        arguments["sample_weight"] = weight[rows]
        arguments["init_score"] = start[rows]
        arguments["eval_names"] = ["held out", "seen"]
        arguments["eval_X"] = kind(valid.data[valid_rows]), kind(web.data)
        arguments["eval_y"] = valid.target[valid_rows], web.target
        arguments["eval_qid"] = valid.qid[valid_rows], web.qid
        arguments["eval_query_weight"] = valid_weight[valid_rows], None
        arguments["eval_init_score"] = valid_start[valid_rows], start
        return booster.fit(arguments, ["ap", "fallout@5"], **parameters)

    plain = fit(np.arange(n), np.arange(n_valid))
    mixed = fit(rng.permutation(n), rng.permutation(n_valid))
    assert booster.bits(plain) == booster.bits(mixed)
    assert plain.evals_result_ == mixed.evals_result_
    values = plain.evals_result_["held out"]["AP"]
    tree = -1
    if booster.library == "catboost":
        tree = plain.best_iteration_
    scores = booster.started(plain, kind(valid.data), valid_start)
    expected = exact(valid, scores, measure="ap", query_weight=valid_weight)
    assert values[tree] == pytest.approx(expected, abs=1e-9)


def test_cut_offs_may_be_shares_of_the_list(booster, web, valid):
    model = booster.fit(rows_of(web, valid), ["p@10%", "ndcg@2.5%"])
    (history,) = model.evals_result_.values()
    assert {"P@10%", "NDCG@2.5%"} <= set(history)
    tree = model.best_iteration_ if booster.library == "catboost" else -1
    scores = model.predict(valid.data)
    for name in ("P@10%", "NDCG@2.5%"):
        expected = exact(valid, scores, measure=name)
        assert history[name][tree] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("change", ["scaled", "one unit", "constant"])
def test_what_no_tree_sees_changes_no_bit(booster, web, change):
    data = np.float32(web.data).astype(float)
    rng = np.random.default_rng(0)
    if change == "scaled":
        changed = np.float32(data * 2.0 ** rng.integers(-3, 4, data.shape[1]))
    elif change == "one unit":
        # each twentieth cell moves up or down
        limit = np.where(rng.random(data.shape) < 0.5, np.inf, -np.inf)
        is_moved = rng.random(data.shape) < 0.05
        changed = np.where(is_moved, np.nextafter(data, limit), data)
    else:
        changed = np.column_stack([data, np.ones(len(data))])
    rows = rng.permutation(len(data))
    model = booster.ranker()
    expected = model.fit(data, web.target, qid=web.qid).predict(data)
    assert len(set(expected)) > 20
    model.fit(changed[rows], web.target[rows], qid=web.qid[rows])
    if change == "one unit":
        # thresholds have moved by no more than the cells of their bins
        changed = data
    np.testing.assert_array_equal(model.predict(changed), expected)


@pytest.mark.parametrize(("first", "best_of"), [("NDCG@10", max), ("Fallout@3", min)])
def test_early_stopping_is_exact(booster, web, valid, first, best_of):
    sets = {"held out: a-b": valid, "training": web}
    if booster.last_set_stops:
        further = make_web_search(n_queries=10, n_documents=15, random_state=2)
        sets = {"further": further, **sets}
    rows = rows_of(web, *sets.values()) | {"eval_names": list(sets)}
    model = booster.fit(rows, [first, "rr", NDCG(5)], **STOPPING)
    results = model.evals_result_
    assert set(results) == set(sets)
    names = [first, "RR", "NDCG@5"]
    held_out = results["held out: a-b"]
    assert list(held_out)[:3] == names
    # the first measure decides, on the last set that is not the training data
    values = held_out[first]
    best = best_of(values)
    tree = values.index(best)
    assert booster.best(model, "held out: a-b", first) == (tree, best)
    assert len(values) == tree + 6 < 60
    for name, data in sets.items():
        for trees in (1, tree + 1):
            scores = booster.first_trees(model, data.data, trees)
            for measure in names:
                expected = exact(data, scores, measure=measure)
                assert results[name][measure][trees - 1] == expected
    assert best == exact(valid, model.predict(valid.data), measure=first)


@pytest.mark.parametrize("zero", [0.0, 1.0, "skip", "raise"])
def test_queries_without_relevant_documents(booster, web, valid, zero):
    target = np.where(valid.qid == valid.qid[0], 0, valid.target)
    rows = rows_of(web, valid) | {"eval_y": target}
    if zero == "raise":
        with pytest.raises(Exception, match="AP is undefined for query"):
            booster.fit(rows, "ap", zero)
        return
    model = booster.fit(rows, "ap", zero)
    scores = booster.first_trees(model, valid.data, 1)
    options = {"qid": valid.qid, "measure": "ap", "zero_relevance": zero}
    expected = ranking_score(target, scores, **options)
    assert model.evals_result_["valid_0"]["AP"][0] == expected


@pytest.mark.filterwarnings("ignore:X and eval_X must both have feature names")
def test_an_array_is_evaluated_beside_a_frame(booster, web, valid):
    rows = rows_of(web, valid)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    model = booster.fit(rows | {"X": frame})
    assert model.evals_result_ == booster.fit(rows).evals_result_


def test_training_data_alone_keep_all_trees(booster, web):
    """Training data are recognised, and stop nothing."""
    rows = rows_of(web, web)
    model = booster.fit(rows)
    assert booster.n_trees(model) == 4
    assert list(model.evals_result_) == ["training"]
    expected = exact(web, model.predict(web.data))
    assert model.evals_result_["training"]["NDCG@10"][-1] == expected
    with pytest.raises(
        ValueError, match="early_stopping_rounds requires an evaluation"
    ):
        booster.fit(rows | {"eval_names": ["mine"]}, early_stopping_rounds=2)


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # XGBoost 3.4
def test_a_column_of_ids_and_one_of_categories(booster, web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(3, "qid", [f"q{q}" for q in web.qid])
    numbers = (web.target + web.qid).astype(int) % 3
    frame["kind"] = pd.Categorical(np.array(["a", "b", "c"])[numbers])
    without = frame.drop(columns="qid")
    options = {}
    if booster.library == "xgboost":
        options["enable_categorical"] = True
    elif booster.library == "catboost":
        options["cat_features"] = ["kind"]
    routed = booster.ranker(**options)
    routed.fit(without, web.target, qid=frame["qid"])
    expected = routed.predict(without)
    rows = np.random.default_rng(0).permutation(len(frame))
    model = booster.ranker(qid="qid", **options)
    model.fit(frame.iloc[rows], web.target[rows])
    for X in (frame, without):
        assert np.array_equal(model.predict(X), expected)
    assert model.n_features_in_ == 14
    assert model.feature_names_in_.tolist() == list(frame)
    if booster.library == "catboost":
        assert model.model_.feature_names_ == list(without)
    importances = model.feature_importances_
    assert importances[3] == 0 < importances.max()
    model.fit(frame, web.target, eval_X=(frame,), eval_y=(web.target.copy(),))
    expected = exact(web, model.predict(frame))
    assert expected in model.evals_result_["valid_0"]["NDCG@10"]


XGBOOST_TYPES = {"feature_types": ["q"] * 12 + ["c"], "enable_categorical": True}
#: Arguments that name the column of categories, with a column of ids and without.
#: They are arguments of `fit` if the first value is "fit".
CATEGORIES = {
    "lightgbm": [
        ("init", {"categorical_feature": [13]}, {"categorical_feature": [12]}),
        ("init", {"cat_feature": [13]}, {"cat_feature": [12]}),
        ("fit", {"categorical_feature": [13]}, {"categorical_feature": [12]}),
    ],
    # XGBoost has an entry for each feature, and the column of ids is none
    "xgboost": [("init", XGBOOST_TYPES, XGBOOST_TYPES)],
    "catboost": [("init", {"cat_features": [13]}, {"cat_features": [12]})],
}


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # XGBoost 3.4
@pytest.mark.filterwarnings("error:categorical_feature keyword")
def test_indices_of_categories_count_the_columns_of_X(booster, web):
    kind = np.array([3, 0, 4, 1, 2])[web.target.astype(int)]
    features = np.column_stack([web.data, kind])
    if booster.library == "catboost":
        # CatBoost takes no floats for categories
        features = features.astype(object)
        features[:, 12] = kind
    X = np.insert(features, 3, web.qid, axis=1)
    numeric = booster.ranker().fit(web.data, web.target, qid=web.qid)
    for place, with_ids, without_ids in CATEGORIES[booster.library]:
        if place == "fit":
            model = booster.ranker(qid=3).fit(X, web.target, **with_ids)
            reference = booster.ranker()
            reference.fit(features, web.target, qid=web.qid, **without_ids)
        else:
            model = booster.ranker(qid=3, **with_ids).fit(X, web.target)
            reference = booster.ranker(**without_ids)
            reference.fit(features, web.target, qid=web.qid)
        expected = reference.predict(features)
        assert not np.array_equal(expected, numeric.predict(web.data))
        assert np.array_equal(model.predict(X), expected)


@pytest.mark.parametrize("name", ["eval_set", "eval_group", "group", "max_depth"])
def test_arguments_of_the_library_are_refused(booster, web, name):
    arguments = f"'{name}': fit accepts .*qid.* and eval_query_weight"
    message = rf"{booster.ranker_name}.fit.*{arguments}"
    with pytest.raises(TypeError, match=message):
        booster.ranker().fit(**rows_of(web), **{name: None})


@pytest.mark.parametrize("measures", ["ap", ["rr", NDCG(5)]])
def test_eval_metric_is_given_to_either(booster, web, valid, measures):
    rows = rows_of(web, valid)
    first = booster.ranker(eval_metric=measures).fit(**rows)
    second = booster.ranker().fit(**rows, eval_metric=measures)
    assert first.evals_result_ == second.evals_result_
    assert "NDCG@10" not in first.evals_result_["valid_0"]
    # the measure of fit counts, and the measure of the constructor stays
    both = booster.ranker(eval_metric="p@1").fit(**rows, eval_metric=measures)
    assert both.evals_result_ == second.evals_result_
    assert "P@1" in both.fit(**rows).evals_result_["valid_0"]
    assert both.get_params()["eval_metric"] == "p@1"


@pytest.mark.parametrize("measure", [3, [3]])
def test_a_metric_that_is_no_measure_is_named(booster, web, measure):
    with pytest.raises(ValueError, match=r"measure must be a name .* got 3"):
        booster.ranker().fit(**rows_of(web), eval_metric=measure)


def test_parameters_are_those_of_the_library_and_ours(booster):
    parameters = booster.Ranker().get_params()
    library_parameters = booster.LibraryRanker().get_params()
    assert parameters.keys() >= {"qid", "row_order", *library_parameters}
    model = booster.ranker(**STOPPING, random_state=1)
    assert clone(model).get_params() == model.get_params()


def test_a_ranker_predicts_once_it_is_fitted(booster, web):
    with pytest.raises(NotFittedError):
        booster.ranker().predict(web.data)


def test_copies_predict_the_same(booster, web, valid):
    model = booster.ranker(**STOPPING, random_state=1)
    model.fit(**rows_of(web, valid))
    scores = model.predict(valid.data)
    best = booster.best(model, "valid_0", "NDCG@10")
    queries = pickle.dumps(model._fitted_queries_)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(copied.predict(valid.data), scores)
        assert copied.evals_result_ == model.evals_result_
        assert booster.best(copied, "valid_0", "NDCG@10") == best
        assert pickle.dumps(copied._fitted_queries_) == queries


def test_a_ranker_is_fitted_again_and_further(booster, web, valid):
    model = booster.ranker(**STOPPING, random_state=1)
    model.fit(**rows_of(web, valid))
    model.set_params(n_estimators=2, early_stopping_rounds=None)
    model.fit(**rows_of(web))
    assert booster.n_trees(model) == 2
    assert model.evals_result_ == {}
    model.fit(**rows_of(web), init_model=booster.inner(model))
    assert booster.n_trees(model) == 4


REFUSED = [
    ({}, {"qid": None}, "qid must contain the query .*got None: pass qid to fit"),
    ({"qid": 0}, {}, r"given only once.*set_fit_request\(qid=False\)"),
    ({"measures": "ndgc@10"}, {}, r"did you mean 'NDCG@10'\?"),
    ({"measures": ["rr", "mrr"]}, {}, r"(measures|eval_metric) must differ"),
    ({"zero_relevance": "x"}, {}, "zero_relevance must be one of"),
    ({"row_order": "sorted"}, {}, "row_order must be one of.*got 'sorted'"),
    ({"early_stopping_rounds": 2}, {}, "early_stopping_rounds requires an eval.* no"),
]


@pytest.mark.parametrize(("options", "arguments", "message"), REFUSED)
def test_what_is_refused(booster, options, arguments, message):
    with pytest.raises(ValueError, match=message):
        booster.fit(ROWS3 | arguments, **options)


@pytest.mark.parametrize("kind", [pd.DataFrame, np.asarray])
def test_score_says_that_the_column_of_ids_is_missing(booster, web, kind):
    name = "id" if kind is pd.DataFrame else 0
    frame = pd.DataFrame(web.data[:, :3], columns=list("abc"))
    ids = pd.Series(web.qid, name="id")
    with_ids = kind(pd.concat([ids, frame], axis=1))
    model = booster.ranker(qid=name).fit(with_ids, web.target)
    message = f"X must have the qid column {name!r}.*got neither"
    with pytest.raises(ValueError, match=message):
        model.score(kind(frame), web.target)
    score = model.score(with_ids, web.target)
    assert model.score(kind(frame), web.target, qid=web.qid) == score


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", "id", "id"]])
def test_columns_of_one_name_are_refused(booster, names):
    frame = pd.DataFrame(X3, columns=names)
    with pytest.raises(ValueError, match=r"X must have different column names, got.*a"):
        booster.ranker().fit(frame, Y3, qid=Q3)
    if "id" in names:
        with pytest.raises(ValueError, match="X must have different column names"):
            booster.ranker(qid="id").fit(frame, Y3)


def test_it_warns_of_names_of_features_on_one_side_only(booster):
    frame = pd.DataFrame(X3, columns=list("abc"))
    for X, eval_X in ((X3, frame), (frame, X3)):
        with pytest.warns(UserWarning, match=r'transform_input=\["eval_X"\]'):
            booster.fit(ROWS3 | EVAL3 | {"X": X, "eval_X": eval_X})
