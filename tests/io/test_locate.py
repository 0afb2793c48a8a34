"""Where files are: folders, patterns, lists and links."""

import gzip
import io
import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.cli.helpers import run
from tests.io.helpers import joined, refused, write
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io._locate import find_files

#: in the order in which they are read
SHARDS = ["a/part-2.parquet", "a/part-10.parquet", "b-1.parquet", "b-03.parquet"]
#: files that are not read
NO_SHARDS = [
    "_SUCCESS",
    "_metadata",
    ".hidden.parquet",
    ".b-1.parquet.crc",
    "b-1.parquet.crc",
    "notes.txt",
    "_temporary/c.parquet",
    "b.csv.query",
    "a.csv.group",
]
TABLE = "label,qid,x\n1,a,1\n0,a,2\n"
LETOR = "1 qid:1 1:0.5\n0 qid:1 1:2\n"


def ends_of_shards(web):
    """Return the first row of each shard, and the end of the last."""
    return np.searchsorted(web["qid"], [0, 4, 11, 20, 99])


@pytest.fixture
def shards(tmp_path, web, monkeypatch):
    """Write rows to four files, beside files that are not read."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shards"
    (folder / "a").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    for name, (start, stop) in zip(SHARDS, pairwise(ends_of_shards(web)), strict=True):
        rows = {key: values[start:stop] for key, values in web.items()}
        write(folder / name, **rows)
    for name in NO_SHARDS:
        (folder / name).write_bytes(b"no Parquet")
    return folder


def paths_inside(folder, paths):
    """Return the names of files that `find_files` finds in a folder."""
    return [os.path.relpath(file, folder) for file in find_files(paths).paths]


PATTERNS = [
    ("shards", 0, 4),
    ("./shards/../shards/", 0, 4),
    ("shards/**/*.parquet", 0, 4),
    ("shards/*.parquet", 2, 4),
    ("shards/[a]/part-?*.parquet", 0, 2),
    ("*/*", 2, 4),
]


@pytest.mark.parametrize(("path", "n_first", "n_files"), PATTERNS)
def test_folders_and_patterns_in_natural_order(shards, web, path, n_first, n_files):
    assert paths_inside(shards, path) == SHARDS[n_first:n_files]
    data = joined(iter_batches(path, batch_rows=30))
    ends = ends_of_shards(web)
    assert_array_equal(data, web["X"][ends[n_first] : ends[n_files]])
    assert_array_equal(load_table(path).data, data)


def test_several_patterns_are_read_in_their_order(shards):
    names = paths_inside(shards, ["shards/*.parquet", "shards/a"])
    assert names == SHARDS[2:] + SHARDS[:2]


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    path = tmp_path / "a[1].parquet"
    for file in (path, tmp_path / "a1.parquet"):
        file.write_text("")
    assert find_files(str(path)).paths == [path]


def test_the_order_of_a_folder_is_that_of_names_not_of_the_disk(tmp_path):
    names = ["1", "1a", "9", "10", "B", "a9", "a10", "ä", "٣"]
    for name in names[::-1]:
        (tmp_path / f"{name}.csv").write_text("")
    stems = [path.stem for path in find_files(tmp_path).paths]
    pattern = str(tmp_path / "*")
    assert stems == [path.stem for path in find_files(pattern).paths]
    stems.remove("٣")
    assert stems == names[:-1]


NOTHING = [
    ("empty", r"path: there is no file to read in empty$"),
    ("empty/*.csv", r"no file to read in empty/\*\.csv$"),
    ("shards/.h*/*", r"no file to read in shards/\.h\*/\*$"),
    ([], r"path must "),
]


@pytest.mark.parametrize(("path", "message"), NOTHING)
def test_nothing_to_read(shards, tmp_path, path, message):
    (tmp_path / "empty").mkdir()
    refused(path, message)


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


TWICE = [
    (["a.parquet", "./a.parquet"], "a.parquet and a.parquet"),
    (["a.parquet", "b.csv", "{here}/a.parquet"], "a.parquet and {here}/a.parquet"),
    (["latest.parquet", "a.parquet"], "latest.parquet and a.parquet"),
    (["a.parquet", "folder/x.parquet"], "a.parquet and folder/x.parquet"),
    (["folder", "a.parquet"], "folder/x.parquet and a.parquet"),
    (["b.csv", "b*.csv"], "b.csv and b.csv"),
    ("*.parquet", "a.parquet and latest.parquet"),
    ("{here}", "{here}/a.parquet and {here}/folder/x.parquet"),
    (["no.csv", "./no.csv"], "no.csv and no.csv"),
]


@pytest.mark.parametrize(("path", "names"), TWICE)
def test_the_same_file_twice(links, path, names):
    here = str(links)
    patterns = [path] if isinstance(path, str) else path
    patterns = [pattern.replace("{here}", here) for pattern in patterns]
    names = names.replace("{here}", here)
    with pytest.raises(ValueError, match="FILE must name each file once") as error:
        find_files(patterns, "FILE")
    assert f"got {names}, which are the same file" in str(error.value)


@pytest.mark.parametrize("load", [load_table, load_letor])
def test_all_readers_refuse_names_alike(links, load):
    refused("", "path must name files, got", load)
    refused(["a.parquet", ""], "path must name files", load)
    refused(["b.csv", "./b.csv"], "path must name each file once", load)


def test_links_to_folders_are_followed(tmp_path):
    folder = tmp_path / "all" / "real"
    elsewhere = tmp_path / "elsewhere"
    for path in (folder / "a.csv", elsewhere / "b.csv"):
        path.parent.mkdir(parents=True)
        path.write_text("")
    (tmp_path / "all" / "link").symlink_to(elsewhere, target_is_directory=True)
    names = [path.name for path in find_files(tmp_path / "all").paths]
    assert names == ["b.csv", "a.csv"]


def test_a_link_to_nothing_is_not_passed_over(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(FileNotFoundError, match=r"b\.csv"):
        load_table(tmp_path)


@pytest.fixture
def tables_and_letor(tmp_path):
    """Write two files of LETOR text and a table."""
    (tmp_path / "a.txt").write_text(LETOR)
    (tmp_path / "b.txt").write_text(LETOR)
    (tmp_path / "c.csv").write_text(TABLE)
    return tmp_path


def test_letor_text_beside_tables_is_left_out(tables_and_letor):
    folder = tables_and_letor
    bunch = load_table(folder)
    assert len(bunch.qid) == 2
    names = [str(folder / name) for name in ("a.txt", "b.txt")]
    assert bunch.left_out_files == dict.fromkeys(names, "no table by its name")
    assert len(load_table(folder, format="csv").qid) == 2


def test_tables_beside_letor_text_are_left_out(tables_and_letor):
    bunch = load_letor(tables_and_letor)
    assert len(bunch.qid) == 4
    table = str(tables_and_letor / "c.csv")
    assert bunch.left_out_files == {table: "csv by its name"}


def test_files_of_two_kinds_are_refused(tables_and_letor):
    paths = [tables_and_letor / "a.txt", tables_and_letor / "c.csv"]
    message = r"of one kind, got a table in .*c\.csv and LETOR text in .*a\.txt:"
    refused(paths, message)


def test_batches_of_letor_text_beside_tables_must_be_named(tables_and_letor):
    by_pattern = iter_batches(str(tables_and_letor / "*.txt"))
    assert joined(by_pattern, "qid").size == 4
    by_format = iter_batches(tables_and_letor, format="letor")
    assert joined(by_format, "qid").size == 4


@pytest.fixture
def memory(shards):
    """Copy the shards into a file system of fsspec, and return its URL."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.put(str(shards), "/shards", recursive=True)
    yield "memory://shards"
    system.rm("/shards", recursive=True)


