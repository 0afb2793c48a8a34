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
GROUPS = SETTINGS["dependency-groups"]
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
#: the versions of actions, of which workflows and pages name one each
ACTIONS = {
    "actions/checkout": "v7",
    "actions/setup-python": "v7",
    "actions/upload-artifact": "v7",
    "actions/download-artifact": "v8",
    "actions/upload-pages-artifact": "v5",
    "actions/deploy-pages": "v5",
    "pypa/cibuildwheel": "v4.3.5",
    "pypa/gh-action-pypi-publish": "release/v1",
}


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


def test_workflows_and_pages_use_one_version_of_an_action():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    used = set()
    for path in [*WORKFLOWS, *pages]:
        text = path.read_text(encoding="utf-8")
        used |= {*re.findall(r"uses: (\S+)@(\S+)", text)}
    assert dict(used) == ACTIONS
    assert len(used) == len(ACTIONS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_keep_no_credentials_in_the_clone(path):
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_that_install_groups_have_a_pip_that_can(path):
    for job in read(path)["jobs"].values():
        run = "\n".join(step.get("run", "") for step in job["steps"])
        before, group, _ = run.partition("--group")
        assert not group or '"pip>=25.1"' in before


def test_wheels_are_built_for_each_version_that_is_tested():
    wheels = SETTINGS["tool"]["cibuildwheel"]["build"]
    jobs = read(GITHUB / "workflows" / "tests.yml")["jobs"]
    tested = jobs["systems"]["strategy"]["matrix"]["python"]
    ids = ["cp" + python.replace(".", "") + "-*" for python in tested]
    (free_threaded,) = (
        step["with"]["python-version"]
        for step in jobs["free-threaded"]["steps"]
        if "with" in step and "python-version" in step["with"]
    )
    assert wheels == [*ids, "cp" + free_threaded.replace(".", "") + "-*"]


def test_the_kernel_is_tested_without_a_lock_if_it_says_that_it_needs_none():
    kernel = ROOT / "tieaware_sklearn" / "_kernel" / "walks.pyx"
    job = read(GITHUB / "workflows" / "tests.yml")["jobs"]["free-threaded"]
    assert "freethreading_compatible=True" in kernel.read_text(encoding="utf-8")
    assert any(
        "pytest -q tests/_kernel" in step.get("run", "") for step in job["steps"]
    )


def test_tools_of_contributors_are_no_extras():
    assert set(GROUPS) == {"docs", "dev"}
    assert not set(GROUPS) & set(PROJECT["optional-dependencies"])


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
    command = '-e ".[all,test]" --group dev'
    assert command in tests
    assert command in ours
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
    groups = [
        line for line in chain.from_iterable(GROUPS.values()) if type(line) is str
    ]
    built_by = SETTINGS["build-system"]["requires"]
    lowest = set()
    lines = [*PROJECT["dependencies"], *extras, *groups, *built_by]
    for requirement in map(Requirement, lines):
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
    # the version of Python is the build's, and builds for older ones are skipped
    needed = {"python"}
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert recipe["build"]["skip"] == [f'match(python, "<{oldest}")']
    for requirement in map(Requirement, PROJECT["dependencies"]):
        needed.add(f"{requirement.name} {requirement.specifier}")
    assert set(recipe["requirements"]["run"]) == needed
    built_by = {
        line.replace(">=", " >=") for line in SETTINGS["build-system"]["requires"]
    }
    assert set(recipe["requirements"]["host"]) == {"python", "pip"} | built_by
    # maintainers are people
    assert PROJECT["name"] not in recipe["extra"]["recipe-maintainers"]


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
