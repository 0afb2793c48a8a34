"""QueryLGBMRanker: the real LightGBM with query ids."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import sys
import warnings

import joblib
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from tests.lightgbm.helpers import ranker, rows_of, trees_of
from tests.strategies import queries
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric
from tieaware_sklearn.measures import NDCG


def test_sorted_rows_give_lightgbms_own_model(web):
    sizes = np.unique(web.qid, return_counts=True)[1]
    theirs = lgb.LGBMRanker(n_estimators=5, num_leaves=4, verbosity=-1, n_jobs=1)
    theirs.fit(web.data, web.target, group=sizes)
    ours = ranker(row_order="input").fit(web.data, web.target, qid=web.qid)
    assert trees_of(ours) == trees_of(theirs)
    assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))


@settings(max_examples=20)
@given(queries(max_queries=6, max_documents=10))
def test_queries_in_any_order_give_the_same_model(rows):
    labels, scores, qid = (np.array(column) for column in rows)
    if len(labels) < 2:
        return
    X = np.column_stack([np.nan_to_num(scores, neginf=-9), labels + scores * 0.5])
    X = np.nan_to_num(X, neginf=-9)
    options = {"min_child_samples": 1, "min_data_in_bin": 1, "n_estimators": 2}
    order = np.argsort(qid, kind="stable")
    plain = ranker(**options).fit(X[order], labels[order], qid=qid[order])
    mixed = ranker(**options).fit(X, labels, qid=qid)
    assert np.array_equal(mixed.predict(X), plain.predict(X))


def mixed_up(web, seed=0):
    """Whole queries in another order, rows of a query in the same, spread out."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random(len(web.qid)))
    places = np.argsort(web.qid[order], kind="stable")
    rows = np.empty(len(order), dtype=int)
    rows[places] = np.argsort(web.qid, kind="stable")
    return rows


def test_everything_with_rows_goes_along(web, valid):
    rng = np.random.default_rng(0)
    n, m = len(web.qid), len(valid.qid)
    weight, start = rng.uniform(1, 2, n), rng.normal(size=n)
    valid_start, valid_weight = rng.normal(size=m), valid.qid % 3 + 1.0
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    valid_frame = pd.DataFrame(valid.data, columns=web.feature_names)
    for table in (frame, valid_frame):
        table["n_slashes"] = pd.Categorical(
            table["n_slashes"].astype(int), categories=range(20)
        )
    ids, valid_ids = (np.array([f"q{q:04}" for q in d.qid]) for d in (web, valid))

    def fit(rows, eval_rows):
        model = ranker(subsample=0.7, subsample_freq=1, random_state=0)
        return model.fit(
            frame.iloc[rows],
            web.target[rows],
            qid=ids[rows],
            sample_weight=weight[rows],
            init_score=start[rows],
            eval_X=(valid_frame.iloc[eval_rows], frame),
            eval_y=(valid.target[eval_rows], web.target),
            eval_qid=(valid_ids[eval_rows], ids),
            eval_names=["held out", "seen"],
            eval_sample_weight=[valid_weight[eval_rows]],
            eval_init_score=(valid_start[eval_rows], start),
            eval_metric=["ap", "fallout@5"],
        )

    plain = fit(np.arange(n), np.arange(m))
    mixed = fit(mixed_up(web), mixed_up(valid, 1))
    assert np.array_equal(plain.predict(frame), mixed.predict(frame))
    assert plain.evals_result_ == mixed.evals_result_
    assert list(plain.evals_result_) == ["held out", "seen"]
    scores = plain.predict(valid_frame, raw_score=True) + valid_start
    assert plain.evals_result_["held out"]["AP"][-1] == pytest.approx(
        ranking_score(
            valid.target,
            scores,
            qid=valid.qid,
            measure="ap",
            query_weight=valid_weight,
        ),
        abs=1e-12,
    )
    assert plain.booster_.pandas_categorical == [list(range(20))]


