"""The search for the coarsest scores."""

import math

import numpy as np
import optuna
import pytest
from optuna.trial import FixedTrial
from scipy import stats

from tests.optuna.helpers import exact, optimized, records, scoring
from tieaware_sklearn import evaluate, precision_study
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
from tieaware_sklearn.score_precision import band_scores, round_scores

WEB = make_web_search(n_queries=60, random_state=1)
TEXT = WEB.data[:, 5]


def objective(rows=slice(None), scores=TEXT, **options):
    return ScorePrecisionObjective(
        WEB.target[rows], scores[rows], qid=WEB.qid[rows], **options
    )


def search(n_trials, **options):
    """Return a study of some trials."""
    return optimized(objective(**options), n_trials, 3)


def test_bands_of_ordered_ties_are_compared_with_that_order():
    scores = np.round(TEXT)
    trial = FixedTrial({"kind": "rho", "rho": 1.4})
    in_order = objective(scores=scores, measure="rr", existing_ties="order")
    in_order(trial)
    expected = exact(WEB, scores, measure="rr", ties="input")
    assert trial.user_attrs["exact"] == expected


PRECISIONS = [
    ({"kind": "rho", "rho": 1.4004}, "rho=1.4"),
    ({"kind": "decimals", "decimals": 1}, "decimals=1"),
    ({"kind": "significant", "significant": 2}, "significant=2"),
    ({"kind": "bits", "format": "bfloat16"}, "bits=bfloat16"),
    ({"kind": "bits", "format": "linear", "linear_bits": 4}, "bits=4"),
    ({"kind": "levels", "levels": 9}, "levels=9"),
]
each_precision = pytest.mark.parametrize(("parameters", "name"), PRECISIONS)


def coarse_scores(name):
    if name == "rho=1.4":
        return band_scores(TEXT, 1.4, qid=WEB.qid)
    return round_scores(TEXT, name, qid=WEB.qid)


@each_precision
def test_values_are_the_mean_and_the_bits_of_coarse_scores(parameters, name):
    value, bits = objective(measure="ap")(FixedTrial(parameters))
    coarse = coarse_scores(name)
    assert value == exact(WEB, coarse, measure="ap")
    n_values = [len(np.unique(coarse[WEB.qid == q])) for q in np.unique(WEB.qid)]
    assert bits == pytest.approx(np.log2(n_values).mean())


@each_precision
def test_values_and_attributes_are_those_of_a_precision_study(parameters, name):
    trial = FixedTrial(parameters)
    value, bits = objective(measure="ap")(trial)
    study = precision_study(
        WEB.target, {"s": TEXT}, qid=WEB.qid, measure="ap", coarseness=[name]
    )
    assert value == study.summary().mean[1]
    assert bits == study.bits[1, 0]
    report = evaluate(WEB.target, coarse_scores(name), qid=WEB.qid, measures="ap")
    summary = report.summary()
    attributes = trial.user_attrs
    assert len(attributes.pop("losses")) > 1
    assert attributes == {
        "coarseness": name,
        "measure": "AP",
        "exact": study.summary().mean[0],
        "best": summary.best[0],
        "worst": summary.worst[0],
        "tie_std": summary.tie_std[0],
        "tied_documents": study.tied_documents[1, 0],
        "changed": study.changed()[1, 0],
    }


def names_of(trials):
    return [trial.user_attrs["coarseness"] for trial in trials]


FIRST_NAMES = [
    "rho=1.1",
    "rho=1.4",
    "rho=2.0",
    "significant=3",
    "significant=2",
    "bits=float16",
    "bits=bfloat16",
    "bits=8",
    "levels=10",
]


def test_a_study_begins_with_common_precisions_and_finds_a_front():
    study = search(40)
    assert names_of(study.trials[:9]) == FIRST_NAMES
    assert len({trial.params["kind"] for trial in study.trials}) == 5
    # values are pairs of a mean and bits
    by_bits = sorted([trial.values for trial in study.best_trials], key=lambda v: v[1])
    means = [mean for mean, _ in by_bits]
    assert len(means) > 4
    assert means == sorted(means)


BOUNDS = [
    ("rho", 1.01, 10),
    ("significant", 1, 8),
    ("levels", 2, 1024),
    ("linear_bits", 1, 16),
    ("decimals", -2, 6),
]


def test_bounds_of_parameters():
    distributions = {}
    for trial in search(40).trials:
        distributions.update(trial.distributions)
    for name, low, high in BOUNDS:
        assert distributions[name].low == low
        assert distributions[name].high == high
    numbers = {name for name in distributions if hasattr(distributions[name], "low")}
    assert numbers == {name for name, _, _ in BOUNDS}
    assert distributions["rho"].log
    assert distributions["levels"].log
    assert not distributions["significant"].log


def test_equal_seeds_and_shuffled_rows_give_equal_studies():
    rows = np.random.default_rng(0).permutation(len(WEB.qid))
    shuffled = search(15, rows=rows, n_jobs=2)
    assert records(shuffled) == records(search(15))


def is_not_inferior(values, exact_values, measure):
    """Test whether values keep 90% of the exact values, in a one-sided t test."""
    if measure == "fallout@5":
        difference = exact_values - 0.9 * values
    else:
        difference = values - 0.9 * exact_values
    if np.ptp(difference) == 0:
        return False
    return stats.ttest_1samp(difference, 0, alternative="greater").pvalue <= 0.05


