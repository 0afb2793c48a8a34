"""Recipes that call another library print what their page shows."""

import doctest
import re

import pytest

from tests.pages import DOCS, FLAGS

PAGE = DOCS / "howto" / "recipes.md"
#: (library, code) of each block below a comment that names the library
RECIPES = re.findall(
    r"^<!-- recipe: (\w+) -->\n```py\n(.*?)^```$", PAGE.read_text(), re.M | re.S
)


@pytest.mark.parametrize(
    ("library", "code"), RECIPES, ids=[library for library, _ in RECIPES]
)
def test_a_recipe_prints_what_the_page_shows(library, code):
    pytest.importorskip(library)
    recipe = doctest.DocTestParser().get_doctest(code, {}, library, PAGE.name, 0)
    results = doctest.DocTestRunner(optionflags=FLAGS).run(recipe)
    assert results.attempted > 0
    assert results.failed == 0


def test_every_block_of_py_is_a_recipe():
    """A block without the comment would be run by no test."""
    assert len(RECIPES) == PAGE.read_text().count("\n```py\n")
