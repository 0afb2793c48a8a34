"""Values, reports and pruning, which all objectives over queries share."""

import inspect
import math
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import optuna
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optuna import pruners
from optuna.trial import FixedTrial

from tests.optuna import helpers
from tests.optuna.helpers import linear, optimized, scoring, tree
from tieaware_sklearn import QueryKFold, evaluate, parse_measure, ranking_score
from tieaware_sklearn import optuna as ours
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import _base

BOTH = ["ndcg@10", "ESL"]
MEDIAN = pruners.MedianPruner(n_startup_trials=2)
some_measures = st.sampled_from(["ndcg@2", "ap", "rr", "fallout@1", "esl", "p@3"])


def first_column(trial, X):
    return X[:, 0]


def boosted_scores(web, trial):
    """Return the scores of the objective of `scoring` in a trial."""
    return web.data[:, 5] + trial.params["boost"] * web.data[:, 1]


@st.composite
def rankings(draw):
    n = draw(st.integers(1, 12))
    small_integers = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    y, scores, qid = (np.array(draw(small_integers)) for _ in range(3))
    y[0] = 1
    if draw(st.booleans()):
        return y, scores, qid, np.array([1.0, 3.0, 0.5, 2.0])[qid]
    return y, scores, qid, None


def evaluate_trial(ranking, measure):
    """Return the value and the attributes of a trial of the first column."""
    y, scores, qid, weight = ranking
    X = scores.reshape(-1, 1)
    objective = ours.ScoringObjective(
        first_column, X, y, qid=qid, measure=measure, query_weight=weight
    )
    trial = FixedTrial({})
    return objective(trial), trial.user_attrs


@settings(max_examples=40)
@given(rankings(), st.lists(some_measures, min_size=1, unique=True))
def test_values_and_attributes_are_those_of_evaluate(ranking, measures):
    y, scores, qid, weight = ranking
    assume("fallout@1" not in measures or (y == 0).any())
    report = evaluate(y, scores, qid=qid, measures=measures, query_weight=weight)
    summary = report.summary()
    documents = list(zip(qid.tolist(), scores.tolist(), strict=True))
    is_tied = [documents.count(document) > 1 for document in documents]
    common = {
        "tied_documents": np.mean(is_tied),
        "n_queries": len(set(qid.tolist())),
        "pruned": False,
    }
    values, attributes = evaluate_trial(ranking, measures)
    assert isinstance(values, tuple)
    assert len(attributes) == 3 * len(measures) + 3
    assert {name: attributes[name] for name in common} == common
    for j, measure in enumerate(measures):
        ranges = {
            "best": summary.best[j],
            "worst": summary.worst[j],
            "tie_std": pytest.approx(summary.tie_std[j], rel=1e-12),
        }
        value, attributes_alone = evaluate_trial(ranking, measure)
        assert value == summary.mean[j]
        assert values[j] == summary.mean[j]
        assert attributes_alone == {**common, **ranges}
        for name in ranges:
            prefixed = attributes[f"{parse_measure(measure)} {name}"]
            assert prefixed == attributes_alone[name]


REPORTS = [
    ("rr", None, False),
    ("ndcg@10", 1, True),
    ("fallout@5", 7, True),
]
each_report = pytest.mark.parametrize(
    ("measure", "report_every", "is_weighted"), REPORTS
)


def reporting(web, measure, report_every, is_weighted):
    """Return an objective that reports means of buckets of queries."""
    return scoring(
        web,
        measure=measure,
        block_size=10,
        report_every=report_every,
        query_weight=web.qid % 3 + 1.0 if is_weighted else None,
    )


@each_report
def test_queries_are_dealt_into_fixed_buckets(web, measure, report_every, is_weighted):
    objective = reporting(web, measure, report_every, is_weighted)
    buckets = objective._bucket_queries
    assert sorted(np.concatenate(buckets)) == list(range(60))
    size = report_every or 1
    for bucket in buckets:
        assert abs(len(bucket) - size) <= 1
    study = optimized(objective, 4, prune=True)
    steps = set(range(math.ceil(60 / size)))
    first, *later = study.trials
    assert set(first.intermediate_values) == steps
    for trial in later:
        assert set(trial.intermediate_values) <= steps
    # each trial reports them in its own order
    assert len({tuple(trial.intermediate_values) for trial in study.trials}) == 4


