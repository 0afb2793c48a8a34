"""Tests of averages over queries: empty averages, medians, warnings of intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import messages_of
from tieaware_sklearn import evaluate, ranking_score


@pytest.mark.parametrize(
    ("measure", "average"), [("ndcg@10", "macro"), ("r@1", "micro")]
)
def test_an_average_of_no_query_is_nan_with_a_warning(measure, average):
    data = {"y_true": [0, 0], "y_score": [1, 2]}
    options = {"measure": measure, "average": average}
    message = f"{measure.upper()} is undefined for every"
    with pytest.warns(UndefinedMetricWarning, match=message):
        value = ranking_score(zero_relevance="skip", **data, **options)
    assert math.isnan(value)
    assert ranking_score(zero_relevance=0.25, **data, **options) == 0.25


def test_the_median_is_an_average_too():
    # The reciprocal ranks are 1, 3/4, 1/2 and 1.
    data = {"y_true": [1, 0, 1, 0, 0, 1, 1, 0]}
    data["y_score"] = [2, 1, 1, 1, 2, 1, 3, 1]
    data["qid"] = [1, 1, 2, 2, 3, 3, 4, 4]
    summary = evaluate(**data, measures="rr").summary("median")
    assert summary.mean[0] == 7 / 8
    # A query of weight 0 does not count.
    data["query_weight"] = [1, 1, 0, 0, 2, 2, 1, 1]
    summary = evaluate(**data, measures="rr").summary("median")
    assert summary.mean[0] == 3 / 4


def test_the_interval_of_a_median_is_between_values_of_known_ranks():
    n = 20
    query = np.arange(n)
    qid = np.repeat(query, 30)
    row = np.tile(np.arange(30), n)
    scores = -row.astype(float)
    # The relevant document has rank i + 2 in query i, but rank 1 in the first.
    scores[row == 0] = -query - 0.5
    report = evaluate(row == 0, scores, qid=qid, measures="rr")
    low, high = report.summary("median").interval[0]
    ranked = np.sort(report.expected[:, 0])
    assert low == ranked[5]
    assert high == ranked[14]
    at_most_5, at_most_6 = stats.binom.cdf([5, 6], n, 0.5)
    assert at_most_5 <= 0.025 < at_most_6
    weighted = replace(report, query_weight=query + 1.0)
    interval = weighted.summary("median").interval
    assert np.isnan(interval).all()


def firsts(*hits):
    """Return a report on queries of two documents. A hit has the relevant one first."""
    labels = [[1, 0]] * len(hits)
    scores = [[2, 1] if hit else [1, 2] for hit in hits]
    return evaluate(labels, scores, measures=["p@1", "rr", "ndcg"])


ALL_EQUAL = "the values per query of P@1, RR, NDCG do not vary, "
TEN_HITS = [1] * 10
NINE_HITS = [1] * 9 + [0]


def test_equal_values_warn_once_when_an_interval_is_asked_for():
    equal = firsts(*TEN_HITS)
    (message,) = messages_of(equal.summary)
    assert message.startswith(ALL_EQUAL)
    assert messages_of(str, equal) == [message]
    assert messages_of(equal.summary, interval="bootstrap") == [message]
    for interval in ("t", "bootstrap"):
        bounds = equal.summary(interval=interval).interval
        np.testing.assert_allclose(bounds[:, 0], 0.025**0.1)
        assert bounds[:, 1].tolist() == [1, 1, 1]
    # Reports without a summary and intervals of medians do not warn.
    assert not messages_of(firsts, *TEN_HITS)
    assert not messages_of(equal.summary, "median")


def test_nearly_equal_values_are_warned_of():
    (message,) = messages_of(firsts(*NINE_HITS).summary)
    assert (
        "NDCG are equal for over 80% of queries: the interval is too short" in message
    )


HITS_AND_MISSES = [(6, 4, 0), (8, 2, 1), (199, 1, 1), (1, 0, 0)]


@pytest.mark.parametrize(("n_hits", "n_misses", "n_warnings"), HITS_AND_MISSES)
def test_the_share_of_equal_values_that_is_warned_of(n_hits, n_misses, n_warnings):
    hits = [1] * n_hits + [0] * n_misses
    report = firsts(*hits)
    assert len(messages_of(report.summary)) == n_warnings


def test_a_query_of_weight_0_does_not_make_values_differ():
    report = firsts(*NINE_HITS)
    weighted = replace(report, query_weight=np.array(NINE_HITS, dtype=float))
    (message,) = messages_of(weighted.summary)
    assert message.startswith(ALL_EQUAL)


def test_segments_are_warned_of_by_their_names():
    segment = np.array(["a", "a", "b", "b"])
    report = replace(firsts(1, 1, 0, 1), segment=segment)
    *_, message = messages_of(report.by_segment)
    measures = "P@1 in segment a, RR in segment a, NDCG in segment a"
    assert f"query of {measures} do not vary" in message


LOW_AND_HIGH_QUERIES = [
    (0, 10, True),
    (1, 198, True),
    (1, 199, False),
    (0, 399, True),
    (0, 400, False),
]


@pytest.mark.parametrize(("n_low", "n_high", "warns"), LOW_AND_HIGH_QUERIES)
def test_geometric_means_warn_that_values_near_0_may_be_missed(n_low, n_high, warns):
    scores = [[-math.inf, 1]] * n_low
    for i in range(n_high):
        scores.append([2, 1] if i % 2 else [1, 2])
    documents = [[1, 0]] * len(scores)
    report = evaluate(documents, scores, measures="rr")
    messages = messages_of(report.summary, "geometric")
    assert len(messages) == warns
    for message in messages:
        assert "RR are rarely near 0, so the int" in message
    assert not messages_of(report.summary)


def test_one_query_with_nearly_all_the_weight_has_no_interval():
    labels = np.tile([0, 1], 30)
    scores = np.arange(60) % 7
    qid = np.arange(60) // 2
    options = {"qid": qid, "measures": "rr"}
    weight = np.where(qid == 4, 1000.0, 1.0)
    report = evaluate(labels, scores, query_weight=weight, **options)
    with pytest.warns(
        UserWarning, match=r"30 queries are worth 1\.1 queries of equal weight"
    ):
        summary = report.summary()
    assert np.isnan(summary.interval).all()
    n_effective = 1029**2 / (29 + 1e6)
    assert summary.n_effective == pytest.approx(n_effective)
    weight = 1.0 + qid % 2
    weighted = evaluate(labels, scores, query_weight=weight, **options)
    message = "30 queries, whose weights are worth 27.0 of equal weight"
    assert str(weighted).endswith(message)
