"""What is in tables, and how a cell is shown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware_sklearn._display.tables import Table
from tieaware_sklearn._display.words import probability


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


def test_names_stand_to_the_left():
    table = Table.of(("run", ["x"]), ("measure", ["AP"]), ("mean", ["0.1"]), left=2)
    assert table.text().splitlines()[2] == "x    AP        0.1"


def test_legends_are_of_rows_too():
    table = Table.of(
        ("feature", ["(all)", "x"]),
        ("q", [0.1, 0.2]),
        terms={"(all)": "the mean of them", "q": "a share"},
    )
    assert table.legend() == {"(all)": "the mean of them", "q": "a share"}


@pytest.mark.parametrize("columns", ["40", "80", "200"])
@pytest.mark.parametrize(("n", "left"), [(37, 5), (38, 4), (46, 4), (47, 3), (300, 3)])
def test_columns_are_left_out_of_more_than_80(columns, n, left, monkeypatch):
    """Whatever terminal there is: a table is the same everywhere."""
    monkeypatch.setenv("COLUMNS", columns)
    more = (("mean", [0.5]), ("tie std", [0.1]), ("worst", [0.2]))
    table = Table.of(("run", ["x"]), ("text", ["y" * (n + 13)]), *more, drop=[3, 2])
    kept = table.fitted()
    assert len(kept.columns) == left
    assert set(kept.legend()) == {column.head for column in kept.columns[2:]}
    assert ("tie std" in table.text()) == (left == 5)


def test_a_long_name_loses_its_middle():
    name = "".join(map(str, range(200)))
    (row,) = Table.of(("name", [name]), ("n", [1])).text().splitlines()[2:]
    assert len(row) == 36 + 3
    assert row.startswith(name[:16])
    assert name[-10:] in row


def test_a_table_without_rows():
    text = Table.of(("name", []), ("mean", [])).text()
    assert text.splitlines() == ["name  mean", "----------"]


def test_terms_stand_below_a_table_that_explains_them():
    table = Table.of(("a", ["x"]), terms={"a": "alpha"})
    assert table.text().splitlines() == ["a", "-", "x"]
    table = Table.of(("a", ["x"]), terms={"a": "alpha"}, explains=True)
    assert table.text().splitlines() == ["a", "-", "x", "a  alpha"]
