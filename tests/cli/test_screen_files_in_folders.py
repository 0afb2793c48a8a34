"""Folders, patterns and rows in any order, as commands read them."""

from __future__ import annotations

import tempfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.io import conftest
from tests.io.helpers import write
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import load_letor

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
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("files", ["shards", "shards/*.parquet"])
def test_screen_sorts_if_it_is_told_to(capsys, shards, files):
    pytest.importorskip("duckdb")
    wanted = run(capsys, "screen", "web.parquet", "--quiet")[1]
    options = ["--batch-rows", 60, "--quiet"]
    code, out, err = run(capsys, "screen", files, "--sort", *options)
    assert (code, out.splitlines()[1:]) == (0, wanted.splitlines()[1:])
    assert "not together: they are sorted by query on disk with DuckDB, in /" in err
    assert list((shards.parent / "temporary").iterdir()) == []
    code, _, err = run(capsys, "screen", files, *options)
    assert code == 1
    assert "sort=True (--sort) sorts the rows by query on disk" in err
    # in order: nothing to say
    assert "sort" not in run(capsys, "screen", "web.parquet", "--sort", *options)[2]
    # and if all is read at once, nothing to sort
    code, out, err = run(capsys, "screen", files, "--sort", "--quiet")
    assert (code, out.splitlines()[1:]) == (0, wanted.splitlines()[1:])
    assert "sort" not in err


def test_convert_sorts_if_it_is_told_to(capsys, shards, web):
    pytest.importorskip("duckdb")
    code, out, err = run(capsys, "convert", "shards/", "all.txt", "--sort", "--quiet")
    assert code == 0
    assert "sorted by query" in err
    assert f"{len(web['qid'])} documents, 30 queries" in out
    found = load_letor("all.txt")
    assert len(np.flatnonzero(np.diff(found.qid))) == 29
    columns = [found.qid, found.target, *found.data.T]
    wanted = [web["qid"], web["y"], *web["X"].T]
    for one, other in zip(sorted_rows(columns), sorted_rows(wanted), strict=True):
        assert_array_equal(one, other)


def sorted_rows(columns):
    matrix = np.column_stack(columns)
    return matrix[np.lexsort(matrix.T[::-1])]


def test_outputs_do_not_replace_a_file_of_a_folder(capsys, shards):
    for option in ("--csv=shards/1.parquet", "--json=shards/0.parquet"):
        code, _, err = run(capsys, "screen", "shards", option)
        assert code == 1
        assert "must not replace an input, got shards/" in err
    code, _, err = run(capsys, "convert", "shards", "shards/1.parquet")
    assert code == 1
    assert "OUT must not replace an input, got shards/1.parquet" in err
    assert len(pd.read_parquet("shards/1.parquet"))


def test_nothing_to_read(capsys, tmp_path):
    for command in (["screen"], ["convert", tmp_path / "out.txt"]):
        name, *out = command
        code, _, err = run(capsys, name, tmp_path, *out)
        assert code == 1
        said = f"FILE: there is no file to read in the folder {tmp_path}\n"
        assert err == f"tieaware: error: {said}"
