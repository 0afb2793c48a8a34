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


def rows_of(web, rows):
    return {"X": web["X"][rows], "y": web["y"][rows], "qid": web["qid"][rows]}


def n_queries(batches):
    """Count queries, those that two batches share twice."""
    return sum(len(set(batch.qid.tolist())) for batch in batches)


@each_form
def test_whole_files_are_the_only_batch(files, name):
    path = files[name]
    whole = reader_of(name)(path)
    (batch,) = iter_batches(path, batch_rows=10**6)
    assert whole.keys() == batch.keys()
    for key in ("data", "target", "qid", "feature_names", "left_out"):
        assert_array_equal(whole[key], batch[key], strict=True)
    description = f"{path}: {len(whole.qid)} rows, 30 queries, 12 features"
    assert description == whole.DESCR
    loaded = pickle.loads(pickle.dumps(whole))
    assert loaded.place(3) == batch.place(3)
    framed = list(iter_batches(path, batch_rows=40, as_frame=True))
    assert_array_equal(joined(framed), whole.data)
    assert framed[-1].data.columns.tolist() == whole.feature_names


@each_form
def test_rows_in_any_order_are_read_at_once_only(tmp_path, web, name):
    rows = np.r_[0:50, 60:70, 0]
    path = write(tmp_path / name, **rows_of(web, rows))
    place = re.escape(place_of(path, 60))
    with pytest.raises(ValueError, match=rf"^{place}: query '?1'? comes back after"):
        list(iter_batches(path))
    whole = reader_of(name)(path)
    assert_array_equal(whole.data, web["X"][rows])


@each_form
def test_several_files_are_one_and_a_query_may_go_on(tmp_path, web, name):
    is_same_query = web["qid"] == web["qid"][150]
    middle = int(np.flatnonzero(is_same_query)[2])
    first = write(tmp_path / f"0{name}", **rows_of(web, slice(0, middle)))
    second = write(tmp_path / f"1{name}", **rows_of(web, slice(middle, None)))
    paths = [first, second]
    batches = list(iter_batches(paths, batch_rows=40))
    assert_array_equal(joined(batches), web["X"])
    assert n_queries(batches) == 30
    (whole,) = iter_batches(paths)
    assert whole.place(middle - 1) == place_of(first, middle - 1)
    assert whole.place(middle) == place_of(second, 0)
    ignore = batches[0].feature_names[:1]
    framed = reader_of(name)(paths, as_frame=True, ignore=ignore)
    assert_array_equal(framed.data, web["X"][:, 1:])


def test_ids_that_are_not_whole_numbers_are_told_apart(tmp_path):
    """Python's hashes of -1.0 and -2.0 are equal."""
    ids = [-1.0, -2.0, -1.5, 0.25, 1e300, 0.0]
    frame = pd.DataFrame({"label": 1, "qid": ids, "x": 2.0})
    batches = list(iter_batches(frame, batch_rows=1))
    assert len(batches) == len(ids)
    for batch, query in zip(batches, ids, strict=True):
        assert batch.qid.tolist() == [query]
    with pytest.raises(ValueError, match=r"row 3 .*: query -2\.0 comes back"):
        list(iter_batches(frame.iloc[[0, 1, 2, 1]]))


def test_a_progress_bar_counts_documents(files, web, capsys):
    n_rows = len(web["qid"])
    list(iter_batches(files["web.parquet"], batch_rows=50, progress=True))
    bar = capsys.readouterr().err
    assert f"{n_rows}/{n_rows}" in bar
    assert "reading" in bar
    list(iter_batches(files["web.parquet"]))
    assert capsys.readouterr().err == ""


