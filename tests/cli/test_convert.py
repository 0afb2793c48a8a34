"""``tieaware convert``, as a shell user meets it."""

from __future__ import annotations

import gzip
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.cli.helpers import run
from tests.io.helpers import stop_in_the_middle
from tieaware_sklearn.datasets import dump_letor, load_letor, load_table


def test_to_parquet_and_back(tmp_path, capsys, web, letor):
    out, back = tmp_path / "web.parquet", tmp_path / "web.txt.gz"
    code, said, err = run(capsys, "convert", letor, out)
    n_rows, n_features = web.data.shape
    assert (code, err) == (0, "")
    found = f"{n_rows} documents, 40 queries, {n_features} features\n"
    assert said == f"{out}: {found}"
    assert_array_equal(load_table(out).data, web.data)
    assert run(capsys, "convert", out, back, "--quiet") == (0, f"{back}: {found}", "")
    with gzip.open(letor) as wanted, gzip.open(back) as file:
        assert file.read() == wanted.read()
    assert run(capsys, "screen", out, "--json")[0] == 0


def test_names_of_columns_and_features(tmp_path, capsys):
    table, out = tmp_path / "any.csv", tmp_path / "out.txt"
    table.write_text("grade,query,clicks,url,age\n1,7,5,a,2\n0,7,3,b,1\n")
    words = ["--label", "grade", "--qid", "query"]
    code, _, err = run(capsys, "convert", table, out, *words)
    assert code == 0
    assert err == (
        "tieaware: left out, without numbers or without a name: url\n"
        "tieaware: features 1 clicks, 2 age\n"
    )
    assert out.read_text() == "1 qid:7 1:5 2:2\n0 qid:7 1:3 2:1\n"
    code, _, err = run(capsys, "convert", table, out, *words, "--ignore", "url", "age")
    assert err == "tieaware: features 1 clicks\n"
    assert out.read_text() == "1 qid:7 1:5\n0 qid:7 1:3\n"
    again = tmp_path / "again.tsv"
    assert run(capsys, "convert", out, again, *words)[::2] == (0, "")
    assert again.read_text() == "grade\tquery\t1\n1\t7\t5\n0\t7\t3\n"
    assert run(capsys, "convert", table, again, *words, "--ignore", "url")[2] == ""
    assert again.read_text().startswith("grade\tquery\tclicks\tage\n1\t7\t5\t2\n")


