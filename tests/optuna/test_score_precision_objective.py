"""The search for the coarsest scores."""

from __future__ import annotations

import math

import numpy as np
import optuna
import pytest
from scipy import stats

from tieaware_sklearn import evaluate, precision_study, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective, ScoringObjective, coarsest
from tieaware_sklearn.score_precision import band_scores, round_scores

WEB = make_web_search(n_queries=60, random_state=1)
TEXT = WEB.data[:, 5]
FIRST = 9


def searched(n_trials=25, rows=slice(None), seed=3, **options):
    objective = ScorePrecisionObjective(
        WEB.target[rows], TEXT[rows], qid=WEB.qid[rows], **options
    )
    study = objective.create_study(seed=seed)
    study.optimize(objective, n_trials=n_trials)
    return study


def test_bands_of_documents_as_they_stand_are_held_against_that_order():
    scores = np.round(TEXT)
    objective = ScorePrecisionObjective(
        WEB.target, scores, qid=WEB.qid, measure="rr", existing_ties="order"
    )
    trial = optuna.trial.FixedTrial({"kind": "rho", "rho": 1.4})
    objective(trial)
    exact = ranking_score(WEB.target, scores, qid=WEB.qid, measure="rr", ties="input")
    assert trial.user_attrs["exact"] == exact


@pytest.mark.parametrize(
    ("parameters", "name", "scores"),
    [
        (
            {"kind": "rho", "rho": 1.4},
            "rho=1.4",
            lambda s, q: band_scores(s, 1.4, qid=q),
        ),
        (
            {"kind": "decimals", "decimals": 1},
            "decimals=1",
            lambda s, q: round_scores(s, "decimals=1"),
        ),
        (
            {"kind": "significant", "significant": 2},
            "significant=2",
            lambda s, q: round_scores(s, "significant=2"),
        ),
        (
            {"kind": "bits", "format": "bfloat16"},
            "bits=bfloat16",
            lambda s, q: round_scores(s, "bits=bfloat16"),
        ),
        (
            {"kind": "bits", "format": "linear", "linear_bits": 4},
            "bits=4",
            lambda s, q: round_scores(s, "bits=4", qid=q),
        ),
        (
            {"kind": "levels", "levels": 9},
            "levels=9",
            lambda s, q: round_scores(s, "levels=9", qid=q),
        ),
    ],
)
def test_both_objectives_by_hand(parameters, name, scores):
    objective = ScorePrecisionObjective(WEB.target, TEXT, qid=WEB.qid, measure="ap")
    trial = optuna.trial.FixedTrial(parameters)
    value, bits = objective(trial)
    coarse = scores(TEXT, WEB.qid)
    summary = evaluate(WEB.target, coarse, qid=WEB.qid, measures="ap").summary()
    assert value == summary.mean[0]
    distinct = [len(set(coarse[WEB.qid == q].tolist())) for q in set(WEB.qid.tolist())]
    assert bits == pytest.approx(np.log2(distinct).mean())
    found = trial.user_attrs
    assert found["coarseness"] == name
    for attribute in ("best", "worst", "tie_std"):
        assert found[attribute] == getattr(summary, attribute)[0]
    study = precision_study(
        WEB.target, {"s": TEXT}, qid=WEB.qid, measure="ap", coarseness=[name]
    )
    assert found["exact"] == study.summary().mean[0]
    assert value == study.summary().mean[1]
    assert bits == study.bits[1, 0]
    assert found["tied_documents"] == study.tied_documents[1, 0]


def test_a_study_begins_with_what_is_known_and_finds_a_front():
    study = searched(40)
    names = [trial.user_attrs["coarseness"] for trial in study.trials[:FIRST]]
    assert names[:5] == [
        "rho=1.1",
        "rho=1.4",
        "rho=2.0",
        "significant=3",
        "significant=2",
    ]
    assert names[5:9] == ["bits=float16", "bits=bfloat16", "bits=8", "levels=10"]
    front = sorted((t.values for t in study.best_trials), key=lambda v: v[1])
    assert len(front) > 4
    assert [v[0] for v in front] == sorted(v[0] for v in front)
    kinds = {trial.params["kind"] for trial in study.trials}
    assert len(kinds) == 5


