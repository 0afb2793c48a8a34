"""Names that measures register."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from tests.instances import MEASURES
from tieaware_sklearn import parse_measure, ranking_score
from tieaware_sklearn.measures import Precision, Success
from tieaware_sklearn.measures._base import (
    NAMED,
    OF_SUBTOPICS,
    is_ours,
    names_where,
    spelling,
)

REFERENCE = Path(__file__).parents[2] / "docs" / "api" / "measures.md"
OURS = sorted(
    {named.cls for named in NAMED.values() if is_ours(named.cls)},
    key=lambda cls: cls.name.lower(),
)


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


def test_the_last_of_ones_own_classes_has_the_name(names):
    define()
    again = define()
    assert isinstance(parse_measure("miss@1"), again)

    @dataclass(frozen=True, slots=True)
    class Other(Success):
        name = "Miss"

    assert type(parse_measure("miss@1")) is Other


@pytest.mark.parametrize("given", [{"name": "AP"}, {"name": "Miss", "map": ()}])
def test_names_of_this_library_stay(names, given):
    with pytest.raises(
        ValueError, match=r"must be its own, got '(ap|map|AP)', a name of"
    ):
        define(**given)
    assert "miss" not in names


def test_what_a_subclass_inherits_it_does_not_take(names):
    class Mine(Precision):
        name = "Mine"

    assert str(Mine(2)) == "Mine@2"
    assert type(parse_measure("mine@2")) is Mine
    assert type(parse_measure("precision@2")) is Precision

    class Same(Precision):
        pass

    assert type(parse_measure("P@2")) is Precision

    class Named:
        name = "Mixed"

    class Mixed(Named, Precision):
        pass

    assert type(parse_measure("mixed@2")) is Mixed


@pytest.mark.parametrize("name", ["my measure", "1st", "", "a@b", None, property(str)])
def test_names_that_cannot_be_read_stand_for_nothing(names, name):
    before = dict(names)
    type("Odd", (Precision,), {"name": name})
    assert names == before


def test_what_a_name_must_give(names):
    @dataclass(frozen=True)
    class Needs(Success):
        name: ClassVar[str] = "Needs"
        z: float = field(kw_only=True)

    with pytest.raises(ValueError, match=r"^measure 'needs@2': Needs needs z$"):
        parse_measure("needs@2")
    assert parse_measure("needs(z=1)@2") == Needs(2, z=1)


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.name)
def test_every_name_has_instances_and_stands_in_the_help(cls):
    assert any(type(measure) is cls for measure in MEASURES), "not in instances.py"
    for name in (cls.name, *cls.aliases):
        assert re.search(rf"\b{name}\b", parse_measure.__doc__, re.IGNORECASE), name


def called(cls):
    return cls.name.lower()


def row_of_the_reference(cls, named=NAMED):
    """What a measure is called, and what it takes."""
    given = named[cls.name.lower()].parameters
    after = f"@{cls.at}" if cls.at in given else ""
    shown = [
        name if f.default is MISSING else f"{name}={spelling(f.default)}"
        for name, f in given.items()
        if name != cls.at
    ]
    names = [
        f"`{name}`" + "".join(f" (no {parameter})" for parameter in without)
        for name, without in cls.aliases.items()
    ]
    taken = f"`{', '.join(shown)}`" if shown else ""
    columns = [f"`{cls.name}{after}`", f"`{cls.__name__}`", taken]
    return f"| {' | '.join([*columns, ', '.join(names)])} |"


def test_the_table_of_the_reference_is_the_registry():
    rows = [row_of_the_reference(cls) for cls in OURS]
    by_name = sorted({named.cls for named in OF_SUBTOPICS.values()}, key=called)
    rows += [row_of_the_reference(cls, OF_SUBTOPICS) for cls in by_name]
    found = re.findall(r"^\| `.*\|$", REFERENCE.read_text(), re.MULTILINE)
    # it has a name for each of the others
    assert [row for row in found if "`IntentAware`" not in row] == rows
