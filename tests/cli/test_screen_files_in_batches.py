"""Files screened in batches, with what is found in all rows at once."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from tests.io import conftest
from tests.io.helpers import FORMS, csv, write
from tieaware_sklearn.cli import main
from tieaware_sklearn.io import track

web, files = conftest.web, conftest.files


def screen(capsys, *arguments):
    code = main(["screen", *map(str, arguments), "--quiet"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("name", FORMS)
def test_screen_in_batches_prints_the_same(capsys, files, name):
    at_once = screen(capsys, files[name])
    assert at_once[0] == 0
    assert screen(capsys, files[name], "--batch-rows", 50) == at_once


def test_screen_reads_large_files_in_batches(capsys, monkeypatch, files, web, tmp_path):
    path = files["web.parquet"]
    wanted = screen(capsys, path)
    used = []
    monkeypatch.setattr(
        "tieaware_sklearn.cli._screen.track",
        lambda *arguments: used.append(arguments[1]) or track(*arguments),
    )
    monkeypatch.setattr("tieaware_sklearn.cli._screen._LARGE", 10_000)
    assert screen(capsys, path) == wanted
    assert used[0] > 1
    # rows that do not stand together are an error that says what to do
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    mixed = write(tmp_path / "web.parquet", **{k: v[order] for k, v in web.items()})
    for words in ([], ["--batch-rows", 50]):
        code, _, err = screen(capsys, mixed, *words)
        assert code == 1
        assert "comes back after another query" in err
        assert "--batch-rows 0" in err
    code, out, _ = screen(capsys, mixed, "--batch-rows", 0)
    assert out.splitlines()[1:] == wanted[1].splitlines()[1:]


def test_screen_in_batches_from_standard_input(capsys, monkeypatch, files):
    text = io.TextIOWrapper(io.BytesIO(files["web.txt"].read_bytes()))
    monkeypatch.setattr(sys, "stdin", text)
    code, out, _ = screen(capsys, "-", "--batch-rows", 50)
    assert code == 0
    wanted = screen(capsys, files["web.txt"])[1]
    assert out.splitlines()[1:] == wanted.splitlines()[1:]


def test_bad_values_in_batches_name_the_line(capsys, tmp_path):
    rows = "".join(f"{q},{-(q == 4)},{q}\n" for q in range(6))
    path = csv(tmp_path, "qid,label,f\n" + rows)
    code, _, err = screen(capsys, path, "--batch-rows", 2)
    assert code == 1
    assert "line 6: a label must be finite and >= 0, got -1" in err


def test_one_query_in_batches_is_warned_of(capsys, tmp_path):
    path = csv(tmp_path, "qid,label,f\n1,0,1\n1,1,2\n")
    _, _, err = screen(capsys, path, "--batch-rows", 2)
    assert "p-values need at least two queries" in err
