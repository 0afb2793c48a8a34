"""Which engine runs: the compiled kernel, or NumPy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

#: the walk down sorted rows, and the reader of LETOR text: both, or neither
compiled: Any
letor: Any
#: why the kernel is missing
missing: str | None = None
try:
    compiled = import_module("tieaware_sklearn._kernel.compiled")
    letor = import_module("tieaware_sklearn._kernel.letor")
except ModuleNotFoundError:
    compiled, letor, missing = None, None, "it was not built"
except ImportError as error:
    compiled, letor, missing = None, None, str(error)

ENGINES = ("compiled", "numpy")
#: the environment variable that chooses one
VARIABLE = "TIEAWARE_ENGINE"


def _check(name: str) -> str:
    if name not in ENGINES:
        raise ValueError(f"{VARIABLE} must be one of {ENGINES}, got {name!r}")
    if name == "compiled" and compiled is None:
        raise ImportError(
            f"{VARIABLE}='compiled' needs the compiled kernel, which this installation "
            "does not have: with a C compiler, install tieaware-sklearn again"
        )
    return name


_chosen = _check(os.environ.get(VARIABLE) or ("compiled" if compiled else "numpy"))


def engine() -> str:
    """The name of the engine that runs, "compiled" or "numpy"."""
    return _chosen


@contextmanager
def use_engine(name: str) -> Iterator[None]:
    """Run one of the engines for a while, in all threads."""
    global _chosen
    before, _chosen = _chosen, _check(name)
    try:
        yield
    finally:
        _chosen = before