@each_report
def test_means_of_buckets_are_reported(web, measure, report_every, is_weighted):
    objective = reporting(web, measure, report_every, is_weighted)
    study = optimized(objective, 4, prune=True)
    ids = np.unique(web.qid)
    weight = ids % 3 + 1.0 if is_weighted else np.ones(60)
    query_weight = weight[np.searchsorted(ids, web.qid)]
    for trial in study.trials:
        scores = boosted_scores(web, trial)
        report = evaluate(
            web.target,
            scores,
            qid=web.qid,
            measures=measure,
            query_weight=query_weight,
        )
        values = report.expected[np.argsort(report.qid), 0]
        for step, reported in trial.intermediate_values.items():
            bucket = objective._bucket_queries[step]
            mean = np.average(values[bucket], weights=weight[bucket])
            assert reported == pytest.approx(mean, abs=1e-15)
        if not trial.user_attrs["pruned"]:
            assert trial.value == report.summary().mean[0]
            assert trial.user_attrs["n_queries"] == 60


def test_at_most_256_values_are_reported():
    many = make_web_search(n_queries=700, n_documents=3, random_state=0)
    study = optimized(scoring(many), 1, prune=True)
    assert 200 < len(study.trials[0].intermediate_values) <= 256


def test_a_pruned_trial_returns_its_running_mean(web):
    def score(trial, X):
        weight = trial.suggest_float("weight", -1, 1)
        return weight * X[:, 5] + (weight > 0) * X[:, 1]

    objective = scoring(web, score, block_size=5)
    study = objective.create_study(0, pruner=helpers.hard_pruner())
    for weight in (0.5, -0.5, -0.7, -0.9):
        study.enqueue_trial({"weight": weight})
    study.optimize(objective, n_trials=4)
    pruned = [trial for trial in study.trials if trial.user_attrs["pruned"]]
    assert pruned
    for trial in pruned:
        assert trial.state is optuna.trial.TrialState.COMPLETE
        assert 14 <= trial.user_attrs["n_queries"] < 60
        reported = list(trial.intermediate_values.values())
        assert trial.value == pytest.approx(np.mean(reported), abs=1e-12)
        assert trial.value < study.best_value
    assert study.best_params == {"weight": 0.5}


@pytest.mark.parametrize("kind", ["median", "patient"])
def test_other_pruners_prune_nothing(web, kind):
    pruner = MEDIAN
    if kind == "patient":
        with pytest.warns(optuna.exceptions.ExperimentalWarning):
            pruner = pruners.PatientPruner(helpers.hard_pruner(), patience=1)
    study = optimized(scoring(web, block_size=10), 6, pruner=pruner)
    for trial in study.trials:
        assert not trial.intermediate_values
        assert trial.user_attrs["n_queries"] == 60


@pytest.mark.parametrize("is_hard", [False, True], ids=["wilcoxon", "hard"])
def test_the_best_trial_is_never_a_pruned_one(web, is_hard):
    ids = np.unique(web.qid)
    n_pruned = 0
    for seed in range(4):
        weight = None
        if seed % 2:
            weight = np.random.default_rng(seed).lognormal(0, 2, len(ids))
            weight = weight[np.searchsorted(ids, web.qid)]
        objective = scoring(
            web,
            helpers.twelve_weights,
            query_weight=weight,
            block_size=6,
            random_state=seed,
        )
        pruning = {"pruner": helpers.hard_pruner()} if is_hard else {"prune": True}
        study = optimized(objective, 15, seed, **pruning)
        best = study.best_trial
        assert not best.user_attrs["pruned"]
        assert best.user_attrs["n_queries"] == 60
        assert objective(FixedTrial(best.params)) == best.value
        n_pruned += sum(trial.user_attrs["pruned"] for trial in study.trials)
    assert n_pruned > 0


@pytest.mark.parametrize(
    "options", [{"random_state": 1}, {"report_every": 2}, {"measure": "rr"}]
)
def test_a_study_that_prunes_has_one_set_of_buckets(web, options):
    session = {
        "storage": optuna.storages.InMemoryStorage(),
        "study_name": "z",
        "load_if_exists": True,
        "prune": True,
    }
    optimized(scoring(web), 2, **session)
    objective = scoring(web, **options)
    with pytest.raises(ValueError, match="must contain trials of this objective"):
        objective.create_study(0, **session)
    study = optimized(scoring(web), 1, **session)
    assert len(study.trials) == 3


