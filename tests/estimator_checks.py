"""scikit-learn's own checks of estimators, with what of them an estimator fails.

An estimator is a line of a table: with the checks that it fails, and why, and with the
warnings that the data of the checks make it give, which are errors here otherwise.
"""

import re
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest import SkipTest

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.pages import DOCS


@dataclass(frozen=True)
class Checked:
    """An estimator, the checks that it fails, and why, and how its warnings begin."""

    estimator: Any
    fails: dict[str, str] = field(default_factory=dict)
    warns: tuple[str, ...] = ()


def all_of(why, *names):
    """Checks that fail for one reason."""
    return {f"check_{name}": why for name in names}


#: the first column of the checks' X, numbers of any kind, holds ids where qid=0
NAN_IDS = {"check_estimators_pickle": "puts NaN into the column of ids"}
DICT_IDS = {"check_dtype_object": "puts a dict into the column of ids"}
ONLY_IDS = {"check_fit2d_1feature": "the only column holds query ids there"}
BOOSTER = NAN_IDS | ONLY_IDS
ZERO_WEIGHTS = "check_all_zero_sample_weights_error"


def parametrize(table):
    """Parametrize a test by the estimators of a table, their checks, and routing."""
    checks = parametrize_with_checks([checked.estimator for checked in table.values()])
    # with scikit-learn 1.6 the values are a generator, which pytest 9 refuses
    names, values = checks.args
    checks = pytest.mark.parametrize(names, list(values), **checks.kwargs)
    routing = pytest.mark.parametrize(
        "routing", [False, True], ids=["no routing", "routing"]
    )
    return lambda test: routing(checks(test))


def name_of(check):
    while hasattr(check, "__wrapped__") or isinstance(check, partial):
        check = check.func if isinstance(check, partial) else check.__wrapped__
    return check.__name__


def run(table, estimator, check, routing):
    """Run a check. One that an estimator is said to fail must fail."""
    (checked,) = (line for line in table.values() if line.estimator is estimator)
    with (
        sklearn.config_context(enable_metadata_routing=routing),
        warnings.catch_warnings(),
    ):
        # the checks put numbers of any kind into the column of ids
        for beginning in ("qid=0 must be a column of query ids", *checked.warns):
            warnings.filterwarnings("ignore", beginning)
        try:
            check(estimator)
        except SkipTest:  # is not for this estimator
            return
        except Exception:
            if name_of(check) not in checked.fails:
                raise
            return
    # what passes by now is expected to fail no longer
    assert name_of(check) not in checked.fails


def assert_html_links_to_the_reference(table):
    """Assert that the HTML of the estimators links to their pages of the reference."""
    pages = set()
    for path in (DOCS / "api").glob("*.md"):
        module = ""
        for line in path.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.removeprefix(".. currentmodule:: ")
            if re.fullmatch(r"   \w+", line):
                pages.add(f"{module}.{line.strip()}.html")
    for checked in table.values():
        link = checked.estimator._get_doc_link()
        site, _, page = link.partition("/api/generated/")
        assert site == "https://tieaware-sklearn.github.io/tieaware-sklearn"
        assert page in pages
        assert f'href="{link}"' in checked.estimator._repr_html_()
