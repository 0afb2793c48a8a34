"""Tables: CSV and Parquet by pyarrow."""

import json
from decimal import Decimal
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from tests.cli.helpers import succeed
from tests.io.helpers import csv, in_batches, joined, refused
from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io import _csv

LEFT_OUT = "columns that are not numeric are left out: "


def table_of_cells(*cells):
    """Return CSV whose last column, x, has these cells."""
    lines = [f"1,1,0,{cell}\n" for cell in cells]
    return "label,qid,g,x\n" + "".join(lines)


# -- types of CSV


@pytest.mark.parametrize("read", [load_table, in_batches])
def test_columns_of_text_are_left_out_with_one_warning(tmp_path, read):
    path = csv(tmp_path, ",label,qid,x,t,day,Unnamed: 0\n0,1,1,5,a,2026-01-02,7\n")
    with pytest.warns(UserWarning, match=f"{LEFT_OUT}t, day[.] ") as warned:
        read(path)
    assert len(warned) == 1
    # columns that are ignored by name cause no warning
    read(path, ignore=["t", "day"])


def test_columns_are_left_out_in_their_order(tmp_path):
    path = csv(tmp_path, ",label,qid,x,t,Unnamed: 0\n0,1,1,5,a,7\n")
    with pytest.warns(UserWarning, match=LEFT_OUT):
        bunch = load_table(path)
    assert bunch.feature_names == ["x"]
    assert bunch.left_out == ["", "t", "Unnamed: 0"]


IDS = [
    (["1", "-2", "0", str(10**17)], int),
    (["1", "01"], str),
    (["1", "a"], str),
    (["1", "1.0"], str),
    (["1", "+1"], str),
    (["1", " 1"], str),
    (["NA", "1"], str),
    ([str(2**53 + 1), str(2**53)], int),
    ([str(2**63), "1"], str),
]


@pytest.mark.parametrize(("ids", "kind"), IDS)
def test_ids_are_integers_only_if_each_is_written_so(tmp_path, ids, kind):
    lines = [f"1,{query},5\n" for query in ids]
    path = csv(tmp_path, "label,qid,x\n" + "".join(lines))
    expected = [kind(query) for query in ids]
    assert load_table(path).qid.tolist() == expected
    assert joined(in_batches(path), "qid").tolist() == expected


def one_query(folder, name, query):
    """Write a CSV file with one row."""
    return csv(folder, f"label,qid,x\n1,{query},5\n", name)


def test_ids_are_of_one_kind_in_all_files(tmp_path):
    one_query(tmp_path, "a.csv", "1")
    text = one_query(tmp_path, "b.csv", "02")
    one_query(tmp_path, "c.csv", "3")
    assert load_table(tmp_path).qid.tolist() == ["1", "02", "3"]
    text.unlink()
    assert load_table(tmp_path).qid.tolist() == [1, 3]


def test_ids_of_parquet_tell_the_kind_of_ids_of_csv(tmp_path):
    parquet = tmp_path / "d.parquet"
    paths = [one_query(tmp_path, "c.csv", "1"), parquet]
    write_ids(parquet, [7, 8])
    assert load_table(paths).qid.tolist() == [1, 7, 8]
    write_ids(parquet, ["7", "8"])
    assert load_table(paths).qid.tolist() == ["1", "7", "8"]


@pytest.fixture
def small_blocks(monkeypatch):
    """Infer types from a few rows."""
    monkeypatch.setattr(_csv, "_BLOCK", 64)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("batch_rows", [None, 1, 20])
def test_fractions_and_missing_cells_may_come_late(tmp_path, batch_rows):
    cells = [*range(40), "", 0.5, "NA"]
    lines = [f"1,{i},{cell},\n" for i, cell in enumerate(cells)]
    path = csv(tmp_path, "label,qid,x,empty\n" + "".join(lines))
    with pytest.warns(UserWarning, match=f"{LEFT_OUT}empty[.] "):
        batches = list(iter_batches(path, batch_rows=batch_rows))
    expected = [*range(40), np.nan, 0.5, np.nan]
    assert_array_equal(joined(batches)[:, 0], expected)
    assert joined(batches, "qid").tolist() == list(range(43))


