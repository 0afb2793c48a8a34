"""What several tests of this room are given."""

from __future__ import annotations

from tests.boosters import conftest

web, valid = conftest.web, conftest.valid
