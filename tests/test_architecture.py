"""Imports run downward, optional libraries stay optional, names are of the field."""

import ast
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from itertools import chain
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

import tieaware_sklearn
from tests import house
from tests.house import LAYERS, PACKAGE, ROOT
from tests.instances import MEASURES
from tests.signatures import FRONTS, PATHS
from tieaware_sklearn import Measure, measures

REFERENCE = ROOT / "docs" / "api"
TESTS = ROOT / "tests"
OPTIONAL = {"pandas", "polars", "pyarrow", "tqdm", "lightgbm", "xgboost", "optuna"}
OPTIONAL |= {"duckdb", "fsspec", "aiohttp"}
OPTIONAL |= {"catboost", "cmaes", "dask", "distributed", "ir_measures", "matplotlib"}
#: projects whose objects See Also may name
OTHERS = ("sklearn.", "scipy.", "lightgbm.", "xgboost.", "catboost.", "optuna.")


def full_name(path: Path) -> str:
    """The name of a module."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


MODULES = {full_name(path): path for path in PACKAGE.rglob("*.py")}
#: functions that import a module by its name
IMPORTERS = {"import_module", "import_optional"}
#: imports of a room above, at run time, and why there is no other way
UPWARD = {
    # a page has the picture of its result, which matplotlib may draw
    ("tieaware_sklearn._display.html", "tieaware_sklearn.plots._base")
}


def room(module: str) -> str:
    """The room of a module; that of the package itself is its front."""
    return [*module.split("."), "__init__"][1]


def imports(module):
    """What a module imports from the package: modules, and names of modules or None.

    Imports inside functions and of `if TYPE_CHECKING` count, and modules of ours that
    `import_module` and `import_optional` import by name. Those of `UPWARD` do not.
    """
    path = MODULES[module]
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(function, [ast.Constant(str(name)), *_]):
                if ast.unparse(function).rpartition(".")[2] in IMPORTERS:
                    there = resolve_name(name, package)
                    if there in MODULES and (module, there) not in UPWARD:
                        yield there, None
            case ast.ImportFrom() if node.level:
                there = resolve_name("." * node.level + (node.module or ""), package)
                for alias in node.names:
                    inner = f"{there}.{alias.name}"
                    yield (inner, None) if inner in MODULES else (there, alias.name)


@pytest.mark.parametrize("module", MODULES)
def test_imports_are_of_the_same_layer_or_of_one_below(module):
    layer = LAYERS[room(module)]
    upward = [name for name, _ in imports(module) if LAYERS[room(name)] > layer]
    assert upward == []


def test_every_room_has_a_layer():
    assert set(LAYERS) == {room(module) for module in MODULES}


def test_no_circle_between_files():
    below = {module: {name for name, _ in imports(module)} for module in MODULES}
    list(TopologicalSorter(below).static_order())


def test_no_circle_between_rooms():
    below = defaultdict(set)
    for module in MODULES:
        imported = {room(name) for name, _ in imports(module)}
        below[room(module)] |= imported - {room(module)}
    list(TopologicalSorter(below).static_order())


def imports_by_computed_names(module):
    """Whether a module calls `import_module` with a name that is no literal."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        match node:
            case ast.Call(ast.Name("import_module" | "__import__"), [first, *_]):
                if not isinstance(first, ast.Constant):
                    return True
    return False


def test_names_of_imported_modules_are_literals():
    """Or else no test sees what is imported."""
    assert set(filter(imports_by_computed_names, MODULES)) == {
        "tieaware_sklearn",  # public names, at their first use
        "tieaware_sklearn._optional",  # libraries of others
        "tieaware_sklearn.cli._main",  # the module of a command
    }


@pytest.mark.parametrize("module", MODULES)
def test_private_names_are_used_in_their_own_file(module):
    names = [name for _, name in imports(module) if name not in (None, "__version__")]
    assert not [name for name in names if name.startswith("_")]


@pytest.mark.parametrize("file", house.FILES, ids=lambda file: file.stem)
def test_docstrings_begin_with_a_sentence_that_stands_alone(file):
    leaning = r'^\s*r?"""(?:What|The same|Those|That)\b.*'
    assert not re.findall(leaning, file.read_text(), re.M)


def names_in(file):
    """Identifiers that a file defines; of Cython, every word outside of texts."""
    text = file.read_text()
    if file.suffix != ".py":
        yield from re.findall(r"\w+", re.sub(r'"""[\s\S]*?"""|#.*', "", text))
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(name):
                yield name
            case ast.Name(name, ast.Store()) | ast.Attribute(_, name, ast.Store()):
                yield name


#: words for which the field has others: distribution, similarity
DIALECT = {"law", "laws", "likeness"}
#: words that do not say what a thing is
VAGUE = {"found", "own", "asked", "kept"}
#: but a display calls a table of results so in public, and the kernel its result
MEANT = {("plots", "found"), ("_kernel", "found")}


@pytest.mark.parametrize("file", house.FILES, ids=lambda file: file.stem)
def test_names_are_in_the_words_of_the_field(file):
    names, here = {*names_in(file)}, file.relative_to(PACKAGE).parts[0]
    assert not {one for one in names if DIALECT & {*one.lower().split("_")}}
    assert not {name for name in names & VAGUE if (here, name) not in MEANT}


@pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.__name__)
def test_fronts_show_public_names_alone(front):
    if Path(front.__file__).name == "__init__.py":
        shown = {name for name in dir(front) if not name.startswith("_")}
        # base classes that other packages import
        assert shown - {"QueryObjective", "RankingScorer"} == set(front.__all__)


