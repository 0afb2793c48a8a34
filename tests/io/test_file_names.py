"""Folders, patterns and lists of files."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import write
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io._file_names import find_files

#: in the order in which they are read
SHARDS = ["a/part-2.parquet", "a/part-10.parquet", "b-1.parquet", "b-03.parquet"]


@pytest.fixture
def shards(tmp_path, web, monkeypatch):
    """Rows of four files, beside files that are none of them."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shards"
    (folder / "a").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    ends = np.searchsorted(web["qid"], [0, 4, 11, 20, 99])
    for name, start, stop in zip(SHARDS, ends, ends[1:], strict=False):
        write(folder / name, **{key: v[start:stop] for key, v in web.items()})
    for name in (
        "_SUCCESS", "_metadata", ".hidden.parquet", ".b-1.parquet.crc",
        "b-1.parquet.crc", "notes.txt", "_temporary/c.parquet",
    ):  # fmt: skip
        (folder / name).write_bytes(b"no Parquet")
    return folder


@pytest.mark.parametrize(
    ("path", "n_first", "n_files"),
    [
        ("shards", 0, 4),
        ("shards/", 0, 4),
        ("./shards/../shards", 0, 4),
        ("shards/**/*.parquet", 0, 4),
        ("shards/*.parquet", 2, 4),
        ("shards/a", 0, 2),
        ("shards/[a]/part-?*.parquet", 0, 2),
        (["shards/*.parquet", "shards/a"], None, 4),
        ("*/*", 2, 4),
    ],
)
def test_files_of_folders_and_patterns_in_natural_order(
    shards, web, path, n_first, n_files
):
    found = [os.path.relpath(file, shards) for file in find_files(path)]
    if n_first is None:
        assert found == [*SHARDS[2:], *SHARDS[:2]]
        return
    assert found == SHARDS[n_first:n_files]
    data = np.concatenate([b.data for b in iter_batches(path, batch_rows=30)])
    ends = np.searchsorted(web["qid"], [0, 4, 11, 20, 99])
    assert_array_equal(data, web["X"][ends[n_first] : ends[n_files]])
    assert_array_equal(load_table(path).data, data)


def test_the_order_of_a_folder_is_that_of_names_not_of_the_disk(tmp_path):
    names = ["10", "9", "1a", "1", "a10", "a9", "B", "ä", "٣"]
    for name in names:
        (tmp_path / f"{name}.csv").write_text("")
    found = [file.stem for file in find_files(tmp_path)]
    assert found[:4] == ["1", "1a", "9", "10"] or found.index("9") < found.index("10")
    assert found.index("a9") < found.index("a10")
    assert sorted(found) == sorted(names)
    assert found == [file.stem for file in find_files(str(tmp_path / "*"))]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("empty", r"path: there is no file to read in the folder empty$"),
        ("empty/*.csv", r"no file to read of the pattern empty/\*\.csv$"),
        ("shards/_*", r"of the pattern shards/_\* \(2 left out: shards/_"),
        ([], "path must name at least one file"),
    ],
)
def test_nothing_to_read(shards, tmp_path, path, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=message):
        iter_batches(path)


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path, web):
    path = write(tmp_path / "a[1].parquet", **web)
    write(tmp_path / "a1.parquet", **web)
    assert find_files(str(path)) == [path]


def test_folders_of_text(tmp_path, web):
    first = web["qid"] < 9
    for name, rows in (("1.txt", first), ("2.txt.gz", ~first)):
        write(tmp_path / name, **{key: values[rows] for key, values in web.items()})
    (tmp_path / "1.txt.query").write_text("3\n")
    assert_array_equal(load_letor(tmp_path).data, web["X"])
    data = np.concatenate([b.data for b in iter_batches(tmp_path, batch_rows=30)])
    assert_array_equal(data, web["X"])
