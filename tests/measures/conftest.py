"""All tests of this room run under either engine."""

import pytest


@pytest.fixture(autouse=True)
def _by_either_engine(engine):
    pass
