"""Reports: averages, segments, metrics, and those of batches."""

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


def test_a_summary_has_t_intervals_and_the_lift_above_chance():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 300), rng.integers(0, 5, 300)
    qid = rng.integers(0, 30, 300)
    report = evaluate(labels, scores, qid=qid, measures=["ndcg@3", "fallout@3"])
    summary = report.summary()
    values = report.expected
    ends = stats.t.interval(0.95, 29, values.mean(axis=0), stats.sem(values))
    assert summary.interval == pytest.approx(np.transpose(ends), abs=1e-14)
    logs = np.log(np.maximum(values, 1e-5))
    ends = stats.t.interval(0.95, 29, logs.mean(axis=0), stats.sem(logs))
    interval = np.log(report.summary("geometric").interval)
    assert interval == pytest.approx(np.transpose(ends), abs=1e-14)
    above_chance = summary.mean - summary.chance
    highest = summary.ideal - summary.chance
    assert summary.lift == pytest.approx(above_chance / highest)


def test_reports_print_pickle_and_become_frames():
    report = evaluate(LABELS, SCORES, qid=QID, measures=["ap", "rbp(p=.5)"])
    lines = [line.split() for line in str(report).splitlines()]
    assert lines[0][:4] == ["measure", "mean", "worst", "best"]
    assert [line[0] for line in lines[2:4]] == ["AP", "RBP(p=0.5)"]
    assert lines[4][:2] == ["3", "queries;"]
    assert_array_equal(pickle.loads(pickle.dumps(report)).expected, report.expected)
    frame = report.to_pandas()
    assert frame["qid"].tolist() == ["a", "a", "b", "b", "c", "c"]
    assert frame["measure"].tolist() == ["AP", "RBP(p=0.5)"] * 3
    assert frame["expected"].tolist() == report.expected.ravel().tolist()
    summary = report.summary()
    table = summary.to_pandas().set_index("measure")
    assert table.loc["RBP(p=0.5)", "best"] == report.best[:, 1].mean()
    ends = table.loc["AP", ["interval_low", "interval_high"]].tolist()
    assert ends == summary.interval[0].tolist()
    # they compare by identity
    assert len({summary, summary, report.summary()}) == 2


AVERAGES = [
    {"average": "macro"}, {"average": "geometric"}, {"average": "median"},
    {"interval": "bootstrap", "n_resamples": 19},
    {"average": "geometric", "interval": "bootstrap", "n_resamples": 9},
]  # fmt: skip


@settings(max_examples=40)
@given(
    queries(), st.sampled_from(AVERAGES), st.sampled_from([0.0, "skip"]), st.booleans()
)
def test_each_segment_is_what_it_is_alone(case, options, zero, weighted):
    labels, scores, qid = map(np.array, case)
    segment = np.array(["odd", "even", "other"])[qid % 3]
    weight = 1.0 + qid % 2

    def report(rows, **segments):
        data = {"qid": qid[rows], "zero_relevance": zero, **segments}
        if weighted:
            data["query_weight"] = weight[rows]
        measures = ["ndcg@3", "ap", "esl"]
        return evaluate(labels[rows], scores[rows], measures=measures, **data)

    rows = np.arange(len(labels))
    whole = report(rows, segment=segment)
    by_segment = whole.by_segment(**options)
    names = sorted(set(segment.tolist()))
    assert list(dict.fromkeys(by_segment.segment.tolist())) == names
    order = np.random.default_rng(0).permutation(rows)
    shuffled = report(order, segment=segment[order]).by_segment(**options)
    overall = whole.summary(**options)
    alone = [report(segment == name).summary(**options) for name in names]
    for figure in FIGURES:
        expected = np.concatenate([getattr(summary, figure) for summary in alone])
        assert_array_equal(getattr(by_segment, figure), expected, figure)
        assert_array_equal(getattr(shuffled, figure), expected, figure)
        of_all = getattr(by_segment.overall, figure)
        assert_array_equal(of_all, getattr(overall, figure))


def by_two(segment=("b", "a", "b"), measures=("rr", "p@1"), **options):
    labels, scores = [[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]]
    return evaluate(labels, scores, segment=segment, measures=measures, **options)


HEADER = "RR queries mean worst best tie_std chance lift 95% interval"


