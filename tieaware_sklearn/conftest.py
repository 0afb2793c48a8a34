"""Doctests of an installed package: ``pytest --doctest-modules --pyargs ...``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

#: what examples need beyond scikit-learn
NEEDED = {
    "dask": ("dask", "distributed", "pandas"),
    "io/_tabular": ("pandas",),
    "lightgbm": ("lightgbm",),
    "optuna": ("optuna",),
    "plots": ("matplotlib",),
    "xgboost": ("xgboost",),
}


def pytest_configure(config: pytest.Config) -> None:
    """Lines of a table may be broken in other places than in the docstring."""
    config.addinivalue_line("doctest_optionflags", "NORMALIZE_WHITESPACE")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the companions of libraries that are not installed."""
    here = collection_path.relative_to(Path(__file__).parent).with_suffix("").as_posix()
    for room, needed in NEEDED.items():
        inside = here == room or here.startswith(f"{room}/")
        if inside and any(find_spec(name) is None for name in needed):
            return True
    return None
