"""Which engine is tested, and doctests of what is installed."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

# tables are as wide as the terminal, which is not everyone's
os.environ["COLUMNS"] = "80"

#: what examples need beyond scikit-learn
NEEDED = {
    "catboost": ("catboost",),
    "dask": ("dask", "distributed", "pandas"),
    "io/_tabular": ("pandas",),
    "lightgbm": ("lightgbm",),
    "optuna": ("optuna",),
    "plots": ("matplotlib",),
    "xgboost": ("xgboost",),
}


def pytest_report_header() -> str:
    """Which engine is tested."""
    from tieaware_sklearn._kernel.engines import engine_in_words

    return f"tieaware-sklearn engine: {engine_in_words()}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the companions of libraries that are not installed."""
    package = Path(__file__).parent / "tieaware_sklearn"
    if package not in collection_path.parents:
        return None
    here = collection_path.relative_to(package).with_suffix("").as_posix()
    for room, needed in NEEDED.items():
        inside = here == room or here.startswith(f"{room}/")
        if inside and any(find_spec(name) is None for name in needed):
            return True
    return None
