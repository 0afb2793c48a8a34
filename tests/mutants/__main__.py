"""Whether the tests notice faults in the kernel: ``python -m tests.mutants``.

Each fault of ``kernel.txt`` is built into a copy of the tree, where the tests that must
notice run until one fails. The names of those that none noticed are printed last.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tieaware_sklearn._display import show_progress

ROOT = Path(__file__).parents[2]
KERNEL = "tieaware_sklearn/_kernel"
#: tests of the kernel, quick ones first
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
        for words in (build, [*check, *tests]):
            options = {"cwd": folder, "env": environment, "capture_output": True}
            if subprocess.run([sys.executable, *words], **options).returncode:
                return True
        return False
    finally:
        file.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__
    )
    parser.add_argument("--only", default="", help="mutants that hold this text")
    only = parser.parse_args().only
    chosen = [mutant for mutant in mutants() if only in str(mutant)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build"))
        left = [
            mutant
            for mutant in show_progress(chosen, True, len(chosen), "mutant")
            if not is_noticed(mutant, folder)
        ]
    print(f"{len(chosen) - len(left)} of {len(chosen)} noticed", *left, sep="\n")


if __name__ == "__main__":
    main()
