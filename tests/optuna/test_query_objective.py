"""What all objectives over queries share: values, reports, pruning."""

import inspect
import math

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

BOTH = ["ndcg@10", "ESL"]
MEDIAN = pruners.MedianPruner(n_startup_trials=2)
SOME = st.sampled_from(["ndcg@2", "ap", "rr", "fallout@1", "esl", "p@3"])


def plain(trial, X):
    return X[:, 0]


@st.composite
def rankings(draw):
    n = draw(st.integers(1, 12))
    several = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    y, scores, qid = (np.array(draw(several)) for _ in range(3))
    y[0] = 1
    weight = np.array([1.0, 3.0, 0.5, 2.0])[qid] if draw(st.booleans()) else None
    return y, scores, qid, weight


@settings(max_examples=40)
@given(rankings(), st.lists(SOME, min_size=1, unique=True))
def test_values_and_attributes_are_those_of_evaluate(case, measures):
    y, scores, qid, weight = case
    assume("fallout@1" not in measures or (y == 0).any())

    def tried(measure):
        trial, options = FixedTrial({}), {"measure": measure, "query_weight": weight}
        data = scores[:, None], y
        objective = ours.ScoringObjective(plain, *data, qid=qid, **options)
        return objective(trial), trial.user_attrs

    values, attributes = tried(measures)
    assert isinstance(values, tuple)
    report = evaluate(y, scores, qid=qid, measures=measures, query_weight=weight)
    report = report.summary()
    pairs = list(zip(qid.tolist(), scores.tolist(), strict=True))
    common = {
        "tied_documents": np.mean([pairs.count(pair) > 1 for pair in pairs]),
        "n_queries": len(set(qid.tolist())),
        "pruned": False,
    }
    assert len(attributes) == 3 * len(measures) + 3
    for j, measure in enumerate(measures):
        value, alone = tried(measure)
        assert value == values[j] == report.mean[j]
        assert alone == common | {
            "best": report.best[j],
            "worst": report.worst[j],
            "tie_std": pytest.approx(report.tie_std[j], rel=1e-12),
        }
        for name, attribute in alone.items():
            shown = name if name in common else f"{parse_measure(measure)} {name}"
            assert attributes[shown] == attribute


@pytest.mark.parametrize(
    ("measure", "report_every", "weighted"),
    [("rr", None, False), ("ndcg@10", 1, True), ("fallout@5", 7, True)],
)
def test_fixed_buckets_are_reported_in_an_order_of_each_trial(
    web, measure, report_every, weighted
):
    weight = web.qid % 3 + 1.0 if weighted else None
    options = {"query_weight": weight, "report_every": report_every}
    objective = scoring(web, measure=measure, block_size=10, **options)
    study = optimized(objective, 4, prune=True)
    size, dealt = report_every or 1, objective._dealt
    steps = set(range(math.ceil(60 / size)))
    assert set(study.trials[0].intermediate_values) == steps
    assert sorted(q for bucket in dealt for q in bucket) == list(range(60))
    assert all(abs(len(bucket) - size) <= 1 for bucket in dealt)
    assert len({tuple(trial.intermediate_values) for trial in study.trials}) == 4
    own = np.unique(web.qid) % 3 + 1.0 if weighted else np.ones(60)
    for trial in study.trials:
        assert set(trial.intermediate_values) <= steps
        scores = web.data[:, 5] + trial.params["boost"] * web.data[:, 1]
        given = {"qid": web.qid, "measures": measure, "query_weight": weight}
        report = evaluate(web.target, scores, **given)
        by_id = report.expected[np.argsort(report.qid), 0]
        for step, value in trial.intermediate_values.items():
            bucket = dealt[step]
            mean = np.average(by_id[bucket], weights=own[bucket])
            assert value == pytest.approx(mean, abs=1e-15)
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
    pruned = [t for t in study.trials if t.user_attrs["pruned"]]
    assert pruned
    for trial in pruned:
        assert trial.state is optuna.trial.TrialState.COMPLETE
        assert 14 <= trial.user_attrs["n_queries"] < 60
        values = trial.intermediate_values.values()
        assert trial.value == pytest.approx(np.mean(list(values)), abs=1e-12)
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


@pytest.mark.parametrize("pruner", [None, "hard"], ids=["wilcoxon", "hard"])
def test_the_best_trial_is_never_a_pruned_one(web, pruner):
    ids, seen = np.unique(web.qid), 0
    for seed in range(4):
        weight = np.random.default_rng(seed).lognormal(0, 2, len(ids))
        weight = weight[np.searchsorted(ids, web.qid)] if seed % 2 else None
        options = {"query_weight": weight, "block_size": 6, "random_state": seed}
        objective = scoring(web, helpers.twelve_weights, **options)
        chosen = helpers.hard_pruner() if pruner == "hard" else pruner
        study = optimized(objective, 15, seed, pruner=chosen, prune=chosen is None)
        best = study.best_trial
        assert not best.user_attrs["pruned"]
        assert best.user_attrs["n_queries"] == 60
        assert objective(FixedTrial(best.params)) == best.value
        seen += sum(t.user_attrs["pruned"] for t in study.trials)
    assert seen > 0


