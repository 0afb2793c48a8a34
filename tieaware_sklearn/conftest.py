"""Doctests of an installed package: ``pytest --doctest-modules --pyargs ...``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

#: what examples need beyond scikit-learn
NEEDED = {
    "dask": ("dask", "distributed", "pandas"),
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
    room = collection_path.relative_to(Path(__file__).parent).parts[:1]
    needed = NEEDED.get(Path(*room).stem, ()) if room else ()
    return True if any(find_spec(name) is None for name in needed) else None
