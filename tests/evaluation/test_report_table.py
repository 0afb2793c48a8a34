"""Reports as tables: saved, concatenated and read again."""

from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
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
    """Rows of queries; some queries have no relevant document."""
    rng = np.random.default_rng(seed + 100 * first)
    number = np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    return pd.DataFrame({
        "qid": first + number,
        "label": rng.integers(0, 3, len(number)) * (number % 3 > 0),
        "score": rng.integers(0, 3, len(number)),
        "other_score": rng.random(len(number)),
        "weight": rng.choice([0, 0.1, 2], n_queries)[number],
        "market": MARKETS[number % 2],
    })  # fmt: skip


def evaluated(rows, score="score", **options):
    """The report of rows, with weights and segments."""
    return evaluate(
        rows["label"], rows[score], qid=rows["qid"], query_weight=rows["weight"],
        segment=rows["market"], **options,
    )  # fmt: skip


def assert_same(found, wanted):
    """Two reports have the same fields, to the bit."""
    for field in fields(RankingReport):
        one, other = getattr(found, field.name), getattr(wanted, field.name)
        if isinstance(other, np.ndarray):
            assert_array_equal(one, other, err_msg=field.name)
        else:
            assert one == other, field.name
    assert str(found) == str(wanted)


def to_parquet_and_back(table, path):
    table.to_parquet(path, index=False)
    return pd.read_parquet(path)


def to_csv_and_back(table, path):
    table.to_csv(path, index=False)
    exact = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
    return pd.read_csv(path, dtype={"qid": str}, **exact)


@pytest.mark.parametrize("to_file_and_back", [to_parquet_and_back, to_csv_and_back])
def test_a_saved_report_has_the_same_averages_and_p_values(tmp_path, to_file_and_back):
    rows = made(60).assign(qid=lambda rows: "00" + rows["qid"].astype(str))
    options = {"zero_relevance": "skip", "measures": ["ndcg@3", "ap", "dcg", "esl"]}
    ours, theirs = (
        evaluated(rows, score, **options) for score in ("score", "other_score")
    )
    table = ours.to_pandas(settings=True)
    found = RankingReport.from_frame(to_file_and_back(table, tmp_path / "report"))
    assert_same(found, ours)
    for average in ("macro", "geometric", "median"):
        for name, column in ours.summary(average).columns.items():
            assert_array_equal(found.summary(average).columns[name], column, name)
        assert str(found.by_segment(average)) == str(ours.by_segment(average))
    p_values = [
        stats.ttest_rel(report.expected, theirs.expected, nan_policy="omit").pvalue
        for report in (found, ours)
    ]
    assert_array_equal(*p_values)
    assert np.isfinite(p_values).all()


def from_duckdb(path):
    return pytest.importorskip("duckdb").sql(f"select * from '{path}'")


FILES = {
    "pandas": lambda name: pd.read_parquet(f"{name}.parquet"),
    "pandas of Arrow": lambda name: pd.read_parquet(
        f"{name}.parquet", dtype_backend="pyarrow"
    ),
    "polars": lambda name: pl.read_parquet(f"{name}.parquet"),
    "lazy polars": lambda name: pl.scan_parquet(f"{name}.parquet"),
    "polars CSV": lambda name: pl.read_csv(f"{name}.csv"),
    "Arrow": lambda name: pa.table(pd.read_parquet(f"{name}.parquet")),
    "Arrow CSV": lambda name: pa.csv.read_csv(f"{name}.csv"),
    "DuckDB": lambda name: from_duckdb(f"{name}.parquet"),
    "DuckDB CSV": lambda name: from_duckdb(f"{name}.csv"),
}


@pytest.mark.parametrize("read", FILES.values(), ids=FILES)
@pytest.mark.parametrize(
    "options",
    [{}, {"zero_relevance": "skip"}, {"zero_relevance": -1}, {"segment": MARKETS}],
)
def test_tables_of_any_library_are_read(tmp_path, read, options):
    labels, scores = [[1, 0, 2], [0, 0, 0]], [[3, 2, 2], [1, 1, 0]]
    report = evaluate(labels, scores, measures=["ap", "p@2"], **options)
    table = report.to_pandas(settings=True)
    table.to_parquet(tmp_path / "report.parquet", index=False)
    table.to_csv(tmp_path / "report.csv", index=False)
    assert_same(RankingReport.from_frame(read(tmp_path / "report")), report)


@settings(max_examples=25)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 99),
    st.sampled_from([
        {}, {"zero_relevance": "skip"}, {"zero_relevance": 0.1, "unjudged": "drop"},
        {"convention": "catboost", "measures": ["ndcg(gain=exponential)@3", "rr"]},
        {"measures": ["iap", "iprec@0.3", "esl(i=2)"]},
    ]),
)  # fmt: skip
def test_concatenated_tables_are_the_report_of_all_rows(n_ours, n_more, seed, options):
    options = {"measures": ["ndcg@3", "ap", "dcg", "esl"]} | options
    parts = [made(n_ours, seed), made(n_more, seed, first=n_ours)]
    tables = [evaluated(rows, **options).to_pandas(settings=True) for rows in parts]
    found = RankingReport.from_frame(pd.concat(tables))
    whole = evaluated(pd.concat(parts, ignore_index=True), **options)
    assert_same(found, whole)
    batches = evaluate_batches(
        parts, score="score", query_weight="weight", segment="market", **options
    )
    assert_same(batches, whole)


