"""Workflows and hooks run what `.ci/run` runs."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import tieaware_sklearn
from tests.mutants import PACKAGE, listed

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


@pytest.mark.parametrize("name", listed.LISTS)
def test_faults_of_a_list_are_of_lines_that_are_there(name):
    for fault in listed.faults(name):
        text = (PACKAGE / fault.file).read_text(encoding="utf-8")
        assert fault.put_into(text) != text, fault


def read(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text())


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def commands(path: Path) -> str:
    return "\n".join(step["run"] for step in steps(path) if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_take_no_more_rights_than_they_need(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        # rights to write are for jobs that run nothing of ours
        if "write" in job.get("permissions", {}).values():
            assert not any("run" in step for step in job["steps"]), name
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        assert "secrets." not in str(step)


def test_the_versions_tested_are_those_stated():
    told = [line.rpartition(" ")[2] for line in PROJECT["classifiers"]]
    stated = [word for word in told if re.fullmatch(r"3\.\d+", word)]
    matrix = read(GITHUB / "workflows" / "tests.yml")["jobs"]["systems"]["strategy"]
    assert matrix["matrix"]["python"] == stated
    assert PROJECT["requires-python"] == f">={stated[0]}"


def test_workflows_run_the_commands_of_our_own_check():
    ours = (ROOT / ".ci" / "run").read_text() + (ROOT / "README.md").read_text()
    tests = commands(GITHUB / "workflows" / "tests.yml")
    assert "bash .ci/run" in tests
    assert '".[dev]"' in tests
    line = "pytest -q -n auto --dist loadgroup"
    assert line in tests
    assert line in ours
    pages = commands(GITHUB / "workflows" / "docs.yml")
    assert "sphinx-build -b html docs build/docs" in pages
    assert "sphinx-build -W -q -b html docs build/docs" in ours


@pytest.mark.parametrize("marker", ["main job", "tests"])
def test_commands_of_the_readme_stand_in_lines_that_fit(marker):
    readme = (ROOT / "README.md").read_text()
    (command,) = re.findall(
        rf"^<!-- {marker} -->\n```sh\n(.*?)^```$", readme, re.M | re.S
    )
    *first, last = command.splitlines()
    assert all(line.endswith("&& \\") for line in first)
    assert last.startswith("    " * bool(first))
    assert max(map(len, command.splitlines())) <= 88


def test_the_lowest_versions_are_those_stated():
    """`.ci/run` tests the lowest versions: they are written once."""
    extras = chain.from_iterable(PROJECT["optional-dependencies"].values())
    built_by = SETTINGS["build-system"]["requires"]
    lowest = set()
    for requirement in map(Requirement, [*PROJECT["dependencies"], *extras, *built_by]):
        if requirement.name == PROJECT["name"]:  # an extra within an extra
            continue
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        lowest.add(f"{canonicalize_name(requirement.name)}=={bound.version}")
    held, _, _ = (ROOT / ".ci" / "lowest.txt").read_text().partition("\n\n")
    lines = [line for line in held.splitlines() if not line.startswith("#")]
    assert lines == sorted(lowest, key=lambda line: line.partition("==")[0])


def test_the_recipe_needs_what_the_package_needs():
    recipe = read(ROOT / "recipe" / "recipe.yaml")
    assert recipe["context"]["version"] == tieaware_sklearn.__version__
    needed = {f"python {PROJECT['requires-python']}"}
    for requirement in map(Requirement, PROJECT["dependencies"]):
        needed.add(f"{requirement.name} {requirement.specifier}")
    assert set(recipe["requirements"]["run"]) == needed


def test_one_version_everywhere():
    cited = read(ROOT / "CITATION.cff")
    newest = re.search(
        r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert newest.groups() == (cited["version"], str(cited["date-released"]))
    version = Version(tieaware_sklearn.__version__)
    if version.is_devrelease:  # what follows the newest release
        assert version > Version(cited["version"])
        assert "\n## Unreleased\n" in newest.string[: newest.start()]
    else:
        assert str(version) == cited["version"]


def test_every_page_says_how_to_install_without_a_release():
    for page in ("README.md", "docs/start.md", "docs/stability.md"):
        text = (ROOT / page).read_text()
        for found in re.finditer(r"pip install \"?tieaware-sklearn", text):
            said = " ".join(text[: found.start()].split()[-20:])
            assert "PyPI, once released" in said, page
