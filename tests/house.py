"""Rooms, and their map in docs/architecture.md: ``python -m tests.house`` writes it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tieaware_sklearn"
PAGE = ROOT / "docs" / "architecture.md"
KINDS = ".py", ".pyx", ".pxd"
FIRST = re.compile(r'\A(?:#.*\n)*"""(.+?)\.?(?:"""|\n)')
ROWS = re.compile(r"^\| file \|.*\n(?:\|.*\n)+", re.M)
#: bottom to top: a room, folder or file, imports only from those above it in this list
ROOMS = [
    "_version",
    "_atomic",
    "_optional",
    "_display",
    "_engine",
    "_kernel",
    "io",
    "measures",
    "evaluation",
    "datasets",
    "rankers",
    "comparison",
    "model_selection",
    "feature_selection",
    "inspection",
    "score_precision",
    "judgments",
    "__init__",
    "catboost",
    "xgboost",
    "lightgbm",
    "optuna",
    "dask",
    "ir_measures",
    "plots",
    "cli",
    "__main__",
]


def rows() -> str:
    """Each file, and the first line of its docstring."""
    files = [p for p in sorted(PACKAGE.rglob("*")) if p.suffix in KINDS]
    lines = ["| file | what it holds |", "|---|---|"]
    for path in files:
        if not path.stem.startswith("__"):
            name, (first,) = path.relative_to(PACKAGE), FIRST.findall(path.read_text())
            lines.append(f"| `{name.as_posix()}` | {first} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(ROWS.sub(lambda _: rows(), PAGE.read_text()))
