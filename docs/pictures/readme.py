"""The picture of the README: four rows in two orders, and the exact NDCG.

``python docs/pictures/readme.py`` writes ``docs/_static/two_orders.png``, and
``two_orders_dark.png`` for dark pages.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from tieaware_sklearn import evaluate, ranking_score

sys.path.insert(0, str(Path(__file__).parents[1]))
from theme import BLUE, DIAMOND, INK, ON_DARK, ORANGE

DOCS = Path(__file__).parents[1]

NAMES = ["tea pot", "tea cup", "kettle", "napkin"]
LABELS, CLICKS = [0, 1, 1, 0], [9, 3, 3, 3]
ORDERS = {
    "the rows in one order": [0, 1, 2, 3],
    "the rows in another order": [0, 3, 2, 1],
}
GREEN, GREY, BAND = "#7fc8ae", "#d0d0d0", "#56B4E9"


def draw_rows(panel, title: str, order: list[int], words: str, colour: str) -> None:
    """The documents as a tool that goes by the order of rows ranks them."""
    value = ranking_score(
        [LABELS[row] for row in order], [CLICKS[row] for row in order], ties="input"
    )
    for place, row in enumerate(order):
        panel.barh(-place, 1, color=GREEN if LABELS[row] else GREY, height=0.88)
        name = f"{place + 1}  {NAMES[row]}{', relevant' if LABELS[row] else ''}"
        black = {"va": "center", "color": "black", "fontsize": 11}
        panel.text(0.04, -place, name, **black)
        clicks = f"{CLICKS[row]} clicks"
        panel.text(0.96, -place, clicks, ha="right", **black)
    panel.set(xlim=(0, 1), xticks=[], yticks=[])
    panel.set_title(title, fontsize=12, color=words)
    panel.set_xlabel(f"NDCG = {value:.2f}", fontsize=15, color=colour, labelpad=8)
    panel.spines[:].set_visible(False)


def draw_exact(panel, words: str, colour: str) -> None:
    """The mean over all orders, between the worst and the best."""
    summary = evaluate(LABELS, CLICKS, measures="ndcg@10").summary()
    mean, worst, best = summary.mean[0], summary.worst[0], summary.best[0]
    panel.barh(0, best - worst, left=worst, color=BAND, height=0.34)
    panel.plot(mean, 0, markersize=13, **DIAMOND)
    for value, word in [(worst, "worst"), (best, "best")]:
        text = f"{word}\n{value:.2f}"
        style = {"ha": "center", "va": "top", "fontsize": 12, "color": words}
        panel.text(value, -0.34, text, **style)
    margin = 0.25 * (best - worst)
    panel.set(xlim=(worst - margin, best + margin), ylim=(-1.1, 0.9))
    panel.set(xticks=[], yticks=[])
    panel.set_title("range and mean over the orders of ties", fontsize=12, color=words)
    panel.set_xlabel(f"exact NDCG = {mean:.2f}", fontsize=17, color=colour, labelpad=8)
    panel.spines[:].set_visible(False)


def draw(words: str = INK, row_order: str = ORANGE, exact: str = BLUE) -> plt.Figure:
    """Draw the picture with words in these colours."""
    figure = plt.figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplot_mosaic("AB;CC", height_ratios=[5, 4])
    for name, (title, order) in zip("AB", ORDERS.items(), strict=True):
        draw_rows(axes[name], title, order, words, row_order)
    draw_exact(axes["C"], words, exact)
    return figure


def main() -> None:
    target = DOCS / "_static" / "two_orders.png"
    # GitHub shows it on its own pages, which may be dark
    draw().savefig(target, dpi=110, facecolor="white")
    dark = draw(*(ON_DARK[colour] for colour in (INK, ORANGE, BLUE)))
    dark.savefig(target.with_stem("two_orders_dark"), dpi=110, transparent=True)


if __name__ == "__main__":
    main()
