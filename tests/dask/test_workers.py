"""On workers that are processes of their own; also when one dies on the way."""

import gc
import os
import signal
import time
from contextlib import suppress
from multiprocessing import parent_process

import dask
import pytest
from dask import dataframe as dd
from distributed import Client, LocalCluster

from tests.dask import helpers
from tests.dask.helpers import assert_same, check_evaluation, spread
from tieaware_sklearn.dask import evaluate
from tieaware_sklearn.measures import NDCG

pytestmark = helpers.MARKS
#: seconds after which a test gives up on a loaded machine
GIVE_UP = 300


@pytest.fixture(scope="module")
def cluster():
    """The client of two workers."""
    patient = {"connect": f"{GIVE_UP}s", "tcp": f"{GIVE_UP}s"}
    options = {
        "distributed.comm.timeouts": patient,
        # what is sent to a worker that was killed
        "distributed.p2p.comm.retry.delay.min": "100ms",
    }
    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with (
        dask.config.set(options),
        LocalCluster(**settings, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        yield client
    gc.collect()


def test_on_a_cluster(cluster, rows):
    # functions of measures go to workers and back
    measures = [*helpers.MEASURES, NDCG(gain=lambda label: label**2)]
    check_evaluation(rows, measures=measures)
    frames = [rows[rows.qid % 3 == part] for part in range(3)]
    whole = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    report = evaluate(whole, score="clicks", shuffle=False)
    assert_same(report, helpers.evaluated(rows))


@pytest.mark.parametrize("function", helpers.ALL)
def test_an_error_of_a_worker_is_the_whole_message(cluster, rows, function):
    wrong = spread(rows.assign(label=rows.label.where(rows.index != 7, -1)), 3)
    message = r"^(label|y) must be >= 0, got -1.0 in row \d+\nin shuffled partition \d "
    whole = rf"{message}\(numbered 0 to 2\), query {rows.qid[7]}$"
    with pytest.raises(ValueError, match=whole):
        helpers.computed(function, wrong)


def is_idle(client):
    """Whether nothing is held for a client or under way, soon enough."""

    def n_tasks(dask_scheduler):
        return len(dask_scheduler.tasks)

    give_up = time.monotonic() + GIVE_UP
    while client.futures or client.run_on_scheduler(n_tasks):
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_error_does_not_outlive_its_fault(cluster, rows, tmp_path, shuffle):
    columns = rows[["label", "qid", "clicks"]]

    def read(number):
        if number == 2 and not (tmp_path / "up").exists():
            raise OSError("the server does not answer")
        return columns[columns.qid % 4 == number]

    df = dd.from_map(read, range(4), meta=columns[:0])
    with pytest.raises(OSError, match="the server does not answer"):
        evaluate(df, score="clicks", shuffle=shuffle)
    (tmp_path / "up").touch()
    assert len(df) == len(rows)
    report = evaluate(df, score="clicks", measures="rr", shuffle=shuffle)
    assert len(report.qid) == rows.qid.nunique()
    assert is_idle(cluster)


def die_between(frame, folder):
    """Kill a worker that has read, and sent on, two further partitions."""
    if len(frame):
        prefix = f"{os.getpid()} "
        if len(list(folder.glob(f"{prefix}*"))) == 2:
            with suppress(FileExistsError):
                (folder / "died").touch(exist_ok=False)
                assert parent_process() is not None, "this is no worker"
                os.kill(os.getpid(), signal.SIGKILL)
        (folder / f"{prefix}{frame.index.min()}").touch()
    return frame


@pytest.mark.weekly
def test_a_worker_that_is_killed_while_it_shuffles(cluster, rows, tmp_path):
    df = spread(rows)
    dying = df.map_partitions(die_between, tmp_path, meta=df._meta)
    report = evaluate(dying, score="clicks", measures=helpers.MEASURES)
    assert_same(report, helpers.evaluated(rows, measures=helpers.MEASURES))
    assert (tmp_path / "died").exists()
    # what it had sent was lost with it
    read = [name.split()[1] for name in os.listdir(tmp_path) if " " in name]
    assert len(read) > len(set(read)) == df.npartitions


# as some versions of Dask say where a client is open
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_other_schedulers_and_tasks_of_workers_compute_as_dask_does(rows):
    def size():
        return evaluate(spread(rows, 1), score="clicks").qid.size

    def alone():
        for scheduler in ("sync", "threads"):
            with dask.config.set(scheduler=scheduler):
                assert size() == 60

    alone()
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with Client(**options, dashboard_address=None) as client:
        assert client.submit(size).result(timeout=GIVE_UP) == 60
        alone()
