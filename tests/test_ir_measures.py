"""A provider for ir-measures: the values of its others where nothing ties."""

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
def of_pytrec_eval(draw):
    """A measure that pytrec_eval has, with parameters."""
    k, rel = draw(cutoffs), {"rel": draw(levels)}
    only = {"judged_only": draw(st.booleans())}
    graded = only | ({"gains": draw(gains)} if draw(st.booleans()) else {})
    recall = draw(st.integers(0, 100)) / 100
    both = rel | only
    measures = [
        *(ir.P(**both) @ k, ir.R(**both) @ k, ir.Success(**both) @ k, ir.RR(**both)),
        *(ir.AP(**both), ir.AP(**both) @ k, ir.nDCG(**graded), ir.nDCG(**graded) @ k),
        *(ir.Rprec(**both), ir.Bpref(**rel), ir.IPrec(**both) @ recall),
        *(ir.SetAP(**both), ir.SetP(**both), ir.SetP(relative=True, **both)),
        *(ir.SetR(**rel), ir.SetF(**both), ir.SetF(beta=2.5, **both)),
        *(ir.NumRet, ir.NumRet(**rel), ir.NumRel(rel=1), ir.NumQ),
    ]
    return draw(st.sampled_from(measures))


@st.composite
def of_others(draw):
    """A provider without a number in its answer that we have not, and a measure."""
    k, rr = draw(cutoffs), ir.RR(rel=draw(levels))
    of_judged = [(ir.judged, ir.Judged), (ir.judged, ir.Judged @ k)]
    return draw(st.sampled_from([*of_judged, (ir.msmarco, rr), (ir.msmarco, rr @ k)]))


def values(of, measures, qrels, run):
    return {
        (m.query_id, m.measure): m.value for m in of.iter_calc(measures, qrels, run)
    }


def assert_as(other, measure, qrels, run, atol=1e-12):
    theirs, ours = (values(of, [measure], qrels, run) for of in (other, provider))
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        # pytrec_eval divides by no documents
        hoped = 0.0 if math.isnan(value) else value
        assert ours[key] == pytest.approx(hoped, rel=0, abs=atol)
    total = other.calc_aggregate([measure], qrels, run)[measure]
    if not math.isnan(total):
        found = provider.calc_aggregate([measure], qrels, run)[measure]
        assert found == pytest.approx(total, rel=0, abs=atol)


@given(judged_runs(tied=False), of_pytrec_eval())
@settings(max_examples=150)
def test_without_ties_the_values_are_those_of_pytrec_eval(case, measure):
    assert_as(ir.pytrec_eval, measure, *case)


@given(judged_runs(tied=False), of_others())
def test_without_ties_the_values_are_those_of_other_providers(case, others):
    assert_as(*others, *case)


@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_without_ties_the_values_are_those_of_gdeval(k):
    if not ir.gdeval.is_available():
        pytest.skip("gdeval needs perl")
    rng = np.random.default_rng(k)
    qrels, run = {}, {}
    for topic in range(60):
        documents = [f"d{i}" for i in rng.permutation(30)]
        chosen, n = rng.integers(-1, 5, 15).tolist(), int(rng.integers(1, 20))
        # gdeval leaves out topics without a relevant document
        qrels[str(topic)] = dict(zip(documents, [*chosen, 1], strict=False))
        ranked = rng.permutation(documents)[:n].tolist()
        run[str(topic)] = {one: float(i) for i, one in enumerate(ranked)}
    # it prints five decimals
    for measure in (ir.nDCG(dcg="exp-log2") @ k, ir.ERR @ k):
        assert_as(ir.gdeval, measure, qrels, run, atol=5.1e-6)