def test_memory_stays_flat(tmp_path):
    n_rows = 120_000
    X = np.random.default_rng(0).integers(0, 9, (n_rows, 10)).astype(np.float64)
    y = X[:, 0] % 3
    qid = np.arange(n_rows) // 40
    path = write(tmp_path / "large.parquet", X, y, qid, row_group_size=10_000)
    with helpers.memory_below(X.nbytes / 3):
        n_read = n_queries(iter_batches(path, batch_rows=5000))
    assert n_read == 3000


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".txt"])
def test_empty_files_among_others(tmp_path, web, ending):
    """Spark writes one for each empty partition."""
    ends = [0, 0, 0, 30, 30, 50, 50]
    for number, (start, stop) in enumerate(pairwise(ends)):
        path = tmp_path / f"{number}{ending}"
        if ending == ".txt" and start == stop:
            path.write_text("")
        else:
            write(path, **rows_of(web, slice(start, stop)))
    whole = reader_of(ending)(tmp_path)
    assert_array_equal(whole.data, web["X"][:50])
    for batch_rows in (1, 3, 100):
        batches = list(iter_batches(tmp_path, batch_rows=batch_rows))
        assert_array_equal(joined(batches), web["X"][:50])
        assert_array_equal(joined(batches, "target"), web["y"][:50])
    assert whole.place(30) == batches[-1].place(30)
    assert whole.place(30) == place_of(tmp_path / f"4{ending}", 0)
    empty = [tmp_path / f"0{ending}", tmp_path / f"1{ending}"]
    # types are unknown without rows
    message = "column 'label' must be numeric" if ending == ".csv" else "no document"
    refused(empty, rf"0\..*1\..*: .*{message}", reader_of(ending))


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_an_empty_file_has_the_columns_of_the_others(tmp_path, ending):
    frame = pd.DataFrame({"label": [1, 0, 2], "qid": [1, 1, 2], "x": [1.5, 2, 3]})
    without_rows = frame[:0]
    full = tmp_path / f"a{ending}"
    empty = tmp_path / f"b{ending}"
    helpers.write_table(full, frame)
    message = f"^{empty}: must have the columns of {full}, but only one of the two has"
    helpers.write_table(empty, without_rows.rename(columns={"x": "y"}))
    refused([full, empty], f"{message} 'x', 'y'$")
    helpers.write_table(empty, without_rows.assign(y=1.0))
    refused([full, empty], f"{message} 'y'$")
    # types of no ids do not matter
    helpers.write_table(empty, without_rows.astype({"qid": object}))
    table = datasets.load_table([empty, full])
    assert table.qid.astype(int).tolist() == [1, 1, 2]


# tables and streams
def lazy(frame):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no LazyFrame.collect_batches")
    return frame.lazy()


def relation(table, folder):
    return pytest.importorskip("duckdb").from_arrow(table).select("*")


def dataset(table, folder):
    return ds.dataset(folder, format="parquet")


def scanned(table, folder):
    return lazy(pl.scan_parquet(folder / "*.parquet"))


def generator(table, folder):
    for path in sorted(folder.iterdir()):
        yield pq.read_table(path)


SOURCES = {
    "record batch": lambda table, folder: table.combine_chunks().to_batches()[0],
    "list of record batches": lambda table, folder: table.to_batches(max_chunksize=70),
    "reader": lambda table, folder: table.to_reader(max_chunksize=70),
    "dataset": dataset,
    "scanner": lambda table, folder: dataset(table, folder).scanner(),
    "generator": generator,
    "polars": lambda table, folder: pl.from_arrow(table),
    "polars scan": scanned,
    "pandas": lambda table, folder: table.to_pandas(),
    "duckdb": relation,
}


@pytest.fixture(scope="module")
def table(web, tmp_path_factory):
    """A table, and a folder with its rows in three files."""
    columns = {"label": web["y"]}
    for j, column in enumerate(web["X"].T):
        columns[f"f{j}"] = column
    columns["qid"] = [f"q{query:02d}" for query in web["qid"]]
    table = pa.table(columns)
    folder = tmp_path_factory.mktemp("shards")
    parts = [table.slice(0, 150), table.slice(150, 150), table.slice(300)]
    for number, part in enumerate(parts):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=40)
    return table, folder


def check_batches(batches, web, batch_rows):
    """Check that batches hold the rows of whole queries, and as few as they may."""
    assert_array_equal(joined(batches), web["X"])
    assert_array_equal(joined(batches, "target"), web["y"])
    ids = joined(batches, "qid").astype(str)
    assert_array_equal(np.char.lstrip(ids, "q").astype(int), web["qid"])
    assert n_queries(batches) == 30
    start = 0
    for batch in batches:
        n_rows = len(batch.qid)
        stop = start + n_rows
        rows = f"rows {start} to {stop - 1}, {n_queries([batch])} queries, 12 features"
        assert batch.DESCR.endswith(f": {rows}")
        assert batch.feature_names == batches[0].feature_names
        if batch is not batches[-1]:
            assert n_rows >= batch_rows
            before_last_query = (batch.qid != batch.qid[-1]).sum()
            assert before_last_query < batch_rows
        start = stop


