"""The gain of a label: training, early stopping and scores follow one statement."""

import lightgbm as lgb
import numpy as np
import optuna
import pytest
from optuna.distributions import IntDistribution
from sklearn import config_context
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import (
    QueryKFold,
    make_ranking_scorer,
    parse_measure,
    ranking_score,
)
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.inspection import query_permutation_importance
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric
from tieaware_sklearn.measures import DCG, NDCG
from tieaware_sklearn.optuna import RankerObjective
from tieaware_sklearn.xgboost import QueryXGBRanker

TRAIN = make_web_search(n_queries=60, random_state=0)
VALID = make_web_search(n_queries=30, random_state=1)
# ids of queries that no fit knows
VALID_QID = VALID.qid + 1000
GAINS = [0, 1, 3, 7, 30]
STATED = NDCG(k=10, gain=GAINS)
QUIET = {"verbosity": -1, "n_estimators": 20}


def fitted(ranker, **options):
    return ranker.fit(
        TRAIN.data, TRAIN.target, qid=TRAIN.qid, eval_X=VALID.data,
        eval_y=VALID.target, eval_qid=VALID_QID, **options,
    )  # fmt: skip


def value(ranker, measure, **options):
    scores = ranker.predict(VALID.data)
    options |= {"measure": measure, "qid": VALID_QID}
    return ranking_score(VALID.target, scores, **options)


@pytest.mark.parametrize("stated", [
    GAINS, tuple(GAINS), np.array(GAINS), "0,1,3,7,30",
], ids=str)  # fmt: skip
def test_stopping_and_score_follow_label_gain(stated):
    ranker = QueryLGBMRanker(label_gain=stated, early_stopping_rounds=3, **QUIET)
    fitted(ranker)
    expected = value(ranker, STATED)
    assert expected != value(ranker, "ndcg@10")
    assert ranker.best_score_["valid_0"]["NDCG@10"] == expected
    assert ranker.score(VALID.data, VALID.target, qid=VALID_QID) == expected
    by_measure = fitted(QueryLGBMRanker(label_gain=stated, **QUIET), eval_metric=STATED)
    assert (
        by_measure.evals_result_["valid_0"][str(STATED)][: ranker.n_iter_]
        == (ranker.evals_result_["valid_0"]["NDCG@10"][: ranker.n_iter_])
    )


def test_metrics_that_are_callables_follow_label_gain():
    metric = eval_metric(["ndcg@10", "dcg@5", "rr"], zero_relevance="skip")
    ranker = fitted(QueryLGBMRanker(label_gain=GAINS, **QUIET), eval_metric=metric)
    found = ranker.evals_result_["valid_0"]
    for measure in (STATED, DCG(k=5, gain=GAINS), parse_measure("rr")):
        expected = value(ranker, measure, zero_relevance="skip")
        name = f"{measure.name}@{measure.k}" if measure.k else measure.name
        assert found[name][-1] == expected
    # the metric of the user is as it was
    labels, scores, sizes = np.array([0, 2, 4]), np.array([3.0, 1, 2]), np.array([3])
    expected = ranking_score(labels, scores, measure="ndcg@10")
    assert metric(labels, scores, None, sizes)[0][1] == expected


def test_a_stated_gain_of_a_measure_wins():
    measure = NDCG(k=10, gain="exponential")
    ranker = QueryLGBMRanker(label_gain=GAINS, eval_metric=measure, **QUIET)
    found = fitted(ranker).evals_result_["valid_0"]
    assert found[str(measure)][-1] == value(ranker, measure) == value(ranker, "ndcg@10")
    scorer = make_ranking_scorer(measure)
    arguments = ranker, VALID.data, VALID.target
    assert scorer(*arguments, qid=VALID_QID) == value(ranker, measure)


@config_context(enable_metadata_routing=True)
def test_scorers_and_cross_validation_follow_label_gain():
    ranker = QueryLGBMRanker(label_gain=GAINS, **QUIET)
    model = make_pipeline(StandardScaler(), ranker)
    options = {"cv": QueryKFold(3), "params": {"qid": TRAIN.qid}}
    data = TRAIN.data, TRAIN.target
    expected = cross_val_score(
        model, *data, scoring=make_ranking_scorer(STATED), **options
    )
    follows = make_ranking_scorer("ndcg@10")
    found = cross_val_score(model, *data, scoring=follows, **options)
    assert np.array_equal(found, expected)
    plain = make_ranking_scorer(NDCG(k=10, gain="exponential"))
    assert not np.array_equal(
        cross_val_score(model, *data, scoring=plain, **options), expected
    )


