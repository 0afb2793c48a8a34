"""The search for the coarsest scores."""

import math
from contextlib import nullcontext

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


def searching(rows=slice(None), scores=TEXT, **options):
    return ScorePrecisionObjective(
        WEB.target[rows], scores[rows], qid=WEB.qid[rows], **options
    )


def searched(n_trials, **options):
    return optimized(searching(**options), n_trials, 3)


def test_bands_of_documents_as_they_stand_are_held_against_that_order():
    scores = np.round(TEXT)
    trial = FixedTrial({"kind": "rho", "rho": 1.4})
    searching(scores=scores, measure="rr", existing_ties="order")(trial)
    expected = exact(WEB, scores, measure="rr", ties="input")
    assert trial.user_attrs["exact"] == expected


BY_HAND = [
    ({"kind": "rho", "rho": 1.4004}, "rho=1.4"),
    ({"kind": "decimals", "decimals": 1}, "decimals=1"),
    ({"kind": "significant", "significant": 2}, "significant=2"),
    ({"kind": "bits", "format": "bfloat16"}, "bits=bfloat16"),
    ({"kind": "bits", "format": "linear", "linear_bits": 4}, "bits=4"),
    ({"kind": "levels", "levels": 9}, "levels=9"),
]


@pytest.mark.parametrize(("parameters", "name"), BY_HAND)
def test_both_objectives_by_hand(parameters, name):
    trial = FixedTrial(parameters)
    value, bits = searching(measure="ap")(trial)
    coarsen, by = (band_scores, 1.4) if name == "rho=1.4" else (round_scores, name)
    coarse = coarsen(TEXT, by, qid=WEB.qid)
    summary = evaluate(WEB.target, coarse, qid=WEB.qid, measures="ap").summary()
    distinct = [len(set(coarse[WEB.qid == q].tolist())) for q in set(WEB.qid.tolist())]
    assert bits == pytest.approx(np.log2(distinct).mean())
    options = {"qid": WEB.qid, "measure": "ap", "coarseness": [name]}
    study = precision_study(WEB.target, {"s": TEXT}, **options)
    assert value == summary.mean[0] == study.summary().mean[1]
    assert bits == study.bits[1, 0]
    found = trial.user_attrs
    assert len(found.pop("losses")) > 1
    assert found == {
        "coarseness": name,
        "measure": "AP",
        "exact": study.summary().mean[0],
        "best": summary.best[0],
        "worst": summary.worst[0],
        "tie_std": summary.tie_std[0],
        "tied_documents": study.tied_documents[1, 0],
        "changed": study.changed()[1, 0],
    }


def test_a_study_begins_with_what_is_known_and_finds_a_front():
    study = searched(40)
    names = [trial.user_attrs["coarseness"] for trial in study.trials[:9]]
    assert names == [
        *("rho=1.1", "rho=1.4", "rho=2.0", "significant=3", "significant=2"),
        *("bits=float16", "bits=bfloat16", "bits=8", "levels=10"),
    ]
    front = sorted((t.values for t in study.best_trials), key=lambda v: v[1])
    assert len(front) > 4
    assert [v[0] for v in front] == sorted(v[0] for v in front)
    assert len({trial.params["kind"] for trial in study.trials}) == 5
    found = {k: d for t in study.trials for k, d in t.distributions.items()}
    ends = {k: (d.low, d.high) for k, d in found.items() if hasattr(d, "low")}
    assert ends == {
        "rho": (1.01, 10),
        "significant": (1, 8),
        "levels": (2, 1024),
        "linear_bits": (1, 16),
        "decimals": (-2, 6),
    }
    assert found["rho"].log
    assert found["levels"].log
    assert not found["significant"].log


def test_equal_seeds_and_shuffled_rows_give_equal_studies():
    rows = np.random.default_rng(0).permutation(len(WEB.qid))
    assert records(searched(15)) == records(searched(15, rows=rows, n_jobs=2))


@pytest.mark.filterwarnings("ignore:0 queries change under rho")
@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5"])
def test_the_coarsest_that_is_not_inferior(measure):
    study = searched(25, measure=measure)
    up = measure != "fallout@5"
    chosen = coarsest(study, keep=0.9)
    names = [trial.user_attrs["coarseness"] for trial in study.trials]
    options = {"qid": WEB.qid, "measure": measure, "coarseness": sorted(set(names))}
    found = precision_study(WEB.target, {"s": TEXT}, **options)
    exact, *coarse = found.expected[:, :, 0]
    values = dict(zip(options["coarseness"], coarse, strict=True))
    kept = []
    for trial, name in zip(study.trials, names, strict=True):
        d = values[name] - 0.9 * exact if up else exact - 0.9 * values[name]
        if np.ptp(d) and stats.ttest_1samp(d, 0, alternative="greater").pvalue <= 0.05:
            kept.append(trial)
    side = -1 if up else 1
    best = min(kept, key=lambda t: (t.values[1], side * t.values[0], t.number))
    assert chosen.number == best.number
    # less is asked for: coarser may do
    assert coarsest(study, keep=0.5).values[1] <= chosen.values[1]


