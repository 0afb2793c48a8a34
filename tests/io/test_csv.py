"""CSV as people have it: what is missing, thousands, and all that is wrong at once."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import csv, joined
from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io import _csv


def in_batches(path, **options):
    return list(iter_batches(path, batch_rows=1, **options))


def refused(path, message, **options):
    """The words of the error, at once and in batches."""
    for read in (load_table, in_batches):
        with pytest.raises(ValueError, match=message) as error:
            read(path, **options)
    return str(error.value)


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
    assert "missing_values, or --missing-values, reads such" in lines[1]
    # as many things as a screen shows
    names = [f"f{j}" for j in range(20)]
    rows = ["label,qid," + ",".join(names), "1,1," + ",".join("1" * 20)]
    path = csv(tmp_path, "\n".join([*rows, "0,1," + ",".join("x" * 20)]))
    assert refused(path, "'f0' must").count("\n") == 9


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        (
            "1,406",
            "got '1,406' (thousands=\",\", or --thousands ,, reads such numbers; ",
        ),
        ("1.406,5", "(pandas.read_csv(..., thousands='.', decimal=',') reads such"),
        ("many", "(missing_values, or --missing-values, reads such cells as missing; "),
    ],
)
def test_the_remedy_of_a_cell(tmp_path, cell, remedy):
    path = csv(tmp_path, f'label,qid,x\n1,1,"{cell}"\n0,1,2\n')
    refused(path, re.escape(remedy))


def test_missing_values_and_thousands(tmp_path):
    cells = ["", "NA", "n/a", "N/A", "#N/A", "<NA>", "none", "None", "-", "?", "NULL"]
    cells += ["null", "nan", "NaN", " NA ", '"-"']
    rows = [f"1,{i % 2},{cell},1" for i, cell in enumerate(cells)]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows, "1,NA,3,4"]))
    found = load_table(path)
    assert_array_equal(found.data[:, 0], [np.nan] * len(cells) + [3])
    assert found.qid[-1] == "NA"
    path = csv(
        tmp_path,
        'label,qid,x,y\n1,1,"1,406.84",tbd\n2,1,"-1,234,567",7\n0,1,3,"1,000"\n',
    )
    options = {"missing_values": ["tbd"], "thousands": ","}
    for found in (load_table(path, **options), *iter_batches(path, **options)):
        assert_array_equal(found.data, [[1406.84, np.nan], [-1234567, 7], [3, 1000]])


@pytest.mark.parametrize("n_empty", [0, 1, 9, 40])
@pytest.mark.parametrize("batch_rows", [None, 1, 20])
def test_what_a_column_is_does_not_depend_on_where_values_stand(
    tmp_path, monkeypatch, n_empty, batch_rows
):
    monkeypatch.setattr(_csv, "_START", 50)
    monkeypatch.setattr(_csv, "MAX_LINE", 100)
    cells = [""] * n_empty + [f"{i}" if i < 5 else f"{i}.5" for i in range(10)]
    rows = [f"1,{i},{cell},{'t' if i > 20 else ''}," for i, cell in enumerate(cells)]
    path = csv(tmp_path, "\n".join(["label,qid,x,text,empty", *rows]))
    batches = [load_table(path)]
    if batch_rows is not None:
        batches = list(iter_batches(path, batch_rows=batch_rows))
    for batch in batches:
        assert batch.feature_names == ["x"]
        assert batch.left_out == ["text", "empty"]
    wanted = [np.nan if c == "" else float(c) for c in cells]
    assert_array_equal(joined(batches)[:, 0], wanted)
    assert joined(batches, "qid").tolist() == list(map(str, range(len(cells))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f\n0\n1\n2\nx3\n4\n", "line 5: column 'f' must hold numbers, got 'x3'"),
        ("f\nx\ny\n1\n2\n", "line 4: column 'f' must hold numbers or text, not both, "
         "got '1' after text"),
        ("a\n1\n2\n3,9\n", "line 4: a row must not have more cells"),
    ],
)  # fmt: skip
def test_what_a_column_is_in_later_rows(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(_csv, "_START", 30)
    head, *cells = text.splitlines()
    rows = [f"{q},0,1,{cell}" for q, cell in enumerate(cells)]
    path = csv(tmp_path, "\n".join([f"qid,label,g,{head}", *rows]))
    assert refused(path, message).startswith(f"{path}, {message}")


def test_whole_numbers_that_floats_would_round(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "MAX_LINE", 60)
    wanted = [i if i < 30 else 2**62 + i for i in range(60)]
    rows = [f"1,{i},{value},{i}" for i, value in enumerate(wanted)]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows]))
    found = load_table(path)
    assert found.data.dtype == np.int64
    assert found.data[:, 0].tolist() == wanted
    batches = iter_batches(path, batch_rows=7)
    assert [int(x) for b in batches for x in b.data[:, 0]] == wanted
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows, "1,60,0.5,1"]))
    refused(path, r"line 32: column 'x' must hold .*fractions")
    # one of the floats
    path = csv(tmp_path, f"label,qid,x\n1,1,{2**60}\n0,1,0.5\n")
    assert load_table(path).data[:, 0].tolist() == [2.0**60, 0.5]


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        # beyond all types of 64 bits, and beyond what one of them holds
        (["18446744073709551617", "18446744073709551618", "3"], "18446744073709551617"),
        (["9223372036854775809", "9223372036854775808", "-3"], "9223372036854775809"),
        (["9223372036854775807", "9223372036854775808", "3"], "9223372036854775807"),
        (["0" * 5000 + "1", "9" * 5000, "2"], "0" * 60),
    ],
)
def test_floats_tie_no_integers(tmp_path, cells, bad):
    text = "label,qid,x\n" + "".join(f"1,1,{cell}\n" for cell in cells)
    refused(csv(tmp_path, text), f"line 2: column 'x' must .* got '{bad}")


def test_quotes_that_come_late_and_those_left_open(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_START", 10)
    rows = [f"{i % 2},{i},{i},t" for i in range(20)]
    text = "\n".join(["label,qid,x,text", *rows, '1,20,20,"a\nb"', "0,21,21,c"])
    found = load_table(csv(tmp_path, text))
    assert found.data[:, 0].tolist() == list(range(22))
    assert found.place(21).endswith("line 24")
    for end in ('1,22,22,"c', '1,22,22,"c\n1,23,23,d\n', '1,22,"22,c', '"a""b'):
        with pytest.raises(ValueError, match=r"line 25: a quotation mark is opened"):
            load_table(csv(tmp_path, f"{text}\n{end}"))
    for legal in ('1,22,22,5" disk', '1,22,22,"a,"', '1,22,22,""'):
        assert len(load_table(csv(tmp_path, f"{text}\n{legal}")).data) == 23


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        ("label;qid;x", "1;1;2", "separated by ',', got ';'"),
        ("label|qid|x", "1|1|2", "separated by ',', got '|'"),
        ("label\tqid\tx", "1\t1\t2", "separated by ',', got '\\t'"),
        ("label,qid,x,label", "1,1,2,3", "each column once, got 'label' twice"),
        ("label,qid,x,x", "1,1,2,3", "each column once, got 'x' twice"),
        ("label,qid", "1,1", "no column but 'label' and 'qid' holds numbers"),
        ("label,qid,x", "bad,1,2", "column 'label' holds no number"),
    ],
)
def test_headers_that_are_wrong(tmp_path, head, row, message):
    refused(csv(tmp_path, f"{head}\n{row}\n"), re.escape(message))


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


def test_other_ways_to_write_numbers(tmp_path):
    cells = ["+5", "1.", ".5", " 7 ", "1e3", '"8"', "-0", "1E-2"]
    rows = [f"1,1,{cell}" for cell in cells]
    found = load_table(csv(tmp_path, "\r\n".join(["label,qid,x", *rows])))
    assert found.data[:, 0].tolist() == [5, 1, 0.5, 7, 1000, 8, 0, 0.01]
    for cell in ("1_0", "0x1", "٣"):
        path = csv(tmp_path, f"label,qid,x\n1,1,{cell}\n0,1,2\n")
        refused(path, "line 2: column 'x' must hold numbers")
    infinite = csv(tmp_path, "label,qid,x\n1,1,inf\n0,1,-Infinity\n0,1,2\n")
    assert load_table(infinite).data[:, 0].tolist() == [np.inf, -np.inf, 2]


@pytest.mark.parametrize("first", ["text", "numbers", "empty"])
def test_columns_are_of_one_kind_in_all_files(tmp_path, first):
    cells = {"text": "a", "numbers": "1", "empty": ""}
    names = [first, *(name for name in cells if name != first)]
    for i, name in enumerate(names):
        csv(tmp_path, f"label,qid,x,y\n1,{i},{cells[name]},5\n", f"{i}.csv")
    said = rf"{names.index('numbers')}\.csv.* numbers or text, not both, got '1'"
    if names.index("numbers") < names.index("text"):
        said = rf"{names.index('text')}\.csv.* 'x' must hold numbers, got 'a'"
    with pytest.raises(ValueError, match=said):
        load_table(tmp_path)
    (tmp_path / f"{names.index('text')}.csv").unlink()
    assert load_table(tmp_path).feature_names == ["x", "y"]


ROWS = ["label,qid,text,x", *(f"{i % 2},{i // 4},t,{i}" for i in range(40))]


def with_rows(rows, end="\n"):
    return "\n".join([*ROWS[:10], *rows, *ROWS[12:]]) + end


@pytest.mark.parametrize(
    ("rows", "n_cells", "line"),
    [
        # what the rows 10 and 11 become, cells of the first short one, its line
        (["1,2"], 2, 11),
        (["1,2,t"], 3, 11),
        (["7"], 1, 11),
        (['1,2,"a,b,c"'], 3, 11),
        (['1,2,"a\n""b"",\n\n,c"'], 3, 14),
        (['"1","2"', '1,2,"t",3'], 2, 11),
        (['1,2,5" disk,3', "1,2,t"], 3, 12),
        (['1,2,5" disk', '1,2,6" disk,3'], 3, 11),
        (["", "  ", "1,2,t"], 3, 13),
        (['1,2,"t,3"\r', "1,2,t,3\r"], 3, 11),
        (["1,2\r1,2,t,3"], 2, 11),
        (["1,2,t,3,", "1,2,3"], 3, 12),
    ],
)
def test_short_rows(tmp_path, rows, n_cells, line):
    said = "a row must not have fewer cells than the header .4., got"
    refused(csv(tmp_path, with_rows(rows)), f"line {line}: {said} {n_cells} ")


@pytest.mark.parametrize("end", ["\n", "", "\n\n", "\n \n"])
def test_legal_rows(tmp_path, end):
    for n_more, rows in (
        (1, ['1,2,"a,b",3']),
        (1, ['1,2,"a\n""b"",,\n\n,c",3']),
        (1, ["", "  ", "\t", "1,2,,"]),
        (1, ['1,2,5" disk,3']),
        (2, ['1,2,a "" b,3', '"1","2","",""']),
        (2, ["1,2,t,3\r", "\r", "1,2,t,3\r"]),
        (2, ["1,2,t,3\r1,2,t,3"]),
        (1, [",2,,"]),
    ):
        path = csv(tmp_path, with_rows(rows, end))
        batches = iter_batches(path, batch_rows=3)
        assert len(load_table(path).data) == len(joined(batches)) == 38 + n_more


def test_a_file_cut_in_its_last_row(tmp_path):
    for cut in (3, 4, 5):
        path = csv(tmp_path, "label,qid,x\n1,1,12\n0,1,13\n1,22,7\n"[:-cut])
        refused(path, "line 4: a row must not have fewer cells")
    # the last number may be cut in its digits, which nobody can tell
    for cut, n_rows in ((1, 3), (8, 2), (9, 2)):
        path = csv(tmp_path, "label,qid,x\n1,1,12\n0,1,13\n1,22,7\n"[:-cut])
        assert len(load_table(path).data) == len(joined(in_batches(path))) == n_rows