def memory(folder):
    return None


def sqlite(folder):
    return f"sqlite:///{folder / 'studies.db'}"


each_storage = pytest.mark.parametrize("kind", [memory, sqlite, helpers.journal])


@pytest.mark.parametrize("kind", [sqlite, helpers.journal])
def test_a_resumed_study_tries_other_parameters(web, kind, tmp_path, monkeypatch):
    # Databases sort the names of workers.
    numbers = iter([UUID(int=2), UUID(int=1)])
    names = SimpleNamespace(uuid4=lambda: next(numbers))
    monkeypatch.setattr(_base, "uuid", names)
    session = {"storage": kind(tmp_path), "study_name": "one", "load_if_exists": True}
    for _ in range(2):
        study = scoring(web).create_study(seed=0, **session)
        study.optimize(scoring(web), n_trials=3)
    tried = {tuple(trial.params.values()) for trial in study.trials}
    assert len(tried) == 6


@each_storage
def test_a_list_of_a_single_measure_is_the_same_objective(web, kind, tmp_path):
    study = optimized(scoring(web), 1, storage=kind(tmp_path))
    study.optimize(scoring(web, measure=["ndcg@10"]), n_trials=1)
    assert len(study.trials) == 2


@each_storage
@pytest.mark.parametrize("change", ["measure", "labels", "zero_relevance"])
def test_a_study_is_of_one_measure_and_one_set_of_data(web, kind, tmp_path, change):
    options = {
        "measure": {"measure": "p@1"},
        "labels": {"y": web.target[::-1]},
        "zero_relevance": {"zero_relevance": 1},
    }
    changed = scoring(web, **options[change])
    storage = kind(tmp_path)
    session = {"storage": storage, "study_name": "one", "load_if_exists": True}
    study = optimized(scoring(web), 1, **session)
    message = "must contain trials .*got trials of NDCG@10 that differ in "
    with pytest.raises(ValueError, match=message):
        study.optimize(changed, n_trials=1)
    if storage is not None:  # before the first trial, too
        with pytest.raises(ValueError, match=message):
            changed.create_study(1, **session)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
@pytest.mark.parametrize("verbose", [False, True])
def test_studies_log_trials_only_if_asked(web, verbose, level):
    """The process has one level. It is only lowered, and from INFO alone."""
    expected = getattr(optuna.logging, level)
    if level == "INFO" and not verbose:
        expected = optuna.logging.WARNING
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(getattr(optuna.logging, level))
    scoring(web).create_study(0, verbose=verbose)
    after = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(before)
    assert after == expected


def test_objectives_differ_if_their_steps_do(web):
    objectives = [
        tree(web.data, web.target, web.qid, cv=5),
        tree(web.data, web.target, web.qid, cv=4),
        scoring(web),
        scoring(web, random_state=1),
        scoring(web, report_every=2),
        scoring(web, zero_relevance="skip"),
        scoring(web, query_weight=web.qid % 3 + 1.0),
        scoring(web, y=web.target[::-1]),
    ]
    for seed in (0, 1):
        cv = QueryKFold(5, shuffle=True, random_state=seed)
        objectives.append(tree(web.data, web.target, web.qid, cv=cv))
    digests = {tuple(objective._identity.items()) for objective in objectives}
    assert len(digests) == len(objectives)


def test_objectives_are_equal_in_any_order_of_rows(web):
    rows = np.random.default_rng(0).permutation(len(web.qid))
    X, y, qid = web.data[rows], web.target[rows], web.qid[rows]
    permuted = ours.ScoringObjective(helpers.boosted, X, y, qid=qid)
    assert permuted._identity == scoring(web)._identity


def test_undefined_values_are_never_reported(web):
    options = {"measure": "ap", "zero_relevance": "skip"}
    y = np.where(web.qid <= 45, 0, web.target)
    objective = scoring(web, y=y, report_every=1, **options)
    first = optimized(objective, 5, pruner=helpers.hard_pruner()).trials[0]
    reported = list(first.intermediate_values.values())
    assert 0 < len(reported) <= 15
    assert np.isfinite(reported).all()
    scores = boosted_scores(web, first)
    assert first.value == ranking_score(y, scores, qid=web.qid, **options)


