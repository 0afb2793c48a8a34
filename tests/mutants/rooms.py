"""Faults in the Python code of a room, sampled, against the tests of that room."""

import ast
import copy
import difflib
import multiprocessing
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from . import PACKAGE, PYTEST, ROOT

#: beside the tests of a room, those of others that ask it what users call there
_BESIDE = {
    "measures": [
        *("feature_selection/test_feature_sums.py", "_kernel/test_walks.py", "fuzz"),
        *("evaluation/test_report.py", "evaluation/test_report_table.py"),
    ],
    "_engine": [
        *("measures/test_every_measure.py", "evaluation/test_evaluate.py", "fuzz"),
        *("feature_selection/test_selector.py", "rankers", "model_selection"),
    ],
    "evaluation": [
        *("comparison/test_systems.py", "_engine/test_lists.py", "fuzz", "rankers"),
        *("_kernel/test_walks.py", "comparison/test_clusters.py"),
    ],
    "ranking": ["_kernel", "measures/test_every_measure.py", "fuzz"],
    "statistics": [
        *("evaluation/test_averages.py", "evaluation/test_tables.py"),
        *("comparison/test_systems.py", "comparison/test_weights.py"),
        "feature_selection/test_feature_sums.py",
    ],
    "comparison": ["_engine/test_lists.py", "score_precision/test_study.py"],
    "feature_selection": ["cli/test_screen.py"],
    "model_selection": ["optuna/test_objectives.py"],
}
#: what is changed, and the tests that must notice
ROOMS = {
    room: (PACKAGE / room, [f"tests/{one}" for one in (room, *others)])
    for room, others in _BESIDE.items()
}
ROOMS["boosters"] = (
    PACKAGE / "rankers/_query_ranker.py",
    [
        *("tests/rankers", "tests/boosters", "tests/lightgbm"),
        "tests/evaluation/test_mistaken_columns.py",
    ],
)
#: seconds of tests for a fault, quick ones first
BUDGET = 200.0


class Fault(NamedTuple):
    """A function of a file, its first and last line, and another function for it."""

    file: str
    name: str
    lines: range
    function: ast.FunctionDef
    tests: tuple[str, ...] = ()
    seconds: float = 0.0

    def put_into(self, text: str) -> str:
        tree = ast.parse(text)
        for parent, node in functions(tree):
            if node.lineno == self.lines.start:
                parent.body[parent.body.index(node)] = self.function
        return ast.unparse(tree)

    def __str__(self) -> str:
        place = f"{PACKAGE.name}/{self.file}:{self.lines.start} {self.name}"
        return "\n    ".join([place, *self.changes()])

    def changes(self) -> Iterator[str]:
        """The lines that it takes away and puts in their place."""
        before = (PACKAGE / self.file).read_text()
        texts = ast.unparse(ast.parse(before)), self.put_into(before)
        lines = [text.split("\n") for text in texts]
        for line in difflib.unified_diff(*lines, n=0, lineterm=""):
            if line[:2] not in ("--", "++", "@@"):
                yield line


def functions(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.FunctionDef]]:
    """Functions and methods, and what holds them."""
    for parent in ast.walk(tree):
        if isinstance(parent, ast.Module | ast.ClassDef):
            for node in list(parent.body):
                if isinstance(node, ast.FunctionDef):
                    yield parent, node


class _Behaviour(ast.NodeTransformer):
    """Texts with a space only say something, and `strict` of `zip` only asserts."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        prose = isinstance(node.value, str) and " " in node.value
        return ast.Constant("") if prose else node

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg == "strict" else self.generic_visit(node)


def what_it_does(function: ast.FunctionDef) -> str:
    return "".join(
        ast.dump(_Behaviour().visit(copy.deepcopy(s))) for s in function.body
    )


def faults(file: Path) -> Iterator[Fault]:
    """All that mutmut makes of a file, without those that behave alike."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import parse_mutant_key

    source = file.read_text()
    mutated = mutate_file_contents(str(file), source)
    made = {node.name: node for _, node in functions(ast.parse(mutated.code))}
    place = {
        (getattr(parent, "name", None), node.name): range(
            node.lineno, node.end_lineno + 1
        )
        for parent, node in functions(ast.parse(source))
    }
    for name in mutated.mutant_names:
        key, _, number = name.partition("__mutmut_")
        called, owner = parse_mutant_key(key)
        plain, fault = made[f"{key}__mutmut_orig"], made[name]
        if what_it_does(plain) != what_it_does(fault):
            fault.name, fault.decorator_list = called, plain.decorator_list
            whole = f"{owner}.{called}" if owner else called
            where = file.relative_to(PACKAGE).as_posix(), f"{whole} {number}"
            yield Fault(*where, place[owner, called], fault)


class _Contexts:
    """A plugin of pytest: notes what test runs, for coverage, and how long it takes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # coverage itself does not see the tests that hypothesis calls
        self.coverage.switch_context(item.nodeid.partition("[")[0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("[")[0]] += report.duration


def tests_by_line(
    source: Path, tests: list[str]
) -> tuple[dict[tuple[str, int], set[str]], dict[str, float]]:
    """Functions of tests that meet each line, and how long each of them takes.

    For a process of its own, in which the code is not imported before.
    """
    # what only this tool needs is not installed for tests
    from coverage import Coverage

    where = source if source.is_dir() else source.parent
    coverage = Coverage(data_file=None, source=[str(where)], config_file=False)
    contexts = _Contexts(coverage)
    os.chdir(ROOT)
    with coverage.collect():
        code = pytest.main([*PYTEST, *tests], plugins=[contexts])
    if code:
        raise RuntimeError(f"tests fail without a fault: {tests}")
    data = coverage.get_data()
    met = {
        (file, line): set(filter(None, names))
        for file in data.measured_files()
        for line, names in data.contexts_by_lineno(file).items()
    }
    return met, contexts.seconds


def sampled(room: str, number: int, seed: int) -> list[Fault]:
    """Some faults of a room, each with the tests that meet it."""
    source, tests = ROOMS[room]
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source]
    every = [fault for file in files for fault in faults(file)]
    chosen = random.Random(f"{seed} {room}").sample(every, min(number, len(every)))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        met, seconds = apart.submit(tests_by_line, source, tests).result()
    work = []
    for fault in chosen:
        file = str(PACKAGE / fault.file)
        called = {test for line in fault.lines for test in met.get((file, line), ())}
        total, few = 0.0, []
        for test in sorted(called or seconds, key=lambda t: seconds[t]):
            if few and total + seconds[test] > BUDGET:
                break
            total += seconds[test]
            few.append(test)
        work.append(fault._replace(tests=tuple(few), seconds=60 + 5 * total))
    return work
