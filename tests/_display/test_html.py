"""Tests of tables as text and HTML, of words, and of warnings."""

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

#: Tags that have no end tag.
_VOID = {"br", "img", "meta", "wbr"}


class parsed(HTMLParser):
    """A parser of HTML that checks end tags and collects tables and attributes."""

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
    """Return the heads of all tables of a page."""
    heads = []
    for table in parsed(page).tables:
        heads += table[0]
    return heads


def check_rows(result):
    """Check that the cells after the names of a row are figures."""
    page = result.to_html()
    for row in re.findall('<tr>(<th scope="row".*?)</tr>', page):
        figure = re.search("<td[^>]*>([^<]*)", row)[1]
        assert not figure[:1].isalpha()
    if isinstance(result, Summary):
        for name in result.to_metrics():
            assert name.count("/") == len(result.keys)


#: Colours, new lines, a window title, text from right to left, a lone byte.
CONTROLS = "a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"
HOSTILE = "<script>alert('x')</script>&amp;\"'\x1b[31m\u202e"


def test_a_table_with_hostile_names():
    means = np.array([0.5, math.nan])
    intervals = np.array([[0.25, 1], [0, 1]])
    columns = [("name", [HOSTILE, "b"]), ("mean", means), ("95% interval", intervals)]
    table = Table.of(*columns, notes=["a note <b>"])
    page = parsed(table_html(table))
    spelled = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    (rows,) = page.tables
    assert rows == [
        ["name", "mean", "95% interval"],
        [spelled, "0.5000", "[0.2500, 1.0000]"],
        ["b", "-", "[0.0000, 1.0000]"],
    ]
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "a note <b>" in page.text
    titles = [value for _, name, value in page.attributes if name == "title"]
    assert titles[-1] == "95% confidence interval of the average over queries"


def test_a_notebook_gets_no_more_rows_than_it_shows():
    table = Table.of(("n", range(1000)))
    page = parsed(fragment([table, table]))
    assert [len(rows) for rows in page.tables] == [61, 61]
    assert "... and 940 more rows" in page.text
    (all_rows,) = parsed(table_html(table)).tables
    assert len(all_rows) == 1001


LONG_TEXT = "word " * 40


def widths_of(text):
    return [len(line) for line in text.splitlines()]


def test_words_that_can_be_printed_stay_as_they_are():
    assert words.printable(CONTROLS) == r"a\x1b[31m\n\r\t\x9b2J\x7f\u202e\u2028\udcff"
    for plain in ("", "NDCG@10 ±95% (ρ)", "名前", "C:\\new"):
        assert words.printable(plain) is plain


def test_paragraphs_and_definitions_have_at_most_80_columns():
    widths = widths_of(words.paragraph(LONG_TEXT))
    assert 70 < max(widths) <= 80
    widths = widths_of(words.definitions([("a", LONG_TEXT)]))
    assert max(widths) <= 80
    assert words.definitions([("a", "b c"), ("long", "d")]) == "a     b c\nlong  d"


def test_legends_are_of_rows_too():
    assert words.meaning("measure") == ""
    terms = {"(all)": "the mean of them", "q": "a share"}
    columns = [("feature", ["(all)", "x"]), ("q", [0.1, 0.2])]
    table = Table.of(*columns, terms=terms)
    assert table.legend() == terms


def test_names_do_not_break_a_table():
    names = [CONTROLS, "名前", "é"]
    table = Table.of(("name", names), ("n\n", ["1", "22", "3"]))
    lines = table.text().splitlines()
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)
    width = min(len(words.printable(CONTROLS)), 36) + 5
    assert {len(line) for line in lines} == {width}


def test_long_names_are_cut_in_the_middle():
    name = "".join(map(str, range(200)))
    table = Table.of(("name", [name]), ("n", [1]))
    _, _, row = table.text().splitlines()
    assert len(row) == 36 + 3
    assert row.startswith(name[:16])
    assert name[-10:] in row


MEDIANS = np.array([2 / 3, math.nan, 1.5e18])
INTERVALS = np.array([[0.0, 1.0], [math.nan, math.nan], [0.0, math.inf]])
FIGURES = [
    ("median", ["a", "b", "c"]),
    ("median", MEDIANS),
    ("interval", INTERVALS),
    ("n", np.array([3, 12, 4])),
    ("p", [0.00012, 0.00001, math.nan], words.probability),
    ("short", [2 / 3, 0.0, 0.0], partial(words.number, digits=2)),
    ("ends", [[0, 1]] * 3, partial(words.bracketed, digits=1)),
]


