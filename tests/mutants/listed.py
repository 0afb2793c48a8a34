"""Faults of a list, each put into a copy of the tree, and the tests there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tqdm import tqdm

from . import PACKAGE, PYTEST, ROOT

HERE = Path(__file__).parent
BUILD = ("setup.py", "-q", "build_ext", "--inplace")
CHECK = ("-m", "pytest", "-x", *PYTEST)
#: a fault may never end: seconds that a build or tests may take, if nothing is amiss
PATIENCE = 900
LISTS = [file.stem for file in sorted(HERE.glob("*.txt"))]


class Mutant(NamedTuple):
    """A line of a file, the fault in its place, and which of several such lines."""

    file: str
    tests: list[str]
    line: str
    fault: str
    number: int = 1

    def put_into(self, text: str) -> str:
        lines = text.split("\n")
        at = [i for i, line in enumerate(lines) if line.strip() == self.line]
        i = at[self.number - 1]
        lines[i] = lines[i].replace(self.line, self.fault)
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.file}: {self.line}  ->  {self.fault}"


def mutants(name: str) -> Iterator[Mutant]:
    file, line, tests = "", "", []
    for row in (HERE / f"{name}.txt").read_text().splitlines():
        mark, _, rest = row.partition(" ")
        if row.startswith("["):
            file, _, words = row.strip("[]").partition(": ")
            tests = words.split()
        elif mark == "-":
            line = rest
        elif mark == "+":
            line, _, number = line.partition(" @")
            yield Mutant(file, tests, line, rest, int(number or 1))


def fails(folder: Path, *words: str) -> bool:
    environment = {**os.environ, "TIEAWARE_KERNEL": "require"}
    environment |= {"TIEAWARE_ENGINE": "compiled", "PYTHONPATH": str(folder)}
    try:
        run = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0


def is_noticed(mutant: Mutant, folder: Path) -> bool:
    """Whether a test fails, or the kernel no longer compiles."""
    file = folder / PACKAGE.name / mutant.file
    text = file.read_text()
    file.write_text(mutant.put_into(text))
    try:
        is_compiled = file.suffix != ".py"
        return (is_compiled and fails(folder, *BUILD)) or fails(
            folder, *CHECK, *mutant.tests
        )
    finally:
        file.write_text(text)


def check(name: str, jobs: int) -> None:
    """All of a list, in a copy of the tree for each job."""
    every = list(mutants(name))
    with tempfile.TemporaryDirectory() as copies, ThreadPoolExecutor(jobs) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            folder = Path(copies) / str(job)
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build"))
            free.put(folder)
        for tests in dict.fromkeys(tuple(mutant.tests) for mutant in every):
            if fails(folder, *CHECK, *tests):
                raise RuntimeError(f"tests fail without a fault: {tests}")

        def noticed(mutant: Mutant) -> bool:
            folder = free.get()
            try:
                seen = is_noticed(mutant, folder)
            finally:
                free.put(folder)
            if not seen:
                tqdm.write(str(mutant))
            return seen

        n_noticed = sum(tqdm(pool.map(noticed, every), name, len(every)))
    print(f"{name}: {n_noticed} of {len(every)} noticed", flush=True)
