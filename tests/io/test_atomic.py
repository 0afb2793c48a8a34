"""Files appear only once they are complete."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import stat
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.io.helpers import stop_in_the_middle
from tieaware_sklearn.datasets import dump_letor
from tieaware_sklearn.io._atomic import check_writable, whole_file, write_whole

OLD, NEW = "old\n", "new\n"
_NOBODY = 65534


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "target.txt"
    path.write_text(OLD)
    return path


@contextmanager
def as_nobody():
    """As a user whom permissions bind, which they do not bind the superuser."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def open_folder():
    """A folder that nobody may look into, too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o700)


def test_an_error_leaves_the_old_file_and_nothing_else(target):
    def lines():
        yield NEW
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_whole(target, lines())
    assert target.read_text() == OLD
    assert os.listdir(target.parent) == [target.name]


def test_the_longest_name_that_a_folder_takes(tmp_path):
    name = "a" * 252 + ".gz"
    for path in (tmp_path / name, tmp_path / ("ä" * 127)):
        check_writable(str(path), "--csv")
        assert not path.exists()
        write_whole(path, [NEW])
    assert gzip.decompress((tmp_path / name).read_bytes()).decode() == NEW
    longer = tmp_path / ("a" * 256)
    with pytest.raises(ValueError, match=r"--csv: .*a: File name too long"):
        check_writable(str(longer), "--csv")
    with pytest.raises(OSError, match="File name too long"):
        write_whole(longer, [NEW])
    assert len(os.listdir(tmp_path)) == 2


def test_the_unfinished_file_is_opened_exclusively(target, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    victim = target.with_name("victim")
    planted = target.with_name(".tieaware-known.part")
    planted.symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(target, [NEW])
    assert not victim.exists()
    assert target.read_text() == OLD


def test_a_private_file_is_never_open_to_others(target):
    target.chmod(0o600)
    with whole_file(target) as file:
        (unfinished,) = target.parent.glob(".*")
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
        file.write(NEW)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def refused(path, match):
    with pytest.raises(ValueError, match=rf"--out: .*{path.name}: {match}"):
        check_writable(str(path), "--out")
    with pytest.raises(OSError, match=match) as caught:
        dump_letor([[1]], [1], path, qid=[1])
    assert caught.value.filename == str(path)


def test_a_write_protected_file_is_refused(target):
    link = target.with_name("link")
    link.symlink_to(target)
    target.chmod(0o444)
    for path in (target, link):
        refused(path, "the file is write-protected")
    assert target.read_text() == OLD
    assert sorted(os.listdir(target.parent)) == ["link", target.name]


def test_a_loop_of_links_is_refused(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    refused(one, "Too many levels of symbolic links")
    assert one.is_symlink()
    assert other.is_symlink()


def test_a_link_stays_a_link(target):
    for name, there in (("link", target), ("dangling", target.with_name("later"))):
        link = target.with_name(name)
        link.symlink_to(there.name)
        check_writable(str(link), "--csv")
        write_whole(link, [NEW])
        assert link.is_symlink()
        assert there.read_text() == NEW


def test_a_file_in_a_closed_folder_is_written_in_place(open_folder):
    path = open_folder / "out.txt"
    path.write_text("a longer text than the new one")
    path.chmod(0o666)
    open_folder.chmod(0o555)
    before = path.stat().st_ino
    with as_nobody():
        check_writable(str(path), "--csv")
        write_whole(path, [NEW])
        with pytest.raises(ValueError, match=r"--csv: .*new.txt: Permission denied"):
            check_writable(str(open_folder / "new.txt"), "--csv")
        with pytest.raises(ZeroDivisionError), whole_file(path) as file:
            file.write(str(1 / 0))
    assert path.read_text() == NEW
    assert path.stat().st_ino == before
    assert os.listdir(open_folder) == ["out.txt"]


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can give files away")
def test_a_file_of_others_stays_theirs(open_folder):
    open_folder.chmod(0o777)
    path = open_folder / "out.txt"
    path.write_text(OLD)
    path.chmod(0o666)
    with as_nobody():
        write_whole(path, [NEW])
    assert path.read_text() == NEW
    assert path.stat().st_uid == 0
    os.chown(path, _NOBODY, _NOBODY)
    write_whole(path, [OLD])
    assert path.stat().st_uid == path.stat().st_gid == _NOBODY
    assert os.listdir(open_folder) == ["out.txt"]


def test_a_file_that_cannot_be_replaced_gets_the_content(target, monkeypatch):
    def busy(*_):
        raise OSError(errno.EBUSY, "mounted")

    monkeypatch.setattr("pathlib.Path.replace", busy)
    write_whole(target, [NEW])
    assert target.read_text() == NEW
    with pytest.raises(OSError, match="mounted"):
        write_whole(target.with_name("another"), [NEW])
    assert os.listdir(target.parent) == [target.name]


def test_a_full_disk_is_named():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_whole(Path("/dev/full"), [NEW])


def test_signals_of_the_program_are_its_own(target):
    def listen(*_):
        heard.append(True)

    heard = []
    before = signal.signal(signal.SIGTERM, listen)
    try:
        with whole_file(target) as file:
            signal.raise_signal(signal.SIGTERM)
            file.write(NEW)
        assert signal.getsignal(signal.SIGTERM) is listen
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [True]
    write_whole(target, [OLD])
    assert signal.getsignal(signal.SIGTERM) is before
    thread = threading.Thread(target=write_whole, args=(target, [NEW]))
    thread.start()
    thread.join()
    assert target.read_text() == NEW


SLOW = """
import sys
import numpy as np
from tests.io.helpers import stop_in_the_middle
from tieaware_sklearn.datasets import dump_letor
X = np.ones((2_000_000, 3))
dump_letor(X, X[:, 0], sys.argv[1], qid=np.ones(len(X), dtype=int))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_in_the_middle_leaves_the_old_file(target, name):
    number = getattr(signal, name)
    code, _ = stop_in_the_middle(
        [sys.executable, "-c", SLOW, str(target)], target, number
    )
    assert code == -number
    assert target.read_text() == OLD
    assert os.listdir(target.parent) == [target.name]
