"""Tests of `RelevanceEvaluator` against the evaluator of pytrec_eval."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.strategies import every_order, judged_runs
from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import load_trec
from tieaware_sklearn.evaluation import RelevanceEvaluator
from tieaware_sklearn.measures import NDCG

pytestmark = pytest.mark.usefixtures("engine")
NOT_HERE = {"G", "Rndcg", "Rprec_mult", "binG", "infAP", "ndcg_rel", "relstring"}
#: All names that both packages read, and names with numbers.
NAMES = sorted(set(pytrec_eval.supported_measures) - NOT_HERE)
NUMBERED = ["P.7,3", "recall_2", "ndcg_cut.1,4", "map_cut_3", "success.2,9"]
NUMBERED += ["P_2000000", "iprec_at_recall_0.25", "relative_P.2,3", "set_F_0.5", "map"]
ALL_STATISTICS = ["expected", "best", "worst", "std"]
QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0, "d4": 2}}
QRELS["q2"] = {"d1": 1}
QRELS["q3"] = {"d1": 0}
RUN = {"q1": {"d1": 2.0, "d2": 1.5, "d3": 1.5, "d9": 1.0}}
RUN["q2"] = {"d1": 1.0}
LEVELS = st.sampled_from([1, 2])


@pytest.mark.parametrize("names", [NUMBERED, NAMES], ids=["numbered", "plain"])
@settings(max_examples=25)
@given(case=judged_runs(tied=False), level=LEVELS, only=st.booleans())
def test_runs_without_ties_have_the_values_of_pytrec_eval(names, case, level, only):
    qrels, run = case
    pytrec = pytrec_eval.RelevanceEvaluator(qrels, set(names), level, only)
    evaluator = RelevanceEvaluator(qrels, names, level, only)
    expected = pytrec.evaluate(run)
    results = evaluator.evaluate(run)
    assert list(results) == list(expected)
    for topic, values in expected.items():
        assert set(results[topic]) == set(values)
        for name, value in values.items():
            result = results[topic][name]
            assert not math.isnan(result), name
            # pytrec_eval returns NaN where it divides by 0.
            if not math.isnan(value):
                expected_value = pytest.approx(value, rel=0, abs=1e-12)
                assert result == expected_value, name
    # Aggregates over all topics are the same, too.
    for name, value in evaluator.aggregate(run).items():
        values = [of_topic[name] for of_topic in expected.values()]
        if not any(map(math.isnan, values)):
            mean = pytrec_eval.compute_aggregated_measure(name, values)
            expected_mean = pytest.approx(mean, rel=1e-9, abs=1e-12)
            assert value == expected_mean, name


@settings(max_examples=25)
@given(
    case=judged_runs(max_topics=1, max_documents=5), level=LEVELS, only=st.booleans()
)
def test_values_are_moments_over_all_orders_of_ties(case, level, only):
    qrels, run = case
    names = {name for name in NAMES if not name.startswith("gm_")}
    # Each order of the ties is a topic.
    runs = {}
    for order in every_order(run["q0"]):
        runs[f"order {len(runs)}"] = order
    judgments = dict.fromkeys(runs, qrels["q0"])
    pytrec = pytrec_eval.RelevanceEvaluator(judgments, names, level, only)
    orders = pd.DataFrame(pytrec.evaluate(runs))
    evaluator = RelevanceEvaluator(qrels, names, level, only)
    results = evaluator.evaluate(run, statistics=ALL_STATISTICS)
    if results["expected"]["q0"]["num_ret"] == 0:
        orders = orders.fillna(0.0)
    for name, row in orders.iterrows():
        expected = {"expected": row.mean()}
        expected["best"] = row.max()
        expected["worst"] = row.min()
        # The standard deviation of 11pt_avg is sampled.
        if name != "11pt_avg":
            expected["std"] = row.std(ddof=0)
        for statistic, value in expected.items():
            result = results[statistic]["q0"][name]
            assert_allclose(result, value, rtol=0, atol=2e-8, err_msg=name)


def test_names_of_this_library_are_read_too():
    shared = [NDCG(2, gain="linear"), "ap(rel=2)", "ap(rel=1)"]
    names = ["ndcg@10", "rbp(p=0.5)", *shared, "ndcg", "ap"]
    evaluator = RelevanceEvaluator(QRELS, names, 2)
    results = evaluator.evaluate(RUN)
    trec = load_trec(QRELS, RUN)
    # The relevance level of the evaluator, 2, applies to names without rel.
    measures = ["ndcg(gain=linear)", "ndcg@10", "rbp(p=0.5,rel=2)", *shared]
    options = {"qid": trec.qid, "unjudged": "nonrelevant", "measures": measures}
    report = evaluate(trec.target, trec.score, **options)
    keys = ["ndcg", "ndcg@10", "rbp(p=0.5)", "NDCG(gain=linear)@2"]
    keys += ["ap(rel=2)", "ap(rel=1)", "ap"]
    assert list(results["q1"]) == keys
    for topic, row in zip(report.qid, report.expected, strict=True):
        values = row.tolist()
        values.append(values[-2])
        assert list(results[topic].values()) == values


def test_statistics_come_alone_or_by_their_names():
    evaluator = RelevanceEvaluator(QRELS, {"recip_rank", "num_ret"})
    results = evaluator.evaluate(RUN, statistics=["best", "std"])
    assert list(results) == ["best", "std"]
    of_q1 = {"num_ret": 4.0, "recip_rank": 1 / 2}
    of_q2 = {"num_ret": 1.0, "recip_rank": 1.0}
    assert results["best"] == {"q1": of_q1, "q2": of_q2}
    std = (1 / 2 - 1 / 3) / 2
    std_of_q1 = {"num_ret": 0.0, "recip_rank": pytest.approx(std)}
    std_of_q2 = {"num_ret": 0.0, "recip_rank": 0.0}
    assert results["std"] == {"q1": std_of_q1, "q2": std_of_q2}
    assert evaluator.evaluate(RUN, statistics="best") == results["best"]
    expected = evaluator.evaluate(RUN, statistics="expected")
    assert evaluator.evaluate(RUN) == expected
    json.dumps(results)


def test_evaluators_can_be_pickled():
    evaluator = RelevanceEvaluator(QRELS, {"recip_rank", "num_ret"})
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.evaluate(RUN) == evaluator.evaluate(RUN)


def test_geometric_measures_are_logarithms_of_exact_means():
    evaluator = RelevanceEvaluator(QRELS, ["map", "gm_map", "bpref", "gm_bpref"])
    values = evaluator.evaluate(RUN)["q1"]
    assert values["gm_map"] == math.log(values["map"])
    least = max(values["bpref"], 1e-5)
    assert values["gm_bpref"] == math.log(least)


def test_the_std_of_an_aggregate_is_over_the_ties_of_all_topics():
    # Each topic has 0 or 1 with equal chances: the mean has variance (1/4 + 1/4) / 4.
    tied = {"d1": 1.0, "d2": 1.0}
    run = {"q1": tied, "q2": tied}
    evaluator = RelevanceEvaluator(QRELS, ["P_1", "num_ret"])
    results = evaluator.aggregate(run, statistics=["expected", "std"])
    assert results["expected"] == {"num_ret": 4.0, "P_1": 1 / 2}
    std = pytest.approx(math.sqrt(1 / 8))
    assert results["std"] == {"num_ret": 0.0, "P_1": std}


def frame_of(values_by_topic, name):
    rows = []
    for topic, values in values_by_topic.items():
        for document, value in values.items():
            rows.append((topic, document, value))
    return pd.DataFrame(rows, columns=["query_id", "doc_id", name])


def shuffle(mapping, random):
    names = list(mapping)
    random.shuffle(names)
    return {name: mapping[name] for name in names}


def shuffle_rows(values_by_topic, random):
    """Return topics and the documents of each topic in random order."""
    shuffled = shuffle(values_by_topic, random)
    for topic, values in shuffled.items():
        shuffled[topic] = shuffle(values, random)
    return shuffled


@settings(max_examples=15)
@given(judged_runs(), st.randoms())
def test_neither_order_nor_kind_of_a_run_matters(case, random):
    qrels, run = case
    names = ["map", "ndcg", "bpref", "Rprec", "success", "utility", "set_F"]
    evaluator = RelevanceEvaluator(qrels, names)
    expected = evaluator.evaluate(run, statistics=ALL_STATISTICS)
    means = evaluator.aggregate(run, statistics=ALL_STATISTICS)
    of_numpy = {}
    for topic, scores in run.items():
        values = np.array(list(scores.values()), dtype=np.float32)
        of_numpy[topic] = dict(zip(scores, values, strict=True))
    cases = [
        (qrels, shuffle_rows(run, random)),
        (qrels, of_numpy),
        (qrels, frame_of(run, "score")),
        (shuffle_rows(qrels, random), run),
        (frame_of(qrels, "relevance"), run),
    ]
    for judgments, scores in cases:
        evaluator = RelevanceEvaluator(judgments, names)
        assert evaluator.evaluate(scores, statistics=ALL_STATISTICS) == expected
        assert evaluator.aggregate(scores, statistics=ALL_STATISTICS) == means


def test_topics_must_be_in_judgments_and_run():
    run = {"q9": {"d1": 1.0}, "q2": {"d1": 1.0, "d7": 1.0}}
    run["q1"] = {}
    run["q5"] = {"d1": 1.0}
    names = ["map", "iprec_at_recall_0.00", "num_ret"]
    evaluator = RelevanceEvaluator({**QRELS, "q5": {}}, names)
    results = evaluator.evaluate(run)
    assert list(results) == ["q2", "q1"]
    # pytrec_eval returns NaN for an interpolated precision.
    zeros = dict.fromkeys(["num_ret", "map", "iprec_at_recall_0.00"], 0.0)
    assert results["q1"] == zeros


BAD_RUNS = [
    ({"q1": {1: 1.0}}, "document must be a non-empty string .* got 1 in"),
    ({1: {"d1": 1.0}}, "topic must be a non-empty string .* got 1 in"),
    ({"q1": {"d1": None}}, "finite .* got nan in document d1 of topic q1"),
    ({"q1": {"d1": math.inf}}, "finite .* inf in document d1 of topic q1"),
    ({"q1": {"d1": "2"}}, "document d1 of topic q1"),
    ({"q1": [("d1", 1.0)]}, "topic 'q1'|topic q1"),
    ({"q8": {"d1": 1.0}}, "a topic that is judged, got none of the 3 top"),
    ({}, "scores must contain at least one topic"),
    (3, "scores must be a path, a dict of dicts"),
]


@pytest.mark.parametrize(("run", "message"), BAD_RUNS)
def test_bad_runs(run, message):
    evaluator = RelevanceEvaluator(QRELS, ["map"])
    with pytest.raises(ValueError, match=message):
        evaluator.evaluate(run)


def test_an_aggregate_needs_a_topic():
    evaluator = RelevanceEvaluator(QRELS, ["map"])
    with pytest.raises(ValueError, match="scores must contain at least one topic"):
        evaluator.aggregate({})


BAD_ARGUMENTS = [
    (({"q1": {"d1": None}}, ["map"]), "document d1 of topic q1"),
    (({}, ["map"]), "must contain at least one topic"),
    ((QRELS, 3), "measures must be one or more names or Measures, got 3"),
    ((QRELS, ["map"], 0), "relevance_level must be a finite number > 0, got 0"),
    ((QRELS, ["map"], 1, "yes"), "judged_docs_only_flag must be True or .*'ye"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_ARGUMENTS)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        RelevanceEvaluator(*arguments)


BAD_MEASURES = {
    "map_5": "unknown measure 'map_5'",
    "P_0": "k must be an integer >= 1, got 0",
    "success.5x": "success.5x",
    "set_F.1,2": "at most one number for set_F, got 2",
    "set_F_0": "beta must be a finite number > 0",
    "iprec_at_recall_1.5": "recall must be",
    # Both levels are printed as 0.25.
    "iprec_at_recall.0.251,0.252": r"iprec_at_recall_0\.25 twice",
    "binG": "unknown measure 'binG'",
    "official": "unknown measure 'official'",
}


@pytest.mark.parametrize(("name", "message"), BAD_MEASURES.items())
def test_bad_measures(name, message):
    with pytest.raises(ValueError, match=message):
        RelevanceEvaluator(QRELS, [name])


def test_an_evaluator_needs_a_measure():
    with pytest.raises(ValueError, match="must name at least one measure, got none"):
        RelevanceEvaluator(QRELS, [])


BAD_STATISTICS = [
    ("mean", r"statistics must be one of .* got 'mean'"),
    ([], "statistics must not be empty"),
]


@pytest.mark.parametrize(("statistics", "message"), BAD_STATISTICS)
def test_bad_statistics(statistics, message):
    evaluator = RelevanceEvaluator(QRELS, ["map"])
    with pytest.raises(ValueError, match=message):
        evaluator.aggregate(RUN, statistics=statistics)


def test_geometric_means_have_no_std():
    evaluator = RelevanceEvaluator(QRELS, ["map", "gm_map"])
    message = 'statistics must not contain "std" with gm_map'
    with pytest.raises(ValueError, match=message):
        evaluator.evaluate(RUN, statistics="std")
    with pytest.raises(ValueError, match=message):
        evaluator.aggregate(RUN, statistics="std")
