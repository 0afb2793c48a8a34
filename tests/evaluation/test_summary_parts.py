"""Summaries in files: the same to the last bit, and what merges merges as before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.instances import MEASURES
from tests.saved import check_damaged, members_of, npy, zipped
from tieaware_sklearn import (
    MergeableSummary,
    Precision,
    RankingSummary,
    evaluate,
    evaluate_batches,
)

FIGURES = ["mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval"]
FIGURES += ["sampling_error", "n_estimated", "n_queries"]


def made(n_queries, seed, first=0):
    rng = np.random.default_rng(seed + 100 * first)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    return pd.DataFrame({
        "qid": first + qid,
        "label": rng.integers(0, 3, len(qid)),
        "s": rng.integers(0, 3, len(qid)),
        "w": rng.random(n_queries)[qid],
    })  # fmt: skip


def check_same(found, expected):
    assert type(found) is type(expected)
    assert (found.measures, found.average) == (expected.measures, expected.average)
    for name in FIGURES:
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert_array_equal(ours, theirs, err_msg=name)
        assert ours.dtype == theirs.dtype, name
    assert found.to_bytes() == expected.to_bytes()
    assert str(found) == str(expected)


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 99),
    st.sampled_from([
        {}, {"average": "geometric"}, {"zero_relevance": "skip"},
        {"query_weight": "w"}, {"zero_relevance": 0.1, "unjudged": "drop"},
        {"convention": "trec_eval", "measures": ["map", "ndcg_cut_5"]},
        {"measures": ["iap", "iprec@0.3", "esl(i=2)"]},
    ]),
)  # fmt: skip
def test_all_is_there_again_and_merges(n_ours, n_theirs, seed, options):
    options = {"measures": ["ndcg@3", "ap", "dcg", "esl"]} | options
    parts = [made(n_ours, seed), made(n_theirs, seed, first=n_ours)]
    one, two = (evaluate_batches([rows], score="s", **options) for rows in parts)
    loaded = [RankingSummary.from_bytes(part.to_bytes()) for part in (one, two)]
    for found, expected in zip(loaded, (one, two), strict=True):
        check_same(found, expected)
    expected = one.merge(two)
    check_same(loaded[0].merge(loaded[1]), expected)
    check_same(two.merge(loaded[0]), expected)
    check_same(MergeableSummary.from_bytes(expected.to_bytes()), expected)
    whole = evaluate_batches(parts, score="s", **options)
    check_same(loaded[1].merge(loaded[0]), whole)
    with pytest.raises(ValueError, match="none of the queries of this summary, got "):
        loaded[0].merge(one)


@pytest.mark.parametrize("average", ["macro", "geometric", "median"])
@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_summaries_of_reports(tmp_path, average, interval):
    rows = made(30, 0)
    report = evaluate(rows.label, rows.s, qid=rows.qid, measures=["ap", "iap", "esl"])
    options = {"interval": interval} if average == "macro" else {}
    summary = report.summary(average, **options)
    summary.save(tmp_path / "a.tie")
    found = RankingSummary.load(tmp_path / "a.tie")
    check_same(found, summary)
    assert not hasattr(found, "merge")
    with pytest.raises(ValueError, match="must hold a MergeableSummary, got a Ranking"):
        MergeableSummary.load(tmp_path / "a.tie")


def test_summaries_of_reports_have_measures_by_name_alone():
    gained = [m for m in MEASURES if callable(getattr(m, "gain", None))]
    summary = evaluate([1, 0, 2], [1, 1, 0], measures=gained).summary()
    check_same(RankingSummary.from_bytes(summary.to_bytes()), summary)


def test_every_measure_with_a_name():
    named = [m for m in MEASURES if not callable(getattr(m, "gain", None))]
    rows = made(4, 3)
    part = evaluate_batches([rows], score="s", measures=named)
    found = RankingSummary.from_bytes(part.to_bytes())
    check_same(found, part)
    assert found._parts.options.measures == tuple(named)


def test_gains_that_are_functions_are_named():
    rows = made(4, 3)
    for measure in MEASURES:
        if callable(getattr(measure, "gain", None)):
            part = evaluate_batches([rows], score="s", measures=[measure])
            with pytest.raises(ValueError, match="cannot be saved") as told:
                part.to_bytes()
            assert str(measure) in str(told.value)


def test_a_measure_of_a_class_that_is_not_defined_yet(monkeypatch):
    class MinePrecision(Precision):
        name = "MinePrecision"

    rows = made(4, 3)
    part = evaluate_batches([rows], score="s", measures=MinePrecision(3))
    data = part.to_bytes()
    check_same(RankingSummary.from_bytes(data), part)
    from tieaware_sklearn.measures import _base

    monkeypatch.delitem(_base.NAMED, "mineprecision")
    _base.READ.clear()
    with pytest.raises(ValueError, match="cannot be read: unknown measure 'MinePrec"):
        RankingSummary.from_bytes(data)


def test_a_query_that_is_in_two_summaries_is_named_by_its_digest():
    parts = [made(6, 0), made(6, 1)]
    one, two = (evaluate_batches([rows], score="s") for rows in parts)
    with pytest.raises(
        ValueError,
        match=r"got 6 of them among its 6, such as the one whose id has the digest "
        r"0x[0-9a-f]{16} \(datasets.query_digests tells which it is\)$",
    ):
        one.merge(two)


def test_zero_relevance_of_any_type_of_number_is_one():
    one, two = (
        evaluate_batches([made(3, 0, first)], score="s", zero_relevance=value)
        for first, value in ((0, 0), (3, 0.0))
    )
    assert one.merge(two).n_queries[0] == 6


SMALL = evaluate_batches([made(2, 0)], score="s", measures="ap").to_bytes()


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_damaged_files(where, change):
    check_damaged(RankingSummary, SMALL, where, change)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("mean", [0.5, 0.5], "'mean' of dtype <f8 and shape"),
        ("n_queries", [2.0], "'n_queries' of dtype <i8"),
        ("interval", [[0.5]], "'interval'"),
        ("parts/bounds", [[1.0]], "'bounds'"),
        ("parts/query_digests", np.uint64([2, 1]), "a sorted digest of each query"),
        ("parts/query_digests", np.uint64([2]), "a sorted digest of each query"),
        ("parts/sums/values/count", [2.0], "'count'"),
        ("parts/sums/tie_variance/parts", np.zeros((0, 1)), "got an empty array"),
    ],
)
def test_arrays_that_no_summary_has(name, array, message):
    header, members = members_of(SMALL)
    assert f"{name}.npy" in members
    data = zipped(header, members | {f"{name}.npy": npy(array)})
    with pytest.raises(ValueError, match=message):
        RankingSummary.from_bytes(data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"average": "mode"}, "must have an average over queries, got 'mode'"),
        ({"average": "median"}, "must have one summary"),
        ({"measures": ["RR"]}, "must have one summary"),
        ({"measures": []}, "must have 'measures' in its header, got none"),
        ({"parts": {}}, "must have 'measures' of type list"),
    ],
)
def test_headers_that_no_summary_has(changes, message):
    header, members = members_of(SMALL)
    changed = header | {"content": header["content"] | changes}
    with pytest.raises(ValueError, match=message):
        RankingSummary.from_bytes(zipped(changed, members))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"convention": "cake"}, "convention must be"),
        ({"unjudged": "cake"}, "unjudged must be"),
        ({"zero_relevance": "cake"}, "zero_relevance must be"),
        ({"query_weight": 1}, "must have 'query_weight' of type str or NoneType"),
        ({"score": None}, "must have 'score' of type str"),
        ({"label": 3}, "must have 'label' of type str"),
    ],
)
def test_options_that_no_summary_has(changes, message):
    header, members = members_of(SMALL)
    header["content"]["parts"]["options"] |= changes
    with pytest.raises(ValueError, match=message):
        RankingSummary.from_bytes(zipped(header, members))