def test_rows_may_be_in_any_order():
    report = evaluated(made(9), measures=["ndcg@3", "ap"])
    table = report.to_pandas(settings=True).sample(frac=1, random_state=0)
    found = RankingReport.from_frame(table)
    assert found.qid.tolist() == table["qid"].unique().tolist()
    assert found.measures == tuple(table["measure"].unique())
    by_row = ["qid", "measure"]
    pd.testing.assert_frame_equal(
        found.to_pandas(settings=True).sort_values(by_row, ignore_index=True),
        table.sort_values(by_row, ignore_index=True),
        check_exact=True,
    )


def test_settings_are_columns_on_request():
    report = evaluate([1, 0], [2, 1], measures="ap", zero_relevance="skip")
    plain, table = report.to_pandas(), report.to_pandas(settings=True)
    assert plain.columns.tolist()[-2:] == ["sampling_error", "std_is_estimate"]
    assert table.columns.tolist()[len(plain.columns) :] == [
        "undefined", "query_weight", "zero_relevance", "unjudged", "convention"
    ]  # fmt: skip
    assert table.loc[0, "zero_relevance"] == "skip"
    assert table["query_weight"].isna().all()


def half(label):
    return label / 2


def test_every_measure_is_found_by_its_name():
    rows = made(9)
    named = [m for m in MEASURES if not any(map(callable, vars(m).values()))]
    report = evaluated(rows, measures=named)
    assert_same(RankingReport.from_frame(report.to_pandas(settings=True)), report)
    table = evaluated(rows, measures=NDCG(gain=half)).to_pandas(settings=True)
    with pytest.raises(ValueError, match=r"column 'measure' of frame: .*gain=half"):
        RankingReport.from_frame(table)


def changed(column, value, row=3):
    def change(table):
        cells = table[column].astype(object)
        cells[row] = value
        return table.assign(**{column: cells})

    return change


REFUSED = {
    "no table": (lambda table: [1], "must be a data frame of pandas, .* got list"),
    "no rows": (lambda table: table[:0], "qid must not be empty, got 0 rows"),
    "no settings": (
        lambda table: table.drop(columns="undefined"),
        r"columns of to_pandas\(settings=True\), but has no column 'undefined'",
    ),
    "a query twice": (
        lambda table: pd.concat([table, table[2:4]], ignore_index=True),
        "frame must have one row for each query and measure, got 2 of AP for query 1",
    ),
    "other measures": (
        lambda table: table.drop(index=3),
        "one row for each query and measure, got 0 of RR for query 1",
    ),
    "two rules": (
        changed("zero_relevance", "skip"),
        "zero_relevance must be the same in all rows of frame, got 0.0 and 'skip'",
    ),
    "a convention": (
        changed("convention", "trec_eval"),
        "convention must be the same in all rows of frame, got None and 'trec_eval'",
    ),
    "no rule": (
        lambda table: table.assign(zero_relevance=None),
        "zero_relevance must be a finite number, .* got None",
    ),
    "unjudged": (
        lambda table: table.assign(unjudged="keep"),
        "unjudged must be one of .*, got 'keep'",
    ),
    "text": (changed("best", "high"), "best must be numeric, .* 'high' in row 3"),
    "a lost value": (
        changed("std", np.nan),
        "std must not be missing where undefined is False, got nan in row 3",
    ),
    "a flag": (
        changed("std_is_estimate", 2),
        "std_is_estimate must be True or False, got 2.0 in row 3",
    ),
    "some weights": (
        changed("query_weight", np.nan),
        "query_weight must be finite and >= 0, got nan in row 3",
    ),
    "two weights": (
        changed("query_weight", 7.0),
        "query_weight must be constant within a query, got 1.0 and 7.0 in query 1",
    ),
    "some segments": (changed("segment", None), "segment must not be missing"),
    "no id": (changed("qid", None), "qid must not be missing"),
    "a measure": (
        changed("measure", "NDGC@10"),
        "column 'measure' of frame: unknown measure 'NDGC@10'; did you mean 'NDCG@10'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_report_is_refused(change, message):
    labels, scores = [[1, 0], [0, 1], [1, 0]], [[2, 1], [1, 1], [1, 2]]
    report = evaluate(
        labels, scores, segment=["b", "a", "b"], query_weight=[1, 1, 2],
        measures=["ap", "rr"],
    )  # fmt: skip
    with pytest.raises(ValueError, match=message):
        RankingReport.from_frame(change(report.to_pandas(settings=True)))
