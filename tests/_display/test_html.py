"""Tables and words: what a cell, a terminal, a page and a warning show."""

import math
import re
import sys
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning

import tieaware_sklearn as ta
from tieaware_sklearn._display import words
from tieaware_sklearn._display.html import fragment, table_html
from tieaware_sklearn._display.text_tables import Table
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.evaluation import Summary

#: they close nothing
_VOID = {"br", "img", "meta", "wbr"}


class parsed(HTMLParser):
    """HTML that is sound: its tables as lists of rows of texts, and all attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("td", "th", "button"):
            self.tables[-1][-1][-1] += data
        if self._open and self._open[-1] not in ("style", "script"):
            self.text += data


def heads_of(page):
    """Heads of the tables of a page."""
    return [head for table in parsed(page).tables for head in table[0]]


def check_rows(result):
    """Names stand to the left of the first figure; those of a summary are its keys."""
    for row in re.findall('<tr>(<th scope="row".*?)</tr>', result.to_html()):
        assert not re.search("<td[^>]*>([^<]*)", row)[1][:1].isalpha()
    if isinstance(result, Summary):
        assert {name.count("/") for name in result.to_metrics()} == {len(result.keys)}


#: colours, new lines, a title for the window, text that runs backwards, a lone byte
CONTROLS = "a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"
HOSTILE = "<script>alert('x')</script>&amp;\"'\x1b[31m\u202e"


def test_a_table_with_hostile_names():
    table = Table.of(
        ("name", [HOSTILE, "b"]),
        ("mean", np.array([0.5, math.nan])),
        ("95% interval", np.array([[0.25, 1], [0, 1]])),
        notes=["a note <b>"],
    )
    text = table_html(table)
    found = parsed(text)
    spelled = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    (rows,) = found.tables
    assert rows == [
        ["name", "mean", "95% interval"],
        [spelled, "0.5000", "[0.2500, 1.0000]"],
        ["b", "-", "[0.0000, 1.0000]"],
    ]
    assert "script" not in found.tags
    assert "b" not in found.tags
    assert "a note <b>" in found.text
    titles = [value for tag, name, value in found.attributes if name == "title"]
    assert titles[-1] == "95% confidence interval of the average over queries"


def test_a_notebook_gets_no_more_rows_than_it_shows():
    table = Table.of(("n", range(1000)))
    found = parsed(fragment([table, table]))
    assert [len(rows) for rows in found.tables] == [61, 61]
    assert "... and 940 more rows" in found.text
    assert len(parsed(table_html(table)).tables[0]) == 1001


def test_words():
    spelled = r"a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"
    assert words.printable(CONTROLS) == spelled
    for plain in ("", "NDCG@10 ±95% (ρ)", "名前", "C:\\new"):
        assert words.printable(plain) is plain
    lines = words.paragraph("word " * 40).splitlines()
    assert 70 < max(map(len, lines)) <= 80
    assert words.definitions([("a", "b c"), ("long", "d")]) == "a     b c\nlong  d"
    assert max(map(len, words.definitions([("a", "word " * 40)]).splitlines())) <= 80
    assert words.meaning("measure") == ""
    # legends are of rows, too
    terms = {"(all)": "the mean of them", "q": "a share"}
    table = Table.of(("feature", ["(all)", "x"]), ("q", [0.1, 0.2]), terms=terms)
    assert table.legend() == terms


def test_names_do_not_break_a_table():
    names = [CONTROLS, "名前", "é"]
    lines = Table.of(("name", names), ("n\n", ["1", "22", "3"])).text().splitlines()
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)
    wide = min(len(words.printable(CONTROLS)), 36) + 5
    assert {len(line) for line in lines} == {wide}
    name = "".join(map(str, range(200)))
    (row,) = Table.of(("name", [name]), ("n", [1])).text().splitlines()[2:]
    assert len(row) == 36 + 3
    assert row.startswith(name[:16])
    assert name[-10:] in row


FIGURES = [
    ("median", ["a", "b", "c"]),
    ("median", np.array([2 / 3, math.nan, 1.5e18])),
    ("interval", np.array([[0.0, 1.0], [math.nan, math.nan], [0.0, math.inf]])),
    ("n", np.array([3, 12, 4])),
    ("p", [0.00012, 0.00001, math.nan], words.probability),
    ("short", [2 / 3, 0.0, 0.0], partial(words.number, digits=2)),
    ("ends", [[0, 1]] * 3, partial(words.bracketed, digits=1)),
]
NAMES = [("run", ["x"]), ("measure", ["AP"]), ("mean", ["0.1"])]
A = {"terms": {"a": "alpha"}}


@pytest.mark.parametrize(("columns", "options", "lines"), [
    (
        FIGURES,
        {"notes": ["and so on"]},
        [
            "median      median          interval   n        p  short        ends",
            "--------------------------------------------------------------------",
            "a           0.6667  [0.0000, 1.0000]   3   0.0001   0.67  [0.0, 1.0]",
            "b                -            [-, -]  12  <0.0001   0.00  [0.0, 1.0]",
            "c       1.5000e+18     [0.0000, inf]   4        -   0.00  [0.0, 1.0]",
            "and so on",
        ],
    ),
    (NAMES, {"left": 2}, ["run  measure  mean", "-" * 18, "x    AP        0.1"]),
    ([("name", []), ("mean", [])], {}, ["name  mean", "----------"]),
    ([("a", ["x"])], A, ["a", "-", "x"]),
    ([("a", ["x"])], {**A, "explains": True}, ["a", "-", "x", "a  alpha"]),
])  # fmt: skip
def test_a_table_by_its_columns(columns, options, lines):
    assert Table.of(*columns, **options).text().splitlines() == lines


@pytest.mark.parametrize("columns", ["40", "200"])
@pytest.mark.parametrize(("n", "left"), [(37, 5), (38, 4), (46, 4), (47, 3), (300, 3)])
def test_columns_are_left_out_of_more_than_80(columns, n, left, monkeypatch):
    """Whatever terminal there is: a table is the same everywhere."""
    monkeypatch.setenv("COLUMNS", columns)
    more = (("mean", [0.5]), ("tie_std", [0.1]), ("worst", [0.2]))
    table = Table.of(("run", ["x"]), ("text", ["y" * (n + 13)]), *more, drop=[3, 2])
    kept = table.fitted()
    assert len(kept.columns) == left
    assert set(kept.legend()) == {column.head for column in kept.columns[2:]}
    gone = ["mean", "tie_std"][left - 3 :]
    said = f"no room for {', '.join(gone)} (see to_pandas() " if gone else ""
    assert "".join(kept.notes).startswith(said)
    assert ("no room" in table.text()) == bool(gone)


NOTHING = {"qid": [1, 1], "zero_relevance": "skip"}
SCORER = ta.make_ranking_scorer("ap", zero_relevance="skip")
EVERY = ta.RankingFeatureSelector()
FIRST = ta.RankingFeatureSelector("rr", n_features_to_select=1)


class Same(BaseEstimator):
    def predict(self, X):
        return np.zeros(len(X))


WARNINGS = [
    (lambda: words.warn(f"feature {CONTROLS}"), r"^feature a\\x1b\[31m\\n"),
    (lambda: words.warn("undefined", UndefinedMetricWarning), "undefined"),
    (lambda: ta.ranking_score([0, 0], [1, 2], **NOTHING), "undefined"),
    (lambda: SCORER(Same(), np.zeros((2, 1)), [0, 0], qid=[1, 1]), "undefined"),
    (lambda: compare_systems([0, 0], {"a": [1, 2]}, **NOTHING), "undefined"),
    (lambda: ta.precision_study([0, 0], {"a": [1, 2]}, **NOTHING), "undefined"),
    (lambda: EVERY.fit([[1], [2]], [0, 1], qid=[0, 0]), "two queries"),
    (lambda: FIRST.fit([[1], [2]], [0, 1]), "without qid"),
]


@pytest.mark.parametrize(("call", "message"), WARNINGS)
def test_a_warning_names_this_file(call, message):
    with pytest.warns(UserWarning, match=message) as caught:
        call()
    assert len(caught) == 1
    if sys.version_info >= (3, 12):  # before, no library can tell
        assert caught[0].filename == __file__
