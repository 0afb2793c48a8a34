"""What a terminal may have."""

from __future__ import annotations

import pytest

from tieaware_sklearn._display.tables import Table
from tieaware_sklearn._display.terminal import columns, printable, warn, width, wrap

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
    assert {width(line) for line in lines} == {len(printable(HOSTILE)) + 5}


def test_warnings_are_printable():
    with pytest.warns(UserWarning, match=r"^feature a\\x1b\[31m\\n"):
        warn(f"feature {HOSTILE}")


def test_the_room_that_there_is(monkeypatch):
    monkeypatch.delenv("COLUMNS")
    # as in a pipe or a notebook, wherever that was started
    assert columns() == 80
    monkeypatch.setenv("COLUMNS", "132")
    assert columns() == 132
    monkeypatch.setenv("COLUMNS", "7")
    assert columns() == 40
    monkeypatch.setattr("sys.stdout", None)
    assert columns() == 40


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("NDCG(gain=linear)@10", ["NDCG(gain=", "linear)@10"]),
        ("0123456789abcdef", ["0123456789ab", "cdef"]),
        ("clicks_of_the_day", ["clicks_of_", "the_day"]),
        ("l1_distance (0.58)", ["l1_distance", "(0.58)"]),
        ("名前名前名前名前", ["名前名前名前", "名前"]),
    ],
)
def test_lines_of_a_name(text, lines):
    assert wrap(text, 12) == lines
    assert "".join(wrap(text, 12, keep=True)) == text
