"""Clusters that fail as a whole: one sentence each, and no wait without end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from multiprocessing import parent_process
from types import SimpleNamespace

import dask
import pandas as pd
import pytest
from dask import dataframe as dd
from distributed import Client, LocalCluster
from distributed.client import FutureCancelledError

from tests.dask.conftest import GIVE_UP
from tests.dask.helpers import MARKS
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.dask import _computing, evaluate, fit_selector

pytestmark = [
    *MARKS,
    # what a cluster that was killed leaves behind
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]
ROWS = pd.DataFrame(
    {"label": [1, 0, 0, 1], "clicks": [0.5, 0.25, 1.0, 2.0], "qid": [1, 1, 2, 2]}
)


def wait_for(condition, what):
    give_up = time.monotonic() + GIVE_UP
    while not condition():
        assert time.monotonic() < give_up, f"no {what}"
        time.sleep(0.02)


class Processes:
    """A scheduler and a worker, each a process of its own."""

    def __init__(self, folder, stack):
        self._folder, self._stack = folder, stack
        self.port = 0

    def start(self, module, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
            cwd=self._folder,
            # workers import this module
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def scheduler(self, number):
        file = self._folder / f"scheduler-{number}.json"
        process = self.start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port),
            "--no-dashboard", "--scheduler-file", str(file),
        )  # fmt: skip
        wait_for(file.exists, "scheduler")
        return process, file


def wait_until_told(frame, folder):
    """Tell that work has begun; it ends when the test does."""
    if len(frame):
        (folder / "begun").touch()
        wait_for((folder / "told").exists, "word to go on")
    return frame


@pytest.mark.parametrize("supervised", [False, True])
def test_a_scheduler_that_is_killed_is_an_error_soon(tmp_path, supervised):
    with ExitStack() as stack:
        processes = Processes(tmp_path, stack)
        # first of all, so that the worker ends before it is killed
        stack.callback((tmp_path / "told").touch)
        scheduler, file = processes.scheduler(1)
        processes.start(
            "dask_worker", "--scheduler-file", str(file), "--nthreads", "1",
            "--no-dashboard", "--no-nanny",
        )  # fmt: skip
        client = Client(scheduler_file=str(file), timeout=GIVE_UP)
        stack.callback(client.close, timeout=1)
        address = client.scheduler.addr
        client.wait_for_workers(1, timeout=GIVE_UP)

        def kill():
            wait_for((tmp_path / "begun").exists, "task")
            scheduler.send_signal(signal.SIGKILL)
            scheduler.wait()
            if supervised:
                processes.port = address.rpartition(":")[2]
                processes.scheduler(2)

        df = dd.from_pandas(ROWS, npartitions=1)
        df = df.map_partitions(wait_until_told, tmp_path, meta=df._meta)
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            with pytest.raises(
                ConnectionError,
                match=rf"^the connection to the Dask scheduler at {address} was lost "
                "before all partitions were done; .* start the cluster and a client "
                "again, and repeat the call$",
            ):
                evaluate(df, score="clicks", shuffle=False)
        finally:
            killer.join()


def small_cluster(stack, **config):
    stack.enter_context(
        dask.config.set({f"distributed.{k}": config[k] for k in config})
    )
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
        memory_limit="4GB",
    )  # fmt: skip
    return stack.enter_context(Client(stack.enter_context(cluster)))


def kill_the_second(number):
    if number == 1:
        assert parent_process() is not None, "this is no worker"
        os.kill(os.getpid(), signal.SIGKILL)
    return ROWS


def test_a_partition_that_kills_its_workers_is_named():
    with ExitStack() as stack:
        small_cluster(stack, **{"scheduler.allowed-failures": 1})
        df = dd.from_map(kill_the_second, range(3), meta=ROWS[:0])
        with pytest.raises(
            RuntimeError,
            # Dask also blames partitions that waited on the workers that died
            match=r"^2 workers died .* of partition [012] (\(of 0 to 2\) )?\(task .*, "
            r"probably for want of memory, of which each has 4000 MB: use smaller "
            r"partitions, such as df\.repartition\(partition_size='100MB'\), or "
            r"workers with more memory",
        ):
            fit_selector(RankingFeatureSelector("rr"), df, shuffle=False)


def test_workers_that_are_all_paused_are_an_error(monkeypatch):
    monkeypatch.setattr(_computing, "PATIENCE", 0.5)
    monkeypatch.setattr(_computing, "LOOK", 0.1)
    with ExitStack() as stack:
        small_cluster(
            stack,
            **{
                "worker.memory.pause": 0.001,
                "worker.memory.terminate": False,
                "worker.memory.spill": False,
                "worker.memory.target": False,
            },
        )
        df = dd.from_pandas(ROWS, npartitions=1)
        with pytest.raises(
            RuntimeError,
            match=r"^all workers \(1\) have been paused for .* each has used most of "
            r"its 4000 MB of memory, and none will go on: use smaller partitions",
        ):
            evaluate(df, score="clicks")


class OneWorker:
    """A client whose worker is in one state after another."""

    def __init__(self, *states):
        self._states = iter(states)

    def scheduler_info(self, n_workers=5):
        assert n_workers == -1
        state = next(self._states)
        if isinstance(state, Exception):
            raise state
        status, executing = state
        counts = {"task_counts": {"executing": executing}}
        worker = {"status": status, "metrics": counts, "memory_limit": 10**9}
        return {"workers": {"tcp://": worker}}


def test_only_a_pause_without_a_break_and_without_work_counts(monkeypatch):
    now = iter(range(0, 1000, 20))
    monkeypatch.setattr(_computing, "monotonic", lambda: float(next(now)))
    stuck = ("paused", 0)
    breaks = [("running", 0), ("paused", 1)]
    client = OneWorker(*[s for b in breaks for s in (stuck, stuck, b)])
    pause = _computing._Pause(client)
    for _ in range(6):
        pause.look()
    lost = _computing._Pause(OneWorker(stuck, OSError("no scheduler"), stuck, stuck))
    for _ in range(3):
        lost.look()
    with pytest.raises(RuntimeError, match=r"^all workers \(1\) .* its 1000 MB"):
        lost.look()


def test_threads_and_tasks_of_workers_compute_as_dask_does():
    df = dd.from_pandas(ROWS, npartitions=1)
    for scheduler in ("sync", "threads"):
        with dask.config.set(scheduler=scheduler):
            assert evaluate(df, score="clicks").qid.size == 2
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with Client(**options, dashboard_address=None) as client:

        def inside():
            return evaluate(dd.from_pandas(ROWS, npartitions=1), score="clicks")

        assert client.submit(inside).result(timeout=GIVE_UP).qid.size == 2


@pytest.mark.parametrize(
    ("reason", "wanted", "message"),
    [
        ("unknown", RuntimeError, "^partitions that df holds on the cluster were can"),
        ("scheduler-restart", ConnectionError, "^the connection to the Dask scheduler"),
    ],
)
def test_data_that_are_gone_are_no_lost_connection(reason, wanted, message):
    client = SimpleNamespace(status="running", scheduler=None)
    with pytest.raises(wanted, match=message):
        _computing._explain_loss(FutureCancelledError("key", reason), client)


# as some versions of Dask say
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_another_scheduler_than_that_of_an_open_client():
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    df = dd.from_pandas(ROWS, npartitions=2)
    with Client(**options, dashboard_address=None):
        for scheduler in ("sync", "threads"):
            with dask.config.set(scheduler=scheduler):
                assert evaluate(df, score="clicks").qid.size == 2
