"""What the rankers of the three libraries promise alike."""

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
    theirs = booster.own(web, weight, **options)
    names = np.array([f"q{-q % 7}{q}" for q in web.qid])  # in another order
    ours = booster.ranker(row_order="input", **options)
    ours.fit(web.data, web.target, qid=names, sample_weight=weight)
    assert booster.bits(ours) == booster.bits(theirs)
    assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))


@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse")
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_no_order_of_rows_moves_a_bit(booster, web, valid, kind):
    """All that has rows goes along: in training, in stopping and in logs."""
    rng = np.random.default_rng(0)
    n, m = len(web.qid), len(valid.qid)
    weight, valid_weight = web.qid % 3 + 1.0, valid.qid % 3 + 1.0
    start, valid_start = rng.normal(size=n), rng.normal(size=m)

    def fit(rows, valid_rows):
        given = {
            "X": kind(web.data[rows]),
            "y": web.target[rows],
            "qid": [f"q{q:03}" for q in web.qid[rows]],
            "sample_weight": weight[rows],
            "init_score": start[rows],
            "eval_X": (kind(valid.data[valid_rows]), kind(web.data)),
            "eval_y": (valid.target[valid_rows], web.target),
            "eval_qid": (valid.qid[valid_rows], web.qid),
            "eval_names": ["held out", "seen"],
            "eval_query_weight": (valid_weight[valid_rows], None),
            "eval_init_score": (valid_start[valid_rows], start),
        }
        return booster.fit(given, ["ap", "fallout@5"], n_estimators=6, **booster.sample)

    plain = fit(np.arange(n), np.arange(m))
    mixed = fit(rng.permutation(n), rng.permutation(m))
    assert booster.bits(plain) == booster.bits(mixed)
    assert plain.evals_result_ == mixed.evals_result_
    values = plain.evals_result_["held out"]["AP"]
    tree = plain.best_iteration_ if booster.library == "catboost" else len(values) - 1
    scores = booster.started(plain, kind(valid.data), valid_start)
    expected = exact(valid, scores, measure="ap", query_weight=valid_weight)
    assert values[tree] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("change", ["scaled", "one unit", "constant"])
def test_what_no_tree_sees_changes_no_bit(booster, web, change):
    data = np.float32(web.data).astype(float)
    rng = np.random.default_rng(0)
    if change == "scaled":
        changed = np.float32(data * 2.0 ** rng.integers(-3, 4, data.shape[1]))
    elif change == "one unit":  # of each twentieth cell, up or down
        to = np.where(rng.random(data.shape) < 0.5, np.inf, -np.inf)
        few = rng.random(data.shape) < 0.05
        changed = np.where(few, np.nextafter(data, to), data)
    else:
        changed = np.column_stack([data, np.ones(len(data))])
    rows = rng.permutation(len(data))
    one = booster.ranker().fit(data, web.target, qid=web.qid)
    two = booster.ranker().fit(changed[rows], web.target[rows], qid=web.qid[rows])
    expected = one.predict(data)
    assert len(set(expected)) > 20
    # thresholds have moved by no more than the cells of their bins
    found = two.predict(data if change == "one unit" else changed)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("first", ["ndcg@10", "fallout@3"])