def test_a_study_has_one_way_to_cut_queries_into_buckets(web):
    storage = optuna.storages.InMemoryStorage()
    options = {"storage": storage, "study_name": "z", "load_if_exists": True}
    options["prune"] = True
    optimized(scoring(web), 2, **options)
    for other in ({"random_state": 1}, {"report_every": 2}, {"measure": "rr"}):
        with pytest.raises(ValueError, match="must hold trials of this objective"):
            scoring(web, **other).create_study(0, **options)
    study = optimized(scoring(web), 1, **options)
    assert len(study.trials) == 3


def memory(folder):
    return None


def sqlite(folder):
    return f"sqlite:///{folder / 'studies.db'}"


@pytest.mark.parametrize("kind", [memory, sqlite, helpers.journal])
def test_a_study_is_of_one_measure_and_one_set_of_data(web, kind, tmp_path):
    storage = kind(tmp_path)
    objective, options = scoring(web), {"storage": storage, "load_if_exists": True}
    study = optimized(objective, 1, study_name="one", **options)
    # a list of one measure is that measure
    study.optimize(scoring(web, measure=["ndcg@10"]), n_trials=1)
    said = "must hold trials .*got trials of NDCG@10 that differ in "
    for change in ({"measure": "p@1"}, {"y": web.target[::-1]}, {"zero_relevance": 1}):
        other = scoring(web, **change)
        with pytest.raises(ValueError, match=said):
            study.optimize(other, n_trials=1)
        if storage is not None:  # before the first trial, too
            with pytest.raises(ValueError, match=said):
                other.create_study(1, study_name="one", **options)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
@pytest.mark.parametrize("verbose", [False, True])
def test_studies_log_trials_only_if_asked(web, verbose, level):
    """The process has one level, which only goes down, and from INFO alone."""
    before, given = optuna.logging.get_verbosity(), getattr(optuna.logging, level)
    optuna.logging.set_verbosity(given)
    scoring(web).create_study(0, verbose=verbose)
    found = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(before)
    lowered = level == "INFO" and not verbose
    assert found == (optuna.logging.WARNING if lowered else given)


def test_objectives_are_told_apart_by_all_that_steps_mean(web):
    data = (web.data, web.target, web.qid)
    folds = [QueryKFold(5, shuffle=True, random_state=s) for s in (0, 1)]
    objectives = [
        *(tree(*data, cv=cv) for cv in (5, 4, *folds)),
        scoring(web),
        scoring(web, random_state=1),
        scoring(web, report_every=2),
        scoring(web, zero_relevance="skip"),
        scoring(web, query_weight=web.qid % 3 + 1.0),
        scoring(web, y=web.target[::-1]),
    ]
    digests = {tuple(one._identity.items()) for one in objectives}
    assert len(digests) == len(objectives)
    rows = np.random.default_rng(0).permutation(len(web.qid))
    data, qid = (web.data[rows], web.target[rows]), web.qid[rows]
    again = ours.ScoringObjective(helpers.boosted, *data, qid=qid)
    assert again._identity == scoring(web)._identity


def test_undefined_values_are_never_reported(web):
    options = {"measure": "ap", "zero_relevance": "skip"}
    y = np.where(web.qid <= 45, 0, web.target)
    objective = scoring(web, y=y, report_every=1, **options)
    first = optimized(objective, 5, pruner=helpers.hard_pruner()).trials[0]
    assert 0 < len(first.intermediate_values) <= 15
    assert np.isfinite(list(first.intermediate_values.values())).all()
    scores = web.data[:, 5] + first.params["boost"] * web.data[:, 1]
    assert first.value == ranking_score(y, scores, qid=web.qid, **options)


def function(X, y, qid, **options):
    return ours.ScoringObjective(helpers.boosted, X, y, qid=qid, **options)


def transforms(X, y, qid, **options):
    options["transforms"] = ["tune", "rank", "identity"]
    return linear(X[:, :3], y, qid, **options)


@pytest.mark.parametrize("kind", [function, tree])
def test_documents_that_nobody_judged(web, kind):
    missing = np.arange(len(web.qid)) % 5 == 0
    y = np.where(missing, np.nan, web.target)
    with pytest.raises(ValueError, match="y must be judged"):
        kind(web.data, y, web.qid)
    accepted = kind(web.data, y, web.qid, unjudged="nonrelevant")
    plain = kind(web.data, np.where(missing, 0, web.target), web.qid)
    trial = FixedTrial({"boost": 1.0, "max_depth": 3})
    assert accepted(trial) == plain(trial)
    # bpref leaves them out
    scores = web.data[:, 5] + web.data[:, 1]
    expected = ranking_score(y, scores, qid=web.qid, measure="bpref")
    assert scoring(web, y=y, measure="bpref")(trial) == expected


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
    def recorded(seed, rows):
        data = web.data[rows], web.target[rows], web.qid[rows]
        study = optimized(kind(*data, measure=measure), 6, seed, prune=prune)
        return helpers.records(study)

    plain = np.arange(len(web.qid))
    rows = np.random.default_rng(0).permutation(plain)
    assert recorded(5, plain) == recorded(5, rows) != recorded(6, plain)