@pytest.mark.parametrize("name", helpers.FORMS)
@pytest.mark.parametrize("batch_rows", [1, 13, 60, None])
def test_batches_of_files_are_whole_queries(files, web, name, batch_rows):
    path = files[name]
    batches = list(iter_batches(path, batch_rows=batch_rows))
    check_batches(batches, web, batch_rows)
    assert batches[0].DESCR.startswith(f"{path}: ")
    last = pickle.loads(pickle.dumps(batches[-1]))
    n_rows = len(web["qid"])
    n_last = len(last.qid)
    assert last.place(n_last - 1) == place_of(path, n_rows - 1)
    assert last.place(0) == place_of(path, n_rows - n_last)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("batch_rows", [1, 13, 60, None])
def test_batches_of_tables_are_whole_queries(table, web, name, batch_rows):
    source = SOURCES[name](*table)
    batches = list(iter_batches(source, batch_rows=batch_rows))
    check_batches(batches, web, batch_rows)
    assert batches[0].feature_names == [f"f{j}" for j in range(12)]
    last = pickle.loads(pickle.dumps(batches[-1]))
    n_rows = len(web["qid"])
    place = last.place(len(last.qid) - 1)
    assert place.startswith(f"row {n_rows - 1} of a ")


@pytest.mark.parametrize("least", [1, 120, 10**6])
def test_small_batches_are_gathered(table, least):
    batches = iter_batches(SOURCES["reader"](*table), batch_rows=50, as_frame=True)
    tables = [batch.data.assign(qid=batch.qid) for batch in batches]
    groups = list(gathered(tables, ["f1", "qid"], "qid", least))
    sizes = []
    numbers = []
    for parts in groups:
        sizes.append(sum(len(part) for part in parts.values()))
        numbers += parts
    assert sum(sizes) == sum(len(table) for table in tables)
    for size in sizes[:-1]:
        assert least <= size < least + 100
    assert numbers == list(range(len(tables)))
    assert groups[0][0].column_names == ["f1", "qid"]


def test_a_query_in_two_batches_is_refused():
    batch = pd.DataFrame({"qid": ["q1", "q1"]})
    with pytest.raises(ValueError, match=r"got query 'q.*' again in batch 1. If"):
        list(gathered([batch, batch], ["qid"], "qid", 1))


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(("name", "score"), [("web.txt", "2"), ("web.csv", "f1")])
def test_evaluate_batches_of_files(files, web, name, score, as_frame):
    expected = evaluate(web["y"], web["X"][:, 1], qid=web["qid"])
    batches = iter_batches(files[name], batch_rows=50, as_frame=as_frame)
    report = evaluate_batches(batches, score=score)
    assert_array_equal(report.summary().mean, expected.summary().mean)


def test_evaluate_batches_of_tables(table, web):
    expected = evaluate(web["y"], web["X"][:, 1], qid=web["qid"])
    report = evaluate_batches([table[0]], score="f1")
    assert_array_equal(report.summary().mean, expected.summary().mean)


def test_evaluate_batches_names_the_batch_without_scores(files):
    batches = iter_batches(files["web.csv"])
    with pytest.raises(ValueError, match=r"batch 0: there is no column 'f99'"):
        evaluate_batches(batches, score="f99")


@pytest.mark.parametrize("as_frame", [False, True])
def test_fractions_of_a_later_batch_round_no_integer(as_frame):
    first = pd.DataFrame({"qid": 1, "label": 1, "x": [2**53 + 1, 2**53]})
    second = first.assign(x=[0.5, 2])
    batches = iter_batches([first, second], as_frame=as_frame)
    message = r"column 'x' must contain .* got 9007199254740993"
    with pytest.raises(ValueError, match=message):
        list(batches)


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


LEFT_OUT = "ignore:columns that are not numeric are left out"
TABLE = pa.table({"qid": [1, 2, 1], "label": [1, 0, 1], "x": [1, 2, 3], "t": [*"abc"]})


