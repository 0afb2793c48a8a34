"""Layers and files of the package: ``python -m tests.house`` lists the files."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tieaware_sklearn"
PAGE = ROOT / "docs" / "architecture.md"
KINDS = ".py", ".pyx", ".pxd"
FIRST = re.compile(r'\A(?:#.*\n)*"""(.+?)\.?(?:"""|\n)')
ROWS = re.compile(r"^\| file \|.*\n(?:\|.*\n)+", re.M)
FILES = [path for path in sorted(PACKAGE.rglob("*")) if path.suffix in KINDS]
#: each room, a folder or a file, and its layer in the table of the page
LAYERS = {
    room: int(layer)
    for layer, rooms in re.findall(r"^ ?(\d+)  (.+)$", PAGE.read_text(), re.M)
    for room in rooms.split()
}


def rows() -> str:
    """Each file, and the first line of its docstring."""
    lines = ["| file | content |", "|---|---|"]
    for path in FILES:
        if not path.stem.startswith("__"):
            name, (first,) = path.relative_to(PACKAGE), FIRST.findall(path.read_text())
            lines.append(f"| `{name.as_posix()}` | {first} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(ROWS.sub(lambda _: rows(), PAGE.read_text()))
