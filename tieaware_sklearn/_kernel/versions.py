"""What runs here: versions, and which engine."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from . import engines

_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib")
_OPTIONAL = (
    *("pandas", "polars", "pyarrow", "tqdm", "matplotlib"),
    *("lightgbm", "xgboost", "catboost", "optuna", "cmaes", "dask", "distributed"),
    *("ir-measures", "pytrec-eval-terrier"),
)


def engine_in_words() -> str:
    """The engine that runs and, if the kernel is missing, why."""
    if engines.missing is None:
        return engines.engine()
    return f"{engines.engine()} (the compiled kernel is missing: {engines.missing})"


def show_versions() -> None:
    """Print the versions and the engine that runs, for a bug report.

    The engine is the compiled kernel or, if that could not be built, NumPy. Both give
    the same values; the kernel is faster. Optional libraries are listed if they are
    installed; none of them is imported.

    See Also
    --------
    sklearn.show_versions : What scikit-learn says of itself.

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
    # the package imports this module, and is there when this runs
    package = import_module("tieaware_sklearn")
    rows = {
        "python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "tieaware-sklearn": package.__version__,
        "engine": engine_in_words(),
    }
    for name in (*_NEEDED, *_OPTIONAL):
        try:
            rows[name] = version(name)
        except PackageNotFoundError:
            if name in _NEEDED:
                rows[name] = "not found"
    width = max(map(len, rows))
    for name, said in rows.items():
        print(f"{name:<{width}}  {said}")