def test_a_choice_that_changes_few_queries():
    study = searched(1, kinds=["rho"], max_rho=1.2)
    (trial,) = study.trials
    chosen = "9 queries change under rho=1.1, fewer than 10: rare losses may be missing"
    for changed in (9, 10):
        attributes = {**trial.user_attrs, "changed": changed}
        other = optuna.create_study(directions=["maximize", "minimize"])
        copy = optuna.trial.create_trial(values=trial.values, user_attrs=attributes)
        other.add_trial(copy)
        warned = pytest.warns(UserWarning, match=chosen)
        with warned if changed == 9 else nullcontext():
            assert coarsest(other, keep=0.5).values == trial.values


def test_nothing_is_good_enough():
    worthless = ScorePrecisionObjective([0, 1], [-math.inf] * 2)
    nothing, others = optimized(worthless, 2), optimized(scoring(WEB), 1)
    none = "complete trials of a ScorePrecisionObjective, got none"
    study = searched(3, kinds=["rho"])
    for given, options, message in (
        (study, {"keep": 1}, "keeps more than 1 of .* got none of 3 trials"),
        (study, {"keep": 0}, "keep must be .*got 0"),
        (study, {"alpha": 1}, "alpha must be .*got 1"),
        (nothing, {}, "keeps more than 0.99 .* got none of 2 trials"),
        (optuna.create_study(), {}, none),
        (others, {}, none),
    ):
        with pytest.raises(ValueError, match=message):
            coarsest(given, **options)


def test_kinds_and_limits():
    study = searched(12, kinds="rho", max_rho=1.5)
    assert all(t.params["rho"] <= 1.5 for t in study.trials)
    assert {t.params["kind"] for t in study.trials} == {"rho"}
    names = [t.user_attrs["coarseness"] for t in study.trials[:2]]
    assert names == ["rho=1.1", "rho=1.4"]


@pytest.mark.parametrize(("scale", "low"), [(1e-6, 4), (1, -2), (1e6, -8)])
def test_decimals_go_with_the_size_of_scores(scale, low):
    study = searched(1, scores=TEXT * scale, kinds="decimals")
    found = study.trials[0].distributions["decimals"]
    assert (found.low, found.high) == (low, low + 8)


def test_constant_scores():
    constant = ScorePrecisionObjective([0, 1], [1.0, 1.0], kinds="decimals")
    trial = FixedTrial({"kind": "decimals", "decimals": 0})
    assert constant(trial) == (pytest.approx((1 + 1 / math.log2(3)) / 2), 0)
    found = trial.distributions["decimals"]
    assert (found.low, found.high) == (0, 8)


BAD_INPUT = [
    ({"kinds": []}, "kinds must not be empty"),
    ({"kinds": ["x"]}, "kinds must be one of"),
    ({"kinds": None}, "kinds must be a list of .*, got None"),
    ({"max_rho": 1.01}, "max_rho must be a finite number > 1.01, got 1.01"),
    ({"max_rho": math.inf}, "max_rho must be a finite number > 1.01, got inf"),
    ({"scale": "fit"}, "scale must be one of"),
    ({"measure": "x"}, "measure"),
    ({"y_score": [[1, 2], [2, 3]]}, "y_score must be the scores of one system"),
    ({"y_score": [1.0]}, "y_score must have one value per row"),
]


@pytest.mark.parametrize(("options", "message"), BAD_INPUT)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        ScorePrecisionObjective([0, 1], **{"y_score": [1.0, 2.0]} | options)


def test_bad_studies_and_queries():
    study = optuna.create_study(directions=["minimize", "minimize"])
    message = r"\['maximize', 'minimize'\] \(NDCG@10\), got"
    with pytest.raises(ValueError, match=message):
        study.optimize(searching(), n_trials=1)
    undefined = ScorePrecisionObjective([0, 0], [1.0, 2.0], zero_relevance="skip")
    with pytest.raises(ValueError, match="NDCG@10 is undefined for every query"):
        undefined(FixedTrial({"kind": "rho", "rho": 2}))