LATE_CELLS = [
    ("3", "x", "column 'x': Row #42: .*invalid value 'x'"),
    ("", "5", "column 'x': Row #42: .*invalid value '5'"),
    ("3", 2**53 + 1, "column 'x' has integers above 2.53"),
    ("3", "3,3", "Row #42: Expected 4 columns, got 5"),
]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("first", "late", "message"), LATE_CELLS)
def test_cells_unlike_the_first_ones_are_refused(tmp_path, first, late, message):
    cells = [first] * 40
    path = csv(tmp_path, table_of_cells(*cells, late))
    refused(path, f"^{path}: .*{message}")


MALFORMED = [
    ("label,qid,x\nbad,1,1\n", "column 'label': Row #2: .*invalid value 'bad'"),
    ("label,qid,x\n1,1,2\n1,1", "Row #3: Expected 3 columns, got 2: 1,1"),
    ('label,qid,x,t\n1,1,2,t\n1,1,2,"t\n1,1,2,t\n', "a quotation mark opens a cell"),
    ('label,qid,t,x\n1,1,t,2\n1,1,"t,2\n1,1,t,2\n', "Row #3: Expected 4 columns"),
    ("label,qid,x,x\n1,1,2,3\n", "must contain each column once, got 'x' twice"),
    ("label,qid,x\n1,,2\n", ", row 2: the query id must not be .*got ''"),
    ("label,qid\n1,1\n", "no column besides 'label' and 'qid' is numeric"),
    ("label,x\n1,1\n", r"there is no column 'qid'. The columns are label, x"),
    ("label,qid,x\n,1,1\n", "column 'label' must be numeric"),
    ("", "Empty CSV file"),
]


@pytest.mark.filterwarnings(f"ignore:{LEFT_OUT}")
@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_errors_name_the_file(tmp_path, text, message):
    path = csv(tmp_path, text)
    refused(path, f"^{path}.*{message}")


def test_a_quotation_mark_that_stays_open_hides_no_row(tmp_path):
    path = csv(tmp_path, 'label,qid,x,t\n1,1,2,a\n1,1,3,"24in\n1,1,4,c\n')
    refused(
        path, "a quotation mark opens a cell, but no quotation mark closes the cell"
    )
    bunch = load_table(path, quoting="none", ignore=["t"])
    assert bunch.data[:, 0].tolist() == [2, 3, 4]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_header_without_a_comma_tells_another_separator(tmp_path, separator):
    text = "label,qid,x,y\n1,a,2.5,1\n0,a,3,2\n".replace(",", separator)
    path = csv(tmp_path, text)
    assert load_table(path).data.tolist() == [[2.5, 1], [3, 2]]
    path = csv(tmp_path, text.replace(".", ","))
    assert load_table(path, decimal=",").data.tolist() == [[2.5, 1], [3, 2]]


def test_rows_are_numbered_as_pyarrow_does(tmp_path):
    path = csv(tmp_path, 'label,qid,"x\ny"\n1,1,2\n\n1,1,3')
    bunch = load_table(path)
    assert bunch.feature_names == ["x\ny"]
    assert bunch.place(0) == f"{path}, row 2"
    assert bunch.place(1) == f"{path}, row 3"


# -- integers that floats would round

LARGE = [2**53 + 1, -(2**53) - 1, *range(2**62, 2**62 + 28)]


def test_large_integers_stay_exact(tmp_path):
    lines = [f"1,{i},{value},{i}\n" for i, value in enumerate(LARGE)]
    path = csv(tmp_path, "label,qid,x,y\n" + "".join(lines))
    bunch = load_table(path)
    assert bunch.data.dtype == np.int64
    assert bunch.data[:, 0].tolist() == LARGE
    batches = iter_batches(path, batch_rows=7)
    assert joined(batches)[:, 0].tolist() == LARGE


def test_large_integers_beside_fractions_need_a_frame(tmp_path):
    lines = [f"1,{i},{value},{i}.5\n" for i, value in enumerate(LARGE)]
    path = csv(tmp_path, "label,qid,x,y\n" + "".join(lines))
    message = f"column 'x' must contain numbers .* got {2**53 + 1}. Set as_frame=True"
    refused(path, message)
    assert load_table(path, as_frame=True).data.x.tolist() == LARGE


