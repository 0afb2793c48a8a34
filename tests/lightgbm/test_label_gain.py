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
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric
from tieaware_sklearn.measures import DCG, NDCG
from tieaware_sklearn.optuna import RankerObjective
from tieaware_sklearn.xgboost import QueryXGBRanker

TRAIN = make_web_search(n_queries=60, random_state=0)
VALID = make_web_search(n_queries=30, random_state=1)
# ids of queries that no fit knows
VALID_QID = VALID.qid + 1000
GAINS = [0, 1, 3, 7, 30]
MEASURE = NDCG(k=10, gain=GAINS)
QUIET = {"verbosity": -1, "n_estimators": 20}


def fitted(ranker, **options):
    return ranker.fit(
        TRAIN.data,
        TRAIN.target,
        qid=TRAIN.qid,
        eval_X=VALID.data,
        eval_y=VALID.target,
        eval_qid=VALID_QID,
        **options,
    )


@pytest.fixture(scope="module")
def gain_ranker():
    return fitted(QueryLGBMRanker(label_gain=GAINS, **QUIET))


def value(ranker, measure, **options):
    scores = ranker.predict(VALID.data)
    return ranking_score(
        VALID.target, scores, qid=VALID_QID, measure=measure, **options
    )


@pytest.mark.parametrize(
    "label_gain", [GAINS, tuple(GAINS), np.array(GAINS), "0,1,3,7,30"], ids=str
)
def test_stopping_and_score_follow_label_gain(label_gain):
    ranker = QueryLGBMRanker(label_gain=label_gain, early_stopping_rounds=3, **QUIET)
    fitted(ranker)
    expected = value(ranker, MEASURE)
    assert expected != value(ranker, "ndcg@10")
    assert ranker.best_score_["valid_0"]["NDCG@10"] == expected
    assert ranker.score(VALID.data, VALID.target, qid=VALID_QID) == expected
    by_measure = QueryLGBMRanker(label_gain=label_gain, **QUIET)
    fitted(by_measure, eval_metric=MEASURE)
    history = ranker.evals_result_["valid_0"]["NDCG@10"]
    expected_history = by_measure.evals_result_["valid_0"][str(MEASURE)]
    n_trees = ranker.n_iter_
    assert history[:n_trees] == expected_history[:n_trees]


def test_metrics_that_are_callables_follow_label_gain():
    metric = eval_metric(["ndcg@10", "dcg@5", "rr"], zero_relevance="skip")
    ranker = fitted(QueryLGBMRanker(label_gain=GAINS, **QUIET), eval_metric=metric)
    history = ranker.evals_result_["valid_0"]
    for name, measure in [
        ("NDCG@10", MEASURE),
        ("DCG@5", DCG(k=5, gain=GAINS)),
        ("RR", parse_measure("rr")),
    ]:
        expected = value(ranker, measure, zero_relevance="skip")
        assert history[name][-1] == expected
    # fit does not change the metric of the user
    labels = np.array([0, 2, 4])
    scores = np.array([3.0, 1, 2])
    expected = ranking_score(labels, scores, measure="ndcg@10")
    results = metric(labels, scores, None, np.array([3]))
    assert results[0][1] == expected


def test_a_stated_gain_of_a_measure_wins():
    measure = NDCG(k=10, gain="exponential")
    ranker = QueryLGBMRanker(label_gain=GAINS, eval_metric=measure, **QUIET)
    fitted(ranker)
    expected = value(ranker, measure)
    assert expected == value(ranker, "ndcg@10")
    history = ranker.evals_result_["valid_0"][str(measure)]
    assert history[-1] == expected
    scorer = make_ranking_scorer(measure)
    assert scorer(ranker, VALID.data, VALID.target, qid=VALID_QID) == expected


