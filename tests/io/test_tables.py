"""Tables: CSV as people have it, Parquet, columns in the names of folders."""

import json
import re
from contextlib import closing, suppress
from csv import QUOTE_NONE
from decimal import Decimal
from unittest import mock
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.cli.helpers import fail, succeed
from tests.io.helpers import csv, in_batches, joined, refused, write
from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io import _csv, _frames, _locate, _source

MESSY = """\
label,qid,price,stock,title,share
1,tea,"1,406.84",tbd,a,9007199254740993
0,tea,12.5,n/a,b,0.5
0,,3,1,c,1
x,mug,7,2,d,2,9
0,mug,8
1,mug,9,unknown,e,3
2,mug,9,tbd,e,3
3,mug,9,later,e,3
4,mug,9,never,e,3
"""


def test_a_column_of_grouped_digits_is_no_text_where_a_row_ends_early(tmp_path):
    rows = ["label,qid,price,name", '1,a,"1,320.50",mug', '0,a,"2,000",cup', "1,a", ""]
    path = csv(tmp_path, "\n".join(rows))
    assert "a row must not have fewer cells" in refused(path, "column 'price' must")


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    path = csv(tmp_path, MESSY)
    lines = refused(path, "price").split("\n  ")
    assert lines[0].startswith(f"{path}, line 2: column 'price' must hold numbers")
    assert "got '1,406.84' (thousands=" in lines[0]
    assert "ignore, or --ignore, leaves out the column)" in lines[0]
    said = [line.partition(" (")[0] for line in lines[1:]]
    assert said == [
        # three cells of a column, each once
        "line 2: column 'stock' must hold numbers, got 'tbd', 'unknown', 'later'",
        "line 2: column 'share' must hold numbers that a float64 holds beside "
        "fractions, larger ones or missing cells, got '9007199254740993'",
        "line 4: column 'qid' must not be empty",
        "line 5: a row must not have more cells than the header",
        "line 6: a row must not have fewer cells than the header",
    ]
    assert "reads 'tbd', 'unknown', 'later' as missing;" in lines[1]
    # as many things as a screen shows
    rows = [[f"f{j}" for j in range(20)], "1" * 20, "x" * 20]
    names, numbers, texts = map(",".join, rows)
    path = csv(tmp_path, f"label,qid,{names}\n1,1,{numbers}\n0,1,{texts}")
    assert refused(path, "'f0' must").count("\n") == 9


@pytest.mark.parametrize("n_empty", [0, 1, 40])
@pytest.mark.parametrize("batch_rows", [None, 1, 20])
def test_values_may_stand_anywhere(tmp_path, monkeypatch, n_empty, batch_rows):
    monkeypatch.setattr(_csv, "_START", 50)
    monkeypatch.setattr(_source, "MAX_LINE", 100)
    cells = [""] * n_empty + [f"{i}" if i < 5 else f"{i}.5" for i in range(10)]
    rows = [f"1,{i},{cell},{'t' if i > 20 else ''}," for i, cell in enumerate(cells)]
    path = csv(tmp_path, "\n".join(["label,qid,x,text,empty", *rows]))
    batches = list(iter_batches(path, batch_rows=batch_rows or 10**6))
    for batch in batches:
        assert batch.feature_names == ["x"]
        assert batch.left_out == ["text", "empty"]
    wanted = [np.nan if c == "" else float(c) for c in cells]
    assert_array_equal(joined(batches)[:, 0], wanted)
    assert joined(batches, "qid").tolist() == list(map(str, range(len(cells))))


def column(*cells):
    """A file whose last column has these cells."""
    return "label,qid,g,x\n" + "".join(f"1,1,0,{cell}\n" for cell in cells)


HOLDS = "line 3: column 'x' must hold numbers"


