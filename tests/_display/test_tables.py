"""What is in tables, and how a cell is shown."""

from __future__ import annotations

import math

import numpy as np

from tieaware_sklearn._display.tables import (
    Table,
    bracketed,
    definitions,
    number,
    probability,
)
from tieaware_sklearn._display.words import meaning


def test_numbers():
    assert number(2 / 3) == "0.6667"
    assert number(2 / 3, 2) == "0.67"
    assert number(1.5e18) == "1.5000e+18"
    assert number(math.nan) == probability(math.nan) == "-"
    assert probability(0.00012) == "0.0001"
    assert probability(0.00001) == "<0.0001"
    assert bracketed([0, math.inf], 1) == "[0.0, inf]"


def test_a_table_by_its_columns():
    table = Table.of(
        ("median", ["a", "b"]),
        ("median", np.array([0.5, math.nan])),
        ("interval", np.array([[0.0, 1.0], [math.nan, math.nan]])),
        ("n", np.array([3, 12])),
        ("p", [0.5, 0.0], probability),
        notes=["and so on"],
    )
    assert table.text().splitlines() == [
        "median  median          interval   n        p",
        "---------------------------------------------",
        "a       0.5000  [0.0000, 1.0000]   3   0.5000",
        "b            -            [-, -]  12  <0.0001",
        "and so on",
    ]


def test_legends_are_of_rows_too():
    table = Table.of(
        ("feature", ["(all)", "x"]),
        ("q", [0.1, 0.2]),
        terms={"(all)": "the mean of them", "q": "a share"},
    )
    assert table.legend() == {"(all)": "the mean of them", "q": "a share"}
    assert list(table.shown().legend) == ["(all)", "q"]
    assert definitions([("a", "b")], margin=2) == "  a  b"


def test_legends_are_of_the_columns_that_are_shown(monkeypatch):
    table = Table.of(
        *(("run", ["x" * 20]), ("mean", [0.5]), ("tie std", [0.1]), ("q", [0.2])),
        drop=[2],
        terms={"mean": "of both"},
    )
    assert list(table.legend()) == ["mean", "tie std", "q"]
    shown = table.shown()
    assert shown == (table.text(), table.legend(), True)
    monkeypatch.setattr(
        "tieaware_sklearn._display.tables.columns_of_terminal", lambda: 34
    )
    shown = table.shown()
    assert not shown.is_whole
    assert list(shown.legend) == ["mean", "q"]
    legend = definitions(shown.legend.items())
    assert legend.startswith("mean  of both\nq     p-value of the test against")
    assert max(map(len, legend.splitlines())) <= 34
    assert definitions([("a", "b c"), ("long", "d")]) == "a     b c\nlong  d"
    assert meaning("measure") == ""


def test_terms_stand_below_a_table_that_explains_them():
    table = Table.of(("a", ["x"]), terms={"a": "alpha"})
    assert table.text().splitlines() == ["a", "-", "x"]
    table = Table.of(("a", ["x"]), terms={"a": "alpha"}, explains=True)
    assert table.text().splitlines() == ["a", "-", "x", "a  alpha"]