FILE_ERRORS = [
    ("web.csv", {"batch_rows": 0}, "batch_rows must be an integer >= 1.* got 0"),
    (
        "web.csv",
        {"label": "nowhere"},
        "there is no column 'nowhere'. The columns are f0",
    ),
    ("web.csv", {"label": "qid"}, "different columns, got 'qid' twice"),
    ("web.csv", {"query_file": "x"}, "^query_file must not be given for tables"),
    ("web.csv", {"n_features": 3}, "^n_features must not .* for tables, got 3"),
    ("web.csv", {"n_features": 0}, "n_features must be an integer >= 1"),
    (
        "web.csv",
        {"decimal": ""},
        "decimal must be one character other than .* and digits, got ''",
    ),
    ("web.csv", {"quoting": "all"}, "quoting must be .*'none'.*got 'all'"),
    ("web.csv", {"missing_values": "NA"}, "missing_values must be a list .* 'NA'"),
    ("web.csv", {"missing_values": [1]}, "missing_values must be a list .*1"),
    ("web.txt", {"decimal": ","}, "decimal must not be given for LETOR text"),
    ("web.parquet", {"ignore": ["x"]}, "ignore must name features, got 'x'"),
    ("web.txt", {"ignore": ["x"]}, r"features, got 'x'. The features are 1, 2, 3"),
    ("web.txt", {"missing_values": ["a"]}, "missing_values must not .* LETOR text"),
]


@pytest.mark.parametrize(("name", "options", "message"), FILE_ERRORS)
def test_errors_of_files(files, name, options, message):
    with pytest.raises(ValueError, match=message):
        list(iter_batches(files[name], **options))


TABLE_ERRORS = [
    (TABLE, {}, "row 2 of a pyarrow Table: query 1 comes back after"),
    (TABLE, {"query_file": "x"}, "query_file must not be given for data frames"),
    (TABLE, {"n_features": 3}, "n_features must not be given for data frames"),
    (TABLE, {"qid": "query"}, "no column 'query'.*qid, label, x, t"),
    (TABLE, {"label": "t"}, "a pyarrow Table: column 't' must be numeric"),
    (
        TABLE.select(["qid", "label"]),
        {},
        "no column besides 'label' and 'qid' is",
    ),
    (TABLE.schema.empty_table().to_reader(), {}, "Reader: there is no document"),
    (TABLE.slice(0, 0), {}, "a pyarrow Table: there is no document"),
    (None, {}, "path must be a path, .* of data frames, got a builtins NoneType$"),
    (b"a.csv", {}, "got a builtins bytes$"),
    (BytesIO(b"1 qid:1 1:1"), {}, "got a _io BytesIO$"),
    (pd.Series([1, 2]), {}, "non-struct type int64|got a pandas Series"),
    ({"label": [1]}, {}, "got a builtins dict$"),
    ([TABLE.slice(0, 2), "a.csv"], {}, "got str in batch 1"),
    (
        pa.Table.from_arrays([TABLE["x"]] * 3, ["qid", "label", "label"]),
        {},
        "Expected unique column names, got:\\n- 'label' 2",
    ),
]


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(("source", "options", "message"), TABLE_ERRORS)
def test_errors_of_tables(source, options, message):
    with pytest.raises(ValueError, match=message):
        list(iter_batches(source, **options))


# whole queries of tables that end anywhere
def to_polars(frame):
    return pl.DataFrame({name: frame[name].to_list() for name in frame})


def to_table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def to_record_batch(frame):
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


KINDS = {
    "pandas": pd.DataFrame,
    "polars": to_polars,
    "table": to_table,
    "batch": to_record_batch,
}


def pairs_of(table):
    columns = [np.asarray(table[name]).tolist() for name in ("q", "x")]
    return list(zip(*columns, strict=True))


def check_whole_queries(batches, frame, least):
    """Check the lists of rows (query id, value) of batches."""
    rows = []
    queries = []
    for batch in batches:
        assert batch
        rows += batch
        queries += {query for query, _ in batch}
    assert rows == pairs_of(frame)
    assert len(queries) == frame["q"].nunique()
    for batch in batches[:-1]:
        assert len(batch) >= least


