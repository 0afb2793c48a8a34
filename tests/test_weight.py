"""Code stays as small and as plain as the limits of weight.toml ask."""

import sys

import pytest

from tests import weight

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="later versions of Python split f-strings into more tokens",
)


@pytest.fixture(scope="module")
def counts():
    return weight.weigh()


@pytest.mark.parametrize("name", weight.limits())
def test_counts_are_within_their_limits(counts, name):
    assert counts[name] <= weight.limits()[name], "see tests/weight.py"


def test_limits_are_lowered_when_code_is_removed(counts):
    limit = weight.limits()["tokens"]
    assert counts["tokens"] > 0.99 * limit, "run python -m tests.weight"


def test_every_count_has_a_limit(counts):
    assert list(counts) == list(weight.limits())


def test_comments_docstrings_and_line_breaks_weigh_nothing():
    short = "def total(values):\n    return sum(values)\n"
    long = (
        "def total(\n    values,\n):\n"
        '    """Return the sum.\n\n    Of all values.\n    """\n'
        "    # a comment\n    return sum(\n        values\n    )\n"
    )
    assert weight.tokens_per_statement(short) == [6, 5]
    assert weight.tokens_per_statement(long) == [7, 5]  # a trailing comma