def test_a_convention_follows_label_gain_where_the_tool_has_it():
    fitted(ranker := QueryLGBMRanker(label_gain=GAINS, **QUIET))
    for convention, measure in {
        "lightgbm": STATED, "xgboost": "ndcg@10", "sklearn": NDCG(k=10, gain="linear"),
    }.items():  # fmt: skip
        scorer = make_ranking_scorer("ndcg@10", convention=convention)
        found = scorer(ranker, VALID.data, VALID.target, qid=VALID_QID)
        assert found == value(ranker, measure, convention=convention)


@pytest.mark.parametrize(("top", "gains"), [
    (4, GAINS), (4, [0, 0.25, 1, 1, 5]), (40, np.linspace(0, 9, 41)),
    (80, np.arange(81.0) ** 2),
], ids=str)  # fmt: skip
def test_values_and_stopping_of_lightgbm(top, gains):
    """LightGBM's own NDCG, of scores without ties."""
    rng = np.random.default_rng(top)
    sizes = rng.integers(5, 40, 60)
    labels = rng.integers(0, top + 1, sizes.sum())
    X = np.column_stack([labels + rng.normal(0, top / 2, len(labels)) for _ in "ab"])
    # the scores of trees tie, those that boosting starts from do not
    start = rng.permutation(len(labels)) / 1e4
    qid = np.repeat(np.arange(60), sizes)
    data = {"X": X, "y": labels, "qid": qid, "init_score": start}
    ranker = QueryLGBMRanker(
        label_gain=list(gains), metric="ndcg", verbosity=-1, n_estimators=60
    )
    measure = NDCG(k=10, gain=list(gains))
    evaluation = {f"eval_{name}": one for name, one in data.items()}
    ranker.fit(**data, **evaluation, eval_names="a", eval_at=[10])
    (history,) = ranker.evals_result_.values()
    np.testing.assert_allclose(history["NDCG@10"], history["ndcg@10"], atol=1e-12)
    scores = start + ranker.predict(X, raw_score=True)
    options = {"qid": qid, "measure": measure, "convention": "lightgbm"}
    found = ranking_score(labels, scores, **options)
    assert found == pytest.approx(history["ndcg@10"][-1], abs=1e-12)
    assert np.argmax(history["NDCG@10"]) == np.argmax(history["ndcg@10"])


@pytest.mark.parametrize("gain", [
    [0, 2, 3, 9], {0: 0, 1: 2, 2: 3, 3: 9}, lambda label: [0, 2, 3, 9][int(label)],
], ids=["list", "mapping", "callable"])  # fmt: skip
def test_the_convention_of_lightgbm_takes_a_stated_gain(gain):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 4, 90), rng.permutation(90) / 8
    sizes = np.full(9, 10)
    labels[:10] = 0  # LightGBM counts 1
    data = lgb.Dataset(
        scores[:, None], label=labels, group=sizes, init_score=scores,
        params={"min_data_in_bin": 1, "verbosity": -1},
    )  # fmt: skip
    params = {"objective": "none", "metric": "ndcg", "eval_at": [5], "verbosity": -1}
    params["label_gain"] = [0, 2, 3, 9]
    theirs = lgb.Booster(params, data).eval_train()[0][2]
    qid = np.repeat(np.arange(9), sizes)
    found = ranking_score(
        labels, scores, qid=qid, measure=NDCG(k=5, gain=gain), convention="lightgbm"
    )
    assert found == pytest.approx(theirs, abs=1e-12)


def test_labels_beyond_label_gain_are_refused():
    labels = np.where(np.arange(len(TRAIN.target)) == 3, 5, TRAIN.target)
    with pytest.raises(ValueError, match="y must be below 5 for LightGBM's lambdarank"):
        QueryLGBMRanker(label_gain=GAINS).fit(TRAIN.data, labels, qid=TRAIN.qid)
    with pytest.raises(ValueError, match="label_gain must be one of"):
        QueryLGBMRanker(label_gain="many").fit(TRAIN.data, labels, qid=TRAIN.qid)