@config_context(enable_metadata_routing=True)
def test_scorers_and_cross_validation_follow_label_gain():
    ranker = QueryLGBMRanker(label_gain=GAINS, **QUIET)
    model = make_pipeline(StandardScaler(), ranker)

    def cross_validated(measure):
        return cross_val_score(
            model,
            TRAIN.data,
            TRAIN.target,
            scoring=make_ranking_scorer(measure),
            cv=QueryKFold(3),
            params={"qid": TRAIN.qid},
        )

    expected = cross_validated(MEASURE)
    assert np.array_equal(cross_validated("ndcg@10"), expected)
    exponential = cross_validated(NDCG(k=10, gain="exponential"))
    assert not np.array_equal(exponential, expected)


@pytest.mark.parametrize(
    ("convention", "measure"),
    [
        ("lightgbm", MEASURE),
        ("xgboost", "ndcg@10"),
        ("sklearn", NDCG(k=10, gain="linear")),
    ],
)
def test_a_convention_follows_label_gain_where_the_tool_has_it(
    gain_ranker, convention, measure
):
    scorer = make_ranking_scorer("ndcg@10", convention=convention)
    score = scorer(gain_ranker, VALID.data, VALID.target, qid=VALID_QID)
    assert score == value(gain_ranker, measure, convention=convention)


@pytest.mark.parametrize(
    ("top", "gains"),
    [
        (4, GAINS),
        (4, [0, 0.25, 1, 1, 5]),
        (40, np.linspace(0, 9, 41)),
        (80, np.arange(81.0) ** 2),
    ],
    ids=str,
)
def test_values_and_stopping_of_lightgbm(top, gains):
    """LightGBM's own NDCG is the same for scores without ties."""
    rng = np.random.default_rng(top)
    sizes = rng.integers(5, 40, 60)
    n_rows = sizes.sum()
    labels = rng.integers(0, top + 1, n_rows)
    features = [labels + rng.normal(0, top / 2, n_rows) for _ in range(2)]
    X = np.column_stack(features)
    # scores of trees tie, initial scores do not
    start = rng.permutation(n_rows) / 1e4
    qid = np.repeat(np.arange(60), sizes)
    gains = list(gains)
    ranker = QueryLGBMRanker(
        label_gain=gains, metric="ndcg", verbosity=-1, n_estimators=60
    )
    rows = {"X": X, "y": labels, "qid": qid, "init_score": start}
    evaluation = {f"eval_{name}": values for name, values in rows.items()}
    ranker.fit(**rows, **evaluation, eval_names="a", eval_at=[10])
    (history,) = ranker.evals_result_.values()
    exact = history["NDCG@10"]
    reference = history["ndcg@10"]
    np.testing.assert_allclose(exact, reference, atol=1e-12)
    assert np.argmax(exact) == np.argmax(reference)
    scores = start + ranker.predict(X, raw_score=True)
    measure = NDCG(k=10, gain=gains)
    score = ranking_score(
        labels, scores, qid=qid, measure=measure, convention="lightgbm"
    )
    assert score == pytest.approx(reference[-1], abs=1e-12)


@pytest.mark.parametrize(
    "gain",
    [
        pytest.param([0, 2, 3, 9], id="list"),
        pytest.param({0: 0, 1: 2, 2: 3, 3: 9}, id="mapping"),
        pytest.param(lambda label: [0, 2, 3, 9][int(label)], id="callable"),
    ],
)
def test_the_convention_of_lightgbm_takes_a_stated_gain(gain):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 90)
    scores = rng.permutation(90) / 8
    sizes = np.full(9, 10)
    labels[:10] = 0  # LightGBM counts 1
    params = {"min_data_in_bin": 1, "verbosity": -1}
    options = {"group": sizes, "init_score": scores, "params": params}
    data = lgb.Dataset(scores[:, None], labels, **options)
    params = {"objective": "none", "metric": "ndcg", "eval_at": [5], "verbosity": -1}
    params["label_gain"] = [0, 2, 3, 9]
    booster = lgb.Booster(params, data)
    ((_, _, expected, _),) = booster.eval_train()
    qid = np.repeat(np.arange(9), sizes)
    measure = NDCG(k=5, gain=gain)
    score = ranking_score(
        labels, scores, qid=qid, measure=measure, convention="lightgbm"
    )
    assert score == pytest.approx(expected, abs=1e-12)