def test_large_integers_of_one_file_stay_exact_beside_others(tmp_path):
    csv(tmp_path, table_of_cells(2**53 + 1, 3), "a.csv")
    second = table_of_cells(4, 5).replace("1,1,", "1,2,")
    csv(tmp_path, second, "b.csv")
    bunch = load_table(tmp_path)
    assert bunch.data[:, 1].tolist() == [2**53 + 1, 3, 4, 5]


@pytest.mark.parametrize(("first", "second", "text"), [("a", "1", 1), ("1", "a", 2)])
def test_a_column_is_of_one_kind_in_all_files(tmp_path, first, second, text):
    for name, cell in (("1", first), ("2", second), ("3", "")):
        csv(tmp_path, f"label,qid,x,y\n1,{name},{cell},5\n", f"{name}.csv")
    refused(tmp_path, r"^.*2\.csv: .*Field x has incompatible types: .*string")
    assert load_table(tmp_path, ignore=["x"]).feature_names == ["y"]
    (tmp_path / f"{text}.csv").unlink()
    assert_array_equal(load_table(tmp_path).data, [[1, 5], [np.nan, 5]])


# -- Parquet


def write_ids(path, qid, **columns):
    """Write a Parquet file with these ids of queries."""
    rows = {"qid": qid, "label": [1] * len(qid), "x": range(len(qid)), **columns}
    pq.write_table(pa.table(rows), path, row_group_size=4)
    return path


def not_utf_8():
    """Return an array of text whose third value is no UTF-8."""
    _, ends = pa.array([0, 1, 2, 5, 6], pa.int32()).buffers()
    data = pa.py_buffer(b"aa\xed\xa0\x80b")
    return pa.Array.from_buffers(pa.string(), 4, [None, ends, data])


WRONG_IDS = [
    ([[[1], [2]]], "query ids must be single values, got list"),
    ([not_utf_8()], ": Unknown error: Wrapping"),
    ([["a", "b", ""]], ", row 2: the query id must not be .*got ''"),
    ([[1.0, None]], ", row 1: the query id must not be .*got None"),
    # files with ids of two kinds
    ([[1, 2], ["1", "3"]], "Field qid has incompatible types: int64 vs string"),
    ([["1"], [1]], "Field qid has incompatible types: string vs int64"),
    ([["1"], [True]], "Field qid has incompatible types: string vs bool"),
]


@pytest.mark.parametrize(("files", "message"), WRONG_IDS)
def test_wrong_ids_of_parquet(tmp_path, files, message):
    for number, qid in enumerate(files):
        path = write_ids(tmp_path / f"{number}.parquet", qid)
    refused(tmp_path, f"^{path}.*{message}")


TEXT_IDS = {
    "large text": lambda: pa.array(["b", "c"], pa.large_string()),
    "text view": lambda: pa.array(["b", "c"], pa.string_view()),
    "dictionary": lambda: pa.array(["b", "c"]).dictionary_encode(),
}


@pytest.mark.parametrize("make", TEXT_IDS.values(), ids=TEXT_IDS)
def test_text_ids_of_all_types_go_together(tmp_path, make):
    write_ids(tmp_path / "1.parquet", pa.array(["a", "b"]))
    try:
        write_ids(tmp_path / "2.parquet", make())
    except pa.ArrowNotImplementedError as error:
        pytest.skip(f"this pyarrow does not write the type: {error}")
    assert load_table(tmp_path).qid.tolist() == ["a", "b", "b", "c"]
    batches = iter_batches(tmp_path, batch_rows=2)
    assert [batch.qid.tolist() for batch in batches] == [["a", "b", "b"], ["c"]]


def test_ids_of_one_kind_in_several_widths(tmp_path):
    for number, dtype in enumerate(["int8", "int32", "int64", "uint32"]):
        write_ids(tmp_path / f"{number}.parquet", np.array([7 + number], dtype))
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10]
    one_query(tmp_path, "4.csv", "7")
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10, 7]


def test_parquet_is_opened_a_few_times_however_wide_it_is(tmp_path):
    features = {f"f{j}": range(8) for j in range(300)}
    path = write_ids(tmp_path / "wide.parquet", [1] * 4 + [2] * 4, **features)
    with mock.patch.object(pq, "ParquetFile", wraps=pq.ParquetFile) as opened:
        (batch,) = iter_batches(path)
    assert batch.data.shape == (8, 301)
    assert opened.call_count <= 2