@pytest.mark.filterwarnings("ignore:the number of queries that change under rho")
@pytest.mark.parametrize(("measure", "sign"), [("ndcg@10", -1), ("fallout@5", 1)])
def test_the_coarsest_that_is_not_inferior(measure, sign):
    study = search(25, measure=measure)
    chosen = coarsest(study, keep=0.9)
    names = sorted(set(names_of(study.trials)))
    by_precision = precision_study(
        WEB.target, {"s": TEXT}, qid=WEB.qid, measure=measure, coarseness=names
    )
    exact_values, *coarse_values = by_precision.expected[:, :, 0]
    values_of = dict(zip(names, coarse_values, strict=True))
    ranked = []
    for trial in study.trials:
        values = values_of[trial.user_attrs["coarseness"]]
        if is_not_inferior(values, exact_values, measure):
            mean, bits = trial.values
            ranked.append((bits, sign * mean, trial.number))
    assert chosen.number == min(ranked)[-1]
    # a lower share to keep may choose coarser scores
    assert coarsest(study, keep=0.5).values[1] <= chosen.values[1]


def study_of_changed(n_changed):
    """Return a study of one trial that changed so many queries, and its values."""
    (trial,) = search(1, kinds=["rho"], max_rho=1.2).trials
    study = optuna.create_study(directions=["maximize", "minimize"])
    attributes = {**trial.user_attrs, "changed": n_changed}
    copy = optuna.trial.create_trial(values=trial.values, user_attrs=attributes)
    study.add_trial(copy)
    return study, trial.values


def test_a_choice_that_changes_few_queries_is_warned_of():
    study, values = study_of_changed(9)
    message = (
        "queries that change under rho=1.1 is 9, below 10, so these queries may not"
    )
    with pytest.warns(UserWarning, match=message):
        assert coarsest(study, keep=0.5).values == values


def test_a_choice_that_changes_10_queries_is_not_warned_of():
    study, values = study_of_changed(10)
    assert coarsest(study, keep=0.5).values == values


CHOICE_ERRORS = [
    ({"keep": 1}, "keeps more than 1 of .* got none of 3 trials"),
    ({"keep": 0}, "keep must be .*got 0"),
    ({"alpha": 1}, "alpha must be .*got 1"),
]


@pytest.mark.parametrize(("options", "message"), CHOICE_ERRORS)
def test_errors_of_a_choice(options, message):
    study = search(3, kinds=["rho"])
    with pytest.raises(ValueError, match=message):
        coarsest(study, **options)


def test_a_study_must_have_a_trial_that_is_good_enough():
    worthless = ScorePrecisionObjective([0, 1], [-math.inf] * 2)
    study = optimized(worthless, 2)
    message = "keeps more than 0.99 .* got none of 2 trials"
    with pytest.raises(ValueError, match=message):
        coarsest(study)


def test_a_study_must_have_trials_of_this_objective():
    message = "complete trials of a ScorePrecisionObjective, got none"
    with pytest.raises(ValueError, match=message):
        coarsest(optuna.create_study())
    study = optimized(scoring(WEB), 1)
    with pytest.raises(ValueError, match=message):
        coarsest(study)


def test_kinds_and_limits():
    study = search(12, kinds="rho", max_rho=1.5)
    for trial in study.trials:
        assert trial.params["kind"] == "rho"
        assert trial.params["rho"] <= 1.5
    assert names_of(study.trials[:2]) == ["rho=1.1", "rho=1.4"]


@pytest.mark.parametrize(("scale", "low"), [(1e-6, 4), (1, -2), (1e6, -8)])
def test_decimals_go_with_the_size_of_scores(scale, low):
    study = search(1, scores=TEXT * scale, kinds="decimals")
    decimals = study.trials[0].distributions["decimals"]
    assert decimals.low == low
    assert decimals.high == low + 8


def test_constant_scores():
    constant = ScorePrecisionObjective([0, 1], [1.0, 1.0], kinds="decimals")
    trial = FixedTrial({"kind": "decimals", "decimals": 0})
    value, bits = constant(trial)
    assert value == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert bits == 0
    decimals = trial.distributions["decimals"]
    assert decimals.low == 0
    assert decimals.high == 8


OPTION_ERRORS = [
    ({"kinds": []}, "kinds must not be empty"),
    ({"kinds": ["x"]}, "kinds must be one of"),
    ({"kinds": None}, "kinds must be one or more of .*, got None"),
    ({"max_rho": 1.01}, "max_rho must be a finite number > 1.01, got 1.01"),
    ({"max_rho": math.inf}, "max_rho must be a finite number > 1.01, got inf"),
    ({"scale": "fit"}, "scale must be one of"),
    ({"measure": "x"}, "measure"),
    ({"y_score": [[1, 2], [2, 3]]}, "y_score must be the scores of one system"),
    ({"y_score": [1.0]}, "y_score must have one value per row"),
]


@pytest.mark.parametrize(("options", "message"), OPTION_ERRORS)
def test_errors_of_options(options, message):
    options = {"y_score": [1.0, 2.0], **options}
    with pytest.raises(ValueError, match=message):
        ScorePrecisionObjective([0, 1], **options)


def test_a_study_must_have_the_directions_of_the_objective():
    study = optuna.create_study(directions=["minimize", "minimize"])
    message = r"\['maximize', 'minimize'\] \(NDCG@10\), got"
    with pytest.raises(ValueError, match=message):
        study.optimize(objective(), n_trials=1)


def test_the_measure_must_be_defined_for_a_query():
    undefined = ScorePrecisionObjective([0, 0], [1.0, 2.0], zero_relevance="skip")
    trial = FixedTrial({"kind": "rho", "rho": 2})
    with pytest.raises(ValueError, match="NDCG@10 is undefined for every query"):
        undefined(trial)
