"""Text in columns that fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn._display.layout import lay_out
from tieaware_sklearn._display.terminal import width

NAMES = ["ndcg", "a_very_long_name_of_a_feature", "x" * 300]


def lines(header, rows, room, **options):
    return lay_out(header, rows, room, **options).text.splitlines()


def test_columns_line_up():
    rows = [["NDCG@10", "0.5000", "12"], ["a", "0.25", "3"]]
    assert lines(["measure", "mean", "n"], rows, 80) == [
        "measure    mean   n",
        "-------------------",
        "NDCG@10  0.5000  12",
        "a          0.25   3",
    ]
    left = lines(["run", "measure", "mean"], [["x", "AP", "0.1"]], 80, left=2)
    assert left[2] == "x    AP        0.1"


def test_names_and_heads_are_wrapped_where_their_parts_end():
    rows = [["web/clicks_of_a_day", "0.5000"]]
    assert lines(["feature", "NDCG(gain=linear)@10"], rows, 24) == [
        "              NDCG(gain=",
        "feature       linear)@10",
        "------------------------",
        "web/clicks_       0.5000",
        "of_a_day",
    ]
    assert lines(["text", "n"], [["two words of text", "1"]], 15, wraps=[0]) == [
        "text          n",
        "---------------",
        "two words of  1",
        "text",
    ]


def test_a_name_without_end_loses_its_middle():
    found = lines(["name", "n"], [["".join(map(str, range(200))), "1"]], 20)
    assert len(found) == 2 + 4
    assert found[2].startswith("01234567891011121")
    assert found[4] == "…"
    assert found[5].endswith("9")


def test_columns_are_left_out_before_names_are_cramped():
    header, rows = ["name", "a", "b", "c"], [["n" * 24, "1" * 8, "2" * 8, "3" * 8]]
    assert lay_out(header, rows, 54, drop=[2, 1], least=20).kept == [0, 1, 2, 3]
    assert lay_out(header, rows, 48, drop=[2, 1], least=20).kept == [0, 1, 3]
    assert lay_out(header, rows, 34, drop=[2, 1], least=20).kept == [0, 3]
    # wrapped, where that is enough
    assert lay_out(header, rows, 48, drop=[2, 1]).kept == [0, 1, 2, 3]


def test_columns_are_stacked_where_all_are_wanted():
    rows = [["a", "1" * 9, "2" * 9, "3" * 9], ["b", "4", "5", "6"]]
    assert lines(["name", "one", "two", "three"], rows, 26) == [
        "name        one        two",
        "--------------------------",
        "a     111111111  222222222",
        "b             4          5",
        "",
        "name      three",
        "---------------",
        "a     333333333",
        "b             6",
    ]


@given(
    cells=st.lists(st.tuples(st.sampled_from(NAMES), *[st.floats(0, 1)] * 9)),
    heads=st.lists(st.sampled_from([*NAMES, "名前" * 9]), min_size=10, max_size=10),
    left=st.integers(1, 2),
    room=st.integers(40, 130),
)
def test_nothing_is_wider_than_there_is_room(cells, heads, left, room):
    rows = [[one if isinstance(one, str) else f"{one:.4f}" for one in r] for r in cells]
    laid = lay_out(heads, rows, room, left=left, drop=[9])
    assert all(width(line) <= room for line in laid.text.splitlines())
    assert set(range(9)) <= set(laid.kept)


@pytest.mark.parametrize("room", [40, 80])
def test_a_table_without_rows(room):
    assert lines(["name", "mean"], [], room) == ["name  mean", "----------"]