@pytest.mark.parametrize(("exponential", "gain"), [
    (None, "exponential"), (True, "exponential"), (False, "linear"), (0, "linear"),
    ("false", "linear"),
])  # fmt: skip
def test_xgboost_follows_ndcg_exp_gain(exponential, gain):
    options = {} if exponential is None else {"ndcg_exp_gain": exponential}
    ranker = QueryXGBRanker(n_estimators=9, early_stopping_rounds=3, **options)
    fitted(ranker)
    expected = value(ranker, NDCG(k=10, gain=gain))
    assert ranker.best_score == expected
    assert ranker.score(VALID.data, VALID.target, qid=VALID_QID) == expected
    scorer = make_ranking_scorer("ndcg@10", convention="xgboost")
    found = scorer(ranker, VALID.data, VALID.target, qid=VALID_QID)
    measure = NDCG(k=10, gain=gain)
    assert found == value(ranker, measure, convention="xgboost")


@pytest.mark.parametrize(("loss", "gain"), [
    ("YetiRank", "exponential"),
    ("YetiRank:mode=NDCG;dcg_type=Base", "linear"),
    ("YetiRank:mode=NDCG;dcg_type=Exp", "exponential"),
    # YetiRank reads no such type
    ("YetiRank:mode=NDCG;type=Base", "exponential"),
    ("StochasticRank:metric=NDCG;type=Base;top=5", "linear"),
    ("StochasticRank:metric=NDCG;type=Exp", "exponential"),
])  # fmt: skip
def test_catboost_follows_the_type_of_its_loss(loss, gain):
    ranker = QueryCatBoostRanker(
        iterations=5, loss_function=loss, verbose=False, allow_writing_files=False
    )
    labels, valid = TRAIN.target / 4, VALID.target / 4  # its NDCG takes labels up to 1
    evaluation = {"eval_X": VALID.data, "eval_y": valid, "eval_qid": VALID_QID}
    ranker.fit(TRAIN.data, labels, qid=TRAIN.qid, **evaluation)
    scores = ranker.predict(VALID.data)
    options = {"qid": VALID_QID, "measure": NDCG(k=10, gain=gain)}
    expected = ranking_score(valid, scores, **options)
    assert ranker.best_score_["valid_0"]["NDCG@10"] == expected
    assert ranker.score(VALID.data, valid, qid=VALID_QID) == expected
    # which CatBoost itself has as linear
    if "type=" in loss and "mode=NDCG;type" not in loss:
        options["convention"] = "catboost"
        scorer = make_ranking_scorer("ndcg@10", convention="catboost")
        found = scorer(ranker, VALID.data, valid, qid=VALID_QID)
        assert found == ranking_score(valid, scores, **options)


def test_importances_and_studies_follow_label_gain():
    fitted(ranker := QueryLGBMRanker(label_gain=GAINS, **QUIET))
    options = {"qid": VALID_QID, "measures": "ndcg@10", "n_repeats": 1}
    found = query_permutation_importance(ranker, VALID.data, VALID.target, **options)
    assert f"{value(ranker, STATED):.4f}" in str(found)
    values = []
    for measure in ("ndcg@10", STATED, NDCG(k=10, gain="exponential")):
        space = {"num_leaves": IntDistribution(4, 4)}
        data = TRAIN.data, TRAIN.target
        objective = RankerObjective(
            ranker, space, *data, qid=TRAIN.qid, measure=measure, cv=2
        )
        study = optuna.create_study(direction="maximize")
        study.optimize(objective, n_trials=1)
        values.append(study.best_value)
    assert values[0] == values[1] != values[2]


def test_an_objective_takes_labels_above_60_with_their_gains():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 101, 200)
    X = y[:, None] + rng.normal(0, 30, (200, 2))
    ranker = QueryLGBMRanker(label_gain=list(range(101)), **QUIET)
    space = {"num_leaves": IntDistribution(2, 4)}
    qid = np.repeat(np.arange(20), 10)
    objective = RankerObjective(ranker, space, X, y, qid=qid)
    trial = optuna.trial.FixedTrial({"num_leaves": 3})
    assert 0 < objective(trial) < 1
    with pytest.raises(ValueError, match="must be <= 60 with exponential gain"):
        RankerObjective(QueryLGBMRanker(**QUIET), space, X, y, qid=qid)