URLS = [
    ("", 0, 4),
    ("/a/part-10.parquet", 1, 2),
    ("/*.parquet", 2, 4),
]


@pytest.mark.parametrize(
    ("path", "n_first", "n_files"), URLS, ids=["folder", "file", "pattern"]
)
def test_files_of_a_url_are_those_of_a_path(memory, path, n_first, n_files):
    files = find_files(memory + path).paths
    names = [os.path.basename(name) for name in SHARDS[n_first:n_files]]
    assert [file.name for file in files] == names
    expected = load_table(f"shards{path}").data
    assert_array_equal(load_table(memory + path).data, expected)


def test_a_file_of_a_server(tmp_path, monkeypatch):
    pytest.importorskip("aiohttp")
    (tmp_path / "t.csv").write_text("label,qid,x\n1,a,1\n0,a,2\n")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert load_table(f"{url}/t.csv?key=1").data.tolist() == [[1], [2]]
        with pytest.raises(FileNotFoundError, match=f"{url}/none.csv"):
            load_table(f"{url}/none.csv")
        server.shutdown()


def test_an_unknown_kind_of_url():
    pytest.importorskip("fsspec")
    with pytest.raises(OSError, match=r"nothing://x.csv cannot be read"):
        load_table("nothing://x.csv")


