"""What the tests of Dask are given."""

from __future__ import annotations

import gc

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


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client
    gc.collect()