def test_a_report_shows_its_segments():
    report = by_two()
    assert report.segment.tolist() == ["b", "a", "b"]
    frame = report.to_pandas()
    assert frame["segment"].tolist() == ["b", "b", "a", "a", "b", "b"]
    assert "segment" not in by_two(segment=None).to_pandas()


def test_a_table_by_segment():
    by_segment = pickle.loads(pickle.dumps(by_two().by_segment()))
    rr, p = str(by_segment).split("\n\n")
    assert p.split()[:2] == ["P@1", "queries"]
    lines = [line.split() for line in rr.splitlines()]
    assert lines[0] == HEADER.split()
    a, b, overall = lines[2:]
    assert a[:6] == ["a", "1", "0.750", "0.500", "1.000", "0.250"]
    assert b[:6] == ["b", "2", "0.750", "0.750", "0.750", "0.000"]
    assert overall[:6] == ["all", "3", "0.750", "0.667", "0.833", "0.083"]
    frame = by_segment.to_pandas()
    assert frame["segment"].tolist() == ["a", "a", "b", "b"]
    assert frame["measure"].tolist() == ["RR", "P@1"] * 2
    assert frame["mean"].tolist() == by_segment.mean.ravel().tolist()


def half(label):
    return label / 2


def test_the_empty_text_is_a_segment():
    by_segment = by_two(segment=["", "a", ""]).by_segment()
    assert set(by_segment.segment.tolist()) == {"", "a"}


def test_a_wide_table_by_segment_leaves_out_tie_std():
    table = str(by_two(segment=["a" * 14] * 3).by_segment())
    header = table.splitlines()[0]
    assert header.split() == HEADER.replace("tie_std ", "").split()


@pytest.mark.parametrize(
    ("average", "head"), [("geometric", "geom."), ("median", "median")]
)
def test_a_table_by_segment_names_its_average(average, head):
    header = str(by_two().by_segment(average)).splitlines()[0]
    assert head in header.split()


def half_(label):
    return label / 2


@pytest.mark.parametrize(("segment", "message"), [
    (["a"] * 6, r"one value per row \(3\), got 6"),
    (["a", None, "b"], "segment must not be missing"),
    ([["a"], ["b"], ["c"]], "segment must hold hashable"),
])  # fmt: skip
def test_bad_segments_of_matrices(segment, message):
    with pytest.raises(ValueError, match=message):
        by_two(segment)


@pytest.mark.parametrize(("segment", "message"), [
    (["a", "b", "a"],
     "segment must be constant within a query, got 'a' and 'b' in query 1$"),
    (["a"], r"segment .*\(3\), got 1"),
])  # fmt: skip
def test_bad_segments_of_rows(segment, message):
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0, 1], [1, 2, 3], qid=[1, 1, 7], segment=segment)


@pytest.mark.parametrize(("options", "message"), [
    ({"average": "harmonic"}, "average must be one of.*'geometric'.*'harmonic'"),
    ({"interval": "z"}, "interval .*'t', 'boot.*got 'z'"),
    ({"interval": "bootstrap", "n_resamples": 1},
     "n_resamples must be an integer >= 2, got 1"),
    ({"interval": "bootstrap", "random_state": "x"}, "random_state must be an integer"),
    ({"average": "median", "interval": "bootstrap"},
     "interval must be 't' with average='median' .* got 'bootstrap'"),
])  # fmt: skip
def test_bad_options_of_summaries(options, message):
    report = by_two()
    with pytest.raises(ValueError, match=message):
        report.summary(**options)
    with pytest.raises(ValueError, match=message):
        report.by_segment(**options)


def test_tables_by_segment_need_segments():
    with pytest.raises(ValueError, match=r"segment must be given to.*None"):
        by_two(None).by_segment()


@pytest.mark.parametrize(("options", "message"), [
    ({"segment": ["a b", "a&b", "c"]}, ".* must have .* a b, a&b, c$"),
    ({"segment": ["a", "日本", "c"]}, ".* must have .* a, c, 日本$"),
    ({"measures": [NDCG(gain=half), NDCG(gain=half_)]},
     r"measures must .*differ in .*half\), NDCG\(gain=half_\)"),
])  # fmt: skip
def test_names_of_metrics_must_differ(options, message):
    by_segment = by_two(**options).by_segment()
    with pytest.raises(ValueError, match=message):
        by_segment.to_metrics()