def test_several_files_with_sizes_of_queries(tmp_path, capsys):
    for name, text in (("a", "1 1:1\n0 1:2\n"), ("b", "1 2:3\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.sizes").write_text(f"{text.count(':')}\n")
    a, b, out = tmp_path / "a", tmp_path / "b", tmp_path / "out.csv"
    sizes = [f"--query-file={path}.sizes" for path in (a, b)]
    assert run(capsys, "convert", a, b, out, *sizes)[0] == 0
    assert load_table(out).qid.tolist() == ["0", "0", "1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["web.txt", "-"], "OUT must name a file, got -"),
        (["web.txt", ""], "OUT must name a file, got an empty name"),
        (["web.txt", "."], "OUT must name a file, got the folder ."),
        (["web.txt", "no/x.csv"], "OUT: there is no folder for no/x.csv"),
        (["web.txt", "web.txt"], "OUT must not replace an input, got web.txt"),
        (["web.txt", "link.txt"], "OUT must not replace an input, got web.txt"),
        (["web.txt", "web.txt.query"], "not replace an input, got web.txt.query"),
        (["web.txt", "x.csv.xz"], "compressed as .gz or not at all, got x.csv.xz"),
        (["web.txt", "x.csv.zst"], "text such as .txt, got x.csv.zst: .zst is another"),
        (["web.txt", "x.JSON"], "OUT must end in .parquet, .csv or .tsv, or have"),
        (["web.txt", "x.json.gz"], "got x.json.gz: .json is another format"),
        (["web.txt", "x\0y.csv"], r"OUT must name a file, got 'x\x00y.csv' with a NUL"),
        (["", "x.csv"], "FILE must not be empty"),
        (["web.txt", "./web.txt", "x.csv"], "web.txt and ./web.txt are the same file"),
        (["missing.txt", "x.csv"], "missing.txt: No such file"),
        (["bad.txt", "x.csv"], "bad.txt, line 2: a feature must look like"),
        (["bad.csv", "x.txt"], "bad.csv, line 3: in LETOR text a query id must be"),
        (["bad.csv", "x.txt", "--query-file", "y"], "--query-file must be given for L"),
        (["web.txt", "x.txt", "--label", "y"], "--label names a column of CSV and"),
        (["web.txt", "x.csv", "--label", "2"], "different names, got '2' twice"),
        (["web.txt", "bad.csv", "x.csv"], "all files must be of one kind"),
        (["web.txt", "x.csv", "--ignore", "99"], "ignore must name a feature"),
    ],
)
def test_errors_leave_no_file(tmp_path, capsys, monkeypatch, web, words, message):
    monkeypatch.chdir(tmp_path)
    dump_letor(web.data, web.target, "web.txt", qid=web.qid)
    (tmp_path / "link.txt").symlink_to("web.txt")
    (tmp_path / "web.txt.query").write_text("1\n")
    (tmp_path / "bad.txt").write_text("1 qid:1 1:1 2:1\n1 qid:1 1:1 2:1: 3:1\n")
    (tmp_path / "bad.csv").write_text("label,qid,x\n1,1,1\n0,tea,2\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = run(capsys, "convert", *words)
    assert (code, out) == (1, "")
    assert err.startswith("tieaware: error: ")
    assert message in err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_out_is_required(capsys):
    with pytest.raises(SystemExit) as stopped:
        run(capsys, "convert", "web.txt")
    assert stopped.value.code == 2
    assert "usage: tieaware convert FILE [FILE ...] OUT" in capsys.readouterr().err


def test_without_pyarrow_nothing_is_read(tmp_path, capsys, monkeypatch, letor):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, _, err = run(capsys, "convert", letor, tmp_path / "x.parquet")
    assert code == 1
    assert "writing Parquet" in err
    # CSV takes no library
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert run(capsys, "convert", letor, tmp_path / "x.csv")[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.parquet"])
def test_a_full_disk(tmp_path, capsys, letor, name):
    (tmp_path / name).symlink_to("/dev/full")
    code, out, err = run(capsys, "convert", letor, tmp_path / name)
    assert (code, out) == (1, "")
    assert err == f"tieaware: error: {tmp_path / name}: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_old_file(tmp_path, number):
    source, out = tmp_path / "many.txt", tmp_path / "out.csv"
    rows = np.random.default_rng(0).random((40_000, 20))
    dump_letor(rows, rows[:, 0] > 0.9, source, qid=np.arange(40_000) // 10)
    out.write_text("before")
    command = [sys.executable, "-m", "tieaware_sklearn", "convert", source, out]
    code, err = stop_in_the_middle([str(word) for word in command], out, number)
    assert code == 128 + number
    assert "Traceback" not in err
    assert out.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [source, out]
    assert load_letor(source).data.shape == (40_000, 20)


def test_integer_ids_of_parquet_go_with_csv_after_the_advice(tmp_path, capsys, web):
    text, numbers = tmp_path / "a.csv", tmp_path / "b.parquet"
    letor = tmp_path / "a.txt"
    for path, rows in ((text, web.qid < 9), (numbers, web.qid >= 9)):
        dump_letor(web.data[rows], web.target[rows], letor, qid=web.qid[rows])
        assert run(capsys, "convert", letor, path)[0] == 0
    code, _, err = run(capsys, "screen", text, numbers)
    assert code == 1
    assert "tieaware convert FILE OUT.csv writes any as text" in err
    assert run(capsys, "convert", numbers, tmp_path / "b.csv")[0] == 0
    code, out, _ = run(capsys, "screen", text, tmp_path / "b.csv")
    assert code == 0
    assert f" {len(np.unique(web.qid))} queries" in out
