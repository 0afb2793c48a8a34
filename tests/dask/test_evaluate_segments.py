"""On a cluster, the averages by segment of one machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tieaware_sklearn
from tests.dask.helpers import (
    MARKS,
    MEASURES,
    assert_same_report,
    assert_same_summary,
    spread,
)
from tieaware_sklearn.dask import evaluate

pytestmark = MARKS


def in_memory(rows, weighted=False, **options):
    return tieaware_sklearn.evaluate(
        rows.label, rows.clicks, qid=rows.qid, segment=rows.segment,
        query_weight=rows.weight if weighted else None, **options,
    )  # fmt: skip


def assert_same_segments(found, wanted):
    assert_same_report(found, wanted)
    for average in ("macro", "geometric", "median"):
        assert_same_summary(found.by_segment(average), wanted.by_segment(average))


SEGMENTS = {
    "text": lambda qid: "market " + (qid % 7 % 4).astype(str),
    "category": lambda qid: ("s" + (qid % 3).astype(str)).astype("category"),
    "int": lambda qid: 10 - qid % 5,
    "float": lambda qid: qid % 3 / 3,
    "flag": lambda qid: qid > 20,
    "date": lambda qid: pd.Timestamp("2026-03-01") + pd.to_timedelta(qid % 3, "D"),
    "one": lambda qid: qid * 0,
    "a query each": lambda qid: "q" + qid.astype(str),
}


@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments_have_the_numbers_of_one_machine(rows, segment):
    rows = rows.assign(segment=SEGMENTS[segment](rows.qid))
    found = evaluate(spread(rows), score="clicks", segment="segment", measures=MEASURES)
    assert_same_segments(found, in_memory(rows, measures=MEASURES))


@pytest.mark.parametrize("weighted", [False, True])
def test_segments_are_averaged_as_asked(kind, weighted):
    weight = kind.weight.where(kind.weight > 1, 0)  # some queries, some segments
    kind = kind.assign(segment=kind.weight.astype(str), weight=weight)
    found = evaluate(
        spread(kind), score="clicks", segment="segment",
        query_weight="weight" if weighted else None, zero_relevance="skip",
    )  # fmt: skip
    wanted = in_memory(kind, weighted, zero_relevance="skip")
    assert_same_segments(found, wanted)


def test_segments_may_be_in_some_partitions_only(rows):
    ordered = rows.assign(segment=rows.qid // 20).sort_values("qid")
    frames = [ordered[ordered.qid // 10 == part] for part in range(7)]
    frames.insert(2, ordered[:0])
    whole = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    found = evaluate(whole, score="clicks", segment="segment", shuffle=False)
    assert_same_segments(found, in_memory(rows.assign(segment=rows.qid // 20)))


@settings(max_examples=25)
@given(st.data())
def test_small_segments(data):
    n = data.draw(st.integers(1, 12), label="n")
    column = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    rows = pd.DataFrame(
        {name: data.draw(column) for name in ("label", "qid", "clicks")}
    )
    segments = data.draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.7, 3.0]), min_size=3))
    rows["segment"] = [segments[qid] for qid in rows.qid]
    rows["weight"] = [weights[qid] for qid in rows.qid]
    weighted = data.draw(st.booleans(), label="weighted")
    options = {
        "measures": data.draw(st.sampled_from([["rr"], ["ndcg", "p@1"]])),
        "zero_relevance": data.draw(st.sampled_from([0.0, 1.0])),
    }
    found = evaluate(
        spread(rows, data.draw(st.integers(1, 4), label="partitions")),
        score="clicks", segment="segment",
        query_weight="weight" if weighted else None, **options,
    )  # fmt: skip
    wanted = in_memory(rows, weighted, **options)
    assert_same_segments(found, wanted)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_no_bit_depends_on_partitions(rows, many, others, random):
    rows = rows[rows.qid <= 20].assign(segment=rows.qid % 3)
    shuffled = rows.sample(frac=1, random_state=random.randrange(2**31))
    options = {"score": "clicks", "query_weight": "weight"}
    for more in ({}, {"segment": "segment"}):
        one, two = (
            evaluate(spread(frame, number), **options, **more).to_pandas()
            for frame, number in ((rows, many), (shuffled, others))
        )
        pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_a_query_in_two_segments_is_named(rows):
    two = rows.assign(market=np.where((rows.qid == 7) & (rows.index % 2), "us", "de"))
    what = "market must be constant within a query, got '(us|de)' and .* in query 7"
    with pytest.raises(ValueError, match=what):
        evaluate(spread(two), score="clicks", segment="market")


@pytest.mark.parametrize("hole", [None, np.nan])
def test_a_missing_segment_is_an_error(rows, hole):
    market = (rows.qid % 3).astype(str).astype(object)
    holes = rows.assign(market=market.where(rows.qid != 7, hole))
    with pytest.raises(ValueError, match=r"market must not be missing.*\n.*query 7"):
        evaluate(spread(holes), score="clicks", segment="market")


@pytest.mark.parametrize("segment", ["qid", "weight"])
def test_segments_may_be_queries_or_weights(rows, segment):
    rows = rows[rows.qid < 10]
    found = evaluate(
        spread(rows, 2), score="clicks", segment=segment, query_weight="weight"
    )
    wanted = tieaware_sklearn.evaluate(
        rows.label, rows.clicks, qid=rows.qid, query_weight=rows.weight,
        segment=rows[segment],
    )  # fmt: skip
    assert_same_segments(found, wanted)


def test_without_shuffle_a_cut_query_is_refused(rows):
    ordered = rows.sort_values("qid", ignore_index=True).assign(segment=1)
    cut = spread(ordered, 2)
    query = ordered.qid.iloc[len(cut.partitions[0]) - 1]
    what = f"one partition without shuffle, got query {query} in partitions 0 and 1"
    with pytest.raises(ValueError, match=what):
        evaluate(cut, score="clicks", segment="segment", shuffle=False)


def test_columns_are_checked_before_the_work(rows):
    never = spread(rows, 2).map_partitions(lambda frame: 1 / 0, meta=rows[:0])
    for options, what in (
        ({"segment": "market"}, "df must have one column 'market'"),
        ({"segment": "label"}, "must name different columns, got 'label' twice"),
    ):
        options = {"score": "clicks", "segment": "label"} | options
        with pytest.raises(ValueError, match=what):
            evaluate(never, **options)


def test_weights_of_0_in_every_query_are_refused(rows):
    nothing = spread(rows.assign(weight=0.0, segment=rows.qid % 2))
    with pytest.raises(ValueError, match="weight must not be 0 in every query"):
        evaluate(nothing, score="clicks", segment="segment", query_weight="weight")
