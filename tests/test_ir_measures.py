"""A provider for ir-measures: without ties, the values of other providers."""

import math

import ir_measures as ir
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import every_order, judged_runs
from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import load_trec
from tieaware_sklearn.ir_measures import TieAwareProvider, provider

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 2}, "q2": {"d1": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 2.0, "d9": 1.0}}

cutoffs = st.integers(1, 14)
levels = st.integers(1, 3)
gains = st.dictionaries(st.integers(-1, 3), st.integers(-1, 6), min_size=1)


@st.composite
def pytrec_eval_measures(draw):
    """A measure of pytrec_eval, with parameters."""
    k = draw(cutoffs)
    rel = {"rel": draw(levels)}
    judged = {"judged_only": draw(st.booleans())}
    both = {**rel, **judged}
    graded = dict(judged)
    if draw(st.booleans()):
        graded["gains"] = draw(gains)
    recall = draw(st.integers(0, 100)) / 100
    of_both = (ir.RR, ir.AP, ir.Rprec, ir.SetAP, ir.SetP, ir.SetF)
    measures = [measure(**both) for measure in of_both]
    for measure in (ir.P, ir.R, ir.Success, ir.AP):
        measures.append(measure(**both) @ k)
    measures += [ir.nDCG(**graded), ir.nDCG(**graded) @ k]
    measures += [ir.Bpref(**rel), ir.SetR(**rel), ir.IPrec(**both) @ recall]
    measures += [ir.SetP(relative=True, **both), ir.SetF(beta=2.5, **both)]
    measures += [ir.NumRet, ir.NumRet(**rel), ir.NumRel(rel=1), ir.NumQ]
    return draw(st.sampled_from(measures))


@st.composite
def small_provider_measures(draw):
    """A provider of few measures, and a measure of it that tieaware has as well."""
    k = draw(cutoffs)
    rr = ir.RR(rel=draw(levels))
    pairs = [
        (ir.judged, ir.Judged),
        (ir.judged, ir.Judged @ k),
        (ir.msmarco, rr),
        (ir.msmarco, rr @ k),
    ]
    return draw(st.sampled_from(pairs))


def values_of(source, measures, qrels, run):
    """Return the values of a provider by query and measure."""
    values = {}
    for metric in source.iter_calc(measures, qrels, run):
        values[metric.query_id, metric.measure] = metric.value
    return values


def assert_values_of(reference, measure, qrels, run, atol=1e-12):
    """Assert that values and their mean are those of another provider."""
    expected = values_of(reference, [measure], qrels, run)
    values = values_of(provider, [measure], qrels, run)
    assert values.keys() == expected.keys()
    for key, value in values.items():
        # pytrec_eval divides by the number of documents, which may be 0
        expected_value = 0.0 if math.isnan(expected[key]) else expected[key]
        assert value == pytest.approx(expected_value, rel=0, abs=atol)
    expected_mean = reference.calc_aggregate([measure], qrels, run)[measure]
    if not math.isnan(expected_mean):
        mean = provider.calc_aggregate([measure], qrels, run)[measure]
        assert mean == pytest.approx(expected_mean, rel=0, abs=atol)


@given(judged_runs(tied=False), pytrec_eval_measures())
@settings(max_examples=150)
def test_without_ties_the_values_are_those_of_pytrec_eval(case, measure):
    qrels, run = case
    assert_values_of(ir.pytrec_eval, measure, qrels, run)


@given(judged_runs(tied=False), small_provider_measures())
def test_without_ties_the_values_are_those_of_small_providers(case, reference):
    qrels, run = case
    small_provider, measure = reference
    assert_values_of(small_provider, measure, qrels, run)


@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_without_ties_the_values_are_those_of_gdeval(k):
    if not ir.gdeval.is_available():
        pytest.skip("gdeval needs perl")
    rng = np.random.default_rng(k)
    qrels, run = {}, {}
    for topic in range(60):
        documents = [f"d{i}" for i in rng.permutation(30)]
        labels = rng.integers(-1, 5, 15).tolist()
        n_retrieved = int(rng.integers(1, 20))
        # gdeval leaves out topics without a relevant document
        labels.append(1)
        qrels[str(topic)] = dict(zip(documents, labels, strict=False))
        ranked = rng.permutation(documents)[:n_retrieved].tolist()
        run[str(topic)] = {docno: float(score) for score, docno in enumerate(ranked)}
    # gdeval prints five decimals
    assert_values_of(ir.gdeval, ir.nDCG(dcg="exp-log2") @ k, qrels, run, atol=5.1e-6)
    assert_values_of(ir.gdeval, ir.ERR @ k, qrels, run, atol=5.1e-6)


