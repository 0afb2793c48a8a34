"""Tests of pages of results: their order, size, folded parts and print."""

import json
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest

import tieaware_sklearn as ta
from tests._display.test_html import parsed
from tests.comparison.test_overview import compared
from tests.plots.helpers import rows_of
from tieaware_sklearn._display import html
from tieaware_sklearn._display.text_tables import Table
from tieaware_sklearn.plots import TieRangeDisplay

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 400)
QID = np.repeat(np.arange(40), 10)


TWO = compared(5, "run{}", measure=["ndcg@10", "ap"])
PAGE = TWO.to_html()


def test_tables_have_captions_and_scopes():
    page = parsed(PAGE)
    captions = re.findall("<caption>(.*?)</caption>", PAGE)
    assert captions == ["Systems, best first", "Pairs of systems"]
    assert len(captions) == len(page.tables)
    scopes = {value for _, name, value in page.attributes if name == "scope"}
    assert scopes == {"col", "row"}
    assert page.tags.count("th") == PAGE.count(' scope="')
    head, *rows = page.tables[1]
    assert head[:3] == ["measure", "A", "B"]
    assert len(rows) == 2 * 10


def test_systems_stand_in_the_order_of_the_picture():
    display = TieRangeDisplay.from_result(TWO)
    _, *rows = parsed(PAGE).tables[0]
    systems = [row[1] for row in rows]
    assert systems == rows_of(display.axes_[0])


def test_the_picture_says_the_conclusion():
    (alt,) = re.findall('<img alt="(.*?)"', PAGE)
    first = re.findall('<p class="lead">(.*?)</p>', PAGE)
    assert alt == " ".join(first)


def test_a_page_of_sixty_systems_has_all_pairs_and_stays_light():
    result = compared(60, "input.team{}.run", measure=["ndcg@10", "ap"])
    text = result.to_html()
    assert len(text.encode()) <= 1_500_000
    *_, pairs = parsed(text).tables
    n_pairs = 60 * 59 // 2
    assert len(pairs) == 2 * n_pairs + 1


def test_print_shows_all_columns_and_repeats_heads():
    style = PAGE[PAGE.index("<style>") : PAGE.index("</style>")]
    printed = style[style.index("@media print") :]
    # In CSS, the later rule wins.
    assert style.index("overflow-x: auto") < style.index("@media print")
    assert ".tieaware, figure { overflow: visible; }" in printed
    assert "th button { display: contents; }" in printed


def test_large_tables_are_folded_and_nothing_is_lost():
    result = compared(17, "run{}", measure=["ndcg@10", "ap"])
    text = result.to_html()
    shown, _, folded = text.partition("<details>")
    assert re.findall("<h2>(.*?)</h2>", shown) == ["Systems, best first", "Notes"]
    summaries = re.findall("<summary><h2>(.*?)</h2>(.*?)</summary>", folded)
    assert summaries == [
        ("Pairs of systems", " (272 rows)"),
        ("What the columns mean", ""),
    ]
    page = parsed(text)
    assert page.tags.count("details") == 2
    systems, pairs = page.tables
    assert len(systems) == 18
    assert len(pairs) == 273
    for table in result._whole():
        for note in (*table.notes, *table.legend().values()):
            assert note in page.text
    sources = [value for _, name, value in page.attributes if name in ("src", "href")]
    assert sources
    assert all(source.startswith("data:") for source in sources)


def test_small_tables_are_open_unless_they_are_details():
    small = Table.of(("name", "abc"), title="Small")
    detail = Table.of(("name", "a"), title="Detail", is_detail=True)
    large = Table.of(("name", map(str, range(31))), title="Large")
    tables = [detail, large, small]
    page = html.page("Title", ["first"], "", tables, ["a note"])
    parts = ["first", ">Small<", ">Notes<", "a note", ">Detail<", ">Large<"]
    body = page[page.index("<body>") :]
    places = [body.index(part) for part in parts]
    assert places == sorted(places)
    shown, _, folded = body.partition("<details>")
    assert "<h2>Small</h2>" in shown
    assert "<h2>Detail</h2> (1 row)" in folded
    assert "<h2>Large</h2> (31 rows)" in folded
    many = html.page("Title", [], "", [], list(map(str, range(31))))
    assert "<details><summary><h2>Notes</h2> (31)</summary>" in many


BROWSERS = "chromium", "chromium-browser", "google-chrome"
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-sync "
FLAGS += "--disable-background-networking --disable-component-update"
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
#: A script that clicks every head twice and writes down the cells below it.
CLICKS = """
<script>
const found = {wider: document.documentElement.scrollWidth > innerWidth, sorted: []};
for (const head of document.querySelectorAll("thead th")) for (const first of [1, 0]) {
  head.querySelector("button").click();
  const rows = [...head.closest("table").tBodies[0].rows];
  const cells = rows.map(row => row.cells[head.cellIndex]);
  const texts = cells.map(cell => cell.textContent.trim());
  const numbers = texts.map(text => parseFloat(text.replace(/^[[<]/, "")));
  const named = head.className === "name";
  const keys = texts.map((text, i) => named || isNaN(numbers[i]) ? text : numbers[i]);
  const rises = named == first;
  found.sorted.push([head.textContent, rises, head.getAttribute("aria-sort"), keys]);
}
document.body.append(document.createElement("pre"));
document.body.lastChild.id = "found";
document.body.lastChild.textContent = JSON.stringify(found);
</script>
"""
MEASURES = ["ndcg@10", "ap", "rr", "p@10", "r@10", "err@10"]
X = np.stack([Y + RNG.normal(0, 1 + j, len(Y)) for j in range(12)], axis=1)


