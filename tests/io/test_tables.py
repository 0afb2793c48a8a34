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

LEFT_OUT = "columns without numbers are left out: "


def column(*cells):
    """A file whose last column has these cells."""
    return "label,qid,g,x\n" + "".join(f"1,1,0,{cell}\n" for cell in cells)


# types of CSV
def test_a_column_of_text_is_left_out_with_one_warning(tmp_path):
    path = csv(tmp_path, ",label,qid,x,t,day,Unnamed: 0\n0,1,1,5,a,2026-01-02,7\n")
    for read in (load_table, in_batches):
        with pytest.warns(UserWarning, match=f"{LEFT_OUT}t, day ") as warned:
            read(path)
        assert len(warned) == 1
        # whoever names them is not warned
        read(path, ignore=["t", "day"])


def test_columns_are_left_out_in_their_order(tmp_path):
    path = csv(tmp_path, ",label,qid,x,t,Unnamed: 0\n0,1,1,5,a,7\n")
    with pytest.warns(UserWarning, match=LEFT_OUT):
        found = load_table(path)
    assert found.feature_names == ["x"]
    assert found.left_out == ["", "t", "Unnamed: 0"]


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
    rows = "".join(f"1,{query},5\n" for query in ids)
    path = csv(tmp_path, f"label,qid,x\n{rows}")
    for found in (load_table(path).qid, joined(in_batches(path), "qid")):
        assert found.tolist() == list(map(kind, ids))


def test_ids_are_of_one_kind_in_all_files(tmp_path):
    for name, query in (("a", "1"), ("b", "02"), ("c", "3")):
        csv(tmp_path, f"label,qid,x\n1,{query},5\n", f"{name}.csv")
    assert load_table(tmp_path).qid.tolist() == ["1", "02", "3"]
    (tmp_path / "b.csv").unlink()
    assert load_table(tmp_path).qid.tolist() == [1, 3]
    # Parquet tells which they are
    ranking(tmp_path / "d.parquet", [7, 8])
    csv(tmp_path, "label,qid,x\n1,1,5\n", "c.csv")
    assert load_table([tmp_path / "c.csv", tmp_path / "d.parquet"]).qid.tolist() == [
        1,
        7,
        8,
    ]
    ranking(tmp_path / "d.parquet", ["7", "8"])
    found = load_table([tmp_path / "c.csv", tmp_path / "d.parquet"])
    assert found.qid.tolist() == ["1", "7", "8"]


@pytest.fixture
def small_blocks(monkeypatch):
    """Types are inferred from a few rows."""
    monkeypatch.setattr(_csv, "_BLOCK", 64)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("batch_rows", [None, 1, 20])
def test_fractions_and_missing_cells_may_come_late(tmp_path, batch_rows):
    cells = [str(i) for i in range(40)] + ["", "0.5", "NA"]
    rows = "".join(f"1,{i},{cell},\n" for i, cell in enumerate(cells))
    path = csv(tmp_path, f"label,qid,x,empty\n{rows}")
    with pytest.warns(UserWarning, match=f"{LEFT_OUT}empty "):
        batches = list(iter_batches(path, batch_rows=batch_rows))
    wanted = [*range(40), np.nan, 0.5, np.nan]
    assert_array_equal(joined(batches)[:, 0], wanted)
    assert joined(batches, "qid").tolist() == list(range(43))


LATE = [
    (["3"] * 40 + ["x"], "column 'x': Row #42: .*invalid value 'x'"),
    ([""] * 40 + ["5"], "column 'x': Row #42: .*invalid value '5'"),
    (["3"] * 40 + [str(2**53 + 1)], "column 'x' has integers above 2^53"),
    (["3"] * 40 + ["3,3"], "Row #42: Expected 4 columns, got 5"),
]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("cells", "message"), LATE)
def test_cells_unlike_the_first_ones_are_refused(tmp_path, cells, message):
    path = csv(tmp_path, column(*cells))
    refused(path, f"^{path}: .*{message.replace('^', '.')}")


REFUSED = [
    ("label,qid,x\nbad,1,1\n", "column 'label': Row #2: .*invalid value 'bad'"),
    ("label,qid,x\n1,1,2\n1,1", "Row #3: Expected 3 columns, got 2: 1,1"),
    ('label,qid,x,t\n1,1,2,t\n1,1,2,"t\n1,1,2,t\n', "a quotation mark opens a cell"),
    ('label,qid,t,x\n1,1,t,2\n1,1,"t,2\n1,1,t,2\n', "Row #3: Expected 4 columns"),
    ("label,qid,x,x\n1,1,2,3\n", "must have each column once, got 'x' twice"),
    ("label,qid,x\n1,,2\n", ", row 2: the query id must not be .*got ''"),
    ("label,qid\n1,1\n", "no column but 'label' and 'qid' holds numbers"),
    ("label,x\n1,1\n", r"there is no column 'qid' \(columns: label, x\)"),
    ("label,qid,x\n,1,1\n", "column 'label' holds no number"),
    ("", "Empty CSV file"),
]


