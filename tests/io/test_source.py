"""Text of any compression, as long as it is text."""

from __future__ import annotations

import gzip
import sys
import tracemalloc

import pytest

from tieaware_sklearn.datasets import iter_batches, load_letor, load_qrels, load_table
from tieaware_sklearn.io._source import MAX_LINE, TextSource

READERS = {
    "bomb.txt.gz": load_letor,
    "bomb.csv.gz": load_table,
    "bomb": load_qrels,
    "batches.txt.gz": lambda path: list(iter_batches(path)),
    "batches.csv.gz": lambda path: list(iter_batches(path)),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("byte", "message"),
    [(b"\0", "line 1: .* NUL byte"), (b"1", "line 1: a line must not be longer than")],
)
def test_what_unpacks_to_one_endless_line_is_refused_early(
    tmp_path, name, byte, message
):
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(byte * (1 << 20))
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"{name}, {message}"):
        READERS[name](path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * MAX_LINE


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_the_longest_line_there_may_be(tmp_path, end):
    path = tmp_path / "long"
    lines = [b"a", b"b" * MAX_LINE, b"c"]
    path.write_bytes(end.join(lines))
    with TextSource(path).open_text() as file:
        assert file.read() == end.join(lines)
    path.write_bytes(end.join([b"a", b"b" * (MAX_LINE + 1), b"c"]))
    with (
        pytest.raises(ValueError, match="a line must not be longer"),
        TextSource(path).open_text() as file,
    ):
        file.read()


def test_a_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        load_letor("-")
