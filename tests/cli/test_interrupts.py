"""Ctrl-C and SIGTERM, sent to commands that wait for them."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from numpy.testing import assert_allclose

from tests.io import conftest
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli._main import stoppable
from tieaware_sklearn.datasets import iter_batches
from tieaware_sklearn.feature_selection import Screening

web, files = conftest.web, conftest.files
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]

#: says that it was imported, and waits
WAITS = """
import sys, time
print("ready", file=sys.stderr, flush=True)
while True:
    time.sleep(0.01)  # a signal just before signal.pause would not end it
"""
#: the command, which waits before a batch
SCREENS = f"""
from tieaware_sklearn.cli import _screen, main
def wait(*_):
    {WAITS.strip().replace(chr(10), chr(10) + "    ")}
import sys
first, track = int(sys.argv.pop(1)), _screen.track
def waiting(*arguments, **options):
    for number, batch in enumerate(track(*arguments, **options)):
        if number == first:
            wait()
        yield batch
_screen.track = waiting
sys.exit(main())
"""


@contextmanager
def ready(command, **options):
    """A command that has begun to wait for a signal."""
    # whatever started the tests may have them ignored
    before = {one: signal.signal(one, signal.SIG_DFL) for one, _ in SIGNALS}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    try:
        process = subprocess.Popen(list(map(str, command)), **pipes, **options)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    with process:
        try:
            # such as which columns are left out comes before
            assert "ready\n" in iter(process.stderr.readline, "")
            yield process
        finally:
            process.kill()


def test_other_programs_keep_their_signals():
    program = "import tieaware_sklearn, signal; print(signal.getsignal(signal.SIGINT))"
    wanted = "import signal; print(signal.getsignal(signal.SIGINT))"
    found, plain = (
        subprocess.run(
            [sys.executable, "-c", one, "tieaware"], capture_output=True, check=True
        ).stdout.split(b" at ")[0]
        for one in (program, wanted)
    )
    assert found == plain


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("saved", [True, False])
def test_of_an_interrupted_screening_only_a_part_is_kept(
    files, tmp_path, number, code, saved
):
    path, found, part = files["web.csv"], tmp_path / "found.csv", tmp_path / "part.tie"
    found.write_text("old")
    batches = list(iter_batches(path, batch_rows=100))
    selector = RankingFeatureSelector()
    for batch in batches[:2]:
        selector.partial_fit(batch.data, batch.target, qid=batch.qid)
    done = sum(len(batch.qid) for batch in batches[:2])
    words = ["screen", path, "--batch-rows", 100, f"--csv={found}", "--quiet"]
    words += ["--save", part] * saved
    with ready([sys.executable, "-c", SCREENS, 2, *words]) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, found.read_text()) == (code, "", "old")
    *_, told, last = ["", *err.splitlines()]
    assert err.count("tieaware: interrupted") == 1
    assert last == "tieaware: interrupted"
    assert part.exists() == saved
    if not saved:
        return
    assert told.startswith(f"tieaware: {part} ")
    assert f"first {done} documents" in told
    kept = Screening.load(part)
    assert kept.n_queries == selector.n_queries_
    assert_allclose(kept.mean, selector.mean_, atol=1e-12)


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("batch_rows", [0, 100])
def test_a_command_interrupted_before_there_is_a_result(
    files, tmp_path, number, code, batch_rows
):
    found = tmp_path / "found.csv"
    found.write_text("old")
    words = ["screen", files["web.csv"], "--batch-rows", batch_rows, f"--csv={found}"]
    with ready([sys.executable, "-c", SCREENS, 0, *words, "--quiet"]) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (code, "")
    assert err.splitlines()[-1] == "tieaware: interrupted"
    assert err.count("interrupted") == 1
    assert found.read_text() == "old"


def test_signals_are_handled_in_the_block_alone():
    default = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt) as stopped, stoppable():
            signal.raise_signal(signal.SIGTERM)
        assert stopped.value.args == (signal.SIGTERM,)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        for kept in (signal.SIG_IGN, lambda *_: None):
            signal.signal(signal.SIGTERM, kept)
            with stoppable():
                signal.raise_signal(signal.SIGTERM)
                assert signal.getsignal(signal.SIGTERM) is kept
    finally:
        signal.signal(signal.SIGTERM, default)