def test_a_study_of_several_measures(web):
    objective = scoring(web, measure=["ap", *BOTH])
    assert objective.measure == tuple(map(parse_measure, ["ap", *BOTH]))
    assert objective.directions == ["maximize", "maximize", "minimize"]
    with pytest.raises(RuntimeError, match="no single direction: use directions"):
        objective.direction  # noqa: B018
    assert scoring(web, measure="fallout@5").direction == "minimize"
    study = objective.create_study(3)
    assert isinstance(study.sampler, optuna.samplers.TPESampler)
    assert study.metric_names == ["AP", "NDCG@10", "ESL"]
    study.optimize(objective, n_trials=3)
    assert not any(t.intermediate_values for t in study.trials)
    assert {"values_ESL", "user_attrs_AP best"} <= set(study.trials_dataframe())


def test_a_list_of_one_measure_is_a_list(web):
    objective, alone = scoring(web, measure=["ap"]), scoring(web, measure="ap")
    study = optimized(objective, 2, prune=True)
    assert study.trials[0].intermediate_values
    for trial in study.trials:
        fixed = FixedTrial(trial.params)
        assert objective(fixed) == (trial.value,) == (alone(FixedTrial(trial.params)),)
        assert set(fixed.user_attrs) >= {"AP best", "AP worst", "AP tie_std"}


OTHER_STUDIES = [
    ("ndcg@10", ["minimize"], r"\['maximize'\] \(NDCG@10\), got \['minimize'\]"),
    ("fallout@5", ["maximize"], r"directions \['minimize'\] \(Fallout@5"),
    (BOTH, ["maximize"], r"\['maximize', 'minimize'\] \(NDCG@10 and ESL\)"),
    (BOTH, ["maximize"] * 2, r"\['maximize', 'minimize'\] \(NDCG@10 and ESL\)"),
]


@pytest.mark.parametrize(("measure", "directions", "message"), OTHER_STUDIES)
def test_studies_that_do_not_fit(web, measure, directions, message):
    study = optuna.create_study(directions=directions)
    with pytest.raises(ValueError, match=message):
        study.optimize(scoring(web, measure=measure), n_trials=1)


@pytest.mark.parametrize(
    ("measure", "others", "pruner"),
    # no matter what pruner it happens to have
    [("ndcg@10", [1.0], pruners.NopPruner()), (BOTH, [1.0], None), (BOTH, [], None)],
)
def test_studies_with_other_values_beside(web, measure, others, pruner):
    objective = scoring(web, measure=measure)

    def values(trial):
        found = objective(trial)
        return [*(found if isinstance(found, tuple) else [found]), *others]

    directions = [*objective.directions, *("minimize" for _ in others)]
    study = optuna.create_study(directions=directions, pruner=pruner)
    study.optimize(values, n_trials=2)
    for trial in study.trials:
        assert trial.values == values(FixedTrial(trial.params))


X3, Y3, Q3 = np.arange(18.0).reshape(3, 6), [1, 0, 0], [1, 1, 2]
SKIP = {"zero_relevance": "skip"}


BAD_INPUT = [
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
    (SKIP | {"query_weight": [0, 0, 1]}, "defined and that has weight, got none"),
    (
        SKIP | {"y": [0] * 3, "measure": ["rr", "ap"]},
        r"a query for which AP is defined, got none \(of 2 queries\)",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD_INPUT)
def test_what_is_refused(options, message):
    given = {"score": helpers.boosted, "X": X3, "y": Y3, "qid": Q3, **options}
    with pytest.raises(ValueError, match=message):
        ours.ScoringObjective(**given)


def test_all_objectives_show_one_set_of_options():
    shared = inspect.signature(ours.QueryObjective).parameters
    assert "score" not in inspect.signature(ours.LinearScoringObjective).parameters
    kinds = ours.ScoringObjective, ours.LinearScoringObjective, ours.RankerObjective
    for cls in kinds:
        own = inspect.signature(cls).parameters
        assert not {"options", "self"} & set(own)
        for name, parameter in shared.items():
            assert own[name].default == parameter.default, name
            assert own[name].kind == parameter.kind, name
        creators = (one.create_study for one in (cls, ours.ScorePrecisionObjective))
        assert len(set(map(inspect.signature, creators))) == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'signs'"):
        ours.LinearScoringObjective([[1.0]], [1], qid=[1], signs=[1])
