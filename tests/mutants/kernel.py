"""Faults in the kernel, each built into a copy of the tree, and the tests there."""

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

ROOT = Path(__file__).parents[2]
KERNEL = "tieaware_sklearn/_kernel"
#: tests that must notice, quick ones first
TESTS = {
    "letor.pyx": ("tests/_kernel/test_letor.py", "tests/io/test_letor.py"),
    "": ("tests/_kernel", "tests/measures", "tests/evaluation"),
}


class Mutant(NamedTuple):
    """A line of a file, the fault in its place, and which of several such lines."""

    file: str
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


def mutants() -> Iterator[Mutant]:
    file = line = ""
    for row in Path(__file__).with_name("kernel.txt").read_text().splitlines():
        mark, _, rest = row.partition(" ")
        if row.startswith("["):
            file = row.strip("[]")
        elif mark == "-":
            line = rest
        elif mark == "+":
            line, _, number = line.partition(" @")
            yield Mutant(file, line, rest, int(number or 1))


def is_noticed(mutant: Mutant, folder: Path) -> bool:
    """Whether a test fails, or the kernel no longer compiles."""
    file = folder / KERNEL / mutant.file
    text = file.read_text()
    file.write_text(mutant.put_into(text))
    environment = {**os.environ, "TIEAWARE_KERNEL": "require"}
    environment |= {"TIEAWARE_ENGINE": "compiled", "PYTHONPATH": str(folder)}
    tests = TESTS.get(mutant.file, TESTS[""])
    build = ["setup.py", "-q", "build_ext", "--inplace"]
    check = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:doctest"]
    try:
        for words in (build, [*check, "-o", "addopts=", *tests]):
            options = {"cwd": folder, "env": environment, "capture_output": True}
            if subprocess.run([sys.executable, *words], **options).returncode:
                return True
        return False
    finally:
        file.write_text(text)


def check(jobs: int) -> None:
    """All of the list, in a copy of the tree for each job."""
    every = list(mutants())
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            folder = Path(name) / str(job)
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build"))
            free.put(folder)

        def noticed(mutant: Mutant) -> bool:
            folder = free.get()
            try:
                return is_noticed(mutant, folder)
            finally:
                free.put(folder)

        found = list(tqdm(pool.map(noticed, every), "kernel", len(every)))
    left = [mutant for mutant, seen in zip(every, found, strict=True) if not seen]
    print(f"kernel: {len(every) - len(left)} of {len(every)} noticed", *left, sep="\n")
