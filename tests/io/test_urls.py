"""Files read by URL, with the drivers of fsspec."""

from __future__ import annotations

import functools
import http.server
import re
import socket
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import FORMS
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io._locate import find_files

fsspec = pytest.importorskip("fsspec")


class Server(http.server.SimpleHTTPRequestHandler):
    """A folder; of files in ranges of bytes, whole, or without their length."""

    gives = "ranges"
    #: names of files that end before their length
    cut: frozenset[str] = frozenset()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        if self.gives != "no length":
            return super().do_HEAD()
        self.send_response(200)
        return self.end_headers()

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        is_cut = self.path.rpartition("/")[2] in self.cut
        by_range = wanted and self.gives == "ranges"
        if self.path.endswith("/") or not (
            is_cut or by_range or self.gives == "no length"
        ):
            return super().do_GET()
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        start, stop = 0, len(content)
        if by_range:
            start, stop = int(wanted[1]), min(int(wanted[2]) + 1, len(content))
        self.send_response(206 if by_range else 200)
        if self.gives != "no length":
            self.send_header("Content-Length", str(stop - start))
        if by_range:
            self.send_header(
                "Content-Range", f"bytes {start}-{stop - 1}/{len(content)}"
            )
        self.end_headers()
        block = content[start:stop]
        self.wfile.write(block[: len(block) // 2] if is_cut else block)
        self.close_connection = True
        return None

    def end_headers(self):
        if self.gives == "ranges":
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()


@pytest.fixture
def serve(files):
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    servers = []

    def start(**settings):
        handler = type("Handler", (Server,), settings)
        folder = str(files["web.csv"].parent)
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(handler, directory=folder)
        )
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def memory(files):
    system = fsspec.filesystem("memory")
    for name in FORMS:
        system.pipe(f"/files/{name}", files[name].read_bytes())
    shard = files["web.parquet"].read_bytes()
    for i in (2, 10):
        system.pipe(f"/shards/part={i}/a.parquet", shard)
    system.pipe("/shards/_SUCCESS", b"")
    yield "memory://"
    system.rm("/", recursive=True)


@pytest.mark.parametrize("name", FORMS)
def test_files_in_memory(memory, web, name):
    url = f"{memory}files/{name}"
    batches = list(iter_batches(url, batch_rows=60))
    assert_array_equal(np.concatenate([b.data for b in batches]), web["X"])
    assert batches[0].DESCR.startswith(f"{url}: rows 0 to")
    assert url in batches[0].place(0)


@pytest.mark.parametrize("path", ["shards", "shards/", "shards/*/*.parquet"])
def test_folders_and_patterns(memory, web, path):
    found = [str(file) for file in find_files(memory + path)]
    assert [url[-20:] for url in found] == ["hards/part=2/a.parquet"[-20:],
                                            "ards/part=10/a.parquet"[-20:]]  # fmt: skip
    part = load_table(memory + path).data[:, -1]
    assert part.tolist() == [2] * len(web["y"]) + [10] * len(web["y"])


def test_nothing_there(memory, capsys):
    with pytest.raises(FileNotFoundError, match=r"memory://files/no\.parquet"):
        iter_batches(memory + "files/no.parquet")
    with pytest.raises(ValueError, match=r"no file to read in memory://x/\*"):
        iter_batches(memory + "x/*")
    with pytest.raises(OSError, match=r"cannot be read.*nosuch://x\.csv"):
        iter_batches("nosuch://x.csv")
    assert main(["screen", memory + "files/no.csv"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "memory://files/no.csv" in err


@pytest.mark.parametrize("gives", ["ranges", "whole files", "no length"])
@pytest.mark.parametrize("name", FORMS)
def test_files_of_a_server(serve, web, name, gives):
    url = f"{serve(gives=gives)}/{name}"
    if name == "web.parquet" and gives == "no length":
        with pytest.raises(OSError, match="simplecache:: before the URL"):
            iter_batches(url)
        url = f"simplecache::{url}"
    batches = list(iter_batches(url, batch_rows=60))
    assert_array_equal(np.concatenate([b.data for b in batches]), web["X"])


def test_errors_of_servers_name_the_url(serve, capsys):
    url = serve(cut=frozenset({"web.csv", "web.parquet", "web.txt"}))
    with pytest.raises(FileNotFoundError, match=f"{url}/no.csv"):
        iter_batches(f"{url}/no.csv")
    for name in ("web.csv", "web.parquet", "web.txt"):
        with pytest.raises((OSError, ValueError), match=f"{url}/{name}"):
            list(iter_batches(f"{url}/{name}"))
        assert main(["screen", f"{url}/{name}"]) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert f"{url}/{name}" in err
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a.parquet"
    with pytest.raises(OSError, match=f"cannot be read: .*[Cc]onnect.*{closed}"):
        iter_batches(closed)


def test_screen_of_a_url(memory, files, capsys):
    assert main(["screen", str(files["web.parquet"]), "--quiet"]) == 0
    wanted = capsys.readouterr().out.splitlines()[1:]
    for batch_rows in ("0", "60"):
        options = ["--quiet", "--batch-rows", batch_rows]
        assert main(["screen", memory + "files/web.parquet", *options]) == 0
        assert capsys.readouterr().out.splitlines()[1:] == wanted
    assert main(["screen", memory + "files/web.parquet", "--quiet"]) == 0
