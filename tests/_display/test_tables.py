"""Tables that line up."""

from __future__ import annotations

import math

import numpy as np

from tieaware_sklearn._display.tables import (
    format_columns,
    format_table,
    number,
    probability,
)


def test_columns_line_up():
    rows = [["NDCG@10", "0.5000", "12"], ["a", "0.25", "3"]]
    assert format_table(["measure", "mean", "n"], rows).splitlines() == [
        "measure    mean   n",
        "-------------------",
        "NDCG@10  0.5000  12",
        "a          0.25   3",
    ]
    left = format_table(["run", "measure", "mean"], [["x", "AP", "0.1"]], left=2)
    assert left.splitlines()[2] == "x    AP        0.1"


def test_numbers():
    assert number(2 / 3) == "0.6667"
    assert number(2 / 3, 2) == "0.67"
    assert number(math.nan) == probability(math.nan) == "-"
    assert probability(0.00012) == "0.0001"
    assert probability(0.00001) == "<0.0001"


def test_a_table_by_its_columns():
    columns = [
        ("median", ["a", "b"]),
        ("median", np.array([0.5, math.nan])),
        ("interval", np.array([[0.0, 1.0], [math.nan, math.nan]])),
        ("n", np.array([3, 12])),
    ]
    assert format_columns(columns).splitlines() == [
        "median  median          interval   n",
        "------------------------------------",
        "a       0.5000  [0.0000, 1.0000]   3",
        "b            -            [-, -]  12",
    ]
