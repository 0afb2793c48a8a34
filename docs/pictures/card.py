"""The card that other sites show with a link: ``python docs/pictures/card.py``.

Writes ``docs/_static/card.png``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

sys.path.insert(0, str(Path(__file__).parents[1]))
from theme import BLUE, INK, QUIET

DOCS = Path(__file__).parents[1]


def main() -> None:
    figure = plt.figure(figsize=(12, 6.3))
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set(xlim=(0, 1200), ylim=(630, 0))
    panel.axis("off")
    # the mark, as in tie.svg, five times as large
    for y, width, colour in [(25, 280, INK), (115, 180, BLUE), (205, 180, BLUE)]:
        round_ = "round,pad=0,rounding_size=10"
        bar = FancyBboxPatch((100, 160 + y), width, 55, boxstyle=round_, color=colour)
        panel.add_patch(bar)
    bracket = {"color": "#d55e00", "lw": 18, "solid_capstyle": "round"}
    x, y = [305, 355, 355, 305], [302, 302, 393, 393]
    panel.plot(x, y, solid_joinstyle="round", **bracket)
    panel.text(470, 270, "tieaware-sklearn", fontsize=44, color=INK, weight="bold")
    words = "Exact ranking scores\nwhen documents tie"
    panel.text(470, 400, words, fontsize=34, color=QUIET, linespacing=1.3)
    figure.savefig(DOCS / "_static" / "card.png", dpi=100, facecolor="white")


if __name__ == "__main__":
    main()
