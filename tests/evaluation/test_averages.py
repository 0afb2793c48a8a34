"""Averages over queries: the mean of none, medians, and warnings of their intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import messages_of
from tieaware_sklearn import evaluate, ranking_score


def test_average_of_nothing_is_nan_and_says_so():
    data = {"y_true": [0, 0], "y_score": [1, 2]}
    for measure, average in (("ndcg@10", "macro"), ("r@1", "micro")):
        data |= {"measure": measure, "average": average}
        message = f"{measure.upper()} is undefined for every"
        with pytest.warns(UndefinedMetricWarning, match=message):
            assert math.isnan(ranking_score(zero_relevance="skip", **data))
        assert ranking_score(zero_relevance=0.25, **data) == 0.25


def test_the_median_is_an_average_too():
    # reciprocal ranks 1, 3/4, 1/2, 1; what weighs nothing stands between no others
    data = {"y_true": [1, 0, 1, 0, 0, 1, 1, 0], "y_score": [2, 1, 1, 1, 2, 1, 3, 1]}
    data["qid"] = [1, 1, 2, 2, 3, 3, 4, 4]
    report = evaluate(**data, measures="rr")
    assert report.summary("median").mean[0] == 7 / 8
    data["query_weight"] = [1, 1, 0, 0, 2, 2, 1, 1]
    report = evaluate(**data, measures="rr")
    assert report.summary("median").mean[0] == 3 / 4


def test_the_interval_of_a_median_is_between_values_of_known_ranks():
    n = 20
    qid = np.repeat(np.arange(n), 30)
    labels = np.tile(np.arange(30) == 0, n)
    scores = -np.tile(np.arange(30.0), n)
    scores[np.arange(n) * 30] = -np.arange(n) - 0.5  # rank i + 2, but for the first
    report = evaluate(labels, scores, qid=qid, measures="rr")
    low, high = report.summary("median").interval[0]
    ranked = np.sort(report.expected[:, 0])
    assert (low, high) == (ranked[5], ranked[14])
    assert stats.binom.cdf(5, n, 0.5) <= 0.025 < stats.binom.cdf(6, n, 0.5)
    weighted = replace(report, query_weight=np.arange(1.0, n + 1))
    assert np.isnan(weighted.summary("median").interval).all()


def firsts(*hits):
    """A report on queries with two documents, the better of which is first or last."""
    scores = [[2, 1] if hit else [1, 2] for hit in hits]
    return evaluate([[1, 0]] * len(hits), scores, measures=["p@1", "rr", "ndcg"])


def test_intervals_that_say_little_are_warned_of_once_where_they_are_asked_for():
    equal = firsts(*[1] * 10)
    (message,) = messages_of(equal.summary)
    assert message.startswith("the values per query of P@1, RR, NDCG are all equal: ")
    assert messages_of(str, equal) == [message]
    assert messages_of(equal.summary, interval="bootstrap") == [message]
    for interval in ("t", "bootstrap"):
        bounds = equal.summary(interval=interval).interval
        np.testing.assert_allclose(bounds, [[0.025**0.1, 1]] * 3)
    (message,) = messages_of(firsts(*[1] * 9, 0).summary)
    assert "NDCG are equal for over 80% of them: the interval is too short" in message
    for n_hits, n_misses, warns in ((6, 4, 0), (8, 2, 1), (199, 1, 1), (1, 0, 0)):
        report = firsts(*[1] * n_hits, *[0] * n_misses)
        assert len(messages_of(report.summary)) == warns
    # the miss of a query of weight 0 does not count
    weighed = replace(firsts(*[1] * 9, 0), query_weight=np.append(np.ones(9), 0.0))
    (message,) = messages_of(weighed.summary)
    assert message.startswith("the values per query of P@1, RR, NDCG are all equal: ")
    # nothing is asked for, or ranks give it
    assert not messages_of(firsts, *[1] * 10)
    assert not messages_of(equal.summary, "median")


def test_segments_are_warned_of_by_their_names():
    report = replace(firsts(1, 1, 0, 1), segment=np.array(["a", "a", "b", "b"]))
    *_, message = messages_of(report.by_segment)
    measures = "P@1 in segment a, RR in segment a, NDCG in segment a"
    assert f"query of {measures} are " in message


@pytest.mark.parametrize(("n_low", "n_high", "warns"), [
    (0, 10, True), (1, 198, True), (1, 199, False), (0, 399, True), (0, 400, False),
])  # fmt: skip
def test_geometric_means_warn_that_values_near_0_may_be_missed(n_low, n_high, warns):
    documents = [[1, 0]] * (n_low + n_high)
    scores = [[-math.inf, 1]] * n_low + [[2, 1], [1, 2]] * (n_high // 2)
    scores += [[1, 2]] * (n_high % 2)
    report = evaluate(documents, scores, measures="rr")
    messages = messages_of(report.summary, "geometric")
    assert len(messages) == warns
    for message in messages:
        assert "RR are hardly ever near 0: if others are, the int" in message
    assert not messages_of(report.summary)


def test_one_query_with_nearly_all_the_weight_has_no_interval():
    labels, scores, qid = np.tile([0, 1], 30), np.arange(60) % 7, np.arange(60) // 2
    weight = np.where(qid == 4, 1000.0, 1.0)
    report = evaluate(labels, scores, qid=qid, measures="rr", query_weight=weight)
    with pytest.warns(UserWarning, match=r"30 queries are worth 1\.1 of equal weight"):
        summary = report.summary()
    assert np.isnan(summary.interval).all()
    assert summary.n_effective == pytest.approx(1029**2 / (29 + 1e6))
    weight = 1.0 + qid % 2
    weighted = evaluate(labels, scores, qid=qid, measures="rr", query_weight=weight)
    message = "30 queries, whose weights are worth 27.0 of equal weight"
    assert str(weighted).endswith(message)
