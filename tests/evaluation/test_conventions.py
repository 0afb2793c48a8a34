"""Tests of conventions against the tools that they are named after."""

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from packaging.version import Version
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

from tests.strategies import judged_runs
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score, tie_treatments
from tieaware_sklearn.datasets import load_trec
from tieaware_sklearn.measures import NDCG, AveragePrecision

N_CASES = 100
TREC_EVALS = ("trec_eval", "trec_eval9", "trec_eval10")


def cases(*, tied: bool, top: int = 4):
    """Return labels and scores of queries with one document or more."""
    queries = []
    for seed in range(N_CASES):
        rng = np.random.default_rng(seed)
        # XGBoost cuts at 32 unless a cut-off is set.
        least, most = (1, 25) if seed % 10 else (40, 120)
        n = int(rng.integers(least, most))
        grades = rng.integers(0, top + 1, n)
        is_relevant = rng.random(n) < rng.random()
        labels = (grades * is_relevant).astype(float)
        scores = rng.integers(0, 6, n) / 4 if tied else rng.permutation(n) / 8
        queries.append((labels, scores))
    return queries


def assert_same(values, expected, tolerance=1e-9):
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)


def concatenated(parts):
    """Return labels, scores and query ids of all cases, and the sizes of queries."""
    labels, scores = map(np.concatenate, zip(*parts, strict=True))
    sizes = [len(part[0]) for part in parts]
    numbers = np.arange(len(parts))
    qid = np.repeat(numbers, sizes)
    return labels, scores, qid, sizes


def ours(parts, measure, convention, weight=None, **options):
    labels, scores, qid, _ = concatenated(parts)
    options["convention"] = convention
    options["measure"] = measure
    if weight is not None:
        options["query_weight"] = np.array(weight)[qid]
    return ranking_score(labels, scores, qid=qid, **options)


def feature_of(labels):
    """Return a matrix of one feature. Boosters read no labels without features."""
    numbers = np.arange(float(len(labels)))
    return numbers[:, None]


def of_lightgbm(parts, weight, metric):
    import lightgbm as lgb

    labels, scores, qid, sizes = concatenated(parts)
    X = feature_of(labels)
    settings = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbosity": -1}
    options = {"group": sizes, "init_score": scores, "params": settings}
    data = lgb.Dataset(X, labels, **options)
    data.set_weight(np.array(weight)[qid])
    name, k = metric.split("@")
    parameters = {"objective": "none", "metric": name, "verbosity": -1}
    parameters["eval_at"] = [int(k)]
    booster = lgb.Booster(parameters, data)
    _, _, value, _ = booster.eval_train()[0]
    return value


def of_xgboost(parts, weight, metric):
    import xgboost as xgb

    labels, scores, _, sizes = concatenated(parts)
    X = feature_of(labels)
    data = xgb.DMatrix(X, label=labels, base_margin=scores)
    data.set_group(sizes)
    data.set_weight(weight)
    metric, *modes = metric.split(";")
    if modes and Version(xgb.__version__) < Version("3.0.3"):
        pytest.skip("the metrics of XGBoost before 3.0.3 ignore ndcg_exp_gain")
    parameters = {"objective": "rank:ndcg", "eval_metric": metric}
    for mode in modes:
        name, value = mode.split("=")
        parameters[name] = value
    booster = xgb.Booster(parameters, [data])
    text = booster.eval(data)
    return float(text.split(":")[-1])


def of_catboost(parts, weight, metric):
    from catboost.utils import eval_metric

    labels, scores, qid, _ = concatenated(parts)
    options = {"group_id": qid, "group_weight": np.array(weight)[qid]}
    values = eval_metric(labels, scores, metric, **options)
    return values[0]


