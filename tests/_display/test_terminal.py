"""Text from files as a terminal may have it."""

from __future__ import annotations

import pytest

from tieaware_sklearn._display.tables import format_table
from tieaware_sklearn._display.terminal import printable, width
from tieaware_sklearn._display.warn import warn

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
    rows = [[HOSTILE, "1"], ["名前", "22"], ["e\u0301", "3"]]
    lines = format_table(["name", "n\n"], rows).splitlines()
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines if "\u0301" not in line)
    assert {width(line) for line in lines} == {len(printable(HOSTILE)) + 5}


def test_warnings_are_printable():
    with pytest.warns(UserWarning, match=r"^feature a\\x1b\[31m\\n"):
        warn(f"feature {HOSTILE}")