@pytest.mark.filterwarnings(f"ignore:{LEFT_OUT}")
@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_refused_names_the_file(tmp_path, text, message):
    path = csv(tmp_path, text)
    refused(path, f"^{path}.*{message}")


def test_a_quotation_mark_that_stays_open_hides_no_row(tmp_path):
    path = csv(tmp_path, 'label,qid,x,t\n1,1,2,a\n1,1,3,"24in\n1,1,4,c\n')
    refused(path, "a quotation mark opens a cell, and none closes it")
    found = load_table(path, quoting="none", ignore=["t"])
    assert found.data[:, 0].tolist() == [2, 3, 4]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_header_without_a_comma_tells_another_separator(tmp_path, separator):
    text = "label,qid,x,y\n1,a,2.5,1\n0,a,3,2\n".replace(",", separator)
    assert load_table(csv(tmp_path, text)).data.tolist() == [[2.5, 1], [3, 2]]
    path = csv(tmp_path, text.replace(".", ","))
    assert load_table(path, decimal=",").data.tolist() == [[2.5, 1], [3, 2]]


def test_rows_are_numbered_as_pyarrow_does(tmp_path):
    path = csv(tmp_path, 'label,qid,"x\ny"\n1,1,2\n\n1,1,3')
    found = load_table(path)
    assert found.feature_names == ["x\ny"]
    assert [found.place(row) for row in (0, 1)] == [f"{path}, row 2", f"{path}, row 3"]


def test_large_integers_stay_exact(tmp_path):
    large = [2**53 + 1, -(2**53) - 1, *range(2**62, 2**62 + 28)]
    rows = [f"1,{i},{value},{i}" for i, value in enumerate(large)]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows]))
    found = load_table(path)
    assert found.data.dtype == np.int64
    assert found.data[:, 0].tolist() == large
    assert joined(iter_batches(path, batch_rows=7))[:, 0].tolist() == large
    rows = [f"{row}.5" for row in rows]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows]))
    message = f"column 'x' must hold numbers .* got {2**53 + 1} .as_frame=True"
    refused(path, message)
    assert load_table(path, as_frame=True).data.x.tolist() == large


def test_large_integers_of_one_file_stay_exact_beside_others(tmp_path):
    csv(tmp_path, column(2**53 + 1, 3), "a.csv")
    csv(tmp_path, column(4, 5).replace("1,1,", "1,2,"), "b.csv")
    found = load_table(tmp_path)
    assert found.data[:, 1].tolist() == [2**53 + 1, 3, 4, 5]


@pytest.mark.parametrize(("first", "second"), [("a", "1"), ("1", "a")])
def test_a_column_is_of_one_kind_in_all_files(tmp_path, first, second):
    for name, cell in (("1", first), ("2", second), ("3", "")):
        csv(tmp_path, f"label,qid,x,y\n1,{name},{cell},5\n", f"{name}.csv")
    refused(tmp_path, r"^.*2\.csv: .*Field x has incompatible types: .*string")
    assert load_table(tmp_path, ignore=["x"]).feature_names == ["y"]
    (tmp_path / f"{1 if first == 'a' else 2}.csv").unlink()
    assert_array_equal(load_table(tmp_path).data, [[1, 5], [np.nan, 5]])


# Parquet
def ranking(path, ids, **columns):
    """A file of Parquet with these ids of queries."""
    more = {"label": [1] * len(ids), "x": range(len(ids))} | columns
    pq.write_table(pa.table({"qid": ids} | more), path, row_group_size=4)
    return path


def no_text():
    ends = pa.array([0, 1, 2, 5, 6], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"aa\xed\xa0\x80b")
    return pa.Array.from_buffers(pa.string(), 4, [None, ends, data])


BAD_IDS = [
    ([[[1], [2]]], "query ids must be single values, got list"),
    ([no_text()], ": Unknown error: Wrapping"),
    ([["a", "b", ""]], ", row 2: the query id must not be .*got ''"),
    ([[1.0, None]], ", row 1: the query id must not be .*got None"),
    # of two kinds
    (([1, 2], ["1", "3"]), "Field qid has incompatible types: int64 vs string"),
    ((["1"], [1]), "Field qid has incompatible types: string vs int64"),
    ((["1"], [True]), "Field qid has incompatible types: string vs bool"),
]


@pytest.mark.parametrize(("ids", "message"), BAD_IDS)
def test_ids_of_parquet_that_are_refused(tmp_path, ids, message):
    for i, own in enumerate(ids):
        path = ranking(tmp_path / f"{i}.parquet", own)
    refused(tmp_path, f"^{path}.*{message}")


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), None])
def test_text_ids_of_all_types_go_together(tmp_path, kind):
    others = pa.array(["b", "c"], kind or pa.string())
    ranking(tmp_path / "1.parquet", pa.array(["a", "b"]))
    try:
        others = others if kind else others.dictionary_encode()
        ranking(tmp_path / "2.parquet", others)
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow does not write {kind}")
    assert load_table(tmp_path).qid.tolist() == ["a", "b", "b", "c"]
    batches = iter_batches(tmp_path, batch_rows=2)
    assert [batch.qid.tolist() for batch in batches] == [["a", "b", "b"], ["c"]]


