"""The reference names every public thing, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tieaware_sklearn
from tieaware_sklearn import (
    banding,
    comparison,
    dask,
    datasets,
    judgments,
    lightgbm,
    optuna,
    plots,
)

REFERENCE = Path(__file__).parents[1] / "docs" / "api"
MODULES = [tieaware_sklearn, banding, comparison, dask, datasets, judgments]
MODULES += [lightgbm, optuna, plots]


def listed():
    text = "".join(page.read_text() for page in sorted(REFERENCE.glob("*.md")))
    return re.findall(
        r"^\.\. auto(?:class|function):: (\S+)$", text, flags=re.MULTILINE
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_reference_names_every_public_thing(module):
    names = {f"{module.__name__}.{name}" for name in module.__all__}
    assert names - set(listed()) == set()


def test_each_has_one_place():
    names = listed()
    assert len(names) == len(set(names))
    expected = sum(len(module.__all__) for module in MODULES) + 1
    assert len(names) == expected  # and xgboost.custom_metric
