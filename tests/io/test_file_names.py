"""Folders, patterns and lists of files."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import write
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io._locate import find_files

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
        ("empty", r"path: there is no file to read in empty$"),
        ("empty/*.csv", r"no file to read in empty/\*\.csv$"),
        ("shards/_*", r"no file to read in shards/_\* \(2 left out: shards/_"),
        ([], "path must name at least one file"),
    ],
)
def test_nothing_to_read(shards, tmp_path, path, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=message):
        iter_batches(path)


@pytest.fixture
def links(tmp_path, web, monkeypatch):
    """A table, and a folder in which it has two other names."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "a.parquet", **web)
    write(tmp_path / "b.csv", **web)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.parquet").hardlink_to(path)
    (tmp_path / "latest.parquet").symlink_to("a.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (["a.parquet", "a.parquet"], "a.parquet and a.parquet"),
        (["a.parquet", "./a.parquet"], "a.parquet and ./a.parquet"),
        (["a.parquet", "b.csv", "{here}/a.parquet"], "a.parquet and {here}/a.parquet"),
        (["latest.parquet", "a.parquet"], "latest.parquet and a.parquet"),
        (["a.parquet", "folder/x.parquet"], "a.parquet and folder/x.parquet"),
        (["folder", "a.parquet"], "folder/x.parquet (of folder) and a.parquet"),
        (["b.csv", "b*.csv"], "b.csv and b.csv (of b*.csv)"),
        ("*.parquet", "a.parquet (of *.parquet) and latest.parquet (of *.parquet)"),
        ("{here}", "{here}/a.parquet and {here}/folder/x.parquet"),
        (["no.csv", "./no.csv"], "no.csv and ./no.csv"),
        (["-", "-"], "- and -"),
        (["memory://x.csv", "memory://x.csv"], "memory://x.csv and memory://x.csv"),
    ],
)
def test_the_same_file_twice(links, path, names):
    here = str(links)
    given = [path] if isinstance(path, str) else path
    path = [one.replace("{here}", here) for one in given]
    names = names.replace("{here}", here)
    with pytest.raises(ValueError, match="must name each file once") as error:
        find_files(path, "FILE")
    assert names in str(error.value).replace(f" (of {here})", "")


@pytest.mark.parametrize("scheme", ["file://", "simplecache::file://"])
def test_the_same_file_by_its_url(links, scheme):
    pytest.importorskip("fsspec")
    url = f"{scheme}{links / 'a.parquet'}"
    with pytest.raises(ValueError, match=rf": a.parquet and {url} are the same file"):
        iter_batches(["a.parquet", url])
    assert len(find_files([f"{scheme}{links / 'b.csv'}", url])) == 2


def test_the_same_file_twice_is_refused_by_all_readers(links, web):
    names = [str(links / "a.txt"), str(links / "." / "a.txt")]
    write(links / "a.txt", **web)
    for reader in (iter_batches, load_letor):
        with pytest.raises(ValueError, match="path must name each file once"):
            reader(names)
    with pytest.raises(ValueError, match="path must name each file once"):
        load_table(["b.csv", "b.csv"])


def test_files_that_the_system_does_not_number(links, monkeypatch):
    stat = os.stat

    def without_number(path, **options):
        state = stat(path, **options)
        return os.stat_result((state.st_mode, 0, *tuple(state)[2:]))

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", without_number)
        assert len(find_files(["a.parquet", "b.csv"])) == 2
        with pytest.raises(ValueError, match=r"latest\.parquet and a\.parquet are"):
            find_files(["latest.parquet", "a.parquet"])


@pytest.mark.parametrize("path", ["", ["a.parquet", ""]])
def test_an_empty_name_is_no_folder(links, path):
    for reader in (iter_batches, load_table, load_letor):
        with pytest.raises(ValueError, match="path must not be empty"):
            reader(path)


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


def test_folders_that_are_links_are_read_once(tmp_path, web):
    own, other = tmp_path / "all" / "own", tmp_path / "other"
    own.mkdir(parents=True)
    other.mkdir()
    write(own / "a.csv", **web)
    write(other / "b.csv", **web)
    (tmp_path / "all" / "more").symlink_to(other, target_is_directory=True)
    (own / "loop").symlink_to(tmp_path / "all", target_is_directory=True)
    found = [path.name for path in find_files(tmp_path / "all")]
    assert found == ["b.csv", "a.csv"]


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, web, monkeypatch):
    (tmp_path / "shut").mkdir()
    write(tmp_path / "a.csv", **web)
    scandir = os.scandir

    def refuse(path):
        if os.fspath(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError, match="shut"):
        find_files(tmp_path)


def test_pipes_in_a_folder_are_left_out(tmp_path, web):
    path = write(tmp_path / "a.csv", **web)
    os.mkfifo(tmp_path / "b.csv")
    assert find_files(tmp_path) == find_files(str(tmp_path / "*.csv")) == [path]
