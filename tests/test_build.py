"""What is built: wheels with the kernel or without it, and the sdist.

That the kernel is compiled is for `.ci/run` to see; here no compiler is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [".ci", ".github", "benchmarks", "docs", "notebooks", "tests"]
FOLDERS += ["recipe", "tieaware_sklearn"]
FILES = [*(path.name for path in ROOT.glob("*.md")), "CITATION.cff", "LICENSE"]
FILES += [".gitattributes", ".gitignore", ".pre-commit-config.yaml"]
FILES += ["MANIFEST.in", "conftest.py", "pyproject.toml", "setup.py"]
#: made by tools, in a clone
MADE = ["__pycache__", "*.pyc", "*.so", "*.pyd", "*.c", "generated", "auto_gallery"]
MADE += [".ipynb_checkpoints"]

without_compiler = pytest.mark.skipif(
    sys.platform == "win32", reason="needs a compiler that CC names"
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the project, as it is cloned."""
    copy = tmp_path_factory.mktemp("tree")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(*MADE))
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy


def build(tree: Path, what: str, **settings: str):
    """Run a hook of the build backend; what was built, and what it said."""
    outside = {key: os.environ[key] for key in os.environ if key != "TIEAWARE_KERNEL"}
    shutil.rmtree(tree / "dist", ignore_errors=True)
    shutil.rmtree(tree / "build", ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-c", f"from setuptools import build_meta as b; b.{what}"],
        cwd=tree,
        env=outside | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    built = list(tree.glob("dist/*"))
    assert bool(built) == (done.returncode == 0), done.stdout + done.stderr
    return (built[0] if built else None), done.stdout + done.stderr


def sources(tree: Path) -> set[str]:
    """The files of a pure Python wheel."""
    found = (tree / "tieaware_sklearn").rglob("*.*")
    kinds = ".py", ".pyi", ".css", ".js", ".typed"
    return {p.relative_to(tree).as_posix() for p in found if p.suffix in kinds}


def contents(wheel: Path) -> set[str]:
    """The files of a wheel, those that describe it excepted."""
    names = ZipFile(wheel).namelist()
    return {name for name in names if ".dist-info/" not in name}


def test_a_wheel_without_the_kernel_is_pure(tree):
    wheel, _ = build(tree, "build_wheel('dist')", TIEAWARE_KERNEL="skip")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert contents(wheel) == sources(tree)
    described = [name for name in ZipFile(wheel).namelist() if ".dist-info/" in name]
    for name in ("entry_points.txt", "licenses/LICENSE"):
        assert any(path.endswith(f".dist-info/{name}") for path in described)
    (metadata,) = (name for name in described if name.endswith("/METADATA"))
    page = ZipFile(wheel).read(metadata).decode().partition("\n\n")[2]
    # PyPI has no files beside the page
    assert not re.findall(r"\]\((?!https://|#)[^)]*", page)


@without_compiler
def test_a_compiler_that_fails_stops_no_installation(tree):
    wheel, _ = build(tree, "build_wheel('dist')", CC="/bin/false")
    assert contents(wheel) == sources(tree)


@pytest.mark.parametrize(("kernel", "words"), [
    pytest.param(
        "require",
        ["TIEAWARE_KERNEL=require allows no installation without", "/bin/false"],
        marks=without_compiler,
    ),
    ("yes", ["TIEAWARE_KERNEL must be unset, 'skip' or 'require', got 'yes'"]),
])  # fmt: skip
def test_no_wheel_is_built(tree, kernel, words):
    settings = {"TIEAWARE_KERNEL": kernel, "CC": "/bin/false"}
    wheel, said = build(tree, "build_wheel('dist')", **settings)
    assert wheel is None
    assert all(word in said for word in words)


def test_the_sdist_has_all_that_is_cloned_and_nothing_that_is_made(tree):
    cloned = {
        path.relative_to(tree).as_posix()
        for name in [*FOLDERS, *FILES]
        for path in [tree / name, *(tree / name).rglob("*")]
        if path.is_file() and path.suffix != ".c"
    }
    made = ["docs/api/generated/x.md", "docs/auto_gallery/x.md"]
    made += ["tieaware_sklearn/_kernel/x.so", "tieaware_sklearn/_kernel/x.c"]
    made += ["tests/__pycache__/x.pyc"]
    for name in made:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    sdist, _ = build(tree, "build_sdist('dist')")
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive if member.isfile()]
    packed = {name.partition("/")[2] for name in names}
    assert cloned | {"tieaware_sklearn/_kernel/walks.pyx"} <= packed
    egg = "tieaware_sklearn.egg-info/"
    added = {name for name in packed - cloned if not name.startswith(egg)}
    assert added <= {"PKG-INFO", "setup.cfg"}
