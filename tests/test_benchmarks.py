"""The sections of the benchmarks that use the inside of the package run."""

import math

import pytest

pytest.importorskip("lightgbm")
pytest.importorskip("pyarrow")

from benchmarks import sections
from benchmarks.tasks import ENGINES_HERE

SETTINGS = sections.Settings(scale=1e-3, repeats=1)


@pytest.mark.parametrize("name", ["prepared", "raw", "selector"])
def test_a_section_measures_every_task_by_each_engine(name):
    lines = list(sections.SECTIONS[name](SETTINGS))
    assert lines
    for line in lines:
        assert len(line.figures) == len(ENGINES_HERE)
        for ratio in line.figures:
            assert math.isfinite(ratio)
            assert ratio > 0
