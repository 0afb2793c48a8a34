"""Files, tables and streams of other libraries in batches of whole queries; ids."""

import pickle
import re
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
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io import helpers
from tests.io.helpers import joined, place_of, refused, write
from tieaware_sklearn import datasets, evaluate, evaluate_batches
from tieaware_sklearn.datasets import iter_batches
from tieaware_sklearn.io._frames import gathered

each_form = pytest.mark.parametrize("name", helpers.FORMS)


def reader_of(name):
    return datasets.load_letor if ".txt" in name else datasets.load_table


@each_form
def test_whole_files_are_the_only_batch(files, name):
    whole = reader_of(name)(files[name])
    (batch,) = iter_batches(files[name], batch_rows=10**6)
    assert whole.keys() == batch.keys()
    for key in ("data", "target", "qid", "feature_names", "left_out"):
        assert_array_equal(whole[key], batch[key], strict=True)
    n_rows = len(whole.qid)
    assert f"{files[name]}: {n_rows} rows, 30 queries, 12 features" == whole.DESCR
    assert pickle.loads(pickle.dumps(whole)).place(3) == batch.place(3)
    framed = list(iter_batches(files[name], batch_rows=40, as_frame=True))
    assert_array_equal(joined(framed), whole.data)
    assert framed[-1].data.columns.tolist() == whole.feature_names


@each_form
def test_rows_in_any_order_are_read_at_once_only(tmp_path, web, name):
    rows = np.r_[0:50, 60:70, 0]
    path = write(tmp_path / name, **{key: v[rows] for key, v in web.items()})
    place = re.escape(place_of(path, 60))
    with pytest.raises(ValueError, match=rf"^{place}: query '?1'? comes back after"):
        list(iter_batches(path))
    assert_array_equal(reader_of(name)(path).data, web["X"][rows])


@each_form
def test_several_files_are_one_and_a_query_may_go_on(tmp_path, web, name):
    middle = int(np.flatnonzero(web["qid"] == web["qid"][150])[2])
    parts = [
        write(tmp_path / f"{i}{name}", **{k: v[rows] for k, v in web.items()})
        for i, rows in enumerate([slice(0, middle), slice(middle, None)])
    ]
    batches = list(iter_batches(parts, batch_rows=40))
    assert_array_equal(joined(batches), web["X"])
    assert sum(len(set(b.qid.tolist())) for b in batches) == 30
    (whole,) = iter_batches(parts)
    assert whole.place(middle - 1) == place_of(parts[0], middle - 1)
    assert whole.place(middle) == place_of(parts[1], 0)
    again = reader_of(name)(parts, as_frame=True, ignore=batches[0].feature_names[:1])
    assert_array_equal(again.data, web["X"][:, 1:])


def test_ids_that_are_not_whole_numbers_are_told_apart(tmp_path):
    """Python's hash takes -1.0 for -2.0."""
    ids = [-1.0, -2.0, -1.5, 0.25, 1e300, 0.0]
    frame = pd.DataFrame({"label": 1, "qid": ids, "x": 2.0})
    batches = iter_batches(frame, batch_rows=1)
    assert [batch.qid.tolist() for batch in batches] == [[one] for one in ids]
    with pytest.raises(ValueError, match=r"row 3 .*: query -2\.0 comes back"):
        list(iter_batches(frame.iloc[[0, 1, 2, 1]]))


def test_a_progress_bar_counts_documents(files, web, capsys):
    list(iter_batches(files["web.parquet"], batch_rows=50, progress=True))
    n_rows, said = len(web["qid"]), capsys.readouterr().err
    assert f"{n_rows}/{n_rows}" in said
    assert "reading" in said
    list(iter_batches(files["web.parquet"]))
    assert capsys.readouterr().err == ""


