"""Query rankers by LightGBM's: their data, their order of rows, their tools."""

from __future__ import annotations

import inspect
import pickle
import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.lightgbm.helpers import ranker, rows_of, trees_of
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric


@pytest.fixture(scope="module")
def frame(web):
    return pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)


@pytest.fixture(scope="module")
def plain(web):
    return ranker().fit(**rows_of(web))


@pytest.fixture(scope="module")
def orders(web):
    """Orders of all rows: mixed, by label, and with queries turned round."""
    rng = np.random.default_rng(0)
    return [
        rng.permutation(len(web.qid)),
        np.lexsort([-web.target, web.qid]),
        np.lexsort([web.target, -web.qid]),
    ]


def with_order(data, rows):
    return {"X": data.data[rows], "y": data.target[rows], "qid": data.qid[rows]}


# -- columns


def test_frames_must_have_the_columns_of_fit(web, frame):
    frame = frame.drop(columns="qid")
    other = frame[frame.columns[::-1]]
    model = ranker().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in order: 'in_degree' as column 0, got"):
        model.predict(other)
    with pytest.raises(ValueError, match="eval_X must have the columns"):
        ranker().fit(**{**rows_of(web, web), "X": frame, "eval_X": other})
    with pytest.raises(ValueError, match=r"eval_X must .* 12 features, got 11"):
        ranker().fit(**{**rows_of(web, web), "eval_X": web.data[:, 1:]})
    with pytest.raises(ValueError, match="X has 11 features, but QueryLGBMR"):
        model.predict(frame.drop(columns="clicks"))
    numbers = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(numbers, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(numbers[numbers.columns[::-1]])
    with pytest.raises(ValueError, match="X must be 2-dimensional"):
        ranker().fit(web.data[:, 0], web.target, qid=web.qid)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("eval_X", "eval_X must come with eval_y"),
        ("eval_y", "eval_y must hold the labels of eval_X, got None"),
        ("eval_qid", "eval_qid must .*Or let it be a column of eval_X"),
    ],
)
def test_parts_of_an_evaluation_set_come_together(web, valid, part, message):
    with pytest.raises(ValueError, match=message):
        ranker().fit(**{**rows_of(web, valid), part: None})


def test_categorical_features_are_counted_with_the_qid_column(web, frame):
    frame = frame[["qid", *web.feature_names]]
    data = frame.to_numpy()

    def categories(X, qid, wanted):
        model = ranker(qid=qid, min_data_per_group=1, cat_smooth=0.1, n_estimators=20)
        model.fit(X, web.target, categorical_feature=wanted)
        trees = model.booster_.trees_to_dataframe()
        return set(trees[trees.decision_type == "=="].split_feature)

    assert categories(frame, "qid", [5]) == {frame.columns[5]}
    assert categories(frame, "qid", [frame.columns[5]]) == {frame.columns[5]}
    assert categories(data, 0, [5]) == {"Column_4"}
    for X, qid, wanted in (
        *((frame, "qid", [0]), (frame, "qid", ["qid"])),
        *((data, 0, [0]), (data, -13, [0])),
    ):
        with pytest.raises(ValueError, match="must leave out the qid column, got"):
            ranker(qid=qid).fit(X, web.target, categorical_feature=wanted)


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


def test_it_is_fitted_again_and_a_fit_that_fails_leaves_the_last_one(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="y must be >= 0"):
        model.fit(frame[["clicks", "qid"]], web.target - 9)
    assert np.array_equal(model.predict(frame), before)
    model.set_params(qid=None).fit(web.data[:, :3], web.target, qid=web.qid)
    assert model.n_features_in_ == len(model.feature_importances_) == 3
    assert not hasattr(model, "feature_names_in_")


def test_a_column_of_fractions_holds_no_ids(web):
    X = np.column_stack([web.qid, web.data])
    select = SelectFromModel(LinearRegression(), max_features=3, threshold=-np.inf)
    pipeline = make_pipeline(StandardScaler(), select, ranker(qid=0))
    with pytest.warns(UserWarning, match="qid=0 is a column of fractions, with -1"):
        pipeline.fit(X, web.target)


# -- the order of rows


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"random_state": 3, "subsample": 0.7, "subsample_freq": 1},
        {"objective": "rank_xendcg", "random_state": 1},
    ],
)
def test_any_order_gives_the_same_bits(web, orders, options):
    expected = trees_of(ranker(**options).fit(**rows_of(web)))
    for rows in orders:
        assert trees_of(ranker(**options).fit(**with_order(web, rows))) == expected