BAD_CELLS = [
    # beyond all types of 64 bits, and beyond what one of them holds
    (column(2**64 + 1, 2**64 + 2, 3), f"line 2: column 'x' .* got '{2**64 + 1}"),
    (column(2**63 + 1, 2**63, -3), f"line 2: column 'x' must .* got '{2**63 + 1}"),
    (column(2**63 - 1, 2**63, 3), f"line 2: column 'x' must .* got '{2**63 - 1}"),
    (column("0" * 5000 + "1", "9" * 5000), f"line 2: .* got '{'0' * 60}'"),
    *((column(2, cell), HOLDS) for cell in ("1_0", "0x1", "٣")),
    (column(2, '"1.406,5"'), r"\(thousands='.', decimal=',', or --thousands"),
    # in later rows
    (column(*range(9), "x3", 4), "line 11: column 'x' must hold numbers, got 'x3'"),
    (column(*"abcdefghi", 1), "line 11: .* or text, not both, got '1' after"),
    (column(*range(9), "3,9"), "line 11: a row must not have more cells"),
    ("label,qid\n1,1", "no column but 'label' and 'qid' holds numbers"),
    ("label,qid,x\nbad,1,2", "column 'label' holds no number"),
    # the only thing that is wrong
    (column(1, 2) + column(3), r"line 4: the header stands here again[^\n]*\Z"),
]


@pytest.mark.parametrize(("text", "message"), BAD_CELLS)
def test_cells_and_headers_that_are_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(_csv, "_START", 30)
    path = csv(tmp_path, text)
    refused(path, f"^{path}.*{message}")


@pytest.mark.parametrize("block", [10, 1 << 20])
@pytest.mark.parametrize("column", ["qid", "text"])
@pytest.mark.parametrize("ignore", [[], ["text"]])
def test_rows_between_stray_quotes(tmp_path, monkeypatch, block, column, ignore):
    monkeypatch.setattr(_csv, "_START", block)
    rows = pd.DataFrame({"qid": list("aaaabbbbcccc"), "text": "t", "label": 1})
    rows.loc[2, column] = '"24in screen'
    rows.loc[5, column] += '"'
    table = rows.assign(x=range(12)).to_csv(sep=";", index=False, quoting=QUOTE_NONE)
    path = csv(tmp_path, table)
    said = r"csv, line 4: a cell in quotation marks holds lines .*--quoting none, read"
    with pytest.warns(UserWarning, match=said):
        assert len(load_table(path, ignore=ignore).data) == 9
    found = load_table(path, ignore=ignore, quoting="none")
    assert found.data[:, 0].tolist() == list(range(12))


SEVERAL_LINES = [
    '"x, y\nz, w"',
    '"long, text\nof, three\nlines"',
    '"a table:\n1,t,1,x\n"',
    '"one\nq1,two"',
    '"ends\nq1,words,0,7\n"',
]


@pytest.mark.parametrize("text", SEVERAL_LINES)
def test_texts_of_several_lines_are_no_rows(tmp_path, text):
    path = csv(tmp_path, f"qid,text,label,x\na,{text},1,2\na,t,0,3\n")
    assert load_table(path).data.tolist() == [[2], [3]]