def test_early_stopping_is_exact(booster, web, valid, first):
    other = make_web_search(n_queries=10, n_documents=15, random_state=2)
    sets = {"other": other, "held out: a-b": valid, "training": web}
    if not booster.last_set_stops:
        del sets["other"]
    given = rows_of(web, *sets.values()) | {"eval_names": list(sets)}
    model = booster.fit(given, [first, "rr", NDCG(5)], **STOPPING)
    results = model.evals_result_
    assert set(results) == set(sets)
    names = [{"ndcg@10": "NDCG@10", "fallout@3": "Fallout@3"}[first], "RR", "NDCG@5"]
    found = results["held out: a-b"]
    assert list(found)[:3] == names
    decides = found[names[0]]
    best = (max if first == "ndcg@10" else min)(decides)
    tree = decides.index(best)
    # the first measure, on the last set that is not the training data
    assert booster.best(model, "held out: a-b", names[0]) == (tree, best)
    assert len(decides) == tree + 6 < 60
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
    given = {**rows_of(web, valid), "eval_y": target}
    if zero == "raise":
        with pytest.raises(Exception, match="AP is undefined for query"):
            booster.fit(given, "ap", zero)
        return
    model = booster.fit(given, "ap", zero)
    scores = booster.first_trees(model, valid.data, 1)
    options = {"qid": valid.qid, "measure": "ap", "zero_relevance": zero}
    expected = ranking_score(target, scores, **options)
    assert model.evals_result_["valid_0"]["AP"][0] == expected


@pytest.mark.filterwarnings("ignore:X and eval_X must both have feature names")
def test_an_array_is_evaluated_beside_a_frame(booster, web, valid):
    given = rows_of(web, valid)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    model = booster.fit(given | {"X": frame})
    assert model.evals_result_ == booster.fit(given).evals_result_


def test_training_data_alone_keep_all_trees(booster, web):
    """They are known as such, and stop nothing."""
    own = rows_of(web, web)
    model = booster.fit(own)
    assert booster.n_trees(model) == 4
    assert list(model.evals_result_) == ["training"]
    expected = exact(web, model.predict(web.data))
    assert model.evals_result_["training"]["NDCG@10"][-1] == expected
    with pytest.raises(ValueError, match="early_stopping_rounds needs an evaluation"):
        booster.fit(own | {"eval_names": ["mine"]}, early_stopping_rounds=2)


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # XGBoost 3.4
def test_a_column_of_ids_and_one_of_categories(booster, web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(3, "qid", [f"q{q}" for q in web.qid])
    kinds = np.array(["a", "b", "c"])[(web.target + web.qid).astype(int) % 3]
    frame["kind"] = pd.Categorical(kinds)
    without = frame.drop(columns="qid")
    options = {
        "lightgbm": {},
        "xgboost": {"enable_categorical": True},
        "catboost": {"cat_features": ["kind"]},
    }[booster.library]
    routed = booster.ranker(**options).fit(without, web.target, qid=frame["qid"])
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


#: how a library is told of columns of categories, in the constructor or in fit
CATEGORIES = {
    "lightgbm": [
        *({name: [13]} for name in ("categorical_feature", "cat_feature")),
        {"fit": {"categorical_feature": [13]}},
    ],
    # one entry for each feature, which no column of ids shifts
    "xgboost": [{"feature_types": ["q"] * 12 + ["c"], "enable_categorical": True}],
    "catboost": [{"cat_features": [13]}],
}


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # XGBoost 3.4
@pytest.mark.filterwarnings("error:categorical_feature keyword")
def test_indices_of_categories_count_the_columns_of_X(booster, web):
    kind = np.array([3, 0, 4, 1, 2])[web.target.astype(int)]
    features = np.column_stack([web.data, kind])
    if booster.library == "catboost":  # which takes no floats for categories
        features = features.astype(object)
        features[:, 12] = kind
    X = np.insert(features, 3, web.qid, axis=1)

    def fitted(given, X, **options):
        given = dict(given)
        fit = given.pop("fit", {})
        ids = {} if "qid" in options else {"qid": web.qid}
        return booster.ranker(**given, **options).fit(X, web.target, **ids, **fit)

    def without_ids(given):
        if "fit" in given:
            return {"fit": without_ids(given["fit"])}
        return given if booster.library == "xgboost" else {name: [12] for name in given}

    plain = fitted({}, web.data).predict(web.data)
    for given in CATEGORIES[booster.library]:
        expected = fitted(without_ids(given), features).predict(features)
        assert not np.array_equal(expected, plain)
        assert np.array_equal(fitted(given, X, qid=3).predict(X), expected)


@pytest.mark.parametrize("name", ["eval_set", "eval_group", "group", "max_depth"])
def test_arguments_of_the_library_are_refused(booster, web, name):
    said = rf"{booster.ranker_name}.fit.*'{name}': it takes qid.* and eval_query_weight"
    with pytest.raises(TypeError, match=said):
        booster.ranker().fit(**rows_of(web), **{name: None})


@pytest.mark.parametrize("measures", ["ap", ["rr", NDCG(5)]])
def test_eval_metric_is_given_to_either(booster, web, valid, measures):
    rows = rows_of(web, valid)
    first = booster.ranker(eval_metric=measures).fit(**rows)
    second = booster.ranker().fit(**rows, eval_metric=measures)
    assert first.evals_result_ == second.evals_result_
    assert "NDCG@10" not in first.evals_result_["valid_0"]
    # that of fit counts, and the constructor's stays
    both = booster.ranker(eval_metric="p@1").fit(**rows, eval_metric=measures)
    assert both.evals_result_ == second.evals_result_
    assert "P@1" in both.fit(**rows).evals_result_["valid_0"]
    assert both.get_params()["eval_metric"] == "p@1"


@pytest.mark.parametrize("measure", [3, [3]])
def test_a_metric_that_is_no_measure_is_named(booster, web, measure):
    with pytest.raises(ValueError, match=r"measure must be a name .* got 3"):
        booster.ranker().fit(**rows_of(web), eval_metric=measure)


def test_copies_parameters_and_another_fit(booster, web, valid):
    model = booster.ranker(**STOPPING, random_state=1)
    with pytest.raises(NotFittedError):
        model.predict(web.data)
    assert clone(model).get_params() == model.get_params()
    theirs = booster.Theirs().get_params()
    assert booster.Ranker().get_params().keys() >= {"qid", "row_order", *theirs}
    model.fit(**rows_of(web, valid))
    scores = model.predict(valid.data)
    best = booster.best(model, "valid_0", "NDCG@10")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(valid.data), scores)
        assert other.evals_result_ == model.evals_result_
        assert booster.best(other, "valid_0", "NDCG@10") == best
        kept = [pickle.dumps(one._fitted_queries_) for one in (other, model)]
        assert kept[0] == kept[1]
    model.set_params(n_estimators=2, early_stopping_rounds=None)
    again = model.fit(**rows_of(web))
    assert booster.n_trees(again) == 2
    assert again.evals_result_ == {}
    again.fit(**rows_of(web), init_model=booster.inner(again))
    assert booster.n_trees(again) == 4


