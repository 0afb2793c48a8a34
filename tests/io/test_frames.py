"""Tables and streams of other libraries: batches of whole queries, and ids."""

from __future__ import annotations

import pickle
from decimal import Decimal
from io import BytesIO
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io.helpers import joined
from tieaware_sklearn import RankingFeatureSelector, evaluate, evaluate_batches
from tieaware_sklearn.datasets import iter_batches, query_digests, whole_queries
from tieaware_sklearn.io import gathered


def lazy(frame):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no LazyFrame.collect_batches")
    return frame.lazy()


def relation(table, folder):
    return pytest.importorskip("duckdb").from_arrow(table).select("*")


SOURCES = {
    "arrow table": lambda table, _: table,
    "record batch": lambda table, _: table.combine_chunks().to_batches()[0],
    "list of record batches": lambda table, _: table.to_batches(max_chunksize=70),
    "reader": lambda table, _: table.to_reader(max_chunksize=70),
    "dataset": lambda _, folder: ds.dataset(folder, format="parquet"),
    "scanner": lambda _, folder: ds.dataset(folder, format="parquet").scanner(),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: lazy(pl.from_arrow(table)),
    "polars scan": lambda _, folder: lazy(pl.scan_parquet(folder / "*.parquet")),
    "pandas": lambda table, _: table.to_pandas(),
    "duckdb": relation,
}


@pytest.fixture(scope="module")
def table(web, tmp_path_factory):
    columns = {f"f{j}": column for j, column in enumerate(web["X"].T)}
    table = pa.table(
        {"label": web["y"], **columns, "qid": [f"q{q:02d}" for q in web["qid"]]}
    )
    folder = tmp_path_factory.mktemp("shards")
    for part in range(3):
        start = part * 150
        rows = table.slice(start, 150 if part < 2 else None)
        pq.write_table(rows, folder / f"{part}.parquet", row_group_size=40)
    return table, folder


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("batch_rows", [1, 60, None])
def test_all_rows_in_whole_queries(table, web, name, batch_rows):
    batches = list(iter_batches(SOURCES[name](*table), batch_rows=batch_rows))
    assert_array_equal(joined(batches), web["X"])
    assert_array_equal(joined(batches, "target"), web["y"])
    ids = [set(b.qid.tolist()) for b in batches]
    assert sum(map(len, ids)) == len(set.union(*ids)) == 30
    assert all(len(b.qid) >= (batch_rows or 10**6) for b in batches[:-1])
    first = batches[0]
    assert first.feature_names == [f"f{j}" for j in range(web["X"].shape[1])]
    assert f"rows 0 to {len(first.qid) - 1}, " in first.DESCR
    last = pickle.loads(pickle.dumps(batches[-1].place))
    assert last(len(batches[-1].qid) - 1).startswith(f"row {len(web['y']) - 1} of a ")


def test_streams_and_tables_are_screened_and_evaluated(table, web):
    found = evaluate_batches([table[0]], score="f1").summary()
    whole = evaluate(web["y"], web["X"][:, 1], qid=web["qid"]).summary()
    assert_array_equal(found.mean, whole.mean)
    batches = iter_batches(SOURCES["reader"](*table), batch_rows=50)
    selector = RankingFeatureSelector().fit_batches(batches)
    at_once = RankingFeatureSelector().fit(web["X"], web["y"], qid=web["qid"])
    assert_array_equal(selector.selection_order_, at_once.selection_order_)


def test_small_batches_are_gathered(table):
    batches = list(
        iter_batches(SOURCES["reader"](*table), batch_rows=50, as_frame=True)
    )
    tables = [batch.data.assign(qid=batch.qid) for batch in batches]
    for least in (1, 120, 10**6):
        found = list(gathered(tables, ["f1", "qid"], "qid", least))
        sizes = [sum(piece.n_rows for piece in pieces) for pieces in found]
        assert sum(sizes) == sum(map(len, tables))
        assert all(least <= size < least + 100 for size in sizes[:-1])
        assert [p.number for pieces in found for p in pieces] == [*range(len(tables))]
        assert found[0][0].names == ["f1", "qid"]
    with pytest.raises(ValueError, match=r"got query 'q.*' again in batch 1 \(whole"):
        list(gathered([tables[0], tables[0]], ["qid"], "qid", 1))