COLUMNS = {
    "qid": [1, 1],
    "label": [True, False],
    "flag": [True, None],
    "small": pa.array([1, None], pa.int8()),
    "large": [2**62 + 1, 2**62],
    "half": pa.array(np.array([1, 2], np.float16)),
    "coded": pa.array([3, None]).dictionary_encode(),
    "none": pa.nulls(2),
    "text": ["1", "7"],
    "day": pa.array([1, 2], pa.date32()),
}


def assert_columns_are_read(bunch):
    assert bunch.feature_names == ["flag", "small", "large", "half", "coded"]
    assert bunch.left_out == ["none", "text", "day"]
    assert_array_equal(bunch.target, [1, 0])
    assert bunch.data.large.tolist() == [2**62 + 1, 2**62]
    assert_array_equal(bunch.data.flag, [1, np.nan])
    assert_array_equal(bunch.data.small, [1, np.nan])
    assert_array_equal(bunch.data.coded, [3, np.nan])


@pytest.mark.filterwarnings(f"ignore:{LEFT_OUT}")
def test_types_of_parquet_say_which_columns_are_features(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(COLUMNS)
    pq.write_table(table, path)
    refused(path, rf"^{path}: column 'large' .* got {2**62 + 1}. .*as_frame=True")
    assert_columns_are_read(load_table(path, as_frame=True))
    (batch,) = iter_batches(table, as_frame=True)
    assert_columns_are_read(batch)


def test_a_dataset_reads_columns_in_names_of_folders(tmp_path):
    columns = {"qid": [1, 1, 2, 3], "label": [1, 0, 1, 2], "x": [0.5, 1, 2, 3]}
    columns["qid_bucket"] = [1, 1, 10, 9]
    ds.write_dataset(
        pa.table(columns),
        tmp_path,
        format="parquet",
        partitioning=["qid_bucket"],
        partitioning_flavor="hive",
    )
    assert load_table(tmp_path).feature_names == ["x"]
    batches = in_batches(ds.dataset(tmp_path, partitioning="hive"))
    assert batches[0].feature_names == ["x", "qid_bucket"]
    buckets = {batch.qid[0]: batch.data[:, 1].tolist() for batch in batches}
    assert buckets == {1: [1, 1], 2: [10], 3: [9]}


@pytest.mark.parametrize("batch_rows", [[], ["--batch-rows", 2]])
def test_a_screening_ranks_each_column_exactly(tmp_path, capsys, batch_rows):
    """Whole numbers that tie as floats, beside fractions, in every batch."""
    rng = np.random.default_rng(0)
    time = 2**53 + rng.permutation(200)
    rank = np.argsort(np.argsort(time))
    frame = pd.DataFrame({"label": time % 2, "qid": np.arange(200) // 4, "time": time})
    frame["label"] = frame["label"].astype(float)
    frame["x"] = rng.random(200)
    frame["rank"] = rank.astype(float)
    # with ties, the value differs
    frame["tied"] = time.astype(float)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    command = ["screen", path, "--measures", "ap", "--max-correlation", "none"]
    out, _ = succeed(capsys, *command, *batch_rows, "--json=-")
    values = {row["feature"]: row["AP"] for row in json.loads(out)["features"]}
    assert values["time"] == values["rank"]
    assert values["time"] != values["tied"]


def test_labels_that_floats_would_round_are_refused(tmp_path):
    path = write_ids(tmp_path / "l.parquet", [1, 1], label=[2**53 + 1, 0])
    refused(path, f"{path}: the labels must be .* got {2**53 + 1}")


@pytest.mark.parametrize("name", ["decimal32", "decimal64", "decimal128", "decimal256"])
def test_decimals_of_all_widths_are_numbers(tmp_path, name):
    if not hasattr(pa, name):
        pytest.skip(f"this pyarrow has no {name}")
    decimal = getattr(pa, name)(5, 2)
    x = pa.array([Decimal("1.5"), None], decimal)
    table = pa.table({"label": [1, 0], "qid": [1, 1], "x": x})
    path = tmp_path / "d.parquet"
    pq.write_table(table, path)
    for bunch in (load_table(path), *iter_batches(path), *iter_batches(table)):
        assert_array_equal(bunch.data, [[1.5], [np.nan]])