TOOLS = {"lightgbm": of_lightgbm, "xgboost": of_xgboost, "catboost": of_catboost}
METRICS = [
    ("lightgbm", "ndcg@3", "ndcg@3", 4),
    ("lightgbm", "ndcg@40", "ndcg@40", 4),
    ("lightgbm", "map@3", "ap@3", 4),
    ("lightgbm", "map@40", "ap@40", 4),
    ("xgboost", "ndcg", "ndcg", 4),
    ("xgboost", "ndcg@3", "ndcg@3", 4),
    ("xgboost", "ndcg@5;ndcg_exp_gain=0", "ndcg(gain=linear)@5", 4),
    # No list reaches this cut-off.
    ("xgboost", "ndcg@1000", NDCG(k=1000), 4),
    ("xgboost", "map", "ap", 1),
    ("xgboost", "map@3", "ap@3", 1),
    ("xgboost", "pre", "p", 1),
    ("xgboost", "pre@4", "p@4", 1),
    ("catboost", "NDCG:top=3", "ndcg@3", 4),
    ("catboost", "NDCG:top=5;type=Exp", "ndcg(gain=exponential)@5", 4),
    ("catboost", "DCG:top=5;type=Exp", "dcg(gain=exponential)@5", 4),
    ("catboost", "NDCG:top=5;denominator=Position", "ndcg(discount=inverse)@5", 4),
    ("catboost", "MAP:top=5;border=1.5", "ap(rel=2)@5", 4),
    ("catboost", "PrecisionAt:top=5;border=1.5", "p(rel=2)@5", 4),
    ("catboost", "RecallAt:top=5;border=1.5", "r(rel=2)@5", 4),
    ("catboost", "MRR", "rr", 1),
    ("catboost", "MRR:top=5;border=1.5", "rr(rel=2)@5", 4),
]


@pytest.mark.parametrize(("convention", "metric", "measure", "top"), METRICS)
def test_values_of_single_queries(convention, metric, measure, top):
    tool = TOOLS[convention]
    ties = "worst" if convention == "catboost" else "input"
    # CatBoost's NDCG takes labels up to 1.
    unit = 1 / 4 if metric.startswith("NDCG") else 1
    parts = []
    for tied in (False, True):
        for labels, scores in cases(tied=tied, top=top):
            parts.append((labels * unit, scores))
    expected = []
    for part in parts:
        expected.append(tool([part], [1.0], metric))
    options = {"ties": ties}
    values = ours(parts, measure, convention, average=None, **options)
    # XGBoost and CatBoost sum in 32 bits. The scores of the cases fit 32 bits.
    tolerance = 1e-9 if convention == "lightgbm" else 1e-6
    assert_same(values, expected, tolerance)
    if convention == "catboost" and measure.startswith(("ap", "p(", "r(")):
        return  # CatBoost ignores weights
    numbers = np.arange(len(parts))
    weight = (1.0 + numbers % 5) / 4
    if "ndcg" in metric:
        # A query where NDCG is undefined counts once.
        undefined = [not labels.any() for labels, _ in parts]
        weight[undefined] = 1
    mean = ours(parts, measure, convention, weight, **options)
    expected = tool(parts, weight, metric)
    assert_same(mean, expected, tolerance)


#: XGBoost counts queries without a relevant document as 0, as no convention does.
METRICS_WITH_MINUS = [
    ("ndcg@3-", "ndcg@3", 4),
    ("ndcg@5-;ndcg_exp_gain=0", "ndcg(gain=linear)@5", 4),
    ("ndcg-", "ndcg@32", 4),
    ("map@3-", "ap(denominator=cutoff)@3", 1),
]


@pytest.mark.parametrize(("metric", "measure", "top"), METRICS_WITH_MINUS)
def test_metrics_of_xgboost_with_a_minus(metric, measure, top):
    parts = cases(tied=False, top=top) + cases(tied=True, top=top)
    expected = []
    for part in parts:
        expected.append(of_xgboost([part], [1.0], metric))
    values = ours(parts, measure, None, average=None, ties="input")
    assert 0 in values
    assert_same(values, expected, 1e-6)