@pytest.mark.parametrize("name", ["web.txt", "web.csv", "web.parquet"])
def test_evaluate_batches_takes_batches_of_files(files, web, name):
    whole = evaluate(web["y"], web["X"][:, 1], qid=web["qid"]).summary()
    feature = "2" if name == "web.txt" else "f1"
    for as_frame in (False, True):
        batches = iter_batches(files[name], batch_rows=50, as_frame=as_frame)
        found = evaluate_batches(batches, score=feature)
        assert_array_equal(found.summary().mean, whole.mean)
    with pytest.raises(ValueError, match=r"batch 0: there is no column 'f99'"):
        evaluate_batches(iter_batches(files[name]), score="f99")


def test_columns_of_all_types():
    table = pa.table(
        {"qid": [1, 1], "label": [1, 0], "flag": [True, None], "text": ["1", "2"],
         "whole": pa.array([2**53 + 1, 2**53]), "gap": pa.array([None, 3], pa.int8())}
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"'text' must hold numbers as .*, got .*'1'"):
        iter_batches(table)
    table = table.set_column(3, "text", pa.array(["a", "2"]))
    (batch,) = iter_batches(table, ignore=["gap"])
    assert batch.left_out == ["text"]
    assert batch.feature_names == ["flag", "whole"]
    # ranks of integers that floats would tie
    assert_array_equal(batch.data, [[1, 1], [np.nan, 0]])
    (batch,) = iter_batches(table, as_frame=True, ignore=["text"])
    assert batch.data["gap"].tolist()[1] == 3


ROWS = pa.table({"qid": [1, 2, 1], "label": [1, 0, 1], "x": [1, 2, 3], "t": [*"abc"]})


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        (ROWS, {}, "row 2 of a pyarrow Table: query 1 comes back after"),
            (ROWS, {"query_file": "x"}, "query_file must not be given for data frames"),
        (ROWS, {"n_features": 3}, "n_features must not be given for data frames"),
        (ROWS, {"qid": "query"}, "no column 'query' .*qid, label, x, t"),
        (ROWS, {"ignore": ["y"]}, "ignore must name a feature, got 'y'"),
        (ROWS, {"label": "t"}, "a pyarrow Table: column 't' holds no number"),
        (ROWS.select(["qid", "label"]), {}, "no column but 'label' and 'qid' holds"),
        (ROWS.schema.empty_table().to_reader(), {}, "Reader: there is no document"),
        (ROWS.slice(0, 0), {}, "a pyarrow Table: there is no document"),
        (ROWS, {"batch_rows": 0}, "batch_rows must be"),
        (None, {}, "path must be a path, .* an iterable of data frames, got NoneType$"),
        (3, {}, "got int$"),
        (b"a.csv", {}, "got bytes$"),
        (BytesIO(b"1 qid:1 1:1"), {}, "got BytesIO$"),
        (["a.csv", ROWS], {}, "got Table in a list$"),
        ([None], {}, "got NoneType in a list$"),
        (iter([3]), {}, "got int in a list"),
        (pd.Series([1, 2]), {}, "got .*Series$"),
        ({"label": [1]}, {}, "got dict$"),
        ([ROWS.slice(0, 2), "a.csv"], {}, "got str in batch 1"),
        (pa.Table.from_arrays([ROWS["x"]] * 3, ["qid", "label", "label"]), {},
         "must have each column once, got 'label' twice"),
    ],
)  # fmt: skip
def test_what_is_wrong(source, arguments, message):
    with pytest.raises(ValueError, match=message):
        list(iter_batches(source, **arguments))


def test_tables_of_a_generator_and_of_a_file_that_is_open(table, web, capsys):
    paths = sorted(table[1].iterdir())
    for items in (map(pq.read_table, paths), iter(paths)):
        assert_array_equal(joined(iter_batches(items, progress=True)), web["X"])
        assert "reading" in capsys.readouterr().err
    with pq.ParquetFile(paths[0]) as file:
        with pytest.raises(ValueError, match="of data frames, got ParquetFile"):
            iter_batches(file)
        assert sum(len(b.qid) for b in iter_batches(file.iter_batches())) == 150