def test_metrics_have_stable_names():
    labels, scores, qid = [2, 0, 1, 0], [1, 1, 0, 2], [0, 0, 1, 1]
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
    assert {type(value) for value in metrics.values()} == {float}
    # what is not known is left out
    median = report.summary("median")
    metrics = median.to_metrics()
    assert metrics["IPrec_at_0.1_median/mean"] == median.mean[1]
    assert "IPrec_at_0.1_median/tie_std" not in metrics


def test_metrics_by_segment_begin_with_the_segment():
    report = by_two(segment=["new & old", "b", "b"])
    metrics = report.by_segment().to_metrics()
    assert metrics["b/RR/mean"] == (1 / 2 + 3 / 4) / 2
    assert "new_old/RR/mean" in metrics
    # an interval takes two queries
    assert "b/RR/interval_low" in metrics
    assert "new_old/RR/interval_low" not in metrics
    assert "b/RR_median/mean" in report.by_segment("median").to_metrics()


def made(n_queries, seed=0, first=0):
    rng = np.random.default_rng(seed + 100 * first)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    rows = pd.DataFrame({"qid": first + qid})
    rows["label"] = rng.integers(0, 3, len(qid))
    rows["s"] = rng.integers(0, 3, len(qid))
    weights = np.append(rng.choice([0, 0.5, 2], n_queries - 1), 1.0)
    rows["w"] = weights[qid]
    rows["market"] = np.where(qid % 2, "de", "us")
    return rows


MEANS = st.sampled_from(["macro", "geometric", "median"])


@settings(max_examples=40)
@given(
    st.integers(1, 30), st.integers(0, 99), st.integers(1, 7), st.integers(1, 50),
    MEANS, st.sampled_from([None, "w"]), st.sampled_from([0.1, "skip"]), st.booleans(),
)  # fmt: skip
def test_batches_have_the_bits_of_all_rows_at_once(
    n_queries, seed, n_batches, batch_rows, average, weight, zero, arrow
):
    rows = made(n_queries, seed).sample(frac=1, random_state=seed)
    # some are empty, which is nothing
    batches = [rows[rows.qid % n_batches == part] for part in range(n_batches)]
    if arrow:
        batches = [pa.Table.from_pandas(batch) for batch in batches]
    options = {"zero_relevance": zero, "measures": ["ndcg@3", "ap", "dcg", "bpref"]}
    columns = {"score": "s", "query_weight": weight}
    in_batches = evaluate_batches(batches, batch_rows=batch_rows, **columns, **options)
    if weight is not None:
        options["query_weight"] = rows[weight]
    report = evaluate(rows.label, rows.s, qid=rows.qid, **options)
    summary, expected = in_batches.summary(average), report.summary(average)
    assert summary.columns.keys() == expected.columns.keys()
    for name, column in expected.columns.items():
        assert_array_equal(summary.columns[name], column, err_msg=name)


@pytest.mark.parametrize(("change", "options", "message"), [
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
    ({}, {"batches": []}, "batches must hold at least one row, got none"),
])  # fmt: skip
def test_errors_name_the_batch_and_row(change, options, message):
    batches = []
    for q in (0, 2, 4):
        rows = {"qid": [q, q + 1.0, q + 1.0], "label": 1, "s": [1.0, 2, 3], "w": 1.0}
        batches.append(pd.DataFrame(rows))
    for name, value in change.items():
        dtype = object if isinstance(value, str) else float
        batches[1] = batches[1].astype({name: dtype})
        batches[1].loc[2, name] = value
        if value == "1":
            batches[1][name] = batches[1][name].astype(str)
    arguments = {"batches": batches, "score": "s", **options}
    with pytest.raises(ValueError, match=message):
        evaluate_batches(**arguments)


@pytest.mark.parametrize("options", AVERAGES)
def test_averages_of_queries_that_weigh_nothing(options):
    rows = made(5)
    weight = np.zeros(len(rows))
    report = evaluate(rows.label, rows.s, qid=rows.qid, query_weight=weight)
    assert report.query_weight.tolist() == [0] * 5
    with pytest.warns(UndefinedMetricWarning, match="every query has weight 0"):
        summary = report.summary(**options)
    assert np.isnan(summary.mean).all()
    assert np.isnan(summary.interval).all()