REFUSED = [
    ({}, {"qid": None}, "qid must hold the query .*got None: pass qid to fit"),
    ({"qid": 0}, {}, r"given once.*set_fit_request\(qid=False\)"),
    ({"measures": "ndgc@10"}, {}, r"did you mean 'NDCG@10'\?"),
    ({"measures": ["rr", "mrr"]}, {}, r"(measures|eval_metric) must differ"),
    ({"zero_relevance": "x"}, {}, "zero_relevance must be one of"),
    ({"row_order": "sorted"}, {}, "row_order must be one of.*got 'sorted'"),
    ({"early_stopping_rounds": 2}, {}, "early_stopping_rounds needs an eval.* no"),
]


@pytest.mark.parametrize(("options", "given", "message"), REFUSED)
def test_what_is_refused(booster, options, given, message):
    with pytest.raises(ValueError, match=message):
        booster.fit({**ROWS3, **given}, **options)


@pytest.mark.parametrize("kind", [pd.DataFrame, np.asarray])
def test_score_says_that_the_column_of_ids_is_missing(booster, web, kind):
    name = "id" if kind is pd.DataFrame else 0
    frame = pd.DataFrame(web.data[:, :3], columns=list("abc"))
    with_ids = kind(pd.concat([pd.Series(web.qid, name="id"), frame], axis=1))
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
            booster.fit({"X": X, "y": Y3, "qid": Q3, **EVAL3, "eval_X": eval_X})
