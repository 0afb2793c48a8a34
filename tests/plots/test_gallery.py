"""The gallery shows every display, and its examples run."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest
from matplotlib import pyplot

from tests.plots.helpers import check_layout
from tieaware_sklearn import plots

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_draws_and_answers(path):
    text = path.read_text()
    title, line, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert title.endswith("?")
    assert line == "=" * len(title)
    assert "\n# %%\n# " in text
    runpy.run_path(str(path))
    (number,) = pyplot.get_fignums()
    assert check_layout(pyplot.figure(number))


def test_every_display_is_shown():
    text = "".join(path.read_text() for path in EXAMPLES)
    assert set(plots.__all__) <= set(re.findall(r"\w+Display", text))
