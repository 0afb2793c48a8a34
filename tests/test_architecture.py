"""The house: imports run downward, optional libraries stay optional, names speak."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tieaware_sklearn
from tests.instances import MEASURES
from tieaware_sklearn import (
    Measure,
    comparison,
    dask,
    datasets,
    judgments,
    lightgbm,
    optuna,
    plots,
    score_precision,
    xgboost,
)

PACKAGE = Path(tieaware_sklearn.__file__).parent
REFERENCE = Path(__file__).parents[1] / "docs" / "api"
# top to bottom: a module imports only from those above it
HOUSE = [
    "_optional",
    "_display",
    "_engine",
    "measures",
    "evaluation",
    "judgments",
    "model_selection",
    "comparison",
    "feature_selection",
    "score_precision",
    "io",
    "datasets",
    "rankers",
    "dask",
    "lightgbm",
    "xgboost",
    "optuna",
    "plots",
    "cli",
    "__main__",
    "conftest",
]
OPTIONAL = {"pandas", "polars", "pyarrow", "tqdm", "lightgbm", "xgboost", "optuna"}
OPTIONAL |= {"cmaes", "dask", "distributed", "matplotlib"}
MODULES = [tieaware_sklearn, comparison, dask, datasets, judgments]
MODULES += [lightgbm, optuna, plots, score_precision]
#: public things, each by the path that the reference has; what is at the top is at home
#: there
PATHS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if module is tieaware_sklearn
    or getattr(module, name) is not getattr(tieaware_sklearn, name, None)
}
PATHS["tieaware_sklearn.xgboost.custom_metric"] = xgboost.custom_metric


def modules():
    return [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.Module):
    """Relative imports outside of `if TYPE_CHECKING`."""
    guarded = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in guarded:
            yield node


def test_every_module_has_its_place():
    assert {room(path) for path in modules()} == set(HOUSE)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_downward(path):
    here = room(path)
    depth = len(path.relative_to(PACKAGE).parts)
    for node in imports(ast.parse(path.read_text())):
        if node.level < depth:
            continue  # inside its own room
        names = (
            [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
        )
        for name in names:
            if name != "__version__":
                assert HOUSE.index(name) < HOUSE.index(here), f"{here} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_stay_small(path):
    assert len(path.read_text().splitlines()) <= 500


def test_importing_takes_no_optional_library():
    # scikit-learn may import pandas by itself: what counts is what we add
    code = (
        "import sys, sklearn.feature_selection; before = set(sys.modules);"
        "import tieaware_sklearn, tieaware_sklearn.cli;"
        f"print(sorted({OPTIONAL!r} & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    report = tieaware_sklearn.evaluate([0, 1], [1, 2])
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[io\]"'):
        report.to_pandas()


@pytest.mark.parametrize("thing", PATHS.values(), ids=PATHS)
def test_public_names_are_documented(thing):
    text = inspect.getdoc(thing)
    assert text
    if inspect.isfunction(thing):
        for section in ("Parameters", "Returns", "Raises", "Examples"):
            if section == "Returns" and thing is datasets.dump_letor:
                continue
            assert f"{section}\n---" in text, section
        signature = set(inspect.signature(thing).parameters)
        for parameter in signature:
            assert parameter in text, parameter


def test_the_reference_names_every_public_thing_once():
    text = "".join(page.read_text() for page in sorted(REFERENCE.glob("*.md")))
    listed = re.findall(r"^\.\. auto(?:class|function):: (\S+)$", text, re.MULTILINE)
    assert not set(PATHS) - set(listed), "not in docs/api/*.md"
    assert not set(listed) - set(PATHS), "in docs/api/*.md, but not public"
    assert len(listed) == len(set(listed))


MEASURE_CLASSES = [
    thing
    for thing in (getattr(tieaware_sklearn, name) for name in tieaware_sklearn.__all__)
    if inspect.isclass(thing) and issubclass(thing, Measure) and thing is not Measure
]


@pytest.mark.parametrize("cls", MEASURE_CLASSES)
def test_a_measure_is_tested_and_told_of(cls):
    assert any(type(measure) is cls for measure in MEASURES), "not in instances.py"
    # a subclass that is no dataclass would take the fields of its parent
    assert "__dataclass_params__" in vars(cls)
    assert cls.__dataclass_params__.frozen
    text = inspect.getdoc(cls)
    for section in ("Parameters", "Raises", "Notes", "Examples"):
        assert f"{section}\n---" in text, section
    table = (PACKAGE.parent / "README.md").read_text()
    assert re.search(rf"^\| `{cls.name}\b", table, re.MULTILINE), "not in the README"
