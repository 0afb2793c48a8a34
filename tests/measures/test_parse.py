"""Measures by name."""

from __future__ import annotations

import copy
import functools
import math
import pickle
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.instances import MEASURES
from tieaware_sklearn import parse_measure, ranking_score
from tieaware_sklearn.measures import (
    CG,
    DCG,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    Fallout,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Judged,
    Precision,
    Recall,
    ReciprocalRank,
    RPrecision,
    SetAP,
    Success,
)
from tieaware_sklearn.measures._base import spelled_out


@pytest.mark.parametrize(
    ("text", "measure", "canonical"),
    [
        ("P@5", Precision(5), "P@5"),
        ("precision@5", Precision(5), "P@5"),
        ("r@10", Recall(10), "R@10"),
        ("Recall", Recall(), "R"),
        ("F@10", FBeta(10), "F@10"),
        ("f1@10", FBeta(10), "F@10"),
        ("F(beta=2)@10", FBeta(10, beta=2), "F(beta=2)@10"),
        ("f(beta=0.5, rel=2)", FBeta(beta=0.5, rel=2), "F(rel=2,beta=0.5)"),
        ("Fallout@10", Fallout(10), "Fallout@10"),
        ("Success@10", Success(10), "Success@10"),
        ("hit@10", Success(10), "Success@10"),
        ("Rprec", RPrecision(), "Rprec"),
        ("CG@10", CG(10), "CG@10"),
        ("cg(gain=exponential)", CG(gain="exponential"), "CG(gain=exponential)"),
        ("DCG@10", DCG(10), "DCG@10"),
        ("NDCG", NDCG(), "NDCG"),
        (" ndcg @ 10 ", NDCG(10), "NDCG@10"),
        ("NDCG(gain=linear)@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
        ("nDCG(gain='linear')@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
        ("nDCG(dcg='log2')@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
        ("nDCG(dcg=exp-log2)@10", NDCG(10), "NDCG@10"),
        ("ndcg(GAIN=Linear)@10", NDCG(10, "linear"), "NDCG(gain=linear)@10"),
        ("NDCG(k=10, gain='exponential')", NDCG(10), "NDCG@10"),
        (
            "ndcg(gain={0: 0, 1: 1.5})@3",
            NDCG(3, {1: 1.5, 0: 0}),
            "NDCG(gain={0:0,1:1.5})@3",
        ),
        ("ndcg(gain=[0, 1, 3])", NDCG(gain=[0, 1, 3]), "NDCG(gain={0:0,1:1,2:3})"),
        ("RBP", RBP(0.8), "RBP(p=0.8)"),
        ("rbp(p=0.95)@20", RBP(0.95, k=20), "RBP(p=0.95)@20"),
        ("AP", AveragePrecision(), "AP"),
        ("map(rel=2)@100", AveragePrecision(100, rel=2), "AP(rel=2)@100"),
        (
            "AP(denominator=cutoff)@10",
            AveragePrecision(10, denominator="cutoff"),
            "AP(denominator=cutoff)@10",
        ),
        ("RR@10", ReciprocalRank(10), "RR@10"),
        ("mrr", ReciprocalRank(), "RR"),
        ("judged@10", Judged(10), "Judged@10"),
        ("setap(rel=2)", SetAP(rel=2), "SetAP(rel=2)"),
    ],
)
def test_names(text, measure, canonical):
    assert parse_measure(text) == measure
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure
    assert parse_measure(canonical.lower()) == measure
    assert parse_measure(measure) is measure


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("11pt_avg", InterpolatedAveragePrecision(rounding="trec_eval9")),
        (
            "iprec_at_recall_0.10",
            InterpolatedPrecision(0.1, rounding="trec_eval9"),
        ),
        ("set_P", Precision()),
        ("set_recall", Recall()),
        ("set_F", FBeta()),
        ("set_map", SetAP()),
        ("recip_rank", ReciprocalRank()),
        ("ndcg_cut_10", NDCG(10, "linear")),
        ("ndcg_cut.10", NDCG(10, "linear")),
        ("NDCG_CUT_20", NDCG(20, "linear")),
        ("P_10", Precision(10)),
        ("recall_10", Recall(10)),
        ("map_cut_10", AveragePrecision(10)),
        ("map", AveragePrecision()),
        ("success_1", Success(1)),
        ("Rprec", RPrecision()),
        ("bpref", BPref()),
        # not trec_eval's, which is linear
        ("ndcg", NDCG()),
    ],
)
def test_names_of_trec_eval(name, measure):
    assert parse_measure(f" {name} ") == measure
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("measure", "spelled"),
    [
        (NDCG(), ""),
        (NDCG(10), "k"),
        (NDCG(None, gain="exponential"), "k gain"),
        (parse_measure("ndcg"), ""),
        (parse_measure("ndcg(gain=exponential)@10"), "k gain"),
        (parse_measure("ndcg(dcg=exp-log2)"), "gain"),
        (parse_measure("map_cut_5"), "k denominator"),
        (parse_measure("SetP"), "k"),
        (parse_measure("set_P"), "k"),
        (parse_measure("f1@3"), "k beta"),
        # of whichever version
        (parse_measure("11pt_avg"), ""),
        (parse_measure("iprec_at_recall_0.1"), "recall"),
    ],
)
def test_measures_remember_what_was_spelled_out(measure, spelled):
    copies = [pickle.loads(pickle.dumps(measure)), copy.copy(measure)]
    for same in (measure, clone(measure, safe=False), *copies):
        assert spelled_out(same) == set(spelled.split())


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_measure_is_the_same_however_much_of_it_is_spelled_out(measure):
    in_full = replace(measure)
    assert spelled_out(in_full) == {f.name for f in fields(measure)}
    assert in_full == measure
    assert hash(in_full) == hash(measure)
    assert (repr(in_full), str(in_full)) == (repr(measure), str(measure))


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_measures_are_values(measure):
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert hash(pickle.loads(pickle.dumps(measure))) == hash(measure)
    if not callable(getattr(measure, "gain", None)):
        assert parse_measure(str(measure)) == measure