def test_memory_stays_flat(tmp_path):
    n_rows = 120_000
    X = np.random.default_rng(0).integers(0, 9, (n_rows, 10)).astype(np.float64)
    y, qid = X[:, 0] % 3, np.arange(n_rows) // 40
    path = write(tmp_path / "large.parquet", X, y, qid, row_group_size=10_000)
    with helpers.memory_below(X.nbytes / 3):
        batches = iter_batches(path, batch_rows=5000)
        assert sum(len(np.unique(batch.qid)) for batch in batches) == 3000


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".txt"])
def test_empty_files_among_others(tmp_path, web, ending):
    """Spark writes one for each empty partition."""
    ends = [0, 0, 0, 30, 30, 50, 50]
    for number, (start, stop) in enumerate(pairwise(ends)):
        path = tmp_path / f"{number}{ending}"
        if ending == ".txt" and start == stop:
            path.write_text("")
        else:
            write(path, **{key: values[start:stop] for key, values in web.items()})
    found = reader_of(ending)(tmp_path)
    assert_array_equal(found.data, web["X"][:50])
    for batch_rows in (1, 3, 100):
        batches = list(iter_batches(tmp_path, batch_rows=batch_rows))
        assert_array_equal(joined(batches), web["X"][:50])
        assert_array_equal(joined(batches, "target"), web["y"][:50])
    assert found.place(30) == batches[-1].place(30)
    assert found.place(30) == place_of(tmp_path / f"4{ending}", 0)
    empty = [tmp_path / f"{number}{ending}" for number in (0, 1)]
    # types are unknown without rows
    message = "column 'label' holds no number" if ending == ".csv" else "no document"
    refused(empty, rf"0\..*1\..*: .*{message}", reader_of(ending))


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_an_empty_file_has_the_columns_of_the_others(tmp_path, ending):
    rows = pd.DataFrame({"label": [1, 0, 2], "qid": [1, 1, 2], "x": [1.5, 2, 3]})
    first, other = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    helpers.write_table(first, rows)
    helpers.write_table(other, rows[:0].rename(columns={"x": "y"}))
    same = f"^{other}: must have the columns of {first}, but only one of them has"
    refused([first, other], f"{same} 'x', 'y'$")
    helpers.write_table(other, rows[:0].assign(y=1.0))
    refused([first, other], f"{same} 'y'$")
    # types of no ids do not matter
    helpers.write_table(other, rows[:0].astype({"qid": object}))
    assert datasets.load_table([other, first]).qid.astype(int).tolist() == [1, 1, 2]


# tables and streams
def lazy(frame):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no LazyFrame.collect_batches")
    return frame.lazy()


def relation(table, folder):
    return pytest.importorskip("duckdb").from_arrow(table).select("*")


