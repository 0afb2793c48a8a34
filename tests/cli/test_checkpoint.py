"""The option --checkpoint: what is kept, when it is refused, what becomes of it."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.helpers import run
from tests.io import conftest
from tests.io.helpers import FORMS, csv, write
from tests.saved import check_damaged, members_of, zipped
from tieaware_sklearn._kernel import engines
from tieaware_sklearn.cli import _checkpoint
from tieaware_sklearn.cli._checkpoint import Checkpoint
from tieaware_sklearn.feature_selection import Screening
from tieaware_sklearn.io._batches import track

web, files = conftest.web, conftest.files
OUTPUTS = ["found.csv", "found.json", "found.tie"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.glob(".*"))


def screen(capsys, path, *options):
    paths = path if isinstance(path, list) else [path]
    words = ["--csv=found.csv", "--json=found.json", "--save=found.tie", "--quiet"]
    return run(capsys, "screen", *paths, *words, *options)


def outputs(folder):
    return [(folder / name).read_bytes() for name in OUTPUTS]


def ends_after(monkeypatch, n_batches, error):
    """Screenings that have read so many batches meet an error."""

    def ended(*arguments, **first):
        for number, batch in enumerate(track(*arguments, **first)):
            if number == n_batches:
                raise error
            yield batch

    monkeypatch.setattr("tieaware_sklearn.cli._screen_files.track", ended)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
OPTIONS = ["--batch-rows", 50, "--checkpoint", "c.tie"]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (OSError(5, "Input/output error", "web"), 1),
        (ValueError("row group 7 cannot be read"), 1),
        (MemoryError(), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_it_goes_on_to_the_same_bytes(
    capsys, monkeypatch, files, folder, name, error, code
):
    path = files[name]
    assert screen(capsys, path, "--batch-rows", 50)[0] == 0
    wanted = outputs(folder)
    done = 0
    # again and again, each time a little further; the first gets nowhere
    for n_batches in (0, 2, 1, 3):
        with monkeypatch.context() as patched:
            ends_after(patched, n_batches, error)
            found, _, err = screen(capsys, path, *OPTIONS)
        assert found == code
        said = f"c.tie: goes on after the first {done} documents"
        assert (said in err) == (done > 0)
        if n_batches:
            kept = Checkpoint.load("c.tie")
            assert kept.n_rows > done
            done = kept.n_rows
    found, _, err = screen(capsys, path, *OPTIONS)
    assert found == 0
    assert f"tieaware: c.tie: goes on after the first {done} documents\n" in err
    assert outputs(folder) == wanted
    assert not os.path.exists("c.tie")


def test_batches_do_not_depend_on_where_it_stopped(capsys, monkeypatch, files, folder):
    """Nor on the size of the files: without --batch-rows, a small one is a batch."""
    assert screen(capsys, files["web.csv"], "--checkpoint", "c.tie")[0] == 0
    wanted = outputs(folder)
    monkeypatch.setattr("tieaware_sklearn.cli._screen_files._LARGE", 0)
    assert screen(capsys, files["web.csv"])[0] == 0
    assert outputs(folder) == wanted


def test_several_files_of_which_some_are_done(capsys, monkeypatch, web, folder):
    ends = [0, 7, 19, 30]
    queries = np.unique(web["qid"])
    names = []
    for part in range(3):
        rows = np.isin(web["qid"], queries[ends[part] : ends[part + 1]])
        some = {key: values[rows] for key, values in web.items()}
        names += [write(folder / f"{part}.{kind}", **some) for kind in ("csv", "txt")]
    for paths in (names[::2], names[1::2]):
        assert screen(capsys, paths, "--batch-rows", 20)[0] == 0
        wanted = outputs(folder)
        words = ["--batch-rows", 20, "--checkpoint", "c.tie"]
        for n_batches in (3, 3, 3):
            with monkeypatch.context() as patched:
                ends_after(patched, n_batches, KeyboardInterrupt())
                assert screen(capsys, paths, *words)[0] == 130
        assert screen(capsys, paths, *words)[0] == 0
        assert outputs(folder) == wanted


def test_documents_that_are_skipped(capsys, monkeypatch, tmp_path, folder):
    """A position is one among all rows, and a batch may have no label at all."""
    labels = ["", "", "", "1", "0", "", "2"]
    rows = "".join(f"{q},{label},{q % 3}\n{q},0,1\n" if label else f"{q},,1\n{q},,2\n"
                   for q, label in enumerate(labels))  # fmt: skip
    path = csv(tmp_path, "qid,label,f\n" + rows)
    options = ["--unjudged", "skip", "--batch-rows", 2]
    assert screen(capsys, path, *options)[0] == 0
    wanted = outputs(folder)
    for n_batches in (2, 2):
        with monkeypatch.context() as patched:
            ends_after(patched, n_batches, OSError(5, "Input/output error"))
            assert screen(capsys, path, *options, "--checkpoint", "c.tie")[0] == 1
    assert Checkpoint.load("c.tie").n_documents == 2
    assert screen(capsys, path, *options, "--checkpoint", "c.tie")[0] == 0
    assert outputs(folder) == wanted


def test_no_bit_depends_on_threads_nor_does_the_checkpoint(
    capsys, monkeypatch, files, folder
):
    path = files["web.parquet"]
    assert screen(capsys, path, "--batch-rows", 50)[0] == 0
    wanted = outputs(folder)
    with monkeypatch.context() as patched:
        ends_after(patched, 2, KeyboardInterrupt())
        assert screen(capsys, path, *OPTIONS, "--top", 2)[0] == 130
    assert screen(capsys, path, *OPTIONS, "--jobs", 2)[0] == 0
    assert outputs(folder) == wanted


@on_linux
@pytest.mark.parametrize("output", ["csv", "json", "save"])
def test_it_stays_until_every_output_is_written(capsys, files, folder, output):
    path = files["web.csv"]
    assert screen(capsys, path, "--batch-rows", 50)[0] == 0
    wanted = outputs(folder)
    code, _, err = screen(capsys, path, *OPTIONS, f"--{output}=/dev/full")
    assert code == 1
    assert err.endswith("tieaware: error: /dev/full: No space left on device\n")
    n_rows = Checkpoint.load("c.tie").n_rows
    code, _, err = screen(capsys, path, *OPTIONS)
    assert code == 0
    assert err.startswith(f"tieaware: c.tie: goes on after the first {n_rows} doc")
    assert "error" not in err
    assert outputs(folder) == wanted
    assert not os.path.exists("c.tie")


@pytest.fixture
def interrupted(capsys, monkeypatch, files):
    """The file that was screened, to be repeated."""
    with monkeypatch.context() as patched:
        ends_after(patched, 2, KeyboardInterrupt())
        assert screen(capsys, files["web.csv"], *OPTIONS)[0] == 130
    return files["web.csv"]


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--measures", "rr"], "--measures was NDCG@10 AP RR, and is RR"),
        (["--sort-by", "ap"], "--sort-by was NDCG@10, and is AP"),
        (["--label", "f1"], "--label was label, and is f1"),
        (["--missing", "last"], "--missing was raise, and is last"),
        (["--batch-rows", 60], "--batch-rows was 50, and is 60"),
        (["--ignore", "f1"], "--ignore was not given, and is f1"),
        (["--zero-relevance", "skip"], "--zero-relevance was 0.0, and is skip"),
    ],
)
def test_other_options_are_refused(capsys, interrupted, options, difference):
    before = Path("c.tie").read_bytes()
    code, _, err = screen(capsys, interrupted, *OPTIONS, *options)
    assert code == 1
    assert err == (
        f"tieaware: error: --checkpoint: c.tie is of another screening: {difference}. "
        "Repeat the command that wrote it, or remove the file to start again\n"
    )
    assert Path("c.tie").read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        ["--label", "label", "--qid", "qid"],
        ["--sort-by", "ndcg@10"],
        ["--measures", "NDCG@10", "ap,rr"],
        ["--missing", "raise", "--direction", "auto", "--zero-relevance", "0"],
    ],
)
def test_defaults_may_be_given_or_not(capsys, monkeypatch, files, folder, options):
    assert screen(capsys, files["web.csv"], *OPTIONS)[0] == 0
    wanted = outputs(folder)
    for first, then in (([], options), (options, [])):
        with monkeypatch.context() as patched:
            ends_after(patched, 2, KeyboardInterrupt())
            assert screen(capsys, files["web.csv"], *OPTIONS, *first)[0] == 130
        code, _, err = screen(capsys, files["web.csv"], *OPTIONS, *then)
        assert (code, "c.tie: goes on after" in err) == (0, True)
        assert outputs(folder) == wanted


def test_the_order_of_ignored_features_does_not_matter(capsys, monkeypatch, files):
    with monkeypatch.context() as patched:
        ends_after(patched, 2, KeyboardInterrupt())
        first = screen(capsys, files["web.csv"], *OPTIONS, "--ignore", "f1", "f2")
    then = screen(capsys, files["web.csv"], *OPTIONS, "--ignore", "f2", "f1", "f2")
    assert (first[0], then[0]) == (130, 0)


def test_other_files_and_other_software_are_refused(
    capsys, monkeypatch, interrupted, files
):
    def refused(path=interrupted):
        code, _, err = screen(capsys, path, *OPTIONS)
        assert code == 1
        assert "is of another screening: " in err
        return err

    other = files["web.parquet"]
    assert f"file 1 was {interrupted}, and is {other}." in refused(other)
    assert "the number of files was 1, and is 2." in refused([interrupted, other])
    state = os.stat(interrupted)
    os.utime(interrupted, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert f"{interrupted} has changed since." in refused()
    os.utime(interrupted, ns=(state.st_atime_ns, state.st_mtime_ns))
    with monkeypatch.context() as patched:
        patched.setattr(_checkpoint, "__version__", "9.9")
        assert ": tieaware-sklearn was " in refused()
    if engines.engine() == "compiled":
        with engines.use_engine("numpy"):
            assert "engine was compiled, and is numpy." in refused()
    assert screen(capsys, interrupted, *OPTIONS)[0] == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"1 qid:1 1:2\n"])
def test_what_is_no_checkpoint_is_refused_and_stays(capsys, files, folder, content):
    (folder / "c.tie").write_bytes(content)
    code, _, err = screen(capsys, files["web.csv"], *OPTIONS)
    assert code == 1
    assert err.startswith("tieaware: error: --checkpoint: c.tie is ")
    assert err.endswith("if it is a checkpoint, remove it to start again\n")
    assert (folder / "c.tie").read_bytes() == content


def test_a_saved_screening_is_no_checkpoint(capsys, files, folder):
    assert screen(capsys, files["web.csv"])[0] == 0
    before = outputs(folder)
    words = ["screen", files["web.csv"], "--checkpoint", "found.tie"]
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "must hold a Checkpoint, got a Screening" in err
    assert outputs(folder) == before


def test_damaged_checkpoints(interrupted):
    data = Path("c.tie").read_bytes()
    draw = np.random.default_rng(0)
    for where, change in zip(draw.integers(0, 2**31, 100), draw.integers(1, 256, 100),
                             strict=True):  # fmt: skip
        check_damaged(Checkpoint, data, int(where), int(change))


@pytest.mark.parametrize("content", [{"n_rows": 1}, {"n_documents": 0}, {"n_rows": -1}])
def test_checkpoints_that_cannot_be(interrupted, content):
    header, members = members_of(Path("c.tie").read_bytes())
    header["content"] |= content
    with pytest.raises(ValueError, match="must have a screening of"):
        Checkpoint.from_bytes(zipped(header, members))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--batch-rows", 0], "--checkpoint needs batches, but --batch-rows 0 reads"),
        (["--checkpoint", "."], "--checkpoint must name a file, got the folder ."),
        (["--checkpoint", "-"], "--checkpoint must name a file, got standard output"),
        (["--checkpoint", "no/c.tie"], "--checkpoint: there is no folder for no/c.tie"),
        (["--checkpoint", "found.csv"], "only one of --csv and --checkpoint can go to"),
        (["--checkpoint", "in.csv"], "--checkpoint must not replace an input"),
        pytest.param(
            ["--checkpoint", "/dev/full"],
            "--checkpoint must name a plain file, got /dev",
            marks=on_linux,
        ),
        (["--checkpoint", "c.gz"], "--checkpoint must not end in .gz"),
        (["--save", "all.tie.gz"], "--save must not end in .gz"),
    ],
)
def test_it_is_refused_before_anything_is_read(capsys, folder, words, said):
    (folder / "in.csv").write_text("nothing of use")
    code, _, err = screen(capsys, "in.csv", "--checkpoint", "c.tie", *words)
    assert code == 1
    assert said in err
    assert (folder / "in.csv").read_text() == "nothing of use"
    assert not os.path.exists("c.tie")


def test_what_cannot_be_read_again_is_refused(capsys, monkeypatch, folder):
    text = io.TextIOWrapper(io.BytesIO(b"1 qid:1 1:2\n"))
    monkeypatch.setattr(sys, "stdin", text)
    said = "--checkpoint needs local files that can be read again, got "
    assert f"{said}standard input\n" in screen(capsys, "-", *OPTIONS)[2]
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.txt")
        assert f"{said}pipe.txt\n" in screen(capsys, "pipe.txt", *OPTIONS)[2]
    url = "memory://train.txt"
    assert f"{said}{url}\n" in screen(capsys, url, *OPTIONS)[2]
    assert not os.path.exists("c.tie")


def test_rows_that_are_sorted_on_disk(capsys, monkeypatch, web, folder):
    pytest.importorskip("duckdb")
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    write(folder / "m.csv", **{k: v[order] for k, v in web.items()})
    options = ["--sort", "--batch-rows", 50]
    assert screen(capsys, "m.csv", *options)[0] == 0
    wanted = outputs(folder)
    for n_batches in (2, 1):
        with monkeypatch.context() as patched:
            ends_after(patched, n_batches, KeyboardInterrupt())
            words = [*options, "--checkpoint", "c.tie"]
            assert screen(capsys, "m.csv", *words)[0] == 130
    assert "--sort was True, and is False" in screen(capsys, "m.csv", *OPTIONS)[2]
    assert screen(capsys, "m.csv", *words)[0] == 0
    assert outputs(folder) == wanted


def test_a_folder_is_the_files_in_it(capsys, monkeypatch, files, folder):
    (folder / "shards").mkdir()
    (folder / "shards" / "a.csv").write_text(files["web.csv"].read_text())
    with monkeypatch.context() as patched:
        ends_after(patched, 2, KeyboardInterrupt())
        assert screen(capsys, "shards", *OPTIONS)[0] == 130
    (folder / "shards" / "b.csv").write_text("label,qid,f0\n1,x,2\n")
    said = "the number of files was 1, and is 2."
    assert said in screen(capsys, "shards", *OPTIONS)[2]


def test_rows_that_are_not_together_are_refused(capsys, web, folder):
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    mixed = write(folder / "m.csv", **{k: v[order] for k, v in web.items()})
    code, _, err = screen(capsys, mixed, "--checkpoint", "c.tie")
    assert code == 1
    assert "comes back after another query" in err
    assert not os.path.exists("c.tie")


def test_a_checkpoint_costs_little(monkeypatch, interrupted):
    """The next comes after a second, or two hundred times what the last one took."""
    clock = iter([0.0, 0.1, 0.2, 30.0, 31.0, 31.0 + 0.4])
    monkeypatch.setattr(_checkpoint, "monotonic", lambda: next(clock))
    progress = _checkpoint.Progress(Checkpoint({}), _checkpoint.Path("d.tie"))
    progress._write()  # begins at 0, ends at 0.1
    assert progress._next == pytest.approx(0.1 + 20)
    progress.add(1)  # at 0.2
    assert Checkpoint.load("d.tie").n_rows == 0
    progress.add(1)  # at 30, and writes from 31 on
    assert Checkpoint.load("d.tie").n_rows == 2
    assert progress._next == pytest.approx(31.4 + 80)


def test_it_holds_a_screening(interrupted):
    kept = Checkpoint.load("c.tie")
    assert isinstance(kept.screening(), Screening)
    assert kept.n_documents == kept.n_rows
    again = Checkpoint.from_bytes(kept.to_bytes())
    assert again.to_bytes() == kept.to_bytes() == Path("c.tie").read_bytes()
