"""Folders, patterns and rows in any order, as commands read them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.io import conftest
from tests.io.helpers import write
from tieaware_sklearn.cli import main

web = conftest.web


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.fixture
def shards(tmp_path, web, monkeypatch):
    """A folder with rows in any order, and a file with the same rows in order."""
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    folder = tmp_path / "shards"
    folder.mkdir()
    for i, rows in enumerate(np.array_split(order, 3)):
        own = {key: values[rows] for key, values in web.items()}
        write(folder / f"{i}.parquet", **own)
    (folder / "_SUCCESS").write_text("")
    write(tmp_path / "web.parquet", **web)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("files", ["shards", "shards/*.parquet"])
def test_rows_in_any_order_are_read_at_once(capsys, shards, files):
    wanted = run(capsys, "screen", "web.parquet", "--quiet")[1]
    code, out, _ = run(capsys, "screen", files, "--quiet")
    assert (code, out.splitlines()[1:]) == (0, wanted.splitlines()[1:])
    code, _, err = run(capsys, "screen", files, "--quiet", "--batch-rows", 60)
    assert code == 1
    assert "sort the rows by query first, or read all of them at once" in err


def test_outputs_do_not_replace_a_file_of_a_folder(capsys, shards):
    for option in ("--csv=shards/1.parquet", "--json=shards/0.parquet"):
        code, _, err = run(capsys, "screen", "shards", option)
        assert code == 1
        assert "must not replace an input, got shards/" in err
    assert len(pd.read_parquet("shards/1.parquet"))


def test_nothing_to_read(capsys, tmp_path):
    code, _, err = run(capsys, "screen", tmp_path)
    assert code == 1
    said = f"FILE: there is no file to read in {tmp_path}\n"
    assert err == f"tieaware: error: {said}"
