"""Names that measures register."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tieaware_sklearn import Success, parse_measure, ranking_score
from tieaware_sklearn.measures._names import NAMED, names_where


@pytest.fixture
def names():
    before = dict(NAMED)
    yield NAMED
    NAMED.clear()
    NAMED.update(before)


def define(name="Miss", **aliases):
    """A measure of one's own: 1 where no relevant document is found."""

    def numerator(self, groups):
        return 1 - Success.numerator(self, groups)

    body = {"name": name, "aliases": aliases, "numerator": numerator}
    return dataclass(frozen=True)(type("Miss", (Success,), body))


def test_a_measure_of_ones_own_goes_by_its_name(names):
    cls = define(anymiss=("k",))
    assert parse_measure("miss(rel=2)@3") == cls(3, rel=2)
    assert str(parse_measure("MISS@3")) == "Miss@3"
    assert ranking_score([0, 1, 0], [2, 1, 1], measure="miss@2") == 0.5
    assert parse_measure("anymiss") == cls()
    with pytest.raises(ValueError, match="anymiss takes no cut-off"):
        parse_measure("anymiss@3")
    with pytest.raises(ValueError, match=r"did you mean 'Miss@2'"):
        parse_measure("mis@2")
    # messages name what this library has
    assert "Miss" not in names_where(lambda cls: True)


def test_a_class_that_is_defined_again_takes_its_place(names):
    define()
    again = define()
    assert isinstance(parse_measure("miss@1"), again)


@pytest.mark.parametrize("given", [{"name": "AP"}, {"name": "Miss", "map": ()}])
def test_a_name_belongs_to_one_class(names, given):
    with pytest.raises(ValueError, match=r"must be its own, got '(ap|map)', a name of"):
        define(**given)
    assert "miss" not in names
