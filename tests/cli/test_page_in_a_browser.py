"""Pages of the option report in Chromium, where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from tests.cli.helpers import run

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")

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


def test_tables_sort(letor, tmp_path, capsys):
    pytest.importorskip("matplotlib")
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