def test_continues_from_a_model(web):
    first = ranker(n_estimators=3).fit(web.data, web.target, qid=web.qid)
    more = ranker(n_estimators=2).fit(
        web.data, web.target, qid=web.qid, init_model=first
    )
    assert more.booster_.num_trees() == 5
    seen = []
    ranker(n_estimators=2).fit(
        web.data, web.target, qid=web.qid, callbacks=[lambda env: seen.append(env)]
    )
    assert len(seen) == 2


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
    ],
    ids=["list", "pandas", "polars", "arrow", "csr", "csc", "coo"],
)
def test_matrices_of_any_kind(web, make):
    rows = mixed_up(web)
    X = web.data.astype(float)
    plain = ranker().fit(X, web.target, qid=web.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker().fit(make(X[rows]), web.target[rows], qid=web.qid[rows])
        predicted = model.predict(make(X))
    np.testing.assert_array_equal(predicted, plain.predict(X))


@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "sparse", "list"])
def test_query_ids_from_a_column(web, valid, kind):
    make = {
        "pandas": lambda X: pd.DataFrame(X).rename(columns={3: "qid"}),
        "polars": lambda X: pl.DataFrame(X).rename({"column_3": "qid"}),
        "array": np.asarray,
        "sparse": sp.csr_array,
        "list": np.ndarray.tolist,
    }[kind]
    column = "qid" if kind in ("pandas", "polars") else 3
    plain = ranker(early_stopping_rounds=3).fit(
        **rows_of(web, valid),
    )
    X, Z = (make(np.insert(d.data, 3, d.qid, axis=1)) for d in (web, valid))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker(early_stopping_rounds=3, qid=column)
        model.fit(X, web.target, eval_X=Z, eval_y=valid.target)
        assert model.evals_result_ == plain.evals_result_
        expected = plain.predict(valid.data)
        np.testing.assert_array_equal(model.predict(Z), expected)
        if kind == "array":
            np.testing.assert_array_equal(model.predict(valid.data), expected)
        if kind == "pandas":
            bare = Z.drop(columns="qid")
            np.testing.assert_array_equal(model.predict(bare), expected)
    assert model.n_features_in_ == web.data.shape[1] + 1


def test_several_measures_stop_on_the_first(web, valid):
    options = {"n_estimators": 60, "early_stopping_rounds": 4, "learning_rate": 0.3}

    def best(measures, **more):
        model = ranker(**options, **more).fit(
            **rows_of(web, valid), eval_metric=measures
        )
        assert model.best_iteration_ < 60
        return model.best_iteration_, list(model.evals_result_["valid_0"])

    alone = {name: best(name)[0] for name in ("ndcg@10", "rr", "p@1")}
    assert len(set(alone.values())) > 1
    for first in alone:
        measures = [first, *(name for name in alone if name != first)]
        stopped, names = best(measures)
        assert stopped == alone[first]
        assert [name.lower() for name in names] == measures
        # LightGBM's own metrics are shown too, and do not decide
        with_theirs, names = best(measures, metric=["ndcg", "map"])
        assert with_theirs == alone[first]
        assert {"ndcg@5", "map@1"} < set(names)
    any_of_them = best(list(alone), first_metric_only=False)[0]
    assert any_of_them <= max(alone.values())


def test_metrics_of_other_kinds(web, valid):
    def share(y_true, y_pred):
        return "share", float(np.mean(y_pred > 0)), True

    model = ranker().fit(
        **rows_of(web, valid),
        eval_metric=["rr", share, NDCG(k=3)],
    )
    assert list(model.evals_result_["valid_0"]) == ["RR", "share", "NDCG@3"]
    model.fit(
        **rows_of(web, web),
        eval_metric=share,
    )
    # the training data is known as such
    assert {k: list(v) for k, v in model.evals_result_.items()} == {
        "training": ["share"]
    }
    own = ranker(metric="auc").fit(
        **{**rows_of(web, valid), "eval_y": valid.target > 1},
        eval_metric=None,
    )
    assert list(own.evals_result_["valid_0"]) == ["auc"]


