"""Results write pages."""

from __future__ import annotations

import base64
import os
import re
import sys
from datetime import date
from xml.etree import ElementTree

import numpy as np
import pytest

import tieaware_sklearn
from tests._display.test_html import HOSTILE, parsed
from tests._display.test_results_shown import QID, RESULTS, SCORES, SYSTEMS, Y
from tieaware_sklearn import RankingFeatureSelector, compare_systems, evaluate

#: kinds that have a figure
DRAWN = {
    *("RankingReport", "SystemComparison", "Screening", "OfficialVsExact"),
    *("PrecisionStudy", "PermutationImportance", "SelectionCurve"),
    "PrecisionRecallCurve",
}


def figures(page):
    """The pictures of a page, as the XML that they must be."""
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [ElementTree.fromstring(base64.b64decode(one)) for one in data]


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_writes_a_page(name):
    result = RESULTS[name]
    text = result.to_html()
    assert text.startswith("<!DOCTYPE html>")
    found = parsed(text)
    assert len(found.tables) == len(result._whole())
    for shown, table in zip(found.tables, result._whole(), strict=True):
        assert len(shown) == 1 + len(table.columns[0].values)
    kind = type(result).__name__
    assert kind == "Summary" or bool(figures(text)) == (kind in DRAWN)
    # nothing is loaded from anywhere
    loads = [value for _, key, value in found.attributes if key in ("src", "href")]
    assert all(one.startswith("data:") for one in loads)
    for said in (
        f"tieaware-sklearn {tieaware_sklearn.__version__}",
        "numpy ",
        "Python",
    ):
        assert said in found.text
    assert date.today().isoformat() in found.text


def test_what_was_found_comes_first():
    comparison = compare_systems(Y, SYSTEMS, qid=QID)
    screening = RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID).screening_
    best = next(iter(SYSTEMS))
    averages = dict(zip(SYSTEMS, comparison.summary().mean, strict=True))
    best = max(averages, key=averages.get)
    differ = (comparison.adjusted_pvalues <= 0.05).sum()
    for result, said in (
        (evaluate([0, 1], [1, 1], measures="rr"), "RR is 0.7500 (95% interval [-, -], "
         "chance 0.7500); the order of ties moves it from 0.5000 to 1.0000."),
        (evaluate([0, 1], [1, 2], measures="rr"), "no order of ties changes it."),
        (comparison, f"{best} is best ({averages[best]:.4f}); {differ} of 10 differ"),
        (screening, f"of 5 features beat chance by {screening.sort_by}"),
    ):  # fmt: skip
        text = re.sub("<wbr>", "", result.to_html())
        lead = text.index('class="lead"')
        assert said in text[lead:].partition("</p>")[0]
        assert text.index("<h1>") < lead < text.index("<table>")
        assert lead < text.index("<img")


def test_a_page_has_all_rows():
    X = np.random.default_rng(0).random((120, 90))
    screening = RankingFeatureSelector("ap").fit(X, Y, qid=QID).screening_
    assert len(str(screening).splitlines()) < 40
    assert len(parsed(screening.to_html()).tables[0]) == 92


def test_a_file_is_replaced_once_the_page_is_complete(tmp_path, monkeypatch):
    report, path = evaluate([0, 1], [1, 2]), tmp_path / "page.html"
    assert report.to_html(path) is None
    assert path.read_text(encoding="utf-8") == report.to_html()
    link = tmp_path / "link.html"
    link.symlink_to(path)
    path.write_text("old")
    report.to_html(str(link))
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == report.to_html()
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        report.to_html(path)
    assert path.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.html", "page.html"]


def test_without_matplotlib_a_page_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = evaluate([0, 1], [1, 2]).to_html()
    assert "because matplotlib is not installed" in text
    assert not figures(text)


def test_no_figure_is_left_open():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    evaluate([0, 1], [1, 2]).to_html()
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize(
    "name", [HOSTILE, "a\x00\x1b[2J\n", "caf\udce9", "$x", "_p", ""]
)
def test_names_of_any_kind_make_sound_pages(name, tmp_path):
    rows = np.arange(120)
    comparison = compare_systems(Y, {name: SCORES[:, 0], "b": rows}, qid=QID)
    fitted = RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID)
    screening = fitted.screening_.named([name, *"bcde"])
    for result in (comparison, screening):
        path = tmp_path / "page.html"
        result.to_html(path)
        text = path.read_text(encoding="utf-8")
        assert parsed(text).tables
        assert len(figures(text)) == 1