@pytest.mark.parametrize("second", ['"curved monitor', '"curved" monitor'])
def test_stray_marks_do_not_swallow_rows(tmp_path, capsys, second):
    rows = [[i % 3, i // 10, i % 7, f"monitor {i}"] for i in range(500)]
    rows[14][3], rows[479][3] = '"24in monitor', second
    lines = [",".join(map(str, row)) for row in rows]
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(["label,qid,clicks,title", *lines, ""]))
    message = f"{path}, line 16: a quotation mark opens a cell here"
    refused(path, f"{re.escape(message)}.*--quoting none")
    assert "line 16" in fail(capsys, "screen", path)
    # as they are
    found = load_table(path, quoting="none")
    assert found.data[:, 0].tolist() == [clicks for _, _, clicks, _ in rows]
    assert found.qid.tolist() == [str(qid) for _, qid, _, _ in rows]
    out, _ = succeed(capsys, "screen", path, "--quoting", "none")
    assert "500 documents, 50 queries" in out


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_left_open_ends_the_reading_soon(tmp_path, monkeypatch, end):
    monkeypatch.setattr(_csv, "_START", 1 << 10)
    monkeypatch.setattr(_source, "MAX_LINE", 1 << 12)
    rows = [f"1,{i // 9},{i},t" for i in range(20_000)]
    rows.insert(1_000, '1,0,1,"t')
    path = tmp_path / "f.csv"
    path.write_bytes(end.join(["label,qid,x,title", *rows, ""]).encode())
    refused(path, "line 1002: a quotation mark opens a cell")
    # the cell would be longer than a line may be: no more is read
    n_read, options = [], _frames.TableOptions("label", "qid", [])
    file = _csv.open_csv(_source.TextSource(path), options, progress=False)
    with closing(_csv._CsvLines(file)) as lines, suppress(_csv._QuoteError):
        while lines.readinto(bytearray(1 << 10)):
            n_read.append(lines._file.tell())
    opened = path.read_bytes().index(b'"')
    assert opened + (1 << 12) - (1 << 10) <= n_read[-1] <= opened + (1 << 12)


def test_columns_without_a_name_are_left_out(tmp_path):
    path = csv(tmp_path, ",label,qid,x,,Unnamed: 0\n0,1,1,5,3,7\n1,0,1,6,4,8\n")
    found = load_table(path)
    assert found.feature_names == ["x"]
    assert found.left_out == ["", "", "Unnamed: 0"]
    # chosen columns, a cell that is missing, and a file that is a header alone
    csv(tmp_path, "query,rating,clicks", "0.csv")
    path = csv(tmp_path, "query,rating,clicks\na,1,5\nb,0,\na,0,5", "1.csv")
    table = load_table([tmp_path / "0.csv", path], label="rating", qid="query")
    assert table.qid.tolist() == ["a", "b", "a"]
    assert_array_equal(table.data, [[5], [np.nan], [5]])


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_header_of_one_cell_tells_another_separator(tmp_path, separator):
    text = "label,qid,x,title\n1,a,2.5,mug\n0,a,3,cup\n".replace(",", separator)
    found = load_table(csv(tmp_path, text))
    assert found.feature_names == ["x"]
    assert found.data.tolist() == [[2.5], [3]]
    found = load_table(csv(tmp_path, text.replace(".", ",")), decimal=",")
    assert found.data.tolist() == [[2.5], [3]]


@pytest.mark.parametrize("first", ["text", "numbers", "empty"])
def test_columns_are_of_one_kind_in_all_files(tmp_path, first):
    cells = {"text": "a", "numbers": "1", "empty": ""}
    names = [first, *(name for name in cells if name != first)]
    for i, name in enumerate(names):
        csv(tmp_path, f"label,qid,x,y\n1,{i},{cells[name]},5\n", f"{i}.csv")
    said = rf"{names.index('numbers')}\.csv.* numbers or text, not both, got '1'"
    if names.index("numbers") < names.index("text"):
        said = rf"{names.index('text')}\.csv.* 'x' must hold numbers, got 'a'"
    refused(tmp_path, said)
    (tmp_path / f"{names.index('text')}.csv").unlink()
    assert load_table(tmp_path).feature_names == ["x", "y"]


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
    ([[[1], [2]]], "must hold one value in each cell, got List"),
    ([no_text()], "must hold text .* row 2$"),
    ([["a", "b", ""]], "must not be empty, got '' in row 2$"),
    ([[1.0, None]], "must not be missing, got nan in row 1$"),
    # of two kinds
    (([1, 2], ["1", "3"]), "must hold integers, as in .*0.parquet, got text"),
    (([1, 2], [1.0, 3.0]), "must hold integers.*got values of the type float64"),
    ((["1"], [1]), "must hold text, as in .*0.parquet, got integers"),
    ((["1"], [True]), "must hold text.* got values of the type bool"),
    ((np.array([1], "u8"), [1]), "64-bit integers without a sign.*got integers"),
]


@pytest.mark.parametrize(("ids", "message"), BAD_IDS)
def test_ids_of_parquet_that_are_refused(tmp_path, ids, message):
    for i, own in enumerate(ids):
        path = ranking(tmp_path / f"{i}.parquet", own)
    refused(tmp_path, f"^{path}: column 'qid' .*{message}")


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
    refused(tmp_path, r"4\.csv: column 'qid' must hold integers")


def test_parquet_is_opened_a_few_times_however_wide_it_is(tmp_path):
    rows = {f"f{j}": range(8) for j in range(300)}
    path = ranking(tmp_path / "wide.parquet", [1] * 4 + [2] * 4, **rows)
    with mock.patch.object(pq, "ParquetFile", wraps=pq.ParquetFile) as opened:
        (batch,) = iter_batches(path)
    assert batch.data.shape == (8, 301)
    assert opened.call_count <= 2


