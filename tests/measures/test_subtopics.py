"""Measures of subtopics by name, and what they refuse."""

from __future__ import annotations

import pickle

import pytest

from tieaware_sklearn import parse_measure
from tieaware_sklearn.measures import (
    ERR,
    NRBP,
    AlphaDCG,
    AlphaNDCG,
    IntentAware,
    NormalisedERRIA,
    NormalisedNRBP,
    SubtopicMeasure,
    SubtopicRecall,
    parse_subtopic_measure,
)

MEASURES = [
    AlphaDCG(20),
    AlphaDCG(alpha=0.8),
    AlphaNDCG(10, alpha=0.25, rel=2),
    NormalisedERRIA(20),
    NRBP(),
    NRBP(alpha=0.1, beta=0.8),
    NormalisedNRBP(beta=0.9),
    SubtopicRecall(20),
    SubtopicRecall(rel=2),
    IntentAware("err@20"),
    IntentAware(ERR(20, max_label=1)),
    IntentAware("ndcg(gain=linear)@10"),
    IntentAware("rbp(p=0.9)"),
]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_names_read_back(measure):
    assert parse_subtopic_measure(str(measure)) == measure
    assert parse_subtopic_measure(str(measure).upper()) == measure
    assert parse_subtopic_measure(measure) is measure
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert len({measure, parse_subtopic_measure(str(measure))}) == 1
    assert isinstance(measure, SubtopicMeasure)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("alpha_nDCG@20", "alpha_nDCG@20"),
        ("alpha_nDCG(alpha=0.8)@20", "alpha_nDCG(alpha=0.8)@20"),
        (" alpha-nDCG@5 ", "alpha_nDCG@5"),
        ("ERR-IA@5", "ERR_IA@5"),
        ("nERR-IA@5", "nERR_IA@5"),
        ("MAP-IA", "AP_IA"),
        ("P-IA@5", "P_IA@5"),
        ("strec@5", "StRecall@5"),
        ("ndcg_ia(gain=linear)@10", "NDCG_IA(gain=linear)@10"),
    ],
)
def test_names_of_ir_measures_and_ndeval(name, canonical):
    assert str(parse_subtopic_measure(name)) == canonical


def test_measures_of_ir_measures_have_the_same_names():
    theirs = pytest.importorskip("ir_measures", reason="needs ir-measures")
    some = [
        *(theirs.alpha_nDCG @ 20, theirs.alpha_nDCG(alpha=0.8, rel=2) @ 20),
        *(theirs.alpha_DCG @ 5, theirs.ERR_IA @ 20, theirs.nERR_IA @ 20),
        *(theirs.NRBP(beta=0.8), theirs.nNRBP, theirs.StRecall @ 10),
        *(theirs.P_IA(rel=2) @ 5, theirs.AP_IA),
    ]
    for measure in some:
        assert str(parse_subtopic_measure(str(measure))) in (
            str(measure),
            # parameters in another order
            "alpha_nDCG(alpha=0.8,rel=2)@20",
        )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@10", r"unknown measure of subtopics 'ndcg@10' \(known: alpha_DCG"),
        ("foo_ia", "unknown measure 'foo'"),
        ("", "must look like"),
        ("alpha_ndcg@", "must look like"),
        ("alpha_ndcg@0", "k must be an integer >= 1"),
        ("alpha_ndcg(alpha=1.5)@3", "alpha must be a finite number >= 0 and <= 1"),
        ("alpha_ndcg(beta=1)@3", "has no parameter 'beta'"),
        ("nrbp(beta=1)", "beta must be a finite number > 0 and < 1"),
        ("nrbp@20", "nrbp takes no cut-off"),
        ("esl_ia", "measure must be one of which higher values are better, got ESL"),
        ("fallout_ia@5", "higher values are better, got Fallout@5"),
        (3, r"measure must be a name such as .* got 3"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        parse_subtopic_measure(name)


@pytest.mark.parametrize("name", ["alpha_nDCG@20", "ERR_IA@20", "StRecall@5", "nrbp"])
def test_other_functions_say_who_takes_these_names(name):
    with pytest.raises(ValueError, match="needs labels of subtopics: evaluate_subtop"):
        parse_measure(name)