def test_measures_differ_by_class_and_parameters():
    assert len(set(MEASURES)) == len(MEASURES)
    assert Precision(3) != Recall(3)
    assert Precision(3) == Precision(3, rel=1.0)


@given(
    k=st.one_of(st.none(), st.integers(1, 10**6)),
    rel=st.floats(1e-3, 1e6),
    p=st.floats(1e-6, 1 - 1e-6),
    beta=st.floats(1e-3, 1e3),
)
def test_names_read_back(k, rel, p, beta):
    for measure in (RBP(p, k, rel), FBeta(k, rel, beta), AveragePrecision(k, rel)):
        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ndgc@10",
            r"unknown measure 'ndgc@10'; did you mean 'NDCG@10'\? \(known: AP ",
        ),
        ("rbpp(p=0.5)", r"did you mean 'RBP\(p=0.5\)'"),
        ("ndcg_cut", r"trec_eval's is called 'NDCG\(gain=linear\)@10' here"),
        ("iprec_at_recall", r"'IPrec\(rounding=trec_eval9\)@0.1' here"),
        ("P_5(rel=2)", r"trec_eval's is called 'P\(denominator=cutoff\)@5' here"),
        ("set_P_5", r"unknown measure 'set_P_5'; did you mean 'P@5'"),
        ("P_0", "measure 'P_0': k must be an integer >= 1, got 0"),
        ("P_1.5", "measure 'P_1.5': k must be an integer >= 1, got '1.5'"),
        (
            "iprec_at_recall_1.1",
            "recall must be a finite number >= 0 and <= 1, got 1.1",
        ),
        ("gm_map", '\'gm_map\' is an average .* ask for "ap" with average="geometric"'),
        ("gm_bpref", 'ask for "bpref" with average="geometric"'),
        ("xyzzy", r"unknown measure 'xyzzy' \(known: AP AUPRC"),
        ("ndcg@ten", "measure 'ndcg@ten': k must be an integer >= 1, got 'ten'"),
        ("ndcg@", "measure must look like"),
        ("ndcg@  ", "measure must look like"),
        ("ndcg@10@5", "k must be an integer"),
        ("@10", "measure must look like"),
        ("", "measure must look like"),
        ("P@-3", "measure 'P@-3': k must be an integer >= 1, got -3"),
        ("P(k=2.5)", "measure .*: k must be an integer >= 1, got 2.5"),
        ("P(k=True)", "k must be an integer >= 1, got True"),
        ("P(k=3)@5", "measure .*: k must be given once"),
        ("Rprec@5", "measure 'Rprec@5': Rprec takes no cut-off"),
        ("P(p=0.5)", r"P has no parameter 'p' \(it takes: k, rel, denominator\)"),
        ("f1(beta=2)", r"f1 has no parameter 'beta'"),
        ("P(2)", "parameters of a measure must look like name=value"),
        ("P(rel=)", "parameters of a measure must look like name=value"),
        ("P(rel=0)", "rel must be a finite number > 0, got 0"),
        ("P(rel=high)", "rel must be a finite number > 0, got 'high'"),
        ("RBP(p=1)", "p must be a finite number > 0 and < 1, got 1"),
        ("F(beta=-1)", "beta must be a finite number > 0 and < 1e.50, got -1"),
        ("NDCG(gain=square)", "gain must be one of .* got 'square'"),
        ("NDCG(gain=7)", "gain must be one of .* got 7"),
        (
            "NDCG(gain={0: -1})",
            "gain must be >= 0 and at most 1e.100, got -1.0 for label 0",
        ),
        (
            "NDCG(gain={})",
            "gain must be a table of at least one label, with each label once",
        ),
        ("NDCG(dcg=[1])", r"dcg must be one of .* got \[1\]"),
        ("NDCG(dcg=log10)", "dcg must be one of .* got 'log10'"),
        (
            "NDCG(gain={1: 2, 1: 3})",
            "a table of .* with each label once",
        ),
        ("NDCG(gain={[1]: 2})", "gain must be one of"),
        ("NDCG(gain={1e999: 2})", "labels of gain must be finite and >= 0, got inf"),
        ("NDCG(gain=" + "-" * 9000 + "1)", "-[.]{3}': parameters .* name=value$"),
        ("NDCG(gain=" + "[" * 9000, "[.]{3}', got|[.]{3}'$"),
        (
            "rr" + " " * 20_000 + "!",
            r"at most 10000 characters long, got 20003: 'rr {95}[.]{3}'$",
        ),
        ("rr" + " " * 9000 + "!", r"must look like .* got 'rr {95}[.]{3}'$"),
        ("P(rel=2)(k=3)", "parameters of a measure must look like name=value"),
        ("P(rel=2,rel=3)", "rel must be given once"),
        ("P(rel=2,REL=3)", "rel must be given once"),
        ("NDCG(dcg=log2,gain=linear)", "gain must be given once"),
        ("ndcg@1_0", "k must be an integer >= 1, got '1_0'"),
        ("F(beta=1e200)", "beta must be"),
        ("AP(denominator=all)", "denominator must be one of .* got 'all'"),
    ],
)
def test_bad_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_measure(text)


