"""Objectives of several measures, for studies of several objectives."""

from __future__ import annotations

import numpy as np
import optuna
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optuna.trial import FixedTrial
from sklearn.tree import DecisionTreeRegressor

from tests.optuna.helpers import boosted, linear, scoring, tree
from tieaware_sklearn import evaluate, parse_measure, ranking_score
from tieaware_sklearn.evaluation._statistics import LabelledQueries
from tieaware_sklearn.optuna import ScorePrecisionObjective, ScoringObjective

MEASURES = ["ndcg@10", "ESL", "ap"]
NAMES = [str(parse_measure(measure)) for measure in MEASURES]
MAKE = {
    "function": lambda data, **more: ScoringObjective(
        boosted, data[0], data[1], qid=data[2], **more
    ),
    "linear": lambda data, **more: linear(*data, **more),
    "tree": lambda data, **more: tree(*data, **more),
}


def rows_of(web, rows=slice(None)):
    return web.data[rows], web.target[rows], web.qid[rows]


@st.composite
def rankings(draw):
    n = draw(st.integers(1, 12))
    several = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    y, scores, qid = (np.array(draw(several)) for _ in range(3))
    y[0] = 1
    return y, scores, qid


@settings(max_examples=40, deadline=None)
@given(
    rankings(),
    st.lists(
        st.sampled_from(["ndcg@2", "ap", "rr", "fallout@1", "esl", "p@3"]),
        min_size=1,
        unique=True,
    ),
)
def test_each_value_is_that_of_the_measure_alone(case, measures):
    y, scores, qid = case
    assume("fallout@1" not in measures or (y == 0).any())
    objective = ScoringObjective(
        lambda trial, X: X[:, 0], scores[:, None], y, qid=qid, measure=measures
    )
    trial = FixedTrial({})
    values = objective(trial)
    assert isinstance(values, tuple)
    report = evaluate(y, scores, qid=qid, measures=measures).summary()
    for j, measure in enumerate(measures):
        name = str(parse_measure(measure))
        alone = ScoringObjective(
            lambda trial, X: X[:, 0], scores[:, None], y, qid=qid, measure=measure
        )
        by_itself = FixedTrial({})
        assert values[j] == alone(by_itself) == report.mean[j]
        assert values[j] == ranking_score(y, scores, qid=qid, measure=measure)
        for attribute in ("best", "worst"):
            wanted = getattr(report, attribute)[j]
            assert trial.user_attrs[f"{name} {attribute}"] == wanted
            assert by_itself.user_attrs[attribute] == wanted
        tie_std = trial.user_attrs[f"{name} tie_std"]
        assert tie_std == by_itself.user_attrs["tie_std"]
        assert tie_std == pytest.approx(report.tie_std[j], rel=1e-12)
    common = {"tied_documents", "n_queries", "pruned"}
    for attribute in common:
        assert trial.user_attrs[attribute] == by_itself.user_attrs[attribute]
    assert len(trial.user_attrs) == 3 * len(measures) + len(common)


@pytest.mark.parametrize("name", MAKE)
def test_a_study_of_several_objectives(web, name):
    studies = []
    rows = np.random.default_rng(0).permutation(len(web.qid))
    for data in (rows_of(web), rows_of(web, rows)):
        objective = MAKE[name](data, measure=MEASURES)
        assert objective.measure == tuple(map(parse_measure, MEASURES))
        assert objective.directions == ["maximize", "minimize", "maximize"]
        with pytest.raises(RuntimeError, match="no single direction: use directions"):
            objective.direction  # noqa: B018
        study = objective.create_study(3)
        assert isinstance(study.sampler, optuna.samplers.TPESampler)
        assert study.metric_names == NAMES
        study.optimize(objective, n_trials=14)
        studies.append([(t.params, t.values, t.user_attrs) for t in study.trials])
        assert not any(t.intermediate_values for t in study.trials)
    assert studies[0] == studies[1]
    frame = study.trials_dataframe()
    assert {f"values_{n}" for n in NAMES} <= set(frame)
    assert {f"user_attrs_{n} best" for n in NAMES} <= set(frame)
    for j, measure in enumerate(MEASURES):
        alone = MAKE[name](rows_of(web), measure=measure)
        trial = study.trials[-1]
        assert trial.values[j] == alone(FixedTrial(trial.params))