def browse(folder, text, option):
    """Return the output of Chromium for a page."""
    page = folder / "page.html"
    page.write_text(text, "utf-8")
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={folder}/profile", option]
    command.append(page.as_uri())
    pipes = {"capture_output": True, "text": True, "timeout": 120}
    return subprocess.run(command, check=True, **pipes).stdout


def run_script(folder, text, script):
    """Return the page after a script has run, and the JSON that the script wrote."""
    scripted = text.replace("</body>", f"{script}</body>")
    page = browse(folder, scripted, "--dump-dom")
    (written,) = re.findall('<pre id="found">(.*?)</pre>', page, re.S)
    return page, json.loads(unescape(written))


@in_a_browser
@pytest.mark.parametrize("kind", ["features", "systems"])
def test_tables_sort(kind, tmp_path):
    result = compared(12, "run{}", measure=MEASURES[:2])
    if kind == "features":
        selector = ta.RankingFeatureSelector(["ap", "rr"]).fit(X, Y, qid=QID)
        result = selector.screening_
    text = result.to_html()
    _, clicked = run_script(tmp_path, text, CLICKS)
    assert not clicked["wider"]
    n_columns = sum(len(head) for head, *_ in parsed(text).tables)
    assert len(clicked["sorted"]) == 2 * n_columns
    for head, rises, direction, keys in clicked["sorted"]:
        assert direction == ("ascending" if rises else "descending"), head
        numbers = [key for key in keys if not isinstance(key, str)]
        assert numbers == sorted(numbers, reverse=not rises), head
        # Missing values are below all others.
        if "" in keys:
            missing = keys[keys.index("") :]
            assert not any(missing), head
    assert {rises for _, rises, *_ in clicked["sorted"]} == {True, False}
    assert any("" in keys for *_, keys in clicked["sorted"])


#: A script that types into each filter and writes down the number of rows left.
FILTERS = """
<script>
const left = [...document.querySelectorAll("details")].map(part => {
  const input = part.querySelector("input");
  if (!input) return null;
  return ["run1", "N1", "", "absent"].map(text => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
    return [...part.querySelectorAll("tbody tr")].filter(row => !row.hidden).length;
  });
});
document.body.append(document.createElement("pre"));
document.body.lastChild.id = "found";
document.body.lastChild.textContent = JSON.stringify(left);
</script>
"""


@in_a_browser
def test_folded_tables_of_more_than_12_rows_filter_by_name(tmp_path):
    names = [f"run{i}" for i in range(13)]
    tables = []
    for n in (12, 13):
        columns = [("name", names[:n]), ("other", ["run1"] * n)]
        tables.append(Table.of(*columns, is_detail=True))
    tables.append(Table.of(("name", names)))
    text = html.page("Title", [], "", tables)
    page, n_left = run_script(tmp_path, text, FILTERS)
    # "run1" matches a whole name, "N1" matches run1 and run10 to run12.
    assert n_left == [None, [1, 4, 13, 0]]
    assert page.count('type="search"') == 1


def print_page(folder, text):
    """Return the text of a page as Chromium prints it."""
    pdf = folder / "page.pdf"
    browse(folder, text, f"--print-to-pdf={pdf}")
    command = ["pdftotext", "-layout", pdf, "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@in_a_browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_a_comparison_of_three_systems_prints_on_one_page(tmp_path):
    text = compared(3, "run{}").to_html()
    printed = print_page(tmp_path, text)
    assert printed.count("\f") == 1
    assert "What the columns mean" in printed
    assert "least favourable order of ties" in printed


@in_a_browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_print_has_all_columns_with_their_heads_on_each_page(tmp_path):
    result = compared(12, "run{}", measure=MEASURES)
    text = result.to_html()
    printed = print_page(tmp_path, text)
    assert set(result.measures) <= set(printed.split())
    # Each page of pairs shows all heads above its rows.
    pages = [
        page for page in printed.split("\f") if re.search(r"run\d+ +run\d+ ", page)
    ]
    assert len(pages) > 6
    captions = re.findall("<caption>(.*?)</caption>", text)
    heads, *_ = parsed(text).tables[captions.index("Pairs of systems")]
    for page in pages:
        words = "".join(page.split())
        for head in heads:
            assert "".join(head.split()) in words, page


def folded(page):
    """Return the headings of the folded parts of a page."""
    summaries = re.findall("<summary>(.*?)</summary>", page)
    return [re.sub("<.*?>", "", summary) for summary in summaries]


def test_details_and_long_tables_are_folded():
    scores = {f"s{i}": RNG.random(len(QID)) for i in range(9)}
    few = {"s0": scores["s0"], "s1": scores["s1"]}
    meanings = "What the columns mean"
    page = ta.compare_systems(Y, few, qid=QID).to_html()
    assert folded(page) == ["Pairs of systems (1 row)", meanings]
    page = ta.compare_systems(Y, scores, qid=QID).to_html()
    assert folded(page) == ["Pairs of systems (36 rows)", meanings]
    # The page contains all rows and loads nothing.
    assert len(parsed(page).tables[-1]) == 1 + 36
    assert not re.search("(src|href)=.(?!data:)", page)


def test_a_page_begins_with_its_lead_and_picture():
    scores = RNG.random(len(QID))
    page = ta.evaluate(Y, scores, qid=QID).to_html()
    order = ['class="lead"', "<img", "<table", "<details"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