def function(X, y, qid, **options):
    return ours.ScoringObjective(helpers.boosted, X, y, qid=qid, **options)


def transforms(X, y, qid, **options):
    options["transforms"] = ["tune", "rank", "identity"]
    return linear(X[:, :3], y, qid, **options)


@pytest.fixture
def partly_judged(web):
    """Return labels of which every fifth is missing."""
    is_missing = np.arange(len(web.qid)) % 5 == 0
    return np.where(is_missing, np.nan, web.target)


@pytest.mark.parametrize("kind", [function, tree])
def test_documents_without_a_judgment_are_refused_or_not_relevant(
    web, partly_judged, kind
):
    with pytest.raises(ValueError, match="y must be judged"):
        kind(web.data, partly_judged, web.qid)
    accepted = kind(web.data, partly_judged, web.qid, unjudged="nonrelevant")
    filled = kind(web.data, np.nan_to_num(partly_judged), web.qid)
    trial = FixedTrial({"boost": 1.0, "max_depth": 3})
    assert accepted(trial) == filled(trial)


def test_bpref_leaves_documents_without_a_judgment_out(web, partly_judged):
    objective = scoring(web, y=partly_judged, measure="bpref")
    value = objective(FixedTrial({"boost": 1.0}))
    scores = web.data[:, 5] + web.data[:, 1]
    expected = ranking_score(partly_judged, scores, qid=web.qid, measure="bpref")
    assert value == expected


OBJECTIVES = [
    (function, "ndcg@10", False),
    (function, "fallout@5", True),
    (linear, "ndcg@10", True),
    (linear, ["ap", *BOTH], False),
    (transforms, "ndcg@10", False),
    (tree, "ndcg@10", True),
    (tree, ["ap", *BOTH], False),
]


@pytest.mark.parametrize(("kind", "measure", "prune"), OBJECTIVES)
def test_equal_seeds_and_shuffled_rows_give_equal_studies(web, kind, measure, prune):
    def records(seed, rows):
        X, y, qid = web.data[rows], web.target[rows], web.qid[rows]
        objective = kind(X, y, qid, measure=measure)
        return helpers.records(optimized(objective, 6, seed, prune=prune))

    rows = np.arange(len(web.qid))
    expected = records(5, rows)
    shuffled = np.random.default_rng(0).permutation(rows)
    assert records(5, shuffled) == expected
    assert records(6, rows) != expected


def test_directions_of_measures(web):
    objective = scoring(web, measure=["ap", *BOTH])
    assert objective.directions == ["maximize", "maximize", "minimize"]
    with pytest.raises(RuntimeError, match="no single direction: use directions"):
        objective.direction  # noqa: B018
    assert scoring(web, measure="fallout@5").direction == "minimize"


def test_a_study_of_several_measures(web):
    objective = scoring(web, measure=["ap", *BOTH])
    ap, ndcg, esl = objective.measure
    assert ap == parse_measure("ap")
    assert ndcg == parse_measure("ndcg@10")
    assert esl == parse_measure("ESL")
    study = objective.create_study(3)
    assert isinstance(study.sampler, optuna.samplers.TPESampler)
    assert study.metric_names == ["AP", "NDCG@10", "ESL"]
    study.optimize(objective, n_trials=3)
    for trial in study.trials:
        assert not trial.intermediate_values
    assert {"values_ESL", "user_attrs_AP best"} <= set(study.trials_dataframe())


def test_a_list_of_a_single_measure_is_a_list(web):
    listed = scoring(web, measure=["ap"])
    alone = scoring(web, measure="ap")
    study = optimized(listed, 2, prune=True)
    assert study.trials[0].intermediate_values
    for trial in study.trials:
        fixed = FixedTrial(trial.params)
        assert listed(fixed) == (trial.value,)
        assert {"AP best", "AP worst", "AP tie_std"} <= set(fixed.user_attrs)
        assert alone(FixedTrial(trial.params)) == trial.value


