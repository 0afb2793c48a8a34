"""Pipes, closed streams, signals, exit codes; what needs a process of its own."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.cli.helpers import run
from tests.io.helpers import stop_in_the_middle
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli import main
from tieaware_sklearn.cli._main import stoppable
from tieaware_sklearn.datasets import iter_batches
from tieaware_sklearn.feature_selection import Screening
from tieaware_sklearn.io import track

TIEAWARE = [sys.executable, "-m", "tieaware_sklearn"]
NO_SPACE = "standard output: No space left on device"


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        # a reader that leaves, as head does, is no error
        ("tieaware screen train.txt --csv=/dev/stdout | head -c 1", 0, "r", ""),
        ("tieaware screen train.txt > /dev/full", 1, "", f"error: {NO_SPACE}\n"),
        # a closed standard error is not standard output; one query is warned of
        ("tieaware screen test.txt --csv 2>&-", 0, "rank,feature", ""),
        ("tieaware screen - --csv=train.txt < train.txt", 1, "",
         "error: --csv must not replace an input, got -\n"),
    ],
)  # fmt: skip
def test_in_a_shell(inputs, words, code, out, err):
    if "2>&-" in words and np.__version__.startswith("2.0."):
        pytest.skip("NumPy 2.0 is not imported without a standard error")
    words = words.replace("tieaware", shlex.join(TIEAWARE), 1)
    pipes = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(words, shell=True, check=False, **pipes)
    assert done.returncode == code
    assert done.stdout.startswith(out)
    assert bool(done.stdout) == bool(out)
    assert done.stderr == f"tieaware: {err}" * bool(err)


def test_help_takes_no_optional_library_and_signals_stay_as_they_were():
    # scikit-learn imports pandas by itself: what counts is what we add
    code = (
        "import signal, sys, sklearn.feature_selection; before = set(sys.modules)\n"
        "import tieaware_sklearn; print(signal.getsignal(signal.SIGINT).__name__)\n"
        "from tieaware_sklearn.cli import main\n"
        "try: main(['screen', '--help'])\n"
        "except SystemExit: print({'matplotlib', 'pandas', 'tqdm', 'pyarrow'} &"
        " (set(sys.modules) - before), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("default_int_handler\nusage: tieaware screen")
    assert done.stderr == "set()\n"


def test_standard_input_in_batches_and_a_plain_terminal(inputs, monkeypatch, capsys):
    wanted = run(capsys, "screen", "train.txt")[1]
    assert "±95%" in wanted
    text = (inputs / "train.txt").read_bytes()
    for words in ([], ["--batch-rows", "1"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
            assert main(["screen", "-", *words]) == 0
            sys.stdout.seek(0)
            found = sys.stdout.read()
        assert found == wanted.replace("train.txt", "-").replace("±", "?")
    text = io.TextIOWrapper(io.BytesIO(b"1 qid:1 1:2\n\n-1 qid:1 1:3\n"))
    monkeypatch.setattr(sys, "stdin", text)
    err = run(capsys, "screen", "-")[2]
    assert "standard input, line 3: a label must be finite and >= 0, got -1" in err


@pytest.mark.parametrize(
    ("words", "name", "message"),
    [
        ("screen train.txt --csv=new", "stdout", "standard output is closed"),
        ("screen - --quiet", "stdin", "standard input is closed"),
        ("evaluate - r1", "stdin", "standard input is closed"),
        ("screen train.txt --csv", "full", NO_SPACE),
        ("evaluate q1 r1 --json", "full", NO_SPACE),
        ("--help", "full", NO_SPACE),
        ("demo --queries 1", "full", NO_SPACE),
    ],
)
def test_a_lost_report_is_an_error(inputs, monkeypatch, capsys, words, name, message):
    with open("/dev/full", "w") as full:
        full.reconfigure(line_buffering=False)
        stream = "stdout" if name == "full" else name
        monkeypatch.setattr(sys, stream, full if name == "full" else None)
        assert main(words.split()) == 1
    assert capsys.readouterr().err == f"tieaware: error: {message}\n"
    assert not (inputs / "new").exists()


def test_without_a_standard_error(inputs, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["screen", "absent"]) == 1
    assert sys.stderr.name == os.devnull
    sys.stderr.close()


@pytest.mark.parametrize("full", [False, True])
def test_a_reader_that_has_seen_enough_costs_no_file(inputs, monkeypatch, capsys, full):
    read, written = os.pipe()
    os.close(read)
    to = "/dev/full" if full else "o.json"
    with os.fdopen(written, "w") as left:
        monkeypatch.setattr(sys, "stdout", left)
        assert main(["evaluate", "q1", "r1", "--csv=o.csv", f"--json={to}"]) == 1
    said = "tieaware: error: /dev/full: No space left on device\n"
    assert capsys.readouterr().err == said * full
    assert (inputs / "o.csv").exists()
    assert (inputs / "o.json").exists() != full


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize(
    ("batch_rows", "first", "saved"),
    [(0, 0, True), (100, 0, True), (100, 2, False), (100, 2, True)],
)
def test_of_an_interrupted_screening_only_a_part_is_kept(
    letor, tmp_path, monkeypatch, capsys, number, code, batch_rows, first, saved
):
    def until(*arguments):
        for at, batch in enumerate(track(*arguments)):
            if at == first:
                signal.raise_signal(number)
            yield batch

    monkeypatch.setattr("tieaware_sklearn.cli._screen.track", until)
    found, part = tmp_path / "found.csv", tmp_path / "part.tie"
    found.write_text("old")
    words = [letor, "--batch-rows", batch_rows, f"--csv={found}", "--quiet"]
    words += [f"--save={part}"] * saved
    before = [signal.signal(one, signal.SIG_DFL) for one, _ in SIGNALS]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        stop, out, err = run(capsys, "screen", *words)
    finally:
        for (one, _), handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)
    assert (stop, out, found.read_text()) == (code, "", "old")
    told, last = err[: err.rfind("tieaware: ")], err[err.rfind("tieaware: ") :]
    assert last == "tieaware: interrupted\n"
    if not (first and saved):
        assert told == ""
        assert os.listdir(tmp_path) == ["found.csv"]
        return
    selector, done = RankingFeatureSelector(), 0
    for batch in list(iter_batches(letor, batch_rows=100))[:2]:
        selector.partial_fit(batch.data, batch.target, qid=batch.qid)
        done += len(batch.qid)
    assert told == (
        f"tieaware: {part} holds what was found in the first {done} documents "
        "(tieaware merge --interrupted takes it)\n"
    )
    kept = Screening.load(part)
    assert kept.n_queries == selector.n_queries_
    assert_allclose(kept.mean, selector.mean_, atol=1e-12)


def test_signals_are_handled_in_the_block_alone():
    default = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt) as told, stoppable():
            signal.raise_signal(signal.SIGTERM)
        assert told.value.args == (signal.SIGTERM,)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        for kept in (signal.SIG_IGN, lambda *_: None):
            signal.signal(signal.SIGTERM, kept)
            with stoppable():
                signal.raise_signal(signal.SIGTERM)
                assert signal.getsignal(signal.SIGTERM) is kept
    finally:
        signal.signal(signal.SIGTERM, default)


@pytest.mark.weekly
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_command_stopped_while_it_writes(tmp_path, number, code):
    target = tmp_path / "digits.txt"
    target.write_text("old")
    command = [*TIEAWARE, "demo", "--queries", "600", "--out", str(target)]
    found, err = stop_in_the_middle(command, target, number)
    assert found == code
    assert "Traceback" not in err
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == [target.name]
