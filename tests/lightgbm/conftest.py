"""What several tests of this room are given."""

from __future__ import annotations

import pytest

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=25, random_state=0)


@pytest.fixture(scope="module")
def valid():
    return make_web_search(n_queries=20, n_documents=25, random_state=1)
