"""The three libraries, one after another, and data for their rankers."""

import pytest

from tests.boosters.helpers import BOOSTERS
from tieaware_sklearn.datasets import make_web_search


@pytest.fixture(params=list(BOOSTERS), scope="session")
def booster(request):
    """A library as `Booster`; without it, its cases are skipped."""
    pytest.importorskip(request.param)
    return BOOSTERS[request.param]()


@pytest.fixture(scope="session")
def web():
    return make_web_search(n_queries=40, n_documents=15, random_state=0)


@pytest.fixture(scope="session")
def valid():
    return make_web_search(n_queries=20, n_documents=15, random_state=1)
