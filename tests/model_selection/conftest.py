"""What several tests of this room are given."""

from __future__ import annotations

import pytest

from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=20, shuffle=True, random_state=1)
