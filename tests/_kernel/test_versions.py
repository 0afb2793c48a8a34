"""Versions, and the engine, as a bug report should have them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import tieaware_sklearn
from tieaware_sklearn import show_versions
from tieaware_sklearn._kernel import engines
from tieaware_sklearn._kernel.engines import engine_in_words


def shown(capsys) -> dict[str, str]:
    show_versions()
    lines = capsys.readouterr().out.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_versions_are_those_installed(capsys):
    rows = shown(capsys)
    assert rows["python"].startswith(sys.version.split()[0])
    assert rows["tieaware-sklearn"] == tieaware_sklearn.__version__
    for name in ("numpy", "scipy", "scikit-learn", "joblib"):
        assert rows[name] == version(name)
    assert rows["engine"] == engine_in_words()


def test_the_engine_that_runs_is_told(monkeypatch):
    monkeypatch.setattr(engines, "missing", None)
    with engines.use_engine("numpy"):
        assert engine_in_words() == "numpy"
    monkeypatch.setattr(engines, "missing", "it was not built")
    assert engine_in_words().endswith(
        "(the compiled kernel is missing: it was not built)"
    )


def test_libraries_that_are_not_installed_are_left_out(monkeypatch, capsys):
    def found(name):
        if name in ("pandas", "joblib"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr("tieaware_sklearn._kernel.engines.version", found)
    rows = shown(capsys)
    assert "pandas" not in rows
    assert rows["joblib"] == "not found"
    assert rows["polars"] == "1.0"


def test_no_optional_library_is_imported():
    code = (
        "import sys, sklearn.feature_selection; before = set(sys.modules);"
        "import tieaware_sklearn; tieaware_sklearn.show_versions();"
        "print({'pandas', 'lightgbm', 'matplotlib', 'optuna', 'dask', 'pyarrow'} &"
        " (set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == "set()\n"
