"""Reports in files: the same to the last bit, and what merges merges as before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from tests.instances import MEASURES
from tests.saved import check_damaged, members_of, npy, zipped
from tieaware_sklearn import RankingReport, evaluate, evaluate_batches

ARRAYS = ["expected", "best", "worst", "std", "chance", "ideal", "sampling_error"]
ARRAYS += ["std_is_estimate", "query_weight", "segment"]


def made(n_queries, seed, first=0):
    rng = np.random.default_rng(seed + 100 * first)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    return pd.DataFrame({
        "qid": first + qid,
        "label": rng.integers(0, 3, len(qid)),
        "s": rng.integers(0, 3, len(qid)),
        "w": rng.random(n_queries)[qid] + 0.1,
        "market": np.array(["us", "de"])[qid % 2],
        "length": qid % 3,
    })  # fmt: skip


def check_same(found, expected):
    """But for the order of queries, and their ids."""
    assert type(found) is type(expected)
    assert (found.measures, found.options) == (expected.measures, expected.options)
    order = np.argsort(expected.query_digests())
    assert_array_equal(found.qid, expected.query_digests()[order])
    for name in ARRAYS:
        ours, theirs = getattr(found, name), getattr(expected, name)
        if theirs is None:
            assert ours is None
            continue
        assert_array_equal(ours, theirs[order], err_msg=name)
        assert name == "segment" or ours.dtype == theirs.dtype, name
    for name in ("n_undefined", "bounds"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.to_bytes() == expected.to_bytes()
    for average in ("macro", "geometric", "median"):
        assert str(found.summary(average)) == str(expected.summary(average))


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 99),
    st.sampled_from([
        {}, {"segment": "market"}, {"zero_relevance": "skip"},
        {"query_weight": "w", "segment": "length"},
        {"zero_relevance": 0.1, "unjudged": "drop"},
        {"convention": "trec_eval", "measures": ["map", "ndcg_cut_5"]},
        {"measures": ["iap", "iprec@0.3", "esl(i=2)"]},
    ]),
)  # fmt: skip
def test_all_is_there_again_and_merges(n_ours, n_theirs, seed, options):
    options = {"measures": ["ndcg@3", "ap", "dcg", "esl"]} | options
    parts = [made(n_ours, seed), made(n_theirs, seed, first=n_ours)]
    one, two = (evaluate_batches([rows], score="s", **options) for rows in parts)
    loaded = [RankingReport.from_bytes(part.to_bytes()) for part in (one, two)]
    for found, expected in zip(loaded, (one, two), strict=True):
        check_same(found, expected)
    whole = evaluate_batches(parts, score="s", **options)
    wanted = RankingReport.from_bytes(whole.to_bytes())
    check_same(wanted, whole)
    for merged in (one.merge(two), two.merge(loaded[0]), loaded[0].merge(loaded[1])):
        assert merged.to_bytes() == whole.to_bytes()
        check_same(wanted, merged)
        if "segment" in options:
            assert str(merged.by_segment()) == str(whole.by_segment())
    with pytest.raises(ValueError, match="none of the queries of this report, got "):
        loaded[0].merge(one)


def test_every_measure_by_its_name():
    rows = made(4, 3)
    report = evaluate(rows.label, rows.s, qid=rows.qid, measures=MEASURES)
    check_same(RankingReport.from_bytes(report.to_bytes()), report)


def test_a_query_that_is_in_two_reports_is_named_by_its_digest():
    parts = [made(6, 0), made(6, 1)]
    one, two = (evaluate_batches([rows], score="s") for rows in parts)
    with pytest.raises(
        ValueError,
        match=r"got 6 of them, such as the one whose id has the digest "
        r"0x[0-9a-f]{16} \(datasets.query_digests tells which it is\)$",
    ):
        one.merge(two)


def test_zero_relevance_of_any_type_of_number_is_one():
    one, two = (
        evaluate_batches([made(3, 0, first)], score="s", zero_relevance=value)
        for first, value in ((0, 0), (3, 0.0))
    )
    assert len(one.merge(two).qid) == 6


def test_segments_that_are_neither_texts_nor_numbers_are_not_saved():
    for segment in ([(1, 2), (3, 4)], ["a", 1]):
        report = evaluate([1, 0], [2, 1], qid=[1, 2], segment=segment)
        with pytest.raises(ValueError, match="segment must hold texts or numbers of"):
            report.to_bytes()


SMALL = evaluate_batches(
    [made(2, 0)], score="s", measures="ap", query_weight="w", segment="market"
).to_bytes()


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_damaged_files(where, change):
    check_damaged(RankingReport, SMALL, where, change)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("expected", [0.5, 0.5], "'expected' of dtype <f8 and shape"),
        ("std_is_estimate", [[2.0], [1.0]], "'std_is_estimate' of dtype |b1"),
        ("n_undefined", [2.0], "'n_undefined' of dtype <i8"),
        ("bounds", [[1.0]], "'bounds'"),
        ("query_digests", np.uint64([2, 1]), "a sorted digest of each query"),
        ("query_digests", np.uint64([2]), "'expected' of dtype"),
        ("query_digests", np.uint64([]), "a sorted digest of each query"),
        ("query_weight", [1.0, np.inf], "weights of queries, >= 0"),
        ("query_weight", [1.0, -1.0], "weights of queries, >= 0"),
        ("segment", [0, 2], "must have a segment of each query"),
        ("segment", [0, -1], "must have a segment of each query"),
    ],
)
def test_arrays_that_no_report_has(name, array, message):
    header, members = members_of(SMALL)
    assert f"{name}.npy" in members
    data = zipped(header, members | {f"{name}.npy": npy(array)})
    with pytest.raises(ValueError, match=message) as told:
        RankingReport.from_bytes(data)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measures": []}, "must have measures and"),
        ({"measures": ["AP", "RR"]}, "'expected' of dtype"),
        ({"measures": 1}, "must have 'measures' of type list"),
        ({"options": 1}, "must have 'options' of type dict"),
        ({"options": {"unjudged": []}}, "must have options with plain values"),
        ({"weighted": None}, "must have 'weighted' of type bool"),
        ({"segments": None}, "must have 'segments' of type list"),
        ({"segments": [["a"], ["b"]]}, "must have a list of 'segments' of one kind"),
        ({"segments": [None, "b"]}, "must have a list of 'segments' of one kind"),
        ({"segments": []}, "must have a segment of each query"),
    ],
)
def test_headers_that_no_report_has(changes, message):
    header, members = members_of(SMALL)
    changed = header | {"content": header["content"] | changes}
    with pytest.raises(ValueError, match=message):
        RankingReport.from_bytes(zipped(changed, members))


@pytest.mark.parametrize("average", ["macro", "geometric", "median"])
def test_a_part_whose_queries_weigh_nothing(average):
    one, two = made(5, 0).assign(w=0.0), made(4, 1, first=5)
    rows, options = pd.concat([one, two]), {"score": "s", "query_weight": "w"}
    nothing = evaluate(one.label, one.s, qid=one.qid, query_weight=one.w)
    assert nothing.query_weight.tolist() == [0] * 5
    with pytest.warns(UndefinedMetricWarning, match="every query has weight 0"):
        summary = nothing.summary(average)
    assert np.isnan(summary.mean).all()
    assert np.isnan(summary.interval).all()
    with pytest.warns(UndefinedMetricWarning):
        assert " - " in str(nothing)
    with pytest.warns(UndefinedMetricWarning):
        bootstrapped = nothing.summary(interval="bootstrap")
    assert np.isnan(bootstrapped.interval).all()
    parts = [evaluate_batches([some], **options) for some in (one, two)]
    parts[0] = RankingReport.from_bytes(parts[0].to_bytes())
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        found, wanted = (
            report.summary(average).columns
            for report in (merged, evaluate_batches([rows], **options))
        )
        for name, values in wanted.items():
            assert_array_equal(found[name], values)
    found = parts[0].merge(parts[1]).summary(average).mean
    assert_array_equal(found, parts[1].summary(average).mean)