WRONG_DIRECTIONS = [
    ("ndcg@10", ["minimize"], r"\['maximize'\] \(NDCG@10\), got \['minimize'\]"),
    ("fallout@5", ["maximize"], r"directions \['minimize'\] \(Fallout@5"),
    (BOTH, ["maximize"], r"\['maximize', 'minimize'\] \(NDCG@10 and ESL\)"),
    (BOTH, ["maximize"] * 2, r"\['maximize', 'minimize'\] \(NDCG@10 and ESL\)"),
]


@pytest.mark.parametrize(("measure", "directions", "message"), WRONG_DIRECTIONS)
def test_directions_of_a_study_must_be_those_of_the_measures(
    web, measure, directions, message
):
    study = optuna.create_study(directions=directions)
    with pytest.raises(ValueError, match=message):
        study.optimize(scoring(web, measure=measure), n_trials=1)


FURTHER_VALUES = [
    # the pruner does not matter
    ("ndcg@10", [1.0], pruners.NopPruner()),
    (BOTH, [1.0], None),
    (BOTH, [], None),
]


@pytest.mark.parametrize(("measure", "further", "pruner"), FURTHER_VALUES)
def test_studies_with_further_values(web, measure, further, pruner):
    objective = scoring(web, measure=measure)

    def values(trial):
        value = objective(trial)
        if isinstance(value, tuple):
            return [*value, *further]
        return [value, *further]

    directions = objective.directions + ["minimize" for _ in further]
    study = optuna.create_study(directions=directions, pruner=pruner)
    study.optimize(values, n_trials=2)
    for trial in study.trials:
        assert trial.values == values(FixedTrial(trial.params))


X3 = np.arange(18.0).reshape(3, 6)
SKIP = {"zero_relevance": "skip"}
NO_QUERY = r"a query for which AP is defined, got none among 2 queries"
OPTION_ERRORS = [
    ({"X": X3[:2]}, r"y must have one value per row \(2\)"),
    ({"qid": [1, 2]}, "qid must have one value per row"),
    ({"measure": ["ndcg@10", "NDCG@10"]}, "measure must differ, got NDCG@10 twice"),
    ({"measure": []}, "measure must name at least one measure, got none"),
    ({"measure": 3}, "measure must be a name .* got 3"),
    ({"measure": ["ap", "ndgc"]}, "did you mean 'NDCG'"),
    ({"report_every": 0}, "report_every must be an integer >= 1, got 0"),
    ({"block_size": 2.5}, "block_size must be an integer >= 1, got 2.5"),
    ({"random_state": "a"}, "random_state must be an integer from 0"),
    ({"random_state": -1}, "random_state must be an integer from 0"),
    ({"unjudged": "skip"}, "unjudged must be one of"),
    (
        {**SKIP, "query_weight": [0, 0, 1]},
        "defined and whose weight is above 0, got none",
    ),
    ({**SKIP, "y": [0, 0, 0], "measure": ["rr", "ap"]}, NO_QUERY),
]


@pytest.mark.parametrize(("options", "message"), OPTION_ERRORS)
def test_errors_of_options(options, message):
    options = {"X": X3, "y": [1, 0, 0], "qid": [1, 1, 2], **options}
    with pytest.raises(ValueError, match=message):
        ours.ScoringObjective(helpers.boosted, **options)


def parameters_of(function):
    return inspect.signature(function).parameters


QUERY_OBJECTIVES = [
    ours.ScoringObjective,
    ours.LinearScoringObjective,
    ours.RankerObjective,
]


@pytest.mark.parametrize("Objective", QUERY_OBJECTIVES)
def test_all_objectives_show_one_set_of_options(Objective):
    parameters = parameters_of(Objective)
    assert not {"options", "self"} & set(parameters)
    for name, shared in parameters_of(ours.QueryObjective).items():
        assert parameters[name].default == shared.default, name
        assert parameters[name].kind == shared.kind, name
    create_study = inspect.signature(ours.ScorePrecisionObjective.create_study)
    assert inspect.signature(Objective.create_study) == create_study


def test_linear_objectives_show_no_other_options():
    assert "score" not in parameters_of(ours.LinearScoringObjective)
    with pytest.raises(TypeError, match="unexpected keyword argument 'signs'"):
        ours.LinearScoringObjective([[1.0]], [1], qid=[1], signs=[1])