OURS = {"qid", "row_order"}


def test_clone_params_and_pickle(web):
    model = ranker(qid="topic", early_stopping_rounds=3, label_gain=[0, 1, 3, 7, 15])
    text = (
        "QueryLGBMRanker(early_stopping_rounds=3, label_gain=[0, 1, 3, 7, 15], "
        "n_estimators=5, n_jobs=1, num_leaves=4, qid='topic', verbosity=-1)"
    )
    assert " ".join(repr(model).split()) == text
    assert repr(clone(model)) == repr(model)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(qid=None, num_leaves=5).get_params()["num_leaves"] == 5
    names = set(lgb.LGBMRanker().get_params())
    assert set(QueryLGBMRanker().get_params()) == names | OURS
    for method in ("__init__", "predict"):
        ours, theirs = (
            inspect.signature(getattr(cls, method)).parameters
            for cls in (QueryLGBMRanker, lgb.LGBMRanker)
        )
        assert {k: v for k, v in ours.items() if k not in OURS} == dict(theirs)
    predicted = ranker().fit(**rows_of(web)).predict(web.data, True, 0, 2)
    shorter = ranker(n_estimators=2).fit(**rows_of(web))
    assert np.array_equal(predicted, shorter.predict(web.data, raw_score=True))
    fitted = ranker().fit(web.data, web.target, qid=web.qid)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(other.predict(web.data), fitted.predict(web.data))
        kept = [pickle.dumps(one._fitted_queries_) for one in (other, fitted)]
        assert kept[0] == kept[1]


def test_a_fitted_ranker_through_a_file(web, tmp_path):
    fitted = ranker().fit(web.data, web.target, qid=web.qid)
    joblib.dump(fitted, tmp_path / "ranker.joblib")
    loaded = joblib.load(tmp_path / "ranker.joblib")
    assert np.array_equal(loaded.predict(web.data), fitted.predict(web.data))


def test_lightgbm_is_told_nothing_that_it_does_not_know(web, capfd):
    model = ranker(verbosity=1, qid=0)
    model.fit(np.column_stack([web.qid, web.data]), web.target)
    model.predict(web.data)
    told = capfd.readouterr()
    assert "Unknown parameter" not in told.out + told.err


