"""Faults of a list."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
LISTS = [file.stem for file in sorted(HERE.glob("*.txt"))]


class Mutant(NamedTuple):
    """A line of a file, the fault in its place, and which of several such lines."""

    file: str
    tests: list[str]
    line: str
    fault: str
    number: int = 1
    seconds: float = 900.0

    def put_into(self, text: str) -> str:
        lines = text.split("\n")
        at = [i for i, line in enumerate(lines) if line.strip() == self.line]
        i = at[self.number - 1]
        lines[i] = lines[i].replace(self.line, self.fault)
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.file}: {self.line}  ->  {self.fault}"


def faults(name: str) -> Iterator[Mutant]:
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