def test_sums_of_duckdb_are_features():
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql(
        "select qid, max(label) as label, sum(f) as total, avg(f) as mean from (values "
        "(1, 0, 2), (1, 1, 3), (2, 1, 5), (2, 1, 6)) t(qid, label, f) "
        "group by qid order by qid"
    )
    (batch,) = iter_batches(rows)
    assert batch.feature_names == ["total", "mean"]
    assert_array_equal(batch.data, [[5, 2.5], [11, 5.5]])
    assert batch.left_out == []


def test_labels_of_every_kind_of_number():
    for label in (
        pa.array([Decimal(1), Decimal(0)]),
        pa.array([1, 0]).dictionary_encode(),
        pa.array([True, False]),
        pa.array(np.array([1, 0], np.float16)),
    ):
        rows = pa.table({"qid": [1, 1], "label": label, "x": [1, 2]})
        for source in (rows, rows.to_pandas()):
            (batch,) = iter_batches(source)
            assert batch.target.tolist() == [1, 0]


KINDS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({name: [*frame[name]] for name in frame}),
    "table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


def pairs_of(table):
    if isinstance(table, pd.DataFrame):
        return list(zip(table["q"].tolist(), table["x"].tolist(), strict=True))
    table = table.to_arrow() if isinstance(table, pl.DataFrame) else table
    columns = table.column("q").to_pylist(), table.column("x").to_pylist()
    return list(zip(*columns, strict=True))


@given(kind=st.sampled_from(list(KINDS)), data=st.data())
def test_all_rows_in_order_and_no_query_cut(kind, data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    names = data.draw(st.permutations([f"q{i}" for i in range(len(sizes))]))
    ids = np.repeat(np.array(names, dtype=object), sizes)
    frame = pd.DataFrame({"q": ids, "x": np.arange(len(ids)), "label": 1})
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=6)))
    least = data.draw(st.integers(1, 9))
    ends = [0, *cuts, len(ids)]
    batches = [KINDS[kind](frame.iloc[a:b]) for a, b in pairwise(ends)]
    found = list(whole_queries(batches, "q", batch_rows=least))
    same = pa.Table if kind == "batch" else type(batches[0])
    assert {type(batch) for batch in found} == {same}
    finely = iter_batches(batches, qid="q", batch_rows=least)
    of_files = [[*zip(b.qid.tolist(), b.data[:, 0], strict=True)] for b in finely]
    for rows in (list(map(pairs_of, found)), of_files):
        assert [row for batch in rows for row in batch] == pairs_of(frame)
        assert sum(len({q for q, _ in batch}) for batch in rows) == len(sizes)
        assert all(len(batch) >= least for batch in rows[:-1])
        assert all(rows)


def frames(*ids, column="q"):
    return [pd.DataFrame({column: list(own), "x": range(len(own))}) for own in ids]


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (frames("aab", "bcb"), "row 2 of batch 1: query 'b' comes back after"),
        (frames("aab", "bc", "", "a"), "row 0 of batch 3: query 'a' comes back after"),
        (frames("aba"), "row 2 of batch 0: query 'a' comes back after"),
        (frames("ab", "ba"), "row 1 of batch 1: query 'a' comes back after"),
        (frames("a", [None]), "column 'q' of batch 1 must not be missing, got None in "
         "row 0"),
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
def test_batches_that_hold_no_whole_queries(batches, message):
    with pytest.raises(ValueError, match=message):
        list(whole_queries(batches, "q"))


def test_what_comes_before_an_error_is_given():
    found = whole_queries(frames("ab", "ca"), "q")
    assert pairs_of(next(found)) == [("a", 0)]
    with pytest.raises(ValueError, match="query 'a'"):
        next(found)
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
    assert pairs_of(last) == [(2, 2.0), (2, 0.5)]


@settings(max_examples=50)
@given(st.lists(st.integers(-5, 5) | st.sampled_from([2**53, 2**53 + 1]), min_size=1))
def test_equal_ids_have_equal_digests(ids):
    found = query_digests(ids)
    assert found.dtype == np.uint64
    same = np.equal.outer(np.array(ids), np.array(ids))
    assert np.array_equal(np.equal.outer(found, found), same)
    assert np.array_equal(found, query_digests(pd.Series(ids)))
    with pytest.raises(ValueError, match="qid must not"):
        query_digests([*map(str, ids), None])
