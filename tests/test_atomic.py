"""Files appear only once they are complete."""

import gzip
import os
import stat
from pathlib import Path

import pytest

from tieaware_sklearn._atomic import check_writable, write_whole
from tieaware_sklearn.datasets import dump_letor

OLD, NEW = "old\n", "new\n"


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "target.txt"
    path.write_text(OLD)
    return path


def test_an_error_leaves_the_old_file_and_nothing_else(target):
    def lines():
        yield NEW
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_whole(target, lines())
    assert target.read_text() == OLD
    assert os.listdir(target.parent) == [target.name]


def test_a_private_file_is_never_open_to_others(target):
    target.chmod(0o600)

    def lines():
        (unfinished,) = target.parent.glob(".*")
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
        yield NEW

    write_whole(target, lines())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_takes_no_file_is_refused(target, monkeypatch):
    closed = target.parent / "closed"
    closed.mkdir()
    (closed / "old").write_text(OLD)
    # the superuser may write everywhere
    access = os.access
    monkeypatch.setattr(
        "os.access", lambda path, how: path != closed and access(path, how)
    )
    for path, match in (
        (closed / "file", "file: Permission denied"),
        # the temporary file that replaces it cannot be written
        (closed / "old", "old: Permission denied"),
        (target.parent, "must name a file"),
        (target.parent / "no" / "file", "file: the folder does not exist"),
        ("", "must name a file"),
    ):
        with pytest.raises(ValueError, match=rf"--out.*{match}"):
            check_writable(str(path), "--out")
    path = target.parent / "no" / "file"
    with pytest.raises(OSError, match="No such file") as caught:
        dump_letor([[1]], [1], path, qid=[1])
    assert caught.value.filename == str(path)


def test_a_link_stays_a_link(target):
    for name, there in (("link", target), ("dangling", target.with_name("later"))):
        link = target.with_name(name)
        link.symlink_to(there.name)
        check_writable(str(link), "--csv")
        write_whole(link, [NEW])
        assert link.is_symlink()
        assert there.read_text() == NEW


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", [NEW]), ("a.gz", [NEW]), ("a.npz", NEW.encode())]
)
def test_all_is_written_before_the_old_file_goes(name, content, tmp_path, monkeypatch):
    written, replace = [], os.replace

    def read_first(part, target):
        written.append(Path(part).read_bytes())
        replace(part, target)

    monkeypatch.setattr("os.replace", read_first)
    write_whole(tmp_path / name, content)
    (whole,) = written
    text = gzip.decompress(whole) if name == "a.gz" else whole
    assert text == NEW.encode()
