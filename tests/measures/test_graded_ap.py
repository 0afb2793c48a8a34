"""Tests of the recipe for graded average precision in docs/measures.md."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.pages import DOCS
from tests.strategies import ranking

STATISTICS = ("expected", "best", "worst")


@pytest.fixture(scope="module")
def graded_ap():
    namespace = {}
    examples = doctest.DocTestParser().get_examples((DOCS / "measures.md").read_text())
    sources = [example.source for example in examples]
    (recipe,) = [source for source in sources if source.startswith("def graded_ap(")]
    imports = [source for source in sources if source.startswith(("import", "from"))]
    exec("".join([*imports, recipe]), namespace)
    return namespace["graded_ap"]


@settings(max_examples=40)
@given(
    st.lists(ranking(), min_size=1, max_size=3),
    st.sampled_from([{1: 0.25, 2: 0.75}, {1: 0.5, 3: 0.125, 4: 1.0}, {2: 1.0}]),
    st.randoms(use_true_random=False),
)
def test_the_recipe_equals_enumeration(graded_ap, cases, g, random):
    rows = []
    for query, (labels, scores) in enumerate(cases):
        rows += [(query, *row) for row in zip(labels, scores, strict=True)]
    random.shuffle(rows)
    qid, labels, scores = (list(column) for column in zip(*rows, strict=True))
    for statistic in STATISTICS:
        values = graded_ap(labels, scores, qid, g, statistic)
        assert sorted(values.index) == list(range(len(cases)))
        for query, case in enumerate(cases):
            exact = naive.over_ties(lambda *order: naive.graded_ap(*order, g), *case)
            expected = math.nan
            if exact is not None:
                expected = float(getattr(exact, statistic))
            np.testing.assert_allclose(values[query], expected, rtol=0, atol=1e-12)