WEIGHTS_NOT_APPLIED = [
    (
        "lightgbm",
        "ndcg@3",
        "be 1 for queries where NDCG@3 is undefined, .*lightgbm "
        "counts each such query once, got 0.5 for query 0",
    ),
    ("xgboost", "ndcg@3", "be 1 .* NDCG@3 .*xgboost counts .*got 0.5 for query 0"),
    ("catboost", "ap@2", "be None for AP.*'catboost': catboost ignores weights"),
    ("catboost", "p@2", "be None for P.*'catboost': catboost ignores weights"),
    ("catboost", "r@2", "be None for R.*'catboost': catboost ignores weights"),
    ("trec_eval", "rr", "be None for RR .*trec_eval.*: trec_eval has no"),
    ("trec_eval9", "rr", "be None for RR .*trec_eval9.*: trec_eval9 has no"),
    ("trec_eval10", "rr", "be None for RR .*trec_eval10.*: trec_eval10 has no"),
]


@pytest.mark.parametrize(("convention", "measure", "message"), WEIGHTS_NOT_APPLIED)
def test_weights_that_a_tool_does_not_apply_are_refused(convention, measure, message):
    data = {"y_true": [0, 0, 0, 1], "convention": convention}
    data["qid"] = [0, 0, 1, 1]
    data["query_weight"] = [0.5, 0.5, 1.5, 1.5]
    scores = [0, 1, 0, 1]
    measures = [measure]
    if "None" not in message:
        measures.insert(0, "ap@1")
    message = f"query_weight must {message}"
    with pytest.raises(ValueError, match=message):
        ranking_score(y_score=scores, measure=measure, **data)
    with pytest.raises(ValueError, match=message):
        evaluate(y_score=scores, measures=measures, **data)
    prepared = PreparedRanking(**data)
    with pytest.raises(ValueError, match=message):
        prepared.score(scores, measure)
    with pytest.raises(ValueError, match=message):
        tie_treatments(y_score=scores, measures=measure, **data)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("name", ["ndcg", "dcg"])
def test_ndcg_and_dcg_of_scikit_learn(name, k, tied):
    metric = {"ndcg": ndcg_score, "dcg": dcg_score}[name]
    parts = []
    expected = []
    for labels, scores in cases(tied=tied):
        if len(labels) > 1:
            parts.append((labels, scores))
            expected.append(metric([labels], [scores], k=k))
    values = ours(parts, f"{name}@{k}", "sklearn", average=None)
    assert_same(values, expected)


def test_average_precision_of_scikit_learn_counts_tied_documents_as_one_step():
    # No order of the two documents has this value.
    options = {"measure": "ap", "convention": "sklearn"}
    assert ranking_score([1, 0], [1, 1], **options) == 0.75


WEIGHTED_METRICS = [
    ("ndcg@2", ndcg_score, {"k": 2}),
    ("dcg@2", dcg_score, {"k": 2}),
    ("ap", average_precision_score, {"average": "samples"}),
]


@pytest.mark.filterwarnings("ignore:No positive class")
@pytest.mark.parametrize(("name", "metric", "options"), WEIGHTED_METRICS)
def test_weights_of_scikit_learn(name, metric, options):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (5, 6))
    places = rng.permutation(30).reshape(5, 6)
    scores = places.astype(float)
    labels[1] = 0
    weight = [1, 2, 3, 0.5, 1]
    parts = list(zip(labels, scores, strict=True))
    expected = metric(labels, scores, sample_weight=weight, **options)
    value = ours(parts, name, "sklearn", weight)
    assert_same(value, expected)


@pytest.mark.parametrize("name", ["ndcg", "dcg"])
def test_scikit_learn_has_no_dcg_of_one_document(name):
    labels = [1, 0, 3]
    qid = ["a", "a", "b"]
    prepared = PreparedRanking(labels, qid, convention="sklearn")
    message = f"at least 2 documents for {name.upper()}.*='sklearn', got 1 in .*'b'"
    with pytest.raises(ValueError, match=message):
        prepared.evaluate([2, 1, 1], ["ap", name])
    # Other tools accept one document.
    options = {"measure": name, "convention": "catboost"}
    assert ranking_score([1], [1], **options) == 1


