"""Sentences on comparisons: orders of ties, and measures without a value."""

import re

import numpy as np
import pytest

from tieaware_sklearn import compare_systems, pvalues_over_orders
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=200, random_state=0)
DEGREE, SLASHES = WEB.data[:, 0], -WEB.data[:, 4]
SYSTEMS = {"degree": DEGREE, "slashes": SLASHES}
#: two queries with one relevant document each
TWO = {"y_true": [1, 0, 1, 0], "qid": [1, 1, 2, 2]}
SHARE = r"(over 95%|under 5%|about \d+%)"


def compared(systems=SYSTEMS, measure="rr", **options):
    return compare_systems(WEB.target, systems, qid=WEB.qid, measure=measure, **options)


def sentences(result):
    """The sentences of a comparison, on one line, as in print and on its page."""
    text = re.sub(r"\s+", " ", str(result))
    page = re.sub("<wbr>|<[^>]+>", "", result.to_html())
    for sentence in result._conclusion():
        assert sentence in text
        assert sentence.replace("<", "&lt;").replace(">", "&gt;") in page
    return " ".join(result._conclusion())


def percent(share):
    return {"over 95%": 97.5, "under 5%": 2.5}.get(share) or float(share[6:-1])


def test_identical_runs_are_equal_in_every_order():
    scores = np.random.default_rng(0).random(len(WEB.target))
    text = sentences(compared({"a": scores, "b": scores}))
    assert text.endswith("a and b are equal in every order of tied documents.")


def test_identical_runs_with_ties_are_equal_on_average():
    text = sentences(compared({"a": SLASHES, "b": SLASHES}))
    assert text.endswith(
        "a and b are equal on average, but not in every order of tied documents."
    )


@pytest.mark.parametrize("measure", ["rr", "esl"])
@pytest.mark.parametrize("baseline", [None, "a", "b"])
def test_a_range_that_ends_at_0_reverses_nothing(measure, baseline):
    systems = {"a": [2, 1, 2, 1], "b": [2, 1, 1, 1]}
    result = compare_systems(y_score=systems, measure=measure, baseline=baseline, **TWO)
    assert not result.same_sign[0]
    assert (
        "; no order of ties makes b better, but some make the two equal."
        in sentences(result)
    )


def test_the_same_sign_in_every_order():
    systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    result = compare_systems(y_score=systems, measure="rr", **TWO)
    assert sentences(result).endswith(
        "; the order of tied documents does not change which is ahead."
    )


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.99])
def test_a_better_system_is_significantly_better_by_the_level(confidence):
    result = compare_systems(
        y_score={"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]},
        measure="rr",
        confidence=confidence,
        **TWO,
    )
    is_significant = result.pvalues[0] <= 1 - confidence
    assert ("a is significantly better than b" in sentences(result)) == is_significant
    assert ("a is not shown to be better than b" in sentences(result)) != is_significant


@pytest.mark.parametrize("measure", ["rr", "ap", "esl"])
@pytest.mark.parametrize("names", [["degree", "slashes"], ["slashes", "degree"]])
def test_shares_of_random_orders(measure, names):
    result = compared({name: SYSTEMS[name] for name in names}, measure)
    low, high = result.tie_range[0]
    assert low < 0 < high
    match = re.search(
        "; in the least favourable order of ties, slashes is better; in "
        rf"{SHARE} of random orders, degree is better, with p < 0.05 in {SHARE} "
        r"\(an approximation; pvalues_over_orders tests random orders exactly\)\.$",
        sentences(result),
    )
    orders = pvalues_over_orders(
        WEB.target, SYSTEMS, qid=WEB.qid, measure=measure, n_orders=300
    )
    significant = 100 * orders.share_a[0, 0]
    assert percent(match[2]) == pytest.approx(significant, abs=6)
    assert percent(match[1]) >= 75


@pytest.mark.parametrize(
    "options",
    [
        {"test": "randomization"},
        {"test": "wilcoxon"},
        {"alternative": "greater"},
        {"query_weight": 1 + WEB.qid % 3},
    ],
)
def test_other_tests_state_the_share_with_the_sign_alone(options):
    text = sentences(compared(**options))
    assert re.search(rf"{SHARE} of random orders, degree is better \(an app", text)
    assert "p < 0.05 in" not in text


def test_few_queries_have_no_share_of_significant_orders():
    few = WEB.qid < 49
    systems = {name: scores[few] for name, scores in SYSTEMS.items()}
    result = compare_systems(WEB.target[few], systems, qid=WEB.qid[few], measure="rr")
    text = sentences(result)
    assert re.search(rf"{SHARE} of random orders, degree is better \(an app", text)


def test_few_queries_that_vary_have_no_share():
    systems = {"a": [2, 1, 1, 1, 2, 1], "b": [1, 1, 2, 1, 1, 1]}
    result = compare_systems([1, 0] * 3, systems, qid=[1, 1, 2, 2, 3, 3], measure="rr")
    assert sentences(result).endswith(
        "; in the least favourable order of ties, b is better (pvalues_over_orders "
        "tests random orders)."
    )


def test_each_measure_and_treatment_has_its_own_sentence():
    systems = {"a": [2, 1, 2, 1], "b": [2, 1, 1, 1]}
    result = compare_systems(
        y_score=systems, measure=["rr", "r@2"], ties=["expected", "worst"], **TWO
    )
    rr, worst, recall, worst_recall = result._conclusion()
    assert "no order of ties makes b better" in rr
    assert "equal in every order" in recall
    assert "order" not in worst + worst_recall


ABSENT = np.full(len(WEB.target), -np.inf)
FOUR = {"a": DEGREE, "b": SLASHES, "c": WEB.data[:, 1], "d": WEB.data[:, 2]}


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("baseline", [None, "b"])
@pytest.mark.parametrize("segment", [None, WEB.qid % 2])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_measure_without_a_value(n, baseline, segment):
    systems = {name: FOUR[name] for name in "abcd"[:n]}
    result = compare_systems(
        np.zeros(len(WEB.target)),
        systems,
        qid=WEB.qid,
        measure=["ap", "p@5"],
        zero_relevance="skip",
        baseline=baseline,
        segment=segment,
    )
    text = sentences(result)
    assert "ahead" not in text
    assert " -" not in text.replace("[-, -]", "")
    no_value = "no system has a value; no difference is significant"
    if n == 2:
        no_value = "no query has values of both a and b"
    elif baseline:
        no_value = "no system is tested against b; no difference is significant"
    assert f"By AP, {no_value}" in text
    assert "By P@5, " in text


@pytest.mark.parametrize("correction", ["holm", "tukey"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_system_without_a_value_is_named_and_not_compared(correction):
    systems = {"a": DEGREE, "b": ABSENT, "c": SLASHES}
    result = compared(systems, "esl", correction=correction)
    assert "than c; without a value: b; no difference is" in sentences(result)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_best_system_beats_no_system_without_a_value():
    text = sentences(compared({"a": DEGREE, "b": ABSENT, "c": ABSENT}, "esl"))
    assert "significantly better than" not in text
    assert "; without a value: b, c; no difference is significant" in text


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_baselines_count_the_systems_that_are_tested():
    systems = {"a": DEGREE, "b": ABSENT, "c": SLASHES}
    assert "no system is tested against b" in sentences(
        compared(systems, "esl", baseline="b")
    )
    assert " of 1 systems are" in sentences(compared(systems, "esl", baseline="a"))
