"""Faults in the Python code of a room, sampled, against the tests of that room."""

from __future__ import annotations

import ast
import copy
import difflib
import importlib
import io
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tqdm import tqdm

from . import PACKAGE, PYTEST, ROOT

#: what is changed, and the tests that must notice
ROOMS = {
    room: (PACKAGE / room, [f"tests/{room}"])
    for room in (
        *("measures", "_engine", "evaluation"),
        *("comparison", "feature_selection", "model_selection"),
    )
}
# what the selector and comparisons alone ask of others is tested there
ROOMS["measures"][1].append("tests/feature_selection/test_statistics.py")
ROOMS["evaluation"][1].append("tests/comparison/test_systems.py")
ROOMS["boosters"] = (
    PACKAGE / "rankers/_query_ranker.py",
    ["tests/rankers", "tests/boosters", "tests/lightgbm"],
)
#: seconds of tests for a fault, quick ones first
BUDGET = 200.0
#: how a process ends whose tests say nothing of a fault
_BROKEN = 99
LIBRARIES = "hypothesis.strategies", "pandas", "scipy.stats", "sklearn.pipeline"


class Fault(NamedTuple):
    """A function of a file, its first and last line, and another function for it."""

    file: Path
    name: str
    lines: range
    function: ast.FunctionDef

    def put_into(self, source: str) -> ast.Module:
        tree = ast.parse(source)
        for parent, node in functions(tree):
            if node.lineno == self.lines.start:
                parent.body[parent.body.index(node)] = self.function
        return ast.fix_missing_locations(tree)

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.lines.start} {self.name}"


def functions(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.FunctionDef]]:
    """Functions and methods, and what holds them."""
    for parent in ast.walk(tree):
        if isinstance(parent, ast.Module | ast.ClassDef):
            for node in list(parent.body):
                if isinstance(node, ast.FunctionDef):
                    yield parent, node


class _NoProse(ast.NodeTransformer):
    """What is said is no behaviour: texts with a space are all the same."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        prose = isinstance(node.value, str) and " " in node.value
        return ast.Constant("") if prose else node


def what_it_does(function: ast.FunctionDef) -> str:
    return "".join(ast.dump(_NoProse().visit(copy.deepcopy(s))) for s in function.body)


def faults(file: Path) -> Iterator[Fault]:
    """All that mutmut makes of a file, without those that only say something else."""
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
            yield Fault(file, f"{whole} {number}", place[owner, called], fault)


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


def trace(source: Path, tests: list[str], folder: str) -> None:
    """Run the tests, and write down what lines each of them meets."""
    # what only this tool needs is not installed for tests
    from coverage import Coverage

    where = source if source.is_dir() else source.parent
    coverage = Coverage(f"{folder}/data", source=[str(where)], config_file=False)
    contexts = _Contexts(coverage)
    os.chdir(ROOT)
    with coverage.collect():
        code = pytest.main([*PYTEST, *tests], plugins=[contexts])
    coverage.json_report(outfile=f"{folder}/lines", show_contexts=True)
    Path(f"{folder}/seconds").write_text(json.dumps(contexts.seconds))
    sys.exit(code)


def tests_by_line(
    source: Path, tests: list[str], folder: str
) -> tuple[dict[tuple[str, int], set[str]], dict[str, float]]:
    """Functions of tests that meet each line, and how long each of them takes."""
    apart = multiprocessing.get_context("spawn")
    process = apart.Process(target=trace, args=(source, tests, folder))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"tests fail without a fault: {tests}")
    met: dict[tuple[str, int], set[str]] = defaultdict(set)
    lines_of = json.loads(Path(f"{folder}/lines").read_text())["files"]
    for file, lines in lines_of.items():
        for line, names in lines["contexts"].items():
            met[str(ROOT / file), int(line)].update(filter(None, names))
    return met, json.loads(Path(f"{folder}/seconds").read_text())


Job = tuple[Fault | None, list[str], float]


def is_noticed(job: Job) -> bool:
    """Whether one of the tests fails, in a process that dies with the fault.

    Or whether they take far longer than without it, `seconds`, or the process crashes.
    """
    process = multiprocessing.get_context("fork").Process(target=meet, args=(job,))
    process.start()
    process.join()
    if process.exitcode == _BROKEN:
        raise RuntimeError(f"tests cannot run: {job[1]}")
    return process.exitcode != 0


def meet(job: Job) -> None:
    """Run tests in a process of their own, which exits with 1 if one fails."""
    fault, tests, seconds = job
    wanted = str(fault and fault.file)
    read = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> object:
        path = self.get_filename(name)
        if path != wanted:
            return read(self, name)
        return compile(fault.put_into(Path(path).read_text()), path, "exec")

    def stop(*_: object) -> None:
        raise TimeoutError

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(60 + int(5 * seconds) if fault else 0)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    options = ["-x", *PYTEST, "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    os.chdir(ROOT)
    with redirect_stdout(io.StringIO()) as said:
        code = pytest.main([*options, *tests])
    # 3: the alarm rang between tests
    if code not in range(5) or (fault is None and code):
        print(f"pytest ends with {code}: {said.getvalue()[-2000:]}", file=sys.stderr)
        os._exit(_BROKEN)
    os._exit(int(code != 0))


def check(room: str, number: int, seed: int, jobs: int) -> None:
    """Score a room, and show the faults that no test noticed."""
    source, tests = ROOMS[room]
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source]
    every = [fault for file in files for fault in faults(file)]
    chosen = random.Random(f"{seed} {room}").sample(every, min(number, len(every)))
    with tempfile.TemporaryDirectory() as folder:
        met, seconds = tests_by_line(source, tests, folder)
    work = []
    for fault in chosen:
        called = {t for line in fault.lines for t in met[str(fault.file), line]}
        total, few = 0.0, []
        for test in sorted(called or seconds, key=lambda t: seconds[t]):
            if few and total + seconds[test] > BUDGET:
                break
            total += seconds[test]
            few.append(test)
        work.append((fault, few, total))
    for library in LIBRARIES:  # once, unlike the package, which each process imports
        importlib.import_module(library)
    chosen_tests = dict.fromkeys(test for _, few, _ in work for test in few)
    is_noticed((None, list(chosen_tests), 0.0))
    with ThreadPoolExecutor(jobs) as pool:
        noticed = list(tqdm(pool.map(is_noticed, work), room, len(work)))
    pairs = zip(work, noticed, strict=True)
    left = [fault for (fault, *_), seen in pairs if not seen]
    print(f"{room}: {len(work) - len(left)} of {len(work)} noticed", flush=True)
    for fault in left:
        print(fault, *changes(fault), sep="\n    ", flush=True)


def changes(fault: Fault) -> Iterator[str]:
    """The lines that it takes away and puts in their place."""
    before = fault.file.read_text()
    trees = ast.parse(before), fault.put_into(before)
    lines = [ast.unparse(tree).split("\n") for tree in trees]
    for line in difflib.unified_diff(*lines, n=0, lineterm=""):
        if line[:2] not in ("--", "++", "@@"):
            yield line
