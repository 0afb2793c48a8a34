"""What a command found as one page of HTML, which needs nothing from elsewhere."""

from __future__ import annotations

import base64
import io
import shlex
from collections.abc import Callable, Sequence
from html import escape
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any, NamedTuple

from .. import __version__
from .._display import STYLE, Table, printable, table_html
from .._optional import import_optional

#: whose versions numbers may depend on
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --ink: #1c1e21; --quiet: #62676d; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e4e6e9; --quiet: #9aa0a7; }
}
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 88rem;
  font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9em; margin: .5rem 0;
  padding: .6rem .8rem; border: 1px solid var(--quiet); border-radius: .3rem; }
ul { padding-left: 1.2rem; } li, dd, p { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
  font-size: .92em; }
dt { font-weight: 600; } dd { margin: 0; }
figure { margin: .8rem 0; overflow-x: auto; }
figure img { max-width: 100%; height: auto; background: #fff; border-radius: .3rem; }
footer { margin-top: 2.5rem; color: var(--quiet); font-size: .88em; }
th button { all: unset; cursor: pointer; font: inherit; }
th button:focus-visible { outline: 2px solid; outline-offset: 2px; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
@page { size: landscape; margin: 10mm; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --quiet: #444; }
  body { font-size: 11px; padding: 0; max-width: none; }
  .tieaware, figure { overflow: visible; }
  figure img { min-width: 0 !important; max-height: 60vh; }
  tr, figure { break-inside: avoid; } h2 { break-after: avoid; }
}
"""
#: a click on a head sorts by its column, and another one the other way round
_SCRIPT = """
for (const table of document.querySelectorAll(".tieaware table")) {
  const heads = [...table.querySelectorAll("th")], body = table.tBodies[0];
  const key = (row, j) => {
    const cell = row.cells[j], text = cell.textContent.trim();
    return "key" in cell.dataset ? Number(cell.dataset.key) : text || null;
  };
  heads.forEach((head, j) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending" ||
        (head.className === "name" && !head.hasAttribute("aria-sort"));
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [key(row, j), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        const order = typeof a === "number" ? a - b
          : a.localeCompare(b, undefined, {numeric: true});
        return up ? order : -order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
"""
#: of its own width, how much a figure keeps on any screen
_LEAST = 0.7
#: the page asks for nothing, and no name in it can make it
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)


class Figure(NamedTuple):
    """A picture, or why there is none."""

    html: str
    drawn: bool

    @classmethod
    def of(cls, draw: Callable[[], Any], said: str) -> Figure:
        """What a display draws, as SVG inside of the page."""
        if find_spec("matplotlib") is None:
            missing = "there is no figure because matplotlib is not installed"
            return cls.missing(f"{missing} (pip install matplotlib).")
        matplotlib = import_optional("matplotlib", extra="plots", purpose="--report")
        matplotlib.use("Agg")
        drawn, file = draw().figure_, io.BytesIO()
        # the same page for the same findings
        with matplotlib.rc_context({"svg.hashsalt": "tieaware"}):
            drawn.savefig(file, format="svg", metadata={"Date": None})
        data = base64.b64encode(file.getvalue()).decode("ascii")
        # on narrow screens it shrinks as far as its words stay readable, then scrolls
        least = f"min-width: {_LEAST * drawn.get_figwidth():.1f}in"
        source = f"data:image/svg+xml;base64,{data}"
        image = f'<img alt="{_text(said)}" style="{least}" src="{source}">'
        return cls(f"<figure>{image}</figure>", drawn=True)

    @classmethod
    def missing(cls, why: str) -> Figure:
        """None, and why there is none."""
        return cls(f"<p>{_text(why)}</p>", drawn=False)


def page(
    title: str,
    read: Sequence[str],
    tables: Sequence[tuple[str, Table]],
    remarks: Sequence[str],
    figure: Figure,
    words: Sequence[str],
) -> str:
    """The whole page.

    Parameters
    ----------
    title : str
    read : list of str
        What was read.
    tables : list of (str, Table)
        Each below what it shows.
    remarks : list of str
    figure : Figure
    words : list of str
        Those of the command line, without the name of the program.
    """
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{_text(title)}</h1>",
        *_items(read),
        figure.html,
    ]
    for shown, table in tables:
        parts += [f"<h2>{_text(shown)}</h2>", '<div class="tieaware">']
        parts += [table_html(table), "</div>"]
    parts += _items(remarks)
    legends = [table.legend() for _, table in tables]
    if terms := {head: said for one in legends for head, said in one.items()}:
        items = [f"<dt>{_text(a)}</dt><dd>{_text(b)}</dd>" for a, b in terms.items()]
        parts += ["<h2>What the columns mean</h2>", "<dl>", *items, "</dl>"]
    libraries = [*_LIBRARIES, *(["matplotlib"] if figure.drawn else [])]
    versions = [("tieaware-sklearn", __version__), ("Python", python_version())]
    versions += [(name, version(name)) for name in libraries]
    parts += [
        "<footer>",
        "<p>Made by</p>",
        f"<pre>{_text(shlex.join(['tieaware', *words]))}</pre>",
        f"<p>{_text(', '.join(map(' '.join, versions)))}</p>",
        "</footer>",
        f"<script>{_SCRIPT}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _items(lines: Sequence[str]) -> list[str]:
    items = [f"<li>{_text(line)}</li>" for line in lines if line]
    return ["<ul>", *items, "</ul>"] if items else []


def _text(text: str) -> str:
    return escape(printable(text))
