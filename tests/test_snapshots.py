"""Public names, messages and tables are as they were, or a change is seen in a diff."""

import difflib

import pytest

from tests import snapshots


@pytest.mark.parametrize("name", snapshots.TEXTS)
def test_texts_are_those_under_version_control(name):
    difference = difflib.unified_diff(
        *(snapshots.read(name).splitlines(), snapshots.TEXTS[name]().splitlines()),
        *("under version control", "now"),
        lineterm="",
        n=1,
    )
    lines = list(difference)
    assert not lines, "\n".join(
        [f"{name}: if the change is meant, run python -m tests.snapshots", *lines]
    )
