"""Conventions against the tools that they are named after."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

from tieaware_sklearn import PreparedRanking, evaluate, ranking_score
from tieaware_sklearn.measures import (
    NDCG,
    AveragePrecision,
    InterpolatedAveragePrecision,
)

N_CASES = 300


def case(seed: int, *, tied: bool, top: int = 4):
    """Labels and scores of one query, from one document on."""
    rng = np.random.default_rng(seed)
    # XGBoost cuts at 32 where it is not told otherwise
    n = int(rng.integers(1, 25) if seed % 10 else rng.integers(40, 120))
    labels = rng.integers(0, top + 1, n) * (rng.random(n) < rng.random())
    scores = rng.integers(0, 6, n) / 4 if tied else rng.permutation(n) / 8
    return labels.astype(float), scores.astype(float)


def cases(*, tied: bool, top: int = 4):
    return [case(seed, tied=tied, top=top) for seed in range(N_CASES)]


def assert_same(found, theirs, tolerance=1e-9):
    np.testing.assert_allclose(found, theirs, rtol=0, atol=tolerance)


def together(parts):
    """Cases as queries of one data set."""
    labels, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    sizes = [len(part[0]) for part in parts]
    return labels, scores, np.repeat(np.arange(len(parts)), sizes), sizes


def ours(parts, measure, convention, ties):
    labels, scores, qid, _ = together(parts)
    return ranking_score(
        labels,
        scores,
        qid=qid,
        measure=measure,
        convention=convention,
        ties=ties,
        average=None,
    )


# -- LightGBM


def lightgbm_values(parts, metric, ks):
    """Each query as a data set of its own, k by k."""
    import lightgbm as lgb

    out = []
    for labels, scores in parts:
        data = lgb.Dataset(
            np.arange(len(labels))[:, None].astype(float),
            label=labels,
            group=[len(labels)],
            init_score=scores,
            params={"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbosity": -1},
        )
        parameters = {"objective": "none", "metric": metric, "eval_at": ks}
        booster = lgb.Booster({**parameters, "verbosity": -1}, data)
        found = {name: value for _, name, value, _ in booster.eval_train()}
        out.append([found[f"{metric}@{k}"] for k in ks])
    return np.array(out).T


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("theirs", "name"), [("ndcg", "ndcg"), ("map", "ap")])
def test_lightgbm(theirs, name, tied):
    parts = cases(tied=tied)
    ks = [1, 3, 10, 40]
    values = lightgbm_values(parts, theirs, ks)
    for k, expected in zip(ks, values, strict=True):
        assert_same(ours(parts, f"{name}@{k}", "lightgbm", "input"), expected)


# -- XGBoost


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("theirs", "name", "top"),
    [
        ("ndcg", "ndcg", 4),
        ("ndcg@3", "ndcg@3", 4),
        ("map", "ap", 1),
        ("map@3", "ap@3", 1),
        ("pre@4", "p@4", 1),
        ("pre", "p", 1),
    ],
)
def test_xgboost(theirs, name, top, tied):
    import xgboost as xgb

    parts = cases(tied=tied, top=top)
    values = []
    for labels, scores in parts:
        data = xgb.DMatrix(
            np.arange(len(labels))[:, None].astype(float),
            label=labels,
            base_margin=scores,
        )
        data.set_group([len(labels)])
        parameters = {"objective": "rank:ndcg", "eval_metric": theirs}
        booster = xgb.Booster(parameters, [data])
        values.append(float(booster.eval(data).split(":")[-1]))
    # XGBoost keeps scores in 32 bits, which these fit, and sums in them
    assert_same(ours(parts, name, "xgboost", "input"), values, 1e-6)


# -- CatBoost


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        ("NDCG", "ndcg"),
        ("NDCG:top=3", "ndcg@3"),
        ("DCG:top=3", "dcg@3"),
        ("MAP:top=3", "ap@3"),
        ("MAP", "ap"),
        ("PrecisionAt:top=4", "p@4"),
        ("RecallAt:top=4", "r@4"),
        ("MRR", "rr"),
        ("MRR:top=3", "rr@3"),
    ],
)
def test_catboost(theirs, name, tied):
    from catboost.utils import eval_metric

    top = 4 if "DCG" in theirs else 1
    parts = cases(tied=tied, top=top)
    values = [
        eval_metric(labels, scores, theirs, group_id=np.zeros(len(labels), int))[0]
        for labels, scores in parts
    ]
    assert_same(ours(parts, name, "catboost", "worst"), values, 1e-6)


# -- scikit-learn


@pytest.mark.parametrize("tied", [False, True])
def test_scikit_learn(tied):
    parts = [(y, s) for y, s in cases(tied=tied) if len(y) > 1]
    for k in (1, 3, 40):
        values = [ndcg_score([y], [s], k=k) for y, s in parts]
        assert_same(ours(parts, f"ndcg@{k}", "sklearn", "expected"), values)
        values = [dcg_score([y], [s], k=k) for y, s in parts]
        assert_same(ours(parts, f"dcg@{k}", "sklearn", "expected"), values)
    if tied:
        return  # its AP counts all tied documents as one step: no order gives that
    parts = cases(tied=False, top=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no positive class
        values = [average_precision_score(y, s) for y, s in parts]
    assert_same(ours(parts, "ap", "sklearn", "expected"), values)


def test_average_precision_of_scikit_learn_is_no_mean_over_orders():
    labels, scores = [1, 0], [1, 1]
    assert average_precision_score(labels, scores) == 1 / 2
    assert ranking_score(labels, scores, measure="ap", convention="sklearn") == 3 / 4


@pytest.mark.parametrize(("theirs", "name"), [(ndcg_score, "ndcg"), (dcg_score, "dcg")])
@pytest.mark.parametrize("label", [0, 1, 3])
def test_scikit_learn_has_no_dcg_of_one_document(theirs, name, label):
    with pytest.raises(ValueError, match=r"more than 1 document|formats are supported"):
        theirs([[label]], [[1]])
    rows = {"y_true": [1, 0, label], "y_score": [2, 1, 1], "qid": ["a", "a", "b"]}
    options = {"measure": name, "convention": "sklearn"}
    message = (
        f"queries must have at least 2 documents for {name.upper()}.* with "
        "convention='sklearn', got 1 in query ('b'|1)"
    )
    prepared = PreparedRanking(rows["y_true"], rows["qid"], convention="sklearn")
    for call in (
        lambda: ranking_score(**rows, **options),
        lambda: ranking_score(**rows, **options, average=None),
        lambda: evaluate(**rows, measures=name, convention="sklearn"),
        lambda: prepared.score(rows["y_score"], name),
        lambda: ranking_score([[1, 0], [label, np.nan]], [[2, 1], [1, np.nan]],
                              **options),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    # average_precision_score takes one, other tools do, and we too
    assert ranking_score([1], [1], measure="ap", convention="sklearn") == 1
    assert ranking_score([1], [1], measure="ndcg", convention="lightgbm") == 1
    assert ranking_score([label], [1], measure=name) >= 0


# -- trec_eval


TREC_EVAL = {
    "map": "ap",
    "map_cut_10": "ap@10",
    "P_5": "p@5",
    "P_100": "p@100",
    "recall_5": "r@5",
    "Rprec": "rprec",
    "recip_rank": "rr",
    "bpref": "bpref",
    "infAP": "infap",
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg@10",
    "success_1": "success@1",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "iprec_at_recall_0.00": "iprec@0",
    "iprec_at_recall_0.10": "iprec@0.1",
    "iprec_at_recall_0.70": "iprec@0.7",
    "iprec_at_recall_1.00": "iprec@1",
    "11pt_avg": "iap",
}


@pytest.mark.parametrize("tied", [False, True])
def test_trec_eval(tied):
    """The program itself, version 9, in the bindings of pytrec_eval."""
    import pytrec_eval

    rng = np.random.default_rng(0)
    qrel: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    rows = []
    for number, (labels, scores) in enumerate(cases(tied=tied)):
        topic = f"q{number:03}"
        qrel[topic], run[topic] = {}, {}
        judged = rng.random(len(labels)) < 0.8
        retrieved = rng.random(len(labels)) < 0.8
        # trec_eval leaves out topics without a judgment, or without a document
        judged[0] = retrieved[-1] = True
        for i, (label, score) in enumerate(zip(labels, scores, strict=True)):
            document = f"d{i:02}"
            if judged[i]:
                qrel[topic][document] = int(label)
            if retrieved[i]:
                run[topic][document] = float(score)
            if judged[i] or retrieved[i]:
                value = score if retrieved[i] else -math.inf
                rows.append((topic, document, label if judged[i] else math.nan, value))
    # ties by document id, descending
    rows.sort(key=lambda row: (row[0], row[3], row[1]), reverse=True)
    topic, _, label, score = (np.array(column) for column in zip(*rows, strict=True))
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, pytrec_eval.supported_measures)
    theirs = evaluator.evaluate(run)
    options = {"unjudged": "nonrelevant", "ties": "input", "average": None}
    for name, measure in TREC_EVAL.items():
        expected = [theirs[q][name] for q in dict.fromkeys(topic.tolist())]
        spelled = [(measure, "trec_eval"), (name, "trec_eval9"), (name, None)]
        if name == "ndcg":
            spelled.remove((name, None))  # linear by the convention alone
        for given, convention in spelled:
            options["convention"] = convention
            found = ranking_score(label, score, qid=topic, measure=given, **options)
            np.testing.assert_allclose(
                found, expected, rtol=0, atol=1e-9, err_msg=f"{given} {convention}"
            )


@pytest.mark.parametrize(
    "name", ["iprec_at_recall_0.70", "iprec@0.7", "11pt_avg", "iap"]
)
def test_recall_levels_of_trec_eval(name):
    ranked = [1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1]
    report = {
        version: evaluate(*ranked, measures=name, convention=version)
        for version in ("trec_eval", "trec_eval9", "trec_eval10")
    }
    (nine,), (ten,) = report["trec_eval9"].measures, report["trec_eval10"].measures
    assert report["trec_eval"].measures == (nine,)
    assert "rounding=trec_eval9" in nine
    assert ten == nine.replace("trec_eval9", "nearest")
    by_hand = evaluate(*ranked, measures=ten)
    assert np.array_equal(report["trec_eval10"].expected, by_hand.expected)


# -- what the user spells out


def test_modes_of_catboost():
    from catboost.utils import eval_metric

    for labels, scores in cases(tied=False)[:60]:
        group = np.zeros(len(labels), int)
        for theirs, measure in [
            ("NDCG:top=5;type=Exp", "ndcg(gain=exponential)@5"),
            ("DCG:top=5;type=Exp", "dcg(gain=exponential)@5"),
            ("MAP:top=5;border=1.5", "ap(rel=2)@5"),
            ("PrecisionAt:top=5;border=1.5", "p(rel=2)@5"),
            ("RecallAt:top=5;border=1.5", "r(rel=2)@5"),
            ("MRR:top=5;border=1.5", "rr(rel=2)@5"),
        ]:
            # its NDCG takes labels up to 1
            given = labels / 4 if theirs.startswith("NDCG") else labels
            (expected,) = eval_metric(given, scores, theirs, group_id=group)
            found = ranking_score(
                given, scores, measure=measure, convention="catboost", ties="worst"
            )
            assert_same(found, expected, 1e-6)


@pytest.mark.parametrize(
    "convention", ["catboost", "xgboost", "sklearn", "trec_eval", "trec_eval10"]
)
@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_a_gain_that_is_spelled_out_is_never_dropped(convention, gain):
    labels, scores = [1, 3, 0, 2], [4, 3, 2, 1]
    for measure in (f"ndcg(gain={gain})@3", NDCG(3, gain=gain)):
        given = {"measure": measure, "convention": convention}
        if gain == "linear" or convention in ("catboost", "xgboost"):
            wanted = ranking_score(labels, scores, measure=NDCG(3, gain))
            assert ranking_score(labels, scores, **given) == wanted
        else:
            with pytest.raises(
                ValueError,
                match=r"gain must be 'linear' .* got 'exponential' in NDCG",
            ):
                ranking_score(labels, scores, **given)


# -- what all have in common


def test_a_convention_is_a_bundle_of_parameters():
    labels, scores, qid = [0, 0, 1, 2, 0], [1, 2, 1, 1, 1], [1, 1, 2, 2, 2]
    report = evaluate(
        labels, scores, qid=qid, measures=["ndcg@2", "ap@2"], convention="lightgbm"
    )
    assert report.measures == ("NDCG@2", "AP(denominator=cutoff)@2")
    assert report.expected[0].tolist() == [1, 1]
    assert report.n_undefined.tolist() == [1, 1]
    by_hand = evaluate(
        labels,
        scores,
        qid=qid,
        measures=["ndcg@2", "ap(denominator=cutoff)@2"],
        zero_relevance=1,
    )
    assert np.array_equal(report.expected, by_hand.expected)
    catboost = evaluate(
        labels, scores, qid=qid, measures=["ndcg", "ap", "r@1"], convention="catboost"
    )
    assert catboost.measures[0] == "NDCG(gain=linear)"
    assert catboost.expected[0].tolist() == [1, 0, 1]
    # a parameter that is not part of a convention stays as it is
    found = evaluate(labels, scores, measures="ap(rel=2)", convention="trec_eval")
    assert found.measures == ("AP(rel=2)",)


def test_trec_eval_accepts_documents_without_a_judgment():
    labels, scores = [math.nan, 1, 0], [3, 2, 1]
    assert ranking_score(labels, scores, measure="ap", convention="trec_eval") == 0.5
    with pytest.raises(ValueError, match="y_true must be judged"):
        ranking_score(labels, scores, measure="ap", convention="lightgbm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"convention": "ranx"}, "convention must be one of .* got 'ranx'"),
        ({"measure": "rr"}, r"measure must be one that lightgbm has \(AP NDCG\), got"),
        (
            {"measure": "ndcg(gain=linear)"},
            "gain must be 'exponential' with convention='lightgbm', got 'linear'",
        ),
        (
            {"measure": "ap(denominator=cutoff)", "convention": "trec_eval"},
            "denominator must be 'relevant' with convention='trec_eval', got 'cutoff'",
        ),
        (
            {"zero_relevance": "skip"},
            "zero_relevance must be .* with convention='lightgbm', .* got 'skip'",
        ),
        ({"zero_relevance": 1}, "must be left at its default .* got 1"),
        (
            {"measure": "f@10", "convention": "trec_eval"},
            "k must be None with convention='trec_eval', got 10 in F@10",
        ),
        ({"measure": "dcg", "convention": "trec_eval"}, "one that trec_eval has"),
        ({"measure": "rbp", "convention": "trec_eval"}, "one that trec_eval has"),
        ({"measure": "rbp", "convention": "trec_eval10"}, "one that trec_eval10 has"),
        # what is spelled out may be a default
        (
            {"measure": AveragePrecision(3, denominator="relevant")},
            "denominator must be 'cutoff' with .*'lightgbm', got 'relevant' in AP@3",
        ),
        (
            {"measure": "map_cut_10"},
            "denominator must be 'cutoff' .*, got 'relevant'",
        ),
        (
            {"measure": "ap(rel=2)"},
            "rel must be 1.0 with .*'lightgbm', got 2.0",
        ),
        (
            {"measure": "p(denominator=cutoff)@3", "convention": "catboost"},
            "denominator must be 'retrieved' with convention='catboost', got 'cutoff'",
        ),
        (
            {"measure": "ndcg(gain=[0, 1])", "convention": "xgboost"},
            "gain must be 'exponential' or 'linear' with convention='xgboost', got",
        ),
        (
            {"measure": "iprec(rounding=up)@0.1", "convention": "trec_eval"},
            "rounding must be 'trec_eval9' with .*'trec_eval', got 'up' in IPrec@0.1",
        ),
        (
            {"measure": "iap(rounding=trec_eval9)", "convention": "trec_eval10"},
            "rounding must be 'nearest' with .*'trec_eval10', got 'trec_eval9'",
        ),
        (
            {
                "measure": InterpolatedAveragePrecision("all"),
                "convention": "trec_eval",
            },
            "points must be 11 with convention='trec_eval', got 'all'",
        ),
        (
            {"measure": "ap@10", "convention": "sklearn"},
            "k must be None with convention='sklearn', got 10 in AP@10",
        ),
    ],
)
def test_bad_conventions(change, message):
    given = {"measure": "ndcg", "convention": "lightgbm", **change}
    with pytest.raises(ValueError, match=message):
        ranking_score([0, 1], [1, 2], **given)
