"""Figures are closed after each test."""

import pytest


@pytest.fixture(autouse=True)
def _close():
    from matplotlib import pyplot

    yield
    pyplot.close("all")