def test_labels_beyond_label_gain_are_refused():
    labels = TRAIN.target.copy()
    labels[3] = 5
    with pytest.raises(ValueError, match="y must be below 5 for LightGBM's lambdarank"):
        QueryLGBMRanker(label_gain=GAINS).fit(TRAIN.data, labels, qid=TRAIN.qid)
    with pytest.raises(ValueError, match="label_gain must be one of"):
        QueryLGBMRanker(label_gain="many").fit(TRAIN.data, labels, qid=TRAIN.qid)


@pytest.mark.parametrize(
    ("options", "gain"),
    [
        ({}, "exponential"),
        ({"ndcg_exp_gain": True}, "exponential"),
        ({"ndcg_exp_gain": False}, "linear"),
        ({"ndcg_exp_gain": 0}, "linear"),
        ({"ndcg_exp_gain": "false"}, "linear"),
    ],
)
def test_xgboost_follows_ndcg_exp_gain(options, gain):
    ranker = QueryXGBRanker(n_estimators=9, early_stopping_rounds=3, **options)
    fitted(ranker)
    measure = NDCG(k=10, gain=gain)
    expected = value(ranker, measure)
    assert ranker.best_score == expected
    assert ranker.score(VALID.data, VALID.target, qid=VALID_QID) == expected
    scorer = make_ranking_scorer("ndcg@10", convention="xgboost")
    score = scorer(ranker, VALID.data, VALID.target, qid=VALID_QID)
    assert score == value(ranker, measure, convention="xgboost")


# The last column says whether CatBoost's metric has the gain of the loss.
LOSSES = [
    ("YetiRank", "exponential", False),
    ("YetiRank:mode=NDCG;dcg_type=Base", "linear", True),
    ("YetiRank:mode=NDCG;dcg_type=Exp", "exponential", True),
    # YetiRank reads no such type
    ("YetiRank:mode=NDCG;type=Base", "exponential", False),
    ("StochasticRank:metric=NDCG;type=Base;top=5", "linear", True),
    ("StochasticRank:metric=NDCG;type=Exp", "exponential", True),
]


@pytest.mark.parametrize(("loss", "gain", "is_convention"), LOSSES)
def test_catboost_follows_the_type_of_its_loss(loss, gain, is_convention):
    ranker = QueryCatBoostRanker(
        iterations=5, loss_function=loss, verbose=False, allow_writing_files=False
    )
    # NDCG of CatBoost takes labels up to 1
    labels = TRAIN.target / 4
    valid_labels = VALID.target / 4
    ranker.fit(
        TRAIN.data,
        labels,
        qid=TRAIN.qid,
        eval_X=VALID.data,
        eval_y=valid_labels,
        eval_qid=VALID_QID,
    )
    scores = ranker.predict(VALID.data)
    options = {"qid": VALID_QID, "measure": NDCG(k=10, gain=gain)}
    expected = ranking_score(valid_labels, scores, **options)
    assert ranker.best_score_["valid_0"]["NDCG@10"] == expected
    assert ranker.score(VALID.data, valid_labels, qid=VALID_QID) == expected
    if is_convention:
        options["convention"] = "catboost"
        scorer = make_ranking_scorer("ndcg@10", convention="catboost")
        score = scorer(ranker, VALID.data, valid_labels, qid=VALID_QID)
        assert score == ranking_score(valid_labels, scores, **options)


def test_studies_follow_label_gain():
    ranker = QueryLGBMRanker(label_gain=GAINS, **QUIET)
    space = {"num_leaves": IntDistribution(4, 4)}

    def best_value(measure):
        objective = RankerObjective(
            ranker,
            space,
            TRAIN.data,
            TRAIN.target,
            qid=TRAIN.qid,
            measure=measure,
            cv=2,
        )
        study = optuna.create_study(direction="maximize")
        study.optimize(objective, n_trials=1)
        return study.best_value

    expected = best_value(MEASURE)
    assert best_value("ndcg@10") == expected
    assert best_value(NDCG(k=10, gain="exponential")) != expected


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