@given(kind=st.sampled_from(list(KINDS)), data=st.data())
def test_all_rows_in_order_and_no_query_cut(kind, data):
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    names = data.draw(st.permutations([f"q{i}" for i in range(len(sizes))]))
    ids = np.repeat(np.array(names, dtype=object), sizes)
    n_rows = len(ids)
    frame = pd.DataFrame({"q": ids, "x": np.arange(n_rows), "label": 1})
    cuts = data.draw(st.lists(st.integers(0, n_rows), max_size=6))
    least = data.draw(st.integers(1, 9))
    ends = [0, *sorted(cuts), n_rows]
    batches = [KINDS[kind](frame.iloc[a:b]) for a, b in pairwise(ends)]
    tables = list(datasets.whole_queries(batches, "q", batch_rows=least))
    expected_type = pa.Table if kind == "batch" else type(batches[0])
    for table in tables:
        assert type(table) is expected_type
    check_whole_queries([pairs_of(table) for table in tables], frame, least)
    pairs = []
    for bunch in iter_batches(batches, qid="q", batch_rows=least):
        values = bunch.data[:, 0]
        pairs.append(list(zip(bunch.qid.tolist(), values, strict=True)))
    check_whole_queries(pairs, frame, least)


def frames(*texts, column="q"):
    """Return a frame for each text, with a row for each of its letters."""
    frames = []
    for text in texts:
        frame = pd.DataFrame({column: list(text), "x": range(len(text))})
        frames.append(frame)
    return frames


OTHER_COLUMNS = "batch 1: must have the columns of the first batch, but only .* has 'x'"
BATCH_ERRORS = [
    (frames("aab", "bcb"), "row 2 of batch 1: query 'b' comes back after"),
    (frames("aab", "bc", "", "a"), "row 0 of batch 3: query 'a' comes back after"),
    (frames("ab", "ba"), "row 1 of batch 1: query 'a' comes back after"),
    (frames("a", [None]), "row 0 of batch 1: the query id must not be .* got None"),
    (frames("a")[0], "Arrow or the like, got str in batch 0"),
    ([{"q": [1]}], "Arrow or the like, got dict in batch 0"),
    (frames("a", column="k"), r"batch 0: there is no column 'q'. The columns are k, x"),
    ([*frames("a"), pd.DataFrame({"q": ["b"]})], OTHER_COLUMNS),
    ([pd.DataFrame({"q": ["b"]}), *frames("a")], OTHER_COLUMNS),
]


@pytest.mark.parametrize(("batches", "message"), BATCH_ERRORS)
def test_batches_that_hold_no_whole_queries(batches, message):
    with pytest.raises(ValueError, match=message):
        list(datasets.whole_queries(batches, "q"))


def test_batches_before_an_error_are_yielded():
    batches = datasets.whole_queries(frames("ab", "ca"), "q")
    assert pairs_of(next(batches)) == [("a", 0)]
    with pytest.raises(ValueError, match="query 'a'"):
        next(batches)


def test_whole_queries_of_nothing():
    assert list(datasets.whole_queries([])) == []
    with pytest.raises(ValueError, match="batch_rows must be"):
        datasets.whole_queries([], batch_rows=0)


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_columns_in_any_order(convert):
    first = convert(pd.DataFrame({"q": [1, 2], "x": [1, 2]}))
    second = convert(pd.DataFrame({"x": [5], "q": [2]}))
    batches = list(datasets.whole_queries([first, second], "q"))
    assert pairs_of(batches[-1]) == [(2, 2), (2, 5)]


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_column_that_is_empty_at_first_is_not_lost(make):
    first = {"qid": [1, 1], "label": [1, 0], "x": [1, 2], "late": [None, None]}
    empty = make(first)
    later = make(first | {"qid": [2, 2], "late": [3.5, None]})
    message = "batch 1: the columns with numbers must be those of the first batch"
    with pytest.raises(ValueError, match=message):
        list(iter_batches([empty, later]))
    without_late = next(iter_batches([empty, later], ignore=["late"]))
    assert without_late.feature_names == ["x"]
    always_empty = next(iter_batches([empty, empty]))
    assert always_empty.feature_names == ["x"]
