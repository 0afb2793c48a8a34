"""gzip unpacked by isal where it is installed."""

from __future__ import annotations

import gzip
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tieaware_sklearn.datasets import dump_letor, load_letor


class OtherError(Exception):
    """As isal's, which is none of zlib."""


@pytest.fixture
def opened(monkeypatch):
    """The files that a faster library was asked for."""
    found = []

    def fast(file):
        found.append(str(file))
        if str(file).endswith("bad.gz"):
            raise OtherError("Error -3 Invalid lookback distance found")
        return gzip.open(file)

    monkeypatch.setitem(sys.modules, "isal", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "isal.igzip", SimpleNamespace(open=fast))
    own = SimpleNamespace(error=OtherError)
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", own)
    return found


def written(path):
    dump_letor(np.arange(6.0).reshape(3, 2), [1, 0, 1], path, qid=[1, 1, 2])
    return path


def test_the_faster_library_is_used_and_its_errors_are_known(opened, tmp_path):
    path = written(tmp_path / "a.txt.gz")
    assert load_letor(path).data.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert set(opened) == {str(path)}
    with pytest.raises(ValueError, match=r"bad\.gz: damaged compressed data: Error -3"):
        load_letor(written(tmp_path / "bad.gz"))


def test_without_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "isal", None)
    monkeypatch.setitem(sys.modules, "isal.igzip", None)
    found = load_letor(written(tmp_path / "a.txt.gz"))
    assert found.target.tolist() == [1, 0, 1]


def test_isal_itself(tmp_path):
    pytest.importorskip("isal")
    path = written(tmp_path / "a.txt.gz")
    assert load_letor(path).data.tolist() == [[0, 1], [2, 3], [4, 5]]
    data = bytearray(path.read_bytes())
    data[-6] ^= 255  # of its checksum
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="damaged compressed data"):
        load_letor(path)