def test_types_of_parquet_say_what_is_a_feature(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({
        "qid": [1, 1], "label": [True, False], "flag": [True, None],
        "small": pa.array([1, None], pa.int8()),
        "large": [2**62 + 1, 2**62], "half": pa.array(np.array([1, 2], np.float16)),
        "coded": pa.array([3, None]).dictionary_encode(), "none": pa.nulls(2),
        "text": ["a", "7"], "day": pa.array([1, 2], pa.date32()),
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
    text = table.set_column(3, "small", pa.array(["1", "2"]))
    pq.write_table(text, path)
    said = "'small' must hold numbers as numbers, got the text '1' in row 0"
    refused(path, said)
    refused(text, said, in_batches)
    left = load_table(path, ignore=["small", "large"])
    assert left.feature_names == ["flag", "half", "coded"]
    pq.write_table(table, tmp_path / "u.parquet")
    pq.write_table(text.set_column(3, "small", pa.array(["a", "b"])), path)
    refused(tmp_path, r"'small' must .* 'a' in .*t\.parquet, row 0")


def test_what_arrow_cannot_say_in_other_words(tmp_path, web):
    path = write(tmp_path / "a.parquet", **web)

    error = pa.lib.ArrowException("Unknown error: \x0f\nwrapped")
    with mock.patch.object(pq, "ParquetFile", side_effect=error):
        refused(path, r"a\.parquet: Unknown error:   wrapped")


# names of folders
def shards(root, column, values, **columns):
    """A file in a folder for each value."""
    for value in values:
        folder = root / f"{column}={quote(str(value), safe='')}"
        folder.mkdir(parents=True)
        frame = pd.DataFrame(columns)
        if "qid" in frame:
            frame["qid"] = [f"{value}-{q}" for q in frame["qid"]]
        frame.to_parquet(folder / "part-0.parquet")
    return root


def test_folders_that_pyarrow_writes(tmp_path):
    columns = {"qid": [1, 1, 2, 3], "label": [1, 0, 1, 2], "x": [0.5, 1, 2, 3]}
    table = pa.table(columns | {"qid_bucket": [1, 1, 10, 9]})
    how = {"partitioning": ["qid_bucket"], "partitioning_flavor": "hive"}
    ds.write_dataset(table, tmp_path, format="parquet", **how)
    batches = in_batches(tmp_path)
    assert batches[0].feature_names == ["x", "qid_bucket"]
    assert [b.qid.tolist() for b in batches] == [[1, 1], [3], [2]]
    assert [b.data[:, 1].tolist() for b in batches] == [[1, 1], [9], [10]]
    whole = load_table(str(tmp_path / "*/*"), ignore=["qid_bucket"])
    assert whole.feature_names == ["x"]


FOLDERS = [
    ([1, 2, 11], int),
    (["007", "8"], str),
    (["1.5", "7"], str),
    (["a/b", "c d"], str),
]


@pytest.mark.parametrize(("values", "kept"), FOLDERS)
def test_query_ids_in_names_of_folders(tmp_path, values, kept):
    shards(tmp_path, "qid", values, label=[1, 0], x=[2.0, 3.0])
    batches = in_batches(tmp_path)
    assert {q for b in batches for q in b.qid.tolist()} == {*map(kept, values)}
    assert [len(b.data) for b in batches] == [2] * len(values)


def test_labels_and_features_in_names_of_folders(tmp_path):
    table = load_table(shards(tmp_path / "y", "label", [0, 1, 0.5], qid=[1], x=[2.0]))
    assert table.target.tolist() == [0, 0.5, 1]
    # a column of the file goes before
    own = shards(tmp_path / "x", "x", [5], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    assert load_table(own).data.tolist() == [[2], [3]]
    # folders within folders, and other names between them
    deep = shards(tmp_path / "a=1" / "b=2" / "c" / "d=4", "e", [5], qid=[1], label=[1])
    assert load_table(tmp_path / "a=1").feature_names == ["d", "e"]
    assert load_table(deep).data.tolist() == [[4, 5]]
    bad = shards(tmp_path / "bad", "label", [0, "high"], qid=[1, 2], x=[2.0, 3.0])
    refused(bad, "column 'label' holds no number")


def test_missing_values_and_missing_columns(tmp_path):
    hive = "__HIVE_DEFAULT_PARTITION__"
    shards(tmp_path / "x", "z", [hive, 3], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    z = load_table(tmp_path / "x").data[:, 1]
    assert_array_equal(np.sort(z), [3, 3, np.nan, np.nan])
    shards(tmp_path / "q", "qid", [hive, 3], label=[1, 0], x=[2.0, 3.0])
    refused(tmp_path / "q", r"qid=.*0\.parquet: column 'qid' must not be missing")
    pd.DataFrame({"label": [1], "x": [1.0]}).to_parquet(tmp_path / "q" / "a.parquet")
    refused(tmp_path / "q", r"a\.parquet: there is no column 'qid'")


@given(st.lists(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False), min_size=1))
def test_numbers_in_names_stay_what_they_are(values):
    kind = _locate.type_of_values([str(value) for value in values])
    assert [kind(str(value)) for value in values] == [kind(value) for value in values]
    whole = all(isinstance(value, int) for value in values)
    assert kind is (int if whole else float)


def test_floats_make_no_two_numbers_one():
    large = ["9007199254740993", "9007199254740992"]
    assert _locate.type_of_values([*large, "0.5"]) is str
    assert _locate.type_of_values(large) is int
    assert _locate.type_of_values(["1", "1.0", "nan"]) is float
    assert _locate.type_of_values([]) is str


OTHERWISE_GROUPED = ["0,5", "0,123", "1,2,3", "12,34.5", "1.234,5", "1,234,56"]
OTHERWISE_GROUPED += ["1234,567"]


SPELLED_NUMBERS = [
    *((cell, {"thousands": ","}, None) for cell in OTHERWISE_GROUPED),
    ("-1,234,567.5e1", {"thousands": ","}, -12345675.0),
    ("1234.5", {"thousands": ","}, 1234.5),
    ("9,007,199,254,740,993", {"thousands": ","}, 2**53 + 1),
    ("12.5", {"thousands": ".", "decimal": ","}, None),
    ("1.234,5", {"thousands": ".", "decimal": ","}, 1234.5),
    ("1 234,5", {"thousands": " ", "decimal": ","}, 1234.5),
    ("0,123", {"decimal": ","}, 0.123),
    ("1,234", {"decimal": ","}, 1.234),
    ("1.5", {"decimal": ","}, None),
    ("+,5", {"decimal": ","}, 0.5),
]


@pytest.mark.parametrize(("cell", "options", "wanted"), SPELLED_NUMBERS)
def test_groups_of_digits_and_decimals(tmp_path, cell, options, wanted):
    text = f'label,qid,x\n1,a,7\n0,a,"{cell}"\n'
    path = csv(tmp_path, text)
    if wanted is None:
        said = refused(path, f"^{path}, line 3: column 'x' must hold", **options)
        assert f"got {cell!r}" in said
        is_plain = cell.replace(".", "").isdigit()
        assert ("numbers with the separators given, got" in said) == is_plain
    else:
        for found in (load_table(path, **options), *iter_batches(path, **options)):
            assert found.data[:, 0].tolist() == [7, wanted]
        # what thousands are is no matter where all digits stand together
        assert found.data.dtype == (np.int64 if wanted > 2**53 else np.float64)


@pytest.mark.parametrize(
    ("cells", "remedies"),
    [
        (["1,234", "5"], ["thousands=',', or --thousands ,, reads 1,234 as 1234",
                          "decimal=',', or --decimal ,, reads 1,234 as 1.234"]),
        (["0,123", "1,234"], ["decimal=',', or --decimal ,, reads 0,123 as 0.123"]),
        (["1,234.5", "x"], ["thousands=',', or --thousands ,, reads 1,234.5 as 1234.5; "
                          "missing_values",
                          "reads 'x' as missing"]),
        (["1,234.5", "1.234,5"], ["ignore, or --ignore, leaves out the column"]),
    ],
)  # fmt: skip
def test_the_remedy_is_one_that_reads_the_cells(tmp_path, cells, remedies):
    rows = "".join(f'1,a,"{cell}",0\n' for cell in cells)
    said = refused(csv(tmp_path, f"label,qid,x,y\n{rows}"), "column 'x' must hold")
    for remedy in remedies:
        assert remedy in said
    advice = ("--thousands", "--decimal", "as missing", "--ignore")
    wanted = len(remedies) + ("--ignore" not in remedies[0])
    assert sum(said.count(one) for one in advice) == wanted


def test_a_column_that_is_all_in_another_spelling_is_not_left_out(tmp_path):
    path = csv(tmp_path, 'label,qid,x\n1,a,"3,14"\n0,a,"2,7"\n')
    refused(path, "column 'x' must hold numbers, got '3,14'.* --decimal ,, reads")
    assert load_table(path, decimal=",").data[:, 0].tolist() == [3.14, 2.7]
    # text that begins like it is still text
    path = csv(tmp_path, 'label,qid,x,size\n1,a,1,"3,14"\n0,a,2,"2,7 m"\n')
    assert load_table(path).left_out == ["size"]


@pytest.mark.parametrize("fraction", ["", ".0", ".", ".000"])
def test_whole_numbers_are_exact_however_they_are_spelled(tmp_path, fraction):
    large = [2**53 + 1, -(2**53) - 1, *range(2**62, 2**62 + 28)]
    wanted = [*range(30), *large]
    rows = [f"1,{i},{value}{fraction},{i}" for i, value in enumerate(wanted)]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows]))
    found = load_table(path)
    assert found.data.dtype == np.int64
    assert found.data[:, 0].tolist() == wanted
    batches = iter_batches(path, batch_rows=7)
    assert [int(x) for b in batches for x in b.data[:, 0]] == wanted
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows, "1,60,0.5,1"]))
    got = f"got '{2**53 + 1}{fraction}'"
    refused(path, f"line 32: column 'x' must hold .*fractions.* {got}")
    # one of the floats
    path = csv(tmp_path, f"label,qid,x\n1,1,{2**60}{fraction}\n0,1,0.5\n")
    assert load_table(path).data[:, 0].tolist() == [2.0**60, 0.5]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_no_reader_gives_ranks_for_values(tmp_path, dtype):
    top = int(np.iinfo(dtype).max)
    values, fractions = np.array([500, 7, top], dtype), [0.5, 1.5, 2.5]
    path = ranking(tmp_path / "t.parquet", [0, 1, 2], time=values, x=fractions)
    message = rf"{path}: column 'time' must hold .* got {top} \(.*as_frame=True.*ignore"
    refused(path, message)
    frames = [batch.data for batch in in_batches(path, as_frame=True)]
    for frame in (load_table(path, as_frame=True).data, pd.concat(frames)):
        assert [int(value) for value in frame.time] == values.tolist()
        assert frame.x.tolist() == fractions
    assert load_table(path, as_frame=True).data.time.dtype == dtype
    assert load_table(path, ignore=["time"]).data[:, 0].tolist() == fractions
    # a number that a float holds is one, however large
    values[2] = 2**62
    ranking(path, [0, 1, 2], time=values, x=fractions)
    assert load_table(path).data[:, 1].tolist() == [500, 7, 2.0**62]


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
    out, _ = succeed(capsys, *command, *batch_rows, "--json")
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