FOLDER = {
    "p0.csv": TABLE.encode(),
    "p1.csv.zst": b"\x28\xb5\x2f\xfd\0",
    "p2.csv.zip": b"PK\x03\x04",
    "README.md": b"# Data, and more\n",
    # not named as left out
    "_SUCCESS": b"",
    "_old.csv": TABLE.encode(),
    "p0.csv.crc": b"x",
}


@pytest.fixture
def folder(tmp_path):
    """Write a table, and files that are left out."""
    for name, content in FOLDER.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("pattern", ["", "*"])
def test_files_that_are_left_out_are_named(folder, pattern):
    names = [str(folder / name) for name in ("p1.csv.zst", "p2.csv.zip", "README.md")]
    path = os.path.join(folder, pattern)
    for bunch in (load_table(path), *iter_batches(path)):
        assert len(bunch.qid) == 2
        assert bunch.left_out_files == dict.fromkeys(names, "no table by its name")
        for name in names:
            assert f"{name} (no table by its name)" in bunch.DESCR


def test_a_command_names_the_files_that_are_left_out(folder, capsys):
    code, _, err = run(capsys, "screen", folder)
    assert code == 0
    assert "3 files are left out: " in err
    assert "p1.csv.zst (no table by its name)" in err


def test_a_file_read_alone_leaves_none_out(folder):
    assert load_table(folder / "p0.csv").left_out_files == {}


each_name = pytest.mark.parametrize("name", ["n.csv.bak", "n.data", "n", "n.txt.gz"])


@each_name
@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_is_known_by_its_first_line(tmp_path, name, separator):
    path = tmp_path / name
    content = TABLE.replace(",", separator).encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    path.write_bytes(content)
    for bunch in (load_table(path), *iter_batches(path)):
        assert bunch.data.tolist() == [[1], [2]]


@each_name
def test_parquet_is_known_by_its_first_bytes(tmp_path, name):
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(TABLE)).to_parquet(buffer)
    path = tmp_path / name
    path.write_bytes(buffer.getvalue())
    assert load_table(path).data.tolist() == [[1], [2]]


@each_name
def test_letor_text_is_known_by_its_lines(tmp_path, name):
    path = tmp_path / name
    path.write_text(f" \n# x, y\n{LETOR}")
    (batch,) = iter_batches(path)
    assert batch.data.tolist() == [[0.5], [2]]
    message = "path must be CSV, TSV or .* LETOR text, use load_letor"
    with pytest.raises(ValueError, match=message):
        load_table(path)


def test_the_format_goes_before_the_name(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text(TABLE.replace(",", "\t"))
    assert load_table(path, format="tsv").data.tolist() == [[1], [2]]
    path.write_text(LETOR)
    assert next(iter_batches(path, format="letor")).data.tolist() == [[0.5], [2]]
    refused(path, "format must be .*'csv'.*got 'xls'", format="xls")
