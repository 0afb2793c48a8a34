"""Selection of the engine: the compiled kernel, or NumPy."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from .._version import __version__

#: Reason why the compiled kernel is missing, or None if the kernel is present.
missing: str | None = None
try:
    import tieaware_sklearn._kernel.walks as compiled
except ImportError as error:
    compiled = None  # type: ignore[assignment]
    built = not isinstance(error, ModuleNotFoundError)
    missing = str(error) if built else "it was not built"

ENGINES = ("compiled", "numpy")
#: Environment variable that selects the engine.
VARIABLE = "TIEAWARE_ENGINE"


def _check(name: str) -> str:
    if name not in ENGINES:
        raise ValueError(f"{VARIABLE} must be one of {ENGINES}, got {name!r}")
    if name == "compiled" and missing is not None:
        raise ImportError(
            f"{VARIABLE}='compiled' requires the compiled kernel, which is missing: "
            "install a C compiler, and then reinstall tieaware-sklearn"
        )
    return name


#: Name of the engine that runs, "compiled" or "numpy". An empty environment variable
#: counts as unset.
engine = _check(os.environ.get(VARIABLE) or ("numpy" if missing else "compiled"))


@contextmanager
def use_engine(name: str) -> Iterator[None]:
    """Run one of the engines, in all threads, until the context ends."""
    global engine
    before, engine = engine, _check(name)
    try:
        yield
    finally:
        engine = before


_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib")
_OPTIONAL = (
    "pandas",
    "polars",
    "pyarrow",
    "tqdm",
    "matplotlib",
    "lightgbm",
    "xgboost",
    "catboost",
    "optuna",
    "cmaes",
    "dask",
    "distributed",
    "ir-measures",
    "pytrec-eval-terrier",
)


def engine_in_words() -> str:
    """Return the name of the engine and, if the kernel is missing, the reason."""
    if missing is None:
        return engine
    return f"{engine} (the compiled kernel is missing: {missing})"


def show_versions() -> None:
    """Print the versions and the engine that runs, for a bug report.

    The engine is the compiled kernel or, if the kernel could not be built, NumPy. Both
    engines return the same values. The kernel is faster. Optional libraries are listed
    if they are installed. No optional library is imported.

    See Also
    --------
    sklearn.show_versions : Prints the versions of scikit-learn and its dependencies.

    Examples
    --------
    >>> from tieaware_sklearn import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    python            3...
    platform          ...
    tieaware-sklearn  ...
    engine            ...
    numpy             ...
    """
    rows = {
        "python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "tieaware-sklearn": __version__,
        "engine": engine_in_words(),
    }
    for name in (*_NEEDED, *_OPTIONAL):
        try:
            rows[name] = version(name)
        except PackageNotFoundError:
            if name in _NEEDED:
                rows[name] = "not found"
    width = max(map(len, rows))
    for name, text in rows.items():
        print(f"{name:<{width}}  {text}")
