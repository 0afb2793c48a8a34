"""All tests of this room need the kernel."""

import pytest


@pytest.fixture(autouse=True)
def _both_engines(kernel):
    pass