SOURCES = {
    "record batch": lambda table, _: table.combine_chunks().to_batches()[0],
    "list of record batches": lambda table, _: table.to_batches(max_chunksize=70),
    "reader": lambda table, _: table.to_reader(max_chunksize=70),
    "dataset": lambda _, folder: ds.dataset(folder, format="parquet"),
    "scanner": lambda _, folder: ds.dataset(folder, format="parquet").scanner(),
    "generator": lambda _, folder: map(pq.read_table, sorted(folder.iterdir())),
    "polars": lambda table, _: pl.from_arrow(table),
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
        rows = table.slice(part * 150, 150 if part < 2 else None)
        pq.write_table(rows, folder / f"{part}.parquet", row_group_size=40)
    return table, folder


@pytest.mark.parametrize("name", [*helpers.FORMS, *SOURCES])
@pytest.mark.parametrize("batch_rows", [1, 13, 60, None])
def test_batches_are_the_rows_in_whole_queries(files, table, web, name, batch_rows):
    source = SOURCES[name](*table) if name in SOURCES else files[name]
    batches = list(iter_batches(source, batch_rows=batch_rows))
    assert_array_equal(joined(batches), web["X"])
    assert_array_equal(joined(batches, "target"), web["y"])
    ids = joined(batches, "qid").astype(str)
    assert_array_equal(np.char.lstrip(ids, "q").astype(int), web["qid"])
    assert sum(len(set(batch.qid)) for batch in batches) == 30
    start = 0
    for batch in batches:
        n_rows, queries = len(batch.qid), len(set(batch.qid))
        rows = f"rows {start} to {start + n_rows - 1}, {queries} queries, 12 features"
        assert batch.DESCR.endswith(f": {rows}")
        assert batch.feature_names == batches[0].feature_names
        if batch is not batches[-1]:
            # full, and not before its last query
            assert (batch.qid != batch.qid[-1]).sum() < batch_rows <= n_rows
        start += n_rows
    place = pickle.loads(pickle.dumps(batches[-1])).place
    if name in SOURCES:
        assert place(n_rows - 1).startswith(f"row {start - 1} of a ")
        assert batches[0].feature_names == [f"f{j}" for j in range(12)]
    else:
        assert batches[0].DESCR.startswith(f"{source}: ")
        assert place(n_rows - 1) == place_of(source, start - 1)
        assert place(0) == place_of(source, start - n_rows)


def test_small_batches_are_gathered(table):
    batches = iter_batches(SOURCES["reader"](*table), batch_rows=50, as_frame=True)
    tables = [batch.data.assign(qid=batch.qid) for batch in batches]
    for least in (1, 120, 10**6):
        found = list(gathered(tables, ["f1", "qid"], "qid", least))
        sizes = [sum(map(len, parts.values())) for parts in found]
        assert sum(sizes) == sum(map(len, tables))
        assert all(least <= size < least + 100 for size in sizes[:-1])
        assert [number for parts in found for number in parts] == [*range(len(tables))]
        assert found[0][0].column_names == ["f1", "qid"]
    with pytest.raises(ValueError, match=r"got query 'q.*' again in batch 1 \(whole"):
        list(gathered([tables[0], tables[0]], ["qid"], "qid", 1))


@pytest.mark.parametrize("as_frame", [False, True])
def test_evaluate_batches_of_files_and_tables(table, files, web, as_frame):
    whole = evaluate(web["y"], web["X"][:, 1], qid=web["qid"]).summary()
    for source, name in ((files["web.txt"], "2"), (files["web.csv"], "f1")):
        batches = iter_batches(source, batch_rows=50, as_frame=as_frame)
        found = evaluate_batches(batches, score=name).summary()
        assert_array_equal(found.mean, whole.mean)
    found = evaluate_batches([table[0]], score="f1").summary()
    assert_array_equal(found.mean, whole.mean)
    with pytest.raises(ValueError, match=r"batch 0: there is no column 'f99'"):
        evaluate_batches(iter_batches(files["web.csv"]), score="f99")


@pytest.mark.parametrize("as_frame", [False, True])
def test_fractions_of_a_later_batch_round_no_integer(as_frame):
    first = pd.DataFrame({"qid": 1, "label": 1, "x": [2**53 + 1, 2**53]})
    tables = [first, first.assign(x=[0.5, 2])]
    with pytest.raises(
        ValueError, match=r"column 'x' must hold .* got 9007199254740993"
    ):
        list(iter_batches(tables, as_frame=as_frame))


def test_columns_of_pandas_without_names_have_numbers():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=[5, 3])
    frame = frame.assign(qid=1, label=[1, 0])
    for ignore, names in ([], ["0", "1"]), (["0"], ["1"]):
        batch = next(iter_batches(frame, ignore=ignore))
        assert batch.feature_names == names
        assert batch.data[:, -1].tolist() == [2, 4]


LABELS_OF_ALL_TYPES = [
    pa.array([Decimal(1), Decimal(0)]),
    pa.array([1, 0]).dictionary_encode(),
    pa.array(np.array([1, 0], np.float16)),
]


@pytest.mark.parametrize("label", LABELS_OF_ALL_TYPES)
def test_labels_of_all_types(label):
    rows = pa.table({"qid": [1, 1], "label": label, "x": [1, 2]})
    for source in (rows, rows.to_pandas()):
        assert next(iter_batches(source)).target.tolist() == [1, 0]