def test_a_gain_must_be_hashable():
    class Gain:
        __hash__ = None

        def __call__(self, label):
            return label

    with pytest.raises(ValueError, match="gain must be hashable, got "):
        NDCG(gain=Gain())


def test_names_of_gains():
    assert parse_measure("NDCG(gain=LINEAR)@5") == NDCG(5, "linear")
    assert parse_measure("NDCG(gain='LINEAR')@5") == NDCG(5, "linear")
    assert str(NDCG(gain=functools.partial(pow, 2))) == "NDCG(gain=partial)"
    assert str(NDCG(gain=math.sqrt)) == "NDCG(gain=sqrt)"
    table = RBP(0.5, gain={0: 0, 1: 0.5})
    assert hash(table) == hash(RBP(0.5, gain=[(0, 0.0), (1, 0.5)]))
    assert parse_measure(str(table)) == table


def test_a_gain_of_one_is_full_relevance():
    table = RBP(0.5, gain={0: 0, 1: 1})
    assert ranking_score([0, 1, 1], [3, 2, 1], measure=table) == 0.375
    with pytest.raises(ValueError, match=r"must be in \[0, 1\], got 1.5 for label 1"):
        ranking_score([0, 1], [2, 1], measure=RBP(0.5, gain={0: 0, 1: 1.5}))
