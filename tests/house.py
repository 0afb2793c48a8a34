"""The map in docs/architecture.md: a row a file. ``python -m tests.house`` does it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tieaware_sklearn"
PAGE = ROOT / "docs" / "architecture.md"
ROWS = re.compile(r"^\| file \|.*\n(?:\|.*\n)+", re.M)


def rows() -> str:
    """Each file, and the first line of its docstring."""
    files = [
        p for p in sorted(PACKAGE.rglob("*")) if p.suffix in (".py", ".pyx", ".pxd")
    ]
    lines = ["| file | what it holds |", "|---|---|"]
    for path in files:
        if not path.stem.startswith("__"):
            (first,) = re.findall(
                r'\A(?:#.*\n)*"""(.+?)\.?(?:"""|\n)', path.read_text()
            )
            lines.append(f"| `{path.relative_to(PACKAGE).as_posix()}` | {first} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(ROWS.sub(lambda _: rows(), PAGE.read_text()))