TREC_EVAL = {
    "map": "ap",
    "map_cut_10": "ap@10",
    "P_5": "p@5",
    "P_100": "p@100",
    "recall_5": "r@5",
    "Rprec": "rprec",
    "recip_rank": "rr",
    "bpref": "bpref",
    "relative_P_5": "r(denominator=cutoff)@5",
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg@10",
    "success_1": "success@1",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "iprec_at_recall_0.00": "iprec@0",
    "iprec_at_recall_0.70": "iprec@0.7",
    "iprec_at_recall_1.00": "iprec@1",
    "11pt_avg": "iap",
}


@settings(max_examples=30)
@given(judged_runs())
def test_trec_eval(case):
    """pytrec_eval wraps trec_eval, version 9."""
    qrels, run = case
    trec = load_trec(qrels, run, order="trec_eval")
    supported = pytrec_eval.supported_measures
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, supported)
    results = evaluator.evaluate(run)
    topics = list(dict.fromkeys(trec.qid))
    options = {"qid": trec.qid, "unjudged": "nonrelevant"}
    options["ties"] = "input"
    options["average"] = None
    for name, measure in TREC_EVAL.items():
        # pytrec_eval returns NaN if no document is relevant.
        values_of_topics = [results[topic][name] for topic in topics]
        expected = np.nan_to_num(values_of_topics)
        spellings = [(measure, "trec_eval"), (name, "trec_eval9")]
        # Only the convention makes the gain of "ndcg" linear.
        if name != "ndcg":
            spellings.append((name, None))
        for spelling, convention in spellings:
            options["measure"] = spelling
            options["convention"] = convention
            values = ranking_score(trec.target, trec.score, **options)
            assert_same(values, expected)


BUNDLES = [
    ("lightgbm", "ndcg@2", "NDCG@2", 1),
    ("xgboost", NDCG(3, gain="exponential"), "NDCG(gain=exponential)@3", 1),
    ("xgboost", NDCG(k=None), "NDCG@32", 1),
    ("xgboost", "p", "P(denominator=retrieved)@32", 0),
    ("sklearn", NDCG(3, gain="linear"), "NDCG(gain=linear)@3", 0),
    # A parameter that is not part of a convention keeps its value.
    ("trec_eval", "ap(rel=2)", "AP(rel=2)", 0),
    ("trec_eval", "iprec@0.7", "IPrec(rounding=trec_eval9)@0.7", 0),
    ("trec_eval10", "iprec@0.7", "IPrec(rounding=nearest)@0.7", 0),
    ("trec_eval9", "iprec_at_recall_0.70", "IPrec(rounding=trec_eval9)@0.7", 0),
    ("trec_eval", "iap", "IAP(rounding=trec_eval9)", 0),
    ("trec_eval10", "iap", "IAP(rounding=nearest)", 0),
    # The fewest and the most recall levels.
    ("trec_eval", "iap(points=2)", "IAP(points=2,rounding=trec_eval9)", 0),
    ("trec_eval", "iap(points=1001)", "IAP(points=1001,rounding=trec_eval9)", 0),
]


@pytest.mark.parametrize(("convention", "measure", "name", "undefined"), BUNDLES)
def test_a_convention_is_a_bundle_of_parameters(convention, measure, name, undefined):
    data = {"y_true": [0, 0, 1, 2, 0, 1]}
    data["y_score"] = [1, 2, 1, 1, 1, 3]
    data["qid"] = [1, 1, 2, 2, 2, 2]
    report = evaluate(**data, measures=measure, convention=convention)
    assert report.measures == (name,)
    assert report.expected[0, 0] == undefined
    by_hand = evaluate(**data, measures=name, zero_relevance=undefined)
    assert np.array_equal(report.expected, by_hand.expected)
    n_undefined = by_hand.n_undefined.tolist()
    assert report.n_undefined.tolist() == n_undefined


