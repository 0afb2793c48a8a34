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

    def lines():
        (unfinished,) = target.parent.glob(".*")
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
        yield NEW

    write_whole(target, lines())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_takes_no_file_is_refused(target, monkeypatch):
    link, protected = target.with_name("link"), target.with_name("protected")
    protected.write_text(OLD)
    protected.chmod(0o444)
    link.symlink_to(protected)
    one, other = target.with_name("one"), target.with_name("other")
    one.symlink_to(other)
    other.symlink_to(one)
    closed = target.parent / "closed"
    closed.mkdir()
    before = sorted(os.listdir(target.parent))
    # the superuser may write everywhere
    access = os.access
    monkeypatch.setattr(
        "os.access", lambda path, how: path != closed and access(path, how)
    )
    for path, match in (
        (protected, "the file is write-protected"),
        (link, "the file is write-protected"),
        (one, "Too many levels of symbolic links"),
        (closed / "file", "its folder takes no new file"),
        (target.parent, "it is a folder"),
        (target.parent / "no" / "file", "there is no folder"),
    ):
        with pytest.raises(ValueError, match=rf"--out: .*{path.name}: {match}"):
            check_writable(str(path), "--out")
        with pytest.raises(OSError, match=match) as caught:
            dump_letor([[1]], [1], path, qid=[1])
        assert caught.value.filename == str(path)
    for path in ("", "a\0b"):
        with pytest.raises(ValueError, match="--out must name a file, got"):
            check_writable(path, "--out")
    assert protected.read_text() == OLD
    assert sorted(os.listdir(target.parent)) == before
    assert os.listdir(closed) == []


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
