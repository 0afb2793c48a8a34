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
    summary, values = report.summary(), report.expected
    logs = np.log(np.maximum(values, 1e-5))
    of_logs = np.log(report.summary("geometric").interval)
    for rows, found in ((values, summary.interval), (logs, of_logs)):
        ends = stats.t.interval(0.95, 29, rows.mean(axis=0), stats.sem(rows))
        assert found == pytest.approx(np.transpose(ends), abs=1e-14)
    above, room = (of - summary.chance for of in (summary.mean, summary.ideal))
    assert summary.lift == pytest.approx(above / room)


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

    def report(rows, **given):
        given |= {"zero_relevance": zero, "qid": qid[rows]}
        given["query_weight"] = weight[rows] if weighted else None
        measures = ["ndcg@3", "ap", "esl"]
        return evaluate(labels[rows], scores[rows], measures=measures, **given)

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


def test_a_table_by_segment():
    report = by_two()
    assert report.segment.tolist() == ["b", "a", "b"]
    frame = report.to_pandas()
    assert frame["segment"].tolist() == ["b", "b", "a", "a", "b", "b"]
    assert "segment" not in by_two(segment=None).to_pandas()
    found = pickle.loads(pickle.dumps(report.by_segment()))
    rr, p = str(found).split("\n\n")
    assert p.split()[:2] == ["P@1", "queries"]
    assert rr.split()[:2] == ["RR", "queries"]
    # the empty text is a segment
    nameless = by_two(segment=["", "a", ""]).by_segment()
    assert {"", "a"} == set(nameless.segment.tolist())
    lines = [line.split() for line in rr.splitlines()]
    header = "RR queries mean worst best tie_std chance lift 95% interval"
    assert lines[0] == header.split()
    wide = str(by_two(segment=["a" * 14] * 3).by_segment())
    assert wide.split("\n")[0].split() == header.replace("tie_std ", "").split()
    assert [line[:6] for line in lines[2:]] == [
        ["a", "1", "0.750", "0.500", "1.000", "0.250"],
        ["b", "2", "0.750", "0.750", "0.750", "0.000"],
        ["all", "3", "0.750", "0.667", "0.833", "0.083"],
    ]
    for average, head in (("geometric", "geom."), ("median", "median")):
        assert head in str(report.by_segment(average)).splitlines()[0].split()
    frame = found.to_pandas()
    assert frame["segment"].tolist() == ["a", "a", "b", "b"]
    assert frame["measure"].tolist() == ["RR", "P@1"] * 2
    assert frame["mean"].tolist() == found.mean.ravel().tolist()


def half(label):
    return label / 2


def half_(label):
    return label / 2


def metrics(**options):
    return by_two(**options).by_segment().to_metrics()


@pytest.mark.parametrize(("call", "message"), [
    (lambda: evaluate([1, 0, 1], [1, 2, 3], qid=[1, 1, 7], segment=["a", "b", "a"]),
     "segment must be constant within a query, got 'a' and 'b' in query 1$"),
    (lambda: evaluate([1, 0], [1, 2], segment=["a"]), r"segment .*\(2\), got 1"),
    (lambda: by_two(["a"] * 6), r"one value per row \(3\), got 6"),
    (lambda: by_two(["a", None, "b"]), "segment must not be missing"),
    (lambda: by_two([["a"], ["b"], ["c"]]), "segment must hold hashable"),
    (lambda: by_two(None).by_segment(), "segment must be given to.*None"),
    (lambda: by_two().by_segment("harmonic"), "average must be one of.*'harmonic'"),
    (lambda: by_two().summary("harmonic"), "average must be one of.*'geometric'"),
    (lambda: by_two().summary(interval="z"), "interval .*'t', 'boot.*got 'z'"),
    (lambda: by_two().summary(interval="bootstrap", n_resamples=1),
     "n_resamples must be an integer >= 2, got 1"),
    (lambda: by_two().by_segment(interval="bootstrap", random_state="x"),
     "random_state must be an integer"),
    (lambda: by_two().summary("median", interval="bootstrap"),
     "interval must be 't' with average='median' .* got 'bootstrap'"),
    (lambda: metrics(segment=["a b", "a&b", "c"]), ".* must have .* a b, a&b, c$"),
    (lambda: metrics(segment=["a", "日本", "c"]), ".* must have .* a, c, 日本$"),
    (lambda: metrics(measures=[NDCG(gain=half), NDCG(gain=half_)]),
     r"measures must .*differ in .*half\), NDCG\(gain=half_\)"),
])  # fmt: skip
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
    # segments come first; an interval takes two queries
    by_segment = by_two(segment=["new & old", "b", "b"])
    found = by_segment.by_segment().to_metrics()
    assert found["b/RR/mean"] == (1 / 2 + 3 / 4) / 2
    assert "b/RR/interval_low" in found
    assert "new_old/RR/mean" in found
    assert "new_old/RR/interval_low" not in found
    assert "b/RR_median/mean" in by_segment.by_segment("median").to_metrics()


def made(n_queries, seed=0, first=0):
    rng = np.random.default_rng(seed + 100 * first)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    return pd.DataFrame({
        "qid": first + qid,
        "label": rng.integers(0, 3, len(qid)),
        "s": rng.integers(0, 3, len(qid)),
        "w": np.append(rng.choice([0, 0.5, 2], n_queries - 1), 1.0)[qid],
        "market": np.array(["us", "de"])[qid % 2],
        "length": qid % 3,
    })  # fmt: skip


@settings(max_examples=40)
@given(
    st.integers(1, 30), st.integers(0, 99), st.integers(1, 7), st.integers(1, 50),
    st.sampled_from(["macro", "geometric", "median"]), st.sampled_from([None, "w"]),
    st.sampled_from([0.1, "skip"]), st.booleans(),
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
    found = evaluate_batches(batches, batch_rows=batch_rows, **columns, **options)
    options["query_weight"] = None if weight is None else rows[weight]
    report = evaluate(rows.label, rows.s, qid=rows.qid, **options)
    found, expected = found.summary(average), report.summary(average)
    assert found.columns.keys() == expected.columns.keys()
    for name, column in expected.columns.items():
        assert_array_equal(found.columns[name], column, err_msg=name)


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
    batches = [
        pd.DataFrame({"qid": [q, q + 1.0, q + 1.0], "label": 1, "s": [1.0, 2, 3]})
        for q in (0, 2, 4)
    ]
    batches = [batch.assign(w=1.0) for batch in batches]
    for name, value in change.items():
        kind = object if isinstance(value, str) else float
        batches[1] = batches[1].astype({name: kind})
        batches[1].loc[2, name] = value
        if value == "1":
            batches[1][name] = batches[1][name].astype(str)
    with pytest.raises(ValueError, match=message):
        evaluate_batches(**({"batches": batches, "score": "s"} | options))


def test_averages_of_queries_that_weigh_nothing():
    rows = made(5).assign(w=0.0)
    nothing = evaluate(rows.label, rows.s, qid=rows.qid, query_weight=rows.w)
    assert nothing.query_weight.tolist() == [0] * 5
    for options in AVERAGES:
        with pytest.warns(UndefinedMetricWarning, match="every query has weight 0"):
            summary = nothing.summary(**options)
        assert np.isnan(summary.mean).all()
        assert np.isnan(summary.interval).all()
