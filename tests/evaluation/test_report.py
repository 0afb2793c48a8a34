"""Tests of reports: averages, segments, metrics and batches."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import LABELS, QID, SCORES
from tests.strategies import queries
from tieaware_sklearn import evaluate, evaluate_batches
from tieaware_sklearn.measures import NDCG

FIGURES = ("mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval")
FIGURES += ("sampling_error", "n_estimated", "n_queries", "n_effective")


def t_interval(values):
    """Return the 95% interval of the mean of each column, a row per column."""
    n_degrees = len(values) - 1
    mean = values.mean(axis=0)
    ends = stats.t.interval(0.95, n_degrees, mean, stats.sem(values))
    return np.transpose(ends)


def test_a_summary_has_t_intervals_and_the_lift_above_chance():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    scores = rng.integers(0, 5, 300)
    qid = rng.integers(0, 30, 300)
    measures = ["ndcg@3", "fallout@3"]
    report = evaluate(labels, scores, qid=qid, measures=measures)
    summary = report.summary()
    interval = t_interval(report.expected)
    assert summary.interval == pytest.approx(interval, abs=1e-14)
    logs = np.log(np.maximum(report.expected, 1e-5))
    interval = np.exp(t_interval(logs))
    geometric = report.summary("geometric")
    assert geometric.interval == pytest.approx(interval, rel=1e-14)
    above_chance = summary.mean - summary.chance
    highest = summary.ideal - summary.chance
    assert summary.lift == pytest.approx(above_chance / highest)


def test_reports_print_pickle_and_become_frames():
    measures = ["ap", "rbp(p=.5)"]
    report = evaluate(LABELS, SCORES, qid=QID, measures=measures)
    lines = [line.split() for line in str(report).splitlines()]
    head, _, ap, rbp, note = lines[:5]
    assert head[:4] == ["measure", "mean", "worst", "best"]
    assert ap[0] == "AP"
    assert rbp[0] == "RBP(p=0.5)"
    assert note[:2] == ["3", "queries;"]
    pickled = pickle.loads(pickle.dumps(report))
    assert_array_equal(pickled.expected, report.expected)
    frame = report.to_pandas()
    assert "".join(frame["qid"]) == "aabbcc"
    assert frame["measure"].tolist() == ["AP", "RBP(p=0.5)"] * 3
    assert_array_equal(frame["expected"], report.expected.ravel())
    summary = report.summary()
    table = summary.to_pandas().set_index("measure")
    best = report.best[:, 1].mean()
    assert table.loc["RBP(p=0.5)", "best"] == best
    interval = table.loc["AP", ["interval_low", "interval_high"]]
    assert_array_equal(interval, summary.interval[0])
    # Summaries are equal only if they are the same object.
    again = report.summary()
    assert len({summary, summary, again}) == 2


AVERAGES = [
    {"average": "macro"},
    {"average": "geometric"},
    {"average": "median"},
    {"interval": "bootstrap", "n_resamples": 19},
    {"average": "geometric", "interval": "bootstrap", "n_resamples": 9},
]


@settings(max_examples=40)
@given(
    case=queries(),
    options=st.sampled_from(AVERAGES),
    zero_relevance=st.sampled_from([0.0, "skip"]),
    weighted=st.booleans(),
)
def test_each_segment_has_the_values_of_its_queries_alone(
    case, options, zero_relevance, weighted
):
    labels, scores, qid = map(np.array, case)
    names = np.array(["odd", "even", "other"])
    segment = names[qid % 3]
    weight = 1.0 + qid % 2

    def report(rows, **segments):
        data = {"qid": qid[rows], **segments}
        data["zero_relevance"] = zero_relevance
        if weighted:
            data["query_weight"] = weight[rows]
        measures = ["ndcg@3", "ap", "esl"]
        return evaluate(labels[rows], scores[rows], measures=measures, **data)

    rows = np.arange(len(labels))
    whole = report(rows, segment=segment)
    by_segment = whole.by_segment(**options)
    names = sorted(set(segment.tolist()))
    assert list(dict.fromkeys(by_segment.segment)) == names
    order = np.random.default_rng(0).permutation(rows)
    shuffled_report = report(order, segment=segment[order])
    shuffled = shuffled_report.by_segment(**options)
    overall = whole.summary(**options)
    alone = [report(segment == name).summary(**options) for name in names]
    for figure in FIGURES:
        values = [getattr(summary, figure) for summary in alone]
        expected = np.concatenate(values)
        assert_array_equal(getattr(by_segment, figure), expected, figure)
        assert_array_equal(getattr(shuffled, figure), expected, figure)
        of_all = getattr(by_segment.overall, figure)
        assert_array_equal(of_all, getattr(overall, figure))


TWO_SEGMENTS = ("b", "a", "b")


def by_two(segment=TWO_SEGMENTS, measures=("rr", "p@1"), **options):
    labels = [[1, 0], [0, 1], [1, 0]]
    scores = [[2, 1], [1, 1], [1, 2]]
    options["segment"] = segment
    return evaluate(labels, scores, measures=measures, **options)


HEADER = "RR queries mean worst best tie_std chance lift 95% interval"


def test_a_report_shows_its_segments():
    report = by_two()
    assert report.segment.tolist() == ["b", "a", "b"]
    frame = report.to_pandas()
    assert "".join(frame["segment"]) == "bbaabb"
    assert "segment" not in by_two(segment=None).to_pandas()


def test_a_table_by_segment():
    by_segment = pickle.loads(pickle.dumps(by_two().by_segment()))
    rr, p = str(by_segment).split("\n\n")
    assert p.split()[:2] == ["P@1", "queries"]
    lines = [line.split() for line in rr.splitlines()]
    assert lines[0] == HEADER.split()
    assert [" ".join(line[:6]) for line in lines[2:]] == [
        "a 1 0.750 0.500 1.000 0.250",
        "b 2 0.750 0.750 0.750 0.000",
        "all 3 0.750 0.667 0.833 0.083",
    ]
    frame = by_segment.to_pandas()
    assert "".join(frame["segment"]) == "aabb"
    assert frame["measure"].tolist() == ["RR", "P@1"] * 2
    assert_array_equal(frame["mean"], by_segment.mean.ravel())


def half(label):
    return label / 2


def test_the_empty_text_is_a_segment():
    report = by_two(segment=["", "a", ""])
    by_segment = report.by_segment()
    assert set(by_segment.segment) == {"", "a"}


def test_a_wide_table_by_segment_leaves_out_tie_std():
    name = "a" * 14
    report = by_two(segment=[name, name, name])
    header, *_ = str(report.by_segment()).splitlines()
    assert header.split() == HEADER.replace("tie_std ", "").split()


HEADS = [("geometric", "geom."), ("median", "median")]


@pytest.mark.parametrize(("average", "head"), HEADS)
def test_a_table_by_segment_names_its_average(average, head):
    by_segment = by_two().by_segment(average)
    header, *_ = str(by_segment).splitlines()
    assert head in header.split()


def half_(label):
    return label / 2


BAD_SEGMENTS_OF_MATRICES = [
    (["a"] * 6, r"one value per row \(3\), got 6"),
    (["a", None, "b"], "segment must not be missing"),
    ([["a"], ["b"], ["c"]], "segment must contain hashable"),
]


@pytest.mark.parametrize(("segment", "message"), BAD_SEGMENTS_OF_MATRICES)
def test_bad_segments_of_matrices(segment, message):
    with pytest.raises(ValueError, match=message):
        by_two(segment)


BAD_SEGMENTS_OF_ROWS = [
    (
        ["a", "b", "a"],
        "segment must be constant within a query, got 'a' and 'b' in query 1$",
    ),
    (["a"], r"segment .*\(3\), got 1"),
]


@pytest.mark.parametrize(("segment", "message"), BAD_SEGMENTS_OF_ROWS)
def test_bad_segments_of_rows(segment, message):
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0, 1], [1, 2, 3], qid=[1, 1, 7], segment=segment)


BAD_OPTIONS = [
    ({"average": "harmonic"}, "average must be one of.*'geometric'.*'harmonic'"),
    ({"interval": "z"}, "interval .*'t', 'boot.*got 'z'"),
    (
        {"interval": "bootstrap", "n_resamples": 1},
        "n_resamples must be an integer >= 2, got 1",
    ),
    ({"interval": "bootstrap", "random_state": "x"}, "random_state must be an integer"),
    (
        {"average": "median", "interval": "bootstrap"},
        "interval must be 't' with average='median', .* got 'bootstrap'",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options_of_summaries(options, message):
    report = by_two()
    with pytest.raises(ValueError, match=message):
        report.summary(**options)
    with pytest.raises(ValueError, match=message):
        report.by_segment(**options)


def test_tables_by_segment_need_segments():
    with pytest.raises(ValueError, match=r"segment must be given when.*None"):
        by_two(None).by_segment()


EQUAL_NAMES = [
    ({"segment": ["a b", "a&b", "c"]}, ".* must have .* a b, a&b, c$"),
    ({"segment": ["a", "日本", "c"]}, ".* must have .* a, c, 日本$"),
    (
        {"measures": [NDCG(gain=half), NDCG(gain=half_)]},
        r"measures must .*differ in .*half\), NDCG\(gain=half_\)",
    ),
]


@pytest.mark.parametrize(("options", "message"), EQUAL_NAMES)
def test_names_of_metrics_must_differ(options, message):
    by_segment = by_two(**options).by_segment()
    with pytest.raises(ValueError, match=message):
        by_segment.to_metrics()


def test_metrics_have_stable_names():
    labels = [2, 0, 1, 0]
    scores = [1, 1, 0, 2]
    qid = [0, 0, 1, 1]
    measures = ["NDCG(gain=linear)@10", "IPrec@0.1"]
    report = evaluate(labels, scores, qid=qid, measures=measures)
    summary = report.summary()
    expected = {}
    for i, name in enumerate(("NDCG_gain_linear_at_10", "IPrec_at_0.1")):
        for figure in FIGURES:
            if figure != "interval":
                expected[f"{name}/{figure}"] = getattr(summary, figure)[i]
        expected[f"{name}/interval_low"] = summary.interval[i, 0]
        expected[f"{name}/interval_high"] = summary.interval[i, 1]
    metrics = summary.to_metrics()
    assert metrics == expected
    assert all(type(value) is float for value in metrics.values())
    # Metrics leave out what the median does not have.
    median = report.summary("median")
    metrics = median.to_metrics()
    assert metrics["IPrec_at_0.1_median/mean"] == median.mean[1]
    assert "IPrec_at_0.1_median/tie_std" not in metrics


def test_metrics_by_segment_begin_with_the_segment():
    report = by_two(segment=["new & old", "b", "b"])
    metrics = report.by_segment().to_metrics()
    assert metrics["b/RR/mean"] == (1 / 2 + 3 / 4) / 2
    assert "new_old/RR/mean" in metrics
    # An interval needs two queries.
    assert "b/RR/interval_low" in metrics
    assert "new_old/RR/interval_low" not in metrics
    assert "b/RR_median/mean" in report.by_segment("median").to_metrics()


def made(n_queries, seed=0, first=0):
    rng = np.random.default_rng(seed + 100 * first)
    n_documents = rng.integers(1, 6, n_queries)
    qid = np.repeat(np.arange(n_queries), n_documents)
    n = len(qid)
    rows = pd.DataFrame({"qid": first + qid})
    rows["label"] = rng.integers(0, 3, n)
    rows["s"] = rng.integers(0, 3, n)
    weights = rng.choice([0, 0.5, 2], n_queries)
    weights[-1] = 1
    rows["w"] = weights[qid]
    rows["market"] = np.where(qid % 2, "de", "us")
    return rows


MEANS = st.sampled_from(["macro", "geometric", "median"])
WEIGHTS = st.sampled_from([None, "w"])
VALUES_IF_UNDEFINED = st.sampled_from([0.1, "skip"])


@settings(max_examples=40)
@given(
    n_queries=st.integers(1, 30),
    seed=st.integers(0, 99),
    n_batches=st.integers(1, 7),
    batch_rows=st.integers(1, 50),
    average=MEANS,
    weight=WEIGHTS,
    zero_relevance=VALUES_IF_UNDEFINED,
    arrow=st.booleans(),
)
def test_batches_have_the_bits_of_all_rows_at_once(
    n_queries, seed, n_batches, batch_rows, average, weight, zero_relevance, arrow
):
    rows = made(n_queries, seed)
    rows = rows.sample(frac=1, random_state=seed)
    # Some batches are empty.
    batches = []
    for part in range(n_batches):
        batch = rows[rows.qid % n_batches == part]
        batches.append(pa.Table.from_pandas(batch) if arrow else batch)
    options = {"zero_relevance": zero_relevance}
    options["measures"] = ["ndcg@3", "ap", "dcg", "bpref"]
    columns = {"score": "s", "query_weight": weight}
    in_batches = evaluate_batches(batches, batch_rows=batch_rows, **columns, **options)
    if weight is not None:
        options["query_weight"] = rows[weight]
    options["qid"] = rows.qid
    report = evaluate(rows.label, rows.s, **options)
    summary = in_batches.summary(average)
    expected = report.summary(average)
    assert summary.columns.keys() == expected.columns.keys()
    for name, column in expected.columns.items():
        assert_array_equal(summary.columns[name], column, err_msg=name)


BAD_BATCHES = [
    ({"label": -1}, {}, r"batch 1: label must be >= 0, got -1.* in row 2"),
    ({"s": np.nan}, {}, "batch 1: s must not be NaN, got nan in row 2"),
    ({"qid": np.nan}, {}, "column 'qid' of batch 1 must not be missing"),
    ({"w": -1.0}, {"query_weight": "w"}, "batch 1: w must be"),
    ({"w": 2.0}, {"segment": "w"}, "batch 1: w must be constant .*1.0 and 2.0"),
    ({"qid": ""}, {}, "batch 1: .*Conversion failed for column qid with type object"),
    ({"qid": 1}, {}, "query 1.* again in batch 1"),
    ({"qid": 1}, {"batch_rows": 1}, "query 1.* again in batch 1"),
    ({"qid": "1"}, {}, "batch 1: Unable to merge: Field qid has incompatible types"),
    ({}, {"score": "absent"}, "batch 0: there is no column 'absent'"),
    ({}, {"label": "s"}, "must name different columns, got 's' twice"),
    ({}, {"batch_rows": 0}, "batch_rows must be an integer >= 1, got 0"),
    ({}, {"batches": []}, "batches must contain at least one row, got none"),
]


@pytest.mark.parametrize(("change", "options", "message"), BAD_BATCHES)
def test_errors_name_the_batch_and_row(change, options, message):
    batches = []
    for q in (0, 2, 4):
        rows = pd.DataFrame({"qid": [q, q + 1.0, q + 1.0]})
        rows["label"] = 1
        rows["s"] = [1.0, 2.0, 3.0]
        rows["w"] = 1.0
        batches.append(rows)
    batch = batches[1]
    for name, value in change.items():
        dtype = object if isinstance(value, str) else float
        column = batch[name].astype(dtype)
        column[2] = value
        if value == "1":
            column = column.astype(str)
        batch[name] = column
    arguments = {"batches": batches, "score": "s", **options}
    with pytest.raises(ValueError, match=message):
        evaluate_batches(**arguments)


@pytest.mark.parametrize("options", AVERAGES)
def test_averages_of_queries_that_weigh_nothing(options):
    rows = made(5)
    weight = np.zeros(len(rows))
    data = {"qid": rows.qid, "query_weight": weight}
    report = evaluate(rows.label, rows.s, **data)
    assert report.query_weight.tolist() == [0] * 5
    with pytest.warns(UndefinedMetricWarning, match="every query has weight 0"):
        summary = report.summary(**options)
    assert np.isnan(summary.mean).all()
    assert np.isnan(summary.interval).all()