LEFT_OUT = "ignore:columns without numbers are left out"
TABLE = pa.table({"qid": [1, 2, 1], "label": [1, 0, 1], "x": [1, 2, 3], "t": [*"abc"]})


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ("web.csv", {"batch_rows": 0}, "batch_rows must be an integer >= 1.* got 0"),
        ("web.csv", {"label": "nowhere"}, "there is no column 'nowhere' .columns: f0"),
        ("web.csv", {"label": "qid"}, "different columns, got 'qid' twice"),
        ("web.csv", {"query_file": "x"}, "^query_file must not be given for tables"),
        ("web.csv", {"n_features": 3}, "^n_features must not .* for tables, got 3"),
        ("web.csv", {"n_features": 0}, "n_features must be an integer >= 1"),
        ("web.csv", {"decimal": ""}, "decimal must be a decimal separator, got ''"),
        ("web.csv", {"quoting": "all"}, "quoting must be .*'none'.*got 'all'"),
        ("web.csv", {"missing_values": "NA"}, "missing_values must be a list .* 'NA'"),
        ("web.csv", {"missing_values": [1]}, "missing_values must be a list .*1"),
        ("web.txt", {"decimal": ","}, "decimal must not be given for LETOR text"),
        ("web.parquet", {"ignore": ["x"]}, "ignore must name a feature, got 'x'"),
        ("web.txt", {"ignore": ["x"]}, r"feature, got 'x' \(features: 1, 2, 3"),
        ("web.txt", {"missing_values": ["a"]}, "missing_values must not .* LETOR text"),
        (TABLE, {}, "row 2 of a pyarrow Table: query 1 comes back after"),
        (TABLE, {"query_file": "x"}, "query_file must not be given for data frames"),
        (TABLE, {"n_features": 3}, "n_features must not be given for data frames"),
        (TABLE, {"qid": "query"}, "no column 'query' .*qid, label, x, t"),
        (TABLE, {"label": "t"}, "a pyarrow Table: column 't' holds no number"),
        (TABLE.select(["qid", "label"]), {}, "no column but 'label' and 'qid' holds"),
        (TABLE.schema.empty_table().to_reader(), {}, "Reader: there is no document"),
        (TABLE.slice(0, 0), {}, "a pyarrow Table: there is no document"),
        (None, {}, "path must be a path, .* of data frames, got a builtins NoneType$"),
        (b"a.csv", {}, "got a builtins bytes$"),
        (BytesIO(b"1 qid:1 1:1"), {}, "got a _io BytesIO$"),
        (pd.Series([1, 2]), {}, "non-struct type int64|got a pandas Series"),
        ({"label": [1]}, {}, "got a builtins dict$"),
        ([TABLE.slice(0, 2), "a.csv"], {}, "got str in batch 1"),
        (pa.Table.from_arrays([TABLE["x"]] * 3, ["qid", "label", "label"]), {},
         "Expected unique column names, got:\\n- 'label' 2"),
    ],
)  # fmt: skip
def test_what_is_wrong(files, source, arguments, message):
    source = files[source] if isinstance(source, str) else source
    with pytest.raises(ValueError, match=message):
        list(iter_batches(source, **arguments))


# whole queries of tables that end anywhere
KINDS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({name: [*frame[name]] for name in frame}),
    "table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


def pairs_of(table):
    columns = [np.asarray(table[name]).tolist() for name in ("q", "x")]
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
    found = list(datasets.whole_queries(batches, "q", batch_rows=least))
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
        (frames("ab", "ba"), "row 1 of batch 1: query 'a' comes back after"),
        (frames("a", [None]), "row 0 of batch 1: the query id must not be .* got None"),
        (frames("a")[0], "Arrow or the like, got str in batch 0"),
        ([{"q": [1]}], "Arrow or the like, got dict in batch 0"),
        (frames("a", column="k"), r"batch 0: there is no column 'q' \(columns: k, x\)"),
        ([*frames("a"), pd.DataFrame({"q": ["b"]})],
         "batch 1: must have the columns of the first batch, but only .* has 'x'"),
        ([pd.DataFrame({"q": ["b"]}), *frames("a")],
         "batch 1: must have the columns of the first batch, but only .* has 'x'"),
    ],
)  # fmt: skip
def test_batches_that_hold_no_whole_queries(batches, message):
    with pytest.raises(ValueError, match=message):
        list(datasets.whole_queries(batches, "q"))


def test_what_comes_before_an_error_is_given():
    found = datasets.whole_queries(frames("ab", "ca"), "q")
    assert pairs_of(next(found)) == [("a", 0)]
    with pytest.raises(ValueError, match="query 'a'"):
        next(found)
    with pytest.raises(ValueError, match="batch_rows must be"):
        datasets.whole_queries([], batch_rows=0)
    assert list(datasets.whole_queries([])) == []


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_any_order(kind):
    first = KINDS[kind](pd.DataFrame({"q": [1, 2], "x": [1, 2]}))
    second = KINDS[kind](pd.DataFrame({"x": [5], "q": [2]}))
    *_, last = datasets.whole_queries([first, second], "q")
    assert pairs_of(last) == [(2, 2), (2, 5)]


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_column_that_is_empty_at_first_is_not_lost(make):
    first = {"qid": [1, 1], "label": [1, 0], "x": [1, 2], "late": [None, None]}
    empty = make(first)
    later = make(first | {"qid": [2, 2], "late": [3.5, None]})
    message = "batch 1: the columns with numbers must be those of the first batch"
    with pytest.raises(ValueError, match=message):
        list(iter_batches([empty, later]))
    for tables, ignore in (([empty, later], ["late"]), ([empty, empty], [])):
        assert next(iter_batches(tables, ignore=ignore)).feature_names == ["x"]