@given(judged_runs(max_topics=1, max_documents=5), pytrec_eval_measures())
@settings(max_examples=80)
def test_values_are_the_means_of_pytrec_eval_over_all_orders_of_ties(case, measure):
    qrels, run = case
    orders = {f"order {i}": order for i, order in enumerate(every_order(run["q0"]))}
    qrels_of_orders = dict.fromkeys(orders, qrels["q0"])
    by_order = values_of(ir.pytrec_eval, [measure], qrels_of_orders, orders)
    numbers = np.nan_to_num(list(by_order.values()))
    expected = math.fsum(numbers.tolist()) / len(numbers)
    value = values_of(provider, [measure], qrels, run)["q0", measure]
    assert value == pytest.approx(expected, rel=0, abs=1e-9)


#: names of measures in ir-measures, and in this library
NAMES = {
    "P@2": "P@2",
    "R(rel=2)@3": "R(rel=2)@3",
    "Success@1": "Success@1",
    "RR@4": "RR@4",
    "AP@5": "AP@5",
    "Rprec": "Rprec",
    "Bpref": "BPref",
    "nDCG@3": "NDCG(gain=linear)@3",
    "nDCG(dcg='exp-log2')": "NDCG",
    "ERR": "ERR",
    "ERR@3": "ERR@3",
    "RBP(rel=1)": "RBP",
    "RBP(rel=2,p=0.5)@3": "RBP(p=0.5,rel=2)@3",
    "IPrec@0.5": "IPrec(rounding=trec_eval9)@0.5",
    "SetP": "SetP",
    "SetR": "SetR",
    "SetF(beta=4.0)": "F(beta=2)",
    "SetAP": "SetAP",
}
OURS = {ir.parse_measure(name): ours for name, ours in NAMES.items()}


@given(judged_runs())
def test_values_are_those_of_arrays(case):
    qrels, run = case
    trec = load_trec(qrels, run)
    report = evaluate(
        trec.target,
        trec.score,
        qid=trec.qid,
        measures=OURS.values(),
        unjudged="nonrelevant",
    )
    values = values_of(provider, OURS, qrels, run)
    for topic, row in zip(report.qid.tolist(), report.expected, strict=True):
        for measure, expected in zip(OURS, row.tolist(), strict=True):
            # gains of another label may be grouped differently
            value = values[topic, measure]
            assert value == pytest.approx(expected, rel=0, abs=1e-15)


ELSEWHERE = {"q7": {"d1": 1.0}}


def test_topics_are_those_of_the_judgments():
    measures = [ir.AP, ir.NumQ, ir.nDCG(gains={1: 5})]
    values = values_of(provider, measures, QRELS, {**RUN, **ELSEWHERE})
    assert {topic for topic, _ in values} == {"q1", "q2"}
    assert values["q1", ir.NumQ] == 1
    # ir-measures counts topics that are not in the run as 0
    assert values["q2", ir.AP] == 0
    assert values["q2", ir.NumQ] == 0


@pytest.mark.parametrize("run", [{}, [], ELSEWHERE])
def test_a_run_without_a_judged_topic_has_a_mean_of_0(run):
    assert provider.calc_aggregate([ir.AP], QRELS, run)[ir.AP] == 0
    assert provider.calc([ir.AP], QRELS, run).aggregated == {ir.AP: 0.0}


def test_without_judgments_the_mean_is_nan():
    assert math.isnan(provider.calc_aggregate([ir.AP], {}, RUN)[ir.AP])


def test_a_sum_counts_a_measure_once():
    assert provider.calc_aggregate([ir.NumRet, ir.NumRet], QRELS, RUN) == {ir.NumRet: 3}


def named_tuples(nested, make):
    """Return a dict of dicts as named tuples."""
    rows = []
    for topic, documents in nested.items():
        for docno, number in documents.items():
            rows.append(make(topic, docno, number))
    return rows


def test_every_kind_of_input_gives_the_same():
    qrels = named_tuples(QRELS, ir.Qrel)
    run = named_tuples(RUN, ir.ScoredDoc)
    measures = [ir.AP, ir.nDCG @ 2, ir.Judged, ir.nDCG(gains={1: 0, 2: 7})]
    expected = provider.calc_aggregate(measures, QRELS, RUN)
    assert provider.calc_aggregate(measures, qrels, run) == expected
    assert provider.calc_aggregate(measures, iter(qrels), iter(run)) == expected
    frames = pd.DataFrame(qrels), pd.DataFrame(run)
    assert provider.calc_aggregate(measures, *frames) == expected
    evaluator = provider.evaluator(measures, QRELS)
    for kind in (RUN, run, pd.DataFrame(run)):
        assert evaluator.calc_aggregate(kind) == expected


