"""What several tests of this room are given."""

import pytest


@pytest.fixture(autouse=True)
def _close():
    from matplotlib import pyplot

    yield
    pyplot.close("all")