@given(judged_runs(max_topics=1, max_documents=5), of_pytrec_eval())
@settings(max_examples=80)
def test_values_are_the_means_of_pytrec_eval_over_all_orders_of_ties(case, measure):
    qrels, run = case
    orders = {f"order {i}": one for i, one in enumerate(every_order(run["q0"]))}
    of_orders = dict.fromkeys(orders, qrels["q0"])
    theirs = values(ir.pytrec_eval, [measure], of_orders, orders)
    hoped = math.fsum(np.nan_to_num([*theirs.values()]).tolist()) / len(theirs)
    found = values(provider, [measure], qrels, run)["q0", measure]
    assert found == pytest.approx(hoped, rel=0, abs=1e-9)


OURS = {
    ir.P @ 2: "P@2",
    ir.R(rel=2) @ 3: "R(rel=2)@3",
    ir.Success @ 1: "Success@1",
    ir.RR @ 4: "RR@4",
    ir.AP @ 5: "AP@5",
    ir.Rprec: "Rprec",
    ir.Bpref: "BPref",
    ir.nDCG @ 3: "NDCG(gain=linear)@3",
    ir.nDCG(dcg="exp-log2"): "NDCG",
    ir.ERR: "ERR",
    ir.ERR @ 3: "ERR@3",
    ir.RBP(rel=1): "RBP",
    ir.RBP(rel=2, p=0.5) @ 3: "RBP(p=0.5,rel=2)@3",
    ir.IPrec @ 0.5: "IPrec(rounding=trec_eval9)@0.5",
    ir.SetP: "SetP",
    ir.SetR: "SetR",
    ir.SetF(beta=4.0): "F(beta=2)",
    ir.SetAP: "SetAP",
}


@given(judged_runs())
def test_values_are_those_of_arrays(case):
    qrels, run = case
    trec, options = load_trec(qrels, run), {"unjudged": "nonrelevant"}
    options["measures"] = OURS.values()
    report = evaluate(trec.target, trec.score, qid=trec.qid, **options)
    found = values(provider, OURS, qrels, run)
    for topic, row in zip(report.qid.tolist(), report.expected, strict=True):
        for measure, value in zip(OURS, row.tolist(), strict=True):
            # a gain of another label may be grouped with others
            assert found[topic, measure] == pytest.approx(value, rel=0, abs=1e-15)


def test_topics_are_those_of_the_judgments():
    run = RUN | {"q7": {"d1": 1.0}}
    found = values(provider, [ir.AP, ir.NumQ, ir.nDCG(gains={1: 5})], QRELS, run)
    assert {topic for topic, _ in found} == {"q1", "q2"}
    # ir-measures counts what is not in the run as 0
    assert found["q2", ir.AP] == found["q2", ir.NumQ] == 0
    assert found["q1", ir.NumQ] == 1
    elsewhere = provider.calc([ir.AP], QRELS, {"q7": {"d1": 1.0}})
    assert elsewhere.aggregated == {ir.AP: 0.0}
    assert math.isnan(provider.calc_aggregate([ir.AP], {}, RUN)[ir.AP])
    assert provider.calc_aggregate([ir.AP], QRELS, {})[ir.AP] == 0
    assert provider.calc_aggregate([ir.AP], QRELS, [])[ir.AP] == 0


def test_a_sum_counts_a_measure_once():
    assert provider.calc_aggregate([ir.NumRet, ir.NumRet], QRELS, RUN) == {ir.NumRet: 3}


def test_every_kind_of_input_gives_the_same():
    qrels = [ir.Qrel(t, d, x) for t, own in QRELS.items() for d, x in own.items()]
    run = [ir.ScoredDoc(t, d, x) for t, own in RUN.items() for d, x in own.items()]
    measures = [ir.AP, ir.nDCG @ 2, ir.Judged, ir.nDCG(gains={1: 0, 2: 7})]
    expected = provider.calc_aggregate(measures, QRELS, RUN)
    frames = pd.DataFrame(qrels), pd.DataFrame(run)
    for kind in ((qrels, run), (iter(qrels), iter(run)), frames):
        assert provider.calc_aggregate(measures, *kind) == expected
    evaluator = provider.evaluator(measures, QRELS)
    for given_run in (RUN, run, frames[1]):
        assert evaluator.calc_aggregate(given_run) == expected


