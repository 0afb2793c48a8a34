"""Tables and words: what a cell, a terminal and a warning show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning

from tieaware_sklearn import (
    RankingFeatureSelector,
    make_ranking_scorer,
    precision_study,
    ranking_score,
    tie_report,
)
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
from tieaware_sklearn.comparison import compare_systems

#: colours, new lines, a title for the window, text that runs backwards, a lone byte
HOSTILE = "a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"


def test_control_characters_are_spelled_out():
    assert printable(HOSTILE) == (r"a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff")
    for plain in ("", "NDCG@10 ±95% (ρ)", "名前", "C:\\new"):
        assert printable(plain) is plain


def test_columns_of_a_terminal():
    texts = ("ab", "±", "名前", "e\u0301", "")
    assert [*map(width, texts)] == [2, 1, 4, 1, 0]


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


NOTHING = {"qid": [1, 1], "zero_relevance": "skip"}


class Same(BaseEstimator):
    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    "call",
    [
        lambda: warn("is undefined", UndefinedMetricWarning),
        lambda: ranking_score([0, 0], [1, 2], measure="ap", **NOTHING),
        lambda: make_ranking_scorer("ap", zero_relevance="skip")(
            Same(), np.zeros((2, 1)), [0, 0], qid=[1, 1]
        ),
        lambda: compare_systems([0, 0], {"a": [1, 2]}, measure="ap", **NOTHING),
        lambda: precision_study([0, 0], {"a": [1, 2]}, measure="ap", **NOTHING),
        lambda: tie_report([0, 1], [0.1 + 0.2, 0.3]),
        lambda: RankingFeatureSelector().fit([[1], [2]], [0, 1], qid=[0, 0]),
        lambda: RankingFeatureSelector("rr", n_features_to_select=1).fit(
            [[1], [2]], [0, 1]
        ),
    ],
)
def test_a_warning_names_this_file(call):
    with pytest.warns(
        UserWarning, match="is undefined|last bits|two queries|without qid"
    ) as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__]