def test_an_error_late_in_a_file_is_found_from_near_it(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_START", 1 << 10)
    n = 20_000
    rows = [f"{i % 2},{i},{i},t" for i in range(n)]
    rows[-3] = "1,1,x,t"
    path = csv(tmp_path, "\n".join(["label,qid,x,title", *rows, ""]))
    with mock.patch.object(_csv, "_wrong_with", wraps=_csv._wrong_with) as look:
        refused(path, rf"line {n - 1}: column 'x' must hold numbers, got 'x' ")
    # twice, of some rows of the piece in which it stands
    assert look.call_count < 400


def test_names_that_differ_in_their_unicode_form(tmp_path):
    composed, apart = "requ\u00eate", "reque\u0302te"
    path = csv(tmp_path, f"label,{apart},x\n1,a,1\n0,a,2\n")
    refused(path, r"column 'requ.*te' \(it has another Un", qid=composed)
    forms = enumerate([composed, apart] * 8)
    rows = [f"{i % 2},{form} {i // 4},{i}" for i, form in forms]
    path = csv(tmp_path, "\n".join(["label,qid,x", *rows, ""]))
    said = r"'requ\\xeate 0' and 'reque\\u0302te 0' differ"
    with pytest.warns(UserWarning, match=said):
        assert len(set(load_table(path).qid)) == 8
    rows.sort(key=lambda row: row[2:])
    path = csv(tmp_path, "\n".join(["label,qid,x", *rows, ""]))
    with pytest.warns(UserWarning, match="Unicode form") as warned:
        in_batches(path)
    assert len(warned) == 1
