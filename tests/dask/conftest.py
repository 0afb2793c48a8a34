"""What the tests of Dask are given."""

from __future__ import annotations

import gc
import os
import time
from contextlib import ExitStack, suppress

import pandas as pd
import pytest

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=60, n_documents=25, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid, weight=web.qid % 3 + 0.5)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


#: seconds after which a test gives up on a loaded machine, and those after which a
#: cluster that a test has left without a worker is started anew
GIVE_UP, LEFT_ALONE = 300, 60


class Cluster:
    """Two workers, and a client of them."""

    def __init__(self) -> None:
        from distributed import Client, LocalCluster

        self._open = ExitStack()
        options = {"threads_per_worker": 1, "host": "127.0.0.1"}
        workers = LocalCluster(n_workers=2, dashboard_address=None, **options)
        self.client = self._open.enter_context(
            Client(self._open.enter_context(workers))
        )

    def answers(self) -> bool:
        """Whether both workers do, whatever the test before has done to them."""
        give_up = time.monotonic() + LEFT_ALONE
        while time.monotonic() < give_up:
            with suppress(TimeoutError):
                self.client.wait_for_workers(2, timeout=LEFT_ALONE)
                found = self.client.run(os.getpid, on_error="ignore").values()
                if len({pid for pid in found if pid is not None}) == 2:
                    return True
                time.sleep(0.05)
        return False

    def close(self) -> None:
        self._open.close()
        gc.collect()


@pytest.fixture(scope="module")
def clusters():
    """The cluster of a module, the last of the list."""
    import dask

    patient = {"connect": f"{GIVE_UP}s", "tcp": f"{GIVE_UP}s"}
    options = {
        "distributed.comm.timeouts": patient,
        # what is sent to a worker that was killed
        "distributed.p2p.comm.retry.delay.min": "100ms",
    }
    with dask.config.set(options):
        found = [Cluster()]
        yield found
        found[-1].close()


@pytest.fixture
def cluster(clusters):
    """The client of two workers that answer."""
    if not clusters[-1].answers():
        clusters[-1].close()
        clusters.append(Cluster())
        assert clusters[-1].answers()
    return clusters[-1].client