@given(judged_runs(), st.randoms())
def test_no_order_of_topics_and_documents_matters(case, random):
    qrels, run = case
    topics = random.sample(list(run), len(run))
    other = {t: dict(random.sample([*run[t].items()], len(run[t]))) for t in topics}
    found = [provider.calc_aggregate(OURS, qrels, one) for one in (run, other)]
    assert found[0] == found[1]


def test_it_is_registered_under_its_name():
    assert ir.providers.registry["tieaware"] is provider
    assert isinstance(provider, TieAwareProvider)
    assert provider.is_available()


def test_a_pipeline_may_begin_with_it():
    several = [provider, ir.DefaultPipeline]
    pipeline = ir.providers.FallbackProvider(several)
    assert pipeline.supports(ir.Accuracy)
    measures = [ir.AP, ir.P @ 1, ir.Accuracy]
    found = pipeline.calc_aggregate(measures, QRELS, RUN)
    theirs = ir.calc_aggregate(measures, QRELS, RUN)
    assert found[ir.Accuracy] == theirs[ir.Accuracy]
    assert found[ir.P @ 1] == 1 / 4 != theirs[ir.P @ 1]
    # q1: relevant first or second of the tie, with equal chances; R = 2
    assert found[ir.AP] == (1 + 1 / 2) / 2 / 2 / 2


REFUSED = [
    *(ir.P @ 0, ir.P(rel=0) @ 5, ir.P(rel=-1) @ 5, ir.AP @ -1, ir.R(rel=0) @ 3),
    *(ir.Bpref(rel=0), ir.NumRet(rel=0), ir.IPrec @ 1.5, ir.IPrec @ -0.1),
    *(ir.SetF(beta=0.0), ir.SetF(beta=-1.0), ir.SetF(beta=math.nan)),
    *(ir.RBP, ir.RBP @ 10, ir.RBP(rel=1, p=1.0), ir.RBP(rel=1, p=0.0)),
    *(ir.Accuracy, ir.infAP, ir.INST(max_rel=2), ir.Compat, ir.ERR_IA @ 5),
]


def test_what_is_not_supported_is_refused():
    for measure in REFUSED:
        assert not provider.supports(measure)
        with pytest.raises(ValueError, match="unsupported measure"):
            provider.calc_aggregate([ir.AP, measure], QRELS, RUN)


def test_every_measure_it_names_is_one_of_the_tests():
    assert all(map(provider.supports, OURS))
    tested = {measure.NAME for measure in OURS} | {"NumRet", "NumRel", "NumQ", "Judged"}
    assert {spec.NAME for spec in provider.SUPPORTED_MEASURES} == tested
    assert all(map(repr, provider.SUPPORTED_MEASURES))


NO_DATA = [
    (QRELS, {"q1": {1: 1.0}}, "document must be a string"),
    (QRELS, {"q1": {"d1": None}}, "got nan in document d1 of topic q1"),
    (QRELS, {"q1": {"d1": math.nan}}, "got nan in document d1 of topic q1"),
    (QRELS, [("q1", "d1", 1.0)], "unknown run format"),
    (QRELS, pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]}), "unknown run"),
    ({"q1": {1: 1}}, RUN, "document must be a string"),
    ({"q1": {"d1": None}}, RUN, "document d1 of topic q1"),
    ({"q1": {"d1": 5}}, RUN, "must be <= max_label=4 for ERR@5, got 5"),
]


@pytest.mark.parametrize(("qrels", "run", "message"), NO_DATA)
def test_data_that_are_none_are_refused(qrels, run, message):
    with pytest.raises(ValueError, match=message):
        provider.calc_aggregate([ir.ERR @ 5], qrels, run)
