"""What several tests of this room are given."""

from __future__ import annotations

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")