def test_weights_and_scores_to_start_from_go_along(web, orders):
    rng = np.random.default_rng(1)
    # equal rows, which only their weights tell apart
    X = web.data.copy()
    X[::2] = X[0]
    y = web.target.copy()
    y[::2] = 1
    weight, start = rng.uniform(1, 2, len(y)), rng.normal(size=len(y))

    def trees(rows, **more):
        return trees_of(ranker().fit(X[rows], y[rows], qid=web.qid[rows], **more))

    everything = np.arange(len(y))
    for values in (
        {"sample_weight": weight},
        {"init_score": start},
        {"sample_weight": weight, "init_score": start},
    ):
        plain = trees(everything, **values)
        for rows in orders:
            cut = {name: value[rows] for name, value in values.items()}
            assert trees(rows, **cut) == plain
    ones = {"sample_weight": np.ones(len(y))}
    assert trees(orders[0], **ones) == trees(everything)


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
        sp.csc_matrix,
        np.ndarray.tolist,
    ],
    ids=["pandas", "polars", "arrow", "csc", "list"],
)
def test_all_containers_have_one_order(web, orders, make):
    # numbers that 32 bits hold
    X = np.round(web.data.astype(float) * 8) / 8
    expected = ranker().fit(X, web.target, qid=web.qid)
    rows = orders[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker().fit(make(X[rows]), web.target[rows], qid=web.qid[rows])
        np.testing.assert_array_equal(model.predict(make(X)), expected.predict(X))


def test_the_seed_decides_the_order(web, plain):
    """As it does what is drawn; None is a seed, too."""
    rows = rows_of(web)
    one = trees_of(ranker(random_state=1).fit(**rows))
    assert trees_of(plain) != one
    for options in ({"random_state": None}, {"random_state": 0}):
        assert trees_of(ranker(**options).fit(**rows)) == trees_of(plain)
    for name in ("seed", "random_seed"):
        assert trees_of(ranker(**{name: 1}).fit(**rows)) == one
    for make in (np.random.RandomState, np.random.default_rng):
        first, again = (
            trees_of(ranker(random_state=make(5)).fit(**rows)) for _ in range(2)
        )
        assert first == again


def test_input_order_is_that_of_lightgbm(web, valid):
    """The very trees of LGBMRanker, whatever the order of the ids."""
    # queries from last to first, rows of each as they are
    rows = np.argsort(-web.qid, kind="stable")
    given = with_order(web, rows)
    ids = np.array([f"q{q % 7}-{q}" for q in given["qid"]], dtype=object)
    sizes = np.unique(web.qid, return_counts=True)[1][::-1]
    weight = np.random.default_rng(0).uniform(1, 2, len(ids))
    options = {"n_estimators": 8, "num_leaves": 4, "verbosity": -1, "n_jobs": 1}
    for state in (None, 3, np.random.RandomState):
        seeds = [state(1) if callable(state) else state for _ in range(2)]
        theirs = lgb.LGBMRanker(random_state=seeds[0], subsample=0.5, **options)
        theirs.fit(given["X"], given["y"], group=sizes, sample_weight=weight)
        ours = QueryLGBMRanker(
            random_state=seeds[1], subsample=0.5, row_order="input", **options
        )
        ours.fit(given["X"], given["y"], qid=ids, sample_weight=weight)
        assert trees_of(ours) == trees_of(theirs)
        np.testing.assert_array_equal(
            ours.predict(valid.data), theirs.predict(valid.data)
        )


def test_input_order_of_rows_that_are_mixed(web, orders):
    """Queries by first appearance, rows of each in their order."""
    rows = orders[0]
    first = {q: place for place, q in reversed([*enumerate(web.qid[rows])])}
    gathered = np.argsort([first[q] for q in web.qid[rows]], kind="stable")
    mixed, stood, turned = (
        trees_of(ranker(row_order="input").fit(**with_order(web, own)))
        for own in (rows, rows[gathered], orders[1])
    )
    assert mixed == stood
    # what "canonical" is for: were it gone, there would be no need
    assert mixed != turned
    with pytest.raises(ValueError, match=r"row_order must be .*got 'sorted'"):
        ranker(row_order="sorted").fit(**rows_of(web))


def test_labels_of_mixed_rows_are_named_as_given(web, orders):
    order = orders[0]
    labels = web.target.astype(float)
    labels[order[7]] = 0.5
    with pytest.raises(ValueError, match=r"y must be integers .*0.5 in row 7$"):
        ranker().fit(web.data[order], labels[order], qid=web.qid[order])
    with pytest.warns(UserWarning, match="y must be 1-dimensional") as caught:
        ranker().fit(web.data, web.target[:, None], qid=web.qid)
    assert len(caught) == 1


# -- evaluation sets


def test_values_are_logged_under_stable_names(web, valid, orders):
    """Canonical names, for callbacks of LightGBM and for its own records."""
    history, shown = {}, []
    own = rows_of(web)
    sets = [with_order(web, orders[1]), rows_of(valid), own]
    model = ranker(metric="ndcg", n_estimators=3).fit(
        **own,
        **{f"eval_{name}": [one[name] for one in sets] for name in own},
        eval_metric=["ndcg@10", "ap", "p@5"],
        eval_at=[10],
        callbacks=[
            lgb.record_evaluation(history),
            lambda env: shown.append(env.evaluation_result_list),
        ],
    )
    names = ["NDCG@10", "AP", "P@5"]
    assert sorted(history) == ["training", "valid_0", "valid_1"]
    for results in (history, model.evals_result_):
        for values in results.values():
            # LightGBM's own keep their names, which no measure has
            assert next(iter(values)) == "NDCG@10"
            assert set(values) == {*names, "ndcg@10"}
            assert all(len(value) == 3 for value in values.values())
    assert {entry[:2] for entry in shown[0]} == {
        (part, name) for part in history for name in [*names, "ndcg@10"]
    }
    scores = model.predict(web.data)
    expected = ranking_score(web.target, scores, qid=web.qid)
    for part in ("training", "valid_0"):
        assert history[part]["NDCG@10"][2] == expected
        assert model.best_score_[part]["NDCG@10"] == expected


def test_a_data_set_is_prepared_once_and_a_few_are_kept(web):
    metric = eval_metric("ndcg@10")
    sizes = np.unique(web.qid, return_counts=True)[1]
    labels = web.target.copy()
    scores = np.zeros(len(labels))
    value = metric(labels, scores, None, sizes)
    (prepared,) = metric._prepared.values()
    metric(labels, scores + web.data[:, 0], None, sizes)
    assert [*metric._prepared.values()] == [prepared]
    # other labels or groups in the same place are other data
    labels[:] = labels[::-1].copy()
    assert metric(labels, scores, None, sizes) != value
    merged = np.r_[sizes[0] + sizes[1], sizes[2:]]
    assert metric(labels, scores, None, merged) == (
        "NDCG@10",
        ranking_score(labels, scores, qid=np.repeat(np.arange(len(merged)), merged)),
        True,
    )
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(labels)
        metric(labels, scores, None, sizes)
    assert len(metric._prepared) <= 16


def test_labels_and_weights_in_32_bits(web, valid):
    """LightGBM keeps 0.7 as 0.699999988, which is not >= 0.7."""
    y, z = (np.where(d.target >= 2, 0.7, 0.1) for d in (web, valid))
    weight = valid.qid % 3 * 0.1 + 0.1
    measures = ["ap(rel=0.7)", "ndcg(gain={0.1:0,0.7:1})@10"]
    model = ranker(objective="regression").fit(
        **{**rows_of(web, valid), "y": y, "eval_y": z},
        eval_sample_weight=weight,
        eval_metric=measures,
    )
    scores = model.predict(valid.data)
    found = model.best_score_["valid_0"].values()
    for measure, value in zip(measures, found, strict=True):
        expected = ranking_score(
            z, scores, qid=valid.qid, measure=measure, query_weight=weight
        )
        assert value == pytest.approx(expected, abs=1e-15)


# -- among scikit-learn's tools


@pytest.mark.parametrize("routing", [False, True])
def test_searches_and_weighted_scores_with_routing_and_a_column(web, frame, routing):
    weight = web.qid % 3 + 1.0
    X = frame.drop(columns="qid") if routing else frame
    given = {"qid": web.qid} if routing else {}
    qid = None if routing else "qid"
    with sklearn.config_context(enable_metadata_routing=routing):
        model = ranker(qid=qid)
        found, expected = (
            cross_val_score(
                model, X, web.target, cv=QueryKFold(3, qid=qid), scoring=scoring,
                params=given or None, error_score="raise",
            )
            for scoring in (None, make_ranking_scorer("ndcg@10", qid=qid))
        )  # fmt: skip
        assert np.array_equal(found, expected)
        pipeline = make_pipeline("passthrough", model).fit(X, web.target, **given)
        scores = pipeline.predict(X)
        score = ranking_score(web.target, scores, qid=web.qid)
        # with routing on, Pipeline.score hands sample_weight down, as None too
        assert pipeline.score(X, web.target, **given) == score
        given["sample_weight"] = weight
        if routing:
            with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
                pipeline.score(X, web.target, **given)
            model.set_score_request(sample_weight=True)
        weighted = ranking_score(web.target, scores, qid=web.qid, query_weight=weight)
        assert weighted != score
        assert pipeline.score(X, web.target, **given) == weighted


def test_no_selector_takes_the_column_of_ids_for_a_bad_feature(frame, web):
    with pytest.raises(ValueError, match="contains NaN"):
        RFE(ranker(qid=-1), n_features_to_select=4).fit(frame.to_numpy(), web.target)


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
    frame, held = (
        pd.DataFrame(one.data, columns=web.feature_names) for one in (web, valid)
    )
    model.fit(**{**rows_of(web, valid), "X": frame, "eval_X": held})
    sizes, held_sizes = (
        np.unique(one.qid, return_counts=True)[1] for one in (web, valid)
    )
    theirs = lgb.LGBMRanker(early_stopping_rounds=3, n_estimators=20, verbosity=-1)
    evaluated = {"eval_y": valid.target, "eval_group": [held_sizes]}
    theirs.fit(frame, web.target, group=sizes, eval_X=held, **evaluated)
    again = pickle.loads(pickle.dumps(model))
    for name in names:
        assert type(getattr(model, name)) is type(getattr(theirs, name)), name
        if name != "booster_":
            assert str(getattr(again, name)) == str(getattr(model, name))
    assert trees_of(again) == trees_of(model)
    more = lgb.LGBMRanker(n_estimators=2, verbosity=-1)
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
