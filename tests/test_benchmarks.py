"""The sections of the benchmarks that use the inside of the package run."""

import math

import pytest

pytest.importorskip("lightgbm")
pytest.importorskip("pyarrow")

from benchmarks import sections
from benchmarks.tasks import ENGINES_HERE

RESOLVED = sections.ResolvedMeasures(scale=1e-3, repeats=1)


@pytest.mark.parametrize("name", ["prepared", "raw", "selector"])
def test_a_section_measures_every_task_by_each_engine(name):
    lines = list(sections.SECTIONS[name](RESOLVED))
    assert lines
    for line in lines:
        assert set(line.found) == set(ENGINES_HERE)
        for ratio in line.found.values():
            assert math.isfinite(ratio)
            assert ratio > 0