def test_columns_are_figures_of_their_own_format():
    table = Table.of(*FIGURES, notes=["and so on"])
    assert table.text().splitlines() == [
        "median      median          interval   n        p  short        ends",
        "--------------------------------------------------------------------",
        "a           0.6667  [0.0000, 1.0000]   3   0.0001   0.67  [0.0, 1.0]",
        "b                -            [-, -]  12  <0.0001   0.00  [0.0, 1.0]",
        "c       1.5000e+18     [0.0000, inf]   4        -   0.00  [0.0, 1.0]",
        "and so on",
    ]


NAMES = [("run", ["x"]), ("measure", ["AP"]), ("mean", ["0.1"])]
NO_ROWS = [("name", []), ("mean", [])]
ROW = [("a", ["x"])]
TERMS = {"terms": {"a": "alpha"}}
TABLES = [
    (NAMES, {"left": 2}, ["run  measure  mean", "-" * 18, "x    AP        0.1"]),
    (NO_ROWS, {}, ["name  mean", "----------"]),
    (ROW, TERMS, ["a", "-", "x"]),
    (ROW, {**TERMS, "explains": True}, ["a", "-", "x", "a  alpha"]),
]


@pytest.mark.parametrize(("columns", "options", "lines"), TABLES)
def test_a_table_by_its_columns(columns, options, lines):
    table = Table.of(*columns, **options)
    assert table.text().splitlines() == lines


#: Characters of a long text, and the columns that a table keeps beside it.
COLUMNS_LEFT = [(37, 5), (38, 4), (46, 4), (47, 3), (300, 3)]


@pytest.mark.parametrize("columns", ["40", "200"])
@pytest.mark.parametrize(("n", "left"), COLUMNS_LEFT)
def test_columns_are_left_out_of_more_than_80(columns, n, left, monkeypatch):
    """A table does not depend on the width of the terminal."""
    monkeypatch.setenv("COLUMNS", columns)
    names = [("run", ["x"]), ("text", ["y" * (n + 13)])]
    figures = [("mean", [0.5]), ("tie_std", [0.1]), ("worst", [0.2])]
    table = Table.of(*names, *figures, drop=[3, 2])
    fitted = table.fitted()
    assert len(fitted.columns) == left
    heads = {column.head for column in fitted.columns[2:]}
    assert set(fitted.legend()) == heads
    hidden = ["mean", "tie_std"][left - 3 :]
    if hidden:
        (note,) = fitted.notes
        assert note.startswith(f"Hidden columns: {', '.join(hidden)}. to_pandas() ")
        assert "Hidden columns" in table.text()
    else:
        assert "Hidden columns" not in table.text()


NOTHING = {"qid": [1, 1], "zero_relevance": "skip"}
SCORER = ta.make_ranking_scorer("ap", zero_relevance="skip")


class Same(BaseEstimator):
    def predict(self, X):
        return np.zeros(len(X))


def select_from_one_query():
    ta.RankingFeatureSelector().fit([[1], [2]], [0, 1], qid=[0, 0])


def select_without_qid():
    selector = ta.RankingFeatureSelector("rr", n_features_to_select=1)
    selector.fit([[1], [2]], [0, 1])


def score_by_a_scorer():
    X = np.zeros((2, 1))
    SCORER(Same(), X, [0, 0], qid=[1, 1])


WARNINGS = [
    (lambda: words.warn(f"feature {CONTROLS}"), r"^feature a\\x1b\[31m\\n"),
    (lambda: words.warn("undefined", UndefinedMetricWarning), "undefined"),
    (lambda: ta.ranking_score([0, 0], [1, 2], **NOTHING), "undefined"),
    (score_by_a_scorer, "undefined"),
    (lambda: compare_systems([0, 0], {"a": [1, 2]}, **NOTHING), "undefined"),
    (lambda: ta.precision_study([0, 0], {"a": [1, 2]}, **NOTHING), "undefined"),
    (select_from_one_query, "two queries"),
    (select_without_qid, "without qid"),
]


@pytest.mark.parametrize(("call", "message"), WARNINGS)
def test_a_warning_names_this_file(call, message):
    with pytest.warns(UserWarning, match=message) as caught:
        call()
    assert len(caught) == 1
    if sys.version_info >= (3, 12):  # before, no library can tell
        assert caught[0].filename == __file__
