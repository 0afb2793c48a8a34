"""Screenings that are ended at any moment, by signals and full disks, and resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from tieaware_sklearn.datasets import dump_letor, make_web_search

if sys.platform == "win32":
    pytest.skip("needs fork and SIGKILL", allow_module_level=True)

TIEAWARE = [sys.executable, "-m", "tieaware_sklearn"]
#: runs commands one after another, in processes that need not import anything
SERVER = """
import json, os, signal, sys
from tieaware_sklearn.cli import _checkpoint, main
import tieaware_sklearn.plots, sklearn.datasets

for line in sys.stdin:
    words, often, limit = json.loads(line)
    child = os.fork()
    if not child:
        code = 130
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if often:
                _checkpoint._SECONDS = _checkpoint._TIMES = 0.0
            if limit:
                import resource
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            code = main(words)
        except KeyboardInterrupt:
            pass
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(child, flush=True)
    sys.stdin.readline()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
OUTPUTS = ["found.csv", "found.json", "found.tie"]
COMMAND = [
    "screen",
    "train.txt",
    "--batch-rows",
    "30",
    "--measures",
    "ndcg@10",
    "--quiet",
]
COMMAND += ["--csv=found.csv", "--json=found.json", "--save=found.tie"]
WITH_CHECKPOINT = [*COMMAND, "--checkpoint", "c.tie"]
INTERRUPTED = {signal.SIGINT: (130,), signal.SIGTERM: (143, -15), signal.SIGKILL: (-9,)}


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def run(self, words, signals=(), after=0.0, *, often=False, limit=0):
        """The exit code of a command that gets a signal, and how long it took."""
        self.ask(json.dumps([words, often, limit]))
        child = int(self.process.stdout.readline())
        start = time.monotonic()
        if signals:
            time.sleep(after)
            with suppress(ProcessLookupError):
                os.kill(child, signals)
        # it stays a zombie until here, and no other process has its number
        self.ask("")
        code = int(self.process.stdout.readline())
        assert "Traceback" not in self.err
        return code, time.monotonic() - start

    @property
    def err(self):
        return (self.folder / "err").read_text()

    def outputs(self):
        return [(self.folder / name).read_bytes() for name in OUTPUTS]

    def clear(self):
        for name in (*OUTPUTS, "c.tie"):
            (self.folder / name).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    web = make_web_search(n_queries=400, n_documents=10, random_state=0)
    dump_letor(web.data[:, :5], web.target, folder / "train.txt", qid=web.qid)
    made = Server(folder)
    yield made
    with made.process:
        made.process.stdin.close()
        assert made.process.wait(60) == 0


@pytest.fixture(scope="module")
def wanted(server):
    """What a run writes that nothing interrupts, and how long it takes."""
    code, seconds = server.run(COMMAND)
    assert code == 0
    outputs = server.outputs()
    server.clear()
    assert server.run(WITH_CHECKPOINT)[0] == 0
    assert server.outputs() == outputs
    server.clear()
    return outputs, seconds


def complete(server, wanted):
    """Run the command to its end, and see that it is as if nothing had been."""
    assert server.run(WITH_CHECKPOINT)[0] == 0
    assert server.outputs() == wanted[0]
    assert not (server.folder / "c.tie").exists()
    server.clear()


@pytest.mark.parametrize("number", INTERRUPTED)
def test_a_screening_interrupted_at_random_moments(server, wanted, number):
    draw, moments, resumed = random.Random(int(number)), 0, 0
    # a run may end before each of ten moments, if the machine has become faster
    while moments < 10 or not resumed:
        assert moments < 500
        moments += 1
        code, _ = server.run(
            WITH_CHECKPOINT,
            number,
            draw.uniform(0, wanted[1]),
            often=number == signal.SIGKILL,
        )
        assert code in (0, *INTERRUPTED[number])
        resumed += "goes on after" in (server.folder / "err").read_text()
        if code == 0:
            assert server.outputs() == wanted[0]
            server.clear()
    complete(server, wanted)
    parts = list(server.folder.glob(".tieaware-*.part"))
    # nothing cleans up after kill -9
    assert number == signal.SIGKILL or not parts
    for part in parts:
        part.unlink()


@contextmanager
def signals_as_usual():
    """Whatever started the tests may have them ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", INTERRUPTED)
def test_the_command_itself_interrupted_once_it_works(server, wanted, number):
    kept = server.folder / "c.tie"
    with signals_as_usual():
        process = subprocess.Popen(
            [*TIEAWARE, *WITH_CHECKPOINT],
            cwd=server.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    with process:
        while process.poll() is None and not kept.exists():
            time.sleep(0.002)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    assert process.returncode in (0, *INTERRUPTED[number])
    assert "Traceback" not in err
    if process.returncode == 0:
        assert server.outputs() == wanted[0]
    complete(server, wanted)
    for part in server.folder.glob(".tieaware-*.part"):
        part.unlink()


def test_a_disk_that_is_full_from_the_start(server, wanted):
    assert server.run(WITH_CHECKPOINT, limit=100)[0] == 1
    assert server.err == "tieaware: error: c.tie: File too large\n"
    assert not any((server.folder / name).exists() for name in (*OUTPUTS, "c.tie"))


def test_a_disk_that_fills_up(server, wanted):
    """The screening goes on, says so once, and the outputs that fit are written."""
    # the checkpoint of the start is smaller, and no other
    code, _ = server.run(WITH_CHECKPOINT, often=True, limit=4096)
    assert code == 1
    lines = server.err.splitlines()
    assert lines[0] == (
        "tieaware: warning: c.tie: File too large: the checkpoint is not written"
    )
    assert "tieaware: error: found.tie: File too large" in lines
    # once while it went on, and once in the end
    assert sum("not written" in line for line in lines) == 2
    assert (server.folder / "found.csv").read_bytes() == wanted[0][0]
    # the checkpoint of the start stands there, and nothing is lost but time
    complete(server, wanted)
