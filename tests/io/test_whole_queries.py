"""Batches that end anywhere, as batches of whole queries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.datasets import whole_queries

KINDS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({"q": [*frame["q"]], "x": [*frame["x"]]}),
    "table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}  # fmt: skip


def rows_of(table):
    if isinstance(table, pd.DataFrame):
        return list(zip(table["q"].tolist(), table["x"].tolist(), strict=True))
    table = table.to_arrow() if isinstance(table, pl.DataFrame) else table
    columns = table.column("q").to_pylist(), table.column("x").to_pylist()
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_all_rows_in_order_and_no_query_cut(kind, data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    names = data.draw(st.permutations([f"q{i}" for i in range(len(sizes))]))
    ids = np.repeat(np.array(names, dtype=object), sizes)
    frame = pd.DataFrame({"q": ids, "x": np.arange(len(ids))})
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=6)))
    least = data.draw(st.integers(1, 9))
    ends = [0, *cuts, len(ids)]
    batches = [KINDS[kind](frame.iloc[a:b]) for a, b in pairwise(ends)]
    found = list(whole_queries(batches, "q", batch_rows=least))
    same = pa.Table if kind == "batch" else type(batches[0])
    assert {type(batch) for batch in found} == {same}
    assert [row for batch in found for row in rows_of(batch)] == rows_of(frame)
    queries = [{q for q, _ in rows_of(batch)} for batch in found]
    assert sum(map(len, queries)) == len(sizes)
    assert all(len(batch) >= least for batch in map(rows_of, found[:-1]))
    assert all(map(rows_of, found))


def frames(*ids, column="q"):
    return [pd.DataFrame({column: list(own), "x": range(len(own))}) for own in ids]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["aab", "bcb"], "row 2 of batch 1: query 'b' comes back after"),
        (["aab", "bc", "", "a"], "row 0 of batch 3: query 'a' comes back after"),
        (["aba"], "row 2 of batch 0: query 'a' comes back after"),
        (["ab", "ba"], "row 1 of batch 1: query 'a' comes back after"),
        (["a", [None]], "column 'q' of batch 1 must not be missing, got None in row 0"),
    ],
)  # fmt: skip
def test_a_query_that_comes_back_is_named(ids, message):
    with pytest.raises(ValueError, match=message):
        list(whole_queries(frames(*ids), "q"))


def test_the_batches_before_an_error_are_given():
    found = whole_queries(frames("ab", "ca"), "q")
    assert rows_of(next(found)) == [("a", 0)]
    with pytest.raises(ValueError, match="query 'a'"):
        next(found)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (frames("a")[0], "must be an iterable of tables, got a single DataFrame"),
        ([{"q": [1]}], "Arrow or the like, got dict in batch 0"),
        ([*frames("a"), pl.DataFrame({"q": ["b"], "x": [1]})],
         "got a pandas DataFrame first and a polars DataFrame in batch 1"),
        (frames("a", column="k"), r"batch 0: there is no column 'q' \(columns: k, x\)"),
        ([*frames("a"), pd.DataFrame({"q": ["b"]})],
         "batch 1: there is no column 'x' .*: the first batch has it"),
        ([pd.DataFrame({"q": ["b"]}), *frames("a")],
         "batch 0: there is no column 'x' .*: batch 1 has it"),
    ],
)  # fmt: skip
def test_what_is_no_batch(batches, message):
    with pytest.raises(ValueError, match=message):
        list(whole_queries(batches, "q"))
    with pytest.raises(ValueError, match="batch_rows must be"):
        whole_queries([], batch_rows=0)


def test_nothing_of_nothing_and_a_record_batch_reader():
    assert list(whole_queries([])) == []
    table = pa.table({"qid": [1, 1, 2]})
    found = list(whole_queries(table.to_reader(max_chunksize=1)))
    assert [batch.column("qid").to_pylist() for batch in found] == [[1, 1], [2]]


@pytest.mark.parametrize("kind", ["polars", "table", "batch"])
def test_columns_of_two_types_in_any_order(kind):
    first = KINDS[kind](pd.DataFrame({"q": [1, 2], "x": [1, 2]}))
    second = KINDS[kind](pd.DataFrame({"q": [2], "x": [0.5]})).select(["x", "q"])
    *_, last = whole_queries([first, second], "q")
    assert rows_of(last) == [(2, 2.0), (2, 0.5)]
