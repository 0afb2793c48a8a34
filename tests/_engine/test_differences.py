"""The first difference of two results, in words."""

from __future__ import annotations

import pytest

from tieaware_sklearn._engine.merging import other_features, other_options


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("ab", "ab", ""),
        ("abc", "ab", "features differ: B has no 'c'"),
        ("ab", "xaby", "features differ: A has no 'x'"),
        ("abc", "acb", "features differ in their order: B has 'c' where A has 'b'"),
        ("ab", "abb", "features differ: 3 in B, 2 in A"),
    ],
)
def test_features(ours, theirs, said):
    assert other_features(list(ours), list(theirs), "A", "B") == said


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (1, 1, ""),
        (1.5, "skip", "ones differ: skip in B, 1.5 in A"),
        (True, False, "ones differ: no in B, yes in A"),
        (None, "w", "ones differ: w in B, none in A"),
        ((1, 2), (1,), "ones differ: 1 in B, 1, 2 in A"),
        (["a", "b", "c"], ["a", "x", "y"], "ones differ: x in B, b in A"),
    ],
)
def test_the_first_option_that_differs(ours, theirs, said):
    first = {"same": 0, "ones": ours, "more": 1}
    other = {"same": 0, "ones": theirs, "more": 2 if said else 1}
    assert other_options(first, other, "A", "B") == said
