"""Reports: averages, segments, metrics, files."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import LABELS, QID, SCORES
from tests.instances import MEASURES
from tests.saved import check_damaged, members_of, npy, zipped
from tests.strategies import queries
from tieaware_sklearn import (
    RankingReport,
    evaluate,
    evaluate_batches,
    ranking_score,
)
from tieaware_sklearn.measures import NDCG

FIGURES = ("mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval")
FIGURES += ("sampling_error", "n_estimated", "n_queries")
ARRAYS = ["expected", "best", "worst", "std", "chance", "ideal", "sampling_error"]
ARRAYS += ["std_is_estimate", "query_weight", "segment"]


def test_summary_is_the_mean_with_a_t_interval():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 300), rng.integers(0, 5, 300)
    qid = rng.integers(0, 30, 300)
    report = evaluate(labels, scores, qid=qid, measures=["ndcg@3", "fallout@3"])
    summary = report.summary()
    for j in range(2):
        values = report.expected[:, j]
        assert summary.mean[j] == math.fsum(values) / 30
        interval = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
        assert summary.interval[j] == pytest.approx(interval, abs=1e-14)
        assert summary.tie_std[j] == pytest.approx(
            math.sqrt((report.std[:, j] ** 2).sum()) / 30
        )
        room = summary.ideal[j] - summary.chance[j]
        lift = (summary.mean[j] - summary.chance[j]) / room
        assert summary.lift[j] == pytest.approx(lift)
    for ties, name in (("expected", "mean"), ("best", "best"), ("worst", "worst")):
        value = ranking_score(labels, scores, qid=qid, measure="ndcg@3", ties=ties)
        assert value == getattr(summary, name)[0]


def test_reports_print_pickle_and_become_frames():
    report = evaluate(LABELS, SCORES, qid=QID, measures=["ap", "rbp(p=.5)"])
    lines = str(report).splitlines()
    assert lines[0].split()[:4] == ["measure", "mean", "worst", "best"]
    assert [line.split()[0] for line in lines[2:4]] == ["AP", "RBP(p=0.5)"]
    assert lines[4:] == ["3 queries"]
    again = pickle.loads(pickle.dumps(report))
    assert np.array_equal(again.expected, report.expected)
    frame = report.to_pandas()
    assert frame["qid"].tolist() == ["a", "a", "b", "b", "c", "c"]
    of_ap = frame[frame["measure"] == "AP"]
    assert of_ap["expected"].tolist() == report.expected[:, 0].tolist()
    summary = report.summary()
    table = summary.to_pandas().set_index("measure")
    assert table.loc["RBP(p=0.5)", "best"] == report.best[:, 1].mean()
    ends = table.loc["AP", ["interval_low", "interval_high"]].tolist()
    assert ends == summary.interval[0].tolist()
    # they compare by identity
    assert len({summary, summary, report.summary()}) == 2


@settings(max_examples=40)
@given(
    case=queries(),
    options=st.sampled_from(
        [
            {"average": "macro"},
            {"average": "geometric"},
            {"average": "median"},
            {"interval": "bootstrap", "n_resamples": 19},
            {"average": "geometric", "interval": "bootstrap", "n_resamples": 9},
        ]
    ),
    zero=st.sampled_from([0.0, "skip"]),
    weighted=st.booleans(),
)
def test_each_segment_is_what_it_is_alone(case, options, zero, weighted):
    labels, scores, qid = map(np.array, case)
    segment = np.array(["odd", "even", "other"])[qid % 3]
    weight = 1.0 + qid % 2

    def report(rows, **given):
        if weighted:
            given["query_weight"] = weight[rows]
        return evaluate(
            labels[rows],
            scores[rows],
            qid=qid[rows],
            measures=["ndcg@3", "ap", "esl"],
            zero_relevance=zero,
            **given,
        )

    rows = np.arange(len(labels))
    whole = report(rows, segment=segment)
    found = whole.by_segment(**options)
    names = sorted(set(segment.tolist()))
    assert list(dict.fromkeys(found.segment.tolist())) == names
    order = np.random.default_rng(0).permutation(rows)
    shuffled = report(order, segment=segment[order]).by_segment(**options)
    overall = whole.summary(**options)
    alone = [report(segment == name).summary(**options) for name in names]
    for figure in FIGURES:
        each = np.concatenate([getattr(one, figure) for one in alone])
        assert_array_equal(getattr(found, figure), each, figure)
        assert_array_equal(getattr(shuffled, figure), each, figure)
        assert_array_equal(getattr(found.overall, figure), getattr(overall, figure))


def by_two(segment=("b", "a", "b"), measures=("rr", "p@1"), **options):
    labels, scores = [[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]]
    return evaluate(labels, scores, segment=segment, measures=measures, **options)


def test_segments_stay_with_the_report():
    found = by_two()
    assert found.segment.tolist() == ["b", "a", "b"]
    frame = found.to_pandas()
    assert frame.columns.tolist()[:3] == ["qid", "segment", "measure"]
    assert frame["segment"].tolist() == ["b", "b", "a", "a", "b", "b"]
    assert "segment" not in by_two(segment=None).to_pandas()
    again = pickle.loads(pickle.dumps(found.by_segment()))
    assert str(again) == str(found.by_segment())


@pytest.mark.parametrize(
    ("segment", "ascending"),
    [
        ([(2, "x"), (1, "y"), (2, "x")], [(1, "y"), (2, "x")]),
        ([10, 9, 10], [9, 10]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
    ],
)
def test_segments_of_any_values(segment, ascending):
    found = by_two(segment=segment).by_segment()
    assert found.segment.tolist()[::2] == found.segment.tolist()[1::2] == ascending


def test_a_table_by_segment():
    found = by_two().by_segment()
    rr, p = str(found).split("\n\n")
    assert p.splitlines()[0].split()[:2] == ["P@1", "queries"]
    lines = rr.splitlines()
    header = "RR queries mean worst best tie std chance lift 95% interval"
    assert lines[0].split() == header.split()
    assert [line.split()[:6] for line in lines[2:]] == [
        ["a", "1", "0.750", "0.500", "1.000", "0.250"],
        ["b", "2", "0.750", "0.750", "0.750", "0.000"],
        ["all", "3", "0.750", "0.667", "0.833", "0.083"],
    ]
    for average, head in (("geometric", "geom."), ("median", "median")):
        assert head in str(by_two().by_segment(average)).splitlines()[0].split()
    frame = found.to_pandas()
    assert frame["segment"].tolist() == ["a", "a", "b", "b"]
    assert frame["measure"].tolist() == ["RR", "P@1"] * 2
    assert frame["mean"].tolist() == found.mean.ravel().tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate([1, 0, 1], [1, 2, 3], qid=[1, 1, 7], segment=["a", "b", "a"]),
         "segment must be constant within a query, got 'a' and 'b' in query 1$"),
        (lambda: evaluate([1, 0], [1, 2], segment=["a"]), r"segment .*\(2\), got 1"),
        (lambda: by_two(segment=["a"] * 6), r"one value per row \(3\), got 6"),
        (lambda: by_two(segment=["a", None, "b"]), "segment must not be missing"),
        (lambda: by_two(segment=[["a"], ["b"], ["c"]]), "segment must hold hashable"),
        (lambda: by_two(segment=None).by_segment(), "segment must be given to.*None"),
        (lambda: by_two().by_segment("harmonic"), "average must be one of.*'harmonic'"),
        (lambda: by_two().summary("harmonic"), "average must be one of.*'geometric'"),
        (lambda: by_two().summary(interval="z"), "interval .*'t', 'boot.*got 'z'"),
        (lambda: by_two().summary(interval="bootstrap", n_resamples=1),
         "n_resamples must be an integer >= 2, got 1"),
        (lambda: by_two().by_segment(interval="bootstrap", random_state="x"),
         "random_state must be an integer"),
        (lambda: by_two().summary("median", interval="bootstrap"),
         "interval must be 't' with average='median' .* got 'bootstrap'"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_metrics_have_stable_names():
    labels, scores, qid = [2, 0, 1, 0], [1, 1, 0, 2], [0, 0, 1, 1]
    measures = ["NDCG(gain=linear)@10", "IPrec@0.1"]
    report = evaluate(labels, scores, qid=qid, measures=measures)
    summary = report.summary()
    ends = dict(zip(("interval_low", "interval_high"), summary.interval.T, strict=True))
    figures = {name: getattr(summary, name) for name in FIGURES if name != "interval"}
    expected = {
        f"{name}/{figure}": values[i]
        for i, name in enumerate(("NDCG_gain_linear_at_10", "IPrec_at_0.1"))
        for figure, values in (figures | ends).items()
    }
    found = summary.to_metrics()
    assert found == expected
    assert {type(value) for value in found.values()} == {float}
    # what is not known is left out
    found = report.summary("median").to_metrics()
    assert found["IPrec_at_0.1_median/mean"] == report.summary("median").mean[1]
    assert "IPrec_at_0.1_median/tie_std" not in found


def test_metrics_of_segments():
    labels, scores, qid = [1, 0, 1, 0, 0, 1], [2, 1, 3, 3, 1, 1], list("aabbcc")
    segment = ["new & old"] * 2 + ["b"] * 4
    report = evaluate(
        labels, scores, qid=qid, measures=["ndcg@10", "rr"], segment=segment
    )
    found = report.by_segment().to_metrics()
    alone = evaluate(labels[2:], scores[2:], qid=qid[2:], measures=report.measures)
    each = alone.summary().to_metrics()
    assert {f"b/{name}": value for name, value in each.items()}.items() < found.items()
    # an interval takes two queries
    assert "new_old/RR/mean" in found
    assert "new_old/RR/interval_low" not in found
    assert "b/RR_median/mean" in report.by_segment("median").to_metrics()


def half(label):
    return label / 2


def half_(label):
    return label / 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segment": ["a b", "a&b", "c"]}, "segments must have .* got a b, a&b, c$"),
        ({"segment": ["a b", "日本", "c"]}, "segments must have .* got a b, c, 日本$"),
        ({"measures": [NDCG(gain=half), NDCG(gain=half_)]},
         r"measures must .*differ in .*half\), NDCG\(gain=half_\)"),
    ],
)  # fmt: skip
def test_metrics_never_share_a_name(options, message):
    with pytest.raises(ValueError, match=message):
        by_two(**options).by_segment().to_metrics()


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
    assert str(found.summary("median")) == str(expected.summary("median"))


@settings(max_examples=25)
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
    for merged in (one.merge(two), two.merge(loaded[0]), loaded[0].merge(loaded[1])):
        check_same(wanted, merged)
        if "segment" in options:
            for average in ({}, {"interval": "bootstrap", "n_resamples": 9}):
                ours, theirs = merged.by_segment(**average), whole.by_segment(**average)
                assert str(ours) == str(theirs)
    with pytest.raises(ValueError, match="none of the queries of this report, got "):
        loaded[0].merge(one)


def test_every_measure_by_its_name():
    rows = made(4, 3)
    report = evaluate(rows.label, rows.s, qid=rows.qid, measures=MEASURES)
    check_same(RankingReport.from_bytes(report.to_bytes()), report)


@pytest.mark.parametrize("segment", [[(1, 2), (3, 4)], ["a", 1]])
def test_segments_that_are_neither_texts_nor_numbers_are_not_saved(segment):
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
    ("name", "value", "message"),
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
        ("measures", [], "must have measures and"),
        ("measures", ["AP", "RR"], "'expected' of dtype"),
        ("measures", 1, "must have 'measures' of type list"),
        ("options", 1, "must have 'options' of type dict"),
        ("options", {"unjudged": []}, "must have options with plain values"),
        ("weighted", None, "must have 'weighted' of type bool"),
        ("segments", None, "must have 'segments' of type list"),
        ("segments", [["a"], ["b"]], "must have a list of 'segments' of one kind"),
        ("segments", [None, "b"], "must have a list of 'segments' of one kind"),
        ("segments", [], "must have a segment of each query"),
    ],
)
def test_arrays_and_headers_that_no_report_has(name, value, message):
    header, members = members_of(SMALL)
    if f"{name}.npy" in members:
        members[f"{name}.npy"] = npy(value)
    else:
        header["content"][name] = value
    with pytest.raises(ValueError, match=message):
        RankingReport.from_bytes(zipped(header, members))


@pytest.mark.parametrize("average", ["macro", "geometric", "median"])
def test_a_part_whose_queries_weigh_nothing(average):
    one, two = made(5, 0).assign(w=0.0), made(4, 1, first=5)
    nothing = evaluate(one.label, one.s, qid=one.qid, query_weight=one.w)
    assert nothing.query_weight.tolist() == [0] * 5
    for interval in ("t", "bootstrap")[: 1 + (average != "median")]:
        with pytest.warns(UndefinedMetricWarning, match="every query has weight 0"):
            summary = nothing.summary(average, interval=interval)
        assert np.isnan(summary.mean).all()
        assert np.isnan(summary.interval).all()
    options = {"score": "s", "query_weight": "w"}
    parts = [evaluate_batches([some], **options) for some in (one, two)]
    parts[0] = RankingReport.from_bytes(parts[0].to_bytes())
    whole = evaluate_batches([pd.concat([one, two])], **options).summary(average)
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        found = merged.summary(average).columns
        for name, values in whole.columns.items():
            assert_array_equal(found[name], values)
    assert_array_equal(whole.mean, parts[1].summary(average).mean)