def test_tests_stand_in_the_rooms_they_test():
    rooms = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert rooms - {"boosters", "fuzz"} <= set(LAYERS)
    assert {name for name in LAYERS if (PACKAGE / name).is_dir()} <= rooms


def test_the_map_has_a_row_a_file():
    (there,) = house.ROWS.findall(house.PAGE.read_text())
    assert there == house.rows(), "run python -m tests.house"


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter of its own."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=True)


def test_importing_takes_no_optional_library():
    # scikit-learn may import pandas by itself: what counts is what we add
    code = (
        "import sys, sklearn.feature_selection; before = set(sys.modules);"
        "import tieaware_sklearn, tieaware_sklearn.cli;"
        f"print(sorted({OPTIONAL!r} & (set(sys.modules) - before)))"
    )
    assert run(code).stdout.strip() == "[]"


@pytest.mark.parametrize("thing", PATHS.values(), ids=PATHS)
def test_public_names_are_documented(thing):
    # a subclass has no docstring of its parent's
    assert "__doc__" in vars(thing) or inspect.isfunction(thing)
    # which refuses a section that is there twice
    sections = NumpyDocString(inspect.getdoc(thing))
    needed = ["See Also", "Examples"]
    # takes, gives and raises nothing
    if inspect.isfunction(thing) and thing is not tieaware_sklearn.show_versions:
        needed += ["Parameters", "Raises"]
        needed += ["Returns"] * (not thing.__name__.startswith("dump_"))
        lines = [parameter.name for parameter in sections["Parameters"]]
        documented = {name.strip("* ") for line in lines for name in line.split(",")}
        assert set(inspect.signature(thing).parameters) <= documented
    assert not [name for name in needed if not sections[name]]


@pytest.mark.parametrize("thing", PATHS.values(), ids=PATHS)
def test_see_also_names_what_is_there(thing):
    public = {path.rpartition(".")[2]: found for path, found in PATHS.items()}
    sections = NumpyDocString(inspect.getdoc(thing))["See Also"]
    for name, _ in chain.from_iterable(names for names, _ in sections):
        if name.startswith(OTHERS):
            continue
        first, *members = name.removeprefix("tieaware_sklearn.").split(".")
        if first not in public:  # a room
            first, *members = members
        assert all(hasattr(public[first], member) for member in members), name


def test_the_reference_names_every_public_thing_once():
    text = "".join(page.read_text() for page in sorted(REFERENCE.glob("*.md")))
    tables = re.findall(
        r"^.. currentmodule:: (\S+)\n\n.. autosummary::\n(?: +:.+\n)+\n((?: +\w+\n)+)",
        text,
        re.MULTILINE,
    )
    listed = [f"{module}.{name}" for module, names in tables for name in names.split()]
    assert not set(PATHS) - set(listed), "not in docs/api/*.md"
    assert not set(listed) - set(PATHS), "in docs/api/*.md, but not public"
    assert len(listed) == len(set(listed))


MEASURE_CLASSES = [
    thing
    for thing in (getattr(measures, name) for name in measures.__all__)
    if inspect.isclass(thing) and issubclass(thing, Measure) and thing is not Measure
]


@pytest.mark.parametrize("cls", MEASURE_CLASSES)
def test_a_measure_is_tested_and_told_of(cls):
    assert any(type(measure) is cls for measure in MEASURES), "not in instances.py"
    # a subclass that is no dataclass would take the fields of its parent
    assert "__dataclass_params__" in vars(cls)
    assert cls.__dataclass_params__.frozen
    sections = NumpyDocString(inspect.getdoc(cls))
    assert all(sections[name] for name in ("Parameters", "Raises", "Notes", "Examples"))
    for page in (ROOT / "docs" / "measures.md", REFERENCE / "measures.md"):
        row = re.compile(rf"^\| \[?`{cls.name}\b", re.MULTILINE)
        assert row.search(page.read_text()), f"not in {page}"


def test_rooms_are_imported_when_they_are_asked_for():
    code = (
        "import sys, tieaware_sklearn as ta\n"
        "print(ta.ranking_score([1, 0], [1, 1]))\n"
        "needed = {'_engine', '_kernel', 'evaluation', 'measures'}\n"
        "rooms = [one for one in dir(ta) if one not in {*ta.__all__, *needed}]\n"
        "rooms = [f'tieaware_sklearn.{room}' for room in rooms]\n"
        "print(any(room in sys.modules for room in rooms))\n"
        "print(ta.comparison.compare_systems is ta.compare_systems)\n"
        "print({*ta.__all__, 'comparison'} <= {*dir(ta)})\n"
        "print(all(hasattr(ta, name) for name in dir(ta)), hasattr(ta, 'no_such'))\n"
    )
    exact = tieaware_sklearn.ranking_score([1, 0], [1, 1])
    wanted = [str(exact), "False", "True", "True", "True", "False"]
    assert run(code).stdout.split() == wanted


def test_nothing_is_imported_with_the_package_alone():
    """Ctrl-C, which may come at any moment, meets the command and not an import."""
    code = (
        "import sys, tieaware_sklearn.cli\n"
        "print('numpy' in sys.modules, 'argparse' in sys.modules)\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "print(tieaware_sklearn.cli.main(['demo']))\n"
    )
    done = run(code)
    assert done.stdout.split() == ["False", "False", "130"]
    assert done.stderr == "tieaware: interrupted\n"
