"""The house: imports run downward, optional libraries stay optional, names speak."""

import ast
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

import tieaware_sklearn
from tests import house
from tests.house import ROOMS
from tests.instances import MEASURES
from tests.signatures import FRONTS, PATHS
from tieaware_sklearn import Measure, measures

PACKAGE = Path(tieaware_sklearn.__file__).parent
ROOT = PACKAGE.parent
REFERENCE = ROOT / "docs" / "api"
TESTS = ROOT / "tests"
OPTIONAL = {"pandas", "polars", "pyarrow", "tqdm", "lightgbm", "xgboost", "optuna"}
OPTIONAL |= {"duckdb", "fsspec", "aiohttp"}
OPTIONAL |= {"catboost", "cmaes", "dask", "distributed", "ir_measures", "matplotlib"}
#: projects whose objects See Also may name
OTHERS = ("sklearn.", "scipy.", "lightgbm.", "xgboost.", "catboost.", "optuna.")


def modules() -> list[Path]:
    """All files of the package, relative to it."""
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


#: imports of a room above, at run time, and why there is no other way
UPWARD = {
    # a page has the picture of its result, which matplotlib may draw
    (Path("_display/html.py"), Path("plots/_base.py")),
}


def imports(path: Path):
    """What a module imports from the package: the file, and the name or None.

    Imports inside of functions and of `if TYPE_CHECKING` count, and `import_module` of
    a relative name; those of `UPWARD` do not.
    """
    for node in ast.walk(ast.parse((PACKAGE / path).read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            name = ast.unparse(node.args[0]).strip("'")
            file = Path(*name.removeprefix("..").split(".")).with_suffix(".py")
            if name.startswith("..") and (path, file) not in UPWARD:
                yield file, None
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        depth = len(path.parts) - node.level
        target = Path(*path.parts[:depth], *(node.module or "").split("."))
        for alias in node.names:
            for file in (target / f"{alias.name}.py", target / alias.name):
                if (PACKAGE / file).exists():
                    is_folder = not file.suffix
                    yield (file / "__init__.py" if is_folder else file), None
                    break
            else:
                is_folder = (PACKAGE / target).is_dir()
                file = target / "__init__.py" if is_folder else target
                yield file.with_suffix(".py"), alias.name


def floors() -> list[list[str]]:
    """The rooms on each floor, bottom up; a room stands above all that it imports."""
    below = {name: set() for name in ROOMS}
    for path in modules():
        below[room(path)] |= {room(file) for file, _ in imports(path)} - {room(path)}
    sorter = TopologicalSorter(below)
    sorter.prepare()
    found = []
    while sorter.is_active():
        found.append(sorted(sorter.get_ready(), key=ROOMS.index))
        sorter.done(*found[-1])
    return found


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_run_downward(path):
    here = room(path)
    for file, name in imports(path):
        there = room(file)
        if there != here:
            assert ROOMS.index(there) < ROOMS.index(here), f"{here} imports {file}"
        if name is not None:
            private = name.startswith("_") and name != "__version__"
            assert not private, f"{name} of {file} is used elsewhere: it is not private"


def files_of(name):
    """Files of a room: Python and Cython."""
    files = [PACKAGE / f"{name}.py", *(PACKAGE / name).rglob("*")]
    return [file for file in files if file.suffix in house.KINDS and file.exists()]


@pytest.mark.parametrize("name", ROOMS)
def test_docstrings_begin_with_a_sentence_that_stands_alone(name):
    leaning = re.compile(r'^\s*r?"""(?:What|The same|Those|That)\b.*', re.MULTILINE)
    assert not [line for p in files_of(name) for line in leaning.findall(p.read_text())]


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
#: but a display of a table of results calls it so in public
PUBLIC = {"plots": {"found"}}


@pytest.mark.parametrize("name", ROOMS)
def test_names_are_in_the_words_of_the_field(name):
    names = {one for file in files_of(name) for one in names_in(file)}
    assert not {one for one in names if DIALECT & {*one.lower().split("_")}}
    vague = VAGUE if name != "_kernel" else VAGUE - {"found"}  # a result of C
    assert names & vague <= PUBLIC.get(name, set())


def test_no_circle_between_files():
    below = {path: {file for file, _ in imports(path)} for path in modules()}
    list(TopologicalSorter(below).static_order())


@pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.__name__)
def test_fronts_show_public_names_alone(front):
    if Path(front.__file__).name == "__init__.py":
        assert dir(front) == sorted(front.__all__)


def test_tests_stand_in_the_rooms_they_test():
    rooms = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert rooms - {"boosters", "fuzz"} <= set(ROOMS)
    assert {name for name in ROOMS if (PACKAGE / name).is_dir()} <= rooms


def test_the_map_has_a_row_a_file():
    (there,) = house.ROWS.findall(house.PAGE.read_text())
    assert there == house.rows(), "run python -m tests.house"


def test_the_picture_shows_the_floors():
    page = (ROOT / "docs" / "architecture.md").read_text()
    picture = page.split("```text")[1].split("```")[0]
    shown = [
        line.split()[1:] for line in picture.splitlines() if line.strip()[:1].isdigit()
    ]
    assert shown == floors()[::-1]


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
    text = inspect.getdoc(thing)
    assert text
    # a subclass has no docstring of its parent's
    assert "__doc__" in vars(thing) or inspect.isfunction(thing)
    for section in ("See Also", "Examples"):
        assert text.count(f"\n{section}\n---") == 1, section
    # takes, gives and raises nothing
    if inspect.isfunction(thing) and thing is not tieaware_sklearn.show_versions:
        for section in ("Parameters", "Returns", "Raises", "Examples"):
            if section == "Returns" and thing.__name__.startswith("dump_"):
                continue
            assert f"{section}\n---" in text, section
        signature = set(inspect.signature(thing).parameters)
        for parameter in signature:
            # a name of its own: "n" is in every text
            assert re.search(rf"^[^:]*\b{parameter}\b", text, re.MULTILINE), parameter


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
    text = inspect.getdoc(cls)
    for section in ("Parameters", "Raises", "Notes", "Examples"):
        assert f"{section}\n---" in text, section
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
