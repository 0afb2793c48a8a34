"""Tests of reports that are saved as tables, concatenated and read again."""

from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats

from tests.instances import MEASURES
from tieaware_sklearn import RankingReport, evaluate, evaluate_batches
from tieaware_sklearn.measures import NDCG

MARKETS = np.array(["us", "de"])


def made(n_queries, seed=0, first=0):
    """Return rows of queries; some queries have no relevant document."""
    rng = np.random.default_rng(seed + 100 * first)
    n_documents = rng.integers(1, 6, n_queries)
    number = np.repeat(np.arange(n_queries), n_documents)
    n = len(number)
    rows = pd.DataFrame({"qid": first + number})
    rows["label"] = rng.integers(0, 3, n) * (number % 3 > 0)
    rows["score"] = rng.integers(0, 3, n)
    rows["other_score"] = rng.random(n)
    weights = rng.choice([0, 0.1, 2], n_queries)
    rows["weight"] = weights[number]
    rows["market"] = MARKETS[number % 2]
    return rows


def evaluated(rows, score="score", **options):
    """Return the report of rows, with weights and segments."""
    options["qid"] = rows["qid"]
    options["query_weight"] = rows["weight"]
    options["segment"] = rows["market"]
    return evaluate(rows["label"], rows[score], **options)


def assert_same(report, expected):
    """Check that two reports have the same fields, to the bit."""
    for field in fields(RankingReport):
        name = field.name
        value = getattr(report, name)
        expected_value = getattr(expected, name)
        if isinstance(expected_value, np.ndarray):
            assert_array_equal(value, expected_value, err_msg=name)
        else:
            assert value == expected_value, name
    assert str(report) == str(expected)


def to_parquet_and_back(table, path):
    table.to_parquet(path, index=False)
    return pd.read_parquet(path)


def to_csv_and_back(table, path):
    table.to_csv(path, index=False)
    exact = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
    return pd.read_csv(path, dtype={"qid": str}, **exact)


MEASURES_OF_ROWS = ["ndcg@3", "ap", "dcg", "esl"]


@pytest.mark.parametrize("to_file_and_back", [to_parquet_and_back, to_csv_and_back])
def test_a_saved_report_has_the_same_averages_and_p_values(tmp_path, to_file_and_back):
    rows = made(60)
    rows["qid"] = "00" + rows["qid"].astype(str)
    options = {"zero_relevance": "skip", "measures": MEASURES_OF_ROWS}
    report = evaluated(rows, **options)
    baseline = evaluated(rows, "other_score", **options)
    table = report.to_pandas(settings=True)
    table_of_file = to_file_and_back(table, tmp_path / "report")
    saved = RankingReport.from_frame(table_of_file)
    assert_same(saved, report)
    for average in ("macro", "geometric", "median"):
        columns = saved.summary(average).columns
        expected = report.summary(average).columns
        for name, column in expected.items():
            assert_array_equal(columns[name], column, name)
        text = str(report.by_segment(average))
        assert str(saved.by_segment(average)) == text
    options = {"nan_policy": "omit"}
    test = stats.ttest_rel(report.expected, baseline.expected, **options)
    assert np.isfinite(test.pvalue).all()
    test_of_saved = stats.ttest_rel(saved.expected, baseline.expected, **options)
    assert_array_equal(test_of_saved.pvalue, test.pvalue)


def read_duckdb(path):
    return pytest.importorskip("duckdb").sql(f"select * from '{path}'")


def read_pandas_of_arrow(path):
    return pd.read_parquet(path, dtype_backend="pyarrow")


#: Functions that read a table, and the suffix of the file.
READERS = {
    "pandas": (pd.read_parquet, "parquet"),
    "pandas of Arrow": (read_pandas_of_arrow, "parquet"),
    "polars": (pl.read_parquet, "parquet"),
    "lazy polars": (pl.scan_parquet, "parquet"),
    "polars CSV": (pl.read_csv, "csv"),
    "Arrow": (pa.parquet.read_table, "parquet"),
    "Arrow CSV": (pa.csv.read_csv, "csv"),
    "DuckDB": (read_duckdb, "parquet"),
    "DuckDB CSV": (read_duckdb, "csv"),
}
SETTINGS = [
    {},
    {"zero_relevance": "skip"},
    {"zero_relevance": -1},
    {"segment": MARKETS},
]


@pytest.mark.parametrize(("read", "suffix"), READERS.values(), ids=READERS)
@pytest.mark.parametrize("options", SETTINGS)
def test_tables_of_any_library_are_read(tmp_path, read, suffix, options):
    labels = [[1, 0, 2], [0, 0, 0]]
    scores = [[3, 2, 2], [1, 1, 0]]
    options = {"measures": ["ap", "p@2"], **options}
    report = evaluate(labels, scores, **options)
    table = report.to_pandas(settings=True)
    path = tmp_path / f"report.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    saved = RankingReport.from_frame(read(path))
    assert_same(saved, report)


OPTIONS_OF_REPORTS = [
    {},
    {"zero_relevance": "skip"},
    {"zero_relevance": 0.1, "unjudged": "drop"},
    {"convention": "catboost", "measures": ["ndcg(gain=exponential)@3", "rr"]},
    {"measures": ["iap", "iprec@0.3", "esl(i=2)"]},
]


UP_TO_9 = st.integers(1, 9)