def test_ids_of_one_kind_in_several_widths(tmp_path):
    for i, kind in enumerate(["int8", "int32", "int64", "uint32"]):
        ranking(tmp_path / f"{i}.parquet", np.array([7 + i], kind))
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10]
    (tmp_path / "4.csv").write_text("label,qid,x\n1,7,1\n")
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10, 7]


def test_parquet_is_opened_a_few_times_however_wide_it_is(tmp_path):
    rows = {f"f{j}": range(8) for j in range(300)}
    path = ranking(tmp_path / "wide.parquet", [1] * 4 + [2] * 4, **rows)
    with mock.patch.object(pq, "ParquetFile", wraps=pq.ParquetFile) as opened:
        (batch,) = iter_batches(path)
    assert batch.data.shape == (8, 301)
    assert opened.call_count <= 2


@pytest.mark.filterwarnings(f"ignore:{LEFT_OUT}")
def test_types_of_parquet_say_what_is_a_feature(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({
        "qid": [1, 1], "label": [True, False], "flag": [True, None],
        "small": pa.array([1, None], pa.int8()),
        "large": [2**62 + 1, 2**62], "half": pa.array(np.array([1, 2], np.float16)),
        "coded": pa.array([3, None]).dictionary_encode(), "none": pa.nulls(2),
        "text": ["1", "7"], "day": pa.array([1, 2], pa.date32()),
    })  # fmt: skip
    pq.write_table(table, path)
    refused(path, rf"^{path}: column 'large' .* got {2**62 + 1} \(.*as_frame=True")
    for found in (load_table(path, as_frame=True), *iter_batches(table, as_frame=True)):
        assert found.feature_names == ["flag", "small", "large", "half", "coded"]
        assert found.data.large.tolist() == [2**62 + 1, 2**62]
        for name, values in (("flag", 1), ("small", 1), ("coded", 3)):
            assert_array_equal(found.data[name], [values, np.nan])
        assert found.left_out == ["none", "text", "day"]
        assert_array_equal(found.target, [1, 0])


def test_a_dataset_reads_columns_in_names_of_folders(tmp_path):
    columns = {"qid": [1, 1, 2, 3], "label": [1, 0, 1, 2], "x": [0.5, 1, 2, 3]}
    table = pa.table(columns | {"qid_bucket": [1, 1, 10, 9]})
    how = {"partitioning": ["qid_bucket"], "partitioning_flavor": "hive"}
    ds.write_dataset(table, tmp_path, format="parquet", **how)
    assert load_table(tmp_path).feature_names == ["x"]
    batches = in_batches(ds.dataset(tmp_path, partitioning="hive"))
    assert batches[0].feature_names == ["x", "qid_bucket"]
    rows = {batch.qid[0]: batch.data[:, 1].tolist() for batch in batches}
    assert rows == {1: [1, 1], 2: [10], 3: [9]}


@pytest.mark.parametrize("batch_rows", [[], ["--batch-rows", 2]])
def test_a_screening_ranks_each_column_exactly(tmp_path, capsys, batch_rows):
    """Whole numbers that tie as floats, beside fractions, in every batch."""
    n, rng = 200, np.random.default_rng(0)
    time = 2**53 + rng.permutation(n)
    # where some of them tie, it is another number
    frame = pd.DataFrame({
        "label": (time % 2).astype(float), "qid": np.arange(n) // 4, "time": time,
        "x": rng.random(n), "rank": np.argsort(np.argsort(time)).astype(float),
        "tied": time.astype(float),
    })  # fmt: skip
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    command = ["screen", path, "--measures", "ap", "--max-correlation", "none"]
    out, _ = succeed(capsys, *command, *batch_rows, "--json=-")
    found = {row["feature"]: row["AP"] for row in json.loads(out)["features"]}
    assert found["time"] == found["rank"] != found["tied"]


def test_labels_that_floats_would_round_are_refused(tmp_path):
    path = ranking(tmp_path / "l.parquet", [1, 1], label=[2**53 + 1, 0])
    refused(path, f"{path}: the labels must be .* got {2**53 + 1}")


@pytest.mark.parametrize("kind", ["decimal32", "decimal64", "decimal128", "decimal256"])
def test_decimals_of_all_widths_are_numbers(tmp_path, kind):
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    x = pa.array([Decimal("1.5"), None], getattr(pa, kind)(5, 2))
    table = pa.table({"label": [1, 0], "qid": [1, 1], "x": x})
    path = tmp_path / "d.parquet"
    pq.write_table(table, path)
    for found in (load_table(path), *iter_batches(path), *iter_batches(table)):
        assert_array_equal(found.data, [[1.5], [np.nan]])
