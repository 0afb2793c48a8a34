"""A ranking, and files that hold it."""

import numpy as np
import pytest

from tests.io.helpers import FORMS, write
from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def web():
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=30, n_documents=20, random_state=0)
    sample = rng.random(len(web.qid)) < 0.6  # lists of different lengths
    return {"X": web.data[sample], "y": web.target[sample], "qid": web.qid[sample]}


@pytest.fixture(scope="module")
def files(web, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    return {name: write(folder / name, **web) for name in FORMS}
