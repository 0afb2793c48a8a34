"""Measures of subtopics by name, and gains that shrink in long ties."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from tieaware_sklearn import evaluate_subtopics, parse_measure
from tieaware_sklearn.measures import (
    ERR,
    AlphaDCG,
    AlphaNDCG,
    IntentAware,
    NormalisedERRIA,
    SubtopicMeasure,
    parse_subtopic_measure,
)
from tieaware_sklearn.measures._subtopics import mean_kept


@pytest.mark.parametrize(("name", "canonical"), [
    ("alpha_nDCG@20", "alpha_nDCG@20"),
    ("alpha_nDCG(alpha=0.8)@20", "alpha_nDCG(alpha=0.8)@20"),
    (" alpha-nDCG@5 ", "alpha_nDCG@5"),
    ("alpha-DCG", "alpha_DCG"),
    ("ERR-IA@5", "ERR_IA@5"),
    ("nERR-IA@5", "nERR_IA@5"),
    ("NRBP(alpha=0.1, beta=0.8)", "NRBP(alpha=0.1,beta=0.8)"),
    ("nnrbp(beta=0.9)", "nNRBP(beta=0.9)"),
    ("MAP-IA", "AP_IA"),
    ("P-IA@5", "P_IA@5"),
    ("strec@5", "StRecall@5"),
    ("P_IA(rel=2)@5", "P_IA(rel=2)@5"),
    ("alpha_nDCG(rel=2,alpha=0.8)@20", "alpha_nDCG(alpha=0.8,rel=2)@20"),
    ("ndcg_ia(gain=linear)@10", "NDCG_IA(gain=linear)@10"),
    (AlphaNDCG(10, alpha=0.25, rel=2), "alpha_nDCG(alpha=0.25,rel=2)@10"),
    (NormalisedERRIA(20), "nERR_IA@20"),
    (IntentAware(ERR(20, max_label=1)), "ERR_IA(max_label=1)@20"),
])  # fmt: skip
def test_names_of_ir_measures_and_ndeval_read_back(name, canonical):
    measure = parse_subtopic_measure(name)
    assert isinstance(measure, SubtopicMeasure)
    assert str(measure) == canonical
    for same in (canonical, canonical.upper(), measure):
        assert parse_subtopic_measure(same) == measure
    assert len({measure, pickle.loads(pickle.dumps(measure))}) == 1


@pytest.mark.parametrize(("name", "message"), [
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
])  # fmt: skip
def test_other_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        parse_subtopic_measure(name)


@pytest.mark.parametrize("name", ["alpha_nDCG@20", "ERR_IA@20", "StRecall@5", "nrbp"])
def test_other_functions_say_who_takes_these_names(name):
    with pytest.raises(ValueError, match="needs labels of subtopics: evaluate_subtop"):
        parse_measure(name)


def exact_mean(n, c, keep, x):
    """E[keep^H] by the hypergeometric distribution."""
    ways = [math.comb(c, h) * math.comb(n - c, x - h) for h in range(min(c, x) + 1)]
    total = sum(w * Fraction(keep) ** h for h, w in enumerate(ways))
    return float(total / math.comb(n, x))


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9, 1.0])
def test_means_are_those_of_the_hypergeometric_distribution(keep):
    cases = [(0, 0), (1, 1), (5, 2), (30, 30), (200, 13), (1000, 400)]
    n, c = np.array(cases).T
    found = mean_kept(n, c, keep, 64)
    for row, (own_n, own_c) in enumerate(cases):
        shown = min(own_n + 1, 64)
        for x in range(shown):
            twin = exact_mean(own_n, own_c, keep, x)
            assert found[row, x] == pytest.approx(twin, rel=1e-12)
        # whatever stands beside it
        alone = mean_kept(n[row : row + 1], c[row : row + 1], keep, 64)[0]
        np.testing.assert_array_equal(found[row, :shown], alone[:shown])


def of_all_tied(n, c):
    """α-DCG with α = 1/2 if n documents tie, c of them relevant to one subtopic."""
    if c == 1:
        return sum(1 / math.log2(x + 1) for x in range(1, n + 1)) / n
    # what is left after some hundred places is nothing
    return sum(
        c / n * exact_mean(n - 1, c - 1, 0.5, x - 1) / math.log2(x + 1)
        for x in range(1, min(n, 400) + 1)
    )


@pytest.mark.parametrize(("n", "c"), [(300, 5), (400, 30), (600, 150), (20_000, 1)])
def test_a_long_tie_is_summed_to_its_end(n, c):
    labels = (np.arange(n) < c).astype(float)[:, None]
    report = evaluate_subtopics(labels, np.ones(n), measures=AlphaDCG())
    assert report.expected[0, 0] == pytest.approx(of_all_tied(n, c), rel=1e-11)


def test_many_tied_documents():
    labels, measures = (np.arange(100_000) % 100 == 0)[:, None], ["nrbp", "alpha_dcg"]
    report = evaluate_subtopics(
        labels, np.ones(100_000), measures=[*measures, "alpha_ndcg@20"]
    )
    value = sum(
        0.75 * 0.5**x * 1e-2 * exact_mean(99_999, 999, 0.5, x) for x in range(40)
    )
    assert report.expected[0, 0] == pytest.approx(value, rel=1e-9)
    assert 0 < report.expected[0, 2] < report.expected[0, 1]
