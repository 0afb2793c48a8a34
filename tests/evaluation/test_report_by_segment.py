"""Averages by segment: those of its queries evaluated alone."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.strategies import queries
from tieaware_sklearn import PreparedRanking, evaluate
from tieaware_sklearn._display.words import width
from tieaware_sklearn.measures import NDCG

MEASURES = ["ndcg@3", "ap", "esl"]
FIGURES = ("mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval")
FIGURES += ("sampling_error", "n_estimated", "n_queries")


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
    names = np.array(["odd", "even", "other"])
    segment = names[qid % 3]
    weight = 1.0 + qid % 2 if weighted else None
    given = {"measures": MEASURES, "zero_relevance": zero}
    report = evaluate(
        labels, scores, qid=qid, segment=segment, query_weight=weight, **given
    )
    found = report.by_segment(**options)
    assert list(dict.fromkeys(found.segment.tolist())) == sorted(set(segment.tolist()))
    for name in sorted(set(segment.tolist())):
        rows = segment == name
        alone = evaluate(
            labels[rows],
            scores[rows],
            qid=qid[rows],
            query_weight=None if weight is None else weight[rows],
            **given,
        ).summary(**options)
        for figure in FIGURES:
            own = getattr(found, figure)[found.segment == name]
            assert_array_equal(own, getattr(alone, figure), figure)
    for figure in FIGURES:
        overall = getattr(report.summary(**options), figure)
        assert_array_equal(getattr(found.overall, figure), overall)
    order = np.random.default_rng(0).permutation(len(labels))
    shuffled = evaluate(
        labels[order],
        scores[order],
        qid=qid[order],
        segment=segment[order],
        query_weight=None if weight is None else weight[order],
        **given,
    ).by_segment(**options)
    for figure in FIGURES:
        assert_array_equal(getattr(shuffled, figure), getattr(found, figure), figure)


def report(segment=("b", "a", "b"), measures=("rr", "p@1"), **options):
    labels, scores = [[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]]
    return evaluate(labels, scores, segment=segment, measures=measures, **options)


def test_segments_stay_with_the_report():
    found = report()
    assert found.segment.tolist() == ["b", "a", "b"]
    frame = found.to_pandas()
    assert frame.columns.tolist()[:3] == ["qid", "segment", "measure"]
    assert frame["segment"].tolist() == ["b", "b", "a", "a", "b", "b"]
    assert "segment" not in report(segment=None).to_pandas()
    prepared = PreparedRanking([1, 0, 0, 1], [1, 1, 2, 2], segment=["b", "b", "a", "a"])
    for scores in ([2, 1, 2, 1], [1, 1, 1, 1]):
        kept = prepared.evaluate(scores, "rr")
        assert kept.segment.tolist() == ["b", "a"]
        assert kept.by_segment().n_queries.tolist() == [1, 1]
    again = pickle.loads(pickle.dumps(found.by_segment()))
    assert str(again) == str(found.by_segment())


def test_segments_of_any_values():
    tuples = report(segment=[(2, "x"), (1, "y"), (2, "x")]).by_segment()
    assert tuples.segment.tolist()[::2] == [(1, "y"), (2, "x")]
    numbers = report(segment=[10, 9, 10]).by_segment()
    assert numbers.segment.tolist() == [9, 9, 10, 10]
    categories = pd.Series(["b", "a", "b"], dtype="category")
    assert report(segment=categories).by_segment().segment.tolist()[::2] == ["a", "b"]


def test_a_table_by_segment():
    found = report().by_segment()
    rr, p = str(found).split("\n\n")
    assert p.splitlines()[0].split()[:2] == ["P@1", "queries"]
    lines = rr.splitlines()
    header = "RR queries mean worst best tie std chance lift 95% interval"
    assert lines[0].split() == header.split()
    assert [line.split()[:3] for line in lines[2:]] == [
        ["a", "1", "0.750"],
        ["b", "2", "0.750"],
        ["all", "3", "0.750"],
    ]
    frame = found.to_pandas()
    assert frame["segment"].tolist() == ["a", "a", "b", "b"]
    assert frame["measure"].tolist() == ["RR", "P@1"] * 2
    assert frame["mean"].tolist() == found.mean.ravel().tolist()
    ends = frame[["interval_low", "interval_high"]].to_numpy()
    assert_array_equal(ends, found.interval.reshape(-1, 2))


@pytest.mark.parametrize("average", ["macro", "geometric", "median"])
def test_tables_fit_a_terminal(average):
    names = ["a segment with quite a long name", "\x1b[1m\n", "日本語の検索クエリ" * 9]
    lines = str(report(segment=names).by_segment(average)).splitlines()
    assert max(map(width, lines)) <= 80
    assert any(line.startswith("日本") for line in lines)
    assert any("…" in line for line in lines)
    assert any(r"\x1b" in line for line in lines)
    head = " ".join(lines).split("-----")[0].split()
    assert {"mean", "geom.", "median"} & set(head)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: evaluate(
                [1, 0, 1], [1, 2, 3], qid=[1, 1, 7], segment=["a", "b", "a"]
            ),
            "segment must be constant within a query, got 'a' and 'b' in query 1$",
        ),
        (
            lambda: evaluate([1, 0], [1, 2], segment=["a"]),
            r"segment must have one value per row \(2\), got 1",
        ),
        (lambda: report(segment=["a"] * 6), r"one value per row \(3\), got 6"),
        (lambda: report(segment=["a", None, "b"]), "segment must not be missing"),
        (lambda: report(segment=[["a"], ["b"], ["c"]]), "segment must hold hashable"),
        (
            lambda: report(segment=None).by_segment(),
            "segment must be given to",
        ),
        (lambda: report().by_segment("harmonic"), "average must be one of"),
        (lambda: report().summary(interval="z"), "interval must be one of .*got 'z'"),
        (
            lambda: report().summary(interval="bootstrap", n_resamples=0),
            "n_resamples must be an integer >= 2, got 0",
        ),
        (
            lambda: report().by_segment(interval="bootstrap", random_state="x"),
            "random_state must be an integer",
        ),
        (
            lambda: report().summary("median", interval="bootstrap"),
            "interval must be 't' with average='median'",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_metrics_have_stable_names():
    labels, scores, qid = [2, 0, 1, 0], [1, 1, 0, 2], [0, 0, 1, 1]
    measures = ["NDCG(gain=linear)@10", "IPrec@0.1"]
    report = evaluate(labels, scores, qid=qid, measures=measures)
    summary = report.summary()
    names = ("NDCG_gain_linear_at_10", "IPrec_at_0.1")
    ends = {"interval_low": 0, "interval_high": 1}
    expected = {
        f"{name}/{figure}": getattr(summary, figure)[i]
        for i, name in enumerate(names)
        for figure in FIGURES
        if figure != "interval"
    } | {
        f"{name}/{end}": summary.interval[i, at]
        for i, name in enumerate(names)
        for end, at in ends.items()
    }
    found = summary.to_metrics()
    assert found == expected
    assert {type(value) for value in found.values()} == {float}
    # what is not known is left out
    found = report.summary("median").to_metrics()
    assert found["IPrec_at_0.1_median/mean"] == report.summary("median").mean[1]
    assert "IPrec_at_0.1_median/tie_std" not in found


def test_metrics_of_segments():
    labels, scores, queries = [1, 0, 1, 0, 0, 1], [2, 1, 3, 3, 1, 1], list("aabbcc")
    segment = ["new & old", "new & old", "b", "b", "b", "b"]
    report = evaluate(
        labels, scores, qid=queries, measures=["ndcg@10", "rr"], segment=segment
    )
    found = report.by_segment().to_metrics()
    assert {name.split("/")[0] for name in found} == {"new_old", "b"}
    alone = evaluate(labels[2:], scores[2:], qid=queries[2:], measures=report.measures)
    for name, value in alone.summary().to_metrics().items():
        assert found[f"b/{name}"] == value
    # an interval takes two queries
    assert "b/RR/interval_low" in found
    assert "new_old/RR/interval_low" not in found
    assert "b/RR_median/mean" in report.by_segment("median").to_metrics()
    for other, got in [("a&b", "a b, a&b"), ("日本", "a b, 日本")]:
        same = ["a b", "a b", "a b", "a b", other, other]
        report = evaluate(labels, scores, qid=queries, segment=same)
        with pytest.raises(ValueError, match=f"segments must have .* got {got}"):
            report.by_segment().to_metrics()


def test_metrics_never_share_a_name():
    def half(label):
        return label / 2

    def half_(label):
        return label / 2

    measures = [NDCG(gain=half), NDCG(gain=half_)]
    summary = evaluate([1, 0], [1, 2], measures=measures).summary()
    with pytest.raises(ValueError, match=r"differ in .*half\), NDCG\(gain=half_\)"):
        summary.to_metrics()
