"""What a terminal may have, and how numbers are spelled."""

from __future__ import annotations

import math

import pytest

from tieaware_sklearn._display.tables import Table
from tieaware_sklearn._display.words import (
    bracketed,
    definitions,
    meaning,
    number,
    paragraph,
    printable,
    probability,
    warn,
    width,
)

#: colours, new lines, a title for the window, text that runs backwards, a lone byte
HOSTILE = "a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"


def test_control_characters_are_spelled_out():
    assert printable(HOSTILE) == (r"a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff")
    for plain in ("", "NDCG@10 ±95% (ρ)", "名前", "C:\\new"):
        assert printable(plain) is plain


def test_columns_of_a_terminal():
    assert [width(text) for text in ("ab", "±", "名前", "e\u0301", "")] == [
        2,
        1,
        4,
        1,
        0,
    ]


def test_names_do_not_break_a_table():
    names = [HOSTILE, "名前", "e\u0301"]
    lines = Table.of(("name", names), ("n\n", ["1", "22", "3"])).text().splitlines()
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines if "\u0301" not in line)
    assert {width(line) for line in lines} == {min(len(printable(HOSTILE)), 36) + 5}


def test_warnings_are_printable():
    with pytest.warns(UserWarning, match=r"^feature a\\x1b\[31m\\n"):
        warn(f"feature {HOSTILE}")


def test_numbers():
    assert number(2 / 3) == "0.6667"
    assert number(2 / 3, 2) == "0.67"
    assert number(1.5e18) == "1.5000e+18"
    assert number(math.nan) == probability(math.nan) == "-"
    assert probability(0.00012) == "0.0001"
    assert probability(0.00001) == "<0.0001"
    assert bracketed([0, math.inf], 1) == "[0.0, inf]"


def test_text_has_80_columns():
    lines = paragraph("word " * 40).splitlines()
    assert 70 < max(map(len, lines)) <= 80
    assert definitions([("a", "b c"), ("long", "d")]) == "a     b c\nlong  d"
    assert definitions([("a", "b")], margin=2) == "  a  b"
    assert max(map(len, definitions([("a", "word " * 40)]).splitlines())) <= 80
    assert meaning("measure") == ""
