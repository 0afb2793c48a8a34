"""Measures by name."""

from __future__ import annotations

import copy
import functools
import math
import pickle
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.instances import MEASURES
from tieaware_sklearn import parse_measure, ranking_score
from tieaware_sklearn.measures import (
    CG,
    NDCG,
    RBP,
    AveragePrecision,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Precision,
    Recall,
    ReciprocalRank,
    SetAP,
    Success,
)
from tieaware_sklearn.measures._base import spelled_out

TREC9 = {"rounding": "trec_eval9"}
IPREC = InterpolatedPrecision(0.1, **TREC9)
NAMES = [
    ("precision@5", Precision(5), "P@5"),
    ("Recall", Recall(), "R"),
    ("f1@10", FBeta(10), "F@10"),
    ("f(beta=0.5, rel=2)", FBeta(beta=0.5, rel=2), "F(rel=2,beta=0.5)"),
    ("hit@10", Success(10), "Success@10"),
    ("cg(gain=exponential)", CG(gain="exponential"), "CG(gain=exponential)"),
    (" ndcg @ 10 ", NDCG(10), "NDCG@10"),
    ("nDCG(gain='LINEAR')@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("ndcg(GAIN=Linear)@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("nDCG(dcg='log2')@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("nDCG(dcg=exp-log2)@10", NDCG(10), "NDCG@10"),
    ("NDCG(k=10, gain='exponential')", NDCG(10), "NDCG@10"),
    ("ndcg(gain={0: 0, 1: 1.5})", NDCG(gain={1: 1.5, 0: 0}), "NDCG(gain={0:0,1:1.5})"),
    ("ndcg(gain=[0, 1, 3])", NDCG(gain=[0, 1, 3]), "NDCG(gain={0:0,1:1,2:3})"),
    ("RBP", RBP(0.8), "RBP(p=0.8)"),
    ("rbp(p=0.95)@20", RBP(0.95, k=20), "RBP(p=0.95)@20"),
    ("map(rel=2)@100", AveragePrecision(100, rel=2), "AP(rel=2)@100"),
    ("mrr", ReciprocalRank(), "RR"),
    # trec_eval's, but for ndcg
    ("ndcg", NDCG(), "NDCG"),
    ("11pt_avg", InterpolatedAveragePrecision(**TREC9), "IAP(rounding=trec_eval9)"),
    ("iprec_at_recall_0.10", IPREC, "IPrec(rounding=trec_eval9)@0.1"),
    ("set_P", Precision(), "P"),
    ("set_recall", Recall(), "R"),
    ("set_F", FBeta(), "F"),
    ("set_map", SetAP(), "SetAP"),
    ("recip_rank", ReciprocalRank(), "RR"),
    ("ndcg_cut.10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("NDCG_CUT_20", NDCG(20, "linear"), "NDCG(gain=linear)@20"),
    ("P_10", Precision(10), "P@10"),
    ("recall_10", Recall(10), "R@10"),
    ("map_cut_10", AveragePrecision(10), "AP@10"),
    ("success_1", Success(1), "Success@1"),
]


@pytest.mark.parametrize(("text", "measure", "canonical"), NAMES)
def test_names(text, measure, canonical):
    assert parse_measure(f" {text} ") == measure
    assert str(measure) == canonical
    assert parse_measure(canonical) == parse_measure(canonical.lower()) == measure
    assert parse_measure(measure) is measure


@pytest.mark.parametrize(("measure", "spelled"), [
    (NDCG(), ""),
    (NDCG(10), "k"),
    (NDCG(None, gain="exponential"), "k gain"),
    (parse_measure("ndcg(gain=exponential)@10"), "k gain"),
    (parse_measure("ndcg(dcg=exp-log2)"), "gain"),
    (parse_measure("map_cut_5"), "k denominator"),
    (parse_measure("SetP"), "k"),
    (parse_measure("set_P"), "k"),
    (parse_measure("f1@3"), "k beta"),
    # of whichever version
    (parse_measure("11pt_avg"), ""),
    (parse_measure("iprec_at_recall_0.1"), "recall"),
])  # fmt: skip
def test_measures_remember_what_was_spelled_out(measure, spelled):
    copies = [pickle.loads(pickle.dumps(measure)), copy.copy(measure)]
    for same in (measure, clone(measure, safe=False), *copies):
        assert spelled_out(same) == set(spelled.split())


def test_measures_are_values_however_much_of_them_is_spelled_out():
    for measure in MEASURES:
        in_full = replace(measure)
        assert spelled_out(in_full) == {f.name for f in fields(measure)}
        for same in (in_full, pickle.loads(pickle.dumps(measure))):
            assert same == measure
            assert hash(same) == hash(measure)
            assert (repr(same), str(same)) == (repr(measure), str(measure))
        if not callable(getattr(measure, "gain", None)):
            assert parse_measure(str(measure)) == measure
    assert len(set(MEASURES)) == len(MEASURES)
    assert Precision(3) != Recall(3)
    assert Precision(3) == Precision(3, rel=1.0)


@settings(max_examples=40)
@given(st.none() | st.integers(1, 10**6), st.floats(1e-3, 1e3), st.floats(1e-6, 0.999))
def test_names_read_back(k, rel, p):
    for measure in (RBP(p, k, rel), FBeta(k, rel, p), AveragePrecision(k, rel)):
        assert parse_measure(str(measure)) == measure


class Unhashable:
    __hash__ = None

    def __call__(self, label):
        return label


BAD_NAMES = [
    ("ndgc@10", r"unknown .* 'ndgc@10'; did you mean 'NDCG@10'\? \(known: AP "),
    ("rbpp(p=0.5)", r"did you mean 'RBP\(p=0.5\)'"),
    ("ndcg_cut", r"trec_eval's is called 'NDCG\(gain=linear\)@10' here"),
    ("iprec_at_recall", r"'IPrec\(rounding=trec_eval9\)@0.1' here"),
    ("P_5(rel=2)", r"trec_eval's is called 'P\(denominator=cutoff\)@5' here"),
    ("set_P_5", r"unknown measure 'set_P_5'; did you mean 'P@5'"),
    ("P_0", "measure 'P_0': k must be an integer >= 1, got 0"),
    ("P_1.5", "measure 'P_1.5': k must be .* got '1.5'"),
    ("iprec_at_recall_1.1", "recall must be .* >= 0 and <= 1, got 1.1"),
    ("gm_map", '\'gm_map\' is .* ask for "ap" with average="geometric"'),
    ("gm_bpref", 'ask for "bpref" with average="geometric"'),
    ("xyzzy", r"unknown measure 'xyzzy' \(known: AP AUPRC"),
    ("ndcg@ten", "measure 'ndcg@ten': k must be an integer >= 1, got 'ten'"),
    ("ndcg@  ", "measure must look like"),
    ("ndcg@10@5", "k must be an integer"),
    ("@10", "measure must look like"),
    ("", "measure must look like"),
    ("P@-3", "k must be .* got -3"),
    ("ndcg@1_0", "k must be an integer >= 1, got '1_0'"),
    ("P(k=2.5)", "k must be .* got 2.5"),
    ("P(k=True)", "k must be .* got True"),
    ("P(k=3)@5", "k must be given once"),
    ("P(rel=2,REL=3)", "rel must be given once"),
    ("NDCG(dcg=log2,gain=linear)", "gain must be given once"),
    ("Rprec@5", "measure 'Rprec@5': Rprec takes no cut-off"),
    ("P(p=0.5)", r"P has no parameter 'p' \(it takes: k, rel, denominator\)"),
    ("f1(beta=2)", r"f1 has no parameter 'beta'"),
    ("P(2)", "parameters of a measure must look like name=value"),
    ("P(rel=)", "parameters of a measure must look like name=value"),
    ("P(rel=2)(k=3)", "parameters of a measure must look like name=value"),
    ("P(rel=0)", "rel must be a finite number > 0, got 0"),
    ("P(rel=high)", "rel must be .* got 'high'"),
    ("RBP(p=1)", "p must be a finite number > 0 and < 1, got 1"),
    ("err(max_label=1024)", "max_label must be .* > 0 and <= 60, got 1024"),
    ("esl(i=1000000000000000000)", r"i must be at most 2\*\*53, got 1000"),
    ("F(beta=1e50)", r"beta must be .* > 0 and < 1e\+50, got 1e\+50"),
    ("cwl(chances=[])", r"chances must be a sequence of numbers .* got \[\]"),
    ("cwl(chances=0.8)", "chances must be a sequence of numbers .* got 0.8"),
    ("cwl(chances=['a'])", r"chances must be a sequence of numbers .* got \['a'\]"),
    ("cwl(chances=[0.5, 1.2])", r"chances must be in \[0, 1\], got 1.2 in row 1"),
    ("iap(points=1)", "points must be an integer from 2"),
    ("infap(pool=some)", r"pool must be one of \('judged', 'all'\)"),
    ("infap(rel=0)", "rel must be"),
    ("F(beta=-1)", "beta must be .* > 0 and < 1e.50, got -1"),
    ("NDCG(gain=square)", "gain must be one of .* got 'square'"),
    ("NDCG(gain=7)", "gain must be one of .* got 7"),
    ("NDCG(gain={[1]: 2})", "gain must be one of"),
    ("NDCG(gain={0: -1})", "gain must be >= 0 and at most 1e.100, got -1.0 for label"),
    ("NDCG(gain={})", "gain must be a table of at least one label, .* each label once"),
    ("NDCG(gain={1: 2, 1: 3})", "a table of .* with each label once"),
    ("NDCG(gain={1e999: 2})", "labels of gain must be finite and >= 0, got inf"),
    ("NDCG(dcg=[1])", r"dcg must be one of .* got \[1\]"),
    ("NDCG(dcg=log10)", "dcg must be one of .* got 'log10'"),
    ("AP(denominator=all)", "denominator must be one of .* got 'all'"),
    ("NDCG(gain=" + "-" * 9000 + "1)", "-[.]{3}': parameters .* name=value$"),
    ("NDCG(gain=" + "[" * 9000, "[.]{3}', got|[.]{3}'$"),
    ("rr" + " " * 20_000 + "!", "at most 10000 .* got 20003: 'rr {95}[.]{3}'$"),
    ("rr" + " " * 9000 + "!", r"must look like .* got 'rr {95}[.]{3}'$"),
]


@pytest.mark.parametrize(("text", "message"), BAD_NAMES)
def test_bad_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_measure(text)


def test_gains():
    assert str(NDCG(gain=functools.partial(pow, 2))) == "NDCG(gain=partial)"
    assert str(NDCG(gain=math.sqrt)) == "NDCG(gain=sqrt)"
    table = RBP(0.5, gain={0: 0, 1: 0.5})
    assert hash(table) == hash(RBP(0.5, gain=[(0, 0.0), (1, 0.5)]))
    assert parse_measure(str(table)) == table
    # small ones lose nothing
    assert ranking_score([1e-12], [1], measure="dcg") == math.expm1(1e-12 * math.log(2))
    # a gain of 1 is full relevance
    full = RBP(0.5, gain={0: 0, 1: 1})
    assert ranking_score([0, 1, 1], [3, 2, 1], measure=full) == 0.375
    with pytest.raises(ValueError, match="gain must be hashable, got "):
        NDCG(gain=Unhashable())
    with pytest.raises(ValueError, match=r"must be in \[0, 1\], got 1.5 for label 1"):
        ranking_score([0, 1], [2, 1], measure=RBP(0.5, gain={0: 0, 1: 1.5}))
