"""Pages of results: captions, order, weight, and how they look in print."""

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
Y, QID = RNG.integers(0, 3, 400), np.repeat(np.arange(40), 10)


TWO = compared(5, "run{}", measure=["ndcg@10", "ap"])
PAGE = TWO.to_html()


def test_tables_have_captions_and_scopes():
    found = parsed(PAGE)
    captions = re.findall("<caption>(.*?)</caption>", PAGE)
    assert captions == ["Systems, best first", "Pairs of systems"]
    assert len(captions) == len(found.tables)
    scopes = {value for tag, name, value in found.attributes if name == "scope"}
    assert scopes == {"col", "row"}
    assert found.tags.count("th") == PAGE.count(' scope="')
    head, *rows = found.tables[1]
    assert head[:3] == ["measure", "A", "B"]
    assert len(rows) == 2 * 10


def test_systems_stand_in_the_order_of_the_picture():
    shown = rows_of(TieRangeDisplay.from_result(TWO).axes_[0])
    _, *rows = parsed(PAGE).tables[0]
    assert [row[1] for row in rows] == shown


def test_the_picture_says_the_conclusion():
    (alt,) = re.findall('<img alt="(.*?)"', PAGE)
    first = re.findall('<p class="lead">(.*?)</p>', PAGE)
    assert alt == " ".join(first)


def test_a_page_of_sixty_systems_has_all_pairs_and_stays_light():
    text = compared(60, "input.team{}.run", measure=["ndcg@10", "ap"]).to_html()
    assert len(text.encode()) <= 1_500_000
    *_, pairs = parsed(text).tables
    assert len(pairs) == 2 * 60 * 59 // 2 + 1


def test_print_shows_all_columns_and_repeats_heads():
    style = PAGE[PAGE.index("<style>") : PAGE.index("</style>")]
    printed = style[style.index("@media print") :]
    # the later rule wins
    assert style.index("overflow-x: auto") < style.index("@media print")
    for rule in (
        ".tieaware, figure { overflow: visible; }",
        "th button { display: contents; }",
    ):
        assert rule in printed


def test_large_tables_are_folded_and_nothing_is_lost():
    result = compared(17, "run{}", measure=["ndcg@10", "ap"])
    page = result.to_html()
    shown, _, folded = page.partition("<details>")
    assert re.findall("<h2>(.*?)</h2>", shown) == ["Systems, best first", "Notes"]
    assert re.findall("<summary><h2>(.*?)</h2>(.*?)</summary>", folded) == [
        ("Pairs of systems", " (272 rows)"),
        ("What the columns mean", ""),
    ]
    found = parsed(page)
    assert found.tags.count("details") == 2
    assert [len(rows) for rows in found.tables] == [18, 273]
    for table in result._whole():
        for text in (*table.notes, *table.legend().values()):
            assert text in found.text
    sources = [value for _, name, value in found.attributes if name in ("src", "href")]
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
#: clicks every head twice, and writes down what stands below it then
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
    """What Chromium prints of a page."""
    page = folder / "page.html"
    page.write_text(text, "utf-8")
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={folder}/profile", option]
    pipes = {"capture_output": True, "text": True, "timeout": 120}
    return subprocess.run([*command, page.as_uri()], check=True, **pipes).stdout


@in_a_browser
@pytest.mark.parametrize("kind", ["features", "systems"])
def test_tables_sort(kind, tmp_path):
    result = compared(12, "run{}", measure=MEASURES[:2])
    if kind == "features":
        selector = ta.RankingFeatureSelector(["ap", "rr"]).fit(X, Y, qid=QID)
        result = selector.screening_
    text = result.to_html()
    clicked = text.replace("</body>", f"{CLICKS}</body>")
    shown = browse(tmp_path, clicked, "--dump-dom")
    (written,) = re.findall('<pre id="found">(.*?)</pre>', shown, re.S)
    found = json.loads(unescape(written))
    assert not found["wider"]
    assert len(found["sorted"]) == 2 * sum(len(t[0]) for t in parsed(text).tables)
    for head, rises, way, keys in found["sorted"]:
        assert way == ("ascending" if rises else "descending"), head
        numbers = [key for key in keys if not isinstance(key, str)]
        assert numbers == sorted(numbers, reverse=not rises), head
        # what is missing is below the rest
        assert "" not in keys or not any(keys[keys.index("") :]), head
    assert {rises for _, rises, *_ in found["sorted"]} == {True, False}
    assert any("" in keys for *_, keys in found["sorted"])


#: types into each filter, and writes down the rows that are left
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
    tables = [
        Table.of(("name", names[:n]), ("other", ["run1"] * n), is_detail=True)
        for n in (12, 13)
    ]
    page = html.page("Title", [], "", [*tables, Table.of(("name", names))])
    typed = page.replace("</body>", f"{FILTERS}</body>")
    shown = browse(tmp_path, typed, "--dump-dom")
    (written,) = re.findall('<pre id="found">(.*?)</pre>', shown, re.S)
    # "run1" is the whole name of one, "N1" is part of run1 and run10 to run12
    assert json.loads(unescape(written)) == [None, [1, 4, 13, 0]]
    assert shown.count('type="search"') == 1


@in_a_browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_a_comparison_of_three_systems_prints_on_one_page(tmp_path):
    pdf, text = tmp_path / "page.pdf", compared(3, "run{}").to_html()
    browse(tmp_path, text, f"--print-to-pdf={pdf}")
    command = ["pdftotext", "-layout", pdf, "-"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.count("\f") == 1
    assert "What the columns mean" in printed
    assert "least favourable order of ties" in printed


@in_a_browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_print_has_all_columns_with_their_heads_on_each_page(tmp_path):
    result, pdf = compared(12, "run{}", measure=MEASURES), tmp_path / "page.pdf"
    text = result.to_html()
    browse(tmp_path, text, f"--print-to-pdf={pdf}")
    printed = subprocess.run(
        ["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True
    ).stdout
    assert set(result.measures) <= set(printed.split())
    # each page of pairs has all heads above its rows
    pages = [one for one in printed.split("\f") if re.search(r"run\d+ +run\d+ ", one)]
    assert len(pages) > 6
    captions = re.findall("<caption>(.*?)</caption>", text)
    heads = parsed(text).tables[captions.index("Pairs of systems")][0]
    for one in pages:
        words = "".join(one.split())
        assert all("".join(head.split()) in words for head in heads), one


def folded(page):
    """Headings of the parts of a page that are folded, with their sizes."""
    summaries = re.findall("<summary>(.*?)</summary>", page)
    return [re.sub("<.*?>", "", summary) for summary in summaries]


def test_details_and_long_tables_are_folded():
    scores = {f"s{i}": RNG.random(len(QID)) for i in range(9)}
    few = {name: scores[name] for name in ("s0", "s1")}
    meanings = "What the columns mean"
    page = ta.compare_systems(Y, few, qid=QID).to_html()
    assert folded(page) == ["Pairs of systems (1 row)", meanings]
    page = ta.compare_systems(Y, scores, qid=QID).to_html()
    assert folded(page) == ["Pairs of systems (36 rows)", meanings]
    # all of it is there, and needs nothing from elsewhere
    assert len(parsed(page).tables[-1]) == 1 + 36
    assert not re.search("(src|href)=.(?!data:)", page)


def test_what_is_first_on_a_page():
    page = ta.evaluate(Y, RNG.random(len(QID)), qid=QID).to_html()
    order = ['class="lead"', "<img", "<table", "<details"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
