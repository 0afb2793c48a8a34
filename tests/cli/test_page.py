"""What commands found, as a page."""

from __future__ import annotations

import base64
import json
import re
import shlex
import shutil
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import pytest

from tests._display.test_html import parsed
from tests.cli.helpers import run

pytest.importorskip("matplotlib")
NASTY = "<b>&\"'"


@pytest.fixture
def files(tmp_path):
    labels = list(enumerate([0, 1, 1, 0, 2, 1, 0]))
    rows = [f"{y},{q},{y + d},{d % 2},{-d}\n" for q in range(4) for d, y in labels]
    table = tmp_path / f"{NASTY}.csv"
    table.write_text("".join(['label,qid,"<b>&""\'",plain,x3\n', *rows]))
    qrels, one, two = tmp_path / "qrels", tmp_path / "one", tmp_path / "two"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 1\n2 0 c 0\n")
    one.write_text("1 Q0 a 1 5 <i>one\n1 Q0 b 2 5 <i>one\n2 Q0 c 1 1 <i>one\n")
    two.write_text("1 Q0 b 1 5 two\n1 Q0 a 2 4 two\n2 Q0 a 1 1 two\n")
    return {
        "screen": [table],
        "evaluate": [qrels, one, two],
        "compare": [qrels, one, two],
    }


#: of each command, the tables and the first name in the first of them
SHOWN = {"screen": (1, "(chance)"), "evaluate": (1, "<i>one"), "compare": (4, "<i>one")}


@pytest.mark.parametrize("command", SHOWN)
def test_pages_are_whole(command, files, tmp_path, capsys):
    path = tmp_path / "report.html"
    words = [command, *map(str, files[command]), "--report", str(path)]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    found = parsed(text)
    n_tables, first = SHOWN[command]
    assert len(found.tables) == n_tables
    assert found.tables[0][1][0] == first
    for head, *rows in found.tables:
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        # what a terminal shows is there
        assert head[0] in out
    # names are text
    assert not {"b", "i"} & set(found.tags)
    # what was read, the command, versions
    for file in files[command]:
        assert str(file) in found.text
    assert shlex.join(["tieaware", *words]) in found.text
    for name in ("tieaware-sklearn 0.", "Python 3.", "numpy ", "scipy ", "matplotlib "):
        assert name in found.text
    # on paper nothing scrolls, so nothing may be cut
    assert "@media print" in text
    # on a narrow screen the figure does not shrink for ever
    (least,) = re.findall('style="min-width: ([0-9.]+)in"', text)
    assert 2 < float(least) < 0.75 * 12
    # nothing is loaded from anywhere
    loads = [value for _, name, value in found.attributes if name in ("src", "href")]
    assert len(loads) == 1
    assert loads[0].startswith("data:image/svg+xml;base64,")
    assert ("meta", "content", "width=device-width, initial-scale=1") in (
        found.attributes
    )
    again = tmp_path / "again.html"
    assert run(capsys, *words[:-1], again)[0] == 0
    assert again.read_text().replace("again.html", "report.html") == text


def test_a_page_has_all_that_is_chosen(letor, tmp_path, capsys):
    path = tmp_path / "report.html"
    assert run(capsys, "screen", letor, "--report", path)[0] == 0
    head, chance, *rows = parsed(path.read_text()).tables[0]
    assert len(rows) == 12
    assert head.count("q") == 3
    assert chance[0] == "(chance)"
    assert run(capsys, "screen", letor, "--top", 2, "--report", path)[0] == 0
    assert len(parsed(path.read_text()).tables[0]) == 2 + 2


def test_without_matplotlib_the_page_says_so(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "report.html"
    assert run(capsys, "evaluate", *files["evaluate"], "--report", path)[0] == 0
    found = parsed(path.read_text())
    assert "because matplotlib is not installed" in found.text
    assert "img" not in found.tags
    assert len(found.tables) == 1


def test_no_name_breaks_a_picture(tmp_path, capsys):
    qrels, one, two = tmp_path / "qrels", tmp_path / "one", tmp_path / "two"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    for path, tag in ((one, b"caf\xe9"), (two, b"\x1b[31m\x01$")):
        path.write_bytes(b"1 Q0 a 1 5 " + tag + b"\n2 Q0 a 1 1 " + tag + b"\n")
    plot, report = tmp_path / "x.svg", tmp_path / "x.html"
    for command in ("evaluate", "compare"):
        words = [command, qrels, one, two, "--plot", plot, "--report", report]
        code, _, err = run(capsys, *words)
        assert (code, err) == (0, "")
        assert ElementTree.parse(plot).getroot().tag.endswith("svg")
        text = report.read_text(encoding="utf-8")
        assert parsed(text).tables
        (picture,) = re.findall(r'base64,([^"]+)"', text)
        assert ElementTree.fromstring(base64.b64decode(picture)) is not None


BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)

#: clicks every head twice, and writes down what stands below it then
CLICKS = """
<script>
const found = {wider: document.documentElement.scrollWidth > innerWidth, sorted: []};
for (const head of document.querySelectorAll("th")) {
  const rows = head.closest("table").tBodies[0].rows;
  for (const _ of [1, 2]) {
    head.querySelector("button").click();
    const cells = [...rows].map(row => row.cells[head.cellIndex]);
    const keys = cells.map(cell => "key" in cell.dataset ? Number(cell.dataset.key)
      : cell.textContent.trim());
    found.sorted.push([head.textContent, head.getAttribute("aria-sort"), keys]);
  }
}
const shown = document.createElement("pre");
shown.id = "found";
shown.textContent = JSON.stringify(found);
document.body.append(shown);
</script>
"""


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_tables_sort(letor, tmp_path, capsys):
    path = tmp_path / "report.html"
    assert run(capsys, "screen", letor, "--report", path)[0] == 0
    page = path.read_text(encoding="utf-8").replace("</body>", f"{CLICKS}</body>")
    path.write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    command = [BROWSER, *options, path.as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("Chromium does not start here")
    shown = re.search('<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    if shown is None and done.returncode:
        pytest.skip("Chromium does not start here")
    assert shown is not None, done.stderr
    found = json.loads(unescape(shown[1]))
    assert not found["wider"]
    assert len(found["sorted"]) >= 2 * 14
    ways = set()
    for head, way, keys in found["sorted"]:
        ways.add(way)
        numbers = [key for key in keys if not isinstance(key, str)]
        assert numbers == sorted(numbers, reverse=way == "descending"), head
        # what is missing is below the rest
        assert "" not in keys or not any(keys[keys.index("") :]), head
    assert ways == {"ascending", "descending"}
