"""Tables as HTML."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import numpy as np

from tieaware_sklearn import evaluate
from tieaware_sklearn._display.html import fragment, table_html
from tieaware_sklearn._display.tables import Ranges, Table

#: they close nothing
_VOID = {"br", "img", "input", "line", "link", "meta", "rect", "wbr"}


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

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("td", "th", "button"):
            self.tables[-1][-1][-1] += data
        if self._open and self._open[-1] not in ("style", "script"):
            self.text += data


HOSTILE = "<script>alert('x')</script>&amp;\"'\x1b[31m\u202e"


def test_a_table_with_bars_and_keys():
    ranges = Ranges(np.array([0.25, math.nan]), np.array([0.5, 1]), np.array([1, 1.0]))
    table = Table.of(
        ("name", [HOSTILE, "b"]),
        ("mean", np.array([0.5, math.nan])),
        ("95% interval", np.array([[0.25, 1], [0, 1]])),
        notes=["a note <b>"],
        ranges=ranges,
    )
    text = table_html(table)
    found = parsed(text)
    assert found.tables == [
        [
            ["name", "worst to best", "mean", "95% interval"],
            [HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e"), "",
             "0.5000", "[0.2500, 1.0000]"],
            ["b", "", "-", "[0.0000, 1.0000]"],
        ]
    ]  # fmt: skip
    assert "script" not in found.tags
    assert "b" not in found.tags
    assert "a note <b>" in found.text
    keys = [value for _, name, value in found.attributes if name == "data-key"]
    assert keys == ["0.5", "0.5", "0.25", "0.0"]
    assert found.tags.count("svg") == 1
    assert "worst to best: 0.2500 to 1.0000, mean 0.5000" in found.text
    titles = [value for tag, name, value in found.attributes if name == "title"]
    assert titles[0] == "from 0.2500 to 1.0000; the line is the mean"
    assert titles[-1] == "95% confidence interval of the average over queries"


def test_a_notebook_gets_no_more_rows_than_it_shows():
    table = Table.of(("n", range(1000)))
    found = parsed(fragment([table, table]))
    assert [len(rows) for rows in found.tables] == [61, 61]
    assert "... and 940 more rows" in found.text
    assert len(parsed(table_html(table)).tables[0]) == 1001


def test_bars_go_from_worst_to_best():
    # three of four documents tie, one of them relevant
    report = evaluate([0, 1, 0, 0], [2, 1, 1, 1], measures=["rr", "dcg@3", "esl"])
    text = report._repr_html_()
    bars = re.findall(r'class="range" x="([\d.]+)" y="3" width="([\d.]+)"', text)
    # RR: from 1/4 to 1/2 of 0 to 1
    assert tuple(map(float, bars[0])) == (1 + 88 / 4, 88 / 4)
    assert len(bars) == 3
    assert all(float(x) >= 0 and float(x) + float(w) <= 90 for x, w in bars)