def test_early_stopping_inside_a_search(web, valid):
    """A validation set of its own goes to every fit, uncut."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = ranker(early_stopping_rounds=2, n_estimators=20)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {"querylgbmranker__num_leaves": [3, 7]},
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            error_score="raise",
        ).fit(
            web.data,
            web.target,
            qid=web.qid,
            eval_X=(valid.data,),
            eval_y=(valid.target,),
            eval_qid=(valid.qid,),
        )
        best = search.best_estimator_[-1]
        assert 1 <= best.best_iteration_ < 20
        # of the whole set, as it was given: the pipeline did not transform it
        scores = best.predict(valid.data)
        expected = ranking_score(valid.target, scores, qid=valid.qid)
        assert best.best_score_["valid_0"]["NDCG@10"] == expected


def test_early_stopping_behind_a_transformer(web, valid):
    """The guide: transform_input has the pipeline transform the validation set."""
    scaler = PCA(n_components=5, random_state=0)
    model = make_pipeline(scaler, ranker(), transform_input=["eval_X"])
    given = {"eval_X": (valid.data,), "eval_y": (valid.target,)}
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(web.data, web.target, qid=web.qid, **given, eval_qid=(valid.qid,))
    found = model[-1].evals_result_["valid_0"]["NDCG@10"][-1]
    scores = model.predict(valid.data)
    assert found == ranking_score(valid.target, scores, qid=valid.qid)


def test_sample_weight_is_routed_on_request(web):
    weight = np.random.default_rng(0).uniform(0.1, 9, len(web.qid))
    cv = QueryKFold(3)

    def scores(model, params):
        with sklearn.config_context(enable_metadata_routing=True):
            return cross_val_score(
                model,
                web.data,
                web.target,
                scoring=make_ranking_scorer(),
                cv=cv,
                params=params,
                error_score="raise",
            ).tolist()

    with sklearn.config_context(enable_metadata_routing=True):
        weighted = ranker().set_fit_request(sample_weight=True)
    found = scores(weighted, {"qid": web.qid, "sample_weight": weight})
    assert found != scores(ranker(), {"qid": web.qid})
    expected = []
    for train, test in cv.split(web.data, groups=web.qid):
        rows = {"qid": web.qid[train], "sample_weight": weight[train]}
        model = ranker().fit(web.data[train], web.target[train], **rows)
        predicted = model.predict(web.data[test])
        expected.append(ranking_score(web.target[test], predicted, qid=web.qid[test]))
    assert found == expected


X3 = np.arange(9.0).reshape(3, 3)
EVAL3 = {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0], "eval_qid": [1, 1, 2]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "qid must hold the query of each row, got None: pass qid to fit"),
        ({"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
        ({"qid": [1, None, 2]}, "qid must not be missing"),
        ({"qid": [1, 1, 2], "y": [0, 1]}, r"y must have one value per row \(3\)"),
        (
            {"qid": [1, 1, 2], "y": [0, 1, np.nan]},
            "y must be judged .* nan in row 2",
        ),
        ({"qid": [1, 1, 2], "y": [0, 1, -1]}, "y must be >= 0, got -1.0 in row 2"),
        (
            {"qid": [2, 1, 2], "y": [0, 1.5, 1]},
            "y must be integers for LightGBM's lambdarank.*got 1.5 in row 1",
        ),
        (
            {"qid": [2, 1, 2], "y": [0, 1, 31]},
            "y must be below 31 for LightGBM's lambdarank.*got 31.0 in row 2",
        ),
        (
            {"qid": [1, 1, 2], "sample_weight": [1.0]},
            r"sample_weight must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "init_score": [1.0]},
            r"init_score must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0]},
            "got None: pass eval_qid to fit. Or let it be a column of eval_X, qid=",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_qid": [1, 1, 2]},
            "eval_y must hold the labels of eval_X",
        ),
        (
            {"qid": [1, 1, 2], "eval_qid": [1, 1, 2]},
            "eval_X must come with eval_qid",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0], "eval_qid": [1]},
            r"eval_qid must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": (X3, X3), "eval_y": [0, 1, 0]},
            "eval_y must be a tuple of 2 entries, as eval_X is",
        ),
        (
            {
                "qid": [1, 1, 2],
                "eval_X": X3,
                "eval_y": [0, 1, 0],
                "eval_qid": [1, 1, 2],
                "eval_sample_weight": [1.0, 2.0, 1.0],
            },
            "eval_sample_weight must be constant within a query, got 1.0 and 2.0",
        ),
        (
            {
                "qid": [1, 1, 2],
                "eval_X": (X3, X3),
                "eval_y": ([0, 1, 0], [0, 1, 0]),
                "eval_qid": ([1, 1, 2], [1, 1, 2]),
                "eval_sample_weight": np.ones(3),
            },
            "eval_sample_weight must be a tuple of 2",
        ),
        ({"qid": [1, 1, 2], "eval_metric": "ndgc@10"}, r"did you mean 'NDCG@10'\?"),
        ({"qid": [1, 1, 2], "eval_metric": "auc"}, 'constructor, metric="auc"'),
        ({"qid": [1, 1, 2], "eval_metric": "ndcg10"}, r"did you mean 'NDCG@10'\?"),
        (
            {"qid": [1, 1, 2], "eval_metric": ["rr", eval_metric("rr")]},
            "measures must differ, got RR twice",
        ),
        ({"qid": "qid"}, r"got 'qid' \(pass the values, such as X\['qid'\];"),
        ({"qid": -1}, r"one value per row, got -1 \(pass .* X\[:, -1\];"),
        ({"qid": [1, 1, 2], "sample_weight": 2.0}, "sample_weight must be 1-dim"),
        (
            {"qid": [1, 1, 2], "sample_weight": [1.0, -1.0, 1.0]},
            "sample_weight must be >= 0, got -1.0 in row 1",
        ),
        (
            {"qid": [1, 1, 2], "init_score": [1.0, np.nan, 1.0]},
            "init_score must not be NaN, got nan in row 1",
        ),
        ({**EVAL3, "eval_X": X3[:, :2]}, "fitted on, in order: 3 features, got 2"),
        ({**EVAL3, "eval_sample_weight": ([1, 1, 1], None)}, "at most one entry"),
        ({**EVAL3, "eval_names": ["a", "b"]}, r"each evaluation set \(1\)"),
    ],
)
def test_bad_fits(arguments, message):
    with pytest.raises(ValueError, match=message):
        ranker().fit(X3, **{"y": [0, 1, 0], **arguments})


def test_other_errors(web):
    with pytest.raises(ValueError, match="early_stopping_rounds needs an evaluation"):
        ranker(early_stopping_rounds=5).fit(web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=r"eval_metric must be given to fit, .*'ap'"):
        ranker(eval_metric="ap").fit(web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=r"given once.*set_fit_request\(qid=False\)"):
        ranker(qid=0).fit(X3, [0, 1, 0], qid=[1, 1, 2])
    with pytest.raises(ValueError, match="qid must name a column of X, got 'topic'"):
        ranker(qid="topic").fit(pd.DataFrame(X3), [0, 1, 0])
    long = np.zeros((10_001, 1))
    with pytest.raises(ValueError, match=r"at most 10000 .*got 10001 in query 'a'"):
        ranker().fit(long, long[:, 0], qid=["a"] * 10_001)
    with pytest.raises(ValueError, match="y must be below 3 for LightGBM's lambda"):
        ranker(label_gain="0,1,3").fit(X3, [0, 3, 0], qid=[1, 1, 1])
    with pytest.raises(ValueError, match="at most 10000 rows"):
        ranker(objective="rank_xendcg").fit(long, long[:, 0], qid=["a"] * 10_001)


def test_early_stopping_needs_something_to_stop_on(web):
    own = rows_of(web, web)
    with pytest.raises(ValueError, match="other than the training data, got none"):
        ranker(n_iter_no_change=np.int64(5)).fit(**own)
    own["eval_X"] = web.data.copy()
    with pytest.raises(ValueError, match="early_stopping_rounds needs a metric"):
        ranker(early_stopping_rounds=5).fit(**own, eval_metric=None)
    ranker(early_stopping_rounds=np.int64(5)).fit(**own)


def test_the_training_data_as_evaluation_set(web):
    def values(X, names=None, **more):
        model = ranker(**({"class_weight": "balanced"} if names else {})).fit(
            **{**rows_of(web, web), "eval_X": X},
            eval_names=names,
            **more,
        )
        ((name, results),) = model.evals_result_.items()
        return name, results["NDCG@10"]

    weight = web.qid % 3 + 1.0
    rows = np.random.default_rng(0).uniform(1, 2, len(weight))
    for more in (
        {},
        {"eval_sample_weight": weight},
        {"sample_weight": weight},
        {"sample_weight": rows},
        {"eval_init_score": rows},
    ):
        name, seen = values(web.data, **more)
        assert name == "training"
        assert seen == values(web.data.copy(), **more)[1]
    assert values(web.data, "mine")[0] == "mine"


def test_the_training_data_never_stops_training(web, valid):
    few = web.qid <= 3
    seen = Bunch(data=web.data[few], target=web.target[few], qid=web.qid[few])
    model = ranker(min_child_samples=3, early_stopping_rounds=8, n_estimators=60)

    def best(names=None, **more):
        model.fit(
            **rows_of(seen, seen, valid),
            eval_names=names,
            **more,
        )
        return model.best_iteration_, set(model.evals_result_), set(model.best_score_)

    ones = {"sample_weight": np.ones(few.sum())}
    plain = best()
    assert plain == best(**ones)
    assert plain[1] == plain[2] == {"training", "valid_1"}
    assert best(["a", "b"], **ones) == (plain[0], {"a", "b"}, {"a", "b"})
    assert best(["a", "b"]) == (plain[0], {"a", "b"}, {"a", "b"})
    with pytest.raises(ValueError, match='must have "training" for the training data'):
        best(["a", "training"])


def test_a_callable_decides_before_lightgbms_metrics(web, valid):
    def falling(y_true, y_pred):
        return "falling", -float(np.ptp(y_pred)), True

    model = ranker(early_stopping_rounds=3, n_estimators=30, metric="ndcg")
    for metric in (falling, [falling, "rr"]):
        model.fit(
            **rows_of(web, valid),
            eval_metric=metric,
        )
        assert model.best_iteration_ == 1
        assert next(iter(model.evals_result_["valid_0"])) == "falling"


def test_score_with_and_without_the_column(web, valid):
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)
    held_out = pd.DataFrame(valid.data, columns=web.feature_names)
    ids = valid.qid + 1000
    model = ranker(qid="qid").fit(frame, web.target)
    expected = ranking_score(valid.target, model.predict(held_out), qid=ids)
    assert model.score(held_out, valid.target, qid=ids) == expected
    assert model.score(held_out.assign(qid=ids), valid.target) == expected


def test_an_arrow_table_with_a_qid_column(web):
    table = pa.table({f"x{j}": web.data[:, j].astype(float) for j in range(12)})
    plain = ranker().fit(table, web.target, qid=web.qid)
    with_qid = table.append_column("qid", pa.array(web.qid))
    model = ranker(qid="qid").fit(with_qid, web.target)
    assert np.array_equal(model.predict(with_qid), plain.predict(table))
    scorer = make_ranking_scorer(qid="qid")
    assert scorer(model, with_qid, web.target) == ranking_score(
        web.target, plain.predict(table), qid=web.qid
    )
    folds = QueryKFold(3, qid="qid").split(with_qid)
    again = QueryKFold(3).split(web.data, groups=web.qid)
    for (_, a), (_, b) in zip(folds, again, strict=True):
        assert np.array_equal(a, b)


def test_score_is_the_default_of_searches(web):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            ranker(), {"num_leaves": [3]}, cv=QueryKFold(3), error_score="raise"
        ).fit(web.data, web.target, qid=web.qid)
        expected = cross_val_score(
            ranker(num_leaves=3),
            web.data,
            web.target,
            scoring=make_ranking_scorer("ndcg@10"),
            cv=QueryKFold(3),
            params={"qid": web.qid},
        )
    assert search.best_score_ == expected.mean()
    model = ranker().fit(web.data, web.target, qid=web.qid)
    assert model.score(web.data, web.target, qid=web.qid) == ranking_score(
        web.target, model.predict(web.data), qid=web.qid
    )


def test_limits_are_those_of_the_objective():
    long = np.arange(20_000.0)[:, None]
    y = np.arange(20_000) % 3 + 0.5
    model = ranker(objective="regression").fit(long, y, qid=np.zeros(20_000))
    gains = list(range(40))
    ranker(label_gain=gains).fit(X3, [0, 39, 1], qid=[1, 1, 1])
    ranker(objective="rank_xendcg").fit(X3, [0, 39.5, 1], qid=[1, 1, 1])
    # LightGBM prefers other names of a parameter
    model = ranker(objective="lambdarank", application="regression")
    with pytest.warns(UserWarning, match="Found 'application'"):
        model.fit(X3, [0, 0.5, 1], qid=[1, 1, 1])


def test_a_missing_lightgbm_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    for name in list(sys.modules):
        if name.startswith("tieaware_sklearn.lightgbm"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        ImportError, match=r'pip install "tieaware-sklearn\[lightgbm\]"'
    ):
        importlib.import_module("tieaware_sklearn.lightgbm")