@given(judged_runs(), st.randoms())
def test_no_order_of_topics_and_documents_matters(case, random):
    qrels, run = case
    shuffled = {}
    for topic in random.sample(list(run), len(run)):
        documents = list(run[topic].items())
        shuffled[topic] = dict(random.sample(documents, len(documents)))
    expected = provider.calc_aggregate(OURS, qrels, run)
    assert provider.calc_aggregate(OURS, qrels, shuffled) == expected


def test_it_is_registered_under_its_name():
    assert ir.providers.registry["tieaware"] is provider
    assert isinstance(provider, TieAwareProvider)
    assert provider.is_available()


def test_a_pipeline_may_begin_with_it():
    pipeline = ir.providers.FallbackProvider([provider, ir.DefaultPipeline])
    assert pipeline.supports(ir.Accuracy)
    measures = [ir.AP, ir.P @ 1, ir.Accuracy]
    values = pipeline.calc_aggregate(measures, QRELS, RUN)
    fallback = ir.calc_aggregate(measures, QRELS, RUN)
    assert values[ir.Accuracy] == fallback[ir.Accuracy]
    assert values[ir.P @ 1] == 1 / 4
    assert fallback[ir.P @ 1] != 1 / 4
    # q1: relevant first or second of the tie, with equal chances; R = 2
    assert values[ir.AP] == (1 + 1 / 2) / 2 / 2 / 2


UNSUPPORTED_NAMES = [
    "P@0",
    "P(rel=0)@5",
    "R(rel=0)@3",
    "Bpref(rel=0)",
    "NumRet(rel=0)",
    "IPrec@1.5",
    "SetF(beta=0.0)",
    "RBP",
    "RBP@10",
    "RBP(rel=1,p=1.0)",
    "RBP(rel=1,p=0.0)",
    "Accuracy",
    "infAP",
    "INST(max_rel=2)",
    "Compat",
    "ERR_IA@5",
]
UNSUPPORTED = [ir.parse_measure(name) for name in UNSUPPORTED_NAMES]
# the parser of ir-measures accepts no negative numbers
UNSUPPORTED += [ir.P(rel=-1) @ 5, ir.AP @ -1, ir.IPrec @ -0.1]
UNSUPPORTED += [ir.SetF(beta=-1.0), ir.SetF(beta=math.nan)]


@pytest.mark.parametrize("measure", UNSUPPORTED, ids=str)
def test_unsupported_measures_are_refused(measure):
    assert not provider.supports(measure)
    with pytest.raises(ValueError, match="unsupported measure"):
        provider.calc_aggregate([ir.AP, measure], QRELS, RUN)


def test_supported_measures_are_those_of_the_tests():
    for measure in OURS:
        assert provider.supports(measure)
    tested = {measure.NAME for measure in OURS} | {"NumRet", "NumRel", "NumQ", "Judged"}
    assert {spec.NAME for spec in provider.SUPPORTED_MEASURES} == tested
    for spec in provider.SUPPORTED_MEASURES:
        assert repr(spec)


WRONG_RUNS = [
    ({"q1": {1: 1.0}}, "document must be a non-empty string"),
    ({"q1": {"d1": None}}, "got nan in document d1 of topic q1"),
    ({"q1": {"d1": math.nan}}, "got nan in document d1 of topic q1"),
    ([("q1", "d1", 1.0)], "unknown run format"),
    (pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]}), "unknown run"),
]


@pytest.mark.parametrize(("run", "message"), WRONG_RUNS)
def test_wrong_runs_are_refused(run, message):
    with pytest.raises(ValueError, match=message):
        provider.calc_aggregate([ir.ERR @ 5], QRELS, run)


WRONG_JUDGMENTS = [
    ({"q1": {1: 1}}, "document must be a non-empty string"),
    ({"q1": {"d1": None}}, "document d1 of topic q1"),
    ({"q1": {"d1": 5}}, "must be <= max_label=4 for ERR@5, got 5"),
]


@pytest.mark.parametrize(("qrels", "message"), WRONG_JUDGMENTS)
def test_wrong_judgments_are_refused(qrels, message):
    with pytest.raises(ValueError, match=message):
        provider.calc_aggregate([ir.ERR @ 5], qrels, RUN)
