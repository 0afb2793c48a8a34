"""What several tests of this room are given."""

import pytest

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, n_documents=30, shuffle=True, random_state=3)
