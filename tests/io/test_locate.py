"""Where files are: folders, patterns, lists and links."""

import gzip
import io
import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
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
        "b-1.parquet.crc", "notes.txt", "_temporary/c.parquet", "b.csv.query",
        "a.csv.group",
    ):  # fmt: skip
        (folder / name).write_bytes(b"no Parquet")
    return folder


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
    found = [os.path.relpath(file, shards) for file in find_files(path).paths]
    assert found == SHARDS[n_first:n_files]
    data = joined(iter_batches(path, batch_rows=30))
    ends = np.searchsorted(web["qid"], [0, 4, 11, 20, 99])
    assert_array_equal(data, web["X"][ends[n_first] : ends[n_files]])
    assert_array_equal(load_table(path).data, data)


def test_several_patterns_stand_in_the_order_given(shards):
    found = find_files(["shards/*.parquet", "shards/a"]).paths
    assert [os.path.relpath(file, shards) for file in found] == SHARDS[2:] + SHARDS[:2]


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    path = tmp_path / "a[1].parquet"
    for file in (path, tmp_path / "a1.parquet"):
        file.write_text("")
    assert find_files(str(path)).paths == [path]


def test_the_order_of_a_folder_is_that_of_names_not_of_the_disk(tmp_path):
    names = ["1", "1a", "9", "10", "B", "a9", "a10", "ä", "٣"]
    for name in names[::-1]:
        (tmp_path / f"{name}.csv").write_text("")
    found = [file.stem for file in find_files(tmp_path).paths]
    assert found == [file.stem for file in find_files(str(tmp_path / "*")).paths]
    found.remove("٣")
    assert found == names[:-1]


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
    given = [path] if isinstance(path, str) else path
    path = [one.replace("{here}", here) for one in given]
    names = names.replace("{here}", here)
    with pytest.raises(ValueError, match="FILE must name each file once") as error:
        find_files(path, "FILE")
    assert f": {names} are the same file" in str(error.value)


@pytest.mark.parametrize("load", [load_table, load_letor])
def test_all_readers_refuse_names_alike(links, load):
    refused("", "path must name files, got", load)
    refused(["a.parquet", ""], "path must name files", load)
    refused(["b.csv", "./b.csv"], "path must name each file once", load)


def test_links_to_folders_are_followed(tmp_path):
    own, other = tmp_path / "all" / "own", tmp_path / "other"
    for folder, name in ((own, "a.csv"), (other, "b.csv")):
        folder.mkdir(parents=True)
        (folder / name).write_text("")
    (tmp_path / "all" / "more").symlink_to(other, target_is_directory=True)
    found = [path.name for path in find_files(tmp_path / "all").paths]
    assert found == ["b.csv", "a.csv"]


def test_a_link_to_nothing_is_not_passed_over(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(FileNotFoundError, match=r"b\.csv"):
        load_table(tmp_path)


def test_letor_text_beside_tables_is_left_out(tmp_path):
    folder = folder_of(tmp_path, a__txt=LETOR, b__txt=LETOR, c__csv=TABLE)
    found = load_table(folder)
    assert len(found.qid) == 2
    names = [str(folder / name) for name in ("a.txt", "b.txt")]
    assert found.left_out_files == dict.fromkeys(names, "no table by its name")
    kinds = r"tables \(.*c\.csv\) and LETOR text \(.*a\.txt\)"
    refused([folder / "a.txt", folder / "c.csv"], rf"of one kind, got {kinds}")
    # the ones that are meant
    for given in ({"path": str(folder / "*.txt")}, {"path": folder, "format": "letor"}):
        assert sum(len(batch.qid) for batch in iter_batches(**given)) == 4
    found = load_letor(folder)
    assert len(found.qid) == 4
    assert found.left_out_files == {str(folder / "c.csv"): "csv by its name"}
    assert len(load_table(folder, format="csv").qid) == 2


@pytest.fixture
def memory(shards):
    """Copy the shards into a file system of fsspec, and return its URL."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.put(str(shards), "/shards", recursive=True)
    yield "memory://shards"
    system.rm("/shards", recursive=True)


@pytest.mark.parametrize(
    ("path", "n_first", "n_files"),
    [("", 0, 4), ("/a/part-10.parquet", 1, 2), ("/*.parquet", 2, 4)],
    ids=["folder", "file", "pattern"],
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


TABLE, LETOR = "label,qid,x\n1,a,1\n0,a,2\n", "1 qid:1 1:0.5\n0 qid:1 1:2\n"


def folder_of(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def test_files_that_are_left_out_are_told(tmp_path, capsys):
    folder = folder_of(
        tmp_path, p0__csv=TABLE, p1__csv__zst=b"\x28\xb5\x2f\xfd\0", _SUCCESS="",
        p2__csv__zip=b"PK\x03\x04", _old__csv=TABLE, p0__csv__crc="x",
        README__md="# Data, and more\n",
    )  # fmt: skip
    wanted = {
        str(folder / "p1.csv.zst"): "no table by its name",
        str(folder / "p2.csv.zip"): "no table by its name",
        str(folder / "README.md"): "no table by its name",
    }
    for given in (folder, str(folder / "*")):
        for found in (load_table(given), *iter_batches(given)):
            assert found.left_out_files == wanted
            assert len(found.qid) == 2
            assert all(f"{name} ({why})" in found.DESCR for name, why in wanted.items())
    code, _, err = run(capsys, "screen", folder)
    assert code == 0
    assert "3 files are left out: " in err
    assert "p1.csv.zst (no table by its name)" in err
    assert load_table(folder / "p0.csv").left_out_files == {}


@pytest.mark.parametrize("name", ["n.csv.bak", "n.data", "n", "n.txt.gz"])
@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_table_is_known_by_its_first_line(tmp_path, name, separator):
    text = TABLE.replace(",", separator).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name[-1] == "z" else text)
    for found in (load_table(tmp_path / name), *iter_batches(tmp_path / name)):
        assert found.data.tolist() == [[1], [2]]
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(TABLE)).to_parquet(buffer)
    (tmp_path / name).write_bytes(buffer.getvalue())
    assert load_table(tmp_path / name).data.tolist() == [[1], [2]]
    (tmp_path / name).write_text(f" \n# x, y\n{LETOR}")
    assert next(iter_batches(tmp_path / name)).data.tolist() == [[0.5], [2]]
    message = "path must be CSV, TSV or .* load_letor reads LETOR text"
    with pytest.raises(ValueError, match=message):
        load_table(tmp_path / name)


def test_the_format_goes_before_the_name(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text(TABLE.replace(",", "\t"))
    assert load_table(path, format="tsv").data.tolist() == [[1], [2]]
    path.write_text(LETOR)
    assert next(iter_batches(path, format="letor")).data.tolist() == [[0.5], [2]]
    refused(path, "format must be .*'csv'.*got 'xls'", format="xls")