@pytest.mark.parametrize("convention", TREC_EVALS)
def test_trec_eval_counts_unjudged_documents_as_nonrelevant(convention):
    options = {"measure": "ap", "convention": convention}
    labels = [math.nan, 1, 0]
    assert ranking_score(labels, [3, 2, 1], **options) == 0.5


UNKNOWN_MEASURES = [
    ("ranx", "ndcg", "convention must be one of .* got 'ranx'"),
    (
        "lightgbm",
        "rr",
        r"with convention='lightgbm', got RR. The measures .* are AP NDCG",
    ),
    ("trec_eval", "dcg", "with convention='trec_eval', got DCG"),
    ("sklearn", "ndcg(gain=exponential)@3", "gain must be 'linear' .*got 'exp"),
    ("xgboost", "ndcg(gain=[0, 1])", "gain must be 'exponential' or 'linear' with"),
    ("trec_eval", "ap(denominator=cutoff)", "'relevant' .*'trec_eval', got 'cut"),
    # A stated parameter may be a default of the class.
    (
        "lightgbm",
        AveragePrecision(3, denominator="relevant"),
        "must be 'cutoff' with .*, got 'relevant' in AP.denominator=relevant.@3",
    ),
    ("trec_eval", "ndcg(gain=exponential)", "gain must be 'linear' .*, got 'expo"),
    ("sklearn", "dcg(gain=exponential)", "gain must be 'linear' .*, got 'expo"),
    ("xgboost", "p(denominator=cutoff)", "denominator must be 'retrieved' with"),
    ("lightgbm", "ndcg(discount=inverse)", "discount must be 'log2' with .*'light"),
    ("catboost", "ndcg(discount=none)", "discount must be 'log2' or 'inverse' w"),
    ("lightgbm", "ap(rel=2)", "rel must be 1.0 with .*'lightgbm', got 2.0"),
    ("catboost", "r(denominator=cutoff)@3", "'relevant' .*'catboost', got 'cut"),
    ("catboost", "p(denominator=cutoff)@3", "'retrieved' .*='catboost', got 'cut"),
    ("trec_eval", "iprec(rounding=up)@0.1", "'trec_eval9' .* got 'up' in IPrec.ro"),
    ("trec_eval10", "iap(rounding=trec_eval9)", "rounding must be 'nearest' with"),
    ("trec_eval10", "11pt_avg", "rounding must be 'nearest' .* got 'trec_eval9'"),
    ("trec_eval", "iap(points=all)", "points must be 11 .*, got 'all'"),
    ("trec_eval", "f@10", "k must be None with .*'trec_eval', got 10 in F@10"),
    ("sklearn", "ap@10", "k must be None with .*'sklearn', got 10 in AP@10"),
]


@pytest.mark.parametrize(("convention", "measure", "message"), UNKNOWN_MEASURES)
def test_measures_that_a_convention_does_not_have(convention, measure, message):
    with pytest.raises(ValueError, match=message):
        ranking_score([0, 1], [1, 2], measure=measure, convention=convention)


NOT_IN_LIGHTGBM = [
    ("skip", "zero_relevance must be .* with convention='lightgbm', .* got 'skip'"),
    (1, "left at its default .* got 1"),
]


@pytest.mark.parametrize(("value", "message"), NOT_IN_LIGHTGBM)
def test_lightgbm_has_its_own_value_where_ndcg_is_undefined(value, message):
    options = {"measure": "ndcg", "zero_relevance": value}
    with pytest.raises(ValueError, match=message):
        ranking_score([0, 1], [1, 2], convention="lightgbm", **options)


def test_lightgbm_has_no_unjudged_documents():
    options = {"measure": "ap", "convention": "lightgbm"}
    with pytest.raises(ValueError, match="y_true must be judged"):
        ranking_score([0, math.nan], [1, 2], **options)
