"""In place of pytrec_eval: its topics and keys, its values where nothing ties."""

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
#: all that both have, and names with numbers
NAMES = sorted(set(pytrec_eval.supported_measures) - NOT_HERE)
NUMBERED = ["P.7,3", "recall_2", "ndcg_cut.1,4", "map_cut_3", "success.2,9"]
NUMBERED += ["P_2000000", "iprec_at_recall_0.25", "relative_P.2,3", "set_F_0.5", "map"]
QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0, "d4": 2}, "q2": {"d1": 1}, "q3": {"d1": 0}}
RUN = {"q1": {"d1": 2.0, "d2": 1.5, "d3": 1.5, "d9": 1.0}, "q2": {"d1": 1.0}}


@settings(max_examples=25)
@given(judged_runs(tied=False), st.sampled_from([1, 2]), st.booleans())
def test_runs_without_ties_have_the_values_of_pytrec_eval(case, level, only):
    qrels, run = case
    for names in (NUMBERED, NAMES):
        pytrec = pytrec_eval.RelevanceEvaluator(qrels, set(names), level, only)
        evaluator = RelevanceEvaluator(qrels, names, level, only)
        theirs, ours = pytrec.evaluate(run), evaluator.evaluate(run)
        assert list(ours) == list(theirs)
        for topic, values in theirs.items():
            assert set(ours[topic]) == set(values)
            for name, value in values.items():
                # pytrec_eval has NaN where it divides by nothing
                hoped = ours[topic][name] if math.isnan(value) else value
                assert ours[topic][name] == pytest.approx(hoped, rel=0, abs=1e-12), name
    # and over all topics
    for name, value in evaluator.aggregate(run).items():
        values = [of_topic[name] for of_topic in theirs.values()]
        if not any(map(math.isnan, values)):
            hoped = pytrec_eval.compute_aggregated_measure(name, values)
            assert value == pytest.approx(hoped, rel=1e-9, abs=1e-12), name


@settings(max_examples=25)
@given(
    judged_runs(max_topics=1, max_documents=5), st.sampled_from([1, 2]), st.booleans()
)
def test_values_are_those_over_all_orders_of_ties_as_pytrec_eval_has_them(
    case, level, only
):
    qrels, run = case
    orders = {f"order {i}": one for i, one in enumerate(every_order(run["q0"]))}
    of_orders = dict.fromkeys(orders, qrels["q0"])
    names = [name for name in NAMES if not name.startswith("gm_")]
    theirs = pytrec_eval.RelevanceEvaluator(of_orders, set(names), level, only)
    every = pd.DataFrame(theirs.evaluate(orders))
    evaluator = RelevanceEvaluator(qrels, names, level, only)
    ours = evaluator.evaluate(run, statistics=["expected", "best", "worst", "std"])
    if ours["expected"]["q0"]["num_ret"] == 0:
        every = every.fillna(0.0)
    for name, row in every.iterrows():
        found = [of["q0"][name] for of in ours.values()]
        hoped = [row.mean(), row.max(), row.min(), row.std(ddof=0)]
        # the std of 11pt_avg is sampled
        shown = 3 if name == "11pt_avg" else 4
        assert_allclose(found[:shown], hoped[:shown], rtol=0, atol=2e-8, err_msg=name)


def test_our_own_names_are_read_as_everywhere():
    names = ["ndcg@10", "rbp(p=0.5)", NDCG(2, gain="linear"), "ap(rel=2)", "ap(rel=1)"]
    found = RelevanceEvaluator(QRELS, [*names, "ndcg", "ap"], 2).evaluate(RUN)
    trec = load_trec(QRELS, RUN)
    options = {"qid": trec.qid, "unjudged": "nonrelevant"}
    spelled = ["ndcg(gain=linear)", "ndcg@10", "rbp(p=0.5,rel=2)", *names[2:]]
    report = evaluate(trec.target, trec.score, measures=spelled, **options)
    keys = ["ndcg", "ndcg@10", "rbp(p=0.5)", "NDCG(gain=linear)@2"]
    assert list(found["q1"]) == [*keys, "ap(rel=2)", "ap(rel=1)", "ap"]
    for topic, values in zip(report.qid.tolist(), report.expected, strict=True):
        assert [*found[topic].values()] == [*values.tolist(), values[-2]]


def test_statistics_come_alone_or_by_their_names():
    evaluator = RelevanceEvaluator(QRELS, {"recip_rank", "num_ret"})
    found = evaluator.evaluate(RUN, statistics=["best", "std"])
    std = pytest.approx((1 / 2 - 1 / 3) / 2)
    assert found == {
        "best": {"q1": {"num_ret": 4.0, "recip_rank": 1 / 2},
                 "q2": {"num_ret": 1.0, "recip_rank": 1.0}},
        "std": {"q1": {"num_ret": 0.0, "recip_rank": std},
                "q2": {"num_ret": 0.0, "recip_rank": 0.0}},
    }  # fmt: skip
    assert evaluator.evaluate(RUN, statistics="best") == found["best"]
    assert evaluator.evaluate(RUN) == evaluator.evaluate(RUN, statistics="expected")
    json.dumps(found)
    # logarithms are those of exact means
    logs = RelevanceEvaluator(QRELS, ["map", "gm_map", "bpref", "gm_bpref"])
    own = logs.evaluate(RUN)["q1"]
    assert own["gm_map"] == math.log(own["map"])
    assert own["gm_bpref"] == math.log(max(own["bpref"], 1e-5))
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.evaluate(RUN) == evaluator.evaluate(RUN)
    # each topic: 0 or 1 with equal chances; the mean has the variance (1/4 + 1/4) / 4
    run = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d1": 1.0, "d2": 1.0}}
    evaluator = RelevanceEvaluator(QRELS, ["P_1", "num_ret"])
    found = evaluator.aggregate(run, statistics=["expected", "std"])
    assert found["expected"] == {"num_ret": 4.0, "P_1": 1 / 2}
    assert found["std"] == {"num_ret": 0.0, "P_1": pytest.approx(math.sqrt(1 / 8))}


