"""Which engine is tested, and what is skipped for want of a library."""

from __future__ import annotations

import doctest
import os
from importlib.util import find_spec

import pytest

# tables are as wide as the terminal, which is not everyone's
os.environ["COLUMNS"] = "80"

#: a script, run by a test of its own
collect_ignore = ["tests/typed.py"]

#: what tests need beyond `.[test]`; `.[all,test]` and the group `dev` have all
LIBRARIES = (
    *("aiohttp", "catboost", "dask", "distributed", "duckdb", "fsspec", "ir_measures"),
    *("matplotlib", "mlflow", "myst_nb", "nbclient", "nbformat", "numpydoc"),
    *("optuna_integration", "pyndeval", "pytrec_eval", "sphinx", "sphinx_gallery"),
    *("xgboost", "yaml", "mypy", "IPython", "jinja2"),
)


def missing_library(error: BaseException | None) -> str | None:
    """The library for want of which something failed."""
    while error is not None:
        name = getattr(error, "name", None) if isinstance(error, ImportError) else None
        library = (name or "").partition(".")[0]
        if library in LIBRARIES and find_spec(library) is None:
            return library
        if isinstance(error, doctest.UnexpectedException):
            error = error.exc_info[1]
        elif failures := getattr(error, "failures", None):  # of a doctest
            error = failures[0]
        else:
            error = error.__cause__ or error.__context__
    return None


def fold(report, call) -> None:
    """Skip what fails for want of a library, and tell skips by their reasons alone."""
    if report.failed:
        library = missing_library(call.excinfo and call.excinfo.value)
        if library is not None:
            report.outcome = "skipped"
            report.longrepr = ("", None, f"could not import {library!r}")
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ").partition(": No module")
        # a line for all of one reason, not one for each place
        report.longrepr = ("tests", None, f"Skipped: {reason[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    fold(report, call)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    fold(report, report.call)
    return report


#: where a run notes the tests and files that it skipped for want of a library
NOTED = "tieaware/without-a-library"


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--libraries",
        action="store_true",
        help="only what the run before skipped for want of a library",
    )


class SkippedForLibraries:
    """Notes what was skipped, where all reports arrive."""

    def __init__(self, config):
        self.config, self.nodes = config, set()

    def pytest_runtest_logreport(self, report) -> None:
        if report.skipped and "could not import" in str(report.longrepr):
            self.nodes.add(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    def pytest_sessionfinish(self) -> None:
        self.config.cache.set(NOTED, sorted(self.nodes))


def pytest_collection_modifyitems(config, items) -> None:
    """With --libraries, keep noted tests, and those of noted files."""
    if config.option.libraries:
        noted = set(config.cache.get(NOTED, []))
        items[:] = [x for x in items if noted & {x.nodeid, x.nodeid.partition("::")[0]}]


def pytest_configure(config) -> None:
    """With TIEAWARE_LIBRARIES=require, nothing is skipped for want of a library."""
    notes = not (config.option.libraries or hasattr(config, "workerinput"))
    if notes and hasattr(config, "cache"):  # none with -p no:cacheprovider
        config.pluginmanager.register(SkippedForLibraries(config))
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing and os.environ.get("TIEAWARE_LIBRARIES") == "require":
        raise pytest.UsageError(f"TIEAWARE_LIBRARIES=require, but without {missing}")


def pytest_report_header() -> str:
    """Which engine is tested."""
    from tieaware_sklearn._kernel.engines import engine_in_words

    return f"tieaware-sklearn engine: {engine_in_words()}"