@settings(max_examples=25)
@given(
    n_first=UP_TO_9,
    n_more=UP_TO_9,
    seed=st.integers(0, 99),
    options=st.sampled_from(OPTIONS_OF_REPORTS),
)
def test_concatenated_tables_are_the_report_of_all_rows(n_first, n_more, seed, options):
    options = {"measures": MEASURES_OF_ROWS, **options}
    first = made(n_first, seed)
    more = made(n_more, seed, first=n_first)
    whole = evaluated(pd.concat([first, more], ignore_index=True), **options)
    tables = []
    for rows in (first, more):
        report = evaluated(rows, **options)
        tables.append(report.to_pandas(settings=True))
    assert_same(RankingReport.from_frame(pd.concat(tables)), whole)
    columns = {"score": "score", "query_weight": "weight", "segment": "market"}
    in_batches = evaluate_batches([first, more], **columns, **options)
    assert_same(in_batches, whole)


def test_rows_may_be_in_any_order():
    report = evaluated(made(9), measures=["ndcg@3", "ap"])
    table = report.to_pandas(settings=True)
    table = table.sample(frac=1, random_state=0)
    shuffled = RankingReport.from_frame(table)
    assert_array_equal(shuffled.qid, table["qid"].unique())
    assert shuffled.measures == tuple(table["measure"].unique())
    by_row = ["qid", "measure"]
    rows = shuffled.to_pandas(settings=True)
    rows = rows.sort_values(by_row, ignore_index=True)


def test_settings_are_columns_on_request():
    options = {"measures": "ap", "zero_relevance": "skip"}
    report = evaluate([1, 0], [2, 1], **options)
    columns = report.to_pandas().columns.tolist()
    assert columns[-2:] == ["sampling_error", "std_is_estimate"]
    table = report.to_pandas(settings=True)
    added = "undefined query_weight zero_relevance unjudged convention"
    columns += added.split()
    assert table.columns.tolist() == columns
    assert table.loc[0, "zero_relevance"] == "skip"
    assert table["query_weight"].isna().all()


def half(label):
    return label / 2


def test_every_measure_is_read_by_its_name():
    rows = made(9)
    named = []
    for measure in MEASURES:
        parameters = vars(measure).values()
        if not any(map(callable, parameters)):
            named.append(measure)
    report = evaluated(rows, measures=named)
    table = report.to_pandas(settings=True)
    assert_same(RankingReport.from_frame(table), report)


def test_a_measure_with_a_function_has_no_name():
    report = evaluated(made(9), measures=NDCG(gain=half))
    table = report.to_pandas(settings=True)
    with pytest.raises(ValueError, match=r"column 'measure' of frame: .*gain=half"):
        RankingReport.from_frame(table)


def table_of_three_queries():
    labels = [[1, 0], [0, 1], [1, 0]]
    scores = [[2, 1], [1, 1], [1, 2]]
    options = {"segment": list("bab"), "query_weight": [1, 1, 2]}
    options["measures"] = ["ap", "rr"]
    report = evaluate(labels, scores, **options)
    return report.to_pandas(settings=True)


BAD_CELLS = [
    (
        "zero_relevance",
        "skip",
        "zero_relevance must be the same in all rows of frame, got 0.0 and 'skip'",
    ),
    (
        "convention",
        "trec_eval",
        "convention must be the same in all rows of frame, got None and 'trec_eval'",
    ),
    ("best", "high", "best must be numeric, .* 'high' in row 3"),
    (
        "std",
        np.nan,
        "std must not be missing where undefined is False, got nan in row 3",
    ),
    ("std_is_estimate", 2, "std_is_estimate must be True or False, got 2.0 in row 3"),
    ("query_weight", np.nan, "query_weight must be finite and >= 0, got nan in row 3"),
    (
        "query_weight",
        7.0,
        "query_weight must be constant within a query, got 1.0 and 7.0 in query 1",
    ),
    ("segment", None, "segment must not be missing"),
    ("qid", None, "qid must not be missing"),
    (
        "measure",
        "NDGC@10",
        "column 'measure' of frame: unknown measure 'NDGC@10'; did you mean 'NDCG@10'",
    ),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_CELLS)
def test_bad_cells_are_refused(column, value, message):
    table = table_of_three_queries()
    cells = table[column].astype(object)
    cells[3] = value
    table[column] = cells
    with pytest.raises(ValueError, match=message):
        RankingReport.from_frame(table)


BAD_SETTINGS = [
    ("zero_relevance", None, "zero_relevance must be a finite number, .* got None"),
    ("unjudged", "keep", "unjudged must be one of .*, got 'keep'"),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD_SETTINGS)
def test_bad_settings_are_refused(column, value, message):
    table = table_of_three_queries()
    table[column] = value
    with pytest.raises(ValueError, match=message):
        RankingReport.from_frame(table)


TABLE = table_of_three_queries()
BAD_TABLES = [
    ([1], "must be a data frame of pandas, .* got list"),
    (TABLE[:0], "qid must not be empty, got 0 rows"),
    (
        TABLE.drop(columns="undefined"),
        r"columns of to_pandas\(settings=True\), but has no column 'undefined'",
    ),
    (
        pd.concat([TABLE, TABLE[2:4]], ignore_index=True),
        "must have one row for each query and measure, got 2 rows of AP for query 1",
    ),
    (
        TABLE.drop(index=3),
        "one row for each query and measure, got 0 rows of RR for query 1",
    ),
]


@pytest.mark.parametrize(("table", "message"), BAD_TABLES)
def test_tables_of_no_report_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        RankingReport.from_frame(table)