def frame_of(given, name):
    rows = [(t, one, value) for t, own in given.items() for one, value in own.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", name])


@settings(max_examples=15)
@given(judged_runs(), st.randoms())
def test_neither_order_nor_kind_of_a_run_matters(case, random):
    def shuffled(given):
        topics = random.sample([*given], len(given))
        return {
            t: dict(random.sample([*given[t].items()], len(given[t]))) for t in topics
        }

    qrels, run = case
    names = ["map", "ndcg", "bpref", "Rprec", "success", "utility", "set_F"]
    every = {"statistics": ["expected", "best", "worst", "std"]}
    evaluator = RelevanceEvaluator(qrels, names)
    expected = evaluator.evaluate(run, **every)
    as_numpy = {t: {d: np.float32(s) for d, s in own.items()} for t, own in run.items()}
    for judgments, own in (
        *((qrels, own) for own in (shuffled(run), as_numpy, frame_of(run, "score"))),
        *((shuffled(qrels), run), (frame_of(qrels, "relevance"), run)),
    ):
        other = RelevanceEvaluator(judgments, names)
        assert other.evaluate(own, **every) == expected
        assert other.aggregate(own, **every) == evaluator.aggregate(run, **every)


def test_topics_are_those_of_both():
    run = {"q9": {"d1": 1.0}, "q2": {"d1": 1.0, "d7": 1.0}, "q1": {}, "q5": {"d1": 1.0}}
    names = ["map", "iprec_at_recall_0.00", "num_ret"]
    evaluator = RelevanceEvaluator(QRELS | {"q5": {}}, names)
    found = evaluator.evaluate(run)
    assert list(found) == ["q2", "q1"]
    # pytrec_eval has NaN for an interpolated precision
    assert found["q1"] == {"num_ret": 0.0, "map": 0.0, "iprec_at_recall_0.00": 0.0}


def of_run(run):
    return lambda: RelevanceEvaluator(QRELS, ["map"]).evaluate(run)


def made(*arguments):
    return lambda: RelevanceEvaluator(*arguments)


def resolved(*names):
    return lambda: RelevanceEvaluator(QRELS, names)


def statistics(chosen, *names):
    evaluator = RelevanceEvaluator(QRELS, ["map", *names])
    return lambda: evaluator.aggregate(RUN, statistics=chosen)


@pytest.mark.parametrize(("call", "message"), [
    (of_run({"q1": {1: 1.0}}), "document must be a string .* got 1 in"),
    (of_run({1: {"d1": 1.0}}), "topic must be a string .* got 1 in"),
    (of_run({"q1": {"d1": None}}), "finite .* got nan in document d1 of topic q1"),
    (of_run({"q1": {"d1": math.inf}}), "finite .* inf in document d1 of topic q1"),
    (of_run({"q1": {"d1": "2"}}), "document d1 of topic q1"),
    (of_run({"q1": [("d1", 1.0)]}), "topic 'q1'|topic q1"),
    (of_run({"q8": {"d1": 1.0}}), "a topic that is judged, got none of the 3 top"),
    (of_run({}), "scores must hold at least one topic"),
    (of_run(3), "scores must be a path, a dict of dicts"),
    (made({"q1": {"d1": None}}, ["map"]), "document d1 of topic q1"),
    (made({}, ["map"]), "must hold at least one topic"),
    (made(QRELS, 3), "measures must be a name or several names, got 3"),
    (made(QRELS, ["map"], 0), "relevance_level must be a finite number > 0, got 0"),
    (made(QRELS, ["map"], 1, "yes"), "judged_docs_only_flag must be True or .*'ye"),
    (resolved(), "measures must name at least one measure, got none"),
    (resolved("map_5"), "unknown measure 'map_5'"),
    (resolved("P_0"), "k must be an integer >= 1, got 0"),
    (resolved("success.5x"), "success.5x"),
    (resolved("set_F.1,2"), "set_F with one number, got 2"),
    (resolved("set_F_0"), "beta must be a finite number > 0"),
    (resolved("iprec_at_recall_1.5"), "recall must be"),
    # levels that print alike
    (resolved("iprec_at_recall.0.251,0.252"), r"iprec_at_recall_0\.25 twice"),
    (resolved("binG"), "unknown measure 'binG'"),
    (resolved("official"), "unknown measure 'official'"),
    (statistics("mean"), r"statistics must be one of .* got 'mean'"),
    (statistics([]), "statistics must not be empty"),
    (statistics("std", "gm_map"), 'statistics must not hold "std" with gm_map'),
    (lambda: RelevanceEvaluator(QRELS, ["gm_map"]).evaluate(RUN, statistics="std"),
     'statistics must not hold "std" with gm_map'),
    (lambda: RelevanceEvaluator(QRELS, ["map"]).aggregate({}),
     "scores must hold at least one topic"),
])  # fmt: skip
def test_what_is_not_understood_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
