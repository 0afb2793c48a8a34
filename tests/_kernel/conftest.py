"""All tests of this room need the kernel."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _both_engines(kernel):
    pass