def test_an_estimator_is_made_of_a_trial_that_is_chosen(web):
    frontier = linear(*rows_of(web), measure=["ndcg@10", "ESL"])
    study = frontier.create_study(0)
    study.optimize(frontier, n_trials=8)
    with pytest.raises(
        ValueError, match=r"2 objectives: choose from study.best_trials"
    ):
        frontier.to_estimator(study)
    for trial in study.best_trials:
        scores = frontier.to_estimator(trial).predict(web.data)
        for measure, value in zip(("ndcg@10", "ESL"), trial.values, strict=True):
            assert value == ranking_score(
                web.target, scores, qid=web.qid, measure=measure
            )
    forest = tree(*rows_of(web), measure=["ndcg@10", "rr"])
    study = forest.create_study(0)
    study.optimize(forest, n_trials=3)
    with pytest.raises(
        ValueError, match=r"study must have one objective, or be a trial"
    ):
        forest.best_estimator(study)
    chosen = forest.best_estimator(study.best_trials[0])
    assert isinstance(chosen, DecisionTreeRegressor)
    assert chosen.max_depth == study.best_trials[0].params["max_depth"]


def test_linear_scores_begin_with_what_is_good_by_each_measure(web):
    objectives = [linear(*rows_of(web), measure=m) for m in ("ndcg@10", "p@1")]
    both = linear(*rows_of(web), measure=["ndcg@10", "p@1"])
    wanted = [list(start.values()) for o in objectives for start in o.starts()]
    found = [list(start.values()) for start in both.starts()]
    assert sorted(map(tuple, set(map(tuple, wanted)))) == sorted(map(tuple, found))
    first = [objectives[0](FixedTrial(start)) for start in both.starts()]
    assert first == sorted(first)
    wide = linear(*rows_of(web), measure=["ndcg@10", "p@1"])
    study = wide.create_study(0, n_trials=500)
    assert isinstance(study.sampler, optuna.samplers.TPESampler)


def test_a_list_of_one_measure_is_a_list(web):
    objective = scoring(web, measure=["ap"])
    study = objective.create_study(0, prune=True)
    study.optimize(objective, n_trials=2)
    assert study.trials[0].intermediate_values
    alone = scoring(web, measure="ap")
    for trial in study.trials:
        fixed = FixedTrial(trial.params)
        assert objective(fixed) == (trial.value,) == (alone(FixedTrial(trial.params)),)
        assert set(fixed.user_attrs) >= {"AP best", "AP worst", "AP tie_std"}
    assert study.best_trial.value == max(t.value for t in study.trials)


def test_ties_are_found_once_for_all_measures(web, monkeypatch):
    found = []
    each_block = LabelledQueries.each_block
    monkeypatch.setattr(
        LabelledQueries,
        "each_block",
        lambda self, *a, **more: (found.append(1), each_block(self, *a, **more))[1],
    )
    counts = []
    for measure in ("ndcg@10", ["ndcg@10", "ap", "rr", "p@5"]):
        objective = scoring(web, measure=measure)
        found.clear()
        objective(FixedTrial({"boost": 1.0}))
        counts.append(len(found))
    assert counts[0] == counts[1] > 0


def test_studies_of_the_users_own(web):
    objective = scoring(web, measure=["ndcg@10", "ESL"])
    wrong = optuna.create_study(directions=["maximize", "maximize"])
    message = "must maximize NDCG@10 and minimize ESL, got directions"
    with pytest.raises(ValueError, match=message):
        wrong.optimize(objective, n_trials=1)
    with pytest.raises(ValueError, match=message):
        optuna.create_study(direction="maximize").optimize(objective, n_trials=1)
    # no matter what pruner it happens to have
    right = optuna.create_study(directions=objective.directions)
    right.optimize(objective, n_trials=2)
    more = optuna.create_study(directions=[*objective.directions, "minimize"])
    more.optimize(lambda trial: (*objective(trial), 1.0), n_trials=2)
    for study in (right, more):
        for trial in study.trials:
            assert tuple(trial.values[:2]) == objective(FixedTrial(trial.params))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (["ndcg@10", "NDCG@10"], "measure must differ, got NDCG@10 twice"),
        ([], "measure must name at least one measure, got none"),
        (3, "measure must be a name or a list of names, got 3"),
        (["ap", "ndgc"], "did you mean 'NDCG'"),
    ],
)
def test_lists_that_are_refused(web, measure, message):
    for make in MAKE.values():
        with pytest.raises(ValueError, match=message):
            make(rows_of(web), measure=measure)


def test_every_measure_must_be_defined_somewhere():
    X, y = np.zeros((4, 2)), [0, 0, 0, 0]
    with pytest.raises(ValueError, match="a query for which AP is defined, got none"):
        ScoringObjective(
            boosted, X, y, qid=y, measure=["rr", "ap"], zero_relevance="skip"
        )


def test_score_precision_takes_labels_first(web):
    by_place = ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid)
    by_name = ScorePrecisionObjective(
        y_score=web.data[:, 5], y_true=web.target, qid=web.qid
    )
    parameters = {"kind": "significant", "significant": 2}
    assert by_place(FixedTrial(parameters)) == by_name(FixedTrial(parameters))