def test_equal_seeds_and_shuffled_rows_give_equal_studies():
    rows = np.random.default_rng(0).permutation(len(WEB.qid))
    a, b = searched(), searched(rows=rows, n_jobs=2)
    for one, other in zip(a.trials, b.trials, strict=True):
        assert one.params == other.params
        assert one.values == other.values
        assert one.user_attrs == other.user_attrs


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5"])
def test_the_coarsest_that_is_not_inferior(measure):
    study = searched(30, measure=measure)
    up = measure != "fallout@5"
    chosen = coarsest(study, keep=0.9)
    exact = evaluate(WEB.target, TEXT, qid=WEB.qid, measures=measure).expected[:, 0]
    kept = []
    for trial in study.trials:
        name = trial.user_attrs["coarseness"]
        found = precision_study(
            WEB.target, {"s": TEXT}, qid=WEB.qid, measure=measure, coarseness=[name]
        )
        coarse = found.expected[1, :, 0]
        d = coarse - 0.9 * exact if up else exact - 0.9 * coarse
        if np.ptp(d) and stats.ttest_1samp(d, 0, alternative="greater").pvalue <= 0.05:
            kept.append(trial)
    assert kept
    side = -1 if up else 1
    best = min(kept, key=lambda t: (t.values[1], side * t.values[0], t.number))
    assert chosen.number == best.number
    # less is asked for: coarser may do
    assert coarsest(study, keep=0.5).values[1] <= chosen.values[1]


def test_nothing_is_good_enough():
    study = searched(3, kinds=["rho"])
    with pytest.raises(ValueError, match=r"study must be an Optuna study .* got 7"):
        coarsest(7)
    with pytest.raises(ValueError, match="no trial of 3 is shown to keep more than 1"):
        coarsest(study, keep=1)
    worthless = ScorePrecisionObjective([0, 1], [-math.inf] * 2)
    study = worthless.create_study(seed=0)
    study.optimize(worthless, n_trials=2)
    with pytest.raises(ValueError, match="the exact mean is 0"):
        coarsest(study)
    empty = optuna.create_study()
    with pytest.raises(ValueError, match="complete trials of a ScorePrecisionObj"):
        coarsest(empty)
    other = ScoringObjective(
        lambda trial, X: X[:, 5], WEB.data, WEB.target, qid=WEB.qid
    )
    study = other.create_study()
    study.optimize(other, n_trials=1)
    with pytest.raises(ValueError, match="complete trials of a ScorePrecisionObj"):
        coarsest(study)


def test_kinds_and_limits():
    study = searched(12, kinds="rho", max_rho=1.5)
    assert all(t.params["rho"] <= 1.5 for t in study.trials)
    assert {t.params["kind"] for t in study.trials} == {"rho"}
    names = [t.user_attrs["coarseness"] for t in study.trials[:2]]
    assert names == ["rho=1.1", "rho=1.4"]


def test_decimals_go_with_the_size_of_scores():
    for scale, low in ((1e-6, 4), (1, -2), (1e6, -8)):
        objective = ScorePrecisionObjective(
            WEB.target, TEXT * scale, qid=WEB.qid, kinds="decimals"
        )
        study = objective.create_study(seed=0)
        study.optimize(objective, n_trials=10)
        found = study.trials[0].distributions["decimals"]
        assert (found.low, found.high) == (low, low + 8)
    constant = ScorePrecisionObjective([0, 1], [1.0, 1.0], kinds="decimals")
    value, bits = constant(optuna.trial.FixedTrial({"kind": "decimals", "decimals": 0}))
    assert bits == 0
    assert value == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_workers_join_a_study(tmp_path):
    path = str(tmp_path / "journal")
    storage = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(path)
    )
    objective = ScorePrecisionObjective(WEB.target, TEXT, qid=WEB.qid)
    for _ in range(2):
        study = objective.create_study(
            seed=1, storage=storage, study_name="s", load_if_exists=True
        )
        study.optimize(objective, n_trials=12)
    enqueued = [t for t in study.trials if "fixed_params" in t.system_attrs]
    assert len(enqueued) == 9
    tried = [tuple(t.params.items()) for t in study.trials[9:]]
    assert len(set(tried)) > len(tried) / 2
    assert coarsest(study, keep=0.9).number in range(24)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": []}, "kinds must not be empty"),
        ({"kinds": ["x"]}, "kinds must be one of"),
        ({"kinds": None}, "kinds must be a list of .*, got None"),
        ({"max_rho": 1}, "max_rho must be a finite number > 1.01, got 1"),
        ({"max_rho": math.inf}, "max_rho must be a finite number > 1.01, got inf"),
        ({"scale": "fit"}, "scale must be one of"),
        ({"measure": "x"}, "measure"),
        ({"y_score": [[1, 2], [2, 3]]}, "y_score must be the scores of one system"),
        ({"y_score": [1.0]}, "y_score must have one value per row"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        ScorePrecisionObjective([0, 1], **{"y_score": [1.0, 2.0]} | options)


def test_bad_studies_and_queries():
    objective = ScorePrecisionObjective([0, 1], [1.0, 2.0])
    study = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(
        ValueError, match="the study must maximize NDCG@10 and minimize"
    ):
        study.optimize(objective, n_trials=1)
    undefined = ScorePrecisionObjective([0, 0], [1.0, 2.0], zero_relevance="skip")
    with pytest.raises(ValueError, match="NDCG@10 is undefined for every query"):
        undefined(optuna.trial.FixedTrial({"kind": "rho", "rho": 2}))
