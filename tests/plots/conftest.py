"""What several tests of this room are given."""

from __future__ import annotations

import matplotlib
import pytest
from matplotlib import pyplot

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")
