"""Tests of the columns of tables, pages and data frames of evaluations."""

import numpy as np
import pytest

import tieaware_sklearn as ta
from tests._display.test_html import check_rows, heads_of
from tieaware_sklearn import evaluation
from tieaware_sklearn.statistics.intervals import bootstrap_interval

pytestmark = pytest.mark.filterwarnings("ignore:the values per query")
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 120)
QID = np.repeat(np.arange(12), 10)
A = RNG.integers(0, 4, 120).astype(float)
SEGMENT = QID % 2
REPORT = ta.evaluate(Y, A, qid=QID, measures=["ap", "rr"], segment=SEGMENT)
FIGURES = "mean | worst | best | tie_std | chance | lift | 95% interval"
SUMMED = (
    "tie_std chance ideal lift interval_low interval_high sampling_error n_estimated "
    "n_queries n_effective"
)
#: Results, the heads of the tables of their pages, and the columns of their frames.
RESULTS = {
    "report": (
        REPORT,
        f"measure | {FIGURES} | AP | queries | {FIGURES} | RR | queries | {FIGURES}",
        "qid segment measure expected best worst std chance ideal sampling_error "
        "std_is_estimate",
    ),
    "segments": (
        REPORT.by_segment(),
        f"AP | queries | {FIGURES} | RR | queries | {FIGURES}",
        f"segment measure mean best worst {SUMMED}",
    ),
    "median": (
        REPORT.summary("median"),
        "median | " + FIGURES.replace("mean", "median"),
        f"measure mean best worst {SUMMED}",
    ),
    "ties": (
        ta.tie_report(Y, A, qid=QID, measures="ap"),
        "ties |  | best - worst | mean gap | largest gap",
        "figure measure value",
    ),
    "treatments": (
        ta.tie_treatments(Y, A, qid=QID, measures="ap"),
        "treatment | AP",
        "treatment AP",
    ),
    "sampled": (
        ta.sampled(Y, A, ta.ranking_score, qid=QID, n_orders=5),
        "measure | mean | standard error | tie_std | min | max | orders | queries",
        "qid expected std sampling_error min max",
    ),
    "residuals": (
        evaluation.residuals(Y, A, qid=QID, measures="rbp(p=0.9)"),
        "measure | mean | residual | worst | best",
        "qid measure expected residual worst best n_unjudged",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_columns(name):
    result, heads, columns = RESULTS[name]
    page = result.to_html()
    frame = result.to_pandas()
    assert heads_of(page) == heads.split(" | ")
    assert frame.columns.tolist() == columns.split()
    check_rows(result)


def test_queries_are_counted_in_words():
    report = ta.evaluate([0, 1], [1, 2], qid=[1, 1], measures="rr")
    assert "\n1 query" in str(report)
    assert "\n12 queries" in str(REPORT)


def test_a_summary_has_intervals_by_the_bootstrap():
    options = {"n_resamples": 99, "random_state": 3}
    drawn = REPORT.summary(interval="bootstrap", **options)
    values = REPORT.expected[np.argsort(REPORT.qid)]
    for i, bounds in enumerate(REPORT.bounds):
        low, high = bootstrap_interval(values[:, i], None, bounds=bounds, **options)
        assert drawn.interval_low[i] == low
        assert drawn.interval_high[i] == high
