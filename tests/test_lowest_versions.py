"""`.ci/run` tests the lowest versions that are stated: they are written once."""

from __future__ import annotations

import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def test_the_lowest_versions_are_those_stated():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, built_by = settings["project"], settings["build-system"]["requires"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    lowest = set()
    for requirement in map(Requirement, [*project["dependencies"], *extras, *built_by]):
        if requirement.name == project["name"]:  # an extra within an extra
            continue
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        lowest.add(f"{canonicalize_name(requirement.name)}=={bound.version}")
    held, _, _ = (ROOT / ".ci" / "lowest.txt").read_text().partition("\n\n")
    lines = [line for line in held.splitlines() if not line.startswith("#")]
    assert lines == sorted(lowest, key=lambda line: line.partition("==")[0])
