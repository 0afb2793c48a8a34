"""What the tests of Dask are given."""

from __future__ import annotations

import gc
import os
import time

import dask
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=60, n_documents=25, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid, weight=web.qid % 3 + 0.5)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.fixture(params=["int", "text", "category"])
def kind(request, rows):
    ids = {
        "int": rows.qid,
        "text": "q" + rows.qid.astype(str),
        "category": ("q" + rows.qid.astype(str)).astype("category"),
    }
    return rows.assign(qid=ids[request.param])


#: seconds after which a test gives up on a loaded machine
GIVE_UP = 300


@pytest.fixture(scope="module")
def module_cluster():
    patient = {"connect": f"{GIVE_UP}s", "tcp": f"{GIVE_UP}s"}
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with (
        dask.config.set(
            {
                "distributed.comm.timeouts": patient,
                # what is sent to a worker that was killed
                "distributed.p2p.comm.retry.delay.min": "100ms",
            }
        ),
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client
    gc.collect()


@pytest.fixture
def cluster(module_cluster):
    """Two workers that answer, whatever the test before has done to them."""
    give_up = time.monotonic() + GIVE_UP
    while True:
        module_cluster.wait_for_workers(2, timeout=GIVE_UP)
        answers = module_cluster.run(os.getpid, on_error="ignore").values()
        if len({pid for pid in answers if pid is not None}) == 2:
            return module_cluster
        assert time.monotonic() < give_up
        time.sleep(0.05)
