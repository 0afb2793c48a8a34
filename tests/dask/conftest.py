"""Fixtures of the tests of Dask."""

import pandas as pd
import pytest

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=60, n_documents=25, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid, weight=web.qid % 3 + 0.5)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)
