"""CSV as people have it: what is missing, thousands, and all that is wrong at once."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.cli.helpers import run
from tests.io.helpers import csv
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io import _csv

MESSY = """\
label,qid,price,stock,title,share
1,tea,"1,406.84",tbd,a,9007199254740993
0,tea,12.5,n/a,b,0.5
0,,3,1,c,1
x,mug,7,2,d,2,9
0,mug,8
1,mug,9,unknown,e,3
"""


def test_all_that_is_wrong_is_said_at_once(tmp_path, capsys):
    path = csv(tmp_path, MESSY)
    for read in (load_table, lambda path: list(iter_batches(path, batch_rows=1))):
        with pytest.raises(ValueError, match="price") as error:
            read(path)
        lines = str(error.value).split("\n  ")
        assert lines[0].startswith(f"{path}, line 2: column 'price' must hold numbers")
        assert "got '1,406.84' (thousands=" in lines[0]
        assert [line.partition(":")[0] for line in lines[1:]] == [
            *("line 2", "line 2", "line 4", "line 5", "line 6")
        ]
        said = {line.partition(": ")[2].partition(" (")[0] for line in lines[1:]}
        assert "column 'stock' must hold numbers, got 'tbd', 'unknown'" in said
        assert "column 'qid' must not be empty" in said
    code, out, err = run(capsys, "screen", path, "--quiet")
    assert (code, out) == (1, "")
    assert err == f"tieaware: error: {error.value}\n"


def test_at_most_ten_things_are_said(tmp_path):
    names = [f"f{j}" for j in range(20)]
    rows = ["label,qid," + ",".join(names), "1,1," + ",".join("1" * 20)]
    path = csv(tmp_path, "\n".join([*rows, "0,1," + ",".join("x" * 20)]))
    with pytest.raises(ValueError, match="'f0' must") as error:
        load_table(path)
    assert str(error.value).count("\n") == 9


def test_missing_values_and_thousands(tmp_path, capsys):
    cells = ["", "NA", "n/a", "N/A", "none", "-", "?", "NULL", "nan", " NA ", '"-"']
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
    words = ["--missing-values", "tbd", "--thousands", ",", "--missing", "last"]
    code, out, _ = run(capsys, "screen", path, "--json", "--quiet", *words)
    assert code == 0
    assert {row["feature"] for row in json.loads(out)["features"]} == {"x", "y"}
    for bad in ({"thousands": "ab"}, {"thousands": "1"}, {"missing_values": "NA"}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
            load_table(path, **bad)
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(ValueError, match="thousands must not be given for LETOR"):
        iter_batches(tmp_path / "a.txt", thousands=",")


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
    if batch_rows is None:
        batches = [load_table(path)]
    else:
        batches = list(iter_batches(path, batch_rows=batch_rows))
    for batch in batches:
        assert batch.feature_names == ["x"]
        assert batch.left_out == ["text", "empty"]
    found = np.concatenate([batch.data[:, 0] for batch in batches])
    assert_array_equal(found, [np.nan if c == "" else float(c) for c in cells])


def test_whole_numbers_that_floats_would_round(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "MAX_LINE", 60)
    large = 2**62
    rows = [f"1,{i},{i},{i}" for i in range(30)]
    rows += [f"1,{i},{large + i},{i}" for i in range(30, 60)]
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows]))
    found = load_table(path)
    assert found.data.dtype == np.int64
    wanted = [i if i < 30 else large + i for i in range(60)]
    assert found.data[:, 0].tolist() == wanted
    batches = iter_batches(path, batch_rows=7)
    assert [int(x) for b in batches for x in b.data[:, 0]] == wanted
    path = csv(tmp_path, "\n".join(["label,qid,x,y", *rows, "1,60,0.5,1"]))
    with pytest.raises(ValueError, match=r"line 32: column 'x' must hold .*fractions"):
        load_table(path)
    # one of the floats
    path = csv(tmp_path, f"label,qid,x\n1,1,{2**60}\n0,1,0.5\n")
    assert load_table(path).data[:, 0].tolist() == [2.0**60, 0.5]


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
        ("label\tqid\tx", "1\t1\t2", "separated by ',', got '\\t'.* ends in .tsv"),
        ("label,qid,x,label", "1,1,2,3", "each column once, got 'label' twice"),
        ("label,qid,x,x", "1,1,2,3", "each column once, got 'x' twice"),
    ],
)
def test_headers_that_are_wrong(tmp_path, head, row, message):
    with pytest.raises(ValueError, match=message.replace("\\", "\\\\")):
        load_table(csv(tmp_path, f"{head}\n{row}\n"))


def test_columns_without_a_name_are_left_out(tmp_path):
    path = csv(tmp_path, ",label,qid,x,,Unnamed: 0\n0,1,1,5,3,7\n1,0,1,6,4,8\n")
    found = load_table(path)
    assert found.feature_names == ["x"]
    assert found.left_out == ["", "", "Unnamed: 0"]


def test_infinite_cells_name_the_remedy(tmp_path, capsys):
    path = csv(tmp_path, "label,qid,x,y\n1,1,inf,1\n0,1,2,\n-1,1,3,1\n")
    code, _, err = run(capsys, "screen", path)
    assert code == 1
    assert "line 2: feature x must be finite, got inf (--missing-values inf" in err
    assert "line 3: feature y is missing" in err
    assert "line 4: a label must be finite and >= 0" in err
    words = ["--missing-values", "inf", "--missing", "last", "--ignore", "y"]
    path = csv(tmp_path, "label,qid,x,y\n1,1,inf,1\n0,1,2,\n1,1,3,1\n")
    assert run(capsys, "screen", path, *words, "--quiet")[0] == 0


def test_other_ways_to_write_numbers(tmp_path):
    cells = ["+5", "1.", ".5", " 7 ", "1e3", '"8"', "-0", "1E-2"]
    rows = [f"1,1,{cell}" for cell in cells]
    found = load_table(csv(tmp_path, "\r\n".join(["label,qid,x", *rows])))
    assert found.data[:, 0].tolist() == [5, 1, 0.5, 7, 1000, 8, 0, 0.01]
    for cell in ("1_0", "0x1", "٣"):
        with pytest.raises(ValueError, match="line 2: column 'x' must hold numbers"):
            load_table(csv(tmp_path, f"label,qid,x\n1,1,{cell}\n0,1,2\n"))


def test_features_far_beyond_the_others_if_they_are_meant(tmp_path):
    path = tmp_path / "far.txt"
    path.write_text("1 qid:1 20000:1\n0 qid:1 1:1\n")
    for read in (load_letor, iter_batches):
        with pytest.raises(ValueError, match=r"line 1: feature number 20000 is far"):
            read(path)
    assert load_letor(path, n_features=20000, sparse=True).data.shape == (2, 20000)
    lines = [f"1 qid:1 {n}:1\n" for n in range(1, 20000, 50)]
    path.write_text("".join(lines))
    assert load_letor(path, sparse=True).data.shape == (400, 19951)


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
